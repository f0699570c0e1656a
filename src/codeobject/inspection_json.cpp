#include "codeobject/inspection.h"

namespace asmevo::codeobject {

using Json = nlohmann::ordered_json;

namespace {

Json occupancy_json(const Occupancy& o) {
  return {{"waves_per_simd", o.waves_per_simd},
          {"limited_by", o.limiters},
          {"waves_per_workgroup", o.waves_per_workgroup},
          {"waves_per_simd_by_vgprs", o.by_vgprs},
          {"workgroups_per_cu", o.workgroups},
          {"workgroups_per_cu_by_vgprs", o.workgroups_by_vgprs},
          {"workgroups_per_cu_by_lds", o.workgroups_by_lds},
          {"workgroups_per_cu_by_slots", o.workgroups_by_slots}};
}

Json argument_json(const KernelArgument& a) {
  return {{"name", a.name},
          {"offset", a.offset},
          {"size", a.size},
          {"value_kind", a.value_kind},
          {"address_space", a.address_space},
          {"access", a.access},
          {"hidden", a.hidden()}};
}

Json kernel_json(const CodeObject& object, const KernelInspection& k) {
  Json descriptor = Json::object(), user_sgprs = Json::array(), arguments = Json::array();
  for (const DescriptorField& field : descriptor_fields(object.target())) {
    const uint64_t value = get(k.kernel->descriptor, field);
    if (field.word == DescriptorField::Word::EntryOffset)
      descriptor[std::string(field.name)] = static_cast<int64_t>(value);
    else
      descriptor[std::string(field.name)] = value;
  }
  for (const auto& [name, count] : k.user_sgprs) user_sgprs.push_back({{"name", name}, {"count", count}});
  if (k.metadata)
    for (const KernelArgument& argument : k.metadata->args) arguments.push_back(argument_json(argument));
  return {{"name", k.kernel->name},
          {"section", k.section},
          {"entry", k.kernel->entry},
          {"code_bytes", k.code_size},
          {"descriptor_address", k.kernel->descriptor_address},
          {"vgprs", k.vgprs},
          {"arch_vgprs", k.arch_vgprs},
          {"acc_vgprs", k.acc_vgprs},
          {"sgprs", k.sgprs},
          {"lds_bytes", k.lds_bytes},
          {"scratch_bytes", k.scratch_bytes},
          {"kernarg_bytes", k.kernarg_bytes},
          {"workgroup_size", k.workgroup_size},
          {"user_sgprs", std::move(user_sgprs)},
          {"occupancy", occupancy_json(k.occupancy)},
          {"arguments", std::move(arguments)},
          {"descriptor", std::move(descriptor)},
          {"metadata", k.kernel->metadata_index
                           ? object.metadata()->document()["amdhsa.kernels"][*k.kernel->metadata_index]
                           : Json()},
          {"notes", k.notes}};
}

} // namespace

Json inspection_json(const CodeObject& object, const Inspection& inspection) {
  Json sections = Json::array(), kernels = Json::array();
  for (const Section& s : object.sections())
    sections.push_back({{"name", s.name},
                        {"type", s.type},
                        {"flags", s.flags},
                        {"address", s.address},
                        {"offset", s.offset},
                        {"size", s.size},
                        {"alignment", s.alignment}});
  for (const KernelInspection& kernel : inspection.kernels) kernels.push_back(kernel_json(object, kernel));
  return {{"code_object_version", object.version()}, {"target", object.target().id()},
          {"generic", object.target().generic},      {"e_flags", object.elf_flags()},
          {"bytes", object.bytes().size()},          {"kernels", std::move(kernels)},
          {"sections", std::move(sections)},         {"notes", inspection.notes}};
}

} // namespace asmevo::codeobject
