// rocprofv3's *_results.json. The lists come in this order: agents, strings, code objects, kernels,
// dispatches, samples; none is relied on.
#include "profile/json_stream.h"
#include "profile/pc_samples.h"

#include <array>

namespace asmevo::profile {

namespace {

constexpr uint64_t gpu_agent = 2;

class Reader {
 public:
  Result<PcSamples> read(TextSource& source) {
    const std::string root = "rocprofiler-sdk-tool[]";
    const std::array<JsonPart, 7> parts = {{
        {root + ".agents[]", [this](const Json& j) { return agent(j); }, {}},
        {root + ".strings.pc_sample_instructions[]", [this](const Json& j) { return text(j); }, {}},
        {root + ".code_objects[]", [this](const Json& j) { return code_object(j); }, {}},
        {root + ".kernel_symbols[]", [this](const Json& j) { return kernel(j); }, {}},
        {root + ".buffer_records.kernel_dispatch[]", [this](const Json& j) { return dispatch(j); }, {}},
        {root + ".buffer_records.pc_sample_host_trap[]", [this](const Json& j) { return host_trap(j); }, {}},
        {root + ".buffer_records.pc_sample_stochastic[]",
         [this](const Json& j) { return stochastic(j); },
         {}},
    }};
    ASMEVO_CHECK(read_json(source, parts));
    if (host_traps_ != 0 && stochastic_ != 0)
      return bad_input("{}: both host-trap and stochastic samples in it", source.name());
    samples_.origin = host_traps_ != 0 ? Origin::HostTrap : Origin::Stochastic;
    return std::move(samples_);
  }

 private:
  Status room(size_t have) const {
    if (have < PcSamples::most_records) return {};
    return bad_input("more than {} of them", PcSamples::most_records);
  }

  Status agent(const Json& j) {
    ASMEVO_CHECK(room(samples_.gpus.size()));
    const auto type = whole_number(j, "type");
    if (!type || *type != gpu_agent) return {};
    samples_.gpus.push_back(text_at(j, "name"));
    return samples_.keep(samples_.gpus.back());
  }

  Status text(const Json& j) {
    ASMEVO_CHECK(room(samples_.texts.size()));
    if (!j.is_string()) return bad_input("not a text");
    samples_.texts.push_back(j.get<std::string>());
    return samples_.keep(samples_.texts.back());
  }

  Status code_object(const Json& j) {
    ASMEVO_CHECK(room(samples_.objects.size()));
    ASMEVO_TRY(const uint64_t id, whole_number(j, "code_object_id"));
    if (id == 0) return {}; // rocprofv3 counts from 1
    LoadedObject object;
    ASMEVO_TRY(object.base, whole_number(j, "load_base"));
    const Json* delta = member(j, "load_delta");
    if (delta == nullptr || !delta->is_number_integer()) return bad_input("load_delta is not a whole number");
    object.delta =
        delta->is_number_unsigned() ? static_cast<int64_t>(delta->get<uint64_t>()) : delta->get<int64_t>();
    object.bytes = whole_number(j, "memory_size").value_or(0);
    object.uri = text_at(j, "uri");
    ASMEVO_CHECK(samples_.keep(object.uri));
    samples_.objects[id] = std::move(object);
    return {};
  }

  Status kernel(const Json& j) {
    ASMEVO_CHECK(room(samples_.kernels.size()));
    LoadedKernel kernel;
    ASMEVO_TRY(kernel.id, whole_number(j, "kernel_id"));
    ASMEVO_TRY(kernel.code_object, whole_number(j, "code_object_id"));
    if (kernel.code_object == 0) return {};
    kernel.name = text_at(j, "kernel_name");
    kernel.display_name = text_at(j, "formatted_kernel_name");
    kernel.descriptor = whole_number(j, "kernel_object").value_or(0);
    kernel.entry = whole_number(j, "kernel_address.handle").value_or(0);
    ASMEVO_CHECK(samples_.keep(kernel.name));
    ASMEVO_CHECK(samples_.keep(kernel.display_name));
    samples_.kernels.push_back(std::move(kernel));
    return {};
  }

  Status dispatch(const Json& j) {
    ASMEVO_CHECK(room(samples_.kernel_of_dispatch.size()));
    ASMEVO_TRY(const uint64_t id, whole_number(j, "dispatch_info.dispatch_id"));
    ASMEVO_TRY(samples_.kernel_of_dispatch[id], whole_number(j, "dispatch_info.kernel_id"));
    return {};
  }

  static Result<SampleKey> place(const Json& j) {
    SampleKey key;
    ASMEVO_TRY(key.code_object, whole_number(j, "record.pc.code_object_id"));
    ASMEVO_TRY(key.offset, whole_number(j, "record.pc.code_object_offset"));
    ASMEVO_TRY(key.dispatch, whole_number(j, "record.dispatch_id"));
    // -1: an address that the profiler could not decode
    const Json* text = member(j, "inst_index");
    if (text == nullptr || !text->is_number_integer()) return bad_input("inst_index is not a whole number");
    key.text = text->get<int64_t>();
    return key;
  }

  Status host_trap(const Json& j) {
    ++host_traps_;
    ASMEVO_TRY(const SampleKey key, place(j));
    return samples_.add(key);
  }

  Status stochastic(const Json& j) {
    ++stochastic_;
    ASMEVO_TRY(SampleKey key, place(j));
    ASMEVO_TRY(const uint64_t issued, whole_number(j, "record.wave_issued"));
    if (issued > 1) return bad_input("wave_issued is {}, not 0 or 1", issued);
    if (issued == 1)
      key.kind = SampleKind::Issued;
    else
      samples_.set_reason(key, text_at(j, "record.snapshot.stall_reason"));
    return samples_.add(key);
  }

  PcSamples samples_;
  uint64_t host_traps_ = 0, stochastic_ = 0;
};

} // namespace

Result<ImportedProfile> import_pc_sampling_json(TextSource source, const ImportRequest& request) {
  ASMEVO_TRY(const PcSamples samples, Reader().read(source));
  return place_samples(samples, ImportFormat::PcSamplingJson, source.name(), request);
}

} // namespace asmevo::profile
