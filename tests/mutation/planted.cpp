#include "mutation/planted.h"

#include "base/files.h"
#include "mutation/campaign.h"
#include "sanitizer/delayed_results.h"

#include <algorithm>

namespace asmevo::mutation {

namespace {

using isa::Instruction;
using isa::IssueClass;
using program::Index;

class Planter {
 public:
  Planter(const oracle::Subject& k0, const std::string& kernel)
      : program_(k0.program()), codec_(k0.codec()), kernel_(kernel),
        function_(*program_.find_function(kernel)) {}

  std::vector<Planted> all() {
    for (Index i = function_.begin; i < function_.padding; ++i) {
      const Instruction& instruction = program_.instruction(i);
      switch (instruction.issue) {
      case IssueClass::Waitcnt: wait(i, instruction); break;
      case IssueClass::Nop: nop(i, instruction); break;
      case IssueClass::Barrier: plant(Plant::DropBarrier, i, i, "", "dropped"); break;
      case IssueClass::Lds: swap(i, instruction); break;
      default: break;
      }
    }
    return std::move(list_);
  }

 private:
  std::string text_of(Index i) const { return program::print(program_, i, codec_); }

  void plant(Plant p, Index first, Index last, const std::string& text, const std::string& what) {
    program::Edit edit;
    edit.kernel = kernel_;
    program::Change change;
    change.first = program_.entries[first].id;
    change.last = program_.entries[last].id;
    change.text = text;
    edit.changes.push_back(std::move(change));
    list_.push_back({p, std::move(edit),
                     fmt::format("{}: {} {}", program_.entries[first].id.text(), text_of(first), what)});
  }

  void wait(Index i, const Instruction& instruction) {
    plant(Plant::DropWait, i, i, "", "dropped");
    const auto fields = isa::WaitcntFields::of(instruction);
    const auto shorter = [&](isa::WaitcntFields f) {
      plant(Plant::ShortWait, i, i, fmt::format("s_waitcnt {:#x}", f.encode()), "one short");
    };
    isa::WaitcntFields v = fields, l = fields;
    if (v.vmcnt < 62) ++v.vmcnt, shorter(v);
    if (l.lgkmcnt < 14) ++l.lgkmcnt, shorter(l);
  }

  void nop(Index i, const Instruction& instruction) {
    plant(Plant::DropNop, i, i, "", "dropped");
    const unsigned states = instruction.words[0] & 0xf;
    if (states != 0) plant(Plant::ShortNop, i, i, fmt::format("s_nop {}", states - 1), "one short");
  }

  // With the next LDS access, where it follows at once.
  void swap(Index i, const Instruction& instruction) {
    const Index next = i + 1;
    if (next >= function_.padding || program_.instruction(next).issue != IssueClass::Lds) return;
    const Instruction& other = program_.instruction(next);
    if (!instruction.memory.store && !other.memory.store) return;
    plant(Plant::SwapLds, i, next, text_of(next) + "\n" + text_of(i), "exchanged with the next");
  }

