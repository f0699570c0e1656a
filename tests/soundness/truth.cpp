#include "soundness/truth.h"

#include "sanitizer/delayed_results.h"

#include <algorithm>
#include <cmath>

namespace asmevo::soundness {

namespace {

using oracle::Case;
using oracle::CaseRun;
using oracle::CaseView;
using oracle::ElementType;

constexpr uint64_t own_seed = 77'000'077; // of no case set
constexpr double gross = 0.05;            // of the larger of the element and the buffer's rms
constexpr size_t most_launches = 3;       // of a shape

Result<CaseRun> run(const Case& c, const Truth::Subject& subject, uint64_t most_instructions,
                    std::function<emulator::Observer*(size_t)> observer = {}) {
  oracle::CaseRunOptions options;
  options.threads = 1;
  options.most_instructions = most_instructions;
  options.observer = std::move(observer);
  return oracle::run_case(c, subject, options);
}

uint64_t enough(const CaseRun& k0) {
  return 16 * k0.outcome.instructions + 1'000'000;
}

std::vector<double> numbers(const CaseView& view, const Bytes& bytes) {
  const ElementType& type = view.layout.type();
  const size_t size = type.bits / 8;
  std::vector<double> list;
  for (uint64_t i = 0; i < view.layout.count(); ++i) {
    const size_t at = view.layout.place_of(i) * size;
    uint64_t code = 0;
    for (size_t b = 0; b < size; ++b) code |= uint64_t{bytes[at + b]} << (8 * b);
    list.push_back(oracle::decode(type, code));
  }
  return list;
}

// Rounding never comes near it.
std::string gross_difference(const std::vector<double>& k0, const std::vector<double>& candidate) {
  double sum = 0, finite = 0;
  for (const double k : k0)
    if (std::isfinite(k)) sum += k * k, ++finite;
  const double rms = finite == 0 ? 0 : std::sqrt(sum / finite);
  for (size_t i = 0; i < k0.size(); ++i) {
    const double a = k0[i], b = candidate[i];
    const bool same_kind = std::isnan(a) == std::isnan(b) && std::isinf(a) == std::isinf(b);
    if (same_kind && (!std::isfinite(a) || std::abs(a - b) <= gross * std::max(std::abs(a), rms))) continue;
    return fmt::format("element {} is {:.6g}, was {:.6g}", i, b, a);
  }
  return "";
}

using Compare = std::function<std::string(const CaseView&, const Bytes& k0, const Bytes& candidate)>;

std::string grossly(const CaseView& view, const Bytes& k0, const Bytes& candidate) {
  const ElementType& type = view.layout.type();
  if (type.is_float() && type.whole_bytes())
    return gross_difference(numbers(view, k0), numbers(view, candidate));
  return k0 == candidate ? "" : "other bytes";
}
std::string to_the_bit(const CaseView&, const Bytes& k0, const Bytes& candidate) {
  return k0 == candidate ? "" : "other bytes";
}
std::string nan_for_number(const CaseView& view, const Bytes& k0, const Bytes& candidate) {
  const ElementType& type = view.layout.type();
  if (!type.is_float() || !type.whole_bytes()) return "";
  const std::vector<double> a = numbers(view, k0), b = numbers(view, candidate);
  for (size_t i = 0; i < a.size(); ++i)
    if (std::isnan(a[i]) && !std::isnan(b[i])) return fmt::format("element {} is {}, was NaN", i, b[i]);
  return "";
}

std::string compare(const Case& c, const CaseRun& k0, const CaseRun& candidate, const Compare& by) {
  if (!candidate.outcome.completed()) return c.name + ": " + candidate.outcome.text;
  for (const CaseView& view : c.views) {
    Bytes a(view.layout.bytes()), b(view.layout.bytes());
    if (!k0.memory().read(view.address, a) || !candidate.memory().read(view.address, b)) return "unreadable";
    if (const std::string what = by(view, a, b); !what.empty())
      return fmt::format("{}: '{}': {}", c.name, view.name, what);
  }
  return "";
}

std::string first_wrong(const Case& c, const CaseRun& k0, const Truth::Subject& candidate,
                        const Compare& by) {
  const auto ran = run(c, candidate, enough(k0));
  return ran ? compare(c, k0, *ran, by) : c.name + ": " + ran.error().message;
}

Result<CaseRun> delayed_run(const Case& c, const Truth::Subject& subject, bool lds_writes, uint64_t most) {
  sanitizer::DelayedResults delay(c.target, {.lds_writes = lds_writes});
  auto result = run(c, subject, most, delay.observers());
  if (result) result->device->options().observer = {};
  return result;
}

} // namespace

Result<std::unique_ptr<Truth>> Truth::make(const std::filesystem::path& launch, const std::string& kernel,
                                           Subject k0) {
  auto truth = std::make_unique<Truth>();
  ASMEVO_CHECK(truth->add_cases(launch, kernel, k0));
  if (truth->plain_.empty()) return bad_input("{}: no small shape launches '{}'", launch.string(), kernel);
  ASMEVO_CHECK(truth->run_delayed(k0));
  return truth;
}

Status Truth::add_cases(const std::filesystem::path& launch, const std::string& kernel, const Subject& k0) {
  ASMEVO_TRY(const oracle::LaunchSpec spec, oracle::LaunchSpec::read(launch));
  for (const char* shape : {"tiny", "odd"}) {
    if (!spec.shapes.contains(shape)) continue;
    for (const auto variant : {oracle::InputVariant::AsGiven, oracle::InputVariant::Boundary}) {
      ASMEVO_TRY(oracle::LaunchPlan plan, oracle::LaunchPlan::make(spec, shape, own_seed));
      if (!oracle::apply(variant, plan) && variant != oracle::InputVariant::AsGiven) continue;
      for (const oracle::PlannedBuffer& b : plan.buffers) in_place_ |= b.role == oracle::Role::InOut;
      oracle::LowerOptions how;
      how.name = shape;
      auto lowered = oracle::lower(plan, oracle::object_of(k0), how);
      if (!lowered && variant != oracle::InputVariant::AsGiven) continue;
      ASMEVO_TRY(std::vector<Case> cases, std::move(lowered));
      std::erase_if(cases, [&](const Case& c) { return c.kernel != kernel; });
      while (cases.size() > most_launches) cases.erase(cases.begin());
      auto& list = variant == oracle::InputVariant::AsGiven ? plain_ : special_;
      for (Case& c : cases) {
        ASMEVO_TRY(CaseRun left, run(c, k0, uint64_t{1} << 32));
        if (!left.outcome.completed() && &list == &special_) continue; // indices that are none
        if (!left.outcome.completed()) return bad_input("{}: {}", c.name, left.outcome.text);
        list.push_back({std::move(c), std::move(left), {}});
      }
    }
  }
  return {};
}

// Some kernels count on LDS working in order: their writes are not delayed.
Status Truth::run_delayed(const Subject& k0) {
  for (const bool lds_writes : {true, false}) {
    lds_writes_delayed_ = lds_writes;
    bool same = true;
    for (Run& r : plain_) {
      ASMEVO_TRY(r.delayed, delayed_run(r.dispatch, k0, lds_writes, enough(r.left)));
      same &= compare(r.dispatch, r.left, r.delayed, to_the_bit).empty();
    }
    if (same) return {};
  }
  return bad_input("K0 leaves something else when its results are delayed");
}

std::string Truth::wrong(const Subject& candidate) const {
  for (const Run& r : plain_)
    if (std::string what = first_wrong(r.dispatch, r.left, candidate, grossly); !what.empty()) return what;
  return "";
}

std::string Truth::hidden_nan(const Subject& candidate) const {
  for (const Run& r : special_)
    if (std::string what = first_wrong(r.dispatch, r.left, candidate, nan_for_number); !what.empty())
      return what;
  return "";
}

std::string Truth::wrong_when_delayed(const Subject& candidate) const {
  for (const Run& r : plain_) {
    const auto ran = delayed_run(r.dispatch, candidate, lds_writes_delayed_, enough(r.left));
    if (!ran) return ran.error().message;
    if (std::string what = compare(r.dispatch, r.delayed, *ran, to_the_bit); !what.empty()) return what;
  }
  return "";
}

std::string Truth::wrong_on(const Case& c, const Subject& k0, const Subject& candidate) {
  const auto left = run(c, k0, uint64_t{1} << 32);
  if (!left || !left->outcome.completed()) return "";
  return first_wrong(c, *left, candidate, grossly);
}

} // namespace asmevo::soundness
