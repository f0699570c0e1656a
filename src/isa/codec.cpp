#include "isa/codec.h"

#include "base/hash.h"
#include "isa/encoding.h"
#include "isa/lower.h"
#include "isa/text_parser.h"

#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <deque>
#include <mutex>

namespace asmevo::isa {

std::string TextError::describe() const {
  return fmt::format("line {}, column {}: {}", line, column, message);
}

// Open addressing over the instructions' own words: no key is stored twice.
class InstructionPool {
 public:
  InstructionPool() : slots_(1024, 0) {}

  const Instruction* find(std::span<const uint32_t> words) const {
    for (size_t at = start(words);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == 0) return nullptr;
      const Instruction& i = instructions_[slots_[at] - 1];
      if (std::ranges::equal(i.encoding(), words)) return &i;
    }
  }

  const Instruction* insert(const Instruction& instruction) {
    instructions_.push_back(instruction);
    if (instructions_.size() * 2 > slots_.size())
      grow();
    else
      place(static_cast<uint32_t>(instructions_.size()));
    return &instructions_.back();
  }

  size_t size() const { return instructions_.size(); }

 private:
  size_t start(std::span<const uint32_t> words) const {
    const auto* bytes = reinterpret_cast<const uint8_t*>(words.data());
    return hash64({bytes, words.size_bytes()}) & (slots_.size() - 1);
  }
  void place(uint32_t number) {
    size_t at = start(instructions_[number - 1].encoding());
    while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = number;
  }
  void grow() {
    slots_.assign(slots_.size() * 2, 0);
    for (uint32_t n = 1; n <= instructions_.size(); ++n) place(n);
  }

  std::deque<Instruction> instructions_; // addresses stay
  std::vector<uint32_t> slots_;          // index + 1; 0 is free
};

namespace {

bool same_meaning(const llvm::MCInst& a, const llvm::MCInst& b) {
  if (a.getOpcode() != b.getOpcode() || a.getNumOperands() != b.getNumOperands()) return false;
  for (unsigned k = 0; k < a.getNumOperands(); ++k) {
    const llvm::MCOperand &x = a.getOperand(k), &y = b.getOperand(k);
    if (x.isReg() != y.isReg() || x.isImm() != y.isImm()) return false;
    if (x.isReg() && x.getReg() != y.getReg()) return false;
    if (x.isImm() && x.getImm() != y.getImm()) return false;
  }
  return true;
}

// 64-bit operands have no DPP but row_newbcast (controls 0x150 to 0x15f).
bool is_wide_dpp(const Instruction& i) {
  return i.extension == Extension::Dpp && i.mods.dpp_ctrl < 0x150 &&
         std::ranges::any_of(
             i.operands,
             [](const Operand& o) {
               return o.kind == Operand::Kind::Register && is_vector(o.reg.first) && o.reg.count > 1;
             });
}

Instruction data_word(uint32_t word) {
  Instruction i;
  i.words[0] = word;
  i.dwords = 1;
  i.mnemonic = i.base_mnemonic = ".long";
  return i;
}

} // namespace

struct Codec::Impl {
  Target target;
  std::unique_ptr<LlvmMc> mc;
  std::unique_ptr<Lowering> lowering;
  std::shared_ptr<InstructionPool> pool = std::make_shared<InstructionPool>();

