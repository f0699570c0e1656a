// A timing suite's times.csv from outside. Reading may refuse, in one line; it must not crash, and what it
// accepts can be scored.
#include "oracle/timing_suite.h"

#include <cmath>
#include <cstdlib>

namespace {

using namespace asmevo;
using namespace asmevo::oracle;

void require(bool condition) {
  if (!condition) std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto rows = parse_times({reinterpret_cast<const char*>(data), size}, "times.csv");
  if (!rows) {
    const std::string& message = rows.error().message;
    require(message.starts_with("times.csv:") && message.find('\n') == std::string::npos);
    return 0;
  }
  std::vector<TimingResult> results;
  for (const TimingRow& row : *rows) {
    require(std::isfinite(row.measured) && row.measured > 0);
    require(row.copies >= 0 && row.copies <= row.measured);
    require(!row.kernel.empty() && row.launch_file.find('/') == std::string::npos);
    results.push_back({.row = row, .modelled = row.measured});
  }
  for (const TimingScore& s : score(results)) require(s.rows != 0 && s.mean == 0 && s.wmape == 0);
  return 0;
}
