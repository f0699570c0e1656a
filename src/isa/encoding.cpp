#include "isa/encoding.h"

namespace asmevo::isa {

namespace {

constexpr uint32_t code_literal = 255, code_sdwa = 249, code_dpp = 250;

constexpr uint32_t field(uint32_t word, unsigned shift, unsigned width) {
  return word >> shift & ((1U << width) - 1);
}

constexpr bool bit(uint32_t word, unsigned position) {
  return (word >> position & 1) != 0;
}

template <class T>
constexpr T bits(uint32_t word, unsigned shift, unsigned width) {
  return static_cast<T>(field(word, shift, width));
}

constexpr int32_t sign_extend(uint32_t value, unsigned width) {
  return static_cast<int32_t>(value << (32 - width)) >> (32 - width);
}

// v_mfma_ld_scale_b32, the first half of the 16-byte v_mfma_scale_* of gfx950 (VOP3PX2).
bool is_scale_prefix(uint32_t first) {
  return first >> 23 == 0x1a7 && field(first, 16, 7) == 0x2c;
}

// VOP2 opcodes that always carry a literal: v_madmk/madak_f32 (23, 24), v_madmk/madak_f16 (36, 37); 23 and 24
// are v_fmamk/fmaak_f32 on gfx940.
bool is_vop2_with_literal(uint32_t op) {
  return op == 23 || op == 24 || op == 36 || op == 37;
}

constexpr uint32_t sopk_setreg_imm32 = 20;

// VOP3 opcodes whose vdst field names a scalar register: the 256 of VOPC, and v_readlane_b32.
constexpr uint16_t last_compare = 255, readlane = 0x289;

Extension vop_extension(uint32_t first, bool always_literal) {
  if (always_literal) return Extension::Literal;
  switch (field(first, 0, 9)) {
  case code_literal: return Extension::Literal;
  case code_dpp: return Extension::Dpp;
  case code_sdwa: return Extension::Sdwa;
  default: return Extension::None;
  }
}

Extension extension_of(Family family, uint32_t first) {
  const auto literal_if = [](bool is) { return is ? Extension::Literal : Extension::None; };
  switch (family) {
  case Family::Sop1: return literal_if(field(first, 0, 8) == code_literal);
  case Family::Sop2:
  case Family::Sopc:
    return literal_if(field(first, 0, 8) == code_literal || field(first, 8, 8) == code_literal);
  case Family::Sopk: return literal_if(field(first, 23, 5) == sopk_setreg_imm32);
  case Family::Vop2: return vop_extension(first, is_vop2_with_literal(field(first, 25, 6)));
  case Family::Vop1:
  case Family::Vopc: return vop_extension(first, false);
  default: return Extension::None;
  }
}

uint16_t opcode_of(Family family, uint32_t w) {
  switch (family) {
  case Family::Sop1: return bits<uint16_t>(w, 8, 8);
  case Family::Sop2: return bits<uint16_t>(w, 23, 7);
  case Family::Sopk: return bits<uint16_t>(w, 23, 5);
  case Family::Sopc:
  case Family::Sopp: return bits<uint16_t>(w, 16, 7);
  case Family::Smem: return bits<uint16_t>(w, 18, 8);
  case Family::Vop1: return bits<uint16_t>(w, 9, 8);
  case Family::Vop2: return bits<uint16_t>(w, 25, 6);
  case Family::Vopc: return bits<uint16_t>(w, 17, 8);
  case Family::Vop3: return bits<uint16_t>(w, 16, 10);
  case Family::Vop3p: return bits<uint16_t>(w, 16, 7);
  case Family::Ds: return bits<uint16_t>(w, 17, 8);
  case Family::Mubuf:
  case Family::Flat:
  case Family::Mimg: return bits<uint16_t>(w, 18, 7);
  case Family::Mtbuf: return bits<uint16_t>(w, 15, 4);
  default: return 0;
  }
}

void dpp_fields(Modifiers& m, uint32_t w) {
  m.dpp_ctrl = bits<uint16_t>(w, 8, 9);
  m.bound_ctrl = bit(w, 19);
  m.neg = static_cast<uint8_t>(field(w, 20, 1) | field(w, 22, 1) << 1);
  m.abs = static_cast<uint8_t>(field(w, 21, 1) | field(w, 23, 1) << 1);
  m.bank_mask = bits<uint8_t>(w, 24, 4);
  m.row_mask = bits<uint8_t>(w, 28, 4);
}

void sdwa_fields(Modifiers& m, uint32_t w, bool compare) {
  if (!compare) {
    m.dst_sel = bits<uint8_t>(w, 8, 3);
    m.dst_unused = bits<uint8_t>(w, 11, 2);
    m.clamp = bit(w, 13);
    m.omod = bits<uint8_t>(w, 14, 2);
  }
  m.src0_sel = bits<uint8_t>(w, 16, 3);
  m.src1_sel = bits<uint8_t>(w, 24, 3);
  m.sext = static_cast<uint8_t>(field(w, 19, 1) | field(w, 27, 1) << 1);
  m.neg = static_cast<uint8_t>(field(w, 20, 1) | field(w, 28, 1) << 1);
  m.abs = static_cast<uint8_t>(field(w, 21, 1) | field(w, 29, 1) << 1);
}

void vop3_fields(Modifiers& m, uint32_t w0, uint32_t w1) {
  m.abs = bits<uint8_t>(w0, 8, 3);
  m.op_sel = bits<uint8_t>(w0, 11, 4); // VOP3B has its sdst in these bits; decode_fields' caller clears them
  m.clamp = bit(w0, 15);
  m.omod = bits<uint8_t>(w1, 27, 2);
  m.neg = bits<uint8_t>(w1, 29, 3);
}

// v_bitop3_b32 and _b16 of gfx950: the modifier bits hold the truth table.
bool is_bitop3(uint16_t op) {
  return op == 0x233 || op == 0x234;
}

void bitop3_fields(Modifiers& m, uint32_t w0, uint32_t w1) {
  m.bitop3 = static_cast<uint8_t>(field(w1, 29, 3) | field(w0, 8, 3) << 3 | field(w1, 27, 2) << 6);
  m.op_sel = bits<uint8_t>(w0, 11, 4);
}

bool is_f8f6f4(uint32_t op) {
  return op == 0x2d || op == 0x2e;
}

// MFMA and SMFMAC opcodes are 0x35 and up, but for v_accvgpr_read/write and v_mfma_f32_*_f8f6f4 of gfx950.
bool is_mai(uint32_t op) {
  return (op >= 0x35 && op != 0x58 && op != 0x59) || is_f8f6f4(op);
}

void vop3p_fields(Modifiers& m, uint16_t op, uint32_t w0, uint32_t w1) {
  if (is_mai(op)) {
    m.cbsz = bits<uint8_t>(w0, 8, 3);
    m.abid = bits<uint8_t>(w0, 11, 4);
    m.blgp = bits<uint8_t>(w1, 29, 3);
    return;
  }
  m.neg_hi = bits<uint8_t>(w0, 8, 3);
  m.op_sel = bits<uint8_t>(w0, 11, 3);
  m.clamp = bit(w0, 15);
  m.op_sel_hi = static_cast<uint8_t>(field(w1, 27, 2) | field(w0, 14, 1) << 2);
  m.neg = bits<uint8_t>(w1, 29, 3);
}

void smem_fields(Modifiers& m, uint32_t w0, uint32_t w1) {
  m.sc0 = bit(w0, 16);
  if (bit(w0, 17)) m.offset = sign_extend(field(w1, 0, 21), 21);
}

void flat_fields(Modifiers& m, uint32_t w0) {
  const bool segment = field(w0, 14, 2) != 0;
  // Plain FLAT has an unsigned 12-bit offset, global and scratch a signed 13-bit one.
  m.offset = segment ? sign_extend(field(w0, 0, 13), 13) : static_cast<int32_t>(field(w0, 0, 12));
  m.sc0 = bit(w0, 16);
  m.nt = bit(w0, 17);
  m.sc1 = bit(w0, 25);
}

void mubuf_fields(Modifiers& m, uint32_t w0) {
  m.offset = static_cast<int32_t>(field(w0, 0, 12));
  m.offen = bit(w0, 12);
  m.idxen = bit(w0, 13);
  m.sc0 = bit(w0, 14);
  m.sc1 = bit(w0, 15);
  m.lds = bit(w0, 16);
  m.nt = bit(w0, 17);
}

void mtbuf_fields(Modifiers& m, uint32_t w0, uint32_t w1) {
  m.offset = static_cast<int32_t>(field(w0, 0, 12));
  m.offen = bit(w0, 12);
  m.idxen = bit(w0, 13);
  m.sc0 = bit(w0, 14);
  m.format = static_cast<uint8_t>(field(w0, 19, 4) | field(w0, 23, 3) << 4);
  m.sc1 = bit(w1, 21);
  m.nt = bit(w1, 22);
}

bool has_reserved_selector(Family family, uint32_t w) {
  constexpr uint32_t reserved_select = 7, reserved_unused = 3;
  const bool destination = family != Family::Vopc; // SDWAB has an SGPR there
  return (destination && (field(w, 8, 3) == reserved_select || field(w, 11, 2) == reserved_unused)) ||
         field(w, 16, 3) == reserved_select || (family != Family::Vop1 && field(w, 24, 3) == reserved_select);
}

// The controls that GFX9 knows: quad_perm, row_shl/shr/ror 1-15, the four wave_*, row_mirror ... row_bcast:31
// and gfx90a's row_newbcast.
bool is_dpp_control(uint32_t c) {
  if (c >= 0x100 && c < 0x130) return (c & 0xf) != 0;
  return c < 0x100 || c == 0x130 || c == 0x134 || c == 0x138 || c == 0x13c || (c >= 0x140 && c <= 0x143) ||
         (c >= 0x150 && c <= 0x15f);
}

bool has_literal_source(uint32_t w1) {
  return field(w1, 0, 9) == code_literal || field(w1, 9, 9) == code_literal ||
         field(w1, 18, 9) == code_literal;
}

} // namespace

Family family_of(uint32_t w) {
  if (w >> 31 == 0) {
    const uint32_t op = w >> 25;
    return op == 0x3f ? Family::Vop1 : op == 0x3e ? Family::Vopc : Family::Vop2;
  }
  if (w >> 30 == 2) {
    if (w >> 28 != 0xb) return Family::Sop2;
    switch (w >> 23) {
    case 0x17d: return Family::Sop1;
    case 0x17e: return Family::Sopc;
    case 0x17f: return Family::Sopp;
    default: return Family::Sopk;
    }
  }
  switch (w >> 26) {
  case 0x30: return Family::Smem;
  case 0x34: return w >> 23 == 0x1a7 ? Family::Vop3p : Family::Vop3;
  case 0x35: return Family::Vintrp;
  case 0x36: return Family::Ds;
  case 0x37: return Family::Flat;
  case 0x38: return Family::Mubuf;
  case 0x3a: return Family::Mtbuf;
  case 0x3c: return Family::Mimg;
  case 0x31: return Family::Exp;
  default: return Family::Data;
  }
}

unsigned encoded_dwords(uint32_t first) {
  const Family family = family_of(first);
  switch (family) {
  case Family::Data:
  case Family::Vintrp: return 1;
  case Family::Sop1:
  case Family::Sop2:
  case Family::Sopk:
  case Family::Sopc:
  case Family::Sopp:
  case Family::Vop1:
  case Family::Vop2:
  case Family::Vopc: return extension_of(family, first) == Extension::None ? 1 : 2;
  case Family::Vop3p: return is_scale_prefix(first) ? 4 : 2;
  default: return 2;
  }
}

bool has_literal(uint32_t first) {
  return extension_of(family_of(first), first) == Extension::Literal;
}

bool has_reserved_code(std::span<const uint32_t> words) {
  if (words.empty() || words.size() < encoded_dwords(words[0])) return true;
  const uint32_t w0 = words[0];
  const Family family = family_of(w0);
  if (extension_of(family, w0) == Extension::Sdwa) return has_reserved_selector(family, words[1]);
  if (extension_of(family, w0) == Extension::Dpp) return !is_dpp_control(field(words[1], 8, 9));
  if (family == Family::Flat)
    return field(w0, 14, 2) == 0 && bit(w0, 12); // 12 bits of offset, where LLVM reads 13
  if (family == Family::Mubuf || family == Family::Mtbuf)
    return field(words[1], 24, 8) == code_literal; // soffset
  if (family != Family::Vop3 && family != Family::Vop3p) return false;
  const bool scaled = family == Family::Vop3p && is_scale_prefix(w0);
  const uint32_t op_word = scaled ? words[2] : w0, sources = scaled ? words[3] : words[1];
  if (has_literal_source(words[1]) || has_literal_source(sources)) return true;
  const uint16_t op = opcode_of(family, w0);
  const bool scalar_result = family == Family::Vop3 && (op <= last_compare || op == readlane);
  if (scalar_result && field(w0, 0, 8) == code_literal) return true;
  const bool mixed_matrix = family == Family::Vop3p && is_f8f6f4(bits<uint16_t>(op_word, 16, 7));
  return mixed_matrix && (!bit(sources, 8) || !bit(sources, 17));
}

void decode_fields(Instruction& i) {
  const uint32_t w0 = i.words[0], w1 = i.words[1];
  i.family = family_of(w0);
  i.opcode = opcode_of(i.family, w0);
  i.extension = extension_of(i.family, w0);
  Modifiers& m = i.mods;
  if (i.extension == Extension::Dpp) dpp_fields(m, w1);
  if (i.extension == Extension::Sdwa) sdwa_fields(m, w1, i.family == Family::Vopc);
  switch (i.family) {
  case Family::Vop3: is_bitop3(i.opcode) ? bitop3_fields(m, w0, w1) : vop3_fields(m, w0, w1); break;
  case Family::Vop3p:
    if (is_scale_prefix(w0)) {
      // The scales' op_sel bits stand in the first half, the MFMA proper in the second.
      m.op_sel = bits<uint8_t>(w0, 11, 2);
      m.op_sel_hi = bits<uint8_t>(w1, 27, 2);
      vop3p_fields(m, bits<uint16_t>(i.words[2], 16, 7), i.words[2], i.words[3]);
      m.abid = 0; // what stands there marks the MFMA as scaled
    } else {
      vop3p_fields(m, i.opcode, w0, w1);
    }
    break;
  case Family::Smem: smem_fields(m, w0, w1); break;
  case Family::Ds:
    m.offset = static_cast<int32_t>(field(w0, 0, 16));
    m.gds = bit(w0, 16);
    break;
  case Family::Flat: flat_fields(m, w0); break;
  case Family::Mubuf: mubuf_fields(m, w0); break;
  case Family::Mtbuf: mtbuf_fields(m, w0, w1); break;
  default: break;
  }
}

StaticVector<uint16_t, 3> source_codes(const Instruction& i) {
  StaticVector<uint16_t, 3> codes;
  const uint32_t w0 = i.words[0], w1 = i.words[1];
  switch (i.family) {
  case Family::Sop1: codes.push_back(bits<uint16_t>(w0, 0, 8)); break;
  case Family::Sop2:
  case Family::Sopc:
    codes.push_back(bits<uint16_t>(w0, 0, 8));
    codes.push_back(bits<uint16_t>(w0, 8, 8));
    break;
  case Family::Vop1: codes.push_back(bits<uint16_t>(w0, 0, 9)); break;
  case Family::Vop2:
  case Family::Vopc:
    codes.push_back(bits<uint16_t>(w0, 0, 9));
    codes.push_back(static_cast<uint16_t>(256 + field(w0, 9, 8)));
    break;
  case Family::Vop3:
  case Family::Vop3p:
    for (unsigned shift : {0U, 9U, 18U}) codes.push_back(bits<uint16_t>(w1, shift, 9));
    break;
  default: break;
  }
  return codes;
}

} // namespace asmevo::isa
