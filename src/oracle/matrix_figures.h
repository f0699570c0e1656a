// Every matrix instruction of a machine's GPU in the cycle model: how often it can issue, and how long it is
// until its result can be used, beside what is published (kernels/microkernels/matrix.csv). The kernels are
// made here, three for each instruction, one wave a SIMD:
//
//   independent   several accumulators in turn
//   accumulating  one accumulator, each instruction adding to the result of the one before
//   chained       the result of one is factor A of the next
//
// with the wait states between two that the hardware needs and compilers put there (isa/hazards.h). Cycles
// are those of the engine clock, whatever the clock falls to under such work.
#pragma once

#include "base/result.h"
#include "isa/target.h"
#include "timing/machine_model.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace asmevo::oracle {

/// A row of the table.
struct PublishedMatrixRate {
  std::string target; // "gfx942"
  std::string opcode; // "v_mfma_f32_16x16x16_f16"; with " cbsz:4 blgp:4" behind it for 4-bit factors
  std::string type;   // of the factors, in words: what `peak` is of
  double flops = 0;   // multiplications and additions; of sparse ones as if nothing were left out
  std::optional<double> cycles; // that it keeps its SIMD's matrix unit busy
  double peak = 0;              // flops a cycle that AMD gives a compute unit for this type
  std::string source;           // of `cycles`
};

/// BadInput: "matrix.csv:12: cycles: ..." for what is not as above.
Result<std::vector<PublishedMatrixRate>> read_matrix_rates(const std::filesystem::path&);
Result<std::vector<PublishedMatrixRate>> parse_matrix_rates(std::string_view text, const std::string& name);

struct MatrixFigure {
  std::string opcode;
  unsigned passes = 0; // of LLVM's scheduling model, from which the cycle model takes them
  std::optional<PublishedMatrixRate> published;
  struct Cycles {
    double independent = 0, accumulating = 0, chained = 0; // from one instruction to the next
  };
  Cycles modelled;
  /// The published cycles, or where wait states are needed the distance that they make, if that is more. None
  /// where no cycles are published.
  std::optional<Cycles> expected;

  /// Flops a cycle of a compute unit at the modelled rate; 0 for what is not in the table.
  double rate() const { return published ? 4 * published->flops / modelled.independent : 0; }
  /// The largest of the three deviations, by amount.
  std::optional<double> deviation() const;
  bool is_off() const;
};

/// In alphabetical order, with and without 4-bit factors where there are such.
Result<std::vector<MatrixFigure>>
model_matrix_instructions(const timing::MachineModel&, const std::vector<PublishedMatrixRate>&,
                          const std::function<void(size_t done, size_t all)>& progress = {});

} // namespace asmevo::oracle
