// Damaged and hostile containers: one line, BadInput, naming the file; never a crash or memory on a claim's
// word.
#include "codeobject/compressed_bundle.h"
#include "codeobject/host_elf.h"
#include "codeobject/offload_bundle.h"
#include "container_fixture.h"

#include <gmock/gmock.h>

#include <elf.h>
#include <sys/resource.h>

namespace asmevo::codeobject {
namespace {

using testing::HasSubstr;

class ContainerBadInput : public ContainerTest {
 protected:
  static std::string refusal(Bytes bytes, ErrorKind kind = ErrorKind::BadInput) {
    const auto container = Container::parse(std::move(bytes), "file.x");
    if (container) return "accepted";
    EXPECT_EQ(container.error().kind, kind) << container.error().message;
    EXPECT_THAT(container.error().message, testing::StartsWith("file.x: "));
    EXPECT_EQ(container.error().message.find('\n'), std::string::npos);
    return container.error().message;
  }

  /// Every 64th length below the file's; `last` is where nothing of value is left to lose.
  static void expect_all_cuts_refused(const Bytes& bytes, uint64_t last) {
    ASSERT_GT(last, 1024U);
    for (uint64_t size = 0; size < last; size += 64)
      EXPECT_NE(refusal(Bytes(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size))), "accepted")
          << size;
  }

  Bytes small_bundle(const std::string& options = "") {
    make_object("a.co", "gfx90a");
    make_object("b.co", "gfx942");
    bundle("x.hipfb", {"a.co", "b.co"}, {"gfx90a", "gfx942"}, options);
    return file("x.hipfb");
  }

  Bytes fat_library() {
    write_hip_source("k.hip", "add", 1);
    must_run(fmt::format(
        "{}clang-22 -x hip --offload-arch=gfx942 -nogpuinc -nogpulib -O1 -fPIC -c k.hip -o k.o", llvm));
    must_run("gcc -shared k.o -o lib.so");
    return file("lib.so");
  }
};

uint64_t peak_kilobytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss);
}

TEST_F(ContainerBadInput, EmptyFile) {
  EXPECT_THAT(refusal({}), HasSubstr("empty"));
  save("empty", Bytes{});
  const auto opened = Container::open(path("empty"));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, ErrorKind::BadInput);
  EXPECT_EQ(opened.error().message, path("empty") + ": the file is empty");
  EXPECT_EQ(Container::open(path("missing")).error().kind, ErrorKind::BadInput);
}

TEST_F(ContainerBadInput, WrongMagic) {
  Bytes bytes(4096, 'x');
  EXPECT_THAT(refusal(bytes), HasSubstr("magic at offset 0x0"));
  Bytes elf = small_bundle();
  elf[0] = 'X';
  EXPECT_THAT(refusal(elf), HasSubstr("magic at offset 0x0"));
}

TEST_F(ContainerBadInput, TruncatedBundle) {
  const Bytes bytes = small_bundle();
  expect_all_cuts_refused(bytes, bytes.size());
}

TEST_F(ContainerBadInput, TruncatedCompressedBundles) {
  const Bytes plain = small_bundle();
  for (const unsigned version : {1U, 2U, 3U})
    for (const CompressionMethod method : {CompressionMethod::Zlib, CompressionMethod::Zstd}) {
      const Bytes bytes = *compress_bundle(plain, version, method);
      expect_all_cuts_refused(bytes, bytes.size());
    }
}

// The section header table is at the end, so no cut is complete.
TEST_F(ContainerBadInput, TruncatedFatLibrary) {
  const Bytes bytes = fat_library();
  expect_all_cuts_refused(bytes, bytes.size());
}

