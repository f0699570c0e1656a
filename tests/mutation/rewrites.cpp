#include "mutation/rewrites.h"

#include "base/random.h"
#include "mutation/assembly_text.h"
#include "program/dependences.h"
#include "program/liveness.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

namespace asmevo::mutation {

namespace {

using isa::Instruction;
using program::Index;

constexpr std::array kinds = {RewriteKind::Encoding, RewriteKind::Commute, RewriteKind::Identity,
                              RewriteKind::Rename,   RewriteKind::Reorder, RewriteKind::DeadCode};

// a op b == b op a, operands 1 and 2 of the text.
constexpr std::array<std::string_view, 20> commutative = {
    "v_add_f32", "v_mul_f32",    "v_max_f32", "v_min_f32", "v_add_u32", "v_and_b32", "v_or_b32",
    "v_xor_b32", "v_mul_lo_u32", "v_max_u32", "v_min_u32", "v_max_i32", "v_min_i32", "v_mul_u32_u24",
    "s_add_u32", "s_add_i32",    "s_mul_i32", "s_and_b32", "s_or_b32",  "s_and_b64"};

bool is_vgpr(std::string_view operand) {
  return operand.size() > 1 && operand[0] == 'v' &&
         operand.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

using Changed = std::optional<AssemblyText>;

Changed wider_encoding(const AssemblyText& t) {
  if (!t.mnemonic.ends_with("_e32")) return std::nullopt;
  AssemblyText changed = t;
  changed.mnemonic.replace(changed.mnemonic.size() - 4, 4, "_e64");
  return changed;
}

Changed commuted(const AssemblyText& t) {
  if (std::ranges::find(commutative, t.base()) == commutative.end() || t.operands.size() != 3 ||
      !t.modifiers.empty() || t.operands[1] == t.operands[2])
    return std::nullopt;
  AssemblyText changed = t;
  std::swap(changed.operands[1], changed.operands[2]);
  return changed;
}

// Another instruction that gives the same result to the bit and touches no other register.
Changed identity(const AssemblyText& t) {
  if (!t.modifiers.empty()) return std::nullopt;
  const auto& o = t.operands;
  const std::string base = t.base();
  const auto made = [](std::string mnemonic, std::vector<std::string> operands) {
    return AssemblyText{std::move(mnemonic), std::move(operands), {}};
  };
  if (base == "v_sub_f32" && is_vgpr(o[1]) && is_vgpr(o[2]))
    return made("v_add_f32_e64", {o[0], o[1], "-" + o[2]});
  if (base == "v_fmac_f32" && is_vgpr(o[2])) return made("v_fma_f32", {o[0], o[1], o[2], o[0]});
  if (base == "v_mul_f32" && o[1] == "2.0" && is_vgpr(o[2])) return made("v_add_f32_e32", {o[0], o[2], o[2]});
  if (base == "v_lshlrev_b32" && o[1] == "1" && is_vgpr(o[2]))
    return made("v_add_u32_e32", {o[0], o[2], o[2]});
  if (base == "v_add_u32") return made("v_add3_u32", {o[0], o[1], o[2], "0"});
  if (base == "v_or_b32") return made("v_or3_b32", {o[0], o[1], o[2], "0"});
  if (base == "v_and_b32") return made("v_and_or_b32", {o[0], o[1], o[2], "0"});
  if (base == "v_lshlrev_b32") return made("v_lshl_add_u32", {o[0], o[2], o[1], "0"});
  if (base == "v_mov_b32" && is_vgpr(o[1])) return made("v_or_b32_e32", {o[0], "0", o[1]});
  if (base == "v_mul_u32_u24") return made("v_mad_u32_u24", {o[0], o[1], o[2], "0"});
  return std::nullopt;
}

// Nothing within some wait states of these needs wait states.
bool is_plain(const Instruction& i) {
  if (i.cross_lane || i.side_effects || i.vgpr_index_mode || i.matrix != isa::MatrixKind::None) return false;
  if (i.extension == isa::Extension::Dpp || i.extension == isa::Extension::Sdwa) return false;
  for (const isa::RegRange& r : i.defs)
    if (i.issue == isa::IssueClass::Valu ? !isa::is_vector(r.first)
                                         : !isa::is_sgpr(r.first) && r.first != isa::unit::scc)
      return false;
  return i.issue == isa::IssueClass::Valu || i.issue == isa::IssueClass::Salu;
}

class Source {
 public:
  Source(const oracle::Subject& k0, std::string kernel, uint64_t seed)
      : k0_(k0), program_(k0.program()), kernel_(std::move(kernel)), random_(seed),
        codec_(*isa::Codec::borrow(k0.object().target())), function_(*program_.find_function(kernel_)),
        cfg_(program::Cfg::build(program_, function_)),
        live_(program::Liveness::compute(program_, function_, cfg_)), labels_(program_.labels_by_entry()) {
    for (Index i = function_.begin; i < function_.padding; ++i) note_registers(program_.instruction(i));
  }

  std::vector<Rewrite> make(size_t count) {
    const size_t most_tries = 1000 * count;
    for (size_t tries = 0; made_.size() < count && tries < most_tries; ++tries) {
      const bool any = tries > most_tries / 2; // some kind has no places left
      const RewriteKind kind = kinds[any ? random_.below(kinds.size()) : made_.size() % kinds.size()];
      try_one(kind, function_.begin + static_cast<Index>(random_.below(function_.padding - function_.begin)));
    }
    return std::move(made_);
  }

 private:
  void note_registers(const Instruction& i) {
    for (const auto* list : {&i.defs, &i.uses})
      for (const isa::RegRange& r : *list) {
        const unsigned last = r.first + r.count - 1U;
        if (isa::is_vgpr(r.first)) vgprs_ = std::max(vgprs_, last + 1);
        if (isa::is_sgpr(r.first)) sgprs_ = std::max(sgprs_, last - isa::unit::scalar0 + 1);
      }
  }

  AssemblyText text_of(Index i) { return AssemblyText::parse(program::print(program_, i, *codec_)); }
  bool is_reference(Index i) const { return program_.entries[i].reference != program::no_index; }

  static program::Change replaced(program::InstrId first, program::InstrId last, std::string text) {
    program::Change c;
    c.first = first;
    c.last = last;
    c.text = std::move(text);
    return c;
  }
  program::Change replaced(Index i, std::string text) const {
    const program::InstrId id = program_.entries[i].id;
    return replaced(id, id, std::move(text));
  }

  void try_one(RewriteKind kind, Index at) {
    if (program_.instruction(at).is_data() || is_reference(at)) return;
    switch (kind) {
    case RewriteKind::Encoding: return try_text(kind, at, wider_encoding(text_of(at)));
    case RewriteKind::Commute: return try_text(kind, at, commuted(text_of(at)));
    case RewriteKind::Identity: return try_text(kind, at, identity(text_of(at)));
    case RewriteKind::Rename: return rename(at);
    case RewriteKind::Reorder: return reorder(at);
    case RewriteKind::DeadCode: return random_.below(4) == 0 ? remove_dead(at) : insert_dead(at);
    }
  }

  void keep(RewriteKind kind, const std::string& text, std::vector<program::Change> changes) {
    Rewrite r{kind, text, {}};
    r.edit.kernel = kernel_;
    r.edit.changes = std::move(changes);
    if (!seen_.insert(r.edit.json()).second || !program::splice(program_, r.edit, 1, *codec_)) return;
    // Registers that the object has no room for are no fault of the rewrite.
    if (!rebuild::apply_edit(k0_.original(), program_, r.edit, 1, *codec_)) return;
    made_.push_back(std::move(r));
  }

  void try_text(RewriteKind kind, Index at, const Changed& changed) {
    if (!changed) return;
    keep(kind, text_of(at).text() + " -> " + changed->text(), {replaced(at, changed->text())});
  }

  // A value made by one instruction and last read in the same block goes through a register of its own.
  void rename(Index at) {
    const Instruction& def = program_.instruction(at);
    if (def.issue != isa::IssueClass::Valu || def.partial_def || def.cross_lane || def.defs.size() != 1 ||
        def.defs[0].count != 1 || !isa::is_vgpr(def.defs[0].first))
      return;
    const isa::RegRange reg = def.defs[0];
    if (def.reads(reg)) return;
    const std::string from = isa::name(reg), to = fmt::format("v{}", vgprs_);
    const Index end = cfg_.blocks()[cfg_.block_of(at)].end;
    std::vector<program::Change> changes;
    AssemblyText first = text_of(at);
    first.operands[0] = to;
    changes.push_back(replaced(at, first.text()));
    bool ended = false;
    for (Index i = at + 1; i < end && !ended; ++i) {
      const Instruction& use = program_.instruction(i);
      if (use.writes({isa::unit::exec, 2})) return;
      if (use.reads(reg)) {
        AssemblyText t = text_of(i);
        if (use.writes(reg) || use.cross_lane || is_reference(i) || !rename_in(t, from, to)) return;
        changes.push_back(replaced(i, t.text()));
        ended = !live_.after(i).contains(reg.first);
      } else if (use.writes(reg)) {
        return;
      }
    }
    if (ended)
      keep(RewriteKind::Rename, from + " as " + to + " at " + program_.entries[at].id.text(), changes);
  }

  // False where it is part of a range.
  static bool rename_in(AssemblyText& t, const std::string& from, const std::string& to) {
    bool found = false;
    for (std::string& operand : t.operands) {
      const size_t start = operand.starts_with('-') || operand.starts_with('|') ? 1 : 0;
      if (operand.compare(start, std::string::npos, from) != 0) continue;
      operand.replace(start, std::string::npos, to);
      found = true;
    }
    return found;
  }

  void reorder(Index at) {
    constexpr Index near = 6; // no hazard between these kinds of instructions reaches further back
    const Index next = at + 1;
    const program::Block& block = cfg_.blocks()[cfg_.block_of(at)];
    if (next >= block.end || at < block.begin + near || labels_.contains(next) || is_reference(next)) return;
    for (Index i = at - near; i <= std::min(next + near, block.end - 1); ++i)
      if (!is_plain(program_.instruction(i))) return;
    if (!program::dependences(program_, at, next + 1).empty()) return;
    const std::string a = text_of(at).text(), b = text_of(next).text();
    if (a == b) return;
    keep(RewriteKind::Reorder, a + " behind " + b,
         {replaced(program_.entries[at].id, program_.entries[next].id, b + "\n" + a)});
  }

  void insert_dead(Index at) {
    program::Change c;
    c.before = program_.entries[at].id;
    const bool scalar = random_.below(2) == 0;
    if (scalar && sgprs_ > 100) return;
    c.text = scalar ? fmt::format("s_mov_b32 s{}, {}", sgprs_, random_.below(64))
                    : fmt::format("v_mov_b32_e32 v{}, {}", vgprs_, random_.below(64));
    // What computes an address from the program counter counts bytes.
    for (Index i = at; i > function_.begin && i + 4 > at; --i)
      if (program_.instruction(i - 1).is("s_getpc_b64") || is_reference(i - 1)) return;
    keep(RewriteKind::DeadCode, c.text + " before " + c.before->text(), {c});
  }

  void remove_dead(Index at) {
    const Instruction& i = program_.instruction(at);
    if (!is_plain(i) || i.defs.empty()) return;
    const isa::RegSet after = live_.after(at);
    for (const isa::RegRange& r : i.defs)
      if (after.overlaps(r)) return;
    keep(RewriteKind::DeadCode, "without " + text_of(at).text(), {replaced(at, "")});
  }

  const oracle::Subject& k0_;
  const program::Program& program_;
  std::string kernel_;
  RandomStream random_;
  std::shared_ptr<isa::Codec> codec_;
  const program::Function& function_;
  program::Cfg cfg_;
  program::Liveness live_;
  std::unordered_map<Index, std::vector<uint32_t>> labels_;
  unsigned vgprs_ = 0, sgprs_ = 0; // used by the kernel: the next one is free
  std::set<std::string> seen_;
  std::vector<Rewrite> made_;
};

} // namespace

std::string_view name(RewriteKind kind) {
  constexpr std::array<std::string_view, 6> names = {"encoding", "commute", "identity",
                                                     "rename",   "reorder", "dead code"};
  return names[static_cast<size_t>(kind)];
}

std::vector<Rewrite> equivalent_rewrites(const oracle::Subject& k0, const std::string& kernel, uint64_t seed,
                                         size_t count) {
  return Source(k0, kernel, seed).make(count);
}

} // namespace asmevo::mutation
