#include "oracle/verify.h"

#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <set>

namespace asmevo::oracle {

namespace {

using Kind = device::LaunchOutcome::Kind;

// A dispatch of more instructions is spread over all threads by itself; smaller ones run side by side.
constexpr uint64_t small_dispatch = 5'000'000;

Outcome outcome_of(Kind kind) {
  switch (kind) {
  case Kind::Fault: return Outcome::Fault;
  case Kind::GuardDamaged: return Outcome::GuardDamaged;
  case Kind::Hang:
  case Kind::TimeLimit: return Outcome::Hang;
  case Kind::Completed: break;
  }
  return Outcome::Equivalent;
}

// None of K0's own.
RunSeeds seeds_of_candidate(const VerifyOptions& options) {
  return {.schedule = options.seed + 1, .initial_state = ~options.seed};
}

class CaseVerifier {
 public:
  CaseVerifier(const PreparedCase& k0, const std::shared_ptr<const Subject>& subject,
               const VerifyOptions& options)
      : k0_(k0), case_(k0.dispatch()), subject_(subject), options_(options) {}

  /// What K0 does not always leave the same may be anything.
  void open_spreads() {
    constexpr double most = std::numeric_limits<double>::infinity();
    opened_.resize(case_.views.size());
    for (size_t v = 0; v < opened_.size(); ++v)
      for (const auto& [index, range] : k0_.spread(v)) opened_[v].try_emplace(index, -most, most);
  }
  /// After verify, where the run completed: memory as it left it.
  const emulator::AddressSpace& left() const { return candidate_.memory(); }

  Result<CaseReport> verify() {
    report_.name = case_.name;
    report_.workgroups = case_.shape.workgroup_count();
    report_.k0_instructions = k0_.instructions();
    report_.sample = k0_.sample();
    report_.notes = k0_.notes();
    if (!report_.sample.empty()) ASMEVO_CHECK(check_sampled(*subject_, case_));
    Result<CaseRun> ran = run(nullptr);
    if (!ran && ran.error().kind == ErrorKind::BadInput) { // K0 can be launched like that
      fail(Outcome::AbiInvalid, "", ran.error().message);
      return std::move(report_);
    }
    ASMEVO_TRY(candidate_, std::move(ran));
    report_.candidate_instructions = candidate_.outcome.instructions;
    report_.ended = candidate_.outcome;
    if (!candidate_.outcome.completed()) {
      fail(outcome_of(candidate_.outcome.kind), "", candidate_.outcome.text);
      return std::move(report_);
    }
    ASMEVO_CHECK(compare_all());
    // Nothing may come of it here; on a GPU the next page may not be there.
    if (!candidate_.guard_reads.empty())
      fail(Outcome::Fault, "", "fault: " + candidate_.guard_reads.front() + ", which K0 does not do");
    compare_defects();
    return std::move(report_);
  }

 private:
  void fail(Outcome outcome, const std::string& buffer, std::string text) {
    if (report_.outcome != Outcome::Equivalent) return;
    report_.outcome = outcome;
    report_.buffer = buffer;
    report_.text = std::move(text);
  }

  // Last, as they say what may happen, and everything else what did.
  void compare_defects() {
    report_.defects = sanitizer::new_defects(k0_.left().defects, candidate_.defects);
    if (report_.defects.empty()) return;
    const auto worst = std::ranges::find(report_.defects, false, &sanitizer::Defect::possible);
    const sanitizer::Defect& d = worst == report_.defects.end() ? report_.defects.front() : *worst;
    const bool race = d.kind == sanitizer::DefectKind::LdsRace || d.kind == sanitizer::DefectKind::GlobalRace;
    fail(race ? Outcome::Race : Outcome::Hazard, "",
         fmt::format("{}: {}, which K0 does not have", race ? "race" : "hazard", d.message()));
  }

  // A candidate that needs many times what K0 needs for all its workgroups does not end.
  Result<CaseRun> run(WriteRecorder* recorder) const {
    CaseRunOptions request;
    request.most_instructions =
        std::min(options_.most_instructions, 16 * report_.k0_instructions + uint64_t{1'000'000});
    const RunSeeds seeds = seeds_of_candidate(options_);
    request.schedule = seeds.schedule;
    request.initial_state = seeds.initial_state;
    request.workgroups = k0_.sample();
    request.threads = options_.threads;
    request.watch_guards = true;
    request.sanitize = k0_.sanitized() && recorder == nullptr;
    if (recorder != nullptr) request.observer = recorder->observers();
    auto result = run_case(case_, subject_, request);
    if (!result) return failed(result.error(), case_.name);
    return result;
  }

