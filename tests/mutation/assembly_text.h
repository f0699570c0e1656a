// One instruction's assembly text taken apart and put together again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace asmevo::mutation {

struct AssemblyText {
  std::string mnemonic;
  std::vector<std::string> operands;  // "v[2:3]", "0x10", "off"
  std::vector<std::string> modifiers; // "offset:16", "row_shr:1", "sc0"

  static AssemblyText parse(std::string_view text);
  std::string text() const;

  /// "v_add_f32" and "_e32" of "v_add_f32_e32".
  std::string base() const;
  std::string suffix() const;
};

} // namespace asmevo::mutation
