#include "base/files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace asmevo {
namespace fs = std::filesystem;

namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() { close(); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }
  /// False where the kernel reports a delayed write error.
  bool close() {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 || ::close(fd) == 0;
  }

 private:
  int fd_;
};

bool write_all(int fd, ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return true;
}

} // namespace

Result<Bytes> read_file(const fs::path& path, uint64_t limit) {
  // O_NONBLOCK: a FIFO without a writer is refused below, not waited for.
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return bad_input("{}: {}", path.string(), std::strerror(errno));
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return bad_input("{}: {}", path.string(), std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return bad_input("{}: not a regular file", path.string());
  if (static_cast<uint64_t>(info.st_size) > limit)
    return bad_input("{}: {} bytes, over the limit of {}", path.string(), info.st_size, limit);
  Bytes bytes(static_cast<size_t>(info.st_size));
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::read(fd.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return environment_error("{}: {}", path.string(), std::strerror(errno));
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  bytes.resize(done);
  return bytes;
}

namespace {

std::unexpected<Error> cannot_write(const fs::path& path, int error) {
  return environment_error("{}: cannot write: {}", path.string(), std::strerror(error));
}

// A link is followed, so that what it names is replaced, not the link.
fs::path behind_links(fs::path path) {
  constexpr int max_links = 40; // as Linux
  std::error_code ignored;
  for (int k = 0; k < max_links && fs::is_symlink(path, ignored); ++k) {
    const fs::path next = fs::read_symlink(path, ignored);
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  return path;
}

// umask can only be read by setting it, which is no business of a thread that writes one file among many.
mode_t mode_of_new_files() {
  static const mode_t mask = [] {
    const mode_t old = ::umask(0);
    ::umask(old);
    return old;
  }();
  return 0666 & ~mask;
}

// Devices and pipes (/dev/stdout) cannot be replaced by a file; they get the bytes as they come.
Status write_through(const fs::path& path, const fs::path& target, ByteSpan bytes) {
  // A FIFO that nobody reads is refused, not waited for.
  FileDescriptor fd(::open(target.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return cannot_write(path, errno);
  if (::fcntl(fd.get(), F_SETFL, 0) != 0 || !write_all(fd.get(), bytes) || !fd.close())
    return cannot_write(path, errno);
  return {};
}

} // namespace

Status write_file(const fs::path& path, ByteSpan bytes) {
  const fs::path target = behind_links(path);
  if (std::error_code ignored; fs::is_symlink(target, ignored)) return cannot_write(path, ELOOP);
  struct stat old{};
  const bool exists = ::stat(target.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) return cannot_write(path, EISDIR);
  if (exists && !S_ISREG(old.st_mode)) return write_through(path, target, bytes);
  std::string pattern = target.string() + ".XXXXXX";
  FileDescriptor fd(::mkostemp(pattern.data(), O_CLOEXEC));
  if (fd.get() < 0) return cannot_write(path, errno);
  const mode_t mode = exists ? (old.st_mode & 07777) : mode_of_new_files();
  const bool good = write_all(fd.get(), bytes) && ::fchmod(fd.get(), mode) == 0 && ::fsync(fd.get()) == 0 &&
                    fd.close() && ::rename(pattern.c_str(), target.c_str()) == 0;
  if (good) return {};
  const int error = errno;
  ::unlink(pattern.c_str());
  return cannot_write(path, error);
}

Status write_file(const fs::path& path, std::string_view text) {
  return write_file(path, as_bytes(text));
}

Status make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return environment_error("{}: cannot make folder: {}", path.string(), error.message());
  return {};
}

Result<std::vector<fs::path>> list_files(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (error || !fs::exists(status)) return bad_input("{}: no such file or folder", path.string());
  if (!fs::is_directory(status)) return std::vector<fs::path>{path};
  std::vector<fs::path> files;
  for (auto it = fs::recursive_directory_iterator(path, fs::directory_options::skip_permission_denied, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error))
    if (std::error_code ignored; it->is_regular_file(ignored)) files.push_back(it->path());
  if (error) return bad_input("{}: {}", path.string(), error.message());
  std::ranges::sort(files);
  return files;
}

} // namespace asmevo
