#include "isa/lower.h"

#include "isa/encoding.h"
#include "isa/semantics.h"

#include <llvm/MC/MCInstrDesc.h>
#include <llvm/MC/MCSchedule.h>

#include <algorithm>
#include <charconv>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>

namespace asmevo::isa {

namespace {

// Mnemonics outlive every codec: they are handed out as string_views.
std::string_view keep_forever(std::string text) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> kept;
  const std::scoped_lock lock(mutex);
  return *kept.insert(std::move(text)).first;
}

// --- LLVM register names: "VGPR3", "SGPR4_SGPR5", "AGPR0_AGPR1...", "VCC", "M0_gfxpre11", "FLAT_SCR_LO_vi"
// ---

struct SpecialRegister {
  std::string_view name;
  RegRange range;
};

constexpr SpecialRegister special_registers[] = {
    {"VCC_LO", {unit::vcc, 1}},
    {"VCC_HI", {unit::vcc + 1, 1}},
    {"VCC", {unit::vcc, 2}},
    {"EXEC_LO", {unit::exec, 1}},
    {"EXEC_HI", {unit::exec + 1, 1}},
    {"EXEC", {unit::exec, 2}},
    {"FLAT_SCR_LO", {unit::flat_scratch, 1}},
    {"FLAT_SCR_HI", {unit::flat_scratch + 1, 1}},
    {"FLAT_SCR", {unit::flat_scratch, 2}},
    {"XNACK_MASK_LO", {unit::xnack_mask, 1}},
    {"XNACK_MASK_HI", {unit::xnack_mask + 1, 1}},
    {"XNACK_MASK", {unit::xnack_mask, 2}},
    {"M0", {unit::m0, 1}},
    {"SRC_SCC", {unit::scc, 1}},
    {"SCC", {unit::scc, 1}},
    {"MODE", {unit::mode, 1}},
    {"SRC_VCCZ", {unit::vcc, 2}},
    {"SRC_EXECZ", {unit::exec, 2}},
};

// The number after `prefix` at the start of `text`, or -1.
int index_after(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return -1;
  text.remove_prefix(prefix.size());
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return -1;
  // 16-bit halves (VGPR0_LO16) are no registers of this ISA.
  return value;
}

constexpr RegRange no_such_register{unit::count, 0};

RegRange parse_register(std::string_view name) {
  struct File {
    std::string_view prefix;
    RegUnit base;
    unsigned size; // registers on GFX9; LLVM knows later GPUs' too, and tuples that run past the end
  };
  for (const File& file : {File{"VGPR", unit::vgpr0, 256}, File{"AGPR", unit::agpr0, 256},
                           File{"SGPR", unit::scalar0, 102}, File{"TTMP", unit::ttmp0, 16}}) {
    const int first = index_after(name, file.prefix);
    if (first < 0) continue;
    uint16_t count = 0;
    for (size_t at = name.find(file.prefix); at != std::string_view::npos;
         at = name.find(file.prefix, at + 1))
      ++count;
    if (first + count > static_cast<int>(file.size)) return no_such_register;
    return {static_cast<RegUnit>(file.base + first), count};
  }
  // The longest name that fits: target variants carry suffixes ("M0_gfxpre11").
  const SpecialRegister* best = nullptr;
  for (const SpecialRegister& s : special_registers)
    if (name.starts_with(s.name) && (best == nullptr || s.name.size() > best->name.size())) best = &s;
  return best == nullptr ? RegRange{} : best->range;
}

void add_range(StaticVector<RegRange, 8>& list, RegRange range) {
  if (range.count == 0 || std::ranges::find(list, range) != list.end()) return;
  list.push_back(range);
}

// In memory instructions: which vector register is the address and which the data.
class MemoryRoles {
 public:
  MemoryRoles(const Instruction& i, const Target& target)
      : family_(i.family), addtid_(i.is("ds_write_addtid_b32")),
        scratch_store_(i.base_mnemonic.starts_with("scratch_store_")),
        no_vaddr_(i.base_mnemonic.starts_with("scratch_") && !has_scratch_vaddr(i.words, target)),
        words_(i.words) {}

