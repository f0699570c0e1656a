#include "cli/optimize_batch.h"
#include "report/run_status.h"

#include <memory>

namespace asmevo::cli {

namespace {

// No: somebody has to do something for it to go on.
Answer answer_of(report::RunState state) {
  switch (state) {
  case report::RunState::SettingUp:
  case report::RunState::Searching:
  case report::RunState::Done: return Answer::Yes;
  default: return Answer::No;
  }
}

Result<Answer> status_of(const std::string& folder, bool json) {
  if (search::Batch::is_there(folder)) return batch_status(folder, json);
  ASMEVO_TRY(const report::RunStatus status, report::RunStatus::read(folder));
  if (json)
    print_json(report::json_of(status));
  else
    fmt::print("{}", report::text_of(status));
  return answer_of(status.state);
}

} // namespace

void add_status(Context& context) {
  auto folder = std::make_shared<std::string>();
  Verb* verb = add_verb(
      context, "status",
      "how a run of 'optimize', or a batch of runs, stands, also while it goes on (exit 1 where it stopped "
      "before its end)",
      "asmevo status run");
  verb->add_option("RUN", *folder, "folder of the run")->required();
  verb->callback([&context, folder] {
    context.action = [&context, folder] { return status_of(*folder, context.json); };
  });
}

} // namespace asmevo::cli
