#include "cli/bench_microkernels.h"

#include "base/progress.h"
#include "cli/load.h"
#include "oracle/matrix_figures.h"
#include "oracle/modelled_figures.h"

#include <algorithm>
#include <cmath>

namespace asmevo::cli {

namespace {

using Json = nlohmann::ordered_json;
using oracle::MatrixFigure;
using oracle::ModelledFigure;

std::string percent(std::optional<double> deviation) {
  constexpr double hundred = 100;
  return deviation ? fmt::format("{:+.1f} %", hundred * *deviation) : "-";
}

Json or_null(std::optional<double> value) {
  return value ? Json(*value) : Json(nullptr);
}

// --- figures

std::string_view agreement(const oracle::PublishedFigure& f) {
  if (!f.published) return "none";
  return f.sources_agree() ? "agree" : "disagree";
}

std::string published(const oracle::PublishedFigure& f) {
  if (!f.published) return "-";
  const auto& p = *f.published;
  if (p.low == p.high) return fmt::format("{:.5g}", p.value);
  return fmt::format("{:.5g} ({:.5g} to {:.5g})", p.value, p.low, p.high);
}

void print_figures(const std::vector<ModelledFigure>& rows) {
  constexpr std::string_view layout = "{:<7} {:<66} {:>8} {:>22} {:<12} {:>8}  {}{}\n";
  fmt::print(layout, "machine", "figure", "modelled", "published", "unit", "apart", "sources", "");
  constexpr double rounding = 0.01;
  size_t agree = 0, off = 0, disagree = 0, outside = 0;
  for (const ModelledFigure& r : rows) {
    const bool is_outside =
        r.figure.published && !r.figure.sources_agree() && std::abs(*r.deviation()) > rounding;
    agree += r.figure.sources_agree(), off += r.is_off();
    disagree += r.figure.published && !r.figure.sources_agree(), outside += is_outside;
    fmt::print(layout, r.figure.machine, printable(r.figure.measures, 66), fmt::format("{:.5g}", r.modelled),
               published(r.figure), name(r.figure.unit), percent(r.deviation()), agreement(r.figure),
               r.is_off()   ? ", off"
               : is_outside ? ", outside"
                            : "");
  }
  fmt::print("{} figures whose sources agree: {} within 5 % modelled, {} off\n"
             "{} whose sources disagree: {} within their range, {} outside\n{} of which none is published\n",
             agree, agree - off, off, disagree, disagree - outside, outside, rows.size() - agree - disagree);
}

Json figures_as_json(const std::vector<ModelledFigure>& rows) {
  Json list = Json::array();
  for (const ModelledFigure& r : rows) {
    const auto& p = r.figure.published;
    list.push_back({{"machine", r.figure.machine},
                    {"kernel", r.figure.file + ":" + r.figure.launches.kernel},
                    {"shape", r.figure.launches.long_shape},
                    {"measures", r.figure.measures},
                    {"unit", name(r.figure.unit)},
                    {"modelled", r.modelled},
                    {"published", p ? Json(p->value) : Json(nullptr)},
                    {"low", p ? Json(p->low) : Json(nullptr)},
                    {"high", p ? Json(p->high) : Json(nullptr)},
                    {"deviation", or_null(r.deviation())},
                    {"sources", agreement(r.figure)},
                    {"off", r.is_off()},
                    {"source", r.figure.source}});
  }
  return {{"figures", std::move(list)}};
}

// --- matrix instructions

// An instruction's three figures, the published behind a stroke where they differ.
std::string beside(double modelled, std::optional<double> expected) {
  if (!expected) return fmt::format("{:.4g}/-", modelled);
  return fmt::format("{:.4g}/{:.4g}", modelled, *expected);
}

void print_matrix(const std::string& machine, const std::string& target,
                  const std::vector<MatrixFigure>& rows) {
  constexpr std::string_view layout = "{:<52} {:>6} {:>11} {:>12} {:>11} {:>8} {:>7} {:>6}{}\n";
  fmt::print("{} ({}): cycles from one to the next, modelled/published\n", machine, target);
  fmt::print(layout, "opcode", "passes", "independent", "accumulating", "chained", "apart", "flops/c", "peak",
             "");
  size_t off = 0, none = 0;
  for (const MatrixFigure& r : rows) {
    off += r.is_off(), none += !r.expected;
    const auto of = [&](double MatrixFigure::Cycles::* which) {
      return beside(r.modelled.*which, r.expected ? std::optional((*r.expected).*which) : std::nullopt);
    };
    using Cycles = MatrixFigure::Cycles;
    fmt::print(layout, r.opcode, r.passes, of(&Cycles::independent), of(&Cycles::accumulating),
               of(&Cycles::chained), percent(r.deviation()), fmt::format("{:.0f}", r.rate()),
               r.published ? fmt::format("{:.0f}", r.published->peak) : "-", r.is_off() ? " off" : "");
  }
  fmt::print("{}: {} opcodes: {} within 5 % modelled, {} off, {} without published cycles\n", machine,
             rows.size(), rows.size() - off - none, off, none);
}

Json cycles_as_json(const MatrixFigure::Cycles& c) {
  return {{"independent", c.independent}, {"accumulating", c.accumulating}, {"chained", c.chained}};
}

Json matrix_as_json(const std::string& machine, const std::string& target,
                    const std::vector<MatrixFigure>& rows) {
  Json list = Json::array();
  for (const MatrixFigure& r : rows)
    list.push_back({{"opcode", r.opcode},
                    {"passes", r.passes},
                    {"modelled", cycles_as_json(r.modelled)},
                    {"published", r.expected ? cycles_as_json(*r.expected) : Json(nullptr)},
                    {"deviation", or_null(r.deviation())},
                    {"off", r.is_off()},
                    {"flops_per_cycle", r.rate()},
                    {"peak", r.published ? Json(r.published->peak) : Json(nullptr)},
                    {"source", r.published ? r.published->source : ""}});
  return {{"machine", machine}, {"target", target}, {"opcodes", std::move(list)}};
}

} // namespace

Result<Answer> bench_microkernels(const MicrokernelOptions& given, bool json) {
  MicrokernelOptions o = given;
  if (o.objects.empty()) o.objects = objects_beside_program(o.suite);
  ASMEVO_TRY(const auto figures, oracle::read_figures(std::filesystem::path(o.suite) / "figures.csv"));
  Progress progress("figures", figures.size());
  oracle::FigureOptions options{.suite = o.suite,
                                .objects = o.objects,
                                .machine = o.machine,
                                .effort = o.effort,
                                .threads = o.threads,
                                .progress = [&](size_t done, size_t) {
                                  if (done != 0) progress.step();
                                }};
  ASMEVO_TRY(const auto rows, oracle::model_figures(figures, options));
  if (json)
    print_json(figures_as_json(rows));
  else
    print_figures(rows);
  return std::ranges::any_of(rows, &ModelledFigure::is_off) ? Answer::No : Answer::Yes;
}

Result<Answer> bench_mfma(const MicrokernelOptions& o, bool json) {
  ASMEVO_TRY(const auto rates, oracle::read_matrix_rates(std::filesystem::path(o.suite) / "matrix.csv"));
  std::vector<std::string> machines = {"mi210", "mi300x", "mi355x"};
  if (!o.machine.empty()) machines = {o.machine};
  bool off = false;
  Json list = Json::array();
  for (const std::string& machine : machines) {
    ASMEVO_TRY(const auto model, timing::MachineModel::find(machine));
    ASMEVO_TRY(const auto rows, oracle::model_matrix_instructions(model, rates));
    off |= std::ranges::any_of(rows, &MatrixFigure::is_off);
    const std::string target(model.target().name());
    if (json)
      list.push_back(matrix_as_json(model.name(), target, rows));
    else
      print_matrix(model.name(), target, rows);
  }
  if (json) print_json({{"machines", std::move(list)}});
  return off ? Answer::No : Answer::Yes;
}

} // namespace asmevo::cli
