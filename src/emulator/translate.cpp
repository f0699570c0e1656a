#include "emulator/translate.h"

#include "emulator/opcode_table.h"
#include "emulator/wave.h"
#include "isa/encoding.h"

#include <fmt/format.h>

namespace asmevo::emulator {

namespace {

using isa::Family;
using isa::Instruction;
using isa::Operand;
using isa::RegUnit;
using isa::Role;

void run_unimplemented(Wave& wave, const MicroOp& op) {
  wave.fail_at(op, {.kind = FaultKind::Unimplemented, .text = std::string(op.instruction->mnemonic)});
}

void run_data(Wave& wave, const MicroOp& op) {
  wave.fail_at(op, {.kind = FaultKind::Illegal,
                    .text = fmt::format("the word {:#010x} is no instruction", op.instruction->words[0])});
}

void run_bad_register(Wave& wave, const MicroOp& op) {
  wave.fail_at(op, {.kind = FaultKind::Illegal,
                    .text = fmt::format("{} uses a vector register beyond the {} that the kernel has",
                                        op.instruction->mnemonic, wave.dispatch->allocated_vgprs)});
}

// Constants that depend on the dispatch or on the wave: filled in when they are read.
// CDNA3 ISA, "Scalar operands": 235 SHARED_BASE .. 238 PRIVATE_LIMIT, 239 POPS_EXITING_WAVE_ID, 251 VCCZ, 252
// EXECZ.
constexpr uint16_t code_shared_base = 235, code_vccz = 251, code_execz = 252;

void run_with_zero_flags(Wave& wave, const MicroOp& op) {
  wave.scalars[slot::vccz] = wave.vcc() == 0 ? 1 : 0;
  wave.scalars[slot::execz] = wave.exec() == 0 ? 1 : 0;
  op.inner(wave, op);
}

class Translator {
 public:
  Translator(const Instruction& i, uint64_t pc, const RegisterLayout& layout) : i_(i), layout_(layout) {
    op_.instruction = &i;
    op_.dwords = i.dwords;
    op_.family = i.family;
    op_.pc = pc;
  }

  MicroOp translate() {
    if (i_.is_data()) {
      op_.run = run_data;
      return op_;
    }
    op_.run = find_handler(i_);
    if (op_.run == nullptr) {
      op_.run = run_unimplemented;
      return op_;
    }
    if (has_vcc_default()) {
      op_.scalar_result = vcc();
      op_.source[2] = vcc();
    }
    for (const Operand& o : i_.operands) place(o);
    special_sources();
    modifiers();
    if (!registers_fit_) op_.run = run_bad_register;
    return op_;
  }

 private:
  static Place vcc() { return {.kind = Place::Kind::Scalar, .dwords = 2, .index = slot::vcc}; }

  // e32 encodings name VCC nowhere.
  bool has_vcc_default() const { return i_.family == Family::Vop2 || i_.family == Family::Vopc; }

  Place register_place(const isa::RegRange& r) {
    Place p{.dwords = static_cast<uint8_t>(r.count)};
    if (r.count == 0) return p;
    if (isa::is_vector(r.first)) {
      p.kind = Place::Kind::Vector;
      p.index = static_cast<uint16_t>(
          isa::is_agpr(r.first) ? layout_.accum_offset + (r.first - isa::unit::agpr0) : r.first);
      if (p.index + r.count > layout_.allocated_vgprs) registers_fit_ = false;
    } else {
      p.kind = Place::Kind::Scalar;
      p.index = static_cast<uint16_t>(r.first - isa::unit::scalar0);
    }
    return p;
  }

  Place operand_place(const Operand& o) {
    if (o.kind == Operand::Kind::Register) return register_place(o.reg);
    return {.kind = Place::Kind::Constant, .value = static_cast<uint64_t>(o.value)};
  }

  void place(const Operand& o) {
    const Place p = operand_place(o);
    switch (o.role) {
    case Role::Vdst: op_.result = p; break;
    case Role::Sdst:
    case Role::Sdata:
      if (!o.is_def)
        op_.source[MicroOp::data] = p;
      else if (op_.result.present() || i_.family == Family::Vopc || compares())
        op_.scalar_result = p;
      else
        op_.result = p;
      break;
    case Role::Src0:
      if (o.is_def)
        op_.scalar_result = p; // v_swap's second register
      else
        op_.source[0] = p;
      break;
    case Role::Src1: op_.source[1] = p; break;
    case Role::Src2: op_.source[2] = p; break;
    case Role::Src3: op_.source[3] = p; break;
    case Role::Src4: op_.source[4] = p; break;
    case Role::Vaddr: op_.source[MicroOp::address] = p; break;
    case Role::Vdata: op_.source[MicroOp::data] = p; break;
    case Role::Vdata1: op_.source[MicroOp::data1] = p; break;
    case Role::Saddr:
    case Role::Sbase:
    case Role::Srsrc: op_.source[MicroOp::base] = p; break;
    case Role::Soffset: op_.source[MicroOp::offset] = p; break;
    case Role::Simm:
      if (i_.family == Family::Sopk || i_.family == Family::Sopp)
        op_.source[i_.find(Role::Src0) != nullptr ? 1 : 0] = p;
      else if (i_.family == Family::Vop2)
        op_.source[2] = p; // the constant of v_fmaak and v_fmamk
      break;
    case Role::Old:
    case Role::Other: break;
    }
  }

  bool compares() const { return i_.family == Family::Vop3 && i_.base_mnemonic.starts_with("v_cmp"); }

  // src_vccz and its like are no registers; `register_place` gave nothing or the register they look at.
  void special_sources() {
    const auto codes = isa::source_codes(i_);
    for (size_t n = 0; n < codes.size(); ++n) {
      const uint16_t code = codes[n];
      if (code >= code_shared_base && code <= code_shared_base + 3)
        op_.source[n] = {.kind = Place::Kind::Scalar,
                         .dwords = 2,
                         .index = static_cast<uint16_t>(slot::shared_base + 2 * (code - code_shared_base))};
      else if (code == code_vccz || code == code_execz) {
        if (op_.run != run_with_zero_flags) op_.inner = op_.run; // two sources may be flags
        op_.run = run_with_zero_flags;
        op_.source[n] = {.kind = Place::Kind::Scalar,
                         .dwords = 1,
                         .index = static_cast<uint16_t>(code == code_vccz ? slot::vccz : slot::execz)};
      }
    }
  }

  void modifiers() {
    const isa::Modifiers& m = i_.mods;
    const bool extended = op_.dpp() || op_.sdwa();
    const bool packed = i_.family == Family::Vop3p; // those handlers read the modifiers themselves
    op_.keeps_half = i_.partial_def && i_.family == Family::Vop3;
    op_.plain_sources = packed || (!extended && (m.neg | m.abs | m.sext | (m.op_sel & 7)) == 0);
    op_.plain_result =
        packed || (!extended && !m.clamp && m.omod == 0 && (m.op_sel & 8) == 0 && !op_.keeps_half);
  }

  const Instruction& i_;
  const RegisterLayout& layout_;
  MicroOp op_;
  bool registers_fit_ = true;
};

} // namespace

MicroOp translate(const isa::Instruction& instruction, uint64_t pc, const RegisterLayout& layout) {
  return Translator(instruction, pc, layout).translate();
}

} // namespace asmevo::emulator
