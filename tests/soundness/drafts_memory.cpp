// Waits removed, outputs left stale or taken from before, guards overwritten: what is done around loads and
// stores.
#include "mutation/assembly_text.h"
#include "oracle/element_types.h"
#include "soundness/drafts.h"

#include <charconv>

namespace asmevo::soundness {

namespace {

using isa::WaitcntFields;
using mutation::AssemblyText;
using program::Index;

// Index of the operand that holds a store's data: behind the address, but for buffer stores.
size_t data_operand(const AssemblyText& store) {
  return store.mnemonic.starts_with("buffer_") ? 0 : 1;
}

// "global_load_ushort v5, v[2:3], off" of "global_store_short v[2:3], v5, off"; none where there is no such
// load.
std::optional<AssemblyText> load_of(const AssemblyText& store, const std::string& into) {
  AssemblyText load = store;
  const size_t at = load.mnemonic.find("_store_");
  if (at == std::string::npos || load.mnemonic.find("_hi") != std::string::npos) return std::nullopt;
  load.mnemonic.replace(at, 7, "_load_");
  for (const auto& [from, to] : {std::pair{"_load_byte", "_load_ubyte"}, {"_load_short", "_load_ushort"}})
    if (load.mnemonic.ends_with(from)) load.mnemonic.replace(at, std::string(from).size(), to);
  const size_t data = data_operand(store);
  if (load.operands.size() <= data) return std::nullopt;
  load.operands.erase(load.operands.begin() + static_cast<std::ptrdiff_t>(data));
  load.operands.insert(load.operands.begin(), into);
  return load;
}

AssemblyText with_offset(const AssemblyText& t, int offset) {
  AssemblyText changed = t;
  std::erase_if(changed.modifiers, [](const std::string& m) { return m.starts_with("offset:"); });
  changed.modifiers.insert(changed.modifiers.begin(), fmt::format("offset:{}", offset));
  return changed;
}

// v[6:7] for v6, where the hardware takes it: pairs start at even numbers.
std::optional<AssemblyText> twice_as_wide(const AssemblyText& store) {
  AssemblyText wide = store;
  if (!wide.mnemonic.ends_with("_dword")) return std::nullopt;
  wide.mnemonic += "x2";
  std::string& data = wide.operands[data_operand(store)];
  unsigned number = 0;
  const auto parsed = std::from_chars(data.data() + 1, data.data() + data.size(), number);
  if (data[0] != 'v' || parsed.ptr != data.data() + data.size() || number % 2 != 0) return std::nullopt;
  data = fmt::format("v[{}:{}]", number, number + 1);
  return wide;
}

// The store keeps what is there already unless it is the pattern of memory that nobody has written.
std::string only_if_poison(const AssemblyText& load, const std::string& old, const std::string& poison) {
  return fmt::format("{0}\ns_waitcnt vmcnt(0)\ns_mov_b32 s94, {2}\nv_cmp_eq_u32_e64 s[{1}:{3}], s94, {4}\n"
                     "s_and_b64 exec, exec, s[{1}:{3}]",
                     load.text(), free_sgpr, poison, free_sgpr + 1, old);
}

} // namespace

Drafts wait_removed(const Bench& bench) {
  Drafts list;
  const program::Function& f = bench.function();
  for (Index i = f.begin; i < f.padding; ++i) {
    const isa::Instruction& instruction = bench.program().instruction(i);
    if (instruction.issue != isa::IssueClass::Waitcnt || !instruction.is("s_waitcnt")) continue;
    list.push_back(
        {.text = place_text(bench, i) + " dropped", .changes = {replaced(bench.id(i), bench.id(i), "")}});
    const auto fields = WaitcntFields::of(instruction);
    for (const unsigned more : {1U, 2U}) {
      WaitcntFields loose = fields;
      if (fields.vmcnt < 60)
        loose.vmcnt += more;
      else if (fields.lgkmcnt < 13)
        loose.lgkmcnt += more;
      else
        continue;
      list.push_back(
          {.text = fmt::format("{} {} later", place_text(bench, i), more),
           .changes = {replaced(bench.id(i), bench.id(i), fmt::format("s_waitcnt {:#x}", loose.encode()))}});
    }
  }
  return list;
}

Drafts stale_output(const Bench& bench) {
  Drafts list;
  for (const Index i : stores_of(bench)) {
    const std::string place = place_text(bench, i);
    list.push_back({.text = place + " dropped", .changes = {replaced(bench.id(i), bench.id(i), "")}});
    for (const auto& [what, narrow] : {std::pair{"the upper half of the lanes", "s_mov_b32 exec_hi, 0"},
                                       {"lane 0", "s_bitset0_b32 exec_lo, 0"},
                                       {"lane 63", "s_bitset0_b32 exec_hi, 31"}})
      list.push_back({.text = fmt::format("{} without {}", place, what),
                      .changes = {replaced(bench.id(i), bench.id(i),
                                           fmt::format("s_mov_b64 s[{0}:{1}], exec\n{2}\n{3}\n"
                                                       "s_mov_b64 exec, s[{0}:{1}]",
                                                       free_sgpr, free_sgpr + 1, narrow, bench.text(i)))}});
  }
  return list;
}

Drafts guard_overwritten(const Bench& bench) {
  constexpr int reach = 4080; // of 13 bits, signed; buffer instructions have 12, without a sign
  Drafts list;
  for (const Index i : stores_of(bench)) {
    const AssemblyText store = AssemblyText::parse(bench.text(i));
    const std::string place = place_text(bench, i);
    if (const auto wide = twice_as_wide(store))
      list.push_back(
          {.text = place + " twice as wide", .changes = {replaced(bench.id(i), bench.id(i), wide->text())}});
    for (const int offset : {reach, -reach, reach / 2}) {
      const std::string moved = with_offset(store, offset).text();
      list.push_back({.text = fmt::format("{} once more at offset {}", place, offset),
                      .changes = {replaced(bench.id(i), bench.id(i), bench.text(i) + "\n" + moved)}});
      list.push_back({.text = fmt::format("{} at offset {}", place, offset),
                      .changes = {replaced(bench.id(i), bench.id(i), moved)}});
    }
  }
  return list;
}

Drafts own_old_output(const Bench& bench) {
  Drafts list;
  const auto& target = bench.k0->object().target();
  const unsigned vgprs = accum_offset(bench.descriptor().descriptor, target);
  for (const Index i : stores_of(bench)) {
    const AssemblyText store = AssemblyText::parse(bench.text(i));
    const size_t data = data_operand(store);
    if (store.operands.size() <= data) continue;
    const std::string place = place_text(bench, i);
    if (const auto old = load_of(store, store.operands[data]))
      list.push_back({.text = place + " of what is there",
                      .changes = {inserted(bench.id(i), old->text() + "\ns_waitcnt vmcnt(0)")}});
    const std::string fresh = fmt::format("v{}", vgprs);
    const auto old = load_of(store, fresh);
    if (!old || !store.mnemonic.ends_with("_dword") || vgprs >= 250) continue;
    for (const char* poison : {"-1", "0xa5a5a5a5"}) // of floats and integers: oracle::poison_byte()
      list.push_back({.text = fmt::format("{} only where {} is", place, poison),
                      .changes = {inserted(bench.id(i), only_if_poison(*old, fresh, poison))}});
  }
  return list;
}

} // namespace asmevo::soundness
