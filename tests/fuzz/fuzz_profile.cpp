// Profiles from outside: the first byte says which importer gets the rest. Importing may refuse, in one line;
// it must not crash, take long or need much memory, and what it accepts is time of the kernel's instructions.
#include "profile/importers.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace {

using namespace asmevo;
using namespace asmevo::profile;

void require(bool condition) {
  if (!condition) std::abort();
}

// A small kernel, as list_kernel would list it.
const KernelListing& listing() {
  static const KernelListing made = [] {
    KernelListing l;
    l.kernel = KernelName("k");
    l.target = "gfx942";
    l.entry = 0x100;
    l.descriptor = 0x40;
    l.object_bytes = 4096;
    for (const std::string_view text :
         {"s_load_dword s3, s[0:1], 0x10", "s_waitcnt lgkmcnt(0)", "v_mov_b32 v1, s3", "v_add_u32 v1, v1, v0",
          "s_cbranch_scc1 65533", "s_endpgm"}) {
      ListedInstruction i;
      i.address = l.entry + 4 * l.instructions.size();
      i.text = comparable(text);
      i.waits = text.starts_with("s_waitcnt");
      i.slow = i.waits || text.starts_with("s_load");
      i.starts_block = l.instructions.empty();
      i.own = true;
      l.instructions.push_back(std::move(i));
    }
    return l;
  }();
  return made;
}

void check(const Result<ImportedProfile>& result) {
  if (!result) {
    require(!result.error().message.empty());
    return;
  }
  const KernelProfile& p = result->profile;
  for (const InstructionTime& i : p.instructions) {
    require(listing().at(i.address).has_value());
    require(std::isfinite(i.total()) && i.total() >= 0 && i.issues >= 0);
  }
  require(std::isfinite(p.unplaced) && p.unplaced >= 0);
  for (const auto& [name, value] : p.counters) require(value >= 0);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  ImportRequest request{listing(), {}, {}, {}, false, {}};
  const auto source = [&] { return TextSource("input", text); };
  switch (data[0]) {
  case 'j': check(import_pc_sampling_json(source(), request)); break;
  case 'p': check(import_pc_sampling_csv(source(), request)); break;
  case 'c': check(import_code_json(source(), request)); break;
  case 't': check(import_thread_trace_csv(source(), request)); break;
  case 'n': check(import_counter_csv(source(), request)); break;
  case 'm': check(import_pmc_perf_csv(source(), request)); break;
  case 'k':
    if (auto kernels = read_kernel_trace(source())) request.kernel_of_dispatch = *std::move(kernels);
    check(import_pc_sampling_csv(
        TextSource("input", "Dispatch_Id,Instruction,Instruction_Comment\n1,s_endpgm,\n"), request));
    break;
  default: break;
  }
  return 0;
}
