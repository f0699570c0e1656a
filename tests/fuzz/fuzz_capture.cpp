// Captures from outside: a manifest, then a zero byte, then what every blob is said to hold. Reading may
// refuse, in one line; it must not crash, take long or need much memory. What it accepts is mapped, looked
// into, and compared by its views.
#include "oracle/capture.h"
#include "oracle/compare.h"

#include <algorithm>
#include <cstdlib>

namespace {

using namespace asmevo;
using namespace asmevo::oracle;

void require(bool condition) {
  if (!condition) std::abort();
}

// The first and last bytes of each region.
void look_into(const Case& c) {
  for (const auto* memory : {c.before.get(), c.after.get()}) {
    if (memory == nullptr) continue;
    for (const emulator::RegionInfo& r : memory->regions()) {
      std::array<uint8_t, 64> bytes{};
      const uint64_t n = std::min<uint64_t>(r.size, bytes.size());
      require(memory->read(r.address, std::span(bytes).first(n)).has_value());
      require(memory->read(r.address + r.size - n, std::span(bytes).first(n)).has_value());
    }
  }
}

void compare_views(const Case& c) {
  constexpr uint64_t most_places = 1 << 16;
  for (const CaseView& v : c.views) {
    if (v.layout.places() > most_places || v.layout.count() > most_places) continue;
    const auto read = [&](uint64_t offset, std::span<uint8_t> into) {
      return c.before->read(v.address + offset, into);
    };
    Compared what;
    what.k0 = what.candidate = read;
    const auto same = compare(v.layout, what, Rule::Scaled);
    require(same && same->scaled && same->paper && same->different == 0);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ByteSpan input(data, size);
  const auto end = std::ranges::find(input, uint8_t{0});
  const auto length = static_cast<size_t>(end - input.begin());
  const ByteSpan blob = input.subspan(std::min(length + 1, size));
  const auto c = parse_capture(as_text(input.first(length)), [&](const std::string&, uint64_t bytes) {
    return decompress_blob(blob, bytes);
  });
  if (!c) {
    const std::string& message = c.error().message;
    require(!message.empty() && message.find('\n') == std::string::npos);
    return 0;
  }
  look_into(*c);
  compare_views(*c);
  return 0;
}
