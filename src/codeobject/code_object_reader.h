// The steps of CodeObject::parse. Private to this folder.
#pragma once

#include "codeobject/code_object.h"

namespace asmevo::codeobject {

/// Fills a CodeObject step by step; each step relies on what the ones before it have checked. All work is
/// bounded by the size of the file.
class CodeObjectReader {
 public:
  Result<CodeObject> read(Bytes bytes);

 private:
  // code_object_reader.cpp: the ELF itself
  Status read_header();
  Status read_target();
  Status read_segments();
  Status read_sections();
  Status check_section(size_t index) const;
  Status order_by_address();
  Status check_segment_of(size_t index) const;
  Status read_tables();
  Result<std::vector<Symbol>> read_symbols(size_t section);
  Status check_function(const Symbol& symbol) const;
  Status read_relocations(size_t section);
  Result<std::string> read_string(const Section& table, uint64_t offset, std::string_view what);
  // code_object_kernels.cpp: what makes it a code object
  Status read_notes();
  Status read_note_section(const Section&);
  Status read_metadata(uint64_t offset, uint64_t size);
  Status read_kernels();
  Status add_kernel(const Symbol& descriptor_symbol);
  Status match_metadata();

  CodeObject object_;
  uint64_t section_headers_at_ = 0, program_headers_at_ = 0;
  size_t section_count_ = 0, segment_count_ = 0, section_names_ = 0;
  size_t name_bytes_ = 0;     // of all symbol and section names read so far
  std::vector<size_t> loads_; // PT_LOAD segments, in order of address
};

} // namespace asmevo::codeobject