  Result<BufferComparison> compare_view(size_t v, const WriteRecorder* k0_writes,
                                        const WriteRecorder* candidate_writes) {
    const CaseView& view = case_.views[v];
    Compared what;
    what.k0 = reader(k0_.left().memory(), view.address);
    what.candidate = reader(candidate_.memory(), view.address);
    what.before = reader(*case_.before, view.address);
    what.next_touched = next_written(k0_.left(), candidate_, view.address);
    const auto wrote = [&view](const WriteRecorder* writes) {
      return [writes, first = view.address](uint64_t offset, uint64_t bytes) {
        return writes->wrote(first + offset, bytes);
      };
    };
    if (k0_writes != nullptr) what.k0_wrote = wrote(k0_writes);
    if (candidate_writes != nullptr) what.candidate_wrote = wrote(candidate_writes);
    // An output may start as zeros, too, and K0 write a zero: who wrote what is looked into where it matters.
    what.poisoned = false;
    what.spread = k0_.spread(v).empty() ? nullptr : opened_.empty() ? &k0_.spread(v) : &opened_[v];
    return compare(view.layout, what, options_.rule);
  }

  Status compare_all() {
    bool doubtful = false;
    for (size_t v = 0; v < case_.views.size(); ++v) {
      ASMEVO_TRY(BufferComparison c, compare_view(v, nullptr, nullptr));
      doubtful |= c.doubtful != 0;
      report_.buffers.push_back(
          {case_.views[v].name, case_.views[v].layout.type(), std::move(c), k0_.spread(v).size()});
    }
    if (doubtful) ASMEVO_CHECK(compare_with_writes());
    ASMEVO_CHECK(compare_other_bytes()); // damage first: it often is why elements are wrong
    for (const ViewReport& b : report_.buffers)
      if (!b.comparison.equal(options_.rule))
        fail(Outcome::Divergent, b.name,
             fmt::format("divergent: buffer '{}': {}", b.name, b.comparison.describe(b.type)));
    return {};
  }

  // Once more, with every write recorded.
  Status compare_with_writes() {
    WriteRecorder writes;
    ASMEVO_TRY(const WriteRecorder* const k0_writes, k0_.k0_writes());
    sanitizer::Defects defects = std::move(candidate_.defects);
    ASMEVO_TRY(candidate_, run(&writes));
    candidate_.defects = std::move(defects);
    for (size_t v = 0; v < case_.views.size(); ++v)
      if (report_.buffers[v].comparison.doubtful != 0) {
        ASMEVO_TRY(report_.buffers[v].comparison, compare_view(v, k0_writes, &writes));
      }
    return {};
  }

  Status compare_other_bytes() {
    return k0_.each_other_byte(
        k0_.left(), candidate_, [&](uint64_t address, uint8_t a, uint8_t b, uint8_t before) {
          const auto spread = k0_.opaque_spread().find(address);
          if (spread != k0_.opaque_spread().end() && b >= spread->second.first && b <= spread->second.second)
            return true;
          const CaseView* view = k0_.view_at(address);
          const bool damage = view != nullptr && a == before;
          const auto [buffer, place] = place_of(address);
          fail(damage ? Outcome::GuardDamaged : Outcome::Divergent, buffer,
               fmt::format("{}: {} is {:#04x}, candidate {:#04x}, before {:#04x}",
                           damage ? "guard_damaged" : "divergent", place, a, b, before));
          return false;
        });
  }

  // What memory is called, and a byte of it that is no element of a view.
  std::pair<std::string, std::string> place_of(uint64_t address) const {
    if (const CaseView* view = k0_.view_at(address); view != nullptr)
      return {view->name,
              fmt::format("buffer '{}': byte {}, between its rows,", view->name, address - view->address)};
    std::string name;
    uint64_t first = 0;
    if (const emulator::RegionInfo* region = case_.before->region_at(address); region != nullptr)
      name = region->name, first = region->address;
    else if (const GlobalSection* global = k0_.left().globals.at(address); global != nullptr)
      name = global->name, first = global->address;
    return {printable(name), fmt::format("memory '{}': byte {}", printable(name), address - first)};
  }

