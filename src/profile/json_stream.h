// JSON of any length: the file is read once, and only the parts that are asked for are ever held in memory,
// one at a time.
#pragma once

#include "base/text_source.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <optional>
#include <span>

namespace asmevo::profile {

using Json = nlohmann::json;

struct JsonPart {
  /// Keys with "." between them, "[]" for each element of a list: "rocprofiler-sdk-tool[].code_objects[]".
  std::string path;
  /// Called for each such value. What it returns as an error ends the reading.
  std::function<Status(const Json&)> take;
  /// Set: null where the list should be is an error, with this behind it. Else null is an empty list.
  std::string if_null;
};

inline constexpr size_t most_json_depth = 64, most_json_token = 1 << 20, most_json_part = 1 << 14;

/// BadInput, with the line or the part's number: no JSON, cut off, nested deeper than `most_json_depth`, a
/// string or number of over `most_json_token` bytes, a part of over `most_json_part` values.
Status read_json(TextSource& source, std::span<const JsonPart> parts);

/// The first key of the file's object, to tell what kind of file it is; BadInput where it is no object.
Result<std::string> first_json_key(TextSource& source);

/// The member at a path of keys ("pc.code_object_id"); null where there is none.
const Json* member(const Json& object, std::string_view path);
/// A whole number of 0 or more; BadInput, which names the path: missing, or something else.
Result<uint64_t> whole_number(const Json& object, std::string_view path);
/// The text at a path; "" where there is none.
std::string text_at(const Json& object, std::string_view path);

} // namespace asmevo::profile
