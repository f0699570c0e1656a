// Machine models: those of the tree, and what is wrong with others.
#include "base/files.h"
#include "timing/machine_model.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

namespace asmevo::timing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using P = Parameter;

MachineModel model(const std::string& name) {
  auto found = MachineModel::find(name);
  EXPECT_TRUE(found) << found.error().message;
  return *std::move(found);
}

std::string text_of(const std::string& name) {
  const auto bytes = read_file(std::string(ASMEVO_SOURCE_DIR) + "/machines/" + name + ".toml");
  EXPECT_TRUE(bytes);
  return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

// What is said of mi300x.toml with `what` replaced by `by`.
std::string said_of(const std::string& what, const std::string& by) {
  std::string text = text_of("mi300x");
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  text.replace(at, what.size(), by);
  const auto parsed = MachineModel::parse(text, "x.toml");
  return parsed ? "" : parsed.error().message;
}

TEST(MachineModel, AllOfTheTreeLoad) {
  EXPECT_THAT(MachineModel::names(), ElementsAre("mi210", "mi250x", "mi300a", "mi300x", "mi308x", "mi355x"));
  for (const std::string_view name : MachineModel::names()) {
    const MachineModel m = model(std::string(name));
    EXPECT_EQ(m.name(), name);
    for (const ParameterInfo& info : parameter_table()) EXPECT_FALSE(m.entry(info.parameter).source.empty());
  }
}

// What AMD says of the cards: compute units, and 64 lanes with a multiplication and an addition each on four
// SIMDs every four cycles.
TEST(MachineModel, PeaksAreThoseOfTheDataSheets) {
  struct Card {
    const char* name;
    unsigned cus;
    double vector_f32_teraflops; // not packed: half of the packed peak on CDNA 3
  };
  for (const Card& card : {Card{"mi300x", 304, 81.7}, Card{"mi300a", 228, 61.3}, Card{"mi210", 104, 22.6},
                           Card{"mi355x", 256, 78.6}}) {
    const Machine m = model(card.name).nominal();
    EXPECT_EQ(m.cus(), card.cus) << card.name;
    const double flops = m.cus() * 4 * 64 * 2 / m[P::valu_cycles] * m[P::engine_clock] * 1e6;
    EXPECT_NEAR(flops / 1e12, card.vector_f32_teraflops, 0.1) << card.name;
  }
}

TEST(MachineModel, TheNearerTheFaster) {
  for (const std::string_view name : MachineModel::names()) {
    const Machine m = model(std::string(name)).nominal();
    EXPECT_LT(m[P::lds_latency], m[P::l1_latency]) << name;
    EXPECT_LT(m[P::l1_latency], m[P::l2_latency]) << name;
    EXPECT_LT(m[P::l2_latency], m[P::mall_latency]) << name;
    EXPECT_LE(m[P::mall_latency], m[P::hbm_latency]) << name;
    const double l2 = m[P::l2_read_rate] * m[P::xcds] * m[P::engine_clock] * 1e6;
    EXPECT_GT(l2, m[P::mall_bandwidth] * 1e12) << name;
  }
}

TEST(MachineModel, DrawsWithinItsErrors) {
  const MachineModel m = model("mi300a");
  const Machine nominal = m.nominal();
  std::array<double, parameter_count> lowest{}, highest{};
  constexpr unsigned draws = 400;
  for (unsigned seed = 1; seed <= draws; ++seed) {
    const Machine drawn = m.draw(seed);
    EXPECT_EQ(drawn, m.draw(seed));
    for (const ParameterInfo& info : parameter_table()) {
      const double off = drawn[info.parameter] / std::max(nominal[info.parameter], 1e-9) - 1;
      const double error = m.entry(info.parameter).error;
      EXPECT_LE(std::abs(off), error + 1e-12) << info.table << "." << info.key;
      auto& low = lowest[static_cast<size_t>(info.parameter)];
      auto& high = highest[static_cast<size_t>(info.parameter)];
      low = std::min(low, off), high = std::max(high, off);
    }
  }
  // And reaches nearly all of it.
  for (const ParameterInfo& info : parameter_table()) {
    const double error = m.entry(info.parameter).error;
    EXPECT_LE(lowest[static_cast<size_t>(info.parameter)], -0.9 * error) << info.table << "." << info.key;
    EXPECT_GE(highest[static_cast<size_t>(info.parameter)], 0.9 * error) << info.table << "." << info.key;
  }
}

TEST(MachineModel, MistakesAreNamedWithTheirLine) {
  EXPECT_THAT(said_of("version = 1", "version = 2"), HasSubstr("x.toml:1: version must be 1"));
  EXPECT_THAT(said_of("gfx942", "gfx1100"), HasSubstr("x.toml:3: target: "));
  EXPECT_THAT(said_of("[l2]", "[l3]"), HasSubstr(": unknown key 'l3'; did you mean 'l1'?"));
  EXPECT_THAT(said_of("value = 287.5", "value = -1"),
              HasSubstr("l2: latency: value must be from 1 to 10000"));
  EXPECT_THAT(said_of("value = 287.5", "value = \"much\""), HasSubstr("l2: latency: value must be a number"));
  EXPECT_THAT(said_of("value = 287.5", "value = nan"), HasSubstr("l2: latency: value must be from"));
  EXPECT_THAT(said_of("value = 287.5, unit = \"cycles\"", "value = 287.5, unit = \"ns\""),
              HasSubstr("l2: latency: must be in cycles, not ns"));
  EXPECT_THAT(said_of("value = 287.5, unit", "value = 287.5, colour = 1, unit"),
              HasSubstr("unknown key 'colour'"));
  EXPECT_THAT(said_of("value = 8, ", "value = 8.5, "), HasSubstr("shape: xcds: must be a whole number"));
  EXPECT_THAT(said_of("value = 8, ", "value = 8, error = 0.1, "), HasSubstr("is certain: it takes no error"));
  EXPECT_THAT(said_of("error = 0.03", "error = 2"), HasSubstr("error must be from 0 to 0.75"));
  EXPECT_THAT(said_of("xcds =", "dies ="),
              HasSubstr("x.toml:7: shape: unknown key 'dies'; there are 'xcds', "));
  EXPECT_THAT(said_of("xcds =", "xdcs ="),
              HasSubstr("x.toml:7: shape: unknown key 'xdcs'; did you mean 'xcds'?"));
  EXPECT_THAT(said_of("xcds =", "# ="), HasSubstr("x.toml:6: shape: xcds: missing (1)"));
  EXPECT_THAT(said_of("[icache]", "[ichache]"), HasSubstr(": unknown key 'ichache'; did you mean 'icache'?"));
  EXPECT_THAT(said_of("summary =", "sumary ="), HasSubstr(": unknown key 'sumary'; did you mean 'summary'?"));
  EXPECT_THAT(said_of("value = 287.5", "vaule = 287.5"),
              HasSubstr("l2: latency: unknown key 'vaule'; did you mean 'value'?"));
  EXPECT_THAT(said_of("[clock]", "[shape.more]\n[clock]"), HasSubstr("shape: unknown key 'more'"));
  EXPECT_THAT(said_of("[clock]", "[fans]\nspeed = 1\n[clock]"), HasSubstr("unknown key 'fans'"));
  EXPECT_THAT(said_of("source = \"AMD data sheet\"", "source = \"\""), HasSubstr("source must be text"));
  EXPECT_THAT(said_of("[shape]", "\xef\xbb\xbe[shape]"), HasSubstr("x.toml:6: a character beyond ASCII"));
  EXPECT_EQ(said_of("[shape]", "# \xc2\xb5s\n[shape]"), "");
  EXPECT_THAT(said_of("[shape]", "[shape"), HasSubstr("x.toml:6: "));
}

TEST(MachineModel, FilesOfTheUser) {
  const auto unknown = MachineModel::find("mi999");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("mi300a, mi300x"));
  EXPECT_THAT(MachineModel::find("mi300x.toml").error().message, HasSubstr("mi300a, mi300x"));
  EXPECT_FALSE(MachineModel::find("./nowhere.toml"));
  const MachineModel own = model(std::string(ASMEVO_SOURCE_DIR) + "/machines/mi300x.toml");
  EXPECT_EQ(own.nominal(), model("mi300x").nominal());
}

} // namespace
} // namespace asmevo::timing
