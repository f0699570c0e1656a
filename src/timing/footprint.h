// How much memory a dispatch touches, worked out from some of its workgroups: what decides what an earlier
// launch like it left in the caches.
#pragma once

namespace asmevo::timing {

struct DispatchTrace;

struct Footprint {
  double xcd = 0; // bytes that the workgroups of one XCD touch
  double all = 0; // that all workgroups touch
};

/// Lines of 128 bytes. Each region is taken to be touched by further workgroups as by those that were traced,
/// but to no more than its size.
Footprint footprint(const DispatchTrace&);

} // namespace asmevo::timing
