#include "oracle/launch_run.h"

#include "oracle/kernarg.h"

#include <algorithm>

namespace asmevo::oracle {

namespace {

constexpr int64_t most_grid = int64_t{1} << 40;
constexpr int64_t most_workgroup = 1024;
constexpr int64_t most_lds = 1 << 20;
constexpr int64_t most_bytes = int64_t{1} << 40;
constexpr uint64_t most_steps = 1'000'000;
constexpr size_t most_records = 1000;
constexpr uint64_t chunk_bytes = 1 << 20;

// The launches among steps, in order.
void launches_in(const std::vector<StepSpec>& steps, std::vector<const StepSpec*>& list) {
  for (const StepSpec& s : steps) {
    if (s.kind == StepSpec::Kind::Launch) list.push_back(&s);
    launches_in(s.steps, list);
  }
}

// ": a, b, ...", the first ones; empty: there are none.
std::string names_of(const codeobject::CodeObject& object) {
  constexpr size_t most_named = 8;
  std::string known;
  for (size_t i = 0; i < std::min(object.kernels().size(), most_named); ++i)
    known += fmt::format("{} {}", i == 0 ? ":" : ",", printable(object.kernels()[i].name));
  if (object.kernels().size() > most_named) known += ", ...";
  return known;
}

Result<std::string> kernel_of(const LaunchPlan& plan, const StepSpec& step,
                              const codeobject::CodeObject& object, const LaunchRunOptions& options) {
  const std::string& name = options.kernel.empty() ? step.kernel : options.kernel;
  const std::string where = plan.spec.place(step.line);
  if (name.empty()) {
    if (object.kernels().size() == 1) return object.kernels().front().name;
    return bad_input("{}: step launch: kernel: missing; the code object has {} kernels{}", where,
                     object.kernels().size(), names_of(object));
  }
  if (object.find_kernel(name) != nullptr) return name;
  const std::string known = names_of(object);
  return bad_input("{}: the code object has no kernel '{}'; it has{}",
                   options.kernel.empty() ? where + ": step launch: kernel" : std::string("--kernel"),
                   printable(name), known.empty() ? " none" : known);
}

class Runner {
 public:
  Runner(const LaunchPlan& plan, LaunchMemory& memory, device::Module& module,
         const LaunchRunOptions& options)
      : plan_(plan), memory_(memory), module_(module), options_(options), scope_(plan.sizes) {}

  Result<LaunchReport> run() {
    ASMEVO_CHECK(run_steps(plan_.spec.steps));
    report_.outcome.instructions = instructions_;
    report_.outcome.instructions_by_family.assign(families_.begin(), families_.end());
    std::ranges::stable_sort(report_.outcome.instructions_by_family, std::greater{},
                             &std::pair<std::string, uint64_t>::second);
    ASMEVO_CHECK(look_at_memory());
    return std::move(report_);
  }

 private:
  bool going() const { return !stopped_ && report_.outcome.completed(); }

  template <class... Args>
  std::unexpected<Error> error(const StepSpec& s, fmt::format_string<Args...> format, Args&&... args) const {
    return bad_input("{}: step: {}", plan_.spec.place(s.line),
                     fmt::format(format, std::forward<Args>(args)...));
  }
  Result<uint64_t> natural(const Expression& e, std::string_view key, int64_t low, int64_t high) const {
    const auto value = evaluate_integer(e.text, scope_, low, high);
    if (!value) return failed(value.error(), fmt::format("{}: step: {}", plan_.spec.place(e.line), key));
    return static_cast<uint64_t>(*value);
  }

  Status run_steps(const std::vector<StepSpec>& steps) {
    for (const StepSpec& s : steps) {
      if (!going()) return {};
      if (++steps_ > most_steps) return error(s, "more than {} steps in all", most_steps);
      switch (s.kind) {
      case StepSpec::Kind::Launch: ASMEVO_CHECK(launch(s)); break;
      case StepSpec::Kind::Memset: ASMEVO_CHECK(set_memory(s)); break;
      case StepSpec::Kind::Copy: ASMEVO_CHECK(copy(s)); break;
      case StepSpec::Kind::Repeat: ASMEVO_CHECK(repeat(s)); break;
      }
    }
    return {};
  }

  Status repeat(const StepSpec& s) {
    ASMEVO_TRY(const uint64_t count, natural(s.count, "repeat", 0, static_cast<int64_t>(most_steps)));
    const bool named = !s.variable.empty();
    if (named && scope_.contains(s.variable)) return error(s, "variable '{}' is in use outside", s.variable);
    for (uint64_t i = 0; i < count && going(); ++i) {
      if (named) scope_[s.variable] = static_cast<int64_t>(i);
      ASMEVO_CHECK(run_steps(s.steps));
    }
    scope_.erase(s.variable);
    return {};
  }

  // --- launches

