// What loads and stores do to shadows, and which bytes they touch.
#include "emulator/memory_access.h"
#include "infer/probe_observer.h"

#include <fmt/format.h>

#include <algorithm>

namespace asmevo::infer {

using emulator::MemoryEvent;
using emulator::MicroOp;
using emulator::Wave;
using isa::MemoryKind;

namespace {

// The base address of a memory instruction as it is now; none: each lane has its own.
std::optional<uint64_t> base_now(const Wave& wave, const isa::RegRange& pair) {
  if (isa::is_vector(pair.first)) return std::nullopt;
  const unsigned slot = pair.first - isa::unit::scalar0;
  constexpr uint64_t address_bits = (uint64_t{1} << 48) - 1;
  return wave.pair(slot) & address_bits;
}

bool exchanges_lanes(const isa::Instruction& i) {
  return i.base_mnemonic.contains("permute") || i.base_mnemonic.contains("swizzle");
}

} // namespace

std::optional<unsigned> ProbeObserver::region_of(uint64_t address) const {
  const uint64_t region = (address >> 40) - 1;
  if (region >= pointers_.size() || (address & (region_start(0) - 1)) >= region_bytes) return std::nullopt;
  return static_cast<unsigned>(region);
}

// The base is a pair of registers; what is a summand of both, as neighbours in the kernarg segment, is a
// pointer. Where the address goes says less: sizes that make no sense can lead from one region into another.
void ProbeObserver::find_base(const Wave& wave, const isa::RegRange& pair, const Plan& plan) {
  const Shadow low = read(pair.first), high = read(static_cast<isa::RegUnit>(pair.first + 1));
  for (const Source d : sets_.members(low.base)) {
    if (d >= source::region0) {
      if (sets_.has(high.base, d)) seen_.pointers_in.try_emplace(d, plan.evidence);
    } else if (d % 2 == 0 && sets_.has(high.base, static_cast<Source>(d + 1))) {
      const auto known = pointers_.find(d);
      if (known == pointers_.end())
        seen_.pointers.try_emplace(d, plan.evidence);
      else
        bases_.push_back(known->second);
    }
  }
  if (const auto base = base_now(wave, pair)) region_ = region_of(*base);
  const bool is_base = region_ && std::ranges::find(bases_, *region_) != bases_.end();
  if (bases_.size() == 1 && !is_base) region_ = bases_[0];
}

void ProbeObserver::look_at_address(const Wave& wave, const MicroOp& op, const Plan& plan) {
  const isa::Instruction& i = *op.instruction;
  placed_by_.clear();
  bases_.clear();
  if (i.memory.bytes == 0 && !i.memory.load && !i.memory.store) return;
  lanes_ = wave.exec();
  for (const isa::RegRange& pair : plan.address) find_base(wave, pair, plan);
  if (i.memory.kind == MemoryKind::Lds) return;
  SourceSet from = 0;
  for (const auto* list : {&plan.address, &plan.index})
    for (const isa::RegRange& r : *list)
      for (unsigned k = 0; k < r.count; ++k)
        from = sets_.unite(from, read(static_cast<isa::RegUnit>(r.first + k)).anything);
  for (const Source s : sets_.members(from)) {
    seen_.in_address.try_emplace(s, plan.evidence);
    if (s >= source::region0 && s < source::workgroup_id0) placed_by_.push_back(s);
  }
  if (region_) loaded_ = sets_.of(static_cast<Source>(source::region0 + *region_));
}

void ProbeObserver::touch(unsigned region, uint64_t address, unsigned bytes, const MemoryEvent& e,
                          const Plan& plan) {
  RegionTouch& t = seen_.touched[static_cast<Source>(source::region0 + region)];
  const auto from = static_cast<int64_t>(address - region_pointer(region));
  if (e.load) {
    t.read.add(from, from + bytes);
    if (!t.first_read) t.first_read = plan.evidence;
  }
  if (e.store) {
    t.written.add(from, from + bytes);
    if (!t.first_write) t.first_write = plan.evidence;
  }
  t.atomic |= e.atomic;
  t.scattered |= e.store && !placed_by_.empty();
  t.placed_by.insert(placed_by_.begin(), placed_by_.end());
  if (e.space != MemoryKind::Scalar && (t.narrowest == 0 || bytes < t.narrowest)) t.narrowest = bytes;
  for (unsigned b = 0; b < bytes; ++b) {
    WrittenPage& page = pages_[(address + b) / emulator::page_bytes];
    const uint64_t at = (address + b) % emulator::page_bytes;
    if (e.load) {
      if (!page.read[at]) ++t.read_bytes;
      page.read[at] = true;
      t.read_first |= !page.written[at];
    }
    if (e.store) page.written[at] = true;
  }
}

void ProbeObserver::memory(Wave& wave, const MicroOp& op, const MemoryEvent& e) {
  const Plan& plan = plan_of(wave, op);
  if (e.space == MemoryKind::Lds) return move_lds(wave, op, e, plan);
  if (e.space == MemoryKind::Scratch) {
    const uint64_t key = uint64_t{wave.number} << 48 ^ wave.workgroup->index() << 32;
    for (unsigned k = 0; k < std::max(1U, e.bytes / 4); ++k) {
      const uint64_t at = key ^ (e.addresses[std::countr_zero(e.lanes)] / 4 + k);
      if (e.load)
        loaded_dwords_.push_back(scratch_[at]);
      else
        scratch_[at] = read(static_cast<isa::RegUnit>(plan.data.first + k));
    }
    return;
  }
  seen_.accesses.insert(plan.evidence.pc);
  const emulator::Launch& launch = wave.workgroup->launch();
  const uint64_t kernarg = launch.kernarg_address;
  if (e.space == MemoryKind::Scalar || (e.addresses[std::countr_zero(e.lanes)] - kernarg) < 4096) {
    const uint64_t at = e.addresses[e.space == MemoryKind::Scalar ? 0 : std::countr_zero(e.lanes)] - kernarg;
    for (unsigned k = 0; at < 4 * source::most_kernarg_dwords - 64 && k < std::max(1U, e.bytes / 4); ++k) {
      const SourceSet set = sets_.of(static_cast<Source>(at / 4 + k));
      loaded_dwords_.push_back({set, set, set, ValueType::None, plan.loaded_part});
    }
    if (!loaded_dwords_.empty()) return;
  }
  const uint64_t lanes = e.space == MemoryKind::Scalar ? 1 : e.lanes;
  emulator::for_each_lane(lanes, [&](unsigned l) {
    const auto region = region_of(e.addresses[l]);
    if (!region || (!bases_.empty() && std::ranges::find(bases_, *region) == bases_.end())) return;
    region_ = region;
    touch(*region, e.addresses[l], e.bytes, e, plan);
    loaded_ = sets_.unite(loaded_, sets_.of(static_cast<Source>(source::region0 + *region)));
  });
  if (pages_.size() > most_pages_)
    wave.fail(
        {.kind = emulator::FaultKind::Illegal,
         .pc = op.pc,
         .lane = -1,
         .address = 0,
         .bytes = 0,
         .write = false,
         .text = fmt::format("more than {} pages of memory touched: the probe is cut off", most_pages_)});
}

// A store of less than a register takes a piece of it: the upper half of a float is a bf16.
Shadow ProbeObserver::narrowed(const Shadow& s, const isa::Instruction& i, unsigned bytes) const {
  if (bytes >= 4) return s;
  Shadow piece = s;
  if (s.type == ValueType::F32 && bytes == 2) {
    piece.type = ValueType::Bf16;
    piece.part = Part::Whole;
  } else if (s.type == ValueType::I32) {
    piece.type = bytes == 2 ? ValueType::I16 : ValueType::I8;
    piece.part = Part::Whole;
  } else if (s.part == Part::High16 && i.base_mnemonic.contains("d16_hi")) {
    piece.part = Part::Low16;
  } else if (s.part == Part::Whole && s.raw != 0) {
    piece.part = bytes == 2 ? Part::Low16 : Part::Byte;
  }
  return piece;
}

void ProbeObserver::note_stored(unsigned region, const Plan& plan, bool narrow) {
  const auto to = static_cast<Source>(source::region0 + region);
  std::vector<Shadow> data;
  data.reserve(plan.data.count);
  for (unsigned k = 0; k < plan.data.count; ++k)
    data.push_back(read(static_cast<isa::RegUnit>(plan.data.first + k)));
  // Integers whose upper halves are constants or signs: 64 bits each.
  bool wide = data.size() >= 2 && data.size() % 2 == 0;
  for (size_t k = 0; k < data.size(); ++k) {
    const Shadow& s = data[k];
    wide &= k % 2 == 0 ? s.type == ValueType::I32 && s.raw == 0
                       : s.type == ValueType::None && s.raw == 0 && s.anything == 0;
  }
  if (wide) {
    seen_.stored_as[to].add(ValueType::I64, TypeVotes::fair, plan.evidence);
    return;
  }
  for (const Shadow& s : data) {
    ValueType type = s.type;
    if (type == ValueType::F32 && (s.part == Part::Low16 || s.part == Part::High16)) type = ValueType::Bf16;
    if (s.raw != 0) {
      for (const Source from : sets_.members(s.raw))
        if (from >= source::region0) seen_.copied_from[to].insert(from);
    } else if (type != ValueType::None) {
      const bool weak = is_integer(type) && (!narrow || bits_of(type) >= 32);
      seen_.stored_as[to].add(type, weak ? TypeVotes::fair : TypeVotes::strong, plan.evidence);
    } else if (s.anything != 0) {
      seen_.stored_as[to].add(narrow ? ValueType::U8 : ValueType::I32, TypeVotes::weak, plan.evidence);
    }
  }
}

void ProbeObserver::move_lds(Wave& wave, const MicroOp& op, const MemoryEvent& e, const Plan& plan) {
  std::vector<Shadow>& lds = groups_[wave.workgroup].lds;
  const isa::Instruction& i = *op.instruction;
  const unsigned dwords = std::max(1U, e.bytes / 4);
  if (e.load && !e.store) {
    for (unsigned k = 0; k < dwords; ++k) {
      Shadow s;
      bool first = true;
      emulator::for_each_lane(e.lanes, [&](unsigned l) {
        const uint64_t at = e.addresses[l] / 4 + k;
        if (at >= lds.size()) return;
        s = first ? lds[at] : unite(sets_, s, lds[at]);
        first = false;
      });
      if (e.bytes < 4 && s.part == Part::Whole && s.raw != 0) s.part = plan.loaded_part;
      if (plan.loaded_part == Part::High16 && s.part == Part::Low16) s.part = Part::High16;
      loaded_dwords_.push_back(s);
    }
    return;
  }
  const bool second =
      i.find(isa::Role::Vdata1) != nullptr && e.addresses != nullptr && !loaded_dwords_.empty();
  const isa::RegRange& data = second ? plan.data1 : plan.data;
  for (unsigned k = 0; k < dwords; ++k) {
    Shadow s;
    if (i.memory.lds_dma)
      s = {loaded_, loaded_, 0, ValueType::None, Part::Whole};
    else if (k < data.count)
      s = narrowed(read(static_cast<isa::RegUnit>(data.first + k)), i, e.bytes);
    if (e.load && k < data.count) s = {0, s.anything, 0, plan.atomic, Part::Whole};
    emulator::for_each_lane(e.lanes, [&](unsigned l) {
      const uint64_t at = e.addresses[l] / 4 + k;
      if (at < lds.size()) lds[at] = e.bytes < 4 ? unite(sets_, lds[at], s) : s;
    });
  }
  // Remembered so that the second event of a two-address store is known to be one.
  if (!e.load && !i.memory.lds_dma) loaded_dwords_.emplace_back();
}

void ProbeObserver::finish_load(const Wave& wave, const MicroOp& op, const Plan& plan) {
  const isa::Instruction& i = *op.instruction;
  if (region_ && i.memory.store && wave.exec() != 0) {
    const auto at = static_cast<Source>(source::region0 + *region_);
    if (i.memory.atomic) {
      const bool sign_open = plan.atomic == ValueType::I32 || plan.atomic == ValueType::I64;
      seen_.used_as[at].add(plan.atomic, sign_open ? TypeVotes::fair : TypeVotes::strong, plan.evidence);
    } else if (plan.data.count != 0) {
      // Of the pieces of registers that narrow stores take.
      if (i.memory.bytes < 4) {
        const Shadow piece = narrowed(read(plan.data.first), i, i.memory.bytes);
        if (piece.raw == 0 && piece.type != ValueType::None)
          seen_.stored_as[at].add(piece.type, TypeVotes::strong, plan.evidence);
        else
          note_stored(*region_, plan, true);
      } else {
        note_stored(*region_, plan, false);
      }
    }
  }
  if (exchanges_lanes(i) && plan.result.count != 0) {
    const Shadow s = read(plan.data.count != 0 ? plan.data
                          : plan.index.empty() ? plan.result
                                               : plan.index[0]);
    write(plan.result.first, s);
    return;
  }
  const bool loads = i.memory.load && !i.memory.lds_dma && (!i.memory.atomic || i.memory.returns);
  if (!loads) return;
  for (unsigned k = 0; k < plan.result.count; ++k) {
    const auto to = static_cast<isa::RegUnit>(plan.result.first + k);
    Shadow s;
    if (k < loaded_dwords_.size())
      s = loaded_dwords_[k];
    else if (i.memory.atomic)
      s = {0, loaded_, 0, plan.atomic, Part::Whole};
    else
      s = {loaded_, loaded_, loaded_, ValueType::None, plan.loaded_part};
    write(to, i.partial_def ? unite(sets_, read(to), s) : s);
  }
}

} // namespace asmevo::infer