  Role next(const Operand& o) {
    if (o.is_def) return family_ == Family::Smem ? Role::Sdata : Role::Vdst;
    if (o.kind != Operand::Kind::Register) return scalar_role(o);
    return o.reg.count != 0 && is_vector(o.reg.first) ? vector_role() : scalar_role(o);
  }

 private:
  Role scalar_role(const Operand& o) {
    const unsigned n = scalars_++;
    switch (family_) {
    case Family::Smem: {
      // Stores and atomics without result have their data first.
      if (n == 0 && has_smem_data() && !result_seen_) return Role::Sdata;
      if (!base_seen_) return base_seen_ = true, Role::Sbase;
      return Role::Soffset;
    }
    case Family::Flat: return Role::Saddr;
    default: return o.reg.count == 4 && n == 0 ? Role::Srsrc : Role::Soffset;
    }
  }
  // Below 16 are the loads, 32 to 63 cache control and clocks.
  bool has_smem_data() const {
    const uint32_t op = words_[0] >> 18 & 0xff;
    return op >= 0x40 || (op >= 0x10 && op < 0x20);
  }
  Role vector_role() {
    const unsigned n = vectors_++;
    switch (family_) {
    case Family::Mubuf:
    case Family::Mtbuf: {
      // Stores and atomics without result: data, then the address if there is one.
      const bool has_data_first = (words_[0] >> 16 & 1) == 0 || family_ == Family::Mtbuf;
      return n == 0 && has_data_first && !result_seen_ ? Role::Vdata : Role::Vaddr;
    }
    case Family::Flat: {
      // scratch_* without vector address: the only vector register is data.
      if (scratch_store_) return n == 0 ? Role::Vdata : Role::Vaddr; // LLVM's order there
      if (n == 0 && !no_vaddr_) return Role::Vaddr;
      return Role::Vdata;
    }
    default:
      if (addtid_) return Role::Vdata; // its address is M0 and the lane's number
      return n == 0 ? Role::Vaddr : n == 1 ? Role::Vdata : Role::Vdata1;
    }
  }
  // SVE (bit 13, gfx940) says whether scratch has a VGPR address; on gfx90a an SGPR address excludes it.
  static bool has_scratch_vaddr(const std::array<uint32_t, 4>& words, const Target& target) {
    return target.architected_flat_scratch() ? (words[0] >> 13 & 1) != 0 : (words[1] >> 16 & 0x7f) == 0x7f;
  }

 public:
  void result_seen() { result_seen_ = true; }

 private:
  Family family_;
  bool addtid_, scratch_store_, no_vaddr_;
  std::array<uint32_t, 4> words_;
  unsigned scalars_ = 0, vectors_ = 0;
  bool base_seen_ = false, result_seen_ = false;
};

bool is_memory_family(Family f) {
  return f == Family::Smem || f == Family::Ds || f == Family::Mubuf || f == Family::Mtbuf ||
         f == Family::Flat;
}

} // namespace

Lowering::Lowering(const LlvmMc& mc, const Target& target) : mc_(mc), target_(target) {
  const llvm::MCRegisterInfo& registers = *mc.registers;
  ranges_.resize(registers.getNumRegs());
  for (unsigned r = 1; r < registers.getNumRegs(); ++r) ranges_[r] = parse_register(registers.getName(r));
  mnemonics_.resize(mc.instructions->getNumOpcodes());
  find_class_forms();
  find_int16_types();
}

// Register classes hold TTMP0 and FLAT_SCR; decoding gives TTMP0_gfx9plus and FLAT_SCR_vi.
void Lowering::find_class_forms() {
  const llvm::MCRegisterInfo& registers = *mc_.registers;
  std::unordered_map<std::string_view, llvm::MCRegister> by_name;
  for (unsigned r = 1; r < registers.getNumRegs(); ++r) by_name.emplace(registers.getName(r), r);
  in_classes_.resize(registers.getNumRegs());
  for (unsigned r = 1; r < registers.getNumRegs(); ++r) {
    in_classes_[r] = r;
    const std::string_view name = registers.getName(r);
    for (const std::string_view suffix : {"_vi", "_gfx9plus", "_gfxpre11"})
      if (name.ends_with(suffix))
        if (const auto form = by_name.find(name.substr(0, name.size() - suffix.size()));
            form != by_name.end())
          in_classes_[r] = form->second;
  }
}

