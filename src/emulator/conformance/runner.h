// Runs files and folders of conformance vectors on the emulator.
#pragma once

#include "base/result.h"
#include "emulator/conformance/outcome.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace asmevo::emulator::conformance {

/// A vector that is judged wrong itself, or that two sources disagree about: at most one in a hundred of a
/// family.
struct Exception {
  std::vector<std::string> ops; // mnemonics without encoding suffix
  std::string condition;        // text that the vector's id must contain; empty: all of these ops
  std::string reason, source;
};
/// Vectors judged wrong so far, with reason and source; used unless they are asked to be left out.
std::vector<Exception> known_exceptions();
/// BadInput: not that format.
Result<std::vector<Exception>> read_exceptions(const std::filesystem::path&);

struct Options {
  std::vector<Exception> exceptions = known_exceptions();
  std::string filter;   // only ids that contain this
  unsigned threads = 0; // 0: all cores
};

struct Report {
  std::vector<Outcome> outcomes; // in the order of the files and lines
  size_t passed = 0, failed = 0, skipped = 0;
};

/// Runs every .jsonl and .jsonl.zst under `paths`, in order of their names. BadInput: a path that is not
/// there, a line that is not JSON, exceptions for more than 1 % of a family's vectors or for one of origin
/// `hw`.
Result<Report> run(const std::vector<std::filesystem::path>& paths, const Options&);

} // namespace asmevo::emulator::conformance
