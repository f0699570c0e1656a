// Content hashes: XXH3, 128 bits, as 32 hex digits. Not cryptographic; names contents, proves nothing to a
// foe.
#pragma once

#include "base/bytes.h"

#include <string>

namespace asmevo {

std::string content_hash(ByteSpan bytes);
uint64_t hash64(ByteSpan bytes, uint64_t seed = 0);

} // namespace asmevo
