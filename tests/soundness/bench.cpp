#include "soundness/bench.h"

#include "base/files.h"
#include "reference/suite.h"

namespace asmevo::soundness {

namespace {

// Longer than anything a candidate puts in its place takes: 127 times 64 cycles.
constexpr std::string_view pause_text = "s_sleep 127";

KernelSource of(const std::string& folder, const std::string& name, const std::string& launches,
                const std::string& kernel) {
  return {name, fmt::format("{}/kernels/{}/{}.gfx942.co", ASMEVO_BINARY_DIR, folder, name),
          fmt::format("{}/{}/{}.toml", ASMEVO_SOURCE_DIR, launches, name), kernel};
}

} // namespace

std::vector<KernelSource> sources() {
  std::vector<KernelSource> list;
  for (const char* name :
       {"level1_19_relu", "llm_rope", "level1_47_sum_rows", "level1_36_rms_norm", "llm_layernorm_residual",
        "level1_88_new_gelu", "level1_42_max_pool", "level1_40_layer_norm", "level1_44_average_pool",
        "level1_23_softmax", "level2_18_matmul_row_sum", "level1_51_argmax_rows"})
    if (const reference::SuiteKernel* k = reference::find_suite_kernel(name); k != nullptr)
      list.push_back(of("suite", name, "kernels/suite", k->k0));
  for (const auto& [name, kernel] : {std::pair{"bitonicsort", "bitonicsort_pass"},
                                     {"fastwalshtransform", "fastwalshtransform_step"},
                                     {"floydwarshall", "floydwarshall_pass"}})
    list.push_back(of("mi300a", name, "tests/soundness/launch", kernel));
  for (const char* name : {"in_place_sums", "in_place_products"})
    list.push_back(of("soundness", name, "tests/soundness/launch", name));
  return list;
}

Result<Bench> Bench::open(const KernelSource& source) {
  Bench bench;
  bench.source = source;
  ASMEVO_TRY(Bytes bytes, read_file(source.object));
  ASMEVO_TRY(const auto plain, oracle::Subject::open(std::move(bytes)));
  if (source.kernel.empty()) bench.source.kernel = plain->object().kernels().front().name;
  const program::Function* function = plain->program().find_function(bench.source.kernel);
  if (function == nullptr) return bad_input("{}: no kernel '{}'", source.object, bench.source.kernel);
  program::Edit edit;
  edit.kernel = bench.source.kernel;
  edit.changes.push_back(inserted(plain->program().entries[function->begin].id, std::string(pause_text)));
  ASMEVO_TRY(rebuild::Built built,
             rebuild::apply_edit(plain->original(), plain->program(), edit, 1, plain->codec()));
  ASMEVO_TRY(bench.k0, oracle::Subject::open(std::move(built.object)));
  bench.pause = bench.id(bench.function().begin);
  if (bench.descriptor().descriptor.kernarg_preload != 0)
    return bad_input("{}: has two entries, as arguments are preloaded", source.object);
  ASMEVO_TRY(bench.truth, Truth::make(source.launch, bench.source.kernel, bench.k0));
  return bench;
}

program::Edit Bench::edit(std::vector<program::Change> changes, std::string front) const {
  program::Edit e;
  e.kernel = source.kernel;
  e.changes = std::move(changes);
  e.changes.push_back(replaced(pause, pause, std::move(front)));
  return e;
}

Result<std::shared_ptr<const oracle::Subject>> Bench::build(const program::Edit& e) const {
  ASMEVO_TRY(rebuild::Built built, rebuild::apply_edit(k0->original(), program(), e, 1, k0->codec()));
  return oracle::Subject::open(std::move(built.object));
}

gate::SetupRequest Bench::request() const {
  gate::SetupRequest r;
  r.k0 = Bytes(k0->object().bytes().begin(), k0->object().bytes().end());
  r.launch = source.launch;
  r.model = "mi300x";
  r.shape = "tiny";
  r.members = 4;
  r.effort = 100'000;
  return r;
}

program::Change replaced(program::InstrId first, program::InstrId last, std::string text) {
  return {.first = first, .last = last, .before = {}, .text = std::move(text)};
}
program::Change inserted(program::InstrId before, std::string text) {
  return {.first = {}, .last = {}, .before = before, .text = std::move(text)};
}

} // namespace asmevo::soundness
