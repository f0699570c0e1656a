#include "timing/memory_system.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace asmevo::timing {

namespace {

using P = Parameter;

// Pages as the driver makes them for large buffers, and how many of them an XCD knows: an estimate.
constexpr uint64_t page = uint64_t{2} << 20;
constexpr unsigned known_pages = 1024, page_ways = 16;
// LDS atomics read and write.
constexpr double lds_atomic = 2;

unsigned whole(double x) {
  return static_cast<unsigned>(std::max(1.0, std::round(x)));
}

Cache::Shape l1_shape(const Machine& m, Cache::Replacement r) {
  return {.bytes = static_cast<uint64_t>(m[P::l1_bytes]),
          .line = whole(m[P::l1_line]),
          .ways = whole(m[P::l1_ways]),
          .hashed = true,
          .replacement = r};
}

Cache::Shape l2_shape(const Machine& m, double share, Cache::Replacement r) {
  return {.bytes = static_cast<uint64_t>(m[P::l2_bytes] * share),
          .line = whole(m[P::l2_line]),
          .ways = whole(m[P::l2_ways]),
          .hashed = true,
          .replacement = r};
}

Cache::Shape scalar_shape(const Machine& m) {
  constexpr unsigned ways = 16;
  return {.bytes = static_cast<uint64_t>(m[P::scalar_bytes]), .line = whole(m[P::scalar_line]), .ways = ways};
}

Cache::Shape icache_shape(const Machine& m) {
  return {.bytes = static_cast<uint64_t>(m[P::icache_bytes]),
          .line = whole(m[P::icache_line]),
          .ways = whole(m[P::icache_ways])};
}

} // namespace

double kept_share(double used, double size) {
  if (used <= size) return 1;
  if (size <= 0) return 0;
  double share = 0;
  constexpr unsigned rounds = 200;
  for (unsigned n = 0; n < rounds; ++n) share = std::exp(-(1 - share) * used / size);
  return share;
}

MemorySystem::MemorySystem(const Machine& m, const Options& options)
    : options_(options), per_shared_(whole(m[P::cus_per_cache])), cus_(options.cus),
      l2_(l2_shape(m, options.l2_share, options.replacement)),
      tlb_({.bytes = page * known_pages, .line = page, .ways = page_ways}),
      channels_(whole(m[P::l2_channels] * options.l2_share)) {
  const double clock = m[P::engine_clock] * 1e6, channels = static_cast<double>(channels_.size()),
               bytes_a_cycle = 1e12 / clock / options.xcds * options.l2_share;
  const double beyond_l1 = m[P::l2_latency] - m[P::l1_latency];
  r_ = {.l1_latency = m[P::l1_latency],
        .l1_scale = 128 / m[P::l1_rate],
        .l1_fill = m[P::l1_line] / m[P::l1_fill],
        .to_l2 = m[P::l1_latency] / 2 + beyond_l1 / 2,
        .from_l2 = m[P::l2_latency] - m[P::l1_latency] / 2 - beyond_l1 / 2,
        .mall = m[P::mall_latency] - m[P::l2_latency],
        .hbm = m[P::hbm_latency] - m[P::l2_latency],
        .channel_read = m[P::l1_line] / (m[P::l2_read_rate] * options.l2_share / channels),
        .channel_write = piece_bytes / (m[P::l2_write_rate] * options.l2_share / channels),
        .mall_rate = m[P::l2_line] / (m[P::mall_bandwidth] * bytes_a_cycle),
        .hbm_read = m[P::l2_line] / (m[P::hbm_read_bandwidth] * bytes_a_cycle),
        .hbm_write = m[P::l2_line] / (m[P::hbm_write_bandwidth] * bytes_a_cycle),
        .scalar_latency = m[P::scalar_latency],
        .scalar_miss = m[P::scalar_miss],
        .icache_miss = m[P::icache_miss],
        .tlb_miss = m[P::tlb_miss] * 1e-9 * clock,
        .lds_latency = m[P::lds_latency],
        .lds_read = 128 / m[P::lds_read_rate],
        .lds_write = 128 / m[P::lds_write_rate],
        .lds_narrow = 2 * 128 / m[P::lds_read_rate]};
  // Without an Infinity Cache there is only the memory behind.
  if (m[P::mall_bytes] == 0) options_.warmth.mall = 0, r_.mall_rate = 0;
  const size_t misses = whole(m[P::l1_misses]);
  for (ComputeUnit& cu : cus_) {
    cu.l1 = std::make_unique<Cache>(l1_shape(m, options.replacement));
    cu.misses.assign(misses, 0);
  }
  for (unsigned n = 0; n < options.cus; n += per_shared_)
    shared_.push_back({Cache(scalar_shape(m)), Cache(icache_shape(m))});
}

