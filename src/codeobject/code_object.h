// One AMDGPU code object: a shared ELF64 for amdgcn-amd-amdhsa (AMDGPUUsage, "ELF Code Object").
#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "codeobject/kernel_descriptor.h"
#include "codeobject/metadata.h"
#include "isa/target.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asmevo::codeobject {

struct Section {
  std::string name;
  uint32_t type = 0; // SHT_*
  uint64_t flags = 0, address = 0, offset = 0,
           size = 0; // size: bytes in memory (SHT_NOBITS has none in the file)
  uint32_t link = 0, info = 0;
  uint64_t alignment = 0, entry_size = 0;
  ByteSpan contents; // into the object's bytes; empty for SHT_NOBITS
  bool allocated() const { return (flags & 2) != 0; }
  bool executable() const { return (flags & 4) != 0; }
  bool contains(uint64_t at) const { return allocated() && at >= address && at - address < size; }
};

struct Segment {
  uint32_t type = 0, flags = 0; // PT_*, PF_*
  uint64_t offset = 0, address = 0, physical_address = 0, file_size = 0, memory_size = 0, alignment = 0;
};

struct Symbol {
  std::string name;
  uint64_t value = 0, size = 0;
  uint8_t info = 0, other = 0; // st_info, st_other
  uint16_t section = 0;        // st_shndx: section index, or SHN_UNDEF / SHN_ABS
  uint8_t binding() const { return info >> 4; }
  uint8_t type() const { return info & 0xf; }
  uint8_t visibility() const { return other & 3; }
};

/// R_AMDGPU_* that may stand in .rela.dyn (AMDGPUUsage, "Relocation Records").
namespace relocation {
inline constexpr uint32_t abs32_lo = 1, abs32_hi = 2, abs64 = 3, abs32 = 6, relative64 = 13;
}

struct Relocation {     // dynamic ones: .rela.dyn
  uint64_t address = 0; // where it is applied
  uint32_t type = 0;    // R_AMDGPU_*
  uint32_t symbol = 0;  // index into dynamic_symbols
  int64_t addend = 0;
};

/// A kernel: a FUNC symbol and its `.kd`.
struct Kernel {
  std::string name;
  uint64_t entry = 0;              // address of the first instruction
  uint64_t descriptor_address = 0; // of `<name>.kd`
  KernelDescriptor descriptor;
  std::optional<size_t> metadata_index; // into Metadata::kernels(); none where the note does not list it
};

/// A code object as read: owns its bytes, moves but does not copy (sections point into them). Immutable;
/// rewriting makes new bytes (elf_layout.h).
class CodeObject {
 public:
  /// Reads and checks an ELF. BadInput, one line with the offset or the symbol: truncated, 32-bit or
  /// big-endian, tables past the end, sections outside the file or not where their PT_LOAD puts them,
  /// overlapping sections, a
  /// `.kd` symbol outside any section, an entry outside executable sections, a note that is not MessagePack
  /// or that lists a kernel without `.kd` or for waves of 32 lanes. Unsupported: another machine, OS ABI or
  /// GPU, a relocatable object, code object V2. V3 is read (for inspection and in-place patching), see
  /// version(). Not errors, since production objects do all of it (inspect names them): counts and sizes in
  /// the note that differ from the descriptor, arguments past the kernarg size, kernels that the note does
  /// not list.
  static Result<CodeObject> parse(Bytes bytes);

  CodeObject(CodeObject&&) = default;
  CodeObject& operator=(CodeObject&&) = default;
  CodeObject(const CodeObject&) = delete;
  CodeObject& operator=(const CodeObject&) = delete;

  ByteSpan bytes() const { return bytes_; }
  const isa::Target& target() const { return target_; }
  uint32_t elf_flags() const { return elf_flags_; }
  /// Code object version: 3 to 6 (`e_ident[EI_ABIVERSION]` + 2).
  unsigned version() const { return version_; }

  const std::vector<Section>& sections() const { return sections_; } // index = ELF section index; [0] is null
  const std::vector<Segment>& segments() const { return segments_; }
  const std::vector<Symbol>& symbols() const { return symbols_; } // .symtab; empty if stripped
  const std::vector<Symbol>& dynamic_symbols() const { return dynamic_symbols_; } // .dynsym
  const std::vector<Relocation>& relocations() const { return relocations_; }     // in the table's order
  const std::vector<Kernel>& kernels() const { return kernels_; }                 // by entry address
  const std::optional<Metadata>& metadata() const { return metadata_; }
  /// What the note says of a kernel of this object; null where it does not list it.
  const KernelMetadata* metadata_of(const Kernel& kernel) const {
    return kernel.metadata_index ? &kernel_metadata_[*kernel.metadata_index] : nullptr;
  }

  /// Index of the section, or none.
  std::optional<size_t> find_section(std::string_view name) const;
  /// The allocated section that covers an address, or none.
  std::optional<size_t> section_at(uint64_t address) const;
  const Kernel* find_kernel(std::string_view name) const;
  /// The contents of the metadata note within the file (not its header): offset and size; none without note.
  struct Range {
    uint64_t offset = 0, size = 0;
  };
  std::optional<Range> metadata_note() const { return metadata_note_; }

 private:
  friend class CodeObjectReader; // in code_object_reader.h
  CodeObject() = default;
  Bytes bytes_;
  isa::Target target_;
  uint32_t elf_flags_ = 0;
  unsigned version_ = 0;
  std::vector<Section> sections_;
  std::vector<size_t> by_address_; // sections that have memory, in order of address
  std::vector<Segment> segments_;
  std::vector<Symbol> symbols_, dynamic_symbols_;
  std::vector<Relocation> relocations_;
  std::vector<Kernel> kernels_;
  std::optional<Metadata> metadata_;
  std::vector<KernelMetadata> kernel_metadata_; // metadata_->kernels()
  std::optional<Range> metadata_note_;
};

} // namespace asmevo::codeobject