  std::optional<llvm::MCInst> disassemble(std::span<const uint32_t> words, uint64_t& size) const {
    llvm::MCInst inst;
    const llvm::ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t*>(words.data()), words.size_bytes());
    if (mc->disassembler->getInstruction(inst, size, bytes, 0, llvm::nulls()) !=
        llvm::MCDisassembler::Success)
      return std::nullopt;
    return inst;
  }

  // LLVM's encoding; empty where the instruction has an operand that is not resolved.
  StaticVector<uint32_t, Instruction::max_dwords> encode(const llvm::MCInst& inst) const {
    llvm::SmallVector<char, 16> bytes;
    llvm::SmallVector<llvm::MCFixup, 2> fixups;
    mc->emitter->encodeInstruction(inst, bytes, fixups, *mc->subtarget);
    StaticVector<uint32_t, Instruction::max_dwords> words;
    if (!fixups.empty() || bytes.size() % 4 != 0 || bytes.size() > 16) return words;
    for (size_t at = 0; at < bytes.size(); at += 4) {
      uint32_t word = 0;
      std::memcpy(&word, bytes.data() + at, 4);
      words.push_back(word);
    }
    return words;
  }

  // LLVM's disassembler hands out operands that the instruction cannot have (an inline constant for the
  // source of an MFMA, a misaligned register pair, half precision constants for 16-bit integers), and its
  // encoder and printer then read past their tables. Such words are data.
  bool has_valid_operands(const llvm::MCInst& inst, uint32_t first_word) const {
    // LLVM declares a register pair for the single register of these.
    if (mc->instructions->getName(inst.getOpcode()).starts_with("DS_GWS_")) return true;
    const llvm::MCInstrDesc& desc = mc->instructions->get(inst.getOpcode());
    const Family family = family_of(first_word);
    for (unsigned k = 0; k < inst.getNumOperands() && k < desc.getNumOperands(); ++k) {
      const llvm::MCOperand& op = inst.getOperand(k);
      const llvm::MCOperandInfo& info = desc.operands()[k];
      if (op.isReg() && op.getReg() != 0 && !lowering->accepts(info, op.getReg(), family)) return false;
      if (op.isImm() && !lowering->accepts(info, op.getImm(), has_literal(first_word))) return false;
    }
    return true;
  }

  // Decodes and proves the round trip: LLVM's encoding of what it decoded is these words again, or differs
  // only in bits that mean nothing, since it decodes to the same instruction.
  std::optional<Instruction> decode_checked(std::span<const uint32_t> words) {
    if (has_reserved_code(words)) return std::nullopt;
    uint64_t size = 0;
    const std::optional<llvm::MCInst> inst = disassemble(words, size);
    // Another size: v_mfma_ld_scale_b32 without the MFMA it belongs to.
    if (!inst || size != 4 * encoded_dwords(words[0]) || size > words.size_bytes()) return std::nullopt;
    words = words.first(size / 4);
    if (!has_valid_operands(*inst, words[0])) return std::nullopt;
    const auto encoded = encode(*inst);
    if (encoded.size() != words.size()) return std::nullopt;
    std::array<uint32_t, Instruction::max_dwords> dead{};
    for (size_t k = 0; k < words.size(); ++k) dead[k] = words[k] ^ encoded[k];
    if (std::ranges::any_of(dead, [](uint32_t d) { return d != 0; })) {
      uint64_t size_again = 0;
      const auto again = disassemble({encoded.begin(), encoded.size()}, size_again);
      if (!again || size_again != size || !same_meaning(*inst, *again)) return std::nullopt;
    }
    Instruction instruction = lowering->lower(*inst, words);
    if (is_wide_dpp(instruction)) return std::nullopt;
    // s_waitcnt has no field in bits 13:12 and 7. LLVM keeps them in the operand, but its text does not show
    // them.
    if (instruction.is("s_waitcnt")) dead[0] |= words[0] & 0x3080;
    instruction.dead_bits = dead;
    return instruction;
  }
};

