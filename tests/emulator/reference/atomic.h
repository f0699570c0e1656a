// Read-modify-write operations of memory and LDS as functions of what is there and the data.
#pragma once

#include "emulator/reference/real.h"
#include "emulator/reference/state.h"

#include <optional>
#include <string_view>

namespace asmevo::reference {

enum class AtomicOp : uint8_t {
  Add,
  Sub,
  Rsub,
  Inc,
  Dec,
  SMin,
  SMax,
  UMin,
  UMax,
  And,
  Or,
  Xor,
  Swap,
  CompareSwap,  // data, then comparand
  CompareStore, // comparand, then data
  MaskOr,
  Wrap,
  FloatAdd,
  FloatMin,
  FloatMax,
  FloatCompareStore,
  AddHalves,
  AddBfloats,
};

struct Atomic {
  AtomicOp op = AtomicOp::Add;
  unsigned bytes = 4;
  unsigned operands = 1;
  Tolerance tolerance = Tolerance::None; // of what is stored
};

/// "add", "smin_x2", "add_f32", "pk_add_bf16": without "global_atomic_" and the like.
std::optional<Atomic> memory_atomic(std::string_view operation);
/// "add_u32", "min_rtn_f64", "cmpst_b32": without "ds_".
std::optional<Atomic> lds_atomic(std::string_view operation);

/// Where the operation is done decides how floats are treated.
struct AtomicRules {
  bool flushes_inputs = false, flushes_outputs = false;
};
AtomicRules lds_rules(const State&, const Atomic&);
AtomicRules memory_rules(const State&, const Atomic&);

/// What is stored.
uint64_t updated(const Atomic&, const AtomicRules&, uint64_t old, uint64_t data, uint64_t data1);

/// Bytes of a space, little-endian; `bytes` at most 8. The offsets must exist.
uint64_t read_bytes(const std::vector<uint8_t>& from, uint64_t offset, unsigned bytes);
void write_bytes(State&, Space, uint64_t offset, unsigned bytes, uint64_t value, Tolerance = Tolerance::None);

} // namespace asmevo::reference
