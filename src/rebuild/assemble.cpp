#include "isa/llvm_mc.h"
#include "rebuild/assembler.h"
#include "rebuild/assembly.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/MC/MCAsmBackend.h>
#include <llvm/MC/MCObjectFileInfo.h>
#include <llvm/MC/MCObjectWriter.h>
#include <llvm/MC/MCParser/MCAsmParser.h>
#include <llvm/MC/MCParser/MCTargetAsmParser.h>
#include <llvm/MC/MCStreamer.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>

namespace asmevo::rebuild {

namespace {

constexpr std::string_view generic_cpu = "gfx9-4-generic"; // isa::Target calls it gfx942 with `generic` set

std::string cpu_of(const isa::Target& target) {
  return target.generic ? std::string(generic_cpu) : isa::llvm_cpu(target);
}

// "amdgcn-amd-amdhsa--gfx9-4-generic:xnack-", as the assembler compares it with what it was started for.
std::string target_id(const isa::Target& target) {
  std::string id = target.id();
  if (target.generic) id.replace(0, target.name().size(), generic_cpu);
  return "amdgcn-amd-amdhsa--" + id;
}

// The GPU in the file's .amdgcn_target: LLVM has to be set up for it before it reads the first line.
Result<isa::Target> target_of(std::string_view text, std::string_view file_name) {
  constexpr std::string_view directive = ".amdgcn_target";
  unsigned line_number = 0;
  while (!text.empty()) {
    ++line_number;
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t start = line.find_first_not_of(" \t");
    if (start == std::string_view::npos || !line.substr(start).starts_with(directive)) continue;
    const size_t open = line.find('"'), close = line.rfind('"');
    if (open == std::string_view::npos || open == close)
      return bad_input("{}:{}:1: expected {} \"amdgcn-amd-amdhsa--<target>\"", file_name, line_number,
                       directive);
    auto target = isa::Target::from_id(line.substr(open + 1, close - open - 1));
    if (!target) return failed(target.error(), fmt::format("{}:{}:{}", file_name, line_number, open + 1));
    return target;
  }
  return bad_input("{}: no {} line says which GPU it is for", file_name, directive);
}

struct Diagnostics {
  std::string file_name;
  std::string first;           // "file:line:column: message"
  std::vector<unsigned> lines; // with errors

  static void handle(const llvm::SMDiagnostic& d, void* context) {
    auto& self = *static_cast<Diagnostics*>(context);
    if (d.getKind() != llvm::SourceMgr::DK_Error) return;
    self.lines.push_back(static_cast<unsigned>(std::max(d.getLineNo(), 0)));
    if (!self.first.empty()) return;
    if (d.getLineNo() < 1)
      self.first = fmt::format("{}: {}", self.file_name, d.getMessage().str());
    else
      self.first = fmt::format("{}:{}:{}: {}", self.file_name, d.getLineNo(), d.getColumnNo() + 1,
                               d.getMessage().str());
  }
};

Result<Bytes> run_assembler(std::string_view text, Diagnostics& diagnostics) {
  ASMEVO_TRY(const isa::Target target, target_of(text, diagnostics.file_name));
  if (!isa::register_llvm_target()) return environment_error("this LLVM has no AMDGPU target");
  const llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string lookup_error;
  const llvm::Target& llvm_target = *llvm::TargetRegistry::lookupTarget(triple, lookup_error);

  llvm::SourceMgr source;
  source.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy({text.data(), text.size()}, "text"),
                            llvm::SMLoc());
  source.setDiagHandler(Diagnostics::handle, &diagnostics);

  const llvm::MCTargetOptions options;
  const std::unique_ptr<llvm::MCRegisterInfo> registers(llvm_target.createMCRegInfo(triple));
  const std::unique_ptr<llvm::MCAsmInfo> asm_info(llvm_target.createMCAsmInfo(*registers, triple, options));
  const std::unique_ptr<llvm::MCInstrInfo> instructions(llvm_target.createMCInstrInfo());
  const std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      llvm_target.createMCSubtargetInfo(triple, cpu_of(target), isa::llvm_features(target)));
  llvm::MCContext context(triple, asm_info.get(), registers.get(), subtarget.get(), &source, &options);
  const std::unique_ptr<llvm::MCObjectFileInfo> sections(
      llvm_target.createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(sections.get());

  llvm::SmallString<0> object;
  llvm::raw_svector_ostream out(object);
  std::unique_ptr<llvm::MCAsmBackend> backend(
      llvm_target.createMCAsmBackend(*subtarget, *registers, options));
  std::unique_ptr<llvm::MCObjectWriter> writer = backend->createObjectWriter(out);
  std::unique_ptr<llvm::MCCodeEmitter> emitter(llvm_target.createMCCodeEmitter(*instructions, context));
  const std::unique_ptr<llvm::MCStreamer> streamer(llvm_target.createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer), std::move(emitter), *subtarget));
  const std::unique_ptr<llvm::MCAsmParser> parser(
      llvm::createMCAsmParser(source, context, *streamer, *asm_info));
  const std::unique_ptr<llvm::MCTargetAsmParser> target_parser(
      llvm_target.createMCAsmParser(*subtarget, *parser, *instructions, options));
  parser->setTargetParser(*target_parser);
  const bool refused = parser->Run(/*NoInitialTextSection=*/false);
  if (!diagnostics.first.empty()) return bad_input("{}", diagnostics.first);
  if (refused || context.hadError()) return bad_input("{}: this does not assemble", diagnostics.file_name);
  return Bytes(object.begin(), object.end());
}

} // namespace

std::string assembly_header(const isa::Target& target, unsigned code_object_version) {
  return fmt::format("\t.amdgcn_target \"{}\"\n\t.amdhsa_code_object_version {}\n", target_id(target),
                     code_object_version);
}

Result<Bytes> assemble_relocatable(std::string_view text, std::string_view file_name) {
  Diagnostics diagnostics{std::string(file_name), {}, {}};
  return run_assembler(text, diagnostics);
}

Result<std::vector<unsigned>> refused_lines(std::string_view text) {
  Diagnostics diagnostics{"text", {}, {}};
  const auto object = run_assembler(text, diagnostics);
  if (!object && diagnostics.lines.empty()) return failed(object.error());
  std::ranges::sort(diagnostics.lines);
  return std::move(diagnostics.lines);
}

Result<Bytes> relocatable_section(ByteSpan relocatable, std::string_view name) {
  auto file = llvm::object::ELF64LEFile::create(
      {reinterpret_cast<const char*>(relocatable.data()), relocatable.size()});
  const auto fail = [](llvm::Error error) { return internal_error("{}", llvm::toString(std::move(error))); };
  if (!file) return bad_input("not an ELF file: {}", llvm::toString(llvm::Error(file.takeError())));
  auto sections = file->sections();
  if (!sections) return fail(sections.takeError());
  for (const auto& section : *sections) {
    auto section_name = file->getSectionName(section);
    if (!section_name) return fail(section_name.takeError());
    if (std::string_view(section_name->data(), section_name->size()) != name) continue;
    auto contents = file->getSectionContents(section);
    if (!contents) return fail(contents.takeError());
    return Bytes(contents->begin(), contents->end());
  }
  return Bytes();
}

Result<Bytes> assemble(std::string_view text, std::string_view file_name) {
  ASMEVO_TRY(const Bytes relocatable, assemble_relocatable(text, file_name));
  auto linked = link(relocatable);
  if (!linked) return failed(linked.error(), file_name);
  return linked;
}

} // namespace asmevo::rebuild
