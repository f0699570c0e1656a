#include "profile/bind_instructions.h"

#include "base/hash.h"
#include "program/cfg.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

namespace asmevo::profile {

namespace {

using program::Function;
using program::Index;
using program::Program;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
bool word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

// "0x10" as "16"; other words as they are.
std::string plain_number(std::string_view word) {
  if (!word.starts_with("0x")) return std::string(word);
  uint64_t value = 0;
  const char* end = word.data() + word.size();
  const auto [at, error] = std::from_chars(word.data() + 2, end, value, 16);
  return error == std::errc() && at == end ? fmt::format("{}", value) : std::string(word);
}

// "lit(5)" as "5": LLVM 22's way to say that a literal is there although an inline constant would do.
std::string without_lit(std::string text) {
  constexpr std::string_view mark = "lit(";
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
    const size_t close = text.find(')', at);
    if (close == std::string::npos) break;
    text.erase(close, 1);
    text.erase(at, mark.size());
  }
  return text;
}

std::string_view without_comment(std::string_view text) {
  return text.substr(0, std::min(text.find("//"), text.find(';')));
}

// Lower case, numbers in decimal, and a single space only where words would run together.
std::string spaced(std::string_view text) {
  std::string out;
  bool space = false;
  for (size_t i = 0; i < text.size();) {
    const char c = lower(text[i]);
    if (c == ' ' || c == '\t' || c == '&') {
      space = true;
      ++i;
      continue;
    }
    std::string word(1, c);
    ++i;
    if (word_character(c)) {
      for (; i < text.size() && word_character(lower(text[i])); ++i) word += lower(text[i]);
      word = plain_number(word);
    }
    const auto tight = [](char x) { return std::string_view(",[]:()").find(x) != std::string_view::npos; };
    if (space && !out.empty() && !tight(out.back()) && !tight(word.front())) out += ' ';
    if (space && !out.empty() && (out.back() == ')' || out.back() == ']') && !tight(word.front())) out += ' ';
    space = false;
    out += word;
  }
  return out;
}

bool slow_by_itself(const isa::Instruction& i) {
  switch (i.issue) {
  case isa::IssueClass::Smem:
  case isa::IssueClass::Mfma:
  case isa::IssueClass::Lds:
  case isa::IssueClass::Vmem:
  case isa::IssueClass::Flat:
  case isa::IssueClass::Waitcnt:
  case isa::IssueClass::Barrier:
  case isa::IssueClass::Message:
  case isa::IssueClass::EndProgram:
  case isa::IssueClass::Export: return true;
  default: return i.is("s_sleep") || i.is("s_nop");
  }
}

ListedInstruction listed(const Program& p, Index i, isa::Codec& codec) {
  const isa::Instruction& instruction = p.instruction(i);
  ListedInstruction out;
  out.address = p.text_address + p.entries[i].id.n;
  out.text = comparable(codec.print(instruction));
  out.waits = instruction.issue == isa::IssueClass::Waitcnt ||
              instruction.issue == isa::IssueClass::Barrier || instruction.is("s_sleep");
  out.slow = out.waits || slow_by_itself(instruction);
  return out;
}

void add_function(KernelListing& listing, const Program& p, const Function& f, isa::Codec& codec) {
  const program::Cfg cfg = program::Cfg::build(p, f);
  std::vector<bool> begins(f.end - f.begin, false);
  for (const program::Block& b : cfg.blocks()) begins[b.begin - f.begin] = true;
  const Index end = f.padding > f.begin ? std::min(f.padding, f.end) : f.end;
  for (Index i = f.begin; i < end; ++i) {
    if (p.instruction(i).is_data()) continue;
    ListedInstruction next = listed(p, i, codec);
    next.starts_block = begins[i - f.begin];
    next.own = f.name == listing.kernel.symbol();
    listing.instructions.push_back(std::move(next));
  }
}

constexpr size_t most_places_of_a_text = 16, most_shifts = 1 << 20;

} // namespace

