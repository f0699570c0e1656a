// Static check: what is wrong with a kernel that testing it may not show. Looks for missing waits
// (s_waitcnt), missing wait states (s_nop) that the hardware does not interlock, LDS traffic not waited for
// at a barrier, vector work with EXEC known to be 0, and registers or LDS beyond what is allocated.
// docs/static-check.md says what each rule rests on and what it cannot see.
//
// A finding is a mistake on some path through the control flow graph. What cannot be proved is not reported:
// registers chosen by an index, LDS addresses, what a callee leaves behind.
#pragma once

#include "base/result.h"
#include "program/cfg.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asmevo::codeobject {
class CodeObject;
}

namespace asmevo::program {

enum class FindingKind : uint8_t {
  MissingWait,       // a register used while an asynchronous operation on it is in flight
  MissingWaitStates, // fewer wait states than the hazard needs
  Barrier,           // LDS traffic not waited for before s_barrier, a barrier that not all waves may run
  Exec,              // vector instruction with EXEC known to be 0
  Resource,          // a register beyond the allocation, an LDS offset beyond the workgroup's
  MemoryOrder,       // less order between waves than K0 has (memory_order.h)
  SideEffect,        // what no run shows and K0 does not do, or does (side_effects.h)
  Address,           // an address that is right for some places of the code only (code_address_check.h)
};
std::string_view name(FindingKind);

struct Finding {
  FindingKind kind = FindingKind::MissingWait;
  std::string rule;                               // "vmcnt", "lgkmcnt", "valu-writes-sgpr-vmem", ...
  Index producer = no_index, consumer = no_index; // entries; producer may be none
  InstrId producer_id, consumer_id;
  std::string object;         // register(s) or object concerned: "v[4:7]", "LDS"
  std::string register_class; // "vgpr", "agpr", "sgpr", "vcc", "exec", "m0", "lds", ..., for matching
  std::string missing;        // "s_waitcnt vmcnt(3)", "4 more wait states (s_nop 3)"
  std::string message;        // one line, both instructions named
  // Two instructions that are right or wrong depending on what is not in the code, such as LDS addresses. Not
  // a mistake by itself; one that an edit brings in deserves a look.
  bool possible = false;
  unsigned in_flight = 0; // at a barrier: how many operations that write LDS are not waited for
  unsigned lacking = 0;   // wait states
};

struct CheckOptions {
  bool waits = true, wait_states = true, barriers = true, exec = true;
  bool possible = false; // report possible findings too
  // For comparing: what is not waited for stays in flight, so that each use of it is a finding. Otherwise a
  // mistake is one finding, and hides that a candidate adds uses to it or has dropped the wait behind it.
  bool every_use = false;
  // From the descriptor; 0: not checked.
  unsigned allocated_vgprs = 0, accum_offset = 0, allocated_sgprs = 0;
  // LDS of a workgroup, if known: what the descriptor says. A launch may add dynamic LDS behind it, of which
  // the object says nothing, so that an access there is a possible finding only.
  std::optional<uint32_t> lds_bytes;
  /// With what the descriptor of the kernel of that name says, where there is one.
  static CheckOptions of(const codeobject::CodeObject&, std::string_view function);
};

/// Findings of one function, in address order, deduplicated by (rule, producer, consumer).
std::vector<Finding> check(const Program&, const Function&, const Cfg&, const CheckOptions&);

/// Those of `candidate` that K0 does not have: matched by kind, rule, register class or object, and the pair
/// of mnemonics counted (two of a kind where K0 has one: one is new). Findings at the same
/// ids are matched first, so what is reported is what an edit brought. Not counted: a scalar register written
/// and read too soon by a contested rule, which the hardware holds back for each such pair or for none.
std::vector<Finding> new_findings(const Program& k0, const std::vector<Finding>& of_k0,
                                  const Program& candidate, const std::vector<Finding>& of_candidate);

/// What else a candidate lacks or adds, function by function: removed_barriers() and those of memory_order.h
/// and side_effects.h. `one_wave`: a kernel of which no workgroup has more than one wave.
std::vector<Finding> compared_findings(const Program& k0, const Function& k0_function,
                                       const Program& candidate, const Function& function,
                                       bool one_wave = false);

/// All that is new in a function of a candidate: new_findings() of check(), possible ones and every use, and
/// compared_findings() with K0's function of that name; where K0 has none, all there is.
std::vector<Finding> findings_against(const codeobject::CodeObject& k0_object, const Program& k0,
                                      const codeobject::CodeObject& object, const Program& candidate,
                                      const Function& function);

/// Places of a candidate where K0 has an s_barrier and it has none any more, when it has fewer of them in
/// all, those that hold nothing up apart (working_barriers.h). Possible findings: a barrier may be one too
/// many, but nothing in the code says so.
std::vector<Finding> removed_barriers(const Program& k0, const Function& k0_function,
                                      const Program& candidate, const Function& function,
                                      bool one_wave = false);

} // namespace asmevo::program
