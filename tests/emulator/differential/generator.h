// Random legal instructions for straight-line sequences: random words of every format, kept where they decode
// to an instruction that the emulator implements and the reference has. Registers that hold addresses are
// read as such and never written (see fill in run.cpp).
#pragma once

#include "base/random.h"
#include "isa/codec.h"

#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace asmevo::differential {

// Vector registers with addresses, from v240 on: pairs for memory, and 32-bit offsets.
namespace reg {
inline constexpr unsigned first_vector = 240;
inline constexpr unsigned aligned_address = 240, any_address = 242, flat_address = 244; // pairs
inline constexpr unsigned offset = 246, scratch_offset = 247, index = 248 /* and offset */, lds_aligned = 250,
                          lds_any = 251;
// Scalars.
inline constexpr unsigned first_scalar = 80;
inline constexpr unsigned base = 80, raw_resource = 84, structured_resource = 88, soffset = 92,
                          smem_offset = 93, scratch_soffset = 94;
} // namespace reg

struct Sequence {
  std::vector<const isa::Instruction*> instructions;
  std::vector<uint8_t> text;
};

class Generator {
 public:
  /// Finds out which instructions there are. The codec must be used by nobody else meanwhile.
  Generator(isa::Codec&, uint64_t seed);

  Sequence make(size_t length);
  /// Mnemonics that sequences are made of, and those that the emulator implements on the target.
  std::vector<std::string_view> mnemonics() const;
  const std::set<std::string_view>& implemented() const { return implemented_; }

 private:
  struct Template {
    isa::Family family;
    unsigned opcode;
    isa::Extension extension;
    unsigned segment; // FLAT's
  };
  using Words = std::array<uint32_t, 4>;

  void find_templates();
  void try_template(const Template&);
  const isa::Instruction* attempt(const Template&);
  bool usable(const isa::Instruction&) const;
  bool sane(const isa::Instruction&) const;

  Words random_words(const Template&);
  Words scalar_words(const Template&);
  Words vector_words(const Template&);
  Words vop3_words(const Template&);
  Words packed_words(const Template&);
  Words memory_words(const Template&);
  Words smem_words(const Template&);
  uint32_t dpp_word();
  uint32_t sdwa_word();
  uint32_t source(bool vector);
  uint32_t vector_register();
  uint32_t scalar_register();
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_.below(n)); }
  bool one_in(uint32_t n) { return below(n) == 0; }
  void place_branches(Sequence&);

  isa::Codec& codec_;
  RandomStream random_;
  std::map<std::string_view, std::vector<Template>> templates_;
  std::vector<std::string_view> names_, matrices_;
  std::set<std::string_view> implemented_;
};

/// A 32-bit value that is often special to some format.
uint32_t special_bits(RandomStream&);

} // namespace asmevo::differential
