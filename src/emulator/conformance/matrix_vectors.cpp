#include "emulator/conformance/matrix_vectors.h"

#include "emulator/conformance/snippet.h"
#include "emulator/families/matrix_formats.h"
#include "emulator/families/matrix_layout.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>
#include <optional>

namespace asmevo::emulator::conformance {

namespace {

using nlohmann::json;

struct Malformed {
  std::string text;
};

uint64_t hex_number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size())
    throw Malformed{fmt::format("'{}' is not a hexadecimal number", text)};
  return value;
}
uint64_t hex(const json& text) {
  return hex_number(text.get_ref<const std::string&>());
}

// --- formats by the names that the vectors use

struct NumberFormat {
  std::string_view name;
  unsigned bits = 0;
  unsigned exponent_bits = 0, mantissa_bits = 0; // 0: an integer
  int bias = 0;
  const SmallFloat* small = nullptr;
};

constexpr NumberFormat formats[] = {
    {"f64", 64, 11, 52, 1023},
    {"f32", 32, 8, 23, 127},
    {"xf32", 32, 8, 23, 127},
    {"f16", 16, 5, 10, 15},
    {"bf16", 16, 8, 7, 127},
    {"e4m3fnuz", 8, 4, 3, 8, &e4m3fnuz},
    {"e5m2fnuz", 8, 5, 2, 16, &e5m2fnuz},
    {"e4m3fn", 8, 4, 3, 7, &e4m3fn},
    {"e5m2", 8, 5, 2, 15, &e5m2},
    {"e2m3", 6, 2, 3, 1, &e2m3},
    {"e3m2", 6, 3, 2, 3, &e3m2},
    {"e2m1", 4, 2, 1, 1, &e2m1},
    {"i8", 8},
    {"i32", 32},
};

const NumberFormat& format_named(const json& name) {
  for (const NumberFormat& f : formats)
    if (f.name == name.get_ref<const std::string&>()) return f;
  throw Malformed{fmt::format("element format '{}' is unknown", name.get<std::string>())};
}

double value_of(const NumberFormat& f, uint64_t bits) {
  if (f.small != nullptr) return f.small->decode(static_cast<unsigned>(bits));
  if (f.exponent_bits == 0)
    return static_cast<double>(static_cast<int64_t>(bits << (64 - f.bits)) >> (64 - f.bits));
  const uint64_t mantissa = bits & ((uint64_t{1} << f.mantissa_bits) - 1);
  const auto largest = (1 << f.exponent_bits) - 1;
  const auto field = static_cast<int>(bits >> f.mantissa_bits & static_cast<unsigned>(largest));
  double magnitude = 0;
  if (field == largest)
    magnitude = mantissa != 0 ? std::nan("") : HUGE_VAL;
  else
    magnitude =
        std::ldexp(static_cast<double>(field == 0 ? mantissa : mantissa | uint64_t{1} << f.mantissa_bits),
                   std::max(field, 1) - f.bias - static_cast<int>(f.mantissa_bits));
  return (bits >> (f.bits - 1) & 1) != 0 ? -magnitude : magnitude;
}

// --- matrices

// Of several blocks, row-major. A vector of one block has one list less.
struct Matrix {
  unsigned blocks = 1, rows = 0, columns = 0;
  std::vector<uint64_t> bits;
  uint64_t at(unsigned block, unsigned row, unsigned column) const {
    return bits[(size_t{block} * rows + row) * columns + column];
  }
};

void append_matrix(Matrix& m, const json& list) {
  if (list.size() != m.rows) throw Malformed{fmt::format("{} rows where {} should be", list.size(), m.rows)};
  for (const json& row : list) {
    if (row.size() != m.columns)
      throw Malformed{fmt::format("{} columns where {} should be", row.size(), m.columns)};
    for (const json& element : row) m.bits.push_back(hex(element));
  }
}

Matrix read_matrix(const json& list, unsigned blocks, unsigned rows, unsigned columns) {
  Matrix m{blocks, rows, columns, {}};
  if (blocks == 1)
    append_matrix(m, list);
  else
    for (const json& block : list) append_matrix(m, block);
  if (m.bits.size() != size_t{blocks} * rows * columns) throw Malformed{"a block is missing or too many"};
  return m;
}

