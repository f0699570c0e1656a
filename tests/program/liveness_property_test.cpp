// Liveness against the traces of a tiny machine (lane_machine.h).
#include "lane_machine_ops.h"
#include "program/liveness.h"
#include "program_builder.h"

#include <algorithm>

namespace asmevo::program {
namespace {

using namespace testing;

unsigned below(RandomStream& r, unsigned bound) {
  return static_cast<unsigned>(r.below(bound));
}

Op random_vector_op(RandomStream& r) {
  const unsigned d = below(r, vector_count), a = below(r, vector_count), b = below(r, vector_count);
  const unsigned s = below(r, scalar_count), lane = below(r, lanes);
  switch (r.below(16)) {
  case 0: return readlane(s, a, lane);
  case 1: return readfirstlane(s, a);
  case 2: return writelane(d, s, lane);
  case 3: return dpp(d, a);
  case 4: return dpp_some_rows(d, a);
  case 5: return permute(d, a, b);
  case 6: return matrix(4 + below(r, 2), r.below(2) == 0);
  case 7: return load(d, a);
  case 8: return store(a, b);
  case 9: return half_load(d, a);
  case 10:
  case 11:
  case 12: return v_add(d, a, b);
  default: return v_mov(d, a);
  }
}

// Masks 0 to 3 are written and read, so that masks depend on each other as in real code.
Op random_mask_op(RandomStream& r) {
  const unsigned d = below(r, 4), a = below(r, 4), b = below(r, 4);
  switch (r.below(12)) {
  case 0:
  case 1: return saveexec(save_functions[r.below(save_functions.size())], d, a);
  case 2: return saveexec(save_functions[0], d, a);
  case 3: return wrexec(r.below(2) == 0, d, a);
  case 4:
  case 5: return exec_binary(binary_functions[r.below(binary_functions.size())], a, r.below(2) == 0);
  case 6: return r.below(3) == 0 ? exec_not() : exec_binary(binary_functions[1], a, true);
  case 7: return r.below(2) == 0 ? exec_from(a) : exec_constant(r.below(3) != 0);
  case 8: return exec_half(r.below(2) == 0, r.below(2) == 0);
  case 9:
    return r.below(2) == 0 ? save(d)
                           : mask_binary(binary_functions[r.below(binary_functions.size())], d, a, b);
  case 10: return compare(d, below(r, vector_count), below(r, vector_count));
  default: return compare_exec(below(r, vector_count), below(r, vector_count));
  }
}

Op random_mode_op(RandomStream& r) {
  const unsigned s = below(r, scalar_count);
  switch (r.below(6)) {
  case 0: return skip_maybe(s);
  case 1: return skip_off();
  case 2: {
    constexpr std::array<uint8_t, 4> operands = {1, 2, 8, 9};
    return index_on(s, operands[r.below(4)]);
  }
  case 3: return index_off();
  case 4: return s_cmov(s, below(r, scalar_count));
  default: return s_mov(s, below(r, scalar_count));
  }
}

std::vector<Op> random_program(RandomStream& r, bool modes, bool only_restored_masks) {
  std::vector<Op> ops;
  const unsigned size = 4 + below(r, 12);
  std::vector<unsigned> saved;
  for (unsigned k = 0; k < size; ++k) {
    const uint64_t kind = r.below(10);
    if (kind < 5) {
      ops.push_back(random_vector_op(r));
    } else if (kind < 8 && only_restored_masks) { // nested narrowing and restoring, as compilers do it
      if (!saved.empty() && r.below(2) == 0) {
        ops.push_back(r.below(2) == 0 ? exec_binary(binary_functions[1], saved.back(), true)
                                      : exec_from(saved.back()));
        saved.pop_back();
      } else if (saved.size() < 3) {
        saved.push_back(4 + static_cast<unsigned>(saved.size()));
        ops.push_back(saveexec(save_functions[0], saved.back(), below(r, 4)));
      }
    } else if (kind < 8) {
      ops.push_back(random_mask_op(r));
    } else if (kind == 8 && modes) {
      ops.push_back(random_mode_op(r));
    } else if (kind == 9) {
      ops.push_back(branch(static_cast<int>(r.below(size))));
    }
  }
  ops.push_back(end());
  for (Op& o : ops) o.target = std::min(o.target, static_cast<int>(ops.size()) - 1);
  return ops;
}

// What a trace says is live before each of its steps.
struct TraceLiveness {
  Bits vectors;
  std::bitset<mask_count> masks;
  std::bitset<scalar_count> scalars;

