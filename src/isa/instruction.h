// One decoded instruction: what the encoding says, and what the analyses need to know of it. Immutable and
// shared: the same words decode to the same Instruction, so a kernel of 30,000 instructions holds a few
// thousand of these (instruction_pool in codec.h). What depends on where it stands (branch targets) is kept
// by program/.
#pragma once

#include "base/static_vector.h"
#include "isa/registers.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace asmevo::isa {

/// Encoding family (CDNA3 ISA, chapter 13 "Microcode formats").
enum class Family : uint8_t {
  Sop1,
  Sop2,
  Sopk,
  Sopc,
  Sopp,
  Smem,
  Vop1,
  Vop2,
  Vopc,
  Vop3,
  Vop3p,
  Ds,
  Mubuf,
  Mtbuf,
  Flat,
  Mimg,
  Vintrp,
  Exp,
  Data, // not an instruction: a word of .text that does not decode
};
std::string_view name(Family);

/// The extra dword of VOP1/VOP2/VOPC.
enum class Extension : uint8_t { None, Literal, Dpp, Sdwa };

enum class Role : uint8_t {
  Vdst,
  Sdst, // results
  Src0,
  Src1,
  Src2,
  Src3,
  Src4, // sources; Src3/Src4: scales of v_mfma_scale
  Vaddr,
  Vdata,
  Vdata1,
  Saddr,
  Sbase,
  Sdata,
  Srsrc,
  Soffset, // memory
  Old,     // previous value of the destination that lives on in part of it
  Simm,    // SOPK/SOPP immediate, s_setreg literal
  Other,
};

struct Operand {
  enum class Kind : uint8_t { Register, Inline, Literal, Immediate } kind = Kind::Register;
  Role role = Role::Other;
  bool is_def = false, is_use = false;
  RegRange reg; // Kind::Register; count = 32-bit registers
  int64_t value =
      0; // other kinds: bits as the instruction sees them (inline 1.0 is 0x3f800000 for a 32-bit operand)
};

/// Modifier fields as encoded; zero where the family has none. Bit i of a per-source mask is source i.
struct Modifiers {
  bool clamp = false;
  uint8_t omod = 0;                     // 0 none, 1 *2, 2 *4, 3 /2
  uint8_t neg = 0, abs = 0;             // VOP3, DPP, SDWA; VOP3P: neg is neg_lo
  uint8_t neg_hi = 0;                   // VOP3P
  uint8_t sext = 0;                     // SDWA
  uint8_t op_sel = 0;                   // bit 3: destination (VOP3)
  uint8_t op_sel_hi = 0;                // VOP3P
  uint8_t cbsz = 0, abid = 0, blgp = 0; // MFMA; blgp is neg for f64
  uint8_t bitop3 = 0;                   // v_bitop3 (gfx950): truth table, bit (src0 << 2 | src1 << 1 | src2)
  // DPP
  uint16_t dpp_ctrl = 0; // 9 bits
  uint8_t row_mask = 0, bank_mask = 0;
  bool bound_ctrl = false;
  // SDWA selectors (0-3 byte, 4-5 word, 6 dword)
  uint8_t dst_sel = 0, dst_unused = 0, src0_sel = 0, src1_sel = 0;
  // memory
  int32_t offset = 0; // bytes; DS with two offsets: offset0 | offset1 << 8, in units of the element
  bool sc0 = false;   // glc on gfx90a: for atomics "returns the old value"
  bool sc1 = false;   // scc on gfx90a
  bool nt = false;    // slc on gfx90a
  bool lds = false;   // memory to LDS, address from M0
  bool offen = false, idxen = false, gds = false, tfe = false;
  uint8_t format = 0; // MTBUF: dfmt | nfmt << 4
};

enum class MemoryKind : uint8_t { None, Scalar, Buffer, Global, Flat, Scratch, Lds, Gds };

struct MemoryAccess {
  MemoryKind kind = MemoryKind::None;
  bool load = false, store = false, atomic = false; // atomics: load and store too, load only in memory's view
  bool returns = false;                             // writes a register
  bool lds_dma = false;                             // loads into LDS; both a global load and an LDS store
  uint8_t bytes = 0; // per lane (scalar: in all); 0 where the access has no size (cache control)
};

/// How many each wait counter rises when the instruction issues (LLVM SIInsertWaitcnts; CDNA3 ISA 4.4).
struct WaitCounters {
  uint8_t vmcnt = 0, lgkmcnt = 0, expcnt = 0;
};

/// What the hazard rules and schedulers distinguish.
enum class IssueClass : uint8_t {
  Salu,
  Smem,
  Branch,
  Valu,
  Transcendental,
  Mfma,
  Lds,
  Vmem,
  Flat,
  Waitcnt,
  Nop,
  Barrier,
  Message,
  EndProgram,
  Internal,
  Export,
  Data,
};

/// Kind of matrix instruction; hazards differ (LLVM GCNHazardRecognizer: isXDL, isDGEMM).
enum class MatrixKind : uint8_t { None, Xdl, Sgemm, Dgemm };

struct Instruction {
  static constexpr size_t max_dwords = 4;

