// The table of rules in docs/optimize.md is that of the program.
#include "base/files.h"
#include "search/rules/rule.h"

#include <gmock/gmock.h>

namespace asmevo::search {
namespace {

TEST(RuleTable, IsInTheDocumentation) {
  const auto bytes = read_file(ASMEVO_SOURCE_DIR "/docs/optimize.md");
  ASSERT_TRUE(bytes);
  const std::string page(bytes->begin(), bytes->end());
  for (const Rule& rule : all_rules())
    EXPECT_THAT(page, ::testing::HasSubstr(fmt::format("\n| `{}` | {} |\n", rule.name, rule.summary)));
}

} // namespace
} // namespace asmevo::search
