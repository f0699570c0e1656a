// Gathers time by instruction into a KernelProfile.
#pragma once

#include "profile/bind_instructions.h"
#include "profile/import.h"

namespace asmevo::profile {

class ProfileBuilder {
 public:
  ProfileBuilder(const KernelListing& listing, Origin origin, ImportFormat format, const std::string& file);

  /// The time of instruction `n` of the listing.
  InstructionTime& at(size_t n);
  void unplaced(double n) { result_.profile.unplaced += n; }
  /// A note, where there is anything to say.
  void note(std::string text) { result_.profile.notes.push_back(std::move(text)); }
  ImportedProfile& result() { return result_; }
  ImportedProfile finish();

 private:
  const KernelListing& listing_;
  std::vector<InstructionTime> times_; // one for each instruction of the listing
  ImportedProfile result_;
};

/// "3 samples", "1 sample".
std::string counted(double n, std::string_view what);

// What is said of a binding by texts. `what` is what was compared: "instruction", "sampled instruction".
std::string moved_note(const TextMatch& match, int64_t shift, std::string_view what);
/// Of texts that differ although most agree; "" where there are none.
std::string different_note(const TextMatch& match);
std::unexpected<Error> other_object_error(const std::string& file, const KernelListing& listing,
                                          const TextMatch& match, std::string_view what);

} // namespace asmevo::profile
