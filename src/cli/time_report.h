// What `time` prints.
#pragma once

#include "oracle/launch_time.h"

#include <nlohmann/json.hpp>

namespace asmevo::cli {

struct TimedObject {
  std::string argument, file; // as it was given, and of that the file
  oracle::LaunchTraces traces;
  std::vector<oracle::LaunchTime> times; // on each member of the ensemble
};

struct TimeReport {
  std::string model;
  bool structural = false;
  std::vector<std::string> members;
  std::vector<TimedObject> objects; // the first is what the others are compared with
};

void print(const TimeReport&, bool explain);
nlohmann::ordered_json as_json(const TimeReport&, bool explain);

} // namespace asmevo::cli
