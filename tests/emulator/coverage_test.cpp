// Every instruction that real code objects contain has a row in the emulator's table.
#include "codeobject/code_object.h"
#include "codeobject/container.h"
#include "emulator/opcode_table.h"
#include "full_run.h"
#include "isa/codec.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace asmevo::emulator {
namespace {

namespace fs = std::filesystem;

// Walks the code of objects and collects mnemonics without a handler.
class Survey {
 public:
  void add(const codeobject::CodeObject& object) {
    isa::Codec& codec = codec_for(object.target());
    for (const codeobject::Section& s : object.sections()) {
      if (!s.executable()) continue;
      for (ByteSpan left = s.contents; left.size() >= 4;) {
        const isa::Instruction& i = *codec.decode(left);
        left = left.subspan(std::min<size_t>(i.bytes(), left.size()));
        ++instructions;
        if (!i.is_data() && seen_.insert(&i).second && find_handler(i) == nullptr)
          missing.insert(i.base_mnemonic);
      }
    }
    ++objects;
  }

  void add_file(const fs::path& path, std::string_view only_target = {}) {
    const auto container = codeobject::Container::open(path);
    ASSERT_TRUE(container) << path << ": " << container.error().message;
    for (const codeobject::ContainedObject& contained : container->objects()) {
      if (!only_target.empty() && !contained.target_id.starts_with(only_target)) continue;
      auto bytes = contained.read();
      ASSERT_TRUE(bytes);
      if (const auto object = codeobject::CodeObject::parse(*std::move(bytes))) add(*object);
    }
  }

  std::string missing_text() const {
    std::ostringstream text;
    for (const std::string_view m : missing) text << m << ' ';
    return text.str();
  }

  std::set<std::string_view> missing;
  size_t objects = 0, instructions = 0;

 private:
  isa::Codec& codec_for(const isa::Target& target) {
    auto& codec = codecs_[target.id()];
    if (codec == nullptr) codec = std::move(*isa::Codec::create(target));
    return *codec;
  }
  std::map<std::string, std::unique_ptr<isa::Codec>> codecs_;
  std::set<const isa::Instruction*> seen_;
};

void expect_complete(const Survey& survey) {
  EXPECT_GT(survey.objects, 0U);
  EXPECT_GT(survey.instructions, 0U);
  EXPECT_TRUE(survey.missing.empty()) << survey.missing_text();
  std::cout << survey.objects << " objects, " << survey.instructions << " instructions\n";
}

TEST(coverage, production_mnemonics) {
  std::ifstream list(ASMEVO_SOURCE_DIR "/tests/isa/production_mnemonics.txt");
  std::string line;
  size_t count = 0;
  while (std::getline(list, line)) {
    if (line.empty() || line[0] == '#') continue;
    const std::string mnemonic = line.substr(0, line.find(' '));
    EXPECT_TRUE(implements(mnemonic)) << mnemonic;
    ++count;
  }
  EXPECT_GT(count, 200U);
}

TEST(coverage, no_mnemonic_has_two_rows) {
  std::set<std::string_view> seen;
  for (const OpcodeRows& rows : all_opcode_rows())
    for (const OpcodeRow& row : rows) {
      EXPECT_TRUE(seen.insert(row.mnemonic).second) << row.mnemonic;
      EXPECT_NE(row.run, nullptr) << row.mnemonic;
    }
  EXPECT_EQ(seen.size(), opcode_row_count());
}

TEST(coverage, librocrand) {
  const fs::path path = "/usr/lib/x86_64-linux-gnu/librocrand.so.1";
  if (!fs::exists(path)) GTEST_SKIP() << "librocrand1 is not installed";
  Survey survey;
  survey.add_file(path, "gfx90a");
  expect_complete(survey);
}

fs::path find_library(const fs::path& folder, std::string_view name) {
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error))
    if (entry.is_regular_file() && entry.path().filename().string().starts_with(name)) return entry.path();
  return {};
}

TEST(coverage, librocsparse) {
  if (!test::full_run()) GTEST_SKIP() << "librocsparse is part of ./check --full";
  const fs::path path = find_library(ASMEVO_BINARY_DIR "/corpora", "librocsparse.so.0");
  if (path.empty()) GTEST_SKIP() << "librocsparse is not there";
  Survey survey;
  survey.add_file(path, "gfx90a");
  expect_complete(survey);
}

TEST(coverage, aiter) {
  const char* folder = std::getenv("ASMEVO_AITER_DIR");
  if (folder == nullptr) GTEST_SKIP() << "ASMEVO_AITER_DIR is not set";
  Survey survey;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".co") ||
        (path.find("gfx942") == std::string::npos && path.find("gfx950") == std::string::npos))
      continue;
    survey.add_file(entry.path());
  }
  expect_complete(survey);
}

} // namespace
} // namespace asmevo::emulator
