#include "emulator/reference/reference.h"

#include "emulator/reference/operations.h"
#include "emulator/reference/vector.h"

#include <unordered_map>

namespace asmevo::reference {

namespace {

const Operation* find_operation(std::string_view mnemonic) {
  static const std::unordered_map<std::string_view, const Operation*> all = [] {
    std::unordered_map<std::string_view, const Operation*> map;
    for (const auto operations : {float_operations(), float_part_operations(), transcendental_operations(),
                                  convert_operations(), integer_operations(), bit_operations()})
      for (const Operation& o : operations) map.emplace(o.mnemonic, &o);
    return map;
  }();
  const auto at = all.find(mnemonic);
  return at == all.end() ? nullptr : at->second;
}

bool is_vector(isa::Family f) {
  return f >= isa::Family::Vop1 && f <= isa::Family::Vop3p;
}

constexpr LeftOut table[] = {
    {"s_setpc_b64 s_swappc_b64 s_rfe_b64 s_rfe_restore_b64 s_cbranch_i_fork s_cbranch_g_fork s_cbranch_join "
     "s_cbranch_cdbg*",
     "jumps out of straight-line code"},
    {"s_endpgm* s_barrier s_sendmsg* s_sethalt s_setkill s_trap s_wakeup",
     "end the sequence, or are about other waves"},
    {"s_set_gpr_idx* s_setvskip s_movrel*", "change what all instructions after them mean"},
    {"s_memtime s_memrealtime", "clocks"},
    {"ds_gws_*", "about other waves"},
    {"buffer_load_format* buffer_store_format* tbuffer_*", "formats of images: compute kernels have none"},
    {"buffer_store_lds_dword", "undocumented"},
    {"v_div_scale_f32 v_div_scale_f64 v_div_fmas_f32 v_div_fmas_f64 v_div_fixup_f32 v_div_fixup_f64",
     "sources disagree; divisions made of them are tested for correct rounding"},
    {"v_trig_preop_f64 v_screen_partition_4se_b32", "tables; tested against constants"},
    {"v_cvt_scalef32_*", "gfx950's block conversions: pseudocode and emulator have one source"},
    {"v_cvt_sr_*", "stochastic rounding has one source"},
};

} // namespace

bool step(const isa::Instruction& i, State& state) {
  state.rows.clear();
  state.bytes.clear();
  state.fault = {};
  state.pc += i.bytes();
  if (is_vector(i.family)) {
    if (const Operation* o = find_operation(i.base_mnemonic)) {
      run_operation(*o, i, state);
      return true;
    }
    return run_vector_masks(i, state) || run_vector_moves(i, state) || run_packed(i, state) ||
           run_small_floats(i, state) || run_matrix(i, state);
  }
  return run_scalar(i, state) || run_scalar_memory(i, state) || run_lds(i, state) || run_memory(i, state);
}

unsigned signed_sources(const isa::Instruction& i) {
  const std::string_view m = i.base_mnemonic;
  if (m.starts_with("v_dot") || m.starts_with("v_pk_fmac")) return i.family == isa::Family::Vop3p ? 7 : 0;
  if (i.family == isa::Family::Vop3p || i.is("v_cndmask_b32") || i.is("v_pack_b32_f16")) return 7;
  unsigned mask = 0;
  if (const Operation* o = find_operation(m)) {
    for (unsigned n = 0; n < o->sources.size(); ++n)
      if (is_float(o->sources[n])) mask |= 1U << n;
  } else if (m.find("_class_") != std::string_view::npos) {
    mask = 1;
  } else if (m.starts_with("v_cmp") || m.starts_with("v_cvt")) {
    mask = m.find("_f", 5) != std::string_view::npos ? 3 : 0;
  }
  return mask;
}

std::span<const LeftOut> left_out() {
  return table;
}

bool is_left_out(std::string_view mnemonic) {
  for (const LeftOut& group : table) {
    std::string_view rest = group.names;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(' '), rest.size());
      const std::string_view name = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (name.ends_with('*') ? mnemonic.starts_with(name.substr(0, name.size() - 1)) : mnemonic == name)
        return true;
    }
  }
  return false;
}

} // namespace asmevo::reference
