#include "oracle/timing_suite.h"

#include "base/files.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace asmevo::oracle {

namespace {

constexpr double milli = 1e-3;
constexpr size_t least_fields = 6, copies_field = 7;

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields;
  for (size_t from = 0;;) {
    const size_t comma = line.find(',', from);
    fields.emplace_back(line.substr(from, comma - from));
    if (comma == std::string_view::npos) return fields;
    from = comma + 1;
  }
}

Result<double> number(const std::string& text, const std::string& where) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size() || !std::isfinite(value) ||
      value < 0)
    return bad_input("{}: '{}' is not a time in milliseconds", where, printable(text));
  return value;
}

Result<TimingRow> parse_row(std::string_view line, uint64_t number_of_line, const std::string& file) {
  const std::string where = fmt::format("{}:{}", file, number_of_line);
  const std::vector<std::string> f = fields_of(line);
  if (f.size() < least_fields)
    return bad_input("{}: {} fields, not kernel,size,launch_file,shape,ref_ms,bound", where, f.size());
  TimingRow row{.kernel = f[0], .size = f[1], .launch_file = f[2], .shape = f[3], .bound = f[5]};
  row.line = number_of_line;
  if (row.launch_file.empty() || row.launch_file.find('/') != std::string::npos)
    return bad_input("{}: launch file '{}' is not one of the folder", where, printable(row.launch_file));
  ASMEVO_TRY(const double measured, number(f[4], where));
  if (measured <= 0) return bad_input("{}: a time of 0", where);
  row.measured = measured * milli;
  if (f.size() > copies_field && !f[copies_field].empty()) {
    ASMEVO_TRY(const double copies, number(f[copies_field], where));
    row.copies = copies * milli;
  }
  return row;
}

} // namespace

bool TimingRow::scored() const {
  return std::ranges::none_of(std::array{"floor", "host", "h2d", "unscored"},
                              [&](const char* what) { return bound.find(what) != std::string::npos; });
}

Result<std::vector<TimingRow>> read_times(const std::string& folder) {
  const std::string file = folder + "/times.csv";
  ASMEVO_TRY(const Bytes bytes, read_file(file));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<TimingRow> rows;
  uint64_t number_of_line = 0;
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size());
    std::string_view line = text.substr(from, end - from);
    from = end + 1;
    ++number_of_line;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#') || line.starts_with("kernel,")) continue;
    ASMEVO_TRY(TimingRow row, parse_row(line, number_of_line, file));
    rows.push_back(std::move(row));
  }
  if (rows.empty()) return bad_input("{}: no rows", file);
  return rows;
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
