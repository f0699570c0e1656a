// MCInst -> Instruction: operands and exact register sets. Includes LLVM headers: for isa/*.cpp only.
#pragma once

#include "isa/instruction.h"
#include "isa/llvm_mc.h"

#include <string_view>
#include <vector>

namespace asmevo::isa {

/// Tables made once for a target: LLVM register -> units, LLVM opcode -> mnemonic and matrix passes.
class Lowering {
 public:
  Lowering(const LlvmMc& mc, const Target& target);

  /// The Instruction for `inst`, encoded as `words`. `dead_bits` is left to the caller.
  Instruction lower(const llvm::MCInst& inst, std::span<const uint32_t> words);

  /// Whether an operand may hold this register or, where `has_literal` tells if the words end with one, this
  /// immediate.
  bool accepts(const llvm::MCOperandInfo& info, llvm::MCRegister reg, Family family) const;
  bool accepts(const llvm::MCOperandInfo& info, int64_t immediate, bool has_literal) const;

  /// Units of an LLVM register; count 0 for constants such as src_shared_base.
  RegRange range_of(llvm::MCRegister reg) const { return ranges_[reg.id()]; }

 private:
  void add_operands(Instruction&, const llvm::MCInst&) const;
  void add_register(Instruction&, const llvm::MCInstrDesc&, unsigned index, RegRange range) const;
  void assign_roles(Instruction&) const;
  void add_implicit(Instruction&, const llvm::MCInstrDesc&) const;
  void add_hardware_registers(Instruction&) const;
  std::string_view mnemonic(const llvm::MCInst&);
  void find_class_forms();
  void find_int16_types();
  uint8_t matrix_passes(const llvm::MCInst&) const;

  const LlvmMc& mc_;
  Target target_;
  std::vector<RegRange> ranges_;
  std::vector<llvm::MCRegister> in_classes_; // LLVM register -> the form of it that register classes hold
  std::vector<uint8_t> int16_types_;         // LLVM's operand types of 16-bit integers
  std::vector<std::string_view> mnemonics_;  // by LLVM opcode
};

} // namespace asmevo::isa
