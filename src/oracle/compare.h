// Whether a candidate left in a buffer what K0 left there. Floats may differ by what another order of the
// same arithmetic can explain and no more; everything else must be the same to the bit.
//
// Rule `scaled`: the cosine of the two buffers, taken as vectors, is at least 0.9999, and each element is
// within 1e-3 of the larger of K0's element and the root mean square of K0's row (last dimension), or within
// 2 units in the last place of the buffer's type. A softmax over 400,000 columns has outputs of 1e-6: a fixed
// bound of 1e-3 would accept all zeros, this one does not. Rule `paper` is that fixed bound (cosine at least
// 0.9999, no element further off than 1e-3). Both are always worked out. Both also want NaNs and infinities
// where K0 has them, a zero vector only for a zero vector, what K0 wrote written, and what it did not write
// left alone.
#pragma once

#include "oracle/layout.h"

#include <array>
#include <functional>
#include <unordered_map>

namespace asmevo::oracle {

enum class Rule : uint8_t { Scaled, Paper };
std::string_view name(Rule);
/// BadInput names the two.
Result<Rule> rule_named(std::string_view name);

inline constexpr double least_cosine = 0.9999, most_relative = 1e-3, most_absolute = 1e-3;
inline constexpr uint64_t most_ulps = 2;

/// Bytes of a buffer from `offset` on.
using ReadBytes = std::function<Status(uint64_t offset, std::span<uint8_t> into)>;

/// The first byte from `offset` on that a run may have touched; beyond the buffer: there is none. Large
/// buffers of which little is written are then no work. Empty: all bytes.
using NextTouched = std::function<uint64_t(uint64_t offset)>;

/// Elements that K0 does not always leave the same, and between which values (decoded).
using Spread = std::unordered_map<uint64_t, std::pair<double, double>>;

struct Compared {
  ReadBytes k0, candidate;
  ReadBytes before;         // what was there at first
  NextTouched next_touched; // by either run: nobody need look at the rest
  /// Whether a run wrote any of these bytes. Empty: it wrote what has changed, which is true of poisoned
  /// memory; see `doubtful`.
  std::function<bool(uint64_t offset, uint64_t bytes)> k0_wrote, candidate_wrote;
  bool poisoned = true;           // before is nothing that a kernel would write by chance
  const Spread* spread = nullptr; // may be null
};

/// One element on which the two differ.
struct ElementDifference {
  uint64_t index = 0;
  uint64_t k0 = 0, candidate = 0; // codes; of elements beyond 64 bits the beginning
  double distance = 0; // in terms of what the rule allows: above 1 is too far; infinite: no number is enough
};

struct BufferComparison {
  bool scaled = true, paper = true; // equal by the rule
  bool equal(Rule rule) const { return rule == Rule::Scaled ? scaled : paper; }

  uint64_t elements = 0;  // looked at
  uint64_t different = 0; // other bits
  uint64_t beyond = 0;    // too far apart by rule scaled
  uint64_t beyond_paper = 0;
  uint64_t specials = 0;    // NaN or infinity in one where the other has none, or another infinity
  uint64_t unwritten = 0;   // K0 wrote the element, the candidate did not
  uint64_t overwritten = 0; // the candidate wrote what K0 left alone
  uint64_t doubtful = 0;    // within tolerance, but one of the two has what was there before: written or not?
  uint64_t in_spread = 0;   // accepted only because K0 itself does not always leave the same
  bool only_one_zero = false; // one buffer is all zeros, the other is not
  double cosine = 1;          // of what is finite in both
  double max_absolute = 0, max_relative = 0;
  /// One unit in the last place of K0's largest element is more than 1e-3. Only of buffers that differ.
  bool ulp_exceeds_paper = false;
  /// Elements 0, 1, 2, 3 to 4, 5 to 8, ..., 513 to 1024, and more units in the last place apart.
  std::array<uint64_t, 13> ulps{};
  std::optional<ElementDifference> first, worst; // of those beyond the rule asked for

  /// "first at 17: 3.5, candidate 3.75; ...": one line, for messages.
  std::string describe(const ElementType&) const;
};

/// Blockwise: memory for some thousand elements, whatever the size. `first` and `worst` are by `rule`.
Result<BufferComparison> compare(const Layout&, const Compared&, Rule rule);

/// Adds to `spread` the elements in which `other` is not what `k0` is, between the values of both; gives the
/// number of elements that differ. Unsupported: more than ten million.
Result<uint64_t> widen(Spread& spread, const Layout&, const ReadBytes& k0, const ReadBytes& other,
                       const NextTouched& next_touched);

/// Whether `index` bucket of the histogram a distance belongs to.
size_t ulp_bucket(uint64_t ulps);

} // namespace asmevo::oracle
