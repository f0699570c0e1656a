#include "program/resource_check.h"

#include <fmt/format.h>

#include <map>
#include <optional>

namespace asmevo::program {

namespace {

using isa::Instruction;
using isa::RegRange;
using isa::RegUnit;

// How many registers of the range's file there are; none where it is not known. The two vector files are one:
// AGPRs start at accum_offset, and nothing stops a VGPR index that reaches into them (kernels without AGPRs
// do that).
std::optional<unsigned> allocated(const RegRange& r, const CheckOptions& o) {
  if (isa::is_vgpr(r.first) && o.allocated_vgprs != 0) return o.allocated_vgprs;
  if (isa::is_agpr(r.first) && o.allocated_vgprs != 0 && o.accum_offset != 0)
    return o.allocated_vgprs - std::min(o.accum_offset, o.allocated_vgprs);
  if (isa::is_sgpr(r.first) && o.allocated_sgprs != 0) return o.allocated_sgprs;
  return std::nullopt;
}

unsigned index_in_file(RegUnit u) {
  return isa::is_agpr(u) ? u - isa::unit::agpr0 : isa::is_vgpr(u) ? u : u - isa::unit::scalar0;
}

class ResourceCheck {
 public:
  ResourceCheck(const Program& program, const VectorModes& modes, const CheckOptions& options,
                FindingList& findings)
      : program_(program), modes_(modes), options_(options), findings_(findings) {}

  void block(const Block& block) {
    constants_.clear();
    for (Index i = block.begin; i < block.end; ++i) {
      const Instruction& instruction = program_.instruction(i);
      registers(i, instruction);
      if (options_.lds_bytes != 0) lds(i, instruction);
      track(i, instruction);
    }
  }

 private:
  void registers(Index at, const Instruction& i) {
    for (const auto* list : {&i.defs, &i.uses})
      for (const RegRange& r : *list) {
        const std::optional<unsigned> limit = allocated(r, options_);
        if (!limit || index_in_file(r.first) + r.count <= *limit) continue;
        Finding finding;
        finding.kind = FindingKind::Resource;
        finding.rule = "register-not-allocated";
        finding.consumer = at;
        finding.missing = fmt::format("allocation: the kernel has {} of this file", *limit);
        findings_.add(std::move(finding), r);
      }
  }

  // The address is base + offset; of two offsets each counts in elements, 64 of them with st64.
  void lds(Index at, const Instruction& i) {
    if (i.memory.kind != isa::MemoryKind::Lds || i.memory.bytes == 0) return;
    const isa::Operand* address = i.find(isa::Role::Vaddr);
    if (address == nullptr || modes_.indexed(at)) return;
    const auto base = constants_.find(address->reg.first);
    if (base == constants_.end()) return;
    const uint64_t last = base->second + furthest_offset(i);
    if (last <= options_.lds_bytes) return;
    Finding finding;
    finding.kind = FindingKind::Resource;
    finding.rule = "lds-out-of-range";
    finding.consumer = at;
    finding.object = "LDS";
    finding.register_class = "lds";
    finding.missing = fmt::format("LDS: the access ends at byte {} of {}", last, options_.lds_bytes);
    findings_.add(std::move(finding));
  }

  static uint64_t furthest_offset(const Instruction& i) {
    const auto offset = static_cast<uint32_t>(i.mods.offset);
    const bool two = i.base_mnemonic.find("2_b") != std::string_view::npos ||
                     i.base_mnemonic.find("2st64") != std::string_view::npos ||
                     i.base_mnemonic.find("xchg2") != std::string_view::npos;
    if (!two) return uint64_t{offset} + i.memory.bytes;
    const uint64_t element = i.memory.bytes / 2U;
    const uint64_t stride = i.base_mnemonic.find("st64") != std::string_view::npos ? 64 * element : element;
    return std::max(offset & 0xff, offset >> 8 & 0xff) * stride + element;
  }

  // v_mov_b32 of an immediate, until the register is written again.
  void track(Index at, const Instruction& i) {
    for (const RegRange& d : i.defs)
      constants_.erase(constants_.lower_bound(d.first),
                       constants_.lower_bound(static_cast<RegUnit>(d.first + d.count)));
    if (!i.is("v_mov_b32") || i.extension == isa::Extension::Dpp || i.extension == isa::Extension::Sdwa)
      return;
    if (modes_.indexed(at) || modes_.skipped(at)) return;
    const isa::Operand* source = i.find(isa::Role::Src0);
    const isa::Operand* result = i.find(isa::Role::Vdst);
    if (source == nullptr || result == nullptr || source->kind == isa::Operand::Kind::Register) return;
    constants_[result->reg.first] = static_cast<uint32_t>(source->value);
  }

  const Program& program_;
  const VectorModes& modes_;
  const CheckOptions& options_;
  FindingList& findings_;
  std::map<RegUnit, uint32_t> constants_;
};

} // namespace

void check_resources(const Program& program, const Function&, const Cfg& cfg, const VectorModes& modes,
                     const CheckOptions& options, FindingList& findings) {
  ResourceCheck check(program, modes, options, findings);
  for (const Block& block : cfg.blocks())
    if (block.reachable) check.block(block);
}

} // namespace asmevo::program
