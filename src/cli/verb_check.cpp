#include "cli/cli.h"
#include "cli/codecs.h"
#include "cli/load.h"
#include "codeobject/container.h"
#include "codeobject/object_identity.h"
#include "program/layout.h"
#include "program/static_check.h"
#include "rebuild/recover.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>

namespace asmevo::cli {

namespace {

using codeobject::CodeObject;
using program::Finding;
using program::Function;
using program::Index;
using program::Program;
using Json = nlohmann::ordered_json;

struct CheckArguments {
  std::string file, k0, target;
  bool possible = false;
};

struct Totals {
  size_t functions = 0, findings = 0, possible = 0;
};

std::vector<Finding> check_function(const CodeObject& object, const Program& program,
                                    const Function& function, bool possible) {
  auto options = program::CheckOptions::of(object, function.name);
  options.possible = possible;
  return program::check(program, function, program::Cfg::build(program, function), options);
}

// Prints the findings of one object, or collects them as JSON.
class Printer {
 public:
  Printer(std::string place, const Program& program, isa::Codec& codec)
      : place_(std::move(place)), program_(program), codec_(codec), offsets_(program::offsets_of(program)) {}

  void text(const Function& function, const std::vector<Finding>& findings) const {
    fmt::print("{}: {}: {} finding{}\n", place_, function.name, findings.size(),
               findings.size() == 1 ? "" : "s");
    for (const Finding& f : findings) {
      if (f.producer != program::no_index) line(f.producer);
      line(f.consumer);
      fmt::print("            {}{}{}{}\n", f.possible ? "possible: " : "", f.rule,
                 f.object.empty() ? "" : ": " + f.object, f.missing.empty() ? "" : ", missing " + f.missing);
    }
  }

  void json(const Function& function, const std::vector<Finding>& findings, Json& list) const {
    for (const Finding& f : findings) {
      Json entry = {{"object", place_},          {"function", function.name},
                    {"kind", name(f.kind)},      {"rule", f.rule},
                    {"possible", f.possible},    {"concerns", f.object},
                    {"class", f.register_class}, {"missing", f.missing}};
      if (f.producer != program::no_index) entry["producer"] = instruction(f.producer);
      entry["consumer"] = instruction(f.consumer);
      list.push_back(std::move(entry));
    }
  }

 private:
  void line(Index i) const { fmt::print("  {:8x}  {}\n", offsets_[i], program::print(program_, i, codec_)); }
  Json instruction(Index i) const {
    return {{"offset", offsets_[i]},
            {"id", program_.entries[i].id.text()},
            {"text", program::print(program_, i, codec_)}};
  }

  std::string place_;
  const Program& program_;
  isa::Codec& codec_;
  std::vector<uint64_t> offsets_;
};

class Report {
 public:
  explicit Report(bool json) : json_(json) {}

  void add(const Printer& printer, const Function& function, const std::vector<Finding>& findings) {
    ++totals_.functions;
    for (const Finding& f : findings) ++(f.possible ? totals_.possible : totals_.findings);
    if (json_) {
      printer.json(function, findings, list_);
    } else if (!findings.empty()) {
      printer.text(function, findings);
    }
  }

  // The answer is no where there is a finding, in compare mode a possible one too: K0 did not have it.
  Answer finish(bool compared) {
    if (json_) {
      print_json({{"functions", totals_.functions},
                  {"findings", totals_.findings},
                  {"possible", totals_.possible},
                  {"list", list_}});
    } else {
      fmt::print("{} function{}, {} {}finding{}", totals_.functions, totals_.functions == 1 ? "" : "s",
                 totals_.findings, compared ? "new " : "", totals_.findings == 1 ? "" : "s");
      if (totals_.possible != 0) fmt::print(", {} possible", totals_.possible);
      fmt::print("\n");
    }
    return totals_.findings + (compared ? totals_.possible : 0) == 0 ? Answer::Yes : Answer::No;
  }

 private:
  bool json_;
  Totals totals_;
  Json list_ = Json::array();
};

Status check_object(const codeobject::ContainedObject& contained, const CheckArguments& options,
                    Codecs& codecs, Report& report) {
  ASMEVO_TRY(Bytes bytes, contained.read());
  ASMEVO_TRY(const CodeObject object, CodeObject::parse(std::move(bytes)));
  ASMEVO_TRY(isa::Codec * codec, codecs.get(object.target()));
  ASMEVO_TRY(const rebuild::Recovery recovery, rebuild::recover(object, *codec));
  const Printer printer(contained.path_in_container, recovery.program, *codec);
  for (const Function& function : recovery.program.functions)
    report.add(printer, function, check_function(object, recovery.program, function, options.possible));
  return {};
}

Result<Answer> check_all(const CheckArguments& options, bool json) {
  ASMEVO_TRY(const codeobject::Container container, codeobject::Container::open(options.file));
  Codecs codecs;
  Report report(json);
  size_t checked = 0;
  for (const codeobject::ContainedObject& contained : container.objects()) {
    const bool wanted = options.target.empty() ? isa::Target::from_id(contained.target_id).has_value() ||
                                                     container.objects().size() == 1
                                               : codeobject::covers(options.target, contained.target_id);
    if (!wanted) continue;
    if (const Status status = check_object(contained, options, codecs, report); !status)
      return failed(status.error(), contained.path_in_container);
    ++checked;
  }
  if (checked == 0)
    return unsupported("{}: no code object for {}", options.file,
                       options.target.empty() ? "gfx90a, gfx942 or gfx950" : options.target);
  return report.finish(false);
}

// Functions of both, by name; what K0 has no function for is new altogether.
Result<Answer> compare(const CheckArguments& options, bool json) {
  Codecs codecs;
  ASMEVO_TRY(const Loaded k0, load_program(options.k0, options.target, codecs));
  ASMEVO_TRY(const Loaded k1, load_program(options.file, options.target, codecs));
  const Program &a = k0.original.program(), &b = k1.original.program();
  if (a.target.gfx != b.target.gfx)
    return bad_input("{} is for {}, {} for {}", options.k0, a.target.name(), options.file, b.target.name());
  Report report(json);
  const Printer printer(options.file, b, *k1.codec);
  for (const Function& function : b.functions)
    report.add(printer, function,
               program::findings_against(k0.original.object, a, k1.original.object, b, function));
  return report.finish(true);
}

} // namespace

void add_check(Context& context) {
  auto options = std::make_shared<CheckArguments>();
  Verb* verb = add_verb(context, "check", "look for missing waits, wait states and other hazards",
                        "asmevo check kernel.co --compare original.co");
  verb->add_option("FILE", options->file, "code object, or a file that holds some")->required();
  verb->add_option("--compare", options->k0,
                   "report only what this one (K0) does not have, possible findings included");
  verb->add_option("--target", options->target, "only objects for this target id (gfx942, gfx90a:xnack-)");
  verb->add_flag("--possible", options->possible, "report what may be right or wrong, too");
  verb->callback([&context, options] {
    context.action = [&context, options] {
      return options->k0.empty() ? check_all(*options, context.json) : compare(*options, context.json);
    };
  });
}

} // namespace asmevo::cli
