#include "emulator/reference/matrix_shape.h"

#include <charconv>

namespace asmevo::reference {

namespace {

std::optional<MatrixFormat> format_named(std::string_view name, const isa::Target& target) {
  const bool fnuz = target.gfx != isa::Gfx::gfx950;
  if (name == "f64") return MatrixFormat{.kind = MatrixFormat::Kind::F64, .bits = 64};
  if (name == "f32") return MatrixFormat{.kind = MatrixFormat::Kind::F32, .bits = 32};
  if (name == "xf32") return MatrixFormat{MatrixFormat::Kind::Xf32, 32, 8, 23, 127};
  if (name == "f16") return MatrixFormat{MatrixFormat::Kind::F16, 16, 5, 10, 15};
  if (name == "bf16") return MatrixFormat{MatrixFormat::Kind::Bf16, 16, 8, 7, 127};
  if (name == "i8") return MatrixFormat{.kind = MatrixFormat::Kind::I8, .bits = 8};
  if (name == "fp8") return MatrixFormat{MatrixFormat::Kind::Fp8, 8, 4, 3, fnuz ? 8 : 7, fnuz};
  if (name == "bf8") return MatrixFormat{MatrixFormat::Kind::Bf8, 8, 5, 2, fnuz ? 16 : 15, fnuz};
  if (name == "f8f6f4") return MatrixFormat{.kind = MatrixFormat::Kind::Small, .bits = 8};
  return std::nullopt;
}

// "32x32x4_2b_f16" and so on, behind the name and the type of the result.
bool take_sizes(std::string_view& rest, MatrixShape& s) {
  for (unsigned* size : {&s.m, &s.n, &s.k}) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), *size);
    if (error != std::errc()) return false;
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    if (size != &s.k && rest.starts_with("x")) rest.remove_prefix(1);
  }
  if (rest.ends_with("_1k")) rest.remove_suffix(3);
  if (rest.starts_with("_")) rest.remove_prefix(1);
  const size_t b = rest.find("b_");
  if (b < 3 && rest[0] >= '0' && rest[0] <= '9') rest.remove_prefix(b + 2);
  return true;
}

} // namespace

std::optional<MatrixShape> matrix_shape(const isa::Instruction& i, const isa::Target& target) {
  std::string_view rest = i.base_mnemonic;
  for (const std::string_view start : {"v_mfma_scale_", "v_mfma_", "v_smfmac_"})
    if (rest.starts_with(start) && rest.size() == i.base_mnemonic.size()) rest.remove_prefix(start.size());
  if (rest.size() == i.base_mnemonic.size()) return std::nullopt;
  rest.remove_prefix(rest.find('_') + 1);
  MatrixShape s;
  if (!take_sizes(rest, s)) return std::nullopt;
  const size_t between = rest.find('_');
  const auto a = format_named(rest.substr(0, between), target);
  const auto b = between == std::string_view::npos ? a : format_named(rest.substr(between + 1), target);
  if (!a || !b) return std::nullopt;
  s.a = *a;
  s.b = *b;
  const unsigned rows = i.find(isa::Role::Vdst)->reg.count / (a->kind == MatrixFormat::Kind::F64 ? 2 : 1);
  s.blocks = rows * lane_count / (s.m * s.n);
  return s.blocks == 0 ? std::nullopt : std::optional(s);
}

uint64_t item_of(const State& state, isa::RegUnit unit, unsigned lane, unsigned item, unsigned bits) {
  if (bits == 64) return state.vector64(unit + 2 * item, lane);
  const unsigned bit = item * bits;
  uint64_t rows = state.vectors[unit + bit / 32][lane];
  if (bits == 32) return rows;
  if (bit % 32 + bits > 32) rows |= uint64_t{state.vectors[unit + bit / 32 + 1][lane]} << 32;
  return rows >> (bit % 32) & ((1U << bits) - 1);
}

std::pair<unsigned, unsigned> result_place(const MatrixShape& s, unsigned block, unsigned row,
                                           unsigned column) {
  const unsigned h = s.a.kind == MatrixFormat::Kind::F64 ? 1 : 4;
  const unsigned area = s.n * s.m / h;
  const unsigned blocks_together = area >= lane_count ? 1 : lane_count / area;
  const unsigned rows_together = lane_count / blocks_together / s.n;
  const unsigned groups = s.m / (h * rows_together);
  return {row % h + h * (row / (h * rows_together) + groups * (block / blocks_together)),
          column + s.n * (block % blocks_together + blocks_together * (row / h % rows_together))};
}

} // namespace asmevo::reference
