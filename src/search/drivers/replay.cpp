#include "search/drivers/replay.h"

#include "base/files.h"
#include "base/json_problem.h"
#include "base/json_text.h"

namespace asmevo::search {

namespace {

using gate::Json;

class Replay : public Driver {
 public:
  explicit Replay(std::vector<Suggestion> list) : list_(std::move(list)) {}
  std::string_view name() const override { return "replay"; }
  // In the file's order, whatever is asked for.
  std::optional<Suggestion> propose(const Lineage& lineage, const Assignment&) override {
    if (at_ == list_.size()) return std::nullopt;
    Suggestion next = list_[at_++];
    if (next.edit.base >= lineage.size()) next.edit.base = 0;
    return next;
  }

 private:
  std::vector<Suggestion> list_;
  size_t at_ = 0;
};

Result<Suggestion> suggestion_of(const Json& j, const std::filesystem::path& folder) {
  Suggestion s;
  s.rule = "replay";
  if (!j.is_object() || !j.contains("object")) {
    ASMEVO_TRY(s.edit, program::Edit::parse(j.dump()));
    return s;
  }
  for (const auto& [key, value] : j.items()) {
    if (key == "base") continue; // of a whole object: what it was made from, for people
    if (key != "object" && key != "rationale" && key != "direction")
      return bad_input("'{}': not known of a whole object", printable(key));
    if (!value.is_string()) return bad_input("{}: not a text", key);
  }
  const auto path = j.at("object").get<std::string>();
  if (path.empty() || path.contains('\0')) return bad_input("object: not a path");
  ASMEVO_TRY(s.object, read_file(folder / path));
  s.edit.rationale = j.value("rationale", ""), s.edit.direction = j.value("direction", "");
  return s;
}

std::string why_not(std::string_view text) {
  const std::string problem = json_problem(text);
  return problem.empty() ? "nested too deeply" : printable(problem, 300);
}

Result<Json> elements_of(std::string_view text) {
  if (auto whole = json_from<Json>(text); whole && whole->is_array()) return *std::move(whole);
  if (const size_t first = text.find_first_not_of(" \t\r\n"); first != text.npos && text[first] == '[')
    return bad_input("not JSON: {}", why_not(text));
  Json all = Json::array();
  size_t line = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line;
    if (one.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto j = json_from<Json>(one);
    if (!j) return bad_input("line {}: not JSON: {}", line, why_not(one));
    all.push_back(*std::move(j));
  }
  return all;
}

} // namespace

Result<std::unique_ptr<Driver>> make_replay(const std::filesystem::path& file) {
  ASMEVO_TRY(const Bytes bytes, read_file(file));
  auto elements = elements_of(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  if (!elements) return failed(elements.error(), file.string());
  std::vector<Suggestion> list;
  for (size_t n = 0; n < elements->size(); ++n) {
    auto s = suggestion_of((*elements)[n], file.parent_path());
    if (!s) return failed(s.error(), fmt::format("{}: proposal {}", file.string(), n));
    list.push_back(*std::move(s));
  }
  return std::make_unique<Replay>(std::move(list));
}

} // namespace asmevo::search
