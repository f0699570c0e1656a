#include "cli/bench_microkernels.h"

#include <memory>

namespace asmevo::cli {

void add_bench_microkernels(Context& context) {
  auto o = std::make_shared<MicrokernelOptions>();
  auto what = std::make_shared<std::string>("microkernels");
  CLI::App* verb = add_verb(context, "bench-microkernels", "compare the cycle model with published figures",
                            "asmevo bench-microkernels --objects build/kernels/microkernels");
  verb->add_option("what", *what, "microkernels or mfma")->check(CLI::IsMember({"microkernels", "mfma"}));
  verb->add_option("--suite", o->suite, "folder of figures.csv and the launch files");
  verb->add_option("--objects", o->objects, "folder of the code objects");
  verb->add_option("--model", o->machine, "only this machine");
  verb->add_option("--effort", o->effort, "instructions to simulate for a launch, about");
  verb->add_option("--threads", o->threads, "of the emulator");
  verb->callback([&context, o, what] {
    context.action = [&context, o, what] {
      return *what == "mfma" ? bench_mfma(*o, context.json) : bench_microkernels(*o, context.json);
    };
  });
}

} // namespace asmevo::cli
