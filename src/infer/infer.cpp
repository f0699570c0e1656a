// The plan of an inference, as a list of steps (the bottom of this file). All of them make probe runs, and
// all observations are kept: a region that one set of scalars leaves alone may be used under another.
#include "infer/infer.h"

#include "infer/argument_facts.h"
#include "infer/draft.h"
#include "infer/given_value.h"
#include "infer/grid_bound.h"
#include "infer/probe.h"

#include <algorithm>

namespace asmevo::infer {

namespace {

// What integer scalars are set to, all of them together. 64 first: a multiple of every tile's element groups,
// and small enough that products of a few of them stay small. Odd ones leave remainders, large ones fill
// tiles; those may take long and are cut off sooner.
constexpr uint64_t scalar_values[] = {64, 16, 256, 1, 67, 1000, 4096};
constexpr uint64_t large_value = 1000;
constexpr uint64_t large_value_share = 8; // of the instructions that others may run
constexpr double float_value = 0.125;
// Of a workgroup in one probe. A kernel that works on sizes of 64 needs some ten thousand.
constexpr uint64_t default_instructions = 2'000'000;
// What a probe may cost in memory, which sizes that make no sense would exceed: of one that explores, and of
// the last ones, which decide extents.
constexpr size_t exploring_pages = 10'000, last_pages = 100'000;
constexpr uint64_t most_workgroups = 16; // run whole, in each direction
constexpr size_t most_varied = 24;       // scalars

class Inferrer {
 public:
  Inferrer(const InferOptions& options, isa::Gfx gfx) : options_(options), gfx_(gfx) {}

  Status open(const std::shared_ptr<const codeobject::CodeObject>&, const codeobject::Kernel&);
  Result<Inference> run();

 private:
  Status choose_workgroup(const codeobject::KernelMetadata*);
  // One probe, again for every pointer it finds.
  Result<ProbeRun> probe();
  bool regroup();
  void set_scalars(uint64_t value);
  void set_contents();
  RegionContents contents_of(unsigned region) const;

  Status explore();
  Status vary_scalars();
  Status choose_grid();
  Status settle_indices(Inference&);
  void say_what_is_missing(Inference&) const;
  void say_what_never_ran(Inference&) const;

