// SMFMAC and the f8f6f4 forms of MFMA, whose rounding the emulator assumes to be one rounding of the exact
// sum.
#include "emulator/reference/matrix_exact.h"

#include "emulator/reference/matrix_shape.h"
#include "emulator/reference/vector.h"

namespace asmevo::reference {

using isa::Instruction;
using isa::Operand;
using isa::RegUnit;
using isa::Role;

void ExactSum::add(int64_t digits, int exponent) {
  const bool negative = digits < 0;
  const auto size = static_cast<uint64_t>(negative ? -digits : digits);
  const auto at = static_cast<unsigned>(exponent - least);
  const Wide shifted = Wide{size} << (at % 32);
  uint64_t carry = negative ? 1 : 0; // two's complement: all bits the other way, and one
  for (unsigned n = 0, word = 0; word < words_.size(); ++word) {
    uint32_t part = 0;
    if (word >= at / 32 && n < 4) part = static_cast<uint32_t>(shifted >> (32 * n++));
    if (!negative && carry == 0 && part == 0 && n >= 4) break;
    carry += uint64_t{words_[word]} + (negative ? ~part : part);
    words_[word] = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
}

Real ExactSum::value() const {
  auto words = words_;
  const bool negative = words.back() >> 31 != 0;
  uint64_t carry = 1;
  for (uint32_t& w : words) {
    if (!negative) break;
    carry += static_cast<uint32_t>(~w);
    w = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
  size_t top = words.size();
  while (top > 0 && words[top - 1] == 0) --top;
  if (top == 0) return {};
  Real r{.kind = Real::Kind::Finite, .negative = negative};
  const size_t first = top > 3 ? top - 3 : 0;
  for (size_t n = top; n > first; --n) r.digits = r.digits << 32 | words[n - 1];
  for (size_t n = 0; n < first; ++n)
    if (words[n] != 0) r.digits |= 1;
  r.exponent = least + 32 * static_cast<int>(first);
  return r;
}

ExactDot::ExactDot(uint32_t start) {
  const Real c = unpack(f32, start);
  nan_ = c.nan();
  if (c.infinite()) (c.negative ? minus_ : plus_) = true;
  if (c.kind == Real::Kind::Finite)
    sum_.add(c.negative ? -static_cast<int64_t>(c.digits) : static_cast<int64_t>(c.digits), c.exponent);
}

void ExactDot::add(const Part& a, const Part& b, int fraction_bits, int scale) {
  const bool negative = a.negative != b.negative;
  if (a.kind == Part::Kind::Nan || b.kind == Part::Kind::Nan) {
    nan_ = true;
  } else if (a.kind == Part::Kind::Infinite || b.kind == Part::Kind::Infinite) {
    const bool zero = (a.kind == Part::Kind::Finite && a.significand == 0) ||
                      (b.kind == Part::Kind::Finite && b.significand == 0);
    if (zero) nan_ = true;
    (negative ? minus_ : plus_) = true;
  } else if (a.significand != 0 && b.significand != 0) {
    const int64_t digits = a.significand * b.significand;
    sum_.add(negative ? -digits : digits, a.exponent + b.exponent - fraction_bits + scale);
  }
}

uint32_t ExactDot::result(bool saturates) const {
  if (nan_ || (plus_ && minus_)) return 0x7fc00000;
  if (plus_ || minus_) return minus_ ? 0xff800000 : 0x7f800000;
  return static_cast<uint32_t>(pack(f32, sum_.value(), {.saturates = saturates}));
}

namespace {

// --- SMFMAC: two of four factors of A, an index says which

struct Sparse {
  const Instruction& i;
  const State& state;
  MatrixShape s;

  // Where a value of A stands in dense k.
  unsigned dense_k(unsigned row, unsigned kc, unsigned per_lane) const {
    const unsigned item = kc % per_lane, lane = row + s.m * (kc / per_lane);
    const unsigned bits = 2 * per_lane, sets = 32 / bits;
    const unsigned set = i.mods.cbsz == 0 ? i.mods.abid % sets : 0;
    const uint32_t indices = state.vectors[i.find(Role::Src2)->reg.first][lane];
    return 4 * (kc / 2) + (indices >> (set * bits + 2 * item) & 3);
  }
  uint64_t dense_item(unsigned column, unsigned k) const {
    const RegUnit unit = i.find(Role::Src1)->reg.first;
    const unsigned per_lane = s.k * s.n / lane_count;
    if (i.find(Role::Src1)->reg.count < 8)
      return item_of(state, unit, column + s.n * (k / per_lane), k % per_lane, s.b.bits);
    const unsigned half = per_lane / 2, low = k % (s.k / 2);
    return item_of(state, unit, column + s.n * (low / half), low % half + (k >= s.k / 2 ? half : 0),
                   s.b.bits);
  }
  uint32_t element(unsigned row, unsigned column, uint32_t start) const {
    const bool saturates = Mode{state.mode}.fp16_overflow();
    const unsigned compressed = s.k / 2, per_lane = compressed * s.m / lane_count;
    const bool integer = s.a.kind == MatrixFormat::Kind::I8;
    const RegUnit unit = i.find(Role::Src0)->reg.first;
    ExactDot dot(integer ? 0 : start);
    int64_t total = static_cast<int32_t>(start);
    for (unsigned kc = 0; kc < compressed; ++kc) {
      const uint64_t x = item_of(state, unit, row + s.m * (kc / per_lane), kc % per_lane, s.a.bits);
      const uint64_t y = dense_item(column, dense_k(row, kc, per_lane));
      if (integer)
        total += sign_extended(x, 8) * sign_extended(y, 8);
      else
        dot.add(part_of(s.a, x), part_of(s.b, y), s.a.fraction_bits + s.b.fraction_bits, 0);
    }
    if (!integer) return dot.result(saturates);
    if (saturates) total = total < INT32_MIN ? INT32_MIN : total > INT32_MAX ? INT32_MAX : total;
    return static_cast<uint32_t>(total);
  }
};

// --- f8f6f4

MatrixFormat mixed_format(unsigned code) {
  switch (code) {
  case 0: return {MatrixFormat::Kind::Fp8, 8, 4, 3, 7};
  case 1: return {MatrixFormat::Kind::Bf8, 8, 5, 2, 15};
  case 2: return {MatrixFormat::Kind::Small, 6, 2, 3, 1};
  case 3: return {MatrixFormat::Kind::Small, 6, 3, 2, 3};
  default: return {MatrixFormat::Kind::Small, 4, 2, 1, 1};
  }
}

struct Mixed {
  const Instruction& i;
  const State& state;
  MatrixShape s;
  bool scaled;

  uint64_t factor(Role role, const MatrixFormat& f, unsigned line, unsigned k) const {
    const RegUnit unit = i.find(role)->reg.first;
    const unsigned lines = role == Role::Src0 ? s.m : s.n;
    if (f.bits != 8) return item_of(state, unit, line + lines * (k / 32), k % 32, f.bits);
    const unsigned low = k % (s.k / 2);
    return item_of(state, unit, line + lines * (low / 16), low % 16 + (k >= s.k / 2 ? 16 : 0), 8);
  }
  // E8M0; 255 is NaN.
  unsigned scale(Role role, unsigned line, unsigned k) const {
    if (!scaled) return 127;
    const unsigned source = role == Role::Src3 ? 0 : 1, lines = source == 0 ? s.m : s.n;
    const unsigned byte = (i.mods.op_sel >> source & 1) | (i.mods.op_sel_hi >> source & 1) << 1;
    return state.vectors[i.find(role)->reg.first][line + lines * (k / 32)] >> (8 * byte) & 0xff;
  }
  uint32_t element(unsigned row, unsigned column, uint32_t start) const {
    const MatrixFormat a = mixed_format(i.mods.cbsz), b = mixed_format(i.mods.blgp);
    ExactDot dot(start);
    for (unsigned k = 0; k < s.k; ++k) {
      const unsigned scale_a = scale(Role::Src3, row, k), scale_b = scale(Role::Src4, column, k);
      if (scale_a == 255 || scale_b == 255) dot.make_nan();
      dot.add(part_of(a, factor(Role::Src0, a, row, k)), part_of(b, factor(Role::Src1, b, column, k)),
              a.fraction_bits + b.fraction_bits, static_cast<int>(scale_a + scale_b) - 254);
    }
    return dot.result(Mode{state.mode}.fp16_overflow());
  }
};

template <class Elements>
void run_elements(const Instruction& i, State& state, const Elements& e, bool integer) {
  const MatrixShape& s = e.s;
  const isa::RegRange to = i.find(Role::Vdst)->reg;
  const Operand* third = i.base_mnemonic.starts_with("v_smfmac") ? i.find(Role::Vdst) : i.find(Role::Src2);
  std::vector<uint32_t> results;
  for (unsigned row = 0; row < s.m; ++row)
    for (unsigned column = 0; column < s.n; ++column) {
      const auto [item, lane] = result_place(s, 0, row, column);
      const uint32_t start = third->kind == Operand::Kind::Register
                                 ? state.vectors[third->reg.first + item][lane]
                                 : static_cast<uint32_t>(third->value);
      results.push_back(e.element(row, column, start));
    }
  for (unsigned row = 0; row < s.m; ++row)
    for (unsigned column = 0; column < s.n; ++column) {
      const auto [item, lane] = result_place(s, 0, row, column);
      state.vectors[to.first + item][lane] = results[row * s.n + column];
    }
  for (unsigned d = 0; d < to.count; ++d)
    state.wrote(static_cast<RegUnit>(to.first + d), integer ? Tolerance::None : Tolerance::NanFloat);
}

} // namespace

bool run_exact_matrix(const Instruction& i, State& state) {
  const bool mixed = i.base_mnemonic.ends_with("f8f6f4");
  if (!mixed && !i.base_mnemonic.starts_with("v_smfmac_")) return false;
  const auto shape = matrix_shape(i, state.target);
  if (!shape) return false;
  if (mixed)
    run_elements(i, state, Mixed{i, state, *shape, i.base_mnemonic.starts_with("v_mfma_scale")}, false);
  else
    run_elements(i, state, Sparse{i, state, *shape}, shape->a.kind == MatrixFormat::Kind::I8);
  return true;
}

} // namespace asmevo::reference
