#include "program/written_out_calls.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace asmevo::program {

namespace {

using isa::Instruction;
using isa::RegRange;

constexpr unsigned most_calls_deep = 3;
constexpr size_t most_written_out = 1U << 18; // entries

struct CodeRange {
  Index begin = 0, end = 0;
  bool holds(Index i) const { return i >= begin && i < end; }
};

struct CallSite {
  CodeRange callee;
  RegRange back; // holds the address to come back to
};

bool returns_by(const Instruction& i, const RegRange& back) {
  const isa::Operand* to = i.find(isa::Role::Src0);
  return i.is("s_setpc_b64") && to != nullptr && to->kind == isa::Operand::Kind::Register && to->reg == back;
}

class CallFinder {
 public:
  explicit CallFinder(const Program& program) : program_(program) {}

  std::optional<CallSite> at(Index call, const Function& caller) const {
    const Instruction& i = program_.instruction(call);
    if (!i.call) return std::nullopt;
    const isa::Operand* back = i.find(isa::Role::Sdst);
    const Index target = i.indirect ? made_address(call) : program_.branch_target(call);
    if (back == nullptr || target >= program_.entries.size()) return std::nullopt;
    const CodeRange range = range_of(target, caller, back->reg);
    if (range.begin == range.end || range.holds(call)) return std::nullopt;
    for (Index k = range.begin; k < range.end; ++k)
      if (returns_by(program_.instruction(k), back->reg)) return CallSite{range, back->reg};
    return std::nullopt;
  }

 private:
  const Reference* reference(Index i) const {
    const uint32_t r = program_.entries[i].reference;
    return r == no_index ? nullptr : &program_.references[r];
  }

  // s_getpc_b64, s_add_u32 and s_addc_u32 of a label, with other things between.
  Index made_address(Index call) const {
    const isa::Operand* address = program_.instruction(call).find(isa::Role::Src0);
    if (address == nullptr || address->kind != isa::Operand::Kind::Register) return no_index;
    const Reference *low = nullptr, *high = nullptr;
    for (Index i = call; i-- > 0;) {
      const Instruction& before = program_.instruction(i);
      if (before.ends_block() || before.is_data()) return no_index;
      if (!before.writes(address->reg)) continue;
      const Reference* r = reference(i);
      if (before.is("s_getpc_b64"))
        return low != nullptr && high != nullptr && low->base == i && high->base == i &&
                       low->label == high->label && low->label != no_index && low->addend == 0 &&
                       high->addend == 0
                   ? program_.labels[low->label].at
                   : no_index;
      const bool is_high = r != nullptr && r->use == isa::SymbolUse::Rel32Hi && high == nullptr;
      const bool is_low = r != nullptr && r->use == isa::SymbolUse::Rel32Lo && low == nullptr;
      if (!is_high && !is_low) return no_index;
      (is_high ? high : low) = r;
    }
    return no_index;
  }

  CodeRange range_of(Index target, const Function& caller, const RegRange& back) const {
    for (const Function& f : program_.functions)
      if (f.begin == target) return {f.begin, f.padding};
    if (target < caller.begin || target >= caller.padding) return {};
    return local_range(target, caller, back);
  }

  // A subroutine within the caller: from its first entry as far as control comes.
  CodeRange local_range(Index target, const Function& caller, const RegRange& back) const {
    std::set<Index> seen;
    std::vector<Index> work{target};
    while (!work.empty()) {
      const Index at = work.back();
      work.pop_back();
      if (at < target || at >= caller.padding) return {};
      if (!seen.insert(at).second) continue;
      const Instruction& i = program_.instruction(at);
      if (i.is_data() || (i.indirect && !i.call && !returns_by(i, back))) return {};
      if (i.branch && !i.call) work.push_back(program_.branch_target(at));
      if (!i.no_fallthrough()) work.push_back(at + 1);
    }
    return {target, *seen.rbegin() + 1};
  }

  const Program& program_;
};

class CallWriter {
 public:
  CallWriter(const Program& program, const Function& function, WrittenOutCalls& out)
      : program_(program), function_(function), finder_(program), out_(out) {}

  bool run() {
    Program& p = out_.program;
    p.target = program_.target;
    p.pools = program_.pools;
    p.text_address = program_.text_address;
    p.text_alignment = program_.text_alignment;
    write({function_.begin, function_.padding}, std::nullopt);
    for (const AlignedPoint& point : program_.aligned)
      if (point.anchor != no_index && CodeRange{function_.begin, function_.padding}.holds(point.at))
        p.aligned.push_back({0, point.alignment, 0, 0, point.distance});
    const auto size = static_cast<Index>(p.entries.size());
    p.functions.push_back({function_.name, 0, size, function_.kernel, size});
    return written_ != 0;
  }

