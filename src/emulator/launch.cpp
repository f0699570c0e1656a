#include "emulator/launch.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

namespace asmevo::emulator {

namespace {

using codeobject::KernelArgument;
using codeobject::KernelDescriptor;
using codeobject::KernelMetadata;

// What an open LDS or scratch pointer starts with; the values ROCm's driver uses.
constexpr uint32_t shared_aperture_hi = 0x10000, private_aperture_hi = 0x20000;

class Preparation {
 public:
  Preparation(const codeobject::CodeObject& object, const codeobject::Kernel& kernel, uint64_t bias,
              const LaunchRequest& request, AddressSpace& memory)
      : kernel_(kernel), request_(request), memory_(memory) {
    launch_.kernel = &kernel;
    launch_.target = object.target();
    launch_.bias = bias;
    if (const KernelMetadata* listed = object.metadata_of(kernel)) metadata_ = *listed;
    launch_.request = request;
  }

  Result<Launch> run() {
    ASMEVO_CHECK(check_shape());
    ASMEVO_CHECK(check_resources());
    ASMEVO_CHECK(check_hidden());
    set_context();
    ASMEVO_CHECK(map_kernarg());
    ASMEVO_CHECK(map_packet_and_queue());
    set_user_sgprs();
    constexpr size_t most_user_sgprs = 16; // AMDGPUUsage, "SGPR Register Set Up Order"
    if (launch_.user_sgprs.size() > most_user_sgprs)
      return bad_input("kernel '{}' asks for {} user SGPRs; there are {}", kernel_.name,
                       launch_.user_sgprs.size(), most_user_sgprs);
    set_entry();
    return std::move(launch_);
  }

 private:
  uint64_t get(std::string_view name) const {
    return codeobject::get(kernel_.descriptor, launch_.target, name);
  }

  Status check_shape() {
    uint64_t items = 1, groups = 1;
    for (unsigned d = 0; d < 3; ++d) {
      const uint64_t size = request_.workgroup[d], grid = request_.grid[d];
      if (size == 0 || grid == 0)
        return bad_input("grid and workgroup need at least one work-item in every direction");
      if (size > 1024)
        return bad_input("a workgroup of {} work-items in one direction; the most is 1024", size);
      items *= size;
      launch_.workgroups[d] = (grid + size - 1) / size;
      constexpr uint64_t most_workgroups = uint64_t{1} << 32;
      if (launch_.workgroups[d] >= most_workgroups)
        return bad_input("{} workgroups in one direction; the most is {}", launch_.workgroups[d],
                         most_workgroups - 1);
      if (__builtin_mul_overflow(groups, launch_.workgroups[d], &groups))
        return bad_input("the grid has more than 2^64 workgroups");
    }
    const uint64_t most = std::clamp<uint64_t>(metadata_.max_flat_workgroup_size, 1, 1024);
    if (metadata_.max_flat_workgroup_size != 0 && items > most)
      return bad_input("a workgroup of {} work-items; kernel '{}' is compiled for at most {}", items,
                       kernel_.name, most);
    if (items > 1024) return bad_input("a workgroup of {} work-items; the most is 1024", items);
    if (const auto& needed = metadata_.reqd_workgroup_size; needed && needed->size() == 3)
      for (unsigned d = 0; d < 3; ++d)
        if ((*needed)[d] != request_.workgroup[d])
          return bad_input("a workgroup of {} x {} x {}; kernel '{}' needs {} x {} x {}",
                           request_.workgroup[0], request_.workgroup[1], request_.workgroup[2], kernel_.name,
                           (*needed)[0], (*needed)[1], (*needed)[2]);
    launch_.waves_per_group = static_cast<uint32_t>((items + lanes - 1) / lanes);
    return {};
  }

