#include "oracle/verify.h"

#include "oracle/workgroup_sample.h"
#include "oracle/write_recorder.h"

#include <algorithm>
#include <map>

namespace asmevo::oracle {

namespace {

using Kind = device::LaunchOutcome::Kind;
using emulator::AddressSpace;

constexpr uint64_t chunk_bytes = 1 << 20;

// A run of one code object from the memory of a case, and what it left.
struct Run {
  std::unique_ptr<device::EmulatedDevice> device;
  device::LaunchOutcome outcome;
  std::vector<AddressSpace::Range> written; // by address
  AddressSpace& memory() const { return device->memory(); }
};

struct RunRequest {
  uint64_t schedule = 0, most_instructions = 0;
  std::vector<uint64_t> workgroups;
  unsigned threads = 0;
  WriteRecorder* recorder = nullptr;
};

Result<Run> run(const Case& c, const std::shared_ptr<const Subject>& subject, const RunRequest& request) {
  device::EmulatorOptions options;
  options.threads = request.threads;
  options.seed = request.schedule;
  options.most_instructions = request.most_instructions;
  options.workgroups = request.workgroups;
  if (request.recorder != nullptr)
    options.observer = [recorder = request.recorder](unsigned worker) { return recorder->observer(worker); };
  Run result;
  ASMEVO_TRY(result.device, device::EmulatedDevice::create(c.target, options));
  result.memory() = c.before->fork();
  ASMEVO_TRY(const auto module, result.device->load(object_of(subject)));
  ASMEVO_TRY(result.outcome, result.device->launch(*module, c.kernel, c.shape, c.arguments));
  result.written = result.memory().written();
  return result;
}

bool overlaps(const std::vector<AddressSpace::Range>& ranges, uint64_t address, uint64_t bytes) {
  const auto end = [](const AddressSpace::Range& r) { return r.address + r.size; };
  const auto at = std::ranges::upper_bound(ranges, address, std::less{}, end);
  return at != ranges.end() && at->address < address + bytes;
}

ReadBytes reader(const AddressSpace& memory, uint64_t address) {
  return [&memory, address](uint64_t offset, std::span<uint8_t> into) {
    return memory.read(address + offset, into);
  };
}

Outcome outcome_of(Kind kind) {
  switch (kind) {
  case Kind::Fault: return Outcome::Fault;
  case Kind::GuardDamaged: return Outcome::GuardDamaged;
  case Kind::Hang:
  case Kind::TimeLimit: return Outcome::Hang;
  case Kind::Completed: break;
  }
  return Outcome::Equivalent;
}

class CaseVerifier {
 public:
  CaseVerifier(const Case& c, const std::shared_ptr<const Subject>& k0,
               const std::shared_ptr<const Subject>& candidate, const VerifyOptions& options)
      : case_(c), k0_subject_(k0), candidate_subject_(candidate), options_(options) {}

  Result<CaseReport> verify() {
    report_.name = case_.name;
    report_.workgroups = case_.shape.workgroup_count();
    ASMEVO_CHECK(choose_workgroups());
    ASMEVO_TRY(k0_, run_k0(0, nullptr));
    report_.k0_instructions = k0_.outcome.instructions;
    ASMEVO_CHECK(compare_with_recorded());
    ASMEVO_CHECK(run_k0_again());
    ASMEVO_TRY(candidate_, run_candidate(nullptr));
    report_.candidate_instructions = candidate_.outcome.instructions;
    if (!candidate_.outcome.completed()) {
      fail(outcome_of(candidate_.outcome.kind), "", candidate_.outcome.text);
      return std::move(report_);
    }
    ASMEVO_CHECK(compare_all());
    return std::move(report_);
  }

 private:
  void fail(Outcome outcome, const std::string& buffer, std::string text) {
    if (report_.outcome != Outcome::Equivalent) return;
    report_.outcome = outcome;
    report_.buffer = buffer;
    report_.text = std::move(text);
  }

  Status choose_workgroups() {
    if (options_.sample == 0 || report_.workgroups <= options_.sample) return {};
    for (const auto& subject : {k0_subject_, candidate_subject_})
      if (uses_global_atomics(subject->program(), case_.kernel))
        return unsupported(
            "kernel '{}' has atomics on memory: a sample of its {} workgroups says nothing; it "
            "has to be run whole",
            printable(case_.kernel), report_.workgroups);
    report_.sample = sample_workgroups(case_.shape.workgroups(), options_.sample, options_.seed);
    return {};
  }

