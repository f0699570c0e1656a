// What is found in a folder: objects with their launch files, Triton's cache, several kernels in one object,
// what cannot be read, and what is left alone.
#include "base/files.h"
#include "search/batch_input.h"

#include <gmock/gmock.h>

#include <unistd.h>

namespace asmevo::search {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const fs::path kernels = ASMEVO_BINARY_DIR "/kernels";

class Folder {
 public:
  Folder() {
    static int count = 0;
    path_ = fs::temp_directory_path() / fmt::format("asmevo_batch_{}_{}", ::getpid(), count++);
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;

  void copy(const fs::path& from, const std::string& to) const {
    fs::create_directories((path_ / to).parent_path());
    fs::copy_file(from, path_ / to);
  }
  void write(const std::string& to, std::string_view text) const {
    fs::create_directories((path_ / to).parent_path());
    EXPECT_TRUE(write_file(path_ / to, text));
  }
  std::vector<BatchInput> find(const BatchSelection& selection = {}) const {
    auto found = find_batch_inputs(path_, selection);
    EXPECT_TRUE(found) << found.error().message;
    return found ? *std::move(found) : std::vector<BatchInput>();
  }
  std::string refused(const BatchSelection& selection = {}) const {
    const auto found = find_batch_inputs(path_, selection);
    EXPECT_FALSE(found);
    return found ? "" : found.error().message;
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::vector<std::string> names(const std::vector<BatchInput>& inputs) {
  std::vector<std::string> list;
  for (const BatchInput& i : inputs) list.push_back(i.name());
  return list;
}

TEST(BatchInput, TakesTheLaunchFileBeside) {
  const Folder folder;
  const fs::path relu = kernels / "mi300a/relu.gfx942.co";
  folder.copy(relu, "a/relu.gfx942.co");
  folder.write("a/relu.gfx942.toml", "version = 1");
  folder.write("a/relu.toml", "version = 2");
  folder.copy(relu, "b/relu.gfx942.co");
  folder.write("b/relu.toml", "version = 3");
  folder.write("b/launch.toml", "version = 4");
  folder.copy(relu, "c/other.co");
  folder.write("c/launch.toml", "version = 5");
  folder.copy(relu, "d/relu.gfx942.co");
  const auto found = folder.find();
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].launch, "a/relu.gfx942.toml");
  EXPECT_EQ(found[1].launch, "b/relu.toml");
  EXPECT_EQ(found[2].launch, "c/launch.toml");
  EXPECT_EQ(found[3].launch, "");
  EXPECT_EQ(found[0].file, "a/relu.gfx942.co");
  EXPECT_EQ(found[0].target, "gfx942");
  // With another launch it is another input; without one it may be any of them.
  EXPECT_FALSE(found[0].same_as(found[1]));
  EXPECT_TRUE(found[0].same_as(found[3]));
  const auto bytes = read_input(folder.path(), found[0]);
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_EQ(*bytes, *read_file(relu));
}

TEST(BatchInput, ReadsTritonsMetadata) {
  const Folder folder;
  folder.copy(kernels / "mi300a/relu.gfx942.co", "ABC/relu.hsaco");
  folder.write("ABC/relu.json", R"({"name": "no such kernel", "num_warps": 8, "shared": 4096, "num_stages": 2,
    "target": {"backend": "hip", "arch": "gfx942", "warp_size": 64}})");
  folder.write("ABC/__grp__relu.json", R"({"child_paths": {"relu.hsaco": "/nowhere/relu.hsaco"}})");
  folder.write("ABC/relu.ttir", "module {}");
  const auto found = folder.find();
  ASSERT_THAT(names(found), ElementsAre("relu"));
  ASSERT_TRUE(found[0].workgroup);
  EXPECT_THAT(*found[0].workgroup, ElementsAre(512, 1, 1));
  EXPECT_EQ(found[0].dynamic_lds, 4096U);
  EXPECT_EQ(found[0].kernel, "");
}

TEST(BatchInput, IgnoresMetadataThatMakesNoSense) {
  for (const char* text : {"", "[]", "{", "{}", R"({"num_warps": -1})", R"({"num_warps": 1000000})",
                           R"({"num_warps": "4"})", R"({"num_warps": 4, "shared": 99999999999})"}) {
    const Folder folder;
    folder.copy(kernels / "mi300a/relu.gfx942.co", "relu.hsaco");
    folder.write("relu.json", text);
    const auto found = folder.find();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_FALSE(found[0].workgroup) << text;
  }
}

TEST(BatchInput, TakesEachKernelThatNoLaunchFileChooses) {
  const Folder folder;
  folder.copy(kernels / "pairs/load_wait_late.gfx942.co", "pair.co");
  EXPECT_THAT(names(folder.find()), ElementsAre("pair.fast", "pair.slow"));
  EXPECT_THAT(names(folder.find({.target = "", .kernel = "slow", .only = {}})), ElementsAre("pair.slow"));
  folder.copy(ASMEVO_SOURCE_DIR "/kernels/pairs/load_wait_late.toml", "pair.toml"); // which names none
  EXPECT_THAT(names(folder.find()), ElementsAre("pair.fast", "pair.slow"));
  folder.write("pair.toml", "version = 1\n[[step]]\nkernel = \"slow\"\ngrid = [1]\nworkgroup = [64]\n");
  EXPECT_THAT(names(folder.find()), ElementsAre("pair"));
}

TEST(BatchInput, KeepsWhatCannotBeReadAndLeavesTheRestAlone) {
  const Folder folder;
  folder.copy(kernels / "saxpy.gfx90a.co", "saxpy.gfx90a.co");
  folder.copy(kernels / "mi300a/relu.gfx942.co", "relu.gfx942.co");
  folder.copy(kernels / "mi300a/relu.gfx942.co", "runs/batch/relu/k0.co");
  folder.write("runs/batch/batch.json", "{}");
  folder.write("broken.co", "nonsense");
  folder.write("notes.txt", "nonsense");
  const auto found = folder.find();
  ASSERT_THAT(names(found),
              ElementsAre("broken", "relu.gfx942", "saxpy.gfx90a.saxpy", "saxpy.gfx90a.saxpy_strided"));
  ASSERT_TRUE(found[0].broken);
  EXPECT_THAT(found[0].broken->message, HasSubstr("broken.co"));
  EXPECT_THAT(names(folder.find({.target = "gfx942", .kernel = "", .only = {"*.co"}})),
              ElementsAre("broken", "relu.gfx942"));
  EXPECT_THAT(names(folder.find({.target = "", .kernel = "", .only = {"rel*"}})), ElementsAre("relu.gfx942"));
  EXPECT_THAT(folder.refused({.target = "", .kernel = "", .only = {"x*"}}), HasSubstr("no code object that"));
  EXPECT_THAT(names(folder.find({.target = "gfx950", .kernel = "", .only = {}})), ElementsAre("broken"));
}

TEST(BatchInput, NeedsACodeObject) {
  const Folder folder;
  folder.write("notes.txt", "nonsense");
  EXPECT_THAT(folder.refused(), HasSubstr("no code object"));
  EXPECT_FALSE(find_batch_inputs(folder.path() / "nowhere", {}));
}

TEST(BatchInput, MakesNamesOfFolders) {
  BatchInput input;
  input.file = "x/../we ird/.na<me>.co", input.kernel = "void f<int>(a*)";
  EXPECT_EQ(input.name(), "kernel.na_me_.void_f_int__a__");
  input.kernel = std::string(500, 'k');
  EXPECT_EQ(input.name().size(), 100U + 6 + 9);
  input.file = "libx.so", input.target = "gfx90a:xnack+", input.kernel = "", input.of_several = true;
  EXPECT_EQ(input.name(), "libx.gfx90a_xnack+");
}

} // namespace
} // namespace asmevo::search
