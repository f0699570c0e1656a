#include "base/files.h"
#include "llvm_tools.h"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>

namespace asmevo {
namespace {

namespace fs = std::filesystem;
using test::ScratchFolder;

size_t entries(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

std::string contents(const fs::path& path) {
  const auto bytes = read_file(path);
  return bytes ? std::string(as_text(*bytes)) : bytes.error().message;
}

TEST(Files, WriteThenRead) {
  const ScratchFolder folder;
  ASSERT_TRUE(write_file(folder / "a", "one"));
  EXPECT_EQ(contents(folder / "a"), "one");
  ASSERT_TRUE(write_file(folder / "a", ""));
  EXPECT_EQ(contents(folder / "a"), "");
  EXPECT_EQ(entries(folder.path()), 1U);
}

TEST(Files, NewFilesFollowTheUmaskAndOldOnesKeepTheirMode) {
  const ScratchFolder folder;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ASSERT_TRUE(write_file(folder / "new", "x"));
  struct stat info{};
  ASSERT_EQ(::stat((folder / "new").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0666U & ~mask);
  ASSERT_EQ(::chmod((folder / "new").c_str(), 0750), 0);
  ASSERT_TRUE(write_file(folder / "new", "y"));
  ASSERT_EQ(::stat((folder / "new").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0750U);
}

TEST(Files, LinksAreFollowed) {
  const ScratchFolder folder;
  ASSERT_TRUE(make_folder(folder / "sub"));
  ASSERT_TRUE(write_file(folder / "sub/real", "old"));
  fs::create_symlink("sub/real", folder / "link");
  fs::create_symlink("link", folder / "second");
  ASSERT_TRUE(write_file(folder / "second", "new"));
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(contents(folder / "sub/real"), "new");
  fs::create_symlink("sub/missing", folder / "dangling");
  ASSERT_TRUE(write_file(folder / "dangling", "made"));
  EXPECT_TRUE(fs::is_symlink(folder / "dangling"));
  EXPECT_EQ(contents(folder / "sub/missing"), "made");
}

TEST(Files, NothingIsLeftBehindByAFailure) {
  const ScratchFolder folder;
  EXPECT_EQ(write_file(folder / "missing/a", "x").error().kind, ErrorKind::Environment);
  ASSERT_TRUE(write_file(folder / "file", "x"));
  EXPECT_FALSE(write_file(folder / "file/a", "x"));
  ASSERT_TRUE(make_folder(folder / "dir"));
  const auto over_folder = write_file(folder / "dir", "x");
  ASSERT_FALSE(over_folder);
  EXPECT_NE(over_folder.error().message.find((folder / "dir").string()), std::string::npos);
  fs::create_symlink("loop", folder / "loop");
  EXPECT_FALSE(write_file(folder / "loop", "x") && !fs::is_symlink(folder / "loop"));
  EXPECT_EQ(entries(folder.path()), 3U);
  EXPECT_EQ(entries(folder / "dir"), 0U);
}

TEST(Files, ReadOnlyFolder) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const ScratchFolder folder;
  ASSERT_TRUE(write_file(folder / "a", "old"));
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_FALSE(write_file(folder / "a", "new"));
  EXPECT_FALSE(write_file(folder / "b", "new"));
  fs::permissions(folder.path(), fs::perms::owner_all);
  EXPECT_EQ(entries(folder.path()), 1U);
  EXPECT_EQ(contents(folder / "a"), "old");
}

// A write that stops half-way leaves the old file whole.
TEST(Files, OutOfSpace) {
  const ScratchFolder folder;
  ASSERT_TRUE(write_file(folder / "a", "old"));
  struct rlimit before{}, small{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  small = before;
  small.rlim_cur = 4096;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto written = write_file(folder / "a", std::string(100000, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::Environment);
  EXPECT_EQ(contents(folder / "a"), "old");
  EXPECT_EQ(entries(folder.path()), 1U);
}

// Devices are written to, never replaced: root could.
TEST(Files, DevicesStayDevices) {
  const ScratchFolder folder;
  fs::create_symlink("/dev/null", folder / "null");
  fs::create_symlink("/dev/full", folder / "full");
  EXPECT_TRUE(write_file(folder / "null", "x"));
  const auto full = write_file(folder / "full", "x");
  ASSERT_FALSE(full);
  EXPECT_NE(full.error().message.find("No space left"), std::string::npos) << full.error().message;
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  EXPECT_EQ(entries(folder.path()), 2U);
}

TEST(Files, AFifoIsRefusedAndNotWaitedFor) {
  const ScratchFolder folder;
  const fs::path fifo = folder.path() / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_NE(contents(fifo).find("not a regular file"), std::string::npos);
}

TEST(Files, ReadRefusals) {
  const ScratchFolder folder;
  EXPECT_NE(read_file(folder / "none").error().message.find("none"), std::string::npos);
  EXPECT_EQ(read_file(folder / "none").error().kind, ErrorKind::BadInput);
  EXPECT_NE(read_file(folder.path()).error().message.find("not a regular file"), std::string::npos);
  EXPECT_FALSE(read_file("/dev/zero"));
  ASSERT_TRUE(write_file(folder / "a", "12345"));
  EXPECT_TRUE(read_file(folder / "a", 5));
  EXPECT_NE(read_file(folder / "a", 4).error().message.find("5 bytes, over the limit of 4"),
            std::string::npos);
}

TEST(Files, ConcurrentWritersOfOneFile) {
  const ScratchFolder folder;
  {
    std::vector<std::jthread> writers;
    for (char c = 'a'; c < 'e'; ++c)
      writers.emplace_back([&, c] {
        for (int k = 0; k < 10; ++k) EXPECT_TRUE(write_file(folder / "f", std::string(5000, c)));
      });
  }
  const std::string text = contents(folder / "f");
  EXPECT_EQ(text, std::string(5000, text.at(0)));
  EXPECT_EQ(entries(folder.path()), 1U);
}

TEST(Files, ListsInPathOrder) {
  const ScratchFolder folder;
  for (const char* name : {"b/2", "b/1", "a", "c/d/e"}) {
    ASSERT_TRUE(make_folder((folder / name).parent_path()));
    ASSERT_TRUE(write_file(folder / name, name));
  }
  const auto files = list_files(folder.path());
  ASSERT_TRUE(files);
  EXPECT_EQ(*files, (std::vector<fs::path>{folder / "a", folder / "b/1", folder / "b/2", folder / "c/d/e"}));
  EXPECT_EQ(*list_files(folder / "a"), std::vector<fs::path>{folder / "a"});
  EXPECT_EQ(list_files(folder / "none").error().kind, ErrorKind::BadInput);
  EXPECT_TRUE(list_files(folder / "b")->size() == 2);
  EXPECT_EQ(make_folder(folder / "a/x").error().kind, ErrorKind::Environment);
  EXPECT_TRUE(make_folder(folder / "b"));
}

} // namespace
} // namespace asmevo
