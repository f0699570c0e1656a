#include "emulator/dispatch.h"

#include "base/parallel.h"
#include "base/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <numeric>
#include <optional>

namespace asmevo::emulator {

namespace {

// What a workgroup runs before another may take its turn: some milliseconds. Long enough that switching costs
// nothing, short enough that workgroups that wait for others do not wait long: where each of n waits for the
// next one to be done, n * n / 2 turns are spent waiting.
constexpr uint64_t turn_instructions = uint64_t{1} << 16;

// Waves that 304 compute units hold (MI300X). Kernels whose workgroups all wait for each other count on that.
constexpr uint64_t most_waves = 304 * 32;

// The last instructions of a workgroup that does not end are watched, to say where it goes round.
constexpr uint64_t watched_instructions = 20'000;

// A workgroup with its memory, and how far it is.
struct Resident {
  std::unique_ptr<Workgroup> group;
  Observer* observer = nullptr;
  uint64_t order = 0; // position in the order of starting
  uint64_t turns = 0;
  bool running = false;
};

class Dispatch {
 public:
  Dispatch(const Launch& launch, Code& code, AddressSpace& memory, const RunOptions& options)
      : launch_(launch), code_(code), memory_(memory), options_(options),
        count_(options.workgroups.empty() ? launch.workgroup_count() : options.workgroups.size()),
        threads_(static_cast<unsigned>(
            std::min<uint64_t>(options.threads == 0 ? default_threads() : options.threads, count_))),
        most_resident_(residents()), started_at_(std::chrono::steady_clock::now()) {}

  RunResult run() {
    map_scratch();
    parallel_for(threads_, threads_, [&](size_t, unsigned) { work(); });
    // Said while all memory is still there, the waves' scratch too.
    if (result_.fault) result_.place = memory_.describe(result_.fault.address);
    if (scratch_ != 0) memory_.unmap(scratch_);
    return std::move(result_);
  }

 private:
  // Workgroups that may be in progress at once: what fits in a quarter of a gigabyte, and at least one a
  // thread.
  size_t residents() const {
    constexpr uint64_t memory = uint64_t{1} << 30;
    const uint64_t registers = uint64_t{launch_.context.allocated_vgprs} * sizeof(Row);
    const uint64_t each =
        launch_.waves_per_group * (registers + scratch_bytes_per_wave(launch_)) + launch_.lds_bytes + 4096;
    return std::max<size_t>(
        threads_, std::min<uint64_t>({memory / each, most_waves / launch_.waves_per_group, count_}));
  }

  void map_scratch() {
    const uint64_t bytes = scratch_bytes_per_wave(launch_) * launch_.waves_per_group * most_resident_;
    if (bytes == 0) return;
    scratch_ = memory_.find_free(bytes, uint64_t{1} << 16);
    (void)memory_.map({"scratch", scratch_, bytes}, scratch_noise()); // a free place
  }

  // As registers and LDS that nobody has set. The same for every wave, wherever its scratch memory lies: what
  // it does must not depend on that.
  PageFill scratch_noise() const {
    if (options_.initial_state == 0) return {};
    return [state = static_cast<uint32_t>(options_.initial_state)](uint64_t, std::span<uint8_t> page) {
      constexpr uint32_t words = scratch_granule / sizeof(uint32_t);
      for (size_t at = 0; at + sizeof(uint32_t) <= page.size(); at += sizeof(uint32_t)) {
        const uint32_t noise = noise_bits(static_cast<uint32_t>(at / sizeof(uint32_t)) % words + state);
        std::memcpy(page.data() + at, &noise, sizeof noise);
      }
    };
  }

  uint64_t index_of(uint64_t order) const {
    const uint64_t place = place_of(order);
    return options_.workgroups.empty() ? place : options_.workgroups[place];
  }

