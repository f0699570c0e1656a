#include "rebuild/assembly.h"
#include "rebuild/assembly_fixture.h"

#include <gmock/gmock.h>

#include <elf.h>
#include <random>

namespace asmevo::rebuild {
namespace {

using codeobject::CodeObject;
using codeobject::Kernel;
using testing::HasSubstr;
using testing::Not;

size_t count(std::string_view text, std::string_view word) {
  size_t n = 0;
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

// --- objects that clang makes ---

struct Made {
  std::string target;
  int version, optimisation;
};

class ClangObjects : public testing::TestWithParam<Made> {};

TEST_P(ClangObjects, ComeBack) {
  const auto& [target, version, optimisation] = GetParam();
  const CodeObject object = parse(samples::compile(target, version, optimisation, rich_source));
  const ThereAndBack made = expect_same(object);
  EXPECT_THAT(made.text, HasSubstr(fmt::format(".amdhsa_code_object_version {}\n", version)));
  EXPECT_THAT(made.text, HasSubstr("exported"));
  EXPECT_EQ(count(made.text, "\t.amdhsa_kernel "), 2U);
  EXPECT_THAT(made.text, Not(HasSubstr("as bytes")));
}

INSTANTIATE_TEST_SUITE_P(Assembly, ClangObjects,
                         testing::Values(Made{"gfx90a", 4, 1}, Made{"gfx90a", 5, 0}, Made{"gfx90a", 6, 3},
                                         Made{"gfx942", 4, 0}, Made{"gfx942", 5, 1}, Made{"gfx942", 5, 3},
                                         Made{"gfx942", 6, 0}, Made{"gfx950", 4, 3}, Made{"gfx950", 5, 0},
                                         Made{"gfx950", 6, 1}, Made{"gfx90a:xnack+", 5, 1},
                                         Made{"gfx942:sramecc-:xnack-", 4, 1}, Made{"gfx9-4-generic", 6, 1}));

TEST(Assembly, GoesThroughTheGotWhereK0Does) {
  const ThereAndBack made = expect_same(parse(samples::compile("gfx942", 5, 0, rich_source)));
  EXPECT_THAT(made.text, HasSubstr("_Z8exportedi@gotpcrel32@lo+4"));
  EXPECT_THAT(made.text, HasSubstr("visible@gotpcrel32@hi+12"));
  EXPECT_THAT(made.text, HasSubstr("numbers@rel32@lo+4"));
  EXPECT_THAT(made.text, HasSubstr("\t.quad _Z6triplei\n"));
}

// The point of the route: other people's tools take the text and give the same bytes as this program.
TEST(Assembly, ExternalToolsGiveTheSameBytes) {
  for (const auto& [target, version] :
       {std::pair("gfx90a", 4), std::pair("gfx942", 5), std::pair("gfx950", 6)}) {
    const CodeObject object = parse(samples::compile(target, version, 1, rich_source));
    const ThereAndBack made = expect_same(object);
    EXPECT_EQ(build(made.text, target), made.rebuilt) << target;
  }
  const CodeObject pinned = parse(samples::compile("gfx90a:xnack+", 5, 1, rich_source));
  EXPECT_EQ(build(expect_same(pinned).text, "gfx90a:xnack+"), expect_same(pinned).rebuilt);
}

TEST(Assembly, KeepsLabelsAndWritesNoSizeWhereThereIsNone) {
  const ThereAndBack made = expect_same(parse(samples::assemble()));
  EXPECT_THAT(made.text, HasSubstr("\nlabel_0008:\n"));
  EXPECT_THAT(made.text, Not(HasSubstr(".size plain,")));
}

// --- what the linker decides ---

TEST(Assembly, LiteralsMayFollowTheLinker) {
  const auto source = samples::save("moved.hip", as_bytes(rich_source)), text = samples::folder() / "moved.s";
  const samples::Run compiled = samples::run(fmt::format(
      "{}clang -x hip --offload-device-only --offload-arch=gfx942 -nogpuinc -nogpulib -S -O1 {} -o {}",
      samples::llvm, source.string(), text.string()));
  ASSERT_EQ(compiled.code, 0) << compiled.output;
  const Bytes assembly = samples::read(text);
  for (const char* flags :
       {"-z max-page-size=0x10000", "--hash-style=sysv -z norelro", "--image-base=0x1000000"}) {
    const CodeObject object = parse(build(as_text(assembly), "gfx942", flags));
    const ThereAndBack made = expect_same(object);
    EXPECT_TRUE(masks(made.comparison, "literals behind s_getpc_b64") ||
                std::string_view(flags).starts_with("--image-base"))
        << flags;
  }
  const ThereAndBack stripped = expect_same(parse(build(as_text(assembly), "gfx942", "-s")));
  EXPECT_TRUE(masks(stripped.comparison, ".symtab"));
  const auto packed = text_of(parse(build(as_text(assembly), "gfx942", "--pack-dyn-relocs=relr")));
  ASSERT_FALSE(packed);
  EXPECT_EQ(packed.error().kind, ErrorKind::Unsupported);
  EXPECT_THAT(packed.error().message, HasSubstr(".relr.dyn"));
}

// --- kernel descriptors ---

// Bits at random, in the fields as well as in what is reserved: whatever directives cannot say must be
// written as bytes.
TEST(Assembly, AnyDescriptorComesBack) {
  std::mt19937 random(1);
  size_t as_directives = 0, as_bytes = 0;
  for (const auto* target : {"gfx90a", "gfx942", "gfx950"}) {
    std::string source(samples::asm_source);
    source.replace(source.find("gfx942"), 6, target);
    const Bytes original = build(source, target);
    const CodeObject k0 = parse(original);
    for (int round = 0; round < 60; ++round) {
      Bytes bytes = original;
      const codeobject::Section& rodata = k0.sections()[*k0.find_section(".rodata")];
      const Kernel& kernel = k0.kernels()[static_cast<size_t>(round) % k0.kernels().size()];
      const uint64_t at = kernel.descriptor_address - rodata.address + rodata.offset;
      const bool in_fields = round % 2 == 0;
      // Offsets 48 to 55 are COMPUTE_PGM_RSRC1 and 2; 16 to 23 are the entry, which has to stay.
      const uint64_t byte = in_fields ? 48 + random() % 8 : random() % 64;
      if (byte >= 16 && byte < 24) continue;
      bytes[at + byte] ^= static_cast<uint8_t>(1U << random() % 8);
      auto changed = CodeObject::parse(std::move(bytes));
      if (!changed) continue; // wave32
      const ThereAndBack made = expect_same(*changed);
      (made.text.find("descriptor as bytes") == std::string::npos ? as_directives : as_bytes) += 1;
    }
  }
  EXPECT_GT(as_directives, 20U);
  EXPECT_GT(as_bytes, 20U);
}

// --- names ---

TEST(Assembly, NamesThatAreNoWords) {
  const Bytes object = build(R"(
  .amdgcn_target "amdgcn-amd-amdhsa--gfx942"
  .amdhsa_code_object_version 5
  .text
  .globl "a kernel, quoted"
  .p2align 8
  .type "a kernel, quoted",@function
"a kernel, quoted":
  s_cbranch_scc0 "v0"
  s_getpc_b64 s[4:5]
  s_add_u32 s4, s4, "s3"@rel32@lo+4
  s_addc_u32 s5, s5, "s3"@rel32@hi+12
  s_getpc_b64 s[6:7]
  s_add_u32 s6, s6, "f.llvm.12"@rel32@lo+4
  s_addc_u32 s7, s7, "f.llvm.12"@rel32@hi+12
"v0":
"exec":
  s_branch "v0"
"1st":
  s_endpgm
  .type f.llvm.12,@function
f.llvm.12:
  s_setpc_b64 s[30:31]
  .size f.llvm.12, .-f.llvm.12
  .data
  .type "s3",@object
"s3":
  .long 1
  .size "s3", 4
"what \"this\" is":
  .quad "s3"+2
  .section .rodata
  .p2align 6
  .amdhsa_kernel "a kernel, quoted"
    .amdhsa_next_free_vgpr 8
    .amdhsa_next_free_sgpr 8
    .amdhsa_accum_offset 8
  .end_amdhsa_kernel
)",
                             "gfx942");
  const CodeObject k0 = parse(object);
  ASSERT_EQ(k0.kernels().size(), 1U);
  expect_same(k0);
}

TEST(Assembly, TwoSymbolsOfOneNameAreRefused) {
  const auto one = samples::save("one.s", as_bytes(".text\n.p2align 8\nhere:\n s_endpgm\n"));
  const auto a = samples::folder() / "one.o", out = samples::folder() / "two.co";
  const samples::Run made = samples::run(fmt::format(
      "{0}clang -target amdgcn-amd-amdhsa -mcpu=gfx942 -c -x assembler {1} -o {2} && cp {2} {2}.b && "
      "{0}ld.lld -shared {2} {2}.b -o {3}",
      samples::llvm, one.string(), a.string(), out.string()));
  ASSERT_EQ(made.code, 0) << made.output;
  const auto text = text_of(parse(samples::read(out)));
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, ErrorKind::Unsupported);
  EXPECT_THAT(text.error().message, HasSubstr("'here' is defined twice"));
}

// --- what text cannot say ---

TEST(Assembly, DeadBitsAndWordsThatDoNotAssemble) {
  // v_mfma_scale_f32_16x16x128_f8f6f4 with f4 operands and dead op_sel bits 13 and 14 set, as production
  // kernels have it; zeros between functions, which decode as an instruction that breaks the constant bus
  // rule.
  const std::string clean =
      "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:7], v[8:11], v[0:3], v12, v13 op_sel_hi:[0,0,0] "
      "cbsz:4 blgp:4";
  const std::string frame = "  .amdgcn_target \"amdgcn-amd-amdhsa--gfx950\"\n  .text\n  .p2align 8\nplace:\n";
  const Bytes reference = build(frame + clean + "\n  s_endpgm\n  .zero 64\n  s_endpgm\n", "gfx950");
  const CodeObject k0 = parse(reference);
  EXPECT_THAT(expect_same(k0).text, HasSubstr("\t.zero 64\n"));
  Bytes bytes = reference;
  const codeobject::Section& text = k0.sections()[*k0.find_section(".text")];
  bytes[text.offset + 1] ^= 0x60;
  const ThereAndBack made = expect_same(parse(std::move(bytes)));
  EXPECT_THAT(made.text, HasSubstr("\t.long 0x"));
  EXPECT_THAT(made.text, HasSubstr("// v_mfma_scale_f32_16x16x128_f8f6f4"));
}

// Literals of 16-bit operands whose other half text does not give; one with, and one that text gives whole.
TEST(Assembly, LiteralsWithAnUnusedHalf) {
  const std::string frame = "  .amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n  .text\n  .p2align 8\nplace:\n";
  const ThereAndBack made =
      expect_same(parse(build(frame + "  .long 0x520202ff, 0xffffaaab\n  v_mul_lo_u16_e32 v1, 0xaaab, v1\n"
                                      "  v_mul_lo_u32 v1, v1, v1\n  s_mov_b32 s0, 0xffffaaab\n  s_endpgm\n",
                              "gfx942")));
  EXPECT_THAT(made.text, HasSubstr("\t.long 0x520202ff, 0xffffaaab // v_mul_lo_u16_e32 v1, 0xaaab, v1\n"));
  EXPECT_THAT(made.text, HasSubstr("\tv_mul_lo_u16_e32 v1, 0xaaab, v1\n"));
  EXPECT_THAT(made.text, HasSubstr("\ts_mov_b32 s0, 0xffffaaab\n"));
}

TEST(Assembly, MetadataThatLlvmWouldWriteDifferently) {
  // {"b": 1, "a": 2}: keys out of order, and none that LLVM asks for.
  const CodeObject k0 =
      parse(build(".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n.text\n.p2align 8\n s_endpgm\n"
                  ".section .note,\"a\",@note\n.p2align 2\n.long 7, 7, 32\n.asciz \"AMDGPU\"\n"
                  ".p2align 2\n.byte 0x82, 0xa1, 0x62, 1, 0xa1, 0x61, 2\n.p2align 2\n",
                  "gfx942"));
  ASSERT_TRUE(k0.metadata_note());
  EXPECT_THAT(expect_same(k0).text, HasSubstr(".section .note"));
}

TEST(Assembly, V3IsRefused) {
  Bytes bytes = samples::compile("gfx90a", 4, 1, rich_source);
  bytes[EI_ABIVERSION] = 1; // V3, whose e_flags have other bits for the features
  store<uint32_t>(bytes, offsetof(Elf64_Ehdr, e_flags), 0x3f | 0x100);
  const auto text = text_of(parse(std::move(bytes)));
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, ErrorKind::Unsupported);
  EXPECT_THAT(text.error().message, HasSubstr("V3"));
}

