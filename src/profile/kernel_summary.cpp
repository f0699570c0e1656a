#include "profile/kernel_summary.h"

#include "profile/flops.h"

#include <algorithm>
#include <numeric>

namespace asmevo::profile {

namespace {

using isa::Instruction;
using isa::IssueClass;
using oracle::TracedLaunch;
using timing::KernelTime;
using timing::Pipe;
using P = timing::Parameter;

constexpr double simds_per_cu = 4;

size_t at(Pipe pipe) {
  return static_cast<size_t>(pipe);
}

std::string_view memory_kind(const Instruction& i, bool lds) {
  const isa::MemoryAccess& m = i.memory;
  if (m.lds_dma) return "load to LDS";
  if (m.atomic) return lds ? "LDS atomic" : "atomic";
  if (m.load) return lds ? "LDS load" : "load";
  if (m.store) return lds ? "LDS store" : "store";
  return lds ? "LDS other" : "cache control";
}

std::string_view valu_kind(const Instruction& i) {
  if (i.issue == IssueClass::Transcendental) return "VALU transcendental";
  if (i.base_mnemonic.starts_with("v_pk_")) return "VALU packed";
  if (i.base_mnemonic.find("_f64") != std::string_view::npos) return "VALU f64";
  return "VALU";
}

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

// Work and time are worked out apart for what is not simulated.
double share(double part, double whole) {
  return std::min(1.0, ratio(part, whole));
}

class Builder {
 public:
  Builder(const oracle::LaunchTraces& traces, const oracle::LaunchTime& time, const KernelProfile& profile,
          const timing::Machine& machine)
      : traces_(traces), time_(time), profile_(profile), m_(machine) {}

  KernelSummary build() {
    s_.kernel = profile_.kernel, s_.source = profile_.source, s_.notes = profile_.notes;
    each_launch(traces_, time_, profile_.kernel,
                [this](const TracedLaunch& l, const KernelTime& t) { add(l, t); });
    if (s_.launches == 0) return s_;
    finish_time();
    finish_pipes();
    finish_memory();
    finish_stalls();
    return std::move(s_);
  }

 private:
  void add(const TracedLaunch& launch, const KernelTime& t) {
    if (s_.launches == 0) {
      s_.occupancy = launch.trace.occupancy;
      s_.waves_per_workgroup = launch.trace.size.waves_per_workgroup;
    }
    const double scale = scale_of(launch, t), n = launch.stands_for;
    s_.launches += n;
    s_.seconds += t.seconds * n;
    s_.cycles += t.cycles * n;
    s_.workgroups += static_cast<double>(launch.trace.size.workgroups) * n;
    const double on_xcd = launch.trace.sample.all / launch.trace.sample.share;
    const double xcds = on_xcd > 0 ? static_cast<double>(launch.trace.size.workgroups) / on_xcd : 1;
    started_ += on_xcd * std::max(1.0, s_.waves_per_workgroup / simds_per_cu) * n;
    const double cus = m_[P::cus_per_xcd];
    const double used = std::min(1.0, on_xcd / cus);
    used_ += used * t.cycles * n;
    // Of compute units with a workgroup a sample may have more than the whole.
    const double simulated =
        std::min(1.0, static_cast<double>(launch.trace.groups.size()) / launch.trace.sample.cus);
    places_taken_ += ratio(t.simulation.memory.l1_places_taken, simulated) * used * t.cycles * n;
    for (size_t p = 0; p < timing::pipe_count; ++p) pipe_busy_[p] += t.simulation.pipe_busy[p] * scale;
    add_memory(t.simulation.memory, scale, scale * xcds, launch.trace.sample.xcds);
    add_instructions(launch, t, scale, xcds);
    add_shapes(launch, t, scale, xcds);
  }

  LevelUse& level(MemoryLevel l) { return s_.levels[static_cast<size_t>(l)]; }

