// Comma-separated tables: a heading, then rows of as many fields. A field in double quotes may hold commas,
// and quotes twice over. Lines that are empty or begin with '#' do not count.
#pragma once

#include "base/result.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace asmevo {

struct CsvRow {
  unsigned line = 0; // in the file, from 1
  std::vector<std::string> fields;
};

/// The rows below a heading that is exactly `heading`. BadInput: "<name>:<line>: ..." for another heading, a
/// row with more or fewer fields, a quote that does not end on its line.
Result<std::vector<CsvRow>> parse_csv(std::string_view text, std::string_view name,
                                      std::span<const std::string_view> heading);

/// A field that must be a finite number. BadInput: "<place>: <column>: ...".
Result<double> csv_number(std::string_view field, std::string_view place, std::string_view column);

} // namespace asmevo
