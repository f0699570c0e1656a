// Files for the container tests, made by LLVM's own tools in a folder of the test's own.
#pragma once

#include "base/bytes.h"
#include "base/files.h"
#include "codeobject/container.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace asmevo::codeobject {

/// Standard output and error of a command, and whether it succeeded.
struct Ran {
  bool good = false;
  std::string output;
};
inline Ran run(const std::string& command) {
  Ran ran;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return ran;
  std::array<char, 4096> buffer;
  for (size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    ran.output.append(buffer.data(), n);
  ran.good = ::pclose(pipe) == 0;
  return ran;
}

class ContainerTest : public testing::Test {
 protected:
  static constexpr const char* llvm = "/usr/lib/llvm-22/bin/";
  static constexpr const char* entry_prefix = "hipv4-amdgcn-amd-amdhsa--";

  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = fmt::format("{}.{}", info->test_suite_name(), info->name());
    for (char& c : name)
      if (c == '/') c = '_';
    folder_ = std::filesystem::path(ASMEVO_BINARY_DIR) / "test-files" / name;
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    if (!HasFailure()) std::filesystem::remove_all(folder_);
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  void must_run(const std::string& command) {
    const Ran ran = run(fmt::format("cd '{}' && {}", folder_.string(), command));
    ASSERT_TRUE(ran.good) << command << "\n" << ran.output;
  }

  Bytes file(const std::string& name) const {
    auto bytes = read_file(path(name));
    EXPECT_TRUE(bytes) << (bytes ? "" : bytes.error().message);
    return bytes.value_or(Bytes{});
  }

  void save(const std::string& name, ByteSpan bytes) const {
    const Status status = write_file(path(name), bytes);
    ASSERT_TRUE(status) << status.error().message;
  }

  /// `name`: an object that defines `kernel` for `gpu`; `constants` words of data make it larger.
  void make_object(const std::string& name, const std::string& gpu, const std::string& kernel = "add",
                   size_t constants = 1) {
    write_hip_source(name + ".hip", kernel, constants);
    must_run(fmt::format("{}clang-22 -x hip --offload-device-only --offload-arch={} -nogpuinc -nogpulib -O1 "
                         "--no-gpu-bundle-output {}.hip -o {}",
                         llvm, gpu, name, name));
  }

  void write_hip_source(const std::string& name, const std::string& kernel, size_t constants) {
    save(name,
         as_bytes(fmt::format(
             "#define GLOBAL __attribute__((global))\n"
             "#define DEVICE __attribute__((device))\n"
             "typedef struct {{ unsigned x, y, z; }} dim3;\n"
             "extern \"C\" int hipLaunchKernel(const void*, dim3, dim3, void**, unsigned long, void*);\n"
             "extern \"C\" DEVICE int {0}_table[{1}] = {{7}};\n"
             "extern \"C\" GLOBAL void {0}(int* a) {{ a[0] += {0}_table[a[1]]; }}\n",
             kernel, constants)));
  }

  /// A bundle of device objects, `objects[i]` for `gpus[i]`, behind the empty host entry; made by clang's
  /// bundler.
  void bundle(const std::string& output, const std::vector<std::string>& objects,
              const std::vector<std::string>& gpus, const std::string& options = "",
              const std::string& environment = "") {
    std::string targets = "host-x86_64-unknown-linux-gnu-", inputs = "-input=/dev/null";
    for (size_t i = 0; i < objects.size(); ++i) {
      targets += fmt::format(",{}{}", entry_prefix, gpus[i]);
      inputs += fmt::format(" -input={}", objects[i]);
    }
    must_run(fmt::format("{} {}clang-offload-bundler -type=o {} -targets={} {} -output={}", environment, llvm,
                         options, targets, inputs, output));
  }

  /// What clang's bundler takes out of `input` for `gpu`.
  Bytes unbundle(const std::string& input, const std::string& gpu) {
    must_run(
        fmt::format("{}clang-offload-bundler -unbundle -type=o -targets={}{} -input={} -output=unbundled",
                    llvm, entry_prefix, gpu, input));
    return file("unbundled");
  }

  /// What llvm-objdump finds in an ELF file: contents by bundle, then by entry id, in the files' order.
  std::vector<Bytes> offloading(const std::string& input, const std::string& gpu) {
    std::filesystem::remove_all(path("objdump"));
    std::filesystem::create_directories(path("objdump"));
    std::filesystem::copy_file(path(input), path("objdump/elf"));
    must_run(fmt::format("cd objdump && {}llvm-objdump --offloading elf", llvm));
    std::vector<Bytes> found;
    const auto files = list_files(path("objdump")).value();
    for (const auto& written : files)
      if (written.string().ends_with(entry_prefix + gpu))
        found.push_back(file("objdump/" + written.filename().string()));
    return found;
  }

  Container open(const std::string& name) {
    auto container = Container::open(path(name));
    EXPECT_TRUE(container) << (container ? "" : container.error().message);
    return container ? *container : Container{};
  }

  static Bytes bytes_of(const ContainedObject& object) {
    auto bytes = object.read();
    EXPECT_TRUE(bytes) << (bytes ? "" : bytes.error().message);
    return bytes.value_or(Bytes{});
  }

  /// The result of replacing object `index` of a file, saved as `output`.
  void replace(const std::string& input, size_t index, ByteSpan object, const std::string& output) {
    auto result = open(input).replace(index, object);
    ASSERT_TRUE(result) << result.error().message;
    save(output, *result);
    std::filesystem::permissions(path(output), std::filesystem::status(path(input)).permissions());
  }

  std::filesystem::path folder_;
};

} // namespace asmevo::codeobject
