// Kernels written in assembly, launched on an emulated device.
#pragma once

#include "device/emulated_device.h"
#include "rebuild/assembly.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace asmevo::emulator {

struct KernelOptions {
  std::string gpu = "gfx942";
  unsigned vgprs = 32, lds_bytes = 0, scratch_bytes = 0, kernarg_bytes = 8, preload_dwords = 0;
  unsigned workitem_directions = 0;
  std::string directives; // more `.amdhsa_...` lines
};

/// "k" with SGPRs s[0:1] = kernarg segment, then workgroup ids x, y, z (behind preloaded arguments).
inline Bytes assemble_kernel(std::string_view body, const KernelOptions& o = {}) {
  const bool old_scratch = o.gpu == "gfx90a";
  std::string text =
      fmt::format(".amdgcn_target \"amdgcn-amd-amdhsa--{}\"\n.amdhsa_code_object_version 5\n.text\n"
                  ".globl k\n.p2align 8\n.type k,@function\nk:\n{}\nend_of_k:\n.size k, end_of_k-k\n"
                  ".rodata\n.p2align 6\n.amdhsa_kernel k\n",
                  o.gpu, body);
  text += fmt::format("  .amdhsa_next_free_vgpr {}\n  .amdhsa_next_free_sgpr 64\n  .amdhsa_accum_offset {}\n"
                      "  .amdhsa_group_segment_fixed_size {}\n  .amdhsa_private_segment_fixed_size {}\n"
                      "  .amdhsa_kernarg_size {}\n  .amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
                      "  .amdhsa_system_sgpr_workgroup_id_y 1\n  .amdhsa_system_sgpr_workgroup_id_z 1\n"
                      "  .amdhsa_system_vgpr_workitem_id {}\n  .amdhsa_float_denorm_mode_32 3\n",
                      o.vgprs, std::max(4U, (std::min(o.vgprs, 256U) + 3) / 4 * 4), o.lds_bytes,
                      o.scratch_bytes, o.kernarg_bytes, o.workitem_directions);
  if (o.scratch_bytes != 0)
    text += old_scratch ? "  .amdhsa_system_sgpr_private_segment_wavefront_offset 1\n"
                        : "  .amdhsa_enable_private_segment 1\n";
  if (o.preload_dwords != 0)
    text += fmt::format("  .amdhsa_user_sgpr_kernarg_preload_length {}\n", o.preload_dwords);
  text += o.directives + ".end_amdhsa_kernel\n";
  text += fmt::format(".amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.target: amdgcn-amd-amdhsa--{}\n"
                      "amdhsa.kernels:\n  - .name: k\n    .symbol: k.kd\n    .kernarg_segment_size: {}\n"
                      "    .kernarg_segment_align: 8\n    .group_segment_fixed_size: {}\n"
                      "    .private_segment_fixed_size: {}\n    .wavefront_size: 64\n    .sgpr_count: 64\n"
                      "    .vgpr_count: {}\n    .max_flat_workgroup_size: 1024\n...\n.end_amdgpu_metadata\n",
                      o.gpu, o.kernarg_bytes, o.lds_bytes, o.scratch_bytes, o.vgprs);
  auto made = rebuild::assemble(text, "test.s");
  if (!made) throw std::runtime_error(made.error().message);
  return *std::move(made);
}

/// A device with one such kernel.
class Bench {
 public:
  explicit Bench(std::string_view body, const KernelOptions& o = {}, device::EmulatorOptions e = {}) {
    device = *device::EmulatedDevice::create(*isa::Target::from_id(o.gpu), std::move(e));
    auto object = codeobject::CodeObject::parse(assemble_kernel(body, o));
    if (!object) throw std::runtime_error(object.error().message);
    module = *device->load(std::make_shared<const codeobject::CodeObject>(std::move(*object)));
  }

  /// Arguments are 64-bit words.
  device::LaunchOutcome launch(uint64_t groups, uint32_t items, std::vector<uint64_t> arguments = {}) {
    return launch({{groups * items, 1, 1}, {items, 1, 1}, 0}, std::move(arguments));
  }
  device::LaunchOutcome launch(const device::LaunchShape& shape, std::vector<uint64_t> arguments = {}) {
    auto outcome = try_launch(shape, std::move(arguments));
    if (!outcome) throw std::runtime_error(outcome.error().message);
    return *std::move(outcome);
  }
  Result<device::LaunchOutcome> try_launch(const device::LaunchShape& shape,
                                           std::vector<uint64_t> arguments = {}) {
    device::LaunchArguments a;
    a.kernarg.resize(arguments.size() * 8);
    if (!arguments.empty()) std::memcpy(a.kernarg.data(), arguments.data(), a.kernarg.size());
    return device->launch(*module, "k", shape, a);
  }

  uint64_t buffer(uint64_t bytes, std::string_view name = "buffer") { return *device->allocate(name, bytes); }
  std::vector<uint32_t> words(uint64_t address, size_t count) {
    std::vector<uint32_t> list(count);
    const Status status = device->read(address, {reinterpret_cast<uint8_t*>(list.data()), count * 4});
    EXPECT_TRUE(status) << status.error().message;
    return list;
  }

  std::unique_ptr<device::EmulatedDevice> device;
  std::shared_ptr<device::Module> module;
};

} // namespace asmevo::emulator
