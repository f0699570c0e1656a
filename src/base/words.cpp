#include "base/words.h"

#include "base/result.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace asmevo {

namespace {

constexpr size_t longest_word = 64; // what is longer was never meant to be one of ours
constexpr size_t most_listed = 12;

// Letters to put in, to leave out or to exchange until one is the other (Levenshtein).
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] != b[j - 1] ? 1 : 0);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, changed}));
    }
  }
  return row.back();
}

bool are_near(std::string_view a, std::string_view b) {
  constexpr size_t letters_a_mistake = 2; // two that were exchanged are two mistakes
  return distance(a, b) <= std::max<size_t>(1, std::max(a.size(), b.size()) / letters_a_mistake);
}

} // namespace

std::string suggestion(std::string_view word, std::span<const std::string_view> known) {
  if (known.empty()) return "";
  if (word.size() <= longest_word) {
    const auto nearest = std::ranges::min_element(known, {}, [&](auto k) { return distance(word, k); });
    if (are_near(word, *nearest)) return fmt::format("; did you mean '{}'?", printable(*nearest));
  }
  std::string list;
  for (const std::string_view k : known.first(std::min(known.size(), most_listed)))
    list += fmt::format("{} '{}'", list.empty() ? "" : ",", printable(k));
  return fmt::format("; there are{}{}", list, known.size() > most_listed ? ", ..." : "");
}

} // namespace asmevo
