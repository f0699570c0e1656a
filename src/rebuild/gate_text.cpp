// Code compared. Where an instruction adds a constant to the program counter to reach another section, the
// constant is the linker's choice. Such literals are masked, but only after both objects have been recovered
// and the constant was found to lead to the same place in both.
#include "isa/codec.h"
#include "rebuild/assembly_symbols.h"
#include "rebuild/gate_parts.h"
#include "rebuild/recover.h"

#include <algorithm>

namespace asmevo::rebuild {

using codeobject::CodeObject;
using codeobject::Section;
using program::Index;
using program::no_index;
using program::Program;
using program::Reference;

namespace {

const Section* code_of(const CodeObject& object) {
  for (const Section& section : object.sections())
    if (section.allocated() && section.executable() && section.size != 0) return &section;
  return nullptr;
}

// s_getpc_b64 is the only way to a program counter. Looks at every dword, so it may see one in a literal.
bool has_getpc(ByteSpan code) {
  constexpr uint32_t sdst_mask = 0xff80ffff, getpc = 0xbe801c00;
  for (uint64_t at = 0; at + 4 <= code.size(); at += 4)
    if ((*load<uint32_t>(code, at) & sdst_mask) == getpc) return true;
  return false;
}

// All that code can reach lies at the same distances in both objects.
bool same_distances(const CodeObject& a, const CodeObject& b, const Section& code_a, const Section& code_b) {
  for (const Section& section : a.sections()) {
    if (!section.allocated() || (made_by_linker(section) && section.name != ".got")) continue;
    const auto other = b.find_section(section.name);
    if (!other || section.address - code_a.address != b.sections()[*other].address - code_b.address)
      return false;
  }
  return true;
}

std::string instruction_at(const CodeObject& object, const Section& section, uint64_t offset) {
  auto codec = isa::Codec::create(object.target());
  if (!codec) return "(no decoder)";
  for (ByteSpan code = section.contents; code.size() >= 4;) {
    const isa::Instruction* instruction = (*codec)->decode(code);
    const uint64_t at = section.contents.size() - code.size();
    if (offset < at + instruction->bytes())
      return fmt::format("'{}' at {:#x}", (*codec)->print(*instruction), at);
    code = code.subspan(instruction->bytes());
  }
  return "end of section";
}

// What a reference means, apart from where the linker put it. A GOT entry stands for what fills it.
std::string meaning_of(const CodeObject& object, const Program& program, const Reference& r) {
  if (r.label != no_index) return fmt::format(".text entry {}", program.labels[r.label].at);
  const Section& section = object.sections()[r.section];
  if (section.name == ".got")
    for (const codeobject::Relocation& slot : object.relocations()) {
      if (slot.address != section.address + r.offset) continue;
      if (slot.symbol == 0)
        return "GOT entry of " + rebuild::meaning_of(object, static_cast<uint64_t>(slot.addend));
      return fmt::format("GOT entry of {}{:+}", object.dynamic_symbols()[slot.symbol].name, slot.addend);
    }
  return fmt::format("{}+{:#x}{:+}", section.name, r.offset, r.addend);
}

struct Recovered {
  std::unique_ptr<isa::Codec> codec;
  Recovery recovery;
};

Result<Recovered> recover_for_gate(const CodeObject& object) {
  Recovered recovered;
  ASMEVO_TRY(recovered.codec, isa::Codec::create(object.target()));
  ASMEVO_TRY(recovered.recovery, recover(object, *recovered.codec));
  return recovered;
}

// Instruction by instruction; true when nothing differs but masked literals.
class TextComparison {
 public:
  TextComparison(Comparing& comparing, const Section& code_a, const Section& code_b, const Program& a,
                 const Program& b)
      : comparing_(comparing), code_a_(code_a), code_b_(code_b), a_(a), b_(b) {}

