#include "codeobject/code_object.h"
#include "codeobject/container.h"
#include "codeobject/metadata.h"
#include "codeobject/samples.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>

namespace asmevo::codeobject {
namespace {

using Json = nlohmann::ordered_json;

ByteSpan note_of(const CodeObject& object) {
  return object.bytes().subspan(object.metadata_note()->offset, object.metadata_note()->size);
}

Bytes packed(const Json& document) {
  return Json::to_msgpack(document);
}

// Keys in LLVM's order.
Json one_kernel() {
  return Json::parse(R"({"amdhsa.kernels": [{
    ".args": [{".address_space": "global", ".name": "p", ".offset": 0, ".size": 8, ".value_kind": "global_buffer"},
              {".name": "123", ".offset": 8, ".size": 4, ".value_kind": "by_value"}],
    ".group_segment_fixed_size": 1024, ".kernarg_segment_align": 8, ".kernarg_segment_size": 12,
    ".max_flat_workgroup_size": 256, ".name": "k", ".private_segment_fixed_size": 0, ".sgpr_count": 20,
    ".symbol": "k.kd", ".vgpr_count": 70000, ".wavefront_size": 64}], "amdhsa.version": [1, 2]})");
}

// The note that the assembler makes of YAML.
Bytes assembled_note(const std::string& yaml) {
  const auto in = samples::save("note.s", as_bytes(".amdhsa_code_object_version 5\n.amdgpu_metadata\n" +
                                                   yaml + ".end_amdgpu_metadata\n"));
  const auto out = samples::folder() / "note.o", section = samples::folder() / "note.bin";
  const auto assembled =
      samples::run(fmt::format("{0}clang --target=amdgcn-amd-amdhsa -mcpu=gfx942 -c {1} -o {2} && "
                               "{0}llvm-objcopy --dump-section .note={3} {2}",
                               samples::llvm, in.string(), out.string(), section.string()));
  EXPECT_EQ(assembled.code, 0) << assembled.output;
  const Bytes bytes = samples::read(section);
  const auto size = load<uint32_t>(bytes, 4);
  const auto contents = size ? slice(bytes, 20, *size) : std::nullopt;
  EXPECT_TRUE(contents);
  return contents ? Bytes(contents->begin(), contents->end()) : Bytes();
}

TEST(Metadata, WritesTheNoteItRead) {
  for (const int version : {4, 5, 6}) {
    const auto object = CodeObject::parse(samples::compile("gfx90a", version));
    ASSERT_TRUE(object) << object.error().message;
    EXPECT_TRUE(std::ranges::equal(object->metadata()->write(), note_of(*object)));
  }
}

TEST(Metadata, WritesTheNotesOfLibrocrand) {
  const std::string library = "/usr/lib/x86_64-linux-gnu/librocrand.so.1.1";
  if (!std::filesystem::exists(library)) GTEST_SKIP() << library << " (package librocrand1) is not installed";
  const auto container = Container::open(library);
  ASSERT_TRUE(container) << container.error().message;
  size_t kernels = 0;
  for (const ContainedObject& contained : container->objects()) {
    if (!contained.target_id.starts_with("gfx90a")) continue;
    const auto object = CodeObject::parse(*contained.read());
    ASSERT_TRUE(object) << object.error().message;
    EXPECT_TRUE(std::ranges::equal(object->metadata()->write(), note_of(*object)));
    kernels += object->kernels().size();
  }
  EXPECT_EQ(kernels, 160U);
}

TEST(Metadata, WritesTheNotesOfAiter) {
  size_t same = 0;
  const auto files = samples::aiter_objects();
  for (const auto& file : files) {
    const auto object = CodeObject::parse(samples::read(file));
    ASSERT_TRUE(object) << file << ": " << object.error().message;
    ASSERT_EQ(object->kernels().size(), 1U) << file;
    same += std::ranges::equal(object->metadata()->write(), note_of(*object));
  }
  EXPECT_EQ(same, files.size());
}