// --- text of other people ---

TEST(AssembleText, ErrorsNameThePlace) {
  const std::string head = "  .amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n";
  const auto error_of = [](const std::string& text) {
    const auto made = assemble_in_child(text, "k.s");
    EXPECT_FALSE(made);
    const Error error = made ? Error{ErrorKind::Internal, "it assembled"} : made.error();
    EXPECT_EQ(error.exit_code(), 2);
    EXPECT_EQ(error.message.find('\n'), std::string::npos);
    return error.message;
  };
  EXPECT_EQ(error_of(head + "  s_nop 0\n  v_fly v0, v1\n"), "k.s:3:3: invalid instruction");
  EXPECT_THAT(error_of("  s_nop 0\n"), HasSubstr("k.s: no .amdgcn_target"));
  EXPECT_THAT(error_of("\n .amdgcn_target gfx942\n"), HasSubstr("k.s:2:1"));
  EXPECT_THAT(error_of(".amdgcn_target \"amdgcn-amd-amdhsa--gfx1030\"\n"), HasSubstr("k.s:1:16: target"));
  EXPECT_THAT(
      error_of(head + ".globl g\n.hidden g\n.text\n s_getpc_b64 s[0:1]\n s_add_u32 s0, s0, g@rel32@lo+4\n"),
      HasSubstr("k.s: linking: undefined hidden symbol: g"));
  EXPECT_THAT(error_of(head + ".incbin \"/nowhere\"\n"), HasSubstr("k.s:2:"));
  EXPECT_FALSE(error_of(std::string(100000, '(')).empty());
  EXPECT_FALSE(error_of("").empty());
}

// In process these would end the program.
TEST(AssembleText, TextThatEndsTheAssembler) {
  const std::string head = "  .amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n";
  const auto memory = assemble_in_child(head + ".text\n.zero 0x7fffffffffff\n", "k.s");
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().exit_code(), 2);
  const auto version = assemble_in_child(head + ".amdhsa_code_object_version 3\n.text\n s_endpgm\n", "k.s");
  ASSERT_FALSE(version);
  EXPECT_THAT(version.error().message, HasSubstr("k.s"));
}

TEST(AssembleText, ChildAndProcessAgree) {
  const ThereAndBack made = expect_same(parse(samples::compile("gfx942", 5, 1, rich_source)));
  const auto again = assemble_in_child(made.text, "k.s");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, made.rebuilt);
}

} // namespace
} // namespace asmevo::rebuild
