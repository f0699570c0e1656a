// The assembly route: a complete .s file that plain clang-22 and ld.lld also accept, and back. Independent of
// the direct route (rebuild.h): everything goes through LLVM's assembler and lld. Slower; the second opinion.
//
// By hand the same is:
//   clang -target amdgcn-amd-amdhsa -mcpu=<target id in .amdgcn_target> -c -x assembler k.s -o k.o
//   ld.lld -shared k.o -o k.co
#pragma once

#include "base/result.h"
#include "codeobject/code_object.h"
#include "rebuild/recover.h"

#include <string>
#include <string_view>

namespace asmevo::rebuild {

/// Writes the object as assembly: target, code object version, sections (.text with labels, .rodata with
/// kernel descriptors as .amdhsa_kernel, .data, .bss, symbols and relocations), `.amdgpu_metadata`. What text
/// cannot express is written as it is, with the reason in a comment: instructions with dead encoding bits as
/// .long, a kernel descriptor or a metadata note that LLVM would write differently as bytes. The codec must
/// be for the object's GPU. Unsupported, naming the offset or the symbol: V3, gaps in the recovery, sections,
/// symbols and relocations that a linker's input cannot say (two symbols of one name, thread-local storage).
/// Whether the text gives the object back is for compare_objects to say (object_gate.h).
Result<std::string> write_assembly(const codeobject::CodeObject& object, const Recovery& recovery,
                                   isa::Codec& codec);

/// Assembles and links a .s file written by write_assembly or by hand, in process; it must begin with
/// `.amdgcn_target`. For text of this program's own: LLVM's assembler is not safe on hostile text. BadInput:
/// "FILE:line:column: message". For use from any thread; only linking waits for others, since lld runs one at
/// a time in a process.
Result<Bytes> assemble(std::string_view text, std::string_view file_name);

/// The same for text that somebody wrote: with the directives of assembly_directives.h only, and LLVM's
/// assembler runs in a child process with bounded memory and time, so that text which makes it abort or run
/// on is an error like any other. Forks: not while other threads hold locks.
Result<Bytes> assemble_in_child(std::string_view text, std::string_view file_name);

/// Links a relocatable object as the ROCm toolchain does (-shared). BadInput: what lld says.
Result<Bytes> link(ByteSpan relocatable);

} // namespace asmevo::rebuild
