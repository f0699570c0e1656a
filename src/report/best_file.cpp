#include "report/best_file.h"

#include "base/files.h"
#include "base/hash.h"
#include "base/json_text.h"

#include <algorithm>

namespace asmevo::report {

namespace {

using gate::Json;

std::string text_at(const Json& j, const char* key) {
  const auto found = j.find(key);
  return found != j.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<std::pair<double, double>> structural_in(const Json& about) {
  const auto number = [&](const char* key) -> std::optional<double> {
    const auto found = about.find(key);
    return found != about.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
  };
  const auto median = number("speedup_structural"), least = number("speedup_structural_low");
  if (!median || !least) return std::nullopt;
  return std::pair(*median, *least);
}

// For this node, and not for one before it: a run that is gone on with may find a better one.
bool was_not_confirmed(const run::RunFolder& run, const run::Node& best) {
  const auto events = run.events();
  return events && std::ranges::any_of(*events, [&](const run::Event& e) {
           return e.kind == "not_confirmed" && e.text.starts_with(fmt::format("node {} ", best.id));
         });
}

} // namespace

BestFileState best_file(const run::RunFolder& run, const run::Node* best, bool ended) {
  if (best == nullptr || best->id == 0) return {};
  const auto object = read_file(run.path() / "best.co"), json = read_file(run.path() / "best.json");
  if (object && json && content_hash(*object) == best->object_hash) {
    const auto about = json_from<Json>(as_text(*json));
    if (about && about->is_object() && text_at(*about, "object_hash") == best->object_hash)
      return {BestFile::Verified, structural_in(*about)};
  }
  if (!ended) return {BestFile::NotYet, {}};
  if (was_not_confirmed(run, *best)) return {BestFile::NotConfirmed, {}};
  return {object && json ? BestFile::Changed : BestFile::Gone, {}};
}

std::string_view text_of(BestFile state) {
  switch (state) {
  case BestFile::None: return "";
  case BestFile::NotYet: return "not verified from the disk yet";
  case BestFile::Verified: return "verified from the disk";
  case BestFile::NotConfirmed: return "not confirmed when it was read from the disk";
  case BestFile::Gone: return "best.co or best.json is gone";
  case BestFile::Changed: return "best.co or best.json was changed since";
  }
  return "";
}

} // namespace asmevo::report
