#include "oracle/input_variants.h"

#include "base/hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace asmevo::oracle {

namespace {

// How far from 0 the numbers of an init are, about; none where it is not a rule for numbers.
std::optional<double> magnitude(const Init& init) {
  switch (init.kind) {
  case InitKind::Constant: return std::abs(init.first);
  case InitKind::Uniform:
  case InitKind::Integers: return std::max(std::abs(init.first), std::abs(init.second));
  case InitKind::Normal: return std::abs(init.first) + 2 * std::abs(init.second);
  case InitKind::Sequence: return std::abs(init.first) + std::abs(init.second);
  default: return std::nullopt;
  }
}

bool has_both_signs(const Init& init) {
  if (init.kind == InitKind::Normal) return std::abs(init.first) < init.second;
  const bool range = init.kind == InitKind::Uniform || init.kind == InitKind::Integers;
  return range && init.first < 0 && init.second > 0;
}

void make_uniform(Init& init, double bound) {
  init.kind = InitKind::Uniform;
  init.first = -bound;
  init.second = bound;
}

// About 16 a row, so that a row without any of them is rare and each is a good part of its sum.
void make_spikes(Init& init, double size, const Layout& layout) {
  init.spike_signs = has_both_signs(init);
  init.spike = 8 * size;
  init.spike_every = std::max<uint64_t>(8, layout.row() / 16);
  make_uniform(init, size / 256);
  if (!init.spike_signs) init.first = 0;
}

// Not in every row: one NaN makes everything that is added up with it NaN. By chance alone a buffer of few
// rows would hardly ever have one, let alone where a row's or the buffer's last elements take a path of their
// own. So one NaN is put there; and in one case of four there are many, for what does not add up.
void make_boundary(Init& init, const Layout& layout, uint64_t seed) {
  constexpr uint64_t many = 16;
  init.extremes_every = std::max(many, 4 * layout.row());
  const uint64_t count = layout.count();
  if (count == 0) return;
  switch (seed % 4) {
  case 0: init.extremes_every = many; break;
  case 1: init.nan_at = random_bits(init.seed, count) % count; break;
  case 2: init.nan_at = 0; break;
  default: init.nan_at = count - 1;
  }
}

// What a comparison with tolerance sees is what is not far smaller than the rest: so one band of magnitudes
// after the other, and now and then those that functions like exp make something of.
void make_magnitudes(Init& init, const ElementType& type, uint64_t seed) {
  constexpr uint64_t bands = 7, one_in = 5, seeds_of_a_set = 1'000'000;
  const uint64_t which = seed % seeds_of_a_set + seed / seeds_of_a_set * one_in;
  if (which % one_in == 0) {
    constexpr int moderate = 6;
    init.exponent_first = -std::min<int>(moderate, type.bias);
    init.exponent_second = -init.exponent_first;
    return;
  }
  const auto band = static_cast<int>(which % bands);
  init.exponent_first = 1 - type.bias + band * 2 * type.bias / static_cast<int>(bands);
  init.exponent_second =
      std::max(init.exponent_first + 1, 1 - type.bias + (band + 1) * 2 * type.bias / static_cast<int>(bands));
}

bool apply_to_float(InputVariant variant, Init& init, const ElementType& type, const Layout& layout,
                    uint64_t seed) {
  const std::optional<double> size = magnitude(init);
  if (!size || type.specials == ElementType::Specials::Scale) return false;
  switch (variant) {
  case InputVariant::AsGiven: return false;
  case InputVariant::Signed:
    if (has_both_signs(init)) return false;
    make_uniform(init, *size == 0 ? 1 : *size);
    return true;
  case InputVariant::FewValues:
    init.kind = InitKind::Integers;
    init.first = -1, init.second = 2;
    init.whole_first = -1, init.whole_second = 2;
    return true;
  case InputVariant::Zeros:
    init.kind = InitKind::Constant;
    init.first = 0;
    return true;
  case InputVariant::Small: make_uniform(init, std::ldexp(2.0, 1 - type.bias)); return true;
  case InputVariant::Large:
    init.first *= 64, init.second *= 64;
    if (init.kind == InitKind::Integers) make_uniform(init, 64 * *size);
    return true;
  case InputVariant::Spikes: make_spikes(init, *size == 0 ? 1 : *size, layout); return true;
  case InputVariant::Negative:
    init.kind = InitKind::Uniform;
    init.first = -64 * (*size == 0 ? 1 : *size), init.second = init.first / 2;
    return true;
  case InputVariant::Empty: {
    // As large as goes: in narrow types only what does not overflow at once.
    const double times = type.bits >= 32 ? 0x1p100 : 64;
    make_uniform(init, times * (*size == 0 ? 1 : *size));
    return true;
  }
  case InputVariant::Boundary: make_boundary(init, layout, seed); return true;
  case InputVariant::Extremes: init.extremes_every = 1; return true;
  case InputVariant::Magnitudes: make_magnitudes(init, type, seed); return true;
  }
  return false;
}

bool apply_to_integer(InputVariant variant, Init& init) {
  if (init.kind != InitKind::Integers) {
    // Without a range nobody knows what is an index and what a number: extremes, and K0 says whether it can.
    if (!wants_specials(variant) || !magnitude(init)) return false;
    init.extremes_every = 8;
    return true;
  }
  constexpr int64_t few = 2;
  switch (variant) {
  case InputVariant::FewValues:
    if (init.whole_second - init.whole_first <= few) return false;
    init.whole_second = init.whole_first + few;
    return true;
  case InputVariant::Zeros: init.whole_second = init.whole_first; return true;
  case InputVariant::Spikes:
    init.spike = static_cast<double>(init.whole_second);
    init.spike_every = 8;
    init.whole_second = init.whole_first;
    return true;
  case InputVariant::Boundary:
  case InputVariant::Extremes: init.extremes_every = 8; return true;
  default: return false;
  }
}

// Numbers as an earlier run may have left them: who reads an output before writing it should not only meet
// NaNs.
void make_stale(PlannedBuffer& b) {
  const ElementType& type = b.layout.type();
  if (b.init.kind != InitKind::Poison && b.init.kind != InitKind::Constant) return;
  b.init.seed = hash64(as_bytes(b.name));
  if (type.is_float() && type.specials != ElementType::Specials::Scale) make_uniform(b.init, 8);
  if (type.is_integer()) {
    b.init.kind = InitKind::Integers;
    b.init.whole_first = 0, b.init.whole_second = 100;
  }
}

// Floats that the launch file gives as numbers.
bool change_scalars(InputVariant variant, std::vector<ArgumentSpec>& arguments) {
  if (variant != InputVariant::Negative && variant != InputVariant::Empty) return false;
  bool changed = false;
  for (ArgumentSpec& a : arguments) {
    const std::string& text = a.value.text;
    double value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (a.kind != ArgumentSpec::Kind::Scalar || (a.dtype != "f32" && a.dtype != "f64") ||
        parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size() || value == 0)
      continue;
    value *= variant == InputVariant::Negative ? -1 : 0x1p90;
    a.value.text = fmt::format("{:.17g}", value);
    changed = true;
  }
  return changed;
}

bool change_scalars(InputVariant variant, std::vector<StepSpec>& steps) {
  bool changed = false;
  for (StepSpec& s : steps) {
    if (s.arguments) changed |= change_scalars(variant, *s.arguments);
    changed |= change_scalars(variant, s.steps);
  }
  return changed;
}

bool is_made_input(const PlannedBuffer& b) {
  return !b.alias && b.pointers.empty() && b.role != Role::Workspace && b.role != Role::Out;
}

const PlannedBuffer* largest_float_input(const LaunchPlan& plan) {
  const PlannedBuffer* largest = nullptr;
  for (const PlannedBuffer& b : plan.buffers)
    if (is_made_input(b) && b.layout.type().is_float() && magnitude(b.init) &&
        (largest == nullptr || b.layout.count() > largest->layout.count()))
      largest = &b;
  return largest;
}

} // namespace

