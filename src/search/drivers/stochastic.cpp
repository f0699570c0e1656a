#include "search/drivers/stochastic.h"

#include "base/random.h"
#include "search/drivers/window_lines.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace asmevo::search {

namespace {

using program::Index;

// Cost is the logarithm of the modelled time; a step that is slower by 1 % is taken one time in e.
constexpr double temperature = 0.01;
constexpr size_t least_lines = 3, most_tries = 200;
constexpr size_t reach = 12; // instructions that change places are not farther apart

// Opcodes that take the same operands. What is in none of these groups keeps its opcode.
constexpr std::array groups = {
    std::string_view(
        "v_add_f32_e32 v_sub_f32_e32 v_subrev_f32_e32 v_mul_f32_e32 v_max_f32_e32 v_min_f32_e32"),
    std::string_view("v_add_u32_e32 v_sub_u32_e32 v_subrev_u32_e32 v_and_b32_e32 v_or_b32_e32 v_xor_b32_e32 "
                     "v_lshlrev_b32_e32 v_lshrrev_b32_e32 v_ashrrev_i32_e32 v_min_u32_e32 v_max_u32_e32 "
                     "v_min_i32_e32 v_max_i32_e32 v_mul_u32_u24_e32 v_mul_i32_i24_e32"),
    std::string_view(
        "v_lshl_add_u32 v_add_lshl_u32 v_add3_u32 v_lshl_or_b32 v_and_or_b32 v_or3_b32 v_xad_u32 "
        "v_mad_u32_u24 v_mad_i32_i24 v_bfe_u32 v_bfe_i32 v_bfi_b32 v_perm_b32 v_alignbit_b32"),
    std::string_view("v_mov_b32_e32 v_not_b32_e32 v_rcp_f32_e32 v_rsq_f32_e32 v_sqrt_f32_e32 v_exp_f32_e32 "
                     "v_log_f32_e32 v_floor_f32_e32 v_ceil_f32_e32 v_trunc_f32_e32 v_rndne_f32_e32"),
    std::string_view("v_pk_add_f32 v_pk_mul_f32"),
    std::string_view("v_pk_add_f16 v_pk_mul_f16 v_pk_max_f16 v_pk_min_f16"),
    std::string_view("v_cmp_lt_u32_e32 v_cmp_le_u32_e32 v_cmp_gt_u32_e32 v_cmp_ge_u32_e32 v_cmp_eq_u32_e32 "
                     "v_cmp_ne_u32_e32"),
    std::string_view(
        "s_add_u32 s_sub_u32 s_and_b32 s_or_b32 s_xor_b32 s_lshl_b32 s_lshr_b32 s_ashr_i32 s_mul_i32 "
        "s_min_u32 s_max_u32 s_add_i32 s_sub_i32"),
    std::string_view("s_and_b64 s_or_b64 s_xor_b64 s_andn2_b64 s_orn2_b64"),
    std::string_view("s_lshl1_add_u32 s_lshl2_add_u32 s_lshl3_add_u32 s_lshl4_add_u32"),
};

std::vector<std::string_view> words_of(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(separator, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + separator.size();
  }
  return words;
}

// "v_add_f32_e32", and its operands; modifiers stay with the last one.
struct Words {
  std::string_view opcode;
  std::vector<std::string_view> operands;
  explicit Words(std::string_view text) : opcode(text.substr(0, text.find(' '))) {
    if (opcode.size() < text.size()) operands = words_of(text.substr(opcode.size() + 1), ", ");
  }
  std::string text() const {
    return fmt::format("{}{}{}", opcode, operands.empty() ? "" : " ", fmt::join(operands, ", "));
  }
};

// "v", "s", "a" and how many, so that like replaces like; "#" for numbers. Empty: leave it alone.
std::string kind_of(std::string_view operand) {
  if (operand.empty() || operand.contains(' ')) return "";
  const char c = operand[0];
  if ((c >= '0' && c <= '9') || c == '-') return "#";
  if (c != 'v' && c != 's' && c != 'a') return "";
  if (operand.size() > 1 && operand[1] == '[') {
    const size_t colon = operand.find(':');
    if (colon == std::string_view::npos) return "";
    const int first = std::atoi(std::string(operand.substr(2, colon - 2)).c_str());
    const int last = std::atoi(std::string(operand.substr(colon + 1)).c_str());
    return fmt::format("{}{}", c, last - first + 1);
  }
  return operand.size() > 1 && operand[1] >= '0' && operand[1] <= '9' ? fmt::format("{}1", c) : "";
}

class Stochastic : public Driver {
 public:
  Stochastic(std::string kernel, uint64_t seed) : kernel_(std::move(kernel)), random_(seed) {}
  std::string_view name() const override { return "stochastic"; }

  std::optional<Suggestion> propose(const Lineage& lineage, const Assignment& a) override {
    const Lineage::Version& base = lineage.at(a.base);
    if (!base.editable) return std::nullopt;
    const auto [found, is_new] = walks_.try_emplace(a.base);
    Walk& walk = found->second;
    if (is_new) walk.segments = segments_of(base, kernel_, least_lines);
    for (size_t n = 0; n < most_tries; ++n) {
      const auto at = choose(walk, base, a);
      if (!at) return std::nullopt;
      std::vector<Segment> next = walk.segments;
      std::string what, direction;
      if (!move(next[*at], what, direction)) continue;
      if (auto s = suggest(next, base, what, direction)) {
        proposed_[key_of(s->edit)] = std::move(next);
        return s;
      }
    }
    return std::nullopt;
  }

