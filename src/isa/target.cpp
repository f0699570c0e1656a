#include "isa/target.h"

#include <array>
#include <utility>

namespace asmevo::isa {

namespace {

// llvm/BinaryFormat/ELF.h, EF_AMDGPU_*.
constexpr uint32_t mach_mask = 0x0ff;
constexpr uint32_t xnack_mask = 0x300, sramecc_mask = 0xc00;

struct Machine {
  uint32_t mach;
  std::string_view name;
};
constexpr Machine machines[] = {
    {0x020, "gfx600"},          {0x021, "gfx601"},          {0x03a, "gfx602"},
    {0x022, "gfx700"},          {0x023, "gfx701"},          {0x024, "gfx702"},
    {0x025, "gfx703"},          {0x026, "gfx704"},          {0x03b, "gfx705"},
    {0x028, "gfx801"},          {0x029, "gfx802"},          {0x02a, "gfx803"},
    {0x03c, "gfx805"},          {0x02b, "gfx810"},          {0x02c, "gfx900"},
    {0x02d, "gfx902"},          {0x02e, "gfx904"},          {0x02f, "gfx906"},
    {0x030, "gfx908"},          {0x031, "gfx909"},          {0x032, "gfx90c"},
    {0x03f, "gfx90a"},          {0x040, "gfx940"},          {0x04b, "gfx941"},
    {0x04c, "gfx942"},          {0x04f, "gfx950"},          {0x05f, "gfx9-4-generic"},
    {0x051, "gfx9-generic"},    {0x033, "gfx1010"},         {0x034, "gfx1011"},
    {0x035, "gfx1012"},         {0x042, "gfx1013"},         {0x036, "gfx1030"},
    {0x037, "gfx1031"},         {0x038, "gfx1032"},         {0x039, "gfx1033"},
    {0x03e, "gfx1034"},         {0x03d, "gfx1035"},         {0x045, "gfx1036"},
    {0x041, "gfx1100"},         {0x046, "gfx1101"},         {0x047, "gfx1102"},
    {0x044, "gfx1103"},         {0x043, "gfx1150"},         {0x04a, "gfx1151"},
    {0x055, "gfx1152"},         {0x058, "gfx1153"},         {0x048, "gfx1200"},
    {0x04e, "gfx1201"},         {0x049, "gfx1250"},         {0x05a, "gfx1251"},
    {0x052, "gfx10-1-generic"}, {0x053, "gfx10-3-generic"}, {0x054, "gfx11-generic"},
    {0x059, "gfx12-generic"},
};

// The V4 encoding: 0 unsupported, 1 any, 2 off, 3 on. All three targets support both features.
Feature feature_of(uint32_t bits) {
  return bits == 2 ? Feature::Off : bits == 3 ? Feature::On : Feature::Any;
}
uint32_t bits_of(Feature feature) {
  return feature == Feature::Any ? 1 : feature == Feature::Off ? 2 : 3;
}

} // namespace

std::string gpu_name(uint32_t e_flags) {
  for (const Machine& m : machines)
    if (m.mach == (e_flags & mach_mask)) return std::string(m.name);
  return fmt::format("unknown GPU {:#x}", e_flags & mach_mask);
}

Result<Target> Target::from_elf_flags(uint32_t e_flags) {
  Target target;
  const std::string gpu = gpu_name(e_flags);
  if (gpu == "gfx90a")
    target.gfx = Gfx::gfx90a;
  else if (gpu == "gfx942")
    target.gfx = Gfx::gfx942;
  else if (gpu == "gfx950")
    target.gfx = Gfx::gfx950;
  else if (gpu == "gfx9-4-generic")
    target.generic = true;
  else
    return unsupported("code object is for {}; this program handles gfx90a, gfx942 and gfx950", gpu);
  target.xnack = feature_of((e_flags & xnack_mask) >> 8);
  target.sramecc = feature_of((e_flags & sramecc_mask) >> 10);
  return target;
}

Result<Target> Target::from_id(std::string_view id) {
  const std::string_view whole = id;
  if (constexpr std::string_view prefix = "amdgcn-amd-amdhsa-"; id.starts_with(prefix)) {
    id.remove_prefix(prefix.size());
    if (id.starts_with('-')) id.remove_prefix(1);
  }
  Target target;
  const size_t colon = std::min(id.find(':'), id.size());
  const std::string_view gpu = id.substr(0, colon);
  if (gpu == "gfx90a")
    target.gfx = Gfx::gfx90a;
  else if (gpu == "gfx942")
    target.gfx = Gfx::gfx942;
  else if (gpu == "gfx950")
    target.gfx = Gfx::gfx950;
  else if (gpu == "gfx9-4-generic")
    target.generic = true;
  else
    return unsupported("target '{}': this program handles gfx90a, gfx942 and gfx950", whole);
  for (id.remove_prefix(colon); !id.empty();) {
    id.remove_prefix(1);
    const size_t end = std::min(id.find(':'), id.size());
    const std::string_view feature = id.substr(0, end);
    id.remove_prefix(end);
    if (feature == "xnack+")
      target.xnack = Feature::On;
    else if (feature == "xnack-")
      target.xnack = Feature::Off;
    else if (feature == "sramecc+")
      target.sramecc = Feature::On;
    else if (feature == "sramecc-")
      target.sramecc = Feature::Off;
    else
      return bad_input("target '{}': unknown feature '{}'", whole, feature);
  }
  return target;
}

std::string_view Target::name() const {
  constexpr std::array<std::string_view, 3> names = {"gfx90a", "gfx942", "gfx950"};
  return names[std::to_underlying(gfx)];
}

std::string Target::id() const {
  std::string text(name());
  if (sramecc != Feature::Any) text += sramecc == Feature::On ? ":sramecc+" : ":sramecc-";
  if (xnack != Feature::Any) text += xnack == Feature::On ? ":xnack+" : ":xnack-";
  return text;
}

std::string Target::triple_id() const {
  return "amdgcn-amd-amdhsa--" + id();
}

uint32_t Target::elf_flags() const {
  uint32_t mach = gfx == Gfx::gfx90a ? 0x3f : gfx == Gfx::gfx942 ? 0x4c : 0x4f;
  if (generic) mach = 0x5f | 1U << 24; // EF_AMDGPU_GENERIC_VERSION 1
  return mach | bits_of(xnack) << 8 | bits_of(sramecc) << 10;
}

Limits limits(const Target& target) {
  Limits limits;
  if (target.gfx == Gfx::gfx950) {
    limits.lds_bytes = 163840;
    limits.lds_granule = 1280;
  }
  return limits;
}

} // namespace asmevo::isa
