// Captures come back as they were written, replay at their addresses, and are refused in one line where
// anything in them is wrong.
#include "base/hash.h"
#include "llvm_tools.h"
#include "oracle/capture.h"
#include "oracle/verified.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cstdlib>

namespace asmevo::oracle::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

const std::string saxpy = R"toml([[buffer]]
name = "x"
dtype = "f32"
shape = 3000
role = "in"
init = {kind = "normal"}
[[buffer]]
name = "y"
dtype = "f32"
shape = [60, 50]
strides = [64, 1]
role = "out"
[[buffer]]
name = "large"
dtype = "f32"
shape = 100000
role = "workspace"
init = "zeros"
[[arg]]
dtype = "f32"
value = 0.5
[[arg]]
buffer = "x"
[[arg]]
buffer = "x"
[[arg]]
dtype = "u32"
value = 3000
[[step]]
kernel = "saxpy"
grid = 12
workgroup = 256
)toml";

// Without the workspace and the buffer that is never written.
std::string small() {
  return saxpy.substr(0, saxpy.find("[[buffer]]\nname = \"y\"")) + saxpy.substr(saxpy.find("[[arg]]"));
}

// The workspace has 256 MiB.
std::string large() {
  std::string text = saxpy;
  return text.replace(text.find("shape = 100000"), 14, "shape = \"1 << 26\"");
}

class Capture : public ::testing::Test {
 protected:
  // The capture of a launch, on disk.
  void write(const std::string& launch, bool after = false) {
    auto cases = cases_of(launch, k0_);
    ASSERT_EQ(cases.size(), 1U);
    case_ = cases.front();
    if (after) {
      ASSERT_TRUE(record_after(case_, k0_));
    }
    const Status written = write_capture(case_, folder_());
    ASSERT_TRUE(written) << written.error().message;
  }
  fs::path folder_() const { return root_ / "capture"; }
  Json manifest() const {
    const auto bytes = read_file(folder_() / "manifest.json");
    return Json::parse(bytes->begin(), bytes->end());
  }
  void set_manifest(const Json& json) const {
    ASSERT_TRUE(write_file(folder_() / "manifest.json", std::string_view(json.dump())));
  }
  std::string refused() const {
    const auto read = read_capture(folder_());
    EXPECT_FALSE(read);
    if (read) return "";
    EXPECT_EQ(read.error().message.find('\n'), std::string::npos);
    EXPECT_EQ(read.error().exit_code(), 2);
    EXPECT_THAT(read.error().message, HasSubstr(folder_().string()));
    return read.error().message;
  }

  std::shared_ptr<const Subject> k0_ = subject(sample_bytes("saxpy"));
  test::ScratchFolder root_;
  Case case_;
};

TEST_F(Capture, ComesBackAsItWasWritten) {
  ASSERT_NO_FATAL_FAILURE(write(saxpy, true));
  const auto read = read_capture(folder_());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->kernel, "saxpy");
  EXPECT_EQ(read->target.id(), case_.target.id());
  EXPECT_EQ(read->shape.grid, case_.shape.grid);
  EXPECT_EQ(read->shape.workgroup, case_.shape.workgroup);
  EXPECT_EQ(read->arguments.kernarg, case_.arguments.kernarg);
  EXPECT_EQ(read->object_hash, content_hash(k0_->object().bytes()));
  const auto before = case_.before->regions(), again = read->before->regions();
  ASSERT_EQ(before.size(), again.size());
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].name, again[i].name);
    EXPECT_EQ(before[i].address, again[i].address);
    EXPECT_EQ(before[i].size, again[i].size);
    EXPECT_EQ(before[i].access, again[i].access);
    Bytes a(std::min<uint64_t>(before[i].size, 1 << 20)), b(a.size());
    ASSERT_TRUE(case_.before->read(before[i].address, a) && read->before->read(again[i].address, b));
    EXPECT_EQ(a, b) << before[i].name;
    ASSERT_TRUE(case_.after->read(before[i].address, a) && read->after->read(again[i].address, b));
    EXPECT_EQ(a, b) << before[i].name << " after";
  }
  ASSERT_EQ(read->views.size(), 3U);
  EXPECT_EQ(read->views[1].name, "y");
  EXPECT_EQ(read->views[1].address, case_.views[1].address);
  EXPECT_EQ(read->views[1].layout.strides(), (std::vector<uint64_t>{64, 1}));
  EXPECT_EQ(read->views[1].role, Role::Out);
}

TEST_F(Capture, LargeZerosCostNothing) {
  ASSERT_NO_FATAL_FAILURE(write(large()));
  uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root_.path()))
    if (entry.is_regular_file()) bytes += entry.file_size();
  EXPECT_LT(bytes, 100'000U);
}

TEST_F(Capture, ReplaysWithAndWithoutViews) {
  ASSERT_NO_FATAL_FAILURE(write(small(), true));
  const auto wrong =
      subject(edited(sample_bytes("saxpy"), "saxpy",
                     R"([{"before": ")" + find(sample_bytes("saxpy"), "saxpy", "global_store_dword") +
                         R"(", "text": "v_mul_f32_e32 v5, 2.0, v5"}])"));
  for (const bool views : {true, false}) {
    if (!views) {
      Json json = manifest();
      json["views"] = Json::array();
      set_manifest(json);
    }
    const auto read = read_capture(folder_());
    ASSERT_TRUE(read) << read.error().message;
    const auto same = verify_case(*read, k0_, k0_);
    ASSERT_TRUE(same) << same.error().message;
    EXPECT_EQ(same->outcome, Outcome::Equivalent) << same->text;
    EXPECT_THAT(same->notes, ::testing::IsEmpty());
    const auto other = verify_case(*read, k0_, wrong);
    ASSERT_TRUE(other) << other.error().message;
    EXPECT_EQ(other->outcome, Outcome::Divergent);
    EXPECT_EQ(other->buffer, "x");
  }
}

