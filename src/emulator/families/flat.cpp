// FLAT, GLOBAL and SCRATCH (CDNA3 ISA, chapter 10). FLAT addresses reach LDS and scratch through two
// apertures, told by bits 63:32 of the address; each lane goes its own way.
#include "emulator/atomics.h"
#include "emulator/opcode_table.h"

namespace asmevo::emulator {

namespace {

uint64_t flat_scratch_base(const Wave& wave) {
  return wave.dispatch->target.architected_flat_scratch() ? wave.scratch_base : wave.pair(slot::flat_scratch);
}

// A 64-bit address in two registers, or a 64-bit scalar base and a 32-bit offset in one.
void vector_addresses(const Wave& wave, const MicroOp& op, LaneAddresses& a) {
  const auto offset = static_cast<uint64_t>(int64_t{op.mods().offset});
  const Place& base = op.source[MicroOp::base];
  const Row* row = wave.vectors + op.source[MicroOp::address].index;
  if (base.present()) {
    const uint64_t start = wave.scalar64(base) + offset;
    for (unsigned l = 0; l < lanes; ++l) a.lane[l] = start + row->lane[l];
  } else {
    for (unsigned l = 0; l < lanes; ++l)
      a.lane[l] = (row[0].lane[l] | uint64_t{row[1].lane[l]} << 32) + offset;
  }
}

bool global(Wave& wave, const MicroOp& op, uint64_t mask, Access access, LanePointers& p) {
  LaneAddresses a;
  vector_addresses(wave, op, a);
  tell(wave, op, isa::MemoryKind::Global, access, mask, a);
  return resolve_memory(wave, op, a, mask, access, p);
}

// Lanes of `mask` whose address is in the aperture; their addresses become offsets in it.
uint64_t take_aperture(LaneAddresses& offsets, const LaneAddresses& a, uint64_t mask, uint32_t aperture) {
  uint64_t inside = 0;
  for_each_lane(mask, [&](unsigned l) {
    if (a.lane[l] >> 32 != aperture) return;
    offsets.lane[l] = a.lane[l] & 0xffffffff;
    inside |= uint64_t{1} << l;
  });
  return inside;
}

bool flat(Wave& wave, const MicroOp& op, uint64_t mask, Access access, LanePointers& p) {
  LaneAddresses a;
  vector_addresses(wave, op, a);
  const uint64_t shared = wave.dispatch->shared_aperture_hi, scratch = wave.dispatch->private_aperture_hi;
  uint64_t apertures = 0;
  for (unsigned l = 0; l < lanes; ++l) {
    const uint64_t high = a.lane[l] >> 32;
    apertures |= uint64_t{high == shared} | uint64_t{high == scratch};
  }
  if (apertures == 0) [[likely]] {
    tell(wave, op, isa::MemoryKind::Global, access, mask, a);
    return resolve_memory(wave, op, a, mask, access, p);
  }
  LaneAddresses offsets{};
  const uint64_t in_lds = take_aperture(offsets, a, mask, wave.dispatch->shared_aperture_hi);
  const uint64_t in_scratch = take_aperture(offsets, a, mask & ~in_lds, wave.dispatch->private_aperture_hi);
  const uint64_t in_memory = mask & ~in_lds & ~in_scratch;
  if (in_memory != 0) tell(wave, op, isa::MemoryKind::Global, access, in_memory, a);
  if (!resolve_memory(wave, op, a, in_memory, access, p)) return false;
  if (in_lds != 0) {
    tell(wave, op, isa::MemoryKind::Lds, access, in_lds, offsets);
    if (!resolve_lds(wave, op, offsets, in_lds, access, p)) return false;
  }
  return in_scratch == 0 ||
         resolve_scratch(wave, op, offsets, flat_scratch_base(wave), in_scratch, access, p);
}

// Offsets from SGPR, VGPR and instruction, any of the first two absent (CDNA4 ISA, table 56).
bool scratch(Wave& wave, const MicroOp& op, uint64_t mask, Access access, LanePointers& p) {
  LaneAddresses offsets;
  const Place &base = op.source[MicroOp::base], &address = op.source[MicroOp::address];
  const uint32_t uniform = static_cast<uint32_t>(op.mods().offset) + wave.scalar32(base);
  if (address.present()) {
    const Row& row = wave.vectors[address.index];
    for (unsigned l = 0; l < lanes; ++l) offsets.lane[l] = row.lane[l] + uniform;
  } else {
    for (uint64_t& o : offsets.lane) o = uniform;
  }
  return resolve_scratch(wave, op, offsets, flat_scratch_base(wave), mask, access, p);
}

constexpr OpcodeRow rows[] = {
    {"flat_load_ubyte", load<flat, Narrow<uint8_t>>},
    {"flat_load_sbyte", load<flat, Narrow<int8_t>>},
    {"flat_load_ushort", load<flat, Narrow<uint16_t>>},
    {"flat_load_sshort", load<flat, Narrow<int16_t>>},
    {"flat_load_dword", load<flat, Dwords<1>>},
    {"flat_load_dwordx2", load<flat, Dwords<2>>},
    {"flat_load_dwordx3", load<flat, Dwords<3>>},
    {"flat_load_dwordx4", load<flat, Dwords<4>>},
    {"flat_load_ubyte_d16", load<flat, Narrow<uint8_t, Half16::Low>>},
    {"flat_load_ubyte_d16_hi", load<flat, Narrow<uint8_t, Half16::High>>},
    {"flat_load_sbyte_d16", load<flat, Narrow<int8_t, Half16::Low>>},
    {"flat_load_sbyte_d16_hi", load<flat, Narrow<int8_t, Half16::High>>},
    {"flat_load_short_d16", load<flat, Narrow<uint16_t, Half16::Low>>},
    {"flat_load_short_d16_hi", load<flat, Narrow<uint16_t, Half16::High>>},
    {"flat_store_byte", store<flat, Narrow<uint8_t>>},
    {"flat_store_byte_d16_hi", store<flat, Narrow<uint8_t, Half16::High>>},
    {"flat_store_short", store<flat, Narrow<uint16_t>>},
    {"flat_store_short_d16_hi", store<flat, Narrow<uint16_t, Half16::High>>},
    {"flat_store_dword", store<flat, Dwords<1>>},
    {"flat_store_dwordx2", store<flat, Dwords<2>>},
    {"flat_store_dwordx3", store<flat, Dwords<3>>},
    {"flat_store_dwordx4", store<flat, Dwords<4>>},

    {"global_load_ubyte", load<global, Narrow<uint8_t>>},
    {"global_load_sbyte", load<global, Narrow<int8_t>>},
    {"global_load_ushort", load<global, Narrow<uint16_t>>},
    {"global_load_sshort", load<global, Narrow<int16_t>>},
    {"global_load_dword", load<global, Dwords<1>>},
    {"global_load_dwordx2", load<global, Dwords<2>>},
    {"global_load_dwordx3", load<global, Dwords<3>>},
    {"global_load_dwordx4", load<global, Dwords<4>>},
    {"global_load_ubyte_d16", load<global, Narrow<uint8_t, Half16::Low>>},
    {"global_load_ubyte_d16_hi", load<global, Narrow<uint8_t, Half16::High>>},
    {"global_load_sbyte_d16", load<global, Narrow<int8_t, Half16::Low>>},
    {"global_load_sbyte_d16_hi", load<global, Narrow<int8_t, Half16::High>>},
    {"global_load_short_d16", load<global, Narrow<uint16_t, Half16::Low>>},
    {"global_load_short_d16_hi", load<global, Narrow<uint16_t, Half16::High>>},
    {"global_store_byte", store<global, Narrow<uint8_t>>},
    {"global_store_byte_d16_hi", store<global, Narrow<uint8_t, Half16::High>>},
    {"global_store_short", store<global, Narrow<uint16_t>>},
    {"global_store_short_d16_hi", store<global, Narrow<uint16_t, Half16::High>>},
    {"global_store_dword", store<global, Dwords<1>>},
    {"global_store_dwordx2", store<global, Dwords<2>>},
    {"global_store_dwordx3", store<global, Dwords<3>>},
    {"global_store_dwordx4", store<global, Dwords<4>>},
    {"global_load_lds_ubyte", load_to_lds<global, Narrow<uint8_t>>},
    {"global_load_lds_sbyte", load_to_lds<global, Narrow<int8_t>>},
    {"global_load_lds_ushort", load_to_lds<global, Narrow<uint16_t>>},
    {"global_load_lds_sshort", load_to_lds<global, Narrow<int16_t>>},
    {"global_load_lds_dword", load_to_lds<global, Dwords<1>>},
    {"global_load_lds_dwordx3", load_to_lds<global, Dwords<3>>},
    {"global_load_lds_dwordx4", load_to_lds<global, Dwords<4>>},

    {"scratch_load_ubyte", load<scratch, Narrow<uint8_t>>},
    {"scratch_load_sbyte", load<scratch, Narrow<int8_t>>},
    {"scratch_load_ushort", load<scratch, Narrow<uint16_t>>},
    {"scratch_load_sshort", load<scratch, Narrow<int16_t>>},
    {"scratch_load_dword", load<scratch, Dwords<1>>},
    {"scratch_load_dwordx2", load<scratch, Dwords<2>>},
    {"scratch_load_dwordx3", load<scratch, Dwords<3>>},
    {"scratch_load_dwordx4", load<scratch, Dwords<4>>},
    {"scratch_load_ubyte_d16", load<scratch, Narrow<uint8_t, Half16::Low>>},
    {"scratch_load_ubyte_d16_hi", load<scratch, Narrow<uint8_t, Half16::High>>},
    {"scratch_load_sbyte_d16", load<scratch, Narrow<int8_t, Half16::Low>>},
    {"scratch_load_sbyte_d16_hi", load<scratch, Narrow<int8_t, Half16::High>>},
    {"scratch_load_short_d16", load<scratch, Narrow<uint16_t, Half16::Low>>},
    {"scratch_load_short_d16_hi", load<scratch, Narrow<uint16_t, Half16::High>>},
    {"scratch_store_byte", store<scratch, Narrow<uint8_t>>},
    {"scratch_store_byte_d16_hi", store<scratch, Narrow<uint8_t, Half16::High>>},
    {"scratch_store_short", store<scratch, Narrow<uint16_t>>},
    {"scratch_store_short_d16_hi", store<scratch, Narrow<uint16_t, Half16::High>>},
    {"scratch_store_dword", store<scratch, Dwords<1>>},
    {"scratch_store_dwordx2", store<scratch, Dwords<2>>},
    {"scratch_store_dwordx3", store<scratch, Dwords<3>>},
    {"scratch_store_dwordx4", store<scratch, Dwords<4>>},
    {"scratch_load_lds_ubyte", load_to_lds<scratch, Narrow<uint8_t>>},
    {"scratch_load_lds_sbyte", load_to_lds<scratch, Narrow<int8_t>>},
    {"scratch_load_lds_ushort", load_to_lds<scratch, Narrow<uint16_t>>},
    {"scratch_load_lds_sshort", load_to_lds<scratch, Narrow<int16_t>>},
    {"scratch_load_lds_dword", load_to_lds<scratch, Dwords<1>>},

    {"flat_atomic_swap", atomic<flat, uint32_t, atomic_op::swap<uint32_t>>},
    {"flat_atomic_cmpswap", atomic<flat, uint32_t, atomic_op::compare_swap<uint32_t>>},
    {"flat_atomic_add", atomic<flat, uint32_t, atomic_op::add<uint32_t>>},
    {"flat_atomic_sub", atomic<flat, uint32_t, atomic_op::sub<uint32_t>>},
    {"flat_atomic_smin", atomic<flat, int32_t, atomic_op::min<int32_t>>},
    {"flat_atomic_umin", atomic<flat, uint32_t, atomic_op::min<uint32_t>>},
    {"flat_atomic_smax", atomic<flat, int32_t, atomic_op::max<int32_t>>},
    {"flat_atomic_umax", atomic<flat, uint32_t, atomic_op::max<uint32_t>>},
    {"flat_atomic_and", atomic<flat, uint32_t, atomic_op::bit_and<uint32_t>>},
    {"flat_atomic_or", atomic<flat, uint32_t, atomic_op::bit_or<uint32_t>>},
    {"flat_atomic_xor", atomic<flat, uint32_t, atomic_op::bit_xor<uint32_t>>},
    {"flat_atomic_inc", atomic<flat, uint32_t, atomic_op::inc<uint32_t>>},
    {"flat_atomic_dec", atomic<flat, uint32_t, atomic_op::dec<uint32_t>>},
    {"flat_atomic_swap_x2", atomic<flat, uint64_t, atomic_op::swap<uint64_t>>},
    {"flat_atomic_cmpswap_x2", atomic<flat, uint64_t, atomic_op::compare_swap<uint64_t>>},
    {"flat_atomic_add_x2", atomic<flat, uint64_t, atomic_op::add<uint64_t>>},
    {"flat_atomic_sub_x2", atomic<flat, uint64_t, atomic_op::sub<uint64_t>>},
    {"flat_atomic_smin_x2", atomic<flat, int64_t, atomic_op::min<int64_t>>},
    {"flat_atomic_umin_x2", atomic<flat, uint64_t, atomic_op::min<uint64_t>>},
    {"flat_atomic_smax_x2", atomic<flat, int64_t, atomic_op::max<int64_t>>},
    {"flat_atomic_umax_x2", atomic<flat, uint64_t, atomic_op::max<uint64_t>>},
    {"flat_atomic_and_x2", atomic<flat, uint64_t, atomic_op::bit_and<uint64_t>>},
    {"flat_atomic_or_x2", atomic<flat, uint64_t, atomic_op::bit_or<uint64_t>>},
    {"flat_atomic_xor_x2", atomic<flat, uint64_t, atomic_op::bit_xor<uint64_t>>},
    {"flat_atomic_inc_x2", atomic<flat, uint64_t, atomic_op::inc<uint64_t>>},
    {"flat_atomic_dec_x2", atomic<flat, uint64_t, atomic_op::dec<uint64_t>>},
    {"flat_atomic_add_f32", atomic<flat, float, atomic_op::add<float>>},
    {"flat_atomic_add_f64", atomic<flat, double, atomic_op::add<double>>},
    {"flat_atomic_min_f64", atomic<flat, double, atomic_op::float_min<double>>},
    {"flat_atomic_max_f64", atomic<flat, double, atomic_op::float_max<double>>},
    {"flat_atomic_pk_add_f16", atomic<flat, PackedHalf, atomic_op::add_halves>},
    {"flat_atomic_pk_add_bf16", atomic<flat, PackedBfloat, atomic_op::add_bfloats>},

    {"global_atomic_swap", atomic<global, uint32_t, atomic_op::swap<uint32_t>>},
    {"global_atomic_cmpswap", atomic<global, uint32_t, atomic_op::compare_swap<uint32_t>>},
    {"global_atomic_add", atomic<global, uint32_t, atomic_op::add<uint32_t>>},
    {"global_atomic_sub", atomic<global, uint32_t, atomic_op::sub<uint32_t>>},
    {"global_atomic_smin", atomic<global, int32_t, atomic_op::min<int32_t>>},
    {"global_atomic_umin", atomic<global, uint32_t, atomic_op::min<uint32_t>>},
    {"global_atomic_smax", atomic<global, int32_t, atomic_op::max<int32_t>>},
    {"global_atomic_umax", atomic<global, uint32_t, atomic_op::max<uint32_t>>},
    {"global_atomic_and", atomic<global, uint32_t, atomic_op::bit_and<uint32_t>>},
    {"global_atomic_or", atomic<global, uint32_t, atomic_op::bit_or<uint32_t>>},
    {"global_atomic_xor", atomic<global, uint32_t, atomic_op::bit_xor<uint32_t>>},
    {"global_atomic_inc", atomic<global, uint32_t, atomic_op::inc<uint32_t>>},
    {"global_atomic_dec", atomic<global, uint32_t, atomic_op::dec<uint32_t>>},
    {"global_atomic_swap_x2", atomic<global, uint64_t, atomic_op::swap<uint64_t>>},
    {"global_atomic_cmpswap_x2", atomic<global, uint64_t, atomic_op::compare_swap<uint64_t>>},
    {"global_atomic_add_x2", atomic<global, uint64_t, atomic_op::add<uint64_t>>},
    {"global_atomic_sub_x2", atomic<global, uint64_t, atomic_op::sub<uint64_t>>},
    {"global_atomic_smin_x2", atomic<global, int64_t, atomic_op::min<int64_t>>},
    {"global_atomic_umin_x2", atomic<global, uint64_t, atomic_op::min<uint64_t>>},
    {"global_atomic_smax_x2", atomic<global, int64_t, atomic_op::max<int64_t>>},
    {"global_atomic_umax_x2", atomic<global, uint64_t, atomic_op::max<uint64_t>>},
    {"global_atomic_and_x2", atomic<global, uint64_t, atomic_op::bit_and<uint64_t>>},
    {"global_atomic_or_x2", atomic<global, uint64_t, atomic_op::bit_or<uint64_t>>},
    {"global_atomic_xor_x2", atomic<global, uint64_t, atomic_op::bit_xor<uint64_t>>},
    {"global_atomic_inc_x2", atomic<global, uint64_t, atomic_op::inc<uint64_t>>},
    {"global_atomic_dec_x2", atomic<global, uint64_t, atomic_op::dec<uint64_t>>},
    {"global_atomic_add_f32", atomic<global, float, atomic_op::add<float>>},
    {"global_atomic_add_f64", atomic<global, double, atomic_op::add<double>>},
    {"global_atomic_min_f64", atomic<global, double, atomic_op::float_min<double>>},
    {"global_atomic_max_f64", atomic<global, double, atomic_op::float_max<double>>},
    {"global_atomic_pk_add_f16", atomic<global, PackedHalf, atomic_op::add_halves>},
    {"global_atomic_pk_add_bf16", atomic<global, PackedBfloat, atomic_op::add_bfloats>},
};

} // namespace

OpcodeRows flat_rows() {
  return rows;
}

} // namespace asmevo::emulator
