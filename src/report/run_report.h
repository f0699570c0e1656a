// Everything that a report on a run says, read from its folder and from nothing else: what came out, how it
// came about, what was changed, where the time went before and after, and on what the claim rests that the
// result does the same.
//
// A run that goes on, was interrupted or was killed has a report too, of what there is by then. Texts in here
// come from outside (kernel names, reasons, messages): they are data, and whoever writes them into a page or
// onto a terminal makes them harmless first.
#pragma once

#include "report/code_change.h"
#include "report/run_status.h"

namespace asmevo::report {

using gate::Json;

/// One commit.
struct Commit {
  run::Node node;
  CodeChange change;
  std::string no_code; // why there is no change to show; empty: there is one
};

/// How one direction, or one rule, did.
struct Yield {
  std::string name;                                // empty: the proposals named none
  uint64_t attempts = 0, right = 0, committed = 0; // right: equivalent as far as they were tried
  double best_gain = 0;                            // of what was committed, over the best of its moment
};

/// A resource of a kernel, before and after.
struct ResourceRow {
  std::string kernel, what, unit;
  double k0 = 0, best = 0;
};

struct AbiFigures {
  size_t compared = 0, frozen_differ = 0;
  std::vector<std::pair<std::string, std::string>> free_to_follow; // what, "32 -> 40"
};

struct RunReport {
  RunStatus status;
  std::string object, kernel, target; // K0's file and the kernel, for people
  std::string made_by, command, driver, rule, shape, launch, capture;
  uint64_t seed = 0, members = 0, effort = 0, width = 0;
  std::string k0_hash, best_hash;          // best_hash: of the object that the report is about; empty: K0
  double low = 1, high = 1;                // of the speedup, over the members
  double k0_seconds = 0, best_seconds = 0; // medians over the members

  std::vector<run::Attempt> attempts;
  std::vector<run::Node> nodes;
  std::vector<run::Event> events;
  std::vector<Commit> commits;
  std::vector<Yield> directions, rules;
  gate::NodeProfile k0_profile, best_profile;
  std::vector<ResourceRow> resources;
  std::optional<AbiFigures> abi;  // none: nothing beats K0, or an object is not there
  Json setup = Json::object();    // gate::Setup::report(); empty while setting up
  std::vector<std::string> notes; // what the report itself could not do
  bool paper_rule = true;         // holds for the best one, too

  static Result<RunReport> read(const std::filesystem::path& folder);
};

Json json_of(const RunReport&);
/// For a terminal, a page at most.
std::string text_of(const RunReport&);
/// One file that needs nothing else.
std::string html_of(const RunReport&);

/// Reads the run and writes the page; the path is the run's report.html where `file` is empty.
Status write_html(const std::filesystem::path& folder, const std::filesystem::path& file = {});

} // namespace asmevo::report
