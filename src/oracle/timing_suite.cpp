#include "oracle/timing_suite.h"

#include "base/csv.h"
#include "base/files.h"
#include "base/words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace asmevo::oracle {

namespace {

constexpr double milli = 1e-3;

enum Column : size_t { Kernel, Size, LaunchFile, Shape, Measured, Bound, Launches, Copies, columns };
constexpr std::array<std::string_view, columns> heading = {"kernel", "size",  "launch_file", "shape",
                                                           "ref_ms", "bound", "launches",    "copies_est_ms"};
constexpr CsvColumns known_columns = {std::span(heading).first(Launches),
                                      std::span(heading).subspan(Launches)};

constexpr std::array<std::string_view, 5> not_scored = {"floor", "host", "h2d", "dispatch-copy", "unscored"};
constexpr std::array<std::string_view, 10> of_the_device = {
    "hbm", "mall", "l2", "l1", "cache", "lds", "compute", "latency", "occupancy", "dispatch"};

// The words of a `bound`, "latency/l1" or "h2d+mall".
std::vector<std::string_view> words_of(std::string_view bound) {
  std::vector<std::string_view> words;
  for (size_t from = 0;;) {
    const size_t end = bound.find_first_of("/+", from);
    words.push_back(bound.substr(from, end - from));
    if (end == std::string_view::npos) return words;
    from = end + 1;
  }
}

// A row as it is read, with where it stands.
class RowReader {
 public:
  RowReader(const CsvRow& row, const std::string& name)
      : row_(row), place_(fmt::format("{}:{}", name, row.line)) {}

  Result<TimingRow> read() const {
    for (const Column c : {Kernel, Size, LaunchFile})
      if (text(c).empty()) return wrong(c, "missing");
    if (text(LaunchFile).find('/') != std::string::npos) return wrong(LaunchFile, "not one of the folder");
    TimingRow row{.kernel = text(Kernel),
                  .size = text(Size),
                  .launch_file = text(LaunchFile),
                  .shape = text(Shape),
                  .bound = text(Bound)};
    row.line = row_.line;
    ASMEVO_CHECK(check_bound());
    ASMEVO_TRY(const double measured, csv_number(text(Measured), place_, heading[Measured]));
    if (measured <= 0) return wrong(Measured, "not a time above 0");
    row.measured = measured * milli;
    ASMEVO_CHECK(check_launches());
    if (text(Copies).empty()) return row;
    ASMEVO_TRY(const double copies, csv_number(text(Copies), place_, heading[Copies]));
    if (copies < 0 || copies > measured) return wrong(Copies, "not a part of `ref_ms`");
    row.copies = copies * milli;
    return row;
  }

 private:
  const std::string& text(Column c) const { return row_.fields[c]; }
  std::unexpected<Error> wrong(Column c, std::string_view what) const {
    return bad_input("{}: {}: '{}': {}", place_, heading[c], printable(text(c)), what);
  }

  Status check_bound() const {
    std::vector<std::string_view> known(of_the_device.begin(), of_the_device.end());
    known.insert(known.end(), not_scored.begin(), not_scored.end());
    for (const std::string_view word : words_of(text(Bound)))
      if (std::ranges::find(known, word) == known.end())
        return bad_input("{}: bound: unknown word '{}'{}", place_, printable(word), suggestion(word, known));
    return {};
  }

  // Nobody reads the number, but a table in which it is none was not written as it was meant.
  Status check_launches() const {
    if (text(Launches).empty()) return {};
    ASMEVO_TRY(const double launches, csv_number(text(Launches), place_, heading[Launches]));
    if (launches < 1 || launches != std::floor(launches)) return wrong(Launches, "not a number of launches");
    return {};
  }

  const CsvRow& row_;
  std::string place_;
};

} // namespace

bool TimingRow::scored() const {
  return std::ranges::none_of(words_of(bound), [](std::string_view word) {
    return std::ranges::find(not_scored, word) != not_scored.end();
  });
}

Result<std::vector<TimingRow>> parse_times(std::string_view text, const std::string& name) {
  ASMEVO_TRY(const std::vector<CsvRow> lines, parse_csv(text, name, known_columns));
  std::vector<TimingRow> rows;
  std::set<std::pair<std::string, std::string>> seen;
  for (const CsvRow& line : lines) {
    ASMEVO_TRY(TimingRow row, RowReader(line, name).read());
    if (!seen.emplace(row.kernel, row.size).second)
      return bad_input("{}:{}: kernel '{}' with size '{}' stands twice", name, line.line,
                       printable(row.kernel), printable(row.size));
    rows.push_back(std::move(row));
  }
  if (rows.empty()) return bad_input("{}: no rows", name);
  return rows;
}

Result<std::vector<TimingRow>> read_times(const std::string& folder) {
  const std::string file = folder + "/times.csv";
  constexpr uint64_t largest = uint64_t{1} << 24;
  ASMEVO_TRY(const Bytes bytes, read_file(file, largest));
  return parse_times({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file);
}

std::vector<TimingScore> score(std::span<const TimingResult> results) {
  std::vector<TimingScore> scores;
  std::vector<std::pair<double, double>> sums; // of differences, of measured times
  for (const TimingResult& r : results) {
    if (!r.row.scored()) continue;
    auto found = std::ranges::find(scores, r.row.kernel, &TimingScore::kernel);
    if (found == scores.end()) {
      scores.push_back({.kernel = r.row.kernel});
      sums.emplace_back();
      found = scores.end() - 1;
    }
    const double error = r.error();
    ++found->rows;
    found->mean += std::abs(error);
    if (std::abs(error) > std::abs(found->worst)) found->worst = error;
    auto& [differences, measured] = sums[static_cast<size_t>(found - scores.begin())];
    differences += std::abs(r.modelled - r.row.measured), measured += r.row.measured;
  }
  for (size_t n = 0; n < scores.size(); ++n) {
    scores[n].mean /= static_cast<double>(scores[n].rows);
    scores[n].wmape = sums[n].first / sums[n].second;
  }
  return scores;
}

double mean_error(std::span<const TimingScore> scores) {
  double sum = 0;
  for (const TimingScore& s : scores) sum += s.mean;
  return scores.empty() ? 0 : sum / static_cast<double>(scores.size());
}

} // namespace asmevo::oracle
