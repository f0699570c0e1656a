#include "isa/llvm_mc.h"

#include <llvm/Support/TargetSelect.h>

#include <mutex>

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();
void LLVMInitializeAMDGPUAsmParser();
}

namespace asmevo::isa {

bool register_llvm_target() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    LLVMInitializeAMDGPUAsmParser();
  });
  std::string error;
  return llvm::TargetRegistry::lookupTarget(llvm::Triple("amdgcn-amd-amdhsa"), error) != nullptr;
}

std::string llvm_cpu(const Target& target) {
  return std::string(target.name());
}

std::string llvm_features(const Target& target) {
  std::string features;
  const auto add = [&](Feature feature, std::string_view name) {
    if (feature == Feature::Any) return;
    if (!features.empty()) features += ',';
    features += fmt::format("{}{}", feature == Feature::On ? '+' : '-', name);
  };
  add(target.xnack, "xnack");
  add(target.sramecc, "sramecc");
  return features;
}

Result<std::unique_ptr<LlvmMc>> LlvmMc::create(const Target& target) {
  if (!register_llvm_target()) return environment_error("this LLVM has no AMDGPU target");
  auto mc = std::make_unique<LlvmMc>();
  mc->triple = llvm::Triple("amdgcn-amd-amdhsa");
  std::string error;
  mc->llvm_target = llvm::TargetRegistry::lookupTarget(mc->triple, error);
  const llvm::Target& t = *mc->llvm_target;
  mc->registers.reset(t.createMCRegInfo(mc->triple));
  mc->asm_info.reset(t.createMCAsmInfo(*mc->registers, mc->triple, mc->options));
  mc->instructions.reset(t.createMCInstrInfo());
  mc->subtarget.reset(t.createMCSubtargetInfo(mc->triple, llvm_cpu(target), llvm_features(target)));
  if (!mc->registers || !mc->asm_info || !mc->instructions || !mc->subtarget)
    return environment_error("LLVM's AMDGPU target lacks an MC part");
  mc->context = std::make_unique<llvm::MCContext>(mc->triple, mc->asm_info.get(), mc->registers.get(),
                                                  mc->subtarget.get(), nullptr, &mc->options);
  mc->disassembler.reset(t.createMCDisassembler(*mc->subtarget, *mc->context));
  mc->emitter.reset(t.createMCCodeEmitter(*mc->instructions, *mc->context));
  mc->printer.reset(t.createMCInstPrinter(mc->triple, 0, *mc->asm_info, *mc->instructions, *mc->registers));
  if (!mc->disassembler || !mc->emitter || !mc->printer)
    return environment_error("LLVM's AMDGPU target lacks a disassembler, encoder or printer");
  return mc;
}

} // namespace asmevo::isa