// LLVM's numbers for operand types are private; instructions whose sources are 16-bit integers tell them.
void Lowering::find_int16_types() {
  for (unsigned op = 0; op < mc_.instructions->getNumOpcodes(); ++op) {
    const std::string_view name = mc_.instructions->getName(op);
    if (name != "V_CMP_LT_I16_e64_vi" && name != "V_CMP_LT_I16_e32_vi") continue;
    for (const llvm::MCOperandInfo& info : mc_.instructions->get(op).operands())
      if (info.OperandType >= llvm::MCOI::OPERAND_FIRST_TARGET) int16_types_.push_back(info.OperandType);
  }
}

bool Lowering::accepts(const llvm::MCOperandInfo& info, llvm::MCRegister reg, Family family) const {
  if (ranges_[reg.id()] == no_such_register) return false;
  const unsigned mode = mc_.subtarget->getHwMode(llvm::MCSubtargetInfo::HwMode_RegInfo);
  const int16_t number = mc_.instructions->getOpRegClassID(info, mode);
  if (number < 0) return true;
  const llvm::MCRegisterClass& members = mc_.registers->getRegClass(static_cast<unsigned>(number));
  if (members.contains(in_classes_[reg.id()])) return true;
  // The class of carry and select masks leaves out EXEC for the compiler's sake; the ISA does not.
  const auto holds_vcc = [&](llvm::MCPhysReg r) { return ranges_[r] == RegRange{unit::vcc, 2}; };
  return family == Family::Vop3 && ranges_[reg.id()] == RegRange{unit::exec, 2} &&
         std::ranges::any_of(members, holds_vcc);
}

bool Lowering::accepts(const llvm::MCOperandInfo& info, int64_t immediate, bool has_literal) const {
  if (info.OperandType == llvm::MCOI::OPERAND_REGISTER) return false;
  const bool inline_integer = immediate >= -16 && immediate <= 64;
  return has_literal || inline_integer ||
         std::ranges::find(int16_types_, info.OperandType) == int16_types_.end();
}

std::string_view Lowering::mnemonic(const llvm::MCInst& inst) {
  std::string_view& known = mnemonics_[inst.getOpcode()];
  if (known.empty()) {
    std::string text = mc_.printer->getMnemonic(inst).first;
    text.resize(std::min(text.find_first_of(" \t"), text.size())); // "scratch_store_dword off, "
    known = keep_forever(std::move(text));
  }
  return known;
}

uint8_t Lowering::matrix_passes(const llvm::MCInst& inst) const {
  // LLVM's hazard recognizer takes an MFMA's passes from its scheduling latency too.
  const llvm::MCSchedModel& model = mc_.subtarget->getSchedModel();
  unsigned sched_class = mc_.instructions->get(inst.getOpcode()).getSchedClass();
  for (int depth = 0; depth < 8 && model.getSchedClassDesc(sched_class)->isVariant(); ++depth)
    sched_class = mc_.subtarget->resolveVariantSchedClass(sched_class, &inst, mc_.instructions.get(),
                                                          model.getProcessorID());
  return static_cast<uint8_t>(std::clamp(
      llvm::MCSchedModel::computeInstrLatency(*mc_.subtarget, *model.getSchedClassDesc(sched_class)), 0,
      255));
}

// An operand that names the destination again: the data of an atomic that returns, the summand of
// multiply-add forms (assign_roles numbers it), else what lives on in part of the destination.
static Role tied_role(const Instruction& i) {
  const std::string_view m = i.base_mnemonic;
  if (m.find("atomic") != std::string_view::npos) return i.family == Family::Smem ? Role::Sdata : Role::Vdata;
  constexpr std::string_view summing[] = {"v_fmac", "v_mac_", "v_pk_fmac", "v_dot", "s_addk", "s_mulk"};
  const bool sums = std::ranges::any_of(summing, [&](std::string_view p) { return m.starts_with(p); });
  return sums ? Role::Other : Role::Old;
}

