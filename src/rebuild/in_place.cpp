#include "rebuild/in_place.h"

#include "program/layout.h"

#include <algorithm>

namespace asmevo::rebuild {

using program::Index;
using program::Program;

namespace {

// s_nop 0 as an instruction of the pool the program already keeps, or of none: the words are all a layout
// needs.
const isa::Instruction* nop() {
  static const isa::Instruction instruction = [] {
    isa::Instruction i;
    i.words[0] = 0xbf800000;
    i.dwords = 1;
    i.family = isa::Family::Sopp;
    i.mnemonic = i.base_mnemonic = "s_nop";
    i.issue = isa::IssueClass::Nop;
    return i;
  }();
  return &instruction;
}

// Puts s_nop behind each run of new instructions until the next old instruction stands where it stood.
Result<Program> pad(const Program& base, const Program& spliced, uint32_t node) {
  const std::vector<uint64_t> was = program::offsets_of(base);
  Program padded = spliced;
  padded.entries.clear();
  std::vector<Index> moved(spliced.entries.size() + 1); // index in `spliced` -> index in `padded`
  uint64_t at = 0;
  size_t old = 0;
  uint32_t fillers = 0;
  for (const program::Entry& e : spliced.entries)
    fillers = std::max(fillers, e.id.node == node ? e.id.n + 1 : 0);
  const auto fill_to = [&](uint64_t offset) {
    for (; at < offset; at += 4) padded.entries.push_back({{node, fillers++}, program::no_index, nop()});
    return at == offset;
  };
  for (size_t i = 0; i < spliced.entries.size(); ++i) {
    const program::Entry& e = spliced.entries[i];
    while (old < base.entries.size() && base.entries[old].id != e.id && e.id.node != node) ++old;
    const bool is_old = old < base.entries.size() && base.entries[old].id == e.id;
    if (is_old && !fill_to(was[old]))
      return unsupported("in-place patch: the text in front of {} is longer than what it replaces",
                         e.id.text());
    moved[i] = static_cast<Index>(padded.entries.size());
    padded.entries.push_back(e);
    at += e.instruction->bytes();
  }
  if (!fill_to(was.back())) return unsupported("in-place patch: the text is longer than what it replaces");
  moved.back() = static_cast<Index>(padded.entries.size());
  const auto map = [&](Index& i) { i = i == program::no_index ? i : moved[i]; };
  for (program::Label& l : padded.labels) map(l.at);
  for (program::Reference& r : padded.references) map(r.base);
  for (program::Function& f : padded.functions) map(f.begin), map(f.end), map(f.padding);
  for (program::AlignedPoint& p : padded.aligned) map(p.at), map(p.filler), map(p.anchor);
  return padded;
}

Status check_resources(const Original& k0, const Program& program, const program::Edit& edit) {
  if (!(edit.resources == program::ResourceRequest{}))
    return unsupported("in-place patch: resources cannot change");
  for (const codeobject::Kernel& kernel : k0.object.kernels()) {
    const program::Function* function = program.find_function(kernel.name);
    const auto of_k0 = k0.registers.find(kernel.name);
    if (function == nullptr || of_k0 == k0.registers.end()) continue;
    const RegisterUse now = scan_registers(program, *function);
    ASMEVO_TRY(const Resources after, resources_after(k0.object, kernel, of_k0->second, now, {}));
    if (after.descriptor == kernel.descriptor) continue;
    return unsupported("in-place patch: kernel '{}' would need {} {} and has {}", kernel.name,
                       after.changes.front().to, after.changes.front().field, after.changes.front().from);
  }
  return {};
}

} // namespace

Result<Built> patch_in_place(const Original& k0, const Program& base, const Program& spliced,
                             const program::Edit& edit) {
  uint32_t node = 0;
  for (const program::Entry& e : spliced.entries) node = std::max(node, e.id.node);
  ASMEVO_TRY(Program padded, pad(base, spliced, std::max(node, 1U)));
  ASMEVO_CHECK(check_resources(k0, padded, edit));
  const auto& sections = k0.object.sections();
  ASMEVO_TRY(const program::TextImage image,
             program::lay_out(padded, padded.text_address, [&](uint32_t s) { return sections[s].address; }));
  const auto text = std::ranges::find_if(sections, [&](const codeobject::Section& s) {
    return s.executable() && s.address == padded.text_address && s.size > 0;
  });
  if (text == sections.end() || image.bytes.size() != text->contents.size())
    return internal_error("in-place patch: .text changed its size");
  Built built;
  built.route = BuiltBy::InPlace;
  built.object.assign(k0.object.bytes().begin(), k0.object.bytes().end());
  std::ranges::copy(image.bytes, built.object.begin() + static_cast<ptrdiff_t>(text->offset));
  built.program = std::move(padded);
  return built;
}

} // namespace asmevo::rebuild
