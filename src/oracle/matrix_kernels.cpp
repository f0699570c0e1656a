#include "oracle/matrix_kernels.h"

#include "isa/mnemonics.h"

#include <algorithm>

namespace asmevo::oracle {

namespace {

// Where things are: results from 0 on, factors behind them.
constexpr unsigned results = 128, other_a = results, other_b = 144, index_register = 160;
constexpr unsigned vgprs = 168, most_chains = 8, chain_distance = 64;

std::string registers(unsigned first, unsigned count) {
  return count == 1 ? fmt::format("v{}", first) : fmt::format("v[{}:{}]", first, first + count - 1);
}

// s_nop makes up to 16 wait states.
std::string nops(unsigned wait_states) {
  std::string text;
  constexpr unsigned most = 16;
  for (; wait_states != 0; wait_states -= std::min(wait_states, most))
    text += fmt::format("  s_nop {}\n", std::min(wait_states, most) - 1);
  return text;
}

std::string kernel(const std::string& name, const std::string& body) {
  return fmt::format(".globl {0}\n.p2align 8\n.type {0},@function\n{0}:\n"
                     "  s_load_dword s8, s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\n.p2align 6\n1:\n{1}"
                     "  s_sub_u32 s8, s8, 1\n  s_cmp_lg_u32 s8, 0\n  s_cbranch_scc1 1b\n  s_endpgm\n"
                     ".size {0}, .-{0}\n"
                     ".section .rodata,\"a\",@progbits\n.p2align 6\n.amdhsa_kernel {0}\n"
                     "  .amdhsa_kernarg_size 8\n  .amdhsa_user_sgpr_count 2\n"
                     "  .amdhsa_user_sgpr_kernarg_segment_ptr 1\n  .amdhsa_next_free_vgpr {2}\n"
                     "  .amdhsa_accum_offset {2}\n  .amdhsa_next_free_sgpr 16\n.end_amdhsa_kernel\n.text\n",
                     name, body, vgprs);
}

std::string metadata(const std::string& name) {
  return fmt::format("  - {{.name: {0}, .symbol: {0}.kd, .vgpr_count: {1}, .agpr_count: 0, .sgpr_count: 16, "
                     ".group_segment_fixed_size: 0, .private_segment_fixed_size: 0, "
                     ".max_flat_workgroup_size: 256, .wavefront_size: 64, .kernarg_segment_size: 8, "
                     ".kernarg_segment_align: 8}}\n",
                     name, vgprs);
}

const isa::Instruction* parsed(isa::Codec& codec, const std::string& text) {
  const auto lines = codec.parse(text);
  return lines && lines->size() == 1 ? lines->front().instruction : nullptr;
}

} // namespace

// `result` and `factor_a`: their first registers.
std::string MatrixForm::text(unsigned result, unsigned factor_a, bool adds_to_result) const {
  std::string line = fmt::format("{} {}, {}, {}, ", mnemonic_, registers(result, result_),
                                 registers(factor_a, factor_a_), registers(other_b, factor_b_));
  if (mnemonic_.starts_with("v_smfmac"))
    line += registers(index_register, 1);
  else
    line += adds_to_result ? registers(result, result_) : "0";
  if (mnemonic_.starts_with("v_mfma_scale"))
    line += fmt::format(", v{}, v{}", index_register, index_register + 1);
  return line + modifiers_;
}

// How many registers it takes, from what the assembler accepts.
bool MatrixForm::fit(isa::Codec& codec) {
  for (const unsigned result : {4U, 16U, 32U, 2U, 8U})
    for (const unsigned a : {2U, 1U, 4U, 8U, 6U})
      for (const unsigned b : {a, 2 * a}) {
        result_ = result, factor_a_ = a, factor_b_ = b;
        instruction_ = parsed(codec, text(0, other_a, true));
        if (instruction_ != nullptr) return true;
      }
  return false;
}

std::vector<MatrixForm> MatrixForm::all(isa::Codec& codec) {
  std::vector<MatrixForm> forms;
  for (const isa::Mnemonic& m : isa::mnemonics_of(codec)) {
    if (!m.base.starts_with("v_mfma_") && !m.base.starts_with("v_smfmac_")) continue;
    for (const char* modifiers : {"", " cbsz:4 blgp:4"}) {
      if (*modifiers != 0 && !m.base.ends_with("_f8f6f4")) continue;
      MatrixForm form;
      form.mnemonic_ = m.base, form.modifiers_ = modifiers;
      form.opcode_ = form.mnemonic_ + modifiers;
      if (form.fit(codec)) forms.push_back(std::move(form));
    }
  }
  return forms;
}

unsigned MatrixForm::wait_states(isa::Codec& codec, const std::string& first,
                                 const std::string& second) const {
  const isa::HazardRules rules(codec.target());
  unsigned most = 0;
  for (const isa::Hazard& h :
       rules.between(rules.traits(*parsed(codec, first)), rules.traits(*parsed(codec, second))))
    most = std::max(most, h.wait_states);
  return most;
}

unsigned MatrixForm::accumulating_wait_states(isa::Codec& codec) const {
  return wait_states(codec, text(0, other_a, true), text(0, other_a, true));
}

// Two results take turns, since one must not be its own instruction's factor.
unsigned MatrixForm::chained_wait_states(isa::Codec& codec) const {
  return wait_states(codec, text(0, chain_distance, false), text(chain_distance, 0, false));
}

std::string MatrixForm::repeated(const std::vector<std::string>& lines, unsigned wait_states) const {
  std::string body = fmt::format(".rept {}\n", matrix_body / lines.size());
  for (const std::string& line : lines) body += "  " + line + "\n" + nops(wait_states);
  return body + ".endr\n";
}

std::string MatrixForm::independent() const {
  std::vector<std::string> lines;
  for (unsigned n = 0; n < std::min(most_chains, results / result_); ++n)
    lines.push_back(text(n * result_, other_a, true));
  return repeated(lines, 0);
}

std::string MatrixForm::accumulating(isa::Codec& codec) const {
  return repeated({text(0, other_a, true)}, accumulating_wait_states(codec));
}

std::string MatrixForm::chained(isa::Codec& codec) const {
  return repeated({text(0, chain_distance, false), text(chain_distance, 0, false)},
                  chained_wait_states(codec));
}

std::string matrix_kernels(const std::vector<MatrixForm>& forms, isa::Codec& codec) {
  const std::string target = codec.target().triple_id();
  std::string text = fmt::format(".amdgcn_target \"{}\"\n.amdhsa_code_object_version 5\n.text\n", target),
              notes;
  for (size_t n = 0; n < forms.size(); ++n)
    for (const auto& [letter, body] : {std::pair{'i', forms[n].independent()},
                                       {'a', forms[n].accumulating(codec)},
                                       {'c', forms[n].chained(codec)}}) {
      const std::string name = fmt::format("k{}{}", n, letter);
      text += kernel(name, body);
      notes += metadata(name);
    }
  return text + fmt::format(".amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.target: {}\n"
                            "amdhsa.kernels:\n{}...\n.end_amdgpu_metadata\n",
                            target, notes);
}

} // namespace asmevo::oracle
