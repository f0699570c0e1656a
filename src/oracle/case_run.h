// One run of a code object from the memory of a case, and what it left there.
#pragma once

#include "oracle/case.h"
#include "oracle/compare.h"
#include "oracle/subject.h"
#include "sanitizer/sanitizer.h"

namespace asmevo::oracle {

struct CaseRunOptions {
  uint64_t schedule = 0;      // of the waves, and of the workgroups: see group_order; 0: round robin
  uint64_t initial_state = 1; // of registers and LDS, see emulator::RunOptions
  uint64_t most_instructions = uint64_t{1} << 32;
  std::vector<uint64_t> workgroups; // empty: all
  unsigned threads = 0;
  bool watch_guards =
      false; // tell of guards that are looked into, but for those that K0 has looked into before
  bool other_guards = false; // guards hold something else: what comes of reading them shows
  bool sanitize = false;     // look for defects that the run does not suffer from; in place of an observer
  std::function<emulator::Observer*(size_t slot)> observer = {};
};

struct CaseRun {
  std::unique_ptr<device::EmulatedDevice> device;
  device::LaunchOutcome outcome;
  std::vector<emulator::AddressSpace::Range> written; // pages, by address
  std::vector<std::string> guard_reads;               // "memory behind buffer 'x' was read"
  GlobalData globals;
  sanitizer::Defects defects; // where asked for
  emulator::AddressSpace& memory() const { return device->memory(); }
  /// The first byte from `address` on in a page that was written; the last address: none.
  uint64_t next_written(uint64_t address) const;
  bool wrote_near(uint64_t address, uint64_t bytes) const { return next_written(address) < address + bytes; }
};

/// In which order workgroups start with a schedule: ascending with 0, then descending, then two at random,
/// and so on.
emulator::GroupOrder group_order(uint64_t schedule);

/// BadInput: what the case asks for is not what the code object can do. Many may run at once.
Result<CaseRun> run_case(const Case&, const std::shared_ptr<const Subject>&, const CaseRunOptions&);

/// Of what starts at `address`: what either of two runs may have touched.
NextTouched next_written(const CaseRun& a, const CaseRun& b, uint64_t address);

/// Bytes of `memory` from `address` on; it must outlive the reader.
ReadBytes reader(const emulator::AddressSpace& memory, uint64_t address);

} // namespace asmevo::oracle
