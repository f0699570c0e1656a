// The set of cases a launch is tried with: what is in it, what is left out and why, and what it warns of.
#include "oracle/case_set.h"
#include "oracle/verified.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <set>

namespace asmevo::oracle::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string saxpy = R"toml([sizes]
n = 1000
[shapes.tiny]
n = 70
[shapes.full]
n = 1000000000
[[buffer]]
name = "x"
dtype = "f32"
shape = "n"
role = "in"
init = {kind = "uniform", low = 0, high = 1}
[[buffer]]
name = "y"
dtype = "f32"
shape = "n"
role = "inout"
init = {kind = "uniform", low = 0, high = 1}
[[arg]]
dtype = "f32"
value = 0.5
[[arg]]
buffer = "x"
[[arg]]
buffer = "y"
[[arg]]
dtype = "u32"
value = "n"
[[step]]
kernel = "saxpy"
grid = "ceil_div(n, 64)"
workgroup = 64
)toml";

LaunchSpec spec_of(const std::string& text) {
  auto spec = LaunchSpec::parse(text, "launch.toml");
  EXPECT_TRUE(spec) << (spec ? "" : spec.error().message);
  return *std::move(spec);
}

CaseSet set_of(const std::string& text, const CaseSetOptions& options = {}) {
  auto set = make_case_set(spec_of(text), subject(sample_bytes("saxpy")), options);
  EXPECT_TRUE(set) << (set ? "" : set.error().message);
  return set ? *std::move(set) : CaseSet();
}

std::vector<std::string> names_of(const CaseSet& set) {
  std::vector<std::string> list;
  for (const auto& c : set.cases) list.push_back(c->dispatch().name);
  return list;
}

TEST(CaseSet, IsWhatItSays) {
  const CaseSet set = set_of(saxpy);
  const std::vector<std::string> names = names_of(set);
  const std::vector<std::string> first = {"tiny, seed 0",
                                          "tiny, seed 1",
                                          "tiny, seed 2",
                                          "tiny, both signs, seed 3",
                                          "tiny, few values, seed 3",
                                          "tiny, zeros, seed 3",
                                          "tiny, small, seed 3",
                                          "tiny, large, seed 3",
                                          "tiny, spikes, seed 3",
                                          "tiny, negative, seed 3",
                                          "tiny, empty, seed 3",
                                          "tiny, boundary values, seed 3",
                                          "tiny, magnitudes, seed 3",
                                          "tiny, spikes, seed 4",
                                          "tiny, boundary values, seed 4",
                                          "tiny, magnitudes, seed 4",
                                          "tiny, spikes, seed 5",
                                          "tiny, boundary values, seed 5",
                                          "tiny, magnitudes, seed 5",
                                          "tiny, spikes, seed 6",
                                          "tiny, boundary values, seed 6",
                                          "tiny, magnitudes, seed 6",
                                          "tiny, magnitudes, seed 7",
                                          "tiny, magnitudes, seed 8",
                                          "tiny, magnitudes, seed 9",
                                          "tiny, magnitudes, seed 10",
                                          "tiny, magnitudes, seed 11",
                                          "tiny, magnitudes, seed 12",
                                          "tiny, shifted, seed 3",
                                          "tiny, n = 1, seed 4",
                                          "tiny, n = 2, seed 4",
                                          "tiny, n = 3, seed 4",
                                          "tiny, n = 5, seed 4",
                                          "tiny, n = 7, seed 4",
                                          "tiny, n = 69, seed 4",
                                          "tiny, n = 71, seed 4",
                                          "tiny, n = 72, seed 4",
                                          "tiny, n = 73, seed 4"};
  for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(names.at(i), first[i] + ", launch 1");
  // All numbers in a row, as many as tiles are long.
  for (int n = 6; n < 134; ++n) {
    const std::string given = n == 70 ? "tiny, seed 0" : fmt::format("tiny, n = {}, seed", n);
    EXPECT_THAT(names, Contains(HasSubstr(given)));
  }
  const auto sample_of = [&](std::string_view name) {
    const auto found = std::ranges::find(set.cases, name, [](const auto& c) { return c->dispatch().name; });
    return found == set.cases.end() ? std::vector<uint64_t>() : (*found)->sample();
  };
  EXPECT_EQ(sample_of("full, corners, seed 0, launch 1"), (std::vector<uint64_t>{0, 15624999}));
  EXPECT_GE(sample_of("full, all over, seed 3, launch 1").size(), 1000U);
  EXPECT_THAT(names, Contains(HasSubstr("full, n = 3000000000"))) << "more bytes than 32 bits can tell";
  EXPECT_THAT(set.left_out, ::testing::ElementsAre(
                                AllOf(HasSubstr("tiny, n = 0"), HasSubstr("grid")),
                                AllOf(HasSubstr("full, n = 13000000000"), HasSubstr("does not fit in u32")),
                                AllOf(HasSubstr("tiny, n = 12884901890"), HasSubstr("does not fit in u32"))));
  EXPECT_THAT(set.warnings, IsEmpty());
  CaseSetOptions options;
  options.as_given = true;
  EXPECT_EQ(set_of(saxpy, options).cases.size(), 3U);
  options.shape = "full"; // so much is never touched
  options.prepare.sample = 8;
  const CaseSet full = set_of(saxpy, options);
  ASSERT_EQ(full.cases.size(), 3U);
  EXPECT_EQ(full.cases[0]->sample().size(), 8U);
}

