#include "search/observed_function.h"

#include "emulator/conformance/snippet.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numbers>

namespace asmevo::search {

using emulator::conformance::Snippet;
using Kind = Function::Kind;

namespace {

constexpr unsigned lanes = emulator::lanes;
using Lanes = std::array<float, lanes>;

struct Observation {
  Lanes x{}, y{};
};

// Moderate arguments of both signs, 1, -1, 4 and 16 among them: 2^(k/6 - 6) for k = 0 to 59 or so.
Lanes moderate_arguments() {
  Lanes x{};
  for (unsigned n = 0; n < lanes; ++n) {
    const double size = std::exp2(static_cast<double>(n / 2) / 3.0 - 6.0);
    x[n] = static_cast<float>(n % 2 == 0 ? size : -size);
  }
  return x;
}

// Positive ones of all sizes, powers of two (even ones) among them.
Lanes positive_arguments() {
  Lanes x{};
  for (unsigned n = 0; n < lanes; ++n)
    x[n] = static_cast<float>(std::exp2(2.0 * static_cast<double>(n) - 64.0) * (n % 3 == 1 ? 1.37 : 1.0));
  return x;
}

bool start(Snippet& s, const Experiment& e) {
  s.wave().set_mode(e.mode);
  const auto set = [&](isa::RegUnit unit, uint32_t value) {
    if (isa::is_vgpr(unit))
      for (unsigned n = 0; n < lanes; ++n) s.v(unit, n) = value;
    else if (unit >= isa::unit::scalar0 && unit <= isa::unit::scc)
      s.s(unit - isa::unit::scalar0) = value;
    else
      return false;
    return true;
  };
  return std::ranges::all_of(e.constants, [&](const auto& c) { return set(c.unit, c.value); });
}

constexpr uint64_t step_limit = 2000;

// One run with an argument in each lane; or, where the argument is scalar, a run for each.
bool run(const Experiment& e, Observation& o) {
  const bool scalar = !isa::is_vgpr(e.argument);
  for (unsigned turn = 0; turn < (scalar ? lanes : 1); ++turn) {
    auto s = Snippet::from_words(e.target, e.words);
    if (!s || !start(*s, e)) return false;
    if (scalar)
      s->s(e.argument - isa::unit::scalar0) = std::bit_cast<uint32_t>(o.x[turn]);
    else
      for (unsigned n = 0; n < lanes; ++n) s->v(e.argument, n) = std::bit_cast<uint32_t>(o.x[n]);
    s->run(step_limit);
    if (s->wave().fault) return false;
    for (unsigned n = 0; n < lanes; ++n)
      if (!scalar || n == turn) o.y[n] = std::bit_cast<float>(s->v(e.result, n));
  }
  return true;
}

bool close(double is, double should, double relative, double absolute = 0) {
  return std::abs(is - should) <= relative * std::abs(should) + absolute;
}

// Whether all that `counts` agree with f, and there are enough of them.
bool agrees(
    const Observation& o, const std::function<double(double)>& f, double relative, double absolute,
    const std::function<bool(double)>& counts = [](double) { return true; }) {
  unsigned seen = 0;
  for (unsigned n = 0; n < lanes; ++n) {
    if (!counts(o.x[n])) continue;
    ++seen;
    if (!close(o.y[n], f(o.x[n]), relative, absolute)) return false; // NaN is close to nothing
  }
  return seen >= lanes / 4;
}

double value_at(const Observation& o, float x) {
  for (unsigned n = 0; n < lanes; ++n)
    if (o.x[n] == x) return o.y[n];
  return NAN;
}

// The factor as code has it, if it is one that code usually has.
float usual_factor(double c) {
  for (const double usual : {1.0, std::numbers::log2e, std::numbers::ln2, std::log10(2.0), std::log2(10.0)})
    for (const double factor : {usual, 2 * usual, usual / 2})
      if (close(std::abs(c), factor, 3e-7)) return static_cast<float>(c < 0 ? -factor : factor);
  return static_cast<float>(c);
}

std::optional<Function> as_exponential(const Observation& moderate) {
  // The largest argument whose power is no overflow tells the factor best.
  double c = std::log2(value_at(moderate, 1.0F));
  if (!std::isfinite(c) || std::abs(c) < 1e-3 || std::abs(c) > 100) return std::nullopt;
  for (const float x : {4.0F, 16.0F})
    if (std::abs(c * x) < 100) c = std::log2(value_at(moderate, x)) / x;
  if (!std::isfinite(c)) return std::nullopt;
  const Function f{Kind::Exp2, usual_factor(c)};
  constexpr double in_range = 120; // beyond are denormals and infinities
  const auto counts = [&](double x) { return std::abs(f.c * x) < in_range; };
  if (!agrees(moderate, [&](double x) { return std::exp2(f.c * x); }, 2e-5, 0, counts)) return std::nullopt;
  return f;
}

std::optional<Function> as_power(const Observation& positive, const Observation& moderate) {
  const double one = value_at(positive, 1.0F), four = value_at(positive, 64.0F);
  if (!std::isfinite(one) || one == 0) return std::nullopt;
  const double power = std::log2(four / one) / 6;
  const std::pair<Kind, double> powers[] = {{Kind::Sqrt, 0.5}, {Kind::Rsqrt, -0.5}, {Kind::Reciprocal, -1}};
  for (const auto& [kind, p] : powers) {
    if (!close(power, p, 1e-5)) continue;
    const Function f{kind, usual_factor(one)};
    if (!agrees(positive, [&](double x) { return f.c * std::pow(x, p); }, 5e-6, 0)) return std::nullopt;
    if (kind == Kind::Reciprocal && !agrees(moderate, [&](double x) { return f.c / x; }, 5e-6, 0))
      return std::nullopt;
    return f;
  }
  return std::nullopt;
}

std::optional<Function> as_logarithm(const Observation& positive) {
  const double c = value_at(positive, 64.0F) / 6;
  if (!std::isfinite(c) || std::abs(c) < 1e-3) return std::nullopt;
  const Function f{Kind::Log2, usual_factor(c)};
  if (!agrees(positive, [&](double x) { return f.c * std::log2(x); }, 5e-6, 1e-6)) return std::nullopt;
  return f;
}

std::optional<Function> as_special(const Observation& positive, const Observation& moderate) {
  struct Special {
    Kind kind;
    double (*f)(double);
  };
  static constexpr Special specials[] = {
      {Kind::Tanh, [](double x) { return std::tanh(x); }},
      {Kind::TanhAbs, [](double x) { return std::tanh(std::abs(x)); }},
      {Kind::Erf, [](double x) { return std::erf(x); }},
      {Kind::ErfAbs, [](double x) { return std::erf(std::abs(x)); }},
      {Kind::Log1p, [](double x) { return std::log1p(x); }},
  };
  for (const Special& s : specials) {
    const auto counts = [&](double x) { return s.kind != Kind::Log1p || x > -0.9; };
    if (agrees(moderate, s.f, 1e-4, 1e-7, counts) && agrees(positive, s.f, 1e-4, 1e-7))
      return Function{s.kind};
  }
  return std::nullopt;
}

} // namespace

std::string Function::text() const {
  switch (kind) {
  case Kind::Exp2: return fmt::format("2^({} x)", c);
  case Kind::Log2: return fmt::format("{} log2(x)", c);
  case Kind::Sqrt: return fmt::format("{} sqrt(x)", c);
  case Kind::Rsqrt: return fmt::format("{} / sqrt(x)", c);
  case Kind::Reciprocal: return fmt::format("{} / x", c);
  case Kind::Tanh: return "tanh(x)";
  case Kind::TanhAbs: return "tanh(|x|)";
  case Kind::Erf: return "erf(x)";
  case Kind::ErfAbs: return "erf(|x|)";
  case Kind::Log1p: return "log(1 + x)";
  }
  return "";
}

std::optional<Function> observe(const Experiment& e) {
  Observation moderate{moderate_arguments(), {}}, positive{positive_arguments(), {}};
  if (!run(e, moderate)) return std::nullopt;
  if (auto f = as_exponential(moderate)) return f;
  if (!run(e, positive)) return std::nullopt;
  if (auto f = as_power(positive, moderate)) return f;
  if (auto f = as_logarithm(positive)) return f;
  return as_special(positive, moderate);
}

} // namespace asmevo::search
