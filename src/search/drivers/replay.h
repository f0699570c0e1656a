// Proposals from a file, in its order: for tests, and to repeat what somebody else found.
#pragma once

#include "search/driver.h"

namespace asmevo::search {

/// The file holds a JSON array, or one JSON value a line. Each is an edit, or {"object": PATH} for a whole
/// object, paths relative to the file. An edit whose base is no node (yet) is tried on K0. BadInput names the
/// element.
Result<std::unique_ptr<Driver>> make_replay(const std::filesystem::path& file);

} // namespace asmevo::search
