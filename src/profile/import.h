// Profiles that AMD's profilers wrote, as KernelProfiles of one kernel of one object (docs/profiles.md).
#pragma once

#include "oracle/subject.h"
#include "profile/kernel_profile.h"

#include <filesystem>
#include <optional>

namespace asmevo::profile {

struct KernelListing; // bind_instructions.h

enum class ImportFormat : uint8_t {
  PcSamplingJson,  // rocprofv3: *_results.json
  PcSamplingCsv,   // rocprofv3: *_pc_sampling_host_trap.csv, *_pc_sampling_stochastic.csv
  ThreadTraceJson, // rocprofv3 --att: ui_output_*/code.json
  ThreadTraceCsv,  // rocprofv3 --att: stats_*.csv
  CounterCsv,      // rocprofv3: *_counter_collection.csv, a row a counter
  PmcPerfCsv,      // rocprof-compute: pmc_perf.csv, a row a dispatch
  Rocpd,           // rocprofv3: *_results.db
};
/// "rocprofv3 PC sampling, JSON"
std::string_view describe(ImportFormat);

enum class BoundBy : uint8_t {
  Nothing, // no instruction is concerned: counters
  Hash,    // the object's own bytes lie beside the profile
  Address, // its addresses are this object's: kernel symbols or instruction texts agree
  Text,    // its texts are this kernel's, at other addresses or without any
};
std::string_view describe(BoundBy);

struct ImportOptions {
  std::string kernel;               // symbol
  std::optional<uint64_t> dispatch; // only this one of the kernel's dispatches
};

struct ImportedProfile {
  KernelProfile profile; // its notes say how it was bound, what was moved and what could not be placed
  ImportFormat format = ImportFormat::PcSamplingJson;
  BoundBy bound = BoundBy::Nothing;
  uint64_t dispatches = 0;                  // that were summed; 0 where the file does not tell
  std::vector<std::filesystem::path> files; // that were read for it
};

/// Reads a file, or picks what to read from a folder that a profiler wrote. What a file is, its contents
/// say. BadInput, one line, with the file and where it can the line or record: no profile, empty, header
/// only, cut off, wrong types, numbers that are none, another GPU, another object, no such kernel or
/// dispatch. Environment: unreadable. Memory is bounded whatever the file's size.
Result<ImportedProfile> import_profile(const std::filesystem::path& path, const oracle::Subject& subject,
                                       const ImportOptions& options);
/// The same for a kernel that list_kernel has listed.
Result<ImportedProfile> import_profile(const std::filesystem::path& path, const KernelListing& listing,
                                       std::optional<uint64_t> dispatch);

} // namespace asmevo::profile
