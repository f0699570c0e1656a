// A vector of at most N elements stored in place: no allocation, trivially copyable for trivial T.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace asmevo {

template <class T, size_t N>
class StaticVector {
 public:
  void push_back(const T& value) {
    assert(size_ < N);
    if (size_ < N) items_[size_++] = value;
  }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool full() const { return size_ == N; }
  T& operator[](size_t i) { return items_[i]; }
  const T& operator[](size_t i) const { return items_[i]; }
  T& back() { return items_[size_ - 1]; }
  const T* begin() const { return items_.data(); }
  const T* end() const { return items_.data() + size_; }
  T* begin() { return items_.data(); }
  T* end() { return items_.data() + size_; }

 private:
  std::array<T, N> items_{};
  uint8_t size_ = 0;
  static_assert(N < 256);
};

} // namespace asmevo
