#pragma once

namespace asmevo::emulator {

/// The exact sum of finite doubles, rounded to the nearest float, ties to even.
float round_exact_sum(const double* terms, unsigned count);

} // namespace asmevo::emulator
