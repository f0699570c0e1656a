#include "codeobject/file_image.h"

#include "base/files.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace asmevo::codeobject {

FileImage::~FileImage() {
  if (mapping_ != nullptr) ::munmap(mapping_, view_.size());
}

std::shared_ptr<const FileImage> FileImage::own(Bytes bytes) {
  auto image = std::make_shared<FileImage>();
  image->owned_ = std::move(bytes);
  image->view_ = image->owned_;
  return image;
}

std::shared_ptr<const FileImage> FileImage::borrow(ByteSpan bytes) {
  auto image = std::make_shared<FileImage>();
  image->view_ = bytes;
  return image;
}

Result<std::shared_ptr<const FileImage>> FileImage::open(const std::filesystem::path& path) {
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(path, error);
  if (error || size < mapped_from) {
    ASMEVO_TRY(Bytes bytes, read_file(path));
    return own(std::move(bytes));
  }
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return bad_input("{}: {}", path.string(), std::strerror(errno));
  struct stat info{};
  auto image = std::make_shared<FileImage>();
  void* mapping = MAP_FAILED;
  if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0)
    mapping = ::mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
  const int reason = errno;
  ::close(fd);
  if (mapping == MAP_FAILED)
    return environment_error("{}: cannot map the file: {}", path.string(), std::strerror(reason));
  image->mapping_ = mapping;
  image->view_ = {static_cast<const uint8_t*>(mapping), static_cast<size_t>(info.st_size)};
  return image;
}

} // namespace asmevo::codeobject
