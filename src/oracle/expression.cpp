#include "oracle/expression.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

namespace asmevo::oracle {

namespace {

constexpr size_t most_characters = 1000;
constexpr unsigned most_depth = 50;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

double as_double(const Number& n) {
  return std::visit([](auto v) { return static_cast<double>(v); }, n);
}
const int64_t* integer(const Number& n) {
  return std::get_if<int64_t>(&n);
}

std::unexpected<Error> too_large() {
  return bad_input("a result beyond 64 bits");
}

Result<Number> divide(const Number& a, const Number& b, bool remainder) {
  const int64_t *x = integer(a), *y = integer(b);
  if (x == nullptr || y == nullptr) {
    if (as_double(b) == 0) return bad_input("division by zero");
    return remainder ? std::fmod(as_double(a), as_double(b)) : as_double(a) / as_double(b);
  }
  if (*y == 0) return bad_input("division by zero");
  if (*y == -1) { // the smallest integer has no opposite
    if (remainder) return int64_t{0};
    if (*x == std::numeric_limits<int64_t>::min()) return too_large();
  }
  return remainder ? *x % *y : *x / *y;
}

Result<Number> shift_or_mask(std::string_view op, const Number& a, const Number& b) {
  const int64_t *x = integer(a), *y = integer(b);
  if (x == nullptr || y == nullptr) return bad_input("'{}' of a number with a fraction", op);
  if (op == "&") return *x & *y;
  if (op == "|") return *x | *y;
  if (*y < 0 || *y > 62) return bad_input("a shift by {}", *y);
  if (op == ">>") return *x >> *y;
  int64_t shifted = 0;
  if (__builtin_mul_overflow(*x, int64_t{1} << *y, &shifted)) return too_large();
  return shifted;
}

Result<Number> apply(std::string_view op, const Number& a, const Number& b) {
  if (op == "/" || op == "%") return divide(a, b, op == "%");
  if (op == "<<" || op == ">>" || op == "&" || op == "|") return shift_or_mask(op, a, b);
  const int64_t *x = integer(a), *y = integer(b);
  if (x == nullptr || y == nullptr) {
    const double l = as_double(a), r = as_double(b);
    return op == "+" ? l + r : op == "-" ? l - r : l * r;
  }
  int64_t result = 0;
  const bool overflows = op == "+"   ? __builtin_add_overflow(*x, *y, &result)
                         : op == "-" ? __builtin_sub_overflow(*x, *y, &result)
                                     : __builtin_mul_overflow(*x, *y, &result);
  if (overflows) return too_large();
  return result;
}

Result<Number> to_integer(const Number& a) {
  if (integer(a) != nullptr) return a;
  const double value = std::trunc(as_double(a));
  if (!(std::fabs(value) < 0x1p63)) return too_large();
  return static_cast<int64_t>(value);
}

Result<Number> smallest_or_largest(const std::vector<Number>& of, bool largest) {
  Number best = of.front();
  for (const Number& n : of) {
    const bool both = integer(n) != nullptr && integer(best) != nullptr;
    const bool less = both ? *integer(n) < *integer(best) : as_double(n) < as_double(best);
    const bool more = both ? *integer(n) > *integer(best) : as_double(n) > as_double(best);
    if (largest ? more : less) best = n;
  }
  return best;
}

// ceil_div and round_up: of a number that is not negative, by one that is positive.
Result<Number> in_whole(std::string_view name, const Number& a, const Number& b) {
  const int64_t *x = integer(a), *y = integer(b);
  if (x == nullptr || y == nullptr || *x < 0 || *y <= 0)
    return bad_input("{} takes an integer from 0 and one from 1", name);
  const int64_t whole = *x / *y + (*x % *y != 0 ? 1 : 0);
  if (name == "ceil_div") return whole;
  return apply("*", whole, b);
}

Result<Number> call(std::string_view name, const std::vector<Number>& given) {
  const auto takes = [&](size_t count) -> Status {
    if (given.size() == count) return {};
    return bad_input("{} takes {} argument{}", name, count, count == 1 ? "" : "s");
  };
  if (name == "min" || name == "max") return smallest_or_largest(given, name == "max");
  if (name == "ceil_div" || name == "round_up") {
    ASMEVO_CHECK(takes(2));
    return in_whole(name, given[0], given[1]);
  }
  if (name != "abs" && name != "sqrt" && name != "float" && name != "int")
    return bad_input("unknown function '{}'", printable(name));
  ASMEVO_CHECK(takes(1));
  const Number& a = given[0];
  if (name == "int") return to_integer(a);
  if (name == "float") return as_double(a);
  if (name == "abs") return as_double(a) < 0 ? apply("-", int64_t{0}, a) : a;
  if (as_double(a) < 0) return bad_input("sqrt of {}", as_double(a));
  return std::sqrt(as_double(a));
}

// Recursive descent; one function a level of precedence would be five that look the same, so binary() takes
// the level.
class Parser {
 public:
  Parser(std::string_view text, const Scope& scope) : text_(text), scope_(scope) {}

