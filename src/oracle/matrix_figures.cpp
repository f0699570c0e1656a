#include "oracle/matrix_figures.h"

#include "base/csv.h"
#include "base/files.h"
#include "device/emulated_device.h"
#include "oracle/matrix_kernels.h"
#include "oracle/published_figures.h"
#include "rebuild/assembly.h"
#include "timing/kernel_time.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace asmevo::oracle {

namespace {

enum Column : size_t { TargetName, Opcode, Type, Flops, CyclesColumn, Peak, Source, columns };
constexpr std::array<std::string_view, columns> heading = {"target", "opcode", "type",  "flops",
                                                           "cycles", "peak",   "source"};

constexpr double slot = 4; // cycles of a wait state

// Runs the kernels of one device.
class MatrixBench {
 public:
  MatrixBench(device::EmulatedDevice& device, device::Module& module, const timing::Machine& machine)
      : device_(device), module_(module), machine_(machine) {}

  // Cycles from one instruction of the kernel's body to the next.
  Result<double> cycles(const std::string& kernel) {
    constexpr uint32_t few = 1, many = 3;
    ASMEVO_TRY(const double short_time, time(kernel, few));
    ASMEVO_TRY(const double long_time, time(kernel, many));
    return (long_time - short_time) / ((many - few) * matrix_body);
  }

 private:
  Result<double> time(const std::string& kernel, uint32_t rounds) {
    constexpr uint32_t work_items = 256; // a wave for each SIMD
    device::LaunchArguments arguments;
    arguments.kernarg.resize(sizeof(uint64_t));
    std::memcpy(arguments.kernarg.data(), &rounds, sizeof rounds);
    timing::TraceOptions options;
    options.threads = 1;
    ASMEVO_TRY(const timing::DispatchTrace trace,
               device_.trace(module_, kernel, {{work_items, 1, 1}, {work_items, 1, 1}, 0}, arguments,
                             machine_, options));
    return timing::kernel_time(trace, machine_).cycles;
  }

  device::EmulatedDevice& device_;
  device::Module& module_;
  const timing::Machine& machine_;
};

const PublishedMatrixRate* find(const std::vector<PublishedMatrixRate>& rates, std::string_view target,
                                std::string_view opcode) {
  for (const PublishedMatrixRate& r : rates)
    if (r.target == target && r.opcode == opcode) return &r;
  return nullptr;
}

std::optional<MatrixFigure::Cycles> expected(const MatrixFigure& f, const MatrixForm& form,
                                             isa::Codec& codec) {
  if (!f.published || !f.published->cycles) return std::nullopt;
  const double busy = *f.published->cycles;
  const auto behind = [&](unsigned wait_states) { return std::max(busy, slot * (wait_states + 1)); };
  return MatrixFigure::Cycles{busy, behind(form.accumulating_wait_states(codec)),
                              behind(form.chained_wait_states(codec))};
}

} // namespace

std::optional<double> MatrixFigure::deviation() const {
  if (!expected) return std::nullopt;
  double most = 0;
  for (const double Cycles::* which : {&Cycles::independent, &Cycles::accumulating, &Cycles::chained}) {
    const double one = modelled.*which / (*expected).*which - 1;
    if (std::abs(one) > std::abs(most)) most = one;
  }
  return most;
}

bool MatrixFigure::is_off() const {
  const std::optional<double> d = deviation();
  return d && std::abs(*d) > figure_tolerance;
}

Result<std::vector<PublishedMatrixRate>> parse_matrix_rates(std::string_view text, const std::string& name) {
  ASMEVO_TRY(const std::vector<CsvRow> rows, parse_csv(text, name, {heading, {}}));
  std::vector<PublishedMatrixRate> all;
  for (const CsvRow& row : rows) {
    const std::string place = fmt::format("{}:{}", name, row.line);
    const auto& fields = row.fields;
    PublishedMatrixRate r;
    r.target = fields[TargetName], r.opcode = fields[Opcode];
    r.type = fields[Type], r.source = fields[Source];
    if (!isa::Target::from_id(r.target))
      return bad_input("{}: target: '{}' is none", place, printable(r.target));
    if (find(all, r.target, r.opcode) != nullptr)
      return bad_input("{}: opcode: '{}' stands twice for {}", place, printable(r.opcode), r.target);
    if (r.type.empty() || r.source.empty()) return bad_input("{}: type or source is missing", place);
    ASMEVO_TRY(r.flops, csv_number(fields[Flops], place, heading[Flops]));
    ASMEVO_TRY(r.peak, csv_number(fields[Peak], place, heading[Peak]));
    if (!fields[CyclesColumn].empty()) {
      ASMEVO_TRY(r.cycles, csv_number(fields[CyclesColumn], place, heading[CyclesColumn]));
    }
    if (r.flops <= 0 || r.peak <= 0 || r.cycles.value_or(1) <= 0)
      return bad_input("{}: flops, cycles and peak are above 0", place);
    all.push_back(std::move(r));
  }
  return all;
}

Result<std::vector<PublishedMatrixRate>> read_matrix_rates(const std::filesystem::path& path) {
  constexpr uint64_t largest = uint64_t{1} << 20;
  ASMEVO_TRY(const Bytes bytes, read_file(path, largest));
  return parse_matrix_rates({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string());
}

Result<std::vector<MatrixFigure>>
model_matrix_instructions(const timing::MachineModel& model, const std::vector<PublishedMatrixRate>& rates,
                          const std::function<void(size_t done, size_t all)>& progress) {
  ASMEVO_TRY(const auto codec, isa::Codec::borrow(model.target()));
  const std::vector<MatrixForm> forms = MatrixForm::all(*codec);
  ASMEVO_TRY(Bytes bytes, rebuild::assemble(matrix_kernels(forms, *codec), "matrix.s"));
  ASMEVO_TRY(codeobject::CodeObject object, codeobject::CodeObject::parse(std::move(bytes)));
  ASMEVO_TRY(const auto device, device::EmulatedDevice::create(model.target()));
  ASMEVO_TRY(const auto module,
             device->load(std::make_shared<const codeobject::CodeObject>(std::move(object))));
  const timing::Machine machine = model.nominal();
  MatrixBench bench(*device, *module, machine);
  std::vector<MatrixFigure> figures;
  for (size_t n = 0; n < forms.size(); ++n) {
    if (progress) progress(n, forms.size());
    MatrixFigure f;
    f.opcode = forms[n].opcode(), f.passes = forms[n].instruction().matrix_passes;
    if (const PublishedMatrixRate* r = find(rates, model.target().name(), f.opcode)) f.published = *r;
    ASMEVO_TRY(f.modelled.independent, bench.cycles(fmt::format("k{}i", n)));
    ASMEVO_TRY(f.modelled.accumulating, bench.cycles(fmt::format("k{}a", n)));
    ASMEVO_TRY(f.modelled.chained, bench.cycles(fmt::format("k{}c", n)));
    f.expected = expected(f, forms[n], *codec);
    figures.push_back(std::move(f));
  }
  return figures;
}

} // namespace asmevo::oracle
