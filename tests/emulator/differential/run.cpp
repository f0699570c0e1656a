#include "emulator/differential/run.h"

#include "emulator/code.h"
#include "emulator/conformance/snippet.h"
#include "emulator/differential/tolerance.h"
#include "emulator/interpreter.h"
#include "emulator/reference/reference.h"

#include <fmt/format.h>

#include <cstring>

namespace asmevo::differential {

using emulator::Row;
using emulator::Wave;
using isa::Instruction;
using reference::Space;
using reference::State;

namespace {

constexpr uint64_t code_at = emulator::conformance::Snippet::code_address;
constexpr uint64_t memory_at = emulator::conformance::Snippet::memory_address;
constexpr uint64_t scratch_at = memory_at + 0x100000;
constexpr uint32_t memory_bytes = 8192, lds_bytes = 4096, scratch_bytes = 256;

constexpr std::string_view at_the_end = "at the end, instruction by instruction";

std::string hex_list(const std::vector<std::pair<std::string, uint64_t>>& all) {
  std::string text;
  for (const auto& [name, value] : all) text += fmt::format("  {} {:#x}\n", name, value);
  return text;
}

} // namespace

struct Runner::Machine {
  emulator::AddressSpace memory;
  emulator::DispatchContext dispatch;
  std::unique_ptr<Row[]> rows = std::make_unique<Row[]>(reference::vector_count);
  std::vector<uint8_t> lds = std::vector<uint8_t>(lds_bytes), text;
  std::unique_ptr<Wave> wave;
  std::unique_ptr<emulator::Code> code;

  explicit Machine(const isa::Target& target) {
    (void)memory.map({"memory", memory_at, memory_bytes});
    (void)memory.map({"scratch", scratch_at, scratch_bytes * reference::lane_count});
    dispatch.target = target;
    dispatch.scratch_bytes = scratch_bytes;
    dispatch.allocated_vgprs = reference::vector_count;
  }