  // Only within what is resident together: a workgroup may wait for any earlier one, and would for ever where
  // that had to wait for its memory.
  uint64_t place_of(uint64_t order) const {
    if (options_.order == GroupOrder::Ascending) return order;
    const uint64_t first = order / most_resident_ * most_resident_,
                   many = std::min<uint64_t>(most_resident_, count_ - first), at = order - first;
    if (options_.order == GroupOrder::Descending) return first + many - 1 - at;
    return first + shuffled(at, many, options_.seed + first);
  }

  // A permutation of [0, many) without a table: a multiple of a number that has nothing in common with it.
  static uint64_t shuffled(uint64_t at, uint64_t many, uint64_t seed) {
    RandomStream random(seed);
    const uint64_t shift = random.below(many);
    uint64_t step = 1 + random.below(many);
    while (std::gcd(step, many) != 1) ++step;
    return (at * step + shift) % many;
  }

  void work() {
    while (Resident* r = take()) {
      if (r->turns == 0) r->group->start(index_of(r->order), options_.seed, options_.initial_state);
      r->group->observe(r->observer);
      const uint64_t left =
          options_.most_instructions - std::min(options_.most_instructions, r->group->instructions());
      if (left <= watched_instructions)
        r->group->run_watched(left);
      else
        r->group->run(std::min(turn_instructions, left - watched_instructions));
      give_back(*r);
    }
  }

  // The workgroup to run next: one not started while there is room, else the one that had the fewest turns,
  // the lowest first. Null: nothing is left for this thread; what is running now stays with the threads that
  // run it.
  Resident* take() {
    const std::scoped_lock lock(mutex_);
    Resident* r = choose();
    if (r != nullptr) r->running = true;
    return r;
  }

  // After a failure only workgroups before the failed one still matter: an earlier one may fail too.
  uint64_t end() const { return failed_order_ ? *failed_order_ : count_; }

  Resident* choose() {
    if (timed_out_) return nullptr;
    Resident* best = nullptr;
    Resident* idle = nullptr; // memory that no workgroup uses
    for (const auto& r : residents_) {
      if (r->running) continue;
      if (r->group->state() != Workgroup::State::Running || r->order >= end()) {
        idle = r.get();
        continue;
      }
      if (best == nullptr || std::pair(r->turns, r->order) < std::pair(best->turns, best->order))
        best = r.get();
    }
    if (next_ < end()) {
      if (idle == nullptr && residents_.size() < most_resident_) idle = add_resident();
      if (idle != nullptr) {
        best = idle;
        best->order = next_++;
        best->turns = 0;
      }
    }
    return best;
  }

  Resident* add_resident() {
    const uint64_t offset = scratch_bytes_per_wave(launch_) * launch_.waves_per_group * residents_.size();
    auto r = std::make_unique<Resident>();
    r->group = std::make_unique<Workgroup>(launch_, code_, memory_, scratch_, offset);
    if (options_.observer) r->observer = options_.observer(residents_.size());
    residents_.push_back(std::move(r));
    return residents_.back().get();
  }

  void give_back(Resident& r) {
    const std::scoped_lock lock(mutex_);
    r.running = false;
    ++r.turns;
    Workgroup& group = *r.group;
    if (options_.enough_instructions != 0 && group.instructions() >= options_.enough_instructions)
      group.leave();
    const bool hangs =
        group.state() == Workgroup::State::Running && group.instructions() >= options_.most_instructions;
    if (group.state() != Workgroup::State::Running || hangs)
      finish(r, hangs);
    else if (out_of_time())
      time_out(r);
  }

