// Defects that no ordinary run shows, planted in a kernel one at a time: waits, barriers and wait states
// dropped or one short, LDS accesses exchanged. Whether each is one that counts, and who finds it.
#pragma once

#include "mutation/mutations.h"
#include "oracle/case_set.h"

#include <string>
#include <vector>

namespace asmevo::mutation {

enum class Plant : uint8_t { DropWait, ShortWait, DropNop, ShortNop, DropBarrier, SwapLds };
std::string_view name(Plant);

struct Planted {
  Plant plant = Plant::DropWait;
  program::Edit edit;
  std::string text; // "1a40: s_waitcnt vmcnt(0) dropped"
};

/// All there are in a kernel, in the order of its code.
std::vector<Planted> planted_defects(const oracle::Subject& k0, const std::string& kernel);

/// A kernel with the few cases that defects are looked for in: as its launch file gives them, those shapes,
/// or all but search and full ones.
struct PlantedBench {
  std::string kernel;
  std::shared_ptr<const oracle::Subject> k0;
  oracle::PreparedCases cases;
  /// What K0 leaves when its results are delayed; by case.
  std::vector<oracle::CaseRun> delayed;
  bool lds_writes = true;     // delayed too; not where K0 then leaves something else
  bool same_delayed = true;   // K0 leaves the same when its results are delayed (LDS writes aside)
  sanitizer::Defects defects; // K0's own, of all cases
};
/// `kernel` empty: the object's only one.
Result<PlantedBench> open_planted(const std::string& object, const std::string& launch,
                                  const std::string& kernel, const std::vector<std::string>& shapes = {});

struct PlantedVerdict {
  bool built = true;
  bool shows = false;    // in what the kernel leaves, or in how it ends, when results are delayed
  bool required = false; // by the rules of waits and wait states, which are llc's (docs/static-check.md)
  bool by_static = false, by_sanitizer = false;
  std::string said; // by who found it, first
  bool counts() const { return built && (shows || required); }
  bool found() const { return by_static || by_sanitizer; }
};
PlantedVerdict judge(const PlantedBench&, const Planted&);

} // namespace asmevo::mutation
