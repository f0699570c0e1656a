#include "oracle/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace asmevo::oracle {

namespace {

// Large enough to make calls cheap, small enough that all arrays of a block stay in the second-level cache.
constexpr uint64_t block_elements = 4096;
constexpr uint64_t largest_step = 16; // elements further apart than this are read one by one
constexpr size_t most_spread = 10'000'000;
constexpr double infinity = std::numeric_limits<double>::infinity();

uint64_t low_bits(unsigned count) {
  return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

// Elements of more than 64 bits are compared as rows of bytes.
Layout bytewise(const Layout& l) {
  const uint64_t bytes = l.type().bits / 8;
  std::vector<uint64_t> shape = l.shape(), strides = l.strides();
  for (uint64_t& s : strides) s *= bytes;
  shape.push_back(bytes);
  strides.push_back(1);
  auto split = Layout::make(*element_type("opaque"), shape, strides);
  if (split) return *std::move(split);
  return *Layout::make(*element_type("opaque"), {l.bytes()}); // eight dimensions already
}

template <class Word>
void widen_words(const uint8_t* from, uint64_t step, std::span<uint64_t> into) {
  for (size_t i = 0; i < into.size(); ++i) {
    Word word;
    std::memcpy(&word, from + i * step * sizeof(Word), sizeof(Word));
    into[i] = word;
  }
}

// The codes of elements by index. All elements asked for at once lie in one row, or the layout is dense.
class CodeReader {
 public:
  explicit CodeReader(const Layout& layout) : layout_(layout), bits_(layout.type().bits) {
    step_ = layout.dense() || layout.strides().empty() ? 1 : layout.strides().back();
  }

  bool rows_are_compact() const { return step_ <= largest_step; }
  // First byte, and bytes to behind the last.
  std::pair<uint64_t, uint64_t> range(uint64_t first, uint64_t count) const {
    const uint64_t bit = layout_.place_of(first) * bits_;
    const uint64_t end = bit + ((count - 1) * step_ + 1) * bits_;
    return {bit / 8, (end + 7) / 8 - bit / 8};
  }

  Status read(const ReadBytes& from, uint64_t first, std::span<uint64_t> into) {
    if (step_ > largest_step && into.size() > 1) {
      for (size_t i = 0; i < into.size(); ++i) ASMEVO_CHECK(read(from, first + i, into.subspan(i, 1)));
      return {};
    }
    const auto [offset, bytes] = range(first, into.size());
    bytes_.resize(bytes);
    ASMEVO_CHECK(from(offset, bytes_));
    const uint64_t step = into.size() > 1 ? step_ : 1;
    switch (bits_) {
    case 8: widen_words<uint8_t>(bytes_.data(), step, into); return {};
    case 16: widen_words<uint16_t>(bytes_.data(), step, into); return {};
    case 32: widen_words<uint32_t>(bytes_.data(), step, into); return {};
    case 64: widen_words<uint64_t>(bytes_.data(), step, into); return {};
    default: break;
    }
    const uint64_t shift = layout_.place_of(first) * bits_ % 8;
    for (size_t i = 0; i < into.size(); ++i) into[i] = element(shift + i * step * bits_);
    return {};
  }

 private:
  uint64_t element(uint64_t bit) const {
    uint64_t code = 0;
    for (unsigned b = 0; b < bits_; ++b, ++bit)
      code |= static_cast<uint64_t>(bytes_[bit / 8] >> (bit % 8) & 1) << b;
    return code;
  }

  const Layout& layout_;
  unsigned bits_;
  uint64_t step_ = 1;
  std::vector<uint8_t> bytes_;
};

// Codes to values; those of short types from a table.
class Decoder {
 public:
  explicit Decoder(const ElementType& t) : type_(t) {
    if (t.bits > 16) return;
    for (uint64_t code = 0; code <= low_bits(t.bits); ++code) table_.push_back(decode(t, code));
  }
  void values(std::span<const uint64_t> codes, std::span<double> into) const {
    if (!table_.empty()) {
      for (size_t i = 0; i < codes.size(); ++i) into[i] = table_[codes[i]];
    } else if (type_.is_float() && type_.bits == 32) {
      for (size_t i = 0; i < codes.size(); ++i)
        into[i] = std::bit_cast<float>(static_cast<uint32_t>(codes[i]));
    } else {
      for (size_t i = 0; i < codes.size(); ++i) into[i] = decode(type_, codes[i]);
    }
  }

 private:
  const ElementType& type_;
  std::vector<double> table_;
};

// Codes of a float in the order of their values: neighbours are one unit in the last place apart.
uint64_t ulps_between(const ElementType& t, uint64_t a, uint64_t b) {
  if (t.specials == ElementType::Specials::Scale) return a > b ? a - b : b - a;
  const uint64_t sign = uint64_t{1} << (t.bits - 1);
  const uint64_t size_a = a & (sign - 1), size_b = b & (sign - 1);
  if (((a ^ b) & sign) != 0) return size_a + size_b;
  return size_a > size_b ? size_a - size_b : size_b - size_a;
}

// Sums of products over eight lanes, so that the compiler may vectorise without changing the order. Squares
// of doubles can leave their range, so these are summed in a wider type.
struct Sums {
  long double k0 = 0, candidate = 0, product = 0;

  void add(std::span<const double> a, std::span<const double> b, bool wide) {
    if (wide) {
      for (size_t i = 0; i < a.size(); ++i) add_one(a[i], b[i]);
      return;
    }
    constexpr size_t width = 8;
    std::array<double, width> aa{}, bb{}, ab{};
    size_t i = 0;
    for (; i + width <= a.size(); i += width)
      for (size_t l = 0; l < width; ++l) {
        const bool finite = std::fabs(a[i + l]) < infinity && std::fabs(b[i + l]) < infinity;
        const double x = finite ? a[i + l] : 0, y = finite ? b[i + l] : 0;
        aa[l] += x * x, bb[l] += y * y, ab[l] += x * y;
      }
    for (; i < a.size(); ++i) add_one(a[i], b[i]);
    for (size_t l = 0; l < width; ++l) k0 += aa[l], candidate += bb[l], product += ab[l];
  }

 private:
  void add_one(long double a, long double b) {
    if (!std::isfinite(a) || !std::isfinite(b)) return;
    k0 += a * a, candidate += b * b, product += a * b;
  }
};

// Which parts of a buffer need looking at.
class Touched {
 public:
  Touched(const Layout& layout, const NextTouched& next) : layout_(layout), next_(next) {}

  bool any(uint64_t offset, uint64_t bytes) const { return !next_ || next_(offset) < offset + bytes; }
  /// The first element from `element` on that may be touched and stands a multiple of `step` behind it; some
  /// element beyond the last where there is none.
  uint64_t skip(uint64_t element, uint64_t step) const {
    const unsigned bits = layout_.type().bits;
    if (!next_ || !layout_.dense() || element >= layout_.count()) return element;
    const uint64_t at = next_(element * bits / 8);
    if (at >= layout_.bytes()) return layout_.count();
    const uint64_t touched = at * 8 / bits;
    return touched <= element ? element : element + (touched - element) / step * step;
  }

 private:
  const Layout& layout_;
  const NextTouched& next_;
};

class Comparer {
 public:
  Comparer(const Layout& layout, const Compared& what, Rule rule)
      : layout_(layout.type().bits > 64 ? bytewise(layout) : layout), what_(what), rule_(rule),
        type_(layout_.type()), reader_(layout_), decoder_(type_), touched_(layout_, what.next_touched),
        scale_(layout.type().bits > 64 ? layout.type().bits / 8 : 1) {}

  Result<BufferComparison> run() {
    const uint64_t row = layout_.row(), count = layout_.count();
    if (count == 0) return result_;
    ASMEVO_TRY(const bool same, all_the_same());
    if (same) return result_;
    result_ = {};
    const uint64_t whole = row * rows_in_block();
    for (uint64_t first = touched_.skip(0, whole); first < count; first = touched_.skip(first + whole, whole))
      ASMEVO_CHECK(rows(first, std::min(whole, count - first)));
    finish();
    return result_;
  }

 private:
  uint64_t rows_in_block() const {
    return layout_.dense() ? std::max<uint64_t>(1, block_elements / layout_.row()) : 1;
  }

  // Most buffers of most candidates are the same to the bit, and that is found out without looking at
  // numbers.
  Result<bool> all_the_same() {
    if (!reader_.rows_are_compact()) return false;
    const uint64_t whole = layout_.row() * rows_in_block();
    std::vector<uint8_t> a, b;
    for (uint64_t first = touched_.skip(0, whole); first < layout_.count();
         first = touched_.skip(first + whole, whole))
      for (uint64_t at = first; at < std::min(first + whole, layout_.count());
           at = touched_.skip(at + block_elements, block_elements)) {
        const uint64_t n = std::min(block_elements, std::min(first + whole, layout_.count()) - at);
        const auto [offset, bytes] = reader_.range(at, n);
        if (!touched_.any(offset, bytes)) continue;
        a.resize(bytes), b.resize(bytes);
        ASMEVO_CHECK(what_.k0(offset, a));
        ASMEVO_CHECK(what_.candidate(offset, b));
        if (a != b) return false; // of the elements, or of padding
        result_.elements += n;
        result_.ulps[0] += n;
      }
    return true;
  }

  // Whole rows from element `first` on; several only where they fit in a block.
  Status rows(uint64_t first, uint64_t count) {
    const uint64_t row = layout_.row();
    if (count <= block_elements) {
      ASMEVO_TRY(const bool any, load(first, count));
      if (!any) return {};
      for (uint64_t at = 0; at < count; at += row) set_rms(at, std::min(row, count - at), rms_of(at, row));
      compare_block(first);
      return {};
    }
    double rms = 0;
    if (type_.is_float()) {
      ASMEVO_TRY(rms, rms_of_long_row(first, count));
    }
    for (uint64_t at = skip_in_row(first, 0); at < count; at = skip_in_row(first, at + block_elements)) {
      const uint64_t n = std::min(block_elements, count - at);
      ASMEVO_TRY(const bool any, load(first + at, n));
      if (!any) continue;
      set_rms(0, n, rms);
      compare_block(first + at);
    }
    return {};
  }

  bool touched(uint64_t first, uint64_t count) const {
    const auto [offset, bytes] = reader_.range(first, count);
    return touched_.any(offset, bytes);
  }
  // Of a row that starts at `first`: the next block from `at` on.
  uint64_t skip_in_row(uint64_t first, uint64_t at) const {
    return touched_.skip(first + at, block_elements) - first;
  }

  Result<bool> load(uint64_t first, uint64_t count) {
    if (!touched(first, count)) return false;
    resize(count);
    ASMEVO_CHECK(reader_.read(what_.k0, first, k0_));
    ASMEVO_CHECK(reader_.read(what_.candidate, first, candidate_));
    if (!type_.is_float()) return true;
    decoder_.values(k0_, a_);
    if (k0_ == candidate_)
      b_ = a_;
    else
      decoder_.values(candidate_, b_);
    return true;
  }

  void resize(uint64_t count) {
    k0_.resize(count), candidate_.resize(count);
    a_.resize(count), b_.resize(count), rms_.resize(count);
  }

  void set_rms(uint64_t at, uint64_t count, double rms) {
    std::fill_n(rms_.begin() + static_cast<std::ptrdiff_t>(at), count, rms);
  }
  double rms_of(uint64_t at, uint64_t count) const {
    if (!type_.is_float()) return 0;
    const auto row = std::span(a_).subspan(at, std::min<uint64_t>(count, a_.size() - at));
    Sums sums;
    sums.add(row, row, type_.bits == 64);
    return static_cast<double>(std::sqrt(sums.k0 / static_cast<long double>(row.size())));
  }
  Result<double> rms_of_long_row(uint64_t first, uint64_t count) {
    Sums sums;
    uint64_t seen = 0;
    for (uint64_t at = skip_in_row(first, 0); at < count; at = skip_in_row(first, at + block_elements)) {
      const uint64_t n = std::min(block_elements, count - at);
      if (!touched(first + at, n)) continue;
      resize(n);
      ASMEVO_CHECK(reader_.read(what_.k0, first + at, k0_));
      decoder_.values(k0_, a_);
      sums.add(a_, a_, type_.bits == 64);
      seen += n;
    }
    return seen == 0 ? 0 : static_cast<double>(std::sqrt(sums.k0 / static_cast<long double>(seen)));
  }

  void compare_block(uint64_t first) {
    const size_t n = k0_.size();
    result_.elements += n;
    if (k0_ != candidate_) {
      before_.clear();
      for (size_t i = 0; i < n; ++i)
        if (k0_[i] != candidate_[i])
          compare_element(first, i);
        else
          ++result_.ulps[0];
    } else {
      result_.ulps[0] += n;
    }
    if (!type_.is_float()) return;
    sums_.add(a_, b_, type_.bits == 64);
    for (size_t i = 0; i < n; ++i) {
      k0_nonzero_ |= a_[i] != 0;
      candidate_nonzero_ |= b_[i] != 0;
      const double size = std::fabs(a_[i]);
      if (size < infinity && size > largest_) largest_ = size;
    }
  }

  struct Judged {
    bool scaled = true, paper = true;
    double distance = 0; // by the rule asked for
  };

  void compare_element(uint64_t first, size_t i) {
    ++result_.different;
    Judged judged = type_.is_float() ? judge_float(first, i) : judge_bits(first, i);
    if (!judge_writing(first, i, judged.scaled)) judged = {false, false, infinity};
    if (rule_ == Rule::Scaled ? judged.scaled : judged.paper) return;
    const ElementDifference found{(first + i) / scale_, k0_[i], candidate_[i], judged.distance};
    if (!result_.first) result_.first = found;
    if (!result_.worst || found.distance > result_.worst->distance) result_.worst = found;
  }

  // Inside K0's own spread; otherwise `reference` becomes the nearer end of it.
  bool in_spread(uint64_t index, double value, double& reference) {
    if (what_.spread == nullptr) return false;
    const auto found = what_.spread->find(index);
    if (found == what_.spread->end()) return false;
    const auto [low, high] = found->second;
    if (value >= low && value <= high) {
      ++result_.in_spread;
      return true;
    }
    if (value < low) reference = low;
    if (value > high) reference = high;
    return false;
  }

  Judged judge_bits(uint64_t first, size_t i) {
    double reference = decode(type_, k0_[i]);
    const double value = decode(type_, candidate_[i]);
    if (in_spread(first + i, value, reference)) return {};
    ++result_.beyond, ++result_.beyond_paper;
    result_.max_absolute = std::max(result_.max_absolute, std::fabs(value - reference));
    return {false, false, std::max(std::fabs(value - reference), 1.0)};
  }

  Judged judge_float(uint64_t first, size_t i) {
    const double a = a_[i], b = b_[i];
    if (!std::isfinite(a) || !std::isfinite(b)) {
      if ((std::isnan(a) && std::isnan(b)) || a == b) return {};
      ++result_.specials;
      return {false, false, infinity};
    }
    double reference = a;
    if (in_spread(first + i, b, reference)) {
      b_[i] = a; // the cosine must not suffer either
      return {};
    }
    const uint64_t ulps = ulps_between(type_, k0_[i], candidate_[i]);
    ++result_.ulps[ulp_bucket(ulps)];
    const double distance = std::fabs(b - reference);
    const double allowed = most_relative * std::max(std::fabs(a), rms_[i]);
    result_.max_absolute = std::max(result_.max_absolute, distance);
    if (a != 0) result_.max_relative = std::max(result_.max_relative, distance / std::fabs(a));
    Judged judged{distance <= allowed || ulps <= most_ulps, distance <= most_absolute, 0};
    if (!judged.scaled) ++result_.beyond;
    if (!judged.paper) ++result_.beyond_paper;
    judged.distance =
        rule_ == Rule::Paper ? distance / most_absolute : (allowed > 0 ? distance / allowed : infinity);
    return judged;
  }

  // False: one of the two wrote the element and the other did not.
  bool judge_writing(uint64_t first, size_t i, bool within) {
    if (!what_.before) return true;
    if (before_.empty()) {
      before_.resize(k0_.size());
      if (!reader_.read(what_.before, first, before_)) return true; // memory that was read a moment ago
    }
    if (before_[i] != k0_[i] && before_[i] != candidate_[i]) return true;
    bool k0_wrote = before_[i] != k0_[i], candidate_wrote = before_[i] != candidate_[i];
    if (what_.k0_wrote && what_.candidate_wrote) {
      const auto [offset, bytes] = reader_.range(first + i, 1);
      k0_wrote = what_.k0_wrote(offset, bytes);
      candidate_wrote = what_.candidate_wrote(offset, bytes);
    } else if (!what_.poisoned) {
      if (within) ++result_.doubtful;
      return true;
    }
    if (k0_wrote && !candidate_wrote) ++result_.unwritten;
    if (candidate_wrote && !k0_wrote) ++result_.overwritten;
    return k0_wrote == candidate_wrote;
  }

  void finish() {
    const bool shared = result_.specials == 0 && result_.unwritten == 0 && result_.overwritten == 0;
    if (type_.is_float()) {
      result_.only_one_zero = k0_nonzero_ != candidate_nonzero_;
      if (sums_.k0 > 0 && sums_.candidate > 0 && result_.different != 0)
        result_.cosine =
            static_cast<double>(sums_.product / (std::sqrt(sums_.k0) * std::sqrt(sums_.candidate)));
      else if (result_.only_one_zero)
        result_.cosine = 0;
      result_.ulp_exceeds_paper = largest_ > 0 && type_.specials != ElementType::Specials::Scale &&
                                  std::ldexp(1.0, std::ilogb(largest_) - type_.mantissa_bits) > most_absolute;
    }
    const bool alike = shared && !result_.only_one_zero && result_.cosine >= least_cosine;
    result_.scaled = alike && result_.beyond == 0;
    result_.paper = alike && result_.beyond_paper == 0;
  }

  const Layout layout_;
  const Compared& what_;
  Rule rule_;
  const ElementType& type_;
  CodeReader reader_;
  Decoder decoder_;
  Touched touched_;
  uint64_t scale_; // indices of layout_ to those asked about
  BufferComparison result_;
  Sums sums_;
  bool k0_nonzero_ = false, candidate_nonzero_ = false;
  double largest_ = 0;
  std::vector<uint64_t> k0_, candidate_, before_;
  std::vector<double> a_, b_, rms_;
};

} // namespace

std::string_view name(Rule rule) {
  return rule == Rule::Scaled ? "scaled" : "paper";
}

Result<Rule> rule_named(std::string_view text) {
  for (const Rule rule : {Rule::Scaled, Rule::Paper})
    if (text == name(rule)) return rule;
  return bad_input("unknown rule '{}'; there are scaled and paper", printable(text));
}

size_t ulp_bucket(uint64_t ulps) {
  constexpr size_t last = std::tuple_size_v<decltype(BufferComparison::ulps)> - 1;
  return ulps <= 1 ? ulps : std::min<size_t>(static_cast<size_t>(std::bit_width(ulps - 1)) + 1, last);
}

Result<BufferComparison> compare(const Layout& layout, const Compared& what, Rule rule) {
  return Comparer(layout, what, rule).run();
}

Result<uint64_t> widen(Spread& spread, const Layout& given, const ReadBytes& k0, const ReadBytes& other,
                       const NextTouched& next_touched) {
  const Layout layout = given.type().bits > 64 ? bytewise(given) : given;
  CodeReader reader(layout);
  const Touched touched(layout, next_touched);
  const uint64_t row = layout.row(), whole = layout.dense() ? layout.count() : row;
  std::vector<uint64_t> a, b;
  uint64_t found = 0;
  for (uint64_t start = 0; start < layout.count(); start += whole)
    for (uint64_t first = touched.skip(start, block_elements); first < start + whole;
         first = touched.skip(first + block_elements, block_elements)) {
      const uint64_t n = std::min(block_elements, start + whole - first);
      const auto [offset, bytes] = reader.range(first, n);
      if (!touched.any(offset, bytes)) continue;
      a.resize(n), b.resize(n);
      ASMEVO_CHECK(reader.read(k0, first, a));
      ASMEVO_CHECK(reader.read(other, first, b));
      if (a == b) continue;
      for (size_t i = 0; i < n; ++i) {
        if (a[i] == b[i]) continue;
        ++found;
        const double x = decode(layout.type(), a[i]), y = decode(layout.type(), b[i]);
        auto& range = spread.try_emplace(first + i, x, x).first->second;
        range = {std::min(range.first, y), std::max(range.second, y)};
        if (spread.size() > most_spread)
          return unsupported("K0 leaves more than {} elements of a buffer different from run to run",
                             most_spread);
      }
    }
  return found;
}

std::string BufferComparison::describe(const ElementType& t) const {
  const auto element = [&](std::string_view what, const ElementDifference& d) {
    return fmt::format("{} at {}: {}, candidate {}", what, d.index, show(t, d.k0), show(t, d.candidate));
  };
  std::string text;
  if (first) text = element("first", *first);
  if (worst && first && worst->index != first->index) text += "; " + element("worst", *worst);
  if (unwritten != 0) text += fmt::format("; {} elements not written", unwritten);
  if (overwritten != 0) text += fmt::format("; {} elements written that K0 leaves alone", overwritten);
  if (only_one_zero) text += "; one of the two is all zeros";
  if (t.is_float()) text += fmt::format("; cosine {:.6f}, max difference {:.6g}", cosine, max_absolute);
  return text.starts_with("; ") ? text.substr(2) : text;
}

} // namespace asmevo::oracle