  void finish(Resident& r, bool hangs) {
    Workgroup& group = *r.group;
    result_.instructions += group.instructions();
    for (size_t i = 0; i < result_.counts.size(); ++i) result_.counts[i] += group.counts()[i];
    if (group.state() == Workgroup::State::Finished) {
      ++result_.finished;
      if (options_.progress) options_.progress(result_.finished);
      if (out_of_time() && result_.finished < count_) time_out(r);
      return;
    }
    if (failed_order_ && *failed_order_ < r.order) return;
    failed_order_ = r.order;
    result_.workgroup = group.index();
    if (hangs) {
      result_.outcome = RunResult::Outcome::Hang;
      result_.hung_instructions = group.instructions();
      result_.loop = group.find_loop();
      result_.wave = result_.loop.wave;
    } else {
      result_.outcome = RunResult::Outcome::Fault;
      result_.fault = group.fault();
      result_.wave = group.faulting_wave();
    }
    r.order = ~uint64_t{0}; // not to be taken up again
  }

  bool out_of_time() const {
    return options_.most_seconds > 0 &&
           std::chrono::duration<double>(std::chrono::steady_clock::now() - started_at_).count() >
               options_.most_seconds;
  }
  void time_out(Resident& r) {
    if (timed_out_ || failed_order_) return;
    timed_out_ = true;
    result_.outcome = RunResult::Outcome::TimeLimit;
    result_.workgroup = r.group->index();
  }

  const Launch& launch_;
  Code& code_;
  AddressSpace& memory_;
  const RunOptions& options_;
  const uint64_t count_;
  const unsigned threads_;
  const size_t most_resident_;
  uint64_t scratch_ = 0;
  std::chrono::steady_clock::time_point started_at_;

  std::mutex mutex_; // everything below
  std::vector<std::unique_ptr<Resident>> residents_;
  uint64_t next_ = 0;                    // order of the next workgroup to start
  std::optional<uint64_t> failed_order_; // the lowest that failed
  bool timed_out_ = false;
  RunResult result_;
};

std::string where(const RunResult& r) {
  return fmt::format("workgroup {}, wave {}", r.workgroup, r.wave);
}

std::string describe_fault(const RunResult& r, uint64_t bias) {
  const Fault& f = r.fault;
  const uint64_t pc = f.pc - bias;
  const std::string lane = f.lane >= 0 ? fmt::format(", lane {}", f.lane) : "";
  const std::string place = fmt::format("at pc {:#x} ({}{})", pc, where(r), lane);
  switch (f.kind) {
  case FaultKind::Unimplemented: return fmt::format("fault: unimplemented {} {}", f.text, place);
  case FaultKind::Memory:
    return fmt::format("fault: {} {} {} bytes at {} {}", f.text, f.write ? "writes" : "reads", f.bytes,
                       r.place, place);
  case FaultKind::Guard:
    return fmt::format("guard_damaged: {} writes {} bytes at {} {}", f.text, f.bytes, r.place, place);
  case FaultKind::Misaligned:
    return fmt::format("fault: {} of {} bytes at the unaligned address {:#x} {}", f.text, f.bytes, f.address,
                       place);
  case FaultKind::Trap: return fmt::format("fault: trap: {} {}", f.text, place);
  case FaultKind::Illegal:
  case FaultKind::None: return fmt::format("fault: {} {}", f.text, place);
  }
  return {};
}

} // namespace

std::string RunResult::describe(uint64_t bias) const {
  switch (outcome) {
  case Outcome::Completed: return {};
  case Outcome::Fault: return describe_fault(*this, bias);
  case Outcome::Hang:
    if (!loop.found)
      return fmt::format("hang: {} instructions in {} and no end; it is at pc {:#x}", hung_instructions,
                         where(*this), loop.first - bias);
    return fmt::format("hang: {} instructions in {} and no end; it goes round from pc {:#x} to {:#x}",
                       hung_instructions, where(*this), loop.first - bias, loop.last - bias);
  case Outcome::TimeLimit:
    return fmt::format("time limit: stopped after {} workgroup{}", finished, finished == 1 ? "" : "s");
  }
  return {};
}

RunResult run_dispatch(const Launch& launch, Code& code, AddressSpace& memory, const RunOptions& options) {
  return Dispatch(launch, code, memory, options).run();
}

} // namespace asmevo::emulator
