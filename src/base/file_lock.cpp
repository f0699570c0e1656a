#include "base/file_lock.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

namespace asmevo {

Result<FileLock> FileLock::take(const std::filesystem::path& file, std::string_view what,
                                std::string_view kind) {
  FileLock lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (lock.descriptor_ < 0) return environment_error("{}: {}", file.string(), std::strerror(errno));
  // Whoever asks whether it is held holds it for a moment.
  constexpr int tries = 20;
  for (int n = 0; n < tries; ++n) {
    if (::flock(lock.descriptor_, LOCK_EX | LOCK_NB) == 0) return lock;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return environment_error("{}: another process works on this {}", what, kind);
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool is_locked(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return false;
  const bool free = ::flock(descriptor, LOCK_SH | LOCK_NB) == 0;
  ::close(descriptor);
  return !free;
}

} // namespace asmevo
