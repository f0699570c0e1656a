#include "emulator/address_space.h"
#include "emulator/float_mode.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <numeric>
#include <thread>

namespace asmevo::emulator {
namespace {

constexpr uint64_t base = 0x7f00'1234'0000;

AddressSpace with_region(uint64_t size, RegionAccess access = RegionAccess::ReadWrite, PageFill fill = {}) {
  AddressSpace m;
  EXPECT_TRUE(m.map({"buffer", base, size, access}, std::move(fill)).has_value());
  return m;
}

template <class T>
T get(const AddressSpace& m, uint64_t address) {
  T value{};
  EXPECT_TRUE(m.guest_read(address, &value, sizeof value)) << std::hex << address;
  return value;
}
template <class T>
bool put(AddressSpace& m, uint64_t address, T value) {
  return m.guest_write(address, &value, sizeof value);
}

uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * 4096;
}

TEST(AddressSpace, StartsAsZerosAndKeepsWhatIsWritten) {
  AddressSpace m = with_region(3 * page_bytes);
  EXPECT_EQ(get<uint64_t>(m, base + 100), 0U);
  EXPECT_TRUE(put<uint32_t>(m, base + 8, 0x12345678));
  EXPECT_EQ(get<uint32_t>(m, base + 8), 0x12345678U);
  EXPECT_EQ(get<uint8_t>(m, base + 9), 0x56);
}

// A wave asks for a page first, with the modes that it has set.
TEST(AddressSpace, FirstContentsDoNotDependOnModes) {
  AddressSpace memory;
  const auto fill = [](uint64_t, std::span<uint8_t> page) {
    volatile float least = 0x1p-126F, third = 1.0F / 3;
    const float values[] = {least / 2, third * 3.0F - 1};
    std::memcpy(page.data(), values, sizeof values);
  };
  ASSERT_TRUE(memory.map({"plain", 0x10000, 4096}, fill));
  ASSERT_TRUE(memory.map({"modes", 0x20000, 4096}, fill));
  std::array<uint8_t, 8> plain{}, modes{};
  ASSERT_TRUE(memory.read(0x10000, plain));
  {
    constexpr uint32_t flushing_up = FloatMode::csr_plain | 0x8040 | 2U << 13;
    const MxcsrScope wave(flushing_up);
    ASSERT_TRUE(memory.read(0x20000, modes));
  }
  EXPECT_EQ(plain, modes);
}

TEST(AddressSpace, AccessesCrossPages) {
  AddressSpace m = with_region(3 * page_bytes);
  const uint64_t at = base + page_bytes - 3;
  EXPECT_TRUE(put<uint64_t>(m, at, 0x0102030405060708));
  EXPECT_EQ(get<uint64_t>(m, at), 0x0102030405060708U);
  EXPECT_EQ(get<uint8_t>(m, base + page_bytes), 0x05);
  EXPECT_EQ(m.readable(at, 8), nullptr);
  EXPECT_NE(m.readable(at, 3), nullptr);
  EXPECT_NE(m.writable(at, 3), nullptr);
}

TEST(AddressSpace, AccessesCrossAdjoiningRegions) {
  AddressSpace m = with_region(page_bytes + 10); // ends in a page, at an odd place
  ASSERT_TRUE(m.map({"next", base + page_bytes + 10, 50}).has_value());
  const uint64_t at = base + page_bytes + 6;
  EXPECT_TRUE(put<uint64_t>(m, at, 0x1122334455667788));
  EXPECT_EQ(get<uint64_t>(m, at), 0x1122334455667788U);
  EXPECT_EQ(get<uint32_t>(m, base + page_bytes + 10), 0x11223344U);
}

TEST(AddressSpace, RefusesBytesOutsideAndCopiesNothing) {
  AddressSpace m = with_region(100);
  EXPECT_TRUE(put<uint32_t>(m, base + 96, 0xaabbccdd));
  uint64_t value = 0x5555555555555555;
  EXPECT_FALSE(m.guest_read(base + 96, &value, 8));
  EXPECT_EQ(value, 0x5555555555555555U);
  EXPECT_FALSE(m.guest_write(base + 96, &value, 8));
  EXPECT_EQ(get<uint32_t>(m, base + 96), 0xaabbccddU);
  EXPECT_FALSE(m.guest_read(base - 1, &value, 1));
  EXPECT_FALSE(m.guest_read(base + 100, &value, 1));
  EXPECT_EQ(m.readable(base + 100, 1), nullptr);
}

TEST(AddressSpace, WrapsNowhere) {
  AddressSpace m = with_region(page_bytes);
  const uint64_t top = ~uint64_t{0} - 2 * page_bytes;
  EXPECT_FALSE(m.map({"wraps", top, 4 * page_bytes}).has_value());
  ASSERT_TRUE(m.map({"top", top, 2 * page_bytes}).has_value());
  ASSERT_TRUE(m.map({"bottom", 0, 64}).has_value());
  EXPECT_TRUE(put<uint32_t>(m, top + 2 * page_bytes - 4, 7));
  uint64_t value = 0;
  EXPECT_FALSE(m.guest_read(top + 2 * page_bytes - 4, &value, 8));
  EXPECT_FALSE(m.guest_read(~uint64_t{0} - 1, &value, 4));
  EXPECT_EQ(m.readable(top, ~uint64_t{0} - 8), nullptr);
}

TEST(AddressSpace, RefusesOverlapsAndEmptyRegions) {
  AddressSpace m = with_region(100);
  EXPECT_FALSE(m.map({"none", 5, 0}).has_value());
  EXPECT_FALSE(m.map({"inside", base + 50, 10}).has_value());
  EXPECT_FALSE(m.map({"over the start", base - 10, 11}).has_value());
  EXPECT_FALSE(m.map({"around", base - 10, 1000}).has_value());
  EXPECT_TRUE(m.map({"before", base - 10, 10}).has_value());
  EXPECT_TRUE(m.map({"after", base + 100, 10}).has_value());
}

TEST(AddressSpace, GuardsAndReadOnlyRegionsAreReadOnlyToTheGuest) {
  AddressSpace m = with_region(16);
  ASSERT_TRUE(m.map({"guard", base + 16, 16, RegionAccess::Guard}).has_value());
  ASSERT_TRUE(m.map({"constant", base + 64, 16, RegionAccess::ReadOnly}).has_value());
  EXPECT_EQ(get<uint64_t>(m, base + 16), 0U);
  EXPECT_FALSE(put<uint32_t>(m, base + 16, 1));
  EXPECT_FALSE(put<uint32_t>(m, base + 14, 1)) << "half in the guard";
  EXPECT_TRUE(m.is_guard(base + 14, 4));
  EXPECT_FALSE(m.is_guard(base + 12, 4));
  EXPECT_FALSE(put<uint32_t>(m, base + 64, 1));
  EXPECT_FALSE(m.is_guard(base + 64, 4));
  EXPECT_EQ(m.writable(base + 64, 4), nullptr);
  EXPECT_EQ(m.write_window(base + 16).bytes, nullptr);
  const std::vector<uint8_t> bytes(16, 9);
  EXPECT_TRUE(m.write(base + 64, bytes).has_value()) << "the host may";
  EXPECT_EQ(get<uint8_t>(m, base + 70), 9);
}

TEST(AddressSpace, ForksShareNothingThatIsWritten) {
  AddressSpace m = with_region(4 * page_bytes);
  put<uint32_t>(m, base, 1);
  AddressSpace a = m.fork(), b = m.fork();
  EXPECT_EQ(get<uint32_t>(a, base), 1U);
  put<uint32_t>(a, base, 2);
  put<uint32_t>(m, base, 3);
  put<uint32_t>(b, base + page_bytes, 4);
  EXPECT_EQ(get<uint32_t>(a, base), 2U);
  EXPECT_EQ(get<uint32_t>(b, base), 1U);
  EXPECT_EQ(get<uint32_t>(m, base), 3U);
  EXPECT_EQ(get<uint32_t>(m, base + page_bytes), 0U);
  AddressSpace c = b.fork();
  b = AddressSpace();
  EXPECT_EQ(get<uint32_t>(c, base + page_bytes), 4U) << "outlives the space it came from";
  EXPECT_EQ(get<uint32_t>(c, base), 1U);
}

TEST(AddressSpace, MovedFromIsEmpty) {
  AddressSpace m = with_region(64);
  put<uint32_t>(m, base, 5);
  AddressSpace moved = std::move(m);
  EXPECT_EQ(get<uint32_t>(moved, base), 5U);
  EXPECT_EQ(m.readable(base, 4), nullptr); // NOLINT: that is the question
  m = with_region(64);
  EXPECT_EQ(get<uint32_t>(m, base), 0U);
  EXPECT_EQ(get<uint32_t>(moved, base), 5U);
}

TEST(AddressSpace, UnmappedIsGone) {
  AddressSpace m = with_region(64);
  put<uint32_t>(m, base, 5);
  m.unmap(base);
  EXPECT_EQ(m.readable(base, 4), nullptr);
  EXPECT_TRUE(m.regions().empty());
}

TEST(AddressSpace, WrittenPagesByAddress) {
  AddressSpace m = with_region(10 * page_bytes + 20);
  EXPECT_TRUE(m.written().empty());
  (void)get<uint32_t>(m, base);
  EXPECT_TRUE(m.written().empty()) << "reading writes nothing";
  put<uint32_t>(m, base + 2 * page_bytes, 1);
  put<uint32_t>(m, base + 3 * page_bytes + 5, 1);
  put<uint32_t>(m, base + 10 * page_bytes + 8, 1);
  const auto ranges = m.written();
  ASSERT_EQ(ranges.size(), 2U);
  EXPECT_EQ(ranges[0].address, base + 2 * page_bytes);
  EXPECT_EQ(ranges[0].size, 2 * page_bytes);
  EXPECT_EQ(ranges[1].address, base + 10 * page_bytes);
  EXPECT_EQ(ranges[1].size, 20U);
  AddressSpace child = m.fork();
  EXPECT_TRUE(child.written().empty());
  put<uint32_t>(child, base, 1);
  EXPECT_EQ(child.written().size(), 1U);
}

TEST(AddressSpace, FillsPagesWhenTheyAreTouched) {
  std::atomic<int> fills = 0;
  AddressSpace m = with_region(20 * page_bytes + 12, RegionAccess::ReadWrite,
                               [&](uint64_t offset, std::span<uint8_t> page) {
                                 ++fills;
                                 for (size_t i = 0; i < page.size(); ++i)
                                   page[i] = static_cast<uint8_t>((offset + i) % 251);
                               });
  EXPECT_EQ(fills, 0);
  EXPECT_EQ(get<uint8_t>(m, base + 5000), 5000 % 251);
  EXPECT_EQ(fills, 1);
  EXPECT_EQ(get<uint8_t>(m, base + 20 * page_bytes + 11), (20 * page_bytes + 11) % 251);
  put<uint8_t>(m, base + 5001, 77);
  AddressSpace child = m.fork();
  EXPECT_EQ(get<uint8_t>(child, base + 5001), 77);
  EXPECT_EQ(get<uint8_t>(child, base + 5002), 5002 % 251);
  EXPECT_EQ(get<uint8_t>(child, base + 9000), 9000 % 251);
  EXPECT_EQ(get<uint8_t>(m, base + 9000), 9000 % 251);
  EXPECT_EQ(fills, 3) << "forks share filled pages";
}

TEST(AddressSpace, ALargeRegionCostsWhatIsTouched) {
  constexpr uint64_t size = uint64_t{15} << 30;
  const uint64_t before = resident_bytes();
  AddressSpace m = with_region(size, RegionAccess::ReadWrite, [](uint64_t offset, std::span<uint8_t> page) {
    std::memcpy(page.data(), &offset, sizeof offset);
  });
  for (uint64_t at = 0; at < size; at += size / 500 / page_bytes * page_bytes)
    EXPECT_EQ(get<uint64_t>(m, base + at), at);
  AddressSpace child = m.fork();
  for (uint64_t at = 0; at < size; at += size / 100 / page_bytes * page_bytes)
    EXPECT_TRUE(put<uint64_t>(child, base + at, ~at));
  EXPECT_EQ(get<uint64_t>(m, base), 0U);
  EXPECT_EQ(get<uint64_t>(child, base), ~uint64_t{0});
  EXPECT_LT(resident_bytes() - before, uint64_t{32} << 20);
}

TEST(AddressSpace, FindFreeLeavesAPageAround) {
  AddressSpace m;
  const uint64_t first = m.find_free(1000);
  EXPECT_EQ(first, m.find_free(1000)) << "deterministic";
  ASSERT_TRUE(m.map({"a", first, 1000}).has_value());
  const uint64_t second = m.find_free(1 << 20, 1 << 21);
  EXPECT_GE(second, first + 1000 + page_bytes);
  EXPECT_EQ(second % (1 << 21), 0U);
  EXPECT_EQ(m.find_free(~uint64_t{0}), 0U);
}

TEST(AddressSpace, DescribesTheNearestRegion) {
  AddressSpace m = with_region(64);
  EXPECT_NE(m.describe(base + 68).find("4 bytes past the end of region 'buffer'"), std::string::npos)
      << m.describe(base + 68);
  EXPECT_NE(m.describe(base - 8).find("8 bytes before region 'buffer'"), std::string::npos);
  EXPECT_NE(m.describe(base + 2).find("byte 2 of region 'buffer'"), std::string::npos);
}

// Threads make the same pages private at the same time and count in them: no increment may be lost in a copy.
TEST(AddressSpace, ThreadsWriteFreshPagesTogether) {
  constexpr unsigned threads = 4, pages = 200, rounds = 8;
  for (int round = 0; round < static_cast<int>(rounds); ++round) {
    const AddressSpace parent = with_region(pages * page_bytes, RegionAccess::ReadWrite,
                                            [](uint64_t offset, std::span<uint8_t> page) {
                                              std::memcpy(page.data() + 8, &offset, sizeof offset);
                                            });
    AddressSpace m = parent.fork();
    {
      std::vector<std::jthread> pool;
      for (unsigned t = 0; t < threads; ++t)
        pool.emplace_back([&] {
          for (uint64_t p = 0; p < pages; ++p) {
            auto* at = reinterpret_cast<uint32_t*>(m.writable(base + p * page_bytes, 4));
            ASSERT_NE(at, nullptr);
            std::atomic_ref<uint32_t>(*at).fetch_add(1);
          }
        });
    }
    for (uint64_t p = 0; p < pages; ++p) {
      EXPECT_EQ(get<uint32_t>(m, base + p * page_bytes), threads);
      EXPECT_EQ(get<uint64_t>(m, base + p * page_bytes + 8), p * page_bytes);
    }
  }
}

// A reader that polls a page sees what another thread writes into its private copy.
TEST(AddressSpace, ReadersFollowAPageThatBecomesPrivate) {
  const AddressSpace parent = with_region(page_bytes);
  AddressSpace m = parent.fork();
  std::jthread reader([&] {
    while (get<uint32_t>(m, base) == 0) std::this_thread::yield();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  put<uint32_t>(m, base, 1);
}

} // namespace
} // namespace asmevo::emulator