  Status check_resources() {
    const isa::Limits limits = isa::limits(launch_.target);
    const unsigned vgprs = codeobject::allocated_vgprs(kernel_.descriptor, launch_.target);
    // The descriptor decides, but its field ends where the hardware does; metadata can ask for more.
    const uint64_t asked = std::max<uint64_t>(vgprs, metadata_.vgpr_count.value_or(0));
    if (asked > limits.max_vgprs)
      return bad_input("kernel '{}' asks for {} vector registers; a wave of {} has at most {}", kernel_.name,
                       asked, launch_.target.name(), limits.max_vgprs);
    const unsigned per_simd = (launch_.waves_per_group + limits.simds - 1) / limits.simds;
    if (per_simd * vgprs > limits.max_vgprs || per_simd > limits.waves_per_simd)
      return bad_input("a workgroup of {} waves with {} vector registers each does not fit on a compute unit",
                       launch_.waves_per_group, vgprs);
    const uint64_t lds = uint64_t{kernel_.descriptor.group_segment_fixed_size} + request_.dynamic_lds;
    if (lds > limits.lds_bytes)
      return bad_input("{} bytes of LDS ({} of the kernel, {} dynamic); {} has {}", lds,
                       kernel_.descriptor.group_segment_fixed_size, request_.dynamic_lds,
                       launch_.target.name(), limits.lds_bytes);
    launch_.lds_bytes = static_cast<uint32_t>(align_up(lds, limits.lds_granule));
    launch_.context.allocated_vgprs = vgprs;
    constexpr uint32_t most_scratch =
        1 << 20; // bytes a lane; the hardware's wave limit is 8 MiB - 1 KiB in all
    if (kernel_.descriptor.private_segment_fixed_size > most_scratch)
      return bad_input("kernel '{}' asks for {} bytes of scratch a lane", kernel_.name,
                       kernel_.descriptor.private_segment_fixed_size);
    return {};
  }

  Status check_hidden() {
    for (const auto& [kind, value] : request_.hidden)
      if (std::ranges::none_of(metadata_.args,
                               [&](const KernelArgument& a) { return a.hidden() && a.value_kind == kind; }))
        return bad_input("kernel '{}' has no hidden argument '{}'", kernel_.name, printable(kind));
    return {};
  }

  void set_context() {
    DispatchContext& c = launch_.context;
    c.target = launch_.target;
    c.shared_aperture_hi = shared_aperture_hi;
    c.private_aperture_hi = private_aperture_hi;
    c.scratch_bytes = kernel_.descriptor.private_segment_fixed_size;
    // A kernel that calls through pointers or uses alloca does not know how much it needs: what the runtime
    // gives then.
    constexpr uint32_t dynamic_stack = 16 * 1024;
    if (get("uses_dynamic_stack") != 0) c.scratch_bytes = std::max(c.scratch_bytes, dynamic_stack);
    launch_.mode = static_cast<uint32_t>(get("float_round_mode_32") | get("float_round_mode_16_64") << 2 |
                                         get("float_denorm_mode_32") << 4 |
                                         get("float_denorm_mode_16_64") << 6 | get("enable_dx10_clamp") << 8 |
                                         get("enable_ieee_mode") << 9 | get("fp16_ovfl") << 23);
  }

  // --- kernarg segment

  uint64_t kernarg_bytes() const {
    uint64_t bytes = std::max<uint64_t>(kernel_.descriptor.kernarg_size, metadata_.kernarg_segment_size);
    for (const KernelArgument& a : metadata_.args) bytes = std::max(bytes, a.offset + a.size);
    return bytes;
  }
  uint64_t explicit_bytes() const {
    uint64_t bytes = 0;
    bool any = false;
    for (const KernelArgument& a : metadata_.args)
      if (any = true, !a.hidden()) bytes = std::max(bytes, a.offset + a.size);
    return any ? bytes : kernarg_bytes();
  }

  Status map_kernarg() {
    const uint64_t needed = explicit_bytes();
    constexpr uint64_t most = 1 << 20;
    if (kernarg_bytes() > most)
      return bad_input("kernel '{}' asks for {} bytes of arguments", kernel_.name, kernarg_bytes());
    if (request_.kernarg.size() < needed)
      return bad_input("{} bytes of arguments; kernel '{}' needs {}", request_.kernarg.size(), kernel_.name,
                       needed);
    if (request_.kernarg.size() > std::max<uint64_t>(kernarg_bytes(), 16) && kernarg_bytes() != 0)
      return bad_input("{} bytes of arguments; kernel '{}' has {}", request_.kernarg.size(), kernel_.name,
                       kernarg_bytes());
    std::vector<uint8_t> segment = request_.kernarg;
    // Runtimes hand out whole cache lines, and compilers rely on it: they load 7 dwords as 8.
    constexpr uint64_t line = 64;
    segment.resize((std::max<uint64_t>({kernarg_bytes(), segment.size(), 1}) + line - 1) / line * line);
    if (!request_.keep_hidden)
      for (const KernelArgument& a : metadata_.args)
        if (a.hidden()) write_hidden(segment, a);
    launch_.kernarg_address = request_.kernarg_address != 0
                                  ? request_.kernarg_address
                                  : memory_.find_across_4_gib(0, line, segment.size());
    launch_.request.kernarg = segment;
    return memory_.map({"kernarg", launch_.kernarg_address, segment.size(), RegionAccess::ReadOnly}, segment);
  }

