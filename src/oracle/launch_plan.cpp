#include "oracle/launch_plan.h"

#include "base/files.h"
#include "base/hash.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace asmevo::oracle {

namespace {

constexpr int64_t most = std::numeric_limits<int64_t>::max();
constexpr int64_t most_bytes = int64_t{1} << 40; // of one buffer
constexpr uint64_t most_bytes_in_all = uint64_t{1} << 42;
constexpr uint64_t default_guard = 4096, default_alignment = 256;
constexpr uint64_t most_data_file = uint64_t{8} << 30;
constexpr size_t most_pointers = size_t{1} << 20;
constexpr uint64_t most_worked_out = uint64_t{1} << 16; // elements, each by an expression of its own
constexpr std::string_view element_index = "index";     // in such expressions

// Sizes by depth-first search; what is being worked out must not be asked for again.
class SizeSolver {
 public:
  SizeSolver(const LaunchSpec& spec, std::map<std::string, Expression> texts)
      : spec_(spec), texts_(std::move(texts)) {}

  Result<Scope> run() {
    for (const auto& [name, e] : texts_) ASMEVO_CHECK(solve(name, e, 0));
    return std::move(done_);
  }

 private:
  static constexpr unsigned most_depth = 100;

  Status solve(const std::string& name, const Expression& e, unsigned depth) {
    if (done_.contains(name)) return {};
    if (!open_.insert(name).second)
      return bad_input("{}: size '{}' depends on itself", spec_.place(e.line), name);
    if (depth > most_depth)
      return bad_input("{}: size '{}' is needed through more than {} others", spec_.place(e.line), name,
                       most_depth);
    for (const std::string& word : words(e.text))
      if (const auto needed = texts_.find(word); needed != texts_.end())
        ASMEVO_CHECK(solve(word, needed->second, depth + 1));
    const Result<int64_t> value = evaluate_integer(e.text, done_, 0, most);
    if (!value) return failed(value.error(), fmt::format("{}: size '{}'", spec_.place(e.line), name));
    done_.emplace(name, *value);
    return {};
  }

  static std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> list;
    std::string word;
    for (const char c : std::string(text) + " ") {
      const bool part =
          (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
      if (part) {
        word += c;
      } else {
        if (is_name(word)) list.push_back(word);
        word.clear();
      }
    }
    return list;
  }

  const LaunchSpec& spec_;
  std::map<std::string, Expression> texts_;
  std::set<std::string> open_;
  Scope done_;
};

class Planner {
 public:
  Planner(LaunchSpec spec, const std::string& shape, uint64_t seed) {
    plan_.spec = std::move(spec);
    plan_.shape = shape;
    plan_.seed = seed;
  }

  Result<LaunchPlan> run() {
    ASMEVO_TRY(plan_.sizes, work_out_sizes(plan_.spec, plan_.shape));
    for (const AllocationSpec& a : plan_.spec.allocations) ASMEVO_CHECK(add_allocation(a));
    for (const BufferSpec& b : plan_.spec.buffers) ASMEVO_CHECK(add_buffer(b));
    for (PlannedBuffer& b : plan_.buffers)
      if (!b.spec->alias.empty()) ASMEVO_CHECK(place_alias(b));
    for (PlannedBuffer& b : plan_.buffers)
      if (b.spec->init) ASMEVO_CHECK(plan_init(b, *b.spec->init));
    ASMEVO_CHECK(check_allocations());
    return std::move(plan_);
  }

 private:
  static std::string what(const BufferSpec& b) { return fmt::format("buffer '{}'", b.name); }
  std::unexpected<Error> error(unsigned line, std::string_view who, std::string_view key,
                               const Error& e) const {
    return failed(e, fmt::format("{}: {}: {}", plan_.spec.place(line), who, key));
  }
  template <class... Args>
  std::unexpected<Error> error(unsigned line, std::string_view who, std::string_view key,
                               fmt::format_string<Args...> format, Args&&... args) const {
    return error(line, who, key,
                 Error{ErrorKind::BadInput, fmt::format(format, std::forward<Args>(args)...)});
  }

  Result<uint64_t> natural(const Expression& e, const BufferSpec& b, std::string_view key,
                           int64_t limit = most) const {
    const auto value = evaluate_integer(e.text, plan_.sizes, 0, limit);
    if (!value) return error(e.line, what(b), key, value.error());
    return static_cast<uint64_t>(*value);
  }