Codec::Codec(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Codec::~Codec() = default;

Result<std::unique_ptr<Codec>> Codec::create(const Target& target) {
  auto impl = std::make_unique<Impl>();
  impl->target = target;
  ASMEVO_TRY(impl->mc, LlvmMc::create(target));
  impl->lowering = std::make_unique<Lowering>(*impl->mc, target);
  return std::unique_ptr<Codec>(new Codec(std::move(impl)));
}

namespace {

// Codecs that nobody uses now. Never destroyed: the last one may be given back when the program ends.
struct CodecShelf {
  std::mutex mutex;
  std::vector<std::unique_ptr<Codec>> codecs;
};
CodecShelf& codec_shelf() {
  static auto* const shelf = new CodecShelf;
  return *shelf;
}

} // namespace

Result<std::shared_ptr<Codec>> Codec::borrow(const Target& target) {
  constexpr size_t most_remembered = 200'000; // instructions: a fresh pool from there on
  std::unique_ptr<Codec> codec;
  {
    CodecShelf& shelf = codec_shelf();
    const std::scoped_lock lock(shelf.mutex);
    const auto found =
        std::ranges::find_if(shelf.codecs, [&](const auto& c) { return c->target() == target; });
    if (found != shelf.codecs.end()) {
      codec = std::move(*found);
      shelf.codecs.erase(found);
    }
  }
  if (codec == nullptr) {
    ASMEVO_TRY(codec, create(target));
  }
  if (codec->pool_size() > most_remembered) codec->renew_pool();
  return std::shared_ptr<Codec>(codec.release(), [](Codec* done) {
    CodecShelf& shelf = codec_shelf();
    const std::scoped_lock lock(shelf.mutex);
    shelf.codecs.emplace_back(done);
  });
}

const Target& Codec::target() const {
  return impl_->target;
}
std::shared_ptr<InstructionPool> Codec::pool() const {
  return impl_->pool;
}
void Codec::renew_pool() {
  impl_->pool = std::make_shared<InstructionPool>();
}
size_t Codec::pool_size() const {
  return impl_->pool->size();
}

const Instruction* Codec::decode(ByteSpan code) {
  if (code.size() < 4) return nullptr;
  std::array<uint32_t, Instruction::max_dwords> words{};
  const size_t available = std::min<size_t>(code.size() / 4, words.size());
  std::memcpy(words.data(), code.data(), available * 4);
  const std::span<const uint32_t> all(words.data(), available);
  const unsigned expected = encoded_dwords(words[0]);
  InstructionPool& pool = *impl_->pool;
  if (expected <= available)
    if (const Instruction* known = pool.find(all.first(expected))) return known;
  if (const std::optional<Instruction> fresh = impl_->decode_checked(all)) {
    if (const Instruction* known = pool.find(fresh->encoding())) return known;
    return pool.insert(*fresh);
  }
  if (const Instruction* known = pool.find(all.first(1)); known != nullptr && known->is_data()) return known;
  return pool.insert(data_word(words[0]));
}

std::string Codec::print(const Instruction& i, std::string_view symbol) {
  if (i.is_data()) return fmt::format(".long {:#010x}", i.words[0]);
  uint64_t size = 0;
  const std::optional<llvm::MCInst> inst = impl_->disassemble(i.encoding(), size);
  if (!inst) return fmt::format(".long {:#010x}", i.words[0]);
  std::string text;
  llvm::raw_string_ostream out(text);
  impl_->mc->printer->printInst(&*inst, 0, "", *impl_->mc->subtarget, out);
  std::ranges::replace(text, '\t', ' ');
  text.erase(0, text.find_first_not_of(' '));
  if (symbol.empty()) return text;
  // The address field is the last operand of branches and of the literals of s_add_u32 and its like.
  const size_t last = text.find_last_of(" ,");
  return text.substr(0, last + 1) + std::string(symbol);
}

std::expected<std::vector<ParsedLine>, TextError> Codec::parse(std::string_view text) {
  if (auto plain = check_plain_assembly(text); !plain) return std::unexpected(plain.error());
  auto assembled = assemble_text(*impl_->mc, text);
  if (!assembled) return std::unexpected(assembled.error());
  std::vector<ParsedLine> lines;
  for (AssembledLine& a : *assembled) {
    ParsedLine line{a.line, a.column, std::move(a.label), nullptr, a.use, std::move(a.symbol), a.addend};
    if (line.label.empty()) {
      line.instruction =
          decode(ByteSpan(reinterpret_cast<const uint8_t*>(a.words.begin()), a.words.size() * 4));
      if (line.instruction == nullptr || line.instruction->is_data() ||
          line.instruction->dwords != a.words.size())
        return std::unexpected(TextError{a.line, a.column, "this instruction's encoding does not decode"});
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

} // namespace asmevo::isa