  std::array<uint32_t, max_dwords> words{}; // as found, dead bits included
  // words XOR what LLVM encodes for what it decodes from them: bits that mean nothing but are kept.
  std::array<uint32_t, max_dwords> dead_bits{};
  uint8_t dwords = 0;
  Family family = Family::Data;
  Extension extension = Extension::None;
  uint16_t opcode = 0;            // the family's opcode field
  unsigned llvm_opcode = 0;       // MCInst opcode
  std::string_view mnemonic;      // "v_add_f32_e32"; lives as long as the process
  std::string_view base_mnemonic; // without _e32/_e64/_dpp/_sdwa

  StaticVector<Operand, 10> operands; // in the order of the assembly text, results first
  Modifiers mods;

  StaticVector<RegRange, 8> defs,
      uses; // exact units, implicit ones included. A register read to keep part of it is a use
  IssueClass issue = IssueClass::Data;
  MemoryAccess memory;
  WaitCounters counters;

  MatrixKind matrix = MatrixKind::None;
  uint8_t matrix_passes = 0; // 1 pass = 4 cycles

  // Control flow
  bool branch = false;       // s_branch, s_cbranch_*: direct, target from simm16
  bool conditional = false;  // may fall through
  bool call = false;         // s_call_b64 (direct), s_swappc_b64 (indirect)
  bool indirect = false;     // s_setpc_b64, s_swappc_b64, s_rfe
  bool ends_program = false; // s_endpgm*
  // Lanes
  bool reads_exec = false; // results depend on EXEC: vector instructions but for MFMA, readlane, writelane...
  bool cross_lane = false; // reads registers of other lanes: DPP, readlane, permute, MFMA, swaps
  bool writes_all_lanes = false; // writes vector registers whatever EXEC says: MFMA
  bool partial_def = false; // leaves part of a destination register as it was (d16, op_sel, SDWA preserve)
  // State that changes what other instructions mean
  bool vgpr_index_mode = false; // s_set_gpr_idx_on/off/mode, v_movrel*: vector registers chosen by M0
  bool sets_vskip = false;      // s_setvskip
  bool side_effects =
      false; // must not be removed or reordered against others of its kind (s_sleep, s_trap, ...)

  unsigned bytes() const { return dwords * 4U; }
  std::span<const uint32_t> encoding() const { return {words.data(), dwords}; }
  bool has_dead_bits() const { return (dead_bits[0] | dead_bits[1] | dead_bits[2] | dead_bits[3]) != 0; }
  bool is_data() const { return family == Family::Data; }
  /// s_branch, s_setpc, s_endpgm: what follows in memory is not executed next.
  bool no_fallthrough() const { return ((branch || indirect) && !conditional && !call) || ends_program; }
  bool ends_block() const { return branch || indirect || call || ends_program; }
  /// Signed distance in dwords from the next instruction; branches and s_call only.
  int32_t branch_offset() const { return static_cast<int16_t>(words[0] & 0xffff); }
  /// The 32-bit literal, if it has one.
  std::optional<uint32_t> literal() const {
    return extension == Extension::Literal ? std::optional(words[dwords - 1]) : std::nullopt;
  }
  bool is(std::string_view base) const { return base_mnemonic == base; }
  const Operand* find(Role role) const {
    for (const Operand& o : operands)
      if (o.role == role) return &o;
    return nullptr;
  }
  bool reads(const RegRange& r) const {
    for (const RegRange& u : uses)
      if (u.overlaps(r)) return true;
    return false;
  }
  /// As a source: not only to keep part of it (partial_def).
  bool reads_as_source(const RegRange& r) const {
    for (const Operand& o : operands)
      if (o.is_use && !o.is_def && o.kind == Operand::Kind::Register && o.reg.overlaps(r)) return true;
    return false;
  }
  bool writes(const RegRange& r) const {
    for (const RegRange& d : defs)
      if (d.overlaps(r)) return true;
    return false;
  }
};

/// "v_add_f32" of "v_add_f32_e64": without _e32, _e64, _dpp, _sdwa.
std::string_view without_encoding_suffix(std::string_view mnemonic);

/// s_waitcnt's immediate, gfx9 layout: vmcnt[3:0] in bits 3:0 and [5:4] in bits 15:14, expcnt 6:4, lgkmcnt
/// 11:8.
struct WaitcntFields {
  unsigned vmcnt = 63, expcnt = 7, lgkmcnt = 15; // the maxima wait for nothing
  static WaitcntFields decode(uint16_t simm16);
  /// Of an s_waitcnt.
  static WaitcntFields of(const Instruction& i) { return decode(static_cast<uint16_t>(i.words[0] & 0xffff)); }
  uint16_t encode() const;
};

/// What the immediate of s_getreg and s_setreg names: `size` bits (1 to 32) of hardware register `id` from
/// bit `offset` (CDNA3 ISA, 5.1).
struct HardwareRegisterField {
  static constexpr unsigned mode = 1, status = 2, trapsts = 3; // ids

  unsigned id = 0, offset = 0, size = 32;
  /// Of an s_getreg or s_setreg.
  static HardwareRegisterField of(const Instruction& i) {
    return {i.words[0] & 0x3f, i.words[0] >> 6 & 0x1f, (i.words[0] >> 11 & 0x1f) + 1};
  }
  /// At bit 0.
  uint32_t mask() const { return static_cast<uint32_t>((uint64_t{1} << size) - 1); }
};

} // namespace asmevo::isa
