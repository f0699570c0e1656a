// Code objects for the tests: compiled at run time by clang, so that nothing is checked against bytes of our
// own.
#pragma once

#include "base/bytes.h"
#include "base/files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

namespace asmevo::samples {

inline const std::string llvm = "/usr/lib/llvm-22/bin/";

/// A folder of this test process, removed when it ends.
inline const std::filesystem::path& folder() {
  struct Folder {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / fmt::format("asmevo-test-{}", ::getpid());
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static const Folder folder;
  return folder.path;
}

inline std::filesystem::path save(const std::string& name, ByteSpan bytes) {
  const auto path = folder() / name;
  const Status saved = write_file(path, bytes);
  EXPECT_TRUE(saved) << saved.error().message;
  return path;
}

struct Run {
  int code = -1;
  std::string output; // stdout and stderr
};
inline Run run(const std::string& command) {
  Run result;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return result;
  char buffer[1 << 14];
  for (size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) result.output.append(buffer, n);
  result.code = ::pclose(pipe);
  return result;
}

// Two kernels; device functions called through a table (RELATIVE64 into .text), a pointer to data (RELATIVE64
// into .data), .data, .bss, LDS.
inline constexpr std::string_view hip_source = R"(
#define global __attribute__((global))
#define device __attribute__((device))
typedef int (*Function)(int);
device __attribute__((noinline)) int triple(int a) { return a * 3 + 1; }
device __attribute__((noinline)) int quintuple(int a) { return a * 5 + 1; }
device int numbers[4] = {1, 2, 3, 4};
device int zeros[400];
device int* number = &numbers[2];
device Function table[2] = {triple, quintuple};
extern "C" global void call(int* p, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
  p[i] = table[n & 1](p[i]) + numbers[n & 3] + zeros[n] + *number;
}
extern "C" global void turn(float* __restrict__ p, float x) {
  __attribute__((shared)) static float s[64];
  int i = __builtin_amdgcn_workitem_id_x();
  s[i] = p[i];
  __builtin_amdgcn_s_barrier();
  p[i] = s[63 - i] * x;
}
)";

// One kernel that does nothing much, as hand-written assembly has it.
inline constexpr std::string_view asm_source = R"(
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.amdhsa_code_object_version 5
.text
.globl plain
.p2align 8
.type plain,@function
plain:
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[2:3]
  s_waitcnt vmcnt(0)
label_0008:
  v_add_u32_e32 v2, 1, v2
  global_store_dword v1, v2, s[2:3]
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel plain
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 8
  .amdhsa_accum_offset 8
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: plain
    .symbol: plain.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 8
    .vgpr_count: 8
    .max_flat_workgroup_size: 64
    .args:
      - {.name: p, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
...
.end_amdgpu_metadata
)";

inline Bytes read(const std::filesystem::path& path) {
  auto bytes = read_file(path);
  EXPECT_TRUE(bytes) << bytes.error().message;
  return bytes ? *std::move(bytes) : Bytes();
}

/// `hip_source` or another HIP source as a code object.
inline Bytes compile(const std::string& gpu = "gfx942", int version = 5, int optimisation = 2,
                     std::string_view source = hip_source) {
  static std::map<std::string, Bytes> made;
  const std::string key = fmt::format("{} {} {} {}", gpu, version, optimisation, source);
  if (const auto it = made.find(key); it != made.end()) return it->second;
  const auto in = save("sample.hip", as_bytes(source)), out = folder() / "sample.co";
  const Run compiled =
      run(fmt::format("{}clang -x hip --offload-device-only --offload-arch={} -nogpuinc -nogpulib "
                      "--no-gpu-bundle-output -mcode-object-version={} -O{} {} -o {}",
                      llvm, gpu, version, optimisation, in.string(), out.string()));
  EXPECT_EQ(compiled.code, 0) << compiled.output;
  return made[key] = read(out);
}

/// Assembles and links `source` for gfx942.
inline Bytes assemble(std::string_view source = asm_source) {
  static std::map<std::string, Bytes, std::less<>> made;
  if (const auto it = made.find(source); it != made.end()) return it->second;
  const auto in = save("sample.s", as_bytes(source)), out = folder() / "sample_asm.co";
  const Run linked = run(fmt::format("{}clang --target=amdgcn-amd-amdhsa -mcpu=gfx942 -nogpulib {} -o {}",
                                     llvm, in.string(), out.string()));
  EXPECT_EQ(linked.code, 0) << linked.output;
  return made[std::string(source)] = read(out);
}

/// AITer's .co files for gfx942 and gfx950 below ASMEVO_AITER_DIR; empty, with the reason printed, where it
/// is not set.
inline std::vector<std::filesystem::path> aiter_objects() {
  const char* root = std::getenv("ASMEVO_AITER_DIR");
  std::vector<std::filesystem::path> objects;
  if (!root) {
    fmt::print("skipped: ASMEVO_AITER_DIR (folder hsa/ of ROCm/aiter) is not set\n");
    return objects;
  }
  for (const char* gpu : {"gfx942", "gfx950"}) {
    auto files = list_files(std::filesystem::path(root) / gpu);
    EXPECT_TRUE(files) << files.error().message;
    if (files)
      std::ranges::copy_if(*files, std::back_inserter(objects),
                           [](const auto& f) { return f.extension() == ".co"; });
  }
  return objects;
}

} // namespace asmevo::samples
