// Which workgroups to run of a dispatch that is too large to run whole.
#pragma once

#include "program/program.h"

#include <array>
#include <cstdint>
#include <vector>

namespace asmevo::oracle {

/// `count` workgroups of a grid, ascending: its corners, where sizes that leave remainders show, and others
/// drawn by the seed. All of them where there are no more.
std::vector<uint64_t> sample_workgroups(const std::array<uint64_t, 3>& grid, uint64_t count, uint64_t seed);

/// Whether `kernel`, or a function that it may call, changes memory of all workgroups by atomics: its results
/// then depend on all of them.
bool uses_global_atomics(const program::Program&, std::string_view kernel);

} // namespace asmevo::oracle
