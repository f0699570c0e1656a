// What the reader finds, against what clang's bundler was given or takes out itself.
#include "codeobject/compressed_bundle.h"
#include "codeobject/object_identity.h"
#include "container_fixture.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace asmevo::codeobject {
namespace {

using testing::HasSubstr;

const std::vector<std::string> three_gpus = {"gfx90a:xnack-", "gfx942", "gfx1030"};

class ContainerRead : public ContainerTest {
 protected:
  void make_three() {
    for (size_t i = 0; i < three_gpus.size(); ++i) make_object(objects_[i], three_gpus[i]);
  }
  void expect_three(const Container& container) {
    ASSERT_EQ(container.objects().size(), 3U);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(container.objects()[i].target_id, three_gpus[i]);
      EXPECT_EQ(container.objects()[i].entry, i + 1);
      EXPECT_EQ(bytes_of(container.objects()[i]), file(objects_[i]));
      EXPECT_EQ(*container.objects()[i].kernels(), std::vector<std::string>{"add"});
    }
  }
  const std::vector<std::string> objects_ = {"a.co", "b.co", "c.co"};
};

TEST_F(ContainerRead, RawCodeObject) {
  make_object("a.co", "gfx942:sramecc+:xnack-");
  const Container container = open("a.co");
  EXPECT_EQ(container.kind(), ContainerKind::CodeObject);
  ASSERT_EQ(container.objects().size(), 1U);
  EXPECT_EQ(container.objects()[0].target_id, "gfx942:sramecc+:xnack-");
  EXPECT_EQ(bytes_of(container.objects()[0]), file("a.co"));
}

TEST_F(ContainerRead, PlainBundle) {
  make_three();
  for (const char* options : {"", "-bundle-align=4096"}) {
    bundle("x.hipfb", objects_, three_gpus, options);
    const Container container = open("x.hipfb");
    EXPECT_EQ(container.kind(), ContainerKind::Bundle);
    expect_three(container);
  }
}

TEST_F(ContainerRead, CompressedBundleVersions) {
  make_three();
  for (const unsigned version : {2U, 3U}) {
    bundle("x.hipfb", objects_, three_gpus, "-compress",
           fmt::format("COMPRESSED_BUNDLE_FORMAT_VERSION={}", version));
    const auto header = read_compressed_header(file("x.hipfb"));
    ASSERT_TRUE(header);
    EXPECT_EQ(header->version, version);
    EXPECT_EQ(header->method, CompressionMethod::Zstd);
    EXPECT_EQ(header->size, file("x.hipfb").size());
    const Container container = open("x.hipfb");
    EXPECT_EQ(container.kind(), ContainerKind::CompressedBundle);
    expect_three(container);
  }
}

// What this program compresses, clang's bundler reads: every version and method.
TEST_F(ContainerRead, CompressedByUsReadByClang) {
  make_three();
  bundle("x.hipfb", objects_, three_gpus);
  for (const unsigned version : {1U, 2U, 3U})
    for (const CompressionMethod method : {CompressionMethod::Zlib, CompressionMethod::Zstd}) {
      const auto compressed = compress_bundle(file("x.hipfb"), version, method);
      ASSERT_TRUE(compressed);
      save("y.hipfb", *compressed);
      for (size_t i = 0; i < 3; ++i)
        EXPECT_EQ(unbundle("y.hipfb", three_gpus[i]), file(objects_[i])) << version;
      expect_three(open("y.hipfb"));
    }
}

// Several bundles one after another, plain and compressed, with and without padding. The compressed magic
// stands inside a plain payload, and inside a compressed one: zstd's skippable frames may hold anything.
TEST_F(ContainerRead, MixedBundlesWithMagicInPayload) {
  make_three();
  Bytes tricky = file("b.co");
  append(tricky, as_bytes("CCOB"));
  append(tricky, as_bytes("__CLANG_OFFLOAD_BUNDLE__"));
  save("b.co", tricky);
  bundle("plain", objects_, three_gpus);
  const Bytes plain = file("plain");
  Bytes all;
  for (const unsigned version : {1U, 2U, 3U}) {
    append(all, plain);
    all.resize(align_up(all.size(), 4096));
    Bytes compressed = *compress_bundle(plain, version, CompressionMethod::Zstd);
    append(compressed, uint32_t{0x184d2a50}); // skippable frame
    append(compressed, uint32_t{28});
    append(compressed, as_bytes("CCOB"));
    append(compressed, as_bytes("__CLANG_OFFLOAD_BUNDLE__"));
    if (version == 2) store(std::span(compressed), 8, static_cast<uint32_t>(compressed.size()));
    if (version == 3) store(std::span(compressed), 8, uint64_t{compressed.size()});
    append(all, compressed);
    append(all, *compress_bundle(plain, version, CompressionMethod::Zlib));
  }
  save("all", all);
  const Container container = open("all");
  ASSERT_EQ(container.objects().size(), 27U);
  for (size_t i = 0; i < 27; ++i) {
    EXPECT_EQ(container.objects()[i].bundle, i / 3);
    EXPECT_EQ(bytes_of(container.objects()[i]), file(objects_[i % 3]));
  }
}

