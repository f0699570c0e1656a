// SMEM: loads, stores and atomics of a wave.
#include "emulator/reference/atomic.h"
#include "emulator/reference/vector.h"

namespace asmevo::reference {

namespace {

using isa::Instruction;

// Fields of the encoding (CDNA3 ISA, 13.2).
struct Fields {
  unsigned data, base, soffset;
  bool has_offset, has_register, returns;
  int64_t offset;
};
Fields fields(const Instruction& i) {
  const uint32_t a = i.words[0], b = i.words[1];
  Fields f{.data = a >> 6 & 0x7f,
           .base = (a & 0x3f) * 2,
           .soffset = b >> 25,
           .has_offset = (a >> 17 & 1) != 0,
           .has_register = (a >> 14 & 1) != 0,
           .returns = (a >> 16 & 1) != 0,
           .offset = sign_extended(b & 0x1fffff, 21)};
  if (!f.has_offset && !f.has_register) f.has_register = true, f.soffset = b & 0x7f;
  return f;
}

// Bytes from the base; the lowest two bits of each part count as zero.
uint64_t offset_of(const Fields& f, const State& state, unsigned unit) {
  uint64_t offset = f.has_offset ? static_cast<uint64_t>(f.offset) & ~uint64_t{3} : 0;
  if (f.has_register) offset += uint64_t{state.scalars[f.soffset] & ~3U} * unit;
  return offset;
}

struct Window {
  uint64_t base = 0, offset = 0, range = ~uint64_t{0};
  // Where a dword is in State::memory; none: out of range.
  std::optional<uint64_t> dword(State& state, unsigned n, unsigned bytes) const {
    const uint64_t at = offset + 4 * n;
    if (range != ~uint64_t{0} && at + bytes > range) return std::nullopt;
    const uint64_t place = base + at - state.memory_at;
    if (place + bytes > state.memory.size()) {
      state.fault = "outside memory";
      return std::nullopt;
    }
    return place;
  }
};

Window window(const Instruction& i, const State& state) {
  const Fields f = fields(i);
  Window w;
  if (i.base_mnemonic.starts_with("s_buffer_")) {
    const uint32_t *resource = &state.scalars[f.base], stride = resource[1] >> 16 & 0x3fff;
    w.base = (resource[0] | uint64_t{resource[1] & 0xffff} << 32) & ~uint64_t{3};
    w.range = uint64_t{resource[2]} * (stride != 0 ? stride : 1);
    w.offset = offset_of(f, state, 1);
  } else {
    w.base = state.pair(f.base) & ~uint64_t{3};
    w.offset = offset_of(f, state, i.base_mnemonic.starts_with("s_scratch_") ? 64 : 1);
  }
  return w;
}

unsigned dwords_of(std::string_view mnemonic) {
  const size_t at = mnemonic.rfind("_dword");
  const std::string_view rest = mnemonic.substr(at + 6);
  return rest.empty() ? 1 : rest == "x2" ? 2 : rest == "x4" ? 4 : rest == "x8" ? 8 : 16;
}

bool load(const Instruction& i, State& state) {
  const Window w = window(i, state);
  const unsigned to = fields(i).data, dwords = dwords_of(i.base_mnemonic);
  std::array<uint32_t, 16> values{};
  for (unsigned n = 0; n < dwords; ++n)
    if (const auto at = w.dword(state, n, 4))
      values[n] = static_cast<uint32_t>(read_bytes(state.memory, *at, 4));
  if (!state.fault.empty()) return true;
  for (unsigned n = 0; n < dwords; ++n) state.scalars[to + n] = values[n];
  return true;
}

bool store(const Instruction& i, State& state) {
  const Window w = window(i, state);
  const unsigned from = fields(i).data, dwords = dwords_of(i.base_mnemonic);
  for (unsigned n = 0; n < dwords; ++n)
    if (const auto at = w.dword(state, n, 4))
      write_bytes(state, Space::Memory, *at, 4, state.scalars[from + n]);
  return true;
}

bool update(const Instruction& i, State& state) {
  const auto atomic = memory_atomic(i.base_mnemonic.substr(i.base_mnemonic.find("atomic_") + 7));
  if (!atomic) return false;
  const Fields f = fields(i);
  const Window w = window(i, state);
  const auto at = w.dword(state, 0, atomic->bytes);
  if (!state.fault.empty()) return true;
  const bool wide = atomic->bytes == 8;
  const auto operand = [&](unsigned n) -> uint64_t {
    return wide ? state.pair(f.data + 2 * n) : state.scalars[f.data + n];
  };
  uint64_t old = 0;
  if (at) {
    old = read_bytes(state.memory, *at, atomic->bytes);
    const uint64_t second = atomic->operands == 2 ? operand(1) : 0;
    write_bytes(state, Space::Memory, *at, atomic->bytes, updated(*atomic, {}, old, operand(0), second));
  }
  if (!f.returns) return true;
  if (wide)
    state.set_pair(f.data, old);
  else
    state.scalars[f.data] = static_cast<uint32_t>(old);
  return true;
}

} // namespace

bool run_scalar_memory(const Instruction& i, State& state) {
  if (i.family != isa::Family::Smem) return false;
  const std::string_view m = i.base_mnemonic;
  if (m.find("atomic_") != std::string_view::npos) return update(i, state);
  if (m.find("load_dword") != std::string_view::npos) return load(i, state);
  if (m.find("store_dword") != std::string_view::npos) return store(i, state);
  return m.starts_with("s_dcache_discard") || m.starts_with("s_atc_probe"); // nothing to see
}

} // namespace asmevo::reference
