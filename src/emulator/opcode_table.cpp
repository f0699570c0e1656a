#include "emulator/opcode_table.h"

#include <cstdlib>
#include <string>
#include <unordered_map>
#include <vector>

namespace asmevo::emulator {

std::vector<OpcodeRows> all_opcode_rows() {
  return {
      scalar_arithmetic_rows(),
      scalar_control_rows(),
      scalar_memory_rows(),
      vector_float_rows(),
      vector_half_rows(),
      vector_double_rows(),
      transcendental_rows(),
      vector_convert_rows(),
      small_float_rows(),
      vector_integer_rows(),
      vector_bits_rows(),
      vector_move_rows(),
      vector_compare_rows(),
      packed_rows(),
      packed_half_rows(),
      dot_product_rows(),
      matrix_rows(),
      sparse_matrix_rows(),
      lds_rows(),
      lds_atomic_rows(),
      lds_lane_rows(),
      buffer_rows(),
      buffer_format_rows(),
      flat_rows(),
  };
}

namespace {

using Table = std::unordered_map<std::string_view, const OpcodeRow*>;

const Table& table() {
  static const Table all = [] {
    Table t;
    for (const OpcodeRows& rows : all_opcode_rows())
      for (const OpcodeRow& row : rows) t.emplace(row.mnemonic, &row);
    return t;
  }();
  return all;
}

const OpcodeRow* find_row(std::string_view mnemonic) {
  const auto at = table().find(mnemonic);
  return at == table().end() ? nullptr : at->second;
}

} // namespace

namespace {

Handler find_here(const isa::Instruction& instruction) {
  const OpcodeRow* row = find_row(instruction.base_mnemonic);
  if (row == nullptr) return nullptr;
  return instruction.mods.clamp && row->run_clamped != nullptr ? row->run_clamped : row->run;
}

} // namespace

} // namespace asmevo::emulator

// The handlers are built twice (cmake/HandlerBuilds.cmake). Of the build for AVX-512 nobody else sees
// anything but this function.
extern "C" asmevo::emulator::Handler asmevo_find_handler_avx512(const asmevo::isa::Instruction&);

#ifdef ASMEVO_HANDLERS_AVX512

asmevo::emulator::Handler asmevo_find_handler_avx512(const asmevo::isa::Instruction& instruction) {
  return asmevo::emulator::find_here(instruction);
}

#else

namespace asmevo::emulator {

HandlerBuild handler_build() {
#ifdef ASMEVO_HAVE_AVX512_HANDLERS
  static const HandlerBuild build = [] {
    const char* const wanted = std::getenv("ASMEVO_HANDLERS");
    if (wanted != nullptr && std::string_view(wanted) == "avx2") return HandlerBuild::Avx2;
    const bool here = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
    return here ? HandlerBuild::Avx512 : HandlerBuild::Avx2;
  }();
  return build;
#else
  return HandlerBuild::Avx2;
#endif
}

Handler find_handler(const isa::Instruction& instruction) {
#ifdef ASMEVO_HAVE_AVX512_HANDLERS
  if (handler_build() == HandlerBuild::Avx512) return asmevo_find_handler_avx512(instruction);
#endif
  return find_here(instruction);
}

bool implements(std::string_view base_mnemonic) {
  return find_row(base_mnemonic) != nullptr;
}

size_t opcode_row_count() {
  return table().size();
}

} // namespace asmevo::emulator

#endif
