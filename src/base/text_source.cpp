#include "base/text_source.h"

#include <cerrno>
#include <cstring>

namespace asmevo {

namespace fs = std::filesystem;

namespace {

constexpr size_t piece_bytes = 256 << 10;

} // namespace

TextSource::TextSource(std::string name, std::string_view text) : name_(std::move(name)), text_(text) {}

Result<TextSource> TextSource::open(const fs::path& path) {
  TextSource source;
  source.name_ = printable(path.string(), whole_text);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return bad_input("{}: no such file", source.name_);
  if (!fs::is_regular_file(status)) return bad_input("{}: not a regular file", source.name_);
  const uint64_t size = fs::file_size(path, error);
  if (!error && size == 0) return bad_input("{}: the file is empty", source.name_);
  if (!error && size > most_bytes)
    return bad_input("{}: {} bytes, more than the {} that are read", source.name_, size, most_bytes);
  source.file_.reset(std::fopen(path.c_str(), "rb"));
  if (!source.file_) return environment_error("{}: {}", source.name_, std::strerror(errno));
  source.buffer_.resize(piece_bytes);
  return source;
}

Result<std::string_view> TextSource::piece() {
  if (!file_) {
    const std::string_view next = text_.substr(0, piece_bytes);
    text_.remove_prefix(next.size());
    return next;
  }
  const size_t n = std::fread(buffer_.data(), 1, buffer_.size(), file_.get());
  if (n == 0 && std::ferror(file_.get()) != 0)
    return environment_error("{}: cannot be read: {}", name_, std::strerror(errno));
  return std::string_view(buffer_.data(), n);
}

} // namespace asmevo