// Which lines were kept is as good as chance, but the same in every run.
bool MemorySystem::warm(uint64_t line, double share, uint64_t salt) const {
  if (share >= 1) return true;
  if (share <= 0) return false;
  uint64_t x = (line + salt) * 0x9e3779b97f4a7c15U;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93U;
  return static_cast<double>(x >> 11) * 0x1p-53 < share;
}

Server& MemorySystem::channel(uint64_t address) {
  const uint64_t n = address / l2_.line();
  return channels_[(n ^ n >> 4 ^ n >> 8 ^ n >> 13 ^ n >> 21) % channels_.size()];
}

double MemorySystem::translated(uint64_t address, double at) {
  Cache::Line* entry = tlb_.find(address);
  if (entry == nullptr) {
    ++counts_.tlb_misses;
    entry = tlb_.bring(address, false);
    entry->ready = at + r_.tlb_miss;
  }
  return std::max(at, entry->ready);
}

// From L2 to the Infinity Cache and memory: when L2 has the line.
double MemorySystem::beyond(uint64_t address, double at) {
  const uint64_t line = address / l2_.line();
  constexpr uint64_t salt = 77;
  at = translated(address, at);
  const bool hit = warm(line, options_.warmth.mall, salt);
  const double start = mall_.serve(at, r_.mall_rate);
  if (hit) {
    ++counts_.mall_reads;
    return start + r_.mall;
  }
  ++counts_.hbm_reads;
  return hbm_.serve(start, r_.hbm_read) + r_.hbm;
}

// A line that was written leaves L2 some time: its place on the way is taken now.
void MemorySystem::hand_on(uint64_t address, double at) {
  constexpr uint64_t salt = 77;
  at = mall_.serve(at, r_.mall_rate);
  if (warm(address / l2_.line(), options_.warmth.mall, salt)) {
    ++counts_.mall_writes;
    return;
  }
  ++counts_.hbm_writes;
  hbm_.serve(at, r_.hbm_write);
}

MemorySystem::Answer MemorySystem::l2_read(uint64_t address, double at, bool streaming) {
  ++counts_.l2_reads;
  const double start = channel(address).serve(at, r_.channel_read);
  Cache::Line* line = l2_.find(address);
  const bool there = line != nullptr;
  if (!there) line = l2_.bring(address, streaming);
  if (!there && !warm(address / l2_.line(), options_.warmth.l2, 0)) {
    ++counts_.l2_misses;
    const double ready = beyond(address, start);
    if (line != nullptr) line->ready = ready;
    return {ready, true};
  }
  return {line == nullptr ? start : std::max(start, line->ready), false};
}

double MemorySystem::l2_write(const TracedPiece& piece, double at, double busy, bool streaming) {
  const double start = channel(piece.address()).serve(at, busy);
  Cache::Line* line = l2_.find(piece.address());
  if (line == nullptr) line = l2_.bring(piece.address(), streaming);
  if (line == nullptr || !line->dirty) hand_on(piece.address(), start);
  if (line != nullptr) line->dirty = true;
  return start;
}

// One line of the first cache.
double MemorySystem::load_line(ComputeUnit& cu, const TimedOp& op, uint64_t address, double at,
                               Outcome& outcome) {
  ++counts_.l1_lines, ++outcome.lines;
  const bool past = op.past_l1 || op.atomic;
  Cache::Line* line = past ? nullptr : cu.l1->find(address);
  if (line != nullptr) return std::max(at + r_.l1_latency, line->ready);
  ++counts_.l1_misses, ++outcome.l1_misses;
  // Takes the place that is free first.
  std::ranges::pop_heap(cu.misses, std::greater{});
  double& place = cu.misses.back();
  counts_.l1_place_waits += std::max(0.0, place - at);
  at = std::max(at, place);
  const Answer answer = l2_read(address, at + r_.to_l2, op.streaming);
  outcome.l2_misses += answer.missed ? 1 : 0;
  const double arrives = cu.fill.serve(answer.at + r_.from_l2, r_.l1_fill);
  counts_.l1_place_cycles += arrives - at;
  place = arrives;
  std::ranges::push_heap(cu.misses, std::greater{});
  if (past) return arrives;
  line = cu.l1->bring(address, op.streaming);
  if (line != nullptr) line->ready = arrives;
  return arrives;
}

