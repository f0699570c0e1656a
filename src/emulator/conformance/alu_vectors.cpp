#include "emulator/conformance/alu_vectors.h"

#include "emulator/conformance/snippet.h"
#include "emulator/half_bits.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

namespace asmevo::emulator::conformance {

namespace {

using nlohmann::json;

struct Malformed {
  std::string what;
};

uint64_t number(std::string_view text) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size())
    throw Malformed{fmt::format("'{}' is no number", text)};
  return value;
}

// A number, or "@mem+0x10": an address in the vector's memory.
uint64_t value_of(const json& v) {
  if (v.is_number_unsigned()) return v.get<uint64_t>();
  const auto& text = v.get_ref<const std::string&>();
  constexpr std::string_view in_memory = "@mem+";
  if (text.starts_with(in_memory))
    return Snippet::memory_address + number(std::string_view(text).substr(in_memory.size()));
  return number(text);
}

unsigned register_number(std::string_view text) {
  const uint64_t value = number(text);
  if (value > 0xffff) throw Malformed{fmt::format("register number {} is out of range", value)};
  return static_cast<unsigned>(value);
}

// "v12", "s[4:5]", "a3", "vcc", "m0", ...
struct RegisterName {
  char file = 0; // 'v', 'a', 's'; 0: a name of its own
  unsigned first = 0, count = 1;
  bool or_high = false; // "s[4:5].or_hi"

  explicit RegisterName(std::string_view name) {
    constexpr std::string_view suffix = ".or_hi";
    if (name.ends_with(suffix)) or_high = true, name.remove_suffix(suffix.size());
    if (name.size() < 2 || std::string_view("vas").find(name[0]) == std::string_view::npos) return;
    const bool range = name[1] == '[';
    if (!range && (name[1] < '0' || name[1] > '9')) return;
    file = name[0];
    name.remove_prefix(range ? 2 : 1);
    if (range) name.remove_suffix(1);
    const size_t colon = name.find(':');
    first = register_number(name.substr(0, colon));
    if (colon != std::string_view::npos) count = register_number(name.substr(colon + 1)) - first + 1;
    const unsigned limit = file == 's' ? slot::scc : 256;
    if (first + count > limit || count > 2)
      throw Malformed{fmt::format("register number {} is out of range", first)};
  }
};

class AluVector {
 public:
  explicit AluVector(const json& v) : v_(v) {}

  std::string run() {
    const auto target = isa::Target::from_id(v_.at("arch").get<std::string>());
    if (!target) return target.error().message;
    std::string text;
    for (const json& line : v_.at("asm")) text += line.get<std::string>() + "\n";
    auto made = Snippet::assemble(*target, text);
    if (!made) return made.error().message;
    snippet_ = &*made;
    set_up();
    snippet_->run();
    if (const Fault& f = snippet_->wave().fault)
      return fmt::format("fault at pc {:#x}: {} (lane {}, address {:#x})", f.pc, f.text, f.lane, f.address);
    check();
    return failure_;
  }

 private:
  Wave& wave() { return snippet_->wave(); }

  static std::vector<uint8_t> words(const json& object) {
    constexpr uint64_t largest = 1 << 24; // bytes
    const auto size = object.at("size").get<uint64_t>();
    if (size > largest) throw Malformed{fmt::format("{} bytes of memory", size)};
    std::vector<uint8_t> bytes(size);
    const std::string hex = object.value("words", std::string());
    for (size_t i = 0; i + 8 <= hex.size() && i / 2 + 4 <= bytes.size(); i += 8)
      store(std::span(bytes), i / 2, static_cast<uint32_t>(number("0x" + hex.substr(i, 8))));
    return bytes;
  }

  void set_up() {
    // Vectors of hardware ran with what the assembler gives a kernel that asks for nothing: f32 denormals
    // flushed.
    constexpr uint32_t assembler_default = 0x3c0;
    if (v_.value("origin", std::string()).starts_with("hw")) wave().set_mode(assembler_default);
    if (v_.contains("mem")) {
      const std::vector<uint8_t> bytes = words(v_.at("mem"));
      if (!snippet_->memory().map({"memory", Snippet::memory_address, bytes.size()}, bytes))
        throw Malformed{"its memory has no bytes"};
    }
    if (v_.contains("lds")) {
      const std::vector<uint8_t> bytes = words(v_.at("lds"));
      std::copy_n(bytes.begin(), std::min(bytes.size(), snippet_->lds().size()), snippet_->lds().begin());
    }
    if (v_.contains("scratch")) snippet_->add_scratch(v_.at("scratch").at("bytes_per_lane").get<uint32_t>());
    for (const auto& [name, value] : v_.at("init").items()) set_register(name, value);
  }

