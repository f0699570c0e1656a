#include "oracle/modelled_figures.h"

#include "base/files.h"
#include "base/words.h"
#include "oracle/launch_time.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace asmevo::oracle {

namespace {

using P = timing::Parameter;

// One launch file on one machine.
struct Launch {
  double seconds = 0;
  Scope sizes;
};

class FigureModel {
 public:
  explicit FigureModel(const FigureOptions& options) : options_(options) {}

  Result<double> model(const PublishedFigure& f) {
    ASMEVO_TRY(const timing::MachineModel model, timing::MachineModel::find(f.machine));
    const timing::Machine machine = model.nominal();
    ASMEVO_TRY(const Difference d, difference(f, f.launches, machine));
    double against = 1;
    if (f.against) {
      ASMEVO_TRY(const Difference other, difference(f, *f.against, machine));
      against = other.seconds;
    }
    if (!(d.seconds > 0 && d.work > 0 && against > 0))
      return bad_input("the long launch takes no more time or does no more work than the short one");
    constexpr double nano = 1e-9, micro = 1e-6, tera = 1e12;
    const double clock = machine[P::engine_clock] * 1e6;
    switch (f.unit) {
    case FigureUnit::Cycles: return d.seconds * clock / d.work;
    case FigureUnit::Nanoseconds: return d.seconds / d.work / nano;
    case FigureUnit::Microseconds: return d.seconds / d.work / micro;
    case FigureUnit::TerabytesPerSecond: return d.work / d.seconds / tera;
    case FigureUnit::BytesPerCycle: return d.work / (d.seconds * clock);
    case FigureUnit::Ratio: return d.seconds / against;
    }
    return internal_error("a unit without a formula");
  }

 private:
  struct Difference {
    double seconds = 0, work = 0;
  };

  Result<Difference> difference(const PublishedFigure& f, const FigureLaunches& launches,
                                const timing::Machine& machine) {
    ASMEVO_TRY(const Launch long_one, launch(f, launches.kernel, launches.long_shape, machine));
    ASMEVO_TRY(const double long_work, work(f, long_one, machine));
    if (launches.short_shape.empty()) return Difference{long_one.seconds, long_work};
    ASMEVO_TRY(const Launch short_one, launch(f, launches.kernel, launches.short_shape, machine));
    ASMEVO_TRY(const double short_work, work(f, short_one, machine));
    return Difference{long_one.seconds - short_one.seconds, f.work.empty() ? 1 : long_work - short_work};
  }

  static Result<double> work(const PublishedFigure& f, const Launch& launch, const timing::Machine& machine) {
    if (f.work.empty()) return 1;
    Scope scope = launch.sizes;
    scope.try_emplace("xcds", static_cast<int64_t>(machine[P::xcds]));
    scope.try_emplace("cus", static_cast<int64_t>(machine.cus()));
    ASMEVO_TRY(const Number n, evaluate(f.work, scope));
    return std::visit([](auto x) { return static_cast<double>(x); }, n);
  }

  // Many figures share launches.
  Result<Launch> launch(const PublishedFigure& f, const std::string& kernel, const std::string& shape,
                        const timing::Machine& machine) {
    const Key key{f.file, kernel, shape, f.machine, f.cold};
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    ASMEVO_TRY(const auto object, object_of(f.file));
    ASMEVO_TRY(LaunchSpec spec, LaunchSpec::read(options_.suite / (f.file + ".toml")));
    ASMEVO_TRY(const LaunchPlan plan, LaunchPlan::make(std::move(spec), shape));
    LaunchTraceOptions trace;
    trace.kernel = kernel;
    trace.trace = {.effort = options_.effort, .threads = options_.threads};
    ASMEVO_TRY(const LaunchTraces traces, trace_launches(plan, object, machine, trace));
    timing::KernelTimeOptions caches;
    caches.cold = f.cold;
    const LaunchTime time = launch_time(traces, machine, caches);
    return known_[key] = Launch{time.seconds, plan.sizes};
  }

  Result<std::shared_ptr<const codeobject::CodeObject>> object_of(const std::string& file) {
    auto& object = objects_[file];
    if (object == nullptr) {
      const std::filesystem::path path = options_.objects / (file + ".gfx942.co");
      ASMEVO_TRY(Bytes bytes, read_file(path));
      auto parsed = codeobject::CodeObject::parse(std::move(bytes));
      if (!parsed) return failed(parsed.error(), path.string());
      object = std::make_shared<const codeobject::CodeObject>(*std::move(parsed));
    }
    return object;
  }

  using Key = std::tuple<std::string, std::string, std::string, std::string, bool>;
  const FigureOptions& options_;
  std::map<Key, Launch> known_;
  std::map<std::string, std::shared_ptr<const codeobject::CodeObject>> objects_;
};

} // namespace

std::optional<double> ModelledFigure::deviation() const {
  if (!figure.published) return std::nullopt;
  const PublishedFigure::Value& p = *figure.published;
  if (figure.sources_agree()) return modelled / p.value - 1;
  if (modelled < p.low) return modelled / p.low - 1;
  return modelled > p.high ? modelled / p.high - 1 : 0;
}

bool ModelledFigure::is_off() const {
  return figure.sources_agree() && std::abs(*deviation()) > figure_tolerance;
}

Result<std::vector<ModelledFigure>> model_figures(const std::vector<PublishedFigure>& figures,
                                                  const FigureOptions& options) {
  FigureModel model(options);
  std::vector<ModelledFigure> rows;
  for (size_t n = 0; n < figures.size(); ++n) {
    const PublishedFigure& f = figures[n];
    if (!options.machine.empty() && f.machine != options.machine) continue;
    if (options.progress) options.progress(n, figures.size());
    const Result<double> value = model.model(f);
    if (!value) return failed(value.error(), fmt::format("figure of line {} ({})", f.line, f.machine));
    rows.push_back({f, *value});
  }
  if (rows.empty()) {
    std::vector<std::string_view> machines;
    for (const PublishedFigure& f : figures)
      if (std::ranges::find(machines, f.machine) == machines.end()) machines.push_back(f.machine);
    return bad_input("no figure is of machine '{}'{}", printable(options.machine),
                     suggestion(options.machine, machines));
  }
  return rows;
}

} // namespace asmevo::oracle