MemorySystem::Outcome MemorySystem::vector(unsigned n, const TimedOp& op, const TracedAccess& access,
                                           std::span<const TracedPiece> pieces, double at) {
  ComputeUnit& cu = cus_[n];
  const double busy = access.cycles * r_.l1_scale;
  const double start = std::max(at, cu.l1_free);
  cu.l1_free = start + busy;
  counts_.l1_busy += busy;
  Outcome outcome{.done = start + r_.l1_latency};
  const double each = pieces.empty() ? 0 : busy / static_cast<double>(pieces.size());
  double now = start;
  uint64_t last = ~uint64_t{0};
  // Lanes that want the same word of an atomic take turns.
  const double turns =
      op.atomic && !pieces.empty()
          ? std::max(1.0, access.lanes * op.bytes / (static_cast<double>(pieces.size()) * piece_bytes))
          : 1;
  for (const TracedPiece& piece : pieces) {
    now += each;
    if (access.store || access.atomic) {
      ++(access.atomic ? counts_.atomics : counts_.l2_writes);
      const double done = l2_write(piece, now + r_.to_l2, r_.channel_write * turns, op.streaming);
      outcome.done = std::max(outcome.done, done + r_.from_l2);
      if (access.atomic) cu.l1->drop(piece.address());
      continue;
    }
    const uint64_t line = piece.address() / cu.l1->line();
    if (line == last) continue;
    last = line;
    outcome.done = std::max(outcome.done, load_line(cu, op, piece.address(), now, outcome));
  }
  return outcome;
}

double MemorySystem::scalar(unsigned n, std::span<const TracedPiece> pieces, double at) {
  Cache& cache = shared(n).scalar;
  double done = at + r_.scalar_latency;
  for (const TracedPiece& piece : pieces) {
    ++counts_.scalar_lines;
    Cache::Line* line = cache.find(piece.address());
    if (line == nullptr) {
      ++counts_.scalar_misses;
      line = cache.bring(piece.address(), false);
      const Answer answer = l2_read(piece.address(), at + r_.scalar_latency + r_.scalar_miss / 2, false);
      const double ready = answer.at + r_.scalar_miss / 2;
      done = std::max(done, ready);
      if (line != nullptr) line->ready = ready; // a cache without room holds nothing
    } else {
      done = std::max(done, line->ready);
    }
  }
  return done;
}

double MemorySystem::lds(unsigned n, const TimedOp& op, const TracedAccess& access, double at) {
  ComputeUnit& cu = cus_[n];
  const double scale = access.load && !access.store ? r_.lds_read : r_.lds_write;
  const double ideal = std::max(1.0, access.lanes * std::max<unsigned>(op.bytes, 4) / 128.0) * scale;
  const double busy = access.cycles * scale * (access.atomic ? lds_atomic : 1);
  const double start = std::max(at, cu.lds_free);
  cu.lds_free = start + busy;
  ++counts_.lds_accesses;
  counts_.lds_busy += busy;
  counts_.lds_conflicts += std::max(0.0, busy - ideal);
  return start + r_.lds_latency + std::max(0.0, busy - r_.lds_narrow);
}

double MemorySystem::lds_crossbar(unsigned n, double at) {
  ComputeUnit& cu = cus_[n];
  const double start = std::max(at, cu.lds_free);
  cu.lds_free = start + r_.lds_narrow;
  counts_.lds_busy += r_.lds_narrow;
  return start + r_.lds_latency;
}

double MemorySystem::fetch(unsigned n, uint64_t address, double at) {
  Cache& cache = shared(n).code;
  ++counts_.icache_lines;
  Cache::Line* line = cache.find(address);
  if (line == nullptr) {
    ++counts_.icache_misses;
    line = cache.bring(address, false);
    if (line == nullptr) return at + r_.icache_miss;
    line->ready = at + r_.icache_miss;
  }
  return std::max(at, line->ready);
}

// A simulation may stop while lines are on their way, or have got places of the future.
MemoryCounts MemorySystem::counts_until(double end) const {
  MemoryCounts counts = counts_;
  double taken = counts.l1_place_cycles;
  for (const ComputeUnit& cu : cus_)
    for (const double free_again : cu.misses) taken -= std::max(0.0, free_again - end);
  if (end > 0) counts.l1_places_taken = std::max(0.0, taken) / (end * static_cast<double>(cus_.size()));
  return counts;
}

void MemorySystem::invalidate_l1(unsigned n) {
  cus_[n].l1->clear();
}

} // namespace asmevo::timing
