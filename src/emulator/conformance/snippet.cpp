#include "emulator/conformance/snippet.h"

#include "emulator/interpreter.h"

#include <cstring>

namespace asmevo::emulator::conformance {

namespace {

constexpr unsigned rows = 512; // v0..v255 and a0..a255

// The plain assembly parser knows branch targets as labels only; conformance vectors write dword offsets.
struct RawBranch {
  std::string text;
  bool found = false;
  uint16_t offset = 0;
};

RawBranch raw_branch(std::string_view line) {
  RawBranch b{std::string(line)};
  const size_t name_end = line.find(' ');
  if (name_end == std::string_view::npos) return b;
  const std::string_view name = line.substr(0, name_end);
  if (!name.starts_with("s_branch") && !name.starts_with("s_cbranch_") && !name.starts_with("s_call_b64"))
    return b;
  const size_t at = line.find_last_of(" ,") + 1;
  const std::string number(line.substr(at));
  char* end = nullptr;
  const long value = std::strtol(number.c_str(), &end, 0);
  if (end == number.c_str() || *end != '\0') return b;
  b.found = true;
  b.offset = static_cast<uint16_t>(value);
  b.text = std::string(line.substr(0, at)) + "target";
  return b;
}

// "lit(0x0)" asks for a literal dword, which LLVM's assembler then leaves out of encodings that have no room
// for one (VOP3): there the constant itself is meant.
std::string without_lit(std::string text) {
  constexpr std::string_view open = "lit(";
  const size_t at = text.find(open), end = text.find(')', at);
  if (at != std::string::npos && end != std::string::npos) text.erase(end, 1).erase(at, open.size());
  return text;
}

void append_instruction(std::vector<uint8_t>& text, const isa::Instruction& i, const RawBranch& branch) {
  std::array<uint32_t, isa::Instruction::max_dwords> words = i.words;
  if (branch.found) words[0] = (words[0] & 0xffff0000) | branch.offset;
  const size_t at = text.size();
  text.resize(at + i.bytes());
  std::memcpy(text.data() + at, words.data(), i.bytes());
}

// Making a codec takes milliseconds; a vector runs in microseconds.
Result<std::shared_ptr<isa::Codec>> codec_for(const isa::Target& target) {
  thread_local std::vector<std::shared_ptr<isa::Codec>> codecs;
  for (const auto& c : codecs)
    if (c->target() == target) return c;
  ASMEVO_TRY(auto made, isa::Codec::create(target));
  codecs.push_back(std::move(made));
  return codecs.back();
}

} // namespace

Result<Snippet> Snippet::assemble(const isa::Target& target, std::string_view source) {
  ASMEVO_TRY(const auto codec, codec_for(target));
  std::vector<uint8_t> text;
  while (!source.empty()) {
    const size_t end = std::min(source.find('\n'), source.size());
    const RawBranch branch = raw_branch(source.substr(0, end));
    source.remove_prefix(std::min(end + 1, source.size()));
    auto parsed = codec->parse(branch.text);
    if (!parsed) parsed = codec->parse(without_lit(branch.text));
    if (!parsed) return bad_input("'{}': {}", branch.text, parsed.error().describe());
    for (const isa::ParsedLine& line : *parsed)
      if (line.instruction != nullptr) append_instruction(text, *line.instruction, branch);
  }
  return create(target, std::move(text));
}

Result<Snippet> Snippet::from_words(const isa::Target& target, std::span<const uint32_t> words) {
  std::vector<uint8_t> text(words.size_bytes());
  std::memcpy(text.data(), words.data(), text.size());
  return create(target, std::move(text));
}

Result<Snippet> Snippet::create(const isa::Target& target, std::vector<uint8_t> text) {
  Snippet s;
  s.text_ = std::move(text);
  ASMEVO_TRY(const auto codec, codec_for(target));
  s.code_ = std::make_unique<Code>(s.text_, code_address, RegisterLayout{.target = target}, codec);
  s.rows_ = std::make_unique<Row[]>(rows);
  s.lds_.resize(isa::limits(target).lds_bytes);
  s.memory_ = std::make_unique<AddressSpace>();
  s.dispatch_ = std::make_unique<DispatchContext>();
  s.dispatch_->target = target;
  s.dispatch_->allocated_vgprs = rows;
  s.wave_ = std::make_unique<Wave>();
  Wave& w = *s.wave_;
  w.vectors = s.rows_.get();
  w.dispatch = s.dispatch_.get();
  w.memory = s.memory_.get();
  w.lds = s.lds_.data();
  w.lds_bytes = static_cast<uint32_t>(s.lds_.size());
  w.pc = code_address;
  w.set_exec(all_lanes);
  w.scalars[slot::m0] = ~uint32_t{0};
  set_apertures(w);
  return s;
}

void Snippet::add_scratch(uint32_t bytes_per_lane) {
  dispatch_->scratch_bytes = bytes_per_lane;
  const uint64_t size = uint64_t{bytes_per_lane} * lanes;
  wave_->scratch_base = memory_->find_free(size);
  (void)memory_->map({"scratch", wave_->scratch_base, size}); // a free address
  if (!dispatch_->target.architected_flat_scratch()) wave_->set_pair(slot::flat_scratch, wave_->scratch_base);
}

void Snippet::run(uint64_t limit) {
  const uint64_t end = code_address + text_.size();
  for (uint64_t n = 0; wave_->state == Wave::State::Running && wave_->pc != end; ++n) {
    if (n == limit) return wave_->fail({.kind = FaultKind::Illegal, .pc = wave_->pc, .text = "limit"});
    run_wave(*wave_, *code_, 1);
    if (wave_->state == Wave::State::AtBarrier) { // nobody else to wait for
      wave_->state = Wave::State::Running;
      wave_->attention &= ~uint32_t{Wave::stopped};
    }
  }
}

} // namespace asmevo::emulator::conformance
