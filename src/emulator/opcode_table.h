// Which function runs which instruction: the families (families/*.cpp) each give a list of rows, keyed by the
// mnemonic without encoding suffix, so that e32, e64, DPP and SDWA forms share one row. To add an
// instruction, add its row to the file of its family.
#pragma once

#include "emulator/micro_op.h"

#include <span>
#include <string_view>
#include <vector>

namespace asmevo::emulator {

struct OpcodeRow {
  std::string_view mnemonic; // isa::Instruction::base_mnemonic
  Handler run = nullptr;
  /// Integer saturation, where the clamp bit means that. Null: a result of type float, double or Half is
  /// clamped to [0, 1] when it is written, one of an integer type as it is.
  Handler run_clamped = nullptr;
};
using OpcodeRows = std::span<const OpcodeRow>;

/// The handlers are built for AVX2 and for AVX-512; the CPU decides, and ASMEVO_HANDLERS=avx2 in the
/// environment.
enum class HandlerBuild : uint8_t { Avx2, Avx512 };
HandlerBuild handler_build();

/// The function for an instruction, or null where the emulator does not implement it.
Handler find_handler(const isa::Instruction&);

/// Whether any row has this mnemonic (for lists of what is missing).
bool implements(std::string_view base_mnemonic);
size_t opcode_row_count();
/// The rows of all families.
std::vector<OpcodeRows> all_opcode_rows();

// One function a family file. Rows that only some targets have are listed all the same: what a target lacks
// does not decode. Where a mnemonic means different things (fp8 formats), the handler looks at
// DispatchContext::target.
OpcodeRows scalar_arithmetic_rows(); // families/scalar_arithmetic.cpp: SOP1, SOP2, SOPC, SOPK arithmetic
OpcodeRows scalar_control_rows(); // families/scalar_control.cpp: SOPP, branches, hardware registers, messages
OpcodeRows scalar_memory_rows();  // families/scalar_memory.cpp: SMEM
OpcodeRows vector_float_rows();   // families/vector_float.cpp: f32 arithmetic, min/max, div_*, ldexp, frexp
OpcodeRows vector_half_rows();    // families/vector_half.cpp: f16
OpcodeRows vector_double_rows();  // families/vector_double.cpp: f64
OpcodeRows
transcendental_rows(); // families/transcendental.cpp: exp, log, rcp, rsq, sqrt, sin, cos of all widths
OpcodeRows vector_convert_rows(); // families/vector_convert.cpp
OpcodeRows small_float_rows();    // families/small_float.cpp: fp8, bf8, fp6, bf6, fp4, bf16 conversions
OpcodeRows vector_integer_rows(); // families/vector_integer.cpp: integer arithmetic
OpcodeRows vector_bits_rows();    // families/vector_bits.cpp: logic, shifts, bit fields, bytes
OpcodeRows vector_move_rows();    // families/vector_move.cpp: mov, cndmask, lanes, swaps
OpcodeRows vector_compare_rows(); // families/vector_compare.cpp: VOPC
OpcodeRows packed_rows();         // families/packed.cpp: VOP3P of 16-bit integers and of f32
OpcodeRows packed_half_rows();    // families/packed_half.cpp: VOP3P of f16, v_fma_mix*
OpcodeRows dot_product_rows();    // families/dot_product.cpp
OpcodeRows matrix_rows();         // families/matrix.cpp: MFMA
OpcodeRows sparse_matrix_rows();  // families/sparse_matrix.cpp: SMFMAC
OpcodeRows lds_rows();            // families/lds.cpp: DS
OpcodeRows lds_atomic_rows();     // families/lds_atomic.cpp: DS atomics
OpcodeRows lds_lane_rows();       // families/lds_lanes.cpp: DS between lanes
OpcodeRows buffer_rows();         // families/buffer.cpp: MUBUF, MTBUF
OpcodeRows buffer_format_rows();  // families/buffer_format.cpp: MUBUF, MTBUF with format
OpcodeRows flat_rows();           // families/flat.cpp: FLAT, GLOBAL, SCRATCH

} // namespace asmevo::emulator
