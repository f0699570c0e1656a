#include "base/csv.h"

#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

namespace asmevo {

namespace {

// The fields of one line; none where a quote is left open or text follows one.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields;
  for (size_t at = 0;;) {
    std::string field;
    if (at < line.size() && line[at] == '"') {
      for (++at;; ++at) {
        if (at >= line.size()) return {};
        if (line[at] != '"') {
          field += line[at];
        } else if (at + 1 < line.size() && line[at + 1] == '"') {
          field += '"', ++at;
        } else {
          break;
        }
      }
      ++at;
      if (at < line.size() && line[at] != ',') return {};
    } else {
      const size_t end = std::min(line.find(',', at), line.size());
      field = line.substr(at, end - at);
      at = end;
    }
    fields.push_back(std::move(field));
    if (at >= line.size()) return fields;
    ++at;
  }
}

} // namespace

Result<std::vector<CsvRow>> parse_csv(std::string_view text, std::string_view name,
                                      std::span<const std::string_view> heading) {
  std::vector<CsvRow> rows;
  bool headed = false;
  unsigned number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    CsvRow row{number, fields_of(line)};
    if (row.fields.empty()) return bad_input("{}:{}: a quote does not end, or text follows it", name, number);
    if (!headed) {
      if (!std::ranges::equal(row.fields, heading))
        return bad_input("{}:{}: the heading is not '{}'", name, number, fmt::join(heading, ","));
      headed = true;
      continue;
    }
    if (row.fields.size() != heading.size())
      return bad_input("{}:{}: {} fields, not {}", name, number, row.fields.size(), heading.size());
    rows.push_back(std::move(row));
  }
  if (!headed) return bad_input("{}: empty; the heading '{}' is missing", name, fmt::join(heading, ","));
  return rows;
}

Result<double> csv_number(std::string_view field, std::string_view place, std::string_view column) {
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size() || !std::isfinite(value))
    return bad_input("{}: {}: '{}' is not a number", place, column, printable(field));
  return value;
}

} // namespace asmevo
