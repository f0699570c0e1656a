#include "oracle/prepared_case.h"

#include "oracle/workgroup_sample.h"

#include <algorithm>
#include <cstring>

namespace asmevo::oracle {

namespace {

using emulator::AddressSpace;

constexpr uint64_t chunk_bytes = 1 << 20;
constexpr size_t most_opaque_spread = 1'000'000;
constexpr unsigned schedules_if_different = 8;

} // namespace

Result<std::shared_ptr<const PreparedCase>> PreparedCase::make(Case c, std::shared_ptr<const Subject> k0,
                                                               const PrepareOptions& options) {
  std::shared_ptr<PreparedCase> made(new PreparedCase(std::move(c), std::move(k0)));
  ASMEVO_CHECK(made->prepare(options));
  return made;
}

Status PreparedCase::prepare(const PrepareOptions& options) {
  const uint64_t workgroups = case_.shape.workgroup_count();
  sample_ = options.workgroups;
  if (sample_.empty() && options.sample != 0 && workgroups > options.sample) {
    ASMEVO_CHECK(check_sampled(*k0_, case_));
    sample_ = sample_workgroups(case_.shape.workgroups(), options.sample, options.seed);
  }
  ASMEVO_CHECK(run_first(options));
  ASMEVO_CHECK(compare_with_recorded(options.rule));
  ASMEVO_CHECK(run_again(options));
  guard_reads_ = oracle::guard_reads(case_.guards);
  return {};
}

// Where it must not take long it is known only afterwards whether it does.
Status PreparedCase::run_first(const PrepareOptions& options) {
  PrepareOptions first = options;
  first.sanitize = options.sanitize && options.most_watched == PrepareOptions{}.most_watched;
  ASMEVO_TRY(left_, run(0, nullptr, first));
  sanitized_ = options.sanitize && left_.outcome.instructions <= options.most_watched;
  if (!sanitized_ || first.sanitize) return {};
  ASMEVO_TRY(CaseRun watched, run(0, nullptr, options));
  left_.defects = std::move(watched.defects);
  return {};
}

// No two runs start from the same noise: what depends on it shows.
Result<CaseRun> PreparedCase::run(uint64_t schedule, WriteRecorder* recorder,
                                  const PrepareOptions& options) const {
  const uint64_t own = options.seed * 1000 + schedule;
  return run(RunSeeds{schedule == 0 ? 0 : own, own + 1}, recorder, options);
}

Result<CaseRun> PreparedCase::run(const RunSeeds& seeds, WriteRecorder* recorder,
                                  const PrepareOptions& options) const {
  CaseRunOptions request;
  request.schedule = seeds.schedule;
  request.initial_state = seeds.initial_state;
  request.most_instructions = options.most_instructions;
  request.workgroups = sample_;
  request.threads = options.threads;
  request.other_guards = seeds.schedule != 0;
  request.sanitize = options.sanitize && seeds.schedule == 0 && recorder == nullptr;
  if (recorder != nullptr) request.observer = recorder->observers();
  auto result = run_case(case_, k0_, request);
  if (!result) return failed(result.error(), case_.name);
  if (!result->outcome.completed()) return bad_input("{}: K0 itself: {}", case_.name, result->outcome.text);
  return result;
}

Result<const WriteRecorder*> PreparedCase::k0_writes() const {
  const std::scoped_lock lock(writes_mutex_);
  if (writes_ == nullptr) {
    auto writes = std::make_unique<WriteRecorder>();
    PrepareOptions options;
    options.threads = 1; // several candidates may be waiting for it on threads of their own
    ASMEVO_CHECK(run(0, writes.get(), options));
    writes_ = std::move(writes);
  }
  return writes_.get();
}

Status PreparedCase::compare_with_recorded(Rule rule) {
  if (!case_.after || !sample_.empty()) return {};
  for (const CaseView& view : case_.views) {
    Compared what;
    what.k0 = reader(*case_.after, view.address);
    what.candidate = reader(left_.memory(), view.address);
    ASMEVO_TRY(const BufferComparison c, compare(view.layout, what, rule));
    if (c.equal(rule)) continue;
    notes_.push_back(fmt::format("K0 does not leave here what was recorded in buffer '{}': {}", view.name,
                                 c.describe(view.layout.type())));
  }
  return {};
}

Status PreparedCase::run_again(const PrepareOptions& options) {
  spreads_.resize(case_.views.size());
  unsigned schedules = options.schedules;
  for (unsigned schedule = 1; schedule < schedules; ++schedule) {
    ASMEVO_TRY(const CaseRun again, run(schedule, nullptr, options));
    ASMEVO_CHECK(widen_by(again));
    if (!always_the_same()) schedules = std::max(schedules, schedules_if_different);
  }
  if (options.also) {
    ASMEVO_TRY(const CaseRun again, run(*options.also, nullptr, options));
    ASMEVO_CHECK(widen_by(again));
  }
  for (size_t v = 0; v < case_.views.size(); ++v)
    if (!spreads_[v].empty())
      notes_.push_back(fmt::format("K0 does not always leave the same in {} elements of buffer '{}'",
                                   spreads_[v].size(), case_.views[v].name));
  if (!opaque_spread_.empty())
    notes_.push_back(fmt::format("K0 does not always leave the same in {} bytes outside all buffers",
                                 opaque_spread_.size()));
  return {};
}

Status PreparedCase::widen_by(const CaseRun& again) {
  for (size_t v = 0; v < case_.views.size(); ++v) {
    const CaseView& view = case_.views[v];
    ASMEVO_CHECK(widen(spreads_[v], view.layout, reader(left_.memory(), view.address),
                       reader(again.memory(), view.address), next_written(left_, again, view.address)));
  }
  return each_other_byte(left_, again, [&](uint64_t address, uint8_t a, uint8_t b, uint8_t) {
    auto& range = opaque_spread_.try_emplace(address, a, a).first->second;
    range = {std::min(range.first, b), std::max(range.second, b)};
    return opaque_spread_.size() < most_opaque_spread;
  });
}

bool PreparedCase::always_the_same() const {
  return opaque_spread_.empty() && std::ranges::all_of(spreads_, &Spread::empty);
}

const CaseView* PreparedCase::view_at(uint64_t address) const {
  for (const CaseView& v : case_.views)
    if (v.contains(address)) return &v;
  return nullptr;
}

bool PreparedCase::is_element(uint64_t address) const {
  return std::ranges::any_of(case_.views, [&](const CaseView& v) {
    return v.contains(address) &&
           v.layout.index_at((address - v.address) * 8 / v.layout.type().bits).has_value();
  });
}

Status PreparedCase::each_other_byte(const CaseRun& a, const CaseRun& b, const OtherByte& f) const {
  Bytes left(chunk_bytes), right(chunk_bytes), before(chunk_bytes);
  for (const emulator::RegionInfo& region : case_.before->regions()) {
    const uint64_t end = region.address + region.size;
    for (const auto* written : {&a.written, &b.written})
      for (const AddressSpace::Range& range : *written) {
        const uint64_t last = std::min(end, range.address + range.size);
        for (uint64_t at = std::max(region.address, range.address); at < last; at += chunk_bytes) {
          const uint64_t n = std::min(chunk_bytes, last - at);
          ASMEVO_CHECK(a.memory().read(at, std::span(left).first(n)));
          ASMEVO_CHECK(b.memory().read(at, std::span(right).first(n)));
          if (std::memcmp(left.data(), right.data(), n) == 0) continue;
          ASMEVO_CHECK(case_.before->read(at, std::span(before).first(n)));
          for (uint64_t i = 0; i < n; ++i)
            if (left[i] != right[i] && !is_element(at + i) && !f(at + i, left[i], right[i], before[i]))
              return {};
        }
      }
  }
  return each_different_global({a.globals, a.memory(), a.written}, {b.globals, b.memory(), b.written}, f);
}

Status check_sampled(const Subject& subject, const Case& c) {
  if (!uses_global_atomics(subject.program(), c.kernel)) return {};
  return unsupported("kernel '{}' has atomics on memory: a sample of its {} workgroups says nothing; it "
                     "has to be run whole",
                     printable(c.kernel), c.shape.workgroup_count());
}

Status record_after(Case& c, const std::shared_ptr<const Subject>& k0, unsigned threads) {
  CaseRunOptions options;
  options.threads = threads;
  ASMEVO_TRY(CaseRun result, run_case(c, k0, options));
  if (!result.outcome.completed()) return bad_input("{}: K0 itself: {}", c.name, result.outcome.text);
  c.after = std::make_shared<const AddressSpace>(std::move(result.memory()));
  return {};
}

} // namespace asmevo::oracle
