// Kernels by the names that profilers give them: mangled, with ".kd", demangled, or cut short.
#pragma once

#include <string>
#include <string_view>

namespace asmevo::profile {

enum class NameMatch : uint8_t {
  None,
  Truncated, // rocprofv3 --truncate-kernels: only the function's own name is left
  Full,
};

/// A symbol's name, and what it is called elsewhere.
class KernelName {
 public:
  explicit KernelName(std::string symbol);
  const std::string& symbol() const { return symbol_; }
  NameMatch match(std::string_view recorded) const;

 private:
  std::string symbol_, demangled_, truncated_;
};

/// "foo" of "void ns::foo<int>(int*)".
std::string truncated_name(std::string_view demangled);

} // namespace asmevo::profile
