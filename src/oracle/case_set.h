// The cases a launch is tried with: its shapes from small to large, several seeds, inputs of other kinds
// (input_variants.h), and sizes around those the file gives. Where K0 itself cannot run a size or an input
// that was made up here, or where its outputs would say nothing, the case is left out, with the reason.
//
// Everything follows from the launch, K0 and the seeds. A second set with other seeds and sizes is held back
// for what must not be tuned to the first.
#pragma once

#include "oracle/input_variants.h"
#include "oracle/verify.h"

namespace asmevo::oracle {

struct CaseSetOptions {
  PrepareOptions prepare;
  std::string kernel; // in place of the launch file's; empty: as it says
  std::string shape; // only this one; empty: all but `full`, and [sizes] as they are where there is no `full`
  unsigned seeds = 3; // of the inputs as given
  /// Cases in which all sizes of the first shape change together; of other shapes there are an eighth.
  unsigned joint_sizes = 128;
  bool sanitize = true;   // watch some of the cases: the first of each small shape, and some that are made up
  unsigned one_in = 1;    // of the cases that are made up, only one in so many
  bool as_given = false;  // no other inputs and sizes than the file's
  bool held_back = false; // the second set
  /// Called now and then, from any thread.
  std::function<void(size_t done, size_t of)> progress;
};

/// How one case, or several in a row, come from the launch.
struct CaseRecipe {
  std::string name = {}; // "tiny, n = 1, seed 3"
  std::string shape;
  std::map<std::string, int64_t> sizes = {}; // in place of the shape's
  InputVariant variant = InputVariant::AsGiven;
  uint64_t seed = 0;
  uint64_t sample = 0; // so many workgroups of the first launch alone; 0: as PrepareOptions say
  bool spread = false; // as many workgroups as can be had for a time, all over the grid
  // Buffers by name: the first is the second's memory.
  std::optional<std::pair<std::string, std::string>> in_place = {};
  unsigned shift = 0;   // buffers begin just as far into memory as their elements need, and at least so far
  bool watched = false; // takes paths that only large sizes take: what the sanitizer finds there it sees here
  bool made_up() const {
    return !sizes.empty() || variant != InputVariant::AsGiven || sample != 0 || spread || in_place ||
           shift != 0;
  }
};

struct CaseSet {
  PreparedCases cases;               // in the order in which they should be tried
  std::vector<std::string> left_out; // "tiny, n = 0: K0 itself: ..."
  std::vector<std::string> warnings; // an input that changes nothing, outputs that are all the same
};

/// The recipes of a set, in order.
std::vector<CaseRecipe> recipes_of(const LaunchSpec&, const CaseSetOptions&);

/// BadInput where K0 cannot run the launch as it is given.
Result<CaseSet> make_case_set(const LaunchSpec&, std::shared_ptr<const Subject> k0, const CaseSetOptions&);

} // namespace asmevo::oracle
