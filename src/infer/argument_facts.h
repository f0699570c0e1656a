// What observations say of one argument, with how sure that is and why.
#pragma once

#include "infer/infer.h"

namespace asmevo::infer {

struct TypeFacts {
  ValueType type = ValueType::None;
  unsigned bits = 0; // of an element; of the narrowest access where the type is not known
  Confidence confidence = Confidence::Low;
  std::string evidence;
};

/// The elements of a region.
TypeFacts type_of_region(const Observations&, unsigned region);
/// A number in the kernarg segment, of `bytes` bytes.
TypeFacts type_of_scalar(const Observations&, uint64_t offset, uint64_t bytes);

struct RoleFacts {
  oracle::Role role = oracle::Role::In;
  bool atomic = false;
  Confidence confidence = Confidence::Low;
  std::vector<std::string> evidence;
};
RoleFacts role_of_region(const Observations&, unsigned region);

/// Whether its elements decide where memory is accessed, or how often something is done.
bool is_index(const Observations&, unsigned region);
bool is_count(const Observations&, unsigned region);

/// Everything of an argument. `all`: what all probes have shown, `last`: the probe with the launch as it will
/// be written, which decides extents.
InferredArgument describe_pointer(const KernargField&, const KernargFields&, const Observations& all,
                                  const Observations& last, isa::Gfx);
InferredArgument describe_scalar(const KernargField&, const Observations& all, isa::Gfx);

} // namespace asmevo::infer
