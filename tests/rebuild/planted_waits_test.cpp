// Waits weakened in production kernels, where a folder of them is given (ASMEVO_AITER_DIR). Whether a
// weakened wait matters is decided by walking its basic block with plain lists of what is in flight: nothing
// of the check's analysis is used, and only operations of the same block count. ASMEVO_FULL=1 takes more
// objects.
#include "base/files.h"
#include "base/random.h"
#include "codeobject/code_object.h"
#include "full_run.h"
#include "program/static_check.h"
#include "rebuild/recover.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

namespace asmevo::rebuild {
namespace {

using isa::Instruction;
using program::Index;
using program::Program;

struct InFlight {
  Index at = 0;
  const Instruction* instruction = nullptr;
};

// (operation, use) pairs of [begin, end) where the use comes too early.
std::set<std::pair<Index, Index>> early_uses(const Program& p, Index begin, Index end, Index changed,
                                             const isa::WaitcntFields& now) {
  std::vector<InFlight> vector_memory, lds, scalar;
  std::set<std::pair<Index, Index>> early;
  const auto keep_last = [](std::vector<InFlight>& queue, size_t n) {
    if (queue.size() > n) queue.erase(queue.begin(), queue.end() - static_cast<std::ptrdiff_t>(n));
  };
  for (Index i = begin; i < end; ++i) {
    const Instruction& x = p.instruction(i);
    for (const auto* queue : {&vector_memory, &lds, &scalar})
      for (const InFlight& f : *queue)
        for (const isa::RegRange& d : f.instruction->defs)
          if (x.reads(d)) early.emplace(f.at, i);
    if (x.is("s_waitcnt")) {
      const auto fields = i == changed ? now : isa::WaitcntFields::of(x);
      keep_last(vector_memory, fields.vmcnt);
      keep_last(lds, fields.lgkmcnt);
      if (fields.lgkmcnt == 0) scalar.clear();
    }
    if (x.family == isa::Family::Mubuf || x.family == isa::Family::Flat) vector_memory.push_back({i, &x});
    if (x.family == isa::Family::Ds) lds.push_back({i, &x});
    if (x.family == isa::Family::Smem) scalar.push_back({i, &x});
    keep_last(vector_memory, 63);
    keep_last(lds, 15);
  }
  return early;
}

struct Tally {
  size_t planted = 0, matter = 0, found = 0;
};

class PlantedWaits : public testing::Test {
 protected:
  void object(const std::filesystem::path& path, size_t waits) {
    auto bytes = read_file(path);
    ASSERT_TRUE(bytes) << bytes.error().message;
    const auto parsed = codeobject::CodeObject::parse(std::move(*bytes));
    ASSERT_TRUE(parsed) << path << ": " << parsed.error().message;
    const auto codec = isa::Codec::create(parsed->target());
    ASSERT_TRUE(codec);
    const auto recovered = recover(*parsed, **codec);
    ASSERT_TRUE(recovered) << path << ": " << recovered.error().message;
    const Program& k0 = recovered->program;
    for (const program::Function& f : k0.functions) function(k0, f, **codec, waits);
  }

  void function(const Program& k0, const program::Function& f, isa::Codec& codec, size_t waits) {
    const program::Cfg cfg = program::Cfg::build(k0, f);
    program::CheckOptions options;
    options.possible = true;
    options.wait_states = false;
    const auto before = program::check(k0, f, cfg, options);
    std::vector<Index> places;
    for (Index i = f.begin; i < f.end; ++i)
      if (k0.instruction(i).is("s_waitcnt") && cfg.block_of(i) != program::no_index &&
          cfg.blocks()[cfg.block_of(i)].reachable)
        places.push_back(i);
    for (size_t n = 0; n < waits && !places.empty(); ++n) {
      const Index at = places[random_.below(places.size())];
      const auto was = isa::WaitcntFields::of(k0.instruction(at));
      for (const bool vm : {true, false}) {
        if ((vm ? was.vmcnt : was.lgkmcnt) >= (vm ? 62U : 14U)) continue;
        for (const bool drop : {false, true}) {
          isa::WaitcntFields now = was;
          unsigned& field = vm ? now.vmcnt : now.lgkmcnt;
          field = drop ? (vm ? 63 : 15) : field + 1;
          plant(k0, f, cfg, before, at, now,
                fmt::format("{} {}", vm ? "vmcnt" : "lgkmcnt", drop ? "dropped" : "by one"), codec);
        }
      }
    }
  }

  void plant(const Program& k0, const program::Function& f, const program::Cfg& cfg,
             const std::vector<program::Finding>& before, Index at, const isa::WaitcntFields& now,
             const std::string& kind, isa::Codec& codec) {
    Tally& tally = tallies_[kind];
    ++tally.planted;
    const program::Block& block = cfg.blocks()[cfg.block_of(at)];
    const auto was = isa::WaitcntFields::of(k0.instruction(at));
    const auto good = early_uses(k0, block.begin, block.end, at, was),
               bad = early_uses(k0, block.begin, block.end, at, now);
    if (std::ranges::includes(good, bad)) return;
    ++tally.matter;
    const auto lines = codec.parse(fmt::format("s_waitcnt {:#x}", now.encode()));
    ASSERT_TRUE(lines);
    Program changed = k0;
    changed.entries[at].instruction = lines->at(0).instruction;
    program::CheckOptions options;
    options.possible = true;
    options.wait_states = false;
    tally.found +=
        !program::new_findings(k0, before, changed, program::check(changed, f, cfg, options)).empty();
  }

  RandomStream random_{3};
  std::map<std::string, Tally> tallies_;
};

TEST_F(PlantedWaits, AreFoundInProductionKernels) {
  const char* folder = std::getenv("ASMEVO_AITER_DIR");
  if (folder == nullptr) GTEST_SKIP() << "ASMEVO_AITER_DIR is not set: no production kernels to weaken";
  const auto files = list_files(folder);
  ASSERT_TRUE(files) << files.error().message;
  std::vector<std::filesystem::path> objects;
  for (const auto& path : *files)
    if (path.extension() == ".co" && path.string().find("/gfx9") != std::string::npos)
      objects.push_back(path);
  ASSERT_FALSE(objects.empty());
  const size_t count = test::full_run() ? 300 : 10;
  for (size_t k = 0; k < count; ++k) object(objects[random_.below(objects.size())], 20);
  Tally all;
  for (const auto& [kind, t] : tallies_) {
    fmt::print("AITer {:16} planted {:5} matter {:5} found {:5}\n", kind, t.planted, t.matter, t.found);
    all.matter += t.matter;
    all.found += t.found;
  }
  EXPECT_GT(all.matter, 20U);
  EXPECT_GE(all.found * 100, all.matter * 95) << all.found << " of " << all.matter;
}

} // namespace
} // namespace asmevo::rebuild
