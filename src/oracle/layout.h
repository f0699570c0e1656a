// How the elements of a buffer lie in memory: shape and strides, with padding between rows where strides are
// larger than need be.
#pragma once

#include "oracle/element_types.h"

#include <optional>
#include <vector>

namespace asmevo::oracle {

class Layout {
 public:
  /// `strides` in elements, one a dimension; empty: row by row without padding. BadInput: strides under which
  /// two elements share a place (a stride of 0 repeats its dimension and is allowed), more than 8 dimensions,
  /// more than 2^40 bytes.
  static Result<Layout> make(const ElementType&, std::vector<uint64_t> shape,
                             std::vector<uint64_t> strides = {});

  const ElementType& type() const { return type_; }
  const std::vector<uint64_t>& shape() const { return shape_; }
  const std::vector<uint64_t>& strides() const { return strides_; }
  /// Elements by the shape.
  uint64_t count() const { return count_; }
  /// Places from the first element to behind the last, padding included.
  uint64_t places() const { return places_; }
  uint64_t bytes() const { return (places_ * type_.bits + 7) / 8; }
  /// Row by row without padding: place and index are the same.
  bool dense() const { return dense_; }
  /// Elements in the last dimension.
  uint64_t row() const { return shape_.empty() ? 1 : shape_.back(); }

  /// The place of the element with this index (counted through the shape, last dimension fastest).
  uint64_t place_of(uint64_t index) const;
  /// The lowest index of the element at a place; none in padding.
  std::optional<uint64_t> index_at(uint64_t place) const;

 private:
  ElementType type_;
  std::vector<uint64_t> shape_, strides_;
  std::vector<uint64_t> weights_; // index steps by dimension
  std::vector<size_t> by_stride_; // dimensions of more than one element and a stride, largest stride first
  uint64_t count_ = 1, places_ = 1;
  bool dense_ = true;
};

} // namespace asmevo::oracle
