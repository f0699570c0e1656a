#include "run/run_folder.h"

#include "base/files.h"
#include "base/json_text.h"

#include <algorithm>
#include <array>

namespace asmevo::run {

namespace {

constexpr int64_t version = 1;
constexpr std::string_view lock_name = "lock", unfinished_name = "run.sqlite.new";

constexpr const char* tables[] = {
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE attempts (round INTEGER, slot INTEGER, base INTEGER, driver TEXT, direction TEXT, rule "
    "TEXT, "
    "rationale TEXT, edit TEXT, object TEXT, evaluation TEXT, held_back TEXT, outcome TEXT, text TEXT, "
    "over_best REAL, speedup REAL, node INTEGER, at REAL, PRIMARY KEY (round, slot))",
    "CREATE TABLE nodes (id INTEGER PRIMARY KEY, parent INTEGER, round INTEGER, slot INTEGER, edit TEXT, "
    "object "
    "TEXT, seconds TEXT, held_back_seconds TEXT, speedup REAL, over_parent REAL, driver TEXT, direction "
    "TEXT, rule TEXT, rationale "
    "TEXT, resources TEXT, profile TEXT, at REAL)",
    "CREATE TABLE events (id INTEGER PRIMARY KEY, at REAL, kind TEXT, text TEXT)",
};

std::filesystem::path database_in(const std::filesystem::path& folder) {
  return folder / "run.sqlite";
}

std::filesystem::path lock_in(const std::filesystem::path& folder) {
  return folder / lock_name;
}

std::string text_of(const Json& j) {
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Json> json_of(const Value& v) {
  auto j = json_from<Json>(as_text(v));
  if (!j) return bad_input("run.sqlite: a value that is not JSON");
  return *std::move(j);
}

// What is in the database was written by this program, but files are copied, cut and edited.
template <class T>
Result<T> guarded(const std::function<T()>& read) {
  try {
    return read();
  } catch (const nlohmann::json::exception& e) {
    return bad_input("run.sqlite: {}", e.what());
  }
}

// "best.co.x7Rq2b": beside a file that was being written when its process was killed (base/files.h).
bool is_half(const std::string& name) {
  constexpr size_t marks = 7;
  constexpr std::array<std::string_view, 9> files = {"k0.co",        "launch.toml", "best.co",
                                                     "memory.json",  "best.json",   "report.html",
                                                     "candidate.co", "candidate.s", "edit.json"};
  return std::ranges::any_of(files, [&](std::string_view file) {
    return name.size() == file.size() + marks && name.starts_with(file) && name[file.size()] == '.';
  });
}

void remove_halves(const std::filesystem::path& folder) {
  const auto files = list_files(folder);
  if (!files) return;
  std::error_code ignored;
  for (const std::filesystem::path& file : *files)
    if (is_half(file.filename().string())) std::filesystem::remove(file, ignored);
}

// The database while it is being made: it gets its name when its tables and settings are in it, so that who
// looks at a run finds a whole one or none.
std::filesystem::path unfinished_database_in(const std::filesystem::path& folder) {
  return folder / unfinished_name;
}

void remove_unfinished_database(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"})
    std::filesystem::remove(unfinished_database_in(folder).string() + suffix, ignored);
}

// A run that was killed while its folder was being made: the first files, and no database. There is nothing
// to go on with.
bool never_began(const std::filesystem::path& folder) {
  constexpr std::array<std::string_view, 4> first = {lock_name, "k0.co", "launch.toml", "run.sqlite"};
  std::error_code error;
  if (!std::filesystem::is_regular_file(folder / lock_name, error)) return false;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (std::ranges::find(first, name) == first.end() && !is_half(name) && !name.starts_with(unfinished_name))
      return false;
  }
  const std::filesystem::path file = database_in(folder);
  return !std::filesystem::exists(file, error) || std::filesystem::is_empty(file, error);
}

Status make_database(const std::filesystem::path& folder, const Json& settings) {
  remove_unfinished_database(folder);
  const std::filesystem::path file = unfinished_database_in(folder);
  {
    ASMEVO_TRY(Database database, Database::open(file, true));
    ASMEVO_CHECK(database.run("BEGIN"));
    for (const char* table : tables) ASMEVO_CHECK(database.run(table));
    for (const auto& [key, value] : {std::pair{"version", Json(version)}, {"settings", settings}})
      ASMEVO_CHECK(database.run("INSERT INTO meta VALUES (?, ?)", {key, text_of(value)}));
    ASMEVO_CHECK(database.run("COMMIT"));
  } // closed: what stood in the file beside it is in it now
  std::error_code error;
  std::filesystem::rename(file, database_in(folder), error);
  if (error)
    return environment_error("{}: cannot be written: {}", database_in(folder).string(), error.message());
  return {};
}

Value optional_json(const std::optional<gate::Evaluation>& e) {
  if (!e) return nullptr;
  return text_of(e->json());
}

Value optional_number(const std::optional<uint32_t>& n) {
  if (!n) return nullptr;
  return int64_t{*n};
}

} // namespace

Result<std::unique_ptr<RunFolder>> RunFolder::create(const std::filesystem::path& path, const Json& settings,
                                                     const Bytes& k0, const std::optional<Bytes>& launch) {
  std::error_code error;
  const auto usable = [&]() -> Status {
    if (!std::filesystem::exists(path, error) || std::filesystem::is_empty(path, error) || never_began(path))
      return {};
    return bad_input("{}: is there already{}", path.string(),
                     std::filesystem::exists(database_in(path), error)
                         ? "; 'asmevo resume' goes on with a run"
                         : " and is no run");
  };
  ASMEVO_CHECK(usable());
  ASMEVO_CHECK(make_folder(path));
  ASMEVO_TRY(FileLock lock, FileLock::take(lock_in(path), path.string(), "run"));
  ASMEVO_CHECK(usable()); // somebody else may have made a run of it while this one waited
  ASMEVO_CHECK(write_file(path / "k0.co", k0));
  if (launch) ASMEVO_CHECK(write_file(path / "launch.toml", *launch));
  ASMEVO_CHECK(make_database(path, settings));
  ASMEVO_TRY(Database database, Database::open(database_in(path), true));
  std::unique_ptr<RunFolder> run(new RunFolder(path, std::move(database), std::move(lock)));
  run->settings_ = settings;
  return run;
}

bool RunFolder::being_made(const std::filesystem::path& path) {
  return never_began(path) && is_locked(lock_in(path)); // in this order: it may become a run meanwhile
}

Result<std::unique_ptr<RunFolder>> RunFolder::open(const std::filesystem::path& path, bool write) {
  if (never_began(path))
    return is_locked(lock_in(path))
               ? bad_input("{}: is being set up; look again in a moment", path.string())
               : bad_input("{}: the run was ended before it began; 'asmevo optimize' starts it anew",
                           path.string());
  std::error_code error;
  if (!std::filesystem::is_regular_file(database_in(path), error))
    return bad_input("{}: no run of asmevo (there is no run.sqlite)", path.string());
  FileLock lock;
  if (write) {
    ASMEVO_TRY(lock, FileLock::take(lock_in(path), path.string(), "run"));
    remove_halves(path);
  }
  ASMEVO_TRY(Database database, Database::open(database_in(path), write));
  std::unique_ptr<RunFolder> run(new RunFolder(path, std::move(database), std::move(lock)));
  const auto found = run->get("version");
  if (!found) return failed(found.error(), path.string());
  if (!*found || **found != version)
    return bad_input("{}: a run of another version of asmevo", path.string());
  ASMEVO_TRY(const auto settings, run->get("settings"));
  if (!settings) return bad_input("{}: run.sqlite: no settings", path.string());
  run->settings_ = *settings;
  return run;
}

bool RunFolder::in_use() const {
  return is_locked(lock_in(path_));
}

Status RunFolder::record(const Attempt& a) {
  const std::lock_guard lock(mutex_);
  return database_.run(
      "INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {int64_t{a.round}, int64_t{a.slot}, int64_t{a.base}, a.driver, a.direction, a.rule, a.rationale, a.edit,
       a.evaluation.object_hash, text_of(a.evaluation.json()), optional_json(a.held_back),
       std::string(name(a.outcome)), a.text, a.over_best, a.speedup, optional_number(a.node), a.at});
}

Status RunFolder::record_decision(const Attempt& a) {
  const std::lock_guard lock(mutex_);
  return database_.run(
      "UPDATE attempts SET held_back = ?, outcome = ?, text = ?, over_best = ?, speedup = ?, "
      "node = ? WHERE round = ? AND slot = ?",
      {optional_json(a.held_back), std::string(name(a.outcome)), a.text, a.over_best, a.speedup,
       optional_number(a.node), int64_t{a.round}, int64_t{a.slot}});
}

Status RunFolder::record(const Node& n, const std::optional<Event>& e) {
  const std::lock_guard lock(mutex_);
  ASMEVO_CHECK(database_.run("BEGIN"));
  Status both = insert(n);
  if (both && e) both = insert(*e);
  if (both) both = database_.run("COMMIT");
  if (!both) (void)database_.run("ROLLBACK");
  return both;
}

Status RunFolder::insert(const Node& n) {
  return database_.run(
      "INSERT OR REPLACE INTO nodes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {int64_t{n.id}, int64_t{n.parent}, int64_t{n.round}, int64_t{n.slot}, n.edit, n.object_hash,
       text_of(n.seconds), text_of(n.held_back_seconds), n.speedup, n.over_parent, n.driver, n.direction,
       n.rule, n.rationale, text_of(n.resources), text_of(n.profile), n.at});
}

