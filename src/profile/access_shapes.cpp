#include "profile/access_shapes.h"

#include "timing/lds_conflicts.h"

#include <algorithm>
#include <cmath>

namespace asmevo::profile {

namespace {

// Of neighbouring pieces that lie in one line, the first counts, as in the first cache.
double lines_of(const timing::WaveTrace& wave, const timing::TracedAccess& access, unsigned line) {
  double lines = 0;
  uint64_t last = ~uint64_t{0};
  for (uint32_t n = access.first_piece; n < access.first_piece + access.pieces; ++n) {
    const uint64_t number = wave.pieces[n].address() / line;
    lines += number != last ? 1 : 0;
    last = number;
  }
  return lines;
}

// Neighbouring lanes have no conflicts among them: what so many of them cost is the least.
double least_lds_cycles(uint32_t lanes, unsigned bytes, unsigned banks) {
  constexpr unsigned all = 64;
  std::array<uint64_t, all> addresses{};
  for (unsigned n = 0; n < all; ++n) addresses[n] = uint64_t{n} * bytes;
  const uint64_t mask = lanes >= all ? ~uint64_t{0} : (uint64_t{1} << lanes) - 1;
  return timing::lds_cycles(addresses.data(), mask, bytes, banks);
}

bool counts(const isa::Instruction& i) {
  return i.memory.kind != isa::MemoryKind::None && i.memory.kind != isa::MemoryKind::Scalar;
}

// ds_read2 and its like make two, of half the bytes each.
unsigned accesses_a_lane(const isa::Instruction& i) {
  const auto has = [&](std::string_view part) {
    return i.base_mnemonic.find(part) != std::string_view::npos;
  };
  return has("read2") || has("write2") ? 2 : 1;
}

void add(AccessShape& shape, const timing::WaveTrace& wave, const timing::TracedAccess& access,
         const isa::Instruction& instruction, unsigned line, unsigned banks) {
  const unsigned bytes = std::max<unsigned>(1, instruction.memory.bytes / accesses_a_lane(instruction));
  ++shape.accesses;
  shape.lanes += access.lanes;
  if (access.space == isa::MemoryKind::Lds) {
    shape.cycles += access.cycles;
    shape.least_cycles += std::min<double>(access.cycles, least_lds_cycles(access.lanes, bytes, banks));
    return;
  }
  const double lines = lines_of(wave, access, line);
  shape.lines += lines;
  shape.least_lines += std::min(lines, std::ceil(static_cast<double>(access.lanes) * bytes / line));
}

} // namespace

std::map<uint64_t, AccessShape> access_shapes(const timing::DispatchTrace& trace, unsigned line,
                                              unsigned banks) {
  std::map<uint32_t, AccessShape> by_op;
  for (const timing::WorkgroupTrace& group : trace.groups)
    for (const timing::WaveTrace& wave : group.waves) {
      uint32_t access = 0;
      for (const timing::TracedStep& step : wave.steps) {
        const isa::Instruction& i = *trace.instructions.at(step.op);
        if (!counts(i)) {
          access = step.accesses_end;
          continue;
        }
        AccessShape& shape = by_op[step.op];
        ++shape.times;
        for (; access < step.accesses_end; ++access) add(shape, wave, wave.accesses[access], i, line, banks);
      }
    }
  std::map<uint64_t, AccessShape> shapes;
  for (const auto& [op, shape] : by_op) shapes[trace.code_address + uint64_t{op} * 4] = shape;
  return shapes;
}

} // namespace asmevo::profile
