// Writes a recovered object as text, in this order:
//
//   .amdgcn_target, .amdhsa_code_object_version
//   .text       instructions, symbols where they stand, private labels (.L_<offset>) for everything else that
//   is meant data        .rodata with the kernel descriptors, .data, .bss and whatever else is loaded
//   (assembly_data.h) absolute and undefined symbols .amdgpu_metadata
//
// The descriptors come behind .text because .amdhsa_kernel gives its symbol the binding and visibility that
// the kernel's symbol has by then. References never name a symbol that the linker might bind elsewhere: those
// get a private label at the same place, so that text and K0 mean the same whatever the symbol's binding.
#include "rebuild/assembler.h"
#include "rebuild/assembly.h"
#include "rebuild/assembly_data.h"
#include "rebuild/assembly_descriptor.h"
#include "rebuild/assembly_names.h"
#include "rebuild/assembly_symbols.h"

#include <algorithm>
#include <elf.h>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace asmevo::rebuild {

using codeobject::CodeObject;
using codeobject::Section;
using codeobject::Symbol;
using program::Index;
using program::no_index;
using program::Program;
using program::Reference;

namespace {

constexpr std::string_view got = ".got";

// More than one scalar source in a vector instruction, or a matrix result over part of a source.
bool breaks_rule(const isa::Instruction& instruction) {
  isa::RegSet scalars;
  bool vector = false;
  for (const isa::RegRange& use : instruction.uses) {
    if (isa::is_vector(use.first))
      vector = true;
    else if (use.first < isa::unit::exec)
      scalars.insert(use.first);
    for (const isa::RegRange& def : instruction.defs)
      if (instruction.matrix != isa::MatrixKind::None && def.overlaps(use) && !(def == use)) return true;
  }
  for (const isa::RegRange& def : instruction.defs) vector = vector || isa::is_vector(def.first);
  const bool memory = instruction.memory.kind != isa::MemoryKind::None;
  return vector && !memory && scalars.size() + (instruction.literal() ? 1 : 0) > 1;
}

// A literal of 32 bits for an operand of 16 that text gives the lower half of: compilers write negative
// numbers so, 0xffffaaab for what reads 0xaaab.
bool cuts_literal(const isa::Instruction& instruction, std::string_view text) {
  const auto literal = instruction.literal();
  return literal && *literal >> 16 != 0 &&
         text.find(fmt::format("{:#x}", *literal)) == std::string_view::npos &&
         text.find(fmt::format("{:#x}", *literal & 0xffff)) != std::string_view::npos;
}

class AssemblyWriter {
 public:
  AssemblyWriter(const CodeObject& object, const Recovery& recovery, isa::Codec& codec)
      : object_(object), recovery_(recovery), codec_(codec), program_(recovery.program) {}

  Result<std::string> write() {
    ASMEVO_CHECK(check());
    ASMEVO_TRY(symbols_, SymbolPlan::make(object_));
    ASMEVO_TRY(descriptors_, descriptor_forms(object_, symbols_));
    // Data and references first: they ask for labels that .text then has to carry.
    ASMEVO_TRY(const std::string data, write_data());
    for (Reference& r : program_.references) ASMEVO_CHECK(name_target(r));
    ASMEVO_CHECK(find_unwritable());
    ASMEVO_TRY(std::string text, write_text());
    ASMEVO_TRY(const std::string metadata, write_metadata());
    return assembly_header(object_.target(), object_.version()) + write_file_names() + std::move(text) +
           data + write_sectionless() + metadata;
  }

 private:
  Status check() {
    if (object_.version() < 4)
      return unsupported("code object V{}: LLVM's assembler makes V4 to V6", object_.version());
    if (!recovery_.gaps.empty())
      return unsupported(".text+{:#x}: {}", recovery_.gaps.front().offset, recovery_.gaps.front().reason);
    const auto text = object_.section_at(program_.text_address);
    if (!text) return internal_error("the program is not of this object");
    text_section_ = *text;
    for (const program::Entry& e : program_.entries)
      if (e.id.node != 0) return internal_error("the program was edited; recover the edited object");
    return {};
  }

  const Section& text_section() const { return object_.sections()[text_section_]; }
  uint64_t offset_of(Index i) const {
    return i < program_.entries.size() ? program_.entries[i].id.n : text_section().size;
  }