  void run() {
    const size_t count = std::min(a_.entries.size(), b_.entries.size());
    for (Index i = 0; i < count; ++i)
      if (!same(i)) return;
    if (a_.entries.size() != b_.entries.size())
      return differ(count < a_.entries.size() ? a_.entries[count].id.n : code_a_.size);
    if (masked_ != 0)
      comparing_.mask(
          fmt::format("{}: {} literals behind s_getpc_b64", code_a_.name, masked_),
          "linking decides the distance to another section; each leads to the same place in both");
  }

 private:
  bool same(Index i) {
    const isa::Instruction &x = a_.instruction(i), &y = b_.instruction(i);
    const Reference *r = reference(a_, i), *s = reference(b_, i);
    const bool equal = std::ranges::equal(x.encoding(), y.encoding());
    const bool to_other_section = r && s && r->label == no_index && s->label == no_index;
    if (equal && !to_other_section) return true;
    if (!to_other_section || r->use != s->use || !only_literal_differs(x, y)) {
      differ(a_.entries[i].id.n);
      return false;
    }
    const std::string to_a = meaning_of(comparing_.k0, a_, *r), to_b = meaning_of(comparing_.rebuilt, b_, *s);
    if (to_a != to_b) {
      comparing_.differ(code_a_.name, a_.entries[i].id.n,
                        fmt::format("'{}' leads to {} in k0, to {} in rebuilt", x.mnemonic, to_a, to_b));
      return false;
    }
    masked_ += equal ? 0 : 1;
    return true;
  }

  static const Reference* reference(const Program& program, Index i) {
    const uint32_t number = program.entries[i].reference;
    return number == no_index ? nullptr : &program.references[number];
  }

  static bool only_literal_differs(const isa::Instruction& x, const isa::Instruction& y) {
    if (std::ranges::equal(x.encoding(), y.encoding())) return true;
    return x.dwords == y.dwords && x.literal() && y.literal() &&
           std::ranges::equal(x.encoding().first(x.dwords - 1U), y.encoding().first(y.dwords - 1U));
  }

  void differ(uint64_t offset) {
    comparing_.differ(code_a_.name, offset, around(comparing_, code_a_, code_b_, offset));
  }

  Comparing& comparing_;
  const Section &code_a_, &code_b_;
  const Program &a_, &b_;
  size_t masked_ = 0;
};

} // namespace

std::string around(const Comparing& comparing, const Section& k0, const Section& rebuilt, uint64_t offset) {
  return fmt::format("k0 {}, rebuilt {}", instruction_at(comparing.k0, k0, offset),
                     instruction_at(comparing.rebuilt, rebuilt, offset));
}

void compare_text(Comparing& comparing) {
  const Section *a = code_of(comparing.k0), *b = code_of(comparing.rebuilt);
  if (!a && !b) return;
  if (!a || !b) return comparing.differ(".text", 0, a ? "missing in rebuilt" : "not in k0");
  if (a->name != b->name) comparing.differ(a->name, 0, fmt::format("is called '{}' in rebuilt", b->name));
  const auto at = first_difference(a->contents, b->contents);
  const bool reaches_out = has_getpc(a->contents) || has_getpc(b->contents);
  if (!at && (!reaches_out || same_distances(comparing.k0, comparing.rebuilt, *a, *b))) return;
  if (at && !reaches_out) return comparing.differ(a->name, *at, around(comparing, *a, *b, *at));
  const auto x = recover_for_gate(comparing.k0), y = recover_for_gate(comparing.rebuilt);
  if (x && y && x->recovery.gaps.empty() && y->recovery.gaps.empty())
    return TextComparison(comparing, *a, *b, x->recovery.program, y->recovery.program).run();
  if (at) return comparing.differ(a->name, *at, around(comparing, *a, *b, *at));
  comparing.differ(a->name, 0, "sections moved, and where s_getpc_b64 leads cannot be told");
}

} // namespace asmevo::rebuild
