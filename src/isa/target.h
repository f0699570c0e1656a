// The GPUs this program knows: gfx90a (MI200), gfx942 (MI300), gfx950 (MI350), each with the two target
// features that a target id can pin (LLVM's AMDGPUUsage, "Target ID"). Objects of gfx9-4-generic are read as
// gfx942.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace asmevo::isa {

enum class Gfx : uint8_t { gfx90a, gfx942, gfx950 };

/// A feature of the target id. Any: code that runs with the feature on or off.
enum class Feature : uint8_t { Any, Off, On };

struct Target {
  Gfx gfx = Gfx::gfx942;
  Feature xnack = Feature::Any;
  Feature sramecc = Feature::Any;
  bool generic = false; // came from gfx9-4-generic

  /// From `e_flags` of a code object V4 or later (`e_ident[EI_ABIVERSION]` >= 2). Unsupported for any other
  /// GPU; the message names it.
  static Result<Target> from_elf_flags(uint32_t e_flags);
  /// From "gfx942:sramecc+:xnack-", with or without "amdgcn-amd-amdhsa--" in front.
  static Result<Target> from_id(std::string_view id);

  /// "gfx942"
  std::string_view name() const;
  /// "gfx942:sramecc+:xnack-": features in alphabetical order, "any" ones left out.
  std::string id() const;
  /// "amdgcn-amd-amdhsa--" + id(), as in `.amdgcn_target` and `amdhsa.target`.
  std::string triple_id() const;
  /// The EF_AMDGPU_* flags of code object V4 and later. Unlike id(), keeps gfx9-4-generic apart.
  uint32_t elf_flags() const;

  /// gfx942 and gfx950: flat scratch is set up by hardware, SGPR counts include 6 extra, not 2 to 6 by
  /// feature.
  bool architected_flat_scratch() const { return gfx != Gfx::gfx90a; }

  friend bool operator==(const Target&, const Target&) = default;
};

/// The name LLVM gives the GPU of these `e_flags` ("gfx1030"), or "unknown GPU 0x..".
std::string gpu_name(uint32_t e_flags);

// What a compute unit of the target offers (LLVM AMDGPUBaseInfo.cpp; CDNA3 ISA, 3.6.4 and 3.12).
struct Limits {
  unsigned vgpr_granule = 8;  // registers, unified file, allocation and encoding granule
  unsigned max_vgprs = 512;   // VGPRs and AGPRs of one wave together
  unsigned max_sgprs = 102;   // addressable, VCC and the like not counted
  unsigned sgpr_granule = 16; // allocation; the descriptor encodes in units of 8
  unsigned waves_per_simd = 8;
  unsigned simds = 4;
  unsigned lds_bytes = 65536; // of a compute unit and of the largest workgroup
  unsigned lds_granule = 512; // bytes
  unsigned wave_size = 64;
};
Limits limits(const Target&);

} // namespace asmevo::isa