Status RunFolder::record(const Event& e) {
  const std::lock_guard lock(mutex_);
  return insert(e);
}

Status RunFolder::insert(const Event& e) {
  return database_.run("INSERT INTO events (at, kind, text) VALUES (?, ?, ?)", {e.at, e.kind, e.text});
}

Status RunFolder::set(const std::string& key, const Json& value) {
  const std::lock_guard lock(mutex_);
  return database_.run("INSERT OR REPLACE INTO meta VALUES (?, ?)", {key, text_of(value)});
}

Result<std::optional<Json>> RunFolder::get(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  ASMEVO_TRY(const std::vector<Row> rows, database_.rows("SELECT value FROM meta WHERE key = ?", {key}));
  if (rows.empty()) return std::nullopt;
  ASMEVO_TRY(Json j, json_of(rows[0][0]));
  return j;
}

Result<std::vector<Attempt>> RunFolder::attempts() const {
  const std::lock_guard lock(mutex_);
  ASMEVO_TRY(const std::vector<Row> rows,
             database_.rows("SELECT round, slot, base, driver, direction, rule, rationale, edit, evaluation, "
                            "held_back, outcome, text, over_best, speedup, node, at FROM attempts ORDER BY "
                            "round, slot"));
  std::vector<Attempt> list;
  for (const Row& r : rows) {
    Attempt a;
    a.round = static_cast<uint32_t>(as_integer(r[0])), a.slot = static_cast<uint32_t>(as_integer(r[1]));
    a.base = static_cast<uint32_t>(as_integer(r[2]));
    a.driver = as_text(r[3]), a.direction = as_text(r[4]), a.rule = as_text(r[5]);
    a.rationale = as_text(r[6]), a.edit = as_text(r[7]);
    ASMEVO_TRY(const Json evaluation, json_of(r[8]));
    ASMEVO_TRY(a.evaluation,
               guarded<gate::Evaluation>([&] { return gate::Evaluation::from_json(evaluation); }));
    if (!as_text(r[9]).empty()) {
      ASMEVO_TRY(const Json held_back, json_of(r[9]));
      ASMEVO_TRY(a.held_back,
                 guarded<gate::Evaluation>([&] { return gate::Evaluation::from_json(held_back); }));
    }
    a.outcome = gate::outcome_named(as_text(r[10])).value_or(gate::Outcome::InfrastructureError);
    a.text = as_text(r[11]);
    a.over_best = as_number(r[12]), a.speedup = as_number(r[13]);
    if (std::holds_alternative<int64_t>(r[14])) a.node = static_cast<uint32_t>(as_integer(r[14]));
    a.at = as_number(r[15]);
    list.push_back(std::move(a));
  }
  return list;
}

