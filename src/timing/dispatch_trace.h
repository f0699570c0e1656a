// Traces of some workgroups of a dispatch, made by the emulator once and replayed on any number of machines
// that have the same shape.
#pragma once

#include "codeobject/inspection.h"
#include "emulator/dispatch.h"
#include "timing/dispatch_sample.h"
#include "timing/footprint.h"
#include "timing/wave_trace.h"

namespace asmevo::timing {

struct DispatchTrace {
  isa::Target target;
  DispatchSize size;
  DispatchSample sample;
  codeobject::Occupancy occupancy;
  std::map<uint32_t, const isa::Instruction*> instructions; // by TracedStep::op
  uint64_t code_address = 0;                                // in the code object, of op 0
  std::vector<WorkgroupTrace> groups;                       // in the sample's order
  std::vector<emulator::RegionInfo> regions;                // of memory
  Footprint footprint;                                      // as worked out from all of this
  uint64_t executed = 0;                                    // by the emulator
  /// A wave that waits for others' writes, or reads the clock: on a GPU it may do more or less than here.
  bool depends_on_time = false;
};

struct TraceOptions {
  uint64_t effort = 2'000'000;
  unsigned threads = 0; // 0: one a core
  /// Of a workgroup, all its waves together, before it counts as hanging: one that waits for others which do
  /// not run is not going to end.
  uint64_t most_instructions = uint64_t{1} << 28;
  LeftOut left_out = LeftOut::Nothing;
  uint64_t schedule = 0; // of the waves of a workgroup, see emulator::RunOptions::seed
};

/// Runs what it needs of the dispatch in `memory`, which is then as it left it. `bias`: guest address minus
/// address in the code object. BadInput: a fault or a hang, with the emulator's words.
Result<DispatchTrace> trace_dispatch(const emulator::Launch&, emulator::Code&, emulator::AddressSpace& memory,
                                     uint64_t bias, const Machine&, const TraceOptions&);

/// Whether waves went the same ways and touched the same memory.
bool same_paths(const DispatchTrace&, const DispatchTrace&);

} // namespace asmevo::timing
