#include "cli/cli.h"
#include "cli/load.h"
#include "codeobject/abi_diff.h"

#include <algorithm>
#include <memory>

namespace asmevo::cli {

namespace {

using codeobject::AbiDiff;
using codeobject::AbiDifference;
using codeobject::CodeObject;

struct AbidiffOptions {
  std::string k0, candidate, target;
};

void print_text(const AbiDiff& diff) {
  for (const AbiDifference& d : diff.differences)
    fmt::print("{} {}: {}: {} -> {}\n", d.frozen ? "frozen " : "allowed", printable(d.where, whole_text),
               printable(d.field, whole_text), printable(d.k0, whole_text),
               printable(d.candidate, whole_text));
  const auto frozen = std::ranges::count_if(diff.differences, &AbiDifference::frozen);
  fmt::print("{}: {} fields compared, {} frozen differ, {} resources differ\n",
             diff.compatible() ? "compatible" : "not compatible", diff.fields_compared, frozen,
             static_cast<std::ptrdiff_t>(diff.differences.size()) - frozen);
}

void print_as_json(const AbiDiff& diff) {
  nlohmann::ordered_json document = {{"compatible", diff.compatible()},
                                     {"fields_compared", diff.fields_compared}};
  document["differences"] = nlohmann::ordered_json::array();
  for (const AbiDifference& d : diff.differences)
    document["differences"].push_back({{"where", d.where},
                                       {"field", d.field},
                                       {"k0", d.k0},
                                       {"candidate", d.candidate},
                                       {"frozen", d.frozen}});
  print_json(document);
}

Result<Answer> abidiff(const AbidiffOptions& options, bool json) {
  ASMEVO_TRY(const CodeObject k0, load_code_object(options.k0, options.target));
  ASMEVO_TRY(const CodeObject candidate, load_code_object(options.candidate, options.target));
  const AbiDiff diff = codeobject::abi_diff(k0, candidate);
  if (json)
    print_as_json(diff);
  else
    print_text(diff);
  return diff.compatible() ? Answer::Yes : Answer::No;
}

} // namespace

void add_abidiff(Context& context) {
  Verb* verb =
      add_verb(context, "abidiff",
               "Compare the frozen interface of two code objects field by field (exit 1 where it differs)",
               "asmevo abidiff k0.co candidate.co");
  auto options = std::make_shared<AbidiffOptions>();
  verb->add_option("K0", options->k0, "the original")->required();
  verb->add_option("CANDIDATE", options->candidate, "what is to replace it")->required();
  verb->add_option("--target", options->target, "which object of a bundle or fat binary to compare")
      ->type_name("ID");
  verb->callback([&context, options] {
    context.action = [&context, options] { return abidiff(*options, context.json); };
  });
}

} // namespace asmevo::cli
