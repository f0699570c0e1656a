// A case: one dispatch with everything it needs. What a launch file says lowers to cases, one a launch, with
// memory as the launches before left it; a recorded dispatch (capture.h) is one. A candidate is run from the
// same memory as K0, and what both leave is compared.
#pragma once

#include "device/emulated_device.h"
#include "oracle/first_contents.h"
#include "oracle/global_data.h"
#include "oracle/launch_memory.h"

namespace asmevo::oracle {

/// How some of the memory is to be understood.
struct CaseView {
  std::string name;
  uint64_t address = 0;
  Layout layout;
  Role role = Role::InOut;
  /// Padding included.
  bool contains(uint64_t at) const { return at >= address && at - address < layout.bytes(); }
};

struct Case {
  std::string name; // "seed 1, launch 2": for messages
  isa::Target target;
  std::string kernel;
  device::LaunchShape shape;
  device::LaunchArguments arguments;
  /// Memory before the dispatch, code objects and the kernarg segment aside. Runs fork it.
  std::shared_ptr<const emulator::AddressSpace> before;
  std::vector<GlobalChange> globals; // what launches before left in the code object's own memory
  std::vector<CaseView> views;       // memory that none covers is opaque bytes
  /// What K0 left there where it was recorded; null: K0 is run to find out.
  std::shared_ptr<const emulator::AddressSpace> after;
  std::string object_hash; // of the code object it was made with
  bool made_up = false;    // nobody gave it: where K0 does not always leave the same, it says nothing
  std::vector<std::shared_ptr<GuardWatch>> guards; // shared by all cases of a launch
};

/// Of a module that was just loaded.
GlobalData loaded_globals(const device::Module&, const emulator::AddressSpace&);

struct LowerOptions {
  std::string kernel;     // in place of what the steps say
  std::string name;       // of the cases, in front of the launch's number
  size_t most_cases = 16; // of more launches, the first ones
  /// K0 runs only the corners of grids of more than so many workgroups, whatever comes of it for the launches
  /// behind; 0: all.
  uint64_t sample = 0;
  uint64_t seed = 0;                         // of the sample
  uint64_t most_workgroups = 0;              // of a launch that runs whole: BadInput beyond; 0: no limit
  uint64_t most_touched = uint64_t{8} << 30; // as of LaunchRunOptions
  unsigned threads = 0;
  uint64_t most_instructions = uint64_t{1} << 32;
  uint64_t most_in_all = 0;                  // instructions of all workgroups of a launch; 0: no limit
  std::shared_ptr<FirstContents> known = {}; // of the same plan
  bool* more = nullptr;                      // told whether there are more launches than most_cases
};

/// The launches of a plan as cases. Runs K0 for those behind the first. BadInput where K0 itself faults,
/// hangs or damages guards before the last of them; otherwise as run_launch.
Result<std::vector<Case>> lower(const LaunchPlan&, std::shared_ptr<const codeobject::CodeObject> k0,
                                const LowerOptions& = {});

} // namespace asmevo::oracle
