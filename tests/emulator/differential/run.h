// Runs a sequence on the emulator and on the plain reference, and says where they part.
#pragma once

#include "emulator/differential/generator.h"
#include "emulator/reference/state.h"
#include "isa/codec.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace asmevo::differential {

class Runner {
 public:
  /// The codec is the generator's.
  Runner(const isa::Target&, std::shared_ptr<isa::Codec>, uint64_t seed);
  ~Runner();

  /// New registers, memory and MODE; parts of them stay from the run before.
  void fill();
  /// The sequence three ways: the emulator in one go, the emulator instruction by instruction, the reference.
  /// All state must be the same after each instruction and at the end. Otherwise: what differs, in some
  /// lines.
  std::optional<std::string> run(const Sequence&);

  uint64_t executed() const { return executed_; }
  /// Runs that ended in a fault of both.
  uint64_t faults() const { return faults_; }
  /// Executed instructions by mnemonic, those with an empty EXEC apart.
  const std::map<std::string_view, uint64_t>& counts() const { return counts_; }

 private:
  struct Machine; // the emulator's side

  std::optional<std::string> run(const Sequence&, bool thorough);
  void fill_addresses();
  void remember(const isa::Instruction&);
  std::optional<std::string> compare_step(const isa::Instruction&);
  std::optional<std::string> compare_rows(const isa::Instruction&);
  std::optional<std::string> compare_bytes(const isa::Instruction&, reference::Space);
  std::optional<std::string> compare_all(const std::string& when);
  std::string describe(const isa::Instruction&, unsigned lane) const;
  std::string with_text(const isa::Instruction&, unsigned lane, const std::string& what) const;

  std::shared_ptr<isa::Codec> codec_;
  RandomStream random_;
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<reference::State> start_, state_, before_;
  uint64_t executed_ = 0, faults_ = 0;
  std::map<std::string_view, uint64_t> counts_;
};

} // namespace asmevo::differential
