#include "emulator/trace.h"

#include "emulator/memory_access.h"
#include "emulator/workgroup.h"

#include <fmt/format.h>

#include <bit>

namespace asmevo::emulator {

namespace {

constexpr unsigned most_lanes_shown = 4;

isa::RegSet units_of(const auto& ranges) {
  isa::RegSet set;
  for (const isa::RegRange& r : ranges) set.insert(r);
  return set;
}

uint64_t first_lanes(uint64_t mask, unsigned count) {
  uint64_t rest = mask;
  for (unsigned i = 0; i < count && rest != 0; ++i) rest &= rest - 1;
  return mask & ~rest;
}

// "global 0x7000..: lane 0 0x.., lane 1 0x.., ..."
std::string addresses_of(const MemoryEvent& e, std::optional<unsigned> lane) {
  if (e.space == isa::MemoryKind::Scalar) return fmt::format(" {:#x}", e.addresses[0]);
  const uint64_t shown = lane ? e.lanes & (uint64_t{1} << *lane) : first_lanes(e.lanes, most_lanes_shown);
  std::string text;
  for_each_lane(shown, [&](unsigned l) { text += fmt::format(" [{}] {:#x}", l, e.addresses[l]); });
  if (!lane && shown != e.lanes) text += " ...";
  return text;
}

std::string_view name_of(isa::MemoryKind kind) {
  switch (kind) {
  case isa::MemoryKind::Scalar: return "scalar";
  case isa::MemoryKind::Buffer: return "buffer";
  case isa::MemoryKind::Global: return "global";
  case isa::MemoryKind::Flat: return "flat";
  case isa::MemoryKind::Scratch: return "scratch";
  case isa::MemoryKind::Lds: return "lds";
  case isa::MemoryKind::Gds: return "gds";
  case isa::MemoryKind::None: break;
  }
  return "memory";
}

} // namespace

Result<std::unique_ptr<Trace>> Trace::create(const isa::Target& target, TraceOptions options, Print print) {
  ASMEVO_TRY(auto codec, isa::Codec::create(target));
  return std::unique_ptr<Trace>(new Trace(std::move(codec), options, std::move(print)));
}

bool Trace::wanted(const Wave& wave, uint64_t pc) const {
  return (!options_.workgroup || wave.workgroup->index() == *options_.workgroup) &&
         (!options_.wave || wave.number == *options_.wave) && pc >= options_.first_pc &&
         pc <= options_.last_pc;
}

Trace::Contents Trace::contents(const Wave& wave, isa::RegUnit unit) const {
  Contents c{unit, isa::is_vector(unit), {}};
  const auto one = [&](uint32_t value) { c.lanes.lane[0] = value; };
  if (c.vector) {
    const Launch& launch = wave.workgroup->launch();
    const unsigned row =
        isa::is_vgpr(unit)
            ? unit
            : codeobject::accum_offset(launch.kernel->descriptor, launch.target) + unit - isa::unit::agpr0;
    if (row < launch.context.allocated_vgprs) c.lanes = wave.vectors[row];
  } else if (unit == isa::unit::mode) {
    one(wave.mode.bits());
  } else if (unit <= isa::unit::scc) {
    one(wave.scalars[unit - isa::unit::scalar0]);
  }
  return c;
}

std::string Trace::show(const Contents& c, uint64_t exec) const {
  if (!c.vector) return fmt::format("{:#010x}", c.lanes.lane[0]);
  if (options_.lane) return fmt::format("[{}] {:#010x}", *options_.lane, c.lanes.lane[*options_.lane]);
  if (exec == 0) return "no lane";
  const uint32_t first = c.lanes.lane[std::countr_zero(exec)];
  bool same = true;
  for_each_lane(exec, [&](unsigned l) { same &= c.lanes.lane[l] == first; });
  if (same) return fmt::format("{:#010x} in {}", first, exec == all_lanes ? "all lanes" : "all active lanes");
  const uint64_t shown = first_lanes(exec, most_lanes_shown);
  std::string text;
  for_each_lane(shown, [&](unsigned l) {
    text += fmt::format("{}[{}] {:#010x}", text.empty() ? "" : " ", l, c.lanes.lane[l]);
  });
  return shown == exec ? text : text + " ...";
}

std::string Trace::show_change(const Contents& was, const Contents& is, uint64_t exec) const {
  return fmt::format("{} -> {}", show(was, exec), show(is, exec));
}

void Trace::before(Wave& wave, const MicroOp& op) {
  const uint64_t pc = op.pc - wave.workgroup->launch().bias;
  active_ = wanted(wave, pc);
  if (!active_) return;
  if (printed_ >= options_.most) {
    ++left_out_;
    active_ = false;
    return;
  }
  ++printed_;
  exec_ = wave.exec();
  const isa::Instruction& i = *op.instruction;
  std::string line =
      fmt::format("wg {} wave {} {:>10x}  {}", wave.workgroup->index(), wave.number, pc, codec_->print(i));
  if (i.branch) line += fmt::format("  ({:x})", op.branch_target() - wave.workgroup->launch().bias);
  if (i.reads_exec && exec_ != all_lanes) line += fmt::format("  exec {:#018x}", exec_);
  print_(line);
  results_.clear();
  const isa::RegSet defs = units_of(i.defs);
  isa::RegSet reads = units_of(i.uses) - defs;
  for (const isa::RegUnit implied :
       {isa::unit::exec, static_cast<isa::RegUnit>(isa::unit::exec + 1), isa::unit::mode})
    reads.erase(implied); // nearly everything reads them
  reads.for_each([&](isa::RegUnit u) {
    if (u < isa::unit::hwreg) print_(fmt::format("    {} {}", isa::name(u), show(contents(wave, u), exec_)));
  });
  defs.for_each([&](isa::RegUnit u) {
    if (u < isa::unit::hwreg) results_.push_back(contents(wave, u));
  });
}

void Trace::memory(Wave&, const MicroOp&, const MemoryEvent& e) {
  if (!active_) return;
  print_(fmt::format("    {} {} {} bytes{}", name_of(e.space),
                     e.atomic  ? "atomic"
                     : e.store ? "store"
                               : "load",
                     e.bytes, addresses_of(e, options_.lane)));
}

void Trace::after(Wave& wave, const MicroOp& op) {
  if (!active_) return;
  // MFMA and the like write lanes that EXEC leaves out.
  const uint64_t lanes_written = op.instruction->writes_all_lanes ? all_lanes : exec_;
  for (const Contents& was : results_)
    print_(fmt::format("    {} {}", isa::name(was.unit),
                       show_change(was, contents(wave, was.unit), lanes_written)));
  if (wave.state == Wave::State::Faulted) print_(fmt::format("    fault: {}", wave.fault.text));
}

} // namespace asmevo::emulator
