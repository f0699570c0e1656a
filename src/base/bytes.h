// Little-endian access to untrusted bytes. Nothing here reads past the end of a span.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace asmevo {

using Bytes = std::vector<uint8_t>;
using ByteSpan = std::span<const uint8_t>;

static_assert(std::endian::native == std::endian::little, "code objects are little-endian and read in place");

/// The value at `offset`, or nothing where it would run past the end.
template <class T>
std::optional<T> load(ByteSpan bytes, uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

/// Writes `value` at `offset`, which must lie inside.
template <class T>
void store(std::span<uint8_t> bytes, uint64_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

template <class T>
  requires std::is_trivially_copyable_v<T>
void append(Bytes& bytes, T value) {
  const size_t at = bytes.size();
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}
inline void append(Bytes& bytes, ByteSpan more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

/// The part [offset, offset+size), or nothing where it is not all there. Safe against offset+size overflow.
inline std::optional<ByteSpan> slice(ByteSpan bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) return std::nullopt;
  return bytes.subspan(offset, size);
}

inline std::string_view as_text(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline ByteSpan as_bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

constexpr uint64_t align_up(uint64_t value, uint64_t alignment) {
  return alignment <= 1 ? value : (value + alignment - 1) / alignment * alignment;
}

} // namespace asmevo
