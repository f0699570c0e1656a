#include "report/code_change.h"

#include "program/diff.h"

#include <algorithm>

namespace asmevo::report {

namespace {

using program::Function;
using program::Hunk;
using program::Index;
using program::Program;

constexpr Index context = 3; // instructions around a change

class Side {
 public:
  Side(const CodeSide& side, const Function& f, isa::Codec& codec)
      : program_(side.program), codec_(codec), begin_(f.begin), labels_(side.program.labels_by_entry()) {
    if (const auto found = side.shares.find(f.name); found != side.shares.end()) shares_ = &found->second;
  }

  std::vector<CodeLine> lines(Index begin, Index end) const {
    std::vector<CodeLine> list;
    for (Index i = begin; i < end; ++i) {
      if (const auto at = labels_.find(i); at != labels_.end())
        for (const uint32_t l : at->second) list.push_back({"", program_.labels[l].name + ":", 0});
      list.push_back({program_.entries[i].id.text(), program::print(program_, i, codec_), share(i)});
    }
    return list;
  }

 private:
  double share(Index i) const {
    return shares_ != nullptr && i - begin_ < shares_->size() ? (*shares_)[i - begin_] : 0;
  }
  const Program& program_;
  isa::Codec& codec_;
  Index begin_;
  std::unordered_map<Index, std::vector<uint32_t>> labels_;
  const std::vector<double>* shares_ = nullptr;
};

// Hunks whose surroundings touch make one window.
std::vector<std::vector<Hunk>> groups_of(const std::vector<Hunk>& hunks) {
  std::vector<std::vector<Hunk>> groups;
  for (const Hunk& h : hunks) {
    if (groups.empty() || h.k0_begin > groups.back().back().k0_end + 2 * context) groups.emplace_back();
    groups.back().push_back(h);
  }
  return groups;
}

class Windows {
 public:
  Windows(CodeChange& change, size_t& room, const Function& a, const Side& before, const Function& b,
          const Side& after)
      : change_(change), room_(room), a_(a), b_(b), before_(before), after_(after) {}

  void add(const std::vector<Hunk>& group) {
    size_t size = 0;
    for (const Hunk& h : group) {
      change_.removed += h.k0_end - h.k0_begin, change_.added += h.end - h.begin;
      size += h.k0_end - h.k0_begin + h.end - h.begin;
    }
    if (size > room_) {
      change_.left_out += size;
      return;
    }
    room_ -= size;
    CodeWindow window{a_.name, {}};
    const Hunk &first = group.front(), &last = group.back();
    const Index lead = std::min({context, first.k0_begin - a_.begin, first.begin - b_.begin});
    Index x = first.k0_begin - lead, y = first.begin - lead;
    for (const Hunk& h : group) {
      same(window, x, h.k0_begin, y, h.begin);
      window.blocks.push_back({true, before_.lines(h.k0_begin, h.k0_end), after_.lines(h.begin, h.end)});
      x = h.k0_end, y = h.end;
    }
    const Index tail = std::min({context, a_.end - last.k0_end, b_.end - last.end});
    same(window, x, x + tail, y, y + tail);
    change_.windows.push_back(std::move(window));
  }

 private:
  void same(CodeWindow& window, Index x, Index x_end, Index y, Index y_end) const {
    if (x < x_end || y < y_end)
      window.blocks.push_back({false, before_.lines(x, x_end), after_.lines(y, y_end)});
  }

  CodeChange& change_;
  size_t& room_;
  const Function &a_, &b_;
  const Side &before_, &after_;
};

} // namespace

CodeChange code_change(const CodeSide& before, const CodeSide& after, isa::Codec& codec, size_t most) {
  CodeChange change;
  for (const Function& a : before.program.functions) {
    const Function* b = after.program.find_function(a.name);
    if (b == nullptr) continue;
    const std::vector<Hunk> hunks = program::diff(before.program, a, after.program, *b);
    if (hunks.empty()) continue;
    const Side left(before, a, codec), right(after, *b, codec);
    Windows windows(change, most, a, left, *b, right);
    for (const auto& group : groups_of(hunks)) windows.add(group);
  }
  return change;
}

} // namespace asmevo::report
