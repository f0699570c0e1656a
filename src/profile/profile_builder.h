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

} // namespace asmevo::profile