  Result<Number> run() {
    ASMEVO_TRY(Number n, binary(0));
    if (!at_end()) return bad_input("'{}' is left over", printable(text_.substr(at_)));
    return n;
  }

 private:
  // From loosest to tightest.
  static constexpr std::string_view levels[][3] = {
      {"|", "", ""}, {"&", "", ""}, {"<<", ">>", ""}, {"+", "-", ""}, {"*", "/", "%"}};
  static constexpr size_t level_count = std::size(levels);

  bool at_end() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    return at_ == text_.size();
  }
  bool take(std::string_view token) {
    if (token.empty() || at_end() || !text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  std::string_view take_operator(size_t level) {
    for (const std::string_view op : levels[level])
      if (take(op)) return op;
    return {};
  }

  Result<Number> binary(size_t level) {
    if (level == level_count) return unary();
    ASMEVO_TRY(Number left, binary(level + 1));
    for (std::string_view op = take_operator(level); !op.empty(); op = take_operator(level)) {
      ASMEVO_TRY(const Number right, binary(level + 1));
      ASMEVO_TRY(left, apply(op, left, right));
    }
    return left;
  }

  Result<Number> unary() {
    const Nesting inside(depth_);
    if (depth_ > most_depth) return bad_input("nested more than {} deep", most_depth);
    if (!take("-")) return primary();
    ASMEVO_TRY(const Number n, unary());
    return apply("-", int64_t{0}, n);
  }

  Result<Number> primary() {
    if (at_end()) return bad_input("a number is missing at the end");
    if (take("(")) {
      ASMEVO_TRY(Number n, binary(0));
      if (!take(")")) return bad_input("')' is missing");
      return n;
    }
    if (is_digit(text_[at_]) || text_[at_] == '.') return number();
    if (is_letter(text_[at_])) return name();
    return bad_input("'{}' is no number, name or '('", printable(text_.substr(at_, 1)));
  }

  Result<Number> number() {
    const std::string_view rest = text_.substr(at_);
    const bool hex = rest.starts_with("0x");
    size_t length = hex ? 2 : 0;
    while (length < rest.size() &&
           (is_digit(rest[length]) || is_letter(rest[length]) || rest[length] == '.' ||
            (!hex && (rest[length] == '+' || rest[length] == '-') &&
             (rest[length - 1] == 'e' || rest[length - 1] == 'E'))))
      ++length;
    const std::string_view digits = rest.substr(0, length);
    at_ += length;
    const char* const end = digits.data() + digits.size();
    int64_t whole = 0;
    const auto as_integer = std::from_chars(digits.data() + (hex ? 2 : 0), end, whole, hex ? 16 : 10);
    if (as_integer.ec == std::errc{} && as_integer.ptr == end) return whole;
    double value = 0;
    const auto as_number = std::from_chars(digits.data(), end, value);
    if (hex || as_number.ec != std::errc{} || as_number.ptr != end)
      return bad_input("'{}' is no number of 64 bits", printable(digits));
    return value;
  }

  Result<Number> name() {
    size_t length = 1;
    while (at_ + length < text_.size() && (is_letter(text_[at_ + length]) || is_digit(text_[at_ + length])))
      ++length;
    const std::string_view word = text_.substr(at_, length);
    at_ += length;
    if (take("(")) return arguments(word);
    const auto found = scope_.find(word);
    if (found == scope_.end()) return bad_input("unknown name '{}'", printable(word));
    return found->second;
  }

  Result<Number> arguments(std::string_view function) {
    std::vector<Number> given;
    do {
      ASMEVO_TRY(const Number n, binary(0));
      given.push_back(n);
    } while (take(","));
    if (!take(")")) return bad_input("')' is missing");
    return call(function, given);
  }

  struct Nesting {
    explicit Nesting(unsigned& d) : depth(d) { ++depth; }
    ~Nesting() { --depth; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    unsigned& depth;
  };

  std::string_view text_;
  const Scope& scope_;
  size_t at_ = 0;
  unsigned depth_ = 0;
};

} // namespace

Result<Number> evaluate(std::string_view text, const Scope& scope) {
  if (text.size() > most_characters)
    return bad_input("an expression of {} characters; {} are the most", text.size(), most_characters);
  Result<Number> value = Parser(text, scope).run();
  if (!value) return failed(value.error(), fmt::format("expression '{}'", printable(text)));
  if (integer(*value) == nullptr && !std::isfinite(as_double(*value)))
    return bad_input("expression '{}': the result is not finite", printable(text));
  return value;
}

Result<int64_t> evaluate_integer(std::string_view text, const Scope& scope, int64_t low, int64_t high) {
  ASMEVO_TRY(const Number n, evaluate(text, scope));
  const int64_t* value = integer(n);
  if (value == nullptr)
    return bad_input("expression '{}' gives {}; an integer is needed", printable(text), as_double(n));
  if (*value < low || *value > high)
    return bad_input("'{}' is {}; it must be from {} to {}", printable(text), *value, low, high);
  return *value;
}

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > 64 || !is_letter(text[0])) return false;
  for (const char c : text)
    if (!is_letter(c) && !is_digit(c)) return false;
  return true;
}

} // namespace asmevo::oracle
