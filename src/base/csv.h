// Comma-separated values (RFC 4180: quotes, doubled quotes, commas and line ends inside quotes, CRLF).
// Strict: what does not fit its header is an error with its line, since a table that is half understood is
// worse than none. A CsvReader goes through a file row by row, so that a profiler's gigabytes need no memory;
// parse_csv is for the tables of this tree, of which every column is known.
#pragma once

#include "base/text_source.h"

#include <optional>
#include <span>

namespace asmevo {

/// Whether lines that begin with '#' are passed over.
enum class CsvComments : uint8_t { None, Hash };

class CsvReader {
 public:
  static constexpr size_t most_columns = 4096, most_field_bytes = 1 << 20, most_row_bytes = 4 << 20;

  /// Reads the header. BadInput: nothing but white space, or a row that does not hold.
  static Result<CsvReader> open(TextSource source, CsvComments comments = CsvComments::None);

  const std::string& name() const { return source_.name(); }
  const std::vector<std::string>& header() const { return header_; }
  uint64_t header_line() const { return header_line_; }
  /// Where a column of that name is, whatever its case.
  std::optional<size_t> column(std::string_view name) const;
  /// BadInput where there is none.
  Result<size_t> needed(std::string_view name) const;

  /// The next row; false at the end. Empty lines are passed over. BadInput: another number of fields than
  /// the header's, a quote that is not closed, text behind a closing quote, a field or a row too long.
  Result<bool> next();
  const std::string& field(size_t column) const { return row_[column]; }
  /// A whole number of 0 to 2^64 - 1.
  Result<uint64_t> id(size_t column) const;
  /// How often or how long: a whole number that a double holds exactly.
  Result<double> count(size_t column) const;
  /// Any finite number that is not negative.
  Result<double> amount(size_t column) const;

  uint64_t rows() const { return rows_; } // that next() gave
  uint64_t line() const { return line_; } // where the row begins, from 1
  /// "FILE:7: ..."
  std::unexpected<Error> wrong(std::string_view what) const;

 private:
  CsvReader(TextSource source, CsvComments comments) : source_(std::move(source)), comments_(comments) {}
  Result<int> peek();
  Status pass_byte_order_mark();
  Status pass_line();
  Result<bool> pass_to_row();
  Result<bool> read_row();
  Status read_field(std::string& field);
  Status read_quoted(std::string& field);
  Status add(std::string& field, char c);
  void take();

  TextSource source_;
  CsvComments comments_;
  std::string_view piece_;
  size_t at_ = 0;
  bool ended_ = false;
  uint64_t next_line_ = 1, line_ = 1, header_line_ = 1, rows_ = 0;
  size_t row_bytes_ = 0;
  std::vector<std::string> header_, row_;
};

/// The same but for the case of ASCII letters.
bool same_word(std::string_view a, std::string_view b);

// --- tables of known columns

/// The columns a table has to have, and those it may have besides, in any order.
struct CsvColumns {
  std::span<const std::string_view> needed, optional;
};

struct CsvRow {
  uint64_t line = 0;               // in the file, from 1
  std::vector<std::string> fields; // of the needed columns, then of the optional; empty where there is none
};

/// The rows of a table, with '#' before comments. BadInput: "<name>:<line>: ..." for a column that is
/// missing, unknown or there twice, and for what CsvReader refuses.
Result<std::vector<CsvRow>> parse_csv(std::string_view text, std::string_view name, const CsvColumns&);

/// A field that must be a finite number. BadInput: "<place>: <column>: ...".
Result<double> csv_number(std::string_view field, std::string_view place, std::string_view column);

} // namespace asmevo