// Stores an element into the registers that start at `first`.
void put(Snippet& s, unsigned first, ItemPosition p, unsigned width, uint64_t bits) {
  for (unsigned done = 0; done < width;) {
    const unsigned bit = p.item * width + done, shift = bit % 32;
    const unsigned part = std::min(width - done, 32 - shift);
    const uint32_t mask = static_cast<uint32_t>((uint64_t{1} << part) - 1);
    uint32_t& to = s.v(first + bit / 32, p.lane);
    to = (to & ~(mask << shift)) | (static_cast<uint32_t>(bits >> done) & mask) << shift;
    done += part;
  }
}

uint64_t get(Snippet& s, unsigned first, ItemPosition p, unsigned width) {
  return width == 64 ? s.v64(first + 2 * p.item, p.lane) : s.v(first + p.item, p.lane);
}

// --- one vector

struct MatrixVector {
  std::string asm_text, mnemonic;
  bool gfx950 = false, sparse = false;
  MatrixShape shape; // of the dense product
  const NumberFormat *a_format = nullptr, *b_format = nullptr, *d_format = nullptr;
  Matrix a, b, c, d;
  std::optional<Matrix> scale_a, scale_b, index;
  unsigned cbsz = 0, abid = 0, blgp = 0;
  bool any_nan = false, any_zero = false; // NaNs are equal; zeros are equal whatever their sign

  FactorLayout layout_a() const {
    FactorLayout l = layout_of_a(shape);
    if (sparse) l.k /= 2;
    return l;
  }
};

bool is_f8f6f4(const MatrixVector& v) {
  return v.mnemonic.ends_with("_f8f6f4");
}

MatrixShape shape_of(const json& line, const MatrixVector& v) {
  MatrixShape s{line.at("M"), line.at("N"), line.at("K"), line.at("blocks")};
  if (s.m > 64 || s.n > 64 || s.k > 128 || s.blocks > 16 || s.m * s.n * s.k * s.blocks == 0)
    throw Malformed{"no matrix instruction has such a shape"};
  const auto halves_if = [](bool yes) { return yes ? KOrder::Halves : KOrder::Consecutive; };
  if (is_f8f6f4(v)) {
    s.order_a = halves_if(v.a_format->bits == 8);
    s.order_b = halves_if(v.b_format->bits == 8);
  }
  // Eight registers of B: only gfx950's wide sparse forms.
  if (v.sparse) s.order_b = halves_if(s.k * s.n * v.b_format->bits / 64 / 32 == 8);
  return s;
}

MatrixVector read_vector(const json& line) {
  MatrixVector v;
  v.asm_text = line.at("asm");
  v.mnemonic = v.asm_text.substr(0, v.asm_text.find(' '));
  v.gfx950 = line.at("arch") == "cdna4";
  v.sparse = line.contains("IDX");
  v.a_format = &format_named(line.at("fmt").at(0));
  v.b_format = &format_named(line.at("fmt").at(1));
  v.d_format = &format_named(line.at("fmt").at(2));
  v.shape = shape_of(line, v);
  const MatrixShape& s = v.shape;
  v.a = read_matrix(line.at("A"), s.blocks, s.m, v.layout_a().k);
  v.b = read_matrix(line.at("B"), s.blocks, s.k, s.n);
  v.c = read_matrix(line.at("C"), s.blocks, s.m, s.n);
  v.d = read_matrix(line.at("D"), s.blocks, s.m, s.n);
  if (v.sparse) v.index = read_matrix(line.at("IDX"), 1, s.m, s.k / 4);
  if (line.contains("SA")) {
    v.scale_a = read_matrix(line.at("SA"), 1, s.m, s.k / 32);
    v.scale_b = read_matrix(line.at("SB"), 1, s.k / 32, s.n);
  }
  const json mods = line.value("mods", json::object());
  if (!v.sparse && !is_f8f6f4(v)) {
    v.cbsz = mods.value("cbsz", 0U);
    v.abid = mods.value("abid", 0U);
    v.blgp = mods.value("blgp", 0U);
    if (v.blgp > 7 || v.cbsz > 4 || 1U << v.cbsz > s.blocks || v.abid >= 1U << v.cbsz)
      throw Malformed{"these modifiers do not fit the shape"};
  }
  const std::string compare = line.at("cmp");
  v.any_nan = compare != "bits";
  v.any_zero = compare == "nan,zero";
  return v;
}

