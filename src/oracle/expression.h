// Integer and floating-point expressions of launch specs: "(n + 255) / 256", "1 / sqrt(float(head_size))".
// They refer to the sizes of the launch and to the variables of the loops around them.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace asmevo::oracle {

/// What an expression gives: an integer as long as only integers went in. `/` of two integers cuts off.
using Number = std::variant<int64_t, double>;

/// Sizes and loop variables by name.
using Scope = std::map<std::string, Number, std::less<>>;

/// Knows + - * / % << >> & |, parentheses, decimal and 0x numbers, names of `scope`, and
///   min(a, b, ..)  max(a, b, ..)  ceil_div(a, b)  round_up(a, multiple)  abs(a)  sqrt(a)  float(a)  int(a)
/// BadInput: what does not parse, unknown names, division by zero, results beyond 64 bits, and texts that are
/// too long or nested too deep. Linear work in the length of the text.
Result<Number> evaluate(std::string_view text, const Scope& scope);

/// Where only an integer will do. BadInput: a number with a fraction, or outside [low, high].
Result<int64_t> evaluate_integer(std::string_view text, const Scope& scope, int64_t low, int64_t high);

/// A name that expressions can use: a letter or '_', then letters, digits and '_'; at most 64 characters.
bool is_name(std::string_view text);

} // namespace asmevo::oracle
