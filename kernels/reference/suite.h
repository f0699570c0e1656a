// The kernels of kernels/suite/: which of a launch's kernels is K0, and what a launch must leave in its
// buffers, worked out in double precision, with how far off a correct kernel may be.
//
// A launch at its full shape is too much for the emulator and for a plain reference. There a workgroup of K0
// is looked at alone: what must have run before, so that it finds what it needs, and what it then leaves,
// in the outputs or in the workspace that later kernels of the launch take up.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace asmevo::reference {

using Numbers = std::vector<double>;

/// What a reference is told of a launch. suite_inputs.h has one for a launch's memory.
class SuiteInputs {
 public:
  virtual ~SuiteInputs() = default;
  /// Of an expression over the launch file's sizes: "batch * rows".
  virtual size_t size(const std::string& expression) const = 0;
  /// "gfx942": gfx90a takes f16 denormals for zero.
  virtual std::string_view target() const = 0;
  /// All of a buffer as it was before the launch, or `count` elements from `first` on.
  virtual Numbers values(const std::string& buffer) const = 0;
  virtual Numbers values(const std::string& buffer, size_t first, size_t count) const = 0;
};

/// What a buffer must hold. Element i may be off by `absolute + relative * |values[i]|`, and by `own[i]`
/// besides.
struct Output {
  std::string buffer;
  Numbers values;
  double relative = 0, absolute = 0;
  Numbers own = {};                 // empty: none
  std::vector<size_t> indices = {}; // of the elements; empty: the whole buffer

  double allowed(size_t i) const;
};

struct Expected {
  std::vector<Output> outputs;
  /// Why these inputs tell less than they should, one line each: "nothing is clamped".
  std::vector<std::string> doubts = {};
};

using Workgroup = std::array<size_t, 3>;

struct Sample {
  Expected expected;
  /// Workgroups, by linear index, of the kernels that run before K0.
  std::map<std::string, std::vector<size_t>> before = {};
};

struct SuiteKernel {
  std::string name; // of kernels/suite/<name>.hip and .toml
  std::string k0;
  Expected (*launch)(const SuiteInputs&);
  Sample (*workgroup)(const SuiteInputs&, const Workgroup&);
  std::vector<std::string> targets = {"gfx942", "gfx90a", "gfx950"};
  std::vector<std::string> shapes = {"tiny", "odd", "search", "full"};

  /// "level1", "level2" or "llm".
  std::string level() const { return name.substr(0, name.find('_')); }
  bool has_shape(std::string_view shape) const;
};

/// All of them, level by level.
const std::vector<SuiteKernel>& suite_kernels();
/// By name; null: there is none.
const SuiteKernel* find_suite_kernel(std::string_view name);

} // namespace asmevo::reference