void load_registers(Snippet& s, const MatrixVector& v, const json& line) {
  const json& reg = line.at("reg");
  const auto register_of = [&](const char* name) {
    const unsigned r = reg.at(name);
    if (r > 200) throw Malformed{"a register number is too large"};
    return r;
  };
  const FactorLayout a = v.layout_a(), b = layout_of_b(v.shape);
  const ResultLayout d = layout_of_result(v.shape, v.d_format->bits == 64);
  const unsigned reg_a = register_of("A"), reg_b = register_of("B"), reg_d = register_of("D");
  for (unsigned block = 0; block < v.shape.blocks; ++block) {
    for (unsigned k = 0; k < a.k; ++k)
      for (unsigned i = 0; i < v.shape.m; ++i)
        put(s, reg_a, a.position(block, i, k), v.a_format->bits, v.a.at(block, i, k));
    for (unsigned k = 0; k < b.k; ++k)
      for (unsigned j = 0; j < v.shape.n; ++j)
        put(s, reg_b, b.position(block, j, k), v.b_format->bits, v.b.at(block, k, j));
    for (unsigned i = 0; i < v.shape.m; ++i)
      for (unsigned j = 0; j < v.shape.n; ++j)
        put(s, reg_d, d.position(block, i, j), v.d_format->bits, v.c.at(block, i, j));
  }
  if (v.sparse) {
    const unsigned r = register_of("IDX");
    const json& words = line.at("IDXREG");
    if (words.size() != lanes) throw Malformed{"IDXREG has not 64 words"};
    for (unsigned l = 0; l < lanes; ++l) s.v(r, l) = static_cast<uint32_t>(hex(words[l]));
  }
  if (v.scale_a) {
    const json& mods = line.at("mods");
    const unsigned reg_sa = register_of("SA"), reg_sb = register_of("SB");
    const unsigned shift_a = 8 * (mods.value("opsel_a", 0U) & 3),
                   shift_b = 8 * (mods.value("opsel_b", 0U) & 3);
    for (unsigned run = 0; run < v.shape.k / 32; ++run) {
      for (unsigned i = 0; i < v.shape.m; ++i)
        s.v(reg_sa, i + v.shape.m * run) = static_cast<uint32_t>(v.scale_a->at(0, i, run) << shift_a);
      for (unsigned j = 0; j < v.shape.n; ++j)
        s.v(reg_sb, j + v.shape.n * run) = static_cast<uint32_t>(v.scale_b->at(0, run, j) << shift_b);
    }
  }
}

// --- how far a result may be off where the way of adding up matters (mfma-numerics.md, section 3)

struct Product {
  double value = 0;
  int exponent = 0; // of the encodings, scales included
};

class Bound {
 public:
  explicit Bound(const MatrixVector& v) : v_(v) {
    if (v.blgp == 0) return;
    // From a lane's item back to the element of B that stands there.
    const FactorLayout b = layout_of_b(v.shape);
    element_.resize(size_t{b.items()} * lanes);
    for (unsigned block = 0; block < v.shape.blocks; ++block)
      for (unsigned k = 0; k < v.shape.k; ++k)
        for (unsigned j = 0; j < v.shape.n; ++j) {
          const ItemPosition p = b.position(block, j, k);
          element_[p.item * lanes + p.lane] = {block, k, j};
        }
  }

  double allowed(unsigned block, unsigned i, unsigned j) const {
    double magnitudes = std::abs(value_of(*v_.d_format, v_.c.at(block, i, j)));
    int largest = -10000;
    for (unsigned k = 0; k < v_.a.columns; ++k) {
      const Product p = product(block, i, j, k);
      magnitudes += std::abs(p.value);
      if (p.value != 0) largest = std::max(largest, p.exponent);
    }
    return std::ldexp(magnitudes, -17) + std::ldexp(1.0, largest - 20);
  }