std::string comparable(std::string_view text) {
  std::string out = without_lit(spaced(without_comment(text)));
  const size_t end = out.find(' ');
  std::string mnemonic(isa::without_encoding_suffix(std::string_view(out).substr(0, end)));
  const bool call = mnemonic.starts_with("s_call_b64");
  if (mnemonic.starts_with("s_branch") || mnemonic.starts_with("s_cbranch")) return mnemonic;
  if (end == std::string::npos) return mnemonic;
  std::string operands = out.substr(end);
  if (call) operands.resize(std::min(operands.size(), operands.rfind(',')));
  return mnemonic + operands;
}

std::optional<size_t> KernelListing::at(uint64_t address) const {
  const auto found = std::ranges::lower_bound(instructions, address, {}, &ListedInstruction::address);
  if (found == instructions.end() || found->address != address) return std::nullopt;
  return static_cast<size_t>(found - instructions.begin());
}

Result<KernelListing> list_kernel(const oracle::Subject& subject, std::string_view kernel) {
  const codeobject::CodeObject& object = subject.object();
  const codeobject::Kernel* found = object.find_kernel(kernel);
  const Program& p = subject.program();
  if (found == nullptr || p.find_function(kernel) == nullptr)
    return bad_input("the object has no kernel named {}", printable(kernel));
  KernelListing listing;
  listing.kernel = KernelName(found->name);
  listing.target = object.target().name();
  listing.entry = found->entry;
  listing.descriptor = found->descriptor_address;
  listing.object_bytes = object.bytes().size();
  listing.object_hash = content_hash(object.bytes());
  for (const codeobject::Kernel& k : object.kernels())
    if (k.name != found->name) listing.other_kernels.emplace_back(k.name);
  for (const Function& f : p.functions)
    if (!f.kernel || f.name == kernel) add_function(listing, p, f, subject.codec());
  std::ranges::sort(listing.instructions, {}, &ListedInstruction::address);
  return listing;
}

TextMatch match_texts(const KernelListing& listing, std::span<const TextAt> texts, int64_t shift) {
  TextMatch match;
  for (const TextAt& t : texts) {
    const auto at = listing.at(t.address - static_cast<uint64_t>(shift));
    if (at && listing.instructions[*at].text == comparable(t.text)) {
      ++match.same;
    } else {
      ++match.different;
      if (!match.first_different) match.first_different = t;
    }
  }
  return match;
}

std::optional<int64_t> find_shift(const KernelListing& listing, std::span<const TextAt> texts) {
  std::unordered_map<std::string_view, std::vector<uint64_t>> places;
  for (const ListedInstruction& i : listing.instructions) places[i.text].push_back(i.address);
  std::unordered_map<int64_t, size_t> votes;
  for (const TextAt& t : texts) {
    const auto found = places.find(comparable(t.text));
    if (found == places.end() || found->second.size() > most_places_of_a_text) continue;
    for (const uint64_t address : found->second)
      if (votes.size() < most_shifts) ++votes[static_cast<int64_t>(t.address - address)];
  }
  std::vector<std::pair<size_t, int64_t>> best; // votes, shift
  best.reserve(votes.size());
  for (const auto& [shift, n] : votes) best.emplace_back(n, shift);
  std::ranges::sort(best, std::greater{});
  if (best.empty()) return std::nullopt;
  if (best.size() > 1 && best[0].first == best[1].first) return std::nullopt;
  return best[0].second;
}

size_t before_skid(const KernelListing& listing, size_t instruction) {
  constexpr size_t furthest = 2;
  const auto& all = listing.instructions;
  if (all[instruction].slow) return instruction;
  for (size_t back = 1; back <= furthest && back <= instruction; ++back) {
    if (all[instruction - back + 1].starts_block) break;
    if (all[instruction - back].waits) return instruction - back;
  }
  return instruction;
}

} // namespace asmevo::profile