TEST_F(ContainerRead, HostObjectOfClang) {
  write_hip_source("k.hip", "add", 1);
  must_run(fmt::format(
      "{}clang-22 -x hip --offload-arch=gfx942,gfx1030 -nogpuinc -nogpulib -fPIC -c k.hip -o k.o", llvm));
  must_run(fmt::format("{}llvm-objcopy --dump-section .hip_fatbin=section k.o", llvm));
  const Container container = open("k.o");
  EXPECT_EQ(container.kind(), ContainerKind::HostElf);
  ASSERT_EQ(container.objects().size(), 2U);
  for (const ContainedObject& object : container.objects())
    EXPECT_EQ(bytes_of(object), unbundle("section", object.target_id));
}

TEST_F(ContainerRead, TritonEntry) {
  make_object("a.co", "gfx942");
  std::filesystem::create_directories(folder_ / "entry");
  EXPECT_THAT(Container::open(path("entry")).error().message, HasSubstr("no Triton cache entry"));
  std::filesystem::copy(path("a.co"), path("entry/add.hsaco"));
  save("entry/add.json", as_bytes("{}"));
  const Container container = open("entry");
  EXPECT_EQ(container.kind(), ContainerKind::TritonEntry);
  EXPECT_EQ(container.name(), path("entry/add.hsaco"));
  ASSERT_EQ(container.objects().size(), 1U);
  EXPECT_EQ(container.objects()[0].target_id, "gfx942");
  std::filesystem::copy(path("a.co"), path("entry/sub.hsaco"));
  EXPECT_THAT(Container::open(path("entry")).error().message, HasSubstr("'add.hsaco' and 'sub.hsaco'"));
}

TEST_F(ContainerRead, FindByTarget) {
  for (const char* name : {"a.co", "b.co"})
    make_object(name, name[0] == 'a' ? "gfx90a:xnack+" : "gfx90a:xnack-");
  make_object("c.co", "gfx942");
  bundle("x.hipfb", objects_, {"gfx90a:xnack+", "gfx90a:xnack-", "gfx942"});
  const Container container = open("x.hipfb");
  EXPECT_EQ((*container.find("gfx90a:xnack-"))->entry, 2U);
  EXPECT_EQ((*container.find("gfx90a:sramecc+:xnack-"))->entry, 2U); // runs on it
  EXPECT_EQ((*container.find("gfx942:xnack-"))->entry, 3U);
  EXPECT_THAT(container.find("gfx90a").error().message,
              HasSubstr("2 code objects for gfx90a: index 0 (gfx90a:xnack+"));
  EXPECT_THAT(container.find("gfx950").error().message,
              HasSubstr("there are: gfx90a:xnack+, gfx90a:xnack-, gfx942"));
}

// Debian's library: one bundle, seven targets, as llvm-objdump finds them.
TEST_F(ContainerRead, Librocrand) {
  const std::string library = "/usr/lib/x86_64-linux-gnu/librocrand.so.1.1";
  if (!std::filesystem::exists(library)) GTEST_SKIP() << library << " is not installed";
  const auto container = Container::open(library);
  ASSERT_TRUE(container) << container.error().message;
  std::filesystem::copy(library, path("lib.so"));
  ASSERT_EQ(container->objects().size(), 7U);
  for (const ContainedObject& object : container->objects()) {
    EXPECT_EQ(offloading("lib.so", object.target_id), std::vector<Bytes>{bytes_of(object)})
        << object.target_id;
    EXPECT_EQ(object.kernels()->size(), 80U);
  }
}

TEST(EntryId, Target) {
  EXPECT_EQ(target_of_entry("hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"), "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(target_of_entry("hip-amdgcn-amd-amdhsa--gfx9-4-generic"), "gfx9-4-generic");
  EXPECT_EQ(target_of_entry("hip-amdgcn-amd-amdhsa-gfx90a:xnack-"), "gfx90a:xnack-");
  EXPECT_EQ(target_of_entry("hip-amdgcn-amd-amdhsa-gfx9-4-generic"), "gfx9-4-generic");
  EXPECT_EQ(target_of_entry("hip-spirv64-amd-amdhsa--amdgcnspirv"), "amdgcnspirv");
  EXPECT_EQ(target_of_entry(""), "");
  EXPECT_FALSE(device_entry("host-x86_64-unknown-linux-gnu-"));
  EXPECT_TRUE(device_entry("hip-amdgcn-amd-amdhsa--gfx942"));
}

} // namespace
} // namespace asmevo::codeobject
