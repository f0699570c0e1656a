#include "profile/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace asmevo::profile {

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

Result<CsvReader> CsvReader::open(TextSource source) {
  CsvReader reader(std::move(source));
  ASMEVO_CHECK(reader.pass_byte_order_mark());
  ASMEVO_TRY(const bool any, reader.read_row());
  if (!any) return bad_input("{}: the file is empty", reader.name());
  reader.header_ = std::move(reader.row_);
  return reader;
}

std::optional<size_t> CsvReader::column(std::string_view name) const {
  const auto found = std::ranges::find_if(header_, [&](const auto& h) { return same_word(h, name); });
  if (found == header_.end()) return std::nullopt;
  return static_cast<size_t>(found - header_.begin());
}

Result<size_t> CsvReader::needed(std::string_view name) const {
  if (const auto found = column(name)) return *found;
  return bad_input("{}: line 1: no column {}", this->name(), name);
}

std::unexpected<Error> CsvReader::wrong(std::string_view what) const {
  return bad_input("{}: line {}: {}", name(), line_, what);
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

// False where nothing but line ends is left.
Result<bool> CsvReader::read_row() {
  for (;;) {
    ASMEVO_TRY(const int c, peek());
    if (c == no_more) return false;
    if (c != '\n' && c != '\r') break;
    take();
  }
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
  return wrong(fmt::format("{} is '{}', not a whole number", header_[column], printable(row_[column])));
}

Result<double> CsvReader::amount(size_t column) const {
  const auto value = parsed<double>(row_[column]);
  if (value && std::isfinite(*value) && *value >= 0) return *value;
  return wrong(
      fmt::format("{} is '{}', not a number of 0 or more", header_[column], printable(row_[column])));
}

Result<double> CsvReader::count(size_t column) const {
  const auto value = parsed<double>(row_[column]);
  if (value && *value >= 0 && *value <= most_exact && std::floor(*value) == *value) return *value;
  return wrong(fmt::format("{} is '{}', not a count", header_[column], printable(row_[column])));
}

} // namespace asmevo::profile
