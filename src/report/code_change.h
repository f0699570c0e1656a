// What an edit made of the code: before and after side by side, with a few instructions around each place, in
// blocks that are either the same or changed.
#pragma once

#include "program/program.h"

#include <map>
#include <string>
#include <vector>

namespace asmevo::report {

struct CodeLine {
  std::string id, text; // a label: no id
  double share = 0;     // of the kernel's time, where it is known
};

struct CodeBlock {
  bool changed = false;
  std::vector<CodeLine> before, after;
};

/// One stretch of a function.
struct CodeWindow {
  std::string function;
  std::vector<CodeBlock> blocks;
};

struct CodeChange {
  std::vector<CodeWindow> windows;
  size_t removed = 0, added = 0; // instructions
  size_t left_out = 0;           // changed instructions that no window shows: there were too many
};

/// A version's code. `shares`: by function, share of the time by entry from its first.
struct CodeSide {
  const program::Program& program;
  std::map<std::string, std::vector<double>> shares;
};

/// `most`: changed instructions shown in all.
CodeChange code_change(const CodeSide& before, const CodeSide& after, isa::Codec&, size_t most = 1500);

} // namespace asmevo::report
