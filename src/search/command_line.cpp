#include "search/command_line.h"

namespace asmevo::search {

namespace {

std::string quoted(const std::string& text) {
  const bool plain =
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=-") ==
      std::string::npos;
  return plain && !text.empty() ? text : "'" + text + "'";
}

} // namespace

std::string command_line(const OptimizationSettings& s, const GivenWords& given, std::string_view output) {
  const OptimizationSettings standard;
  std::string text =
      fmt::format("asmevo optimize {}{}", given.file.starts_with('-') ? "./" : "", quoted(given.file));
  const auto add = [&text](std::string_view option, const auto& value) {
    text += fmt::format(" {} {}", option, value);
  };
  if (!given.launch.empty()) add("--launch", quoted(given.launch));
  if (!given.capture.empty()) add("--capture", quoted(given.capture));
  if (!given.target.empty()) add("--target", quoted(given.target));
  if (!s.setup.kernel.empty()) add("--kernel", quoted(s.setup.kernel));
  for (const std::string& word : given.more) text += " " + quoted(word);
  if (!s.setup.model.empty()) add("--model", quoted(s.setup.model));
  if (!s.setup.shape.empty()) add("--shape", quoted(s.setup.shape));
  if (s.setup.rule != standard.setup.rule) add("--rule", s.setup.rule);
  if (s.setup.members != standard.setup.members) add("--members", s.setup.members);
  if (s.setup.effort != standard.setup.effort) add("--timing-effort", s.setup.effort);
  if (s.setup.seed != standard.setup.seed) add("--seed", s.setup.seed);
  if (s.driver != standard.driver) add("--driver", s.driver);
  if (!s.proposals.empty()) add("--proposals", quoted(s.proposals));
  for (const std::string& rule : s.rules) add("--rules", quoted(rule));
  if (s.mode != standard.mode) add("--mode", name(s.mode));
  // As the run folder keeps it: the user's own has moved on.
  if (s.memory.empty())
    text += " --no-memory";
  else
    add("--memory", "RUN/memory.json");
  if (s.width != standard.width) add("--width", s.width);
  if (s.patience != standard.patience) add("--patience", s.patience);
  if (s.budget.seconds) add("--budget", fmt::format("{:g}s", *s.budget.seconds));
  if (s.budget.attempts) add("--attempts", *s.budget.attempts);
  return text + " -o " + quoted(std::string(output));
}

} // namespace asmevo::search
