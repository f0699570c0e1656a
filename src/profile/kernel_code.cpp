#include "profile/kernel_code.h"

#include "program/layout.h"

#include <algorithm>

namespace asmevo::profile {

using program::Index;

Result<std::unique_ptr<const KernelCode>> KernelCode::open(const rebuild::Original& original,
                                                           std::string_view kernel) {
  return open(original, original.program(), kernel);
}

Result<std::unique_ptr<const KernelCode>> KernelCode::open(const rebuild::Original& original,
                                                           const program::Program& named,
                                                           std::string_view kernel) {
  const program::Function* const function = named.find_function(kernel);
  if (function == nullptr || !function->kernel) return bad_input("no kernel named {}", kernel);
  if (named.entries.size() != original.program().entries.size())
    return internal_error("{} instructions where the object has {}", named.entries.size(),
                          original.program().entries.size());
  return std::unique_ptr<const KernelCode>(new KernelCode(original, named, *function));
}

KernelCode::KernelCode(const rebuild::Original& original, const program::Program& named,
                       const program::Function& function)
    : program_(named), function_(function), cfg_(program::Cfg::build(named, function)),
      liveness_(program::Liveness::compute(named, function_, cfg_)) {
  const std::vector<uint64_t> offsets = program::offsets_of(original.program());
  for (Index i = function.begin; i < function.end; ++i)
    addresses_.push_back(original.program().text_address + offsets[i]);
  codeobject::Inspection inspection = codeobject::inspect(original.object, function.name);
  if (!inspection.kernels.empty()) resources_ = std::move(inspection.kernels.front());
}

Index KernelCode::at(uint64_t address) const {
  const auto found = std::ranges::lower_bound(addresses_, address);
  if (found == addresses_.end() || *found != address) return program::no_index;
  return function_.begin + static_cast<Index>(found - addresses_.begin());
}

} // namespace asmevo::profile
