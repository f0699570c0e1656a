// SMEM (CDNA3 ISA, chapter 7): loads, stores and atomics whose one address is scalar. All components of an
// address are in bytes, of which the two lowest bits count as 0. There is no scalar data cache, so its
// control does nothing.
#include "emulator/atomics.h"
#include "emulator/families/buffer_address.h"
#include "emulator/observer.h"
#include "emulator/opcode_table.h"

#include <algorithm>

namespace asmevo::emulator {

namespace {

constexpr uint64_t dword_bits = ~uint64_t{3};

void fail_scalar(Wave& wave, const MicroOp& op, FaultKind kind, uint64_t address, unsigned bytes,
                 bool write) {
  wave.fail_at(op, {.kind = kind,
                    .address = address,
                    .bytes = bytes,
                    .write = write,
                    .text = std::string(op.instruction->mnemonic)});
}

void fail_write(Wave& wave, const MicroOp& op, uint64_t address, unsigned bytes) {
  const bool guard = wave.memory->is_guard(address, bytes);
  fail_scalar(wave, op, guard ? FaultKind::Guard : FaultKind::Memory, address, bytes, true);
}

void tell_scalar(Wave& wave, const MicroOp& op, uint64_t address, Access access) {
  if (wave.observer == nullptr || access.bytes == 0) return;
  wave.observer->memory(wave, op,
                        {.space = isa::MemoryKind::Scalar,
                         .load = access.load,
                         .store = access.store,
                         .atomic = access.atomic,
                         .bytes = access.bytes,
                         .lanes = 1,
                         .addresses = &address});
}

// Where an instruction starts and how many of its bytes are in range.
struct ScalarTarget {
  uint64_t address = 0;
  uint64_t in_range = ~uint64_t{0};
};
using Targeting = ScalarTarget (*)(const Wave&, const MicroOp&);

uint64_t immediate(const MicroOp& op) {
  return static_cast<uint64_t>(int64_t{op.mods().offset}) & dword_bits;
}
uint64_t register_offset(const Wave& wave, const MicroOp& op) {
  return wave.scalar32(op.source[MicroOp::offset]) & dword_bits;
}

ScalarTarget memory(const Wave& wave, const MicroOp& op) {
  const uint64_t base = wave.scalar64(op.source[MicroOp::base]) & dword_bits;
  return {.address = base + immediate(op) + register_offset(wave, op)};
}

// The register offset counts in units of the wave's 64 lanes.
ScalarTarget scratch(const Wave& wave, const MicroOp& op) {
  const uint64_t base = wave.scalar64(op.source[MicroOp::base]) & dword_bits;
  return {.address = base + immediate(op) + register_offset(wave, op) * lanes};
}

// Scalar accesses know neither swizzles nor formats. Dwords beyond the last record read 0, are not written.
ScalarTarget buffer(const Wave& wave, const MicroOp& op) {
  const BufferResource r(wave, op.source[MicroOp::base]);
  const uint64_t offset = immediate(op) + register_offset(wave, op);
  const uint64_t size = uint64_t{r.records} * std::max(r.stride, 1U);
  return {.address = (r.base & dword_bits) + offset, .in_range = offset < size ? size - offset : 0};
}

// Of the bytes of a dword the first decides.
unsigned bytes_in_range(const ScalarTarget& t, unsigned bytes) {
  return t.in_range >= bytes ? bytes : static_cast<unsigned>((t.in_range + 3) & dword_bits);
}

template <Targeting target, unsigned dwords>
void scalar_load(Wave& wave, const MicroOp& op) {
  const ScalarTarget t = target(wave, op);
  const unsigned bytes = bytes_in_range(t, 4 * dwords);
  tell_scalar(wave, op, t.address, Access::loading(bytes));
  uint32_t data[dwords] = {};
  if (!wave.memory->guest_read(t.address, data, bytes))
    return fail_scalar(wave, op, FaultKind::Memory, t.address, bytes, false);
  std::copy_n(data, dwords, wave.scalars.data() + op.result.index);
}

template <Targeting target, unsigned dwords>
void scalar_store(Wave& wave, const MicroOp& op) {
  const ScalarTarget t = target(wave, op);
  const unsigned bytes = bytes_in_range(t, 4 * dwords);
  tell_scalar(wave, op, t.address, Access::storing(bytes));
  if (!wave.memory->guest_write(t.address, wave.scalars.data() + op.source[MicroOp::data].index, bytes))
    fail_write(wave, op, t.address, bytes);
}

template <class T>
T scalar_value(const Wave& wave, unsigned index) {
  T value;
  std::memcpy(&value, wave.scalars.data() + index, sizeof value);
  return value;
}

template <Targeting target, class T, auto F>
void scalar_atomic(Wave& wave, const MicroOp& op) {
  const ScalarTarget t = target(wave, op);
  T old{};
  if (t.in_range >= sizeof(T)) {
    tell_scalar(wave, op, t.address, Access::updating(sizeof(T)));
    if (t.address % sizeof(T) != 0)
      return fail_scalar(wave, op, FaultKind::Misaligned, t.address, sizeof(T), true);
    uint8_t* at = wave.memory->writable(t.address, sizeof(T));
    if (at == nullptr) return fail_write(wave, op, t.address, sizeof(T));
    const unsigned data = op.source[MicroOp::data].index;
    if constexpr (takes_two<T, F>)
      old = update<T, F, true>(at, {}, scalar_value<T>(wave, data),
                               scalar_value<T>(wave, data + sizeof(T) / 4));
    else
      old = update<T, F, true>(at, {}, scalar_value<T>(wave, data));
  }
  if (op.result.present()) std::memcpy(wave.scalars.data() + op.result.index, &old, sizeof old);
}

// Both clocks count this wave's instructions: a run is the same every time.
void read_clock(Wave& wave, const MicroOp& op) {
  wave.set_pair(op.result.index, wave.dispatch->start_clock + wave.instructions);
}

// Cache control and address probes; a line that s_dcache_discard would drop has been written through already.
void nothing(Wave&, const MicroOp&) {}

constexpr OpcodeRow rows[] = {
    {"s_load_dword", scalar_load<memory, 1>},
    {"s_load_dwordx2", scalar_load<memory, 2>},
    {"s_load_dwordx4", scalar_load<memory, 4>},
    {"s_load_dwordx8", scalar_load<memory, 8>},
    {"s_load_dwordx16", scalar_load<memory, 16>},
    {"s_scratch_load_dword", scalar_load<scratch, 1>},
    {"s_scratch_load_dwordx2", scalar_load<scratch, 2>},
    {"s_scratch_load_dwordx4", scalar_load<scratch, 4>},
    {"s_buffer_load_dword", scalar_load<buffer, 1>},
    {"s_buffer_load_dwordx2", scalar_load<buffer, 2>},
    {"s_buffer_load_dwordx4", scalar_load<buffer, 4>},
    {"s_buffer_load_dwordx8", scalar_load<buffer, 8>},
    {"s_buffer_load_dwordx16", scalar_load<buffer, 16>},
    {"s_store_dword", scalar_store<memory, 1>},
    {"s_store_dwordx2", scalar_store<memory, 2>},
    {"s_store_dwordx4", scalar_store<memory, 4>},
    {"s_scratch_store_dword", scalar_store<scratch, 1>},
    {"s_scratch_store_dwordx2", scalar_store<scratch, 2>},
    {"s_scratch_store_dwordx4", scalar_store<scratch, 4>},
    {"s_buffer_store_dword", scalar_store<buffer, 1>},
    {"s_buffer_store_dwordx2", scalar_store<buffer, 2>},
    {"s_buffer_store_dwordx4", scalar_store<buffer, 4>},

    {"s_atomic_swap", scalar_atomic<memory, uint32_t, atomic_op::swap<uint32_t>>},
    {"s_atomic_cmpswap", scalar_atomic<memory, uint32_t, atomic_op::compare_swap<uint32_t>>},
    {"s_atomic_add", scalar_atomic<memory, uint32_t, atomic_op::add<uint32_t>>},
    {"s_atomic_sub", scalar_atomic<memory, uint32_t, atomic_op::sub<uint32_t>>},
    {"s_atomic_smin", scalar_atomic<memory, int32_t, atomic_op::min<int32_t>>},
    {"s_atomic_umin", scalar_atomic<memory, uint32_t, atomic_op::min<uint32_t>>},
    {"s_atomic_smax", scalar_atomic<memory, int32_t, atomic_op::max<int32_t>>},
    {"s_atomic_umax", scalar_atomic<memory, uint32_t, atomic_op::max<uint32_t>>},
    {"s_atomic_and", scalar_atomic<memory, uint32_t, atomic_op::bit_and<uint32_t>>},
    {"s_atomic_or", scalar_atomic<memory, uint32_t, atomic_op::bit_or<uint32_t>>},
    {"s_atomic_xor", scalar_atomic<memory, uint32_t, atomic_op::bit_xor<uint32_t>>},
    {"s_atomic_inc", scalar_atomic<memory, uint32_t, atomic_op::inc<uint32_t>>},
    {"s_atomic_dec", scalar_atomic<memory, uint32_t, atomic_op::dec<uint32_t>>},
    {"s_atomic_swap_x2", scalar_atomic<memory, uint64_t, atomic_op::swap<uint64_t>>},
    {"s_atomic_cmpswap_x2", scalar_atomic<memory, uint64_t, atomic_op::compare_swap<uint64_t>>},
    {"s_atomic_add_x2", scalar_atomic<memory, uint64_t, atomic_op::add<uint64_t>>},
    {"s_atomic_sub_x2", scalar_atomic<memory, uint64_t, atomic_op::sub<uint64_t>>},
    {"s_atomic_smin_x2", scalar_atomic<memory, int64_t, atomic_op::min<int64_t>>},
    {"s_atomic_umin_x2", scalar_atomic<memory, uint64_t, atomic_op::min<uint64_t>>},
    {"s_atomic_smax_x2", scalar_atomic<memory, int64_t, atomic_op::max<int64_t>>},
    {"s_atomic_umax_x2", scalar_atomic<memory, uint64_t, atomic_op::max<uint64_t>>},
    {"s_atomic_and_x2", scalar_atomic<memory, uint64_t, atomic_op::bit_and<uint64_t>>},
    {"s_atomic_or_x2", scalar_atomic<memory, uint64_t, atomic_op::bit_or<uint64_t>>},
    {"s_atomic_xor_x2", scalar_atomic<memory, uint64_t, atomic_op::bit_xor<uint64_t>>},
    {"s_atomic_inc_x2", scalar_atomic<memory, uint64_t, atomic_op::inc<uint64_t>>},
    {"s_atomic_dec_x2", scalar_atomic<memory, uint64_t, atomic_op::dec<uint64_t>>},

    {"s_buffer_atomic_swap", scalar_atomic<buffer, uint32_t, atomic_op::swap<uint32_t>>},
    {"s_buffer_atomic_cmpswap", scalar_atomic<buffer, uint32_t, atomic_op::compare_swap<uint32_t>>},
    {"s_buffer_atomic_add", scalar_atomic<buffer, uint32_t, atomic_op::add<uint32_t>>},
    {"s_buffer_atomic_sub", scalar_atomic<buffer, uint32_t, atomic_op::sub<uint32_t>>},
    {"s_buffer_atomic_smin", scalar_atomic<buffer, int32_t, atomic_op::min<int32_t>>},
    {"s_buffer_atomic_umin", scalar_atomic<buffer, uint32_t, atomic_op::min<uint32_t>>},
    {"s_buffer_atomic_smax", scalar_atomic<buffer, int32_t, atomic_op::max<int32_t>>},
    {"s_buffer_atomic_umax", scalar_atomic<buffer, uint32_t, atomic_op::max<uint32_t>>},
    {"s_buffer_atomic_and", scalar_atomic<buffer, uint32_t, atomic_op::bit_and<uint32_t>>},
    {"s_buffer_atomic_or", scalar_atomic<buffer, uint32_t, atomic_op::bit_or<uint32_t>>},
    {"s_buffer_atomic_xor", scalar_atomic<buffer, uint32_t, atomic_op::bit_xor<uint32_t>>},
    {"s_buffer_atomic_inc", scalar_atomic<buffer, uint32_t, atomic_op::inc<uint32_t>>},
    {"s_buffer_atomic_dec", scalar_atomic<buffer, uint32_t, atomic_op::dec<uint32_t>>},
    {"s_buffer_atomic_swap_x2", scalar_atomic<buffer, uint64_t, atomic_op::swap<uint64_t>>},
    {"s_buffer_atomic_cmpswap_x2", scalar_atomic<buffer, uint64_t, atomic_op::compare_swap<uint64_t>>},
    {"s_buffer_atomic_add_x2", scalar_atomic<buffer, uint64_t, atomic_op::add<uint64_t>>},
    {"s_buffer_atomic_sub_x2", scalar_atomic<buffer, uint64_t, atomic_op::sub<uint64_t>>},
    {"s_buffer_atomic_smin_x2", scalar_atomic<buffer, int64_t, atomic_op::min<int64_t>>},
    {"s_buffer_atomic_umin_x2", scalar_atomic<buffer, uint64_t, atomic_op::min<uint64_t>>},
    {"s_buffer_atomic_smax_x2", scalar_atomic<buffer, int64_t, atomic_op::max<int64_t>>},
    {"s_buffer_atomic_umax_x2", scalar_atomic<buffer, uint64_t, atomic_op::max<uint64_t>>},
    {"s_buffer_atomic_and_x2", scalar_atomic<buffer, uint64_t, atomic_op::bit_and<uint64_t>>},
    {"s_buffer_atomic_or_x2", scalar_atomic<buffer, uint64_t, atomic_op::bit_or<uint64_t>>},
    {"s_buffer_atomic_xor_x2", scalar_atomic<buffer, uint64_t, atomic_op::bit_xor<uint64_t>>},
    {"s_buffer_atomic_inc_x2", scalar_atomic<buffer, uint64_t, atomic_op::inc<uint64_t>>},
    {"s_buffer_atomic_dec_x2", scalar_atomic<buffer, uint64_t, atomic_op::dec<uint64_t>>},

    {"s_memtime", read_clock},
    {"s_memrealtime", read_clock},
    {"s_dcache_inv", nothing},
    {"s_dcache_inv_vol", nothing},
    {"s_dcache_wb", nothing},
    {"s_dcache_wb_vol", nothing},
    {"s_dcache_discard", nothing},
    {"s_dcache_discard_x2", nothing},
    {"s_atc_probe", nothing},
    {"s_atc_probe_buffer", nothing},
};

} // namespace

OpcodeRows scalar_memory_rows() {
  return rows;
}

} // namespace asmevo::emulator
