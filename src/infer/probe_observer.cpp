#include "infer/probe_observer.h"

#include <algorithm>

namespace asmevo::infer {

using emulator::MicroOp;
using emulator::Wave;
using isa::MemoryKind;
using isa::Role;

namespace {

Part part_loaded(std::string_view m) {
  if (m.contains("d16_hi")) return Part::High16;
  if (m.contains("ubyte") || m.contains("sbyte") || m.ends_with("_u8") || m.ends_with("_i8"))
    return Part::Byte;
  if (m.contains("short") || m.ends_with("_u16") || m.ends_with("_i16") || m.contains("d16"))
    return Part::Low16;
  return Part::Whole;
}

// Packed instructions on pairs of registers take from each pair what op_sel says: often one of the two,
// twice.
isa::RegRange selected(const isa::Instruction& i, unsigned role, const isa::RegRange& pair) {
  const bool move = i.is("v_pk_mov_b32");
  const bool packed = i.base_mnemonic.starts_with("v_pk_") && i.base_mnemonic.ends_with("_f32");
  if (pair.count != 2 || (!move && !packed)) return pair;
  const unsigned low = i.mods.op_sel >> role & 1, high = move ? low : i.mods.op_sel_hi >> role & 1;
  if (low != high) return pair;
  return {static_cast<isa::RegUnit>(pair.first + low), 1};
}

} // namespace

void ProbeObserver::workgroup_started(emulator::Workgroup& group) {
  GroupState& state = groups_[&group];
  state.lds.assign(group.launch().lds_bytes / 4 + 1, {});
  state.waves.clear();
  state.waves.resize(group.launch().waves_per_group);
}

ProbeObserver::WaveState& ProbeObserver::state_of(const Wave& wave) {
  return groups_[wave.workgroup].waves.at(wave.number);
}

// What the packet processor puts into registers: ids, and preloaded arguments.
void ProbeObserver::start_wave(const Wave& wave) {
  const emulator::Launch& launch = wave.workgroup->launch();
  const auto give = [&](isa::RegUnit unit, Source s, ValueType type) {
    const SourceSet set = sets_.of(s);
    const bool argument = s < source::region0;
    wave_->registers[unit].set({argument ? set : 0, set, argument ? set : 0, type, Part::Whole});
  };
  auto next = static_cast<isa::RegUnit>(isa::unit::scalar0 + launch.user_sgprs.size());
  for (unsigned d = 0; d < 3; ++d)
    if (launch.registers.workgroup_id[d])
      give(next++, static_cast<Source>(source::workgroup_id0 + d), ValueType::I32);
  for (unsigned v = 0; v < 3; ++v) give(static_cast<isa::RegUnit>(v), source::work_item_id, ValueType::I32);

  const auto field = [&](std::string_view name) {
    return static_cast<unsigned>(codeobject::get(launch.kernel->descriptor, launch.target, name));
  };
  const unsigned count = field("kernarg_preload_spec_length"), first = field("kernarg_preload_spec_offset");
  unsigned at = 0;
  if (field("enable_sgpr_private_segment_buffer") != 0) at += 4;
  for (const char* pair :
       {"enable_sgpr_dispatch_ptr", "enable_sgpr_queue_ptr", "enable_sgpr_kernarg_segment_ptr",
        "enable_sgpr_dispatch_id", "enable_sgpr_flat_scratch_init"})
    if (field(pair) != 0) at += 2;
  if (field("enable_sgpr_private_segment_size") != 0) ++at;
  for (unsigned i = 0; i < count; ++i)
    give(static_cast<isa::RegUnit>(isa::unit::scalar0 + at + i), static_cast<Source>(first + i),
         ValueType::None);
}

const ProbeObserver::Plan& ProbeObserver::plan_of(const Wave& wave, const MicroOp& op) {
  const isa::Instruction& i = *op.instruction;
  const auto [at, is_new] = plans_[&i].try_emplace(op.pc);
  Plan& plan = at->second;
  if (!is_new) return plan;
  plan.use = value_use(i);
  plan.evidence = {i.base_mnemonic, op.pc - wave.workgroup->launch().bias};
  for (const isa::Operand& o : i.operands) {
    if (o.is_def && (o.role == Role::Vdst || o.role == Role::Sdst) && plan.result.count == 0)
      plan.result = o.reg;
    if (o.is_use && o.role >= Role::Src0 && o.role <= Role::Src4) {
      const unsigned role = static_cast<unsigned>(o.role) - static_cast<unsigned>(Role::Src0);
      const bool in_register = o.kind == isa::Operand::Kind::Register;
      plan.sources.push_back(
          {role, in_register ? selected(i, role, o.reg) : isa::RegRange{}, static_cast<uint64_t>(o.value)});
    }
  }
  for (const isa::RegRange& d : i.defs)
    if (!(d == plan.result)) plan.other_results.push_back(d);
  // EXEC and MODE have a part in nearly everything and mean nothing, unless an operand names them.
  for (const isa::RegRange& r : i.uses) {
    const bool named = std::ranges::any_of(i.operands, [&](const isa::Operand& o) {
      return o.kind == isa::Operand::Kind::Register && o.reg == r;
    });
    const bool state = r.first >= isa::unit::exec && r.first != isa::unit::scc;
    if (named || !state || i.branch) plan.reads.push_back(r);
  }
  if (i.memory.kind != MemoryKind::None) plan_memory(i, plan);
  return plan;
}

void ProbeObserver::plan_memory(const isa::Instruction& i, Plan& plan) const {
  plan.atomic = atomic_type(i);
  plan.loaded_part = part_loaded(i.base_mnemonic);
  const bool global = i.memory.kind == MemoryKind::Global || i.memory.kind == MemoryKind::Flat;
  bool base_given = false;
  for (const isa::Operand& o : i.operands) {
    if (o.kind != isa::Operand::Kind::Register) continue;
    switch (o.role) {
    case Role::Sbase:
    case Role::Srsrc:
    case Role::Saddr:
      plan.address.push_back({o.reg.first, std::min<uint16_t>(o.reg.count, 2)});
      base_given = true;
      break;
    case Role::Vaddr:
    case Role::Soffset: plan.index.push_back(o.reg); break;
    case Role::Vdata:
    case Role::Sdata:
      if (o.is_use) plan.data = o.reg;
      if (o.is_def && plan.result.count == 0) plan.result = o.reg;
      break;
    case Role::Vdata1: plan.data1 = o.reg; break;
    default: break;
    }
  }
  if (global && !base_given && !plan.index.empty() && plan.index[0].count == 2)
    plan.address.push_back(plan.index[0]);
}

Shadow ProbeObserver::read(isa::RegUnit unit) {
  if (unit >= isa::unit::count) return {};
  const LaneShadow& s = wave_->registers[unit];
  return isa::is_vector(unit) ? s.read(sets_, lanes_) : s.scalar();
}

Shadow ProbeObserver::read(const isa::RegRange& range) {
  Shadow all;
  for (unsigned k = 0; k < range.count; ++k)
    all = unite(sets_, all, read(static_cast<isa::RegUnit>(range.first + k)));
  return all;
}

void ProbeObserver::write(isa::RegUnit unit, const Shadow& s) {
  if (unit >= isa::unit::count) return;
  LaneShadow& to = wave_->registers[unit];
  if (isa::is_vector(unit))
    to.write(sets_, s, lanes_);
  else
    to.set(s);
}

SourceSet ProbeObserver::everything(const Plan& plan) {
  SourceSet all = 0;
  for (const isa::RegRange& r : plan.reads)
    for (unsigned k = 0; k < r.count; ++k)
      all = sets_.unite(all, read(static_cast<isa::RegUnit>(r.first + k)).anything);
  return all;
}

void ProbeObserver::before(Wave& wave, const MicroOp& op) {
  wave_ = &state_of(wave);
  if (wave.instructions == 0) start_wave(wave);
  const isa::Instruction& i = *op.instruction;
  // What moves between lanes comes from lanes that are on, but for matrices.
  lanes_ = i.writes_all_lanes ? emulator::all_lanes : wave.exec();
  const Plan& plan = plan_of(wave, op);
  region_.reset();
  loaded_ = 0;
  loaded_dwords_.clear();
  for (const Source s : sets_.members(everything(plan)))
    if (s < source::region0) seen_.used.insert(s);
  if (i.branch && i.conditional)
    for (const Source s : sets_.members(everything(plan))) seen_.in_branch.try_emplace(s, plan.evidence);
  if (i.memory.kind != MemoryKind::None)
    look_at_address(wave, op, plan);
  else
    run_alu(wave, op, plan);
}

void ProbeObserver::after(Wave& wave, const MicroOp& op) {
  if (op.instruction->memory.kind != MemoryKind::None && wave.state != Wave::State::Faulted)
    finish_load(wave, op, plan_of(wave, op));
}

} // namespace asmevo::infer
