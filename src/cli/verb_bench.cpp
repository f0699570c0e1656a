#include "cli/bench_microkernels.h"
#include "cli/bench_search.h"
#include "cli/bench_timing.h"

#include <memory>

namespace asmevo::cli {

namespace {

void add_timing(Context& context, Verb& verb) {
  auto timing = std::make_shared<BenchTimingOptions>();
  Verb* table = verb.add_subcommand("timing", "modelled times beside given ones");
  table->footer("Example: asmevo bench timing --suite kernels/mi300a --only fir --plot errors.svg");
  table->add_flag("--json", context.json, "print the result as JSON");
  table->add_option("--suite", timing->suite, "folder of launch files and times.csv")->type_name("DIR");
  table->add_option("--objects", timing->objects, "folder of their code objects")->type_name("DIR");
  table->add_option("--model", timing->model, "machine model; default: the one named like the suite's folder")
      ->type_name("NAME|FILE");
  table->add_option("--only", timing->only, "kernels whose name holds this")->type_name("TEXT");
  table->add_option("--timing-effort", timing->effort, "instructions to simulate for each row")
      ->check(Range(uint64_t{1'000}, uint64_t{10'000'000'000}))
      ->capture_default_str();
  table->add_option("--threads", timing->threads, "threads; 0: one a core")->capture_default_str();
  table->add_option("--plot", timing->plot, "also draw the errors")->type_name("FILE.svg");
  table->callback([&context, timing] {
    context.action = [&context, timing] { return bench_timing(*timing, context.json); };
  });
}

void add_kernelbench(Context& context, Verb& verb) {
  auto options = std::make_shared<BenchSearchOptions>();
  options->objects = "build/kernels/suite";
  options->only = {"level*"};
  Verb* table = verb.add_subcommand("kernelbench",
                                    "the suite's KernelBench kernels searched, and the paper's table of it");
  table->footer("Example: asmevo bench kernelbench --budget 2m -o RUNS --chart speedups.svg");
  table->add_flag("--json", context.json, "print the result as JSON");
  table->add_option("-o,--output", options->runs, "folder of the runs, where it goes on if it is there")
      ->type_name("RUNS")
      ->required();
  table->add_option("--objects", options->objects, "folder of the code objects and launch files")
      ->type_name("DIR")
      ->capture_default_str();
  table->add_option("--only", options->only, "only files called like this")
      ->type_name("PATTERN")
      ->capture_default_str();
  table->add_option("--budget", options->budget, "time of the search, of each kernel")
      ->type_name("TIME")
      ->capture_default_str();
  table->add_option("--attempts", options->attempts, "end after so many attempts on a kernel")
      ->check(Range(1, 100'000'000));
  table->add_option("--model", options->model, "machine model")
      ->type_name("NAME|FILE")
      ->capture_default_str();
  table->add_option("--target", options->target, "objects for this target id")
      ->type_name("ID")
      ->capture_default_str();
  table->add_option("--driver", options->driver, "what proposes")->capture_default_str();
  table->add_option("--workers", options->workers, "candidates judged at once; 0: one a core")
      ->check(Range(0, 1024))
      ->capture_default_str();
  table->add_option("--table", options->table, "also write the table")->type_name("FILE.md");
  table->add_option("--chart", options->chart, "also draw the speedups")->type_name("FILE.svg");
  table->callback([&context, options] {
    context.action = [&context, options] { return bench_kernelbench(*options, context.json); };
  });
}

void add_published(Context& context, Verb& verb, const std::string& name, const std::string& description,
                   const std::string& example, Result<Answer> (*run)(const MicrokernelOptions&, bool)) {
  auto options = std::make_shared<MicrokernelOptions>();
  Verb* table = verb.add_subcommand(name, description);
  table->footer("Example: " + example);
  table->add_flag("--json", context.json, "print the result as JSON");
  table->add_option("--suite", options->suite, "folder of the tables and launch files")
      ->type_name("DIR")
      ->capture_default_str();
  table->add_option("--objects", options->objects, "folder of the code objects")->type_name("DIR");
  table->add_option("--model", options->machine, "only this machine model")->type_name("NAME");
  table->add_option("--timing-effort", options->effort, "instructions to simulate for each launch, about")
      ->check(Range(uint64_t{1'000}, uint64_t{10'000'000'000}))
      ->capture_default_str();
  table->add_option("--threads", options->threads, "threads; 0: one a core")->capture_default_str();
  table->callback([&context, options, run] {
    context.action = [&context, options, run] { return run(*options, context.json); };
  });
}

} // namespace

void add_bench(Context& context) {
  Verb* verb = add_verb(context, "bench", "tables over suites of kernels",
                        "asmevo bench timing --suite kernels/mi300a");
  verb->require_subcommand(1);
  add_timing(context, *verb);
  add_kernelbench(context, *verb);
  add_published(context, *verb, "microkernels",
                "what is published of machines beside what the cycle model makes of it",
                "asmevo bench microkernels --model mi300x", bench_microkernels);
  add_published(context, *verb, "mfma", "the same for every matrix instruction",
                "asmevo bench mfma --model mi355x --json", bench_mfma);
}

} // namespace asmevo::cli
