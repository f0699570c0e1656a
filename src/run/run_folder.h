// What a run leaves on disk, and everything it needs to go on after being killed at any moment:
//
//   run.sqlite        settings, attempts, nodes, events (below)
//   k0.co, launch.toml
//   memory.json          what the search began with (search/memory.h)
//   best.co, best.json   of the best verified node; not there as long as nothing beats K0
//   nodes/<id>/{candidate.co, candidate.s, edit.json}
//   report.html
//   lock              held by the process that writes; the first file there is. The settings come last: a run
//                     without them has not begun.
//
// Attempts go into the database one by one, as soon as their evaluation is done. A run is resumed by going
// through it again from the start: drivers are deterministic, and what they proposed then and propose again
// is answered from here.
#pragma once

#include "base/file_lock.h"
#include "gate/commit_rule.h"
#include "gate/outcome.h"
#include "run/database.h"

#include <array>
#include <map>
#include <mutex>

namespace asmevo::run {

using gate::Json;

/// One proposal and what became of it.
struct Attempt {
  uint32_t round = 0, slot = 0; // from 0
  uint32_t base = 0;            // node
  std::string driver, direction, rule, rationale;
  std::string edit;                          // JSON; of whole objects: only the rationale
  gate::Evaluation evaluation;               // through G3
  std::optional<gate::Evaluation> held_back; // G4's, where it came so far
  // The end of it: G4's decision where the other gates let it pass.
  gate::Outcome outcome = gate::Outcome::Passed;
  std::string text;
  double over_best = 0;         // median of T(best) / T(candidate); 0: not timed
  double speedup = 0;           // over K0
  std::optional<uint32_t> node; // that it became
  double at = 0;                // seconds since the run began, resumed time not counted twice
};

/// A verified candidate. Node 0 is K0.
struct Node {
  uint32_t id = 0, parent = 0;
  uint32_t round = 0, slot = 0;
  std::string edit; // JSON; node 0 and whole objects: empty
  std::string object_hash;
  std::vector<double> seconds;           // by member
  std::vector<double> held_back_seconds; // by held-back member
  double speedup = 1;                    // over K0, in the median
  double over_parent = 1;
  std::string driver, direction, rule, rationale;
  Json resources = Json::array();
  Json profile = Json::object(); // gate::NodeProfile
  double at = 0;
};

/// How the attempts stand, without reading each.
struct Tally {
  uint64_t attempts = 0;
  std::array<uint64_t, gate::outcome_count> outcomes{};
  double at = 0; // of the last one
};

struct Event {
  double at = 0;
  std::string kind, text; // "commit", "interrupted", "resumed", "note", "end"
};

class RunFolder {
 public:
  /// A new run, also where one was killed before it began. BadInput: the folder is there and holds something
  /// else. Environment: it cannot be written, or another process is at it.
  static Result<std::unique_ptr<RunFolder>> create(const std::filesystem::path&, const Json& settings,
                                                   const Bytes& k0, const std::optional<Bytes>& launch = {});
  /// One that is there. To write: Environment where another process writes to it.
  static Result<std::unique_ptr<RunFolder>> open(const std::filesystem::path&, bool write);
  /// A process is about to make it: there is nothing to open yet.
  static bool being_made(const std::filesystem::path&);
  RunFolder(const RunFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const Json& settings() const { return settings_; }
  /// Whether the process that writes to it is alive.
  bool in_use() const;

  // Any thread may write.
  Status record(const Attempt&);
  Status record_decision(const Attempt&); // of an attempt that is there: what follows its evaluation
  Status record(const Node&, const std::optional<Event>& = {}); // both or neither
  Status record(const Event&);
  Status set(const std::string& key, const Json& value); // "report", "elapsed", "state"

  Result<std::vector<Attempt>> attempts() const; // by round and slot
  Result<Tally> tally() const;
  Result<std::vector<Node>> nodes() const;
  Result<std::vector<Event>> events() const;
  Result<std::optional<Json>> get(const std::string& key) const;

 private:
  RunFolder(std::filesystem::path path, Database database, FileLock lock)
      : path_(std::move(path)), database_(std::move(database)), lock_(std::move(lock)) {}
  Status insert(const Node&);
  Status insert(const Event&);

  std::filesystem::path path_;
  Database database_;
  Json settings_;
  FileLock lock_;
  mutable std::mutex mutex_;
};

} // namespace asmevo::run