  // AMDGPUUsage, "Code Object V3 to V6 Kernel Argument Metadata": the hidden value kinds.
  uint64_t hidden_value(std::string_view kind) const {
    const auto& size = request_.workgroup;
    const auto& grid = request_.grid;
    const auto direction = std::min(static_cast<unsigned>(kind.back() - 'x'), 2U); // z for what no ABI names
    if (kind.starts_with("hidden_block_count_")) return grid[direction] / size[direction];
    if (kind.starts_with("hidden_group_size_")) return size[direction];
    if (kind.starts_with("hidden_remainder_")) return grid[direction] % size[direction];
    if (kind == "hidden_grid_dims")
      return grid[2] > 1 || size[2] > 1 ? 3 : grid[1] > 1 || size[1] > 1 ? 2 : 1;
    if (kind == "hidden_private_base") return private_aperture_hi;
    if (kind == "hidden_shared_base") return shared_aperture_hi;
    if (kind == "hidden_dynamic_lds_size") return request_.dynamic_lds;
    return 0; // global offsets; buffers for printf, host calls, device queues and a heap, which nobody serves
              // here
  }
  void write_hidden(std::vector<uint8_t>& segment, const KernelArgument& a) const {
    uint64_t value = hidden_value(a.value_kind);
    for (const auto& [kind, given] : request_.hidden)
      if (kind == a.value_kind) value = given;
    std::memcpy(segment.data() + a.offset, &value, std::min<uint64_t>(a.size, sizeof value));
    if (a.value_kind == "hidden_queue_ptr") hidden_queue_offset_ = a.offset;
  }

  // --- dispatch packet and queue

  Status map_packet_and_queue() {
    launch_.packet_address = memory_.find_free(page_bytes);
    std::array<uint8_t, 64> packet{};
    const auto put = [&](size_t at, auto value) { store(std::span<uint8_t>(packet), at, value); };
    constexpr uint16_t kernel_dispatch = 2;
    put(0, kernel_dispatch);
    put(2, static_cast<uint16_t>(hidden_value("hidden_grid_dims")));
    for (unsigned d = 0; d < 3; ++d) {
      put(4 + 2 * d, static_cast<uint16_t>(request_.workgroup[d]));
      put(12 + 4 * d, static_cast<uint32_t>(request_.grid[d]));
    }
    put(24, launch_.context.scratch_bytes);
    put(28, kernel_.descriptor.group_segment_fixed_size + request_.dynamic_lds);
    put(32, kernel_.descriptor_address + launch_.bias);
    put(40, launch_.kernarg_address);
    ASMEVO_CHECK(memory_.map(
        {"dispatch packet", launch_.packet_address, packet.size(), RegionAccess::ReadOnly}, packet));

    // amd_queue_t: code object V4 kernels find the apertures there.
    launch_.queue_address = memory_.find_free(page_bytes);
    std::array<uint8_t, 256> queue{};
    constexpr size_t group_aperture_at = 0x40, private_aperture_at = 0x44;
    store(std::span<uint8_t>(queue), group_aperture_at, shared_aperture_hi);
    store(std::span<uint8_t>(queue), private_aperture_at, private_aperture_hi);
    ASMEVO_CHECK(memory_.map({"queue", launch_.queue_address, queue.size(), RegionAccess::ReadOnly}, queue));
    if (hidden_queue_offset_) {
      std::array<uint8_t, 8> address{};
      store(std::span<uint8_t>(address), 0, launch_.queue_address);
      ASMEVO_CHECK(memory_.write(launch_.kernarg_address + *hidden_queue_offset_, address));
    }
    return {};
  }

  // --- registers

  void push64(uint64_t value) {
    launch_.user_sgprs.push_back(static_cast<uint32_t>(value));
    launch_.user_sgprs.push_back(static_cast<uint32_t>(value >> 32));
  }