  void learn(const Outcome& o) override {
    const auto proposed = proposed_.find(key_of(o.suggestion.edit));
    if (proposed == proposed_.end()) return;
    std::vector<Segment> segments = std::move(proposed->second);
    proposed_.erase(proposed);
    const auto walk = walks_.find(o.suggestion.edit.base);
    if (walk == walks_.end() || !o.evaluation.passed() || o.over_base <= 0) return;
    const double cost = -std::log(o.over_base), worse = cost - walk->second.cost;
    if (worse > 0 && uniform() > std::exp(-worse / temperature)) return;
    walk->second.segments = std::move(segments), walk->second.cost = cost;
  }

 private:
  struct Walk {
    std::vector<Segment> segments; // where it stands
    double cost = 0;               // of that, over the version it began with
  };

  static std::string key_of(const program::Edit& e) { return e.json(); }
  double uniform() { return static_cast<double>(random_.next() >> 11) * 0x1p-53; }

  // A segment, by the time that is spent in it.
  std::optional<size_t> choose(const Walk& walk, const Lineage::Version& base, const Assignment& a) {
    double all = 0;
    const auto weight = [&](const Segment& s) {
      return a.place && !lies_in(s, base.named, *a.place) ? 0 : s.share + 1e-6;
    };
    for (const Segment& s : walk.segments) all += weight(s);
    if (all <= 0) return std::nullopt;
    double at = uniform() * all;
    for (size_t n = 0; n < walk.segments.size(); ++n)
      if ((at -= weight(walk.segments[n])) < 0) return n;
    return walk.segments.size() - 1;
  }

  // --- moves

  bool move(Segment& s, std::string& what, std::string& direction) {
    if (s.lines.size() < 2) return false;
    const size_t n = random_.below(s.lines.size());
    const std::string before = s.lines[n].text;
    direction = search::name(Direction::InstructionSimplification);
    switch (random_.below(8)) {
    case 0: // rarely right, and soon refused
      if (!other_opcode(s.lines[n].text)) return false;
      what = fmt::format("{} for {}", s.lines[n].text, before);
      return true;
    case 1:
      if (!other_operand(s, n)) return false;
      what = fmt::format("{} for {}", s.lines[n].text, before);
      return true;
    case 2:
    case 3:
      s.lines.erase(s.lines.begin() + static_cast<std::ptrdiff_t>(n));
      what = fmt::format("without {}", before);
      return true;
    default: {
      const size_t k = n + 1 + random_.below(reach);
      if (k >= s.lines.size() || s.lines[k] == s.lines[n]) return false;
      direction = search::name(Direction::LatencyHiding);
      what = fmt::format("{} behind {}", before, s.lines[k].text);
      const auto from = s.lines.begin() + static_cast<std::ptrdiff_t>(n);
      const auto to = s.lines.begin() + static_cast<std::ptrdiff_t>(k) + 1;
      if (random_.below(2) == 0)
        std::rotate(from, from + 1, to); // down
      else {
        what = fmt::format("{} in front of {}", s.lines[k].text, before);
        std::rotate(from, to - 1, to); // up
      }
      return true;
    }
    }
  }

  bool other_opcode(std::string& text) {
    Words words(text);
    for (const std::string_view group : groups) {
      const auto names = words_of(group, " ");
      const auto own = std::ranges::find(names, words.opcode);
      if (own == names.end()) continue;
      const size_t other = random_.below(names.size() - 1);
      const auto at = static_cast<size_t>(own - names.begin());
      words.opcode = names[other >= at ? other + 1 : other];
      text = words.text();
      return true;
    }
    return false;
  }

  // Another operand of the kind, as the segment uses them.
  bool other_operand(Segment& s, size_t n) {
    const std::string text = s.lines[n].text;
    Words words(text);
    if (words.operands.empty()) return false;
    std::string_view& operand = words.operands[random_.below(words.operands.size())];
    const std::string kind = kind_of(operand);
    if (kind.empty()) return false;
    std::set<std::string> others;
    for (const Line& l : s.lines)
      for (const std::string_view o : Words(l.text).operands)
        if (kind_of(o) == kind && o != operand) others.emplace(o);
    if (others.empty()) return false;
    auto at = others.begin();
    std::advance(at, random_.below(others.size()));
    operand = *at;
    s.lines[n].text = words.text();
    return true;
  }

  // All that the walk has changed; one kernel's, as an edit is. None where it was proposed before.
  std::optional<Suggestion> suggest(const std::vector<Segment>& segments, const Lineage::Version& base,
                                    const std::string& what, std::string direction) {
    Suggestion s;
    size_t text = 0;
    for (const Segment& segment : segments) {
      const auto change = change_of(segment, base.named, base.subject->codec());
      if (!change) continue;
      if (!s.edit.kernel.empty() && s.edit.kernel != segment.kernel) return std::nullopt;
      s.edit.kernel = segment.kernel;
      text += change->text.size();
      s.edit.changes.push_back(*change);
    }
    if (s.edit.changes.empty() || text > program::Edit::max_text) return std::nullopt;
    s.edit.base = base.node.id;
    if (!tried_.insert(key_of(s.edit)).second) return std::nullopt;
    s.rule = "stochastic";
    s.edit.rationale = what, s.edit.direction = std::move(direction);
    return s;
  }

  std::string kernel_;
  RandomStream random_;
  std::map<uint32_t, Walk> walks_;                       // by version
  std::map<std::string, std::vector<Segment>> proposed_; // until their outcome is known
  std::set<std::string> tried_;
};

} // namespace

std::unique_ptr<Driver> make_stochastic(std::string kernel, uint64_t seed) {
  return std::make_unique<Stochastic>(std::move(kernel), seed);
}

} // namespace asmevo::search