  const InferOptions& options_;
  isa::Gfx gfx_;
  std::string kernel_;
  std::unique_ptr<Prober> prober_;
  KernargFields fields_;
  ProbeSetup setup_;
  Observations all_;
  GivenValues given_;
  std::map<uint64_t, std::string> scalar_effects_; // by kernarg offset
  bool indices_count_ = false;                     // index buffers hold 0, 1, 2, ... rather than zeros
  std::map<uint64_t, bool> accesses_;              // the kernel's instructions that access memory
  bool all_count_ = false;                         // so do all integers
  std::array<std::string, 3> grid_doubts_;         // by direction: why the user should look at it
};

Status Inferrer::choose_workgroup(const codeobject::KernelMetadata* metadata) {
  setup_.dynamic_lds = options_.dynamic_lds;
  setup_.most_pages = exploring_pages;
  setup_.most_instructions =
      options_.most_instructions != 0 ? options_.most_instructions : default_instructions;
  if (options_.grid) setup_.workgroups = *options_.grid;
  if (options_.workgroup) {
    setup_.workgroup = *options_.workgroup;
    return {};
  }
  constexpr uint64_t usual = 256;
  setup_.workgroup = {usual, 1, 1};
  if (metadata == nullptr) return {};
  if (metadata->reqd_workgroup_size && metadata->reqd_workgroup_size->size() == 3)
    for (size_t d = 0; d < 3; ++d)
      setup_.workgroup[d] = static_cast<uint32_t>((*metadata->reqd_workgroup_size)[d]);
  else if (metadata->max_flat_workgroup_size != 0)
    setup_.workgroup[0] = static_cast<uint32_t>(std::min(usual, metadata->max_flat_workgroup_size));
  return {};
}

Status Inferrer::open(const std::shared_ptr<const codeobject::CodeObject>& object,
                      const codeobject::Kernel& kernel) {
  kernel_ = kernel.name;
  ASMEVO_TRY(fields_, KernargFields::of(*object, kernel));
  ASMEVO_CHECK(choose_workgroup(object->metadata_of(kernel)));
  ASMEVO_TRY(prober_, Prober::create(object, kernel));
  ASMEVO_TRY(accesses_, memory_instructions(*object, kernel));
  ASMEVO_TRY(given_, pin(options_.values, fields_));
  return {};
}

Result<ProbeRun> Inferrer::probe() {
  for (;;) {
    apply(given_, fields_, all_, gfx_);
    ASMEVO_TRY(ProbeRun run, prober_->run(fields_, setup_));
    bool found = false;
    for (const auto& [dword, evidence] : run.seen.pointers) found |= fields_.make_pointer(dword);
    all_.merge(run.seen);
    found |= regroup();
    if (!found) return run;
  }
}

// Pieces of structures that are used as 64 bits, and 8-byte arguments that are two floats.
bool Inferrer::regroup() {
  bool changed = false;
  for (const auto& [s, votes] : all_.used_as) {
    if (s >= source::region0) break;
    const KernargField* field = fields_.at_dword(s);
    const auto choice = votes.choose();
    if (field == nullptr || field->pointer || !choice || choice->strength < TypeVotes::fair) continue;
    if (s % 2 == 0 && field->size == 4 && !field->whole_argument && bits_of(choice->type) == 64)
      changed |= fields_.join(s);
    else if (field->size == 8 && choice->type == ValueType::F32)
      changed |= fields_.split(s);
  }
  return changed;
}

void Inferrer::set_scalars(uint64_t value) {
  for (KernargField& f : fields_.fields()) {
    if (f.pointer || f.pinned) continue;
    const TypeFacts type = type_of_scalar(all_, f.offset, f.size);
    f.value = is_float(type.type) ? float_bits(type.type, float_value, gfx_) : value;
    if (f.size < 8) f.value &= (uint64_t{1} << 8 * f.size) - 1;
    // The upper half of what a structure may hold as 64 bits would make it huge.
    if (!f.whole_argument && f.offset % 8 == 4 && !is_float(type.type) &&
        !all_.used_as.contains(static_cast<Source>(f.offset / 4)))
      f.value = 0;
  }
}

RegionContents Inferrer::contents_of(unsigned region) const {
  const TypeFacts facts = type_of_region(all_, region);
  RegionContents c;
  const std::string dtype = facts.type == ValueType::None ? "u8" : std::string(dtype_of(facts.type, gfx_));
  c.type = oracle::element_type(dtype).value_or(oracle::ElementType{});
  c.init.kind = oracle::InitKind::Constant;
  c.init.seed = region + 1;
  const KernargField* field = fields_.pointer_of(region);
  const auto given = field == nullptr ? given_.end() : given_.find(field->offset);
  if (given != given_.end()) {
    c.init.first = given->second.number();
    c.init.whole_first = static_cast<int64_t>(given->second.bits());
  } else if (is_float(facts.type)) {
    c.init.kind = oracle::InitKind::Uniform;
    c.init.first = -1;
    c.init.second = 1;
  } else if (facts.type == ValueType::None || facts.type == ValueType::Pointer) {
    c.init.first = 0;
  } else if (all_count_ && bits_of(facts.type) >= 16) { // where rows begin, in sparse matrices
    c.init.kind = oracle::InitKind::Sequence;
    c.init.second = 1;
    c.init.whole_second = 1;
  } else if (is_index(all_, region)) {
    c.init.kind = indices_count_ ? oracle::InitKind::Sequence : oracle::InitKind::Constant;
    c.init.second = indices_count_ ? 1 : 0;
    c.init.whole_second = indices_count_ ? 1 : 0;
  } else if (is_count(all_, region)) {
    c.init.first = static_cast<double>(scalar_values[0]);
    c.init.whole_first = static_cast<int64_t>(scalar_values[0]);
  } else {
    c.init.kind = oracle::InitKind::Integers;
    c.init.whole_second = 3;
    c.init.second = 3;
  }
  return c;
}

void Inferrer::set_contents() {
  setup_.contents.clear();
  for (unsigned r = 0; r < fields_.regions(); ++r) {
    RegionContents c = contents_of(r);
    const bool zeros =
        c.init.kind == oracle::InitKind::Constant && c.init.whole_first == 0 && c.init.first == 0;
    if (!zeros) setup_.contents[r] = std::move(c); // memory starts as zeros without
  }
}

size_t touched_regions(const Observations& seen, bool written) {
  size_t n = 0;
  for (const auto& [s, t] : seen.touched) n += written ? !t.written.empty() : t.touched();
  return n;
}

// Every set of scalars, with memory full of zeros and then of what its types say; the best one stays.
Status Inferrer::explore() {
  const bool all_pinned =
      std::ranges::all_of(fields_.fields(), [](const KernargField& f) { return f.pointer || f.pinned; });
  uint64_t best_value = scalar_values[0];
  std::tuple<bool, size_t, size_t> best{};
  const uint64_t most_instructions = setup_.most_instructions;
  for (const uint64_t value : scalar_values) {
    if (value >= large_value && !all_pinned) setup_.most_instructions = most_instructions / large_value_share;
    set_scalars(value);
    setup_.contents.clear();
    ASMEVO_TRY(const ProbeRun zeros, probe());
    set_scalars(value); // some may be known as floats now
    all_count_ = true;
    set_contents();
    ASMEVO_TRY(const ProbeRun counting, probe());
    all_count_ = false;
    set_contents();
    ASMEVO_TRY(const ProbeRun typed, probe());
    const std::tuple score(typed.outcome.completed(), touched_regions(typed.seen, true),
                           touched_regions(typed.seen, false));
    if (score > best) {
      best = score;
      best_value = value;
    }
    if (all_pinned) break;
  }
  setup_.most_instructions = most_instructions;
  set_scalars(best_value);
  set_contents();
  return {};
}

// "x: 4096 bytes rather than 2048": what changed between two runs.
std::string changes(const KernargFields& fields, const ProbeRun& before, const ProbeRun& after) {
  std::string text;
  for (const KernargField& f : fields.fields()) {
    if (!f.pointer) continue;
    const auto s = static_cast<Source>(source::region0 + f.region);
    const auto end = [&](const ProbeRun& run) {
      const auto at = run.seen.touched.find(s);
      return at == run.seen.touched.end() ? 0 : at->second.end();
    };
    if (end(before) != end(after))
      text += fmt::format("{}{} {} -> {} bytes", text.empty() ? "" : ", ", f.name, end(before), end(after));
  }
  return text;
}

// One scalar at a time: what depends on it, and whether it opens ways that nothing else has opened.
Status Inferrer::vary_scalars() {
  ASMEVO_TRY(const ProbeRun usual, probe());
  size_t varied = 0;
  for (size_t n = 0; n < fields_.fields().size() && varied < most_varied; ++n) {
    const KernargField f = fields_.fields()[n];
    const bool used = all_.used.contains(static_cast<Source>(f.offset / 4));
    if (f.pointer || f.pinned || !used || is_float(type_of_scalar(all_, f.offset, f.size).type)) continue;
    ++varied;
    std::string effects;
    for (const uint64_t value : {2 * f.value, uint64_t{0}, uint64_t{1}}) {
      fields_.fields()[n].value = value;
      ASMEVO_TRY(const ProbeRun other, probe());
      if (value != 2 * f.value) continue;
      effects = changes(fields_, usual, other);
      if (other.outcome.instructions != usual.outcome.instructions)
        effects += fmt::format("{}{} -> {} instructions", effects.empty() ? "" : ", ",
                               usual.outcome.instructions, other.outcome.instructions);
    }
    if (n < fields_.fields().size() && fields_.fields()[n].offset == f.offset && !fields_.fields()[n].pointer)
      fields_.fields()[n].value = f.value;
    if (!effects.empty()) scalar_effects_[f.offset] = fmt::format("twice as much: {}", effects);
  }
  set_contents();
  return {};
}

// Doubled in each direction that addresses or branches depend on, as long as that writes more.
Status Inferrer::choose_grid() {
  if (options_.grid) return {};
  for (unsigned d = 0; d < 3; ++d) {
    const auto id = static_cast<Source>(source::workgroup_id0 + d);
    if (!all_.in_address.contains(id) && !all_.in_branch.contains(id)) continue;
    ASMEVO_TRY(ProbeRun before, probe());
    bool more = true;
    while (more && setup_.workgroups[d] < most_workgroups) {
      setup_.workgroups[d] *= 2;
      ASMEVO_TRY(ProbeRun after, probe());
      more = after.outcome.completed() && written_bytes(after) > written_bytes(before);
      if (more)
        before = std::move(after);
      else
        setup_.workgroups[d] /= 2;
    }
    if (!more) continue;
    ASMEVO_TRY(GridChoice choice, choose_large_grid(*prober_, fields_, setup_, d));
    setup_.workgroups[d] = choice.workgroups;
    grid_doubts_[d] = std::move(choice.doubt);
  }
  return {};
}

// Index buffers hold zeros, or 0, 1, 2, ... where that makes the kernel reach further by whole blocks, or
// nowhere else.
Status Inferrer::settle_indices(Inference& result) {
  setup_.most_pages = last_pages;
  const auto one = [&](bool counting) -> Result<ProbeRun> {
    indices_count_ = counting;
    set_contents();
    return probe();
  };
  ASMEVO_TRY(ProbeRun last, one(false));
  bool any = false;
  for (unsigned r = 0; r < fields_.regions(); ++r) any |= is_index(all_, r);
  if (any) {
    ASMEVO_TRY(ProbeRun counting, one(true));
    bool further = false, slightly = false;
    for (const auto& [s, t] : counting.seen.touched) {
      const auto at = last.seen.touched.find(s);
      const int64_t end = at == last.seen.touched.end() ? 0 : at->second.end();
      further |= t.end() >= end * 3 / 2 && t.end() > end;
      slightly |= t.end() > end;
    }
    if (counting.outcome.completed() && (further || !slightly)) {
      last = std::move(counting);
    } else {
      ASMEVO_TRY(last, one(false));
    }
  }
  if (!last.outcome.completed()) result.last_outcome = last.outcome.text;
  for (const KernargField& f : fields_.fields()) {
    if (f.pad && !f.pointer && !all_.used.contains(static_cast<Source>(f.offset / 4))) continue;
    result.arguments.push_back(f.pointer ? describe_pointer(f, fields_, all_, last.seen, gfx_)
                                         : describe_scalar(f, all_, gfx_));
    const auto effects = scalar_effects_.find(f.offset);
    if (effects != scalar_effects_.end()) result.arguments.back().evidence.push_back(effects->second);
  }
  return {};
}

void Inferrer::say_what_is_missing(Inference& result) const {
  std::string free_scalars;
  for (const InferredArgument& a : result.arguments) {
    if (a.field.pointer && a.unused)
      result.missing.push_back(
          fmt::format("{}: nothing accessed it in any probe; other scalars or a larger grid may "
                      "(--set, --grid)",
                      a.field.name));
    if (a.field.pointer && a.dtype == "ptr")
      result.missing.push_back(fmt::format(
          "{}: holds addresses; give it pointers to buffers (init = \"pointers\")", a.field.name));
    if (a.index)
      result.missing.push_back(fmt::format(
          "{}: its elements must be indices that exist; the range is yours to set", a.field.name));
    if (!a.field.pointer && !a.field.pinned && !a.unused)
      free_scalars += (free_scalars.empty() ? "" : ", ") + a.field.name;
  }
  if (!free_scalars.empty())
    result.missing.push_back(fmt::format("values of {}: chosen, not known (--set name=value)", free_scalars));
  for (const std::string& doubt : grid_doubts_)
    if (!doubt.empty()) result.missing.push_back(doubt);
  if (!result.last_outcome.empty())
    result.missing.push_back(fmt::format("the launch does not complete: {}", result.last_outcome));
}

void Inferrer::say_what_never_ran(Inference& result) const {
  size_t never = 0, stores = 0;
  for (const auto& [pc, is_store] : accesses_) {
    if (all_.accesses.contains(pc)) continue;
    ++never;
    stores += is_store;
  }
  if (never != 0)
    result.notes.push_back(
        fmt::format("{} of {} instructions that access memory ran in no probe, {} of them stores: what "
                    "they do is not known",
                    never, accesses_.size(), stores));
}

// The steps.
Result<Inference> Inferrer::run() {
  Inference result;
  ASMEVO_CHECK(explore());
  ASMEVO_CHECK(vary_scalars());
  ASMEVO_CHECK(choose_grid());
  ASMEVO_CHECK(settle_indices(result));
  ASMEVO_CHECK(check(given_, fields_, all_, gfx_));
  result.kernel = kernel_;
  result.grid = setup_.workgroups;
  result.workgroup = setup_.workgroup;
  result.probes = prober_->runs();
  result.sample = probed_workgroups(result.grid);
  if (!result.sample.empty())
    result.notes.push_back(
        fmt::format("{} of {} workgroups were probed: what only others access is not known",
                    result.sample.size(), result.grid[0] * result.grid[1] * result.grid[2]));
  say_what_is_missing(result);
  say_what_never_ran(result);
  std::vector<RegionContents> contents;
  contents.reserve(fields_.regions());
  for (unsigned r = 0; r < fields_.regions(); ++r) contents.push_back(contents_of(r));
  result.spec = draft_of(result, contents, fields_, options_.dynamic_lds);
  return result;
}

} // namespace

std::string_view name(Confidence c) {
  switch (c) {
  case Confidence::Low: return "low";
  case Confidence::Medium: return "medium";
  case Confidence::High: return "high";
  }
  return "";
}

Result<Inference> infer_launch(const std::shared_ptr<const codeobject::CodeObject>& object,
                               const InferOptions& options) {
  const codeobject::Kernel* kernel = nullptr;
  if (!options.kernel.empty()) {
    kernel = object->find_kernel(options.kernel);
    if (kernel == nullptr) return bad_input("the code object has no kernel '{}'", printable(options.kernel));
  } else {
    if (object->kernels().size() != 1)
      return bad_input("the code object has {} kernels: choose one (--kernel)", object->kernels().size());
    kernel = &object->kernels().front();
  }
  Inferrer inferrer(options, object->target().gfx);
  ASMEVO_CHECK(inferrer.open(object, *kernel));
  return inferrer.run();
}

} // namespace asmevo::infer
