#include "report/version_code.h"

#include "base/files.h"
#include "base/hash.h"

#include <algorithm>
#include <set>

namespace asmevo::report {

namespace {

std::set<program::InstrId> ids_of(const program::Program& p) {
  std::set<program::InstrId> ids;
  for (const program::Entry& e : p.entries) ids.insert(e.id);
  return ids;
}

} // namespace

Result<VersionCode> VersionCode::open(const run::RunFolder& run, std::vector<run::Node> nodes) {
  VersionCode code;
  code.folder_ = run.path();
  code.nodes_ = std::move(nodes);
  ASMEVO_TRY(Bytes k0, read_file(run.path() / "k0.co"));
  const run::Node* const root = code.node(0);
  if (root != nullptr && content_hash(k0) != root->object_hash)
    return bad_input("{}: not the K0 of this run", (run.path() / "k0.co").string());
  auto subject = oracle::Subject::open(std::move(k0));
  if (!subject) return failed(subject.error(), (run.path() / "k0.co").string());
  code.k0_ = *std::move(subject);
  return code;
}

const run::Node* VersionCode::node(uint32_t id) const {
  const auto found = std::ranges::find(nodes_, id, &run::Node::id);
  return found == nodes_.end() ? nullptr : &*found;
}

std::vector<uint32_t> VersionCode::way_to(uint32_t id) const {
  std::vector<uint32_t> way;
  while (id != 0) {
    const run::Node* n = node(id);
    if (n == nullptr || n->parent >= id) return {}; // parents come first
    way.insert(way.begin(), id);
    id = n->parent;
  }
  return way;
}

Result<program::Program> VersionCode::program(uint32_t id) const {
  if (id == 0) return k0_->program();
  const std::vector<uint32_t> way = way_to(id);
  if (way.empty()) return bad_input("node {}: its ancestors are not in the run", id);
  const auto known = [&](uint32_t step) { return programs_.contains(step); };
  const auto from = std::find_if(way.rbegin(), way.rend(), known).base(); // behind the last that is known
  program::Program program = from == way.begin() ? k0_->program() : programs_.at(*std::prev(from));
  for (auto step = from; step != way.end(); ++step) {
    auto next = program_of(*node(*step), program);
    if (!next) return failed(next.error(), fmt::format("node {}", *step));
    program = programs_.emplace(*step, *std::move(next)).first->second;
  }
  return program;
}

Result<program::Program> VersionCode::program_of(const run::Node& n, const program::Program& parent) const {
  if (n.edit.empty()) {
    ASMEVO_TRY(Bytes bytes, read_file(folder_ / "nodes" / std::to_string(n.id) / "candidate.co"));
    ASMEVO_TRY(const auto subject, oracle::Subject::open(std::move(bytes)));
    return subject->program();
  }
  ASMEVO_TRY(const program::Edit edit, program::Edit::parse(n.edit));
  auto program = program::splice(parent, edit, n.id, k0_->codec());
  if (!program) return bad_input("{}", program.error().describe());
  return *std::move(program);
}

Result<Authors> Authors::of(const VersionCode& code, uint32_t id) {
  Authors authors;
  std::set<program::InstrId> before = ids_of(code.k0().program());
  for (const uint32_t step : code.way_to(id)) {
    if (code.node(step)->edit.empty()) return Authors(); // a whole object: nothing is known of its parts
    ASMEVO_TRY(const program::Program p, code.program(step));
    std::set<program::InstrId> after = ids_of(p);
    for (const program::InstrId& i : before)
      if (!after.contains(i)) authors.took_.emplace(i, step);
    before = std::move(after);
  }
  return authors;
}

std::optional<uint32_t> Authors::brought(program::InstrId id) const {
  if (id.node == 0) return std::nullopt;
  return id.node;
}

std::optional<uint32_t> Authors::took(program::InstrId id) const {
  const auto found = took_.find(id);
  if (found == took_.end()) return std::nullopt;
  return found->second;
}

} // namespace asmevo::report
