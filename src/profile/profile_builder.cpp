#include "profile/profile_builder.h"

namespace asmevo::profile {

namespace {

std::string_view method(Origin origin) {
  switch (origin) {
  case Origin::HostTrap: return "host-trap PC sampling";
  case Origin::Stochastic: return "stochastic PC sampling";
  case Origin::ThreadTrace: return "thread trace";
  case Origin::Counters: return "counters";
  case Origin::Modelled: break;
  }
  return "a model";
}

} // namespace

std::string counted(double n, std::string_view what) {
  return fmt::format("{:.0f} {}{}", n, what, n == 1 ? "" : "s");
}

ProfileBuilder::ProfileBuilder(const KernelListing& listing, Origin origin, ImportFormat format,
                               const std::string& file)
    : listing_(listing), times_(listing.instructions.size()) {
  result_.format = format;
  result_.files.emplace_back(file);
  result_.profile.origin = origin;
  result_.profile.kernel = listing.kernel.symbol();
  result_.profile.source =
      fmt::format("measured ({}, {}: {})",
                  format == ImportFormat::PmcPerfCsv ? "rocprof-compute" : "rocprofv3", method(origin), file);
}

InstructionTime& ProfileBuilder::at(size_t n) {
  return times_[n];
}

ImportedProfile ProfileBuilder::finish() {
  for (size_t n = 0; n < times_.size(); ++n) {
    if (times_[n].total() == 0 && times_[n].issues == 0) continue;
    times_[n].address = listing_.instructions[n].address;
    result_.profile.instructions.push_back(times_[n]);
  }
  return std::move(result_);
}

} // namespace asmevo::profile
