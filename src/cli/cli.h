// The command line: one file a verb, each thin. A verb parses its options, calls the library and prints the
// result to stdout; progress and diagnostics go to stderr.
#pragma once

#include "base/result.h"
#include "cli/parser.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <string>

namespace asmevo::cli {

/// Exit codes of the contract: 0 the answer is yes, 1 it is no, 2 bad usage or input, 3 the environment lacks
/// something.
enum class Answer : int { Yes = 0, No = 1 };

/// What the chosen verb runs. An error becomes one line on stderr and exit code 2 or 3.
using Action = std::function<Result<Answer>()>;

struct Context {
  CLI::App& app;     // what parses
  Verb& program;     // the same, for adding verbs
  bool json = false; // --json, after parsing
  Action action;     // set by the chosen verb's callback
};

/// Adds a verb with an example in its help: `asmevo <name> --help` ends with it.
Verb* add_verb(Context&, const std::string& name, const std::string& description, const std::string& example);

void add_inspect(Context&);
void add_extract(Context&);
void add_embed(Context&);
void add_recover(Context&);
void add_rebuild(Context&);
void add_roundtrip(Context&);
void add_abidiff(Context&);
void add_diff(Context&);
void add_check(Context&);
void add_bench(Context&);
void add_time(Context&);
void add_conformance(Context&);
void add_infer(Context&);
void add_profile(Context&);
void add_run(Context&);
void add_verify(Context&);
void add_completions(Context&);
void add_worker(Context&);
void add_optimize(Context&);
void add_resume(Context&);
void add_report(Context&);
void add_status(Context&);

/// Prints JSON as one document, indented, followed by a newline.
void print_json(const nlohmann::ordered_json&);

} // namespace asmevo::cli