TEST(Metadata, YamlIsWhatTheAssemblerTakes) {
  for (const int version : {5, 6}) {
    const auto object = CodeObject::parse(samples::compile("gfx942", version));
    EXPECT_TRUE(std::ranges::equal(assembled_note(object->metadata()->yaml()), note_of(*object)));
  }
  // Strings that look like something else.
  for (const char* name : {"123", "0x10", "true", "null", "~", "a: b", "- a", "'", "\"", "#x", "", " a ",
                           "1e3", "[a]", "!str", "ä"}) {
    Json document = one_kernel();
    document["amdhsa.kernels"][0][".args"][0][".name"] = name;
    const auto metadata = Metadata::parse(packed(document));
    ASSERT_TRUE(metadata) << metadata.error().message;
    EXPECT_EQ(assembled_note(metadata->yaml()), metadata->write()) << name << "\n" << metadata->yaml();
  }
}

TEST(Metadata, KernelsAreTyped) {
  const auto metadata = Metadata::parse(packed(one_kernel()));
  ASSERT_TRUE(metadata) << metadata.error().message;
  const auto kernels = metadata->kernels();
  ASSERT_TRUE(kernels);
  ASSERT_EQ(kernels->size(), 1U);
  const KernelMetadata& k = kernels->front();
  EXPECT_EQ(k.name, "k");
  EXPECT_EQ(k.symbol, "k.kd");
  EXPECT_EQ(k.kernarg_segment_size, 12U);
  EXPECT_EQ(k.group_segment_fixed_size, 1024U);
  EXPECT_EQ(k.max_flat_workgroup_size, 256U);
  EXPECT_EQ(k.vgpr_count, 70000U);
  EXPECT_EQ(k.sgpr_count, 20U);
  EXPECT_FALSE(k.agpr_count);
  ASSERT_EQ(k.args.size(), 2U);
  EXPECT_TRUE(k.args[0].pointer());
  EXPECT_EQ(k.args[1].name, "123");
  EXPECT_EQ(k.args[1].offset, 8U);
}

TEST(Metadata, SetKeepsLlvmsKeyOrder) {
  auto metadata = *Metadata::parse(packed(one_kernel()));
  metadata.set(0, ".vgpr_count", 12);
  EXPECT_EQ(metadata.document()["amdhsa.kernels"][0][".vgpr_count"], 12);
  const Bytes before = metadata.write();
  metadata.set(0, ".agpr_count", 8);
  metadata.set(7, ".vgpr_count", 8);
  EXPECT_EQ(metadata.write(), before)
      << "an absent key of a present kernel, a present key of an absent kernel";
  for (const char* key : {".agpr_count", ".vgpr_spill_count", ".zzz", ".sgpr_spill_count"})
    metadata.set(0, key, 3, false);
  const auto kernels = metadata.kernels();
  EXPECT_EQ(kernels->front().agpr_count, 3U);
  EXPECT_EQ(kernels->front().vgpr_spill_count, 3U);
  EXPECT_EQ(kernels->front().args.size(), 2U);
  EXPECT_EQ(assembled_note(metadata.yaml()), metadata.write());
}

std::string refusal(ByteSpan bytes) {
  const auto metadata = Metadata::parse(bytes);
  if (metadata) return "accepted";
  EXPECT_EQ(metadata.error().kind, ErrorKind::BadInput);
  EXPECT_EQ(metadata.error().message.find('\n'), std::string::npos);
  return metadata.error().message;
}

TEST(Metadata, RefusesWhatIsNoNote) {
  const Bytes good = packed(one_kernel());
  ASSERT_EQ(refusal(good), "accepted");
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(refusal(ByteSpan(good).first(size)), "accepted") << size;
  Bytes longer = good;
  longer.push_back(0);
  EXPECT_THAT(refusal(longer), testing::HasSubstr("after its map"));
  EXPECT_THAT(refusal(Bytes{0x90}), testing::HasSubstr("not a map"));
  EXPECT_THAT(refusal(Bytes{0xc1}), testing::HasSubstr("not MessagePack"));
  EXPECT_THAT(refusal(Bytes{0x81, 0x01, 0x01}), testing::HasSubstr("not a string"));
  EXPECT_THAT(refusal(Bytes{0x82, 0xa1, 'a', 1, 0xa1, 'a', 2}), testing::HasSubstr("twice"));
  EXPECT_THAT(refusal(Bytes{0x81, 0xa1, 'a', 0xca, 0, 0, 0, 0}), testing::HasSubstr("type"));
  EXPECT_THAT(refusal(Bytes{0x81, 0xa1, 'a', 0xd4, 0, 0}), testing::HasSubstr("type"));
}

