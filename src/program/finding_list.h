// Where the parts of the static check put what they find.
#pragma once

#include "program/static_check.h"

#include <set>
#include <tuple>

namespace asmevo::program {

/// "vgpr", "agpr", "sgpr", "vcc", "exec", "m0", "scc", "other"
std::string_view register_class(isa::RegUnit);

class FindingList {
 public:
  explicit FindingList(const Program& program) : program_(program) {}

  /// Fills in ids and the message; drops what is there already.
  void add(Finding finding);
  /// `object`, `register_class` from a range of registers.
  void add(Finding finding, const isa::RegRange& registers);
  std::vector<Finding> take(); // in address order

 private:
  const Program& program_;
  std::vector<Finding> findings_;
  std::set<std::tuple<std::string, Index, Index>> seen_;
};

} // namespace asmevo::program
