// The kernarg segment of a launch: each argument at its offset, checked against what the code object's
// metadata says the kernel takes.
#pragma once

#include "codeobject/metadata.h"
#include "oracle/launch_memory.h"

namespace asmevo::oracle {

/// The explicit arguments' bytes. `tables` gets the addresses of the tables in memory that arguments of kind
/// Pointers need; the caller releases them after the launch.
///
/// With metadata that lists arguments, the n-th argument of the spec is the n-th explicit one there, and must
/// have its size; where the spec says `at`, arguments need only lie within the explicit ones. Without, each
/// goes behind the one before, aligned to its size. BadInput, naming the line and the argument: too few or
/// too many, another size, a pointer for a number, values that do not fit the type, overlaps, offsets beyond
/// the buffer.
Result<Bytes> build_kernarg(const std::vector<ArgumentSpec>&, const Scope&, const codeobject::KernelMetadata*,
                            LaunchMemory&, std::vector<uint64_t>& tables);

} // namespace asmevo::oracle
