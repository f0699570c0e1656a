// Recovery in passes over .text:
//
//   1 decode      a linear sweep; every word becomes an instruction or a data entry
//   2 functions   from the symbols; what alignment put between them is filler
//   3 labels      from local symbols, branch targets and addresses that code computes
//   4 references  branches, and s_getpc_b64 with the s_add_u32/s_addc_u32 pair behind it
//
// Only direct distances need a reference. Addresses in data are the linker's business
// (codeobject/elf_layout.h).
#include "rebuild/recover.h"

#include "codeobject/kernel_descriptor.h"

#include <algorithm>
#include <map>

namespace asmevo::rebuild {

using codeobject::CodeObject;
using program::Entry;
using program::Index;
using program::no_index;
using program::Program;

namespace {

constexpr uint8_t stt_notype = 0, stt_object = 1, stt_func = 2;
constexpr uint32_t preload_distance = 256; // bytes; AMDGPUUsage, "Preloaded Kernel Arguments"
constexpr uint32_t s_nop_0 = 0xbf800000;
constexpr size_t getpc_reach = 16; // instructions between s_getpc_b64 and its additions

bool is_plain_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || !letter(name.front())) return false;
  return std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '$'; });
}

bool is_filler(const isa::Instruction& i) {
  return i.words[0] == s_nop_0 || i.is("s_code_end") || (i.is_data() && i.words[0] == 0) ||
         i.words[0] == 0xbf9f0000; // s_code_end where the target's decoder does not know it
}

class Recoverer {
 public:
  Recoverer(const CodeObject& object, isa::Codec& codec) : object_(object), codec_(codec) {}

  Result<Recovery> run() {
    ASMEVO_CHECK(find_text());
    decode();
    find_functions();
    name_symbols();
    find_aligned_points();
    refer_branches();
    refer_program_counters();
    program_.pools.push_back(codec_.pool());
    return std::move(recovery_);
  }

 private:
  Status find_text() {
    std::optional<size_t> text;
    for (size_t s = 1; s < object_.sections().size(); ++s) {
      const codeobject::Section& section = object_.sections()[s];
      if (!section.executable() || !section.allocated() || section.size == 0) continue;
      if (text)
        return unsupported("code in two sections, '{}' and '{}'", object_.sections()[*text].name,
                           section.name);
      text = s;
    }
    if (!text) return unsupported("no section with code");
    text_ = &object_.sections()[*text];
    text_section_ = static_cast<uint32_t>(*text);
    if (text_->contents.size() != text_->size || text_->size % 4 != 0 || text_->size > UINT32_MAX)
      return unsupported("section '{}' is not a whole number of dwords", text_->name);
    program_.target = codec_.target();
    program_.text_address = text_->address;
    program_.text_alignment = std::max<uint64_t>(text_->alignment, 4);
    return {};
  }

  // --- 1 ---

  void decode() {
    ByteSpan code = text_->contents;
    program_.entries.reserve(code.size() / 6);
    while (code.size() >= 4) {
      const isa::Instruction* insn = codec_.decode(code);
      const auto offset = static_cast<uint32_t>(text_->size - code.size());
      program_.entries.push_back({{0, offset}, no_index, insn});
      if (insn->has_dead_bits()) ++recovery_.repaired;
      code = code.subspan(insn->bytes());
    }
  }

  // The entry at an offset of .text; entries.size() for its end; none inside an instruction or outside.
  std::optional<Index> entry_at(uint64_t offset) const {
    if (offset == text_->size) return static_cast<Index>(program_.entries.size());
    const auto at =
        std::ranges::lower_bound(program_.entries, offset, {}, [](const Entry& e) { return e.id.n; });
    if (at == program_.entries.end() || at->id.n != offset) return std::nullopt;
    return static_cast<Index>(at - program_.entries.begin());
  }

  // --- 2 ---

  struct FunctionStart {
    std::string name;
    bool kernel = false;
  };

  void find_functions() {
    std::map<uint64_t, FunctionStart> starts; // by offset
    for (const auto* table : {&object_.symbols(), &object_.dynamic_symbols()})
      for (const codeobject::Symbol& s : *table)
        if (s.type() == stt_func && s.section == text_section_ && s.value - text_->address < text_->size)
          starts.try_emplace(s.value - text_->address, FunctionStart{s.name, false});
    for (const codeobject::Kernel& k : object_.kernels())
      if (k.entry - text_->address < text_->size) starts[k.entry - text_->address] = {k.name, true};
    for (const auto& [offset, start] : starts) {
      const auto at = entry_at(offset);
      if (!at) {
        gap(offset, fmt::format("function '{}' starts inside an instruction", start.name));
        continue;
      }
      if (!program_.functions.empty()) program_.functions.back().end = *at;
      const auto end = static_cast<Index>(program_.entries.size());
      program_.functions.push_back({start.name, *at, end, start.kernel, end});
    }
    for (program::Function& f : program_.functions) f.padding = padding_of(f);
  }

