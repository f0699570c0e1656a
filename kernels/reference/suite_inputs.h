// The suite's references and the memory of a launch: what they ask of it, and how far off it is afterwards.
// For programs that link the oracle.
#pragma once

#include "oracle/launch_memory.h"
#include "oracle/reference_error.h"
#include "reference/suite.h"

#include <limits>

namespace asmevo::reference {

class LaunchInputs final : public SuiteInputs {
 public:
  /// `memory` must outlive it. The launch may have run already.
  LaunchInputs(const oracle::LaunchMemory& memory, std::string target)
      : memory_(memory), target_(std::move(target)) {}

  using SuiteInputs::values;
  size_t size(const std::string& expression) const override {
    return static_cast<size_t>(
        oracle::evaluate_integer(expression, memory_.plan().sizes, 0, std::numeric_limits<int64_t>::max())
            .value());
  }
  std::string_view target() const override { return target_; }
  Numbers values(const std::string& buffer) const override {
    return values(buffer, 0, layout(index(buffer)).count());
  }
  Numbers values(const std::string& buffer, size_t first, size_t count) const override {
    const size_t at = index(buffer);
    const oracle::ElementType& type = layout(at).type();
    const uint64_t from = first * type.bits / 8, end = ((first + count) * type.bits + 7) / 8;
    Bytes bytes(end - from);
    memory_.original(at, from, bytes);
    Numbers numbers(count);
    for (size_t i = 0; i < count; ++i) numbers[i] = number(type, bytes, (first + i) * type.bits - from * 8);
    return numbers;
  }

 private:
  size_t index(const std::string& buffer) const { return memory_.plan().find(buffer).value(); }
  /// The suite's buffers are without padding.
  const oracle::Layout& layout(size_t buffer) const { return memory_.plan().buffers[buffer].layout; }
  static double number(const oracle::ElementType& type, const Bytes& bytes, size_t bit) {
    uint64_t code = 0;
    for (size_t byte = bit / 8; byte <= (bit + type.bits - 1) / 8; ++byte)
      code |= static_cast<uint64_t>(bytes[byte]) << (8 * (byte - bit / 8));
    if (!type.whole_bytes()) code = code >> (bit % 8) & ((uint64_t{1} << type.bits) - 1);
    return oracle::decode(type, code);
  }

  const oracle::LaunchMemory& memory_;
  std::string target_;
};

/// How far K0 and a candidate are from what `expected` says, after each has run in a memory of its own.
inline Result<oracle::ReferenceComparison> compare_with_reference(const Output& expected,
                                                                  const oracle::LaunchMemory& k0,
                                                                  const oracle::LaunchMemory& candidate) {
  const size_t buffer = k0.plan().find(expected.buffer).value();
  const oracle::Layout& layout = k0.plan().buffers[buffer].layout;
  const std::vector<size_t>& indices = expected.indices;
  oracle::ReferenceError error(layout.type());
  for (size_t at = 0, end = 0; at < expected.values.size(); at = end) {
    // Elements of one row that lie side by side.
    const size_t first = indices.empty() ? at : indices[at];
    const size_t left = std::min<size_t>(expected.values.size() - at, layout.row() - first % layout.row());
    for (end = at + 1; end < at + left && (indices.empty() || indices[end] == indices[end - 1] + 1);) ++end;
    ASMEVO_TRY(const std::vector<uint64_t> own, k0.codes(buffer, first, end - at));
    ASMEVO_TRY(const std::vector<uint64_t> other, candidate.codes(buffer, first, end - at));
    error.add_row(own, other, std::span(expected.values).subspan(at, end - at));
  }
  return error.result();
}

} // namespace asmevo::reference
