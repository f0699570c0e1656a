// PC samples with addresses, whichever file they came in: which are the wanted kernel's, and which
// instruction each belongs to.
#pragma once

#include "profile/importers.h"

#include <unordered_map>

namespace asmevo::profile {

/// A code object as the profiler loaded it.
struct LoadedObject {
  uint64_t base = 0;  // its samples' offsets count from here
  int64_t delta = 0;  // address in memory less address in the ELF file
  uint64_t bytes = 0; // of the file; 0: not told
  std::string uri;
};

struct LoadedKernel {
  uint64_t id = 0, code_object = 0;
  std::string name, display_name;
  uint64_t descriptor = 0, entry = 0; // in memory; 0: not told
};

/// What a sample says besides where it was.
enum class SampleKind : uint8_t { Stalled, Issued, Unexplained };

struct SampleKey {
  uint64_t dispatch = 0, code_object = 0, offset = 0;
  int64_t text = -1; // number of its instruction's text
  SampleKind kind = SampleKind::Unexplained;
  timing::Stall stall = timing::Stall::None;
  friend bool operator==(const SampleKey&, const SampleKey&) = default;
};
struct SampleKeyHash {
  size_t operator()(const SampleKey& key) const;
};

/// What a file has of PC samples: equal ones are counted, not kept.
struct PcSamples {
  /// So many different ones take some 500 MB.
  static constexpr size_t most_different = 4 << 20, most_records = 1 << 20, most_text_bytes = 256 << 20;

  Origin origin = Origin::Stochastic;
  std::vector<std::string> gpus;
  std::unordered_map<uint64_t, LoadedObject> objects;
  std::vector<LoadedKernel> kernels;
  std::unordered_map<uint64_t, uint64_t> kernel_of_dispatch;
  std::vector<std::string> texts;
  // Texts by place, where they do not come with the sample.
  std::map<std::pair<uint64_t, uint64_t>, int64_t> text_at;
  std::unordered_map<SampleKey, double, SampleKeyHash> samples;
  std::map<std::string, double> unknown_reasons;
  size_t text_bytes = 0; // of what keep() was told

  /// BadInput where there are too many different ones.
  Status add(const SampleKey& key);
  /// BadInput where the texts that are kept come to too many bytes.
  Status keep(std::string_view text);
  /// Kind and stall of a sample that did not issue, from the profiler's name of the reason.
  void set_reason(SampleKey& key, std::string_view reason);
};

class ProfileBuilder;
/// Adds samples at an instruction; host-trap samples where they were before they skidded: true if elsewhere.
bool add_sample(ProfileBuilder& builder, const KernelListing& listing, const SampleKey& key, double n,
                size_t at);
/// Notes of what was moved and of reasons that nobody knows.
void note_samples(ProfileBuilder& builder, const PcSamples& samples, double placed, double moved);

/// The samples of the wanted kernel by instruction.
Result<ImportedProfile> place_samples(const PcSamples& samples, ImportFormat format, const std::string& file,
                                      const ImportRequest& request);

} // namespace asmevo::profile
