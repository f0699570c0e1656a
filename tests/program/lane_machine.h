// A tiny machine of four lanes that the liveness tests check the analysis against. It knows nothing of the
// code under test: a program is made here of operations whose meaning stands beside their text, runs with
// free choices (masks, comparisons, indices, branches), and the trace says which register and lane each step
// read and wrote.
#pragma once

#include "base/random.h"

#include <fmt/format.h>

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace asmevo::program::testing {

constexpr unsigned lanes = 4;
constexpr std::array<unsigned, lanes> real_lane = {0, 1, 32,
                                                   33}; // so that EXEC's halves and quads are told apart
constexpr uint8_t all_lanes = 0xf, low_lanes = 0x3;
constexpr unsigned vector_count = 6;            // v0 .. v5
constexpr unsigned mask_count = 24;             // pair k is s[20+2k:21+2k]
constexpr unsigned scalar_count = 3;            // s0 .. s2
using Bits = std::bitset<vector_count * lanes>; // vector register r, lane l: bit r * lanes + l

/// Where choices come from: a number below the bound.
using Chooser = std::function<uint64_t(uint64_t bound)>;

struct Step {
  uint32_t op = 0;  // position in the program
  uint8_t exec = 0; // before
  Bits reads, writes;
  std::bitset<mask_count> mask_reads, mask_writes;
  std::bitset<scalar_count> scalar_reads, scalar_writes;
};

struct Machine {
  uint8_t exec = all_lanes;
  std::array<uint8_t, mask_count> mask{};
  bool skip = false;          // VSKIP
  uint8_t index_operands = 0; // indexing: 1 src0, 2 src1, 8 result
  unsigned index = 0;
  Chooser choose;
  Step step; // being recorded

  bool on(unsigned lane) const { return (exec >> lane & 1) != 0; }
  uint8_t any_mask() { return static_cast<uint8_t>(choose(16)); }
  void read(unsigned v, unsigned lane) { step.reads.set(v * lanes + lane); }
  void write(unsigned v, unsigned lane) { step.writes.set(v * lanes + lane); }
  void read_on(unsigned v) {
    for (unsigned l = 0; l < lanes; ++l)
      if (on(l)) read(v, l);
  }
  void write_on(unsigned v) {
    for (unsigned l = 0; l < lanes; ++l)
      if (on(l)) write(v, l);
  }
  void read_all(unsigned v) {
    for (unsigned l = 0; l < lanes; ++l) read(v, l);
  }
  void write_all(unsigned v) {
    for (unsigned l = 0; l < lanes; ++l) write(v, l);
  }
  uint8_t use_mask(unsigned k) {
    step.mask_reads.set(k);
    return mask[k];
  }
  void set_mask(unsigned k, uint8_t value) {
    step.mask_writes.set(k);
    mask[k] = value;
  }
  // The register an operand of a VALU instruction means: beyond the last one hardware takes v0; so does this.
  unsigned indexed(unsigned v, uint8_t operand) const {
    if ((index_operands & operand) == 0) return v;
    return v + index < vector_count ? v + index : 0;
  }
};

struct Op {
  std::string text;
  std::function<void(Machine&)> run; // null: a branch or the end
  bool vector = false;
  int target = -1; // of a conditional branch: an op's position
};

/// Runs from `machine`'s state until the end or `most` steps.
inline std::vector<Step> run(const std::vector<Op>& ops, Machine machine, size_t most) {
  std::vector<Step> trace;
  for (uint32_t at = 0; at < ops.size() && trace.size() < most;) {
    const Op& op = ops[at];
    machine.step = {};
    machine.step.op = at;
    machine.step.exec = machine.exec;
    uint32_t next = at + 1;
    if (op.target >= 0 && machine.choose(2) != 0) next = static_cast<uint32_t>(op.target);
    if (op.run && !(op.vector && machine.skip)) op.run(machine);
    trace.push_back(machine.step);
    at = next;
  }
  return trace;
}

/// Text of the whole program; a label in front of each op that is a target.
inline std::string text_of(const std::vector<Op>& ops) {
  std::string text;
  for (size_t k = 0; k < ops.size(); ++k) {
    for (const Op& o : ops)
      if (o.target == static_cast<int>(k)) {
        text += fmt::format("L{}:\n", k);
        break;
      }
    text += ops[k].text + (ops[k].target >= 0 ? fmt::format(" L{}", ops[k].target) : "") + "\n";
  }
  return text;
}

} // namespace asmevo::program::testing
