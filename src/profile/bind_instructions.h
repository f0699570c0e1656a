// Which instruction of our kernel a profile's line is about: by address where the file is of this very
// object, else by the instructions' texts, which must then agree.
#pragma once

#include "oracle/subject.h"
#include "profile/kernel_names.h"

#include <optional>
#include <span>

namespace asmevo::profile {

/// The text of an instruction as it is compared: lower case, one space between words, none around commas,
/// numbers in decimal, without encoding suffix, comment and branch target, so that what ROCm's disassembler
/// and LLVM's print of the same words is the same.
std::string comparable(std::string_view text);

struct ListedInstruction {
  uint64_t address = 0;
  std::string text;          // as comparable() has it
  bool waits = false;        // s_waitcnt, s_barrier, s_sleep: there to keep a wave waiting
  bool slow = false;         // may by itself keep a wave for long: those, memory, matrix, s_endpgm
  bool starts_block = false; // what is in front of it in memory need not have run before it
  bool own = false;          // of the kernel itself, not of a function that it may call
};

/// What a dispatch of a kernel may execute: the kernel and the object's functions that are no kernels.
struct KernelListing {
  KernelName kernel{""};
  std::string target;                          // "gfx942"
  uint64_t entry = 0, descriptor = 0;          // addresses in the object
  uint64_t object_bytes = 0;                   // size of the file
  std::string object_hash;                     // content_hash of the file
  std::vector<KernelName> other_kernels;       // of the object
  std::vector<ListedInstruction> instructions; // by address

  std::optional<size_t> at(uint64_t address) const;
};

/// BadInput where the object has no such kernel.
Result<KernelListing> list_kernel(const oracle::Subject& subject, std::string_view kernel);

/// An address in a file, with the text that the file gives for it.
struct TextAt {
  uint64_t address = 0;
  std::string_view text;
};

struct TextMatch {
  size_t same = 0, different = 0; // addresses
  std::optional<TextAt> first_different;
  /// Nine in ten: prints of a few instructions differ between versions of LLVM.
  bool good() const { return same > 0 && same >= 9 * different; }
};
/// How many texts stand at their address less `shift`. Addresses without an instruction count as different.
TextMatch match_texts(const KernelListing& listing, std::span<const TextAt> texts, int64_t shift = 0);

/// What the file's addresses must be lowered by for the texts to agree; none where nothing fits, or where
/// several shifts fit equally well.
std::optional<int64_t> find_shift(const KernelListing& listing, std::span<const TextAt> texts);

/// Where a host-trap sample at an instruction is counted. The wave is stopped some time after the trap was
/// asked for, up to two instructions further on. So a sample at an instruction that is not slow itself is
/// the nearest wait's among the two in front of it, unless a block begins in between.
size_t before_skid(const KernelListing& listing, size_t instruction);

} // namespace asmevo::profile
