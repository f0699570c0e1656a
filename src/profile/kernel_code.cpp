#include "profile/kernel_code.h"

#include "program/layout.h"

#include <algorithm>

namespace asmevo::profile {

using program::Index;

constexpr uint64_t nowhere = ~uint64_t{0}; // address of what fills up and is not in the object

namespace {

bool may_fill(const isa::Instruction& i) {
  return i.issue == isa::IssueClass::Nop || i.is("s_code_end");
}

// Without what fills up to the next function: after an edit that is more or less, and not the program's.
Index code_length(const program::Program& p, const program::Function& f) {
  Index end = f.end;
  while (end > f.begin && may_fill(p.instruction(end - 1))) --end;
  return end - f.begin;
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
  const program::Function* const own = original.program().find_function(kernel);
  const Index length = code_length(named, *function);
  if (own == nullptr || code_length(original.program(), *own) != length)
    return internal_error("{}: {} instructions where the object has {}", kernel, length,
                          own == nullptr ? 0 : code_length(original.program(), *own));
  return std::unique_ptr<const KernelCode>(new KernelCode(original, named, *function, start));
}

KernelCode::KernelCode(const rebuild::Original& original, const program::Program& named,
                       const program::Function& function, program::StartLanes start)
    : program_(named), function_(function), cfg_(program::Cfg::build(named, function)),
      liveness_(program::Liveness::compute(named, function_, cfg_, start)) {
  const std::vector<uint64_t> offsets = program::offsets_of(original.program());
  const program::Function& own = *original.program().find_function(function.name);
  for (Index i = own.begin; i < own.end; ++i)
    addresses_.push_back(original.program().text_address + offsets[i]);
  addresses_.resize(function.end - function.begin, nowhere);
  codeobject::Inspection inspection = codeobject::inspect(original.object, function.name);
  if (!inspection.kernels.empty()) resources_ = std::move(inspection.kernels.front());
}

Index KernelCode::code_end() const {
  const auto padding = [this](Index i) {
    return may_fill(instruction(i)) && !cfg_.blocks()[cfg_.block_of(i)].reachable;
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
