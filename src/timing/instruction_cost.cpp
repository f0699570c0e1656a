#include "timing/instruction_cost.h"

#include "isa/hazards.h"

#include <algorithm>

namespace asmevo::timing {

namespace {

using isa::Instruction;
using isa::IssueClass;
using isa::MatrixKind;
using P = Parameter;

constexpr double pass = 4; // cycles; also a wait state, an issue slot

// 32-bit products, whole or their upper half: not those of 24 or 16 bits.
bool multiplies_32_bits(const Instruction& i) {
  const std::string_view m = i.base_mnemonic;
  return m.starts_with("v_mul_lo_u32") || m.starts_with("v_mul_hi_u32") || m.starts_with("v_mul_hi_i32") ||
         m.starts_with("v_mad_u64_u32") || m.starts_with("v_mad_i64_i32");
}

// Between integers and floats, and between floats of different sizes (LLVM SISchedule.td, WriteFloatCvt). The
// ones that pack two results with a rounding of their own are not among them.
bool converts(const Instruction& i) {
  const std::string_view m = i.base_mnemonic;
  return m.starts_with("v_cvt_") && !m.starts_with("v_cvt_pkrtz") && !m.starts_with("v_cvt_pknorm") &&
         !m.starts_with("v_cvt_pk_u") && !m.starts_with("v_cvt_pk_i");
}

double valu_cycles(const Instruction& i, const Machine& m) {
  if (i.issue == IssueClass::Transcendental || converts(i)) return m[P::trans_cycles];
  if (multiplies_32_bits(i)) return m[P::int_mul_cycles];
  if (i.base_mnemonic.find("_f64") != std::string_view::npos) return m[P::fp64_cycles];
  return is_packed_f32(i) ? m[P::packed_f32_cycles] : m[P::valu_cycles];
}

// Bytes of the wider of the factors A and B.
unsigned widest_factor(const Instruction& i) {
  unsigned bytes = 0;
  for (const isa::Role role : {isa::Role::Src0, isa::Role::Src1})
    if (const isa::Operand* o = i.find(role); o != nullptr && o->kind == isa::Operand::Kind::Register)
      bytes = std::max<unsigned>(bytes, o->reg.count * 4U);
  return bytes;
}

// What may issue beside a matrix instruction: from thread traces of MI308X and MI350X (llvm-project pull
// request 233721). The result: the wait states that LLVM puts in front of its use (GCNHazardRecognizer).
InstructionCost matrix_cost(const Instruction& i, const isa::Target& target) {
  const double passes = i.matrix_passes;
  InstructionCost cost{.pipe = Pipe::Matrix, .issue = passes * pass, .latency = 0};
  const bool sparse = i.base_mnemonic.starts_with("v_smfmac");
  const bool more_on_gfx950 = target.gfx == isa::Gfx::gfx950 && (passes == 4 || passes == 8);
  if (i.matrix == MatrixKind::Xdl) {
    const unsigned bytes = widest_factor(i);
    cost.latency = pass * (passes + 3 + (more_on_gfx950 ? 1 : 0));
    cost.to_valu = pass * (sparse ? 3 : 1 + bytes / 16);
    cost.to_packed_valu = pass * (passes + 2 + (bytes >= 16 ? 1 : 0));
  } else {
    cost.latency = pass * (passes + (i.matrix == MatrixKind::Sgemm ? 2 : 3));
    cost.to_valu = cost.to_packed_valu = pass * (passes + 2);
  }
  // Two passes are too few to bring the result round in time: LLVM keeps two wait states free.
  const bool one_late = passes == 2 && target.gfx != isa::Gfx::gfx90a;
  cost.to_accumulator = pass * (passes + (one_late ? 1 : 0));
  return cost;
}

} // namespace

bool is_packed_f32(const Instruction& i) {
  return i.base_mnemonic.starts_with("v_pk_") &&
         (i.base_mnemonic.ends_with("_f32") || i.base_mnemonic == "v_pk_mov_b32");
}

std::string_view name(Pipe pipe) {
  switch (pipe) {
  case Pipe::Valu: return "VALU";
  case Pipe::Matrix: return "matrix";
  case Pipe::Salu: return "SALU";
  case Pipe::Smem: return "SMEM";
  case Pipe::Vmem: return "VMEM";
  case Pipe::Lds: return "LDS";
  case Pipe::Branch: return "branch";
  case Pipe::Message: return "message";
  case Pipe::Internal: return "internal";
  }
  return "";
}

InstructionCost instruction_cost(const Instruction& i, const isa::Target& target, const Machine& m) {
  const auto of = [](Pipe pipe, double issue, double latency) {
    return InstructionCost{.pipe = pipe, .issue = issue, .latency = latency};
  };
  switch (i.issue) {
  case IssueClass::Valu:
  case IssueClass::Transcendental: {
    const double cycles = valu_cycles(i, m);
    return of(Pipe::Valu, cycles, cycles);
  }
  case IssueClass::Mfma: return matrix_cost(i, target);
  case IssueClass::Salu: return of(Pipe::Salu, m[P::salu_cycles], m[P::salu_latency]);
  case IssueClass::Smem: return of(Pipe::Smem, m[P::memory_issue_cycles], 0);
  case IssueClass::Lds: return of(Pipe::Lds, m[P::memory_issue_cycles], 0);
  case IssueClass::Vmem:
  case IssueClass::Flat: return of(Pipe::Vmem, m[P::memory_issue_cycles], 0);
  case IssueClass::Branch: return of(Pipe::Branch, m[P::salu_cycles], 0);
  case IssueClass::Waitcnt: return of(Pipe::Internal, m[P::waitcnt_cycles], 0);
  case IssueClass::Nop: return of(Pipe::Internal, pass * isa::wait_states(i), 0);
  case IssueClass::Message:
  case IssueClass::Export: return of(Pipe::Message, pass, 0);
  case IssueClass::Barrier:
  case IssueClass::EndProgram:
  case IssueClass::Internal:
  case IssueClass::Data: break;
  }
  return of(Pipe::Internal, pass, 0);
}

} // namespace asmevo::timing