  Status add_allocation(const AllocationSpec& spec) {
    PlannedAllocation a;
    a.name = spec.name;
    const std::string who = fmt::format("allocation '{}'", spec.name);
    if (spec.alignment.given()) {
      const auto value = evaluate_integer(spec.alignment.text, plan_.sizes, 1, int64_t{1} << 30);
      if (!value) return error(spec.alignment.line, who, "align", value.error());
      a.alignment = static_cast<uint64_t>(*value);
      if (!std::has_single_bit(a.alignment))
        return error(spec.alignment.line, who, "align", "must be a power of two");
    }
    if (spec.address.given()) {
      const auto value = evaluate_integer(spec.address.text, plan_.sizes, 1, most);
      if (!value) return error(spec.address.line, who, "address", value.error());
      a.address = static_cast<uint64_t>(*value);
    }
    plan_.allocations.push_back(std::move(a));
    return {};
  }

  Result<std::vector<uint64_t>> naturals(const std::vector<Expression>& list, const BufferSpec& b,
                                         std::string_view key) {
    std::vector<uint64_t> values;
    for (const Expression& e : list) {
      ASMEVO_TRY(const uint64_t value, natural(e, b, key));
      values.push_back(value);
    }
    return values;
  }

  Status add_buffer(const BufferSpec& spec) {
    PlannedBuffer b;
    b.spec = &spec;
    b.name = spec.name;
    b.role = spec.role;
    ASMEVO_TRY(const ElementType type, element_type(spec.dtype));
    ASMEVO_TRY(std::vector<uint64_t> shape, naturals(spec.shape, spec, "shape"));
    ASMEVO_TRY(std::vector<uint64_t> strides, naturals(spec.strides, spec, "strides"));
    Result<Layout> layout = Layout::make(type, std::move(shape), std::move(strides));
    if (!layout)
      return error(spec.line, what(spec), spec.strides.empty() ? "shape" : "strides", layout.error());
    b.layout = *std::move(layout);
    b.bytes = b.layout.bytes();
    if (spec.alias.empty()) ASMEVO_CHECK(place(b));
    plan_.buffers.push_back(std::move(b));
    return {};
  }

  // In an allocation behind the last buffer there, or where the file says.
  Status place(PlannedBuffer& b) {
    const BufferSpec& spec = *b.spec;
    const uint64_t guard = spec.guard.value_or(default_guard);
    if (spec.allocation.empty()) {
      b.allocation = plan_.allocations.size();
      plan_.allocations.push_back(
          {spec.name, default_alignment, 0, b.bytes, guard, guard, {plan_.buffers.size()}});
      return {};
    }
    const auto found = std::ranges::find(plan_.allocations, spec.allocation, &PlannedAllocation::name);
    b.allocation = static_cast<size_t>(found - plan_.allocations.begin());
    PlannedAllocation& a = *found;
    if (spec.offset.given()) {
      ASMEVO_TRY(b.offset, natural(spec.offset, spec, "offset", most_bytes));
    } else if (!a.buffers.empty()) {
      const uint64_t gap =
          std::max(guard, plan_.buffers[a.buffers.back()].spec->guard.value_or(default_guard));
      b.offset = align_up(a.bytes + gap, default_alignment);
    }
    a.bytes = std::max(a.bytes, b.offset + b.bytes);
    a.guard_before = std::max(a.guard_before, guard);
    a.guard_behind = std::max(a.guard_behind, guard);
    a.buffers.push_back(plan_.buffers.size());
    return {};
  }

  Status place_alias(PlannedBuffer& b) {
    const BufferSpec& spec = *b.spec;
    b.alias = plan_.find(spec.alias);
    const PlannedBuffer& whole = plan_.buffers[*b.alias];
    uint64_t offset = 0;
    if (spec.offset.given()) {
      ASMEVO_TRY(offset, natural(spec.offset, spec, "offset", most_bytes));
    }
    if (offset > whole.bytes || b.bytes > whole.bytes - offset)
      return error(spec.line, what(spec), "alias", "bytes {} to {} of buffer '{}', which has {}", offset,
                   offset + b.bytes, whole.name, whole.bytes);
    b.allocation = whole.allocation;
    b.offset = whole.offset + offset;
    return {};
  }

  Status check_allocations() {
    uint64_t in_all = 0;
    for (PlannedAllocation& a : plan_.allocations) {
      std::ranges::stable_sort(a.buffers, {}, [&](size_t i) { return plan_.buffers[i].offset; });
      const PlannedBuffer* before = nullptr;
      for (const size_t i : a.buffers) {
        const PlannedBuffer& b = plan_.buffers[i];
        if (before != nullptr && b.offset < before->offset + before->bytes)
          return error(b.spec->line, what(*b.spec), "offset", "overlaps buffer '{}' in allocation '{}'",
                       before->name, a.name);
        before = &b;
      }
      in_all += a.bytes + a.guard_before + a.guard_behind;
      if (in_all > most_bytes_in_all)
        return bad_input("{}: the buffers need more than {} GiB", plan_.spec.file, most_bytes_in_all >> 30);
    }
    return {};
  }

