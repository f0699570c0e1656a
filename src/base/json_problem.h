// Why a text is no JSON, for people.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace asmevo {

/// "line 3, column 17: syntax error while parsing ...", of a text that does not parse; else empty.
inline std::string json_problem(std::string_view text) {
  struct Reader : nlohmann::json_sax<nlohmann::json> {
    std::string problem;
    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_object(std::size_t) override { return true; }
    bool key(string_t&) override { return true; }
    bool end_object() override { return true; }
    bool start_array(std::size_t) override { return true; }
    bool end_array() override { return true; }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
      problem = e.what();
      return false;
    }
  } reader;
  nlohmann::json::sax_parse(text, &reader);
  // "[json.exception.parse_error.101] parse error at line 3, column 17: ..."
  constexpr std::string_view in_front = " at ";
  if (const size_t at = reader.problem.find(in_front); at != std::string::npos)
    return reader.problem.substr(at + in_front.size());
  return reader.problem;
}

} // namespace asmevo
