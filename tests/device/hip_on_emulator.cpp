#include "device/hip_on_emulator.h"

#include "codeobject/container.h"

#include <fmt/format.h>

#include <cstring>
#include <hip/hip_runtime_api.h>
#include <map>

namespace asmevo::test {

namespace {

/// What clang's generated constructors hand over before main.
struct FatBinary {
  uint32_t magic, version;
  const uint8_t* bundle;
  void* unused;
};
struct RegisteredKernel {
  const FatBinary* binary;
  std::string name;
};
std::map<const void*, RegisteredKernel>& registered_kernels() {
  static std::map<const void*, RegisteredKernel> kernels;
  return kernels;
}

struct Configuration { // of <<<>>>
  dim3 grid, block;
  size_t lds;
  hipStream_t stream;
};
Configuration pushed;

HipOnEmulator* current = nullptr;
std::map<const FatBinary*, std::shared_ptr<device::Module>> modules; // loaded on `current`

hipError_t fail(std::string_view what) {
  if (current != nullptr) current->failures += fmt::format("{}\n", what);
  return hipErrorUnknown;
}

/// A plain offload bundle says where each entry is; the last one's end is its own.
ByteSpan bundle_bytes(const uint8_t* bundle) {
  constexpr size_t magic = 24;
  const auto word = [&](size_t at) {
    uint64_t value;
    std::memcpy(&value, bundle + at, sizeof value);
    return value;
  };
  uint64_t end = 0;
  size_t at = magic + 8;
  for (uint64_t entry = 0, count = word(magic); entry < count; ++entry) {
    end = std::max(end, word(at) + word(at + 8));
    at += 24 + word(at + 16);
  }
  return {bundle, end};
}

Result<std::shared_ptr<device::Module>> load(const FatBinary* binary) {
  if (const auto found = modules.find(binary); found != modules.end()) return found->second;
  const ByteSpan bytes = bundle_bytes(binary->bundle);
  ASMEVO_TRY(const auto container, codeobject::Container::parse({bytes.begin(), bytes.end()}, "fat binary"));
  ASMEVO_TRY(const auto* const contained, container.find(current->device->target().name()));
  ASMEVO_TRY(auto object_bytes, contained->read());
  ASMEVO_TRY(auto object, codeobject::CodeObject::parse(std::move(object_bytes)));
  ASMEVO_TRY(auto module,
             current->device->load(std::make_shared<const codeobject::CodeObject>(std::move(object))));
  modules[binary] = module;
  return module;
}

/// The explicit arguments, laid out as the kernel's metadata says.
Result<std::vector<uint8_t>> pack(const codeobject::CodeObject& object, const codeobject::Kernel& kernel,
                                  void** arguments) {
  if (!object.metadata() || !kernel.metadata_index)
    return internal_error("kernel '{}' has no metadata", kernel.name);
  ASMEVO_TRY(const auto kernels, object.metadata()->kernels());
  std::vector<uint8_t> kernarg;
  size_t index = 0;
  for (const auto& argument : kernels[*kernel.metadata_index].args) {
    if (argument.hidden()) continue;
    kernarg.resize(std::max(kernarg.size(), argument.offset + argument.size));
    std::memcpy(kernarg.data() + argument.offset, arguments[index++], argument.size);
  }
  return kernarg;
}

Status launch(const void* function, dim3 groups, dim3 block, void** arguments, size_t lds) {
  const auto found = registered_kernels().find(function);
  if (current == nullptr || found == registered_kernels().end()) return internal_error("no such kernel");
  ASMEVO_TRY(const auto module, load(found->second.binary));
  const codeobject::Kernel* kernel = module->object().find_kernel(found->second.name);
  if (kernel == nullptr) return internal_error("no kernel '{}'", found->second.name);
  device::LaunchShape shape;
  shape.grid = {uint64_t{groups.x} * block.x, uint64_t{groups.y} * block.y, uint64_t{groups.z} * block.z};
  shape.workgroup = {block.x, block.y, block.z};
  shape.dynamic_lds = static_cast<uint32_t>(lds);
  device::LaunchArguments packed;
  ASMEVO_TRY(packed.kernarg, pack(module->object(), *kernel, arguments));
  ASMEVO_TRY(const auto outcome, current->device->launch(*module, kernel->name, shape, packed));
  ++current->launches;
  current->instructions += outcome.instructions;
  if (!outcome.completed()) return internal_error("{}: {}", kernel->name, outcome.text);
  return {};
}

} // namespace

HipOnEmulator::HipOnEmulator(const isa::Target& target, device::EmulatorOptions options) {
  auto made = device::EmulatedDevice::create(target, std::move(options));
  if (made)
    device = std::move(*made);
  else
    failures = made.error().message;
  current = this;
}

HipOnEmulator::~HipOnEmulator() {
  modules.clear();
  current = nullptr;
}

} // namespace asmevo::test

