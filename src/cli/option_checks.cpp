#include "cli/option_checks.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace asmevo::cli {

namespace {

constexpr unsigned most_threads = 1024;

// The checks return what is wrong, in the parser's way; empty: nothing.

std::string check_not_empty(const std::string& text) {
  return text.empty() ? "needs a value that is not empty" : "";
}

// Decimal, or hexadecimal with 0x. The parser reads 010 as 8.
std::string check_whole(const std::string& text) {
  std::string_view digits = text;
  const bool hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (hex) digits.remove_prefix(2);
  uint64_t value = 0;
  const char *const begin = digits.data(), *const end = begin + digits.size();
  const auto parsed = std::from_chars(begin, end, value, hex ? 16 : 10);
  const bool octal = !hex && digits.size() > 1 && digits.starts_with('0');
  if (!digits.empty() && parsed.ec == std::errc{} && parsed.ptr == end && !octal) return "";
  return fmt::format("'{}' is no whole number from 0 to 2^64 - 1", text);
}

std::string check_amount(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end == text.c_str() + text.size() && std::isfinite(value) && value >= 0
             ? ""
             : fmt::format("'{}' is no finite number from 0 on", text);
}

std::string check_threads(const std::string& text) {
  const bool many = std::strtoull(text.c_str(), nullptr, 0) > most_threads;
  return many ? fmt::format("{} threads are the most", most_threads) : "";
}

std::string check_not_zero(const std::string& text) {
  return std::strtoull(text.c_str(), nullptr, 0) == 0 ? "needs at least 1" : "";
}

void add_checks(CLI::Option& option) {
  // What the parser shows in the help: "UINT:INT in [1 - 1000]".
  const std::string type = option.get_type_name();
  option.check(check_not_empty, "");
  if (type.starts_with("UINT")) option.check(check_whole, "");
  if (type.starts_with("FLOAT")) option.check(check_amount, "");
  if (option.check_lname("threads")) option.check(check_threads, "");
  if (option.check_lname("max-steps")) option.check(check_not_zero, "");
}

} // namespace

void refuse_senseless_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options())
    if (option->get_items_expected_max() > 0) add_checks(*option);
  const auto all = [](const CLI::App*) { return true; };
  for (CLI::App* verb : app.get_subcommands(all))
    refuse_senseless_values(*verb); // bench's have some of their own
}

} // namespace asmevo::cli
