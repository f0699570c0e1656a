#include "mutation/mutations.h"

#include "base/random.h"
#include "mutation/assembly_text.h"
#include "mutation/opcode_pairs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

namespace asmevo::mutation {

namespace {

constexpr std::array semantic_operators = {Operator::Opcode, Operator::Register, Operator::Immediate,
                                           Operator::Offset, Operator::Drop,     Operator::Bound};

bool one_of(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::ranges::find(list, text) != list.end();
}

// Instructions that do nothing but take time, and branches that only skip what would do nothing: without them
// the kernel computes the same.
bool has_no_meaning(const isa::Instruction& i) {
  switch (i.issue) {
  case isa::IssueClass::Waitcnt:
  case isa::IssueClass::Nop:
  case isa::IssueClass::Barrier:
  case isa::IssueClass::EndProgram:
  case isa::IssueClass::Data:
  case isa::IssueClass::Internal:
  case isa::IssueClass::Message: return true;
  default: return one_of(i.base_mnemonic, {"s_cbranch_execz", "s_setprio", "s_sleep", "s_icache_inv"});
  }
}

bool is_timing(const isa::Instruction& i) {
  return i.issue == isa::IssueClass::Waitcnt || i.issue == isa::IssueClass::Barrier ||
         i.issue == isa::IssueClass::Nop;
}

bool is_float(std::string_view mnemonic) {
  return mnemonic.find("_f32") != std::string_view::npos || mnemonic.find("_f16") != std::string_view::npos ||
         mnemonic.find("_f64") != std::string_view::npos || mnemonic.find("_bf16") != std::string_view::npos;
}

std::optional<int64_t> integer_in(std::string_view text) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (text.empty() || parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::optional<double> float_in(std::string_view text) {
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size())
    return std::nullopt;
  return value;
}

template <class T>
const T& pick(const std::vector<T>& list, RandomStream& random) {
  return list[random.below(list.size())];
}

// --- one function an operator: the new text, or none where it does not apply

using Changed = std::optional<AssemblyText>;

Changed change_opcode(const AssemblyText& t, const isa::Instruction&, RandomStream& random) {
  const std::vector<std::string_view> others = opcodes_in_place_of(t.base());
  if (others.empty()) return std::nullopt;
  AssemblyText changed = t;
  changed.mnemonic = std::string(pick(others, random)) + t.suffix();
  return changed;
}

// "v[4:7]" moved by two, "s3" by one or two.
std::string neighbour(const std::string& operand, RandomStream& random) {
  const size_t digit = operand.find_first_of("0123456789");
  const size_t letter = operand.find_first_of("vsa");
  if (digit == std::string::npos || letter == std::string::npos || letter + 2 < digit) return operand;
  if (operand.find_first_not_of("vsa[]:0123456789-|") != std::string::npos) return operand;
  const bool range = operand.find('[') != std::string::npos;
  int64_t step = range ? 2 : 1 + static_cast<int64_t>(random.below(2));
  if (random.below(2) == 0) step = -step;
  std::string result;
  for (size_t at = 0; at < operand.size();) {
    size_t end = at;
    while (end < operand.size() && operand[end] >= '0' && operand[end] <= '9') ++end;
    if (end == at) {
      result += operand[at++];
      continue;
    }
    const int64_t number = *integer_in(std::string_view(operand).substr(at, end - at)) + step;
    if (number < 0) return operand;
    result += std::to_string(number);
    at = end;
  }
  return result;
}

Changed change_register(const AssemblyText& t, const isa::Instruction&, RandomStream& random) {
  std::vector<size_t> places;
  for (size_t i = 0; i < t.operands.size(); ++i)
    if (t.operands[i].find_first_of("vsa") != std::string::npos &&
        t.operands[i].find_first_of("0123456789") != std::string::npos && !integer_in(t.operands[i]))
      places.push_back(i);
  if (places.empty()) return std::nullopt;
  AssemblyText changed = t;
  std::string& operand = changed.operands[pick(places, random)];
  operand = neighbour(operand, random);
  return changed;
}

std::string other_integer(int64_t value, std::string_view mnemonic, RandomStream& random) {
  if (is_float(mnemonic) && std::abs(value) > 64) { // the bits of a float
    const bool half = mnemonic.find("f16") != std::string_view::npos;
    const auto bits = static_cast<uint32_t>(value);
    const uint32_t sign = half ? 0x8000 : 0x80000000, one_exponent = half ? 0x400 : 0x800000;
    return fmt::format("{:#x}", random.below(2) == 0 ? bits ^ sign : bits + one_exponent);
  }
  const std::array<int64_t, 4> others = {value + 1, value - 1, value * 2, 0};
  return std::to_string(others[random.below(others.size())]);
}

Changed change_immediate(const AssemblyText& t, const isa::Instruction& i, RandomStream& random) {
  if (i.memory.kind != isa::MemoryKind::None) return std::nullopt; // see change_offset
  std::vector<size_t> places;
  for (size_t o = 0; o < t.operands.size(); ++o)
    if (integer_in(t.operands[o]) || float_in(t.operands[o])) places.push_back(o);
  if (places.empty()) return std::nullopt;
  AssemblyText changed = t;
  std::string& operand = changed.operands[pick(places, random)];
  if (const std::optional<int64_t> value = integer_in(operand)) {
    operand = other_integer(*value, t.mnemonic, random);
    return changed;
  }
  constexpr std::array<std::string_view, 4> floats = {"0", "0.5", "2.0", "-1.0"};
  operand = floats[random.below(floats.size())];
  return changed;
}

Changed change_offset(const AssemblyText& t, const isa::Instruction& i, RandomStream& random) {
  if (i.memory.kind == isa::MemoryKind::None || i.memory.bytes == 0) return std::nullopt;
  AssemblyText changed = t;
  const int64_t step = random.below(2) == 0 ? i.memory.bytes : -int64_t{i.memory.bytes};
  if (i.memory.kind == isa::MemoryKind::Scalar) {
    for (std::string& operand : changed.operands)
      if (const auto value = integer_in(operand)) {
        operand = fmt::format("{:#x}", std::max<int64_t>(0, *value + (step > 0 ? 4 : -4)));
        return changed;
      }
    return std::nullopt;
  }
  for (std::string& modifier : changed.modifiers)
    for (const std::string_view key : {"offset:", "offset0:", "offset1:"}) {
      if (!modifier.starts_with(key)) continue;
      const auto value = integer_in(std::string_view(modifier).substr(key.size()));
      if (!value) continue;
      const int64_t unit = key == "offset:" ? step : step > 0 ? 1 : -1;
      modifier = fmt::format("{}{}", key, *value + unit >= 0 ? *value + unit : *value - unit);
      return changed;
    }
  changed.modifiers.insert(changed.modifiers.begin(), fmt::format("offset:{}", std::abs(step)));
  return changed;
}

Changed change_bound(const AssemblyText& t, const isa::Instruction&, RandomStream&) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> bounds = {
      std::pair{"_lt_", "_le_"}, {"_le_", "_lt_"}, {"_gt_", "_ge_"}, {"_ge_", "_gt_"}};
  if (!t.mnemonic.starts_with("v_cmp") && !t.mnemonic.starts_with("s_cmp")) return std::nullopt;
  for (const auto& [from, to] : bounds)
    if (const size_t at = t.mnemonic.find(from); at != std::string::npos) {
      AssemblyText changed = t;
      changed.mnemonic.replace(at, from.size(), to);
      return changed;
    }
  return std::nullopt;
}

Changed change(Operator op, const AssemblyText& t, const isa::Instruction& i, RandomStream& random) {
  switch (op) {
  case Operator::Opcode: return change_opcode(t, i, random);
  case Operator::Register: return change_register(t, i, random);
  case Operator::Immediate: return change_immediate(t, i, random);
  case Operator::Offset: return change_offset(t, i, random);
  case Operator::Bound: return change_bound(t, i, random);
  case Operator::Drop:
  case Operator::Timing: return AssemblyText();
  }
  return std::nullopt;
}

class Source {
 public:
  Source(const oracle::Subject& k0, const std::string& kernel, uint64_t seed)
      : k0_(k0), kernel_(kernel), random_(seed), codec_(*isa::Codec::borrow(k0.object().target())) {
    const program::Function* function = k0.program().find_function(kernel);
    for (program::Index i = function->begin; i < function->padding; ++i) entries_.push_back(i);
  }