Result<Tally> RunFolder::tally() const {
  const std::lock_guard lock(mutex_);
  ASMEVO_TRY(const std::vector<Row> rows,
             database_.rows("SELECT outcome, COUNT(*), MAX(at) FROM attempts GROUP BY outcome"));
  Tally t;
  for (const Row& r : rows) {
    const auto outcome = gate::outcome_named(as_text(r[0])).value_or(gate::Outcome::InfrastructureError);
    const auto count = static_cast<uint64_t>(as_integer(r[1]));
    t.attempts += count;
    t.outcomes[static_cast<size_t>(outcome)] += count;
    t.at = std::max(t.at, as_number(r[2]));
  }
  return t;
}

Result<std::vector<Node>> RunFolder::nodes() const {
  const std::lock_guard lock(mutex_);
  ASMEVO_TRY(
      const std::vector<Row> rows,
      database_.rows(
          "SELECT id, parent, round, slot, edit, object, seconds, held_back_seconds, speedup, over_parent, "
          "driver, direction, rule, rationale, resources, profile, at FROM nodes ORDER BY id"));
  std::vector<Node> list;
  for (const Row& r : rows) {
    Node n;
    n.id = static_cast<uint32_t>(as_integer(r[0])), n.parent = static_cast<uint32_t>(as_integer(r[1]));
    n.round = static_cast<uint32_t>(as_integer(r[2])), n.slot = static_cast<uint32_t>(as_integer(r[3]));
    n.edit = as_text(r[4]), n.object_hash = as_text(r[5]);
    ASMEVO_TRY(const Json seconds, json_of(r[6]));
    ASMEVO_TRY(n.seconds, guarded<std::vector<double>>([&] { return seconds.get<std::vector<double>>(); }));
    ASMEVO_TRY(const Json held_back, json_of(r[7]));
    ASMEVO_TRY(n.held_back_seconds,
               guarded<std::vector<double>>([&] { return held_back.get<std::vector<double>>(); }));
    n.speedup = as_number(r[8]), n.over_parent = as_number(r[9]);
    n.driver = as_text(r[10]), n.direction = as_text(r[11]), n.rule = as_text(r[12]);
    n.rationale = as_text(r[13]);
    ASMEVO_TRY(n.resources, json_of(r[14]));
    ASMEVO_TRY(n.profile, json_of(r[15]));
    n.at = as_number(r[16]);
    list.push_back(std::move(n));
  }
  return list;
}

Result<std::vector<Event>> RunFolder::events() const {
  const std::lock_guard lock(mutex_);
  ASMEVO_TRY(const std::vector<Row> rows, database_.rows("SELECT at, kind, text FROM events ORDER BY id"));
  std::vector<Event> list;
  for (const Row& r : rows) list.push_back({as_number(r[0]), as_text(r[1]), as_text(r[2])});
  return list;
}

} // namespace asmevo::run