  Result<device::LaunchShape> shape_of(const StepSpec& s) const {
    device::LaunchShape shape;
    for (size_t d = 0; d < s.workgroup.size(); ++d) {
      ASMEVO_TRY(const uint64_t size, natural(s.workgroup[d], "workgroup", 1, most_workgroup));
      shape.workgroup[d] = static_cast<uint32_t>(size);
    }
    shape.grid = {shape.workgroup[0], shape.workgroup[1], shape.workgroup[2]};
    if (s.work_items) shape.grid = {1, 1, 1};
    for (size_t d = 0; d < s.grid.size(); ++d) {
      ASMEVO_TRY(const uint64_t size, natural(s.grid[d], s.work_items ? "work_items" : "grid", 1, most_grid));
      shape.grid[d] *= size;
    }
    if (s.dynamic_lds.given()) {
      ASMEVO_TRY(const uint64_t bytes, natural(s.dynamic_lds, "dynamic_lds", 0, most_lds));
      shape.dynamic_lds = static_cast<uint32_t>(bytes);
    }
    return shape;
  }

  // The file's hidden values, those of the step in their place.
  Result<std::vector<std::pair<std::string, uint64_t>>> hidden_of(const StepSpec& s) const {
    std::map<std::string, Expression> all = s.hidden;
    all.insert(plan_.spec.hidden.begin(), plan_.spec.hidden.end());
    std::vector<std::pair<std::string, uint64_t>> list;
    for (const auto& [kind, e] : all) {
      const auto value = evaluate_integer(e.text, scope_, std::numeric_limits<int64_t>::min(),
                                          std::numeric_limits<int64_t>::max());
      if (!value) return failed(value.error(), fmt::format("{}: hidden.{}", plan_.spec.place(e.line), kind));
      list.emplace_back(kind, static_cast<uint64_t>(*value));
    }
    return list;
  }

  Status launch(const StepSpec& s) {
    ASMEVO_TRY(const std::string name, kernel_of(plan_, s, module_.object(), options_));
    const codeobject::Kernel* kernel = module_.object().find_kernel(name);
    const codeobject::KernelMetadata* metadata = module_.object().metadata_of(*kernel);
    ASMEVO_TRY(const device::LaunchShape shape, shape_of(s));
    device::LaunchArguments arguments;
    ASMEVO_TRY(arguments.hidden, hidden_of(s));
    std::vector<uint64_t> tables;
    Result<Bytes> kernarg =
        build_kernarg(s.arguments ? *s.arguments : plan_.spec.arguments, scope_, metadata, memory_, tables);
    Status status = kernarg ? Status() : failed(kernarg.error());
    if (kernarg) {
      arguments.kernarg = *std::move(kernarg);
      status = launch(s, name, shape, arguments);
    }
    for (const uint64_t table : tables) memory_.device().release(table);
    return status;
  }

  Status launch(const StepSpec& s, const std::string& name, const device::LaunchShape& shape,
                const device::LaunchArguments& arguments) {
    if (options_.starting) options_.starting(name, shape);
    if (options_.before_launch) {
      ASMEVO_TRY(const BeforeLaunch what, options_.before_launch(name, shape, arguments));
      stopped_ = what == BeforeLaunch::Stop;
      if (what != BeforeLaunch::Run) return {};
    }
    Result<device::LaunchOutcome> outcome = memory_.device().launch(module_, name, shape, arguments);
    if (!outcome)
      return failed(outcome.error(),
                    fmt::format("{}: step launch of '{}'", plan_.spec.place(s.line), printable(name)));
    record(name, shape, *outcome);
    report_.outcome = *std::move(outcome);
    return {};
  }

  void record(const std::string& name, const device::LaunchShape& shape,
              const device::LaunchOutcome& outcome) {
    instructions_ += outcome.instructions;
    for (const auto& [family, count] : outcome.instructions_by_family) families_[family] += count;
    auto& list = report_.launches;
    const bool again = !list.empty() && list.back().kernel == name && list.back().shape.grid == shape.grid &&
                       list.back().shape.workgroup == shape.workgroup &&
                       list.back().shape.dynamic_lds == shape.dynamic_lds;
    if (!again && list.size() == most_records) return; // counted above all the same
    if (!again) list.push_back({name, shape, 0, 0});
    ++list.back().times;
    list.back().instructions += outcome.instructions;
  }

  // --- memory

  // `bytes` from `offset` on, or all from there on.
  struct Part {
    size_t buffer = 0;
    uint64_t offset = 0, bytes = 0;
  };
  Result<Part> part_of(const StepSpec& s, const std::string& buffer, const Expression& offset,
                       std::string_view offset_key) const {
    Part part;
    part.buffer = *plan_.find(buffer); // the spec was checked
    const uint64_t size = plan_.buffers[part.buffer].bytes;
    if (offset.given()) {
      ASMEVO_TRY(part.offset, natural(offset, offset_key, 0, most_bytes));
    }
    if (part.offset > size)
      return error(s, "{}: byte {} of buffer '{}', which has {}", offset_key, part.offset, buffer, size);
    part.bytes = size - part.offset;
    if (!s.bytes.given()) return part;
    ASMEVO_TRY(const uint64_t bytes, natural(s.bytes, "bytes", 0, most_bytes));
    if (bytes > part.bytes)
      return error(s, "bytes: {} from byte {} on of buffer '{}', which has {}", bytes, part.offset, buffer,
                   size);
    part.bytes = bytes;
    return part;
  }