  std::vector<Mutant> semantic(size_t count) {
    std::vector<program::Index> places;
    for (const program::Index i : entries_)
      if (!has_no_meaning(k0_.program().instruction(i))) places.push_back(i);
    const size_t most_tries = 400 * count;
    for (size_t tries = 0; made_.size() < count && tries < most_tries && !places.empty(); ++tries)
      try_one(semantic_operators[made_.size() % semantic_operators.size()], pick(places, random_));
    // Kernels without a bound to move get more of the others.
    for (size_t tries = 0; made_.size() < count && tries < most_tries && !places.empty(); ++tries)
      try_one(semantic_operators[random_.below(semantic_operators.size())], pick(places, random_));
    return std::move(made_);
  }

  std::vector<Mutant> timing(size_t count) {
    std::vector<program::Index> places;
    for (const program::Index i : entries_)
      if (is_timing(k0_.program().instruction(i))) places.push_back(i);
    while (made_.size() < count && !places.empty()) {
      const size_t at = random_.below(places.size());
      try_one(Operator::Timing, places[at]);
      places.erase(places.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return std::move(made_);
  }

 private:
  void try_one(Operator op, program::Index place) {
    const std::string before = program::print(k0_.program(), place, *codec_);
    const AssemblyText text = AssemblyText::parse(before);
    const Changed changed = change(op, text, k0_.program().instruction(place), random_);
    if (!changed || changed->text() == text.text()) return;
    Mutant m{op, k0_.program().entries[place].id, text.text(), changed->text()};
    if (!seen_.insert({place, m.after}).second || !assembles(m, place)) return;
    made_.push_back(std::move(m));
  }

  // Other text can be the same instruction ("0" and "0x0").
  bool assembles(const Mutant& m, program::Index place) {
    const auto spliced = program::splice(k0_.program(), m.edit(kernel_), 1, *codec_);
    if (!spliced) return false;
    if (m.after.empty()) return true;
    const auto before = k0_.program().instruction(place).encoding();
    return !std::ranges::equal(spliced->instruction(place).encoding(), before);
  }

  const oracle::Subject& k0_;
  std::string kernel_;
  RandomStream random_;
  std::shared_ptr<isa::Codec> codec_;
  std::vector<program::Index> entries_;
  std::set<std::pair<program::Index, std::string>> seen_;
  std::vector<Mutant> made_;
};

} // namespace

std::string_view name(Operator op) {
  constexpr std::array<std::string_view, 7> names = {"opcode", "register", "immediate", "offset",
                                                     "drop",   "bound",    "timing"};
  return names[static_cast<size_t>(op)];
}

program::Edit Mutant::edit(const std::string& kernel) const {
  program::Edit edit;
  edit.kernel = kernel;
  program::Change change;
  change.first = change.last = at;
  change.text = after;
  edit.changes.push_back(std::move(change));
  return edit;
}

std::vector<Mutant> semantic_mutants(const oracle::Subject& k0, const std::string& kernel, uint64_t seed,
                                     size_t count) {
  return Source(k0, kernel, seed).semantic(count);
}

std::vector<Mutant> timing_mutants(const oracle::Subject& k0, const std::string& kernel, uint64_t seed,
                                   size_t count) {
  return Source(k0, kernel, seed).timing(count);
}

} // namespace asmevo::mutation
