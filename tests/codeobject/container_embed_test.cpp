// Changed objects put back into bundles and fat binaries. Judges: clang's bundler, llvm-readelf, the dynamic
// loader.
#include "codeobject/compressed_bundle.h"
#include "container_fixture.h"

#include <gmock/gmock.h>

namespace asmevo::codeobject {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr size_t small = 1, large = 5000; // words of data: 5000 add over four pages

// Stands in for the HIP runtime: keeps what the program's constructors register. `dump N FILE` writes the
// memory behind the N-th registered bundle up to the first page that is not mapped.
constexpr const char* runtime_source = R"(
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
struct wrapper { unsigned magic, version; const void *binary, *unused; };
static const void* bundles[16];
static int count;
void** __hipRegisterFatBinary(const struct wrapper* w) {
  if (w->magic != 0x48495046) abort();
  bundles[count] = w->binary;
  return (void**)&bundles[count++];
}
void __hipRegisterFunction() {}
void __hipRegisterVar() {}
void __hipUnregisterFatBinary() {}
int __hipPopCallConfiguration() { return 0; }
int hipLaunchKernel() { return 0; }
int main(int argc, char** argv) {
#ifdef LIBRARY
  if (!dlopen("./" LIBRARY, RTLD_NOW)) { puts(dlerror()); return 1; }
#endif
  int n = atoi(argv[1]);
  if (argc != 3 || n >= count) return 2;
  int fd = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0644);
  return write(fd, bundles[n], 1 << 24) <= 0;
}
)";

class ContainerEmbed : public ContainerTest {
 protected:
  /// grown.<gpu>: `kernel` with a lot of data.
  Bytes grown_object(const std::string& gpu, const std::string& kernel = "add") {
    make_object("grown.co", gpu, kernel, large);
    return file("grown.co");
  }

  void make_bundle(const std::string& options = "", const std::string& environment = "") {
    make_object("a.co", "gfx90a");
    make_object("b.co", "gfx942");
    make_object("c.co", "gfx1030");
    bundle("x.hipfb", {"a.co", "b.co", "c.co"}, {"gfx90a", "gfx942", "gfx1030"}, options, environment);
  }

  void expect_middle_replaced(const std::string& name, ByteSpan object) {
    EXPECT_EQ(unbundle(name, "gfx90a"), file("a.co"));
    EXPECT_EQ(unbundle(name, "gfx942"), Bytes(object.begin(), object.end()));
    EXPECT_EQ(unbundle(name, "gfx1030"), file("c.co"));
  }
};

TEST_F(ContainerEmbed, PlainBundleGrowsAndShrinks) {
  for (const char* options : {"", "-bundle-align=4096"}) {
    make_bundle(options);
    const Bytes grown = grown_object("gfx942");
    ASSERT_GT(grown.size(), file("b.co").size() + 16384);
    replace("x.hipfb", 1, grown, "y.hipfb");
    expect_middle_replaced("y.hipfb", grown);
    for (const ContainedObject& object : open("y.hipfb").objects())
      EXPECT_EQ(object.offset % (std::string_view(options).empty() ? 1 : 4096), 0U);
    replace("y.hipfb", 1, file("b.co"), "z.hipfb");
    expect_middle_replaced("z.hipfb", file("b.co"));
    EXPECT_EQ(file("z.hipfb").size(), file("y.hipfb").size()); // the slot stays
  }
}

TEST_F(ContainerEmbed, SameObjectGivesSameBytes) {
  make_bundle();
  for (size_t i = 0; i < 3; ++i) {
    const Container container = open("x.hipfb");
    EXPECT_EQ(*container.replace(i, bytes_of(container.objects()[i])), file("x.hipfb"));
  }
}

TEST_F(ContainerEmbed, CompressedBundleStaysWhatItWas) {
  make_bundle();
  const Bytes plain = file("x.hipfb"), grown = grown_object("gfx942");
  for (const unsigned version : {1U, 2U, 3U})
    for (const CompressionMethod method : {CompressionMethod::Zlib, CompressionMethod::Zstd}) {
      save("c.hipfb", *compress_bundle(plain, version, method));
      replace("c.hipfb", 1, grown, "y.hipfb");
      const auto header = read_compressed_header(file("y.hipfb"));
      EXPECT_EQ(header->version, version);
      EXPECT_EQ(header->method, method);
      expect_middle_replaced("y.hipfb", grown);
    }
}

