#include "profile/counter_figures.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace asmevo::profile {

namespace {

using Unit = CounterFigure::Unit;
using Value = std::optional<double>;

class Figures {
 public:
  explicit Figures(const std::map<std::string, double>& counters) : counters_(counters) {}

  Value at(const std::string& name) const {
    // A sum over a counter's instances, or the counter where a file has it summed already.
    for (const std::string& n : {name, name + "_sum"})
      if (const auto found = counters_.find(n); found != counters_.end()) return found->second;
    return std::nullopt;
  }
  double or_none(const std::string& name) const { return at(name).value_or(0); }

  void add(std::string name, Value value, Unit unit) {
    if (value) list_.push_back({std::move(name), *value, unit});
  }
  void share(std::string name, Value part, Value whole) {
    if (part && whole && *whole > 0) add(std::move(name), *part / *whole, Unit::Share);
  }
  void each(std::string name, Value part, Value whole) {
    if (part && whole && *whole > 0) add(std::move(name), *part / *whole, Unit::Number);
  }
  std::vector<CounterFigure> take() { return std::move(list_); }

 private:
  const std::map<std::string, double>& counters_;
  std::vector<CounterFigure> list_;
};

constexpr double kib = 1024;

// What L2 asked of memory, the Infinity Cache included. Requests are of 32, 64 or (TCC_BUBBLE) 128 bytes;
// gfx90a calls them TCC_EA, the others TCC_EA0.
Value bytes_read(const Figures& f) {
  for (const char* name : {"FETCH_SIZE", "FetchSize"})
    if (const Value k = f.at(name)) return *k * kib;
  for (const std::string ea : {"TCC_EA0_", "TCC_EA_"})
    if (const Value all = f.at(ea + "RDREQ")) {
      const Value small = f.at(ea + "RDREQ_32B"), large = f.at("TCC_BUBBLE");
      // Without these it is not known how long the requests were.
      if (!small || (ea == "TCC_EA0_" && !large)) continue;
      return 128 * large.value_or(0) + 64 * (*all - large.value_or(0) - *small) + 32 * *small;
    }
  return std::nullopt;
}

Value bytes_written(const Figures& f) {
  for (const char* name : {"WRITE_SIZE", "WriteSize"})
    if (const Value k = f.at(name)) return *k * kib;
  for (const std::string ea : {"TCC_EA0_", "TCC_EA_"})
    if (const Value all = f.at(ea + "WRREQ"))
      if (const Value large = f.at(ea + "WRREQ_64B")) return 64 * *large + 32 * (*all - *large);
  return std::nullopt;
}

Value plus(Value a, Value b) {
  return a && b ? Value(*a + *b) : std::nullopt;
}

void memory(Figures& f) {
  f.add("read from memory", bytes_read(f), Unit::Bytes);
  f.add("written to memory", bytes_written(f), Unit::Bytes);
  f.share("L2 hits", f.at("TCC_HIT"), plus(f.at("TCC_HIT"), f.at("TCC_MISS")));
  if (const Value all = f.at("TCP_TOTAL_CACHE_ACCESSES"), read = f.at("TCP_TCC_READ_REQ"); all && read)
    f.share("L1 hits",
            std::max(0.0, *all - *read - f.or_none("TCP_TCC_WRITE_REQ") -
                              f.or_none("TCP_TCC_ATOMIC_WITH_RET_REQ") -
                              f.or_none("TCP_TCC_ATOMIC_WITHOUT_RET_REQ")),
            all);
  f.share("LDS bank conflicts, of its cycles", f.at("SQ_LDS_BANK_CONFLICT"), f.at("SQ_LDS_IDX_ACTIVE"));
}

void waves(Figures& f) {
  const Value waves = f.at("SQ_WAVES"), cycles = f.at("SQ_WAVE_CYCLES");
  f.add("waves", waves, Unit::Number);
  f.share("waves: an instruction was issued", f.at("SQ_ACTIVE_INST_ANY"), cycles);
  f.share("waves: waited for data or a barrier", f.at("SQ_WAIT_ANY"), cycles);
  f.share("waves: waited to issue", f.at("SQ_WAIT_INST_ANY"), cycles);
  for (const auto& [name, counter] :
       std::array<std::pair<const char*, const char*>, 9>{{{"VALU", "SQ_INSTS_VALU"},
                                                           {"matrix", "SQ_INSTS_MFMA"},
                                                           {"SALU", "SQ_INSTS_SALU"},
                                                           {"scalar memory", "SQ_INSTS_SMEM"},
                                                           {"vector memory", "SQ_INSTS_VMEM"},
                                                           {"vector memory loads", "SQ_INSTS_VMEM_RD"},
                                                           {"vector memory stores", "SQ_INSTS_VMEM_WR"},
                                                           {"LDS", "SQ_INSTS_LDS"},
                                                           {"FLAT", "SQ_INSTS_FLAT"}}})
    f.each(std::string(name) + " instructions a wave", f.at(counter), waves);
  constexpr double lanes = 64;
  if (const Value active = f.at("SQ_ACTIVE_INST_VALU"))
    f.share("lanes on in VALU instructions", f.at("SQ_THREAD_CYCLES_VALU"), *active * lanes);
}

// Per cent that the profiler worked out itself, of each dispatch.
void percentages(Figures& f, uint64_t dispatches) {
  constexpr double hundred = 100;
  if (dispatches == 0) return;
  for (const char* name :
       {"VALUBusy", "SALUBusy", "MemUnitBusy", "MemUnitStalled", "WriteUnitStalled", "LDSBankConflict",
        "L2CacheHit", "MfmaUtil", "VALUUtilization", "OccupancyPercent", "GPUBusy"})
    if (const Value sum = f.at(name))
      f.add(name, *sum / hundred / static_cast<double>(dispatches), Unit::Share);
}

} // namespace

std::vector<CounterFigure> counter_figures(const std::map<std::string, double>& counters,
                                           uint64_t dispatches) {
  Figures f(counters);
  memory(f);
  waves(f);
  percentages(f, dispatches);
  return f.take();
}

} // namespace asmevo::profile
