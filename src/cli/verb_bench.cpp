#include "base/files.h"
#include "cli/cli.h"
#include "cli/load.h"
#include "oracle/launch_time.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <sstream>

namespace asmevo::cli {

namespace {
struct Options {
  std::string suite, objects, model = "mi300a", only, set;
  uint64_t effort = 2'000'000;
  unsigned threads = 0;
};

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> f;
  std::istringstream in(line);
  for (std::string x; std::getline(in, x, ',');) f.push_back(x);
  return f;
}

Result<Answer> run(const Options& o, bool) {
  ASMEVO_TRY(const auto model, timing::MachineModel::find(o.model));
  timing::Machine machine = model.nominal();
  std::istringstream sets(o.set);
  for (std::string kv; std::getline(sets, kv, ',');) {
    const auto eq = kv.find('='), dot = kv.find('.');
    bool ok = false;
    for (const auto& info : timing::parameter_table())
      if (info.table == kv.substr(0, dot) && info.key == kv.substr(dot + 1, eq - dot - 1)) {
        machine[info.parameter] = std::stod(kv.substr(eq + 1));
        ok = true;
      }
    if (!ok) return bad_input("set {}", kv);
  }
  ASMEVO_TRY(const Bytes bytes, read_file(o.suite + "/times.csv"));
  std::istringstream text(std::string(bytes.begin(), bytes.end()));
  std::map<std::string, std::vector<double>> errors;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with('#') || line.starts_with("kernel,")) continue;
    const auto f = split(line);
    if (!o.only.empty() && (f[0]).find(o.only) == std::string::npos) continue;
    const std::string name = f[2].substr(0, f[2].find('.'));
    ASMEVO_TRY(codeobject::CodeObject object, load_code_object(o.objects + "/" + name + ".gfx942.co", ""));
    ASMEVO_TRY(oracle::LaunchSpec spec, oracle::LaunchSpec::read(o.suite + "/" + f[2]));
    ASMEVO_TRY(const auto plan, oracle::LaunchPlan::make(std::move(spec), f[3], 0));
    oracle::LaunchTraceOptions options;
    options.trace.effort = o.effort;
    options.trace.threads = o.threads;
    const auto t0 = std::chrono::steady_clock::now();
    auto traces = oracle::trace_launches(
        plan, std::make_shared<const codeobject::CodeObject>(std::move(object)), machine, options);
    if (!traces) {
      fmt::print("{} {}: {}\n", f[0], f[1], traces.error().message);
      continue;
    }
    const auto t1 = std::chrono::steady_clock::now();
    const auto time = oracle::launch_time(*traces, machine);
    const auto t2 = std::chrono::steady_clock::now();
    const double ref = std::stod(f[4]), copies = std::stod(f[7]), ms = time.seconds * 1e3 + copies;
    const auto& k = time.kernels.front();
    const auto& tr = traces->launches.front().trace;
    const bool scored = f[5].find("floor") == std::string::npos && f[5].find("host") == std::string::npos &&
                        f[5].find("h2d") == std::string::npos;
    if (scored) errors[f[0]].push_back(ms / ref - 1);
    uint64_t instr = 0;
    for (auto& kk : time.kernels) instr += kk.simulation.instructions;
    fmt::print("{:20} {:24} {:10} ref {:9.4f} mod {:9.4f} {:+6.1f}% {} | n{} of {:.0f} {} cus{} occ{} l2 "
               "{:.2f} mall {:.2f} L1h {:.2f} L2h {:.2f} instr {} trace {:.2f}s sim {:.2f}s\n",
               f[0], f[1], f[5], ref, ms, 100 * (ms / ref - 1), scored ? "*" : " ", tr.groups.size(),
               tr.sample.all, int(tr.sample.kind), tr.sample.cus, tr.size.workgroups_per_cu, k.warmth.l2,
               k.warmth.mall,
               1 - double(k.simulation.memory.l1_misses) /
                       double(std::max<uint64_t>(1, k.simulation.memory.l1_lines)),
               1 - double(k.simulation.memory.l2_misses) /
                       double(std::max<uint64_t>(1, k.simulation.memory.l2_reads)),
               instr, std::chrono::duration<double>(t1 - t0).count(),
               std::chrono::duration<double>(t2 - t1).count());
    if (getenv("V"))
      for (size_t n = 0; n < time.kernels.size(); ++n) {
        const auto& q = time.kernels[n];
        const auto& t = traces->launches[n];
        const auto& m = q.simulation.memory;
        fmt::print(
            "    {:24} x{:.1f} {:.3f} us cycles {:.0f} kind {} n {} of {:.0f} cus {} sim end {:.0f} instr {} "
            "per group {:.0f} cut {} l1 {}/{} l2 {}/{} w {} mall {} hbm {} mw {} hw {} tlb {} fp {:.0f}MB\n",
            t.kernel, t.stands_for, q.seconds * 1e6, q.cycles, int(t.trace.sample.kind),
            t.trace.groups.size(), t.trace.sample.all, t.trace.sample.cus, q.simulation.end,
            q.simulation.instructions, t.trace.size.instructions, q.simulation.cut, m.l1_misses, m.l1_lines,
            m.l2_misses, m.l2_reads, m.l2_writes, m.mall_reads, m.hbm_reads, m.mall_writes, m.hbm_writes,
            m.tlb_misses, q.footprint / 1e6);
        if (getenv("VV")) {
          timing::TimedCode code(t.trace.instructions, t.trace.code_address, t.trace.target, machine);
          for (size_t oo = 0; oo < code.size(); ++oo) {
            const auto& x = q.simulation.ops[oo];
            if (!x.issues) continue;
            fmt::print("      {:6x} {:28} {:9} per {:7.1f}", code.op(oo).address,
                       code.op(oo).instruction->mnemonic, x.issues, (x.busy + x.stalls()) / double(x.issues));
            for (size_t z = 0; z < timing::stall_count; ++z)
              if (x.stalled[z] > 0)
                fmt::print(" {} {:.1f}", timing::name(static_cast<timing::Stall>(z)),
                           x.stalled[z] / double(x.issues));
            fmt::print("\n");
          }
        }
      }
    std::fflush(stdout);
  }
  double all = 0;
  for (auto& [k, e] : errors) {
    double s = 0;
    for (double x : e) s += std::abs(x);
    s /= e.size();
    all += s;
    fmt::print("{:24} {:5.1f}% of {}\n", k, 100 * s, e.size());
  }
  if (!errors.empty()) fmt::print("mean {:.1f}%\n", 100 * all / double(errors.size()));
  return Answer::Yes;
}
} // namespace

void add_bench(Context& context) {
  auto o = std::make_shared<Options>();
  CLI::App* verb = add_verb(context, "bench", "x", "asmevo bench timing");
  verb->add_option("suite", o->suite);
  verb->add_option("objects", o->objects);
  verb->add_option("--model", o->model);
  verb->add_option("--only", o->only);
  verb->add_option("--effort", o->effort);
  verb->add_option("--set", o->set);
  verb->add_option("--threads", o->threads);
  verb->callback([&context, o] { context.action = [&context, o] { return run(*o, context.json); }; });
}
} // namespace asmevo::cli
