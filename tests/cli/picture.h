// A PNG as a browser takes it of a page: enough of it to say whether something is on it, and how bright it
// is.
#pragma once

#include "base/bytes.h"

#include <zlib.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>

namespace asmevo::testing {

struct Picture {
  uint32_t width = 0, height = 0;
  size_t colours = 0;    // that differ
  double brightness = 0; // mean, 0 to 255
};

namespace picture_detail {

inline uint32_t big_endian(const Bytes& b, size_t at) {
  return uint32_t{b[at]} << 24 | uint32_t{b[at + 1]} << 16 | uint32_t{b[at + 2]} << 8 | b[at + 3];
}

inline uint8_t paeth(int a, int b, int c) {
  const int p = a + b - c, pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
  return static_cast<uint8_t>(pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
}

} // namespace picture_detail

/// None: no PNG of 8 bits with 3 or 4 channels.
inline std::optional<Picture> read_picture(const Bytes& file) {
  using namespace picture_detail;
  constexpr size_t signature = 8, header = 33;
  if (file.size() < header || file[1] != 'P' || file[24] != 8) return std::nullopt;
  Picture picture{.width = big_endian(file, 16), .height = big_endian(file, 20)};
  const size_t channels = file[25] == 6 ? 4 : 3, row = picture.width * channels;
  Bytes packed;
  for (size_t at = signature; at + 12 <= file.size();) {
    const size_t length = big_endian(file, at);
    if (at + 12 + length > file.size()) return std::nullopt;
    const auto data = file.begin() + static_cast<std::ptrdiff_t>(at + 8);
    if (std::string(data - 4, data) == "IDAT")
      packed.insert(packed.end(), data, data + static_cast<std::ptrdiff_t>(length));
    at += 12 + length;
  }
  Bytes raw((row + 1) * picture.height);
  uLongf size = raw.size();
  if (::uncompress(raw.data(), &size, packed.data(), packed.size()) != Z_OK || size != raw.size())
    return std::nullopt;
  std::set<std::array<uint8_t, 3>> colours;
  Bytes above(row), line(row);
  double sum = 0;
  for (size_t y = 0; y < picture.height; ++y) {
    const uint8_t* const from = raw.data() + y * (row + 1);
    for (size_t x = 0; x < row; ++x) {
      const uint8_t a = x >= channels ? line[x - channels] : 0, b = above[x];
      const uint8_t c = x >= channels ? above[x - channels] : 0;
      const std::array<uint8_t, 5> guess = {0, a, b, static_cast<uint8_t>((a + b) / 2), paeth(a, b, c)};
      line[x] = static_cast<uint8_t>(from[1 + x] + guess.at(from[0]));
    }
    for (size_t x = 0; x < row; x += channels) {
      colours.insert({line[x], line[x + 1], line[x + 2]});
      sum += line[x] + line[x + 1] + line[x + 2];
    }
    std::swap(above, line);
  }
  picture.colours = colours.size();
  picture.brightness = sum / 3 / (static_cast<double>(picture.width) * picture.height);
  return picture;
}

} // namespace asmevo::testing