// Bundles behind the changed one move; what they hold does not change.
TEST_F(ContainerEmbed, RowOfBundles) {
  make_bundle();
  const Bytes plain = file("x.hipfb"), grown = grown_object("gfx942");
  for (const uint64_t alignment : {1U, 4096U}) {
    Bytes row;
    for (const unsigned version : {1U, 2U, 3U}) {
      append(row, plain);
      row.resize(align_up(row.size(), alignment));
      append(row, *compress_bundle(plain, version, CompressionMethod::Zstd));
      row.resize(align_up(row.size(), alignment));
    }
    save("row", row);
    const Container before = open("row");
    for (size_t index = 1; index < before.objects().size(); index += 3) {
      replace("row", index, grown, "out");
      const Container after = open("out");
      ASSERT_EQ(after.objects().size(), before.objects().size());
      for (size_t i = 0; i < before.objects().size(); ++i)
        EXPECT_EQ(bytes_of(after.objects()[i]), i == index ? grown : bytes_of(before.objects()[i]))
            << index << " " << i;
    }
  }
}

TEST_F(ContainerEmbed, OriginByTargetThenKernels) {
  make_bundle();
  make_object("d.co", "gfx942", "sub");
  bundle("other.hipfb", {"d.co"}, {"gfx942"});
  Bytes row = file("x.hipfb");
  append(row, file("other.hipfb"));
  save("row", row);
  const Container container = open("row");
  EXPECT_EQ(*container.find_origin(file("a.co")), 0U);
  EXPECT_EQ(*container.find_origin(file("b.co")), 1U);
  EXPECT_EQ(*container.find_origin(file("d.co")), 3U);
  append(row, file("x.hipfb"));
  save("row", row);
  EXPECT_THAT(open("row").find_origin(file("b.co")).error().message,
              HasSubstr("choose one by its index: index 1 (gfx942, bundle 0 entry 2), index 5 (gfx942"));
  make_object("e.co", "gfx950");
  EXPECT_THAT(container.find_origin(file("e.co")).error().message, HasSubstr("no code object for gfx950"));
}

TEST_F(ContainerEmbed, RefusesWhatTheHostWouldNotLoad) {
  make_bundle();
  const Container container = open("x.hipfb");
  const auto refusal = [&](ByteSpan object) {
    const auto result = container.replace(1, object);
    EXPECT_FALSE(result);
    return result ? "" : result.error().message;
  };
  EXPECT_THAT(refusal(file("a.co")), HasSubstr("for gfx90a, the one it is to replace for gfx942"));
  make_object("d.co", "gfx942", "sub");
  EXPECT_THAT(refusal(file("d.co")), HasSubstr("lacks kernel 'add'"));
  EXPECT_THAT(refusal(as_bytes("no ELF")), HasSubstr("magic"));
  Bytes old_version = file("b.co");
  old_version[8] = 2; // EI_ABIVERSION of code object V4
  EXPECT_THAT(refusal(old_version), HasSubstr("version 2"));
  EXPECT_THAT(container.replace(9, file("b.co")).error().message, HasSubstr("index 9 of 3"));
}

struct Link {
  const char* name;
  const char* compile; // options of the HIP compilation
  const char* command; // links k0.o and k1.o (device code) with runtime.c
  const char* library; // "" for a program
};
void PrintTo(const Link& link, std::ostream* out) {
  *out << link.name;
}