TEST(CaseSet, HeldBackHasNoCaseInCommon) {
  CaseSetOptions options;
  options.held_back = true;
  const CaseSet set = set_of(saxpy, options);
  EXPECT_GT(set.cases.size(), 20U);
  for (const std::string& name : names_of(set_of(saxpy)))
    EXPECT_THAT(names_of(set), ::testing::Not(Contains(name)));
  EXPECT_THAT(names_of(set), Contains("tiny, n = 68, seed 1000004, launch 1"));
}

TEST(CaseSet, LeavesOutWhatK0CannotDo) {
  // y is one element short where n is more than 70: K0 writes behind it.
  const std::string text =
      replaced(saxpy, "shape = \"n\"\nrole = \"inout\"", "shape = \"min(n, 70)\"\nrole = \"inout\"");
  const CaseSet set = set_of(text);
  EXPECT_THAT(set.left_out,
              Contains(AllOf(HasSubstr("tiny, n = 71"), HasSubstr("K0 itself: guard_damaged"))));
  EXPECT_THAT(set.left_out, Contains(AllOf(HasSubstr("full, corners"), HasSubstr("K0 itself: fault"))));
  EXPECT_THAT(names_of(set), Contains("tiny, n = 69, seed 4, launch 1"));
  // Of the file's own sizes it is an error.
  const auto set_of_file =
      make_case_set(spec_of(replaced(text, "n = 70", "n = 71")), subject(sample_bytes("saxpy")), {});
  ASSERT_FALSE(set_of_file);
  EXPECT_THAT(set_of_file.error().message, HasSubstr("K0 itself: guard_damaged"));
}

TEST(CaseSet, LeavesOutInputsThatMakeEverythingInfinite) {
  const std::string text = replaced(saxpy, "value = 0.5", "value = 1e38");
  const CaseSet set = set_of(text);
  EXPECT_THAT(set.left_out, Contains(AllOf(HasSubstr("tiny, large"), HasSubstr("NaNs or infinities"))));
}

TEST(CaseSet, WarnsOfInputsThatChangeNothingAndOfOutputsThatAreAllTheSame) {
  const CaseSet no_x = set_of(replaced(saxpy, "value = 0.5", "value = 0"));
  EXPECT_THAT(no_x.warnings, Contains("input 'x' changes nothing in what K0 leaves"));
  const std::string flat =
      replaced(replaced(saxpy, "low = 0, high = 1}\n[[buffer]]", "low = 1, high = 1}\n[[buffer]]"),
               "low = 0, high = 1}\n[[arg]]", "low = 1, high = 1}\n[[arg]]");
  EXPECT_THAT(set_of(flat).warnings, Contains(HasSubstr("all elements that K0 leaves are the same")));
}