  void load(const State& s, uint64_t seconds) {
    wave = std::make_unique<Wave>();
    Wave& w = *wave;
    w.vectors = rows.get();
    w.dispatch = &dispatch;
    w.memory = &memory;
    w.lds = lds.data();
    w.lds_bytes = lds_bytes;
    w.scratch_base = scratch_at;
    w.pc = code_at;
    emulator::set_apertures(w);
    std::copy(s.scalars.begin(), s.scalars.end(), w.scalars.begin());
    w.mode.assign(s.mode);
    w.instructions = seconds;
    std::memcpy(rows.get(), s.vectors.data(), sizeof s.vectors);
    lds = s.lds;
    w.lds = lds.data();
    (void)memory.write(memory_at, s.memory);
    (void)memory.write(scratch_at, s.scratch);
  }
  // Until the end of the text or a fault.
  void go(uint64_t budget) {
    while (budget > 0 && wave->state == Wave::State::Running && wave->pc != code_at + text.size())
      budget -= emulator::run_wave(*wave, *code, budget);
  }
  std::vector<uint8_t> bytes(Space s) const {
    if (s == Space::Lds) return lds;
    std::vector<uint8_t> all(s == Space::Memory ? memory_bytes : scratch_bytes * reference::lane_count);
    (void)memory.read(s == Space::Memory ? memory_at : scratch_at, all);
    return all;
  }
};

Runner::Runner(const isa::Target& target, std::shared_ptr<isa::Codec> codec, uint64_t seed)
    : codec_(std::move(codec)), random_(seed), machine_(std::make_unique<Machine>(target)),
      start_(std::make_unique<State>()), state_(std::make_unique<State>()),
      before_(std::make_unique<State>()) {
  State& s = *start_;
  s.target = target;
  s.memory_at = memory_at;
  s.scratch_at = scratch_at;
  s.scratch_bytes = scratch_bytes;
  s.shared_aperture = machine_->dispatch.shared_aperture_hi;
  s.private_aperture = machine_->dispatch.private_aperture_hi;
  s.memory.resize(memory_bytes);
  s.lds.resize(lds_bytes);
  s.scratch.resize(size_t{scratch_bytes} * reference::lane_count);
  for (auto& row : s.vectors)
    for (uint32_t& lane : row) lane = special_bits(random_);
  for (auto* space : {&s.memory, &s.lds, &s.scratch})
    for (size_t n = 0; n < space->size(); n += 4) {
      const uint32_t bits = special_bits(random_);
      std::memcpy(space->data() + n, &bits, 4);
    }
}
Runner::~Runner() = default;

// --- inputs

void Runner::fill() {
  State& s = *start_;
  for (unsigned n = 0; n < 24; ++n) {
    auto& row = s.vectors[random_.below(2) == 0 ? random_.below(48) : random_.below(reference::vector_count)];
    const bool uniform = random_.below(8) == 0;
    const uint32_t one = special_bits(random_);
    for (uint32_t& lane : row) lane = uniform ? one : special_bits(random_);
  }
  for (unsigned n = 0; n < 128; ++n)
    if (n < 16 || random_.below(4) == 0) s.scalars[n] = special_bits(random_);
  s.scc() = static_cast<uint32_t>(random_.below(2));
  for (unsigned n = 0; n < 64; ++n) {
    const uint32_t bits = special_bits(random_);
    std::memcpy(s.memory.data() + 4 * random_.below(memory_bytes / 4), &bits, 4);
    std::memcpy(s.lds.data() + 4 * random_.below(lds_bytes / 4), &bits, 4);
  }
  uint64_t exec = ~uint64_t{0};
  switch (random_.below(8)) {
  case 0: exec = 0; break;
  case 1: exec = random_.next() & random_.next(); break;
  case 2: exec = random_.next(); break;
  case 3: exec = uint64_t{1} << random_.below(64); break;
  default: break;
  }
  s.set_pair(reference::code::exec, exec);
  // Compilers' MODE half of the time, any other the rest of it.
  s.mode = random_.below(2) == 0 ? 0x3f0 : static_cast<uint32_t>(random_.next()) & 0x3ff;
  if (random_.below(8) == 0) s.mode |= 1U << 23;
  s.scalars[reference::code::m0] = static_cast<uint32_t>(8 * random_.below(512));
  fill_addresses();
}

void Runner::fill_addresses() {
  State& s = *start_;
  constexpr uint64_t middle = memory_at + 2048;
  const auto set64 = [&](unsigned row, unsigned lane, uint64_t value) {
    s.vectors[row][lane] = static_cast<uint32_t>(value);
    s.vectors[row + 1][lane] = static_cast<uint32_t>(value >> 32);
  };
  // Lanes in a row, or in some order: every lane has 16 bytes of its own where stores of several lanes must
  // not meet. Atomics may.
  const bool in_a_row = random_.below(2) == 0;
  const uint64_t first = 8 * random_.below(128), step = in_a_row ? 1 : 2 * random_.below(32) + 1;
  const uint64_t stride = 4U << random_.below(3), shift = random_.below(2) == 0 ? 0 : random_.below(16);
  const uint64_t narrow = 8 * random_.below(8);
  for (unsigned l = 0; l < reference::lane_count; ++l) {
    const uint64_t own = first + 16 * (l * step % 64);
    set64(reg::aligned_address, l, middle + (in_a_row ? own : 8 * random_.below(400)));
    set64(reg::any_address, l, middle + own + shift);
    const uint64_t apertures[] = {middle, uint64_t{s.shared_aperture} << 32,
                                  uint64_t{s.private_aperture} << 32};
    const uint64_t which = in_a_row ? 0 : random_.below(3);
    set64(reg::flat_address, l, apertures[which] + (which == 2 ? 8 * random_.below(12) : own));
    s.vectors[reg::offset][l] = static_cast<uint32_t>(own);
    s.vectors[reg::scratch_offset][l] = static_cast<uint32_t>(in_a_row ? 16 : random_.below(64));
    s.vectors[reg::index][l] = static_cast<uint32_t>(in_a_row ? l : 3 * (l * step % 64));
    s.vectors[reg::index + 1][l] = static_cast<uint32_t>(narrow);
    s.vectors[reg::lds_aligned][l] =
        static_cast<uint32_t>(in_a_row ? first + l * std::max<uint64_t>(stride, 8) : 8 * random_.below(540));
    s.vectors[reg::lds_any][l] = static_cast<uint32_t>(in_a_row ? first + l * stride : random_.below(4300));
  }
  s.set_pair(reg::base, middle);
  const auto resource = [&](unsigned n, uint32_t size, uint32_t records) {
    s.scalars[n] = static_cast<uint32_t>(memory_at);
    s.scalars[n + 1] = static_cast<uint32_t>(memory_at >> 32) | size << 16;
    s.scalars[n + 2] = records;
    s.scalars[n + 3] = 0x00027000;
  };
  resource(reg::raw_resource, 0, static_cast<uint32_t>(3000 + random_.below(2000)));
  resource(reg::structured_resource, 16, static_cast<uint32_t>(100 + random_.below(156)));
  s.scalars[reg::soffset] = static_cast<uint32_t>(8 * random_.below(32));
  s.scalars[reg::smem_offset] = static_cast<uint32_t>(8 * random_.below(5));
  s.scalars[reg::scratch_soffset] = static_cast<uint32_t>(random_.below(32));
  s.set_pair(reference::code::flat_scratch, scratch_at);
}

// --- comparison

std::string Runner::describe(const Instruction& i, unsigned lane) const {
  const State& s = *before_;
  std::vector<std::pair<std::string, uint64_t>> all;
  for (const isa::RegRange& u : i.uses)
    for (unsigned n = u.first; n < u.first + u.count; ++n) {
      const auto unit = static_cast<isa::RegUnit>(n);
      if (isa::is_vector(unit))
        all.emplace_back(isa::name(unit), s.vectors[n][lane]);
      else if (n - isa::unit::scalar0 < reference::scalar_count)
        all.emplace_back(isa::name(unit), s.scalars[n - isa::unit::scalar0]);
    }
  all.emplace_back("exec", s.exec());
  all.emplace_back("mode", s.mode);
  return hex_list(all);
}

std::string Runner::with_text(const Instruction& i, unsigned lane, const std::string& what) const {
  return fmt::format("{}\n{}, lane {}, from\n{}", codec_->print(i), what, lane, describe(i, lane));
}

std::optional<std::string> Runner::compare_rows(const Instruction& i) {
  for (size_t n = 0; n < state_->rows.size(); ++n) {
    const auto [unit, tolerance, open] = state_->rows[n];
    auto& expected = state_->vectors[unit];
    uint32_t* got = machine_->rows[unit].lane;
    if (std::memcmp(expected.data(), got, sizeof expected) == 0) continue;
    // Units of an f64 are listed one after the other.
    const bool wide = is_double(tolerance);
    const bool second = wide && n > 0 && state_->rows[n - 1].unit + 1 == unit && ((n & 1) != 0);
    const unsigned low = second ? unit - 1U : unit;
    for (unsigned l = 0; l < reference::lane_count; ++l) {
      if (expected[l] == got[l] || (open >> l & 1) != 0) continue;
      const uint64_t a = wide ? state_->vector64(low, l) : expected[l];
      const uint64_t b =
          wide ? machine_->rows[low].lane[l] | uint64_t{machine_->rows[low + 1].lane[l]} << 32 : got[l];
      if (!tolerated(tolerance, a, b))
        return with_text(i, l, fmt::format("{}: emulator {:#x}, reference {:#x}", isa::name(unit), b, a));
    }
  }
  for (const auto& row : state_->rows)
    std::memcpy(state_->vectors[row.unit].data(), machine_->rows[row.unit].lane,
                sizeof state_->vectors[row.unit]);
  return std::nullopt;
}

std::optional<std::string> Runner::compare_bytes(const Instruction& i, Space space) {
  const std::vector<uint8_t> got = machine_->bytes(space);
  std::vector<uint8_t>& expected = state_->space(space);
  if (got == expected) return std::nullopt;
  for (const auto& w : state_->bytes) {
    if (w.space != space || std::memcmp(got.data() + w.offset, expected.data() + w.offset, w.bytes) == 0)
      continue;
    uint64_t a = 0, b = 0;
    std::memcpy(&a, expected.data() + w.offset, std::min<size_t>(w.bytes, 8));
    std::memcpy(&b, got.data() + w.offset, std::min<size_t>(w.bytes, 8));
    if (tolerated(w.tolerance, a, b)) {
      std::memcpy(expected.data() + w.offset, got.data() + w.offset, w.bytes);
      continue;
    }
    return with_text(i, 0,
                     fmt::format("byte {:#x} of space {}: emulator {:#x}, reference {:#x}", w.offset,
                                 static_cast<int>(space), b, a));
  }
  for (size_t n = 0; n < got.size(); ++n)
    if (got[n] != expected[n])
      return with_text(i, 0,
                       fmt::format("byte {:#x} of space {}: emulator {:#x}, reference {:#x}", n,
                                   static_cast<int>(space), got[n], expected[n]));
  return std::nullopt;
}

std::optional<std::string> Runner::compare_step(const Instruction& i) {
  const Wave& w = *machine_->wave;
  if (w.state == Wave::State::Faulted || !state_->fault.empty()) {
    if (w.state == Wave::State::Faulted && !state_->fault.empty()) return std::nullopt;
    return with_text(i, 0,
                     fmt::format("fault: emulator '{}' (kind {}, lane {}, address {:#x}), reference '{}'",
                                 w.fault.text, static_cast<int>(w.fault.kind), w.fault.lane, w.fault.address,
                                 state_->fault));
  }
  for (unsigned n = 0; n < reference::scalar_count; ++n)
    if (w.scalars[n] != state_->scalars[n])
      return with_text(i, 0,
                       fmt::format("{}: emulator {:#x}, reference {:#x}",
                                   isa::name(static_cast<isa::RegUnit>(isa::unit::scalar0 + n)), w.scalars[n],
                                   state_->scalars[n]));
  if (w.mode.bits() != state_->mode)
    return with_text(i, 0, fmt::format("MODE: emulator {:#x}, reference {:#x}", w.mode.bits(), state_->mode));
  if (w.pc != state_->pc)
    return with_text(i, 0, fmt::format("pc: emulator {:#x}, reference {:#x}", w.pc, state_->pc));
  if (auto difference = compare_rows(i)) return difference;
  bool touched[3] = {};
  for (const auto& b : state_->bytes) touched[static_cast<size_t>(b.space)] = true;
  for (const Space s : {Space::Memory, Space::Lds, Space::Scratch})
    if (touched[static_cast<size_t>(s)])
      if (auto difference = compare_bytes(i, s)) return difference;
  return std::nullopt;
}

std::optional<std::string> Runner::compare_all(const std::string& when) {
  for (unsigned unit = 0; unit < reference::vector_count; ++unit)
    for (unsigned l = 0; l < reference::lane_count; ++l)
      if (state_->vectors[unit][l] != machine_->rows[unit].lane[l])
        return fmt::format("{}: {}, lane {}: emulator {:#x}, reference {:#x}", when,
                           isa::name(static_cast<isa::RegUnit>(unit)), l, machine_->rows[unit].lane[l],
                           state_->vectors[unit][l]);
  for (unsigned n = 0; n < reference::scalar_count; ++n)
    if (machine_->wave->scalars[n] != state_->scalars[n])
      return fmt::format("{}: scalar {} differs", when, n);
  for (const Space s : {Space::Memory, Space::Lds, Space::Scratch})
    if (machine_->bytes(s) != state_->space(s))
      return fmt::format("{}: bytes of space {} differ", when, static_cast<int>(s));
  return std::nullopt;
}

// What `describe` shows of the state before the instruction.
void Runner::remember(const Instruction& i) {
  before_->scalars = state_->scalars;
  before_->mode = state_->mode;
  for (const isa::RegRange& u : i.uses)
    for (unsigned n = u.first; n < u.first + u.count && n < reference::vector_count; ++n)
      before_->vectors[n] = state_->vectors[n];
}

std::optional<std::string> Runner::run(const Sequence& sequence) {
  auto difference = run(sequence, false);
  // Again, to find the instruction that changed what it does not write.
  return difference && difference->starts_with(at_the_end) ? run(sequence, true) : difference;
}

std::optional<std::string> Runner::run(const Sequence& sequence, bool thorough) {
  machine_->text = sequence.text;
  machine_->code = std::make_unique<emulator::Code>(
      machine_->text, code_at, emulator::RegisterLayout{.target = start_->target}, codec_);
  std::map<uint64_t, const Instruction*> at;
  uint64_t end = code_at;
  for (const Instruction* i : sequence.instructions) at[end] = i, end += i->bytes();

  *state_ = *start_;
  state_->pc = code_at;
  machine_->load(*start_, 0);
  while (state_->pc != end) {
    const Instruction& i = *at.at(state_->pc);
    const bool active = state_->exec() != 0;
    remember(i);
    machine_->go(1);
    if (!reference::step(i, *state_)) return with_text(i, 0, "the reference does not have it");
    if (auto difference = compare_step(i)) return difference;
    if (thorough)
      if (auto difference = compare_all(codec_->print(i))) return difference;
    if (!state_->fault.empty()) {
      ++faults_;
      return std::nullopt;
    }
    ++executed_;
    if (active) ++counts_[i.base_mnemonic];
  }
  if (auto difference = compare_all(std::string(at_the_end))) return difference;
  machine_->load(*start_, 0);
  machine_->go(sequence.instructions.size());
  return compare_all("at the end, in one go");
}

} // namespace asmevo::differential
