#include "soundness/drafts.h"

namespace asmevo::soundness {

std::string_view name(DefectClass c) {
  constexpr std::array<std::string_view, defect_classes> names = {
      "work skipped",      "last tile dropped", "wait removed", "output partly stale",      "aliasing broken",
      "guard overwritten", "ABI field changed", "NaN hidden",   "right on seen cases only", "own old output"};
  return names[static_cast<size_t>(c)];
}

std::string or_end(std::string_view condition) {
  return fmt::format("{}\ns_cbranch_scc1 planted_go_on\ns_endpgm\nplanted_go_on:\ns_nop 0", condition);
}

std::vector<program::Index> stores_of(const Bench& bench) {
  std::vector<program::Index> list;
  const program::Function& f = bench.function();
  for (program::Index i = f.begin; i < f.padding; ++i) {
    const isa::MemoryAccess& m = bench.program().instruction(i).memory;
    const bool global = m.kind == isa::MemoryKind::Global || m.kind == isa::MemoryKind::Flat ||
                        m.kind == isa::MemoryKind::Buffer;
    if (global && m.store && !m.atomic) list.push_back(i);
  }
  return list;
}

std::string place_text(const Bench& bench, program::Index i) {
  return fmt::format("{}: {}", bench.id(i).text(), bench.text(i));
}

} // namespace asmevo::soundness
