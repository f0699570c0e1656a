#include "cli/run_report.h"

#include <fmt/ranges.h>

namespace asmevo::cli {

namespace {

using Json = nlohmann::ordered_json;
using Kind = device::LaunchOutcome::Kind;

std::string_view plural(uint64_t count) {
  return count == 1 ? "" : "s";
}

std::string describe(const oracle::LaunchRecord& r) {
  std::string text = fmt::format("{}: {} workgroups of {} work-items", printable(r.kernel),
                                 fmt::join(r.shape.workgroups(), " x "), fmt::join(r.shape.workgroup, " x "));
  if (r.shape.dynamic_lds != 0) text += fmt::format(", {} bytes of dynamic LDS", r.shape.dynamic_lds);
  if (r.times != 1) text += fmt::format(", {} times", r.times);
  return text + fmt::format(": {} instruction{}", r.instructions, plural(r.instructions));
}

Result<std::vector<std::string>> head_of(const oracle::LaunchMemory& memory, const BufferHead& head) {
  ASMEVO_TRY(const std::vector<uint64_t> codes, memory.codes(head.buffer, 0, head.elements));
  std::vector<std::string> shown;
  shown.reserve(codes.size());
  for (const uint64_t code : codes)
    shown.push_back(oracle::show(memory.plan().buffers[head.buffer].layout.type(), code));
  return shown;
}

} // namespace

std::string_view name(Kind kind) {
  switch (kind) {
  case Kind::Completed: return "completed";
  case Kind::Fault: return "fault";
  case Kind::GuardDamaged: return "guard_damaged";
  case Kind::Hang: return "hang";
  case Kind::TimeLimit: break;
  }
  return "time_limit";
}

Status print_run(const std::string& file, const oracle::LaunchMemory& memory,
                 const oracle::LaunchReport& report, const std::vector<BufferHead>& heads) {
  fmt::print("{} on {}\n", file, memory.device().name());
  for (const oracle::LaunchRecord& r : report.launches) fmt::print("{}\n", describe(r));
  if (report.outcome.instructions != 0) {
    fmt::print("executed by waves:");
    for (const auto& [family, count] : report.outcome.instructions_by_family)
      fmt::print(" {} {}", family, count);
    fmt::print("\n");
  }
  for (const BufferHead& head : heads) {
    const oracle::PlannedBuffer& b = memory.plan().buffers[head.buffer];
    ASMEVO_TRY(const std::vector<std::string> shown, head_of(memory, head));
    fmt::print("{} {} {}[{}]: {}{}\n", oracle::name(b.role), b.name, oracle::name_of(b.layout.type()),
               fmt::join(b.layout.shape(), ", "), fmt::join(shown, " "),
               shown.size() < b.layout.count() ? " ..." : "");
  }
  for (const std::string& note : report.notes) fmt::print("note: {}\n", note);
  fmt::print("{}\n", report.outcome.completed() ? "completed" : report.outcome.text);
  return {};
}

Result<Json> run_as_json(const std::string& file, const oracle::LaunchMemory& memory,
                         const oracle::LaunchReport& report, const std::vector<BufferHead>& heads) {
  const device::LaunchOutcome& o = report.outcome;
  Json document = {{"file", file},
                   {"device", memory.device().name()},
                   {"target", memory.device().target().name()},
                   {"launch", memory.plan().spec.file},
                   {"shape", memory.plan().shape},
                   {"outcome", name(o.kind)},
                   {"text", o.text}};
  if (!o.completed()) {
    document["pc"] = o.pc;
    document["address"] = o.address;
    document["lane"] = o.lane;
  }
  document["instructions"] = o.instructions;
  Json families = Json::object(), launches = Json::array(), buffers = Json::array();
  for (const auto& [family, count] : o.instructions_by_family) families[family] = count;
  for (const oracle::LaunchRecord& r : report.launches)
    launches.push_back({{"kernel", r.kernel},
                        {"workgroups", r.shape.workgroups()},
                        {"work_items", r.shape.grid},
                        {"workgroup", r.shape.workgroup},
                        {"dynamic_lds", r.shape.dynamic_lds},
                        {"times", r.times},
                        {"instructions", r.instructions}});
  for (const BufferHead& head : heads) {
    const oracle::PlannedBuffer& b = memory.plan().buffers[head.buffer];
    ASMEVO_TRY(const std::vector<std::string> shown, head_of(memory, head));
    buffers.push_back({{"name", b.name},
                       {"role", oracle::name(b.role)},
                       {"dtype", oracle::name_of(b.layout.type())},
                       {"shape", b.layout.shape()},
                       {"address", memory.address(head.buffer)},
                       {"head", shown}});
  }
  document["families"] = families;
  document["launches"] = launches;
  document["buffers"] = buffers;
  document["notes"] = report.notes;
  return document;
}

} // namespace asmevo::cli
