// DS reads and writes (CDNA3 ISA, chapter 11). Any alignment, as in the unaligned mode that the HSA runtime
// sets. Atomics: lds_atomic.cpp; what moves data between lanes: lds_lanes.cpp.
#include "emulator/families/lds_address.h"
#include "emulator/opcode_table.h"

namespace asmevo::emulator {

void lds_offsets(const Wave& wave, const MicroOp& op, uint32_t offset, LaneAddresses& a) {
  const Row& row = wave.vectors[op.source[MicroOp::address].index];
  for (unsigned l = 0; l < lanes; ++l) a.lane[l] = row.lane[l] + offset;
}

bool resolve_ds(Wave& wave, const MicroOp& op, const LaneAddresses& a, uint64_t mask, Access access,
                LanePointers& p) {
  if (op.mods().gds) [[unlikely]] {
    wave.fail_at(op,
                 {.kind = FaultKind::Unimplemented, .text = std::string(op.instruction->mnemonic) + " gds"});
    return false;
  }
  tell(wave, op, isa::MemoryKind::Lds, access, mask, a);
  return resolve_lds(wave, op, a, mask, access, p);
}

bool ds(Wave& wave, const MicroOp& op, uint64_t mask, Access access, LanePointers& p) {
  LaneAddresses a;
  lds_offsets(wave, op, static_cast<uint32_t>(op.mods().offset), a);
  return resolve_ds(wave, op, a, mask, access, p);
}

namespace {

// Both reads before either result: the address register may be one of the results.
template <class Form, unsigned unit>
void read2(Wave& wave, const MicroOp& op) {
  LaneAddresses a, b;
  lds_offsets(wave, op, first_offset(op, unit), a);
  lds_offsets(wave, op, second_offset(op, unit), b);
  LanePointers p, q;
  const Access access = Access::loading(Form::bytes);
  if (!resolve_ds(wave, op, a, wave.exec(), access, p) || !resolve_ds(wave, op, b, wave.exec(), access, q))
    return;
  Row* result = wave.vectors + op.result.index;
  load_lanes<Form>(result, p);
  load_lanes<Form>(result + Form::dwords, q);
}

// With both at one place, the second stays (the pseudocode; the text of 11.3.1 says the first).
template <class Form, unsigned unit>
void write2(Wave& wave, const MicroOp& op) {
  LaneAddresses a, b;
  lds_offsets(wave, op, first_offset(op, unit), a);
  lds_offsets(wave, op, second_offset(op, unit), b);
  LanePointers p, q;
  const Access access = Access::storing(Form::bytes);
  if (!resolve_ds(wave, op, a, wave.exec(), access, p) || !resolve_ds(wave, op, b, wave.exec(), access, q))
    return;
  store_lanes<Form>(wave.vectors + op.source[MicroOp::data].index, p);
  store_lanes<Form>(wave.vectors + op.source[MicroOp::data1].index, q);
}

// No address register: M0 and the lane's number.
bool by_lane(Wave& wave, const MicroOp& op, uint64_t mask, Access access, LanePointers& p) {
  const uint32_t base = static_cast<uint32_t>(op.mods().offset) + (wave.scalars[slot::m0] & 0xffff);
  LaneAddresses a;
  for (unsigned l = 0; l < lanes; ++l) a.lane[l] = base + 4 * l;
  return resolve_ds(wave, op, a, mask, access, p);
}

constexpr OpcodeRow rows[] = {
    {"ds_read_u8", load<ds, Narrow<uint8_t>>},
    {"ds_read_i8", load<ds, Narrow<int8_t>>},
    {"ds_read_u16", load<ds, Narrow<uint16_t>>},
    {"ds_read_i16", load<ds, Narrow<int16_t>>},
    {"ds_read_u8_d16", load<ds, Narrow<uint8_t, Half16::Low>>},
    {"ds_read_u8_d16_hi", load<ds, Narrow<uint8_t, Half16::High>>},
    {"ds_read_i8_d16", load<ds, Narrow<int8_t, Half16::Low>>},
    {"ds_read_i8_d16_hi", load<ds, Narrow<int8_t, Half16::High>>},
    {"ds_read_u16_d16", load<ds, Narrow<uint16_t, Half16::Low>>},
    {"ds_read_u16_d16_hi", load<ds, Narrow<uint16_t, Half16::High>>},
    {"ds_read_b32", load<ds, Dwords<1>>},
    {"ds_read_b64", load<ds, Dwords<2>>},
    {"ds_read_b96", load<ds, Dwords<3>>},
    {"ds_read_b128", load<ds, Dwords<4>>},
    {"ds_read2_b32", read2<Dwords<1>, 4>},
    {"ds_read2_b64", read2<Dwords<2>, 8>},
    {"ds_read2st64_b32", read2<Dwords<1>, 4 * 64>},
    {"ds_read2st64_b64", read2<Dwords<2>, 8 * 64>},
    {"ds_read_addtid_b32", load<by_lane, Dwords<1>>},

    {"ds_write_b8", store<ds, Narrow<uint8_t>>},
    {"ds_write_b8_d16_hi", store<ds, Narrow<uint8_t, Half16::High>>},
    {"ds_write_b16", store<ds, Narrow<uint16_t>>},
    {"ds_write_b16_d16_hi", store<ds, Narrow<uint16_t, Half16::High>>},
    {"ds_write_b32", store<ds, Dwords<1>>},
    {"ds_write_b64", store<ds, Dwords<2>>},
    {"ds_write_b96", store<ds, Dwords<3>>},
    {"ds_write_b128", store<ds, Dwords<4>>},
    {"ds_write2_b32", write2<Dwords<1>, 4>},
    {"ds_write2_b64", write2<Dwords<2>, 8>},
    {"ds_write2st64_b32", write2<Dwords<1>, 4 * 64>},
    {"ds_write2st64_b64", write2<Dwords<2>, 8 * 64>},
    {"ds_write_addtid_b32", store<by_lane, Dwords<1>>},
};

} // namespace

OpcodeRows lds_rows() {
  return rows;
}

} // namespace asmevo::emulator
