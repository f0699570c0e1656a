#include "search/rules/rule_list.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace asmevo::search {

namespace {

constexpr std::string_view simplification = "instruction simplification";
constexpr std::string_view dependences = "dependency reduction";
constexpr std::string_view latency = "latency hiding", memory = "memory access";

constexpr std::array rules = {
    Rule{"waits", latency, "waits for no more than is needed, no earlier than it is needed", propose_waits},
    Rule{"schedule", latency, "an order of a block's instructions that hides more of what they wait for",
         propose_schedules},
    Rule{"batched-loads", latency,
         "loads under conditions all sent for before the first of them is waited for", propose_batched_loads},
    Rule{"unrolled", latency, "loops of known length written out, and what can be done then",
         propose_unrolled, true},
    Rule{"merge-memory", memory, "one wide access in place of several narrow ones next to each other",
         propose_merged_accesses},
    Rule{"wait-states", latency, "no more s_nops than hazards ask for, and work in place of the others",
         propose_wait_states},
    Rule{"priority", latency, "waves that have matrix work ready go first", propose_priorities},
    Rule{"short-branches", simplification,
         "no branch over a few instructions that do nothing where it is taken", propose_short_branches},
    Rule{"fast-division", simplification, "divide with v_rcp alone", propose_fast_division},
    Rule{"fast-functions", simplification,
         "expf, logf, sqrtf, erff, ... with the hardware's own instructions", propose_fast_functions},
    Rule{"known-results", dependences, "no copies, constants in registers and operations that change nothing",
         propose_known_results},
    Rule{"repeated-work", dependences, "nothing computed twice or for nobody", propose_repeated_work},
    Rule{"fused-integers", simplification, "shift and add, and the like, in one; shifts in place of products",
         propose_fused_integers},
    Rule{"fused-multiply-add", simplification, "multiply and add in one; scaled differences, too",
         propose_fused_multiply_add},
    Rule{"packed-arithmetic", simplification, "two operations on floats in one packed instruction",
         propose_packed_arithmetic},
    Rule{"scalar-base", simplification, "global addresses of scalar base and 32-bit offset",
         propose_scalar_base},
    Rule{"folded-offsets", simplification, "constants in the offsets of LDS accesses",
         propose_folded_offsets},
    Rule{"hoisted", dependences, "what is the same in each turn of a loop in front of it", propose_hoisted},
    Rule{"hoisted-values", dependences,
         "values that are the same in each turn kept in registers of their own", propose_hoisted_values},
};

} // namespace

std::span<const Rule> all_rules() {
  return rules;
}

const Rule* find_rule(std::string_view name) {
  const auto found = std::ranges::find(rules, name, &Rule::name);
  return found == rules.end() ? nullptr : &*found;
}

double RuleContext::time_of(program::Index begin, program::Index end) const {
  const program::Index first = code.function().begin;
  return std::accumulate(time.begin() + (begin - first), time.begin() + (end - first), 0.0);
}

std::string text_of(const RuleContext& context, program::Index begin, program::Index end) {
  std::string text;
  for (program::Index i = begin; i < end; ++i)
    text += program::print(context.code.program(), i, context.codec) + "\n";
  return text;
}

program::Change replace(const RuleContext& context, program::Index first, program::Index last,
                        std::string text) {
  const auto& entries = context.code.program().entries;
  return {.first = entries[first].id, .last = entries[last].id, .before = {}, .text = std::move(text)};
}

program::Change insert_before(const RuleContext& context, program::Index at, std::string text) {
  return {.first = {}, .last = {}, .before = context.code.program().entries[at].id, .text = std::move(text)};
}

} // namespace asmevo::search