std::string_view name(InputVariant variant) {
  constexpr std::array<std::string_view, 12> names = {
      "as given", "both signs", "few values", "zeros",           "small",    "large",
      "spikes",   "negative",   "empty",      "boundary values", "extremes", "magnitudes"};
  return names[static_cast<size_t>(variant)];
}

const std::vector<InputVariant>& other_variants() {
  static const std::vector<InputVariant> all = {
      InputVariant::Signed,   InputVariant::FewValues, InputVariant::Zeros,    InputVariant::Small,
      InputVariant::Large,    InputVariant::Spikes,    InputVariant::Negative, InputVariant::Empty,
      InputVariant::Boundary, InputVariant::Magnitudes};
  return all;
}

bool wants_specials(InputVariant variant) {
  return variant == InputVariant::AsGiven || variant == InputVariant::Boundary ||
         variant == InputVariant::Extremes || variant == InputVariant::Magnitudes;
}

void fill_unwritten(LaunchPlan& plan) {
  for (PlannedBuffer& b : plan.buffers)
    if ((b.role == Role::Out || b.role == Role::Workspace) && b.init.kind == InitKind::Poison && !b.alias)
      make_stale(b);
}

bool apply(InputVariant variant, LaunchPlan& plan) {
  bool changed = false;
  const PlannedBuffer* const largest = variant == InputVariant::Empty ? largest_float_input(plan) : nullptr;
  changed |= change_scalars(variant, plan.spec.arguments);
  changed |= change_scalars(variant, plan.spec.steps);
  for (PlannedBuffer& b : plan.buffers) {
    const ElementType& type = b.layout.type();
    if (b.role == Role::Out && variant != InputVariant::AsGiven && !b.alias && b.pointers.empty())
      make_stale(b);
    if (!is_made_input(b)) continue;
    if (type.is_float())
      changed |=
          apply_to_float(&b == largest ? InputVariant::Zeros : variant, b.init, type, b.layout, plan.seed);
    if (type.is_integer()) changed |= apply_to_integer(variant, b.init);
  }
  return changed;
}

} // namespace asmevo::oracle
