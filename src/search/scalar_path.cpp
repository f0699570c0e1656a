#include "search/scalar_path.h"

#include <algorithm>

namespace asmevo::search {

namespace {

using isa::Instruction;
using isa::Operand;
using isa::RegRange;
using isa::RegUnit;

constexpr RegRange vcc{isa::unit::vcc, 2}, exec{isa::unit::exec, 2}, scc{isa::unit::scc, 1};
constexpr uint64_t all_lanes = ~uint64_t{0};

const Operand* source(const Instruction& i, isa::Role role) {
  return i.find(role);
}

bool is_exec(const Operand* o) {
  return o != nullptr && o->kind == Operand::Kind::Register && o->reg == exec;
}

// The relation in "s_cmp_lt_u32", "s_cmpk_lg_i32".
std::optional<bool> relation(std::string_view name, uint32_t a, uint32_t b) {
  const bool is_signed = name.ends_with("i32");
  const auto at = name.find_last_of('_');
  const std::string_view what = name.substr(at - 2, 2);
  const auto less = is_signed ? static_cast<int32_t>(a) < static_cast<int32_t>(b) : a < b;
  if (what == "eq") return a == b;
  if (what == "lg") return a != b;
  if (what == "lt") return less;
  if (what == "ge") return !less;
  if (what == "gt") return !less && a != b;
  if (what == "le") return less || a == b;
  return std::nullopt;
}

} // namespace

std::optional<uint64_t> ScalarPath::value(const Operand& o, unsigned registers) const {
  if (o.kind != Operand::Kind::Register) {
    const auto v = static_cast<uint64_t>(o.value);
    return registers == 1 ? v & 0xffffffff : v;
  }
  if (o.reg.count != registers) return std::nullopt;
  uint64_t v = 0;
  for (unsigned n = 0; n < registers; ++n) {
    const auto found = known_.find(o.reg.first + n);
    if (found == known_.end()) return std::nullopt;
    v |= uint64_t{found->second} << (32 * n);
  }
  return v;
}

void ScalarPath::set(const RegRange& r, uint64_t value) {
  for (unsigned n = 0; n < r.count; ++n) {
    const RegUnit u = r.first + n;
    if (isa::is_sgpr(u)) known_[u] = static_cast<uint32_t>(value >> (32 * n));
  }
  if (r == vcc) vcc_ = value != 0;
}

// Integers of 32 bits, and moves. False: it is nothing of that, or its operands are not known.
bool ScalarPath::arithmetic(const Instruction& i) {
  if (i.operands.empty() || i.operands[0].kind != Operand::Kind::Register || !i.operands[0].is_def)
    return false;
  const RegRange to = i.operands[0].reg;
  const Operand *a = source(i, isa::Role::Src0), *b = source(i, isa::Role::Src1),
                *k = source(i, isa::Role::Simm);
  const std::string_view name = i.base_mnemonic;
  if (name == "s_mov_b32" || name == "s_mov_b64") {
    const auto v = a == nullptr ? std::nullopt : value(*a, to.count);
    if (v) set(to, *v);
    return v.has_value();
  }
  if (k != nullptr && (name == "s_movk_i32" || name == "s_addk_i32" || name == "s_mulk_i32")) {
    const auto number = static_cast<uint32_t>(static_cast<int32_t>(static_cast<int16_t>(k->value)));
    if (name == "s_movk_i32") {
      set(to, number);
      return true;
    }
    const auto old = known_.find(to.first);
    if (old == known_.end()) return false;
    const uint32_t before = old->second;
    if (name == "s_mulk_i32") {
      set(to, before * number);
      return true;
    }
    set(to, before + number);
    const bool same_sign = ((before ^ number) >> 31) == 0;
    scc_ = same_sign && ((before ^ (before + number)) >> 31) != 0; // overflow
    return true;
  }
  if (a == nullptr || b == nullptr || to.count != 1) return false;
  const auto x = value(*a, 1), y = value(*b, 1);
  if (name == "s_cselect_b32") {
    const auto& chosen = scc_.value_or(false) ? x : y;
    if (!scc_ || !chosen) return false;
    set(to, *chosen);
    return true;
  }
  if (!x || !y) return false;
  const auto m = static_cast<uint32_t>(*x), n = static_cast<uint32_t>(*y);
  std::optional<uint32_t> result;
  std::optional<bool> flag;
  if (name == "s_add_u32") result = m + n, flag = m + n < m;
  if (name == "s_sub_u32") result = m - n, flag = n > m;
  if (name == "s_add_i32") result = m + n, flag = ((m ^ n) >> 31) == 0 && ((m ^ (m + n)) >> 31) != 0;
  if (name == "s_sub_i32") result = m - n, flag = ((m ^ n) >> 31) != 0 && ((m ^ (m - n)) >> 31) != 0;
  if (name == "s_mul_i32") {
    set(to, m * n);
    return true; // SCC stays
  }
  if (name == "s_and_b32") result = m & n;
  if (name == "s_or_b32") result = m | n;
  if (name == "s_xor_b32") result = m ^ n;
  if (name == "s_lshl_b32") result = m << (n & 31);
  if (name == "s_lshr_b32") result = m >> (n & 31);
  if (!result) return false;
  set(to, *result);
  scc_ = flag ? *flag : *result != 0;
  return true;
}

bool ScalarPath::comparison(const Instruction& i) {
  const std::string_view name = i.base_mnemonic;
  if (name.starts_with("s_cmpk_")) {
    const Operand* const k = source(i, isa::Role::Simm);
    const auto x = i.operands.empty() ? std::nullopt : value(i.operands[0], 1);
    if (k == nullptr || !x) return false;
    const auto number = name.ends_with("i32")
                            ? static_cast<uint32_t>(static_cast<int32_t>(static_cast<int16_t>(k->value)))
                            : static_cast<uint32_t>(k->value & 0xffff);
    scc_ = relation(name, static_cast<uint32_t>(*x), number);
    return scc_.has_value();
  }
  const Operand *a = source(i, isa::Role::Src0), *b = source(i, isa::Role::Src1);
  if (!name.starts_with("s_cmp_") || !name.ends_with("32") || a == nullptr || b == nullptr) return false;
  const auto x = value(*a, 1), y = value(*b, 1);
  if (!x || !y) return false;
  scc_ = relation(name, static_cast<uint32_t>(*x), static_cast<uint32_t>(*y));
  return scc_.has_value();
}

// Masks of 64 bits: no lane, all lanes, or EXEC, of which it may be known that it has some.
bool ScalarPath::lanes(const Instruction& i, bool widest) {
  if (i.operands.empty() || i.operands[0].kind != Operand::Kind::Register) return false;
  const RegRange to = i.operands[0].reg;
  const Operand *a = source(i, isa::Role::Src0), *b = source(i, isa::Role::Src1);
  if (i.is("s_cselect_b64") && scc_ && a != nullptr && b != nullptr) {
    const auto v = value(*scc_ ? *a : *b, 2);
    if (v) set(to, *v);
    return v.has_value();
  }
  const bool and_not = i.is("s_andn2_b64");
  if ((!and_not && !i.is("s_and_b64")) || a == nullptr || b == nullptr) return false;
  const bool exec_first = is_exec(a);
  if (exec_first == is_exec(b) || (and_not && !exec_first)) return false;
  auto mask = value(exec_first ? *b : *a, 2);
  if (!mask) return false;
  if (and_not) mask = ~*mask;
  if (*mask == 0)
    set(to, 0), scc_ = false;
  else if (*mask == all_lanes && widest && to == vcc)
    vcc_ = true, scc_ = true;
  else
    return false;
  return true;
}

void ScalarPath::step(const Instruction& i, bool widest) {
  // What is not understood leaves nothing known of what it writes.
  ScalarPath next = *this;
  for (const RegRange& d : i.defs) {
    for (RegUnit u = d.first; u < d.first + d.count; ++u) next.known_.erase(u);
    if (d.overlaps(vcc)) next.vcc_.reset();
    if (d.overlaps(scc)) next.scc_.reset();
  }
  ScalarPath known = *this;
  if (i.call || i.is_data()) {
    *this = {};
    return;
  }
  if (!known.arithmetic(i) && !known.comparison(i) && !known.lanes(i, widest)) {
    *this = std::move(next);
    return;
  }
  // Of what it writes, what was found; of everything else, what was known.
  for (const RegRange& d : i.defs) {
    for (RegUnit u = d.first; u < d.first + d.count; ++u)
      if (const auto found = known.known_.find(u); found != known.known_.end() && isa::is_sgpr(u))
        next.known_[u] = found->second;
    if (d.overlaps(vcc)) next.vcc_ = known.vcc_;
    if (d.overlaps(scc)) next.scc_ = known.scc_;
  }
  *this = std::move(next);
}

std::optional<bool> ScalarPath::taken(const Instruction& branch, bool widest) const {
  if (branch.is("s_branch")) return true;
  if (branch.is("s_cbranch_scc0") && scc_) return !*scc_;
  if (branch.is("s_cbranch_scc1")) return scc_;
  if (branch.is("s_cbranch_vccz") && vcc_) return !*vcc_;
  if (branch.is("s_cbranch_vccnz")) return vcc_;
  if (branch.is("s_cbranch_execz") && widest) return false;
  if (branch.is("s_cbranch_execnz") && widest) return true;
  return std::nullopt;
}

void ScalarPath::merge(const ScalarPath& other) {
  std::erase_if(known_, [&](const auto& k) {
    const auto there = other.known_.find(k.first);
    return there == other.known_.end() || there->second != k.second;
  });
  if (scc_ != other.scc_) scc_.reset();
  if (vcc_ != other.vcc_) vcc_.reset();
}

} // namespace asmevo::search
