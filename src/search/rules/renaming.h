// Values of a stretch of code that can live in other vector registers than they do.
//
// A register that is used again for something else ties the second use to the end of the first. Where the
// value is made and used within the stretch only, any register will do that holds nothing there:
//
//     global_load_dword v1, ...           global_load_dword v1, ...
//     v_add_f32 v5, v5, v1                v_add_f32 v5, v5, v1
//     global_load_dword v1, ...           global_load_dword v9, ...    can now go in front of v_add_f32
//     v_add_f32 v5, v5, v1                v_add_f32 v5, v5, v9
#pragma once

#include "search/rules/straight_code.h"

namespace asmevo::search {

class Renaming {
 public:
  Renaming(const RuleContext&, StraightCode&, const Stretch&);

  /// The value that step n makes goes to registers `to`, or to free ones. False, and nothing changed, where
  /// it cannot: some use is not within the stretch, or reads lanes that EXEC leaves out, or no register is
  /// free.
  bool rename(std::vector<Step>& steps, size_t n, std::optional<isa::RegRange> to = std::nullopt);
  /// As many vector registers in a row as `like` has that hold nothing in the whole stretch; of several, the
  /// first is even or odd as that of `like` is, since pairs start at even ones.
  std::optional<isa::RegRange> free(const isa::RegRange& like) const;
  /// Steps that read the value which step n makes in these registers; none where it lives on behind the
  /// stretch, or is read in a way that another name does not follow.
  std::optional<std::vector<size_t>> uses_of(const std::vector<Step>& steps, size_t n,
                                             const isa::RegRange& value) const;

 private:
  StraightCode* code_;
  isa::RegSet taken_, live_after_;
  unsigned limit_ = 0;     // registers that a wave has without there being fewer waves
  bool all_lanes_ = false; // nothing is in the lanes that EXEC leaves out
};

/// How many vector registers a wave may have so that as many waves fit as do now.
unsigned registers_for_free(const codeobject::KernelInspection&);

/// The one range of vector registers that the instruction writes, and all of it; none where that is not so.
std::optional<isa::RegRange> vector_result(const isa::Instruction&);

/// An instruction's text with vector registers `from` called `to`: of its result, or of what it reads.
enum class Part : uint8_t { Result, Sources };
std::string with_registers(std::string_view text, Part, bool has_result, const isa::RegRange& from,
                           const isa::RegRange& to);

} // namespace asmevo::search
