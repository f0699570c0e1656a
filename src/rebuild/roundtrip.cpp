#include "rebuild/roundtrip.h"

#include "rebuild/assembly.h"

#include <algorithm>
#include <map>

namespace asmevo::rebuild {

namespace {

// Instructions whose dead bits are kept beside them, by mnemonic.
std::vector<std::string> describe_repairs(const program::Program& program) {
  std::map<std::string_view, size_t> counts;
  for (const program::Entry& e : program.entries)
    if (e.instruction->has_dead_bits()) ++counts[e.instruction->mnemonic];
  std::vector<std::string> lines;
  lines.reserve(counts.size());
  for (const auto& [mnemonic, count] : counts)
    lines.push_back(fmt::format("{} {}: encoding bits without meaning kept as they are", count, mnemonic));
  return lines;
}

} // namespace

Result<RoundTrip> roundtrip(Bytes bytes, Route route, isa::Codec& codec) {
  ASMEVO_TRY(const Original k0, Original::open(std::move(bytes), codec));
  RoundTrip result;
  result.route = route;
  result.instructions = k0.program().entries.size();
  result.repaired = k0.recovery.repaired;
  result.repairs = describe_repairs(k0.program());
  result.gaps = k0.recovery.gaps;
  Bytes again;
  if (route == Route::Direct) {
    ASMEVO_TRY(Built built, rebuild(k0, k0.program(), "", {}));
    again = std::move(built.object);
  } else {
    ASMEVO_TRY(const std::string text, write_assembly(k0.object, k0.recovery, codec));
    ASMEVO_TRY(again, assemble(text, "recovered assembly"));
  }
  // Equal files need no closer look.
  if (std::ranges::equal(again, k0.object.bytes())) {
    result.identical = true;
    return result;
  }
  ASMEVO_TRY(const codeobject::CodeObject rebuilt, codeobject::CodeObject::parse(std::move(again)));
  ObjectComparison comparison = compare_objects(k0.object, rebuilt, route);
  result.masks = std::move(comparison.masks);
  result.differences = std::move(comparison.differences);
  result.identical = result.differences.empty();
  return result;
}

} // namespace asmevo::rebuild