  // In the order of AMDGPUUsage, "SGPR Register Set Up Order". The private segment buffer and flat scratch
  // are put in when a wave starts, where the scratch memory is known.
  void set_user_sgprs() {
    Launch::WaveRegisters& r = launch_.registers;
    r.private_segment_buffer = get("enable_sgpr_private_segment_buffer") != 0;
    if (r.private_segment_buffer) launch_.user_sgprs.resize(4);
    if (get("enable_sgpr_dispatch_ptr") != 0) push64(launch_.packet_address);
    if (get("enable_sgpr_queue_ptr") != 0) push64(launch_.queue_address);
    if (get("enable_sgpr_kernarg_segment_ptr") != 0) push64(launch_.kernarg_address);
    if (get("enable_sgpr_dispatch_id") != 0) push64(request_.dispatch_id);
    if (get("enable_sgpr_flat_scratch_init") != 0) {
      r.flat_scratch_init = static_cast<unsigned>(launch_.user_sgprs.size());
      push64(0);
    }
    if (get("enable_sgpr_private_segment_size") != 0)
      launch_.user_sgprs.push_back(launch_.context.scratch_bytes);
    const uint64_t count = get("kernarg_preload_spec_length"), first = get("kernarg_preload_spec_offset");
    for (uint64_t i = 0; i < count; ++i)
      launch_.user_sgprs.push_back(load<uint32_t>(launch_.request.kernarg, (first + i) * 4).value_or(0));
    launch_.user_sgprs.resize(std::max<size_t>(launch_.user_sgprs.size(), get("user_sgpr_count")));
    r.workgroup_id = {get("enable_sgpr_workgroup_id_x") != 0, get("enable_sgpr_workgroup_id_y") != 0,
                      get("enable_sgpr_workgroup_id_z") != 0};
    r.workgroup_info = get("enable_sgpr_workgroup_info") != 0;
    r.scratch_offset = get("enable_private_segment") != 0 && !launch_.target.architected_flat_scratch();
    r.workitem_directions = static_cast<unsigned>(get("enable_vgpr_workitem_id"));
  }

  // Kernels with preloaded arguments begin with 256 bytes that load them, for firmware that does not preload;
  // firmware that does starts behind (AMDGPUUsage, "Preloaded Kernel Arguments").
  void set_entry() {
    constexpr uint64_t preload_prologue = 256;
    launch_.entry =
        kernel_.entry + launch_.bias + (get("kernarg_preload_spec_length") != 0 ? preload_prologue : 0);
  }

