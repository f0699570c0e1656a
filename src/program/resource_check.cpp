#include "program/resource_check.h"

#include "program/memory_reference.h"

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
      lds(i, instruction);
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

  // Beyond what a compute unit has is wrong however much the launch adds. An unknown address may be negative
  // and bring a large offset back.
  void lds(Index at, const Instruction& i) {
    if (i.memory.kind != isa::MemoryKind::Lds || i.memory.bytes == 0 || modes_.skipped(at)) return;
    const isa::Operand* address = i.find(isa::Role::Vaddr);
    if (address == nullptr) return;
    const auto base = modes_.indexed(at) ? constants_.end() : constants_.find(address->reg.first);
    const bool known = base != constants_.end();
    int64_t end = 0;
    for (const MemoryReference::Span& span : memory_reference(i).spans)
      end = std::max(end, span.offset + span.bytes);
    if (known) end += base->second;
    const bool certain = known && end > isa::limits(program_.target).lds_bytes;
    if (!certain && (!options_.possible || !options_.lds_bytes || end <= *options_.lds_bytes)) return;
    Finding finding;
    finding.kind = FindingKind::Resource;
    finding.rule = "lds-out-of-range";
    finding.consumer = at;
    finding.possible = !certain;
    finding.object = "LDS";
    finding.register_class = "lds";
    finding.missing =
        fmt::format("LDS: {} ends at byte {} of {}", known ? "the access" : "from address 0 the access", end,
                    certain ? isa::limits(program_.target).lds_bytes : *options_.lds_bytes);
    findings_.add(std::move(finding));
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