TEST_F(Capture, AnotherPostStateIsNoted) {
  ASSERT_NO_FATAL_FAILURE(write(small(), true));
  Json json = manifest();
  json["after"] = Json::array();
  set_manifest(json);
  const auto read = read_capture(folder_());
  ASSERT_TRUE(read) << read.error().message;
  const auto report = verify_case(*read, k0_, k0_);
  ASSERT_TRUE(report);
  EXPECT_THAT(report->notes, ::testing::ElementsAre(HasSubstr("what was recorded in buffer 'x'")));
}

TEST_F(Capture, IsNotWrittenOverAnything) {
  ASSERT_NO_FATAL_FAILURE(write(small()));
  const Status again = write_capture(case_, folder_());
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("is there already"));
  EXPECT_TRUE(read_capture(folder_()));
  EXPECT_EQ(std::distance(fs::directory_iterator(root_.path()), {}), 1) << "nothing is left beside it";
}

TEST_F(Capture, WrongManifestsAreNamed) {
  ASSERT_NO_FATAL_FAILURE(write(small()));
  const Json good = manifest();
  const auto with = [&](const std::string& pointer, const Json& value) {
    Json json = good;
    json[Json::json_pointer(pointer)] = value;
    set_manifest(json);
    return refused();
  };
  EXPECT_THAT(with("/format", "x"), HasSubstr("manifest.json: format"));
  EXPECT_THAT(with("/version", 2), HasSubstr("version: 2"));
  EXPECT_THAT(with("/kernel", ""), HasSubstr("kernel: empty"));
  EXPECT_THAT(with("/kernel", "sax\npy"), HasSubstr("kernel"));
  EXPECT_THAT(with("/target", "gfx1\n100"), HasSubstr("target"));
  EXPECT_THAT(with("/grid", {1, 2}), HasSubstr("grid"));
  EXPECT_THAT(with("/grid", {1, 0, 1}), HasSubstr("grid"));
  EXPECT_THAT(with("/grid", {1ULL << 40, 1ULL << 40, 1}), HasSubstr("grid"));
  EXPECT_THAT(with("/workgroup", {5000, 1, 1}), HasSubstr("workgroup"));
  EXPECT_THAT(with("/kernarg/bytes", "0g"), HasSubstr("kernarg.bytes"));
  EXPECT_THAT(with("/hidden", {{"x", -1}}), HasSubstr("hidden"));
  EXPECT_THAT(with("/regions/1/address", good["regions"][0]["address"]), HasSubstr("regions[1]"));
  EXPECT_THAT(with("/regions/1/size", 1ULL << 60), HasSubstr("regions[1].size"));
  EXPECT_THAT(with("/regions/1/size", 0), HasSubstr("regions[1]"));
  EXPECT_THAT(with("/regions/1/kind", "disk"), HasSubstr("regions[1].kind"));
  EXPECT_THAT(with("/regions/1/contents/0/blob", "../../../../etc/passwd"), HasSubstr("contents[0].blob"));
  EXPECT_THAT(with("/regions/1/contents/0/bytes", 1), HasSubstr("blobs/"));
  EXPECT_THAT(with("/regions/1/contents/0/offset", 1), HasSubstr("contents[0].bytes"));
  EXPECT_THAT(with("/views/0/region", 100), HasSubstr("views[0].region"));
  EXPECT_THAT(with("/views/0/shape", {1ULL << 30}), HasSubstr("views[0].shape"));
  EXPECT_THAT(with("/views/0/dtype", "f33"), HasSubstr("views[0].dtype"));
  EXPECT_THAT(with("/views/0/role", 7), HasSubstr("views[0].role"));
  EXPECT_THAT(with("/views", 7), HasSubstr("views"));
  for (const char* text : {"", "{", "[]", "7", "null", "\xff"}) {
    ASSERT_TRUE(write_file(folder_() / "manifest.json", std::string_view(text)));
    EXPECT_THAT(refused(), HasSubstr("manifest.json")) << text;
  }
  ASSERT_TRUE(write_file(folder_() / "manifest.json", std::string_view(std::string(100'000, '['))));
  EXPECT_THAT(refused(), HasSubstr("manifest.json"));
}

TEST_F(Capture, WrongBlobsAreNamed) {
  ASSERT_NO_FATAL_FAILURE(write(small()));
  std::vector<fs::path> blobs;
  for (const auto& entry : fs::directory_iterator(folder_() / "blobs")) blobs.push_back(entry.path());
  ASSERT_FALSE(blobs.empty());
  const Bytes good = *read_file(blobs.front());
  Bytes flipped = good;
  flipped[good.size() / 2] ^= 0x10;
  for (const Bytes& bad : {Bytes(), flipped, Bytes(good.begin(), good.end() - 1), Bytes(good.size(), 7)}) {
    ASSERT_TRUE(write_file(blobs.front(), bad));
    EXPECT_THAT(refused(), HasSubstr(".zst"));
  }
  fs::remove(blobs.front());
  EXPECT_THAT(refused(), HasSubstr(".zst"));
}

} // namespace
} // namespace asmevo::oracle::testing
