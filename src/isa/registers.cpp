#include "isa/registers.h"

#include <fmt/format.h>

namespace asmevo::isa {

namespace {

std::string indexed(std::string_view prefix, unsigned first, unsigned count) {
  return count == 1 ? fmt::format("{}{}", prefix, first)
                    : fmt::format("{}[{}:{}]", prefix, first, first + count - 1);
}

// Two-unit registers that have names for the pair and for each half.
std::string paired(std::string_view base, unsigned half, unsigned count) {
  return count == 2 ? std::string(base) : fmt::format("{}_{}", base, half == 0 ? "lo" : "hi");
}

} // namespace

std::string name(const RegRange& r) {
  if (r.count == 0) return "constant"; // src_shared_base and its like
  if (is_vgpr(r.first)) return indexed("v", r.first, r.count);
  if (is_agpr(r.first)) return indexed("a", r.first - unit::agpr0, r.count);
  if (r.first < unit::flat_scratch) return indexed("s", r.first - unit::scalar0, r.count);
  if (r.first < unit::xnack_mask) return paired("flat_scratch", r.first - unit::flat_scratch, r.count);
  if (r.first < unit::vcc) return paired("xnack_mask", r.first - unit::xnack_mask, r.count);
  if (r.first < unit::ttmp0) return paired("vcc", r.first - unit::vcc, r.count);
  if (r.first < unit::m0) return indexed("ttmp", r.first - unit::ttmp0, r.count);
  if (r.first == unit::m0) return "m0";
  if (r.first == unit::exec || r.first == unit::exec + 1)
    return paired("exec", r.first - unit::exec, r.count);
  if (r.first == unit::scc) return "scc";
  if (r.first == unit::mode) return "mode";
  if (r.first == unit::hwreg) return "hwreg";
  return fmt::format("unit{}", r.first);
}

} // namespace asmevo::isa
