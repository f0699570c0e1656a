#include "codeobject/abi_diff.h"

#include "codeobject/symbol_lookup.h"

#include <algorithm>
#include <array>
#include <elf.h>
#include <map>
#include <set>

namespace asmevo::codeobject {

using Json = nlohmann::ordered_json;

namespace {

// What may follow the code. Everything else that a host program, the runtime or another kernel can see is
// frozen.
constexpr std::array<std::string_view, 5> descriptor_resources = {
    "group_segment_fixed_size", "private_segment_fixed_size", "granulated_workitem_vgpr_count",
    "granulated_wavefront_sgpr_count", "accum_offset"};
constexpr std::array<std::string_view, 7> metadata_resources = {".vgpr_count",
                                                                ".agpr_count",
                                                                ".sgpr_count",
                                                                ".vgpr_spill_count",
                                                                ".sgpr_spill_count",
                                                                ".group_segment_fixed_size",
                                                                ".private_segment_fixed_size"};

template <size_t n>
bool one_of(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// The hardware drops the low 8 bits of the address it starts a wave at.
constexpr uint64_t entry_alignment = 256;

std::string words(bool present) {
  return present ? "present" : "absent";
}
std::string words(const std::string& text) {
  return text;
}
std::string words(uint64_t value) {
  return fmt::format("{}", value);
}
std::string words(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string symbol_type(const Symbol& symbol) {
  static constexpr std::array<std::string_view, 7> names = {"NOTYPE", "OBJECT", "FUNC", "SECTION",
                                                            "FILE",   "COMMON", "TLS"};
  return symbol.type() < names.size() ? std::string(names[symbol.type()])
                                      : fmt::format("type {}", symbol.type());
}
std::string symbol_binding(const Symbol& symbol) {
  static constexpr std::array<std::string_view, 3> names = {"LOCAL", "GLOBAL", "WEAK"};
  return symbol.binding() < names.size() ? std::string(names[symbol.binding()])
                                         : fmt::format("binding {}", symbol.binding());
}
std::string symbol_visibility(const Symbol& symbol) {
  static constexpr std::array<std::string_view, 4> names = {"DEFAULT", "INTERNAL", "HIDDEN", "PROTECTED"};
  return std::string(names[symbol.visibility()]);
}
std::string symbol_section(const CodeObject& object, const Symbol& symbol) {
  if (symbol.section == SHN_UNDEF) return "undefined";
  return symbol.section < object.sections().size() ? object.sections()[symbol.section].name
                                                   : fmt::format("{:#x}", symbol.section);
}

class Comparison {
 public:
  Comparison(const CodeObject& k0, const CodeObject& candidate) : k0_(k0), candidate_(candidate) {}

  AbiDiff run() {
    compare_objects();
    compare_loading();
    compare_symbols();
    compare_data();
    compare_relocations();
    compare_kernels();
    compare_note();
    return std::move(diff_);
  }

 private:
  template <class T>
  bool field(const std::string& where, std::string_view name, const T& k0, const T& candidate,
             bool frozen = true) {
    ++diff_.fields_compared;
    if (k0 == candidate) return true;
    diff_.differences.push_back({where, std::string(name), words(k0), words(candidate), frozen});
    return false;
  }

  void compare_objects() {
    field("object", "code object version", uint64_t{k0_.version()}, uint64_t{candidate_.version()});
    field("object", "target", k0_.target().id(), candidate_.target().id());
    field("object", "e_flags", fmt::format("{:#x}", k0_.elf_flags()),
          fmt::format("{:#x}", candidate_.elf_flags()));
  }

  // A loader goes by these alone and never looks at sections.
  void compare_loading() {
    const auto a = *load<Elf64_Ehdr>(k0_.bytes(), 0), b = *load<Elf64_Ehdr>(candidate_.bytes(), 0);
    field("object", "e_type", uint64_t{a.e_type}, uint64_t{b.e_type});
    field("object", "e_entry", fmt::format("{:#x}", a.e_entry), fmt::format("{:#x}", b.e_entry));
    const std::vector<Segment>&before = k0_.segments(), &after = candidate_.segments();
    field("object", "program headers", uint64_t{before.size()}, uint64_t{after.size()});
    for (size_t i = 0; i < std::min(before.size(), after.size()); ++i)
      field("object", fmt::format("program header {}", i), kind(before[i]), kind(after[i]));
    field("object", "what PT_NOTE and PT_DYNAMIC cover", covered_sections(k0_), covered_sections(candidate_));
  }

  static std::string kind(const Segment& s) { return fmt::format("type {:#x}, flags {}", s.type, s.flags); }

  // Addresses and sizes are hostile.
  static bool covers(const Segment& segment, const Section& section) {
    const auto within = [](uint64_t begin, uint64_t size, uint64_t in, uint64_t in_size) {
      return begin >= in && begin - in <= in_size && size <= in_size - (begin - in);
    };
    return within(section.offset, section.size, segment.offset, segment.file_size) &&
           within(section.address, section.size, segment.address, segment.memory_size);
  }

  static std::string covered_sections(const CodeObject& object) {
    std::string text;
    for (const Segment& segment : object.segments())
      for (const Section& section : object.sections())
        if ((segment.type == PT_NOTE && section.type == SHT_NOTE && covers(segment, section)) ||
            (segment.type == PT_DYNAMIC && section.type == SHT_DYNAMIC && covers(segment, section)))
          text += (text.empty() ? "" : ", ") + section.name;
    return text;
  }

  // By name; a name that occurs twice is compared in order.
  template <class T>
  static std::map<std::pair<std::string_view, size_t>, const T*> by_name(const std::vector<T>& list) {
    std::map<std::string_view, size_t> seen;
    std::map<std::pair<std::string_view, size_t>, const T*> named;
    for (const T& element : list)
      named.emplace(std::pair<std::string_view, size_t>(element.name, seen[element.name]++), &element);
    return named;
  }

  // Calls same(a, b) for elements in both lists and reports those in one only.
  template <class T, class Where, class Same>
  void match(const std::vector<T>& k0, const std::vector<T>& candidate, Where where, Same same) {
    const auto before = by_name(k0), after = by_name(candidate);
    for (const auto& [key, element] : before) {
      const auto it = after.find(key);
      field(where(*element), "exists", true, it != after.end());
      if (it != after.end()) same(*element, *it->second);
    }
    for (const auto& [key, element] : after)
      if (!before.contains(key)) field(where(*element), "exists", false, true);
  }

  // A loader finds symbols by name through these, whatever .dynsym holds.
  std::pair<SymbolLookup, SymbolLookup> compare_tables() {
    std::pair lookup(symbol_lookup(k0_), symbol_lookup(candidate_));
    const auto& [a, b] = lookup;
    field("object", "DT_HASH", a.sysv.present, b.sysv.present);
    field("object", "DT_GNU_HASH", a.gnu.present, b.gnu.present);
    field("object", "DT_SYMTAB", a.symbols, b.symbols);
    field("object", "DT_STRTAB", a.names, b.names);
    return lookup;
  }

  void compare_lookup(const std::string& where, const std::pair<SymbolLookup, SymbolLookup>& lookup,
                      const Symbol& a, const Symbol& b) {
    const auto index = [](const CodeObject& object, const Symbol& symbol) {
      return static_cast<size_t>(&symbol - object.dynamic_symbols().data());
    };
    const auto compare = [&](std::string_view name, const HashTable& k0, const HashTable& candidate) {
      if (k0.present && candidate.present)
        field(where, name, k0.finds[index(k0_, a)], candidate.finds[index(candidate_, b)]);
    };
    compare("entry in DT_HASH", lookup.first.sysv, lookup.second.sysv);
    compare("entry in DT_GNU_HASH", lookup.first.gnu, lookup.second.gnu);
  }

  void compare_symbols() {
    const auto lookup = compare_tables();
    const auto where = [](const Symbol& s) { return "symbol " + s.name; };
    const auto same = [&](const Symbol& a, const Symbol& b) {
      field(where(a), "type", symbol_type(a), symbol_type(b));
      field(where(a), "binding", symbol_binding(a), symbol_binding(b));
      field(where(a), "visibility", symbol_visibility(a), symbol_visibility(b));
      field(where(a), "section", symbol_section(k0_, a), symbol_section(candidate_, b));
      // A function is as long as its code; data has the size the host copies.
      if (a.type() != STT_FUNC) field(where(a), "size", a.size, b.size);
      if (a.section == SHN_ABS) field(where(a), "value", a.value, b.value);
      compare_lookup(where(a), lookup, a, b);
    };
    match(k0_.dynamic_symbols(), candidate_.dynamic_symbols(), where, same);
  }

  // Contents of a data section without the kernel descriptors, which are compared field by field.
  static Bytes data_of(const CodeObject& object, const Section& section) {
    Bytes data(section.contents.begin(), section.contents.end());
    for (const Kernel& kernel : object.kernels())
      if (section.contains(kernel.descriptor_address))
        std::fill_n(data.begin() + static_cast<std::ptrdiff_t>(kernel.descriptor_address - section.address),
                    KernelDescriptor::size, uint8_t{0});
    return data;
  }

  static std::vector<Section> data_sections(const CodeObject& object) {
    std::vector<Section> sections;
    std::ranges::copy_if(object.sections(), std::back_inserter(sections), [](const Section& s) {
      return s.allocated() && !s.executable() && (s.type == SHT_PROGBITS || s.type == SHT_NOBITS) &&
             s.name != ".relro_padding";
    });
    return sections;
  }

  void compare_data() {
    const auto where = [](const Section& s) { return "section " + s.name; };
    const auto same = [&](const Section& a, const Section& b) {
      field(where(a), "type", uint64_t{a.type}, uint64_t{b.type});
      field(where(a), "flags", a.flags, b.flags);
      if (!field(where(a), "size", a.size, b.size)) return;
      const Bytes before = data_of(k0_, a), after = data_of(candidate_, b);
      const auto differs = std::ranges::mismatch(before, after);
      const bool equal = differs.in1 == before.end() && differs.in2 == after.end();
      const auto byte = [&](const Bytes& data, auto at) {
        return equal || at == data.end() ? std::string("equal")
                                         : fmt::format("{:#04x} at byte {:#x}", *at, at - data.begin());
      };
      field(where(a), "data", byte(before, differs.in1), byte(after, differs.in2));
    };
    match(data_sections(k0_), data_sections(candidate_), where, same);
  }

  struct NamedRelocation {
    std::string name, target;
    uint32_t type = 0;
  };

  // A place or target in words that stay when sections move: section and distance in data, the function's
  // name in code (whose insides may change).
  static std::string place(const CodeObject& object, const std::map<uint64_t, std::string_view>& functions,
                           uint64_t address) {
    const auto index = object.section_at(address);
    if (!index) return fmt::format("{:#x}", address);
    const Section& section = object.sections()[*index];
    if (!section.executable()) return fmt::format("{}+{:#x}", section.name, address - section.address);
    const auto function = functions.find(address);
    return function == functions.end() ? section.name : fmt::format("{} {}", section.name, function->second);
  }

  static std::vector<NamedRelocation> named_relocations(const CodeObject& object) {
    std::map<uint64_t, std::string_view> functions;
    for (const auto* table : {&object.symbols(), &object.dynamic_symbols()})
      for (const Symbol& symbol : *table)
        if (symbol.type() == STT_FUNC && symbol.section != SHN_UNDEF)
          functions.emplace(symbol.value, symbol.name);
    std::vector<NamedRelocation> named;
    for (const Relocation& r : object.relocations()) {
      const std::string target =
          r.symbol == 0 ? place(object, functions, static_cast<uint64_t>(r.addend))
                        : fmt::format("{}{:+#x}", object.dynamic_symbols()[r.symbol].name, r.addend);
      named.push_back({place(object, functions, r.address), target, r.type});
    }
    return named;
  }

  void compare_relocations() {
    const auto where = [](const NamedRelocation& r) { return "relocation of " + r.name; };
    match(named_relocations(k0_), named_relocations(candidate_), where,
          [&](const NamedRelocation& a, const NamedRelocation& b) {
            field(where(a), "type", uint64_t{a.type}, uint64_t{b.type});
            field(where(a), "target", a.target, b.target);
          });
  }

  void compare_kernels() {
    const auto where = [](const Kernel& k) { return "kernel " + k.name; };
    match(k0_.kernels(), candidate_.kernels(), where, [&](const Kernel& a, const Kernel& b) {
      // Fields by K0's target; another target is reported already.
      for (const DescriptorField& f : descriptor_fields(k0_.target()))
        if (f.word != DescriptorField::Word::EntryOffset)
          field(where(a), fmt::format("descriptor.{}", f.name), get(a.descriptor, f), get(b.descriptor, f),
                !one_of(descriptor_resources, f.name));
      const auto reserved = [&](const Kernel& k) {
        return reserved_bits(k.descriptor, k0_.target()).encode();
      };
      const auto hex = [](const auto& bytes) { return fmt::format("{:02x}", fmt::join(bytes, "")); };
      field(where(a), "descriptor.reserved bits", hex(reserved(a)), hex(reserved(b)));
      field(where(a), "entry alignment", std::min(entry_alignment, a.entry & -a.entry),
            std::min(entry_alignment, b.entry & -b.entry));
      field(where(a), "listed in metadata", a.metadata_index.has_value(), b.metadata_index.has_value());
      if (a.metadata_index && b.metadata_index)
        compare_kernel_notes(where(a), note_of(k0_, *a.metadata_index),
                             note_of(candidate_, *b.metadata_index));
      compare_agreement(where(a), a, b);
      if (fits_largest_workgroup(k0_, a))
        field(where(a), "registers for its largest workgroup", std::string("few enough"),
              std::string(fits_largest_workgroup(candidate_, b) ? "few enough" : "too many"));
    });
  }

  // A workgroup's waves are on one compute unit together, shared out to its SIMDs.
  static bool fits_largest_workgroup(const CodeObject& object, const Kernel& kernel) {
    const KernelMetadata* note = object.metadata_of(kernel);
    return note == nullptr ||
           note->max_flat_workgroup_size <=
               largest_workgroup(object.target(), allocated_vgprs(kernel.descriptor, object.target()));
  }

  // What the note says again must agree with the descriptor where K0's does: which of the two a runtime goes
  // by is its own business.
  void compare_agreement(const std::string& where, const Kernel& a, const Kernel& b) {
    const KernelMetadata *before = k0_.metadata_of(a), *after = candidate_.metadata_of(b);
    if (before == nullptr || after == nullptr) return;
    const auto compare = [&](std::string_view name, bool k0, bool candidate) {
      if (k0) field(where, fmt::format("metadata{} as in the descriptor", name), true, candidate);
    };
    const auto lds = [](const Kernel& k, const KernelMetadata& m) {
      return m.group_segment_fixed_size == k.descriptor.group_segment_fixed_size;
    };
    const auto scratch = [](const Kernel& k, const KernelMetadata& m) {
      return m.private_segment_fixed_size == k.descriptor.private_segment_fixed_size;
    };
    const isa::Target& target = k0_.target();
    const auto vgprs = [&](const Kernel& k, const KernelMetadata& m) {
      return m.vgpr_count && granules(*m.vgpr_count, isa::limits(target).vgpr_granule) ==
                                 allocated_vgprs(k.descriptor, target);
    };
    const auto sgprs = [&](const Kernel& k, const KernelMetadata& m) {
      return m.sgpr_count && granules(*m.sgpr_count, isa::limits(target).sgpr_granule) ==
                                 allocated_sgprs(k.descriptor, target);
    };
    const auto agprs = [&](const Kernel& k, const KernelMetadata& m) {
      return m.agpr_count && (*m.agpr_count == 0 || accum_offset(k.descriptor, target) + *m.agpr_count <=
                                                        allocated_vgprs(k.descriptor, target));
    };
    compare(".group_segment_fixed_size", lds(a, *before), lds(b, *after));
    compare(".private_segment_fixed_size", scratch(a, *before), scratch(b, *after));
    compare(".vgpr_count", vgprs(a, *before), vgprs(b, *after));
    compare(".sgpr_count", sgprs(a, *before), sgprs(b, *after));
    compare(".agpr_count", agprs(a, *before), agprs(b, *after));
  }

  // At least one; counts are hostile.
  static uint64_t granules(uint64_t count, uint64_t granule) {
    constexpr uint64_t most = 1 << 20;
    return align_up(std::clamp<uint64_t>(count, 1, most), granule);
  }

  static const Json& note_of(const CodeObject& object, size_t index) {
    return object.metadata()->document()["amdhsa.kernels"][index];
  }

  // Calls same(key, a, b) for the keys of either map; an absent key is null.
  template <class Same>
  static void each_key(const Json& k0, const Json& candidate, Same same) {
    static const Json absent;
    const auto value = [](const Json& map, const std::string& key) -> const Json& {
      const auto it = map.find(key);
      return it == map.end() ? absent : *it;
    };
    std::set<std::string> keys;
    for (const Json* map : {&k0, &candidate})
      if (map->is_object())
        for (const auto& item : map->items()) keys.insert(item.key());
    for (const std::string& key : keys) same(key, value(k0, key), value(candidate, key));
  }

  void compare_kernel_notes(const std::string& where, const Json& k0, const Json& candidate) {
    each_key(k0, candidate, [&](const std::string& key, const Json& a, const Json& b) {
      if (key == ".args" && a.is_array() && b.is_array()) return compare_arguments(where, a, b);
      field(where, "metadata" + key, a, b, !one_of(metadata_resources, key));
    });
  }

  void compare_arguments(const std::string& where, const Json& k0, const Json& candidate) {
    field(where, "metadata.args count", uint64_t{k0.size()}, uint64_t{candidate.size()});
    for (size_t i = 0; i < std::min(k0.size(), candidate.size()); ++i)
      each_key(k0[i], candidate[i], [&](const std::string& key, const Json& a, const Json& b) {
        field(fmt::format("{} argument {}", where, i), "metadata" + key, a, b);
      });
  }

  void compare_note() {
    field("object", "metadata note", k0_.metadata().has_value(), candidate_.metadata().has_value());
    if (!k0_.metadata() || !candidate_.metadata()) return;
    each_key(k0_.metadata()->document(), candidate_.metadata()->document(),
             [&](const std::string& key, const Json& a, const Json& b) {
               if (key != "amdhsa.kernels") field("object", "metadata " + key, a, b);
             });
  }

  const CodeObject &k0_, &candidate_;
  AbiDiff diff_;
};

} // namespace

bool AbiDiff::compatible() const {
  return std::ranges::none_of(differences, &AbiDifference::frozen);
}

AbiDiff abi_diff(const CodeObject& k0, const CodeObject& candidate) {
  return Comparison(k0, candidate).run();
}

} // namespace asmevo::codeobject