TEST_F(ContainerBadInput, BundleEntryPastTheEnd) {
  const Bytes good = small_bundle();
  const auto layout = read_offload_bundle(good);
  ASSERT_TRUE(layout);
  const uint64_t header = layout->entries[1].header;
  for (const uint64_t offset : {good.size() - 8, good.size(), UINT64_MAX, UINT64_MAX - 4095}) {
    Bytes bytes = good;
    store(std::span(bytes), header, uint64_t{offset});
    EXPECT_THAT(refusal(bytes), HasSubstr(fmt::format("entry 1 at offset {:#x}", offset)));
  }
  for (const uint64_t size : {uint64_t{1} << 32, UINT64_MAX}) {
    Bytes bytes = good;
    store(std::span(bytes), header + 8, uint64_t{size});
    EXPECT_THAT(refusal(bytes), HasSubstr("runs past the end"));
    bytes = good;
    store(std::span(bytes), header + 16, uint64_t{size});
    EXPECT_THAT(refusal(bytes), HasSubstr("id of entry 1"));
    bytes = good;
    store(std::span(bytes), 24, uint64_t{size});
    EXPECT_THAT(refusal(bytes), HasSubstr("entries claimed at offset 0x18"));
  }
  Bytes overlap = good;
  store(std::span(overlap), header, layout->entries[2].offset);
  EXPECT_THAT(refusal(overlap), HasSubstr("another entry"));
}

TEST_F(ContainerBadInput, FourGigabytesClaimed) {
  const Bytes plain = small_bundle();
  for (const unsigned version : {1U, 2U, 3U}) {
    Bytes bytes = *compress_bundle(plain, version, CompressionMethod::Zstd);
    const uint64_t at = version == 1 ? 8 : version == 2 ? 12 : 16;
    store(std::span(bytes), at, uint32_t{0xffffffff});
    EXPECT_THAT(refusal(bytes), HasSubstr("4294967295 bytes claimed"));
    // Within what could be: memory follows the stream, which ends early.
    store(std::span(bytes), at, uint32_t{16U << 20});
    EXPECT_THAT(refusal(bytes),
                HasSubstr(fmt::format("holds {} bytes where its header claims 16777216", plain.size())));
    store(std::span(bytes), at, uint32_t{100});
    EXPECT_THAT(refusal(bytes), HasSubstr("more than the 100 bytes"));
  }
  Bytes bytes = *compress_bundle(plain, 3, CompressionMethod::Zstd);
  store(std::span(bytes), 16, uint64_t{1} << 62);
  EXPECT_THAT(refusal(bytes), HasSubstr("claimed from a payload"));
  store(std::span(bytes), 8, uint64_t{1} << 32);
  EXPECT_THAT(refusal(bytes), HasSubstr("4294967296 bytes claimed at offset 0x8"));
}

