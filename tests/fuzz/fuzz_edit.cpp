// Edits and code from outside. The first byte chooses what the rest is:
//   'j'  JSON of an edit, parsed, spliced into a small kernel and laid out
//   't'  the text of one change, spliced in front of the kernel's third instruction
//   'w'  instruction words, decoded and printed
// anything else counts as 'j' with that byte in front.
#include "program/edit.h"
#include "program/layout.h"

#include <cstdlib>

namespace {

using namespace asmevo;

isa::Codec& codec() {
  static const std::unique_ptr<isa::Codec> one = *isa::Codec::create(*isa::Target::from_id("gfx942"));
  return *one;
}

const program::Program& kernel() {
  static const program::Program fixed = [] {
    constexpr std::string_view text =
        "s_load_dwordx2 s[4:5], s[0:1], 0x0\n s_getpc_b64 s[2:3]\n s_add_u32 s2, s2, 8\n s_addc_u32 s3, s3, "
        "0\n"
        "s_waitcnt lgkmcnt(0)\n v_mov_b32 v0, 0\n s_cbranch_scc0 8\n global_load_dword v1, v0, s[4:5]\n"
        "s_waitcnt vmcnt(0)\n global_store_dword v0, v1, s[4:5]\n s_endpgm\n s_nop 0\n s_nop 0\n s_endpgm\n";
    program::Program p;
    p.target = codec().target();
    const auto lines = codec().parse(text);
    if (!lines) std::abort();
    uint32_t offset = 0;
    for (const isa::ParsedLine& line : *lines) {
      p.entries.push_back({{0, offset}, program::no_index, line.instruction});
      offset += line.instruction->bytes();
    }
    const auto count = static_cast<program::Index>(p.entries.size());
    p.labels = {{"kernel", 0}, {"end", count - 4}, {"table", count - 1}};
    p.references = {{isa::SymbolUse::Rel32Lo, 2, 0, 0, "table", 0, 1},
                    {isa::SymbolUse::Branch, 1, 0, 0, "end", 0, program::no_index}};
    p.entries[2].reference = 0;
    p.entries[6].reference = 1;
    p.functions = {{"kernel", 0, count - 1, true, count - 3}, {"table", count - 1, count, false, count}};
    p.aligned = {{count - 1, 4, count - 3, program::no_index, 0}};
    p.externals = {{"data", 9, 16}};
    p.pools.push_back(codec().pool());
    return p;
  }();
  return fixed;
}

void splice_in(const program::Edit& edit) {
  const auto edited = program::splice(kernel(), edit, 1, codec());
  if (!edited) {
    if (edited.error().message.empty() || edited.error().describe().find('\n') != std::string::npos)
      std::abort();
    return;
  }
  const auto image = program::lay_out(*edited, 0x1000, [](uint32_t) { return uint64_t{0x20000}; });
  if (image && image->offsets.size() != edited->entries.size() + 1) std::abort();
  for (program::Index k = 0; k < edited->entries.size(); ++k) (void)program::print(*edited, k, codec());
}

void try_json(std::string_view json) {
  const auto edit = program::Edit::parse(json);
  if (!edit) {
    if (edit.error().message.find('\n') != std::string::npos) std::abort();
    return;
  }
  const auto again = program::Edit::parse(edit->json());
  if (!again || again->json() != edit->json()) std::abort();
  splice_in(*edit);
}

void try_text(std::string_view text) {
  program::Edit edit;
  edit.kernel = "kernel";
  edit.changes.push_back({std::nullopt, std::nullopt, kernel().entries[2].id, std::string(text)});
  splice_in(edit);
}

void try_words(ByteSpan words) {
  for (const char* target : {"gfx90a", "gfx942", "gfx950"}) {
    static std::unique_ptr<isa::Codec> codecs[3];
    auto& decoder = codecs[target[4] == '0' ? 0 : target[4] == '4' ? 1 : 2];
    if (!decoder) decoder = *isa::Codec::create(*isa::Target::from_id(target));
    for (ByteSpan rest = words; rest.size() >= 4;) {
      const isa::Instruction* i = decoder->decode(rest);
      if (i == nullptr || i->bytes() > rest.size() || i->bytes() == 0) std::abort();
      if (decoder->print(*i).empty()) std::abort();
      rest = rest.subspan(i->bytes());
    }
    if (decoder->pool_size() > 100000) decoder->renew_pool();
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  kernel();
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
  case 'j': try_json(text); break;
  case 't': try_text(text); break;
  case 'w': try_words({data + 1, size - 1}); break;
  default: try_json({reinterpret_cast<const char*>(data), size});
  }
  return 0;
}