  Result<Run> run_k0(uint64_t schedule, WriteRecorder* recorder) {
    auto result = run(case_, k0_subject_,
                      {schedule, options_.most_instructions, report_.sample, options_.threads, recorder});
    if (!result) return failed(result.error(), case_.name);
    if (!result->outcome.completed()) return bad_input("{}: K0 itself: {}", case_.name, result->outcome.text);
    return result;
  }

  // A candidate that needs many times what K0 needs for all its workgroups does not end.
  Result<Run> run_candidate(WriteRecorder* recorder) {
    const uint64_t most =
        std::min(options_.most_instructions, 16 * report_.k0_instructions + uint64_t{1'000'000});
    auto result =
        run(case_, candidate_subject_, {options_.seed + 1, most, report_.sample, options_.threads, recorder});
    if (!result) return failed(result.error(), case_.name);
    return result;
  }

  // --- K0 against what was recorded of it, and against itself

  Status compare_with_recorded() {
    if (!case_.after || !report_.sample.empty()) return {};
    for (const CaseView& view : case_.views) {
      Compared what;
      what.k0 = reader(*case_.after, view.address);
      what.candidate = reader(k0_.memory(), view.address);
      ASMEVO_TRY(const BufferComparison c, compare(view.layout, what, options_.rule));
      if (c.equal(options_.rule)) continue;
      report_.notes.push_back(fmt::format("K0 does not leave here what was recorded in buffer '{}': {}",
                                          view.name, c.describe(view.layout.type())));
    }
    return {};
  }

  Status run_k0_again() {
    spreads_.resize(case_.views.size());
    for (unsigned schedule = 1; schedule < options_.schedules; ++schedule) {
      ASMEVO_TRY(const Run again, run_k0(schedule, nullptr));
      for (size_t v = 0; v < case_.views.size(); ++v) {
        const CaseView& view = case_.views[v];
        ASMEVO_CHECK(widen(spreads_[v], view.layout, reader(k0_.memory(), view.address),
                           reader(again.memory(), view.address), touched(view, k0_, again)));
      }
      ASMEVO_CHECK(each_other_byte(k0_, again, [&](uint64_t address, uint8_t a, uint8_t b, uint8_t) {
        auto& range = opaque_spread_.try_emplace(address, a, a).first->second;
        range = {std::min(range.first, b), std::max(range.second, b)};
        return opaque_spread_.size() < most_opaque_spread;
      }));
    }
    for (size_t v = 0; v < case_.views.size(); ++v)
      if (!spreads_[v].empty())
        report_.notes.push_back(fmt::format("K0 does not always leave the same in {} elements of buffer '{}'",
                                            spreads_[v].size(), case_.views[v].name));
    if (!opaque_spread_.empty())
      report_.notes.push_back(fmt::format("K0 does not always leave the same in {} bytes outside all buffers",
                                          opaque_spread_.size()));
    return {};
  }

  static std::function<bool(uint64_t, uint64_t)> touched(const CaseView& view, const Run& a, const Run& b) {
    return [&view, &a, &b](uint64_t offset, uint64_t bytes) {
      return overlaps(a.written, view.address + offset, bytes) ||
             overlaps(b.written, view.address + offset, bytes);
    };
  }

  // --- the candidate against K0

  Result<BufferComparison> compare_view(size_t v, const WriteRecorder* k0_writes,
                                        const WriteRecorder* candidate_writes) {
    const CaseView& view = case_.views[v];
    Compared what;
    what.k0 = reader(k0_.memory(), view.address);
    what.candidate = reader(candidate_.memory(), view.address);
    what.before = reader(*case_.before, view.address);
    what.touched = touched(view, k0_, candidate_);
    const auto wrote = [&view](const WriteRecorder* writes) {
      return [writes, first = view.address](uint64_t offset, uint64_t bytes) {
        return writes->wrote(first + offset, bytes);
      };
    };
    if (k0_writes != nullptr) what.k0_wrote = wrote(k0_writes);
    if (candidate_writes != nullptr) what.candidate_wrote = wrote(candidate_writes);
    // An output may start as zeros, too, and K0 write a zero: who wrote what is looked into where it matters.
    what.poisoned = false;
    what.spread = spreads_[v].empty() ? nullptr : &spreads_[v];
    return compare(view.layout, what, options_.rule);
  }

