// Where what the watchers of all workgroups find comes together: one of a kind, the first workgroup's.
#pragma once

#include "emulator/micro_op.h"
#include "sanitizer/defect.h"
#include "sanitizer/global_shadow.h"

#include <compare>
#include <map>
#include <mutex>
#include <unordered_map>

namespace asmevo::sanitizer {

/// A defect before its instructions are printed.
struct RawDefect {
  struct Key {
    DefectKind kind = DefectKind::InFlight;
    std::string rule;
    bool possible = false;
    uint64_t first_pc = 0, second_pc = 0; // in the code object's addresses; first 0: there is none
    auto operator<=>(const Key&) const = default;
  };
  Key key;
  const isa::Instruction* first = nullptr;
  const isa::Instruction* second = nullptr;
  uint64_t first_workgroup = 0, second_workgroup = 0;
  uint32_t first_wave = 0, second_wave = 0;
  std::string object, fix;
  unsigned lacking = 0; // wait states
  int lane = -1;
  uint64_t times = 1;
};

using RawDefects = std::map<RawDefect::Key, RawDefect>;
/// Adds to the list; of two with one key that of the lower workgroup stays.
void add_defect(RawDefects&, RawDefect);

/// Instruction and pc of a MicroOp::index, for races that are found when the workgroups are put together.
struct OpPlace {
  const isa::Instruction* instruction = nullptr;
  uint64_t pc = 0;
};
class Collector {
 public:
  /// `order`: of the workgroups; empty: ascending.
  explicit Collector(const std::vector<uint64_t>& order);
  /// Of everything that touches memory, before it is in anybody's touches.
  void know(uint32_t op, const OpPlace&);
  /// A workgroup has ended. What it touched is compared with what those before it in the order touched, when
  /// these have ended too.
  void workgroup_ended(uint64_t workgroup, RawDefects, std::unique_ptr<WorkgroupTouches>);
  /// Also of workgroups whose forerunners have never ended.
  RawDefects take();

 private:
  void add_touches(const WorkgroupTouches&);
  void add_race(const GlobalShadow::Race&);
  uint64_t position(uint64_t workgroup) const;

  std::mutex mutex_;
  RawDefects defects_;
  GlobalShadow shadow_;
  std::map<uint64_t, uint64_t> positions_;                        // by workgroup; empty: itself
  std::map<uint64_t, std::unique_ptr<WorkgroupTouches>> waiting_; // by position
  uint64_t next_ = 0;
  std::unordered_map<uint32_t, OpPlace> ops_;
};

} // namespace asmevo::sanitizer
