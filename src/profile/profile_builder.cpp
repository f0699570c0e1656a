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

std::string moved_note(const TextMatch& match, int64_t shift, std::string_view what) {
  return fmt::format(
      "bound by instruction text: the file's code object has the kernel {:#x} bytes {}; {} of {} {}s "
      "read as in the object",
      shift < 0 ? -static_cast<uint64_t>(shift) : static_cast<uint64_t>(shift),
      shift < 0 ? "further down" : "further up", match.same, match.same + match.different, what);
}

std::string different_note(const TextMatch& match) {
  if (!match.first_different) return {};
  return fmt::format("{} otherwise in the file than in the object; the first, at {:#x}, is '{}'",
                     match.different == 1 ? "1 instruction reads"
                                          : fmt::format("{} instructions read", match.different),
                     match.first_different->address, printable(match.first_different->text));
}

std::unexpected<Error> other_object_error(const std::string& file, const KernelListing& listing,
                                          const TextMatch& match, std::string_view what) {
  const std::string& kernel = listing.kernel.symbol();
  if (!match.first_different) return bad_input("{}: no instruction of {} in it", file, kernel);
  const TextAt& first = *match.first_different;
  const auto at = listing.at(first.address);
  return bad_input(
      "{}: recorded with another object: {} of {} {}s of {} read as in this one; at {:#x} it has '{}', "
      "this one {}",
      file, match.same, match.same + match.different, what, kernel, first.address, printable(first.text),
      at ? fmt::format("'{}'", listing.instructions[*at].text) : "no instruction");
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
