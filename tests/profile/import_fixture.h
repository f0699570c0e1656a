// A kernel to import profiles for, and what writes the profilers' files: in their published forms, with
// contents that a test can foretell.
#pragma once

#include "base/files.h"
#include "profile/bind_instructions.h"
#include "profile/import.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <unistd.h>

namespace asmevo::profile {

inline constexpr std::string_view kernel_name = "reduce_lds";

inline Bytes object_bytes(const std::string& name = "reduce.gfx942.co") {
  const auto bytes = read_file(std::filesystem::path(ASMEVO_BINARY_DIR) / "kernels" / name);
  EXPECT_TRUE(bytes) << bytes.error().message;
  return bytes.value_or(Bytes());
}

struct Kernel {
  std::shared_ptr<const oracle::Subject> subject;
  KernelListing listing;
  std::vector<std::string> texts; // as LLVM prints them, one for each of the listing's instructions

  explicit Kernel(const std::string& file = "reduce.gfx942.co", std::string_view name = kernel_name) {
    auto opened = oracle::Subject::open(object_bytes(file));
    EXPECT_TRUE(opened) << opened.error().message;
    subject = *opened;
    auto made = list_kernel(*subject, name);
    EXPECT_TRUE(made) << made.error().message;
    listing = *std::move(made);
    const program::Program& p = subject->program();
    for (const ListedInstruction& i : listing.instructions) {
      const auto at = p.find({0, static_cast<uint32_t>(i.address - p.text_address)});
      texts.push_back(subject->codec().print(p.instruction(*at)));
    }
  }

  size_t size() const { return listing.instructions.size(); }
  uint64_t address(size_t n) const { return listing.instructions[n].address; }
  /// The first instruction whose text begins so, from `from` on.
  size_t find(std::string_view begin, size_t from = 0) const {
    for (size_t n = from; n < texts.size(); ++n)
      if (texts[n].starts_with(begin)) return n;
    ADD_FAILURE() << "no " << begin;
    return 0;
  }
};

/// The kernel of most tests, made once.
inline const Kernel& reduce() {
  static const Kernel kernel;
  return kernel;
}

/// A folder of one test, removed with it.
class Folder {
 public:
  Folder() {
    static int made = 0;
    path_ = std::filesystem::temp_directory_path() / fmt::format("asmevo-import-{}-{}", ::getpid(), made++);
    std::filesystem::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, std::string_view text) const {
    const auto file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    const Status written = write_file(file, text);
    EXPECT_TRUE(written) << written.error().message;
    return file;
  }

 private:
  std::filesystem::path path_;
};

inline Result<ImportedProfile> import(const std::filesystem::path& path, const Kernel& kernel = reduce(),
                                      std::optional<uint64_t> dispatch = {}) {
  return import_profile(path, kernel.listing, dispatch);
}

/// The profile of a file that must be good.
inline ImportedProfile imported(const std::filesystem::path& path, const Kernel& kernel = reduce(),
                                std::optional<uint64_t> dispatch = {}) {
  auto result = import(path, kernel, dispatch);
  EXPECT_TRUE(result) << result.error().message;
  return result.value_or(ImportedProfile());
}

/// What a bad file's error says: one line, which names the file.
inline std::string refusal(const std::filesystem::path& path, const Kernel& kernel = reduce(),
                           std::optional<uint64_t> dispatch = {}) {
  const auto result = import(path, kernel, dispatch);
  EXPECT_FALSE(result);
  if (result) return {};
  EXPECT_EQ(result.error().kind, ErrorKind::BadInput);
  EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
  EXPECT_THAT(result.error().message, ::testing::HasSubstr(path.string()));
  return result.error().message;
}

inline std::string all_notes(const ImportedProfile& p) {
  std::string out;
  for (const std::string& n : p.profile.notes) out += n + "\n";
  return out;
}

inline InstructionTime time_at(const ImportedProfile& p, uint64_t address) {
  const InstructionTime* found = p.profile.at(address);
  return found == nullptr ? InstructionTime() : *found;
}
inline double stalled(const InstructionTime& t, timing::Stall s) {
  return t.stalled[static_cast<size_t>(s)];
}

} // namespace asmevo::profile