  void set_register(const std::string& name, const json& value) {
    const RegisterName r(name);
    if (r.file == 's') {
      if (r.or_high)
        snippet_->s(r.first + 1) |= static_cast<uint32_t>(value_of(value));
      else
        for (unsigned i = 0; i < r.count; ++i)
          snippet_->s(r.first + i) = static_cast<uint32_t>(value_of(value) >> (32 * i));
    } else if (r.file != 0) {
      for (unsigned l = 0; l < lanes; ++l) {
        const uint64_t bits = !value.is_array() ? value_of(value) : l < value.size() ? value_of(value[l]) : 0;
        for (unsigned i = 0; i < r.count; ++i)
          vector(r, r.first + i, l) = static_cast<uint32_t>(bits >> (32 * i));
      }
    } else if (name == "exec")
      wave().set_exec(value_of(value));
    else if (name == "vcc")
      wave().set_vcc(value_of(value));
    else if (name == "scc")
      wave().scc() = static_cast<uint32_t>(value_of(value));
    else if (name == "m0")
      wave().scalars[slot::m0] = static_cast<uint32_t>(value_of(value));
    else if (name == "mode")
      wave().set_mode(static_cast<uint32_t>(value_of(value)));
    else
      throw Malformed{fmt::format("unknown state '{}'", name)};
  }

  uint32_t& vector(const RegisterName& r, unsigned index, unsigned lane) {
    return r.file == 'a' ? snippet_->a(index, lane) : snippet_->v(index, lane);
  }

  void check() {
    for (const auto& [name, value] : v_.at("expect").items()) {
      if (!failure_.empty()) return;
      const RegisterName r(name);
      if (r.file == 'v' || r.file == 'a')
        check_vector(name, r, value);
      else if (r.file == 's')
        same(name, snippet_->s(r.first), value_of(value), mask(name));
      else if (name == "exec")
        same(name, wave().exec(), value_of(value), mask(name));
      else if (name == "vcc")
        same(name, wave().vcc(), value_of(value), mask(name));
      else if (name == "scc")
        same(name, wave().scc(), value_of(value), mask(name));
      else if (name == "mem" || name == "lds")
        check_memory(name, value);
      else
        throw Malformed{fmt::format("unknown expectation '{}'", name)};
    }
  }

  uint64_t mask(const std::string& name) const {
    const auto at = v_.find("expect_mask");
    return at != v_.end() && at->contains(name) ? value_of(at->at(name)) : ~uint64_t{0};
  }

  void same(const std::string& where, uint64_t got, uint64_t expected, uint64_t bits) {
    if (((got ^ expected) & bits) != 0)
      failure_ = fmt::format("{}: expected {:#x}, got {:#x}", where, expected & bits, got & bits);
  }

  void check_memory(const std::string& name, const json& value) {
    for (const auto& [offset_text, expected] : value.items()) {
      const uint64_t offset = number(offset_text);
      uint32_t got = 0;
      if (name == "lds")
        got = load<uint32_t>(snippet_->lds(), offset).value_or(0);
      else
        snippet_->memory().guest_read(Snippet::memory_address + offset, &got, 4);
      same(fmt::format("{}+{:#x}", name, offset), got, value_of(expected), ~uint64_t{0});
    }
  }

  // The comparison a register asks for: "v[20:21]": "f64" covers both halves.
  struct Comparison {
    std::string type; // empty: bits
    unsigned first = 0;
  };
  Comparison comparison(unsigned index) const {
    const auto at = v_.find("cmp");
    if (at == v_.end()) return {};
    for (const auto& [name, type] : at->items()) {
      const RegisterName r(name);
      if (r.file == 'v' && index >= r.first && index < r.first + r.count)
        return {type.get<std::string>(), r.first};
    }
    return {};
  }