  // --- first contents

  uint64_t seed_of(const PlannedBuffer& b) const {
    const uint64_t own = b.spec->seed.value_or(hash64(as_bytes(b.name)));
    return random_bits(own, plan_.seed);
  }

  Result<Number> number(const InitSpec& init, const PlannedBuffer& b, std::string_view key) const {
    const auto form = std::ranges::find(init_forms(), init.kind, &InitForm::kind);
    const auto fallback =
        std::ranges::find(form->numbers, key, &std::pair<std::string_view, std::string_view>::first);
    const auto given = init.numbers.find(std::string(key));
    const Expression e =
        given != init.numbers.end() ? given->second : Expression{std::string(fallback->second), init.line};
    Result<Number> value = evaluate(e.text, plan_.sizes);
    if (!value) return error(e.line, what(*b.spec), fmt::format("init: {}", key), value.error());
    return value;
  }

  // Into both forms; a whole number where the type is of integers.
  Status take(const InitSpec& init, const PlannedBuffer& b, std::string_view key, double& real,
              int64_t& whole) const {
    ASMEVO_TRY(const Number n, number(init, b, key));
    const int64_t* integer = std::get_if<int64_t>(&n);
    real = integer != nullptr ? static_cast<double>(*integer) : std::get<double>(n);
    whole = integer != nullptr ? *integer : 0;
    const bool needed = b.layout.type().is_integer() || init.kind == "integers";
    if (!needed) return {};
    const std::string where = fmt::format("init: {}", key);
    if (integer == nullptr && real != std::trunc(real))
      return error(init.line, what(*b.spec), where, "must be an integer");
    if (integer == nullptr) whole = static_cast<int64_t>(std::clamp(real, -0x1p62, 0x1p62));
    const bool step = key == "step"; // sequences go round modulo the type anyway
    if (b.layout.type().is_integer() && !step)
      if (const auto fits = encode_integer(b.layout.type(), whole); !fits)
        return error(init.line, what(*b.spec), where, fits.error());
    return {};
  }

  Status plan_init(PlannedBuffer& b, const InitSpec& init) {
    b.init.seed = seed_of(b);
    const ElementType& t = b.layout.type();
    const bool numeric = init.kind != "random_bits" && init.kind != "poison" && init.kind != "bytes" &&
                         init.kind != "file" && init.kind != "zeros";
    if (numeric && t.is_opaque() && (t.bits != 8 || init.kind != "constant"))
      return error(init.line, what(*b.spec), "init", "elements of {} are no numbers", name_of(t));
    if (init.kind == "zeros") return constant(b, 0);
    if (init.kind == "ones") return constant(b, 1);
    if (init.kind == "constant") {
      b.init.kind = InitKind::Constant;
      return take(init, b, "value", b.init.first, b.init.whole_first);
    }
    if (init.kind == "uniform" || init.kind == "normal" || init.kind == "integers")
      return plan_random(b, init);
    if (init.kind == "sequence") return plan_sequence(b, init);
    if (init.kind == "one_hot") {
      b.init.kind = InitKind::OneHot;
      return take(init, b, "value", b.init.first, b.init.whole_first);
    }
    if (init.kind == "permutation") {
      b.init.kind = InitKind::Permutation;
      return {};
    }
    if (init.kind == "random_bits") b.init.kind = InitKind::RandomBits;
    if (init.kind == "values") return plan_values(b, init);
    if (init.kind == "expression") return plan_expression(b, init);
    if (init.kind == "bytes") return plan_bytes(b, init);
    if (init.kind == "file") return plan_file(b, init);
    if (init.kind == "pointers") return plan_pointer_table(b, init);
    return {};
  }

  static Status constant(PlannedBuffer& b, int64_t value) {
    b.init.kind = InitKind::Constant;
    b.init.whole_first = value;
    b.init.first = static_cast<double>(value);
    return {};
  }

