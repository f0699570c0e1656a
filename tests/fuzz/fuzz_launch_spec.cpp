// Launch files from outside: read, planned for every shape, written, read again. Reading may refuse, in one
// line; it must not crash, take long or need much memory, and what it accepts must come back from its own
// writing.
#include "oracle/launch_plan.h"

#include <algorithm>
#include <cstdlib>

namespace {

using namespace asmevo;
using namespace asmevo::oracle;

void require(bool condition) {
  if (!condition) std::abort();
}
void require_one_line(const Error& error) {
  require(!error.message.empty() && error.message.find('\n') == std::string::npos);
}

// The first and last bytes of each buffer, and what lies there.
void look_into(const LaunchPlan& plan) {
  for (const PlannedBuffer& b : plan.buffers) {
    require(b.bytes <= uint64_t{1} << 40);
    std::array<uint8_t, 64> page{};
    const uint64_t n = std::min<uint64_t>(b.bytes, page.size());
    fill(b.init, b.layout, 0, std::span(page).first(n));
    fill(b.init, b.layout, b.bytes - n, std::span(page).first(n));
    if (b.layout.count() != 0) require(b.layout.place_of(b.layout.count() - 1) < b.layout.places());
  }
}

void plan_all(const LaunchSpec& spec) {
  std::vector<std::string> shapes = {""};
  for (const auto& [name, sizes] : spec.shapes) shapes.push_back(name);
  shapes.resize(std::min<size_t>(shapes.size(), 4));
  for (const std::string& shape : shapes) {
    const auto plan = LaunchPlan::make(spec, shape);
    if (plan)
      look_into(*plan);
    else
      require_one_line(plan.error());
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.find("path") != std::string_view::npos)
    return 0; // files of this machine are not for a fuzzer to read
  const auto spec = LaunchSpec::parse(text, "/nowhere/launch.toml");
  if (!spec) {
    require_one_line(spec.error());
    return 0;
  }
  plan_all(*spec);
  // Numbers in quotes come back without, so it takes one round until nothing changes any more.
  const auto again = LaunchSpec::parse(spec->write(), "again");
  require(again.has_value());
  const auto last = LaunchSpec::parse(again->write(), "last");
  require(last && last->write() == again->write());
  return 0;
}
