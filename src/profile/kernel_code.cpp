#include "profile/kernel_code.h"

#include "program/layout.h"

#include <algorithm>

namespace asmevo::profile {

using program::Index;

namespace {

// Padding aside: that is laid out anew where the code of a kernel has grown or shrunk in front of another
// one.
bool same_code(const program::Program& named, const program::Function& function,
               const program::Program& object, const program::Function& built) {
  const Index count = function.padding - function.begin;
  if (count > built.end - built.begin) return false;
  for (Index k = 0; k < count; ++k)
    if (named.instruction(function.begin + k).mnemonic != object.instruction(built.begin + k).mnemonic)
      return false;
  return true;
}

} // namespace

Result<std::unique_ptr<const KernelCode>>
KernelCode::open(const rebuild::Original& original, std::string_view kernel, program::StartLanes start) {
  return open(original, original.program(), kernel, start);
}

Result<std::unique_ptr<const KernelCode>> KernelCode::open(const rebuild::Original& original,
                                                           const program::Program& named,
                                                           std::string_view kernel,
                                                           program::StartLanes start) {
  const program::Function* const function = named.find_function(kernel);
  if (function == nullptr || !function->kernel) return bad_input("no kernel named {}", kernel);
  const program::Function* const built = original.program().find_function(kernel);
  if (built == nullptr || !same_code(named, *function, original.program(), *built))
    return internal_error("{}: other instructions than the object's", kernel);
  return std::unique_ptr<const KernelCode>(new KernelCode(original, named, *function, *built, start));
}

KernelCode::KernelCode(const rebuild::Original& original, const program::Program& named,
                       const program::Function& function, const program::Function& built,
                       program::StartLanes start)
    : program_(named), function_(function), cfg_(program::Cfg::build(named, function)),
      liveness_(program::Liveness::compute(named, function_, cfg_, start)) {
  const std::vector<uint64_t> offsets = program::offsets_of(original.program());
  for (Index i = built.begin; i < built.end && addresses_.size() < function.end - function.begin; ++i)
    addresses_.push_back(original.program().text_address + offsets[i]);
  // Padding that the object has no more: nothing is ever executed there.
  constexpr uint64_t nop_bytes = 4;
  while (addresses_.size() < function.end - function.begin)
    addresses_.push_back(addresses_.back() + nop_bytes);
  codeobject::Inspection inspection = codeobject::inspect(original.object, function.name);
  if (!inspection.kernels.empty()) resources_ = std::move(inspection.kernels.front());
}

Index KernelCode::code_end() const {
  const auto padding = [this](Index i) {
    const isa::IssueClass issue = instruction(i).issue;
    return (issue == isa::IssueClass::Nop || instruction(i).is("s_code_end")) &&
           !cfg_.blocks()[cfg_.block_of(i)].reachable;
  };
  Index end = function_.end;
  while (end > function_.begin && padding(end - 1)) --end;
  return end;
}

Index KernelCode::at(uint64_t address) const {
  const auto found = std::ranges::lower_bound(addresses_, address);
  if (found == addresses_.end() || *found != address) return program::no_index;
  return function_.begin + static_cast<Index>(found - addresses_.begin());
}

} // namespace asmevo::profile
