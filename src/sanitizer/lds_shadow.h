// Who last touched each byte of a workgroup's LDS, and whether a barrier lies between. Waves of a workgroup
// run in some order here and in another on a GPU: two accesses of different waves that no barrier divides,
// one of them writing, are a race whatever the run made of it.
//
// Nearly all accesses are of whole dwords, so what is known is kept by dword, and by byte only where the
// bytes of a dword have met with different things.
#pragma once

#include "emulator/observer.h"
#include "sanitizer/op_info.h"

#include <cstdint>
#include <vector>

namespace asmevo::sanitizer {

class LdsShadow {
 public:
  /// An access in conflict with the one before it.
  struct Conflict {
    bool read_before = false; // what the other access was; false: a write
    uint32_t wave = 0;        // the other's
    uint32_t op = 0;          // the other's MicroOp::index
    uint32_t byte = 0;        // offset in LDS
    unsigned lane = 0;
  };
  struct Seen {
    bool conflict = false, uninitialised = false;
    Conflict first; // if conflict
    /// All bytes written that another wave has written: whether they are the same again only shows when the
    /// access is done.
    std::vector<Conflict> write_write;
    uint32_t unwritten = 0; // if uninitialised: an offset
    unsigned unwritten_lane = 0;
  };

  void start(uint32_t bytes);
  /// All waves have met.
  void barrier();
  /// Lanes beyond the end are left out. Atomics: write, and are in no conflict with each other.
  Seen access(const emulator::MemoryEvent&, uint32_t wave, uint32_t op);

 private:
  // A touch: who, when and by which instruction. 0: nobody ever. Fields below the epoch leave comparisons of
  // epochs to comparisons of touches.
  using Touch = uint32_t;
  // Touches by dword; where `split` is set there, by byte.
  class Touches {
   public:
    void start(size_t dword_count);
    Touch at(uint32_t byte) const;
    /// Of a dword that is split.
    Touch& byte(uint32_t b) { return bytes_[b]; }
    Touch* dwords() { return dwords_.data(); }
    const Touch* dwords() const { return dwords_.data(); }
    void divide(uint32_t dword);
    bool alike(uint32_t dword) const;
    void join(uint32_t dword) { dwords_[dword] = bytes_[4 * dword]; }
    template <class F>
    void change_all(F);

   private:
    std::vector<Touch> dwords_, bytes_;
  };
  struct Now; // an access under way

  void block(const Now&, uint32_t first, Seen&);
  void bytes(const Now&, unsigned lane, uint32_t first, uint32_t count, Seen&);
  void look_closely(const Now&, unsigned lane, uint32_t first, uint32_t count, Seen&) const;
  template <unsigned count>
  bool plain(const Now&, uint32_t first);
  uint32_t number_of(uint32_t op);

  uint32_t bytes_ = 0;
  Touch epoch_ = 1;
  // Where several waves have read in this epoch, or have written by atomics, which do not clash with each
  // other, `read_` and `written_` have the first and these the second of them: an access of the one clashes
  // with the other.
  Touches written_, read_, written_again_, read_again_;
  // Instructions that access LDS are numbered as they come: MicroOp::index by number, number + 1 by index.
  std::vector<uint32_t> ops_, numbers_;
};

} // namespace asmevo::sanitizer