  void check_vector(const std::string& name, const RegisterName& r, const json& value) {
    const Comparison how = r.file == 'v' ? comparison(r.first) : Comparison{};
    for (const auto& [lane_text, expected] : value.items()) {
      if (number(lane_text) >= lanes) throw Malformed{"a lane beyond 63"};
      const auto lane = static_cast<unsigned>(number(lane_text));
      const std::string where = fmt::format("{} lane {}", name, lane);
      const uint32_t got = vector(r, r.first, lane), want = static_cast<uint32_t>(value_of(expected));
      if (((got ^ want) & mask(name)) == 0) continue;
      if (!close(how, r, lane, got, want)) same(where, got, want, mask(name));
      if (!failure_.empty()) return;
    }
  }

  bool close(const Comparison& how, const RegisterName& r, unsigned lane, uint32_t got, uint32_t want) {
    if (how.type == "f32" || how.type == "pk2f32") return close_float<float, int32_t>(got, want);
    if (how.type == "f16") return close_half(got & 0xffff, want & 0xffff);
    if (how.type == "pk2f16")
      return close_half(got & 0xffff, want & 0xffff) && close_half(got >> 16, want >> 16);
    if (how.type == "f64") {
      // Judged once, at either half, by the whole of both.
      const auto other = expected_half(how.first, lane, r);
      return other && close_float<double, int64_t>(snippet_->v64(how.first, lane), *other);
    }
    return false;
  }

  // The expected 64 bits of the pair that starts at `first`; the halves are listed as two registers.
  std::optional<uint64_t> expected_half(unsigned first, unsigned lane, const RegisterName&) const {
    uint64_t bits = 0;
    for (unsigned i = 0; i < 2; ++i) {
      const auto at = v_.at("expect").find(fmt::format("v{}", first + i));
      if (at == v_.at("expect").end()) return std::nullopt;
      const auto one = at->find(std::to_string(lane));
      if (one == at->end()) return std::nullopt;
      bits |= value_of(*one) << (32 * i);
    }
    return bits;
  }

  template <class T, class I, class B>
  bool close_float(B got_bits, B want_bits) const {
    const T got = std::bit_cast<T>(got_bits), want = std::bit_cast<T>(want_bits);
    if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want);
    const double tolerance = v_.value("tol_ulp", 0.0);
    const auto ordered = [](I bits) { return bits < 0 ? std::numeric_limits<I>::min() - bits : bits; };
    const auto distance = std::abs(static_cast<double>(ordered(std::bit_cast<I>(got))) -
                                   static_cast<double>(ordered(std::bit_cast<I>(want))));
    return (tolerance > 0 && distance <= tolerance) || within_absolute(got, want);
  }

  bool close_half(uint32_t got_bits, uint32_t want_bits) const {
    const float got = half_to_float(got_bits), want = half_to_float(want_bits);
    if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want);
    const auto ordered = [](uint32_t b) {
      return (b & 0x8000) != 0 ? -static_cast<int>(b & 0x7fff) : static_cast<int>(b);
    };
    const int distance = std::abs(ordered(got_bits) - ordered(want_bits));
    const double tolerance = v_.value("tol_ulp", 0.0);
    return got_bits == want_bits || (tolerance > 0 && distance <= tolerance) || within_absolute(got, want);
  }

  bool within_absolute(double got, double want) const {
    const double tolerance = v_.value("tol_abs", 0.0);
    return tolerance > 0 && std::abs(got - want) <= tolerance;
  }

  const json& v_;
  Snippet* snippet_ = nullptr;
  std::string failure_;
};

} // namespace

Outcome run_alu_vector(const json& v) {
  Outcome outcome;
  try {
    outcome.id = v.value("id", std::string("(no id)"));
    outcome.family = v.value("family", std::string("(no family)"));
    outcome.text = AluVector(v).run();
  } catch (const json::exception& e) {
    outcome.text = fmt::format("not a vector: {}", e.what());
  } catch (const Malformed& e) {
    outcome.text = "not a vector: " + e.what;
  }
  outcome.kind = outcome.text.empty() ? Outcome::Kind::Passed : Outcome::Kind::Failed;
  return outcome;
}

} // namespace asmevo::emulator::conformance
