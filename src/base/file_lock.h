// A file that one process at a time holds: who writes to a folder that others may look at.
#pragma once

#include "base/result.h"

#include <filesystem>

namespace asmevo {

class FileLock {
 public:
  /// Makes the file where it is not there. Environment: "`what`: another process works on this `kind`", or it
  /// cannot be written.
  static Result<FileLock> take(const std::filesystem::path& file, std::string_view what,
                               std::string_view kind);
  FileLock() = default;
  FileLock(FileLock&&) noexcept;
  FileLock& operator=(FileLock&&) noexcept;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1; // the lock goes with it, however the process ends
};

/// Whether a process that is alive holds it.
bool is_locked(const std::filesystem::path& file);

} // namespace asmevo
