#include "oracle/layout.h"

#include <algorithm>

namespace asmevo::oracle {

namespace {

constexpr size_t most_dimensions = 8;
constexpr uint64_t most_bytes = uint64_t{1} << 40;

} // namespace

Result<Layout> Layout::make(const ElementType& type, std::vector<uint64_t> shape,
                            std::vector<uint64_t> strides) {
  if (shape.size() > most_dimensions)
    return bad_input("{} dimensions; {} are the most", shape.size(), most_dimensions);
  if (!strides.empty() && strides.size() != shape.size())
    return bad_input("{} strides for {} dimensions", strides.size(), shape.size());
  const auto too_large = [] { return bad_input("more than 2^40 bytes"); };
  const uint64_t most_elements = most_bytes * 8 / type.bits;
  Layout l;
  l.type_ = type;
  l.weights_.resize(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    l.weights_[d] = l.count_;
    if (__builtin_mul_overflow(l.count_, shape[d], &l.count_) || l.count_ > most_elements) return too_large();
  }
  const bool given = !strides.empty();
  if (!given) strides = l.weights_;
  l.shape_ = std::move(shape);
  l.strides_ = std::move(strides);
  if (l.count_ == 0) {
    l.places_ = 0;
    return l;
  }
  for (size_t d = 0; d < l.shape_.size(); ++d)
    if (l.shape_[d] > 1 && l.strides_[d] != 0) l.by_stride_.push_back(d);
  std::ranges::stable_sort(l.by_stride_, std::greater{}, [&](size_t d) { return l.strides_[d]; });
  // From the smallest stride up: each must step over everything the smaller ones reach.
  for (auto d = l.by_stride_.rbegin(); d != l.by_stride_.rend(); ++d) {
    if (l.strides_[*d] < l.places_)
      return bad_input("stride {} of dimension {} is too small: elements would overlap", l.strides_[*d], *d);
    uint64_t reach = 0;
    if (__builtin_mul_overflow(l.shape_[*d] - 1, l.strides_[*d], &reach) || reach > most_elements)
      return too_large();
    l.places_ += reach;
  }
  if (l.places_ > most_elements) return too_large();
  l.dense_ =
      !given || std::ranges::all_of(l.by_stride_, [&](size_t d) { return l.strides_[d] == l.weights_[d]; });
  if (l.places_ != l.count_) l.dense_ = false;
  return l;
}

uint64_t Layout::place_of(uint64_t index) const {
  if (dense_) return index;
  uint64_t place = 0;
  for (size_t d = 0; d < shape_.size(); ++d) place += index / weights_[d] % shape_[d] * strides_[d];
  return place;
}

std::optional<uint64_t> Layout::index_at(uint64_t place) const {
  if (dense_) return place < count_ ? std::optional(place) : std::nullopt;
  uint64_t index = 0;
  for (const size_t d : by_stride_) {
    const uint64_t at = place / strides_[d];
    if (at >= shape_[d]) return std::nullopt;
    index += at * weights_[d];
    place -= at * strides_[d];
  }
  return place == 0 && count_ != 0 ? std::optional(index) : std::nullopt;
}

} // namespace asmevo::oracle
