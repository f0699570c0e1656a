// The NT_AMDGPU_METADATA note: a MessagePack map (AMDGPUUsage, "Code Object Metadata"). Kept as JSON in
// memory, which holds every type the note uses; written back in LLVM's key order, byte for byte as LLVM
// writes it.
#pragma once

#include "base/bytes.h"
#include "base/result.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asmevo::codeobject {

/// One entry of `.args`. Hand-written objects leave keys out and contradict themselves: nothing here is
/// promised but what the note says.
struct KernelArgument {
  std::string name;          // may be empty
  uint64_t offset = 0;       // bytes into the kernarg segment
  uint64_t size = 0;         // bytes
  std::string value_kind;    // "global_buffer", "by_value", "hidden_block_count_x", ...
  std::string address_space; // may be empty
  std::string access;        // `.actual_access`, else `.access`; may be empty
  bool hidden() const { return value_kind.starts_with("hidden_"); }
  bool pointer() const { return value_kind == "global_buffer" || value_kind == "dynamic_shared_pointer"; }
};

struct KernelMetadata {
  std::string name;                                                      // `.name`
  std::string symbol;                                                    // `.symbol`, "<name>.kd"
  uint64_t kernarg_segment_size = 0, kernarg_segment_align = 0;          // bytes
  uint64_t group_segment_fixed_size = 0, private_segment_fixed_size = 0; // bytes
  uint64_t wavefront_size = 0, max_flat_workgroup_size = 0;              // lanes, work-items
  std::optional<std::vector<uint64_t>> reqd_workgroup_size;
  std::optional<uint64_t> sgpr_count, vgpr_count, agpr_count, sgpr_spill_count, vgpr_spill_count;
  std::vector<KernelArgument> args;
};

class Metadata {
 public:
  /// Parses the note's descriptor bytes. BadInput: not MessagePack, not a map, wrong types for known keys,
  /// overlapping arguments, nesting or counts that do not fit the bytes (bounded work on hostile input).
  static Result<Metadata> parse(ByteSpan msgpack);
  /// The note's bytes. parse then write gives the same bytes for notes in LLVM's order.
  Bytes write() const;
  /// YAML as `.amdgpu_metadata` takes it ("---\n...\n...\n").
  std::string yaml() const;

  const nlohmann::ordered_json& document() const { return document_; }
  /// Kernels in the note's order.
  Result<std::vector<KernelMetadata>> kernels() const;
  /// Sets an integer key (".vgpr_count") of kernel `index`. `only_if_present`: leaves an absent key absent.
  void set(size_t index, std::string_view key, uint64_t value, bool only_if_present = true);

 private:
  nlohmann::ordered_json document_;
};

} // namespace asmevo::codeobject