  // --- places ---

  // A private label in front of entry `at`.
  std::string text_label(Index at) {
    std::string& label = labels_[at];
    if (label.empty()) label = fmt::format(".L_{:x}", offset_of(at));
    return label;
  }

  // What text calls a place in .text, as a branch target or as an address that another instruction computes.
  std::string code_place(Index at, bool branch) {
    if (const Symbol* symbol = symbols_.operand_at(text_section_, offset_of(at), branch)) return symbol->name;
    return text_label(at);
  }

  Result<std::string> place(uint64_t address) {
    const Section& text = text_section();
    if (address - text.address <= text.size) {
      const auto at = std::ranges::lower_bound(program_.entries, address - text.address, {},
                                               [](const program::Entry& e) { return uint64_t{e.id.n}; });
      const auto index = static_cast<Index>(at - program_.entries.begin());
      if (offset_of(index) == address - text.address) return code_place(index, false);
      return fmt::format("{}+{}", section_label(text_section_), address - text.address);
    }
    for (size_t s = 1; s < object_.sections().size(); ++s) {
      const Section& section = object_.sections()[s];
      if (!section.allocated() || made_by_linker(section) || address - section.address > section.size)
        continue;
      return data_place(s, address - section.address);
    }
    return unsupported("address {:#x} is in no section that text writes", address);
  }

  std::string data_place(size_t section, uint64_t offset) const {
    if (const Symbol* symbol = symbols_.operand_at(section, offset, false)) return symbol->name;
    return offset == 0 ? section_label(section) : fmt::format("{}+{}", section_label(section), offset);
  }

  // --- references ---

  // Puts what text calls the target into r.symbol, with the label gone: program::print then writes it as it
  // is.
  Status name_target(Reference& r) {
    if (r.label != no_index) {
      r.symbol = code_place(program_.labels[r.label].at, r.use == isa::SymbolUse::Branch);
      r.label = no_index;
      return {};
    }
    const Section& section = object_.sections()[r.section];
    if (section.name == got) return name_got_entry(r, section.address + r.offset);
    if (made_by_linker(section))
      return unsupported("code refers to section {}, which the linker makes", section.name);
    if (const Symbol* symbol = symbols_.operand_at(r.section, r.offset, false)) {
      r.symbol = symbol->name;
    } else {
      r.symbol = section_label(r.section);
      r.addend += static_cast<int64_t>(r.offset);
    }
    return {};
  }

  // A GOT entry is known by the relocation that fills it: of a symbol, or of an address in this object, which
  // must then have a name.
  Status name_got_entry(Reference& r, uint64_t address) const {
    const auto slot = std::ranges::find(object_.relocations(), address, &codeobject::Relocation::address);
    if (slot == object_.relocations().end())
      return unsupported("GOT entry {:#x} is not filled by the loader", address);
    const Symbol* symbol = nullptr;
    if (slot->type == codeobject::relocation::abs64 && slot->symbol != 0 && slot->addend == 0) {
      symbol = &object_.dynamic_symbols()[slot->symbol];
    } else if (slot->type == codeobject::relocation::relative64) {
      const auto target = static_cast<uint64_t>(slot->addend);
      if (const auto section = object_.section_at(target))
        symbol = symbols_.operand_at(*section, target - object_.sections()[*section].address, false);
    }
    if (!symbol || !operand_name(symbol->name))
      return unsupported("GOT entry {:#x} holds the address of nothing that an operand can name", address);
    r.symbol = symbol->name;
    r.use = r.use == isa::SymbolUse::Rel32Lo ? isa::SymbolUse::GotPcRel32Lo : isa::SymbolUse::GotPcRel32Hi;
    return {};
  }

  // --- .text ---