using namespace asmevo::test; // NOLINT(google-build-using-namespace): the functions below are HIP's

// NOLINTBEGIN(bugprone-reserved-identifier): names that clang's code calls
extern "C" {
void** __hipRegisterFatBinary(const void* binary);
void __hipUnregisterFatBinary(void** handle);
void __hipRegisterFunction(void** handle, const void* host_function, char* device_function,
                           const char* device_name, unsigned thread_limit, void*, void*, dim3*, dim3*, int*);
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t lds, hipStream_t stream);
hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* lds, hipStream_t* stream);
}

void** __hipRegisterFatBinary(const void* binary) {
  return static_cast<void**>(const_cast<void*>(binary));
}
void __hipUnregisterFatBinary(void**) {}
void __hipRegisterFunction(void** handle, const void* host_function, char*, const char* device_name, unsigned,
                           void*, void*, dim3*, dim3*, int*) {
  const auto* binary = reinterpret_cast<const FatBinary*>(handle);
  registered_kernels()[host_function] = {binary, device_name};
}
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t lds, hipStream_t stream) {
  pushed = {grid, block, lds, stream};
  return hipSuccess;
}
hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* lds, hipStream_t* stream) {
  *grid = pushed.grid;
  *block = pushed.block;
  *lds = pushed.lds;
  *stream = pushed.stream;
  return hipSuccess;
}
// NOLINTEND(bugprone-reserved-identifier)

hipError_t hipLaunchKernel(const void* function, dim3 groups, dim3 block, void** arguments, size_t lds,
                           hipStream_t) {
  const auto launched = launch(function, groups, block, arguments, lds);
  return launched ? hipSuccess : fail(launched.error().message);
}
hipError_t hipGetDevice(int* device) {
  *device = 0;
  return hipSuccess;
}
hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int) {
  *properties = {};
  properties->warpSize = 64;
  properties->multiProcessorCount = 2;
  properties->maxThreadsPerBlock = 1024;
  std::snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "%s",
                std::string(current->device->target().name()).c_str());
  return hipSuccess;
}
hipError_t hipGetLastError() {
  return current->failures.empty() ? hipSuccess : hipErrorUnknown;
}
hipError_t hipStreamSynchronize(hipStream_t) {
  return hipSuccess;
}
hipError_t hipMemsetAsync(void* to, int value, size_t bytes, hipStream_t) {
  const std::vector<uint8_t> filled(bytes, static_cast<uint8_t>(value));
  const auto written = current->device->write(reinterpret_cast<uint64_t>(to), filled);
  return written ? hipSuccess : fail(written.error().message);
}
/// Between two places of the device.
hipError_t hipMemcpyAsync(void* to, const void* from, size_t bytes, hipMemcpyKind kind, hipStream_t) {
  if (kind != hipMemcpyDeviceToDevice) return fail("only copies on the device");
  std::vector<uint8_t> copied(bytes);
  const auto read = current->device->read(reinterpret_cast<uint64_t>(from), copied);
  if (!read) return fail(read.error().message);
  const auto written = current->device->write(reinterpret_cast<uint64_t>(to), copied);
  return written ? hipSuccess : fail(written.error().message);
}
