// Counts what is allocated with new, by all threads. To be included by one file of a program: it replaces the
// global operators.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace asmevo::test {

inline std::atomic<uint64_t> allocations = 0;

inline void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  void* const made = alignment <= alignof(std::max_align_t)
                         ? std::malloc(bytes != 0 ? bytes : 1)
                         : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

} // namespace asmevo::test

// These are what new and delete are made of here: they match.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

void* operator new(std::size_t bytes) {
  return asmevo::test::counted(bytes, 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return asmevo::test::counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}
