// Whole objects that host programs would have to know of: a field of the descriptor or of the metadata is
// another one, or says less than the code uses. The code is K0's without the pause.
#include "codeobject/kernel_descriptor.h"
#include "soundness/drafts.h"

#include <algorithm>
#include <elf.h>

namespace asmevo::soundness {

namespace {

using codeobject::KernelDescriptor;

class Patches {
 public:
  Patches(const Bench& bench, const oracle::Subject& fast)
      : object_(fast.object()), target_(object_.target()),
        kernel_(*object_.find_kernel(bench.source.kernel)) {}

  Drafts run() {
    for (const char* field :
         {"enable_sgpr_workgroup_id_x", "enable_sgpr_workgroup_id_y", "enable_sgpr_workgroup_id_z",
          "enable_sgpr_workgroup_info", "enable_sgpr_kernarg_segment_ptr", "enable_sgpr_dispatch_ptr",
          "enable_sgpr_queue_ptr", "enable_sgpr_dispatch_id", "enable_private_segment", "enable_dx10_clamp",
          "enable_ieee_mode", "fp16_ovfl", "tg_split", "uses_dynamic_stack"})
      descriptor(field, [](uint64_t v) { return v ^ 1; });
    for (const char* field : {"float_round_mode_32", "float_round_mode_16_64", "float_denorm_mode_32",
                              "float_denorm_mode_16_64", "enable_vgpr_workitem_id"})
      descriptor(field, [](uint64_t v) { return v == 0 ? 1 : v - 1; });
    descriptor("user_sgpr_count", [](uint64_t v) { return v + 1; });
    for (const uint64_t more : {8U, 256U}) descriptor("kernarg_size", [=](uint64_t v) { return v + more; });
    descriptor("kernarg_size", [](uint64_t v) { return v / 2; });
    // Less than the code uses.
    descriptor("granulated_workitem_vgpr_count", [](uint64_t) { return 0; }, true);
    descriptor("accum_offset", [](uint64_t) { return 0; }, true);
    descriptor("group_segment_fixed_size", [](uint64_t v) { return v / 2; }, true);
    descriptor("group_segment_fixed_size", [](uint64_t) { return 0; }, true);
    for (const char* key : {".kernarg_segment_size", ".max_flat_workgroup_size", ".wavefront_size",
                            ".kernarg_segment_align", ".offset", ".size"})
      metadata(key);
    symbol();
    program_header("no PT_NOTE", PT_NOTE, [](Elf64_Phdr& h) { h.p_type = PT_NULL; });
    program_header("no PT_DYNAMIC", PT_DYNAMIC, [](Elf64_Phdr& h) { h.p_type = PT_NULL; });
    program_header("an empty PT_NOTE", PT_NOTE, [](Elf64_Phdr& h) { h.p_filesz = h.p_memsz = 0; });
    program_header("a stack that is executable", PT_GNU_STACK, [](Elf64_Phdr& h) { h.p_flags |= PF_X; });
    return std::move(list_);
  }

 private:
  Bytes bytes() const { return Bytes(object_.bytes().begin(), object_.bytes().end()); }

  void descriptor(std::string_view field, const std::function<uint64_t(uint64_t)>& change,
                  bool resource = false) {
    KernelDescriptor d = kernel_.descriptor;
    const uint64_t is = get(d, target_, field);
    set(d, target_, field, change(is));
    if (d == kernel_.descriptor || (resource && change(is) >= is)) return;
    const auto section = object_.section_at(kernel_.descriptor_address);
    if (!section) return;
    const codeobject::Section& s = object_.sections()[*section];
    Bytes patched = bytes();
    std::ranges::copy(d.encode(), patched.begin() + static_cast<std::ptrdiff_t>(
                                                        s.offset + kernel_.descriptor_address - s.address));
    add(fmt::format("descriptor: {} {} for {}", field, get(d, target_, field), is), std::move(patched));
  }

  // Integers behind a key in the note, as MessagePack has them: below 128 in one byte, else behind 0xcc in
  // one and 0xcd in two.
  void metadata(std::string_view key) {
    const auto note = object_.metadata_note();
    if (!note) return;
    const Bytes original = bytes();
    const std::string_view all(reinterpret_cast<const char*>(original.data()), note->offset + note->size);
    for (size_t at = all.find(key, note->offset); at != std::string_view::npos; at = all.find(key, at + 1)) {
      if (static_cast<uint8_t>(all[at - 1]) != (0xa0 | key.size())) continue; // part of another key
      size_t value = at + key.size();
      if (original[value] == 0xcc) value += 1;
      if (original[value] == 0xcd) value += 1;
      if (original[value] > 0x7f && original[value - 1] != 0xcc && original[value - 1] != 0xcd) continue;
      Bytes patched = original;
      patched[value] = patched[value] == 0 ? 8 : patched[value] / 2;
      std::string text =
          fmt::format("metadata: {} at byte {}: {} for {}", key, value, patched[value], original[value]);
      add(std::move(text), std::move(patched));
    }
  }

  // Another name of the kernel, of the same length, wherever it stands.
  void symbol() {
    Bytes patched = bytes();
    for (auto at = patched.begin();;) {
      const auto found = std::search(at, patched.end(), kernel_.name.begin(), kernel_.name.end());
      if (found == patched.end()) break;
      *found = *found == 'z' ? 'y' : 'z';
      at = found + 1;
    }
    add("another symbol", std::move(patched));
  }

  // What a loader goes by: the first of the type is another one.
  void program_header(std::string_view text, uint32_t type, const std::function<void(Elf64_Phdr&)>& change) {
    Bytes patched = bytes();
    const auto header = *load<Elf64_Ehdr>(patched, 0);
    for (size_t i = 0; i < header.e_phnum; ++i) {
      const uint64_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
      auto segment = *load<Elf64_Phdr>(patched, at);
      if (segment.p_type != type) continue;
      change(segment);
      store(patched, at, segment);
      return add(fmt::format("program headers: {}", text), std::move(patched));
    }
  }

  void add(std::string text, Bytes object) {
    Draft d;
    d.text = std::move(text);
    d.object = std::move(object);
    list_.push_back(std::move(d));
  }

  const codeobject::CodeObject& object_;
  isa::Target target_;
  const codeobject::Kernel& kernel_;
  Drafts list_;
};

} // namespace

Drafts abi_changed(const Bench& bench) {
  const auto fast = bench.build(bench.edit({}));
  return fast ? Patches(bench, **fast).run() : Drafts();
}

} // namespace asmevo::soundness
