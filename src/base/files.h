// Whole files in and out. Outputs are never half-written: they appear under their name complete or not at
// all.
#pragma once

#include "base/bytes.h"
#include "base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace asmevo {

/// What no code object is as large as; several copies of one are in memory at a time.
inline constexpr uint64_t largest_file = uint64_t{256} << 20;
/// The bytes of a regular file. Refuses folders, missing files and files over `limit` bytes in one line.
Result<Bytes> read_file(const std::filesystem::path& path, uint64_t limit = largest_file);

/// Writes beside `path`, syncs, then renames over it. On failure nothing is left behind.
Status write_file(const std::filesystem::path& path, ByteSpan bytes);
Status write_file(const std::filesystem::path& path, std::string_view text);

/// Makes `path` and its parents; no error if it is there already.
Status make_folder(const std::filesystem::path& path);

/// All regular files under a folder in path order, or the file itself.
Result<std::vector<std::filesystem::path>> list_files(const std::filesystem::path& path);

} // namespace asmevo
