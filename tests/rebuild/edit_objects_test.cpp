// Insertions at many places of real objects, checked on the bytes that come out.
#include "base/parallel.h"
#include "codeobject/abi_diff.h"
#include "codeobject/container.h"
#include "codeobject/samples.h"
#include "rebuild/moved_code.h"

#include <mutex>

namespace asmevo::rebuild {
namespace {

using namespace testing;

std::unique_ptr<isa::Codec> codec_for(const isa::Target& target) {
  return isa::Codec::create(target).value();
}

// Takes one object through `rounds` edits of each of its functions (at most `functions` of them).
void edit_object(Bytes bytes, isa::Codec& codec, const std::string& name, size_t nops, size_t functions) {
  const auto k0 = Original::open(std::move(bytes), codec);
  ASSERT_TRUE(k0) << name << ": " << k0.error().message;
  ASSERT_TRUE(k0->recovery.gaps.empty()) << name << ": " << k0->recovery.gaps.front().reason;
  RandomStream random(1);
  size_t done = 0;
  for (const program::Function& f : k0->program().functions) {
    if (done++ == functions) break;
    const program::Edit edit = nops_at_random(k0->program(), f, nops, random);
    const auto built = apply_edit(*k0, k0->program(), edit, 1, codec);
    ASSERT_TRUE(built) << name << " " << f.name << ": " << built.error().message;
    ASSERT_EQ(built->route, BuiltBy::Direct);
    const auto now = Original::open(built->object, codec);
    ASSERT_TRUE(now) << name << ": " << now.error().message;
    // Filler that alignment replaced is no longer entry by entry the same; the check skips what is not there.
    expect_moved_right(*k0, *now, built->program, name);
    const codeobject::AbiDiff abi = codeobject::abi_diff(k0->object, now->object);
    ASSERT_TRUE(abi.compatible()) << name << ": " << abi.differences.front().field;
  }
}

TEST(EditObjects, ClangMadeObjectsOfAllTargetsVersionsAndLevels) {
  for (const char* gpu : {"gfx90a", "gfx942", "gfx950"})
    for (const int version : {4, 5, 6})
      for (const int level : {0, 1, 3}) {
        Bytes bytes = samples::compile(gpu, version, level);
        const auto object = codeobject::CodeObject::parse(bytes);
        ASSERT_TRUE(object);
        const auto codec = codec_for(object->target());
        edit_object(std::move(bytes), *codec, fmt::format("{} V{} O{}", gpu, version, level), 12, 100);
      }
}

TEST(EditObjects, Librocrand) {
  const auto container = codeobject::Container::open("/usr/lib/x86_64-linux-gnu/librocrand.so.1.1");
  ASSERT_TRUE(container) << container.error().message;
  size_t objects = 0;
  for (const auto& contained : container->objects()) {
    const auto target = isa::Target::from_id(contained.target_id);
    if (!target) continue;
    const auto codec = codec_for(*target);
    edit_object(contained.read().value(), *codec, contained.path_in_container, 40, 3);
    ++objects;
  }
  EXPECT_GT(objects, 0U);
}

TEST(EditObjects, Aiter) {
  const auto files = samples::aiter_objects();
  if (files.empty()) GTEST_SKIP() << "ASMEVO_AITER_DIR is not set";
  std::vector<std::unique_ptr<isa::Codec>> codecs(2 * default_threads());
  parallel_for(files.size(), 0, [&](size_t k, unsigned worker) {
    if (::testing::Test::HasFatalFailure()) return;
    Bytes bytes = samples::read(files[k]);
    const bool gfx950 = files[k].string().find("gfx950") != std::string::npos;
    auto& codec = codecs[2 * worker + (gfx950 ? 1 : 0)];
    if (!codec) codec = codec_for(isa::Target::from_id(gfx950 ? "gfx950" : "gfx942").value());
    if (codec->pool_size() > 60'000) codec->renew_pool();
    edit_object(std::move(bytes), *codec, files[k].string(), 200, 1);
  });
}

} // namespace
} // namespace asmevo::rebuild
