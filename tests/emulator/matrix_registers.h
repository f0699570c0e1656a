// Matrices in registers, for tests of matrix instructions: which mnemonics there are, how operands are
// written, and elements put and read one by one through the layouts that matrix_layout_test.cpp checks
// against published tables.
#pragma once

#include "emulator/families/matrix_formats.h"
#include "emulator/families/matrix_layout.h"
#include "one_instruction.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace asmevo::emulator {

struct MatrixCase {
  std::string gpu, mnemonic;
  std::string format_a, format_b, format_d; // as in the mnemonic: "f16", "fp8", ...
  MatrixShape shape;
  bool sparse = false;
  std::string modifiers; // appended to the instruction

  FactorLayout layout_a() const {
    FactorLayout l = layout_of_a(shape);
    if (sparse) l.k /= 2;
    return l;
  }
  FactorLayout layout_b() const { return layout_of_b(shape); }
  ResultLayout layout_d() const { return layout_of_result(shape, format_d == "f64"); }
};

inline unsigned width_of(std::string_view format) {
  if (format == "f64") return 64;
  if (format == "f32" || format == "xf32" || format == "i32") return 32;
  if (format == "f16" || format == "bf16") return 16;
  if (format == "fp6" || format == "bf6") return 6;
  return format == "fp4" ? 4 : 8;
}

// --- registers of a case: D and C at v0, A at v64, B at v80, indices at v100, scales at v101 and v102

inline constexpr unsigned reg_a = 64, reg_b = 80, reg_index = 100, reg_scale_a = 101, reg_scale_b = 102;

inline std::string registers(unsigned first, unsigned items, unsigned width, char file = 'v') {
  const unsigned count = items * width / 32;
  return count == 1 ? fmt::format("{}{}", file, first)
                    : fmt::format("{}[{}:{}]", file, first, first + count - 1);
}

inline std::string text_of(const MatrixCase& c) {
  const std::string d = registers(0, c.layout_d().items(), width_of(c.format_d));
  std::string text = fmt::format("{} {}, {}, {}, {}", c.mnemonic, d,
                                 registers(reg_a, c.layout_a().items(), width_of(c.format_a)),
                                 registers(reg_b, c.layout_b().items(), width_of(c.format_b)),
                                 c.sparse ? fmt::format("v{}", reg_index) : d);
  if (c.mnemonic.starts_with("v_mfma_scale")) text += fmt::format(", v{}, v{}", reg_scale_a, reg_scale_b);
  return text + " " + c.modifiers;
}

inline void put_item(Snippet& s, unsigned first, ItemPosition p, unsigned width, uint64_t bits) {
  for (unsigned n = 0; n < width; ++n) {
    const unsigned bit = p.item * width + n;
    uint32_t& word = s.v(first + bit / 32, p.lane);
    word = (word & ~(1U << bit % 32)) | static_cast<uint32_t>(bits >> n & 1) << bit % 32;
  }
}

inline uint64_t get_item(Snippet& s, unsigned first, ItemPosition p, unsigned width) {
  return width == 64 ? s.v64(first + 2 * p.item, p.lane) : s.v(first + p.item, p.lane);
}

// --- numbers

/// The bits of a number that the format holds exactly.
inline uint64_t bits_of(std::string_view format, std::string_view gpu, double value) {
  if (format == "f64") return std::bit_cast<uint64_t>(value);
  if (format == "f32" || format == "xf32") return std::bit_cast<uint32_t>(static_cast<float>(value));
  if (format == "bf16") return std::bit_cast<uint32_t>(static_cast<float>(value)) >> 16;
  if (format == "f16") return std::bit_cast<uint16_t>(static_cast<_Float16>(value));
  if (format == "i8" || format == "i32") return static_cast<uint64_t>(static_cast<int64_t>(value));
  const bool ocp = gpu == "gfx950";
  const SmallFloat f = format == "fp8"   ? (ocp ? e4m3fn : e4m3fnuz)
                       : format == "bf8" ? (ocp ? e5m2 : e5m2fnuz)
                       : format == "fp6" ? e2m3
                       : format == "bf6" ? e3m2
                                         : e2m1;
  for (unsigned raw = 0; raw < 1U << f.bits(); ++raw)
    if (f.decode(raw) == static_cast<float>(value)) return raw;
  throw std::runtime_error(fmt::format("{} has no {}", format, value));
}

inline double value_of(std::string_view format, uint64_t bits) {
  if (format == "f64") return std::bit_cast<double>(bits);
  if (format == "f32") return std::bit_cast<float>(static_cast<uint32_t>(bits));
  return static_cast<int32_t>(static_cast<uint32_t>(bits));
}

