#include "base/files.h"
#include "rebuild/assembly.h"

#include <lld/Common/Driver.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>

LLD_HAS_DRIVER(elf)

namespace asmevo::rebuild {

namespace {

namespace fs = std::filesystem;

// lld reads and writes files only. The folder is gone when the link is done, whatever came of it.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> make() {
    std::error_code error;
    const fs::path parent = fs::temp_directory_path(error);
    if (error) return environment_error("no folder for temporary files: {}", error.message());
    std::string name = (parent / "asmevo-link-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      return environment_error("cannot make a folder in {}", parent.string());
    return TemporaryFolder(name);
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  std::string file(std::string_view name) const { return (path_ / name).string(); }

 private:
  explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

// Unlike write_file without waiting for the disk.
Status write_scratch(const std::string& path, ByteSpan bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) return environment_error("{}: cannot write", path);
  return {};
}

// lld keeps its state in globals. After an internal error it says that it must not be called again.
std::mutex lld_mutex;
bool lld_usable = true;

std::string first_line(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  constexpr std::string_view prefix = "ld.lld: error: ";
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

} // namespace

Result<Bytes> link(ByteSpan relocatable) {
  ASMEVO_TRY(const TemporaryFolder folder, TemporaryFolder::make());
  const std::string in = folder.file("in.o"), out = folder.file("out.co");
  ASMEVO_CHECK(write_scratch(in, relocatable));
  std::string messages;
  {
    const std::scoped_lock lock(lld_mutex);
    if (!lld_usable) return internal_error("the linker failed earlier and cannot be called again");
    llvm::raw_string_ostream stream(messages);
    const char* const arguments[] = {"ld.lld", "-shared", "--threads=1", in.c_str(), "-o", out.c_str()};
    const lld::Result result = lld::lldMain(arguments, stream, stream, {{lld::Gnu, &lld::elf::link}});
    lld_usable = result.canRunAgain;
    if (result.retCode != 0) return bad_input("linking: {}", first_line(messages));
  }
  return read_file(out);
}

} // namespace asmevo::rebuild