  // Words that decode and encode but whose text the assembler refuses. Zeros between functions are such: they
  // read as v_cndmask_b32_e32 v0, s0, v0, vcc, with two scalar sources where the hardware can have one. Only
  // what may break such a rule is tried.
  Status find_unwritable() {
    std::vector<const isa::Instruction*> doubtful;
    std::unordered_set<const isa::Instruction*> seen;
    std::string text = assembly_header(object_.target(), object_.version());
    const auto header_lines = static_cast<unsigned>(std::ranges::count(text, '\n'));
    for (const program::Entry& e : program_.entries) {
      if (!breaks_rule(*e.instruction) || !seen.insert(e.instruction).second) continue;
      doubtful.push_back(e.instruction);
      text += codec_.print(*e.instruction) + '\n';
    }
    if (doubtful.empty()) return {};
    ASMEVO_TRY(const std::vector<unsigned> lines, refused_lines(text));
    for (const unsigned line : lines)
      if (line > header_lines && line - header_lines <= doubtful.size())
        unwritable_.insert(doubtful[line - header_lines - 1]);
    return {};
  }

  Result<std::string> write_text() {
    ASMEVO_TRY(std::string text, section_directive(text_section()));
    text += section_label(text_section_) + ":\n";
    const SymbolPlan::Places& symbols = symbols_.in(text_section_);
    auto symbol = symbols.begin();
    uint64_t zeros = 0; // bytes of padding not written yet
    for (Index i = 0; i <= program_.entries.size(); ++i) {
      const uint64_t offset = offset_of(i);
      std::string here = end_symbols(offset);
      for (; symbol != symbols.end() && symbol->first <= offset; ++symbol)
        here += symbol->first == offset ? start_symbol(*symbol->second) : set_symbol(*symbol->second);
      if (const auto label = labels_.find(i); label != labels_.end()) here += label->second + ":\n";
      const bool end = i == program_.entries.size();
      const bool zero = !end && is_zero(program_.instruction(i));
      if (zeros != 0 && (!here.empty() || !zero))
        text += fmt::format("\t.zero {}\n", std::exchange(zeros, 0));
      text += here;
      if (zero)
        zeros += program_.instruction(i).bytes();
      else if (!end)
        text += instruction_text(i);
    }
    for (; symbol != symbols.end(); ++symbol) text += set_symbol(*symbol->second);
    return text;
  }

  // Zeros that the assembler does not take as an instruction either.
  bool is_zero(const isa::Instruction& instruction) const {
    return instruction.words[0] == 0 && instruction.dwords == 1 &&
           (instruction.is_data() || unwritable_.contains(&instruction));
  }

  std::string start_symbol(const Symbol& symbol) {
    const std::string name = quoted_name(symbol.name);
    std::string text = symbol.type() == STT_FUNC ? "\n" : "";
    text += symbol_directives(symbol, visibility(symbol)) + name + ":\n";
    if (symbol.size == 0) return text;
    const uint64_t end = symbol.value - text_section().address + symbol.size;
    const auto after = std::ranges::lower_bound(program_.entries, end, {},
                                                [](const program::Entry& e) { return uint64_t{e.id.n}; });
    if (offset_of(static_cast<Index>(after - program_.entries.begin())) == end)
      ends_.emplace(end, name);
    else
      text += fmt::format("\t.size {}, {}\n", name, symbol.size);
    return text;
  }

  // .amdhsa_kernel makes the kernel's symbol protected by itself, and the descriptor's only if the kernel's
  // was already.
  uint8_t visibility(const Symbol& symbol) const {
    const codeobject::Kernel* kernel = object_.find_kernel(symbol.name);
    if (!kernel || descriptors_.at(kernel->descriptor_address).directives.empty()) return symbol.visibility();
    const Symbol* descriptor = symbols_.find(kernel->name + ".kd");
    return descriptor ? descriptor->visibility() : symbol.visibility();
  }

  // A symbol inside an instruction or outside the section.
  std::string set_symbol(const Symbol& symbol) const {
    const std::string name = quoted_name(symbol.name);
    std::string text = symbol_directives(symbol, symbol.visibility());
    text += fmt::format("\t.set {}, {}+{}\n", name, section_label(text_section_),
                        symbol.value - text_section().address);
    if (symbol.size != 0) text += fmt::format("\t.size {}, {}\n", name, symbol.size);
    return text;
  }

  std::string end_symbols(uint64_t offset) const {
    std::string text;
    const auto [first, last] = ends_.equal_range(offset);
    for (auto end = first; end != last; ++end) text += fmt::format("\t.size {0}, .-{0}\n", end->second);
    return text;
  }

