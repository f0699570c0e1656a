#include "matrix_registers.h"

#include <gtest/gtest.h>

#include <cmath>

namespace asmevo::emulator {

namespace {

constexpr const char* narrow_names[] = {
    "v_smfmac_f32_32x32x16_f16",     "v_smfmac_f32_16x16x32_f16",     "v_smfmac_f32_32x32x16_bf16",
    "v_smfmac_f32_16x16x32_bf16",    "v_smfmac_f32_32x32x32_fp8_fp8", "v_smfmac_f32_32x32x32_fp8_bf8",
    "v_smfmac_f32_32x32x32_bf8_fp8", "v_smfmac_f32_32x32x32_bf8_bf8", "v_smfmac_f32_16x16x64_fp8_fp8",
    "v_smfmac_f32_16x16x64_fp8_bf8", "v_smfmac_f32_16x16x64_bf8_fp8", "v_smfmac_f32_16x16x64_bf8_bf8",
    "v_smfmac_i32_32x32x32_i8",      "v_smfmac_i32_16x16x64_i8",
};
constexpr const char* wide_names[] = {
    "v_smfmac_f32_32x32x32_f16",      "v_smfmac_f32_16x16x64_f16",      "v_smfmac_f32_32x32x32_bf16",
    "v_smfmac_f32_16x16x64_bf16",     "v_smfmac_f32_32x32x64_fp8_fp8",  "v_smfmac_f32_32x32x64_fp8_bf8",
    "v_smfmac_f32_32x32x64_bf8_fp8",  "v_smfmac_f32_32x32x64_bf8_bf8",  "v_smfmac_f32_16x16x128_fp8_fp8",
    "v_smfmac_f32_16x16x128_fp8_bf8", "v_smfmac_f32_16x16x128_bf8_fp8", "v_smfmac_f32_16x16x128_bf8_bf8",
    "v_smfmac_i32_32x32x64_i8",       "v_smfmac_i32_16x16x128_i8",
};

std::vector<MatrixCase> sparse_cases() {
  std::vector<MatrixCase> all;
  for (const char* name : narrow_names)
    for (const char* gpu : {"gfx942", "gfx950"}) all.push_back(matrix_case(gpu, name));
  for (const char* name : wide_names) all.push_back(matrix_case("gfx950", name));
  return all;
}

// Which two of each four k a row's elements stand at.
struct Indices {
  std::map<std::pair<unsigned, unsigned>, unsigned> of; // (row, compressed k)

  // All rows' indices into set `set`; the other sets keep other bits.
  void put_random(Snippet& s, const MatrixCase& c, unsigned set, std::mt19937& random) {
    const FactorLayout a = c.layout_a();
    const unsigned set_bits = 2 * a.items();
    for (unsigned lane = 0; lane < 64; ++lane) s.v(reg_index, lane) = static_cast<uint32_t>(random());
    for (unsigned i = 0; i < a.rows; ++i)
      for (unsigned k = 0; k < a.k; k += 2) {
        const unsigned first = static_cast<unsigned>(random()) % 3;
        of[{i, k}] = first;
        of[{i, k + 1}] = first + 1 + static_cast<unsigned>(random()) % (3 - first);
        for (unsigned n = 0; n < 2; ++n) {
          const ItemPosition p = a.position(0, i, k + n);
          uint32_t& word = s.v(reg_index, p.lane);
          const unsigned at = set * set_bits + 2 * p.item;
          word = (word & ~(3U << at)) | of[{i, k + n}] << at;
        }
      }
  }
};

void check(MatrixCase c, unsigned set, unsigned cbsz, unsigned abid) {
  c.modifiers = fmt::format("cbsz:{} abid:{}", cbsz, abid);
  SCOPED_TRACE(c.gpu + " " + text_of(c));
  IntegerProduct product(c, 7);
  Indices indices;
  std::mt19937 random(11 + set);
  indices.put_random(product.registers(), c, set, random);
  product.run_and_compare([&](unsigned i, unsigned k) { return k / 2 * 4 + indices.of[{i, k}]; });
}

} // namespace

TEST(SparseMatrix, EveryMnemonicMultipliesSmallIntegersWithEveryIndexSet) {
  for (const MatrixCase& c : sparse_cases()) {
    const unsigned sets = 32 / (2 * c.layout_a().items());
    for (unsigned set = 0; set < sets; ++set) check(c, set, 0, set);
  }
}

TEST(SparseMatrix, WithCbszTheFirstIndexSetCounts) {
  check(matrix_case("gfx942", "v_smfmac_f32_16x16x32_f16"), 0, 1, 3);
  check(matrix_case("gfx942", "v_smfmac_i32_16x16x64_i8"), 0, 2, 1);
  check(matrix_case("gfx950", "v_smfmac_f32_16x16x128_fp8_fp8"), 0, 0, 1); // one set only
}

TEST(SparseMatrix, WhatNoIndexChoosesIsNotMultiplied) {
  const MatrixCase c = matrix_case("gfx942", "v_smfmac_f32_16x16x32_f16");
  IntegerProduct product(c, 3);
  Snippet& s = product.registers();
  // Indices 0 and 1 everywhere; B's rows 2 and 3 of each four are infinite or NaN.
  for (unsigned lane = 0; lane < 64; ++lane) s.v(reg_index, lane) = 0x44444444;
  for (unsigned j = 0; j < 16; ++j)
    for (unsigned k = 2; k < 32; k += 4) {
      put_item(s, reg_b, c.layout_b().position(0, j, k), 16, 0x7c00);
      put_item(s, reg_b, c.layout_b().position(0, j, k + 1), 16, 0x7e00);
    }
  product.run_and_compare([](unsigned, unsigned k) { return k / 2 * 4 + k % 2; });
}

TEST(SparseMatrix, ExecMeansNothing) {
  const MatrixCase c = matrix_case("gfx950", "v_smfmac_f32_32x32x32_bf16");
  IntegerProduct product(c, 4);
  product.registers().wave().set_exec(0);
  for (unsigned lane = 0; lane < 64; ++lane) product.registers().v(reg_index, lane) = 0xeeeeeeee; // 2 and 3
  product.run_and_compare([](unsigned, unsigned k) { return k / 2 * 4 + 2 + k % 2; });
}

TEST(SparseMatrix, OverflowSaturatesOnDemand) {
  const MatrixCase c = matrix_case("gfx942", "v_smfmac_i32_16x16x64_i8");
  for (const bool saturate : {false, true}) {
    Snippet s = snippet(c.gpu, text_of(c));
    put_item(s, reg_a, c.layout_a().position(0, 0, 0), 8, 0x80);
    put_item(s, reg_b, c.layout_b().position(0, 0, 0), 8, 0x80);
    s.v(0, 0) = 0x7fffffff;
    if (saturate) s.wave().set_mode(FloatMode::usual | 1U << 23);
    run(s);
    EXPECT_EQ(s.v(0, 0), saturate ? 0x7fffffffU : 0x7fffffffU + 0x4000);
  }
}

} // namespace asmevo::emulator