  // `here`: to one XCD, `device`: to all.
  void add_memory(const timing::MemoryCounts& c, double here, double device, double xcds) {
    const auto n = [](uint64_t x) { return static_cast<double>(x); };
    const double line = m_[P::l2_line], piece = timing::piece_bytes;
    const double l1_read = n(c.l1_lines) * m_[P::l1_line];
    level(MemoryLevel::L1).read += l1_read * device;
    level(MemoryLevel::L1).written += n(c.l2_writes + c.atomics) * piece * device;
    level(MemoryLevel::L2).read += n(c.l2_reads) * m_[P::l1_line] * device;
    level(MemoryLevel::L2).written += n(c.l2_writes + c.atomics) * piece * device;
    level(MemoryLevel::InfinityCache).read += n(c.mall_reads + c.hbm_reads) * line * device;
    level(MemoryLevel::InfinityCache).written += n(c.mall_writes + c.hbm_writes) * line * device;
    level(MemoryLevel::Hbm).read += n(c.hbm_reads) * line * device;
    level(MemoryLevel::Hbm).written += n(c.hbm_writes) * line * device;

    l1_lines_ += n(c.l1_lines) * here, l1_misses_ += n(c.l1_misses) * here;
    l2_reads_ += n(c.l2_reads) * here, l2_misses_ += n(c.l2_misses) * here;
    mall_hits_ += n(c.mall_reads) * here, mall_misses_ += n(c.hbm_reads) * here;
    scalar_lines_ += n(c.scalar_lines) * here, scalar_misses_ += n(c.scalar_misses) * here;
    code_lines_ += n(c.icache_lines) * here, code_misses_ += n(c.icache_misses) * here;
    s_.tlb_misses += n(c.tlb_misses) * here;
    s_.lds_accesses += n(c.lds_accesses) * here, lds_busy_ += c.lds_busy * here;
    l1_busy_ += c.l1_busy * here;
    place_cycles_ += c.l1_place_cycles * here, place_waits_ += c.l1_place_waits * here;

    // Cycles in which a unit of the XCD could do that.
    l2_busy_ += (n(c.l2_reads) * m_[P::l1_line] / m_[P::l2_read_rate] +
                 n(c.l2_writes + c.atomics) * piece / m_[P::l2_write_rate]) *
                here;
    const double a_cycle = 1e12 / (m_[P::engine_clock] * 1e6) / xcds; // bytes, for 1 TB/s
    const double beyond = n(c.mall_reads + c.hbm_reads + c.mall_writes + c.hbm_writes) * line * here;
    if (m_[P::mall_bytes] > 0) mall_busy_ += beyond / (m_[P::mall_bandwidth] * a_cycle);
    hbm_busy_ += n(c.hbm_reads) * line * here / (m_[P::hbm_read_bandwidth] * a_cycle) +
                 n(c.hbm_writes) * line * here / (m_[P::hbm_write_bandwidth] * a_cycle);
  }

  void add_instructions(const TracedLaunch& launch, const KernelTime& t, double scale, double xcds) {
    size_t id = 0;
    for (const auto& [op, instruction] : launch.trace.instructions) {
      const timing::OpTime& time = t.simulation.ops[id++];
      const double issues = static_cast<double>(time.issues) * scale;
      const timing::InstructionCost cost = timing::instruction_cost(*instruction, launch.trace.target, m_);
      pipe_instructions_[at(cost.pipe)] += issues;
      for (const timing::Stall busy : {timing::Stall::ArbiterNotWin, timing::Stall::ArbiterWinExStall})
        contended_[at(cost.pipe)] += time.stalled[static_cast<size_t>(busy)] * scale;
      s_.instructions += issues;
      mix_[mix_kind(*instruction)] += issues;
      const Flops f = flops_of(*instruction);
      (f.matrix ? s_.matrix_flops : s_.vector_flops) += f.flops * issues * xcds;
      s_.matrix_integer_ops += f.integer_ops * issues * xcds;
      if (f.matrix) matrix_operations_ += (f.flops + f.integer_ops) * issues;
    }
  }

  // Traces may reach further than the simulation did: each issue counts as the mean of its instruction.
  void add_shapes(const TracedLaunch& launch, const KernelTime& t, double scale, double xcds) {
    const auto shapes = access_shapes(launch.trace, static_cast<unsigned>(m_[P::l1_line]),
                                      static_cast<unsigned>(m_[P::lds_banks]));
    size_t id = 0;
    for (const auto& [op, instruction] : launch.trace.instructions) {
      const double issues = static_cast<double>(t.simulation.ops[id].issues) * scale;
      const auto found = shapes.find(t.addresses[id++]);
      if (found == shapes.end() || found->second.accesses == 0) continue;
      const AccessShape& shape = found->second;
      if (shape.cycles > 0) {
        add_lds(shape, instruction->memory, issues / shape.times, xcds);
        continue;
      }
      s_.coalescing.accesses += shape.accesses * issues / shape.times;
      s_.coalescing.lines += shape.lines * issues / shape.times;
      s_.coalescing.least_lines += shape.least_lines * issues / shape.times;
    }
  }