  // Instructions without reference are printed once each: a kernel repeats most of them.
  std::string instruction_text(Index i) {
    const program::Entry& entry = program_.entries[i];
    if (entry.reference != no_index) return fmt::format("\t{}\n", program::print(program_, i, codec_));
    std::string& text = printed_[entry.instruction];
    if (!text.empty()) return text;
    const isa::Instruction& instruction = *entry.instruction;
    const std::string plain = codec_.print(instruction);
    if (!instruction.has_dead_bits() && !unwritable_.contains(&instruction) &&
        !cuts_literal(instruction, plain))
      return text = fmt::format("\t{}\n", plain);
    std::string words;
    for (const uint32_t word : instruction.encoding())
      words += fmt::format("{}{:#010x}", words.empty() ? "" : ", ", word);
    return text = fmt::format("\t.long {} // {}\n", words, plain);
  }

  // --- the rest ---

  Result<std::string> write_data() {
    const DataContext context{object_, symbols_, descriptors_,
                              [this](uint64_t address) { return place(address); }};
    std::string text;
    for (size_t s = 1; s < object_.sections().size(); ++s) {
      const Section& section = object_.sections()[s];
      if (s == text_section_ || !section.allocated() || made_by_linker(section)) continue;
      if (section.executable() && section.size != 0) return unsupported("code in section {}", section.name);
      if (section.size == 0 && symbols_.in(s).empty()) continue;
      ASMEVO_TRY(const std::string lines, write_data_section(context, s));
      text += lines;
    }
    return text;
  }

  std::string write_file_names() const {
    std::string text;
    for (const Symbol* file : symbols_.files) text += fmt::format("\t.file \"{}\"\n", file->name);
    return text;
  }

  // Symbols that stand in no section.
  std::string write_sectionless() const {
    std::string text = "\n";
    for (const Symbol* symbol : symbols_.absolute) {
      const std::string name = quoted_name(symbol->name);
      text += symbol_directives(*symbol, symbol->visibility()) +
              fmt::format("\t.set {}, {:#x}\n", name, symbol->value);
      if (symbol->size != 0) text += fmt::format("\t.size {}, {}\n", name, symbol->size);
    }
    for (const Symbol* symbol : symbols_.undefined) text += symbol_directives(*symbol, symbol->visibility());
    return text;
  }

  Result<std::string> write_metadata() const {
    const auto range = object_.metadata_note();
    if (!range) return std::string();
    const ByteSpan note = object_.bytes().subspan(range->offset, range->size);
    const std::string header = assembly_header(object_.target(), object_.version());
    std::string yaml = fmt::format("\n\t.amdgpu_metadata\n{}\n\t.end_amdgpu_metadata\n",
                                   trimmed(object_.metadata()->yaml()));
    // LLVM checks the document and sorts its keys; a note that does not come out as it was is written as
    // bytes.
    if (const auto relocatable = assemble_relocatable(header + yaml, "metadata")) {
      const auto made = relocatable_section(*relocatable, ".note");
      if (made && made->size() >= note.size() && std::ranges::search(*made, note)) return yaml;
    }
    return fmt::format(
        "\n\t.section .note,\"a\",@note\n\t.p2align 2\n\t.long 7, {}, {}\n\t.asciz \"AMDGPU\"\n"
        "\t.p2align 2\n{}\t.p2align 2\n",
        note.size(), 32, data_lines(note));
  }

  static std::string trimmed(std::string yaml) {
    while (yaml.ends_with('\n')) yaml.pop_back();
    return yaml;
  }

  const CodeObject& object_;
  const Recovery& recovery_;
  isa::Codec& codec_;
  Program program_; // a copy whose references name places as this text does
  size_t text_section_ = 0;
  SymbolPlan symbols_;
  std::map<uint64_t, DescriptorForm> descriptors_;
  std::map<Index, std::string> labels_;       // private ones, by the entry they stand at
  std::multimap<uint64_t, std::string> ends_; // symbols whose size ends at an offset
  std::unordered_map<const isa::Instruction*, std::string> printed_;
  std::unordered_set<const isa::Instruction*> unwritable_; // written as .long
};

} // namespace

Result<std::string> write_assembly(const CodeObject& object, const Recovery& recovery, isa::Codec& codec) {
  return AssemblyWriter(object, recovery, codec).write();
}

} // namespace asmevo::rebuild
