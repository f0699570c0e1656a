// Where buffers lie on the emulator.
#include "device/emulated_device.h"
#include "oracle/launch_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace asmevo::oracle::testing {
namespace {

std::vector<uint64_t> addresses(uint64_t seed) {
  std::string text;
  for (const char* name : {"x", "y"})
    text += fmt::format(
        "[[buffer]]\nname = \"{}\"\ndtype = \"f32\"\nshape = 1000\nrole = \"in\"\ninit = \"zeros\"\n", name);
  auto spec = LaunchSpec::parse(text + "[[step]]\ngrid = 1\nworkgroup = 1\n", "launch.toml");
  EXPECT_TRUE(spec) << spec.error().message;
  const auto plan = LaunchPlan::make(*std::move(spec), "", seed);
  const auto device = device::EmulatedDevice::create(*isa::Target::from_id("gfx942"));
  const auto memory = LaunchMemory::create(*plan, **device);
  return {(*memory)->address(0), (*memory)->address(1)};
}

constexpr uint64_t bytes = 4000, four_gib = uint64_t{1} << 32;

TEST(LaunchMemory, LiesAcrossAMultipleOf4GibWithEvenSeeds) {
  for (const uint64_t seed : {0, 2, 1'000'000})
    for (const uint64_t address : addresses(seed))
      EXPECT_NE(address / four_gib, (address + bytes - 1) / four_gib) << seed;
}

// Code that takes an address for a mask, or has only half of one, must not be lucky every time.
TEST(LaunchMemory, HasOtherAddressBitsWithOtherSeeds) {
  uint64_t ones = 0, zeros = 0;
  std::set<uint64_t> seen;
  for (uint64_t seed = 1; seed < 41; seed += 2)
    for (const uint64_t address : addresses(seed)) {
      ones |= address, zeros |= ~address;
      EXPECT_EQ(address % 256, 0U);
      seen.insert(address % four_gib);
    }
  EXPECT_EQ(seen.size(), 40U);
  EXPECT_EQ(ones & zeros & 0xffffff00U, 0xffffff00U);
  EXPECT_EQ(addresses(7), addresses(7));
}

} // namespace
} // namespace asmevo::oracle::testing
