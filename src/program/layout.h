// Program -> bytes of .text: gives each entry its offset, branches their distance, functions their alignment.
#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "program/program.h"

#include <functional>
#include <vector>

namespace asmevo::program {

struct TextImage {
  Bytes bytes;
  std::vector<uint64_t> offsets; // of each entry in `bytes`; one more at the end: the size
};

/// Offsets only. Branches have one size, so one pass suffices. Filler in front of an aligned point is kept
/// while it still ends on the alignment, else replaced by as many s_nop as needed: its first entry then
/// stands for all of them, the others take the offset of the aligned point and no room.
std::vector<uint64_t> offsets_of(const Program&);

/// Encodes all entries and writes branch distances and references. `section_address(i)`: where other sections
/// stand in the new object; `text_address`: where .text does. BadInput: a branch of more than 16 bits, named
/// with its id, its target's label and how far out it is.
Result<TextImage> lay_out(const Program&, uint64_t text_address,
                          const std::function<uint64_t(uint32_t section)>& section_address);

} // namespace asmevo::program
