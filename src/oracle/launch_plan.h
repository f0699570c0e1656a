// What a launch spec comes to for one set of sizes: where buffers lie relative to each other, how large they
// are and what is in them at first. Addresses come later (launch_memory.h), arguments and steps when they are
// run (launch_run.h).
#pragma once

#include "oracle/launch_spec.h"

#include <memory>

namespace asmevo::oracle {

/// A pointer that a buffer holds: to byte `offset` of the buffer with index `buffer`.
struct PlannedPointer {
  size_t buffer = 0;
  uint64_t offset = 0;
};

struct PlannedBuffer {
  const BufferSpec* spec = nullptr;
  std::string name;
  Role role = Role::In;
  Layout layout;
  uint64_t bytes = 0;
  size_t allocation = 0;       // index; an alias has that of its buffer
  uint64_t offset = 0;         // bytes into the allocation
  std::optional<size_t> alias; // the buffer whose memory it is
  Init init;
  std::vector<PlannedPointer> pointers; // become the first elements
  bool readable() const { return role != Role::Workspace; }
  bool written() const { return role == Role::Out || role == Role::InOut; }
};

struct PlannedAllocation {
  std::string name;
  uint64_t alignment = 256, address = 0; // address 0: anywhere
  uint64_t bytes = 0;                    // without the guards around it
  uint64_t guard_before = 0, guard_behind = 0;
  std::vector<size_t> buffers; // by offset
};

/// Moves but does not copy: the buffers point into the spec.
struct LaunchPlan {
  LaunchPlan() = default;
  LaunchPlan(LaunchPlan&&) = default;
  LaunchPlan& operator=(LaunchPlan&&) = default;

  LaunchSpec spec;
  std::string shape; // empty: the sizes as they are
  Scope sizes;
  uint64_t seed = 0;                  // mixed into that of every random init
  std::vector<PlannedBuffer> buffers; // in the file's order
  std::vector<PlannedAllocation> allocations;

  /// `shape` empty: the spec's [sizes] as they are. BadInput, with file, line and key: an unknown shape,
  /// expressions that do not work out, buffers outside their allocation or over one another, more than 4,096
  /// GiB in all.
  static Result<LaunchPlan> make(LaunchSpec, const std::string& shape, uint64_t seed = 0);

  std::optional<size_t> find(std::string_view buffer) const;
};

/// Sizes by name, those of `shape` in place of the spec's. Sizes may refer to one another, but not in a
/// circle.
Result<Scope> work_out_sizes(const LaunchSpec&, const std::string& shape);

/// Hex digits, in pairs; blanks between them do not count.
Result<Bytes> hex_bytes(std::string_view text);

/// The pointers of a list, worked out; each counts from 0 to its buffer's end.
Result<std::vector<PlannedPointer>> plan_pointers(const LaunchPlan&, const std::vector<PointerSpec>&,
                                                  const Scope&, std::string_view what);

} // namespace asmevo::oracle