class ContainerEmbedHost : public ContainerEmbed, public testing::WithParamInterface<Link> {
 protected:
  /// `binary()`, with a bundle of two objects from k0.hip (kernel add) and, if `two`, one from k1.hip (kernel
  /// sub).
  void build(bool two) {
    save("runtime.c", as_bytes(runtime_source));
    write_hip_source("k0.hip", "add", small);
    write_hip_source("k1.hip", "sub", small);
    for (int i = 0; i < (two ? 2 : 1); ++i)
      must_run(fmt::format(
          "{}clang-22 -x hip --offload-arch=gfx90a,gfx942 -nogpuinc -nogpulib -O1 {} -c k{}.hip -o k{}.o",
          llvm, GetParam().compile, i, i));
    const std::string objects = two ? "k0.o k1.o" : "k0.o";
    const Link& link = GetParam();
    must_run(fmt::format(fmt::runtime(link.command), objects));
    if (*link.library != 0)
      must_run(fmt::format("gcc -w -rdynamic -DLIBRARY='\"{}\"' runtime.c -o program -ldl", link.library));
  }
  /// LLVM 22's llvm-objdump extracts other bytes of the file for these, from what clang linked too: it looks
  /// for the decompressed offsets in the file.
  bool compressed() const { return std::string_view(GetParam().name) == "compressed"; }
  std::string binary() const { return *GetParam().library != 0 ? GetParam().library : "program"; }

  /// What the running program finds where its wrapper points; then what clang's bundler takes out of that.
  Bytes seen_by_program(int bundle, const std::string& gpu) {
    must_run(fmt::format("./program {} seen", bundle));
    // LLVM 22's bundler takes all there is for the payload; what follows in memory is none of it.
    if (const auto header = read_compressed_header(file("seen")))
      std::filesystem::resize_file(path("seen"), header->size);
    return unbundle("seen", gpu);
  }

  void expect_valid_elf() {
    const Ran ran = run(fmt::format("{}llvm-readelf -lSsr --dyn-syms {}", llvm, path(binary())));
    EXPECT_TRUE(ran.good);
    EXPECT_THAT(ran.output, Not(HasSubstr("warning"))) << ran.output;
    const Ran gnu = run(fmt::format("readelf -lSsrW {}", path(binary())));
    EXPECT_TRUE(gnu.good);
    EXPECT_THAT(gnu.output, Not(HasSubstr("arning"))) << gnu.output;
  }
};

class ContainerEmbedTwo : public ContainerEmbedHost {};

TEST_P(ContainerEmbedHost, OneBundleGrows) {
  build(false);
  const Bytes grown = grown_object("gfx942"), other = bytes_of(open(binary()).objects()[0]);
  EXPECT_NE(seen_by_program(0, "gfx942"), grown);
  for (int round = 0; round < 2; ++round) { // the second time it fits
    replace(binary(), 1, grown, binary());
    expect_valid_elf();
    EXPECT_EQ(seen_by_program(0, "gfx942"), grown);
    EXPECT_EQ(seen_by_program(0, "gfx90a"), other);
  }
  make_object("huge.co", "gfx942", "add", 4 * large); // again out of its place
  replace(binary(), 1, file("huge.co"), binary());
  expect_valid_elf();
  EXPECT_EQ(seen_by_program(0, "gfx942"), file("huge.co"));
  if (!compressed()) {
    EXPECT_EQ(offloading(binary(), "gfx942"), std::vector<Bytes>{file("huge.co")});
  }
}

TEST_P(ContainerEmbedTwo, OneOfTwoBundlesGrows) {
  build(true);
  const Container before = open(binary());
  ASSERT_EQ(before.objects().size(), 4U);
  for (const char* kernel : {"add", "sub"}) {
    const Bytes grown = grown_object("gfx90a", kernel);
    const auto origin = open(binary()).find_origin(grown);
    ASSERT_TRUE(origin) << origin.error().message;
    const int bundle = std::string_view(kernel) == "add" ? 0 : 1; // as registered
    const Bytes sibling = seen_by_program(bundle, "gfx942"), others = seen_by_program(1 - bundle, "gfx90a");
    replace(binary(), *origin, grown, binary());
    expect_valid_elf();
    EXPECT_EQ(seen_by_program(bundle, "gfx90a"), grown);
    EXPECT_EQ(seen_by_program(bundle, "gfx942"), sibling);
    EXPECT_EQ(seen_by_program(1 - bundle, "gfx90a"), others);
    if (!compressed()) {
      EXPECT_THAT(offloading(binary(), "gfx90a"), testing::UnorderedElementsAre(grown, others));
    }
  }
}

