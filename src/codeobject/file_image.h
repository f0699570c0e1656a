// The bytes of a file for as long as somebody looks at them: read into memory, or mapped where they are many.
// A library with device code for many GPUs can be over a gigabyte, of which one run looks at a few megabytes.
#pragma once

#include "base/bytes.h"
#include "base/result.h"

#include <filesystem>
#include <memory>

namespace asmevo::codeobject {

class FileImage {
 public:
  /// Files below this many bytes are read, so that nobody can change or truncate them under the reader.
  static constexpr uint64_t mapped_from = uint64_t{64} << 20;

  static Result<std::shared_ptr<const FileImage>> open(const std::filesystem::path& path);
  static std::shared_ptr<const FileImage> own(Bytes bytes);
  /// Does not copy: `bytes` must outlive the image.
  static std::shared_ptr<const FileImage> borrow(ByteSpan bytes);

  FileImage() = default;
  ~FileImage();
  FileImage(const FileImage&) = delete;
  FileImage& operator=(const FileImage&) = delete;
  ByteSpan bytes() const { return view_; }

 private:
  Bytes owned_;
  ByteSpan view_;
  void* mapping_ = nullptr;
};

} // namespace asmevo::codeobject
