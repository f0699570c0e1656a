#include "cli/listing.h"

#include "cli/load.h"
#include "program/window.h"

#include <fmt/format.h>

namespace asmevo::cli {

namespace {

using program::Function;
using program::Index;
using program::Program;

nlohmann::ordered_json function_json(const Program& p, const Function& f, isa::Codec& codec) {
  const auto labels = p.labels_by_entry();
  auto lines = nlohmann::ordered_json::array();
  for (Index i = f.begin; i < f.end; ++i) {
    nlohmann::ordered_json line = {{"id", p.entries[i].id.text()}, {"text", program::print(p, i, codec)}};
    if (const auto at = labels.find(i); at != labels.end())
      for (const uint32_t l : at->second) line["labels"].push_back(p.labels[l].name);
    lines.push_back(std::move(line));
  }
  return {{"function", f.name}, {"kernel", f.kernel}, {"instructions", std::move(lines)}};
}

} // namespace

Result<Answer> print_listing(const std::string& file, const std::string& target, const std::string& kernel,
                             bool json) {
  Codecs codecs;
  ASMEVO_TRY(const Loaded loaded, load_program(file, target, codecs));
  const Program& p = loaded.original.program();
  if (!kernel.empty() && p.find_function(kernel) == nullptr)
    return bad_input("{}: no kernel or function named {}", file, kernel);
  auto functions = nlohmann::ordered_json::array();
  for (const Function& f : p.functions) {
    if (!kernel.empty() && f.name != kernel) continue;
    if (json)
      functions.push_back(function_json(p, f, *loaded.codec));
    else
      fmt::print("{} ({} instructions)\n{}", f.name, f.end - f.begin,
                 program::listing(p, f.begin, f.end, *loaded.codec));
  }
  if (json) print_json({{"functions", std::move(functions)}});
  return Answer::Yes;
}

} // namespace asmevo::cli
