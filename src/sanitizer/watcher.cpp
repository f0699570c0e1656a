#include "sanitizer/watcher.h"

#include "codeobject/code_object.h"
#include "emulator/interpreter_loop.h"
#include "emulator/memory_access.h"

#include <fmt/format.h>

#include <algorithm>

namespace asmevo::sanitizer {

using emulator::MemoryEvent;
using emulator::MicroOp;
using emulator::Wave;
using emulator::Workgroup;
using isa::MemoryKind;
using program::FlightClass;

namespace {

unsigned initial_sgprs(const emulator::Launch& launch) {
  const emulator::Launch::WaveRegisters& r = launch.registers;
  const auto ids = static_cast<size_t>(std::ranges::count(r.workgroup_id, true));
  return static_cast<unsigned>(launch.user_sgprs.size() + ids + (r.workgroup_info ? 1 : 0) +
                               (r.scratch_offset ? 1 : 0));
}

std::string wait_text(FlightClass c, unsigned n) {
  return fmt::format("s_waitcnt {}({}) before the second", program::counter_name(c), n);
}

std::string nops(unsigned states) {
  return fmt::format("{} more wait state{} between them (s_nop)", states, states == 1 ? "" : "s");
}

bool in_shared_memory(MemoryKind kind) {
  return kind == MemoryKind::Global || kind == MemoryKind::Buffer || kind == MemoryKind::Scalar;
}

// Past the caches (sc bits; glc and scc on gfx90a).
bool synchronises(const isa::Instruction& i) {
  return i.mods.sc0 || i.mods.sc1;
}

} // namespace

// --- workgroups

void Watcher::workgroup_started(Workgroup& group) {
  const emulator::Launch& launch = group.launch();
  bias_ = launch.bias;
  rows_ = launch.context.allocated_vgprs;
  accum_offset_ = codeobject::accum_offset(launch.kernel->descriptor, launch.target);
  workgroup_ = group.index();
  waves_.resize(launch.waves_per_group);
  for (uint32_t w = 0; w < waves_.size(); ++w) start_wave_watch(waves_[w], w, group);
  if (options_.lds) lds_.start(launch.lds_bytes);
  dma_.clear();
  conflicts_.clear();
  dma_conflicts_.clear();
  if (options_.global) {
    touches_ = std::make_unique<WorkgroupTouches>();
    touches_->workgroup = workgroup_;
  }
}

void Watcher::start_wave_watch(WaveWatch& w, uint32_t number, const Workgroup& group) {
  const emulator::Launch& launch = group.launch();
  w.flight.clear();
  w.states.clear();
  w.at_barrier = nullptr;
  w.operations = 0;
  w.unknown.clear();
  w.written.assign(row_units, 0);
  const std::array<uint32_t, 3> size = emulator::workgroup_size(launch, group.index());
  const uint32_t items = size[0] * size[1] * size[2], first = number * emulator::lanes;
  const uint32_t here = items > first ? std::min(items - first, emulator::lanes) : 0;
  for (unsigned u = 0; u < std::min(rows_, row_units); ++u) w.unknown.insert(u);
  w.written[0] = here == emulator::lanes ? emulator::all_lanes : (uint64_t{1} << here) - 1;
  if (w.written[0] == emulator::all_lanes) w.unknown.erase(0);
  for (unsigned s = initial_sgprs(launch); s <= emulator::slot::scc; ++s) w.unknown.insert(row_units + s);
  for (unsigned s = emulator::slot::ttmp0; s < emulator::slot::m0; ++s) w.unknown.erase(row_units + s);
  const auto known_pair = [&](unsigned s) {
    w.unknown.erase(row_units + s), w.unknown.erase(row_units + s + 1);
  };
  if (!launch.target.architected_flat_scratch()) known_pair(emulator::slot::flat_scratch);
  known_pair(emulator::slot::xnack_mask);
  known_pair(emulator::slot::exec);
}

void Watcher::workgroup_ended(Workgroup& group) {
  collector_.workgroup_ended(group.index(), std::exchange(defects_, {}), std::move(touches_));
}

void Watcher::give_up() {
  if (!defects_.empty()) collector_.workgroup_ended(workgroup_, std::exchange(defects_, {}), nullptr);
}

// --- instructions

uint64_t Watcher::run(Wave& wave, emulator::Code& code, uint64_t budget) {
  return emulator::run_loop(wave, code, budget, *this);
}

// Most instructions compute registers from registers that nothing is odd about.
void Watcher::before(Wave& wave, const MicroOp& op) {
  OpInfo& info = info_of(op);
  WaveWatch& w = waves_[wave.number];
  if (info.simple && wave.attention == 0 && !info.touched.meets_either(w.flight.pending(), w.unknown))
      [[likely]] {
    if (!w.states.arrive(info)) check_wait_states(wave, w, info);
    return w.states.execute(info);
  }
  look_at(wave, w, info);
}

void Watcher::look_at(Wave& wave, WaveWatch& w, OpInfo& plain) {
  const OpInfo* info = &plain;
  if (wave.attention != 0) [[unlikely]] {
    if (plain.vector && (wave.attention & Wave::vskip) != 0) return;
    if (plain.valu && (wave.attention & Wave::vgpr_indexing) != 0) {
      indexed_ = describe_indexed(plain, wave.scalars[emulator::slot::m0], rows_);
      info = &indexed_;
    }
  }
  if (info->touched.meets(w.flight.pending())) check_flight(wave, w, *info);
  if (info->waits) {
    w.flight.wait(info->wait);
    if (!dma_.empty()) retire_dma(wave.number, w.flight);
  }
  if (info->touched.meets(w.unknown)) {
    if (info->uses.meets(w.unknown)) check_unknown(wave, w, *info);
    define(wave, w, *info);
  }
  if (options_.convergence && plain.every_lane) check_lanes(wave, plain);
  const bool known = info == &plain;
  if (!w.states.arrive(plain) && known) check_wait_states(wave, w, plain);
  w.states.execute(plain, known);
  if (plain.op->instruction->issue == isa::IssueClass::Barrier) w.at_barrier = &plain;
  if (plain.flight) w.flight.issue(plain, wave.exec(), ++w.operations);
}

void Watcher::check_wait_states(const Wave& wave, WaveWatch& w, OpInfo& info) {
  w.states.look(info, rules_, target_, [&](const WaitStates::Broken& b) {
    if (!options_.wait_states) return;
    RawDefect d = defect(DefectKind::WaitStates, std::string(isa::name(b.hazard.rule)), b.possible, b.first,
                         info, wave);
    d.object = b.hazard.object.count == 0 ? "hardware register" : isa::name(b.hazard.object);
    d.lacking = b.missing;
    d.fix = nops(b.missing);
    add(std::move(d));
  });
}

void Watcher::check_flight(Wave& wave, WaveWatch& w, const OpInfo& info) {
  while (true) {
    const InFlight::Clash clash = w.flight.find(info, wave.exec());
    if (clash.operation == nullptr) return;
    RawDefect d = defect(DefectKind::InFlight, std::string(program::counter_name(clash.in)), clash.doubtful,
                         clash.operation->info, info, wave);
    d.object = unit_name(clash.unit, accum_offset_);
    d.fix = wait_text(clash.in, clash.wait);
    if (options_.in_flight) add(std::move(d));
    w.flight.complete(clash.in, clash.wait); // one mistake, one finding
  }
}

void Watcher::check_unknown(Wave& wave, WaveWatch& w, const OpInfo& info) {
  // Lanes that are off matter to few of those that read them.
  const uint64_t read = wave.exec();
  (info.uses & w.unknown).for_each([&](unsigned u) {
    if (info.defs.contains(u) && info.keeps_part) return; // the other half may never matter
    const uint64_t missing = is_row(u) ? read & ~w.written[u] : ~uint64_t{0};
    if (missing == 0) return;
    if (options_.uninitialised && options_.possible) {
      // What is read may still not matter: compilers leave registers undefined on paths that do not use them.
      RawDefect d =
          defect(DefectKind::Uninitialised, is_row(u) ? "vector" : "scalar", true, nullptr, info, wave);
      d.object = unit_name(u, accum_offset_);
      if (is_row(u)) d.lane = std::countr_zero(missing);
      add(std::move(d));
    }
    if (is_row(u))
      w.written[u] |= missing;
    else
      w.unknown.erase(u);
  });
}

void Watcher::define(const Wave& wave, WaveWatch& w, const OpInfo& info) {
  const uint64_t lanes = info.defines_every_lane ? emulator::all_lanes : wave.exec();
  (info.defs & w.unknown).for_each([&](unsigned u) {
    if (is_row(u)) w.written[u] |= lanes;
    if (!is_row(u) || w.written[u] == emulator::all_lanes) w.unknown.erase(u);
  });
}

// v_readfirstlane with no lane on reads lane 0.
void Watcher::check_lanes(Wave& wave, const OpInfo& info) {
  if (wave.exec() != 0 || !options_.possible || !info.op->instruction->is("v_readfirstlane_b32")) return;
  RawDefect d = defect(DefectKind::Convergence, "no lane is on", true, nullptr, info, wave);
  d.object = "exec";
  add(std::move(d));
}

// --- memory

void Watcher::memory(Wave& wave, const MicroOp& op, const MemoryEvent& e) {
  OpInfo& info = info_of(op);
  if (e.space == MemoryKind::Lds) {
    if (options_.lds) lds_access(wave, info, e);
  } else if (touches_ && in_shared_memory(e.space)) {
    if (!std::exchange(info.told, true)) collector_.know(op.index, {op.instruction, pc_of(info)});
    touches_->note(e, op.index, synchronises(*op.instruction));
  }
}

void Watcher::report_lds(const Wave& wave, const OpInfo& info, const LdsShadow::Conflict& c, bool write,
                         bool possible) {
  RawDefect d = defect(DefectKind::LdsRace,
                       fmt::format("{}-{}", c.read_before ? "read" : "write", write ? "write" : "read"),
                       possible, &infos_.at(c.op), info, wave);
  d.first_wave = c.wave;
  d.object = fmt::format("lds {:#x}", c.byte);
  d.lane = static_cast<int>(c.lane);
  d.fix = "s_barrier between them";
  add(std::move(d));
}

void Watcher::lds_access(Wave& wave, const OpInfo& info, const MemoryEvent& e) {
  if (!dma_.empty()) check_dma(wave, info, e);
  const LdsShadow::Seen seen = lds_.access(e, wave.number, info.op->index);
  for (const LdsShadow::Conflict& c : seen.write_write) // the same again harms nobody: see after()
    conflicts_.push_back({c, wave.lds[c.byte]});
  const bool write = e.store || e.atomic, later = write && !seen.first.read_before && !e.atomic;
  if (seen.conflict && !later) report_lds(wave, info, seen.first, write, false);
  if (seen.uninitialised && options_.uninitialised && options_.possible) {
    RawDefect d = defect(DefectKind::Uninitialised, "lds", true, nullptr, info, wave);
    d.object = fmt::format("lds {:#x}", seen.unwritten);
    d.lane = static_cast<int>(seen.unwritten_lane);
    add(std::move(d));
  }
  if (!info.op->instruction->memory.lds_dma || !e.store) return;
  DmaWrite dma{&info, wave.number, waves_[wave.number].operations, {}};
  emulator::for_each_lane(e.lanes, [&](unsigned l) {
    const uint64_t at = e.addresses[l];
    if (!dma.bytes.empty() && dma.bytes.back().second == at)
      dma.bytes.back().second += e.bytes;
    else
      dma.bytes.emplace_back(at, at + e.bytes);
  });
  dma_.push_back(std::move(dma));
}

RawDefect Watcher::dma_defect(const Wave& wave, const OpInfo& info, const DmaWrite& d, uint64_t at,
                              unsigned lane) const {
  RawDefect found = defect(DefectKind::InFlight, "vmcnt", false, d.info, info, wave);
  found.first_wave = d.wave;
  found.object = fmt::format("lds {:#x}", at);
  found.lane = static_cast<int>(lane);
  found.fix = d.wave == wave.number
                  ? wait_text(FlightClass::Vmem, 0)
                  : fmt::format("s_waitcnt vmcnt(0) in wave {}, and then s_barrier, between them", d.wave);
  return found;
}

// Bytes that an LDS-DMA has not brought yet. A wave's own come in order; whether another's bring something
// else shows when this one is done.
void Watcher::check_dma(Wave& wave, const OpInfo& info, const MemoryEvent& e) {
  if (!options_.in_flight) return;
  const bool is_dma = info.op->instruction->memory.lds_dma;
  std::erase_if(dma_, [&](const DmaWrite& d) {
    if (is_dma && d.wave == wave.number) return false;
    bool clash = false;
    emulator::for_each_lane(e.lanes, [&](unsigned lane) {
      for (const auto& [from, to] : d.bytes) {
        const uint64_t first = std::max(from, e.addresses[lane]),
                       end = std::min(to, e.addresses[lane] + e.bytes);
        if (first >= end || (clash && !is_dma)) continue;
        if (!is_dma) add(dma_defect(wave, info, d, first, lane));
        if (is_dma && !clash) dma_conflicts_.push_back({dma_defect(wave, info, d, first, lane), {}});
        clash = true; // one mistake, one finding
        for (uint64_t b = first; is_dma && b < std::min<uint64_t>(end, wave.lds_bytes); ++b)
          dma_conflicts_.back().before.emplace_back(static_cast<uint32_t>(b), wave.lds[b]);
      }
    });
    return clash && !is_dma;
  });
}

void Watcher::retire_dma(uint32_t wave, const InFlight& flight) {
  std::erase_if(dma_, [&](const DmaWrite& d) {
    return d.wave == wave && !flight.contains(FlightClass::Vmem, d.number);
  });
}

void Watcher::after(Wave& wave, const MicroOp& op) {
  if (conflicts_.empty() && dma_conflicts_.empty()) [[likely]]
    return;
  settle_conflicts(wave, info_of(op));
}

void Watcher::settle_conflicts(const Wave& wave, const OpInfo& info) {
  for (DmaConflict& c : std::exchange(dma_conflicts_, {}))
    if (std::ranges::any_of(c.before, [&](const auto& b) { return wave.lds[b.first] != b.second; }))
      add(std::move(c.defect));
  if (conflicts_.empty()) return;
  const auto changed = std::ranges::find_if(
      conflicts_, [&](const WriteConflict& c) { return wave.lds[c.with.byte] != c.before; });
  const bool same = changed == conflicts_.end();
  report_lds(wave, info, (same ? conflicts_.begin() : changed)->with, true, same);
  conflicts_.clear();
}

// --- barriers

void Watcher::barrier(Workgroup&) {
  if (options_.lds) lds_.barrier();
  const OpInfo* first = nullptr;
  for (WaveWatch& w : waves_) {
    if (w.at_barrier == nullptr) continue;
    if (first == nullptr) first = w.at_barrier;
    if (first != w.at_barrier && options_.convergence && options_.possible) {
      RawDefect d;
      d.key = {DefectKind::Convergence, "waves meet at different barriers", true, pc_of(*first),
               pc_of(*w.at_barrier)};
      d.first = first->op->instruction, d.second = w.at_barrier->op->instruction;
      d.first_workgroup = d.second_workgroup = workgroup_;
      d.object = "s_barrier";
      add(std::move(d));
    }
    w.at_barrier = nullptr;
  }
}

// --- defects

RawDefect Watcher::defect(DefectKind kind, std::string rule, bool possible, const OpInfo* first,
                          const OpInfo& second, const Wave& wave) const {
  RawDefect d;
  d.key = {kind, std::move(rule), possible, first == nullptr ? 0 : pc_of(*first), pc_of(second)};
  d.first = first == nullptr ? nullptr : first->op->instruction;
  d.second = second.op->instruction;
  d.first_workgroup = d.second_workgroup = workgroup_;
  d.first_wave = d.second_wave = wave.number;
  return d;
}

void Watcher::add(RawDefect d) {
  if (d.key.possible && !options_.possible) return;
  add_defect(defects_, std::move(d));
}

} // namespace asmevo::sanitizer