  Status plan_random(PlannedBuffer& b, const InitSpec& init) {
    Init& i = b.init;
    if (init.kind == "normal") {
      i.kind = InitKind::Normal;
      int64_t unused = 0;
      if (b.layout.type().is_integer())
        return error(init.line, what(*b.spec), "init", "normal is for floating-point elements; use integers");
      ASMEVO_CHECK(take(init, b, "mean", i.first, unused));
      return take(init, b, "deviation", i.second, unused);
    }
    i.kind = init.kind == "uniform" ? InitKind::Uniform : InitKind::Integers;
    if (init.kind == "uniform" && b.layout.type().is_integer())
      return error(init.line, what(*b.spec), "init", "uniform is for floating-point elements; use integers");
    ASMEVO_CHECK(take(init, b, "low", i.first, i.whole_first));
    ASMEVO_CHECK(take(init, b, "high", i.second, i.whole_second));
    if (i.first > i.second || (i.kind == InitKind::Integers && i.whole_first > i.whole_second))
      return error(init.line, what(*b.spec), "init: low", "is above high");
    return {};
  }

  Status plan_sequence(PlannedBuffer& b, const InitSpec& init) {
    b.init.kind = InitKind::Sequence;
    ASMEVO_CHECK(take(init, b, "start", b.init.first, b.init.whole_first));
    ASMEVO_CHECK(take(init, b, "step", b.init.second, b.init.whole_second));
    ASMEVO_TRY(const Number period, number(init, b, "period"));
    const int64_t* whole = std::get_if<int64_t>(&period);
    if (whole == nullptr || *whole < 0)
      return error(init.line, what(*b.spec), "init: period", "must be an integer from 0");
    b.init.third = static_cast<uint64_t>(*whole);
    return {};
  }

  Status short_of(const PlannedBuffer& b, unsigned line, uint64_t given, uint64_t needed,
                  std::string_view unit) const {
    if (given == needed) return {};
    return error(line, what(*b.spec), "init", "{} {}; the buffer has {}", given, unit, needed);
  }

  Status add_code(PlannedBuffer& b, const Expression& e, std::string_view key, const Scope& scope) const {
    const auto value = evaluate(e.text, scope);
    if (!value) return error(e.line, what(*b.spec), key, value.error());
    const int64_t* whole = std::get_if<int64_t>(&*value);
    if (b.layout.type().is_integer()) {
      if (whole == nullptr) return error(e.line, what(*b.spec), key, "must be integers");
      const auto code = encode_integer(b.layout.type(), *whole);
      if (!code) return error(e.line, what(*b.spec), key, code.error());
      b.init.codes.push_back(*code);
      return {};
    }
    const double number = whole != nullptr ? static_cast<double>(*whole) : std::get<double>(*value);
    b.init.codes.push_back(encode(b.layout.type(), number));
    return {};
  }

  Status plan_values(PlannedBuffer& b, const InitSpec& init) {
    b.init.kind = InitKind::Codes;
    ASMEVO_CHECK(short_of(b, init.line, init.values.size(), b.layout.count(), "values"));
    for (const Expression& e : init.values) ASMEVO_CHECK(add_code(b, e, "init: values", plan_.sizes));
    return {};
  }

  Status plan_expression(PlannedBuffer& b, const InitSpec& init) {
    b.init.kind = InitKind::Codes;
    const Expression& e = init.numbers.at("value");
    if (b.layout.count() > most_worked_out)
      return error(e.line, what(*b.spec), "init", "an expression for {} elements; {} are the most",
                   b.layout.count(), most_worked_out);
    if (plan_.sizes.contains(element_index))
      return error(e.line, what(*b.spec), "init", "'{}' is a size, too", element_index);
    Scope scope = plan_.sizes;
    for (uint64_t i = 0; i < b.layout.count(); ++i) {
      scope.insert_or_assign(std::string(element_index), static_cast<int64_t>(i));
      ASMEVO_CHECK(add_code(b, e, "init: value", scope));
    }
    return {};
  }

  Status plan_bytes(PlannedBuffer& b, const InitSpec& init) {
    b.init.kind = InitKind::Bytes;
    Result<Bytes> bytes = hex_bytes(init.text);
    if (!bytes) return error(init.line, what(*b.spec), "init: hex", bytes.error());
    b.init.bytes = *std::move(bytes);
    return short_of(b, init.line, b.init.bytes.size(), b.bytes, "bytes");
  }