TEST(CaseSet, IsTheSameOnAnyNumberOfThreads) {
  const std::string text =
      replaced(saxpy, "shape = \"n\"\nrole = \"inout\"", "shape = \"min(n, 70)\"\nrole = \"inout\"");
  const auto on = [&](unsigned threads) {
    CaseSetOptions options;
    options.prepare.threads = threads;
    const CaseSet set = set_of(text, options);
    std::vector<std::string> all = names_of(set);
    all.insert(all.end(), set.left_out.begin(), set.left_out.end());
    for (const auto& c : set.cases) {
      Bytes bytes(c->dispatch().views[1].layout.bytes());
      EXPECT_TRUE(c->left().memory().read(c->dispatch().views[1].address, bytes));
      all.emplace_back(bytes.begin(), bytes.end());
    }
    return all;
  };
  EXPECT_EQ(on(1), on(5));
}

// --- the inputs by themselves

std::vector<double> first_numbers(InputVariant variant, const std::string& dtype, const std::string& init) {
  const std::string text = "[[buffer]]\nname = \"x\"\ndtype = \"" + dtype +
                           "\"\nshape = 10000\nrole = \"in\"\ninit = " + init +
                           "\n[[step]]\nkernel = \"k\"\ngrid = 1\nworkgroup = 64\n";
  auto plan = LaunchPlan::make(spec_of(text), "");
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
  if (!apply(variant, *plan)) return {};
  const PlannedBuffer& b = plan->buffers.front();
  std::vector<double> list;
  for (uint64_t i = 0; i < 10000; ++i)
    list.push_back(decode(b.layout.type(), init_code(b.init, b.layout, i)));
  return list;
}

uint64_t count(const std::vector<double>& list, const std::function<bool(double)>& wanted) {
  return static_cast<uint64_t>(std::ranges::count_if(list, wanted));
}

TEST(InputVariant, GivesWhatItsNameSays) {
  const std::string unit = "{kind = \"uniform\", low = 0, high = 1}";
  const auto both = first_numbers(InputVariant::Signed, "f32", unit);
  EXPECT_GT(count(both, [](double v) { return v < -0.5; }), 2000U);
  EXPECT_EQ(count(both, [](double v) { return std::abs(v) > 1; }), 0U);
  EXPECT_THAT(first_numbers(InputVariant::Signed, "f32", "{kind = \"normal\"}"), IsEmpty());
  const auto few = first_numbers(InputVariant::FewValues, "f16", unit);
  for (const double value : {-1, 0, 1, 2}) EXPECT_GT(count(few, [&](double v) { return v == value; }), 2000U);
  EXPECT_EQ(count(first_numbers(InputVariant::Zeros, "bf16", unit), [](double v) { return v == 0; }), 10000U);
  const auto small = first_numbers(InputVariant::Small, "f16", unit);
  EXPECT_GT(count(small, [](double v) { return v != 0 && std::abs(v) < 0x1p-14; }), 3000U);
  EXPECT_EQ(count(small, [](double v) { return std::abs(v) > 0x1p-13; }), 0U);
  const auto spikes = first_numbers(InputVariant::Spikes, "f32", unit);
  EXPECT_NEAR(static_cast<double>(count(spikes, [](double v) { return v == 8; })), 16, 12);
  EXPECT_EQ(count(spikes, [](double v) { return v != 8 && (v < 0 || v > 1.0 / 256); }), 0U);
  const auto large = first_numbers(InputVariant::Large, "f32", unit);
  EXPECT_GT(count(large, [](double v) { return v > 32; }), 4000U);
  const auto negative = first_numbers(InputVariant::Negative, "f32", unit);
  EXPECT_EQ(count(negative, [](double v) { return v >= -64 && v <= -32; }), 10000U);
  const auto extremes = first_numbers(InputVariant::Extremes, "f32", unit);
  EXPECT_EQ(count(extremes, [](double v) { return v == 0.5; }), 0U);
  EXPECT_GT(count(extremes, [](double v) { return std::isnan(v); }), 500U);
}

