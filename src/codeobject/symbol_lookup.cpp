#include "codeobject/symbol_lookup.h"

#include <algorithm>
#include <elf.h>
#include <limits>
#include <string_view>

namespace asmevo::codeobject {

namespace {

uint32_t sysv_hash(std::string_view name) {
  uint32_t h = 0;
  for (const char c : name) {
    h = (h << 4) + static_cast<uint8_t>(c);
    h = (h ^ (h >> 24 & 0xf0)) & 0x0fffffff;
  }
  return h;
}

uint32_t gnu_hash(std::string_view name) {
  uint32_t h = 5381;
  for (const char c : name) h = h * 33 + static_cast<uint8_t>(c);
  return h;
}

// Words of a table; 0 past its end.
struct Words {
  ByteSpan bytes;
  uint32_t at(uint64_t index) const { return load<uint32_t>(bytes, index * sizeof(uint32_t)).value_or(0); }
  uint64_t count() const { return bytes.size() / sizeof(uint32_t); }
};

// Which bucket's chain a symbol is in, or none. A symbol is marked once, so that chains with loops end.
class Chains {
 public:
  explicit Chains(size_t symbols) : bucket_(symbols, none) {}
  /// False where the walk ends: no such symbol, or seen already.
  bool mark(uint64_t symbol, uint32_t bucket) {
    if (symbol >= bucket_.size() || bucket_[symbol] != none) return false;
    bucket_[symbol] = bucket;
    return true;
  }
  bool holds(size_t symbol, uint32_t bucket) const { return bucket_[symbol] == bucket; }

 private:
  static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> bucket_;
};

// nbucket, nchain, bucket[nbucket], chain[nchain]; both hold symbol indices, 0 ends a chain.
std::vector<bool> found_by_sysv(const std::vector<Symbol>& symbols, Words words) {
  std::vector<bool> finds(symbols.size());
  const uint32_t buckets = words.at(0), chain = words.at(1);
  if (buckets == 0 || uint64_t{2} + buckets + chain > words.count()) return finds;
  Chains chains(std::min<size_t>(symbols.size(), chain));
  for (uint32_t b = 0; b < buckets; ++b)
    for (uint32_t s = words.at(uint64_t{2} + b); s != 0 && chains.mark(s, b);)
      s = words.at(uint64_t{2} + buckets + s);
  for (size_t s = 1; s < std::min<size_t>(symbols.size(), chain); ++s)
    finds[s] = chains.holds(s, sysv_hash(symbols[s].name) % buckets);
  return finds;
}

// nbuckets, symoffset, bloom_size, bloom_shift, bloom[bloom_size] of 64 bits, buckets[nbuckets], then a hash
// for each symbol from symoffset on, whose lowest bit ends a chain of neighbours.
std::vector<bool> found_by_gnu(const std::vector<Symbol>& symbols, Words words) {
  std::vector<bool> finds(symbols.size());
  const uint32_t buckets = words.at(0), first = words.at(1), bloom = words.at(2), shift = words.at(3);
  const uint64_t buckets_at = 4 + uint64_t{2} * bloom, hashes_at = buckets_at + buckets;
  if (buckets == 0 || bloom == 0 || shift > 31 || hashes_at > words.count()) return finds;
  Chains chains(symbols.size());
  const auto hash_of = [&](uint64_t symbol) { return words.at(hashes_at + symbol - first); };
  for (uint32_t b = 0; b < buckets; ++b) {
    uint64_t s = words.at(buckets_at + b);
    if (s < first || s == 0) continue;
    while (hashes_at + s - first < words.count() && chains.mark(s, b) && (hash_of(s) & 1) == 0) ++s;
  }
  for (size_t s = std::max<size_t>(first, 1); s < symbols.size(); ++s) {
    const uint32_t h = gnu_hash(symbols[s].name), word = h / 64 % bloom;
    const uint64_t filter = words.at(4 + uint64_t{2} * word) | uint64_t{words.at(5 + uint64_t{2} * word)}
                                                                   << 32;
    const bool may_be = (filter >> (h % 64) & filter >> ((h >> shift) % 64) & 1) != 0;
    finds[s] = may_be && chains.holds(s, h % buckets) && (hash_of(s) | 1) == (h | 1);
  }
  return finds;
}

// From an address to the end of its section in the file.
std::optional<ByteSpan> bytes_at(const CodeObject& object, uint64_t address) {
  const auto index = object.section_at(address);
  if (!index) return std::nullopt;
  const Section& section = object.sections()[*index];
  const uint64_t offset = address - section.address;
  if (offset > section.contents.size()) return std::nullopt;
  return section.contents.subspan(offset);
}

} // namespace

SymbolLookup symbol_lookup(const CodeObject& object) {
  SymbolLookup lookup;
  const std::vector<Section>& sections = object.sections();
  const auto dynamic = std::ranges::find(sections, uint32_t{SHT_DYNAMIC}, &Section::type);
  const auto table = std::ranges::find(sections, uint32_t{SHT_DYNSYM}, &Section::type);
  if (dynamic == sections.end() || table == sections.end()) return lookup;
  const auto fill = [&](HashTable& hash, uint64_t address, auto found_by) {
    const auto bytes = bytes_at(object, address);
    hash.present = bytes.has_value();
    if (bytes) hash.finds = found_by(object.dynamic_symbols(), Words{*bytes});
  };
  for (uint64_t at = 0; const auto tag = load<Elf64_Dyn>(dynamic->contents, at); at += sizeof(Elf64_Dyn)) {
    if (tag->d_tag == DT_NULL) break;
    const uint64_t value = tag->d_un.d_ptr;
    if (tag->d_tag == DT_HASH) fill(lookup.sysv, value, found_by_sysv);
    if (tag->d_tag == DT_GNU_HASH) fill(lookup.gnu, value, found_by_gnu);
    if (tag->d_tag == DT_SYMTAB) lookup.symbols = value == table->address;
    if (tag->d_tag == DT_STRTAB) lookup.names = value == sections[table->link].address;
  }
  return lookup;
}

} // namespace asmevo::codeobject