TEST(Metadata, HostileCountsCostNothing) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(refusal(Bytes{0xdf, 0xff, 0xff, 0xff, 0xff}), testing::HasSubstr("claims"));
  EXPECT_THAT(refusal(Bytes{0x81, 0xa1, 'a', 0xdd, 0xff, 0xff, 0xff, 0xff}), testing::HasSubstr("claims"));
  EXPECT_NE(refusal(Bytes{0x81, 0xa1, 'a', 0xdb, 0xff, 0xff, 0xff, 0xff, 'a'}), "accepted");
  Bytes deep = {0x81, 0xa1, 'a'};
  deep.insert(deep.end(), 1'000'000, 0x91);
  EXPECT_THAT(refusal(deep), testing::HasSubstr("deep"));
  Bytes wide = {0x81, 0xa1, 'a', 0xde, 0xff, 0xff};
  wide.insert(wide.end(), 200'000, 0xa0);
  EXPECT_THAT(refusal(wide), testing::HasSubstr("keys"));
  Bytes many = {0x81, 0xa1, 'a', 0xdd, 0, 0x98, 0x96, 0x80}; // ten million values
  many.insert(many.end(), 10'000'000, 0x01);
  EXPECT_THAT(refusal(many), testing::HasSubstr("more than"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Metadata, RefusesWrongTypes) {
  const auto with = [](const char* key, Json value) {
    Json document = one_kernel();
    document["amdhsa.kernels"][0][key] = std::move(value);
    return refusal(packed(document));
  };
  EXPECT_THAT(with(".name", 1), testing::HasSubstr(".name"));
  EXPECT_THAT(with(".vgpr_count", "12"), testing::HasSubstr(".vgpr_count"));
  EXPECT_THAT(with(".vgpr_count", -1), testing::HasSubstr(".vgpr_count"));
  EXPECT_THAT(with(".args", 1), testing::HasSubstr(".args"));
  EXPECT_THAT(with(".args", Json::array({1})), testing::HasSubstr("argument 0"));
  EXPECT_THAT(with(".args", Json::parse(R"([{".offset": "x"}])")), testing::HasSubstr(".offset"));
  EXPECT_THAT(with(".args", Json::parse(R"([{".offset": 18446744073709551615, ".size": 8}])")),
              testing::HasSubstr("past"));
  EXPECT_THAT(with(".args", Json::parse(R"([{".offset": 0, ".size": 8}, {".offset": 4, ".size": 4}])")),
              testing::HasSubstr("overlaps"));
  EXPECT_EQ(
      with(".args",
           Json::parse(
               R"([{".offset": 8, ".size": 8}, {".offset": 0, ".size": 8}, {".offset": 4, ".size": 0}])")),
      "accepted");
  EXPECT_THAT(with(".reqd_workgroup_size", Json::array({1, 2})), testing::HasSubstr("three"));
  EXPECT_EQ(with(".unknown_key", Json::array({"x"})), "accepted");
  EXPECT_THAT(refusal(packed({{"amdhsa.kernels", 1}})), testing::HasSubstr("amdhsa.kernels"));
  EXPECT_THAT(refusal(packed({{"amdhsa.kernels", Json::array({1})}})), testing::HasSubstr("kernel 0"));
  EXPECT_THAT(refusal(packed({{"amdhsa.kernels", Json::array({Json::object()})}})),
              testing::HasSubstr("no name"));
  EXPECT_EQ(refusal(packed(Json::object())), "accepted");
}

} // namespace
} // namespace asmevo::codeobject
