#include "search/rules/rule_list.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace asmevo::search {

namespace {

constexpr std::array rules = {
    Rule{"waits", "latency hiding", "waits for no more than is needed, no earlier than it is needed",
         propose_waits},
    Rule{"schedule", "latency hiding",
         "an order of a block's instructions that hides more of what they wait for", propose_schedules},
    Rule{"merge-memory", "memory access",
         "one wide access in place of several narrow ones next to each other", propose_merged_accesses},
    Rule{"wait-states", "latency hiding",
         "no more s_nops than hazards ask for, and work in place of the others", propose_wait_states},
    Rule{"priority", "latency hiding", "waves that have matrix work ready go first", propose_priorities},
    Rule{"short-branches", "instruction simplification",
         "no branch over a few instructions that do nothing where it is taken", propose_short_branches},
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