  const codeobject::Kernel& kernel_;
  const LaunchRequest& request_;
  AddressSpace& memory_;
  KernelMetadata metadata_;
  mutable std::optional<uint64_t> hidden_queue_offset_;
  Launch launch_;
};

// The buffer descriptor through which gfx90a reaches scratch: swizzled so that a lane's dwords are 64 dwords
// apart (AMDGPUUsage, "Private Segment Buffer").
std::array<uint32_t, 4> private_segment_buffer(uint64_t base) {
  constexpr uint32_t swizzle = 1U << 31, element_4_bytes = 1U << 19, index_stride_64 = 3U << 21,
                     add_tid = 1U << 23;
  return {static_cast<uint32_t>(base), static_cast<uint32_t>(base >> 32 & 0xffff) | swizzle, 0xffffffff,
          element_4_bytes | index_stride_64 | add_tid};
}

// SGPRs, VCC and M0 are what the last wave left there. Trap handler registers stay 0.
void fill_scalars(Wave& wave, uint64_t initial_state) {
  wave.scalars.fill(0);
  if (initial_state == 0) return;
  const auto noise = [&](unsigned s) {
    wave.scalars[s] = noise_bits(s + wave.number * slot::count + static_cast<uint32_t>(initial_state));
  };
  for (unsigned s = 0; s <= slot::m0; ++s) noise(s);
  wave.scc() = wave.scalars[slot::m0] >> 7 & 1;
}

// Hardware registers that tell where a wave runs (CDNA3 ISA, section 3.13): something that a wave can have,
// and not the same for all, so that code for one place only shows.
void place_wave(const Launch& launch, uint64_t workgroup_index, uint32_t wave_number, Wave& wave) {
  constexpr unsigned hw_id = 4, gpr_alloc = 5, lds_alloc = 6, xcc_id = 20;
  constexpr uint32_t xccs = 8, units = 10, engines = 4;
  const auto group = static_cast<uint32_t>(workgroup_index);
  const uint32_t unit = group / xccs % units, engine = group / (xccs * units) % engines;
  wave.hwreg.fill(0);
  wave.hwreg[hw_id] = (wave_number / 4 % 10) | (wave_number % 4) << 4 | unit << 8 | engine << 13 |
                      (group % 16) << 16 | 8U << 20; // VMIDs 8 to 15 are those of compute
  wave.hwreg[gpr_alloc] = (launch.context.allocated_vgprs / 8 - 1) << 8 & 0x3f00;
  wave.hwreg[lds_alloc] = (launch.lds_bytes / 512 & 0x1ff) << 12;
  wave.hwreg[xcc_id] = group % xccs;
}

void set_sgprs(const Launch& launch, uint64_t workgroup_index, uint64_t scratch_first,
               uint64_t scratch_offset, Wave& wave) {
  const Launch::WaveRegisters& r = launch.registers;
  std::ranges::copy(launch.user_sgprs, wave.scalars.begin());
  if (r.private_segment_buffer)
    std::ranges::copy(private_segment_buffer(scratch_first), wave.scalars.begin());
  if (r.flat_scratch_init) wave.set_pair(*r.flat_scratch_init, scratch_first);
  size_t next = launch.user_sgprs.size();
  const std::array<uint64_t, 3> id = launch.workgroup_id(workgroup_index);
  for (unsigned d = 0; d < 3; ++d)
    if (r.workgroup_id[d]) wave.scalars[next++] = static_cast<uint32_t>(id[d]);
  if (r.workgroup_info) wave.scalars[next++] = 0;
  if (r.scratch_offset) wave.scalars[next++] = static_cast<uint32_t>(scratch_offset);
}

} // namespace

Result<Launch> prepare_launch(const codeobject::CodeObject& object, const codeobject::Kernel& kernel,
                              uint64_t bias, const LaunchRequest& request, AddressSpace& memory) {
  return Preparation(object, kernel, bias, request, memory).run();
}

std::array<uint32_t, 3> workgroup_size(const Launch& launch, uint64_t index) {
  const std::array<uint64_t, 3> id = launch.workgroup_id(index);
  std::array<uint32_t, 3> size{};
  for (unsigned d = 0; d < 3; ++d) {
    const uint64_t first = id[d] * launch.request.workgroup[d];
    size[d] = static_cast<uint32_t>(
        std::min<uint64_t>(launch.request.workgroup[d], launch.request.grid[d] - first));
  }
  return size;
}

uint64_t scratch_bytes_per_wave(const Launch& launch) {
  return align_up(uint64_t{launch.context.scratch_bytes} * lanes, scratch_granule);
}

void start_wave(const Launch& launch, uint64_t workgroup_index, uint32_t wave_number, uint64_t scratch_first,
                uint64_t scratch_offset, uint64_t initial_state, Wave& wave) {
  wave.number = wave_number;
  fill_scalars(wave, initial_state);
  place_wave(launch, workgroup_index, wave_number, wave);
  wave.dispatch = &launch.context;
  wave.pc = launch.entry;
  wave.attention = 0;
  wave.state = Wave::State::Running;
  wave.fault = {};
  wave.instructions = 0;
  wave.scratch_base = scratch_first + scratch_offset;
  wave.mode.assign(launch.mode);
  set_apertures(wave);
  set_sgprs(launch, workgroup_index, scratch_first, scratch_offset, wave);

  const std::array<uint32_t, 3> size = workgroup_size(launch, workgroup_index);
  const uint32_t items = size[0] * size[1] * size[2], first = wave_number * lanes;
  const uint32_t here = items > first ? std::min(items - first, lanes) : 0;
  wave.set_exec(here == lanes ? all_lanes : (uint64_t{1} << here) - 1);
  const unsigned directions = launch.registers.workitem_directions;
  for (unsigned l = 0; l < here; ++l) {
    const uint32_t flat = first + l;
    uint32_t id = flat % size[0];
    if (directions >= 1) id |= flat / size[0] % size[1] << 10;
    if (directions >= 2) id |= flat / (size[0] * size[1]) << 20;
    wave.vectors[0].lane[l] = id;
  }
}

} // namespace asmevo::emulator
