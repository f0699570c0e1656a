#include "timing/cache.h"

#include <algorithm>
#include <bit>

namespace asmevo::timing {

namespace {

constexpr size_t guess_count = 4096;

// All groups of `bits` bits of x, each bit of the result the parity of one in each.
constexpr uint64_t folded(uint64_t x, unsigned bits) {
  constexpr unsigned most = 40; // of a line's number
  uint64_t sum = 0;
  for (unsigned shift = 0; shift < most; shift += bits) sum ^= x >> shift;
  return sum;
}

} // namespace

Cache::Cache(const Shape& shape)
    : shape_(shape), sets_(shape.bytes / (uint64_t{shape.line} * shape.ways)), tags_(sets_ * shape.ways),
      lines_(tags_.size()), used_(tags_.size()), guesses_(guess_count),
      fold_bits_(shape.hashed ? std::max(1U, static_cast<unsigned>(std::bit_width(sets_)) - 1) : 0),
      line_shift_(static_cast<unsigned>(std::countr_zero(shape.line))),
      fraction_(sets_ == 0 ? 0 : ~uint64_t{0} / sets_ + 1) {}

uint64_t Cache::set_of(uint64_t number) const {
  const uint64_t n = fold_bits_ != 0 ? folded(number, fold_bits_) : number;
  if (n > UINT32_MAX) return n % sets_;
  // The remainder without a division (Lemire, Kaser, Kurz 2019): exact for 32 bits.
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>(Wide{fraction_ * n} * sets_ >> 64);
}

size_t Cache::place_of(uint64_t number) const {
  if (sets_ == 0) return tags_.size();
  const size_t first = set_of(number) * shape_.ways;
  uint8_t& guess = guesses_[number % guess_count];
  if (guess < shape_.ways && tags_[first + guess] == number + 1) return first + guess;
  const uint64_t* const set = tags_.data() + first;
  const uint64_t* const found = std::find(set, set + shape_.ways, number + 1);
  if (found == set + shape_.ways) return tags_.size();
  guess = static_cast<uint8_t>(found - set);
  return first + guess;
}

Cache::Line* Cache::find(uint64_t address) {
  const size_t place = place_of(number_of(address));
  if (place == tags_.size()) return nullptr;
  used_[place] = ++clock_;
  return &lines_[place];
}

// A free line, or the least recently used: free ones have never been used.
size_t Cache::victim(uint64_t set) {
  const size_t first = set * shape_.ways;
  const uint32_t* const used = used_.data() + first;
  uint32_t least = used[0];
  for (unsigned n = 1; n < shape_.ways; ++n) least = std::min(least, used[n]);
  const size_t oldest = first + static_cast<size_t>(std::find(used, used + shape_.ways, least) - used);
  if (shape_.replacement == Replacement::LeastRecentlyUsed || tags_[oldest] == 0) return oldest;
  random_ = random_ * 6364136223846793005U + 1442695040888963407U;
  return first + (random_ >> 33) % shape_.ways;
}

Cache::Line* Cache::bring(uint64_t address, bool passing) {
  pushed_out_dirty_ = false;
  if (sets_ == 0) return nullptr;
  const uint64_t number = number_of(address);
  const size_t place = victim(set_of(number));
  pushed_out_dirty_ = tags_[place] != 0 && lines_[place].dirty;
  tags_[place] = number + 1;
  lines_[place] = {};
  used_[place] = passing ? 0 : ++clock_;
  return &lines_[place];
}

void Cache::drop(uint64_t address) {
  const size_t place = place_of(number_of(address));
  if (place == tags_.size()) return;
  tags_[place] = 0;
  used_[place] = 0;
}

void Cache::clear() {
  std::ranges::fill(tags_, 0);
  std::ranges::fill(used_, 0);
}

} // namespace asmevo::timing
