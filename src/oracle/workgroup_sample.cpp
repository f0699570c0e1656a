#include "oracle/workgroup_sample.h"

#include "base/random.h"

#include <algorithm>
#include <set>

namespace asmevo::oracle {

std::vector<uint64_t> sample_workgroups(const std::array<uint64_t, 3>& grid, uint64_t count, uint64_t seed) {
  const uint64_t total = grid[0] * grid[1] * grid[2];
  std::set<uint64_t> chosen;
  if (total <= count) {
    for (uint64_t i = 0; i < total; ++i) chosen.insert(i);
  } else {
    for (unsigned corner = 0; corner < 8; ++corner) {
      const uint64_t x = (corner & 1) != 0 ? grid[0] - 1 : 0, y = (corner & 2) != 0 ? grid[1] - 1 : 0,
                     z = (corner & 4) != 0 ? grid[2] - 1 : 0;
      chosen.insert(x + grid[0] * (y + grid[1] * z));
    }
    RandomStream random(seed);
    while (chosen.size() < count) chosen.insert(random.below(total));
  }
  return {chosen.begin(), chosen.end()};
}

bool uses_global_atomics(const program::Program& program, std::string_view kernel) {
  for (const program::Function& f : program.functions) {
    if (f.kernel && f.name != kernel) continue; // kernels do not call one another
    for (program::Index i = f.begin; i < f.end; ++i) {
      const isa::MemoryAccess& memory = program.entries[i].instruction->memory;
      const bool shared = memory.kind == isa::MemoryKind::Global || memory.kind == isa::MemoryKind::Flat ||
                          memory.kind == isa::MemoryKind::Buffer || memory.kind == isa::MemoryKind::Scalar;
      if (memory.atomic && shared) return true;
    }
  }
  return false;
}

} // namespace asmevo::oracle
