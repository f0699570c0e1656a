// The level 1 kernels at their full shapes, of which the last workgroup runs: the far end of buffers of
// gigabytes, whose pages exist where they are touched only.
#include "reference/suite_level1.h"
#include "suite/suite_fixture.h"

namespace asmevo::suite {
namespace {

using reference::Values;
constexpr double ulp = 0x1p-23;

SuiteRun last_of(const std::string& name, const std::string& workgroups) {
  SuiteRun run({.name = name, .shape = "full", .workgroups = {"(" + workgroups + ") - 1"}});
  EXPECT_TRUE(run.completed()) << run.label() << ": " << run.error();
  return run;
}

/// Rows from `row` and columns from `column` on of a plane with rows of `width`.
Values corner(const Values& plane, size_t width, size_t row, size_t column) {
  Values part;
  for (size_t i = row * width; i < plane.size(); ++i)
    if (i % width >= column) part.push_back(plane[i]);
  return part;
}

TEST(Level1Full, Relu) {
  const SuiteRun run = last_of("level1_19_relu", "ceil_div(rows * columns, 4096)");
  const size_t first = run.size("rows * columns - 4096");
  expect_close(run.label(), run.values("y", first, 4096), run.values("x", first, 4096), 0);
}

TEST(Level1Full, Softmax) {
  const SuiteRun run = last_of("level1_23_softmax", "rows");
  const size_t columns = run.size("columns"), first = run.size("(rows - 1) * columns");
  expect_close(run.label(), run.values("y", first, columns),
               reference::softmax(run.values("x", first, columns), columns), 32 * ulp);
}

TEST(Level1Full, RmsNorm) {
  const SuiteRun run = last_of("level1_36_rms_norm", "ceil_div(height * width, 256) * batch");
  const size_t channels = run.size("channels"), pixels = run.size("height * width");
  Values x, y;
  for (size_t channel = 0; channel < channels; ++channel) {
    const size_t end = (run.size("batch - 1") * channels + channel + 1) * pixels;
    for (const double value : run.values("x", end - 256, 256)) x.push_back(value);
    for (const double value : run.values("y", end - 256, 256)) y.push_back(value);
  }
  expect_close(run.label(), y, reference::rms_norm(x, 1, channels, 256, 1e-5), 8 * ulp);
}

TEST(Level1Full, DepthwiseConv) {
  const SuiteRun run = last_of("level1_84_depthwise_conv", "2 * 4 * batch * channels");
  const size_t height = run.size("height"), width = run.size("width");
  const size_t planes = run.size("batch * channels"), out = (height - 2) * (width - 2);
  const Values x = run.values("x", (planes - 1) * height * width, height * width);
  const Values w = run.values("w", run.size("9 * (channels - 1)"), 9);
  const Values y = reference::depthwise_conv(x, w, 1, 1, height, width);
  expect_close(run.label(), corner(run.values("y", (planes - 1) * out, out), width - 2, 192, 256),
               corner(y, width - 2, 192, 256), 4 * ulp, 4 * ulp);
}

TEST(Level1Full, MaxPool) {
  const SuiteRun run = last_of("level1_42_max_pool", "2 * 8 * batch * channels");
  const size_t height = run.size("height"), width = run.size("width");
  const size_t planes = run.size("batch * channels"), out = (height - 1) * (width - 1);
  const Values x = run.values("x", (planes - 1) * height * width, height * width);
  expect_close(run.label(), corner(run.values("y", (planes - 1) * out, out), width - 1, 448, 256),
               corner(reference::max_pool(x, 1, height, width), width - 1, 448, 256), 0);
}

TEST(Level1Full, AveragePool) {
  const SuiteRun run = last_of("level1_44_average_pool", "ceil_div(length + 1, 2048) * batch * channels");
  const size_t length = run.size("length"), rows = run.size("batch * channels");
  const Values y = reference::average_pool(run.values("x", (rows - 1) * length, length), length);
  expect_close(run.label(), run.values("y", rows * (length + 1) - 1, 1), {y.back()}, 2 * ulp);
}

/// The last block of columns of the last batch: rows of 255 elements.
Values last_columns(const SuiteRun& run) {
  const size_t rows = run.size("rows"), columns = run.size("columns");
  Values x;
  for (size_t row = 0; row < rows; ++row)
    for (const double value : run.values("x", (run.size("batch - 1") * rows + row + 1) * columns - 255, 255))
      x.push_back(value);
  return x;
}

TEST(Level1Full, SumRows) {
  const SuiteRun run = last_of("level1_47_sum_rows", "ceil_div(columns, 256) * batch");
  expect_close(run.label(), run.values("y", run.size("batch * columns - 255"), 255),
               reference::sum_rows(last_columns(run), 1, run.size("rows"), 255), 16 * ulp);
}

TEST(Level1Full, ArgmaxRows) {
  const SuiteRun run = last_of("level1_51_argmax_rows", "ceil_div(columns, 256) * batch");
  expect_close(run.label(), run.values("y", run.size("batch * columns - 255"), 255),
               reference::argmax_rows(last_columns(run), 1, run.size("rows"), 255), 0);
}

} // namespace
} // namespace asmevo::suite
