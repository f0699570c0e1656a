// The tables of published figures, figures.csv and matrix.csv, from outside. Reading may refuse, in one line;
// it must not crash, and what it accepts is what the headers promise.
#include "oracle/matrix_figures.h"
#include "oracle/published_figures.h"

#include <cmath>
#include <cstdlib>

namespace {

using namespace asmevo;
using namespace asmevo::oracle;

void require(bool condition) {
  if (!condition) std::abort();
}
void require_one_line(const Error& error) {
  require(error.message.starts_with("f.csv:") && error.message.find('\n') == std::string::npos);
}

void check(const PublishedFigure& f) {
  require(!f.file.empty() && !f.launches.long_shape.empty() && !f.source.empty());
  require(f.against.has_value() == (f.unit == FigureUnit::Ratio));
  if (!f.published) return;
  require(f.published->low > 0 && f.published->low <= f.published->value);
  require(f.published->value <= f.published->high && std::isfinite(f.published->high));
  (void)f.sources_agree();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto figures = parse_figures(text, "f.csv"))
    for (const PublishedFigure& f : *figures) check(f);
  else
    require_one_line(figures.error());
  if (const auto rates = parse_matrix_rates(text, "f.csv"))
    for (const PublishedMatrixRate& r : *rates)
      require(r.flops > 0 && r.peak > 0 && r.cycles.value_or(1) > 0 && !r.source.empty());
  else
    require_one_line(rates.error());
  return 0;
}