  // Trailing filler behind the last instruction that ends control. The last function's is not padding in
  // front of anything, but just as dead.
  Index padding_of(const program::Function& f) const {
    Index at = f.end;
    while (at > f.begin && is_filler(program_.instruction(at - 1))) --at;
    return at > f.begin && program_.instruction(at - 1).no_fallthrough() ? at : f.end;
  }

  void find_aligned_points() {
    for (size_t k = 0; k < program_.functions.size(); ++k) {
      const program::Function& f = program_.functions[k];
      const Index filler = k == 0 ? f.begin : program_.functions[k - 1].padding;
      if (f.kernel || filler < f.begin) {
        const uint32_t offset = program_.entries[f.begin].id.n;
        uint32_t alignment = f.kernel ? 256 : 4;
        while (!f.kernel && alignment < 256 && offset % (alignment * 2) == 0) alignment *= 2;
        if (offset % alignment == 0) program_.aligned.push_back({f.begin, alignment, filler, no_index, 0});
      }
      add_preload_point(f);
    }
  }

  void add_preload_point(const program::Function& f) {
    const codeobject::Kernel* kernel = f.kernel ? object_.find_kernel(f.name) : nullptr;
    if (kernel == nullptr || (kernel->descriptor.kernarg_preload & 0x7f) == 0) return;
    const auto at = entry_at(program_.entries[f.begin].id.n + uint64_t{preload_distance});
    if (!at || *at >= f.end) {
      gap(program_.entries[f.begin].id.n,
          "kernel preloads arguments but has no second entry 256 bytes behind the first");
      return;
    }
    // Reached or not, an s_nop in front of the second entry may be replaced by another.
    Index filler = *at;
    while (filler > f.begin && program_.instruction(filler - 1).words[0] == s_nop_0) --filler;
    program_.aligned.push_back({*at, 4, filler, f.begin, preload_distance});
    program_.aligned.back().alignment = preload_distance;
  }

  // --- 3 ---

  void name_symbols() {
    for (const program::Function& f : program_.functions)
      if (is_plain_name(f.name)) add_label(f.begin, f.name);
    for (const codeobject::Symbol& s : object_.symbols()) {
      if (s.section == text_section_ && s.type() == stt_notype && is_plain_name(s.name)) {
        if (const auto at = entry_at(s.value - text_->address)) add_label(*at, s.name);
      } else if (s.type() == stt_object && s.section < object_.sections().size() && is_plain_name(s.name)) {
        add_external(s.name, s.section, s.value);
      }
    }
    for (const codeobject::Symbol& s : object_.dynamic_symbols())
      if (s.type() == stt_object && s.section < object_.sections().size() && is_plain_name(s.name))
        add_external(s.name, s.section, s.value);
  }

  void add_label(Index at, const std::string& name) {
    if (label_names_.contains(name) || external_names_.contains(name)) return;
    label_names_.emplace(name, static_cast<uint32_t>(program_.labels.size()));
    label_at_.try_emplace(at, static_cast<uint32_t>(program_.labels.size()));
    program_.labels.push_back({name, at});
  }

  void add_external(const std::string& name, uint32_t section, uint64_t address) {
    if (label_names_.contains(name) || external_names_.contains(name)) return;
    const uint64_t offset = address - object_.sections()[section].address;
    external_names_.emplace(name, program_.externals.size());
    external_at_.try_emplace({section, offset}, program_.externals.size());
    program_.externals.push_back({name, section, offset});
  }

  uint32_t label_for(Index at) {
    if (const auto known = label_at_.find(at); known != label_at_.end()) return known->second;
    const uint32_t offset =
        at < program_.entries.size() ? program_.entries[at].id.n : static_cast<uint32_t>(text_->size);
    std::string name = fmt::format("L_{:x}", offset);
    while (label_names_.contains(name) || external_names_.contains(name)) name += "_";
    add_label(at, name);
    return label_at_.at(at);
  }

  // The name of a place outside .text; places without symbol get one that says where they are.
  const std::string& external_for(uint32_t section, uint64_t offset) {
    if (const auto known = external_at_.find({section, offset}); known != external_at_.end())
      return program_.externals[known->second].name;
    std::string name = object_.sections()[section].name;
    std::ranges::replace_if(name, [](char c) { return !is_plain_name(std::string{'_', c}); }, '_');
    name = fmt::format("S{}_{:x}", name, offset);
    while (label_names_.contains(name) || external_names_.contains(name)) name += "_";
    add_external(name, section, object_.sections()[section].address + offset);
    return program_.externals.back().name;
  }

  // --- 4 ---

  void refer(Index i, program::Reference r) {
    program_.entries[i].reference = static_cast<uint32_t>(program_.references.size());
    program_.references.push_back(std::move(r));
  }