 private:
  struct Element {
    unsigned block = 0, k = 0, j = 0;
  };

  static int exponent_of(const NumberFormat& f, uint64_t bits) {
    const auto field = static_cast<int>(bits >> f.mantissa_bits & ((uint64_t{1} << f.exponent_bits) - 1));
    return std::max(field, 1) - f.bias;
  }

  uint64_t b_bits(unsigned block, unsigned k, unsigned j) const {
    if (v_.blgp == 0) return v_.b.at(block, k, j);
    const ItemPosition p = layout_of_b(v_.shape).position(block, j, k);
    const Element e = element_[p.item * lanes + group_map(v_.blgp)[p.lane]];
    return v_.b.at(e.block, e.k, e.j);
  }

  Product product(unsigned block, unsigned i, unsigned j, unsigned k) const {
    const unsigned from = v_.cbsz == 0 ? block : (block >> v_.cbsz << v_.cbsz) + v_.abid;
    const uint64_t a = v_.a.at(from, i, k);
    unsigned dense_k = k;
    if (v_.sparse) dense_k = k / 2 * 4 + (v_.index->at(0, i, k / 2) >> 2 * (k % 2) & 3);
    const uint64_t b = b_bits(block, dense_k, j);
    int scale = 0;
    if (v_.scale_a)
      scale = static_cast<int>(v_.scale_a->at(0, i, k / 32) + v_.scale_b->at(0, k / 32, j)) - 2 * 127;
    return {std::ldexp(value_of(*v_.a_format, a) * value_of(*v_.b_format, b), scale),
            exponent_of(*v_.a_format, a) + exponent_of(*v_.b_format, b) + scale};
  }

  const MatrixVector& v_;
  std::vector<Element> element_;
};

// Overflow to Inf and a value just below it are near each other.
double with_finite_infinity(double x) {
  return std::isinf(x) ? std::copysign(0x1p128, x) : x;
}

bool is_robust(const json& line, const MatrixVector& v, unsigned block, unsigned i, unsigned j) {
  const auto masks = line.find("robust");
  if (masks == line.end()) return true;
  return (hex(masks->at(size_t{block} * v.shape.m + i)) >> j & 1) != 0;
}

bool same(const MatrixVector& v, uint64_t expected, uint64_t got) {
  if (expected == got) return true;
  const double e = value_of(*v.d_format, expected), g = value_of(*v.d_format, got);
  return (v.any_nan && std::isnan(e) && std::isnan(g)) || (v.any_zero && e == 0 && g == 0);
}

bool near(const MatrixVector& v, const Bound& bound, unsigned block, unsigned i, unsigned j, uint64_t got) {
  const double e = value_of(*v.d_format, v.d.at(block, i, j)), g = value_of(*v.d_format, got);
  if (std::isnan(e) || std::isnan(g)) return false;
  return std::abs(with_finite_infinity(e) - with_finite_infinity(g)) <= bound.allowed(block, i, j);
}

// Empty: all elements are as they should be.
std::string differences(Snippet& s, const MatrixVector& v, const json& line) {
  const ResultLayout layout = layout_of_result(v.shape, v.d_format->bits == 64);
  const unsigned reg_d = line.at("reg").at("D");
  const Bound bound(v);
  std::string first;
  unsigned count = 0;
  for (unsigned block = 0; block < v.shape.blocks; ++block)
    for (unsigned i = 0; i < v.shape.m; ++i)
      for (unsigned j = 0; j < v.shape.n; ++j) {
        const uint64_t got = get(s, reg_d, layout.position(block, i, j), v.d_format->bits);
        const uint64_t expected = v.d.at(block, i, j);
        if (same(v, expected, got)) continue;
        if (!is_robust(line, v, block, i, j) && near(v, bound, block, i, j, got)) continue;
        if (count++ == 0)
          first = fmt::format("D[{}][{}][{}] expected {:0{}x}, got {:0{}x}", block, i, j, expected,
                              v.d_format->bits / 4, got, v.d_format->bits / 4);
      }
  return count > 1 ? fmt::format("{} and {} more", first, count - 1) : first;
}

isa::Target target_of(bool gfx950) {
  return {.gfx = gfx950 ? isa::Gfx::gfx950 : isa::Gfx::gfx942};
}