 private:
  void write(CodeRange range, std::optional<RegRange> back) {
    std::map<Index, Index> moved;                    // where entries of the range stand now
    std::vector<std::pair<Index, Index>> references; // entries with one, now and before
    std::vector<Index> returns;
    for (Index i = range.begin; i < range.end; ++i) {
      const auto now = static_cast<Index>(out_.program.entries.size());
      moved[i] = now;
      const Instruction& instruction = program_.instruction(i);
      if (const auto site = callee_at(i)) {
        write_call(i, *site);
      } else if (back && returns_by(instruction, *back)) {
        append(i, &branch_like(instruction));
        returns.push_back(now);
      } else {
        append(i, &instruction);
        if (program_.entries[i].reference != no_index) references.emplace_back(now, i);
      }
    }
    const auto end = static_cast<Index>(out_.program.entries.size());
    Reference to_end;
    to_end.use = isa::SymbolUse::Branch;
    for (const Index at : returns) refer(at, to_end, end);
    for (const auto& [now, before] : references) copy_reference(now, before, moved);
  }

  std::optional<CallSite> callee_at(Index i) const {
    if (!program_.instruction(i).call || open_.size() >= most_calls_deep) return std::nullopt;
    auto site = finder_.at(i, *function_or_own(i));
    if (!site || std::ranges::find(open_, site->callee.begin) != open_.end()) return std::nullopt;
    const size_t more = site->callee.end - site->callee.begin;
    return out_.program.entries.size() + more <= most_written_out ? site : std::nullopt;
  }

  const Function* function_or_own(Index i) const {
    const Function* f = program_.function_at(i);
    return f != nullptr ? f : &function_;
  }

  // The call itself still writes its register.
  void write_call(Index at, const CallSite& site) {
    Instruction& call = out_.own.emplace_back(program_.instruction(at));
    call.call = call.branch = call.indirect = false;
    call.issue = isa::IssueClass::Salu;
    append(at, &call);
    ++written_;
    open_.push_back(site.callee.begin);
    write(site.callee, site.back);
    open_.pop_back();
  }

  const Instruction& branch_like(const Instruction& back) {
    Instruction& branch = out_.own.emplace_back(back);
    branch.indirect = false;
    branch.branch = true;
    branch.base_mnemonic = branch.mnemonic = "s_branch";
    branch.uses = {};
    return branch;
  }

  void append(Index at, const Instruction* instruction) {
    out_.program.entries.push_back({program_.entries[at].id, no_index, instruction});
    out_.origin.push_back(at);
  }

  void refer(Index from, Reference reference, Index to) {
    Program& p = out_.program;
    reference.label = static_cast<uint32_t>(p.labels.size());
    p.labels.push_back({"", to});
    p.entries[from].reference = static_cast<uint32_t>(p.references.size());
    p.references.push_back(std::move(reference));
  }

  // What is outside stays so, under no index of the new program.
  void copy_reference(Index now, Index before, const std::map<Index, Index>& moved) {
    Reference r = program_.references[program_.entries[before].reference];
    const auto found = r.label == no_index ? moved.end() : moved.find(program_.labels[r.label].at);
    if (const auto base = moved.find(r.base); base != moved.end()) r.base = base->second;
    if (r.label == no_index) {
      out_.program.entries[now].reference = static_cast<uint32_t>(out_.program.references.size());
      out_.program.references.push_back(std::move(r));
    } else {
      refer(now, std::move(r), found == moved.end() ? no_index : found->second);
    }
  }

  const Program& program_;
  const Function& function_;
  CallFinder finder_;
  WrittenOutCalls& out_;
  std::vector<Index> open_; // callees being written
  unsigned written_ = 0;
};

} // namespace

std::unique_ptr<WrittenOutCalls> write_out_calls(const Program& program, const Function& function) {
  bool any = false;
  for (Index i = function.begin; i < function.padding; ++i) any |= program.instruction(i).call;
  if (!any) return nullptr;
  auto out = std::make_unique<WrittenOutCalls>();
  if (!CallWriter(program, function, *out).run()) return nullptr;
  return out;
}

} // namespace asmevo::program