  void step_back(const Step& s) {
    vectors = (vectors & ~s.writes) | s.reads;
    masks = (masks & ~s.mask_writes) | s.mask_reads;
    scalars = (scalars & ~s.scalar_writes) | s.scalar_reads;
  }
};

struct Subject {
  explicit Subject(const std::vector<Op>& ops)
      : text(text_of(ops)), program(build_program(text, false)),
        cfg(Cfg::build(program, program.functions[0])),
        liveness(Liveness::compute(program, program.functions[0], cfg)) {
    for (Index i = 0; i < ops.size(); ++i) before.push_back(liveness.lanes_before(i));
  }
  std::string text;
  Program program;
  Cfg cfg;
  Liveness liveness;
  std::vector<LiveSets> before;
};

// The first fact of the trace that the analysis misses, or nothing.
std::string missed(const Subject& subject, const std::vector<Step>& trace, size_t& facts) {
  TraceLiveness live;
  for (auto s = trace.rbegin(); s != trace.rend(); ++s) {
    live.step_back(*s);
    const LiveSets& known = subject.before[s->op];
    for (unsigned v = 0; v < vector_count; ++v)
      for (unsigned l = 0; l < lanes; ++l) {
        if (!live.vectors[v * lanes + l]) continue;
        ++facts;
        const bool on = (s->exec >> l & 1) != 0;
        if (!(on ? known.on : known.off).contains(static_cast<isa::RegUnit>(v)))
          return fmt::format("v{} in lane {} ({}) before op {}", v, l, on ? "on" : "off", s->op);
      }
    for (unsigned k = 0; k < mask_count; ++k)
      if (live.masks[k] && !known.on.contains(static_cast<isa::RegUnit>(isa::unit::scalar0 + 20 + 2 * k)))
        return fmt::format("{} before op {}", pair(k), s->op);
    for (unsigned k = 0; k < scalar_count; ++k)
      if (live.scalars[k] && !known.on.contains(static_cast<isa::RegUnit>(isa::unit::scalar0 + k)))
        return fmt::format("s{} before op {}", k, s->op);
  }
  return {};
}

TEST(LivenessProperty, NothingThatATraceReadsIsMissed) {
  RandomStream random(2024);
  size_t facts = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::vector<Op> ops = random_program(random, round % 3 == 0, round % 3 == 1);
    const Subject subject(ops);
    if (::testing::Test::HasFailure()) return;
    for (int runs = 0; runs < 12; ++runs) {
      Machine machine;
      machine.choose = [&](uint64_t bound) { return random.below(bound); };
      machine.exec = machine.any_mask();
      for (uint8_t& m : machine.mask) m = machine.any_mask();
      const std::string miss = missed(subject, run(ops, machine, 60), facts);
      ASSERT_EQ(miss, "") << "round " << round << " in\n" << subject.text;
    }
  }
  EXPECT_GT(facts, 1'000'000U);
}

// --- exactness ---

// Straight-line code in which every mask operand is a value of its own: each lane then meets every sequence
// of masks, and what no trace reads must not be called live.
std::vector<Op> independent_program(RandomStream& r, unsigned& masks) {
  std::vector<Op> ops;
  masks = 0;
  const unsigned size = 4 + below(r, 10);
  for (unsigned k = 0; k < size; ++k) {
    const unsigned d = below(r, vector_count), a = below(r, vector_count), b = below(r, vector_count);
    if (masks < 3 && r.below(3) == 0) {
      const unsigned x = masks++, unread = 20;
      switch (r.below(5)) {
      case 0: ops.push_back(saveexec(save_functions[r.below(save_functions.size())], unread, x)); break;
      case 1: ops.push_back(exec_from(x)); break;
      case 2: ops.push_back(wrexec(r.below(2) == 0, unread, x)); break;
      default:
        ops.push_back(exec_binary(binary_functions[r.below(binary_functions.size())], x, r.below(2) == 0));
        break;
      }
      continue;
    }
    switch (r.below(9)) {
    case 0: ops.push_back(readlane(0, a, below(r, 2))); break;
    case 1: ops.push_back(matrix(4 + below(r, 2), r.below(2) == 0)); break;
    case 2: ops.push_back(r.below(4) == 0 ? exec_not() : store(a, b)); break;
    case 3: ops.push_back(r.below(3) == 0 ? exec_constant(r.below(2) == 0) : store(a, b)); break;
    case 4: ops.push_back(v_add(d, a, b)); break;
    case 5: ops.push_back(load(d, a)); break;
    default: ops.push_back(v_mov(d, a)); break;
    }
  }
  ops.push_back(end());
  return ops;
}

TEST(LivenessProperty, ExactWhereMasksAreIndependent) {
  RandomStream random(99);
  size_t compared = 0, differing_by_lane = 0;
  for (int round = 0; round < 1000; ++round) {
    unsigned masks = 0;
    const std::vector<Op> ops = independent_program(random, masks);
    const Subject subject(ops);
    if (::testing::Test::HasFailure()) return;
    std::vector<std::array<std::bitset<vector_count>, 2>> live(ops.size()); // by op: off, on
    std::vector<std::array<bool, 2>> seen(ops.size());
    // Two lanes with all values of the first mask and of each operand: four times each.
    for (uint32_t values = 0; values < 1U << 2 * (masks + 1); ++values) {
      Machine machine;
      machine.exec = values & 3;
      for (unsigned k = 0; k < masks; ++k) machine.mask[k] = values >> (2 * k + 2) & 3;
      const std::vector<Step> trace = run(ops, machine, 100);
      TraceLiveness at;
      for (auto s = trace.rbegin(); s != trace.rend(); ++s) {
        at.step_back(*s);
        for (unsigned l = 0; l < 2; ++l) {
          const size_t on = s->exec >> l & 1;
          seen[s->op][on] = true;
          for (unsigned v = 0; v < vector_count; ++v)
            if (at.vectors[v * lanes + l]) live[s->op][on].set(v);
        }
      }
    }
    for (uint32_t i = 0; i < ops.size(); ++i)
      for (unsigned v = 0; v < vector_count; ++v) {
        const auto unit = static_cast<isa::RegUnit>(v);
        const bool on = subject.before[i].on.contains(unit), off = subject.before[i].off.contains(unit);
        differing_by_lane += on != off ? 1 : 0;
        compared += 2;
        if (seen[i][1]) {
          ASSERT_EQ(on, live[i][1][v]) << "v" << v << " on, op " << i << " of\n" << subject.text;
        }
        if (seen[i][0]) {
          ASSERT_EQ(off, live[i][0][v]) << "v" << v << " off, op " << i << " of\n" << subject.text;
        }
      }
  }
  EXPECT_GT(compared, 50'000U);
  EXPECT_GT(differing_by_lane, 5'000U) << "the two facts hardly differ: the test shows little";
}

} // namespace
} // namespace asmevo::program
