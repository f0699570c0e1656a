// The code of kernels in an object of several that edits made: what fills up between functions is the
// object's, not the program's.
#include "base/files.h"
#include "oracle/subject.h"
#include "profile/kernel_code.h"

#include <gtest/gtest.h>

namespace asmevo::profile {
namespace {

std::shared_ptr<const oracle::Subject> subject(Bytes bytes) {
  auto opened = oracle::Subject::open(std::move(bytes));
  EXPECT_TRUE(opened) << opened.error().message;
  return *std::move(opened);
}

TEST(KernelCode, OfOneOfSeveralKernelsAfterAnEdit) {
  const auto k0 = subject(*read_file(ASMEVO_BINARY_DIR "/kernels/saxpy.gfx942.co"));
  const auto& functions = k0->program().functions;
  ASSERT_GE(functions.size(), 2U);
  // From four instructions fewer to four more, in the first kernel: the second is aligned behind it.
  for (int more = -4; more <= 4; ++more) {
    program::Edit edit;
    edit.kernel = functions.front().name;
    program::Change change;
    const auto& first = k0->program().entries[functions.front().begin].id;
    if (more < 0) {
      change.first = first, change.last = k0->program().entries[functions.front().begin - 1 - more].id;
    } else {
      change.before = first;
      for (int n = 0; n < more; ++n) change.text += "v_mov_b32 v0, v0\n";
    }
    if (more != 0) edit.changes.push_back(change);
    const auto named = program::splice(k0->program(), edit, 1, k0->codec());
    ASSERT_TRUE(named) << named.error().describe();
    auto built = rebuild::apply_edit(k0->original(), k0->program(), edit, 1, k0->codec());
    ASSERT_TRUE(built) << built.error().message;
    const auto made = subject(std::move(built->object));
    for (const program::Function& f : functions) {
      const auto code = KernelCode::open(made->original(), *named, f.name);
      ASSERT_TRUE(code) << more << ": " << code.error().message;
      for (program::Index i = (*code)->function().begin; i < (*code)->code_end(); ++i)
        ASSERT_EQ((*code)->at((*code)->address(i)), i) << more << ", " << f.name;
      EXPECT_EQ((*code)->address((*code)->function().begin), made->object().find_kernel(f.name)->entry);
    }
  }
}

} // namespace
} // namespace asmevo::profile
