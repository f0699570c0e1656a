#include "oracle/case_run.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace asmevo::oracle {

using emulator::AddressSpace;

namespace {

constexpr uint8_t other_canary = 0x3a;

Status fill_otherwise(const Case& c, AddressSpace& memory) {
  for (const auto& guard : c.guards) {
    const emulator::RegionInfo region = *memory.region_at(guard->address);
    memory.unmap(region.address);
    ASMEVO_CHECK(memory.map(region, canaries(guard, other_canary)));
  }
  return {};
}

// The guards that nobody has looked into yet, in the memory of one run, by watches of its own.
Result<std::vector<std::shared_ptr<GuardWatch>>> watch(const Case& c, AddressSpace& memory) {
  std::vector<std::shared_ptr<GuardWatch>> own;
  for (const auto& guard : c.guards) {
    if (guard->touched) continue;
    const auto& watch = own.emplace_back(std::make_shared<GuardWatch>());
    watch->what = guard->what;
    const emulator::RegionInfo region = *memory.region_at(guard->address);
    memory.unmap(region.address);
    ASMEVO_CHECK(memory.map(region, canaries(watch)));
  }
  return own;
}

} // namespace

emulator::GroupOrder group_order(uint64_t schedule) {
  using enum emulator::GroupOrder;
  constexpr std::array orders = {Ascending, Descending, Random, Random};
  return orders[schedule % orders.size()];
}

Result<CaseRun> run_case(const Case& c, const std::shared_ptr<const Subject>& subject,
                         const CaseRunOptions& request) {
  device::EmulatorOptions options;
  options.threads = request.threads;
  options.seed = request.schedule;
  // Of two workgroups that share memory the sanitizer may see a race in one order and none in the other: what
  // it says of two runs is only worth comparing where the order is the same.
  if (!request.sanitize) options.order = group_order(request.schedule);
  options.initial_state = request.initial_state;
  options.most_instructions = request.most_instructions;
  options.workgroups = request.workgroups;
  options.observer = request.observer;
  std::optional<sanitizer::Session> session;
  if (request.sanitize) {
    sanitizer::Options watched;
    watched.workgroups = request.workgroups;
    session.emplace(c.target, std::move(watched));
    options.observer = session->observers();
  }
  CaseRun result;
  ASMEVO_TRY(result.device, device::EmulatedDevice::create(c.target, options));
  result.memory() = c.before->fork();
  std::vector<std::shared_ptr<GuardWatch>> guards;
  if (request.other_guards) ASMEVO_CHECK(fill_otherwise(c, result.memory()));
  if (request.watch_guards) {
    ASMEVO_TRY(guards, watch(c, result.memory()));
  }
  ASMEVO_TRY(const auto module, result.device->load(object_of(subject)));
  result.globals = loaded_globals(*module, result.memory());
  ASMEVO_CHECK(set_globals(result.globals, c.globals, result.memory()));
  ASMEVO_TRY(result.outcome, result.device->launch(*module, c.kernel, c.shape, c.arguments));
  if (session) {
    ASMEVO_TRY(result.defects, session->take());
    result.device->options().observer = {};
  }
  result.written = result.memory().written();
  result.guard_reads = guard_reads(guards);
  return result;
}

uint64_t CaseRun::next_written(uint64_t address) const {
  const auto end = [](const AddressSpace::Range& r) { return r.address + r.size; };
  const auto at = std::ranges::upper_bound(written, address, std::less{}, end);
  return at == written.end() ? std::numeric_limits<uint64_t>::max() : std::max(address, at->address);
}

NextTouched next_written(const CaseRun& a, const CaseRun& b, uint64_t address) {
  return [&a, &b, address](uint64_t offset) {
    return std::min(a.next_written(address + offset), b.next_written(address + offset)) - address;
  };
}

ReadBytes reader(const AddressSpace& memory, uint64_t address) {
  return [&memory, address](uint64_t offset, std::span<uint8_t> into) {
    return memory.read(address + offset, into);
  };
}

} // namespace asmevo::oracle
