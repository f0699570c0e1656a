// AITer's sum over eight devices, one device's part of it.
#include "reference/aiter_parts.h"

namespace asmevo::reference {

namespace {

constexpr size_t devices = 8, row_length = 8192;

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
/// written; the device's own are cleared. `room`: workgroups that a sender has signals for.
Output signals(const SuiteInputs& in, size_t room) {
  const size_t device = in.size("device"), workgroups = in.size("workgroups");
  Output out{.buffer = "signals", .values = Numbers(devices * devices * room * 2)};
  for (size_t d = 0; d < devices; ++d) {
    if (d == device) continue;
    double* const of_sender = &out.values[(d * devices + device) * room * 2];
    of_sender[0] = 1;
    for (size_t group = 0; group < workgroups; ++group) of_sender[2 * group + 1] = 4;
  }
  return out;
}

Expected all_reduce(const SuiteInputs& in) {
  return {{sums(in), signals(in, 64)}};
}
/// One row: everyone's numbers and the residual, added up.
Numbers row_sum(const SuiteInputs& in, size_t row) {
  Numbers sum = in.values("residual", row * row_length, row_length);
  for (size_t d = 0; d < devices; ++d) {
    const Numbers part = in.values("x", (d * in.size("rows") + row) * row_length, row_length);
    for (size_t i = 0; i < row_length; ++i) sum[i] += part[i];
  }
  return sum;
}

/// By the root of the mean square; then weights and bias.
Numbers normalised(const SuiteInputs& in, const Numbers& row) {
  const Numbers weight = in.values("weight"), bias = in.values("bias");
  double squares = 0;
  for (const double number : row) squares += number * number / static_cast<double>(row_length);
  Numbers result(row_length);
  for (size_t i = 0; i < row_length; ++i)
    result[i] = row[i] / std::sqrt(squares + 1e-5) * weight[i] + bias[i];
  return result;
}

/// The device's rows, the same in everyone's results and sums, cut to bf16. Numbers are below 32 on the way,
/// and sums of 8192 are made of sums of 32.
Expected all_reduce_norm(const SuiteInputs& in) {
  const size_t device = in.size("device"), workgroups = in.size("workgroups"), rows = in.size("rows");
  Expected expected{{signals(in, workgroups)}};
  for (size_t row = device * workgroups; row < (device + 1) * workgroups; ++row) {
    const Numbers sum = row_sum(in, row), result = normalised(in, sum);
    for (size_t d = 0; d < devices; ++d)
      for (const bool is_sum : {true, false})
        expected.outputs.push_back({.buffer = is_sum ? "sums" : "out",
                                    .values = is_sum ? sum : result,
                                    .relative = 2 * bfloat_rounding * 1.01,
                                    .absolute = 32 * few,
                                    .indices = run_of((d * rows + row) * row_length, row_length)});
  }
  return expected;
}

} // namespace

std::vector<AiterKernel> aiter_reduce_kernels() {
  return {
      {"all_reduce", "gfx942/all_reduce.co", "all_reduce", all_reduce, {"tiny", "odd", "search"}},
      {"all_reduce_rmsnorm",
       "gfx942/allreduce_rmsnorm_N8192.co",
       "all_reduce_norm",
       all_reduce_norm,
       {"tiny", "odd"}},
      // The same code as the one before.
      {"all_reduce_layernorm",
       "gfx942/allreduce_layernorm_N8192.co",
       "all_reduce_norm",
       all_reduce_norm,
       {"tiny", "odd"}},
  };
}

} // namespace asmevo::reference
