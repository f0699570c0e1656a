#include "program/exec_change.h"

namespace asmevo::program {

namespace {

using isa::Operand;
using isa::Role;

constexpr isa::RegRange exec{isa::unit::exec, 2};

bool constant(const Operand* o, int64_t value, bool half) {
  if (o == nullptr || o->kind == Operand::Kind::Register) return false;
  return half ? static_cast<int32_t>(o->value) == static_cast<int32_t>(value) : o->value == value;
}

// Operations of the form exec = f(sources), 64 bits or on one half of EXEC (the other half stays, so that a
// half that grows or shrinks makes the whole grow or shrink).
ExecChange assignment(const isa::Instruction& i, std::string_view op, const isa::RegRange& written) {
  const bool half = written.count == 1;
  const Operand *a = i.find(Role::Src0), *b = i.find(Role::Src1);
  const auto is_old = [&](const Operand* o) {
    return o != nullptr && o->kind == Operand::Kind::Register && o->reg == written;
  };
  if (op == "s_mov") {
    if (constant(a, -1, half)) return half ? ExecChange::Widen : ExecChange::Fill;
    if (constant(a, 0, half)) return half ? ExecChange::Narrow : ExecChange::Clear;
  }
  if (op == "s_not" && is_old(a)) return half ? ExecChange::Replace : ExecChange::Invert;
  if (op == "s_xor" && !half)
    if ((is_old(a) && constant(b, -1, false)) || (is_old(b) && constant(a, -1, false)))
      return ExecChange::Invert;
  if (op == "s_and" && (is_old(a) || is_old(b))) return ExecChange::Narrow;
  if (op == "s_or" && (is_old(a) || is_old(b))) return ExecChange::Widen;
  if (op == "s_andn2") {
    if (is_old(a)) return ExecChange::Narrow;
    if (is_old(b) && !half) return ExecChange::Disjoint;
  }
  if (op == "s_orn2") {
    if (is_old(a)) return ExecChange::Widen;
    if (is_old(b) && !half) return ExecChange::Cover;
  }
  if (!half && (is_old(a) || is_old(b))) {
    if (op == "s_nand") return ExecChange::Cover;
    if (op == "s_nor") return ExecChange::Disjoint;
  }
  if (op == "s_bitset0") return ExecChange::Narrow;
  if (op == "s_bitset1") return ExecChange::Widen;
  return ExecChange::Replace;
}

} // namespace

ExecChange exec_change(const isa::Instruction& i) {
  if (!i.writes(exec)) return ExecChange::None;
  const std::string_view m = i.base_mnemonic;
  if (m.starts_with("v_cmpx_")) return ExecChange::Narrow; // lanes that are off get 0
  if (m == "s_and_saveexec_b64" || m == "s_andn1_saveexec_b64" || m == "s_andn1_wrexec_b64")
    return ExecChange::Narrow;
  if (m == "s_or_saveexec_b64" || m == "s_orn1_saveexec_b64") return ExecChange::Widen;
  if (m == "s_andn2_saveexec_b64" || m == "s_andn2_wrexec_b64" || m == "s_nor_saveexec_b64")
    return ExecChange::Disjoint;
  if (m == "s_orn2_saveexec_b64" || m == "s_nand_saveexec_b64") return ExecChange::Cover;

  const Operand* result = i.find(Role::Sdst);
  const bool b64 = m.ends_with("_b64"), b32 = m.ends_with("_b32");
  if (result == nullptr || (!b64 && !b32)) return ExecChange::Replace;
  const bool whole = b64 && result->reg == exec;
  const bool half = b32 && result->reg.count == 1 && exec.contains(result->reg.first);
  return whole || half ? assignment(i, m.substr(0, m.size() - 4), result->reg) : ExecChange::Replace;
}

} // namespace asmevo::program
