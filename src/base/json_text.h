// JSON from outside.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string_view>

namespace asmevo {

/// None where it is no JSON, or nested deeper than `most_depth`, as nothing of ours is: copies of such a
/// document, and its text, are made by functions that call themselves at each level.
template <class Json>
std::optional<Json> json_from(std::string_view text, int most_depth = 100) {
  bool too_deep = false;
  const auto limit = [&too_deep, most_depth](int depth, typename Json::parse_event_t, Json&) {
    too_deep |= depth > most_depth;
    return !too_deep;
  };
  Json j = Json::parse(text, limit, /*allow_exceptions=*/false);
  if (too_deep || j.is_discarded()) return std::nullopt;
  return j;
}

} // namespace asmevo
