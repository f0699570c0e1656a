// Text from outside, piece by piece, so that a file of gigabytes needs no more memory than a small one.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace asmevo {

class TextSource {
 public:
  /// More is refused: no profiler run that anyone wants to look at is larger.
  static constexpr uint64_t most_bytes = uint64_t{16} << 30;

  /// BadInput: no such file, a folder, empty, over `most_bytes`.
  static Result<TextSource> open(const std::filesystem::path& path);
  /// From memory, which must outlive it. For tests and fuzzers.
  TextSource(std::string name, std::string_view text);

  const std::string& name() const { return name_; }
  /// What comes next, up to some 256 KiB; empty at the end. Valid until the next call.
  Result<std::string_view> piece();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  TextSource() = default;
  std::string name_;
  std::string_view text_; // what is left of a text in memory
  std::unique_ptr<std::FILE, Close> file_;
  std::vector<char> buffer_;
};

} // namespace asmevo
