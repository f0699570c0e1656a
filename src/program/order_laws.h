// Which kinds of order points always come after one another, on all ways through a function: a write-back in
// front of each atomic that publishes, an invalidation behind each that acquires. A candidate that branches
// around one of them breaks such a law.
#pragma once

#include "program/order_points.h"

#include <set>
#include <string>
#include <tuple>

namespace asmevo::program {

/// Followed(a, b): each a is followed by a b before the function is left; Preceded(a, b): each a has a b
/// before it. Next: and that before another a, where b is cache control or a barrier. Cache control itself
/// may come as often as it likes: it is no a. LDS atomics and relaxed ones are neither.
enum class OrderLaw : uint8_t { Followed, FollowedNext, Preceded, PrecededNext };
using OrderLaws = std::set<std::tuple<OrderLaw, std::string, std::string>>;

OrderLaws order_laws(const MemoryOrder&, const Cfg&);

} // namespace asmevo::program
