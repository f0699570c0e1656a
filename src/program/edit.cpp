#include "program/edit.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <set>

namespace asmevo::program {

namespace {

using Json = nlohmann::ordered_json;

Result<std::string> string_at(const Json& object, std::string_view key, std::string_view path) {
  const auto at = object.find(key);
  if (at == object.end()) return std::string();
  if (!at->is_string()) return bad_input("edit: {}{} must be a string", path, key);
  return at->get<std::string>();
}

Result<std::optional<uint32_t>> number_at(const Json& object, std::string_view key, std::string_view path) {
  const auto at = object.find(key);
  if (at == object.end() || at->is_null()) return std::optional<uint32_t>();
  if (!at->is_number_unsigned() || at->get<uint64_t>() > UINT32_MAX)
    return bad_input("edit: {}{} must be a number from 0 to {}", path, key, UINT32_MAX);
  return std::optional(at->get<uint32_t>());
}

Result<std::optional<InstrId>> id_at(const Json& object, std::string_view key, std::string_view path) {
  if (!object.contains(key)) return std::optional<InstrId>();
  ASMEVO_TRY(const std::string text, string_at(object, key, path));
  const std::optional<InstrId> id = InstrId::parse(text);
  if (!id) return bad_input("edit: {}{}: '{}' is not an instruction id", path, key, printable(text));
  return id;
}

Status known_keys(const Json& object, std::string_view path, std::initializer_list<std::string_view> keys) {
  for (const auto& [key, value] : object.items())
    if (std::ranges::find(keys, key) == keys.end())
      return bad_input("edit: unknown key '{}{}'", path, printable(key));
  return {};
}

Result<Change> parse_change(const Json& object, const std::string& path) {
  if (!object.is_object()) return bad_input("edit: {} must be an object", path);
  const std::string prefix = path + ".";
  ASMEVO_CHECK(known_keys(object, prefix, {"first", "last", "before", "text"}));
  Change change;
  ASMEVO_TRY(change.first, id_at(object, "first", prefix));
  ASMEVO_TRY(change.last, id_at(object, "last", prefix));
  ASMEVO_TRY(change.before, id_at(object, "before", prefix));
  if (!object.contains("text")) return bad_input("edit: {}text is missing", prefix);
  ASMEVO_TRY(change.text, string_at(object, "text", prefix));
  if (change.before ? change.first || change.last : !change.first)
    return bad_input("edit: {} needs either 'first' (and 'last') or 'before'", path);
  if (change.first && !change.last) change.last = change.first;
  return change;
}

Result<ResourceRequest> parse_resources(const Json& object) {
  if (!object.is_object()) return bad_input("edit: resources must be an object");
  ASMEVO_CHECK(known_keys(object, "resources.", {"lds_bytes", "scratch_bytes", "shrink_vgprs"}));
  ResourceRequest request;
  ASMEVO_TRY(request.lds_bytes, number_at(object, "lds_bytes", "resources."));
  ASMEVO_TRY(request.scratch_bytes, number_at(object, "scratch_bytes", "resources."));
  if (const auto at = object.find("shrink_vgprs"); at != object.end()) {
    if (!at->is_boolean()) return bad_input("edit: resources.shrink_vgprs must be true or false");
    request.shrink_vgprs = at->get<bool>();
  }
  return request;
}

Result<Edit> parse_document(const Json& document) {
  if (!document.is_object()) return bad_input("edit: not a JSON object");
  ASMEVO_CHECK(known_keys(document, "",
                          {"version", "base", "kernel", "changes", "resources", "rationale", "direction"}));
  ASMEVO_TRY(const std::optional<uint32_t> version, number_at(document, "version", ""));
  if (version != 1U) return bad_input("edit: version must be 1");
  Edit edit;
  ASMEVO_TRY(const std::optional<uint32_t> base, number_at(document, "base", ""));
  edit.base = base.value_or(0);
  ASMEVO_TRY(edit.kernel, string_at(document, "kernel", ""));
  ASMEVO_TRY(edit.rationale, string_at(document, "rationale", ""));
  ASMEVO_TRY(edit.direction, string_at(document, "direction", ""));
  if (edit.kernel.empty()) return bad_input("edit: kernel is missing");
  const auto changes = document.find("changes");
  if (changes == document.end() || !changes->is_array()) return bad_input("edit: changes must be an array");
  size_t text = 0;
  for (size_t k = 0; k < changes->size(); ++k) {
    ASMEVO_TRY(Change change, parse_change((*changes)[k], fmt::format("changes[{}]", k)));
    text += change.text.size();
    edit.changes.push_back(std::move(change));
  }
  if (text > Edit::max_text) return bad_input("edit: more than {} bytes of text", Edit::max_text);
  if (const auto at = document.find("resources"); at != document.end()) {
    ASMEVO_TRY(edit.resources, parse_resources(*at));
  }
  return edit;
}

// nlohmann's parser recurses; hostile nesting would overflow the stack.
bool nested_too_deeply(std::string_view json) {
  int depth = 0;
  bool in_string = false;
  for (size_t k = 0; k < json.size(); ++k) {
    const char c = json[k];
    if (in_string) {
      if (c == '\\')
        ++k;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > 16) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

// A DOM keeps one of two equal keys, and which one is nobody's intention.
class DuplicateKeys {
 public:
  /// For Json::parse.
  bool operator()(int, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    switch (event) {
    case Event::object_start:
    case Event::array_start:
      next_element();
      levels_.push_back({event == Event::array_start, {}, {}, 0});
      break;
    case Event::object_end:
    case Event::array_end: levels_.pop_back(); break;
    case Event::key:
      levels_.back().key = parsed.get<std::string>();
      if (!levels_.back().keys.insert(levels_.back().key).second && first_.empty()) first_ = path();
      break;
    case Event::value: next_element(); break;
    }
    return true;
  }
  /// "changes[0].text"; empty where there is none.
  const std::string& first() const { return first_; }

 private:
  struct Level {
    bool array = false;
    std::set<std::string> keys;
    std::string key;     // of the value to come
    size_t elements = 0; // of an array, begun
  };

  void next_element() {
    if (!levels_.empty() && levels_.back().array) ++levels_.back().elements;
  }

  std::string path() const {
    std::string text;
    for (const Level& level : levels_) {
      if (level.array)
        text += fmt::format("[{}]", level.elements - 1);
      else
        text += (text.empty() ? "" : ".") + printable(level.key);
    }
    return text;
  }

  std::vector<Level> levels_;
  std::string first_;
};

} // namespace

Result<Edit> Edit::parse(std::string_view json) {
  if (json.size() > 16 * max_text) return bad_input("edit: more than {} bytes", 16 * max_text);
  if (nested_too_deeply(json)) return bad_input("edit: nested too deeply");
  DuplicateKeys duplicates;
  const Json document = Json::parse(json, std::ref(duplicates), /*allow_exceptions=*/false);
  if (document.is_discarded()) return bad_input("edit: not valid JSON");
  if (!duplicates.first().empty()) return bad_input("edit: {} is there twice", duplicates.first());
  try {
    return parse_document(document);
  } catch (const Json::exception& error) {
    return bad_input("edit: {}", printable(error.what()));
  }
}

std::string Edit::json() const {
  Json document = {{"version", 1}, {"base", base}, {"kernel", kernel}};
  document["changes"] = Json::array();
  for (const Change& change : changes) {
    Json object;
    if (change.before) object["before"] = change.before->text();
    if (change.first) object["first"] = change.first->text();
    if (change.last) object["last"] = change.last->text();
    object["text"] = change.text;
    document["changes"].push_back(std::move(object));
  }
  Json request = Json::object();
  if (resources.lds_bytes) request["lds_bytes"] = *resources.lds_bytes;
  if (resources.scratch_bytes) request["scratch_bytes"] = *resources.scratch_bytes;
  if (resources.shrink_vgprs) request["shrink_vgprs"] = true;
  if (!request.empty()) document["resources"] = std::move(request);
  if (!rationale.empty()) document["rationale"] = rationale;
  if (!direction.empty()) document["direction"] = direction;
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace asmevo::program
