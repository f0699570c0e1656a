#include "infer/observations.h"

#include <fmt/format.h>

#include <algorithm>

namespace asmevo::infer {

std::string Evidence::text() const {
  return fmt::format("{} at {:#x}", mnemonic, pc);
}

void TypeVotes::add(ValueType type, Strength strength, const Evidence& evidence) {
  if (type == ValueType::None) return;
  const auto [at, is_new] = votes_.try_emplace(type);
  Vote& vote = at->second;
  if (is_new || strength > vote.strength) {
    vote.strength = strength;
    vote.first = evidence;
  }
  vote.places.insert(evidence.pc);
}

void TypeVotes::merge(const TypeVotes& other) {
  for (const auto& [type, vote] : other.votes_) {
    add(type, vote.strength, vote.first);
    votes_[type].places.insert(vote.places.begin(), vote.places.end());
  }
}

std::optional<TypeVotes::Choice> TypeVotes::choose() const {
  const Vote* best = nullptr;
  Choice choice;
  const auto weight = [](const Vote& v) { return std::pair(v.strength, v.places.size()); };
  for (const auto& [type, vote] : votes_)
    if (best == nullptr || weight(vote) > weight(*best)) {
      best = &vote;
      choice.type = type;
    }
  if (best == nullptr) return std::nullopt;
  choice.strength = best->strength;
  choice.evidence = best->first;
  // Signedness aside: many instructions do not care.
  const auto kind = [](ValueType t) { return std::pair(is_float(t) ? static_cast<int>(t) : -1, bits_of(t)); };
  for (const auto& [type, vote] : votes_)
    if (vote.strength >= best->strength && kind(type) != kind(choice.type)) choice.contradicted = true;
  return choice;
}

void ByteExtent::add(int64_t from, int64_t to) {
  if (from == to) return;
  if (empty()) {
    begin = from;
    end = to;
  }
  begin = std::min(begin, from);
  end = std::max(end, to);
}

void RegionTouch::merge(const RegionTouch& o) {
  read.add(o.read.begin, o.read.end);
  written.add(o.written.begin, o.written.end);
  read_bytes = std::max(read_bytes, o.read_bytes);
  read_first |= o.read_first;
  atomic |= o.atomic;
  scattered |= o.scattered;
  placed_by.insert(o.placed_by.begin(), o.placed_by.end());
  if (narrowest == 0 || (o.narrowest != 0 && o.narrowest < narrowest)) narrowest = o.narrowest;
  if (!first_read) first_read = o.first_read;
  if (!first_write) first_write = o.first_write;
}

void Observations::merge(const Observations& o) {
  for (const auto& [s, votes] : o.used_as) used_as[s].merge(votes);
  for (const auto& [s, votes] : o.stored_as) stored_as[s].merge(votes);
  for (const auto& [s, from] : o.copied_from) copied_from[s].insert(from.begin(), from.end());
  for (const auto& [s, touch] : o.touched) touched[s].merge(touch);
  in_address.insert(o.in_address.begin(), o.in_address.end());
  in_branch.insert(o.in_branch.begin(), o.in_branch.end());
  used.insert(o.used.begin(), o.used.end());
  accesses.insert(o.accesses.begin(), o.accesses.end());
  pointers.insert(o.pointers.begin(), o.pointers.end());
  pointers_in.insert(o.pointers_in.begin(), o.pointers_in.end());
}

} // namespace asmevo::infer
