#include "oracle/published_figures.h"

#include "base/csv.h"
#include "base/files.h"
#include "base/words.h"
#include "timing/machine_model.h"

#include <algorithm>
#include <array>
#include <span>

namespace asmevo::oracle {

namespace {

enum Column : size_t {
  File,
  Kernel,
  Shapes,
  Work,
  Against,
  Caches,
  Measures,
  Unit,
  Machines,
  Published,
  Low,
  High,
  Source,
  columns
};
constexpr std::array<std::string_view, columns> heading = {
    "file", "kernel",  "shapes",    "work", "against", "caches", "measures",
    "unit", "machine", "published", "low",  "high",    "source"};

constexpr std::array unit_names = {"cycles", "ns", "us", "TB/s", "bytes/cycle", "ratio"};

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> list;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end != 0) list.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return list;
}

// A row as it is read, with where it stands.
class RowReader {
 public:
  RowReader(const CsvRow& row, const std::string& name)
      : row_(row), place_(fmt::format("{}:{}", name, row.line)) {}

  Result<std::vector<PublishedFigure>> read() const {
    PublishedFigure f;
    f.line = row_.line;
    for (const Column c : {File, Kernel, Shapes, Measures, Machines, Source})
      if (text(c).empty()) return wrong(c, "missing");
    if (text(File).find_first_of("/\\") != std::string::npos) return wrong(File, "not the name of a file");
    f.file = text(File), f.work = text(Work), f.measures = text(Measures), f.source = text(Source);
    ASMEVO_CHECK(launches(f));
    if (text(Caches) != "warm" && text(Caches) != "cold") return wrong(Caches, "neither warm nor cold");
    f.cold = text(Caches) == "cold";
    ASMEVO_TRY(f.published, published());
    const std::vector<std::string> machines = words(text(Machines));
    if (machines.empty()) return wrong(Machines, "missing");
    std::vector<PublishedFigure> list;
    for (const std::string& machine : machines) {
      const auto known = timing::MachineModel::names();
      if (std::ranges::find(known, machine) == known.end())
        return wrong(Machines, "no such machine model" + suggestion(machine, known));
      list.push_back(f);
      list.back().machine = machine;
    }
    return list;
  }

 private:
  const std::string& text(Column c) const { return row_.fields[c]; }
  std::unexpected<Error> wrong(Column c, std::string_view what) const {
    return bad_input("{}: {}: '{}': {}", place_, heading[c], printable(text(c)), what);
  }

  Status launches(PublishedFigure& f) const {
    const auto unit = std::ranges::find(unit_names, text(Unit));
    if (unit == unit_names.end()) return wrong(Unit, "no such unit");
    f.unit = static_cast<FigureUnit>(unit - unit_names.begin());
    const std::vector<std::string> shapes = words(text(Shapes)), against = words(text(Against));
    if (shapes.empty() || shapes.size() > 2) return wrong(Shapes, "one shape, or a short and a long one");
    f.launches = {text(Kernel), shapes.size() == 2 ? shapes.front() : "", shapes.back()};
    if (f.unit != FigureUnit::Ratio)
      return against.empty() ? Status() : wrong(Against, "only a ratio is against something");
    if (against.size() != 3) return wrong(Against, "a kernel, a short and a long shape");
    if (!f.work.empty()) return wrong(Work, "a ratio is of times");
    f.against = FigureLaunches{against[0], against[1], against[2]};
    return {};
  }

  Result<std::optional<PublishedFigure::Value>> published() const {
    const bool none = text(Published).empty();
    for (const Column c : {Low, High})
      if (text(c).empty() != none) return wrong(c, "goes with `published`");
    if (none) return std::nullopt;
    PublishedFigure::Value v;
    ASMEVO_TRY(v.value, csv_number(text(Published), place_, heading[Published]));
    ASMEVO_TRY(v.low, csv_number(text(Low), place_, heading[Low]));
    ASMEVO_TRY(v.high, csv_number(text(High), place_, heading[High]));
    if (v.low <= 0) return wrong(Low, "not above 0");
    if (v.value < v.low || v.value > v.high) return wrong(Published, "not between `low` and `high`");
    return v;
  }

  const CsvRow& row_;
  std::string place_;
};

} // namespace

std::string_view name(FigureUnit unit) {
  return unit_names[static_cast<size_t>(unit)];
}

bool PublishedFigure::sources_agree() const {
  return published && published->high - published->low <= figure_tolerance * published->value;
}

Result<std::vector<PublishedFigure>> parse_figures(std::string_view text, const std::string& name) {
  ASMEVO_TRY(const std::vector<CsvRow> rows, parse_csv(text, name, {heading, {}}));
  std::vector<PublishedFigure> all;
  for (const CsvRow& row : rows) {
    ASMEVO_TRY(const std::vector<PublishedFigure> figures, RowReader(row, name).read());
    all.insert(all.end(), figures.begin(), figures.end());
  }
  return all;
}

Result<std::vector<PublishedFigure>> read_figures(const std::filesystem::path& path) {
  constexpr uint64_t largest = uint64_t{1} << 20;
  ASMEVO_TRY(const Bytes bytes, read_file(path, largest));
  return parse_figures({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string());
}

} // namespace asmevo::oracle
