// The suite's K0s are frozen: speedups are against these instructions, whatever becomes of sources, options
// and compilers. kernels/suite/hashes.txt has them by hash; another compiler makes others, of which it says
// nothing.
#include "suite/frozen_hash.h"
#include "suite/suite_fixture.h"

#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>

namespace asmevo::suite {
namespace {

constexpr const char* head =
    R"(# The kernels of the suite, frozen: hashes (XXH3, 128 bits) of the metadata, kernel descriptors and
# instructions (.note, .rodata, .text) of each object. They hold for the compiler and linker named here, and for
# Debian's rocm-device-libs 5.2.3, which another compiler has made; objects by others are not compared. When K0s
# are changed on purpose, this file is written anew by
#   ASMEVO_WRITE_HASHES=kernels/suite/hashes.txt build/test_suite --gtest_filter='SuiteHashes.*'
)";

std::set<std::string> lines_of(const std::string& text) {
  std::set<std::string> lines;
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    if (end > start) lines.insert(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

/// Who compiled an object and ROCm's libraries in it, and who linked it, by its .comment.
std::string toolchain_of(const codeobject::CodeObject& object) {
  const auto section = object.find_section(".comment");
  if (!section) return "unknown";
  const ByteSpan bytes = object.sections()[*section].contents;
  std::string text(bytes.begin(), bytes.end());
  std::replace(text.begin(), text.end(), '\0', '\n');
  return fmt::format("{}", fmt::join(lines_of(text), "; "));
}

struct Frozen {
  std::string toolchain, text;
};
/// What hashes.txt is to be by the objects there are.
Result<Frozen> frozen() {
#ifdef ASMEVO_SUITE_MISSING
  return environment_error(ASMEVO_SUITE_MISSING);
#endif
  Frozen now;
  std::string lines;
  for (const SuiteKernel& kernel : reference::suite_kernels())
    for (const std::string& target : kernel.targets) {
      ASMEVO_TRY(Bytes bytes, read_file(object_path(kernel.name, target)));
      ASMEVO_TRY(codeobject::CodeObject object, codeobject::CodeObject::parse(std::move(bytes)));
      const std::string own = toolchain_of(object);
      if (now.toolchain.empty()) now.toolchain = own;
      if (now.toolchain != own)
        return bad_input("{}.{} is by '{}', others are by '{}'", kernel.name, target, own, now.toolchain);
      lines += fmt::format("{} {}.{}\n", frozen_hash(object), kernel.name, target);
    }
  now.text = fmt::format("{}toolchain: {}\n{}", head, now.toolchain, lines);
  return now;
}

TEST(SuiteHashes, AreThoseOfTheFrozenKernels) {
  const auto now = frozen();
  ASSERT_TRUE(now) << now.error().message;
  if (const char* path = std::getenv("ASMEVO_WRITE_HASHES")) {
    const Status written = write_file(path, now->text);
    ASSERT_TRUE(written) << written.error().message;
  }
  const auto file = read_file(ASMEVO_SOURCE_DIR "/kernels/suite/hashes.txt");
  ASSERT_TRUE(file) << file.error().message;
  const std::string frozen_text(file->begin(), file->end());
  const std::string key = "toolchain: ";
  ASSERT_NE(frozen_text.find(key), std::string::npos);
  const size_t start = frozen_text.find(key) + key.size();
  const std::string toolchain = frozen_text.substr(start, frozen_text.find('\n', start) - start);
  if (toolchain != now->toolchain)
    GTEST_SKIP() << "the kernels are frozen as made by '" << toolchain << "', these are by '"
                 << now->toolchain << "'";
  for (const auto& [text, other, what] : {std::tuple(now->text, frozen_text, "is not in hashes.txt: "),
                                          std::tuple(frozen_text, now->text, "is only in hashes.txt: ")}) {
    const std::set<std::string> there = lines_of(other);
    for (const std::string& own : lines_of(text)) EXPECT_TRUE(there.contains(own)) << what << own;
  }
}

} // namespace
} // namespace asmevo::suite
