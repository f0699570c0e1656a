// Dependences against reorderings run on a small machine (order_machine.h): whatever order they allow leaves
// the same registers and memories, and finds every result arrived.
#include "order_machine.h"
#include "program/dependences.h"
#include "program_builder.h"

#include <set>

namespace asmevo::program {
namespace {

using namespace testing;

unsigned below(RandomStream& r, unsigned bound) {
  return static_cast<unsigned>(r.below(bound));
}

struct Flavour {
  bool modes = false, private_memory = false;
};

WaveOp random_op(RandomStream& r, const World& now, Flavour flavour) {
  const unsigned d = below(r, vectors), a = below(r, vectors), b = below(r, vectors), offset = below(r, 4);
  const unsigned s = 4 + below(r, 4), t = below(r, scalars), u = below(r, scalars);
  switch (r.below(flavour.modes ? 26 : 22)) {
  case 0: return o_v_mov(d, a);
  case 1: return o_cndmask(d, a, b);
  case 2: return o_compare(a, b);
  case 3: return o_writelane(d, t, below(r, wave_lanes));
  case 4: return o_readlane(s, a, below(r, wave_lanes));
  case 5: return o_s_add(s, t, u);
  case 6: return o_s_cselect(s, t, u);
  case 7: return r.below(2) == 0 ? o_exec(below(r, 4)) : o_narrow();
  case 8: return now.indexing ? o_nop() : o_m0(t); // M0 holds the operand bits of indexing too
  case 9:
  case 10: return o_ds_read(d, a, offset);
  case 11: return o_ds_read2(2 * below(r, 4), a, offset, below(r, 4));
  case 12: return o_ds_write(a, b, offset);
  case 13:
  case 14: return o_buffer_load(d, a, offset);
  case 15: return o_buffer_store(a, b, offset);
  case 16: return flavour.private_memory ? o_ds_write(a, b, offset) : o_to_lds(a, offset);
  case 17: return flavour.private_memory ? o_ds_read(d, a, offset) : o_s_load(s, offset);
  case 18: return flavour.private_memory ? o_buffer_store(a, b, offset) : o_s_store(t, offset);
  case 19: return o_barrier();
  case 20: return r.below(2) == 0 ? o_nop() : o_wait(below(r, 2), below(r, 3));
  case 22: return o_skip(t);
  case 23: return o_skip_off();
  case 24: return o_index_on(t);
  case 25: return o_index_off();
  default: return o_v_add(d, a, b);
  }
}

World start(RandomStream& r, Flavour flavour) {
  World w;
  w.private_memory = flavour.private_memory;
  for (auto& v : w.v)
    for (uint32_t& x : v) x = static_cast<uint32_t>(r.below(words));
  for (uint32_t& x : w.s) x = static_cast<uint32_t>(r.below(words));
  for (auto* memory : {&w.global, &w.lds})
    for (auto& lane : *memory)
      for (uint32_t& x : lane) x = static_cast<uint32_t>(r.next());
  return w;
}

// A program without hazards: each operation is preceded by the waits it needs, often for just enough.
std::vector<WaveOp> random_program(RandomStream& r, const World& from, Flavour flavour) {
  World w = from;
  std::vector<WaveOp> ops;
  const auto add = [&](WaveOp op) {
    execute(w, op, static_cast<int>(ops.size()));
    ops.push_back(std::move(op));
  };
  const unsigned size = 8 + below(r, 24);
  while (ops.size() < size) {
    WaveOp op = random_op(r, w, flavour);
    // An indexed source may be any register: none may be on its way.
    if (w.indexing && op.vector && op.kind == none)
      for (unsigned v = 0; v < vectors; ++v) op.touches.push_back(v_name(v));
    if (!(op.vector && w.skip))
      for (const NeededWait& n : needed_waits(w, op)) add(o_wait(n.counter, r.below(3) == 0 ? 0 : n.count));
    add(std::move(op));
  }
  return ops;
}

struct Outcome {
  World world;
  explicit Outcome(World w) : world(std::move(w)) {
    world.wait(0, 0);
    world.wait(1, 0);
  }
};

Outcome run_order(const std::vector<WaveOp>& ops, const std::vector<uint32_t>& order, World w) {
  for (const uint32_t k : order) execute(w, ops[k], static_cast<int>(k));
  return Outcome(std::move(w));
}

// What differs from the original run, or nothing.
std::string difference(const Outcome& expected, const Outcome& got) {
  const World &a = expected.world, &b = got.world;
  if (!b.hazard.empty()) return b.hazard;
  if (a.v != b.v || a.s != b.s) return "registers";
  if (a.exec != b.exec || a.vcc != b.vcc || a.scc != b.scc || a.m0 != b.m0) return "masks or M0";
  if (a.global != b.global) return "global memory";
  if (a.lds != b.lds) return "LDS";
  if (a.skip != b.skip || a.indexing != b.indexing) return "modes";
  if (a.barriers.size() != b.barriers.size()) return "barriers";
  for (size_t k = 0; k < a.barriers.size(); ++k) {
    const auto as_set = [](const std::vector<int>& v) { return std::set(v.begin(), v.end()); };
    if (as_set(a.barriers[k].issued) != as_set(b.barriers[k].issued))
      return "what was issued before a barrier";
    if (as_set(a.barriers[k].complete) != as_set(b.barriers[k].complete))
      return "what was complete at a barrier";
  }
  return {};
}

// A random order of [begin, end) that the dependences allow; the rest stays.
std::vector<uint32_t> random_order(RandomStream& r, size_t size, Index begin, Index end,
                                   const std::vector<Dependence>& dependences) {
  std::vector<uint32_t> order, ready;
  std::vector<std::vector<Index>> after(end - begin);
  std::vector<unsigned> waiting(end - begin, 0);
  for (const Dependence& d : dependences) after[d.from - begin].push_back(d.to), ++waiting[d.to - begin];
  for (uint32_t k = 0; k < begin; ++k) order.push_back(k);
  for (uint32_t k = begin; k < end; ++k)
    if (waiting[k - begin] == 0) ready.push_back(k);
  const bool late_first =
      r.below(2) == 0; // turning things round as far as possible finds more than pure chance
  while (!ready.empty()) {
    if (late_first && r.below(4) != 0)
      std::swap(*std::ranges::max_element(ready), ready.back());
    else
      std::swap(ready[r.below(ready.size())], ready.back());
    const uint32_t k = ready.back();
    ready.pop_back();
    order.push_back(k);
    for (const Index to : after[k - begin])
      if (--waiting[to - begin] == 0) ready.push_back(to);
  }
  for (auto k = static_cast<uint32_t>(end); k < size; ++k) order.push_back(k);
  return order;
}

std::string text_of(const std::vector<WaveOp>& ops) {
  std::string text;
  for (const WaveOp& op : ops) text += op.text + "\n";
  return text;
}

struct Tally {
  size_t moved = 0, orders = 0, dependences = 0;
};

void check_program(RandomStream& random, Flavour flavour, Tally& tally, int round) {
  const World from = start(random, flavour);
  const std::vector<WaveOp> ops = random_program(random, from, flavour);
  const Program program = build_program(text_of(ops));
  ASSERT_EQ(program.entries.size(), ops.size());
  // Part of the program is reordered; what stands before it may be on its way, what stands after relies on
  // the order.
  const auto size = static_cast<Index>(ops.size());
  const Index begin = below(random, size / 2), end = size - below(random, size / 3);
  const Cfg cfg = Cfg::build(program, program.functions[0]);
  const WaveStates states = WaveStates::compute(program, program.functions[0], cfg);
  DependenceOptions options;
  if (flavour.private_memory) options.aliasing = Aliasing::PerLane;
  const std::vector<Dependence> found = round % 4 == 0 && !flavour.private_memory
                                            ? dependences(program, begin, end)
                                            : dependences(program, begin, end, states.before(begin), options);
  tally.dependences += found.size();

  std::vector<uint32_t> as_written(ops.size());
  for (uint32_t k = 0; k < ops.size(); ++k) as_written[k] = k;
  const Outcome expected = run_order(ops, as_written, from);
  ASSERT_EQ(expected.world.hazard, "") << "the generator made a hazard";
  for (int run = 0; run < 12; ++run) {
    const std::vector<uint32_t> order = random_order(random, ops.size(), begin, end, found);
    ASSERT_EQ(order.size(), ops.size());
    ++tally.orders;
    for (uint32_t k = 0; k < order.size(); ++k) tally.moved += order[k] != k ? 1 : 0;
    const std::string wrong = difference(expected, run_order(ops, order, from));
    if (wrong.empty()) continue;
    std::string listing;
    for (const uint32_t k : order) listing += fmt::format("{:3}: {}\n", k, ops[k].text);
    FAIL() << wrong << " in round " << round << ", range " << begin << " to " << end << ", order\n"
           << listing;
  }
}

TEST(DependencesProperty, AllowedOrdersDoTheSame) {
  RandomStream random(5);
  Tally tally;
  for (int round = 0; round < 3000 && !HasFatalFailure(); ++round)
    check_program(random, {round % 3 == 1, round % 3 == 2}, tally, round);
  EXPECT_GT(tally.moved, tally.orders * 5) << "hardly anything moves: the test shows little";
}

} // namespace
} // namespace asmevo::program
