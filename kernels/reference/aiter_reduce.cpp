// AITer's sum over eight devices, one device's part of it.
#include "reference/aiter_parts.h"

namespace asmevo::reference {

namespace {

constexpr size_t devices = 8, per_sender = 128, per_device = devices * per_sender;

/// Its part of everyone's numbers is the sum, rounded to bf16 with halves away from zero; all others are as
/// they were.
Output sums(const SuiteInputs& in) {
  const size_t device = in.size("device"), part = in.size("part"), numbers = in.size("numbers");
  const Numbers data = in.values("data");
  Output out{.buffer = "data", .values = data, .own = Numbers(data.size())};
  for (size_t i = device * part; i < (device + 1) * part; ++i) {
    double sum = 0, magnitude = 0;
    for (size_t d = 0; d < devices; ++d) {
      sum += data[d * numbers + i];
      magnitude += std::abs(data[d * numbers + i]);
    }
    for (size_t d = 0; d < devices; ++d) {
      out.values[d * numbers + i] = sum;
      out.own[d * numbers + i] = bfloat_rounding * 1.01 * std::abs(sum) + few * magnitude;
    }
  }
  return out;
}

/// Everyone else has one more signal from the start (of the first workgroup), and four that its waves have
/// written; the device's own are cleared.
Output signals(const SuiteInputs& in) {
  const size_t device = in.size("device"), workgroups = in.size("workgroups");
  Output out{.buffer = "signals", .values = Numbers(devices * per_device)};
  for (size_t d = 0; d < devices; ++d) {
    if (d == device) continue;
    const size_t first = d * per_device + device * per_sender;
    out.values[first] = 1;
    for (size_t group = 0; group < workgroups; ++group) out.values[first + 2 * group + 1] = 4;
  }
  return out;
}

Expected all_reduce(const SuiteInputs& in) {
  return {{sums(in), signals(in)}};
}

} // namespace

std::vector<AiterKernel> aiter_reduce_kernels() {
  return {{"all_reduce", "gfx942/all_reduce.co", "all_reduce", all_reduce, {"tiny", "odd", "search"}}};
}

} // namespace asmevo::reference
