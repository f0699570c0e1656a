#include "base/csv.h"

#include "base/words.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace asmevo {

namespace {

constexpr int no_more = -1;
constexpr double most_exact = 9007199254740992.0; // 2^53

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

template <class T>
std::optional<T> parsed(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

} // namespace

bool same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

Result<CsvReader> CsvReader::open(TextSource source, CsvComments comments) {
  CsvReader reader(std::move(source), comments);
  ASMEVO_CHECK(reader.pass_byte_order_mark());
  ASMEVO_TRY(const bool any, reader.read_row());
  if (!any) return bad_input("{}: the file is empty", reader.name());
  reader.header_ = std::move(reader.row_);
  reader.header_line_ = reader.line_;
  return reader;
}

std::optional<size_t> CsvReader::column(std::string_view name) const {
  const auto found = std::ranges::find_if(header_, [&](const auto& h) { return same_word(h, name); });
  if (found == header_.end()) return std::nullopt;
  return static_cast<size_t>(found - header_.begin());
}

Result<size_t> CsvReader::needed(std::string_view name) const {
  if (const auto found = column(name)) return *found;
  return bad_input("{}:{}: no column '{}'", this->name(), header_line_, name);
}

std::unexpected<Error> CsvReader::wrong(std::string_view what) const {
  return bad_input("{}:{}: {}", name(), line_, what);
}

Result<int> CsvReader::peek() {
  if (at_ == piece_.size() && !ended_) {
    ASMEVO_TRY(piece_, source_.piece());
    at_ = 0;
    ended_ = piece_.empty();
  }
  return ended_ ? no_more : static_cast<unsigned char>(piece_[at_]);
}

Status CsvReader::pass_byte_order_mark() {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  ASMEVO_CHECK(peek());
  if (piece_.starts_with(mark)) at_ = mark.size();
  return {};
}

void CsvReader::take() {
  if (piece_[at_++] == '\n') ++next_line_;
}

Status CsvReader::add(std::string& field, char c) {
  if (c == '\0') return wrong("a zero byte: this is no text");
  if (field.size() == most_field_bytes) return wrong(fmt::format("a field of over {} bytes", field.size()));
  if (++row_bytes_ > most_row_bytes) return wrong(fmt::format("a row of over {} bytes", most_row_bytes));
  field += c;
  return {};
}

// Behind the opening quote, up to behind the closing one.
Status CsvReader::read_quoted(std::string& field) {
  for (;;) {
    ASMEVO_TRY(const int c, peek());
    if (c == no_more)
      return wrong("a quoted field is not closed: the file is cut off, or a quote is missing");
    take();
    if (c == '"') {
      ASMEVO_TRY(const int after, peek());
      if (after != '"') break;
      take();
    }
    ASMEVO_CHECK(add(field, static_cast<char>(c)));
  }
  ASMEVO_TRY(const int after, peek());
  if (after != ',' && after != '\n' && after != '\r' && after != no_more)
    return wrong("text behind a closing quote");
  return {};
}

Status CsvReader::read_field(std::string& field) {
  ASMEVO_TRY(const int first, peek());
  if (first == '"') {
    take();
    return read_quoted(field);
  }
  for (;;) {
    ASMEVO_TRY(const int c, peek());
    if (c == ',' || c == '\n' || c == '\r' || c == no_more) return {};
    if (c == '"') return wrong("a quote inside a field that does not begin with one");
    take();
    ASMEVO_CHECK(add(field, static_cast<char>(c)));
  }
}

Status CsvReader::pass_line() {
  for (;;) {
    ASMEVO_TRY(const int c, peek());
    if (c == no_more || c == '\n') return {};
    take();
  }
}

// False where nothing but line ends and comments is left.
Result<bool> CsvReader::pass_to_row() {
  for (;;) {
    ASMEVO_TRY(const int c, peek());
    if (c == no_more) return false;
    if (c == '#' && comments_ == CsvComments::Hash)
      ASMEVO_CHECK(pass_line());
    else if (c == '\n' || c == '\r')
      take();
    else
      return true;
  }
}

Result<bool> CsvReader::read_row() {
  ASMEVO_TRY(const bool any, pass_to_row());
  if (!any) return false;
  line_ = next_line_;
  row_bytes_ = 0;
  row_.clear();
  for (;;) {
    if (row_.size() == most_columns) return wrong(fmt::format("over {} fields", most_columns));
    ASMEVO_CHECK(read_field(row_.emplace_back()));
    ASMEVO_TRY(const int c, peek());
    if (c == no_more) return true;
    take();
    if (c != ',') return true; // what is left of CRLF is an empty line
  }
}

Result<bool> CsvReader::next() {
  ASMEVO_TRY(const bool any, read_row());
  if (!any) return false;
  if (row_.size() != header_.size())
    return wrong(fmt::format("{} fields where the header has {}", row_.size(), header_.size()));
  ++rows_;
  return true;
}

Result<uint64_t> CsvReader::id(size_t column) const {
  if (const auto value = parsed<uint64_t>(row_[column])) return *value;
  return wrong(
      fmt::format("{} is '{}', not a whole number", printable(header_[column]), printable(row_[column])));
}

Result<double> CsvReader::amount(size_t column) const {
  const auto value = parsed<double>(row_[column]);
  if (value && std::isfinite(*value) && *value >= 0) return *value;
  return wrong(fmt::format("{} is '{}', not a number of 0 or more", printable(header_[column]),
                           printable(row_[column])));
}

Result<double> CsvReader::count(size_t column) const {
  const auto value = parsed<double>(row_[column]);
  if (value && *value >= 0 && *value <= most_exact && std::floor(*value) == *value) return *value;
  return wrong(fmt::format("{} is '{}', not a count", printable(header_[column]), printable(row_[column])));
}

// --- tables of known columns

namespace {

// Where each known column stands in the header.
Result<std::vector<std::optional<size_t>>> places_of(const CsvReader& csv, const CsvColumns& columns) {
  std::vector<std::string_view> known(columns.needed.begin(), columns.needed.end());
  known.insert(known.end(), columns.optional.begin(), columns.optional.end());
  std::vector<std::optional<size_t>> places(known.size());
  for (size_t c = 0; c < csv.header().size(); ++c) {
    const std::string& name = csv.header()[c];
    const auto found = std::ranges::find(known, name);
    if (found == known.end())
      return csv.wrong(fmt::format("unknown column '{}'{}", printable(name), suggestion(name, known)));
    std::optional<size_t>& place = places[static_cast<size_t>(found - known.begin())];
    if (place) return csv.wrong(fmt::format("column '{}' stands twice", name));
    place = c;
  }
  for (size_t n = 0; n < columns.needed.size(); ++n)
    if (!places[n]) return csv.wrong(fmt::format("no column '{}'", known[n]));
  return places;
}

} // namespace

Result<std::vector<CsvRow>> parse_csv(std::string_view text, std::string_view name,
                                      const CsvColumns& columns) {
  ASMEVO_TRY(CsvReader csv, CsvReader::open(TextSource(std::string(name), text), CsvComments::Hash));
  ASMEVO_TRY(const auto places, places_of(csv, columns));
  std::vector<CsvRow> rows;
  for (;;) {
    ASMEVO_TRY(const bool more, csv.next());
    if (!more) return rows;
    CsvRow& row = rows.emplace_back(CsvRow{csv.line(), {}});
    for (const std::optional<size_t> place : places)
      row.fields.push_back(place ? csv.field(*place) : std::string());
  }
}

Result<double> csv_number(std::string_view field, std::string_view place, std::string_view column) {
  const auto value = parsed<double>(field);
  if (!value || !std::isfinite(*value))
    return bad_input("{}: {}: '{}' is not a number", place, column, printable(field));
  return *value;
}

} // namespace asmevo
