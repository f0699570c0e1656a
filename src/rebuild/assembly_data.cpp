#include "rebuild/assembly_data.h"

#include "rebuild/assembly_names.h"

#include <algorithm>
#include <bit>
#include <elf.h>

namespace asmevo::rebuild {

using codeobject::KernelDescriptor;
using codeobject::Relocation;
using codeobject::Section;
using codeobject::Symbol;

namespace {

constexpr uint64_t largest_section = uint64_t{1} << 31; // bytes; no code reaches further
constexpr size_t zero_run = 16;                         // bytes from which on .zero is shorter to read

std::string number_lines(std::string_view directive, ByteSpan bytes, size_t width) {
  constexpr size_t bytes_per_line = 16;
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += width) {
    text +=
        at % bytes_per_line == 0 ? fmt::format("{}\t{} ", at == 0 ? "" : "\n", directive) : std::string(", ");
    text +=
        width == 4 ? fmt::format("{:#010x}", *load<uint32_t>(bytes, at)) : fmt::format("{:#04x}", bytes[at]);
  }
  return bytes.empty() ? text : text + '\n';
}

class DataWriter {
 public:
  DataWriter(const DataContext& context, size_t index)
      : context_(context), index_(index), section_(context.object.sections()[index]),
        symbols_(context.symbols.in(index)), next_symbol_(symbols_.begin()) {}

  Result<std::string> write() {
    ASMEVO_CHECK(find_relocations());
    ASMEVO_TRY(text_, section_directive(section_));
    text_ += section_label(index_) + ":\n";
    auto relocation = relocations_.begin();
    auto descriptor = context_.descriptors.lower_bound(section_.address);
    const uint64_t end = section_.address + section_.size;
    while (true) {
      const uint64_t reloc_at = relocation == relocations_.end() ? end : relocation->first;
      const uint64_t descriptor_at =
          descriptor == context_.descriptors.end() ? end : std::min(descriptor->first, end);
      write_plain(std::min(reloc_at, descriptor_at) - section_.address);
      if (reloc_at >= end && descriptor_at >= end) break;
      if (descriptor_at <= reloc_at) {
        if (reloc_at < descriptor_at + KernelDescriptor::size)
          return unsupported("relocation at {:#x} is inside a kernel descriptor", reloc_at);
        ASMEVO_CHECK(write_descriptor((descriptor++)->second));
      } else {
        if (descriptor_at - reloc_at < sizeof(uint64_t))
          return unsupported("relocation at {:#x} runs into a kernel descriptor", reloc_at);
        ASMEVO_CHECK(write_relocation(*(relocation++)->second));
      }
    }
    ASMEVO_CHECK(write_outside_symbols());
    return std::move(text_);
  }

 private:
  Status find_relocations() {
    for (const Relocation& r : context_.object.relocations()) {
      if (!section_.contains(r.address)) continue;
      if (section_.type == SHT_NOBITS || section_.size - (r.address - section_.address) < sizeof(uint64_t))
        return unsupported("relocation at {:#x} runs past section {}", r.address, section_.name);
      const auto [at, fresh] = relocations_.emplace(r.address, &r);
      if (!fresh || (at != relocations_.begin() && r.address - std::prev(at)->first < sizeof(uint64_t)))
        return unsupported("two relocations at {:#x}", r.address);
    }
    return {};
  }

  // Bytes and symbols from where we are up to `to`.
  void write_plain(uint64_t to) {
    while (at_ < to) {
      write_symbols();
      const uint64_t stop = next_symbol_ == symbols_.end() ? to : std::min(to, next_symbol_->first);
      if (section_.type == SHT_NOBITS)
        text_ += fmt::format("\t.zero {}\n", stop - at_);
      else
        text_ += data_lines(section_.contents.subspan(at_, stop - at_));
      at_ = stop;
    }
    write_symbols();
  }

  // Those that stand exactly here; what was passed over is defined at the end.
  void write_symbols() {
    for (; next_symbol_ != symbols_.end() && next_symbol_->first <= at_; ++next_symbol_) {
      const Symbol& symbol = *next_symbol_->second;
      if (made_by_directive(symbol)) continue;
      if (next_symbol_->first < at_) {
        outside_.push_back(next_symbol_->second);
        continue;
      }
      text_ += symbol_directives(symbol, symbol.visibility());
      text_ += quoted_name(symbol.name) + ":\n";
      write_size(symbol);
    }
  }

  bool made_by_directive(const Symbol& symbol) const {
    const auto form = context_.descriptors.find(symbol.value);
    return form != context_.descriptors.end() && !form->second.directives.empty() &&
           symbol.name == form->second.kernel->name + ".kd";
  }

  void write_size(const Symbol& symbol) {
    if (symbol.size != 0) text_ += fmt::format("\t.size {}, {}\n", quoted_name(symbol.name), symbol.size);
  }

