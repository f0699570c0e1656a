// Hazards between two instructions that the hardware does not interlock: the second one gets wrong data, or
// spoils the first one's, unless enough wait states lie between. An instruction is one wait state, s_nop N is
// N + 1.
//
// Most rules are LLVM's (GCNHazardRecognizer, observed through llc 22) and chapter 4.5 of the ISA manuals.
// Where they are known to be wrong this table follows the hardware; docs/static-check.md lists each such
// place with its source.
#pragma once

#include "base/static_vector.h"
#include "isa/hazard_table.h"
#include "isa/instruction.h"

#include <string_view>

namespace asmevo::isa {

enum class HazardRule : uint8_t {
  ValuSgprVmem,       // VALU writes an SGPR, VCC, EXEC or M0; vector memory reads it
  ValuSgprLaneSelect, // VALU writes an SGPR; v_readlane/v_writelane take it as lane number
  ValuVccDivFmas,     // VALU writes VCC; v_div_fmas reads it
  ValuExecDpp,        // VALU writes EXEC; a DPP instruction follows
  ValuVgprDpp,        // VALU writes a VGPR; a DPP instruction reads it
  ValuExecMfma,       // VALU writes EXEC; a matrix instruction follows
  ValuVgprMfma,       // VALU (dot products apart) writes a VGPR; a matrix instruction reads it
  ValuSgprValu,       // VALU writes an SGPR or VCC; VALU reads it
  ValuVgprReadlane,   // VALU writes a VGPR; v_readlane/v_readfirstlane read it
  ValuExecLane,       // VALU writes EXEC; v_readlane/v_readfirstlane/v_writelane follow
  TransValu,          // transcendental result read by an ordinary VALU instruction
  DstSelValu,         // result shifted into place (op_sel, SDWA) read or overwritten by a VALU instruction
  WideStoreValu,      // store data of more than 64 bits overwritten by a VALU instruction
  ValuVgprPermlane,   // VALU writes a VGPR; v_permlane*_swap reads it
  ValuExecPermlane,   // VALU writes EXEC; v_permlane*_swap follows
  ValuDgemmMemory,    // VALU writes a VGPR, a DGEMM follows, then a memory instruction reads the VGPR
  DotRead,            // result of a dot product read by another instruction, or as SrcA/B by the same
  DotWrite,           // result of a dot product overwritten by another instruction
  MatrixSrcC,         // matrix result overlaps SrcC of a matrix instruction
  MatrixMixedSrcC,    // matrix result is SrcC of a different matrix instruction
  MatrixSrcAb,        // matrix result is SrcA/B (scale, index) of a matrix instruction
  MatrixValu,         // matrix result read by VALU
  MatrixMemory,       // matrix result read by a memory instruction
  MatrixOverwrite,    // matrix result overwritten by VALU or a load
  MatrixSrcCWar,      // SrcC of a matrix instruction overwritten by VALU or a load
  DgemmFma64,         // v_fma_f64/v_fmac_f64 after a DGEMM
  SetregGetreg,       // s_setreg, then s_getreg of the same hardware register
  SetregSetreg,       // s_setreg, then s_setreg of the same hardware register
  SetregRfe,          // s_setreg of TRAPSTS, then s_rfe
  SaluM0,             // SALU writes M0; LDS-DMA, GDS, s_sendmsg, ds_*_addtid, s_movrel read it
  count,
};
/// "valu-writes-sgpr-vmem", ...
std::string_view name(HazardRule);

/// The most wait states that any rule of any target asks for.
inline constexpr unsigned max_hazard_wait_states = 20;

/// Rules of the gfx940 family that LLVM keeps and shipped kernels break by the thousand (docs/static-check.md
/// has the counts): to break one is a doubt, not a mistake.
bool is_contested(HazardRule, const Target&);
/// By name: a contested rule about scalar registers, which shipped kernels break by the ten thousand. The
/// hardware holds back each such pair or none: another copy of one is no news. Of vector registers and matrix
/// results it may be luck that one place has.
bool is_broken_everywhere(std::string_view rule);

/// Wait states the instruction itself makes.
unsigned wait_states(const Instruction&);

/// Classes of instructions, as bits of HazardTraits::is.
struct HazardClass {
  static constexpr uint32_t Valu = 1 << 0; // all vector ALU instructions, matrix ones included
  static constexpr uint32_t Matrix = 1 << 1;
  static constexpr uint32_t Dot = 1 << 2;
  static constexpr uint32_t Trans = 1 << 3;
  static constexpr uint32_t DstSel = 1 << 4;
  static constexpr uint32_t Dpp = 1 << 5;
  static constexpr uint32_t Permlane = 1 << 6;
  static constexpr uint32_t ReadsLane = 1 << 7;  // v_readlane, v_readfirstlane
  static constexpr uint32_t LaneAccess = 1 << 8; // these and v_writelane
  static constexpr uint32_t DivFmas = 1 << 9;
  static constexpr uint32_t Fma64 = 1 << 10;
  static constexpr uint32_t Vmem = 1 << 11;   // buffer, global, scratch, flat
  static constexpr uint32_t Memory = 1 << 12; // these and LDS
  static constexpr uint32_t Salu = 1 << 13;
  static constexpr uint32_t ReadsM0 = 1 << 14; // in one of the ways that need a wait state
  static constexpr uint32_t Getreg = 1 << 15;
  static constexpr uint32_t Setreg = 1 << 16;
  static constexpr uint32_t Rfe = 1 << 17;
  static constexpr uint32_t SoffsetSgpr = 1 << 18;
  static constexpr uint32_t WritesExec = 1 << 19;
  static constexpr uint32_t WritesScalar = 1 << 20; // SGPR, VCC or EXEC, by VALU
};

/// What the rules need to know of one instruction, worked out once for each.
struct HazardTraits {
  const Instruction* instruction = nullptr;
  uint32_t is = 0;
  uint8_t passes = 0;  // of matrix instructions
  uint8_t hwreg = 0;   // of s_setreg, s_getreg
  uint8_t reach = 0;   // wait states after which nothing of this instruction matters any more
  RegRange src_c;      // matrix and dot instructions
  RegRange store_data; // wide stores
  RegRange lane_select;
};

struct Hazard {
  HazardRule rule = HazardRule::ValuSgprVmem;
  unsigned wait_states = 0; // needed between the two
  RegRange object;          // what they share; empty for hardware registers
};
using Hazards = StaticVector<Hazard, 8>;

class HazardRules {
 public:
  explicit HazardRules(const Target& target) : table_(HazardTable::of(target)) {}

  HazardTraits traits(const Instruction&) const;
  /// Everything `second` needs after `first`. ValuDgemmMemory is about three instructions and not among it.
  Hazards between(const HazardTraits& first, const HazardTraits& second) const;
  const HazardTable& table() const { return table_; }

 private:
  uint8_t reach(const HazardTraits&) const;
  void after_valu(const HazardTraits& first, const HazardTraits& second, Hazards&) const;
  void after_valu_scalar(const HazardTraits& first, const HazardTraits& second, Hazards&) const;
  void after_dot(const HazardTraits& first, const HazardTraits& second, Hazards&) const;
  void after_matrix(const HazardTraits& first, const HazardTraits& second, Hazards&) const;
  void matrix_pair(const HazardTraits& first, const HazardTraits& second, Hazards&) const;
  void after_salu(const HazardTraits& first, const HazardTraits& second, Hazards&) const;
  void after_store(const HazardTraits& first, const HazardTraits& second, Hazards&) const;

  const HazardTable& table_;
};

} // namespace asmevo::isa
