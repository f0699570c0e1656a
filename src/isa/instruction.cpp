#include "isa/instruction.h"

#include <utility>

namespace asmevo::isa {

std::string_view name(Family family) {
  constexpr std::array<std::string_view, 19> names = {
      "SOP1",  "SOP2", "SOPK",  "SOPC",  "SOPP", "SMEM", "VOP1",   "VOP2", "VOPC", "VOP3",
      "VOP3P", "DS",   "MUBUF", "MTBUF", "FLAT", "MIMG", "VINTRP", "EXP",  "data"};
  return names[std::to_underlying(family)];
}

std::string_view without_encoding_suffix(std::string_view mnemonic) {
  for (const std::string_view suffix : {"_e32", "_e64", "_e64_dpp", "_dpp", "_sdwa"})
    if (mnemonic.ends_with(suffix)) return mnemonic.substr(0, mnemonic.size() - suffix.size());
  return mnemonic;
}

WaitcntFields WaitcntFields::decode(uint16_t simm16) {
  return {.vmcnt = (simm16 & 0xfU) | (simm16 >> 14 & 3U) << 4,
          .expcnt = simm16 >> 4 & 7U,
          .lgkmcnt = simm16 >> 8 & 0xfU};
}

uint16_t WaitcntFields::encode() const {
  // Bits 12 and 13 are unused and set in what assemblers write for the maximum; LLVM writes 0.
  return static_cast<uint16_t>((vmcnt & 0xf) | (expcnt & 7) << 4 | (lgkmcnt & 0xf) << 8 |
                               (vmcnt >> 4 & 3) << 14);
}

} // namespace asmevo::isa
