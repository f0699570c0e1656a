#include "profile/flops.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace asmevo::profile {

namespace {

using isa::Instruction;

constexpr double lanes = 64;

// "32x32x8" of v_mfma_f32_32x32x8_f16 or v_mfma_f32_32x32x8f16.
std::optional<std::array<unsigned, 3>> shape_of(std::string_view mnemonic) {
  for (size_t at = 0; at < mnemonic.size(); ++at) {
    if (at != 0 && mnemonic[at - 1] != '_') continue;
    std::array<unsigned, 3> shape{};
    const char* p = mnemonic.data() + at;
    const char* const end = mnemonic.data() + mnemonic.size();
    size_t n = 0;
    for (; n < shape.size(); ++n) {
      const auto [rest, error] = std::from_chars(p, end, shape[n]);
      if (error != std::errc{}) break;
      p = rest;
      if (n + 1 < shape.size() && (p == end || *p++ != 'x')) break;
    }
    if (n == shape.size()) return shape;
  }
  return std::nullopt;
}

// Several small products may be in one instruction: as many as its result has room for.
Flops of_matrix(const Instruction& i) {
  Flops f{.matrix = true};
  const auto shape = shape_of(i.base_mnemonic);
  const isa::Operand* const result = i.find(isa::Role::Vdst);
  if (!shape || result == nullptr) return f;
  const auto [m, n, k] = *shape;
  const unsigned dwords = i.matrix == isa::MatrixKind::Dgemm ? 2 : 1;
  const double elements = lanes * result->reg.count / dwords;
  const double blocks = std::max(1.0, elements / (m * n));
  const double operations = 2.0 * m * n * k * blocks;
  const bool integers = i.base_mnemonic.find("_i32_") != std::string_view::npos;
  (integers ? f.integer_ops : f.flops) = operations;
  return f;
}

bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::ranges::any_of(list, [&](std::string_view start) { return text.starts_with(start); });
}

// Of an operation "add_f32", for each of its results.
double each(std::string_view op) {
  if (begins_with_any(op, {"fma_mix", "mad_mix"})) return 2;
  const size_t type = op.find("_f");
  const size_t brain = op.find("_bf16");
  if (type == std::string_view::npos && brain == std::string_view::npos) return 0;
  // The types that dot products take are products of several.
  if (begins_with_any(op, {"dot2_", "dot2c_"})) return 4;
  if (begins_with_any(op,
                      {"fma_", "fmac_", "fmamk_", "fmaak_", "mac_", "mad_", "madmk_", "madak_", "div_fmas_"}))
    return 2;
  if (begins_with_any(op, {"add_", "sub_", "subrev_", "mul_", "rcp_", "rsq_", "sqrt_", "exp_", "log_", "sin_",
                           "cos_", "prng_"}))
    return 1;
  return 0;
}

} // namespace

Flops flops_of(const Instruction& i) {
  if (i.matrix != isa::MatrixKind::None) return of_matrix(i);
  std::string_view op = i.base_mnemonic;
  if (!op.starts_with("v_")) return {};
  op.remove_prefix(2);
  const bool packed = op.starts_with("pk_");
  if (packed) op.remove_prefix(3);
  return {.flops = lanes * each(op) * (packed ? 2 : 1)};
}

} // namespace asmevo::profile