  Status write_descriptor(const DescriptorForm& form) {
    const std::string& name = form.kernel->name;
    const auto bytes = slice(section_.contents, at_, KernelDescriptor::size);
    if (!bytes) return unsupported("kernel descriptor {}.kd runs past section {}", name, section_.name);
    if (!form.directives.empty()) {
      text_ +=
          fmt::format("\t.amdhsa_kernel {}\n{}\t.end_amdhsa_kernel\n", quoted_name(name), form.directives);
    } else {
      ASMEVO_TRY(const std::string entry, context_.place(form.kernel->entry));
      // The entry's distance from the descriptor; the assembler turns it into a PC-relative relocation.
      const std::string label = fmt::format(".Ldescriptor_{:x}", form.kernel->descriptor_address);
      text_ += fmt::format("\t// kernel descriptor as bytes: {}\n{}:\n", form.reason, label);
      text_ += data_lines(bytes->first(codeobject::KernelDescriptor::entry_offset_at));
      text_ += fmt::format("\t.quad {}-{}\n", entry, label);
      text_ += data_lines(bytes->subspan(codeobject::KernelDescriptor::entry_offset_at + sizeof(uint64_t)));
    }
    at_ += KernelDescriptor::size;
    return {};
  }

  Status write_relocation(const Relocation& r) {
    std::string target;
    if (r.type == codeobject::relocation::relative64) {
      ASMEVO_TRY(target, context_.place(static_cast<uint64_t>(r.addend)));
    } else if (r.type == codeobject::relocation::abs64 && r.symbol != 0) {
      target = quoted_name(context_.object.dynamic_symbols()[r.symbol].name);
      if (r.addend != 0) target += fmt::format("{:+}", r.addend);
    } else {
      return unsupported("relocation of type {} at {:#x}", r.type, r.address);
    }
    text_ += fmt::format("\t.quad {}\n", target);
    at_ += sizeof(uint64_t);
    return {};
  }

  // Symbols inside a descriptor or a relocated word, or behind the section's end.
  Status write_outside_symbols() {
    for (; next_symbol_ != symbols_.end(); ++next_symbol_) outside_.push_back(next_symbol_->second);
    for (const Symbol* symbol : outside_) {
      text_ += symbol_directives(*symbol, symbol->visibility());
      text_ += fmt::format("\t.set {}, {}+{}\n", quoted_name(symbol->name), section_label(index_),
                           symbol->value - section_.address);
      write_size(*symbol);
    }
    return {};
  }

  const DataContext& context_;
  size_t index_;
  const Section& section_;
  const SymbolPlan::Places& symbols_;
  SymbolPlan::Places::const_iterator next_symbol_;
  std::map<uint64_t, const Relocation*> relocations_; // by address
  std::vector<const Symbol*> outside_;
  uint64_t at_ = 0; // offset in the section
  std::string text_;
};

} // namespace

std::string section_label(size_t section) {
  return fmt::format(".Lstart_{}", section);
}

Result<std::string> section_directive(const Section& section) {
  // What was to be merged has been: the merged section must come out as it is.
  constexpr uint64_t known = SHF_WRITE | SHF_ALLOC | SHF_EXECINSTR | SHF_MERGE | SHF_STRINGS;
  if ((section.flags & ~known) != 0 || !writable_name(section.name))
    return unsupported("section '{}' has flags {:#x}", section.name, section.flags);
  if (section.size > largest_section)
    return unsupported("section '{}' has {:#x} bytes", section.name, section.size);
  if (section.type != SHT_PROGBITS && section.type != SHT_NOBITS)
    return unsupported("section '{}' has type {:#x}", section.name, section.type);
  std::string flags = "a";
  if ((section.flags & SHF_WRITE) != 0) flags += 'w';
  if ((section.flags & SHF_EXECINSTR) != 0) flags += 'x';
  std::string text = fmt::format("\n\t.section {},\"{}\",{}\n", quoted_name(section.name), flags,
                                 section.type == SHT_NOBITS ? "@nobits" : "@progbits");
  if (section.alignment > 1) text += fmt::format("\t.p2align {}\n", std::countr_zero(section.alignment));
  return text;
}

std::string data_lines(ByteSpan bytes) {
  std::string text;
  while (!bytes.empty()) {
    const auto first_set = std::ranges::find_if(bytes, [](uint8_t b) { return b != 0; });
    const auto zeros = static_cast<size_t>(first_set - bytes.begin());
    if (zeros >= zero_run) {
      text += fmt::format("\t.zero {}\n", zeros);
      bytes = bytes.subspan(zeros);
      continue;
    }
    // Up to the next long run of zeros.
    size_t stop = zeros, run = 0;
    while (stop < bytes.size() && run < zero_run) run = bytes[stop++] == 0 ? run + 1 : 0;
    if (run >= zero_run) stop -= run;
    const size_t words = stop / 4 * 4;
    text += number_lines(".long", bytes.first(words), 4);
    text += number_lines(".byte", bytes.subspan(words, stop - words), 1);
    bytes = bytes.subspan(stop);
  }
  return text;
}

Result<std::string> write_data_section(const DataContext& context, size_t section) {
  return DataWriter(context, section).write();
}

} // namespace asmevo::rebuild
