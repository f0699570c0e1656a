// A hot window's blocks as lines of text that can be changed one by one, and the changes that this comes to.
// What drivers that walk (stochastic, schedule) have in common.
#pragma once

#include "search/assignment.h"
#include "search/lineage.h"

namespace asmevo::search {

/// An instruction, by the text that it has now.
struct Line {
  program::Index at = program::no_index; // in the version; none: it was put in
  std::string text;
  friend bool operator==(const Line&, const Line&) = default;
};

/// Part of a block: nothing jumps into it behind its first instruction, and only its last may leave.
struct Segment {
  std::string kernel;
  program::Index begin = 0, end = 0; // entries [begin, end) of the version
  double share = 0;                  // of the time of all launches that is spent in it
  std::vector<Line> lines;
};

/// Of all hot windows of a version, or of one; with at least `least` instructions each.
std::vector<Segment> segments_of(const Lineage::Version&, const std::string& kernel, size_t least);
/// Whether the segment lies in the place.
bool lies_in(const Segment&, const program::Program&, const Place&);

/// The least change that makes it what it is now: the lines from the first to the last that differ. None
/// where nothing does.
std::optional<program::Change> change_of(const Segment&, const program::Program&, isa::Codec&);

} // namespace asmevo::search
