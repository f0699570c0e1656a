// Machine models from outside. Reading may refuse, in one line; it must not crash, and what it accepts has
// every number within its bounds, drawn ones too.
#include "timing/machine_model.h"

#include <cstdlib>

namespace {

using namespace asmevo;
using namespace asmevo::timing;

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const Machine& machine) {
  for (const ParameterInfo& info : parameter_table()) {
    const double value = machine[info.parameter];
    require(value >= info.least && value <= info.most); // nan is neither
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto model = MachineModel::parse({reinterpret_cast<const char*>(data), size}, "m.toml");
  if (!model) {
    const std::string& message = model.error().message;
    require(message.starts_with("m.toml:") && message.find('\n') == std::string::npos);
    return 0;
  }
  check(model->nominal());
  for (const uint64_t seed : {1, 2, 3}) check(model->draw(seed));
  return 0;
}
