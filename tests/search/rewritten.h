// Rules applied to kernels written in assembly: what they propose, what comes of it, and whether it still
// does the same.
#pragma once

#include "emulator/assembled_kernel.h"
#include "oracle/subject.h"
#include "oracle/verify.h"
#include "search/rules/rule_list.h"

#include <algorithm>

namespace asmevo::search::testing {

using Propose = std::vector<Proposal> (*)(const RuleContext&);

inline std::shared_ptr<const oracle::Subject> subject(const Bytes& bytes) {
  auto opened = oracle::Subject::open(bytes);
  if (!opened) throw std::runtime_error(opened.error().message);
  return *std::move(opened);
}

/// One kernel of an object, ready for rules. All instructions take the same time, as far as they know.
class RuleBench {
 public:
  explicit RuleBench(const Bytes& object, const std::string& kernel = "k")
      : k0_(subject(object)), kernel_(kernel), code_(*profile::KernelCode::open(k0_->original(), kernel)),
        machine_(timing::MachineModel::for_target("", k0_->object().target())->nominal()) {}
  explicit RuleBench(std::string_view body, const emulator::KernelOptions& o = {})
      : RuleBench(emulator::assemble_kernel(body, o)) {}

  RuleContext context() const {
    const size_t entries = code_->function().end - code_->function().begin;
    const std::vector<double> even(entries, 1.0 / static_cast<double>(entries));
    return {*code_, k0_->codec(), machine_, even, even};
  }
  std::vector<Proposal> proposals(Propose propose) const { return propose(context()); }

  /// The object with a proposal; a failure where it cannot be built.
  Bytes with(const Proposal& p) const {
    program::Edit edit;
    edit.kernel = kernel_;
    edit.changes = p.changes;
    const auto built = rebuild::apply_edit(k0_->original(), k0_->program(), edit, 1, k0_->codec());
    EXPECT_TRUE(built) << p.rationale << ": " << (built ? "" : built.error().message);
    return built ? built->object : Bytes();
  }

  /// The kernel's instructions, one a line, up to its padding.
  static std::string text(const Bytes& object, const std::string& kernel = "k") {
    const auto s = subject(object);
    const program::Function& f = *s->program().find_function(kernel);
    std::string text;
    for (program::Index i = f.begin; i < f.padding; ++i) {
      std::string line = s->codec().print(s->program().instruction(i));
      line.erase(0, line.find_first_not_of(" \t"));
      std::ranges::replace(line, '\t', ' ');
      text += line + "\n";
    }
    return text;
  }

  /// What the static check finds in the object that the kernel did not have.
  std::string findings(const Bytes& object) const {
    const auto verdict = oracle::compare_statically(*k0_, *subject(object));
    if (!verdict) return verdict.error().message;
    std::string all;
    for (const std::string& f : verdict->findings) all += f + "\n";
    return all;
  }

  const oracle::Subject& k0() const { return *k0_; }

 private:
  std::shared_ptr<const oracle::Subject> k0_;
  std::string kernel_;
  std::unique_ptr<const profile::KernelCode> code_;
  timing::Machine machine_;
};

/// One wave of kernel k with s[0:1] at the address of a buffer's address: what it leaves in the buffer.
inline std::vector<uint32_t> run(const Bytes& object, size_t words, const std::vector<uint32_t>& start) {
  const auto s = subject(object);
  const auto device = *device::EmulatedDevice::create(s->object().target());
  const auto module = *device->load(oracle::object_of(s));
  const uint64_t buffer = *device->allocate("buffer", words * 4);
  const auto bytes = [](auto& list) {
    return reinterpret_cast<uint8_t*>(const_cast<uint32_t*>(list.data()));
  };
  EXPECT_TRUE(device->write(buffer, {bytes(start), std::min(start.size(), words) * 4}));
  device::LaunchArguments arguments;
  arguments.kernarg.resize(8);
  std::memcpy(arguments.kernarg.data(), &buffer, 8);
  const auto outcome = device->launch(*module, "k", {{64, 1, 1}, {64, 1, 1}, 0}, arguments);
  EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().message);
  EXPECT_TRUE(!outcome || outcome->completed()) << RuleBench::text(object);
  std::vector<uint32_t> left(words);
  EXPECT_TRUE(device->read(buffer, {bytes(left), words * 4}));
  return left;
}

} // namespace asmevo::search::testing
