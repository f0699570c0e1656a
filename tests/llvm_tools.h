// LLVM's own programs as the second opinion of tests: runs them on files in a scratch folder.
#pragma once

#include "base/bytes.h"
#include "base/files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <elf.h>
#include <filesystem>
#include <string>
#include <unistd.h>

namespace asmevo::test {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "asmevo-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Runs one of LLVM 22's programs with shell-quoted arguments; its exit code.
inline int run_llvm(std::string_view command) {
  return std::system(fmt::format("/usr/lib/llvm-22/bin/{}", command).c_str());
}

inline std::string text_of(const std::filesystem::path& path) {
  const auto bytes = read_file(path);
  return bytes ? std::string(as_text(*bytes)) : std::string();
}

/// Assembles `source` for `cpu` into `object`; false, with the messages in `object`.err, where it does not.
inline bool assemble(std::string_view source, std::string_view cpu, const std::filesystem::path& object) {
  const std::string stem = object.string();
  if (!write_file(stem + ".s", source)) return false;
  return run_llvm(fmt::format(
             "llvm-mc -triple=amdgcn-amd-amdhsa -mcpu={} -filetype=obj '{}.s' -o '{}' 2> '{}.err'", cpu, stem,
             stem, stem)) == 0;
}

/// The contents of the named section of a 64-bit ELF file.
inline Bytes section_of(ByteSpan file, std::string_view name) {
  const auto header = load<Elf64_Ehdr>(file, 0);
  if (!header) return {};
  const auto at = [&](unsigned k) {
    return load<Elf64_Shdr>(file, header->e_shoff + k * sizeof(Elf64_Shdr));
  };
  const auto names = at(header->e_shstrndx);
  for (unsigned k = 0; names && k < header->e_shnum; ++k) {
    const auto section = at(k);
    const auto text =
        section ? slice(file, names->sh_offset + section->sh_name, name.size() + 1) : std::nullopt;
    if (!text || as_text(*text) != std::string(name) + '\0') continue;
    const auto contents = slice(file, section->sh_offset, section->sh_size);
    return contents ? Bytes(contents->begin(), contents->end()) : Bytes();
  }
  return {};
}

} // namespace asmevo::test
