#include "program/layout.h"

#include <limits>

namespace asmevo::program {

namespace {

constexpr uint32_t s_nop_0 = 0xbf800000;

// Walks entries and aligned points together and tells for each whether its filler stays.
class OffsetPass {
 public:
  explicit OffsetPass(const Program& program) : program_(program), offsets_(program.entries.size() + 1) {}

  std::vector<uint64_t> run() {
    const auto count = static_cast<Index>(program_.entries.size());
    size_t point = 0;
    for (Index i = 0; i <= count; ++i) {
      for (; point < program_.aligned.size() && program_.aligned[point].at == i; ++point)
        align(program_.aligned[point]);
      offsets_[i] = at_;
      if (i < count) at_ += program_.instruction(i).bytes();
    }
    return std::move(offsets_);
  }

 private:
  void align(const AlignedPoint& p) {
    if (at_ % p.alignment == 0) return;
    // Take the filler back and fill anew. Its first entry keeps its place, behind the last instruction: ends
    // of functions are told from it.
    at_ = align_up(p.filler < p.at ? offsets_[p.filler] : at_, p.alignment);
    for (Index k = p.filler + 1; k < p.at; ++k) offsets_[k] = at_;
  }

  const Program& program_;
  std::vector<uint64_t> offsets_;
  uint64_t at_ = 0;
};

class Writer {
 public:
  Writer(const Program& program, uint64_t text_address,
         const std::function<uint64_t(uint32_t)>& section_address)
      : program_(program), text_address_(text_address), section_address_(section_address) {
    image_.offsets = offsets_of(program);
  }

  Result<TextImage> run() {
    ASMEVO_CHECK(check_distances());
    image_.bytes.resize(image_.offsets.back());
    fill_with_nops();
    for (Index i = 0; i < program_.entries.size(); ++i) {
      const uint64_t at = image_.offsets[i];
      const isa::Instruction& insn = program_.instruction(i);
      if (image_.offsets[i + 1] == at) continue; // replaced filler
      std::memcpy(image_.bytes.data() + at, insn.words.data(), insn.bytes());
      if (program_.entries[i].reference != no_index)
        ASMEVO_CHECK(write_reference(i, program_.references[program_.entries[i].reference]));
    }
    return std::move(image_);
  }

 private:
  Status check_distances() const {
    for (const AlignedPoint& p : program_.aligned) {
      if (p.anchor == no_index || image_.offsets[p.at] == image_.offsets[p.anchor] + p.distance) continue;
      return bad_input(
          "the kernel's code for kernarg preload must stand {} bytes behind its entry, but the instructions "
          "in front of it take {} bytes",
          p.distance, image_.offsets[p.at] - image_.offsets[p.anchor]);
    }
    return {};
  }

  // Gaps that alignment leaves; everything else is overwritten by instructions.
  void fill_with_nops() {
    for (size_t at = 0; at + 4 <= image_.bytes.size(); at += 4) store(std::span(image_.bytes), at, s_nop_0);
  }

  uint64_t target_of(const Reference& r) const {
    if (r.label != no_index) return text_address_ + image_.offsets[program_.labels[r.label].at];
    return section_address_(r.section) + r.offset;
  }

  Status write_reference(Index i, const Reference& r) {
    const isa::Instruction& insn = program_.instruction(i);
    const uint64_t address = text_address_ + image_.offsets[i];
    const uint64_t target = target_of(r);
    if (r.use == isa::SymbolUse::Branch)
      return write_branch(i, r, static_cast<int64_t>(target - (address + 4)));
    const uint64_t literal_at = image_.offsets[i] + insn.bytes() - 4;
    const bool high = r.use == isa::SymbolUse::Rel32Hi || r.use == isa::SymbolUse::GotPcRel32Hi ||
                      r.use == isa::SymbolUse::Abs32Hi;
    uint64_t from = text_address_ + literal_at;
    if (r.base != no_index)
      from = text_address_ + image_.offsets[r.base] + program_.instruction(r.base).bytes();
    if (r.use == isa::SymbolUse::Abs32Lo || r.use == isa::SymbolUse::Abs32Hi) from = 0;
    const uint64_t distance = target + static_cast<uint64_t>(r.addend) - from;
    const auto value = static_cast<uint32_t>(high ? distance >> 32 : distance);
    if (insn.literal()) {
      store(std::span(image_.bytes), literal_at, value);
      return {};
    }
    // An inline constant in place of the high half: right as long as the distance keeps its sign.
    for (const isa::Operand& o : insn.operands)
      if (o.kind == isa::Operand::Kind::Inline && static_cast<uint32_t>(o.value) == value) return {};
    return bad_input("instruction {}: the distance to '{}' no longer fits its constant operand",
                     program_.entries[i].id.text(), r.symbol);
  }

  Status write_branch(Index i, const Reference& r, int64_t distance) {
    const int64_t dwords = distance / 4;
    if (dwords < std::numeric_limits<int16_t>::min() || dwords > std::numeric_limits<int16_t>::max())
      return bad_input(
          "instruction {}: the branch to '{}' is {} dwords away; a branch reaches -32768 to 32767",
          program_.entries[i].id.text(), r.label != no_index ? program_.labels[r.label].name : r.symbol,
          dwords);
    store(std::span(image_.bytes), image_.offsets[i], static_cast<uint16_t>(dwords));
    return {};
  }

  const Program& program_;
  uint64_t text_address_;
  const std::function<uint64_t(uint32_t)>& section_address_;
  TextImage image_;
};

} // namespace

std::vector<uint64_t> offsets_of(const Program& program) {
  return OffsetPass(program).run();
}

Result<TextImage> lay_out(const Program& program, uint64_t text_address,
                          const std::function<uint64_t(uint32_t)>& section_address) {
  return Writer(program, text_address, section_address).run();
}

} // namespace asmevo::program
