// Launch files: the documented example, what is written reads back, and each mistake with its line and key.
#include "base/files.h"
#include "oracle/launch_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace asmevo::oracle {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string example() {
  const auto bytes = read_file(ASMEVO_SOURCE_DIR "/docs/launch-spec.md");
  EXPECT_TRUE(bytes);
  const std::string text(bytes->begin(), bytes->end());
  const std::string open = "```toml\n";
  const size_t start = text.find(open) + open.size();
  return text.substr(start, text.find("```", start) - start);
}

// A small file that is right; tests put one line wrong.
const std::string good = R"toml([sizes]
n = 8
[[buffer]]
name = "x"
dtype = "f32"
shape = ["n"]
role = "in"
init = "ones"
[[buffer]]
name = "y"
dtype = "f32"
shape = ["n"]
role = "out"
[[arg]]
buffer = "x"
[[step]]
grid = 1
workgroup = 64
)toml";

std::string with(std::string_view from, std::string_view to) {
  std::string text = good;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

Result<LaunchPlan> plan(const std::string& text, const std::string& shape = {}) {
  ASMEVO_TRY(LaunchSpec spec, LaunchSpec::parse(text, "launch.toml"));
  return LaunchPlan::make(std::move(spec), shape);
}

std::string error(const std::string& text, const std::string& shape = {}) {
  const auto made = plan(text, shape);
  if (made) {
    ADD_FAILURE() << "accepted:\n" << text;
    return {};
  }
  EXPECT_EQ(made.error().kind, ErrorKind::BadInput);
  EXPECT_EQ(made.error().message.find('\n'), std::string::npos) << made.error().message;
  return made.error().message;
}

TEST(LaunchSpec, TheDocumentedExampleReads) {
  const auto spec = LaunchSpec::parse(example(), "launch.toml");
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->targets.size(), 3U);
  EXPECT_EQ(spec->buffers.size(), 7U);
  EXPECT_EQ(spec->steps.size(), 3U);
  EXPECT_EQ(spec->steps[0].steps.size(), 2U);
  for (const std::string shape : {"", "tiny", "odd.one", "odd.prime"}) {
    const auto made = plan(example(), shape);
    ASSERT_TRUE(made) << made.error().message;
    const int64_t n = shape.empty() ? 1000 : shape == "tiny" ? 100 : shape == "odd.one" ? 1 : 997;
    EXPECT_EQ(std::get<int64_t>(made->sizes.find("n")->second), n);
    EXPECT_EQ(std::get<int64_t>(made->sizes.find("workgroups")->second), (n + 255) / 256);
    const PlannedBuffer& history = made->buffers[*made->find("history")];
    EXPECT_EQ(history.bytes, 4U * static_cast<uint64_t>(2 * ((n + 63) / 64 * 64) + n));
    EXPECT_EQ(made->buffers[*made->find("rows")].pointers.size(), 3U);
  }
}

TEST(LaunchSpec, TheLimitsInTheDocumentationAreNamed) {
  const auto bytes = read_file(ASMEVO_SOURCE_DIR "/docs/launch-spec.md");
  ASSERT_TRUE(bytes);
  const std::string text(bytes->begin(), bytes->end());
  for (const InitForm& form : init_forms()) EXPECT_THAT(text, HasSubstr(fmt::format("\"{}\"", form.kind)));
  for (const ElementType& t : element_types()) EXPECT_THAT(text, HasSubstr(std::string(t.name)));
}

TEST(LaunchSpec, WhatIsWrittenReadsBackAsTheSame) {
  const auto spec = LaunchSpec::parse(example(), "launch.toml");
  ASSERT_TRUE(spec);
  const std::string text = spec->write();
  const auto again = LaunchSpec::parse(text, "launch.toml");
  ASSERT_TRUE(again) << again.error().message << "\n" << text;
  EXPECT_EQ(again->write(), text);
  const auto a = plan(example(), "odd.prime"), b = plan(text, "odd.prime");
  ASSERT_TRUE(a && b);
  ASSERT_EQ(a->buffers.size(), b->buffers.size());
  for (size_t i = 0; i < a->buffers.size(); ++i) {
    EXPECT_EQ(a->buffers[i].name, b->buffers[i].name);
    EXPECT_EQ(a->buffers[i].bytes, b->buffers[i].bytes);
    EXPECT_EQ(a->buffers[i].offset, b->buffers[i].offset);
    Bytes x(a->buffers[i].bytes), y(b->buffers[i].bytes);
    fill(a->buffers[i].init, a->buffers[i].layout, 0, x);
    fill(b->buffers[i].init, b->buffers[i].layout, 0, y);
    EXPECT_EQ(x, y) << a->buffers[i].name;
  }
}

