#include "infer/probe.h"

#include "infer/probe_observer.h"
#include "isa/codec.h"
#include "oracle/workgroup_sample.h"

#include <limits>

namespace asmevo::infer {

namespace {

emulator::PageFill fill_of(const RegionContents& contents) {
  constexpr uint64_t elements = (region_bytes - region_lead) / 16; // more than runs can reach
  const auto layout = oracle::Layout::make(contents.type, {elements});
  if (!layout) return {};
  return [layout = *layout, init = contents.init](uint64_t offset, std::span<uint8_t> page) {
    if (offset < region_lead || offset - region_lead + page.size() > layout.bytes())
      std::ranges::fill(page, uint8_t{0});
    else
      oracle::fill(init, layout, offset - region_lead, page);
  };
}

} // namespace

Result<std::map<uint64_t, bool>> memory_instructions(const codeobject::CodeObject& object,
                                                     const codeobject::Kernel& kernel) {
  std::map<uint64_t, bool> found;
  uint64_t size = 0;
  for (const codeobject::Symbol& s : object.dynamic_symbols())
    if (s.name == kernel.name) size = s.size;
  const auto section = object.section_at(kernel.entry);
  if (!section) return found;
  const codeobject::Section& text = object.sections()[*section];
  const ByteSpan code = text.contents.subspan(kernel.entry - text.address);
  ASMEVO_TRY(const auto codec, isa::Codec::create(object.target()));
  for (uint64_t at = 0; at < std::min<uint64_t>(size, code.size());) {
    const isa::Instruction* i = codec->decode(code.subspan(at));
    if (i == nullptr) break;
    const isa::MemoryKind kind = i->memory.kind;
    const bool global = kind == isa::MemoryKind::Global || kind == isa::MemoryKind::Flat ||
                        kind == isa::MemoryKind::Buffer || kind == isa::MemoryKind::Scalar;
    if (global && (i->memory.load || i->memory.store)) found[kernel.entry + at] = i->memory.store;
    at += i->bytes();
  }
  return found;
}

Result<std::unique_ptr<Prober>> Prober::create(std::shared_ptr<const codeobject::CodeObject> object,
                                               const codeobject::Kernel& kernel) {
  std::unique_ptr<Prober> p(new Prober);
  p->kernel_ = kernel.name;
  ASMEVO_TRY(p->device_, device::EmulatedDevice::create(object->target()));
  ASMEVO_TRY(p->module_, p->device_->load(std::move(object)));
  return p;
}

std::vector<uint64_t> probed_workgroups(const std::array<uint64_t, 3>& grid) {
  if (grid[0] * grid[1] * grid[2] <= most_probed_workgroups) return {};
  return oracle::sample_workgroups(grid, most_probed_workgroups, 0);
}

namespace {

// What numbers of workgroups and work-items are counted with must hold them.
Status check_grid(const std::array<uint64_t, 3>& grid) {
  constexpr uint64_t most = std::numeric_limits<uint32_t>::max();
  uint64_t all = 1;
  for (const uint64_t n : grid) {
    if (n > most) return bad_input("{} workgroups in one direction; the most is {}", n, most);
    if (__builtin_mul_overflow(all, n, &all)) return bad_input("the grid has more than 2^64 workgroups");
  }
  return {};
}

} // namespace

Result<ProbeRun> Prober::run(const KernargFields& fields, const ProbeSetup& setup) {
  ASMEVO_CHECK(check_grid(setup.workgroups));
  ++runs_;
  ProbeRun run;
  std::map<Source, unsigned> pointers;
  for (const KernargField& f : fields.fields())
    if (f.pointer) pointers[static_cast<Source>(f.offset / 4)] = f.region;
  ProbeObserver observer(std::move(pointers), setup.most_pages);
  auto& options = device_->options();
  options.threads = 1; // what is read before it is written depends on the order of workgroups
  options.most_instructions = setup.most_instructions;
  options.workgroups = setup.only.empty() ? probed_workgroups(setup.workgroups) : setup.only;
  options.observer = [&](size_t) { return &observer; };
  for (unsigned r = 0; r < fields.regions(); ++r) {
    const auto contents = setup.contents.find(r);
    ASMEVO_CHECK(device_->memory().map({fmt::format("region {}", r), region_start(r), region_bytes},
                                       contents == setup.contents.end() ? emulator::PageFill{}
                                                                        : fill_of(contents->second)));
  }
  device::LaunchShape shape;
  shape.workgroup = setup.workgroup;
  shape.dynamic_lds = setup.dynamic_lds;
  for (size_t d = 0; d < 3; ++d) shape.grid[d] = setup.workgroups[d] * setup.workgroup[d];
  Result<device::LaunchOutcome> outcome =
      device_->launch(*module_, kernel_, shape,
                      {.kernarg = fields.bytes(), .keep_hidden = false, .hidden = {}, .address = 0});
  for (unsigned r = 0; r < fields.regions(); ++r) device_->memory().unmap(region_start(r));
  if (!outcome) return failed(outcome.error());
  run.outcome = *std::move(outcome);
  run.seen = observer.take();
  return run;
}

} // namespace asmevo::infer
