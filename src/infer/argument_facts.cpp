#include "infer/argument_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace asmevo::infer {

namespace {

Source source_of(unsigned region) {
  return static_cast<Source>(source::region0 + region);
}

template <class Map>
const typename Map::mapped_type* find(const Map& map, Source s) {
  const auto at = map.find(s);
  return at == map.end() ? nullptr : &at->second;
}

// Most instructions do the same to signed and unsigned numbers, or are chosen for numbers that are never
// negative: integers of 32 and 64 bits are called signed unless they are converted as unsigned ones.
ValueType with_sign(ValueType t, const TypeVotes& votes) {
  const auto is_there = [&](ValueType wanted) { return votes.votes().contains(wanted); };
  switch (t) {
  case ValueType::U64: return ValueType::I64;
  case ValueType::U32: return votes.votes().at(t).strength == TypeVotes::strong ? t : ValueType::I32;
  case ValueType::U8: return is_there(ValueType::I8) ? ValueType::I8 : t;
  case ValueType::U4: return is_there(ValueType::I4) ? ValueType::I4 : t;
  default: return t;
  }
}

TypeFacts facts_of(const TypeVotes& votes, std::string_view how) {
  TypeFacts facts;
  const auto choice = votes.choose();
  if (!choice) return facts;
  facts.type = with_sign(choice->type, votes);
  facts.bits = bits_of(facts.type);
  facts.confidence = choice->strength == TypeVotes::strong && !choice->contradicted ? Confidence::High
                     : choice->strength == TypeVotes::weak && choice->contradicted  ? Confidence::Low
                                                                                    : Confidence::Medium;
  // Of 16 and 64 bits nothing shows the sign.
  if (is_integer(facts.type) && (facts.bits == 16 || facts.bits == 64))
    facts.confidence = std::min(facts.confidence, Confidence::Medium);
  facts.evidence = fmt::format("{} {}", how, choice->evidence.text());
  if (choice->contradicted) {
    std::vector<std::string> others;
    for (const auto& [type, vote] : votes.votes())
      if (type != choice->type && vote.strength >= choice->strength)
        others.push_back(fmt::format("{} by {}", dtype_of(type, isa::Gfx::gfx950), vote.first.text()));
    facts.evidence += fmt::format(", but also {}", fmt::join(others, ", "));
  }
  return facts;
}

TypeFacts type_of(const Observations& seen, unsigned region, unsigned depth) {
  const Source s = source_of(region);
  if (const Evidence* e = find(seen.pointers_in, s))
    return {ValueType::Pointer, 64, Confidence::Medium, fmt::format("addresses: base of {}", e->text())};
  const TypeVotes* stored = find(seen.stored_as, s);
  const TypeVotes* used = find(seen.used_as, s);
  TypeFacts facts;
  if (stored != nullptr) facts = facts_of(*stored, "stored:");
  if (used != nullptr) {
    const TypeFacts as_used = facts_of(*used, "used by");
    const bool agree = as_used.type == facts.type;
    if (facts.type == ValueType::None || as_used.confidence > facts.confidence) facts = as_used;
    if (!agree && stored != nullptr && !stored->empty() && !used->empty() &&
        facts.confidence == Confidence::High)
      facts.confidence = Confidence::Medium;
  }
  constexpr unsigned longest_chain = 4;
  const auto* copied = find(seen.copied_from, s);
  if (copied != nullptr && depth < longest_chain && facts.confidence < Confidence::High)
    for (const Source from : *copied) {
      if (from == s) continue;
      const TypeFacts origin = type_of(seen, static_cast<unsigned>(from - source::region0), depth + 1);
      if (origin.type == ValueType::None || origin.confidence < facts.confidence) continue;
      if (facts.type != ValueType::None && origin.confidence == facts.confidence && !is_integer(facts.type))
        continue;
      facts = origin;
      facts.evidence = "copied, and there " + origin.evidence;
    }
  return facts;
}

} // namespace

TypeFacts type_of_region(const Observations& seen, unsigned region) {
  TypeFacts facts = type_of(seen, region, 0);
  if (facts.type == ValueType::None) {
    const RegionTouch* touch = find(seen.touched, source_of(region));
    facts.bits = touch == nullptr || touch->narrowest == 0 ? 8 : 8 * touch->narrowest;
    facts.evidence = touch == nullptr ? "never accessed" : "no instruction shows what the values are";
  }
  return facts;
}

TypeFacts type_of_scalar(const Observations& seen, uint64_t offset, uint64_t bytes) {
  const TypeVotes* votes = find(seen.used_as, static_cast<Source>(offset / 4));
  TypeFacts facts;
  if (votes != nullptr) facts = facts_of(*votes, "used by");
  if (facts.type == ValueType::None) {
    facts.confidence = Confidence::Low;
    facts.type = ValueType::U32;
  }
  if (is_float(facts.type) && bits_of(facts.type) == 8 * bytes) return facts;
  const bool is_signed = facts.type == ValueType::I32 || facts.type == ValueType::I64;
  if (is_float(facts.type)) facts.confidence = Confidence::Low;
  facts.type = bytes == 8   ? (is_signed ? ValueType::I64 : ValueType::U64)
               : bytes == 4 ? (is_signed ? ValueType::I32 : ValueType::U32)
               : bytes == 2 ? ValueType::U16
                            : ValueType::U8;
  facts.bits = bits_of(facts.type);
  return facts;
}

RoleFacts role_of_region(const Observations& seen, unsigned region) {
  RoleFacts facts;
  const RegionTouch* touch = find(seen.touched, source_of(region));
  if (touch == nullptr || !touch->touched()) {
    facts.evidence.emplace_back("never read or written in any probe");
    return facts;
  }
  facts.confidence = Confidence::High;
  facts.atomic = touch->atomic;
  if (touch->first_read) facts.evidence.push_back(fmt::format("read by {}", touch->first_read->text()));
  if (touch->first_write)
    facts.evidence.push_back(
        fmt::format("{} by {}", touch->atomic ? "updated" : "written", touch->first_write->text()));
  if (touch->written.empty()) {
    facts.role = oracle::Role::In;
  } else if (touch->atomic || (!touch->read.empty() && touch->read_first)) {
    facts.role = oracle::Role::InOut;
  } else if (touch->scattered) {
    facts.role = oracle::Role::InOut;
    facts.confidence = Confidence::Medium;
    facts.evidence.emplace_back("where it is written depends on data, so some of it may stay as it was");
  } else {
    facts.role = oracle::Role::Out;
  }
  return facts;
}

bool is_index(const Observations& seen, unsigned region) {
  return find(seen.in_address, source_of(region)) != nullptr && !is_float(type_of_region(seen, region).type);
}

bool is_count(const Observations& seen, unsigned region) {
  return find(seen.in_branch, source_of(region)) != nullptr && is_integer(type_of_region(seen, region).type);
}

} // namespace asmevo::infer
