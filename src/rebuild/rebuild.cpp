#include "rebuild/rebuild.h"

#include "codeobject/elf_layout.h"
#include "program/layout.h"
#include "rebuild/in_place.h"

#include <algorithm>

namespace asmevo::rebuild {

using codeobject::CodeObject;
using codeobject::ElfLayout;
using codeobject::Kernel;
using program::Program;

namespace {

// Note header: name size, descriptor size, type, "AMDGPU\0" padded to 8 (ELF note format).
constexpr uint64_t note_descsz = 4;

class Builder {
 public:
  Builder(const Original& k0, Program program, std::string_view kernel,
          const program::ResourceRequest& request)
      : k0_(k0), object_(k0.object), kernel_(kernel), request_(request) {
    built_.program = std::move(program);
    contents_.resize(object_.sections().size());
  }

  Result<Built> run() {
    for (const codeobject::Section& s : object_.sections()) sizes_.push_back(s.size);
    ASMEVO_TRY(text_section_, find_text());
    ASMEVO_CHECK(plan_resources());
    ASMEVO_CHECK(write_metadata());
    offsets_ = program::offsets_of(built_.program);
    sizes_[text_section_] = offsets_.back();
    ASMEVO_CHECK(check_gaps());
    ASMEVO_TRY(const ElfLayout layout, ElfLayout::plan(object_, sizes_));
    ASMEVO_CHECK(write_text(layout));
    write_descriptors();
    ASMEVO_TRY(built_.object,
               layout.write(contents_, [&](uint64_t address) { return map_address(layout, address); }));
    return std::move(built_);
  }

 private:
  Result<size_t> find_text() const {
    for (size_t s = 1; s < object_.sections().size(); ++s)
      if (object_.sections()[s].executable() &&
          object_.sections()[s].address == built_.program.text_address && object_.sections()[s].size > 0)
        return s;
    return internal_error("the program is not from this object");
  }

  // Recovery could not explain some address in the code: nothing may move then.
  Status check_gaps() const {
    if (k0_.recovery.gaps.empty()) return {};
    const auto& entries = built_.program.entries;
    bool moved = sizes_[text_section_] != object_.sections()[text_section_].size;
    for (size_t i = 0; i < entries.size() && !moved; ++i)
      moved = entries[i].id.node == 0 && entries[i].id.n != offsets_[i];
    if (!moved) return {};
    const RecoveryGap& gap = k0_.recovery.gaps.front();
    return unsupported("code cannot move: .text+{:#x}: {}", gap.offset, gap.reason);
  }

  Status plan_resources() {
    for (const Kernel& kernel : object_.kernels()) {
      descriptors_.push_back(kernel.descriptor);
      if (kernel_.empty()) continue;
      const program::Function* function = built_.program.find_function(kernel.name);
      const auto of_k0 = k0_.registers.find(kernel.name);
      if (function == nullptr || of_k0 == k0_.registers.end()) continue;
      // An edit of a device function reaches every kernel that calls it; requests are for the one that is
      // named.
      const program::ResourceRequest& request = kernel.name == kernel_ ? request_ : no_request_;
      const RegisterUse now = scan_registers(built_.program, *function);
      if (now == of_k0->second && request == no_request_) continue;
      ASMEVO_TRY(Resources after, resources_after(object_, kernel, of_k0->second, now, request));
      descriptors_.back() = after.descriptor;
      changes_.emplace_back(kernel.metadata_index, after.changes);
      built_.resources.insert(built_.resources.end(), after.changes.begin(), after.changes.end());
    }
    return {};
  }

  Status write_metadata() {
    const auto note = object_.metadata_note();
    if (!note || !object_.metadata()) return {};
    codeobject::Metadata metadata = *object_.metadata();
    bool changed = false;
    for (const auto& [index, changes] : changes_)
      if (index && !changes.empty()) update_metadata(metadata, *index, changes), changed = true;
    Bytes bytes = metadata.write();
    const ByteSpan was = object_.bytes().subspan(note->offset, note->size);
    // A note whose key order is not LLVM's stays as it is while nothing in it changes.
    if (!changed || std::ranges::equal(bytes, was)) return {};
    const auto section = std::ranges::find_if(object_.sections(), [&](const codeobject::Section& s) {
      return s.offset <= note->offset && note->offset + note->size <= s.offset + s.contents.size() &&
             !s.contents.empty();
    });
    if (section == object_.sections().end()) return unsupported("the metadata note is in no section");
    replace_note(static_cast<size_t>(section - object_.sections().begin()), *note, bytes);
    return {};
  }

  void replace_note(size_t section, CodeObject::Range note, ByteSpan bytes) {
    const codeobject::Section& s = object_.sections()[section];
    const uint64_t begin = note.offset - s.offset;
    const uint64_t end = std::min<uint64_t>(align_up(begin + note.size, 4), s.contents.size());
    Bytes contents(s.contents.begin(), s.contents.begin() + static_cast<ptrdiff_t>(begin));
    // The header is 12 bytes and the padded name in front of the descriptor; its size field is the second
    // word.
    constexpr uint64_t header = 12 + 8;
    store(std::span(contents), begin - header + note_descsz, static_cast<uint32_t>(bytes.size()));
    append(contents, bytes);
    contents.resize(align_up(contents.size(), 4));
    append(contents, s.contents.subspan(end));
    sizes_[section] = contents.size();
    contents_[section] = std::move(contents);
  }

