// A case with K0's side of it: K0 is run once, and then again with its waves in other orders and other noise
// in registers and LDS, so that what it does not always leave the same is known. Any number of candidates are
// compared with it afterwards (verify.h).
#pragma once

#include "oracle/case_run.h"
#include "oracle/write_recorder.h"

#include <map>
#include <mutex>

namespace asmevo::oracle {

/// What a run's result may depend on by chance.
struct RunSeeds {
  uint64_t schedule = 0, initial_state = 0; // as of CaseRunOptions
};

struct PrepareOptions {
  Rule rule = Rule::Scaled; // for K0 against its recorded post-state
  unsigned schedules = 8;   // runs of K0 in all; where it leaves different things, 8 at least
  /// Of more workgroups, so many are run, the same ones of K0 and candidates; 0: always all.
  uint64_t sample = 0;
  std::optional<RunSeeds> also = {};     // one more run of K0, with these
  std::vector<uint64_t> workgroups = {}; // just these, in place of a sample
  uint64_t seed = 0;                     // of the sample, and of K0's orders of waves
  unsigned threads = 0;
  uint64_t most_instructions = uint64_t{1} << 32; // of a workgroup of K0
  bool sanitize = false;                // candidates may have no defects (sanitizer/) that K0 has not
  uint64_t most_watched = ~uint64_t{0}; // but not where K0 runs more instructions
};

/// Immutable once made; many threads may compare candidates with it.
class PreparedCase {
 public:
  /// BadInput where K0 itself faults, hangs or damages guards, or is not what the case asks for. Unsupported:
  /// a sample of a kernel with atomics on memory, whose results depend on all workgroups.
  static Result<std::shared_ptr<const PreparedCase>> make(Case, std::shared_ptr<const Subject> k0,
                                                          const PrepareOptions&);

  const Case& dispatch() const { return case_; }
  const std::shared_ptr<const Subject>& k0() const { return k0_; }
  const CaseRun& left() const { return left_; }                        // what K0 left
  const std::vector<uint64_t>& sample() const { return sample_; }      // workgroups; empty: all
  uint64_t instructions() const { return left_.outcome.instructions; } // of K0's run
  /// What K0 does not always leave the same: elements of a view, and bytes that no view covers, by address.
  const Spread& spread(size_t view) const { return spreads_[view]; }
  using OpaqueSpread = std::map<uint64_t, std::pair<uint8_t, uint8_t>>;
  const OpaqueSpread& opaque_spread() const { return opaque_spread_; }
  bool always_the_same() const;
  /// Whether runs are watched by the sanitizer; left() has what it says of K0.
  bool sanitized() const { return sanitized_; }
  const std::vector<std::string>& notes() const { return notes_; }
  /// The guards that K0 has looked into here, or another case of the same launch did before.
  const std::vector<std::string>& guard_reads() const { return guard_reads_; }
  /// Every write of K0, to the byte; K0 is run again when it is first asked for.
  Result<const WriteRecorder*> k0_writes() const;

  /// The view that a byte belongs to, padding included; null: none.
  const CaseView* view_at(uint64_t address) const;
  /// Calls f(address, byte of a, of b, before) for each byte of the case's memory that is no element of a
  /// view and that differs between two runs, until f says false. The code object's own memory belongs to it,
  /// by its addresses in run a.
  using OtherByte = std::function<bool(uint64_t address, uint8_t a, uint8_t b, uint8_t before)>;
  Status each_other_byte(const CaseRun& a, const CaseRun& b, const OtherByte& f) const;

 private:
  PreparedCase(Case c, std::shared_ptr<const Subject> k0) : case_(std::move(c)), k0_(std::move(k0)) {}
  Status prepare(const PrepareOptions&);
  Result<CaseRun> run(uint64_t schedule, WriteRecorder*, const PrepareOptions&) const;
  Result<CaseRun> run(const RunSeeds&, WriteRecorder*, const PrepareOptions&) const;
  Status run_first(const PrepareOptions&);
  Status compare_with_recorded(Rule);
  Status run_again(const PrepareOptions&);
  Status widen_by(const CaseRun& again);
  bool is_element(uint64_t address) const;

  Case case_;
  std::shared_ptr<const Subject> k0_;
  CaseRun left_;
  std::vector<uint64_t> sample_;
  bool sanitized_ = false;
  std::vector<Spread> spreads_; // by view
  OpaqueSpread opaque_spread_;
  std::vector<std::string> notes_, guard_reads_;
  mutable std::mutex writes_mutex_;
  mutable std::unique_ptr<WriteRecorder> writes_;
};

/// Unsupported where a sample of its workgroups would say nothing about a kernel.
Status check_sampled(const Subject&, const Case&);

/// Runs K0 on a case and keeps what it leaves as the case's post-state. BadInput where it does not complete.
Status record_after(Case&, const std::shared_ptr<const Subject>& k0, unsigned threads = 0);

} // namespace asmevo::oracle