  Status compare_all() {
    bool doubtful = false;
    for (size_t v = 0; v < case_.views.size(); ++v) {
      ASMEVO_TRY(BufferComparison c, compare_view(v, nullptr, nullptr));
      doubtful |= c.doubtful != 0;
      report_.buffers.push_back(
          {case_.views[v].name, case_.views[v].layout.type(), std::move(c), spreads_[v].size()});
    }
    if (doubtful) ASMEVO_CHECK(compare_with_writes());
    ASMEVO_CHECK(compare_other_bytes()); // damage first: it often is why elements are wrong
    for (const ViewReport& b : report_.buffers)
      if (!b.comparison.equal(options_.rule))
        fail(Outcome::Divergent, b.name,
             fmt::format("divergent: buffer '{}': {}", b.name, b.comparison.describe(b.type)));
    return {};
  }

  // Both once more, with every write recorded.
  Status compare_with_writes() {
    WriteRecorder k0_writes, candidate_writes;
    ASMEVO_TRY(k0_, run_k0(0, &k0_writes));
    ASMEVO_TRY(candidate_, run_candidate(&candidate_writes));
    for (size_t v = 0; v < case_.views.size(); ++v)
      if (report_.buffers[v].comparison.doubtful != 0) {
        ASMEVO_TRY(report_.buffers[v].comparison, compare_view(v, &k0_writes, &candidate_writes));
      }
    return {};
  }

  Status compare_other_bytes() {
    return each_other_byte(k0_, candidate_, [&](uint64_t address, uint8_t a, uint8_t b, uint8_t before) {
      const auto spread = opaque_spread_.find(address);
      if (spread != opaque_spread_.end() && b >= spread->second.first && b <= spread->second.second)
        return true;
      const CaseView* view = view_at(address);
      const emulator::RegionInfo* region = case_.before->region_at(address);
      const std::string place =
          view != nullptr
              ? fmt::format("buffer '{}': byte {}, between its rows,", view->name, address - view->address)
              : fmt::format("memory '{}': byte {}", printable(region->name), address - region->address);
      const bool damage = view != nullptr && a == before;
      fail(damage ? Outcome::GuardDamaged : Outcome::Divergent,
           view != nullptr ? view->name : printable(region->name),
           fmt::format("{}: {} is {:#04x}, candidate {:#04x}, before {:#04x}",
                       damage ? "guard_damaged" : "divergent", place, a, b, before));
      return false;
    });
  }

  const CaseView* view_at(uint64_t address) const {
    for (const CaseView& v : case_.views)
      if (address >= v.address && address - v.address < v.layout.bytes()) return &v;
    return nullptr;
  }
  bool is_element(uint64_t address) const {
    return std::ranges::any_of(case_.views, [&](const CaseView& v) {
      return address >= v.address && address - v.address < v.layout.bytes() &&
             v.layout.index_at((address - v.address) * 8 / v.layout.type().bits).has_value();
    });
  }

  // Calls f(address, byte of a, of b, before) for each byte of the case's memory that is no element of a view
  // and that differs, until f says false.
  template <class F>
  Status each_other_byte(const Run& a, const Run& b, F f) const {
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
    return {};
  }

  static constexpr size_t most_opaque_spread = 1'000'000;

  const Case& case_;
  const std::shared_ptr<const Subject>&k0_subject_, &candidate_subject_;
  const VerifyOptions& options_;
  CaseReport report_;
  Run k0_, candidate_;
  std::vector<Spread> spreads_;                                   // by view
  std::map<uint64_t, std::pair<uint8_t, uint8_t>> opaque_spread_; // by address
};

} // namespace

Status record_after(Case& c, const std::shared_ptr<const Subject>& k0, unsigned threads) {
  ASMEVO_TRY(Run result, run(c, k0, {0, VerifyOptions{}.most_instructions, {}, threads, nullptr}));
  if (!result.outcome.completed()) return bad_input("{}: K0 itself: {}", c.name, result.outcome.text);
  c.after = std::make_shared<const AddressSpace>(std::move(result.memory()));
  return {};
}

std::string_view name(Outcome outcome) {
  constexpr std::array<std::string_view, 7> names = {"equivalent", "abi_invalid",   "hazard",   "fault",
                                                     "hang",       "guard_damaged", "divergent"};
  return names[static_cast<size_t>(outcome)];
}

Result<CaseReport> verify_case(const Case& c, const std::shared_ptr<const Subject>& k0,
                               const std::shared_ptr<const Subject>& candidate,
                               const VerifyOptions& options) {
  return CaseVerifier(c, k0, candidate, options).verify();
}

} // namespace asmevo::oracle
