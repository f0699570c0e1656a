// Layout functions against the tables of AMD's matrix instruction calculator (gfx942) and of the CDNA4 ISA
// (gfx950).
#include "base/files.h"
#include "emulator/families/matrix_layout.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <zstd.h>

#include <set>
#include <tuple>

namespace asmevo::emulator {

namespace {

using nlohmann::json;

std::vector<json> read_tables() {
  const auto packed = read_file(ASMEVO_SOURCE_DIR "/tests/emulator/data/matrix_layouts.jsonl.zst", 1 << 24);
  std::string text(size_t{16} << 20, '\0');
  text.resize(ZSTD_decompress(text.data(), text.size(), packed->data(), packed->size()));
  std::vector<json> tables;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) tables.push_back(json::parse(line));
  return tables;
}

const std::vector<json>& tables() {
  static const std::vector<json> all = read_tables();
  return all;
}

// Of a row [block, row, col, vgpr, lo, hi, lane], or without block: the last four.
struct Place {
  unsigned vgpr = 0, low = 0, high = 0, lane = 0;
  explicit Place(const json& row) {
    const size_t at = row.size() - 4;
    vgpr = row[at];
    low = row[at + 1];
    high = row[at + 2];
    lane = row[at + 3];
  }
};

struct Index {
  unsigned block = 0, row = 0, column = 0;
  explicit Index(const json& entry) {
    const size_t at = entry.size() - 6;
    block = at == 1 ? entry[0].get<unsigned>() : 0;
    row = entry[at];
    column = entry[at + 1];
  }
};

void expect_at(const std::string& what, const json& row, ItemPosition p) {
  const Place want(row);
  const unsigned width = want.high - want.low + 1, bit = p.item * width;
  ASSERT_EQ(std::tuple(bit / 32, bit % 32, p.lane), std::tuple(want.vgpr, want.low, want.lane))
      << what << " " << row.dump();
}

bool is_sparse(const json& t) {
  return t.contains("IDX");
}

MatrixShape shape_of(const json& t) {
  MatrixShape s{t["M"], t["N"], t["K"], t["blocks"]};
  if (is_sparse(t) && t["vgprs"]["B"] == 8) s.order_b = KOrder::Halves;
  return s;
}

KOrder order_of_width(const std::string& bits) {
  return bits == "8" ? KOrder::Halves : KOrder::Consecutive;
}

void check_factor_a(const std::string& what, const json& rows, FactorLayout layout) {
  for (const json& row : rows) {
    const Index at(row);
    expect_at(what + " A", row, layout.position(at.block, at.row, at.column));
  }
  EXPECT_EQ(rows.size(), size_t{layout.rows} * layout.k * layout.blocks);
}

void check_factor_b(const std::string& what, const json& rows, FactorLayout layout) {
  for (const json& row : rows) {
    const Index at(row);
    expect_at(what + " B", row, layout.position(at.block, at.column, at.row));
  }
  EXPECT_EQ(rows.size(), size_t{layout.rows} * layout.k * layout.blocks);
}

} // namespace

TEST(MatrixLayout, FactorsAreWhereTheTablesSay) {
  ASSERT_EQ(tables().size(), 114U);
  for (const json& t : tables()) {
    const std::string name = t["mnemonic"];
    const MatrixShape s = shape_of(t);
    FactorLayout a = layout_of_a(s), b = layout_of_b(s);
    if (is_sparse(t)) a.k /= 2;
    if (t["A"].is_array()) {
      check_factor_a(name, t["A"], a);
      check_factor_b(name, t["B"], b);
      continue;
    }
    for (const auto& [bits, rows] : t["A"].items()) {
      a.order = order_of_width(bits);
      check_factor_a(name + " " + bits + " bits", rows, a);
    }
    for (const auto& [bits, rows] : t["B"].items()) {
      b.order = order_of_width(bits);
      check_factor_b(name + " " + bits + " bits", rows, b);
    }
  }
}

TEST(MatrixLayout, ResultsAreWhereTheTablesSay) {
  for (const json& t : tables()) {
    const std::string name = t["mnemonic"];
    const MatrixShape s = shape_of(t);
    const ResultLayout layout = layout_of_result(s, name.starts_with("v_mfma_f64"));
    for (const json& row : t["CD"]) {
      const Index at(row);
      expect_at(name + " D", row, layout.position(at.block, at.row, at.column));
    }
    EXPECT_EQ(t["CD"].size(), size_t{s.m} * s.n * s.blocks);
  }
}

// The index of A's compressed element stands in the element's lane, at bit 2 * item.
TEST(MatrixLayout, SparseIndicesStandInTheElementsLane) {
  for (const json& t : tables()) {
    if (!is_sparse(t)) continue;
    FactorLayout a = layout_of_a(shape_of(t));
    a.k /= 2;
    EXPECT_EQ(t["set_bits"], 2 * a.items()) << t["mnemonic"];
    for (const json& row : t["IDX"]) {
      const Index at(row);
      const ItemPosition p = a.position(0, at.row, at.column);
      const Place want(row);
      ASSERT_EQ(std::tuple(want.low, want.lane), std::tuple(2 * p.item, p.lane)) << t["mnemonic"];
    }
  }
}

TEST(MatrixLayout, ScalesStandInRowsOfLanes) {
  for (const json& t : tables()) {
    if (!t.contains("SA")) continue;
    for (const char* side : {"SA", "SB"})
      for (const json& row : t[side]["rows"])
        EXPECT_EQ(row[2].get<unsigned>(),
                  row[0].get<unsigned>() + t["M"].get<unsigned>() * row[1].get<unsigned>());
  }
}

TEST(MatrixLayout, BroadcastMapRepeatsOneBlockOfA) {
  const FactorLayout sixteen_blocks{4, 4, 16}; // lane = row + 4 * block
  const LaneMap all = broadcast_map(sixteen_blocks, 4, 15), pairs = broadcast_map(sixteen_blocks, 1, 1);
  for (unsigned l = 0; l < 64; ++l) {
    EXPECT_EQ(all[l], 60 + l % 4);
    EXPECT_EQ(pairs[l], l / 8 * 8 + 4 + l % 4);
  }
  const FactorLayout two_blocks_two_k{16, 2, 2}; // the upper half of the wave holds k = 1
  EXPECT_EQ(broadcast_map(two_blocks_two_k, 1, 1)[3], 19);
  EXPECT_EQ(broadcast_map(two_blocks_two_k, 1, 1)[32 + 3], 32 + 19);
  EXPECT_EQ(broadcast_map(FactorLayout{32, 8, 1}, 3, 5)[40], 40); // nothing to share with one block
}

TEST(MatrixLayout, GroupMapPermutesLanesOfB) {
  const unsigned want_of_lane_20[] = {20, 20, 52, 36, 4, 20, 36, 52};
  const unsigned want_of_lane_63[] = {63, 31, 63, 15, 15, 31, 47, 63};
  for (unsigned blgp = 0; blgp < 8; ++blgp) {
    EXPECT_EQ(group_map(blgp)[20], want_of_lane_20[blgp]) << blgp;
    EXPECT_EQ(group_map(blgp)[63], want_of_lane_63[blgp]) << blgp;
  }
}

} // namespace asmevo::emulator
