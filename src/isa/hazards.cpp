#include "isa/hazards.h"

#include <algorithm>
#include <array>
#include <utility>

namespace asmevo::isa {

namespace {

using Is = HazardClass;

constexpr RegRange vcc{unit::vcc, 2}, exec{unit::exec, 2}, m0{unit::m0, 1};
constexpr uint8_t sdwa_dword = 6;

// The first vector register that `instruction` writes and that overlaps `range`; or an empty range.
RegRange vector_def_in(const Instruction& i, const RegRange& range) {
  for (const RegRange& d : i.defs)
    if (is_vector(d.first) && d.overlaps(range)) return range;
  return {};
}

// A vector register that the first writes and that is an operand of the second. What a write of half a
// register keeps of the other half is no operand.
RegRange vector_flow(const Instruction& first, const Instruction& second) {
  for (const Operand& o : second.operands)
    if (o.is_use && o.kind == Operand::Kind::Register && is_vector(o.reg.first) &&
        vector_def_in(first, o.reg).count != 0)
      return o.reg;
  return {};
}

// One that both write.
RegRange vector_rewrite(const Instruction& first, const Instruction& second) {
  for (const RegRange& d : second.defs)
    if (is_vector(d.first) && vector_def_in(first, d).count != 0) return d;
  return {};
}

void add(Hazards& list, HazardRule rule, unsigned states, const RegRange& object = {}) {
  if (states != 0 && !list.full()) list.push_back({rule, states, object});
}
void add_if(Hazards& list, HazardRule rule, unsigned states, const RegRange& object) {
  if (object.count != 0) add(list, rule, states, object);
}

// op_sel bits 3:2 of these choose the byte of the result; bit 3 of all others its half (CDNA3 ISA, VOP3
// "OP_SEL").
bool selects_byte(const Instruction& i) {
  return i.base_mnemonic.starts_with("v_cvt_sr_") || i.base_mnemonic.starts_with("v_cvt_scalef32_");
}

bool shifts_result(const Instruction& i) {
  if (i.extension == Extension::Sdwa) return i.family != Family::Vopc && i.mods.dst_sel != sdwa_dword;
  if (i.family != Family::Vop3) return false;
  return (i.mods.op_sel & (selects_byte(i) ? 0xc : 0x8)) != 0;
}

bool reads_m0_early(const Instruction& i) {
  if (i.issue == IssueClass::Message || i.memory.kind == MemoryKind::Gds || i.memory.lds_dma) return true;
  return i.base_mnemonic.find("addtid") != std::string_view::npos ||
         i.base_mnemonic.starts_with("s_movrel") || i.base_mnemonic.starts_with("s_ttracedata") ||
         i.family == Family::Vintrp;
}

uint32_t valu_classes(const Instruction& i) {
  const std::string_view m = i.base_mnemonic;
  uint32_t is = Is::Valu;
  if (i.matrix != MatrixKind::None) return is | Is::Matrix;
  if (i.issue == IssueClass::Transcendental) is |= Is::Trans;
  if (m.starts_with("v_dot")) is |= Is::Dot;
  if (shifts_result(i)) is |= Is::DstSel;
  if (i.extension == Extension::Dpp) is |= Is::Dpp;
  if (m.starts_with("v_permlane")) is |= Is::Permlane;
  if (m == "v_readlane_b32" || m == "v_readfirstlane_b32") is |= Is::ReadsLane | Is::LaneAccess;
  if (m == "v_writelane_b32") is |= Is::LaneAccess;
  if (m.starts_with("v_div_fmas")) is |= Is::DivFmas;
  if (m == "v_fma_f64" || m == "v_fmac_f64") is |= Is::Fma64;
  for (const RegRange& d : i.defs) {
    if (!is_vector(d.first)) is |= Is::WritesScalar;
    if (d.overlaps(exec)) is |= Is::WritesExec;
  }
  return is;
}

uint32_t scalar_classes(const Instruction& i) {
  uint32_t is = Is::Salu;
  if (i.base_mnemonic.starts_with("s_setreg")) is |= Is::Setreg;
  if (i.base_mnemonic.starts_with("s_getreg")) is |= Is::Getreg;
  if (i.base_mnemonic.starts_with("s_rfe")) is |= Is::Rfe;
  return is;
}

uint32_t classes(const Instruction& i) {
  uint32_t is = reads_m0_early(i) ? Is::ReadsM0 : 0;
  switch (i.issue) {
  case IssueClass::Valu:
  case IssueClass::Transcendental:
  case IssueClass::Mfma: return is | valu_classes(i);
  case IssueClass::Lds: return is | Is::Memory;
  case IssueClass::Vmem:
  case IssueClass::Flat: return is | Is::Memory | Is::Vmem;
  case IssueClass::Salu: return is | scalar_classes(i);
  case IssueClass::Branch: return is | (i.base_mnemonic.starts_with("s_rfe") ? Is::Rfe : 0);
  default: return is;
  }
}

// SrcC: the addend; what the sparse and the two-operand forms take from their own result.
RegRange accumulator(const Instruction& i) {
  const bool tied = i.base_mnemonic.starts_with("v_smfmac") || i.find(Role::Src2) == nullptr;
  const Operand* o = i.find(tied ? Role::Vdst : Role::Src2);
  return o != nullptr && o->kind == Operand::Kind::Register && is_vector(o->reg.first) ? o->reg : RegRange{};
}

RegRange wide_store_data(const Instruction& i) {
  if (!i.memory.store) return {};
  const Operand* data = i.find(Role::Vdata);
  return data != nullptr && data->reg.count > 2 ? data->reg : RegRange{};
}

} // namespace

bool is_contested(HazardRule rule, const Target& target) {
  if (target.gfx == Gfx::gfx90a) return false;
  return rule == HazardRule::ValuSgprValu || rule == HazardRule::SaluM0 || rule == HazardRule::ValuVgprDpp ||
         rule == HazardRule::MatrixValu || rule == HazardRule::MatrixOverwrite;
}

bool is_broken_everywhere(std::string_view rule) {
  return rule == name(HazardRule::ValuSgprValu) || rule == name(HazardRule::SaluM0);
}

unsigned wait_states(const Instruction& i) {
  // SIMM16[3:0] + 1 (CDNA3 ISA, S_NOP).
  return i.issue == IssueClass::Nop ? (i.words[0] & 0xf) + 1 : 1;
}

HazardTraits HazardRules::traits(const Instruction& i) const {
  HazardTraits t;
  t.instruction = &i;
  t.is = classes(i);
  if ((t.is & (Is::Setreg | Is::Getreg)) != 0)
    t.hwreg = static_cast<uint8_t>(HardwareRegisterField::of(i).id);
  if ((t.is & (Is::Matrix | Is::Dot)) != 0) t.src_c = accumulator(i);
  if ((t.is & Is::Matrix) != 0) t.passes = i.matrix_passes;
  if ((t.is & Is::Vmem) != 0) {
    t.store_data = wide_store_data(i);
    const Operand* soffset = i.find(Role::Soffset);
    if (soffset != nullptr && soffset->kind == Operand::Kind::Register) t.is |= Is::SoffsetSgpr;
  }
  if ((t.is & Is::LaneAccess) != 0) {
    const Operand* lane = i.find(Role::Src1);
    if (lane != nullptr && lane->kind == Operand::Kind::Register) t.lane_select = lane->reg;
  }
  t.reach = reach(t);
  return t;
}

uint8_t HazardRules::reach(const HazardTraits& t) const {
  if ((t.is & Is::Matrix) != 0) return max_hazard_wait_states;
  if ((t.is & Is::WritesScalar) != 0) return table_.valu_sgpr_vmem;
  if ((t.is & Is::Dot) != 0) return table_.dot_result;
  if ((t.is & Is::Valu) != 0) return table_.valu_vgpr_mfma;
  if ((t.is & Is::Setreg) != 0) return table_.setreg;
  if ((t.is & Is::Salu) != 0) return t.instruction->writes(m0) ? table_.salu_m0 : 0;
  if (t.store_data.count != 0) return std::max(table_.wide_store, table_.wide_store_soffset);
  return 0;
}

Hazards HazardRules::between(const HazardTraits& first, const HazardTraits& second) const {
  Hazards list;
  if ((first.is & Is::Valu) != 0) after_valu(first, second, list);
  if ((first.is & Is::WritesScalar) != 0) after_valu_scalar(first, second, list);
  if ((first.is & Is::Dot) != 0) after_dot(first, second, list);
  if ((first.is & Is::Matrix) != 0) after_matrix(first, second, list);
  if ((first.is & Is::Salu) != 0) after_salu(first, second, list);
  if (first.store_data.count != 0) after_store(first, second, list);
  return list;
}

// Vector results.
void HazardRules::after_valu(const HazardTraits& first, const HazardTraits& second, Hazards& list) const {
  if ((second.is & Is::Valu) == 0 || (first.is & Is::Matrix) != 0) return;
  const RegRange read = vector_flow(*first.instruction, *second.instruction);
  if ((first.is & Is::DstSel) != 0) {
    add_if(list, HazardRule::DstSelValu, table_.dst_sel_valu,
           read.count != 0 ? read : vector_rewrite(*first.instruction, *second.instruction));
  }
  if (read.count == 0) return;
  if ((second.is & Is::Dpp) != 0) add(list, HazardRule::ValuVgprDpp, table_.valu_vgpr_dpp, read);
  if ((second.is & Is::Permlane) != 0)
    add(list, HazardRule::ValuVgprPermlane, table_.valu_vgpr_permlane, read);
  if ((second.is & Is::ReadsLane) != 0)
    add(list, HazardRule::ValuVgprReadlane, table_.valu_vgpr_readlane, read);
  if ((second.is & Is::Matrix) != 0 && (first.is & Is::Dot) == 0)
    add(list, HazardRule::ValuVgprMfma, table_.valu_vgpr_mfma, read);
  if ((first.is & Is::Trans) != 0 && (second.is & Is::Trans) == 0)
    add(list, HazardRule::TransValu, table_.trans_valu, read);
}

// Scalar results of vector instructions: SGPRs, VCC, EXEC.
void HazardRules::after_valu_scalar(const HazardTraits& first, const HazardTraits& second,
                                    Hazards& list) const {
  const Instruction &a = *first.instruction, &b = *second.instruction;
  if ((second.is & Is::Vmem) != 0) {
    for (const RegRange& u : b.uses)
      if (!is_vector(u.first) && a.writes(u)) add(list, HazardRule::ValuSgprVmem, table_.valu_sgpr_vmem, u);
    return;
  }
  if ((second.is & Is::Valu) == 0) return;
  if (second.lane_select.count != 0 && a.writes(second.lane_select))
    add(list, HazardRule::ValuSgprLaneSelect, table_.valu_sgpr_lane_select, second.lane_select);
  if ((second.is & Is::DivFmas) != 0 && a.writes(vcc))
    add(list, HazardRule::ValuVccDivFmas, table_.valu_vcc_div_fmas, vcc);
  for (const Operand& o : b.operands)
    if (o.is_use && o.kind == Operand::Kind::Register && !is_vector(o.reg.first) && a.writes(o.reg))
      add(list, HazardRule::ValuSgprValu, table_.valu_sgpr_valu, o.reg);
  if (b.reads(vcc) && a.writes(vcc)) add(list, HazardRule::ValuSgprValu, table_.valu_sgpr_valu, vcc);
  if ((first.is & Is::WritesExec) == 0) return;
  if ((second.is & Is::Dpp) != 0) add(list, HazardRule::ValuExecDpp, table_.valu_exec_dpp, exec);
  if ((second.is & Is::Matrix) != 0) add(list, HazardRule::ValuExecMfma, table_.valu_exec_mfma, exec);
  if ((second.is & Is::LaneAccess) != 0) add(list, HazardRule::ValuExecLane, table_.valu_exec_lane, exec);
  if ((second.is & Is::Permlane) != 0)
    add(list, HazardRule::ValuExecPermlane, table_.valu_exec_permlane, exec);
}

// The accumulator is forwarded to the same instruction's SrcC; everything else has to wait.
void HazardRules::after_dot(const HazardTraits& first, const HazardTraits& second, Hazards& list) const {
  if ((second.is & (Is::Valu | Is::Memory)) == 0 || (second.is & Is::Matrix) != 0) return;
  const Instruction &a = *first.instruction, &b = *second.instruction;
  const bool same = a.base_mnemonic == b.base_mnemonic;
  for (const Operand& o : b.operands) {
    if (!o.is_use || o.kind != Operand::Kind::Register || vector_def_in(a, o.reg).count == 0) continue;
    const bool as_accumulator = o.role == Role::Src2 || o.role == Role::Old;
    if (!same || !as_accumulator) add(list, HazardRule::DotRead, table_.dot_result, o.reg);
  }
  if (!same) add_if(list, HazardRule::DotWrite, table_.dot_result, vector_rewrite(a, b));
}

void HazardRules::after_matrix(const HazardTraits& first, const HazardTraits& second, Hazards& list) const {
  const Instruction &a = *first.instruction, &b = *second.instruction;
  if ((second.is & Is::Matrix) != 0) return matrix_pair(first, second, list);
  if ((second.is & Is::Fma64) != 0 && a.matrix == MatrixKind::Dgemm)
    add(list, HazardRule::DgemmFma64, table_.dgemm_fma64);
  const bool memory = (second.is & Is::Memory) != 0;
  if (!memory && (second.is & Is::Valu) == 0) return;
  const unsigned read = memory ? table_.matrix_to_memory(a.matrix, first.passes)
                               : table_.matrix_to_valu(a.matrix, first.passes);
  add_if(list, memory ? HazardRule::MatrixMemory : HazardRule::MatrixValu, read, vector_flow(a, b));
  add_if(list, HazardRule::MatrixOverwrite, table_.matrix_overwritten(a.matrix, first.passes),
         vector_rewrite(a, b));
  if (first.src_c.count != 0 && !a.writes(first.src_c) && vector_def_in(b, first.src_c).count != 0)
    add(list, HazardRule::MatrixSrcCWar, table_.matrix_src_c_overwritten(a.matrix, first.passes),
        first.src_c);
}

void HazardRules::matrix_pair(const HazardTraits& first, const HazardTraits& second, Hazards& list) const {
  const Instruction &a = *first.instruction, &b = *second.instruction;
  for (const Operand& o : b.operands) {
    if (!o.is_use || o.kind != Operand::Kind::Register || vector_def_in(a, o.reg).count == 0) continue;
    const bool is_src_c = o.role == Role::Old || (o.role == Role::Src2 && o.reg == second.src_c);
    if (!is_src_c) {
      add(list, HazardRule::MatrixSrcAb, table_.matrix_to_src_ab(a.matrix, first.passes), o.reg);
      continue;
    }
    const bool same = a.find(Role::Vdst) != nullptr && a.find(Role::Vdst)->reg == o.reg;
    const auto states = [&](bool as_same) {
      return table_.matrix_to_src_c(a.matrix, first.passes, b.matrix, second.passes, as_same);
    };
    add(list, HazardRule::MatrixSrcC, states(same), o.reg);
    const bool mixed = a.base_mnemonic != b.base_mnemonic || first.passes != second.passes;
    if (same && mixed && states(false) > states(true))
      add(list, HazardRule::MatrixMixedSrcC, states(false), o.reg);
  }
}

void HazardRules::after_salu(const HazardTraits& first, const HazardTraits& second, Hazards& list) const {
  if ((second.is & Is::ReadsM0) != 0 && first.instruction->writes(m0))
    add(list, HazardRule::SaluM0, table_.salu_m0, m0);
  if ((first.is & Is::Setreg) == 0) return;
  if ((second.is & Is::Rfe) != 0 && first.hwreg == HardwareRegisterField::trapsts)
    add(list, HazardRule::SetregRfe, table_.setreg_rfe);
  if (first.hwreg != second.hwreg) return;
  if ((second.is & Is::Getreg) != 0) add(list, HazardRule::SetregGetreg, table_.setreg);
  if ((second.is & Is::Setreg) != 0) add(list, HazardRule::SetregSetreg, table_.setreg);
}

void HazardRules::after_store(const HazardTraits& first, const HazardTraits& second, Hazards& list) const {
  if ((second.is & Is::Valu) == 0 || vector_def_in(*second.instruction, first.store_data).count == 0) return;
  const bool buffer = first.instruction->memory.kind == MemoryKind::Buffer;
  const bool soffset = buffer && (first.is & Is::SoffsetSgpr) != 0;
  add(list, HazardRule::WideStoreValu, soffset ? table_.wide_store_soffset : table_.wide_store,
      first.store_data);
}

std::string_view name(HazardRule rule) {
  constexpr std::array<std::string_view, std::to_underlying(HazardRule::count)> names = {
      "valu-writes-sgpr-vmem",
      "valu-writes-sgpr-lane-select",
      "valu-writes-vcc-div-fmas",
      "valu-writes-exec-dpp",
      "valu-writes-vgpr-dpp",
      "valu-writes-exec-mfma",
      "valu-writes-vgpr-mfma",
      "valu-writes-sgpr-valu",
      "valu-writes-vgpr-readlane",
      "valu-writes-exec-lane",
      "trans-valu",
      "dst-sel-valu",
      "wide-store-valu",
      "valu-writes-vgpr-permlane",
      "valu-writes-exec-permlane",
      "valu-dgemm-memory",
      "dot-read",
      "dot-write",
      "mfma-src-c",
      "mfma-mixed-src-c",
      "mfma-src-ab",
      "mfma-valu-read",
      "mfma-memory-read",
      "mfma-overwrite",
      "mfma-src-c-overwrite",
      "dgemm-fma64",
      "setreg-getreg",
      "setreg-setreg",
      "setreg-rfe",
      "salu-writes-m0",
  };
  return names[std::to_underlying(rule)];
}

} // namespace asmevo::isa
