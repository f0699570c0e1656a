// Sample kernels, changed by edits, verified against what they were.
#pragma once

#include "base/files.h"
#include "oracle/verify.h"

#include <gtest/gtest.h>

namespace asmevo::oracle::testing {

inline Bytes sample_bytes(const std::string& name, const std::string& target = "gfx942") {
  const auto bytes = read_file(std::string(ASMEVO_BINARY_DIR) + "/kernels/" + name + "." + target + ".co");
  EXPECT_TRUE(bytes) << (bytes ? "" : bytes.error().message);
  return bytes ? *bytes : Bytes();
}

/// `text` with the first `from` in it exchanged; there must be one.
inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

inline std::shared_ptr<const Subject> subject(const Bytes& bytes) {
  const auto opened = Subject::open(bytes);
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
  return opened ? *opened : nullptr;
}

/// `changes` is the list of an edit, as JSON.
inline Bytes edited(const Bytes& k0, const std::string& kernel, const std::string& changes,
                    const std::string& resources = "{}") {
  const auto object = codeobject::CodeObject::parse(k0);
  const auto codec = isa::Codec::create(object->target());
  const auto original = rebuild::Original::open(k0, **codec);
  const auto edit =
      program::Edit::parse(R"({"version": 1, "base": 0, "kernel": ")" + kernel + R"(", "resources": )" +
                           resources + R"(, "changes": )" + changes + "}");
  EXPECT_TRUE(edit) << (edit ? "" : edit.error().message);
  const auto built = rebuild::apply_edit(*original, original->program(), *edit, 1, **codec);
  EXPECT_TRUE(built) << (built ? "" : built.error().message);
  return built ? built->object : Bytes();
}

/// The id of the n-th instruction of a kernel whose text starts so.
inline std::string find(const Bytes& bytes, const std::string& kernel, const std::string& start,
                        unsigned number = 0) {
  const auto s = subject(bytes);
  const program::Function* function = s->program().find_function(kernel);
  for (program::Index i = function->begin; i < function->end; ++i) {
    const std::string text = s->codec().print(*s->program().entries[i].instruction);
    const size_t first = text.find_first_not_of(" \t");
    if (first != std::string::npos && text.compare(first, start.size(), start) == 0 && number-- == 0)
      return s->program().entries[i].id.text();
  }
  ADD_FAILURE() << kernel << " has no " << start;
  return "";
}

inline std::vector<Case> cases_of(const std::string& launch, const std::shared_ptr<const Subject>& k0,
                                  uint64_t seed = 0) {
  auto spec = LaunchSpec::parse(launch, "launch.toml");
  EXPECT_TRUE(spec) << (spec ? "" : spec.error().message);
  const auto plan = LaunchPlan::make(*std::move(spec), "", seed);
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
  auto cases = lower(*plan, object_of(k0));
  EXPECT_TRUE(cases) << (cases ? "" : cases.error().message);
  return cases ? *std::move(cases) : std::vector<Case>();
}

/// K0's side and the candidate's in one.
inline Result<CaseReport> verify_case(const Case& c, const std::shared_ptr<const Subject>& k0,
                                      const std::shared_ptr<const Subject>& candidate,
                                      const PrepareOptions& options = {}) {
  ASMEVO_TRY(const auto prepared, PreparedCase::make(c, k0, options));
  return oracle::verify_case(*prepared, candidate, {.rule = options.rule});
}

} // namespace asmevo::oracle::testing
