#include "program/wait_check.h"

#include "program/flight_doubt.h"
#include "program/flight_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace asmevo::program {

namespace {

using isa::Instruction;
using isa::RegRange;
using isa::RegUnit;

class WaitCheck {
 public:
  WaitCheck(const Program& program, const Cfg& cfg, const VectorModes& modes, const CheckOptions& options,
            FindingList& findings)
      : program_(program), cfg_(cfg), modes_(modes), options_(options), findings_(findings) {}

  void run() {
    const std::vector<Block>& blocks = cfg_.blocks();
    if (blocks.empty()) return;
    entry_.resize(blocks.size());
    grown_.resize(blocks.size());
    entry_[0].set_known();
    grown_[0] = true;
    for (bool again = true; again;) {
      again = false;
      for (const uint32_t b : cfg_.order())
        if (std::exchange(grown_[b], false)) again = flow(b) || again;
    }
    report_ = true;
    for (const uint32_t b : cfg_.order())
      if (entry_[b].known()) walk(b);
  }

 private:
  // True where a successor has to be looked at (again).
  bool flow(uint32_t b) {
    walk(b);
    bool any = false;
    for (const uint32_t next : cfg_.blocks()[b].successors) {
      if (!entry_[next].merge(state_)) continue;
      grown_[next] = any = true;
    }
    return any;
  }

  void walk(uint32_t b) {
    state_ = entry_[b];
    for (Index i = cfg_.blocks()[b].begin; i < cfg_.blocks()[b].end; ++i) step(i, program_.instruction(i));
  }

  void step(Index at, const Instruction& i) {
    check_registers(at, i);
    if (i.issue == isa::IssueClass::Waitcnt) wait(i);
    if (i.issue == isa::IssueClass::Barrier) check_barrier(at);
    if (i.call) state_.clear();
    issue(state_, at, i);
  }

  void wait(const Instruction& i) {
    const auto fields = isa::WaitcntFields::of(i);
    for (const FlightClass c : flight_classes) state_.complete(c, left_in_flight(fields, c));
  }

  void check_registers(Index at, const Instruction& i) {
    if (options_.every_use && !report_) return; // nothing becomes of it
    for_each_in_flight(state_, i, modes_.indexed(at),
                       [&](const RegRange& range, FlightClass c, RegUnit u) { report(at, range, c, u); });
  }

  // Goes on as if the wait had been there: one mistake, one finding. But not for comparing.
  void report(Index at, const RegRange& range, FlightClass c, RegUnit u) {
    if (report_ && options_.waits && reported_.emplace(c, state_.producer(c, u), at).second)
      add(at, range, c, u);
    if (!options_.every_use) state_.complete(c, state_.age(c, u));
  }

  void add(Index at, const RegRange& range, FlightClass c, RegUnit u) {
    Finding finding;
    finding.kind = FindingKind::MissingWait;
    finding.rule = counter_name(c);
    finding.producer = state_.producer(c, u);
    finding.consumer = at;
    finding.missing = fmt::format("s_waitcnt {}({})", counter_name(c), state_.age(c, u));
    finding.possible = may_be_complete(program_, cfg_, finding.producer, at, c, u);
    if (options_.possible || !finding.possible) findings_.add(std::move(finding), range);
  }

  // LDS serves a compute unit's waves in the order their instructions reach it, and shipped kernels rely on
  // that: writes that are not waited for at a barrier are only possible mistakes.
  void check_barrier(Index at) {
    if (!report_ || !options_.barriers || !options_.possible) return;
    for (const FlightClass c : {FlightClass::Lds, FlightClass::Vmem}) {
      if (!state_.in_flight(c, FlightState::lds_bytes)) continue;
      Finding finding;
      finding.kind = FindingKind::Barrier;
      finding.rule = c == FlightClass::Lds ? "lds-write-at-barrier" : "lds-dma-at-barrier";
      finding.possible = true;
      finding.producer = state_.producer(c, FlightState::lds_bytes);
      finding.consumer = at;
      finding.in_flight = state_.lds_writes(c);
      finding.object = "LDS";
      finding.register_class = "lds";
      finding.missing =
          fmt::format("s_waitcnt {}({})", counter_name(c), state_.age(c, FlightState::lds_bytes));
      findings_.add(std::move(finding));
    }
  }

  const Program& program_;
  const Cfg& cfg_;
  const VectorModes& modes_;
  const CheckOptions& options_;
  FindingList& findings_;
  std::vector<FlightState> entry_; // per block
  std::vector<char> grown_;        // whether entry_ has grown since the block was last walked
  FlightState state_;
  std::set<std::tuple<FlightClass, Index, Index>> reported_; // with producer and consumer
  bool report_ = false;
};

} // namespace

void check_waits(const Program& program, const Function&, const Cfg& cfg, const VectorModes& modes,
                 const CheckOptions& options, FindingList& findings) {
  WaitCheck(program, cfg, modes, options, findings).run();
}

} // namespace asmevo::program
