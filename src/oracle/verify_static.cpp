// What is known of a candidate without running it: its interface and its hazards, against K0's.
#include "oracle/verify.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

namespace asmevo::oracle {

namespace {

using program::Finding;
using program::Function;

using program::Index;
using program::Program;

// What a reference means, in words that stay when code and sections move.
struct Target {
  std::string place; // of a function or a section
  uint64_t offset = 0;
  int64_t addend = 0, base = 0;
  isa::SymbolUse use = isa::SymbolUse::None;
  friend bool operator==(const Target&, const Target&) = default;
};

class ObjectCode {
 public:
  explicit ObjectCode(const Subject& subject) : subject_(subject) {}

  const Program& program() const { return subject_.program(); }

  Target target(Index i) const {
    const program::Reference& r = program().references[program().entries[i].reference];
    Target t;
    t.use = r.use;
    t.addend = r.addend;
    if (r.base != program::no_index) t.base = static_cast<int64_t>(r.base) - static_cast<int64_t>(i);
    if (r.label == program::no_index) {
      const auto& sections = subject_.object().sections();
      t.place = r.section < sections.size() ? "section " + sections[r.section].name : "nowhere";
      t.offset = r.offset;
      return t;
    }
    const Index at = program().labels[r.label].at;
    const Function* f = program().function_at(at);
    t.place = f != nullptr ? "function " + f->name : at == program().entries.size() ? "end" : "front";
    t.offset = f != nullptr ? at - f->begin : f == nullptr && t.place == "end" ? 0 : at;
    return t;
  }

  // The words but for what depends on the place.
  std::array<uint32_t, isa::Instruction::max_dwords> words(Index i) const {
    auto all = program().instruction(i).words;
    const uint32_t reference = program().entries[i].reference;
    if (reference == program::no_index) return all;
    if (program().references[reference].use == isa::SymbolUse::Branch)
      all[0] &= 0xffff0000;
    else if (program().instruction(i).literal())
      all[program().instruction(i).dwords - 1] = 0;
    return all;
  }

  // Instructions whose meaning depends on the place and was not recovered.
  bool has_gaps(const Function& f) const {
    const auto& gaps = subject_.original().recovery.gaps;
    return std::ranges::any_of(gaps, [&](const rebuild::RecoveryGap& gap) {
      return gap.offset >= offset_of(f.begin) && gap.offset < offset_of(f.end);
    });
  }
  uint64_t offset_of(Index i) const {
    return i < program().entries.size() ? program().entries[i].id.n : ~uint64_t{0};
  }

 private:
  const Subject& subject_;
};

class CodeComparison {
 public:
  CodeComparison(const Subject& k0, const Subject& candidate)
      : a_(k0), b_(candidate), same_sections_(same_addresses(k0.object(), candidate.object())) {}

  // With everything that it may call.
  bool same_kernel(const Function& kernel) {
    return std::ranges::all_of(rebuild::functions_of(a_.program(), kernel),
                               [&](const Function* f) { return same_function(*f); });
  }

  // So many of the first bytes of a kernel.
  bool same_begin(const Function& f, uint64_t bytes) const {
    const Function* g = b_.program().find_function(f.name);
    if (g == nullptr) return false;
    for (Index i = f.begin, j = g->begin; i < f.end && a_.offset_of(i) - a_.offset_of(f.begin) < bytes;
         ++i, ++j)
      if (j >= g->end || !same_entry(i, j)) return false;
    return true;
  }

 private:
  static bool same_addresses(const codeobject::CodeObject& a, const codeobject::CodeObject& b) {
    const auto same = [](const codeobject::Section& s, const codeobject::Section& t) {
      return s.name == t.name && s.address == t.address;
    };
    return std::ranges::equal(a.sections(), b.sections(), same);
  }

  bool same_function(const Function& f) {
    const auto [known, made] = same_.try_emplace(&f, false);
    if (made) known->second = compare(f);
    return known->second;
  }

  bool compare(const Function& f) const {
    const Function* g = b_.program().find_function(f.name);
    if (g == nullptr || f.padding - f.begin != g->padding - g->begin) return false;
    for (Index i = 0; i < f.padding - f.begin; ++i)
      if (!same_entry(f.begin + i, g->begin + i)) return false;
    const bool moved = !same_sections_ || a_.offset_of(f.begin) != b_.offset_of(g->begin);
    return !moved || (!a_.has_gaps(f) && !b_.has_gaps(*g));
  }

  bool same_entry(Index i, Index j) const {
    const bool refers = a_.program().entries[i].reference != program::no_index;
    if (refers != (b_.program().entries[j].reference != program::no_index)) return false;
    return a_.program().instruction(i).dwords == b_.program().instruction(j).dwords &&
           a_.words(i) == b_.words(j) && (!refers || a_.target(i) == b_.target(j));
  }

  ObjectCode a_, b_;
  bool same_sections_;
  std::map<const Function*, bool> same_;
};

// Kernels that may have their arguments preloaded begin with code for firmware that cannot do that. Here it
// can, always: nothing of that code is run.
void check_prologues(const Subject& k0, const CodeComparison& code, codeobject::AbiDiff& abi) {
  constexpr uint64_t prologue = 256; // bytes; AMDGPUUsage, "Preloaded Kernel Arguments"
  for (const codeobject::Kernel& kernel : k0.object().kernels()) {
    if (get(kernel.descriptor, k0.object().target(), "kernarg_preload_spec_length") == 0) continue;
    const Function* f = k0.program().find_function(kernel.name);
    if (f != nullptr && !code.same_begin(*f, prologue))
      abi.differences.push_back({.where = "kernel " + kernel.name,
                                 .field = "code for firmware that does not preload arguments",
                                 .k0 = "its own",
                                 .candidate = "something else"});
  }
}

bool same_resources(const codeobject::AbiDiff& abi, const std::string& kernel) {
  return std::ranges::none_of(
      abi.differences, [&](const codeobject::AbiDifference& d) { return d.where == "kernel " + kernel; });
}

} // namespace

Result<StaticVerdict> compare_statically(const Subject& k0, const Subject& candidate) {
  const Program &a = k0.program(), &b = candidate.program();
  if (a.target.gfx != b.target.gfx)
    return bad_input("K0 is for {}, the candidate for {}", a.target.name(), b.target.name());
  StaticVerdict verdict;
  verdict.abi = codeobject::abi_diff(k0.object(), candidate.object());
  CodeComparison code(k0, candidate);
  check_prologues(k0, code, verdict.abi);
  if (!verdict.abi.compatible()) {
    verdict.outcome = Outcome::AbiInvalid;
    return verdict;
  }
  for (const Function& function : a.functions)
    if (function.kernel && (!code.same_kernel(function) || !same_resources(verdict.abi, function.name)))
      verdict.changed.push_back(function.name);
  for (const Function& function : b.functions)
    for (const Finding& f : program::findings_against(k0.object(), a, candidate.object(), b, function))
      verdict.findings.push_back(
          fmt::format("{}: {}{}", function.name, f.possible ? "possible: " : "", f.message));
  if (!verdict.findings.empty()) verdict.outcome = Outcome::Hazard;
  return verdict;
}

} // namespace asmevo::oracle