  void refer_branches() {
    for (Index i = 0; i < program_.entries.size(); ++i) {
      const isa::Instruction& insn = program_.instruction(i);
      if (!insn.branch) continue;
      const int64_t target =
          static_cast<int64_t>(program_.entries[i].id.n) + 4 + int64_t{4} * insn.branch_offset();
      const auto at = target < 0 ? std::nullopt : entry_at(static_cast<uint64_t>(target));
      if (!at) {
        gap(program_.entries[i].id.n,
            fmt::format("{} goes to {:#x}, which is no instruction", insn.mnemonic, target));
        continue;
      }
      program::Reference r;
      r.use = isa::SymbolUse::Branch;
      r.label = label_for(*at);
      refer(i, r);
    }
  }

  void refer_program_counters() {
    for (Index i = 0; i < program_.entries.size(); ++i) {
      const isa::Instruction& insn = program_.instruction(i);
      if (insn.is("s_getpc_b64") && !refer_program_counter(i))
        gap(program_.entries[i].id.n, "s_getpc_b64 without an s_add_u32, s_addc_u32 pair behind it");
      // A saved or loaded code address (s_setpc, s_swappc through registers) needs nothing: it was computed
      // from one of these, or passed by the caller.
    }
  }

  // s_getpc_b64 s[d:d+1] ... s_add_u32 sd, sd, lo ... s_addc_u32 sd+1, sd+1, hi
  bool refer_program_counter(Index getpc) {
    const isa::RegRange pair = program_.instruction(getpc).defs[0];
    const isa::RegRange low{pair.first, 1}, high{static_cast<isa::RegUnit>(pair.first + 1), 1};
    const isa::RegRange scc{isa::unit::scc, 1};
    const auto low_at = find_addition(getpc + 1, "s_add_u32", low, pair);
    if (!low_at) return false;
    const auto high_at = find_addition(*low_at + 1, "s_addc_u32", high, pair);
    if (!high_at) return false;
    for (Index k = *low_at + 1; k < *high_at; ++k)
      if (program_.instruction(k).writes(scc)) return false;
    const uint64_t distance = addend_of(*low_at) | addend_of(*high_at) << 32;
    const uint64_t from = text_->address + program_.entries[getpc].id.n + program_.instruction(getpc).bytes();
    auto reference = reference_to(from + distance);
    if (!reference) return false;
    reference->base = getpc;
    reference->use = isa::SymbolUse::Rel32Lo;
    refer(*low_at, *reference);
    reference->use = isa::SymbolUse::Rel32Hi;
    refer(*high_at, *reference);
    return true;
  }

  // The next "op r, r, constant", with nothing in between that writes or reads the pair or leaves the block.
  std::optional<Index> find_addition(Index from, std::string_view op, const isa::RegRange& reg,
                                     const isa::RegRange& pair) const {
    for (Index k = from; k < program_.entries.size() && k < from + getpc_reach; ++k) {
      const isa::Instruction& insn = program_.instruction(k);
      if (insn.is(op) && insn.operands.size() == 3 && insn.operands[0].reg == reg &&
          insn.operands[1].reg == reg && insn.operands[1].kind == isa::Operand::Kind::Register &&
          insn.operands[2].kind != isa::Operand::Kind::Register)
        return k;
      if (insn.ends_block() || insn.writes(pair) || insn.reads(pair) || insn.is_data()) return std::nullopt;
    }
    return std::nullopt;
  }

  uint64_t addend_of(Index i) const {
    return static_cast<uint32_t>(program_.instruction(i).operands[2].value);
  }

  std::optional<program::Reference> reference_to(uint64_t address) {
    program::Reference r;
    if (address - text_->address <= text_->size) {
      const auto at = entry_at(address - text_->address);
      if (!at) return std::nullopt;
      r.label = label_for(*at);
      return r;
    }
    const auto section = object_.section_at(address);
    if (!section) return std::nullopt;
    r.section = static_cast<uint32_t>(*section);
    r.offset = address - object_.sections()[*section].address;
    r.symbol = external_for(r.section, r.offset);
    return r;
  }

  void gap(uint64_t offset, std::string reason) { recovery_.gaps.push_back({offset, std::move(reason)}); }

  const CodeObject& object_;
  isa::Codec& codec_;
  const codeobject::Section* text_ = nullptr;
  uint32_t text_section_ = 0;
  Recovery recovery_;
  Program& program_ = recovery_.program;
  std::map<std::string, uint32_t, std::less<>> label_names_;
  std::map<std::string, size_t, std::less<>> external_names_;
  std::map<Index, uint32_t> label_at_;
  std::map<std::pair<uint32_t, uint64_t>, size_t> external_at_;
};

} // namespace

Result<Recovery> recover(const CodeObject& object, isa::Codec& codec) {
  if (codec.target().gfx != object.target().gfx)
    return internal_error("codec for {} used on an object for {}", codec.target().name(),
                          object.target().name());
  return Recoverer(object, codec).run();
}

} // namespace asmevo::rebuild
