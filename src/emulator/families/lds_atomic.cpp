// DS atomics (CDNA3 ISA, chapter 11): with and without return, exchanges at two addresses, append and
// consume.
#include "emulator/atomics.h"
#include "emulator/families/lds_address.h"
#include "emulator/opcode_table.h"

namespace asmevo::emulator {

namespace {

template <class T, unsigned unit>
void exchange2(Wave& wave, const MicroOp& op) {
  constexpr unsigned dwords = sizeof(T) / 4;
  LaneAddresses a, b;
  lds_offsets(wave, op, first_offset(op, unit), a);
  lds_offsets(wave, op, second_offset(op, unit), b);
  LanePointers p, q;
  const Access access = Access::updating(sizeof(T));
  if (!resolve_ds(wave, op, a, wave.exec(), access, p) || !resolve_ds(wave, op, b, wave.exec(), access, q))
    return;
  const Row* data = wave.vectors + op.source[MicroOp::data].index;
  const Row* data1 = wave.vectors + op.source[MicroOp::data1].index;
  Row* result = wave.vectors + op.result.index;
  const auto exchange = [](const LanePointers& at, unsigned l, T fresh) {
    return (at.mask >> l & 1) == 0 ? T{0} : update<T, atomic_op::swap<T>, false>(at.at[l], {}, fresh);
  };
  for_each_lane(wave.exec(), [&](unsigned l) {
    const T first = value_of<T>(data, l), second = value_of<T>(data1, l);
    const T old = exchange(p, l, first), old1 = exchange(q, l, second);
    set_value(result, l, old);
    set_value(result + dwords, l, old1);
  });
}

uint32_t exchange_if_marked(uint32_t old, uint32_t data) {
  return data >> 31 != 0 ? data & 0x7fffffff : old;
}

// Two dwords, each written without its top bit if that bit is set.
void conditional_exchange(Wave& wave, const MicroOp& op) {
  LaneAddresses a;
  lds_offsets(wave, op, static_cast<uint32_t>(op.mods().offset), a);
  for (uint64_t& offset : a.lane) offset &= wave.dispatch->target.gfx == isa::Gfx::gfx950 ? 0x3fff8 : 0xfff8;
  LanePointers p;
  if (!resolve_ds(wave, op, a, wave.exec(), Access::updating(8), p)) return;
  const Row* data = wave.vectors + op.source[MicroOp::data].index;
  Row* result = wave.vectors + op.result.index;
  for_each_lane(wave.exec(), [&](unsigned l) {
    const uint32_t fresh[] = {data[0].lane[l], data[1].lane[l]};
    for (unsigned d = 0; d < 2; ++d)
      result[d].lane[l] = (p.mask >> l & 1) == 0
                              ? 0
                              : update<uint32_t, exchange_if_marked, false>(p.at[l] + 4 * d, {}, fresh[d]);
  });
}

// The whole wave adds or subtracts the number of its active lanes, all get the old value. The address is M0
// and the instruction's offset, as compilers write it (the manual knows M0 only for GDS).
template <bool append>
void count_lanes(Wave& wave, const MicroOp& op) {
  const uint32_t bits = wave.dispatch->target.gfx == isa::Gfx::gfx950 ? 0x3ffff : 0xffff;
  const uint64_t exec = wave.exec();
  if (exec == 0) return;
  LaneAddresses a{};
  const auto first = static_cast<unsigned>(std::countr_zero(exec));
  a.lane[first] = (wave.scalars[slot::m0] & bits) + static_cast<uint32_t>(op.mods().offset);
  LanePointers p;
  if (!resolve_ds(wave, op, a, uint64_t{1} << first, Access::updating(4), p)) return;
  const auto count = static_cast<uint32_t>(std::popcount(exec));
  const uint32_t old =
      p.mask == 0
          ? 0
          : update<uint32_t, atomic_op::add<uint32_t>, false>(p.at[first], {}, append ? count : 0 - count);
  Row& result = wave.vectors[op.result.index];
  for_each_lane(exec, [&](unsigned l) { result.lane[l] = old; });
}

constexpr OpcodeRow rows[] = {
    {"ds_add_u32", atomic<ds, uint32_t, atomic_op::add<uint32_t>>},
    {"ds_add_rtn_u32", atomic<ds, uint32_t, atomic_op::add<uint32_t>>},
    {"ds_sub_u32", atomic<ds, uint32_t, atomic_op::sub<uint32_t>>},
    {"ds_sub_rtn_u32", atomic<ds, uint32_t, atomic_op::sub<uint32_t>>},
    {"ds_rsub_u32", atomic<ds, uint32_t, atomic_op::rsub<uint32_t>>},
    {"ds_rsub_rtn_u32", atomic<ds, uint32_t, atomic_op::rsub<uint32_t>>},
    {"ds_inc_u32", atomic<ds, uint32_t, atomic_op::inc<uint32_t>>},
    {"ds_inc_rtn_u32", atomic<ds, uint32_t, atomic_op::inc<uint32_t>>},
    {"ds_dec_u32", atomic<ds, uint32_t, atomic_op::dec<uint32_t>>},
    {"ds_dec_rtn_u32", atomic<ds, uint32_t, atomic_op::dec<uint32_t>>},
    {"ds_min_i32", atomic<ds, int32_t, atomic_op::min<int32_t>>},
    {"ds_min_rtn_i32", atomic<ds, int32_t, atomic_op::min<int32_t>>},
    {"ds_max_i32", atomic<ds, int32_t, atomic_op::max<int32_t>>},
    {"ds_max_rtn_i32", atomic<ds, int32_t, atomic_op::max<int32_t>>},
    {"ds_min_u32", atomic<ds, uint32_t, atomic_op::min<uint32_t>>},
    {"ds_min_rtn_u32", atomic<ds, uint32_t, atomic_op::min<uint32_t>>},
    {"ds_max_u32", atomic<ds, uint32_t, atomic_op::max<uint32_t>>},
    {"ds_max_rtn_u32", atomic<ds, uint32_t, atomic_op::max<uint32_t>>},
    {"ds_and_b32", atomic<ds, uint32_t, atomic_op::bit_and<uint32_t>>},
    {"ds_and_rtn_b32", atomic<ds, uint32_t, atomic_op::bit_and<uint32_t>>},
    {"ds_or_b32", atomic<ds, uint32_t, atomic_op::bit_or<uint32_t>>},
    {"ds_or_rtn_b32", atomic<ds, uint32_t, atomic_op::bit_or<uint32_t>>},
    {"ds_xor_b32", atomic<ds, uint32_t, atomic_op::bit_xor<uint32_t>>},
    {"ds_xor_rtn_b32", atomic<ds, uint32_t, atomic_op::bit_xor<uint32_t>>},
    {"ds_mskor_b32", atomic<ds, uint32_t, atomic_op::mask_or<uint32_t>>},
    {"ds_mskor_rtn_b32", atomic<ds, uint32_t, atomic_op::mask_or<uint32_t>>},
    {"ds_cmpst_b32", atomic<ds, uint32_t, atomic_op::compare_store<uint32_t>>},
    {"ds_cmpst_rtn_b32", atomic<ds, uint32_t, atomic_op::compare_store<uint32_t>>},
    {"ds_cmpst_f32", atomic<ds, float, atomic_op::float_compare_store<float>>},
    {"ds_cmpst_rtn_f32", atomic<ds, float, atomic_op::float_compare_store<float>>},
    {"ds_min_f32", atomic<ds, float, atomic_op::float_min<float>>},
    {"ds_min_rtn_f32", atomic<ds, float, atomic_op::float_min<float>>},
    {"ds_max_f32", atomic<ds, float, atomic_op::float_max<float>>},
    {"ds_max_rtn_f32", atomic<ds, float, atomic_op::float_max<float>>},
    {"ds_add_f32", atomic<ds, float, atomic_op::add<float>>},
    {"ds_add_rtn_f32", atomic<ds, float, atomic_op::add<float>>},
    {"ds_pk_add_f16", atomic<ds, PackedHalf, atomic_op::add_halves>},
    {"ds_pk_add_rtn_f16", atomic<ds, PackedHalf, atomic_op::add_halves>},
    {"ds_pk_add_bf16", atomic<ds, PackedBfloat, atomic_op::add_bfloats>},
    {"ds_pk_add_rtn_bf16", atomic<ds, PackedBfloat, atomic_op::add_bfloats>},
    {"ds_add_u64", atomic<ds, uint64_t, atomic_op::add<uint64_t>>},
    {"ds_add_rtn_u64", atomic<ds, uint64_t, atomic_op::add<uint64_t>>},
    {"ds_sub_u64", atomic<ds, uint64_t, atomic_op::sub<uint64_t>>},
    {"ds_sub_rtn_u64", atomic<ds, uint64_t, atomic_op::sub<uint64_t>>},
    {"ds_rsub_u64", atomic<ds, uint64_t, atomic_op::rsub<uint64_t>>},
    {"ds_rsub_rtn_u64", atomic<ds, uint64_t, atomic_op::rsub<uint64_t>>},
    {"ds_inc_u64", atomic<ds, uint64_t, atomic_op::inc<uint64_t>>},
    {"ds_inc_rtn_u64", atomic<ds, uint64_t, atomic_op::inc<uint64_t>>},
    {"ds_dec_u64", atomic<ds, uint64_t, atomic_op::dec<uint64_t>>},
    {"ds_dec_rtn_u64", atomic<ds, uint64_t, atomic_op::dec<uint64_t>>},
    {"ds_min_i64", atomic<ds, int64_t, atomic_op::min<int64_t>>},
    {"ds_min_rtn_i64", atomic<ds, int64_t, atomic_op::min<int64_t>>},
    {"ds_max_i64", atomic<ds, int64_t, atomic_op::max<int64_t>>},
    {"ds_max_rtn_i64", atomic<ds, int64_t, atomic_op::max<int64_t>>},
    {"ds_min_u64", atomic<ds, uint64_t, atomic_op::min<uint64_t>>},
    {"ds_min_rtn_u64", atomic<ds, uint64_t, atomic_op::min<uint64_t>>},
    {"ds_max_u64", atomic<ds, uint64_t, atomic_op::max<uint64_t>>},
    {"ds_max_rtn_u64", atomic<ds, uint64_t, atomic_op::max<uint64_t>>},
    {"ds_and_b64", atomic<ds, uint64_t, atomic_op::bit_and<uint64_t>>},
    {"ds_and_rtn_b64", atomic<ds, uint64_t, atomic_op::bit_and<uint64_t>>},
    {"ds_or_b64", atomic<ds, uint64_t, atomic_op::bit_or<uint64_t>>},
    {"ds_or_rtn_b64", atomic<ds, uint64_t, atomic_op::bit_or<uint64_t>>},
    {"ds_xor_b64", atomic<ds, uint64_t, atomic_op::bit_xor<uint64_t>>},
    {"ds_xor_rtn_b64", atomic<ds, uint64_t, atomic_op::bit_xor<uint64_t>>},
    {"ds_mskor_b64", atomic<ds, uint64_t, atomic_op::mask_or<uint64_t>>},
    {"ds_mskor_rtn_b64", atomic<ds, uint64_t, atomic_op::mask_or<uint64_t>>},
    {"ds_cmpst_b64", atomic<ds, uint64_t, atomic_op::compare_store<uint64_t>>},
    {"ds_cmpst_rtn_b64", atomic<ds, uint64_t, atomic_op::compare_store<uint64_t>>},
    {"ds_cmpst_f64", atomic<ds, double, atomic_op::float_compare_store<double>>},
    {"ds_cmpst_rtn_f64", atomic<ds, double, atomic_op::float_compare_store<double>>},
    {"ds_min_f64", atomic<ds, double, atomic_op::float_min<double>>},
    {"ds_min_rtn_f64", atomic<ds, double, atomic_op::float_min<double>>},
    {"ds_max_f64", atomic<ds, double, atomic_op::float_max<double>>},
    {"ds_max_rtn_f64", atomic<ds, double, atomic_op::float_max<double>>},
    {"ds_add_f64", atomic<ds, double, atomic_op::add<double>>},
    {"ds_add_rtn_f64", atomic<ds, double, atomic_op::add<double>>},
    {"ds_wrxchg_rtn_b32", atomic<ds, uint32_t, atomic_op::swap<uint32_t>>},
    {"ds_wrxchg_rtn_b64", atomic<ds, uint64_t, atomic_op::swap<uint64_t>>},
    {"ds_wrap_rtn_b32", atomic<ds, uint32_t, atomic_op::wrap>},
    {"ds_wrxchg2_rtn_b32", exchange2<uint32_t, 4>},
    {"ds_wrxchg2_rtn_b64", exchange2<uint64_t, 8>},
    {"ds_wrxchg2st64_rtn_b32", exchange2<uint32_t, 4 * 64>},
    {"ds_wrxchg2st64_rtn_b64", exchange2<uint64_t, 8 * 64>},
    {"ds_condxchg32_rtn_b64", conditional_exchange},
    {"ds_append", count_lanes<true>},
    {"ds_consume", count_lanes<false>},
};

} // namespace

OpcodeRows lds_atomic_rows() {
  return rows;
}

} // namespace asmevo::emulator
