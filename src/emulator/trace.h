// Prints what waves do: each instruction with EXEC, what it reads, and what it writes before and after.
//
//   wg 0 wave 1       1e10  s_and_b32 s3, s3, 0xffff
//       s3 0x00400100 -> 0x00000100
//       scc 0 -> 1
#pragma once

#include "emulator/observer.h"
#include "emulator/wave.h"
#include "isa/codec.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asmevo::emulator {

struct TraceOptions {
  std::optional<uint64_t> workgroup;
  std::optional<uint32_t> wave;                  // within the workgroup
  uint64_t first_pc = 0, last_pc = ~uint64_t{0}; // in the code object's addresses, both included
  std::optional<unsigned> lane; // the one to show of vector registers; none: the first that differ
  uint64_t most = ~uint64_t{0}; // instructions to print
};

/// For one thread of a run: traces of several waves must not mix.
class Trace final : public Observer {
 public:
  using Print = std::function<void(std::string_view line)>;
  /// Environment where LLVM lacks the target.
  static Result<std::unique_ptr<Trace>> create(const isa::Target&, TraceOptions, Print);

  void before(Wave&, const MicroOp&) override;
  void memory(Wave&, const MicroOp&, const MemoryEvent&) override;
  void after(Wave&, const MicroOp&) override;
  /// Instructions printed, and those that TraceOptions::most kept back.
  uint64_t printed() const { return printed_; }
  uint64_t left_out() const { return left_out_; }

 private:
  Trace(std::unique_ptr<isa::Codec> codec, TraceOptions options, Print print)
      : codec_(std::move(codec)), options_(options), print_(std::move(print)) {}
  bool wanted(const Wave&, uint64_t pc) const;

  // The contents of one register unit: a lane each, or one value.
  struct Contents {
    isa::RegUnit unit = 0;
    bool vector = false;
    Row lanes{};
  };
  Contents contents(const Wave&, isa::RegUnit) const;
  std::string show(const Contents&, uint64_t exec) const;
  std::string show_change(const Contents& was, const Contents& is, uint64_t exec) const;

  std::unique_ptr<isa::Codec> codec_;
  TraceOptions options_;
  Print print_;
  bool active_ = false;
  uint64_t exec_ = 0;
  std::vector<Contents> results_; // before the instruction
  uint64_t printed_ = 0, left_out_ = 0;
};

} // namespace asmevo::emulator
