// MUBUF but for formatted loads and stores (buffer_format.cpp): loads, stores, atomics, memory to LDS, cache
// control.
#include "emulator/atomics.h"
#include "emulator/families/buffer_address.h"
#include "emulator/opcode_table.h"

namespace asmevo::emulator {

namespace {

// One memory, no caches: there is nothing to write back or to invalidate. What orders the accesses of
// different workgroups is that the host's memory is coherent.
void cache_control(Wave&, const MicroOp&) {}

// gfx90a: a dword a lane, from the places in LDS that loads to LDS fill.
void store_from_lds(Wave& wave, const MicroOp& op) {
  const uint32_t first = lds_slot_base(wave, op);
  LaneAddresses a;
  for (unsigned l = 0; l < lanes; ++l) a.lane[l] = first + 4 * l;
  tell(wave, op, isa::MemoryKind::Lds, Access::loading(4), wave.exec(), a);
  LanePointers from, to;
  if (!resolve_lds(wave, op, a, wave.exec(), Access::loading(4), from)) return;
  if (!resolve_buffer(wave, op, wave.exec(), Access::storing(4), to)) return;
  Row data;
  load_lanes<Dwords<1>>(&data, from);
  store_lanes<Dwords<1>>(&data, to);
  write_back(wave, to);
}

constexpr OpcodeRow rows[] = {
    {"buffer_load_ubyte", load<resolve_buffer, Narrow<uint8_t>>},
    {"buffer_load_sbyte", load<resolve_buffer, Narrow<int8_t>>},
    {"buffer_load_ushort", load<resolve_buffer, Narrow<uint16_t>>},
    {"buffer_load_sshort", load<resolve_buffer, Narrow<int16_t>>},
    {"buffer_load_dword", load<resolve_buffer, Dwords<1>>},
    {"buffer_load_dwordx2", load<resolve_buffer, Dwords<2>>},
    {"buffer_load_dwordx3", load<resolve_buffer, Dwords<3>>},
    {"buffer_load_dwordx4", load<resolve_buffer, Dwords<4>>},
    {"buffer_load_ubyte_d16", load<resolve_buffer, Narrow<uint8_t, Half16::Low>>},
    {"buffer_load_ubyte_d16_hi", load<resolve_buffer, Narrow<uint8_t, Half16::High>>},
    {"buffer_load_sbyte_d16", load<resolve_buffer, Narrow<int8_t, Half16::Low>>},
    {"buffer_load_sbyte_d16_hi", load<resolve_buffer, Narrow<int8_t, Half16::High>>},
    {"buffer_load_short_d16", load<resolve_buffer, Narrow<uint16_t, Half16::Low>>},
    {"buffer_load_short_d16_hi", load<resolve_buffer, Narrow<uint16_t, Half16::High>>},
    {"buffer_store_byte", store<resolve_buffer, Narrow<uint8_t>>},
    {"buffer_store_byte_d16_hi", store<resolve_buffer, Narrow<uint8_t, Half16::High>>},
    {"buffer_store_short", store<resolve_buffer, Narrow<uint16_t>>},
    {"buffer_store_short_d16_hi", store<resolve_buffer, Narrow<uint16_t, Half16::High>>},
    {"buffer_store_dword", store<resolve_buffer, Dwords<1>>},
    {"buffer_store_dwordx2", store<resolve_buffer, Dwords<2>>},
    {"buffer_store_dwordx3", store<resolve_buffer, Dwords<3>>},
    {"buffer_store_dwordx4", store<resolve_buffer, Dwords<4>>},
    {"buffer_store_lds_dword", store_from_lds},

    {"buffer_atomic_swap", atomic<resolve_buffer, uint32_t, atomic_op::swap<uint32_t>>},
    {"buffer_atomic_cmpswap", atomic<resolve_buffer, uint32_t, atomic_op::compare_swap<uint32_t>>},
    {"buffer_atomic_add", atomic<resolve_buffer, uint32_t, atomic_op::add<uint32_t>>},
    {"buffer_atomic_sub", atomic<resolve_buffer, uint32_t, atomic_op::sub<uint32_t>>},
    {"buffer_atomic_smin", atomic<resolve_buffer, int32_t, atomic_op::min<int32_t>>},
    {"buffer_atomic_umin", atomic<resolve_buffer, uint32_t, atomic_op::min<uint32_t>>},
    {"buffer_atomic_smax", atomic<resolve_buffer, int32_t, atomic_op::max<int32_t>>},
    {"buffer_atomic_umax", atomic<resolve_buffer, uint32_t, atomic_op::max<uint32_t>>},
    {"buffer_atomic_and", atomic<resolve_buffer, uint32_t, atomic_op::bit_and<uint32_t>>},
    {"buffer_atomic_or", atomic<resolve_buffer, uint32_t, atomic_op::bit_or<uint32_t>>},
    {"buffer_atomic_xor", atomic<resolve_buffer, uint32_t, atomic_op::bit_xor<uint32_t>>},
    {"buffer_atomic_inc", atomic<resolve_buffer, uint32_t, atomic_op::inc<uint32_t>>},
    {"buffer_atomic_dec", atomic<resolve_buffer, uint32_t, atomic_op::dec<uint32_t>>},
    {"buffer_atomic_swap_x2", atomic<resolve_buffer, uint64_t, atomic_op::swap<uint64_t>>},
    {"buffer_atomic_cmpswap_x2", atomic<resolve_buffer, uint64_t, atomic_op::compare_swap<uint64_t>>},
    {"buffer_atomic_add_x2", atomic<resolve_buffer, uint64_t, atomic_op::add<uint64_t>>},
    {"buffer_atomic_sub_x2", atomic<resolve_buffer, uint64_t, atomic_op::sub<uint64_t>>},
    {"buffer_atomic_smin_x2", atomic<resolve_buffer, int64_t, atomic_op::min<int64_t>>},
    {"buffer_atomic_umin_x2", atomic<resolve_buffer, uint64_t, atomic_op::min<uint64_t>>},
    {"buffer_atomic_smax_x2", atomic<resolve_buffer, int64_t, atomic_op::max<int64_t>>},
    {"buffer_atomic_umax_x2", atomic<resolve_buffer, uint64_t, atomic_op::max<uint64_t>>},
    {"buffer_atomic_and_x2", atomic<resolve_buffer, uint64_t, atomic_op::bit_and<uint64_t>>},
    {"buffer_atomic_or_x2", atomic<resolve_buffer, uint64_t, atomic_op::bit_or<uint64_t>>},
    {"buffer_atomic_xor_x2", atomic<resolve_buffer, uint64_t, atomic_op::bit_xor<uint64_t>>},
    {"buffer_atomic_inc_x2", atomic<resolve_buffer, uint64_t, atomic_op::inc<uint64_t>>},
    {"buffer_atomic_dec_x2", atomic<resolve_buffer, uint64_t, atomic_op::dec<uint64_t>>},
    {"buffer_atomic_add_f32", atomic<resolve_buffer, float, atomic_op::add<float>>},
    {"buffer_atomic_add_f64", atomic<resolve_buffer, double, atomic_op::add<double>>},
    {"buffer_atomic_min_f64", atomic<resolve_buffer, double, atomic_op::float_min<double>>},
    {"buffer_atomic_max_f64", atomic<resolve_buffer, double, atomic_op::float_max<double>>},
    {"buffer_atomic_pk_add_f16", atomic<resolve_buffer, PackedHalf, atomic_op::add_halves>},
    {"buffer_atomic_pk_add_bf16", atomic<resolve_buffer, PackedBfloat, atomic_op::add_bfloats>},

    {"buffer_wbl2", cache_control},
    {"buffer_inv", cache_control},
    {"buffer_invl2", cache_control},
    {"buffer_wbinvl1", cache_control},
    {"buffer_wbinvl1_vol", cache_control},
};

} // namespace

OpcodeRows buffer_rows() {
  return rows;
}

} // namespace asmevo::emulator