  void add_lds(const AccessShape& shape, const isa::MemoryAccess& memory, double weight, double xcds) {
    const bool stores = memory.store && !memory.atomic;
    LevelUse& lds = level(MemoryLevel::Lds);
    (stores ? lds.written : lds.read) +=
        shape.lanes / shape.accesses * memory.bytes * weight * shape.times * xcds;
    s_.lds_bank_cycles += shape.cycles * weight;
    s_.lds_conflict_cycles += (shape.cycles - shape.least_cycles) * weight;
  }

  void finish_time() {
    s_.workgroups /= s_.launches;
    s_.clock_mhz = s_.seconds > 0 ? s_.cycles / s_.seconds / 1e6 : m_[P::engine_clock];
    s_.share_of_plan = share(s_.seconds, time_.seconds);
    s_.outside_share = share(time_.floor + time_.gaps + time_.fills, time_.seconds);
    s_.used_cus = share(used_, s_.cycles);
    s_.dispatch_share = share(started_ * m_[P::workgroup_cycles], s_.cycles);
  }

  void finish_pipes() {
    for (size_t p = 0; p < timing::pipe_count; ++p)
      s_.pipes.push_back({.pipe = static_cast<Pipe>(p),
                          .instructions = pipe_instructions_[p],
                          .share = share(pipe_busy_[p], s_.cycles * simds())});
    s_.mix.assign(mix_.begin(), mix_.end());
    std::ranges::stable_sort(s_.mix, std::greater{}, &std::pair<std::string_view, double>::second);
    const double device = m_.cus() * simds_per_cu * s_.clock_mhz * 1e6, lanes = 64, fused = 2;
    s_.vector_peak = device * lanes * fused * std::max(1 / m_[P::valu_cycles], 2 / m_[P::packed_f32_cycles]);
    s_.matrix_peak = device * ratio(matrix_operations_, pipe_busy_[at(Pipe::Matrix)]);
    if (s_.coalescing.accesses > 0) {
      s_.coalescing.lines /= s_.coalescing.accesses;
      s_.coalescing.least_lines /= s_.coalescing.accesses;
    }
  }

  void finish_memory() {
    const double cus = m_[P::cus_per_xcd], clock = s_.clock_mhz * 1e6, xcds = m_[P::xcds], tera = 1e12;
    for (size_t n = 0; n < memory_level_count; ++n) s_.levels[n].level = static_cast<MemoryLevel>(n);
    level(MemoryLevel::Lds).peak = m_[P::lds_read_rate] * m_.cus() * clock;
    level(MemoryLevel::Lds).share = share(lds_busy_, s_.cycles * cus);
    level(MemoryLevel::L1).peak = m_[P::l1_rate] * m_.cus() * clock;
    level(MemoryLevel::L1).share = share(l1_busy_, s_.cycles * cus);
    level(MemoryLevel::L2).peak = m_[P::l2_read_rate] * xcds * clock;
    level(MemoryLevel::L2).share = share(l2_busy_, s_.cycles);
    level(MemoryLevel::InfinityCache).peak = m_[P::mall_bytes] > 0 ? m_[P::mall_bandwidth] * tera : 0;
    level(MemoryLevel::InfinityCache).share = share(mall_busy_, s_.cycles);
    level(MemoryLevel::Hbm).peak = m_[P::hbm_read_bandwidth] * tera;
    level(MemoryLevel::Hbm).share = share(hbm_busy_, s_.cycles);
    for (LevelUse& l : s_.levels) l.least_share = l.share;
    finish_least_shares(clock);
    s_.path_to_l1_share = share(l1_misses_ * m_[P::l1_line] / m_[P::l1_fill], s_.cycles * cus);
    s_.miss_places = {.places = m_[P::l1_misses],
                      .share = share(places_taken_, s_.cycles * m_[P::l1_misses]),
                      .wait = ratio(place_waits_, l1_misses_),
                      .taken = ratio(place_cycles_, l1_misses_)};
    if (l1_lines_ > 0) level(MemoryLevel::L1).hit_rate = 1 - l1_misses_ / l1_lines_;
    if (l2_reads_ > 0) level(MemoryLevel::L2).hit_rate = 1 - l2_misses_ / l2_reads_;
    if (mall_hits_ + mall_misses_ > 0 && m_[P::mall_bytes] > 0)
      level(MemoryLevel::InfinityCache).hit_rate = mall_hits_ / (mall_hits_ + mall_misses_);
    s_.scalar_hit_rate = 1 - ratio(scalar_misses_, scalar_lines_);
    s_.code_hit_rate = 1 - ratio(code_misses_, code_lines_);
  }

