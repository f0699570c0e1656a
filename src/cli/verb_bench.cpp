#include "cli/bench_timing.h"

#include <memory>

namespace asmevo::cli {

void add_bench(Context& context) {
  CLI::App* verb = add_verb(context, "bench", "tables over suites of kernels",
                            "asmevo bench timing --suite kernels/mi300a");
  verb->require_subcommand(1);
  auto timing = std::make_shared<BenchTimingOptions>();
  CLI::App* table = verb->add_subcommand("timing", "modelled times beside given ones");
  table->add_option("--suite", timing->suite, "folder of launch files and times.csv")->type_name("DIR");
  table->add_option("--objects", timing->objects, "folder of their code objects")->type_name("DIR");
  table->add_option("--model", timing->model, "machine model; default: the one named like the suite's folder")
      ->type_name("NAME|FILE");
  table->add_option("--only", timing->only, "kernels whose name holds this")->type_name("TEXT");
  table->add_option("--timing-effort", timing->effort, "instructions to simulate for each row")
      ->check(CLI::Range(uint64_t{1'000}, uint64_t{10'000'000'000}))
      ->capture_default_str();
  table->add_option("--threads", timing->threads, "threads; 0: one a core")->capture_default_str();
  table->add_option("--plot", timing->plot, "also draw the errors")->type_name("FILE.svg");
  table->callback([&context, timing] {
    context.action = [&context, timing] { return bench_timing(*timing, context.json); };
  });
}

} // namespace asmevo::cli
