#include "isa/text_parser.h"

#include <llvm/MC/MCExpr.h>
#include <llvm/MC/MCFixup.h>
#include <llvm/MC/MCObjectFileInfo.h>
#include <llvm/MC/MCParser/MCAsmParser.h>
#include <llvm/MC/MCParser/MCTargetAsmParser.h>
#include <llvm/MC/MCStreamer.h>
#include <llvm/MC/MCSymbol.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <charconv>
#include <optional>

namespace asmevo::isa {

namespace {

using Words = StaticVector<uint32_t, Instruction::max_dwords>;

// "name", "name+8", "name@rel32@lo+4" as LLVM prints the expression of an operand.
struct SymbolExpression {
  std::string symbol, specifier;
  int64_t addend = 0;
};

std::optional<SymbolExpression> parse_expression(std::string_view text) {
  if (text.starts_with('(') && text.ends_with(')')) text = text.substr(1, text.size() - 2);
  SymbolExpression e;
  const size_t name_end = std::min(text.find_first_of("@+-*/&|()~! "), text.size());
  if (name_end == 0) return std::nullopt;
  e.symbol = text.substr(0, name_end);
  text.remove_prefix(name_end);
  if (text.starts_with('@')) {
    const size_t end = std::min(text.find_first_of("+- "), text.size());
    e.specifier = text.substr(1, end - 1);
    text.remove_prefix(end);
  }
  if (text.empty()) return e;
  const bool negative = text.front() == '-';
  if (text.front() != '+' && !negative) return std::nullopt;
  text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), e.addend);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (negative) e.addend = -e.addend;
  return e;
}

std::optional<SymbolUse> use_of(std::string_view specifier, bool branch) {
  if (branch) return specifier.empty() ? std::optional(SymbolUse::Branch) : std::nullopt;
  if (specifier == "rel32@lo") return SymbolUse::Rel32Lo;
  if (specifier == "rel32@hi") return SymbolUse::Rel32Hi;
  if (specifier == "gotpcrel32@lo") return SymbolUse::GotPcRel32Lo;
  if (specifier == "gotpcrel32@hi") return SymbolUse::GotPcRel32Hi;
  if (specifier == "abs32@lo") return SymbolUse::Abs32Lo;
  if (specifier == "abs32@hi") return SymbolUse::Abs32Hi;
  return std::nullopt;
}

// Collects what the parser emits instead of writing an object.
class CapturingStreamer : public llvm::MCStreamer {
 public:
  CapturingStreamer(llvm::MCContext& context, const LlvmMc& mc, const llvm::SourceMgr& source)
      : MCStreamer(context), mc_(mc), source_(source) {}

  std::vector<AssembledLine> lines;
  std::optional<TextError> error;

  void emitInstruction(const llvm::MCInst& inst, const llvm::MCSubtargetInfo& subtarget) override {
    AssembledLine line = at(inst.getLoc());
    llvm::SmallVector<char, 16> bytes;
    llvm::SmallVector<llvm::MCFixup, 2> fixups;
    mc_.emitter->encodeInstruction(inst, bytes, fixups, subtarget);
    for (size_t k = 0; k + 4 <= bytes.size() && !line.words.full(); k += 4) {
      uint32_t word = 0;
      std::memcpy(&word, bytes.data() + k, 4);
      line.words.push_back(word);
    }
    if (!fixups.empty()) add_symbol(line, fixups);
    lines.push_back(std::move(line));
  }
  void emitLabel(llvm::MCSymbol* symbol, llvm::SMLoc loc) override {
    if (symbol->isDefined()) {
      refuse(at(loc), fmt::format("label '{}' is defined twice", symbol->getName().str()));
      return;
    }
    MCStreamer::emitLabel(symbol, loc);
    AssembledLine line = at(loc);
    line.label = symbol->getName().str();
    lines.push_back(std::move(line));
  }
  bool emitSymbolAttribute(llvm::MCSymbol*, llvm::MCSymbolAttr) override { return true; }
  void emitCommonSymbol(llvm::MCSymbol*, uint64_t, llvm::Align) override {}

 private:
  AssembledLine at(llvm::SMLoc loc) const {
    AssembledLine line;
    if (!loc.isValid()) return line;
    const auto [row, column] = source_.getLineAndColumn(loc);
    line.line = row;
    line.column = column;
    return line;
  }

  void refuse(const AssembledLine& line, std::string message) {
    if (!error) error = TextError{line.line, line.column, std::move(message)};
  }

  void add_symbol(AssembledLine& line, llvm::ArrayRef<llvm::MCFixup> fixups) {
    if (fixups.size() != 1) return refuse(line, "more than one symbol in an instruction");
    std::string text;
    llvm::raw_string_ostream out(text);
    mc_.asm_info->printExpr(out, *fixups[0].getValue());
    const bool branch = fixups[0].getOffset() == 0;
    const auto expression = parse_expression(text);
    const auto use = expression ? use_of(expression->specifier, branch) : std::nullopt;
    if (!use) return refuse(line, fmt::format("cannot use the expression '{}' here", text));
    if (*use == SymbolUse::Branch && expression->addend != 0)
      return refuse(line, "a branch goes to a label, without an addend");
    line.use = *use;
    line.symbol = expression->symbol;
    line.addend = expression->addend;
  }

  const LlvmMc& mc_;
  const llvm::SourceMgr& source_;
};

struct Diagnostic {
  std::optional<TextError> first;
  static void handle(const llvm::SMDiagnostic& d, void* context) {
    auto& self = *static_cast<Diagnostic*>(context);
    if (d.getKind() != llvm::SourceMgr::DK_Error || self.first) return;
    self.first = TextError{static_cast<unsigned>(std::max(d.getLineNo(), 0)),
                           static_cast<unsigned>(std::max(d.getColumnNo() + 1, 0)), d.getMessage().str()};
  }
};

} // namespace

std::expected<std::vector<AssembledLine>, TextError> assemble_text(const LlvmMc& mc, std::string_view text) {
  llvm::SourceMgr source;
  source.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy({text.data(), text.size()}, "edit"),
                            llvm::SMLoc());
  Diagnostic diagnostic;
  source.setDiagHandler(Diagnostic::handle, &diagnostic);
  llvm::MCContext context(mc.triple, mc.asm_info.get(), mc.registers.get(), mc.subtarget.get(), &source,
                          &mc.options);
  std::unique_ptr<llvm::MCObjectFileInfo> sections(
      mc.llvm_target->createMCObjectFileInfo(context, /*PIC=*/true));
  context.setObjectFileInfo(sections.get());
  CapturingStreamer streamer(context, mc, source);
  mc.llvm_target->createNullTargetStreamer(streamer);
  std::unique_ptr<llvm::MCAsmParser> parser(llvm::createMCAsmParser(source, context, streamer, *mc.asm_info));
  std::unique_ptr<llvm::MCTargetAsmParser> target(
      mc.llvm_target->createMCAsmParser(*mc.subtarget, *parser, *mc.instructions, mc.options));
  parser->setTargetParser(*target);
  const bool failed = parser->Run(/*NoInitialTextSection=*/false);
  if (diagnostic.first) return std::unexpected(*diagnostic.first);
  if (streamer.error) return std::unexpected(*streamer.error);
  if (failed) return std::unexpected(TextError{1, 1, "this does not assemble"});
  return std::move(streamer.lines);
}

} // namespace asmevo::isa
