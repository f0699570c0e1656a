// What a mutation score is made of, fixed before the first one was taken.
#pragma once

#include <cstddef>
#include <cstdint>

namespace asmevo::mutation {

inline constexpr uint64_t fixed_seed = 20261129;
inline constexpr size_t semantic_count = 50, timing_count = 20, rewrite_count = 50; // of each kernel

} // namespace asmevo::mutation
