// The LLVM MC objects of one target. Includes LLVM headers: for isa/*.cpp only.
#pragma once

#include "isa/target.h"

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCCodeEmitter.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>

#include <memory>

namespace asmevo::isa {

struct LlvmMc {
  /// Environment error where LLVM has no AMDGPU target.
  static Result<std::unique_ptr<LlvmMc>> create(const Target&);

  llvm::Triple triple;
  const llvm::Target* llvm_target = nullptr;
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> asm_info;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCCodeEmitter> emitter;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

/// Registers LLVM's AMDGPU target once a process; false where it is missing.
bool register_llvm_target();

/// LLVM's CPU name and feature string of a target ("+xnack,-sramecc").
std::string llvm_cpu(const Target&);
std::string llvm_features(const Target&);

} // namespace asmevo::isa