  Status plan_file(PlannedBuffer& b, const InitSpec& init) {
    b.init.kind = InitKind::Bytes;
    ASMEVO_TRY(const Number from, number(init, b, "offset"));
    const int64_t* offset = std::get_if<int64_t>(&from);
    if (offset == nullptr || *offset < 0)
      return error(init.line, what(*b.spec), "init: offset", "must be an integer from 0");
    const auto path = std::filesystem::path(plan_.spec.file).parent_path() / init.text;
    Result<Bytes> bytes = read_file(path, most_data_file);
    if (!bytes) return error(init.line, what(*b.spec), "init: path", bytes.error());
    const auto start = static_cast<uint64_t>(*offset);
    if (start > bytes->size() || bytes->size() - start < b.bytes)
      return error(init.line, what(*b.spec), "init", "{} has {} bytes; {} from byte {} on are needed",
                   path.string(), bytes->size(), b.bytes, start);
    bytes->erase(bytes->begin(), bytes->begin() + *offset);
    bytes->resize(b.bytes);
    b.init.bytes = *std::move(bytes);
    return {};
  }

  Status plan_pointer_table(PlannedBuffer& b, const InitSpec& init) {
    b.init.kind = InitKind::Codes;
    if (b.layout.type().bits != 64 || !b.layout.type().is_integer())
      return error(b.spec->line, what(*b.spec), "dtype", "pointers need ptr");
    ASMEVO_TRY(b.pointers, plan_pointers(plan_, init.pointers, plan_.sizes, what(*b.spec) + ": init"));
    return short_of(b, init.line, b.pointers.size(), b.layout.count(), "pointers");
  }

  LaunchPlan plan_;
};

} // namespace

Result<Scope> work_out_sizes(const LaunchSpec& spec, const std::string& shape) {
  std::map<std::string, Expression> texts = spec.sizes;
  if (!shape.empty()) {
    const auto found = spec.shapes.find(shape);
    if (found == spec.shapes.end()) {
      std::string known;
      for (const auto& [name, sizes] : spec.shapes) known += " " + name;
      return bad_input("{}: no shape is called '{}'; there {}{}", spec.file, printable(shape),
                       known.empty() ? "are none" : "are:", known);
    }
    for (const auto& [name, e] : found->second) texts[name] = e;
  }
  return SizeSolver(spec, std::move(texts)).run();
}

Result<LaunchPlan> LaunchPlan::make(LaunchSpec spec, const std::string& shape, uint64_t seed) {
  return Planner(std::move(spec), shape, seed).run();
}

std::optional<size_t> LaunchPlan::find(std::string_view name) const {
  for (size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].name == name) return i;
  return std::nullopt;
}

Result<Bytes> hex_bytes(std::string_view text) {
  Bytes bytes;
  int high = -1;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      if (high >= 0) return bad_input("a blank within a byte");
      continue;
    }
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return bad_input("'{}' is no hex digit", printable(std::string(1, c)));
    if (high < 0) {
      high = digit;
    } else {
      bytes.push_back(static_cast<uint8_t>(high << 4 | digit));
      high = -1;
    }
  }
  if (high >= 0) return bad_input("an odd number of hex digits");
  return bytes;
}

Result<std::vector<PlannedPointer>> plan_pointers(const LaunchPlan& plan,
                                                  const std::vector<PointerSpec>& specs, const Scope& scope,
                                                  std::string_view what) {
  std::vector<PlannedPointer> list;
  for (const PointerSpec& p : specs) {
    const size_t buffer = *plan.find(p.buffer); // the spec was checked
    const auto value = [&](const Expression& e, std::string_view key, int64_t none) -> Result<int64_t> {
      if (!e.given()) return none;
      const auto n = evaluate_integer(e.text, scope, 0, most_bytes);
      if (!n) return failed(n.error(), fmt::format("{}: {}: {}", plan.spec.place(e.line), what, key));
      return *n;
    };
    ASMEVO_TRY(const int64_t offset, value(p.offset, "offset", 0));
    ASMEVO_TRY(const int64_t stride, value(p.stride, "stride", 0));
    ASMEVO_TRY(const int64_t count, value(p.count, "count", 1));
    if (static_cast<uint64_t>(count) > most_pointers - list.size())
      return bad_input("{}: {}: more than {} pointers", plan.spec.place(p.line), what, most_pointers);
    const uint64_t size = plan.buffers[buffer].bytes;
    for (int64_t i = 0; i < count; ++i) {
      int64_t at = 0;
      if (__builtin_mul_overflow(i, stride, &at) || __builtin_add_overflow(at, offset, &at) ||
          static_cast<uint64_t>(at) > size)
        return bad_input("{}: {}: pointer {} is beyond buffer '{}' of {} bytes", plan.spec.place(p.line),
                         what, i, p.buffer, size);
      list.push_back({buffer, static_cast<uint64_t>(at)});
    }
  }
  return list;
}

} // namespace asmevo::oracle
