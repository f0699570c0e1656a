// rocprofv3's PC sampling JSON, made of what a test wants to have in it.
#pragma once

#include "profile/import_fixture.h"

#include <nlohmann/json.hpp>

namespace asmevo::profile {

struct SampledWave {
  size_t instruction = 0; // of the listing
  std::string reason;     // stochastic: why it did not issue; "": it did
  uint64_t dispatch = 1;
};

struct PcSamplingFile {
  nlohmann::ordered_json tool;
  bool stochastic = true;
  const Kernel& kernel;
  uint64_t load_base = 0x7f0000200000;
  int64_t moved = 0; // how much higher the recorded object has the kernel

  explicit PcSamplingFile(bool with_reasons, const Kernel& k = reduce())
      : stochastic(with_reasons), kernel(k) {
    const KernelListing& l = k.listing;
    tool["metadata"] = {{"pid", 42}};
    tool["agents"] = nlohmann::ordered_json::array(
        {{{"type", 1}, {"name", "AMD EPYC"}}, {{"type", 2}, {"name", "gfx942"}}});
    tool["strings"]["pc_sample_instructions"] = k.texts;
    tool["strings"]["pc_sample_comments"] = std::vector<std::string>(k.texts.size());
    tool["code_objects"] = nlohmann::ordered_json::array({{{"size", 0}, {"code_object_id", 0}},
                                                          {{"size", 88},
                                                           {"code_object_id", 3},
                                                           {"uri", "memory://42#offset=0x1000&size=4096"},
                                                           {"load_base", load_base},
                                                           {"load_size", 0x4000},
                                                           {"load_delta", load_base},
                                                           {"storage_type", 2},
                                                           {"memory_size", l.object_bytes}}});
    tool["kernel_symbols"] = nlohmann::ordered_json::array();
    add_symbol(7, l.kernel.symbol(), load_base + l.descriptor, load_base + l.entry);
    add_symbol(8, "histogram", load_base + 64, load_base + 0x9000);
    tool["buffer_records"]["kernel_dispatch"] = nlohmann::ordered_json::array();
    for (const auto& [dispatch, id] : {std::pair(1, 7), std::pair(2, 8), std::pair(3, 7)})
      add_dispatch(static_cast<uint64_t>(dispatch), static_cast<uint64_t>(id));
    tool["buffer_records"]["pc_sample_host_trap"] = nlohmann::ordered_json::array();
    tool["buffer_records"]["pc_sample_stochastic"] = nlohmann::ordered_json::array();
  }

  void add_symbol(uint64_t id, const std::string& name, uint64_t descriptor, uint64_t entry) {
    tool["kernel_symbols"].push_back({{"kernel_id", id},
                                      {"code_object_id", 3},
                                      {"kernel_name", name + ".kd"},
                                      {"kernel_object", descriptor},
                                      {"kernel_address", {{"handle", entry}}},
                                      {"formatted_kernel_name", name}});
  }
  void add_dispatch(uint64_t dispatch, uint64_t id) {
    tool["buffer_records"]["kernel_dispatch"].push_back(
        {{"dispatch_info", {{"kernel_id", id}, {"dispatch_id", dispatch}}}});
  }

  nlohmann::ordered_json& samples() {
    return tool["buffer_records"][stochastic ? "pc_sample_stochastic" : "pc_sample_host_trap"];
  }

  PcSamplingFile& add(const SampledWave& s, int times = 1) {
    nlohmann::ordered_json record = {
        {"hw_id", {{"chiplet", 0}, {"simd_id", 2}}},
        {"pc",
         {{"code_object_id", 3},
          {"code_object_offset", kernel.address(s.instruction) + static_cast<uint64_t>(moved)}}},
        {"exec_mask", 18446744073709551615U},
        {"dispatch_id", s.dispatch}};
    if (stochastic) {
      record["wave_issued"] = s.reason.empty() ? 1 : 0;
      record["inst_type"] = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_VALU";
      record["snapshot"]["stall_reason"] =
          "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_" + (s.reason.empty() ? "NONE" : s.reason);
    }
    for (int i = 0; i < times; ++i) samples().push_back({{"record", record}, {"inst_index", s.instruction}});
    return *this;
  }

  std::string text() const {
    nlohmann::ordered_json document;
    document["rocprofiler-sdk-tool"] = nlohmann::ordered_json::array({tool});
    return document.dump(2);
  }
  std::filesystem::path write(const Folder& folder, const std::string& name = "out_results.json") const {
    return folder.write(name, text());
  }
};

} // namespace asmevo::profile
