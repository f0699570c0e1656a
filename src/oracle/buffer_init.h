// First contents of buffers. Every element is worked out from the seed and its own index alone, so any page
// of a buffer of many gigabytes can be filled when it is first touched, in any order and by any thread, and
// padding between rows does not change what is in the rows.
#pragma once

#include "base/bytes.h"
#include "oracle/layout.h"

#include <memory>
#include <optional>

namespace asmevo::oracle {

enum class InitKind : uint8_t {
  Poison,      // poison_byte(): nobody has written this
  Constant,    // first
  Uniform,     // [first, second)
  Normal,      // mean first, deviation second; never more than 6 deviations away
  Integers,    // first to second, both included
  Sequence,    // first + second * index; third: the index starts over after so many (0: never)
  OneHot,      // one element of each row is first, the others 0
  Permutation, // each row holds the numbers from 0 below its length, shuffled
  RandomBits,
  Codes, // given one by one
  Bytes, // given
};

struct Init {
  InitKind kind = InitKind::Poison;
  double first = 0, second = 0;
  int64_t whole_first = 0,
          whole_second = 0; // the same where they are integers: f64 does not hold all of 64 bits
  uint64_t third = 0;
  uint64_t seed = 0;
  /// So many elements on average hold one number of an extreme kind in place of theirs: NaN, an infinity, -0,
  /// the largest, smallest normal or smallest number; of integers the largest, smallest, 0, 1 or -1. 0: none.
  uint64_t extremes_every = 0;
  std::optional<uint64_t> nan_at; // this element is NaN, where the type has one
  /// So many elements on average are `spike`, or its negative, instead. 0: none.
  uint64_t spike_every = 0;
  double spike = 0;
  bool spike_signs = false; // both signs
  /// Floats: where they differ, all magnitudes from 2^first to 2^second alike, of both signs.
  int exponent_first = 0, exponent_second = 0;
  std::vector<uint64_t> codes; // Codes
  Bytes bytes;                 // Bytes
};

/// The code of the element `index`. Codes and Bytes give 0 where they end.
uint64_t init_code(const Init&, const Layout&, uint64_t index);

/// What lies between rows and in guards. No NaN: arithmetic on one would often give the same NaN back and
/// look like nothing was written.
inline constexpr uint8_t canary_byte = 0xc5;

/// Fills `into` with the bytes from `offset` on of a buffer that was set up so. Padding gets canary_byte.
void fill(const Init&, const Layout&, uint64_t offset, std::span<uint8_t> into);

/// An extreme number of a float or integer type (see Init), chosen by `choice`.
uint64_t extreme_code(const ElementType&, uint64_t choice);

/// 64 well mixed bits of a seed and a counter.
uint64_t random_bits(uint64_t seed, uint64_t counter);

} // namespace asmevo::oracle
