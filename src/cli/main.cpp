#include "base/log.h"
#include "cli/cli.h"
#include "cli/option_checks.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <new>
#include <system_error>

namespace asmevo::cli {

Verb* add_verb(Context& context, const std::string& name, const std::string& description,
               const std::string& example) {
  Verb* verb = context.program.add_subcommand(name, description);
  verb->footer("Example: " + example);
  verb->add_flag("--json", context.json, "print the result as JSON");
  return verb;
}

void print_json(const nlohmann::ordered_json& document) {
  fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

namespace {

// One line on stderr. Where that cannot be written there is nobody to tell, and the exit code says it.
void complain(std::string_view text) {
  constexpr size_t longest = 1000;
  const std::string line = fmt::format("asmevo: {}\n", printable(text, longest));
  std::fwrite(line.data(), 1, line.size(), stderr);
}

// Flushes stdout: a full disk or a closed pipe must not look like success.
int finish(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  complain("cannot write the result to standard output");
  return 3;
}

// Where one of them is closed, the next file that is opened would take its place, and be written to. What
// takes it here can be used the wrong way round only, so that output that goes nowhere is still an error.
void open_standard_files() {
  for (int fd = 0; fd < 3; ++fd)
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0) std::_Exit(3);
}

int run(int argc, char** argv) {
  CLI::App app("asmevo makes already compiled AMD GPU kernels faster without their source.", "asmevo");
  app.set_version_flag("--version", "asmevo " ASMEVO_VERSION);
  app.require_subcommand(0, 1); // so that a word that is no verb is named; that one is missing is seen below
  bool verbose = false;
  app.add_flag("-v,--verbose", verbose, "say more on stderr");
  Verb program(app);
  Context context{app, program, false, {}};
  for (auto* add : {add_inspect,     add_extract, add_embed,  add_recover, add_rebuild,     add_roundtrip,
                    add_abidiff,     add_diff,    add_check,  add_bench,   add_time,        add_profile,
                    add_conformance, add_infer,   add_run,    add_verify,  add_completions, add_worker,
                    add_optimize,    add_resume,  add_report, add_status})
    add(context);
  refuse_senseless_values(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) { // --help, --version
    app.exit(asked);
    return finish(0);
  } catch (const CLI::ParseError& error) {
    complain(fmt::format("{} (see 'asmevo --help')", error.what()));
    return 2;
  }
  if (!context.action) {
    complain("no verb given (see 'asmevo --help')");
    return 2;
  }
  log::set_up(verbose);
  const Result<Answer> answer = context.action();
  if (answer) return finish(static_cast<int>(*answer));
  complain(answer.error().message);
  return answer.error().exit_code();
}

} // namespace
} // namespace asmevo::cli

int main(int argc, char** argv) {
  asmevo::cli::open_standard_files();
  try {
    return asmevo::cli::run(argc, argv);
  } catch (const std::bad_alloc&) {
    asmevo::cli::complain("out of memory");
  } catch (const std::filesystem::filesystem_error& error) {
    asmevo::cli::complain(error.what());
  } catch (const std::system_error&) { // fmt::print's, for a full disk
    asmevo::cli::complain("cannot write the result to standard output");
  } catch (const std::exception& error) {
    asmevo::cli::complain(std::string("internal error: ") + error.what());
  }
  return 3;
}
