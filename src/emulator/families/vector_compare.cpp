// VOPC: comparisons and class tests of all types. A v_cmp writes a mask to SDST or VCC, a v_cmpx to EXEC as
// well.
#include "emulator/lanes.h"

#include <bit>

namespace asmevo::emulator {

namespace {

// What two values are to each other; NaNs are unordered.
enum Relation : unsigned { less = 1, equal = 2, greater = 4, unordered = 8, all_relations = 15 };

// The host compares float and double as the hardware does, denormal inputs included.
template <class T, unsigned relations>
bool holds(T a, T b) {
  constexpr unsigned ordered = relations & (less | equal | greater);
  constexpr bool or_unordered = (relations & unordered) != 0;
  if constexpr (ordered == 0)
    return or_unordered && (a != a || b != b);
  else if constexpr (ordered == (less | equal | greater))
    return or_unordered || (a == a && b == b);
  else if constexpr (or_unordered)
    return !holds<T, all_relations & ~relations>(a, b);
  else if constexpr (ordered == less)
    return a < b;
  else if constexpr (ordered == equal)
    return a == b;
  else if constexpr (ordered == (less | equal))
    return a <= b;
  else if constexpr (ordered == greater)
    return a > b;
  else if constexpr (ordered == (greater | equal))
    return a >= b;
  else
    return (a < b) | (a > b);
}

// f16 by its bits: as integers of sign and magnitude they are in the right order, and both zeros are 0.
template <unsigned relations>
bool holds_half(const FloatMode& mode, Half a, Half b) {
  const uint32_t smallest = mode.keeps_input_denormals64() ? 0 : 0x400;
  const auto magnitude = [&](Half h) {
    const uint32_t m = h.bits & 0x7fffU;
    return static_cast<int32_t>(m < smallest ? 0 : m);
  };
  const int32_t ma = magnitude(a), mb = magnitude(b);
  const int32_t x = (a.bits & 0x8000) != 0 ? -ma : ma, y = (b.bits & 0x8000) != 0 ? -mb : mb;
  const bool nan = (ma > 0x7c00) | (mb > 0x7c00);
  const bool ordered = holds<int32_t, relations & ~static_cast<unsigned>(unordered)>(x, y);
  return (relations & unordered) != 0 ? nan | ordered : !nan & ordered;
}

// v_cmp_class: bits of the mask are signalling NaN, quiet NaN, then negative infinity, normal, denormal,
// zero, and the same for positive ones from zero up to infinity. Denormals are denormals whatever MODE says.
template <class Bits, unsigned fraction_bits>
bool in_class(Bits value, uint32_t classes) {
  constexpr Bits sign = Bits{1} << (sizeof(Bits) * 8 - 1), quiet = Bits{1} << (fraction_bits - 1);
  constexpr Bits smallest_normal = Bits{1} << fraction_bits;
  constexpr Bits infinity = static_cast<Bits>(~sign & ~(smallest_normal - 1));
  const auto magnitude = static_cast<Bits>(value & ~sign);
  const bool negative = (value & sign) != 0;
  const unsigned nan_bit = (value & quiet) != 0 ? 1 : 0;
  const unsigned distance = magnitude == infinity          ? 0
                            : magnitude >= smallest_normal ? 1
                            : magnitude != 0               ? 2
                                                           : 3;
  const unsigned number_bit = negative ? 2 + distance : 9 - distance;
  return (classes >> (magnitude > infinity ? nan_bit : number_bit) & 1) != 0;
}

template <class T, unsigned relations>
constexpr Handler compare_handler() {
  if constexpr (std::is_same_v<T, Half>)
    return compare<holds_half<relations>>;
  else
    return compare<holds<T, relations>>;
}
template <class T, unsigned relations>
constexpr Handler compare_exec_handler() {
  if constexpr (std::is_same_v<T, Half>)
    return compare_exec<holds_half<relations>>;
  else
    return compare_exec<holds<T, relations>>;
}

// The names of one comparison, then all that a type has. A type's names differ only in their last part.
#define BOTH(name, type, relations)                                                                          \
  {"v_cmp_" name, compare_handler<type, relations>()}, {                                                     \
    "v_cmpx_" name, compare_exec_handler<type, relations>()                                                  \
  }
#define INTEGER_COMPARISONS(suffix, type)                                                                    \
  BOTH("f_" suffix, type, 0), BOTH("lt_" suffix, type, less), BOTH("eq_" suffix, type, equal),               \
      BOTH("le_" suffix, type, less | equal), BOTH("gt_" suffix, type, greater),                             \
      BOTH("ne_" suffix, type, less | greater), BOTH("ge_" suffix, type, greater | equal),                   \
      BOTH("t_" suffix, type, all_relations)
#define FLOAT_COMPARISONS(suffix, type)                                                                      \
  BOTH("f_" suffix, type, 0), BOTH("lt_" suffix, type, less), BOTH("eq_" suffix, type, equal),               \
      BOTH("le_" suffix, type, less | equal), BOTH("gt_" suffix, type, greater),                             \
      BOTH("lg_" suffix, type, less | greater), BOTH("ge_" suffix, type, greater | equal),                   \
      BOTH("o_" suffix, type, less | equal | greater), BOTH("u_" suffix, type, unordered),                   \
      BOTH("nge_" suffix, type, less | unordered), BOTH("nlg_" suffix, type, equal | unordered),             \
      BOTH("ngt_" suffix, type, less | equal | unordered), BOTH("nle_" suffix, type, greater | unordered),   \
      BOTH("neq_" suffix, type, less | greater | unordered),                                                 \
      BOTH("nlt_" suffix, type, greater | equal | unordered), BOTH("tru_" suffix, type, all_relations)

constexpr OpcodeRow rows[] = {
    INTEGER_COMPARISONS("i16", int16_t),
    INTEGER_COMPARISONS("u16", uint16_t),
    INTEGER_COMPARISONS("i32", int32_t),
    INTEGER_COMPARISONS("u32", uint32_t),
    INTEGER_COMPARISONS("i64", int64_t),
    INTEGER_COMPARISONS("u64", uint64_t),
    FLOAT_COMPARISONS("f16", Half),
    FLOAT_COMPARISONS("f32", float),
    FLOAT_COMPARISONS("f64", double),
    {"v_cmp_class_f16", compare<in_class<uint16_t, 10>>},
    {"v_cmp_class_f32", compare<in_class<uint32_t, 23>>},
    {"v_cmp_class_f64", compare<in_class<uint64_t, 52>>},
    {"v_cmpx_class_f16", compare_exec<in_class<uint16_t, 10>>},
    {"v_cmpx_class_f32", compare_exec<in_class<uint32_t, 23>>},
    {"v_cmpx_class_f64", compare_exec<in_class<uint64_t, 52>>},
};

#undef FLOAT_COMPARISONS
#undef INTEGER_COMPARISONS
#undef BOTH

} // namespace

OpcodeRows vector_compare_rows() {
  return rows;
}

} // namespace asmevo::emulator