void Lowering::add_register(Instruction& i, const llvm::MCInstrDesc& desc, unsigned index,
                            RegRange range) const {
  Operand o;
  o.reg = range;
  o.is_def = index < desc.getNumDefs();
  o.is_use = !o.is_def;
  if (desc.getOperandConstraint(index, llvm::MCOI::TIED_TO) >= 0) o.role = tied_role(i);
  add_range(o.is_def ? i.defs : i.uses, range);
  if (!i.operands.full()) i.operands.push_back(o);
}

void Lowering::add_operands(Instruction& i, const llvm::MCInst& inst) const {
  const llvm::MCInstrDesc& desc = mc_.instructions->get(inst.getOpcode());
  for (unsigned k = 0; k < inst.getNumOperands() && k < desc.getNumOperands(); ++k) {
    const llvm::MCOperand& op = inst.getOperand(k);
    if (op.isReg() && op.getReg() != 0) {
      add_register(i, desc, k, ranges_[op.getReg()]);
    } else if (op.isImm() || op.isExpr()) {
      Operand o;
      o.is_use = true;
      // An expression is lit(...): a literal whose value has an inline form too.
      o.value = op.isImm() ? op.getImm() : int64_t{i.literal().value_or(0)};
      const bool source = desc.operands()[k].RegClass != -1;
      const bool scalar_immediate =
          i.family == Family::Sopk || i.family == Family::Sopp || i.family == Family::Sopc;
      if (!source && !scalar_immediate && i.extension != Extension::Literal)
        continue; // a modifier, kept in mods
      o.kind = source ? Operand::Kind::Inline : Operand::Kind::Immediate;
      if (!source) o.role = Role::Simm;
      if (!i.operands.full()) i.operands.push_back(o);
    }
  }
}

void Lowering::assign_roles(Instruction& i) const {
  MemoryRoles memory(i, target_);
  const bool is_memory = is_memory_family(i.family);
  const auto codes = source_codes(i);
  unsigned source = 0;
  bool vdst_seen = false;
  constexpr std::array source_roles = {Role::Src0, Role::Src1, Role::Src2, Role::Src3, Role::Src4};
  for (Operand& o : i.operands) {
    if (o.role != Role::Other) continue; // tied operands and immediates have theirs
    if (is_memory) {
      o.role = memory.next(o);
      if (o.is_def) memory.result_seen();
    } else if (o.is_def) {
      const bool vector = o.reg.count != 0 && is_vector(o.reg.first);
      o.role = vector && !std::exchange(vdst_seen, vdst_seen || vector) ? Role::Vdst
               : vector                                                 ? Role::Src0 // v_swap's second result
                                                                        : Role::Sdst;
    } else {
      const unsigned n = std::min<unsigned>(source++, source_roles.size() - 1);
      o.role = source_roles[n];
      if (o.kind == Operand::Kind::Inline && i.extension == Extension::Literal && n < codes.size() &&
          codes[n] == 255)
        o.kind = Operand::Kind::Literal;
    }
  }
}

void Lowering::add_implicit(Instruction& i, const llvm::MCInstrDesc& desc) const {
  const bool lds_without_m0 = i.family == Family::Ds && !lds_uses_m0(i.base_mnemonic);
  // Which hardware register they reach depends on the operand: add_hardware_registers.
  const bool names_hwreg = i.base_mnemonic.starts_with("s_getreg") || i.base_mnemonic.starts_with("s_setreg");
  for (const llvm::MCPhysReg r : desc.implicit_uses()) {
    if (ranges_[r].first == unit::mode && names_hwreg) continue;
    if (ranges_[r].first == unit::m0 && lds_without_m0) continue; // GFX9's LDS needs no limit in M0
    if (ranges_[r].first == unit::exec && i.writes_all_lanes) continue;
    add_range(i.uses, ranges_[r]);
  }
  for (const llvm::MCPhysReg r : desc.implicit_defs()) {
    if (i.sets_vskip && ranges_[r].first == unit::scc) continue; // LLVM's SOPC marks all with SCC
    if (ranges_[r].first == unit::mode && names_hwreg) continue;
    add_range(i.defs, ranges_[r]);
  }
}

