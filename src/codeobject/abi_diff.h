// What must not change between K0 and a candidate, compared field by field: a host program that launches K0
// must be able to launch the candidate without knowing. Resources that may follow the code (registers,
// scratch, LDS) are compared too and reported as allowed.
#pragma once

#include "codeobject/code_object.h"

#include <string>
#include <vector>

namespace asmevo::codeobject {

struct AbiDifference {
  std::string where; // "kernel foo", "object"
  std::string field; // "kernarg_segment_size", "descriptor.enable_sgpr_dispatch_ptr"
  std::string k0, candidate;
  bool frozen = true; // false: a resource, free to follow the code
};

struct AbiDiff {
  std::vector<AbiDifference> differences;
  size_t fields_compared = 0;
  bool compatible() const; // no frozen field differs
};

AbiDiff abi_diff(const CodeObject& k0, const CodeObject& candidate);

} // namespace asmevo::codeobject
