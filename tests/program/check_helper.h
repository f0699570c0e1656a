// Runs the static check over assembly text.
#pragma once

#include "program/static_check.h"
#include "program_builder.h"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace asmevo::program::testing {

inline std::vector<Finding> check_text(std::string_view text, const CheckOptions& options = {},
                                       isa::Gfx gfx = isa::Gfx::gfx942) {
  const Program program = build_program(text, true, gfx);
  const Cfg cfg = Cfg::build(program, program.functions[0]);
  return check(program, program.functions[0], cfg, options);
}

/// "rule object missing", a line a finding; possible ones with "?" in front.
inline std::string found(std::string_view text, bool possible = false, isa::Gfx gfx = isa::Gfx::gfx942) {
  CheckOptions options;
  options.possible = possible;
  std::string lines;
  for (const Finding& f : check_text(text, options, gfx))
    lines += fmt::format("{}{} {}: {}\n", f.possible ? "?" : "", f.rule, f.object, f.missing);
  return lines;
}

} // namespace asmevo::program::testing
