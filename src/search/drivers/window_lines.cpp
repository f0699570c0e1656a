#include "search/drivers/window_lines.h"

#include <algorithm>
#include <numeric>

namespace asmevo::search {

namespace {

using program::Index;

// Where control may come in other than from above.
std::vector<bool> entered_at(const program::Program& p, Index begin, Index end) {
  std::vector<bool> entered(end - begin);
  for (const program::Label& l : p.labels)
    if (l.at >= begin && l.at < end) entered[l.at - begin] = true;
  return entered;
}

bool ends_segment(const isa::Instruction& i) {
  using enum isa::IssueClass;
  return i.issue == Branch || i.issue == EndProgram || i.issue == Message || i.issue == Data ||
         i.issue == Internal;
}

} // namespace

std::vector<Segment> segments_of(const Lineage::Version& v, const std::string& kernel, size_t least) {
  const program::Program& p = v.named;
  std::vector<Segment> all;
  for (const gate::KernelTimes& k : v.profile.kernels) {
    if (!kernel.empty() && k.kernel != kernel) continue;
    const program::Function* f = p.find_function(k.kernel);
    if (f == nullptr) continue;
    for (const gate::Json& w : k.report.at("windows")) {
      const auto first = program::InstrId::parse(w.at("first").get<std::string>());
      const auto last = program::InstrId::parse(w.at("last").get<std::string>());
      const auto from = first ? p.find(*first) : std::nullopt, to = last ? p.find(*last) : std::nullopt;
      if (!from || !to || *to < *from) continue;
      const std::vector<bool> entered = entered_at(p, *from, *to + 1);
      Segment s;
      const auto close = [&](Index at) {
        s.end = at;
        if (s.lines.size() >= least) {
          for (Index i = s.begin; i < s.end; ++i)
            if (i - f->begin < k.time.size()) s.share += k.share * k.time[i - f->begin];
          all.push_back(std::move(s));
        }
        s = {};
      };
      for (Index i = *from; i <= *to; ++i) {
        if (entered[i - *from] && !s.lines.empty()) close(i);
        if (p.entries[i].reference != program::no_index || ends_segment(p.instruction(i))) {
          if (!s.lines.empty()) close(i);
          continue;
        }
        if (s.lines.empty()) s.kernel = k.kernel, s.begin = i;
        s.lines.push_back({i, program::print(p, i, v.subject->codec())});
      }
      if (!s.lines.empty()) close(*to + 1);
    }
  }
  return all;
}

bool lies_in(const Segment& s, const program::Program& p, const Place& place) {
  const auto first = p.find(place.first), last = p.find(place.last);
  return s.kernel == place.kernel && first && last && *first <= s.begin && s.end <= *last + 1;
}

std::optional<program::Change> change_of(const Segment& s, const program::Program& p, isa::Codec& codec) {
  std::vector<Line> old;
  for (Index i = s.begin; i < s.end; ++i) old.push_back({i, program::print(p, i, codec)});
  size_t front = 0, back = 0;
  while (front < old.size() && front < s.lines.size() && old[front] == s.lines[front]) ++front;
  while (back + front < old.size() && back + front < s.lines.size() &&
         old[old.size() - 1 - back] == s.lines[s.lines.size() - 1 - back])
    ++back;
  if (front + back == old.size() && front + back == s.lines.size()) return std::nullopt;
  program::Change c;
  for (size_t n = front; n + back < s.lines.size(); ++n) c.text += s.lines[n].text + "\n";
  if (front + back == old.size()) { // something was put in, and nothing replaced
    if (back == 0)
      --front, c.text = s.lines[front].text + "\n" + c.text; // there is no entry behind to name
    else {
      c.before = p.entries[s.begin + front].id;
      return c;
    }
  }
  c.first = p.entries[s.begin + front].id, c.last = p.entries[s.end - 1 - back].id;
  return c;
}

} // namespace asmevo::search
