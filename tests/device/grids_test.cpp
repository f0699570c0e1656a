// Where work-items are: grids of one to three directions, partial workgroups, more than 2^32 work-items.
#include "device/kernel_runner.h"

#include <array>

namespace asmevo::test {
namespace {

class Grids : public SampleTest {};
ON_ALL_TARGETS(Grids);

TEST_P(Grids, TransposeIn3D) {
  run_everywhere("grids", [](KernelRunner& runner, Results& results) {
    constexpr uint32_t width = 13, height = 10, depth = 3;
    const auto in = random_reals<float>(width * height * depth);
    const auto out = runner.empty<float>(in.size());
    if (!runner.launch("transpose", {{16, 16, depth}, {8, 8, 1}}, runner.buffer(in), out, width, height,
                       depth))
      return;
    const auto got = runner.read(out);
    for (size_t z = 0; z < depth; ++z)
      for (size_t y = 0; y < height; ++y)
        for (size_t x = 0; x < width; ++x)
          EXPECT_EQ(got[(x * depth + z) * height + y], in[(z * height + y) * width + x]);
    results.add(got);
  });
}

using Three = std::array<uint32_t, 3>;
struct Position {
  Three lane, group, size, grid;
};

TEST_P(Grids, EveryWorkItemKnowsItsPlace) {
  run_everywhere("grids", [](KernelRunner& runner, Results& results) {
    const std::pair<Three, Three> shapes[] = {{{12, 1, 1}, {5, 1, 1}},
                                              {{7, 6, 1}, {4, 4, 1}},
                                              {{9, 5, 7}, {4, 2, 3}},
                                              {{2, 3, 130}, {1, 1, 128}},
                                              {{130, 9, 2}, {64, 8, 2}}};
    for (const auto& [grid, group] : shapes) {
      const auto out = runner.empty<Position>(grid[0] * grid[1] * grid[2]);
      const device::LaunchShape shape{{grid[0], grid[1], grid[2]}, group};
      if (!runner.launch("positions", shape, out, grid[0], grid[1])) return;
      const auto got = runner.read(out);
      for (uint32_t i = 0; i < got.size(); ++i) {
        const Three at = {i % grid[0], i / grid[0] % grid[1], i / (grid[0] * grid[1])};
        for (size_t d = 0; d < 3; ++d) {
          EXPECT_EQ(got[i].group[d] * group[d] + got[i].lane[d], at[d]);
          EXPECT_LT(got[i].lane[d], group[d]);
          EXPECT_EQ(got[i].size[d], group[d]); // of a full one, also in those that are not
          EXPECT_EQ(got[i].grid[d], grid[d]);
        }
      }
      results.add(got);
    }
  });
}

TEST_P(Grids, StencilWithPartialWorkgroups) {
  run_everywhere("grids", [](KernelRunner& runner, Results& results) {
    constexpr int width = 37, height = 11;
    const auto in = random_reals<double>(width * height);
    const auto out = runner.empty<double>(in.size());
    if (!runner.launch("stencil", {{width, height, 1}, {16, 4, 1}}, runner.buffer(in), out, width, height))
      return;
    const auto got = runner.read(out);
    auto at = [&](int x, int y) {
      return x < 0 || y < 0 || x >= width || y >= height ? 0 : in[static_cast<size_t>(y * width + x)];
    };
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        EXPECT_NEAR(got[static_cast<size_t>(y * width + x)],
                    0.5 * at(x, y) + 0.125 * (at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1)),
                    1e-15);
    results.add(got);
  });
}

TEST_P(Grids, GridStride) {
  run_everywhere("grids", [](KernelRunner& runner, Results& results) {
    const auto in = random_reals<float>(1013);
    const auto out = runner.empty<float>(in.size());
    if (!runner.launch("grid_stride", line(192, 64), runner.buffer(in), out, uint64_t{in.size()})) return;
    const auto got = runner.read(out);
    for (size_t i = 0; i < in.size(); ++i) EXPECT_NEAR(got[i], double{in[i]} * in[i] + 1, 3e-7);
    results.add(got);
  });
}

/// 2^32 - 64 work-items in x, 3 in y and 5 in z: only a few workgroups are run.
TEST_P(Grids, MoreThan32Bits) {
  run_everywhere("grids", [](KernelRunner& runner, Results& results) {
    constexpr uint64_t width = (uint64_t{1} << 32) - 64, groups_x = width / 64, groups = groups_x * 3 * 5;
    const std::vector<uint64_t> watched = {0, 1, groups_x - 1, groups_x, groups_x * 7 + 12345, groups - 1};
    runner.device().options().workgroups = watched;
    const auto out = runner.empty<uint64_t>(watched.size() * 64);
    if (!runner.launch("huge", {{width, 3, 5}, {64, 1, 1}}, out, runner.buffer(watched),
                       static_cast<uint32_t>(watched.size()), static_cast<uint32_t>(groups_x), uint32_t{3}))
      return;
    const auto got = runner.read(out);
    for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], watched[i / 64] * 64 + i % 64);
    results.add(got);
  });
}

} // namespace
} // namespace asmevo::test