  // Inside compute units what accesses keep busy depends on their addresses, too.
  void finish_least_shares(double clock) {
    const double device = m_.cus() * clock * s_.seconds;
    LevelUse &lds = level(MemoryLevel::Lds), &l1 = level(MemoryLevel::L1);
    lds.least_share = share(lds.read / m_[P::lds_read_rate] + lds.written / m_[P::lds_write_rate], device);
    l1.least_share = share(l1.bytes() / m_[P::l1_rate], device);
  }

  void finish_stalls() {
    for (const InstructionTime& i : profile_.instructions) {
      s_.busy += i.busy;
      for (size_t n = 0; n < timing::stall_count; ++n) s_.stalled[n] += i.stalled[n];
    }
    s_.waves = ratio(s_.wave_cycles(), s_.cycles * simds());
    for (PipeUse& p : s_.pipes) p.contended = ratio(contended_[at(p.pipe)], s_.wave_cycles());
  }

  double simds() const { return m_[P::cus_per_xcd] * simds_per_cu; }

  const oracle::LaunchTraces& traces_;
  const oracle::LaunchTime& time_;
  const KernelProfile& profile_;
  const timing::Machine& m_;
  KernelSummary s_;
  std::map<std::string_view, double> mix_;
  std::array<double, timing::pipe_count> pipe_busy_{}, pipe_instructions_{}, contended_{}; // of one XCD
  double used_ = 0, matrix_operations_ = 0;
  double started_ = 0; // workgroups, in units of what the dispatcher takes for one of few waves
  double l1_lines_ = 0, l1_misses_ = 0, l2_reads_ = 0, l2_misses_ = 0, mall_hits_ = 0, mall_misses_ = 0;
  double scalar_lines_ = 0, scalar_misses_ = 0, code_lines_ = 0, code_misses_ = 0;
  double lds_busy_ = 0, l1_busy_ = 0, l2_busy_ = 0, mall_busy_ = 0, hbm_busy_ = 0;
  double places_taken_ = 0, place_cycles_ = 0, place_waits_ = 0;
};

} // namespace

std::string_view name(MemoryLevel level) {
  switch (level) {
  case MemoryLevel::Lds: return "LDS";
  case MemoryLevel::L1: return "L1";
  case MemoryLevel::L2: return "L2";
  case MemoryLevel::InfinityCache: return "Infinity Cache";
  case MemoryLevel::Hbm: return "HBM";
  }
  return "";
}

std::string_view mix_kind(const Instruction& i) {
  switch (i.issue) {
  case IssueClass::Salu: return "SALU";
  case IssueClass::Smem: return "scalar load";
  case IssueClass::Branch: return "branch";
  case IssueClass::Valu:
  case IssueClass::Transcendental: return valu_kind(i);
  case IssueClass::Mfma: return "matrix";
  case IssueClass::Lds: return memory_kind(i, true);
  case IssueClass::Vmem:
  case IssueClass::Flat: return memory_kind(i, false);
  case IssueClass::Waitcnt: return "wait";
  case IssueClass::Nop: return "nop";
  case IssueClass::Barrier: return "barrier";
  case IssueClass::Message:
  case IssueClass::EndProgram:
  case IssueClass::Internal:
  case IssueClass::Export:
  case IssueClass::Data: break;
  }
  return "other";
}

double KernelSummary::wave_cycles() const {
  return std::accumulate(stalled.begin(), stalled.end(), busy);
}

double KernelSummary::stall_share(timing::Stall stall) const {
  return ratio(stalled[static_cast<size_t>(stall)], wave_cycles());
}

KernelSummary kernel_summary(const oracle::LaunchTraces& traces, const oracle::LaunchTime& time,
                             const KernelProfile& profile, const timing::Machine& machine) {
  return Builder(traces, time, profile, machine).build();
}

} // namespace asmevo::profile