TEST(InputVariant, EmptyLeavesWhatTheLargestInputIsMultipliedWith) {
  const std::string text = R"(
[[buffer]]
name = "x"
dtype = "f32"
shape = [100]
role = "in"
init = {kind = "uniform", low = 0, high = 1}
[[buffer]]
name = "scale"
dtype = "f32"
shape = [10]
role = "in"
init = {kind = "uniform", low = 0, high = 1}
[[step]]
kernel = "k"
grid = 1
workgroup = 64
[[step.arg]]
dtype = "f32"
value = 0.125
[[step.arg]]
dtype = "u32"
value = 7
)";
  auto plan = LaunchPlan::make(spec_of(text), "");
  ASSERT_TRUE(apply(InputVariant::Empty, *plan));
  EXPECT_EQ(init_code(plan->buffers[0].init, plan->buffers[0].layout, 5), 0U);
  const auto scale = std::bit_cast<float>(
      static_cast<uint32_t>(init_code(plan->buffers[1].init, plan->buffers[1].layout, 5)));
  EXPECT_GT(std::abs(scale), 0x1p80F);
  const std::vector<ArgumentSpec>& arguments = *plan->spec.steps.front().arguments;
  EXPECT_DOUBLE_EQ(std::stod(arguments[0].value.text), 0x1p87);
  EXPECT_EQ(arguments[1].value.text, "7");
}

TEST(InputVariant, BoundaryHasEveryKindOfNumber) {
  const std::string rows = "{kind = \"constant\", value = 0.5}";
  const std::string text =
      "[[buffer]]\nname = \"x\"\ndtype = \"f32\"\nshape = [1000, 4]\nrole = \"in\"\ninit = " + rows +
      "\n[[step]]\nkernel = \"k\"\ngrid = 1\nworkgroup = 64\n";
  auto plan = LaunchPlan::make(spec_of(text), "");
  ASSERT_TRUE(apply(InputVariant::Boundary, *plan));
  const PlannedBuffer& b = plan->buffers.front();
  std::set<uint64_t> codes;
  uint64_t plain = 0;
  for (uint64_t i = 0; i < 4000; ++i) {
    const uint64_t code = init_code(b.init, b.layout, i);
    plain += code == 0x3f000000 ? 1 : 0;
    codes.insert(code);
  }
  EXPECT_GT(plain, 3500U);
  for (const uint64_t code : {0x7fc00000U, 0x7f800000U, 0xff800000U, 0x80000000U, 0x7f7fffffU, 0xff7fffffU,
                              0x00800000U, 0x00000001U})
    EXPECT_TRUE(codes.contains(code)) << std::hex << code;
  const auto bytes = first_numbers(InputVariant::Boundary, "i8", "{kind = \"integers\", low = -5, high = 5}");
  EXPECT_GT(count(bytes, [](double v) { return v == -128; }), 100U);
  EXPECT_GT(count(bytes, [](double v) { return v == 127; }), 100U);
}

TEST(InputVariant, IntegersStayInTheirRange) {
  const std::string pages = "{kind = \"integers\", low = 3, high = 90}";
  const auto few = first_numbers(InputVariant::FewValues, "i32", pages);
  EXPECT_EQ(count(few, [](double v) { return v >= 3 && v <= 5; }), 10000U);
  EXPECT_EQ(count(first_numbers(InputVariant::Zeros, "i32", pages), [](double v) { return v == 3; }), 10000U);
  EXPECT_THAT(first_numbers(InputVariant::Large, "i32", pages), IsEmpty());
  EXPECT_THAT(first_numbers(InputVariant::Zeros, "i32", "\"permutation\""), IsEmpty());
}

} // namespace
} // namespace asmevo::oracle::testing