Outcome failure(Outcome o, std::string text) {
  o.kind = Outcome::Kind::Failed;
  o.text = std::move(text);
  return o;
}

Outcome run_read_vector(Outcome o, const MatrixVector& v, const json& line) {
  auto made = Snippet::assemble(target_of(v.gfx950), v.asm_text);
  if (!made) return failure(std::move(o), made.error().message);
  load_registers(*made, v, line);
  made->run();
  if (made->wave().fault) return failure(std::move(o), made->wave().fault.text);
  const std::string text = differences(*made, v, line);
  return text.empty() ? o : failure(std::move(o), text);
}

// --- observed dot products

// v_mfma_f32_16x16x32_fp8_fp8 with one row of A and one column of B.
uint32_t dot_product(const json& line) {
  const std::string mnemonic = line.at("instr");
  if (mnemonic != "v_mfma_f32_16x16x32_fp8_fp8") throw Malformed{mnemonic + " was not expected here"};
  auto made =
      Snippet::assemble(target_of(line.at("arch") == "cdna4"), mnemonic + " v[0:3], v[4:5], v[6:7], v[0:3]");
  if (!made) throw Malformed{made.error().message};
  constexpr FactorLayout layout{16, 32};
  const std::string a = line.at("a"), b = line.at("b");
  if (a.size() != 64 || b.size() != 64) throw Malformed{"a and b have to be 32 bytes each"};
  for (unsigned k = 0; k < 32; ++k) {
    put(*made, 4, layout.position(0, 0, k), 8, hex_number(std::string_view(a).substr(size_t{2} * k, 2)));
    put(*made, 6, layout.position(0, 0, k), 8, hex_number(std::string_view(b).substr(size_t{2} * k, 2)));
  }
  made->v(0, 0) = static_cast<uint32_t>(hex(line.at("c")));
  made->run();
  if (made->wave().fault) throw Malformed{made->wave().fault.text};
  return made->v(0, 0);
}

bool agrees(const json& line, uint32_t got) {
  const auto is = [&](const json& text) {
    const auto bits = static_cast<uint32_t>(hex(text));
    return bits == got || ((bits | got) & 0x7fffffff) == 0;
  };
  if (const auto d = line.find("d_observed"); d != line.end()) return is(*d);
  if (const auto d = line.find("d_observed_not"); d != line.end()) return !is(*d);
  const auto unit = static_cast<uint32_t>(hex(line.at("unit")));
  const double units = std::trunc(double{std::bit_cast<float>(got)} / double{std::bit_cast<float>(unit)});
  return units == line.at("trunc(d/unit)").get<double>();
}

} // namespace

bool is_matrix_vector(const json& line) {
  return line.contains("asm") && line.contains("fmt") && line.contains("A") && line.contains("B") &&
         line.contains("D");
}

bool is_observed_dot_product(const json& line) {
  return line.contains("instr") && line.contains("tag") && line.contains("a") && line.contains("b");
}

Outcome run_matrix_vector(const json& line) {
  Outcome o;
  o.family = "mfma";
  try {
    o.id = line.at("id");
    const MatrixVector v = read_vector(line);
    o.family = v.sparse ? "smfmac" : "mfma";
    return run_read_vector(std::move(o), v, line);
  } catch (const json::exception& e) {
    return failure(std::move(o), e.what());
  } catch (const Malformed& m) {
    return failure(std::move(o), m.text);
  }
}

Outcome run_observed_dot_product(const json& line) {
  Outcome o;
  o.family = "mfma observed";
  try {
    o.id = fmt::format("observed/{}/{}/{}/{}", line.at("tag").get<std::string>(),
                       line.at("a").get<std::string>(), line.at("b").get<std::string>(),
                       line.at("c").get<std::string>());
    const uint32_t got = dot_product(line);
    return agrees(line, got) ? o : failure(std::move(o), fmt::format("got {:08x}", got));
  } catch (const json::exception& e) {
    return failure(std::move(o), e.what());
  } catch (const Malformed& m) {
    return failure(std::move(o), m.text);
  }
}

} // namespace asmevo::emulator::conformance
