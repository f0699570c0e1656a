// Decoding, encoding, printing and parsing over LLVM's MC layer, in process. A Codec belongs to one thread;
// the Instructions it hands out are immutable and live as long as the pool they are in, which anyone may
// share.
#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "isa/instruction.h"
#include "isa/target.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace asmevo::isa {

/// Owns interned Instructions, keyed by their words. Not for writing from several threads at once.
class InstructionPool;

/// Why an assembly text was refused: where in the text (1-based) and what is wrong.
struct TextError {
  unsigned line = 0, column = 0;
  std::string message;
  std::string describe() const; // "line 2, column 7: message"
};

/// What an instruction's words need to be told about addresses.
enum class SymbolUse : uint8_t {
  None,
  Branch,  // simm16 of s_branch, s_cbranch_*, s_call_b64
  Rel32Lo, // literal: (target + addend - address of the literal), low 32 bits
  Rel32Hi, // the same, high 32 bits
  GotPcRel32Lo,
  GotPcRel32Hi, // literal: address of the symbol's GOT entry, likewise
  Abs32Lo,
  Abs32Hi, // literal: absolute address; a relocation, not written by compilers for this ABI
};

/// One line of parsed text: a label, or an instruction.
struct ParsedLine {
  unsigned line = 0, column = 0;
  std::string label;                        // set: a label definition
  const Instruction* instruction = nullptr; // set: an instruction, address fields zero
  SymbolUse use = SymbolUse::None;
  std::string symbol;
  int64_t addend = 0;
};

class Codec {
 public:
  /// Environment where LLVM lacks the AMDGPU target.
  static Result<std::unique_ptr<Codec>> create(const Target& target);
  /// One that nobody else uses until the last reference is gone. Making one takes some ten milliseconds, so
  /// those that are given back are kept, with what they have decoded. Any thread may ask.
  static Result<std::shared_ptr<Codec>> borrow(const Target& target);
  ~Codec();
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;

  const Target& target() const;
  /// The pool that decode and parse fill; keep it as long as their results are used.
  std::shared_ptr<InstructionPool> pool() const;
  /// Starts a new pool, so that a long run over many objects does not keep every instruction it ever saw.
  void renew_pool();
  size_t pool_size() const;

  /// The instruction at the start of `code`, or a one-dword Data instruction where LLVM cannot decode it,
  /// gives it operands the instruction cannot have (no assembler writes such words, and LLVM's encoder and
  /// printer crash on them), or does not encode it back to the same meaning. Null only where fewer than 4
  /// bytes are left. Encoding is checked for every instruction when it enters the pool: words == LLVM's
  /// encoding of LLVM's decoding, dead bits aside.
  const Instruction* decode(ByteSpan code);

  /// Assembly text of one instruction without address: "v_add_f32_e32 v0, v1, v2". Where `symbol` is given it
  /// stands in place of the branch target or literal. Data prints as ".long 0x...".
  std::string print(const Instruction& instruction, std::string_view symbol = {});

  /// Parses plain instructions and labels (program/edit.h): anything else is refused before LLVM sees it.
  /// Limits: 64 KiB of text, 1,024 characters a line.
  std::expected<std::vector<ParsedLine>, TextError> parse(std::string_view text);

 private:
  struct Impl;
  explicit Codec(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Checks that text is plain instructions and labels; the first line that is not, with the reason. Pure text
/// work: safe on hostile input.
std::expected<void, TextError> check_plain_assembly(std::string_view text);

} // namespace asmevo::isa
