// Hardware counters of whole dispatches: rocprofv3's *_counter_collection.csv (a row a counter) and
// rocprof-compute's pmc_perf.csv (a row a dispatch, a column a counter).
#include "base/csv.h"
#include "profile/importers.h"
#include "profile/profile_builder.h"

#include <algorithm>
#include <array>
#include <set>

namespace asmevo::profile {

namespace {

constexpr size_t most_names = 1 << 16, most_dispatches = 1 << 20;

// Sums counters over the wanted dispatches.
class Sums {
 public:
  Sums(const CsvReader& csv, ImportFormat format, const ImportRequest& request)
      : csv_(csv), request_(request), builder_(request.listing, Origin::Counters, format, csv.name()) {}

  // Whether a row of that kernel and dispatch is wanted.
  Result<bool> wanted(const std::string& kernel, uint64_t dispatch) {
    const NameMatch match = request_.listing.kernel.match(kernel);
    if (match == NameMatch::None) {
      if (others_.size() < most_names) others_.insert(kernel);
      return false;
    }
    ours_ = true;
    if (match == NameMatch::Truncated) truncated_ = true;
    if (request_.dispatch && dispatch != *request_.dispatch) return false;
    dispatches_.insert(dispatch);
    if (dispatches_.size() > most_dispatches)
      return csv_.wrong(fmt::format("more than {} dispatches", most_dispatches));
    return true;
  }

  Status add(const std::string& counter, double value) {
    auto& counters = builder_.result().profile.counters;
    counters[counter] += value;
    if (counters.size() > most_names) return csv_.wrong(fmt::format("more than {} counters", most_names));
    return {};
  }

  Result<ImportedProfile> finish() {
    const std::string& kernel = request_.listing.kernel.symbol();
    if (csv_.rows() == 0) return bad_input("{}: nothing but a header: no counter was read", csv_.name());
    if (!ours_)
      return bad_input("{}: no kernel {} in it; it has {}", csv_.name(), kernel,
                       some_of({others_.begin(), others_.end()}));
    if (dispatches_.empty())
      return bad_input("{}: no dispatch {} of {}", csv_.name(), *request_.dispatch, kernel);
    builder_.result().dispatches = dispatches_.size();
    builder_.note(dispatches_.size() == 1
                      ? "counters are of one dispatch"
                      : fmt::format("counters are sums over {} dispatches", dispatches_.size()));
    if (truncated_)
      builder_.note("the kernel's name is cut short in the file: others of that name count too");
    return builder_.finish();
  }
  void note(std::string text) { builder_.note(std::move(text)); }