TEST(LaunchSpec, MistakesAreNamedWithLineAndKey) {
  struct Mistake {
    const char *from, *to, *place, *key;
  };
  for (const Mistake& m : {
           Mistake{"n = 8", "n = [8", "launch.toml:", ""},
           {"n = 8", "n = \"n + 1\"", "launch.toml:2: ", "itself"},
           {"n = 8", "n = -1", "launch.toml:2: ", "'n'"},
           {"n = 8", "n = 1.5", "launch.toml:2: ", "integer"},
           {"n = 8", "\"n-1\" = 8", "launch.toml:2: ", "n-1"},
           {"dtype = \"f32\"", "dtype = \"f33\"", "launch.toml:5: ", "dtype"},
           {"dtype = \"f32\"", "dtype = 32", "launch.toml:5: ", "dtype"},
           {"dtype = \"f32\"\n", "", "launch.toml:3: ", "dtype"},
           {"shape = [\"n\"]", "shape = [\"m\"]", "launch.toml:6: ", "'m'"},
           {"shape = [\"n\"]", "shape = [\"n\"]\nstrides = [1, 2]", "launch.toml:3: ", "strides"},
           {"shape = [\"n\"]", "shape = [\"n * 1000000000000\"]", "launch.toml:3: ", "bytes"},
           {"role = \"in\"", "role = \"input\"", "launch.toml:7: ", "role"},
           {"init = \"ones\"", "init = \"fives\"", "launch.toml:8: ", "fives"},
           {"init = \"ones\"", "init = {kind = \"constant\"}", "launch.toml:8: ", "value"},
           {"init = \"ones\"", "init = {kind = \"uniform\", lo = 1}", "launch.toml:8: ", "lo"},
           {"init = \"ones\"", "init = {kind = \"uniform\", low = 3, high = 1}", "launch.toml:8: ", "low"},
           {"init = \"ones\"", "init = {kind = \"values\", values = [1, 2]}", "launch.toml:8: ", "2 values"},
           {"init = \"ones\"", "init = {kind = \"expression\", value = \"row\"}", "launch.toml:8: ", "'row'"},
           {"init = \"ones\"", "init = {kind = \"bytes\", hex = \"0011\"}", "launch.toml:8: ", "2 bytes"},
           {"init = \"ones\"", "init = {kind = \"bytes\", hex = \"001\"}", "launch.toml:8: ", "hex"},
           {"init = \"ones\"", "init = {kind = \"file\", path = \"no-such-file\"}",
            "launch.toml:8: ", "no-such-file"},
           {"init = \"ones\"", "init = {kind = \"pointers\", to = [\"y\"]}", "launch.toml:", "ptr"},
           {"init = \"ones\"\n", "", "launch.toml:3: ", "init"},
           {"init = \"ones\"", "init = \"ones\"\nguard = -1", "launch.toml:9: ", "guard"},
           {"init = \"ones\"", "init = \"ones\"\nalign = 64", "launch.toml:9: ", "align"},
           {"init = \"ones\"", "init = \"ones\"\nallocation = \"pool\"", "launch.toml:3: ", "pool"},
           {"init = \"ones\"", "init = \"ones\"\noffset = 4", "launch.toml:3: ", "offset"},
           {"name = \"y\"", "name = \"x\"", "launch.toml:9: ", "name"},
           {"role = \"out\"", "role = \"out\"\nalias = \"x\"\noffset = 4", "launch.toml:9: ", "alias"},
           {"role = \"out\"", "role = \"out\"\nalias = \"y\"", "launch.toml:9: ", "alias"},
           {"buffer = \"x\"", "buffer = \"z\"", "launch.toml:14: ", "'z'"},
           {"buffer = \"x\"", "value = 1", "launch.toml:14: ", "dtype"},
           {"buffer = \"x\"", "buffer = \"x\"\nvalue = 1", "launch.toml:14: ", "one of"},
           {"grid = 1", "grid = 1\nwork_items = 5", "launch.toml:16: ", "grid"},
           {"grid = 1\n", "", "launch.toml:16: ", "grid"},
           {"workgroup = 64", "workgroup = [1, 1, 1, 1]", "launch.toml:18: ", "workgroup"},
           {"[[step]]", "[[steps]]", "launch.toml:", "step"},
           {"[sizes]", "[sizes]\n[shapes.a]\nm = 1\n[sizes.x]", "launch.toml:", ""},
           {"[[arg]]", "[shapes.tiny]\nm = 4\n[[arg]]", "launch.toml:15: ", "'m'"},
           {"[[arg]]", "[what]\n[[arg]]", "launch.toml:14: ", "what"},
           {"[[step]]", "[[step]]\nmemset = \"q\"\nvalue = 0\n[[step]]", "launch.toml:16: ", "'q'"},
       }) {
    SCOPED_TRACE(m.to);
    EXPECT_THAT(error(with(m.from, m.to)), AllOf(StartsWith(m.place), HasSubstr(m.key)));
  }
  EXPECT_THAT(error(good, "large"), HasSubstr("'large'"));
  EXPECT_TRUE(plan(good)) << plan(good).error().message;
}

