#include "oracle/buffer_init.h"

#include "base/random.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace asmevo::oracle {

namespace {

uint64_t low_bits(unsigned count) {
  return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

// [0, 1)
double unit(uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

// Uniform in [0, bound), bound 0 standing for 2^64.
uint64_t below(uint64_t bits, uint64_t bound) {
  if (bound == 0) return bits;
  return static_cast<uint64_t>((__extension__ static_cast<unsigned __int128>(bits) * bound) >> 64);
}

uint64_t any_magnitude(const Init& init, const ElementType& t, uint64_t index) {
  const uint64_t bits = random_bits(init.seed, index);
  const auto span = static_cast<uint64_t>(init.exponent_second - init.exponent_first);
  const int exponent = static_cast<int>((bits & 0xffff) * span >> 16) + init.exponent_first;
  const double size = std::ldexp(1 + unit(bits), exponent);
  return encode(t, (bits >> 16 & 1) != 0 ? -size : size);
}

// The sum of twelve numbers uniform in [0, 1) has variance 1. Unlike a logarithm and a cosine it comes out
// the same on every machine, and it has no far outliers.
double normal(uint64_t seed, uint64_t index) {
  uint64_t sum = 0;
  for (uint64_t part = 0; part < 3; ++part) {
    const uint64_t bits = random_bits(seed, index * 3 + part);
    sum += (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
  }
  return (static_cast<double>(sum) + 6) / 65536 - 6;
}

// A Feistel network is a permutation of the numbers of an even count of bits whatever its round function;
// those that land beyond `size` go round again until they are inside (less than four times on average).
uint64_t shuffled(uint64_t seed, uint64_t at, uint64_t size) {
  if (size <= 1) return 0;
  const unsigned half = (static_cast<unsigned>(std::bit_width(size - 1)) + 1) / 2;
  const uint64_t mask = low_bits(half);
  do {
    uint64_t left = at >> half, right = at & mask;
    for (uint64_t round = 0; round < 4; ++round) {
      const uint64_t next = left ^ (random_bits(seed + round, right) & mask);
      left = right;
      right = next;
    }
    at = left << half | right;
  } while (at >= size);
  return at;
}

uint64_t whole_code(const ElementType& t, int64_t value) {
  return t.is_integer() ? static_cast<uint64_t>(value) & low_bits(t.bits)
                        : encode(t, static_cast<double>(value));
}

uint64_t sequence(const Init& init, const ElementType& t, uint64_t index) {
  if (init.third != 0) index %= init.third;
  if (t.is_integer()) // modulo 2^64, as the elements are
    return (static_cast<uint64_t>(init.whole_first) + static_cast<uint64_t>(init.whole_second) * index) &
           low_bits(t.bits);
  return encode(t, init.first + init.second * static_cast<double>(index));
}

// Opaque elements of several bytes are filled byte by byte: their code would not fit in 64 bits.
Layout as_bytes_of(const Layout& l) {
  return *Layout::make(*element_type("opaque"), {l.bytes()}); // no larger than l
}

// Places of whole bytes are copied; others are put together bit by bit, and clipped to the range asked for.
class Writer {
 public:
  Writer(std::span<uint8_t> into, uint64_t offset, unsigned bits)
      : into_(into), first_bit_(offset * 8), bits_(bits) {}

  void put(uint64_t place, uint64_t code) const {
    const uint64_t at = place * bits_; // in bits of the buffer
    if (bits_ % 8 == 0 && at >= first_bit_ && at - first_bit_ + bits_ <= into_.size() * 8) {
      std::memcpy(into_.data() + (at - first_bit_) / 8, &code, bits_ / 8);
      return;
    }
    for (unsigned b = 0; b < bits_; ++b) {
      const uint64_t bit = at + b;
      if (bit < first_bit_ || bit - first_bit_ >= into_.size() * 8) continue;
      uint8_t& byte = into_[(bit - first_bit_) / 8];
      const auto mask = static_cast<uint8_t>(1U << (bit % 8));
      byte = static_cast<uint8_t>((code >> b & 1) != 0 ? byte | mask : byte & ~mask);
    }
  }

 private:
  std::span<uint8_t> into_;
  uint64_t first_bit_;
  unsigned bits_;
};

void fill_from_bytes(const Init& init, uint64_t offset, std::span<uint8_t> into) {
  if (offset >= init.bytes.size()) return;
  std::memcpy(into.data(), init.bytes.data() + offset,
              std::min<uint64_t>(into.size(), init.bytes.size() - offset));
}

uint64_t plain_code(const Init& init, const Layout& layout, uint64_t index) {
  const ElementType& t = layout.type();
  if (init.exponent_first != init.exponent_second) return any_magnitude(init, t, index);
  switch (init.kind) {
  case InitKind::Poison: return poison_byte(t) * 0x0101010101010101U & low_bits(t.bits);
  case InitKind::Constant: return t.is_integer() ? whole_code(t, init.whole_first) : encode(t, init.first);
  case InitKind::Uniform:
    return encode(t, init.first + (init.second - init.first) * unit(random_bits(init.seed, index)));
  case InitKind::Normal: return encode(t, init.first + init.second * normal(init.seed, index));
  case InitKind::Integers: {
    const uint64_t span =
        static_cast<uint64_t>(init.whole_second) - static_cast<uint64_t>(init.whole_first) + 1;
    const uint64_t drawn = below(random_bits(init.seed, index), span);
    return whole_code(t, static_cast<int64_t>(static_cast<uint64_t>(init.whole_first) + drawn));
  }
  case InitKind::Sequence: return sequence(init, t, index);
  case InitKind::OneHot: {
    const uint64_t row = index / layout.row();
    const bool hot = below(random_bits(init.seed, row), layout.row()) == index % layout.row();
    if (!hot) return 0;
    return t.is_integer() ? whole_code(t, init.whole_first) : encode(t, init.first);
  }
  case InitKind::Permutation: {
    const uint64_t row = index / layout.row();
    return whole_code(
        t, static_cast<int64_t>(shuffled(random_bits(init.seed, row), index % layout.row(), layout.row())));
  }
  case InitKind::RandomBits: return random_bits(init.seed, index) & low_bits(t.bits);
  case InitKind::Codes: return index < init.codes.size() ? init.codes[index] : 0;
  case InitKind::Bytes: break; // has no elements
  }
  return 0;
}

} // namespace

uint64_t random_bits(uint64_t seed, uint64_t counter) {
  return RandomStream(seed + counter * 0x9e3779b97f4a7c15U).next();
}

uint64_t extreme_code(const ElementType& t, uint64_t choice) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (t.is_integer()) {
    const uint64_t all = low_bits(t.bits), top = uint64_t{1} << (t.bits - 1);
    const bool is_signed = t.kind == ElementType::Kind::Signed;
    const std::array<uint64_t, 5> codes = {is_signed ? all >> 1 : all, is_signed ? top : 0, 0, 1, all};
    return codes[choice % codes.size()];
  }
  const uint64_t signalling = encode(t, infinity) | 1; // NaN without the quiet bit
  if (choice % 9 == 8 && t.specials == ElementType::Specials::Ieee && std::isnan(decode(t, signalling)))
    return signalling;
  const double smallest_normal = std::ldexp(1.0, 1 - t.bias);
  const std::array<double, 8> values = {std::numeric_limits<double>::quiet_NaN(),
                                        infinity,
                                        -infinity,
                                        -0.0,
                                        std::numeric_limits<double>::max(),
                                        std::numeric_limits<double>::lowest(),
                                        smallest_normal,
                                        std::ldexp(smallest_normal, -int{t.mantissa_bits})};
  return encode(t, values[choice % values.size()]);
}

uint64_t init_code(const Init& init, const Layout& layout, uint64_t index) {
  if (init.nan_at == index && layout.type().is_float())
    return encode(layout.type(), std::numeric_limits<double>::quiet_NaN());
  if (init.extremes_every != 0 && !layout.type().is_opaque()) {
    const uint64_t drawn = random_bits(~init.seed, index);
    if (below(drawn, init.extremes_every) == 0) return extreme_code(layout.type(), random_bits(drawn, index));
  }
  if (init.spike_every != 0 && !layout.type().is_opaque()) {
    const uint64_t drawn = random_bits(init.seed ^ 0x5b1ce, index);
    if (below(drawn, init.spike_every) == 0)
      return encode(layout.type(), init.spike_signs && (drawn & 1) != 0 ? -init.spike : init.spike);
  }
  return plain_code(init, layout, index);
}

void fill(const Init& init, const Layout& layout, uint64_t offset, std::span<uint8_t> into) {
  const ElementType& t = layout.type();
  if (t.bits > 64) {
    fill(init, as_bytes_of(layout), offset, into);
    return;
  }
  std::ranges::fill(into, layout.dense() ? poison_byte(t) : canary_byte);
  if (init.kind == InitKind::Poison && layout.dense()) return;
  if (init.kind == InitKind::Bytes) {
    fill_from_bytes(init, offset, into);
    return;
  }
  const Writer writer(into, offset, t.bits);
  const uint64_t first = offset * 8 / t.bits;
  const uint64_t end = std::min(layout.places(), ((offset + into.size()) * 8 + t.bits - 1) / t.bits);
  for (uint64_t place = first; place < end; ++place)
    if (const std::optional<uint64_t> index = layout.index_at(place))
      writer.put(place, init_code(init, layout, *index));
}

} // namespace asmevo::oracle