  const PreparedCase& k0_;
  const Case& case_;
  const std::shared_ptr<const Subject>& subject_;
  const VerifyOptions& options_;
  std::vector<Spread> opened_; // by view; empty: K0's own
  CaseReport report_;
  CaseRun candidate_;
};

// The buffers in which K0, by the rule that a candidate has to meet, does not always leave the same: in more
// orders of its waves than were tried before, the candidate's among them: what K0 itself makes of it speaks
// against nobody. "" stands for memory that is in no buffer.
Result<std::set<std::string>> unsteady_buffers(const PreparedCase& c, const VerifyOptions& options) {
  constexpr unsigned runs = 12;
  std::set<std::string> list;
  for (unsigned run = 0; run <= runs; ++run) {
    VerifyOptions own = options;
    if (run != 0) own.seed = 0x10000 + run;
    ASMEVO_TRY(const CaseReport report, CaseVerifier(c, c.k0(), own).verify());
    bool in_buffers = false;
    for (const ViewReport& b : report.buffers)
      if (!b.comparison.equal(options.rule)) {
        list.insert(b.name);
        in_buffers = true;
      }
    if (report.outcome != Outcome::Equivalent && !in_buffers) list.insert("");
  }
  return list;
}

// Whether all of what a report says against a candidate lies where K0 is unsteady itself.
bool lies_in(const CaseReport& report, const std::set<std::string>& unsteady, Rule rule) {
  bool in_buffers = false;
  for (const ViewReport& b : report.buffers)
    if (!b.comparison.equal(rule)) {
      if (!unsteady.contains(b.name)) return false;
      in_buffers = true;
    }
  return in_buffers || unsteady.contains("");
}

// The elements that K0 does not always leave in one place, sorted: as many bits as there are of each view,
// put together index by index where views are as long, as such views are fields of one record.
using Records = std::map<uint64_t, std::vector<std::vector<uint64_t>>>; // by the views' length

bool has_records(const PreparedCase& c) {
  constexpr size_t most_records = 100'000;
  const std::vector<CaseView>& views = c.dispatch().views;
  for (size_t v = 0; v < views.size(); ++v)
    if (!c.spread(v).empty() && (views[v].layout.type().bits > 64 || c.spread(v).size() > most_records))
      return false;
  return c.opaque_spread().empty();
}

Result<uint64_t> code_at(const CaseView& view, uint64_t index, const emulator::AddressSpace& memory) {
  const unsigned bits = view.layout.type().bits;
  const uint64_t bit = view.layout.place_of(index) * bits;
  std::array<uint8_t, 16> bytes{};
  ASMEVO_CHECK(memory.read(view.address + bit / 8, std::span(bytes).first((bit % 8 + bits + 7) / 8)));
  const uint64_t code = *load<uint64_t>(bytes, 0) >> bit % 8;
  return bits == 64 ? code : code & ((uint64_t{1} << bits) - 1);
}

Result<Records> records_in(const PreparedCase& c, const emulator::AddressSpace& memory) {
  const std::vector<CaseView>& views = c.dispatch().views;
  std::map<uint64_t, std::set<uint64_t>> indices;
  for (size_t v = 0; v < views.size(); ++v)
    for (const auto& [index, range] : c.spread(v)) indices[views[v].layout.count()].insert(index);
  Records all;
  for (const auto& [count, list] : indices)
    for (const uint64_t index : list) {
      std::vector<uint64_t>& record = all[count].emplace_back();
      for (size_t v = 0; v < views.size(); ++v)
        if (!c.spread(v).empty() && views[v].layout.count() == count) {
          ASMEVO_TRY(const uint64_t code, code_at(views[v], index, memory));
          record.push_back(code);
        }
    }
  for (auto& [count, list] : all) std::ranges::sort(list);
  return all;
}

// Kernels that put their results wherever there is room leave them in an order of which no number of runs
// shows all: where K0 itself does not stay within what was seen of it, but always leaves the same elements,
// so must a candidate, with everything else in its place.
Result<bool> only_order_differs(const PreparedCase& c, const std::shared_ptr<const Subject>& candidate,
                                const VerifyOptions& options) {
  constexpr unsigned runs = 8;
  if (!has_records(c)) return false;
  ASMEVO_TRY(const Records wanted, records_in(c, c.left().memory()));
  const auto leaves_them = [&](const std::shared_ptr<const Subject>& subject, uint64_t seed) -> Result<bool> {
    VerifyOptions own = options;
    own.seed = seed;
    CaseVerifier verifier(c, subject, own);
    verifier.open_spreads();
    ASMEVO_TRY(const CaseReport report, verifier.verify());
    if (report.outcome != Outcome::Equivalent) return false;
    ASMEVO_TRY(const Records found, records_in(c, verifier.left()));
    return found == wanted;
  };
  bool k0_stays = true;
  for (unsigned run = 0; run < runs; ++run) {
    VerifyOptions own = options;
    own.seed = 0x20000 + run;
    ASMEVO_TRY(const CaseReport report, CaseVerifier(c, c.k0(), own).verify());
    k0_stays &= report.outcome == Outcome::Equivalent;
    ASMEVO_TRY(const bool same, leaves_them(c.k0(), own.seed));
    if (!same) return false;
  }
  if (k0_stays) return false;
  return leaves_them(candidate, options.seed);
}

// A few runs need not show that K0 does not always leave the same. More of them are made before a case speaks
// against a candidate: one that was made up, where K0's workgroups may get in each other's way as in no
// launch of its user, says nothing then; on one that was given the candidate has to stay within K0's spread
// over all of them.
Result<CaseReport> doubted(CaseReport report, const PreparedCase& c,
                           const std::shared_ptr<const Subject>& candidate, const VerifyOptions& options) {
  ASMEVO_TRY(const auto unsteady, unsteady_buffers(c, options));
  if (!lies_in(report, unsteady, options.rule)) return report;
  if (!c.dispatch().made_up) {
    PrepareOptions prepare;
    prepare.schedules = 64;
    prepare.threads = options.threads;
    prepare.workgroups = c.sample();
    prepare.also = seeds_of_candidate(options);
    ASMEVO_TRY(const auto wider, PreparedCase::make(c.dispatch(), c.k0(), prepare));
    ASMEVO_TRY(CaseReport again, CaseVerifier(*wider, candidate, options).verify());
    if (again.outcome != Outcome::Divergent) return again;
    ASMEVO_TRY(const bool order, only_order_differs(*wider, candidate, options));
    if (!order) return again;
    again.outcome = Outcome::Equivalent;
    again.notes.push_back("the same elements as K0's in another order, which K0's do not always have either");
    again.text.clear();
    return again;
  }
  report.outcome = Outcome::Equivalent;
  report.says_nothing = true;
  report.notes.push_back("says nothing: K0 does not always leave the same here (" + report.text + ")");
  report.text.clear();
  return report;
}

} // namespace

std::string_view name(Outcome outcome) {
  constexpr std::array<std::string_view, 8> names = {"equivalent", "abi_invalid",   "hazard",    "fault",
                                                     "hang",       "guard_damaged", "divergent", "race"};
  return names[static_cast<size_t>(outcome)];
}

Result<CaseReport> verify_case(const PreparedCase& k0, const std::shared_ptr<const Subject>& candidate,
                               const VerifyOptions& options) {
  return CaseVerifier(k0, candidate, options).verify();
}

Result<std::vector<CaseReport>> verify_cases(const PreparedCases& cases,
                                             const std::shared_ptr<const Subject>& candidate,
                                             const VerifyOptions& options,
                                             const std::function<void()>& done) {
  std::vector<std::optional<Result<CaseReport>>> results(cases.size());
  std::atomic<size_t> end = cases.size(); // what stands from here on does not matter any more
  const auto verify_one = [&](size_t i, unsigned threads) {
    if (i >= end) return;
    VerifyOptions own = options;
    own.threads = threads;
    own.seed = options.seed + i;
    results[i] = verify_case(*cases[i], candidate, own);
    const bool against = *results[i] && (*results[i])->outcome == Outcome::Divergent;
    if (against) results[i] = doubted(*std::move(*results[i]), *cases[i], candidate, own);
    if (done) done();
    if (*results[i] && (*results[i])->outcome == Outcome::Equivalent) return;
    size_t now = end;
    while (i + 1 < now && !end.compare_exchange_weak(now, i + 1)) {
    }
  };
  std::vector<size_t> small, large;
  for (size_t i = 0; i < cases.size(); ++i)
    (cases[i]->instructions() < small_dispatch ? small : large).push_back(i);
  parallel_for(small.size(), options.threads, [&](size_t i, unsigned) { verify_one(small[i], 1); });
  for (const size_t i : large) verify_one(i, options.threads);

  std::vector<CaseReport> reports;
  for (size_t i = 0; i < end; ++i) {
    if (!*results[i]) return failed(results[i]->error());
    reports.push_back(*std::move(*results[i]));
  }
  return reports;
}

} // namespace asmevo::oracle
