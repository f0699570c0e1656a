// Words of memory instructions: their addresses are in registers that hold good ones.
#include "emulator/differential/generator.h"

namespace asmevo::differential {

using isa::Family;

namespace {
constexpr uint32_t off = 0x7f; // SADDR of FLAT
} // namespace

// Which opcodes are atomics decides how addresses must be aligned; an offset of eight bytes suits all.
Generator::Words Generator::memory_words(const Template& t) {
  // Fields that an instruction does not use must be 0.
  const auto field = [&] { return one_in(2) ? 0 : vector_register(); };
  const uint32_t data = field(), result = field();
  const bool accumulator = one_in(6);
  if (t.family == Family::Ds) {
    const bool any = t.opcode >= 0x36 && t.opcode <= 0x3c && !one_in(3); // narrow and single reads
    uint32_t address = any                                                 ? reg::lds_any
                       : one_in(8) && t.opcode >= 0x3d && t.opcode <= 0x3f ? data
                                                                           : reg::lds_aligned;
    const bool none =
        t.opcode == 0xbd || t.opcode == 0xbe || t.opcode == 0x14 || t.opcode == 0xb6 || t.opcode == 0x1d;
    if (none) address = 0; // M0 has it
    uint32_t offset = one_in(3) ? 0 : any ? below(300) : 8 * below(64);
    if (t.opcode == 0x3d) offset = static_cast<uint32_t>(random_.next()) & 0xffff; // ds_swizzle
    if (one_in(3)) offset = below(256) | below(256) << 8;
    const uint32_t narrow = t.opcode < 0x80 ? t.opcode & 0x3f : 0; // those with two offsets count in elements
    const bool two = narrow == 0x0e || narrow == 0x0f || narrow == 0x2e || narrow == 0x2f || narrow == 0x37 ||
                     narrow == 0x38;
    if (!any && !two && t.opcode != 0x3d) offset &= 0xfff8;
    return {0xd8000000 | t.opcode << 17 | offset | (accumulator ? 1U << 25 : 0),
            address | data << 8 | field() << 16 | result << 24, 0, 0};
  }
  // Loads and stores may be anywhere, atomics (from 64 on) must be aligned.
  const bool atomic = t.opcode >= 64;
  if (t.family == Family::Mubuf) {
    const uint32_t form = below(4); // offen, idxen
    const uint32_t vaddr = form >= 2 ? reg::index : reg::offset;
    const uint32_t resource = form >= 2 && !one_in(4) ? reg::structured_resource : reg::raw_resource;
    const uint32_t soffset = one_in(3) ? reg::soffset : 128 + 8 * below(8);
    const uint32_t offset = one_in(3) ? 0 : atomic || one_in(2) ? 8 * below(512) : below(4096);
    const uint32_t lds = !atomic && one_in(8) ? 1U << 16 : 0;
    return {0xe0000000 | t.opcode << 18 | form << 12 | below(4) << 14 | lds | below(2) << 17 |
                (lds != 0 ? offset & 0xffc : offset),
            vaddr | data << 8 | (resource / 4) << 16 | (accumulator ? 1U << 23 : 0) | soffset << 24, 0, 0};
  }
  uint32_t address = reg::flat_address, saddr = t.segment == 0 ? 0 : off;
  uint32_t offset = one_in(3) ? 0 : 8 * below(16);
  if (t.segment == 1) {
    address = reg::scratch_offset;
    if (one_in(2)) saddr = reg::scratch_soffset;
  } else if (t.segment == 2) {
    if (one_in(3))
      address = reg::offset, saddr = reg::base;
    else
      address = atomic ? reg::aligned_address : reg::any_address;
    if (one_in(3)) offset = (0U - offset) & 0x1fff;
    if (!atomic && one_in(3)) offset = below(128);
  }
  const uint32_t lds = one_in(10) ? 1U << 13 : 0; // to LDS, or scratch's choice of VADDR
  if (lds != 0 && t.segment == 2) offset &= 0x7c;
  return {0xdc000000 | t.opcode << 18 | below(2) << 16 | below(2) << 17 | below(2) << 25 | t.segment << 14 |
              (t.segment == 1 ? below(2) << 13 : lds) | offset,
          address | data << 8 | saddr << 16 | (accumulator ? 1U << 23 : 0) | result << 24, 0, 0};
}

Generator::Words Generator::smem_words(const Template& t) {
  const bool buffer = (t.opcode & 0x1f) >= 8 && (t.opcode & 0x1f) <= 12 && t.opcode < 0x20;
  const bool buffer_atomic = t.opcode >= 0x40 && t.opcode < 0x80;
  const bool buffer_store = t.opcode >= 0x18 && t.opcode <= 0x1a;
  const uint32_t base = buffer || buffer_atomic || buffer_store ? reg::raw_resource : reg::base;
  const bool with_register = one_in(2), with_offset = !with_register || one_in(2);
  const bool scaled = t.opcode >= 5 && t.opcode <= 7; // s_scratch
  uint32_t offset = 8 * below(64);
  if (t.opcode < 0x20 && one_in(3)) offset += below(8); // loads and stores: the lowest bits do not matter
  if (base == reg::base && !scaled && one_in(4)) offset = (0U - offset) & 0x1fffff;
  return {0xc0000000 | t.opcode << 18 | (with_offset ? 1U << 17 : 0) | below(2) << 16 |
              (with_register ? 1U << 14 : 0) | scalar_register() << 6 | base / 2,
          reg::smem_offset << 25 | (with_offset ? offset : 0), 0, 0};
}

} // namespace asmevo::differential