// --- from "v_mfma_f32_32x32x4_2b_f16" to its shape and formats

inline unsigned take_number(std::string_view& text) {
  unsigned n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return n;
}

inline std::string_view take_until(std::string_view& text, char stop) {
  const size_t end = std::min(text.find(stop), text.size());
  const std::string_view piece = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return piece;
}

/// Blocks that the name does not tell (gfx90a's older spellings) are given. Order of k for sparse wide forms
/// and for f8f6f4 of 8 bits is set here too.
inline MatrixCase matrix_case(std::string_view gpu, std::string_view mnemonic, unsigned blocks = 1) {
  MatrixCase c;
  c.gpu = gpu;
  c.mnemonic = mnemonic;
  c.sparse = mnemonic.starts_with("v_smfmac");
  std::string_view rest = mnemonic;
  for (const std::string_view start : {"v_smfmac_", "v_mfma_scale_", "v_mfma_"})
    if (rest.starts_with(start)) {
      rest.remove_prefix(start.size());
      break;
    }
  c.format_d = take_until(rest, '_');
  c.shape.m = take_number(rest);
  rest.remove_prefix(1);
  c.shape.n = take_number(rest);
  rest.remove_prefix(1);
  c.shape.k = take_number(rest);
  c.shape.blocks = blocks;
  if (rest.starts_with('_')) rest.remove_prefix(1);
  if (rest.size() > 2 && rest.find("b_") < 3 && rest[0] >= '0' && rest[0] <= '9') {
    c.shape.blocks = take_number(rest);
    rest.remove_prefix(2);
  }
  c.format_a = take_until(rest, '_');
  c.format_b = rest.empty() || rest == "1k" ? c.format_a : std::string(rest);
  if (c.sparse && c.shape.k * c.shape.n * width_of(c.format_b) / 64 == 256) c.shape.order_b = KOrder::Halves;
  return c;
}

// --- products of small integers: exact in every format, however they are added up

class IntegerProduct {
 public:
  IntegerProduct(const MatrixCase& c, unsigned seed)
      : case_(c), snippet_(snippet(c.gpu, text_of(c))), random_(seed) {
    const MatrixShape& s = c.shape;
    for (unsigned block = 0; block < s.blocks; ++block) {
      for (unsigned i = 0; i < s.m; ++i)
        for (unsigned k = 0; k < c.layout_a().k; ++k) put_a(block, i, k, small());
      for (unsigned j = 0; j < s.n; ++j)
        for (unsigned k = 0; k < s.k; ++k) put_b(block, j, k, small());
      for (unsigned i = 0; i < s.m; ++i)
        for (unsigned j = 0; j < s.n; ++j) {
          c_[{block, i, j}] = 100 * small();
          put_item(snippet_, 0, c.layout_d().position(block, i, j), width_of(c.format_d),
                   bits_of(c.format_d, c.gpu, c_[{block, i, j}]));
        }
    }
  }

  Snippet& registers() { return snippet_; }

  /// `dense_k(i, k)`: which k of B the k-th element of row i of A meets.
  template <class DenseK>
  void run_and_compare(DenseK dense_k) {
    run(snippet_);
    const MatrixShape& s = case_.shape;
    for (unsigned block = 0; block < s.blocks; ++block)
      for (unsigned i = 0; i < s.m; ++i)
        for (unsigned j = 0; j < s.n; ++j) {
          double sum = c_[{block, i, j}];
          for (unsigned k = 0; k < case_.layout_a().k; ++k)
            sum += a_[{block, i, k}] * b_[{block, j, dense_k(i, k)}];
          const uint64_t got =
              get_item(snippet_, 0, case_.layout_d().position(block, i, j), width_of(case_.format_d));
          ASSERT_EQ(value_of(case_.format_d, got), sum) << "D[" << block << "][" << i << "][" << j << "]";
        }
  }

 private:
  using Key = std::tuple<unsigned, unsigned, unsigned>;
  double small() { return static_cast<double>(random_() % 9) - 4; }
  void put_a(unsigned block, unsigned i, unsigned k, double value) {
    a_[{block, i, k}] = value;
    put_item(snippet_, reg_a, case_.layout_a().position(block, i, k), width_of(case_.format_a),
             bits_of(case_.format_a, case_.gpu, value));
  }
  void put_b(unsigned block, unsigned j, unsigned k, double value) {
    b_[{block, j, k}] = value;
    put_item(snippet_, reg_b, case_.layout_b().position(block, j, k), width_of(case_.format_b),
             bits_of(case_.format_b, case_.gpu, value));
  }

  MatrixCase case_;
  Snippet snippet_;
  std::mt19937 random_;
  std::map<Key, double> a_, b_, c_;
};

} // namespace asmevo::emulator