  const program::Program& program_;
  isa::Codec& codec_;
  std::string kernel_;
  const program::Function& function_;
  std::vector<Planted> list_;
};

// A candidate as far as it may reasonably go.
oracle::CaseRunOptions run_options(const oracle::PreparedCase& c) {
  oracle::CaseRunOptions options;
  options.threads = 1;
  options.workgroups = c.sample();
  options.most_instructions = 16 * c.instructions() + 1'000'000;
  return options;
}

Result<oracle::CaseRun> run_delayed(const oracle::PreparedCase& c,
                                    const std::shared_ptr<const oracle::Subject>& subject, bool lds_writes) {
  sanitizer::DelayedResults delay(c.dispatch().target, {.lds_writes = lds_writes});
  oracle::CaseRunOptions options = run_options(c);
  options.observer = delay.observers();
  auto result = oracle::run_case(c.dispatch(), subject, options);
  if (result) result->device->options().observer = {};
  return result;
}

// What K0 does not always leave the same says nothing.
bool same_memory(const oracle::PreparedCase& c, const oracle::CaseRun& a, const oracle::CaseRun& b) {
  if (!a.outcome.completed() || !b.outcome.completed()) return a.outcome.completed() == b.outcome.completed();
  for (size_t v = 0; v < c.dispatch().views.size(); ++v) {
    const oracle::CaseView& view = c.dispatch().views[v];
    if (!c.spread(v).empty()) continue;
    Bytes left(view.layout.bytes()), right(view.layout.bytes());
    if (!a.memory().read(view.address, left) || !b.memory().read(view.address, right) || left != right)
      return false;
  }
  return true;
}

} // namespace

std::string_view name(Plant plant) {
  constexpr std::array<std::string_view, 6> names = {"wait dropped",    "wait one short",  "s_nop dropped",
                                                     "s_nop one short", "barrier dropped", "LDS exchanged"};
  return names[static_cast<size_t>(plant)];
}

std::vector<Planted> planted_defects(const oracle::Subject& k0, const std::string& kernel) {
  return Planter(k0, kernel).all();
}

Result<PlantedBench> open_planted(const std::string& object, const std::string& launch,
                                  const std::string& kernel, const std::vector<std::string>& shapes) {
  PlantedBench bench;
  ASMEVO_TRY(Bytes bytes, read_file(object));
  ASMEVO_TRY(bench.k0, oracle::Subject::open(std::move(bytes)));
  bench.kernel = kernel.empty() ? bench.k0->object().kernels().front().name : kernel;
  ASMEVO_TRY(const oracle::LaunchSpec spec, oracle::LaunchSpec::read(launch));
  oracle::CaseSetOptions options;
  options.as_given = true;
  options.seeds = 1;
  options.prepare.schedules = 2;
  for (const std::string& shape : shapes.empty() ? std::vector<std::string>{""} : shapes) {
    options.shape = shape;
    ASMEVO_TRY(const oracle::CaseSet set, oracle::make_case_set(spec, bench.k0, options));
    for (const auto& c : set.cases)
      if (c->dispatch().kernel == bench.kernel && c->sanitized()) bench.cases.push_back(c);
  }
  if (bench.cases.empty()) return bad_input("{}: launches no kernel '{}'", launch, bench.kernel);
  for (const bool lds_writes : {true, false}) {
    bench.lds_writes = lds_writes;
    bench.same_delayed = true;
    bench.delayed.clear();
    for (const auto& c : bench.cases) {
      ASMEVO_TRY(oracle::CaseRun run, run_delayed(*c, bench.k0, lds_writes));
      bench.same_delayed &= same_memory(*c, run, c->left());
      bench.delayed.push_back(std::move(run));
    }
    if (bench.same_delayed) break;
  }
  for (const auto& c : bench.cases) std::ranges::copy(c->left().defects, std::back_inserter(bench.defects));
  return bench;
}

PlantedVerdict judge(const PlantedBench& bench, const Planted& planted) {
  PlantedVerdict verdict;
  const auto candidate = build(*bench.k0, planted.edit);
  verdict.built = candidate.has_value();
  if (!verdict.built) return verdict;
  const auto checked = oracle::compare_statically(*bench.k0, **candidate);
  if (checked) {
    verdict.by_static = !checked->findings.empty();
    for (const std::string& f : checked->findings)
      verdict.required |= f.find("possible: ") == std::string::npos;
    if (verdict.by_static) verdict.said = checked->findings.front();
  }
  for (size_t i = 0; i < bench.cases.size(); ++i) {
    const oracle::PreparedCase& c = *bench.cases[i];
    if (!verdict.shows) {
      const auto delayed = run_delayed(c, *candidate, bench.lds_writes);
      verdict.shows = !delayed || !same_memory(c, *delayed, bench.delayed[i]);
    }
    if (verdict.by_sanitizer) continue;
    oracle::CaseRunOptions options = run_options(c);
    options.sanitize = true;
    const auto watched = oracle::run_case(c.dispatch(), *candidate, options);
    if (!watched) continue;
    const auto fresh = sanitizer::new_defects(c.left().defects, watched->defects);
    verdict.by_sanitizer = !fresh.empty();
    if (verdict.by_sanitizer && verdict.said.empty()) verdict.said = fresh.front().message();
  }
  return verdict;
}

} // namespace asmevo::mutation
