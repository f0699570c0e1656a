// A GPU as the cycle model sees it: sizes, rates and latencies, each with its unit, how uncertain it is, and
// where it is from. Machine models are data (machines/*.toml); those of this tree are part of the program,
// and a user can write others:
//
//   version = 1
//   name = "mi300x"
//   target = "gfx942"
//   summary = "one sentence"
//   [l2]
//   latency = {value = 287.5, unit = "cycles", error = 0.03, source = "mt4g, pointer chase"}
//
// Every parameter of the table below has to be there, in its unit. `error` is the relative half width of the
// range in which the true value is believed to lie, from the spread of the sources or of a fit; sizes that
// are certain have none.
#pragma once

#include "base/result.h"
#include "isa/target.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace asmevo::timing {

enum class Parameter : uint8_t {
  // [shape]
  xcds,
  cus_per_xcd,
  shader_engines_per_xcd,
  cus_per_cache,
  // [clock]
  engine_clock,
  matrix_clock,
  // [issue]
  valu_cycles,
  fp64_cycles,
  packed_f32_cycles,
  trans_cycles,
  int_mul_cycles,
  salu_cycles,
  salu_latency,
  branch_cycles,
  waitcnt_cycles,
  memory_issue_cycles,
  // [icache]
  icache_bytes,
  icache_line,
  icache_ways,
  icache_miss,
  // [scalar]
  scalar_bytes,
  scalar_line,
  scalar_latency,
  scalar_miss,
  // [lds]
  lds_banks,
  lds_latency,
  lds_read_rate,
  lds_write_rate,
  // [l1]
  l1_bytes,
  l1_line,
  l1_ways,
  l1_latency,
  l1_rate,
  l1_misses,
  l1_fill,
  // [l2]
  l2_bytes,
  l2_channels,
  l2_line,
  l2_ways,
  l2_latency,
  l2_read_rate,
  l2_write_rate,
  // [mall]
  mall_bytes,
  mall_line,
  mall_latency,
  mall_bandwidth,
  // [hbm]
  hbm_latency,
  hbm_read_bandwidth,
  hbm_write_bandwidth,
  tlb_miss,
  // [dispatch]
  workgroup_cycles,
  wave_start,
  first_issue,
  launch_floor,
  launch_overlap,
  launch_gap,
  count
};
inline constexpr size_t parameter_count = static_cast<size_t>(Parameter::count);

struct ParameterInfo {
  Parameter parameter = Parameter::count;
  std::string_view table, key, unit;
  double least = 0, most = 0;
  bool whole = false; // an integer without an error
  std::string_view meaning;
};
/// In the order of Parameter.
std::span<const ParameterInfo, parameter_count> parameter_table();

/// A number for each parameter: what the cycle model runs with.
class Machine {
 public:
  double operator[](Parameter p) const { return values_[static_cast<size_t>(p)]; }
  double& operator[](Parameter p) { return values_[static_cast<size_t>(p)]; }
  unsigned cus() const {
    return static_cast<unsigned>((*this)[Parameter::xcds] * (*this)[Parameter::cus_per_xcd]);
  }
  friend bool operator==(const Machine&, const Machine&) = default;

 private:
  std::array<double, parameter_count> values_{};
};

class MachineModel {
 public:
  struct Entry {
    double value = 0, error = 0;
    std::string source;
  };

  /// One of this tree's by name ("mi300x"), or a file. BadInput: no such model, with the names there are.
  static Result<MachineModel> find(const std::string& name_or_path);
  static Result<MachineModel> read(const std::string& path);
  /// `path`: for messages, "machines/x.toml:12: l2: latency: ...".
  static Result<MachineModel> parse(std::string_view text, const std::string& path);
  /// The one of this tree that stands for a target where nobody says which: its largest card.
  static std::string_view default_name(const isa::Target&);
  /// find() of a name, or the default where it is empty. Unsupported: a model of another target.
  static Result<MachineModel> for_target(const std::string& name_or_path, const isa::Target&);
  /// Of the models of this tree, in alphabetical order.
  static std::span<const std::string_view> names();

  const std::string& name() const { return name_; }
  const std::string& summary() const { return summary_; }
  const isa::Target& target() const { return target_; }
  const Entry& entry(Parameter p) const { return entries_[static_cast<size_t>(p)]; }
  /// With the values as they are.
  Machine nominal() const;
  /// A member of the ensemble: each uncertain parameter drawn evenly from its range. The same for a seed
  /// everywhere.
  Machine draw(uint64_t seed) const;

 private:
  std::string name_, summary_;
  isa::Target target_;
  std::array<Entry, parameter_count> entries_;
};

} // namespace asmevo::timing
