// Programs for the tests, from assembly text with labels.
#pragma once

#include "program/program.h"

#include <gtest/gtest.h>

#include <map>
#include <string_view>

namespace asmevo::program::testing {

/// One codec a target for the whole test program.
inline isa::Codec& codec_for(isa::Gfx gfx = isa::Gfx::gfx942) {
  static std::map<isa::Gfx, std::unique_ptr<isa::Codec>> codecs;
  auto& codec = codecs[gfx];
  if (!codec) {
    isa::Target target;
    target.gfx = gfx;
    codec = isa::Codec::create(target).value();
  }
  return *codec;
}

/// One function "f" of all the text. Ids are byte offsets. A rel32 reference counts from the last
/// s_getpc_b64.
inline Program build_program(std::string_view text, bool kernel = true, isa::Gfx gfx = isa::Gfx::gfx942) {
  isa::Codec& codec = codec_for(gfx);
  Program program;
  program.target = codec.target();
  program.pools.push_back(codec.pool());
  const auto lines = codec.parse(text);
  if (!lines) {
    ADD_FAILURE() << lines.error().describe() << "\nin:\n" << text;
    return program;
  }
  Index at = 0;
  for (const isa::ParsedLine& line : *lines) {
    if (line.instruction != nullptr)
      ++at;
    else
      program.labels.push_back({line.label, at});
  }
  uint32_t offset = 0;
  Index getpc = no_index;
  for (const isa::ParsedLine& line : *lines) {
    if (line.instruction == nullptr) continue;
    Entry entry{{0, offset}, no_index, line.instruction};
    if (line.use != isa::SymbolUse::None) {
      const auto label = program.find_label(line.symbol);
      if (!label) ADD_FAILURE() << "no label " << line.symbol;
      entry.reference = static_cast<uint32_t>(program.references.size());
      Reference& reference = program.references.emplace_back();
      reference.use = line.use;
      reference.label = label.value_or(0);
      if (line.use != isa::SymbolUse::Branch) reference.base = getpc;
    }
    if (line.instruction->is("s_getpc_b64")) getpc = static_cast<Index>(program.entries.size());
    offset += line.instruction->bytes();
    program.entries.push_back(entry);
  }
  const auto count = static_cast<Index>(program.entries.size());
  Function& function = program.functions.emplace_back();
  function.name = "f";
  function.end = function.padding = count;
  function.kernel = kernel;
  return program;
}

} // namespace asmevo::program::testing
