// Inference against the suite's launch files: roles and element types without any hint, extents with grid and
// integer scalars given. Full runs take all kernels and print the table of docs/inference.md.
#include "full_run.h"
#include "suite_truth.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdio>

namespace asmevo::infer {
namespace {

std::vector<std::string> chosen_kernels() {
  if (test::full_run()) return suite_kernels();
  return {"level1_19_relu", "level1_23_softmax", "level1_51_argmax_rows",
          "llm_gemm_bf16",  "llm_gemm_fp8",      "llm_gemm_gather",
          "llm_gemm_i8",    "llm_gemm_int4",     "llm_layernorm_residual",
          "llm_moe_topk",   "llm_rope"};
}

std::string target_of(const std::string& kernel) {
  return kernel.ends_with("_ocp") ? "gfx950" : "gfx942";
}

// Integers given: what is in a buffer of counts is no scalar, but how far K0 reaches depends on it as on one.
const std::map<std::string, std::map<std::string, std::string>> counts_in_memory{
    {"llm_paged_attention", {{"lengths", "16 * most_pages"}}}};

struct Count {
  size_t right = 0, all = 0;
};

// A row of the table in docs/inference.md.
struct Row {
  Count types;
  size_t sure = 0;                      // right with high confidence
  std::map<std::string, Count> extents; // by shape
  std::vector<std::string> remarks;
};

class InferSuite : public ::testing::Test {
 protected:
  static void TearDownTestSuite() {
    if (!test::full_run()) return;
    fmt::print("| kernel | role and type right | of them high | extents right, tiny | odd | remarks |\n"
               "|---|---|---|---|---|---|\n");
    for (auto& [name, row] : rows) {
      const Count tiny = row.extents["tiny"], odd = row.extents["odd"];
      fmt::print("| {} | {} of {} | {} | {} of {} | {} of {} | {} |\n", name, row.types.right, row.types.all,
                 row.sure, tiny.right, tiny.all, odd.right, odd.all, fmt::join(row.remarks, "; "));
    }
  }
  static inline std::map<std::string, Row> rows;
};

TEST_F(InferSuite, RolesAndTypesWithoutHints) {
  Count count, scalars;
  for (const std::string& name : chosen_kernels()) {
    const auto truth = suite_truth(name, target_of(name), "tiny");
    ASSERT_TRUE(truth) << truth.error().message;
    const auto inferred =
        infer_launch(truth->object, {.kernel = truth->kernel, .grid = {}, .workgroup = {}, .values = {}});
    ASSERT_TRUE(inferred) << name << ": " << inferred.error().message;
    EXPECT_EQ(inferred->last_outcome, "") << name;
    ASSERT_EQ(inferred->arguments.size(), truth->arguments.size()) << name;
    for (size_t i = 0; i < truth->arguments.size(); ++i) {
      const TrueArgument& t = truth->arguments[i];
      const InferredArgument& a = inferred->arguments[i];
      ASSERT_EQ(a.field.pointer, t.pointer) << name << " " << a.field.name;
      if (!t.pointer) {
        ++scalars.all;
        const bool float_right = t.dtype.starts_with('f') ? a.dtype == t.dtype : !a.dtype.starts_with('f');
        scalars.right += float_right;
        EXPECT_TRUE(float_right || a.confidence != Confidence::High)
            << name << " " << a.field.name << ": " << a.dtype;
        continue;
      }
      const bool right = a.role == t.role && a.dtype == t.dtype;
      ++count.all;
      count.right += right;
      Row& row = rows[name];
      ++row.types.all;
      row.types.right += right;
      row.sure += right && a.confidence == Confidence::High;
      if (!right)
        row.remarks.push_back(fmt::format("{} is {} {}, not {} {} ({} confidence)", t.buffer,
                                          oracle::name(t.role), t.dtype, oracle::name(a.role), a.dtype,
                                          infer::name(a.confidence)));
      EXPECT_TRUE(right || a.confidence != Confidence::High)
          << name << " " << t.buffer << ": " << oracle::name(a.role) << " " << a.dtype
          << " with high confidence, is " << oracle::name(t.role) << " " << t.dtype;
    }
  }
  fmt::print("without hints: {} of {} pointer arguments right\n", count.right, count.all);
  fmt::print("scalars told to be floats or integers: {} of {} right\n", scalars.right, scalars.all);
  EXPECT_GE(count.right * 10, count.all * 9);
}

std::map<std::string, std::string> given_values(const SuiteTruth& truth, const std::string& name,
                                                const std::string& shape) {
  std::map<std::string, std::string> values;
  const auto fields = KernargFields::of(*truth.object, *truth.object->find_kernel(truth.kernel)).value();
  for (size_t i = 0; i < truth.arguments.size(); ++i)
    if (!truth.arguments[i].pointer && truth.arguments[i].dtype.find('f') == std::string::npos)
      values[fields.fields()[i].name] = truth.arguments[i].value;
  const auto more = counts_in_memory.find(name);
  if (more == counts_in_memory.end()) return values;
  const auto spec =
      oracle::LaunchSpec::read(std::string(ASMEVO_SOURCE_DIR) + "/kernels/suite/" + name + ".toml").value();
  const oracle::Scope sizes = oracle::work_out_sizes(spec, shape).value();
  for (const auto& [buffer, text] : more->second)
    values[buffer] = fmt::format("{}", oracle::evaluate_integer(text, sizes, 0, 1'000'000).value());
  return values;
}

// As large as the buffer, or as far as K0 reaches in it; where the contents of another buffer decide that,
// they are not known.
TEST_F(InferSuite, ExtentsWithScalarsAndGridGiven) {
  Count count;
  size_t by_contents = 0, whole = 0;
  for (const std::string shape : {"tiny", "odd"})
    for (const std::string& name : chosen_kernels()) {
      const auto truth = suite_truth(name, target_of(name), shape);
      ASSERT_TRUE(truth) << truth.error().message;
      InferOptions options;
      options.kernel = truth->kernel;
      options.grid = truth->grid;
      options.workgroup = truth->workgroup;
      options.values = given_values(*truth, name, shape);
      options.most_instructions = uint64_t{1} << 28;
      const auto inferred = infer_launch(truth->object, options);
      ASSERT_TRUE(inferred) << name << ": " << inferred.error().message;
      EXPECT_EQ(inferred->last_outcome, "") << name;
      for (size_t i = 0; i < truth->arguments.size(); ++i) {
        const TrueArgument& t = truth->arguments[i];
        const InferredArgument& a = inferred->arguments[i];
        if (!t.pointer) continue;
        ++count.all;
        const auto bytes = static_cast<int64_t>(t.bytes);
        whole += a.touched.end == bytes;
        const bool right = a.touched.begin == 0 && (a.touched.end == bytes || a.touched.end == t.touched);
        count.right += right;
        Count& of_shape = rows[name].extents[shape];
        ++of_shape.all;
        of_shape.right += right;
        const bool free = !right && !a.placed_by.empty();
        by_contents += free;
        if (!right || a.touched.end != bytes)
          rows[name].remarks.push_back(
              fmt::format("{} {}: {} of {} bytes, K0 reaches {}{}", shape, t.buffer, a.touched.end, bytes,
                          t.touched, free ? fmt::format(", by what {} holds", a.placed_by.front()) : ""));
        EXPECT_TRUE(right || free) << name << " " << shape << " " << t.buffer << ": " << a.touched.end
                                   << " of " << bytes << " bytes, K0 reaches " << t.touched;
      }
    }
  fmt::print("extents: {} of {} right ({} the whole buffer), {} decided by the contents of another buffer\n",
             count.right, count.all, whole, by_contents);
}

// What is in a buffer of indices is not for probes to find out, but it can be given.
TEST_F(InferSuite, TheTableOfRopeFollowsItsPositions) {
  const auto truth = suite_truth("llm_rope", "gfx942", "tiny");
  ASSERT_TRUE(truth) << truth.error().message;
  InferOptions options;
  options.grid = truth->grid;
  options.values = given_values(*truth, "llm_rope", "tiny");
  const uint64_t positions = truth->arguments[2].bytes / (128 * sizeof(float));
  options.values["positions"] = fmt::format("{}", positions - 1);
  const auto inferred = infer_launch(truth->object, options);
  ASSERT_TRUE(inferred) << inferred.error().message;
  EXPECT_EQ(inferred->arguments[2].bytes(), truth->arguments[2].bytes);
}

} // namespace
} // namespace asmevo::infer