  Status write_text(const ElfLayout& layout) {
    ASMEVO_TRY(program::TextImage image,
               program::lay_out(built_.program, layout.address(text_section_),
                                [&](uint32_t section) { return layout.address(section); }));
    contents_[text_section_] = std::move(image.bytes);
    return {};
  }

  void write_descriptors() {
    for (size_t k = 0; k < object_.kernels().size(); ++k) {
      const Kernel& kernel = object_.kernels()[k];
      const auto section = object_.section_at(kernel.descriptor_address);
      if (!section || *section == text_section_) continue;
      const codeobject::Section& s = object_.sections()[*section];
      if (contents_[*section].empty()) contents_[*section].assign(s.contents.begin(), s.contents.end());
      const auto bytes = descriptors_[k].encode();
      std::ranges::copy(bytes, contents_[*section].begin() +
                                   static_cast<ptrdiff_t>(kernel.descriptor_address - s.address));
    }
  }

  // Addresses inside .text follow their instruction; one inside an instruction (there should be none) keeps
  // its distance from the instruction's start.
  uint64_t map_address(const ElfLayout& layout, uint64_t address) const {
    const codeobject::Section& text = object_.sections()[text_section_];
    if (address < text.address || address - text.address > text.size) return layout.moved(address);
    return layout.address(text_section_) + map_offset(address - text.address);
  }

  uint64_t map_offset(uint64_t old_offset) const {
    if (old_to_new_.empty()) {
      // Symbols and entries point at what stands in front of an instruction after an edit, just as labels do:
      // the function and label positions carry that; all others follow the instruction itself.
      const Program& p = built_.program;
      for (size_t i = 0; i < p.entries.size(); ++i)
        if (p.entries[i].id.node == 0) old_to_new_.emplace_back(p.entries[i].id.n, offsets_[i]);
      for (size_t k = 0; k < p.functions.size(); ++k)
        starts_.emplace_back(old_start(k), offsets_[p.functions[k].begin]);
      const Program& k0 = k0_.program();
      for (size_t k = 0; k < std::min(p.labels.size(), k0.labels.size()); ++k)
        if (k0.labels[k].at < k0.entries.size())
          starts_.emplace_back(k0.entries[k0.labels[k].at].id.n, offsets_[p.labels[k].at]);
      std::ranges::sort(starts_);
      old_to_new_.emplace_back(object_.sections()[text_section_].size, offsets_.back());
      std::ranges::sort(old_to_new_);
    }
    const auto start =
        std::ranges::lower_bound(starts_, old_offset, {}, &std::pair<uint64_t, uint64_t>::first);
    if (start != starts_.end() && start->first == old_offset) return start->second;
    // The instruction itself, or, where it was removed, the next one that is left.
    const auto at =
        std::ranges::lower_bound(old_to_new_, old_offset, {}, &std::pair<uint64_t, uint64_t>::first);
    return at == old_to_new_.end() ? offsets_.back() : at->second;
  }

  uint64_t old_start(size_t function) const {
    const Program& k0 = k0_.program();
    return k0.entries[k0.functions[function].begin].id.n;
  }

  static inline const program::ResourceRequest no_request_{};

  const Original& k0_;
  const CodeObject& object_;
  std::string_view kernel_;
  const program::ResourceRequest& request_;
  Built built_;
  size_t text_section_ = 0;
  std::vector<uint64_t> sizes_, offsets_;
  std::vector<Bytes> contents_;
  std::vector<codeobject::KernelDescriptor> descriptors_;
  std::vector<std::pair<std::optional<size_t>, std::vector<ResourceChange>>> changes_;
  mutable std::vector<std::pair<uint64_t, uint64_t>> old_to_new_, starts_;
};

} // namespace

Result<Original> Original::open(Bytes bytes, isa::Codec& codec) {
  ASMEVO_TRY(CodeObject object, CodeObject::parse(std::move(bytes)));
  ASMEVO_TRY(Recovery recovery, recover(object, codec));
  std::map<std::string, RegisterUse, std::less<>> registers;
  for (const program::Function& f : recovery.program.functions)
    if (f.kernel) registers.emplace(f.name, scan_registers(recovery.program, f));
  return Original{std::move(object), std::move(recovery), std::move(registers)};
}

Result<Built> rebuild(const Original& k0, Program program, std::string_view kernel,
                      const program::ResourceRequest& resources) {
  return Builder(k0, std::move(program), kernel, resources).run();
}

Result<Built> apply_edit(const Original& k0, const Program& base, const program::Edit& edit, uint32_t node,
                         isa::Codec& codec) {
  auto spliced = program::splice(base, edit, node, codec);
  if (!spliced) return bad_input("edit: {}", spliced.error().describe());
  return build_spliced(k0, base, *std::move(spliced), edit);
}

Result<Built> build_spliced(const Original& k0, const Program& base, Program spliced,
                            const program::Edit& edit) {
  const bool recoverable = k0.recovery.gaps.empty() && k0.object.version() >= 4;
  if (!recoverable) return patch_in_place(k0, base, spliced, edit);
  return rebuild(k0, std::move(spliced), edit.kernel, edit.resources);
}

} // namespace asmevo::rebuild
