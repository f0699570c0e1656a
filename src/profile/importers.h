// The formats, one function each. Private to profile/ and its tests and fuzzers; import.h is for everybody
// else.
#pragma once

#include "base/text_source.h"
#include "profile/bind_instructions.h"
#include "profile/import.h"

#include <map>

namespace asmevo::profile {

struct ImportRequest {
  const KernelListing& listing;
  std::optional<uint64_t> dispatch;
  // What files beside it tell, where they are there:
  std::map<uint64_t, std::string> kernel_of_dispatch; // kernel_trace.csv
  std::vector<std::string> gpus;                      // "gfx942": agent_info.csv
  bool same_object = false;                           // a code object beside it is ours, by its hash
  std::optional<uint64_t> code_object;                // then: the number that the profile gives it
};

Result<ImportedProfile> import_pc_sampling_json(TextSource source, const ImportRequest& request);
Result<ImportedProfile> import_pc_sampling_csv(TextSource source, const ImportRequest& request);
Result<ImportedProfile> import_code_json(TextSource source, const ImportRequest& request);
Result<ImportedProfile> import_thread_trace_csv(TextSource source, const ImportRequest& request);
Result<ImportedProfile> import_counter_csv(TextSource source, const ImportRequest& request);
Result<ImportedProfile> import_pmc_perf_csv(TextSource source, const ImportRequest& request);
Result<ImportedProfile> import_rocpd(const std::filesystem::path& file, const ImportRequest& request);

/// Dispatch_Id and Kernel_Name of a kernel_trace.csv.
Result<std::map<uint64_t, std::string>> read_kernel_trace(TextSource source);
/// The GPUs' names of an agent_info.csv.
Result<std::vector<std::string>> read_agent_names(TextSource source);

/// BadInput where the profile's GPUs are known and the object's is not among them.
Status check_gpus(const std::string& file, const std::vector<std::string>& gpus,
                  const KernelListing& listing);
/// "a, b, c and 4 more", each fit for a line.
std::string some_of(const std::vector<std::string>& names, size_t most = 5);

} // namespace asmevo::profile