constexpr Link shared = {"shared", "-fPIC", "gcc -shared {} -o lib.so", "lib.so"};
constexpr Link lld_relr = {"shared_relr", "-fPIC",
                           "/usr/lib/llvm-22/bin/clang-22 -fuse-ld=lld -shared -Wl,-z,separate-code "
                           "-Wl,-z,pack-relative-relocs {} -o lib.so",
                           "lib.so"};
constexpr Link big_pages = {"shared_big_pages", "-fPIC",
                            "gcc -shared -Wl,-z,max-page-size=0x200000 {} -o lib.so", "lib.so"};
constexpr Link pie = {"pie", "-fPIC", "gcc -w -pie runtime.c {} -o program -ldl", ""};
constexpr Link no_pie = {"no_pie", "-fno-pie", "gcc -w -no-pie -fno-pie runtime.c {} -o program -ldl", ""};
constexpr Link fixed = {"static", "-fno-pie", "gcc -w -static -no-pie -fno-pie runtime.c {} -o program", ""};
constexpr Link static_pie = {"static_pie", "-fPIC", "gcc -w -static-pie runtime.c {} -o program", ""};
constexpr Link in_compressed = {"compressed", "-fPIC --offload-compress", "gcc -shared {} -o lib.so",
                                "lib.so"};

std::string name_of(const testing::TestParamInfo<Link>& link) {
  return link.param.name;
}
INSTANTIATE_TEST_SUITE_P(Links, ContainerEmbedHost,
                         testing::Values(shared, lld_relr, big_pages, pie, no_pie, fixed, static_pie,
                                         in_compressed),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Links, ContainerEmbedTwo, testing::Values(shared, lld_relr, no_pie, in_compressed),
                         name_of);

TEST_F(ContainerEmbed, RelocatableObjectOnlyInPlace) {
  write_hip_source("k.hip", "add", small);
  must_run(
      fmt::format("{}clang-22 -x hip --offload-arch=gfx942 -nogpuinc -nogpulib -O1 -c k.hip -o k.o", llvm));
  const Container container = open("k.o");
  EXPECT_EQ(*container.replace(0, bytes_of(container.objects()[0])), file("k.o"));
  EXPECT_THAT(container.replace(0, grown_object("gfx942")).error().message, HasSubstr("relocatable object"));
}

// The real library: the object is padded so that it no longer fits, the result loaded by the dynamic loader.
TEST_F(ContainerEmbed, LibrocrandGrows) {
  const std::string library = "/usr/lib/x86_64-linux-gnu/librocrand.so.1.1";
  if (!std::filesystem::exists(library)) GTEST_SKIP() << library << " is not installed";
  std::filesystem::copy(library, path("lib.so"));
  const Container before = open("lib.so");
  Bytes grown = bytes_of(before.objects()[6]);
  EXPECT_EQ(*before.replace(6, grown), file("lib.so"));
  grown.resize(grown.size() + 100'000, 0xa5);
  replace("lib.so", 6, grown, "lib.so");
  for (const ContainedObject& object : before.objects())
    EXPECT_EQ(offloading("lib.so", object.target_id),
              std::vector<Bytes>{object.target_id == "gfx90a:xnack-" ? grown : bytes_of(object)});

  save("runtime.c", as_bytes(runtime_source));
  must_run("gcc -w -rdynamic -DLIBRARY='\"lib.so\"' runtime.c -o program -ldl");
  must_run("./program 0 seen");
  // What happens to be mapped behind the library is none of it.
  const Bytes library_bytes = file("lib.so"), all_seen = file("seen");
  const std::string_view text(reinterpret_cast<const char*>(library_bytes.data()), library_bytes.size());
  uint64_t end = 0;
  const Container after = open("lib.so");
  for (const ContainedObject& object : after.objects()) end = std::max(end, object.offset + object.size);
  const size_t start = text.find("__CLANG_OFFLOAD_BUNDLE__");
  ASSERT_GE(all_seen.size(), end - start);
  save("seen", ByteSpan(all_seen).first(end - start));
  const auto seen = Container::open(path("seen"));
  ASSERT_TRUE(seen) << seen.error().message;
  EXPECT_EQ(bytes_of(seen->objects()[6]), grown);
}

} // namespace
} // namespace asmevo::codeobject