 private:
  const CsvReader& csv_;
  const ImportRequest& request_;
  ProfileBuilder builder_;
  std::set<std::string> others_;
  std::set<uint64_t> dispatches_;
  bool ours_ = false, truncated_ = false;
};

// Columns of pmc_perf.csv that are no counters.
bool describes_dispatch(std::string_view column) {
  constexpr std::array<std::string_view, 27> names = {"Dispatch_ID",
                                                      "Kernel_Name",
                                                      "Kernel_ID",
                                                      "GPU_ID",
                                                      "Agent_ID",
                                                      "Queue_ID",
                                                      "Queue_Index",
                                                      "PID",
                                                      "TID",
                                                      "Process_ID",
                                                      "Thread_ID",
                                                      "Grid_Size",
                                                      "Workgroup_Size",
                                                      "LDS_Per_Workgroup",
                                                      "LDS_Block_Size",
                                                      "Scratch_Size",
                                                      "Scratch_Per_Workitem",
                                                      "Arch_VGPR",
                                                      "VGPR_Count",
                                                      "Accum_VGPR",
                                                      "Accum_VGPR_Count",
                                                      "SGPR",
                                                      "SGPR_Count",
                                                      "Wave_Size",
                                                      "Start_Timestamp",
                                                      "End_Timestamp",
                                                      "Correlation_ID"};
  return column.empty() || std::ranges::any_of(names, [&](auto n) { return same_word(n, column); });
}

} // namespace

Result<ImportedProfile> import_counter_csv(TextSource source, const ImportRequest& request) {
  ASMEVO_TRY(CsvReader csv, CsvReader::open(std::move(source)));
  ASMEVO_TRY(const size_t dispatch, csv.needed("Dispatch_Id"));
  ASMEVO_TRY(const size_t kernel, csv.needed("Kernel_Name"));
  ASMEVO_TRY(const size_t name, csv.needed("Counter_Name"));
  ASMEVO_TRY(const size_t value, csv.needed("Counter_Value"));
  ASMEVO_CHECK(check_gpus(csv.name(), request.gpus, request.listing));
  Sums sums(csv, ImportFormat::CounterCsv, request);
  for (;;) {
    ASMEVO_TRY(const bool more, csv.next());
    if (!more) return sums.finish();
    ASMEVO_TRY(const uint64_t number, csv.id(dispatch));
    ASMEVO_TRY(const double amount, csv.amount(value));
    ASMEVO_TRY(const bool wanted, sums.wanted(csv.field(kernel), number));
    if (wanted) ASMEVO_CHECK(sums.add(csv.field(name), amount));
  }
}

Result<ImportedProfile> import_pmc_perf_csv(TextSource source, const ImportRequest& request) {
  ASMEVO_TRY(CsvReader csv, CsvReader::open(std::move(source)));
  ASMEVO_TRY(const size_t dispatch, csv.needed("Dispatch_ID"));
  ASMEVO_TRY(const size_t kernel, csv.needed("Kernel_Name"));
  ASMEVO_CHECK(check_gpus(csv.name(), request.gpus, request.listing));
  std::vector<size_t> counters;
  for (size_t c = 0; c < csv.header().size(); ++c)
    if (!describes_dispatch(csv.header()[c])) counters.push_back(c);
  Sums sums(csv, ImportFormat::PmcPerfCsv, request);
  double empty = 0;
  for (;;) {
    ASMEVO_TRY(const bool more, csv.next());
    if (!more) break;
    ASMEVO_TRY(const uint64_t number, csv.id(dispatch));
    ASMEVO_TRY(const bool wanted, sums.wanted(csv.field(kernel), number));
    if (!wanted) continue;
    for (const size_t c : counters) {
      if (csv.field(c).empty()) {
        ++empty;
        continue;
      }
      ASMEVO_TRY(const double amount, csv.amount(c));
      ASMEVO_CHECK(sums.add(csv.header()[c], amount));
    }
  }
  if (empty > 0) sums.note(fmt::format("{} without a value", counted(empty, "counter")));
  return sums.finish();
}

Result<std::map<uint64_t, std::string>> read_kernel_trace(TextSource source) {
  ASMEVO_TRY(CsvReader csv, CsvReader::open(std::move(source)));
  ASMEVO_TRY(const size_t dispatch, csv.needed("Dispatch_Id"));
  ASMEVO_TRY(const size_t kernel, csv.needed("Kernel_Name"));
  std::map<uint64_t, std::string> names;
  size_t bytes = 0;
  constexpr size_t most_bytes = 256 << 20;
  for (;;) {
    ASMEVO_TRY(const bool more, csv.next());
    if (!more) return names;
    ASMEVO_TRY(const uint64_t number, csv.id(dispatch));
    bytes += csv.field(kernel).size();
    if (names.size() == most_dispatches || bytes > most_bytes)
      return csv.wrong(
          fmt::format("more than {} dispatches or {} bytes of names", most_dispatches, most_bytes));
    names[number] = csv.field(kernel);
  }
}

Result<std::vector<std::string>> read_agent_names(TextSource source) {
  ASMEVO_TRY(CsvReader csv, CsvReader::open(std::move(source)));
  ASMEVO_TRY(const size_t type, csv.needed("Agent_Type"));
  ASMEVO_TRY(const size_t name, csv.needed("Name"));
  constexpr size_t most_agents = 4096;
  std::vector<std::string> names;
  for (;;) {
    ASMEVO_TRY(const bool more, csv.next());
    if (!more) return names;
    if (!same_word(csv.field(type), "GPU")) continue;
    if (names.size() == most_agents) return csv.wrong(fmt::format("more than {} agents", most_agents));
    names.push_back(csv.field(name));
  }
}

} // namespace asmevo::profile