  Status count_touched(const StepSpec& s, const Part& part) {
    uint64_t& end = touched_[part.buffer];
    end = std::max(end, part.offset + part.bytes);
    uint64_t all = 0;
    for (const auto& [buffer, bytes] : touched_) all += bytes;
    if (all <= options_.most_touched) return {};
    return error(s, "with {} bytes of buffer '{}' memsets and copies touch more than {} in all", part.bytes,
                 plan_.buffers[part.buffer].name, options_.most_touched);
  }

  Status set_memory(const StepSpec& s) {
    ASMEVO_TRY(const Part part, part_of(s, s.buffer, s.offset, "offset"));
    ++report_.fills, report_.filled_bytes += part.bytes;
    ASMEVO_TRY(const uint64_t value, natural(s.value, "value", 0, 255));
    if (part.bytes != 0 && part.bytes == plan_.buffers[part.buffer].bytes) {
      ASMEVO_TRY(const bool done, memory_.set_untouched(part.buffer, static_cast<uint8_t>(value)));
      if (done) return {};
    }
    ASMEVO_CHECK(count_touched(s, part));
    const Bytes block(std::min(chunk_bytes, part.bytes), static_cast<uint8_t>(value));
    for (uint64_t at = 0; at < part.bytes; at += chunk_bytes)
      ASMEVO_CHECK(memory_.write(part.buffer, part.offset + at,
                                 ByteSpan(block).first(std::min(chunk_bytes, part.bytes - at))));
    return {};
  }

  // As hipMemcpy: the two parts must not overlap.
  Status copy(const StepSpec& s) {
    ASMEVO_TRY(const Part from, part_of(s, s.buffer, s.offset, "from_offset"));
    ASMEVO_TRY(const Part to, part_of(s, s.to, s.to_offset, "to_offset"));
    if (from.bytes > to.bytes)
      return error(s, "copy: {} bytes to buffer '{}', which has {} there", from.bytes, s.to, to.bytes);
    ++report_.fills, report_.filled_bytes += from.bytes;
    const uint64_t source = memory_.address(from.buffer) + from.offset,
                   target = memory_.address(to.buffer) + to.offset;
    if (source < target + from.bytes && target < source + from.bytes)
      return error(s, "copy: the two parts overlap");
    ASMEVO_CHECK(count_touched(s, from));
    ASMEVO_CHECK(count_touched(s, {to.buffer, to.offset, from.bytes}));
    Bytes block(std::min(chunk_bytes, from.bytes));
    for (uint64_t at = 0; at < from.bytes; at += chunk_bytes) {
      const std::span<uint8_t> piece = std::span(block).first(std::min(chunk_bytes, from.bytes - at));
      ASMEVO_CHECK(memory_.read(from.buffer, from.offset + at, piece));
      ASMEVO_CHECK(memory_.write(to.buffer, to.offset + at, piece));
    }
    return {};
  }

  Status look_at_memory() {
    ASMEVO_TRY(std::string damage, memory_.damage());
    if (going() && !damage.empty()) {
      report_.outcome.kind = device::LaunchOutcome::Kind::GuardDamaged;
      report_.outcome.text = std::move(damage);
    }
    report_.notes = memory_.guard_reads();
    ASMEVO_TRY(const std::vector<size_t> changed, memory_.changed_inputs());
    for (const size_t i : changed)
      report_.notes.push_back(fmt::format("buffer '{}' has role in, but was written", plan_.buffers[i].name));
    return {};
  }

  const LaunchPlan& plan_;
  LaunchMemory& memory_;
  device::Module& module_;
  const LaunchRunOptions& options_;
  Scope scope_;
  LaunchReport report_;
  uint64_t steps_ = 0, instructions_ = 0;
  std::map<size_t, uint64_t> touched_; // by buffer, how far memsets and copies went
  bool stopped_ = false;
  std::map<std::string, uint64_t> families_;
};

} // namespace

Result<std::vector<std::string>> kernels_of(const LaunchPlan& plan, const codeobject::CodeObject& object,
                                            const LaunchRunOptions& options) {
  std::vector<const StepSpec*> launches;
  launches_in(plan.spec.steps, launches);
  std::vector<std::string> list;
  for (const StepSpec* s : launches) {
    ASMEVO_TRY(std::string name, kernel_of(plan, *s, object, options));
    if (std::ranges::find(list, name) == list.end()) list.push_back(std::move(name));
  }
  return list;
}

Result<LaunchReport> run_launch(const LaunchPlan& plan, LaunchMemory& memory, device::Module& module,
                                const LaunchRunOptions& options) {
  // All launches, before the first of them runs: a wrong name in the last step must not cost hours.
  ASMEVO_TRY(const auto kernels, kernels_of(plan, module.object(), options));
  if (kernels.size() > 1 && !options.kernel.empty())
    return bad_input("{}: launches several kernels: a single one cannot stand for all", plan.spec.file);
  return Runner(plan, memory, module, options).run();
}

} // namespace asmevo::oracle
