// Which way control goes where scalars say so: constants in SGPRs, SCC, and whether VCC and EXEC have any
// lane, followed along a path. For loops whose number of turns is written into the code.
#pragma once

#include "profile/kernel_code.h"

#include <map>
#include <optional>

namespace asmevo::search {

class ScalarPath {
 public:
  /// `widest`: EXEC is as wide as it gets before this entry (program/widest_exec.h), so some lane is on.
  void step(const isa::Instruction&, bool widest);
  /// Whether a conditional branch is taken; nothing where that is not known.
  std::optional<bool> taken(const isa::Instruction& branch, bool widest) const;
  /// What holds on both paths.
  void merge(const ScalarPath& other);
  friend bool operator==(const ScalarPath&, const ScalarPath&) = default;

 private:
  std::optional<uint64_t> value(const isa::Operand&, unsigned registers) const;
  void set(const isa::RegRange&, uint64_t value);
  bool arithmetic(const isa::Instruction&);
  bool comparison(const isa::Instruction&);
  bool lanes(const isa::Instruction&, bool widest);

  std::map<isa::RegUnit, uint32_t> known_;
  std::optional<bool> scc_, vcc_; // VCC: has any lane
};

} // namespace asmevo::search