// What LLVM leaves to the operand's value or does not say at all.
void Lowering::add_hardware_registers(Instruction& i) const {
  const RegRange mode{unit::mode, 1}, hwreg{unit::hwreg, 1};
  if (i.sets_vskip) add_range(i.defs, mode), add_range(i.uses, mode);
  const bool get = i.base_mnemonic.starts_with("s_getreg"), set = i.base_mnemonic.starts_with("s_setreg");
  if (get || set) {
    const RegRange named = HardwareRegisterField::of(i).id == HardwareRegisterField::mode ? mode : hwreg;
    add_range(i.uses, named);
    if (set) add_range(i.defs, named);
  }
  if (i.base_mnemonic.starts_with("s_set_gpr_idx")) add_range(i.uses, mode), add_range(i.defs, mode);
  if (i.vgpr_index_mode && i.family != Family::Vop1 && !i.is("s_set_gpr_idx_off")) {
    // They write bits 7:0 or 15:12 of M0 and leave the rest.
    add_range(i.uses, {unit::m0, 1});
    add_range(i.defs, {unit::m0, 1});
  }
  if (i.base_mnemonic.ends_with("_fork") || i.is("s_cbranch_join")) {
    add_range(i.uses, {unit::exec, 2});
    add_range(i.defs, {unit::exec, 2});
  }
  // Which register they reach is known when they run: s_movrels may read, s_movreld may write any SGPR.
  if (i.base_mnemonic.starts_with("s_movrel")) {
    add_range(i.uses, all_sgprs);
    if (i.base_mnemonic.starts_with("s_movreld")) add_range(i.defs, all_sgprs);
  }
  // s_cmov leaves its destination where SCC is 0, s_bitset all bits but one.
  if (i.base_mnemonic.starts_with("s_cmov") || i.base_mnemonic.starts_with("s_bitset"))
    if (const Operand* result = i.find(Role::Sdst)) add_range(i.uses, result->reg);
  // Its summand is the destination, which LLVM does not tie.
  if (i.is("v_pk_fmac_f16"))
    if (const Operand* result = i.find(Role::Vdst)) add_range(i.uses, result->reg);
  if (i.is("s_cbranch_vccz") || i.is("s_cbranch_vccnz")) add_range(i.uses, {unit::vcc, 2});
  if (i.is("s_cbranch_execz") || i.is("s_cbranch_execnz")) add_range(i.uses, {unit::exec, 2});
  // What a partial write keeps, it reads.
  if (i.partial_def)
    for (const RegRange& d : i.defs)
      if (is_vector(d.first)) add_range(i.uses, d);
}

Instruction Lowering::lower(const llvm::MCInst& inst, std::span<const uint32_t> words) {
  Instruction i;
  std::ranges::copy(words, i.words.begin());
  i.dwords = static_cast<uint8_t>(words.size());
  i.llvm_opcode = inst.getOpcode();
  i.mnemonic = mnemonic(inst);
  i.base_mnemonic = without_encoding_suffix(i.mnemonic);
  decode_fields(i);
  add_operands(i, inst);
  describe(i, target_);
  assign_roles(i);
  add_implicit(i, mc_.instructions->get(inst.getOpcode()));
  add_hardware_registers(i);
  if (i.matrix != MatrixKind::None) i.matrix_passes = matrix_passes(inst);
  // The mixed-format instructions take twice as long when A or B is an 8-bit format (cbsz, blgp: 0 and 1),
  // which the instruction's schedule class does not say.
  if (i.base_mnemonic.ends_with("_f8f6f4") && (i.mods.cbsz < 2 || i.mods.blgp < 2)) i.matrix_passes *= 2;
  return i;
}

} // namespace asmevo::isa
