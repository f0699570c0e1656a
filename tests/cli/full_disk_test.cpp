// Runs whose disk is full, or read-only. Needs the right to mount: the disk is a small file system in memory
// that only the processes of the test see.
#include "base/files.h"
#include "cli/pair_run.h"
#include "full_run.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

namespace asmevo::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

bool can_mount() {
  static const bool can =
      run_command({"unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=64k none /mnt && umount /mnt"})
          .exit_code == 0;
  return can;
}

// In a name space of mounts of its own, with a disk of so many KiB in `folder`/disk.
Ran on_small_disk(const TemporaryFolder& folder, unsigned kib, const std::string& script) {
  fs::create_directories(folder / "disk");
  const std::string all = fmt::format("cd {} && mount -t tmpfs -o size={}k none disk || exit 99\n{}",
                                      folder.path().string(), kib, script);
  return run_command({"unshare", "-m", "sh", "-c", all});
}

std::string words(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), ASMEVO_BINARY_DIR "/asmevo");
  std::string text;
  for (const std::string& a : arguments) text += "'" + a + "' ";
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class Disks : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_mount()) GTEST_SKIP() << "nothing can be mounted here";
    ASSERT_TRUE(write_file(folder_ / "proposals.json", pair_proposals));
  }
  // "optimize", and where it has not come to its end "resume", on a disk that is large enough then; each's
  // exit code and what it said in a file, and what was there in between.
  std::string script() const {
    return words(pair_command("disk/run", folder_ / "proposals.json")) +
           " 2> first.err; echo $? > first.code\n" +
           "ls disk/run > first.files; cat disk/run/best.json > first.json; cp disk/run/best.co first.co\n" +
           "mount -o remount,size=64m disk\n" + words({"resume", "disk/run"}) +
           "2> second.err; echo $? > second.code\n" +
           words(pair_command("disk/run", folder_ / "proposals.json")) +
           "2> third.err; echo $? > third.code\n" +
           "cp disk/run/best.co second.co; cp disk/run/best.json second.json";
  }
  TemporaryFolder folder_;
};

TEST_F(Disks, FullOnesAreOneLineAndTheRunGoesOn) {
  const std::string good = text_of(pair_run(folder_) / "best.co");
  ASSERT_FALSE(good.empty());
  bool failed_later = false;
  const std::vector<unsigned> sizes =
      test::full_run() ? std::vector<unsigned>{4, 16, 48, 100, 140, 180, 220, 260, 300, 400}
                       : std::vector<unsigned>{16, 140, 220};
  for (const unsigned kib : sizes) {
    SCOPED_TRACE(fmt::format("{} KiB", kib));
    for (const char* name : {"first.co", "first.json", "second.co", "second.json"})
      fs::remove(folder_ / name);
    ASSERT_NE(on_small_disk(folder_, kib, script()).exit_code, 99);
    const std::string code = text_of(folder_ / "first.code"), said = text_of(folder_ / "first.err");
    if (code == "0\n") {
      // All but the report found room.
      EXPECT_THAT(said, AnyOf(Not(HasSubstr("cannot")), HasSubstr("no report was written")));
      EXPECT_EQ(text_of(folder_ / "first.co"), good);
      continue;
    }
    EXPECT_EQ(code, "3\n") << said;
    const std::vector<std::string> lines = lines_of(said);
    ASSERT_FALSE(lines.empty());
    EXPECT_THAT(lines.back(), AllOf(HasSubstr("asmevo: "), HasSubstr("disk/run")));
    EXPECT_EQ(std::ranges::count_if(lines, [](const auto& l) { return l.starts_with("asmevo: "); }), 1)
        << said;
    EXPECT_FALSE(fs::exists(folder_ / "first.co") && text_of(folder_ / "first.co") != good);
    if (const std::string json = text_of(folder_ / "first.json"); !json.empty()) {
      EXPECT_TRUE(nlohmann::json::accept(json));
    }
    EXPECT_THAT(text_of(folder_ / "first.files"), Not(HasSubstr(".co.")));
    // With room again: the run goes on, or never began and is made.
    const bool began = text_of(folder_ / "second.code") != "2\n";
    failed_later |= began;
    EXPECT_EQ(text_of(folder_ / (began ? "second.code" : "third.code")), "0\n")
        << text_of(folder_ / "second.err") << text_of(folder_ / "third.err");
    EXPECT_EQ(text_of(folder_ / "second.co"), good);
    EXPECT_TRUE(nlohmann::json::accept(text_of(folder_ / "second.json")));
  }
  EXPECT_TRUE(failed_later) << "none of these disks was full in the midst of a run";
}

TEST_F(Disks, ReadOnlyOnesAreOneLine) {
  const fs::path run = pair_run(folder_);
  const std::string script =
      "cp -r run disk/run && mkdir disk/empty && mount -o remount,ro disk || exit 99\n" +
      words({"resume", "disk/run"}) + "2> resume.err; echo $? > resume.code\n" +
      words(pair_command("disk/new", folder_ / "proposals.json")) + "2> new.err; echo $? > new.code\n" +
      words(pair_command("disk/empty", folder_ / "proposals.json")) + "2> empty.err; echo $? > empty.code\n" +
      words({"status", "disk/run"}) + "> status.out; echo $? > status.code";
  ASSERT_NE(on_small_disk(folder_, 64 * 1024, script).exit_code, 99);
  for (const char* what : {"resume", "new", "empty"}) {
    const std::string said = text_of(folder_ / fmt::format("{}.err", what));
    EXPECT_EQ(text_of(folder_ / fmt::format("{}.code", what)), "3\n") << said;
    EXPECT_EQ(lines_of(said).size(), 1U) << said;
    EXPECT_THAT(said, AllOf(HasSubstr("asmevo: disk/"), HasSubstr("Read-only file system")));
  }
  EXPECT_EQ(text_of(folder_ / "status.code"), "0\n") << "looking at it is free";
}

} // namespace
} // namespace asmevo::testing