// 512 MiB of zeros in 512 zstd frames: refused by the claim, or where that is small, as soon as it is passed.
TEST_F(ContainerBadInput, DecompressionBomb) {
  constexpr uint64_t step = uint64_t{1} << 20, steps = 512, header = 32;
  const Bytes one = *compress_bundle(Bytes(step), 3, CompressionMethod::Zstd);
  Bytes bomb = one;
  for (uint64_t i = 1; i < steps; ++i) append(bomb, ByteSpan(one).subspan(header));
  ASSERT_LT(bomb.size(), 100'000U);
  store(std::span(bomb), 8, uint64_t{bomb.size()});
  for (const uint64_t claim : {step, 20 * step, steps * step}) {
    store(std::span(bomb), 16, uint64_t{claim});
    const uint64_t before = peak_kilobytes();
    EXPECT_THAT(refusal(bomb), HasSubstr(claim == steps * step ? "claimed from a payload" : "more than the"));
    EXPECT_LT(peak_kilobytes() - before, 100'000U);
  }
  // Nothing but the bounds refuses it: a whole payload of frames is read.
  Bytes two = one;
  append(two, ByteSpan(one).subspan(header));
  store(std::span(two), 8, uint64_t{two.size()});
  store(std::span(two), 16, uint64_t{2 * step});
  EXPECT_THAT(refusal(two), HasSubstr("hash"));
}

TEST_F(ContainerBadInput, CompressedDamage) {
  const Bytes good = *compress_bundle(small_bundle(), 3, CompressionMethod::Zstd);
  const auto with = [&](uint64_t at, uint16_t value) {
    Bytes bytes = good;
    store(std::span(bytes), at, value);
    return refusal(bytes);
  };
  EXPECT_THAT(with(4, 4), HasSubstr("version 4 at offset 0x4"));
  EXPECT_THAT(with(4, 0), HasSubstr("version 0 at offset 0x4"));
  EXPECT_THAT(with(6, 2), HasSubstr("method 2 at offset 0x6"));
  EXPECT_THAT(with(24, static_cast<uint16_t>(*load<uint16_t>(good, 24) + 1)), HasSubstr("hash"));
  EXPECT_THAT(with(32, 0), HasSubstr("broken zstd stream near offset 0x20"));
  Bytes longer = good; // the header's size counts more than the stream
  longer.resize(good.size() + 100);
  store(std::span(longer), 8, uint64_t{longer.size()});
  EXPECT_THAT(refusal(longer), HasSubstr("stream ends at offset"));
  const Bytes no_bundle(100, 'x');
  EXPECT_THAT(refusal(*compress_bundle(no_bundle, 3, CompressionMethod::Zstd)), HasSubstr("magic"));
}

TEST_F(ContainerBadInput, RestOfACutBundleIsNotPassedOver) {
  Bytes bytes = small_bundle();
  bytes.resize(align_up(bytes.size(), 4096));
  const uint64_t second = bytes.size();
  append(bytes, as_bytes("__CLANG_OFFLOAD_BUN"));
  EXPECT_THAT(refusal(bytes), HasSubstr(fmt::format("offset {:#x}: neither an offload bundle", second)));
}

TEST_F(ContainerBadInput, HostElf) {
  const Bytes good = fat_library();
  const auto header = *load<Elf64_Ehdr>(good, 0);
  const auto with_header = [&](auto change) {
    Bytes bytes = good;
    Elf64_Ehdr changed = header;
    change(changed);
    store(std::span(bytes), 0, changed);
    return refusal(bytes);
  };
  EXPECT_THAT(with_header([](auto& h) { h.e_ident[EI_CLASS] = ELFCLASS32; }),
              HasSubstr("not 64-bit little-endian"));
  EXPECT_THAT(with_header([](auto& h) { h.e_shoff = UINT64_MAX - 8; }), HasSubstr("section header table"));
  EXPECT_THAT(with_header([](auto& h) { h.e_phoff = 1ULL << 40; }), HasSubstr("program header table"));
  EXPECT_THAT(with_header([](auto& h) { h.e_shstrndx = 999; }), HasSubstr("name table 999"));
  EXPECT_THAT(with_header([](auto& h) { h.e_shentsize = 8; }), HasSubstr("section header size 8"));

  const uint64_t section = header.e_shoff + find_fatbins(good)->front().index * sizeof(Elf64_Shdr);
  const auto with_section = [&](auto change) {
    Bytes bytes = good;
    auto changed = *load<Elf64_Shdr>(bytes, section);
    change(changed);
    store(std::span(bytes), section, changed);
    return refusal(bytes);
  };
  EXPECT_THAT(with_section([](auto& s) { s.sh_size = 1ULL << 32; }), HasSubstr("runs past the end"));
  EXPECT_THAT(with_section([](auto& s) { s.sh_offset = UINT64_MAX; }), HasSubstr("runs past the end"));
  EXPECT_THAT(with_section([](auto& s) { s.sh_type = SHT_NOBITS; }), HasSubstr("no contents"));
  EXPECT_THAT(with_section([](auto& s) { s.sh_size = 0; }), HasSubstr("holds no offload bundle"));
  EXPECT_THAT(with_section([](auto& s) { s.sh_name = 0; }), HasSubstr("without a .hip_fatbin"));
}

} // namespace
} // namespace asmevo::codeobject
