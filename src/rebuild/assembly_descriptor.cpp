// Most fields have a directive of their own. The three that count registers do not: text says how many
// registers the kernel uses and the assembler rounds up. So the text names the largest number that rounds to
// the field.
//
//   VGPRs    .amdhsa_next_free_vgpr = (field + 1) * 8
//   SGPRs    .amdhsa_next_free_sgpr = (field + 1) * 8 - 6, at most 102. The 6 are what the assembler adds by
//   itself: VCC,
//            and FLAT_SCRATCH and XNACK_MASK (reserved by default on gfx90a, always with architected flat
//            scratch). .amdhsa_reserve_xnack_mask is not written: it must agree with the target id.
//   AGPRs    .amdhsa_accum_offset in registers
//
// Not every 64 bytes can be had that way (reserved bits, odd counts, symbols that are not as the directive
// makes them). What the directives give is therefore assembled and compared; a descriptor that differs is
// written as bytes.
#include "rebuild/assembly_descriptor.h"

#include "rebuild/assembler.h"
#include "rebuild/assembly_names.h"

#include <algorithm>
#include <array>
#include <elf.h>

namespace asmevo::rebuild {

using codeobject::CodeObject;
using codeobject::DescriptorField;
using codeobject::Kernel;
using codeobject::KernelDescriptor;
using codeobject::Symbol;

namespace {

constexpr unsigned added_sgprs = 6;

// Written even when zero, because the assembler's default is another value or the reader looks for them.
bool always_written(std::string_view directive) {
  constexpr std::array<std::string_view, 9> directives = {".amdhsa_group_segment_fixed_size",
                                                          ".amdhsa_private_segment_fixed_size",
                                                          ".amdhsa_kernarg_size",
                                                          ".amdhsa_user_sgpr_count",
                                                          ".amdhsa_system_sgpr_workgroup_id_x",
                                                          ".amdhsa_float_denorm_mode_16_64",
                                                          ".amdhsa_dx10_clamp",
                                                          ".amdhsa_ieee_mode",
                                                          ".amdhsa_accum_offset"};
  return std::ranges::find(directives, directive) != directives.end();
}

// `.amdhsa_kernel k` also makes the symbol k.kd, from what k is; and it reaches the code through the symbol
// k.
std::string why_not(const CodeObject& object, const SymbolPlan& symbols, const Kernel& kernel) {
  // The directive takes a quoted name as it stands, where labels take escapes.
  if (quoted_name(kernel.name).find('\\') != std::string::npos) return "its name needs escapes";
  const Symbol* code = symbols.find(kernel.name);
  const Symbol* descriptor = symbols.find(kernel.name + ".kd");
  if (!code || code->value != kernel.entry) return "the kernel's symbol is not at its entry";
  if (!descriptor || descriptor->value != kernel.descriptor_address || descriptor->type() != STT_OBJECT ||
      descriptor->size != KernelDescriptor::size)
    return "its symbol is not an object of 64 bytes";
  const codeobject::Section& section = object.sections()[descriptor->section];
  if ((kernel.descriptor_address - section.address) % KernelDescriptor::alignment != 0 ||
      section.alignment < KernelDescriptor::alignment)
    return "it is not aligned to 64 bytes";
  const bool same_binding = code->binding() == descriptor->binding();
  const bool same_visibility = code->visibility() == descriptor->visibility();
  const bool made_protected = code->visibility() == STV_PROTECTED && descriptor->visibility() == STV_DEFAULT;
  if (!same_binding || code->visibility() == STV_DEFAULT || !(same_visibility || made_protected))
    return "its symbol differs from the kernel's in binding or visibility";
  return {};
}

bool same_but_for_entry(ByteSpan a, ByteSpan b) {
  constexpr uint64_t after =
      codeobject::KernelDescriptor::entry_offset_at + codeobject::KernelDescriptor::entry_offset_size;
  return std::ranges::equal(a.first(codeobject::KernelDescriptor::entry_offset_at),
                            b.first(codeobject::KernelDescriptor::entry_offset_at)) &&
         std::ranges::equal(a.subspan(after), b.subspan(after));
}

// Assembles the forms alone, one after the other, and says for each whether it gives its descriptor.
std::vector<bool> check_forms(const CodeObject& object, const std::vector<DescriptorForm*>& forms) {
  std::vector<bool> good(forms.size(), false);
  std::string text =
      assembly_header(object.target(), object.version()) + "\t.section .rodata,\"a\",@progbits\n";
  for (size_t i = 0; i < forms.size(); ++i)
    text +=
        fmt::format("\t.p2align 6\n\t.amdhsa_kernel k{}\n{}\t.end_amdhsa_kernel\n", i, forms[i]->directives);
  const auto relocatable = assemble_relocatable(text, "descriptors");
  if (!relocatable) {
    // One that is refused hides the others.
    if (forms.size() > 1)
      for (size_t i = 0; i < forms.size(); ++i) good[i] = check_forms(object, {forms[i]}).front();
    return good;
  }
  const auto bytes = relocatable_section(*relocatable, ".rodata");
  if (!bytes) return good;
  for (size_t i = 0; i < forms.size(); ++i) {
    const auto made = slice(*bytes, i * KernelDescriptor::size, KernelDescriptor::size);
    const auto wanted = forms[i]->kernel->descriptor.encode();
    good[i] = made && same_but_for_entry(*made, wanted);
  }
  return good;
}

} // namespace

std::string descriptor_directives(const KernelDescriptor& descriptor, const isa::Target& target) {
  std::string text;
  const auto write = [&](std::string_view directive, uint64_t value) {
    text += fmt::format("\t\t{} {}\n", directive, value);
  };
  const unsigned sgprs = codeobject::allocated_sgprs(descriptor, target);
  write(".amdhsa_next_free_vgpr", codeobject::allocated_vgprs(descriptor, target));
  write(".amdhsa_next_free_sgpr", std::min(isa::limits(target).max_sgprs, sgprs - added_sgprs));
  for (const DescriptorField& field : codeobject::descriptor_fields(target)) {
    if (field.directive.empty()) continue;
    const uint64_t value = field.name == "accum_offset" ? codeobject::accum_offset(descriptor, target)
                                                        : codeobject::get(descriptor, field);
    if (value != 0 || always_written(field.directive)) write(field.directive, value);
  }
  return text;
}

Result<std::map<uint64_t, DescriptorForm>> descriptor_forms(const CodeObject& object,
                                                            const SymbolPlan& symbols) {
  std::map<uint64_t, DescriptorForm> forms;
  std::vector<DescriptorForm*> to_check;
  for (const Kernel& kernel : object.kernels()) {
    const auto [at, fresh] = forms.try_emplace(kernel.descriptor_address);
    if (!fresh)
      return unsupported("kernels '{}' and '{}' share a descriptor", at->second.kernel->name, kernel.name);
    DescriptorForm& form = at->second;
    form.kernel = &kernel;
    form.reason = why_not(object, symbols, kernel);
    if (!form.reason.empty()) continue;
    form.directives = descriptor_directives(kernel.descriptor, object.target());
    to_check.push_back(&form);
  }
  const std::vector<bool> good = check_forms(object, to_check);
  for (size_t i = 0; i < to_check.size(); ++i) {
    if (good[i]) continue;
    to_check[i]->directives.clear();
    to_check[i]->reason = "directives cannot express it";
  }
  return forms;
}

} // namespace asmevo::rebuild
