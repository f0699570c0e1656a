// One kernel of the suite against mutants and rewrites of itself: what the verification says of each, and how
// long it takes.
#pragma once

#include "mutation/mutations.h"
#include "mutation/reference_check.h"
#include "mutation/rewrites.h"
#include "oracle/case_set.h"

#include <filesystem>

namespace asmevo::mutation {

/// A kernel of the suite with everything it is verified by.
struct Bench {
  std::string name, kernel;
  std::shared_ptr<const oracle::Subject> k0;
  oracle::LaunchSpec launch;
  oracle::PreparedCases cases; // what `asmevo verify` tries by default of the launches of `kernel`
  std::unique_ptr<ReferenceCheck> reference;
  double seconds = 0; // to make the set
};

/// `name`: of kernels/suite/<name>.toml; `kernel`: the one to change. `one_in`: of the made-up cases only one
/// in so many.
Result<Bench> open_bench(const std::string& name, const std::string& kernel,
                         const std::string& target = "gfx942", unsigned one_in = 1);

/// kernels/suite/<name>.<target>.co as built.
Result<Bytes> read_suite_object(const std::string& name, const std::string& target);

/// K0 with an edit.
Result<std::shared_ptr<const oracle::Subject>> build(const oracle::Subject& k0, const program::Edit&);

/// What became of one edit.
struct Verdict {
  oracle::Outcome outcome = oracle::Outcome::Equivalent;
  bool built = true;   // false: the edit cannot be rebuilt, which is a refusal too
  std::string text;    // why it was rejected
  std::string at_case; // the case that showed it; empty: none was run
  double seconds = 0;
  bool near_reference = true; // false: further off than twice K0; looked at where all cases are equivalent
  bool accepted() const { return built && outcome == oracle::Outcome::Equivalent && near_reference; }
};

/// On one thread. The result does not depend on what else runs.
Verdict judge(const Bench&, const program::Edit&, unsigned threads = 1);

/// What `asmevo verify` would find with many more cases than it tries: other seeds, other sizes.
class LongRun {
 public:
  static Result<LongRun> make(const Bench&);
  struct Differences {
    bool rejected = false;  // by the comparison's rule
    bool different = false; // some bit, in some case; within what the rule allows where not rejected
    std::string text;       // the first of these
  };
  Differences try_edit(const Bench&, const program::Edit&) const;

 private:
  oracle::PreparedCases cases_;
};

/// One after the other on `threads` threads; in the order of the edits.
std::vector<Verdict> judge_all(const Bench&, const std::vector<program::Edit>&, unsigned threads = 0);

} // namespace asmevo::mutation
