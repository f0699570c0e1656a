#include "base/random.h"
#include "codeobject/code_object.h"
#include "codeobject/kernel_descriptor.h"
#include "codeobject/samples.h"

#include <algorithm>

namespace asmevo::codeobject {
namespace {

isa::Target target(std::string_view id) {
  return *isa::Target::from_id(id);
}

TEST(KernelDescriptor, DecodeAndEncodeAreInverse) {
  RandomStream random(1);
  for (int round = 0; round < 1000; ++round) {
    std::array<uint8_t, KernelDescriptor::size> bytes{};
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.next());
    const auto descriptor = KernelDescriptor::decode(bytes);
    ASSERT_TRUE(descriptor);
    EXPECT_EQ(descriptor->encode(), bytes);
  }
  EXPECT_FALSE(KernelDescriptor::decode(Bytes(63)));
  EXPECT_FALSE(KernelDescriptor::decode(Bytes(65)));
}

TEST(KernelDescriptor, FieldsDoNotOverlapAndLeaveTheRestAlone) {
  for (const char* gpu : {"gfx90a", "gfx942", "gfx950"}) {
    KernelDescriptor all;
    for (const DescriptorField& field : descriptor_fields(target(gpu))) {
      KernelDescriptor one;
      set(one, field, ~uint64_t{0});
      const auto bits = one.encode(), before = all.encode();
      int count = 0;
      for (size_t i = 0; i < bits.size(); ++i) {
        EXPECT_EQ(bits[i] & before[i], 0) << field.name;
        count += std::popcount(bits[i]);
      }
      EXPECT_EQ(count, field.width) << field.name;
      set(all, field, ~uint64_t{0});
      EXPECT_EQ(get(all, field), get(one, field)) << field.name;
      set(one, field, 0);
      EXPECT_EQ(one, KernelDescriptor{}) << field.name;
    }
    EXPECT_EQ(reserved_bits(all, target(gpu)), KernelDescriptor{});
  }
}

// What the directive takes: the field's value, but for registers.
uint64_t directive_value(const DescriptorField& field) {
  if (field.name == "accum_offset") return 24;
  if (field.name == "user_sgpr_count") return 11;
  if (field.name == "enable_vgpr_workitem_id") return 2;
  if (field.name == "kernarg_preload_spec_offset") return 0;
  if (field.width == 32) return 4096;
  return field.width <= 2 ? 1 : 3; // 1 is no default of any two-bit field
}
uint64_t field_value(const DescriptorField& field) {
  return field.name == "accum_offset" ? 24 / 4 - 1 : directive_value(field);
}

// Every directive of the table through the assembler: it sets the field it is said to set and no other (but
// the count of user SGPRs, and what the assembler sets without being asked, which the first kernel shows).
TEST(KernelDescriptor, FieldsAreThoseOfTheAssembler) {
  for (const char* gpu : {"gfx90a", "gfx942", "gfx950"}) {
    const auto& fields = descriptor_fields(target(gpu));
    std::string source = ".amdhsa_code_object_version 5\n.text\n", descriptors = ".rodata\n";
    const auto add = [&](std::string_view name, const std::string& directive) {
      source += fmt::format(".globl {0}\n.p2align 8\n.type {0},@function\n{0}:\n  s_endpgm\n", name);
      descriptors += fmt::format(
          ".amdhsa_kernel {}\n.amdhsa_next_free_vgpr 32\n.amdhsa_next_free_sgpr 16\n"
          "{}{}.end_amdhsa_kernel\n",
          name, directive.starts_with(".amdhsa_accum_offset") ? "" : ".amdhsa_accum_offset 32\n", directive);
    };
    // Set by default, so that "off" is what shows them.
    const auto on_by_default = [](const DescriptorField& f) {
      return f.name == "enable_dx10_clamp" || f.name == "enable_ieee_mode" ||
             f.name == "enable_sgpr_workgroup_id_x";
    };
    add("base", "");
    for (const DescriptorField& field : fields)
      if (!field.directive.empty())
        add(fmt::format("k_{}", field.name),
            fmt::format("{} {}\n", field.directive, on_by_default(field) ? 0 : directive_value(field)));
    const auto in = samples::save("fields.s", as_bytes(source + descriptors)),
               out = samples::folder() / "fields.co";
    const auto linked =
        samples::run(fmt::format("{}clang --target=amdgcn-amd-amdhsa -mcpu={} -nogpulib {} -o {}",
                                 samples::llvm, gpu, in.string(), out.string()));
    ASSERT_EQ(linked.code, 0) << linked.output;
    const auto object = CodeObject::parse(samples::read(out));
    ASSERT_TRUE(object) << object.error().message;
    const KernelDescriptor base = object->find_kernel("base")->descriptor;
    for (const DescriptorField& field : fields) {
      if (field.directive.empty()) continue;
      const Kernel* kernel = object->find_kernel(fmt::format("k_{}", field.name));
      ASSERT_NE(kernel, nullptr) << field.name;
      EXPECT_EQ(get(kernel->descriptor, field), on_by_default(field) ? 0 : field_value(field))
          << gpu << " " << field.name;
      for (const DescriptorField& other : fields) {
        const bool follows =
            other.word == DescriptorField::Word::EntryOffset || other.name == "user_sgpr_count" ||
            (field.name == "kernarg_preload_spec_length" && other.word == DescriptorField::Word::Properties);
        if (other.name != field.name && !follows) {
          EXPECT_EQ(get(kernel->descriptor, other), get(base, other))
              << gpu << " " << field.directive << " and " << other.name;
        }
      }
    }
  }
}

TEST(KernelDescriptor, RegisterCountsAreThoseOfTheCompiler) {
  for (const char* gpu : {"gfx90a", "gfx942", "gfx950"}) {
    const auto object = CodeObject::parse(samples::compile(gpu));
    ASSERT_TRUE(object) << object.error().message;
    const auto metadata = *object->metadata()->kernels();
    ASSERT_EQ(object->kernels().size(), 2U);
    for (const Kernel& kernel : object->kernels()) {
      const KernelMetadata& m = metadata[*kernel.metadata_index];
      EXPECT_EQ(allocated_vgprs(kernel.descriptor, object->target()), align_up(*m.vgpr_count, 8));
      EXPECT_GE(allocated_sgprs(kernel.descriptor, object->target()), *m.sgpr_count);
      EXPECT_EQ(kernel.descriptor.kernarg_size, m.kernarg_segment_size);
      EXPECT_EQ(accum_offset(kernel.descriptor, object->target()),
                align_up(*m.vgpr_count - *m.agpr_count, 4));
    }
  }
}

} // namespace
} // namespace asmevo::codeobject
