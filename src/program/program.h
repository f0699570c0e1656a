// The editable form of a code object's .text: instructions with stable ids, labels, references and functions.
//
// A Program is a value: copies are cheap (24 bytes an instruction, the instructions themselves are shared)
// and an edit makes a new Program (splice.h). Positions in `entries` are valid within one Program only; ids
// survive edits.
#pragma once

#include "isa/codec.h"
#include "isa/instruction.h"
#include "isa/target.h"

#include <compare>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace asmevo::program {

/// Instructions of K0 are named by their byte offset in .text, in hex ("1a4"); inserted ones by the node that
/// brought them and a number ("7.2"). node 0 is K0.
struct InstrId {
  uint32_t node = 0;
  uint32_t n = 0;
  std::string text() const;
  static std::optional<InstrId> parse(std::string_view text);
  friend auto operator<=>(const InstrId&, const InstrId&) = default;
};

using Index = uint32_t; // position in Program::entries
inline constexpr Index no_index = std::numeric_limits<Index>::max();

/// An address that an instruction's words hold relative to where it stands.
struct Reference {
  isa::SymbolUse use = isa::SymbolUse::None;
  // What is meant: a label of this program, or a place in another section of the object, or (GotPcRel32*) the
  // GOT entry of a symbol, which after linking is a place in .got.
  uint32_t label = no_index;
  uint32_t section = 0; // ELF section index, where label is none
  uint64_t offset = 0;  // in that section
  std::string symbol;   // what text calls the place
  int64_t addend = 0;
  // Rel32*: the literal holds target + addend - (end of the entry `base`, an s_getpc_b64). Without base (text
  // of an edit): target + addend - address of the literal.
  Index base = no_index;
};

struct Label {
  std::string name;
  Index at = no_index; // may be entries.size(): the end of .text
};

struct Entry {
  InstrId id;
  uint32_t reference = no_index; // into Program::references
  const isa::Instruction* instruction = nullptr;
};

/// A symbol of .text and the entries up to the next one.
struct Function {
  std::string name;
  Index begin = 0, end = 0; // [begin, end)
  bool kernel = false;
  Index padding = 0; // entries [padding, end) only fill up to what follows and are never executed
};

/// A place that must keep its alignment (from the start of .text), such as a kernel's entry.
struct AlignedPoint {
  Index at = 0;           // may be entries.size()
  uint32_t alignment = 4; // bytes
  // Entries [filler, at) were put there by the alignment and may be replaced by s_nop when what is in front
  // of them grows or shrinks.
  Index filler = 0;
  // Kernels with kernarg preload are entered 256 bytes behind their entry by hardware that preloads: `at`
  // must then stand exactly `distance` bytes behind entry `anchor`.
  Index anchor = no_index;
  uint32_t distance = 0; // bytes
};

/// A symbol outside .text that instructions may refer to.
struct ExternalSymbol {
  std::string name;
  uint32_t section = 0; // ELF section index
  uint64_t offset = 0;  // in it
};

class Program {
 public:
  isa::Target target;
  std::vector<Entry> entries;
  std::vector<Label> labels;
  std::vector<Reference> references;
  std::vector<AlignedPoint> aligned; // in address order
  std::vector<ExternalSymbol> externals;
  std::vector<Function> functions; // in address order, disjoint; code before the first symbol belongs to none
  std::vector<std::shared_ptr<isa::InstructionPool>> pools; // keep the instructions alive
  uint64_t text_address = 0;                                // of .text in K0
  uint64_t text_alignment = 256;                            // bytes

  const isa::Instruction& instruction(Index i) const { return *entries[i].instruction; }
  /// Position of an id, or none. Linear in the worst case, constant for K0's own instructions that did not
  /// move.
  std::optional<Index> find(InstrId id) const;
  const Function* find_function(std::string_view name) const;
  const Function* function_at(Index i) const;
  std::optional<uint32_t> find_label(std::string_view name) const;
  /// Labels at each position, for listings: label indices by entry.
  std::unordered_map<Index, std::vector<uint32_t>> labels_by_entry() const;
  /// The entry a direct branch or s_call goes to; no_index for other instructions.
  Index branch_target(Index i) const;
};

/// Assembly text of one entry, with the label or symbol in place of its address.
std::string print(const Program&, Index, isa::Codec& codec);

} // namespace asmevo::program