TEST(LaunchSpec, ExpressionsOfTheElementsNumber) {
  const std::string init = "init = {kind = \"expression\", value = \"min(index * n, 20) / 2.0\"}";
  const auto made = plan(with("init = \"ones\"", init));
  ASSERT_TRUE(made) << made.error().message;
  const PlannedBuffer& x = made->buffers[0];
  const std::vector<double> expected = {0, 4, 8, 10, 10, 10, 10, 10};
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(decode(x.layout.type(), init_code(x.init, x.layout, i)), expected[i]) << i;
  const std::string integers =
      std::string(with("init = \"ones\"", init)).replace(with("init = \"ones\"", init).find("f32"), 3, "i32");
  EXPECT_THAT(error(integers), HasSubstr("integers"));
  const std::string many = with("n = 8", "n = 65537");
  EXPECT_THAT(error(std::string(many).replace(many.find("init = \"ones\""), 13, init)), HasSubstr("65536"));
  const std::string taken = with("n = 8", "n = 8\nindex = 1");
  EXPECT_THAT(error(std::string(taken).replace(taken.find("init = \"ones\""), 13, init)),
              HasSubstr("'index'"));
}

TEST(LaunchSpec, BuffersInOneAllocation) {
  const std::string head = "[[allocation]]\nname = \"pool\"\nalign = 1024\n";
  const std::string pooled = with("init = \"ones\"", "init = \"ones\"\nallocation = \"pool\"\nguard = 16");
  const std::string both = std::string(pooled).replace(pooled.find("role = \"out\""), 12,
                                                       "role = \"out\"\nallocation = \"pool\"\nguard = 16");
  const auto made = plan(head + both);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->allocations.size(), 1U);
  EXPECT_EQ(made->buffers[1].offset, 256U); // 32 bytes, 16 of guard, then aligned
  const auto overlapping =
      std::string(both).replace(both.find("role = \"out\""), 12, "role = \"out\"\noffset = 28");
  EXPECT_THAT(error(head + overlapping), HasSubstr("overlaps"));
}

TEST(LaunchSpec, HostileFilesAreRefusedInOneLine) {
  error("");
  error("[[step]]");
  error(std::string(2 << 20, ' '));
  EXPECT_THAT(error(with("n = 8", "\xef\xbb\xbe n = 8")), StartsWith("launch.toml:2: "));
  EXPECT_TRUE(plan("# \xc3\xa9\n" + good));
  error(with("n = 8", "n = " + std::string(5000, '[')));
  error(with("shape = [\"n\"]", "shape = [\"" + std::string(900, '(') + "\"]"));
  error(with("shape = [\"n\"]", "shape = [9223372036854775807, 9223372036854775807]"));
  std::string many = good;
  for (int i = 0; i < 1100; ++i)
    many += fmt::format("[[buffer]]\nname = \"b{}\"\ndtype = \"u8\"\nshape = 1\nrole = \"out\"\n", i);
  EXPECT_THAT(error(many), HasSubstr("buffer"));
  std::string deep = good;
  std::string table = "step";
  for (int i = 0; i < 8; ++i) {
    deep += "[[" + table + "]]\nrepeat = 1000000\n";
    table += ".step";
  }
  EXPECT_THAT(error(deep), HasSubstr("repeat"));
  std::string sizes = "[sizes]\n";
  for (int i = 0; i < 500; ++i) sizes += fmt::format("s{} = \"s{}\"\n", i, i + 1);
  sizes += "s500 = 1\n";
  EXPECT_THAT(error(sizes + good.substr(good.find("[[buffer]]"))), HasSubstr("size"));
  std::string huge = good;
  for (int i = 0; i < 10; ++i)
    huge +=
        fmt::format("[[buffer]]\nname = \"b{}\"\ndtype = \"u8\"\nshape = \"1 << 40\"\nrole = \"out\"\n", i);
  EXPECT_THAT(error(huge), HasSubstr("GiB"));
}

} // namespace
} // namespace asmevo::oracle
