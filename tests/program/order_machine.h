// A small wave with values: registers, two memories, results that arrive when a wait says so. The dependence
// tests run a program and reorderings of it here, and compare. It knows nothing of the code under test.
#pragma once

#include "base/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace asmevo::program::testing {

constexpr unsigned wave_lanes = 4, words = 16, vectors = 8, scalars = 8;
// Names of what an operation touches: v0..v7 are 0..7, s0..s7 are 8..15.
enum Name : int { exec_name = 16, vcc_name, scc_name, m0_name, name_count };
inline int v_name(unsigned v) {
  return static_cast<int>(v);
}
inline int s_name(unsigned s) {
  return static_cast<int>(vectors + s);
}

// Traffic, told apart as coarsely as a wave's waits do.
enum Kind : uint8_t { none = 0, gload = 1, gstore = 2, lload = 4, lstore = 8 };
inline bool kinds_clash(unsigned a, unsigned b) {
  for (const unsigned shift : {0U, 2U}) {
    const unsigned x = a >> shift & 3, y = b >> shift & 3;
    if ((x != 0 && (y & 2) != 0) || (y != 0 && (x & 2) != 0)) return true;
  }
  return false;
}

struct World;
using Effect = std::function<void(World&)>;

struct Flight {
  int op = 0;
  unsigned counter = 0; // 0 vmcnt, 1 lgkmcnt
  uint8_t kind = none;
  std::vector<int> results;
  Effect arrive;
};

struct World {
  std::array<std::array<uint32_t, wave_lanes>, vectors> v{};
  std::array<uint32_t, scalars> s{};
  uint8_t exec = 0xf, vcc = 0;
  bool scc = false, skip = false, indexing = false;
  uint32_t m0 = 0;
  bool private_memory = false; // each lane has its own
  std::array<std::array<uint32_t, words>, wave_lanes> global{}, lds{};
  std::vector<Flight> flights; // in order of issue
  std::string hazard;          // the first thing that went wrong
  // At each barrier: which operations had gone out, and which of them were known to be complete.
  struct Barrier {
    std::vector<int> issued, complete;
  };
  std::vector<Barrier> barriers;
  std::vector<int> issued, complete;
  int op = 0;

  bool on(unsigned lane) const { return (exec >> lane & 1) != 0; }
  uint32_t& cell(std::array<std::array<uint32_t, words>, wave_lanes>& memory, unsigned lane, uint32_t at) {
    return memory[private_memory ? lane : 0][at % words];
  }
  void send(Flight f) {
    f.op = op;
    issued.push_back(op);
    flights.push_back(std::move(f));
  }
  void wait(unsigned counter, unsigned count) {
    auto left = static_cast<unsigned>(std::ranges::count(flights, counter, &Flight::counter));
    while (left > count) {
      const auto oldest = std::ranges::find(flights, counter, &Flight::counter);
      oldest->arrive(*this);
      complete.push_back(oldest->op);
      flights.erase(oldest);
      --left;
    }
  }
};

struct WaveOp {
  std::string text;
  std::vector<int> touches; // names, for hazards
  uint8_t kind = none;
  unsigned counter = 2; // of memory operations
  bool vector = false;
  Effect run;
};

/// The wait that the operation needs before it in this state: counter and count; nothing where it is safe.
struct NeededWait {
  unsigned counter = 0, count = 0;
};
inline std::vector<NeededWait> needed_waits(const World& w, const WaveOp& op) {
  std::vector<NeededWait> needed;
  for (size_t k = 0; k < w.flights.size(); ++k) {
    const Flight& f = w.flights[k];
    bool unsafe = op.kind != none && op.counter != f.counter && kinds_clash(op.kind, f.kind);
    for (const int r : f.results) unsafe = unsafe || std::ranges::find(op.touches, r) != op.touches.end();
    if (!unsafe) continue;
    unsigned behind = 0;
    for (size_t j = k + 1; j < w.flights.size(); ++j) behind += w.flights[j].counter == f.counter ? 1 : 0;
    needed.push_back({f.counter, behind});
  }
  return needed;
}

inline void execute(World& w, const WaveOp& op, int number) {
  if (op.vector && w.skip) return;
  w.op = number;
  if (w.hazard.empty() && !needed_waits(w, op).empty())
    w.hazard = fmt::format("op {} ({}) touches what is on its way", number, op.text);
  op.run(w);
}

// --- operations ---

inline WaveOp o_v_mov(unsigned d, unsigned a) {
  // With indexing on, the source is a + M0: any register.
  return {fmt::format("v_mov_b32_e32 v{}, v{}", d, a),
          {v_name(d), v_name(a), exec_name},
          none,
          2,
          true,
          [=](World& w) {
            const unsigned from = w.indexing ? (a + w.m0) % vectors : a;
            for (unsigned l = 0; l < wave_lanes; ++l)
              if (w.on(l)) w.v[d][l] = w.v[from][l];
          }};
}
inline WaveOp o_v_add(unsigned d, unsigned a, unsigned b) {
  return {fmt::format("v_add_u32_e64 v{}, v{}, v{}", d, a, b),
          {v_name(d), v_name(a), v_name(b), exec_name},
          none,
          2,
          true,
          [=](World& w) {
            const unsigned from = w.indexing ? (a + w.m0) % vectors : a;
            for (unsigned l = 0; l < wave_lanes; ++l)
              if (w.on(l)) w.v[d][l] = w.v[from][l] + w.v[b][l] + 1;
          }};
}
inline WaveOp o_cndmask(unsigned d, unsigned a, unsigned b) {
  return {fmt::format("v_cndmask_b32_e32 v{}, v{}, v{}, vcc", d, a, b),
          {v_name(d), v_name(a), v_name(b), exec_name, vcc_name},
          none,
          2,
          true,
          [=](World& w) {
            const unsigned from = w.indexing ? (a + w.m0) % vectors : a;
            for (unsigned l = 0; l < wave_lanes; ++l)
              if (w.on(l)) w.v[d][l] = (w.vcc >> l & 1) != 0 ? w.v[b][l] : w.v[from][l];
          }};
}
inline WaveOp o_compare(unsigned a, unsigned b) {
  return {fmt::format("v_cmp_gt_u32_e32 vcc, v{}, v{}", a, b),
          {v_name(a), v_name(b), exec_name, vcc_name},
          none,
          2,
          true,
          [=](World& w) {
            const unsigned from = w.indexing ? (a + w.m0) % vectors : a;
            w.vcc = 0;
            for (unsigned l = 0; l < wave_lanes; ++l)
              if (w.on(l) && w.v[from][l] > w.v[b][l]) w.vcc = static_cast<uint8_t>(w.vcc | 1U << l);
          }};
}
inline WaveOp o_writelane(unsigned d, unsigned s, unsigned lane) {
  return {fmt::format("v_writelane_b32 v{}, s{}, {}", d, s, lane),
          {v_name(d), s_name(s)},
          none,
          2,
          true,
          [=](World& w) { w.v[d][lane] = w.s[s]; }};
}
inline WaveOp o_readlane(unsigned s, unsigned a, unsigned lane) {
  return {fmt::format("v_readlane_b32 s{}, v{}, {}", s, a, lane),
          {s_name(s), v_name(a)},
          none,
          2,
          true,
          [=](World& w) { w.s[s] = w.v[a][lane]; }};
}
inline WaveOp o_s_add(unsigned d, unsigned a, unsigned b) {
  return {fmt::format("s_add_u32 s{}, s{}, s{}", d, a, b),
          {s_name(d), s_name(a), s_name(b), scc_name},
          none,
          2,
          false,
          [=](World& w) {
            const uint32_t sum = w.s[a] + w.s[b];
            w.scc = sum < w.s[a];
            w.s[d] = sum;
          }};
}
inline WaveOp o_s_cselect(unsigned d, unsigned a, unsigned b) {
  return {fmt::format("s_cselect_b32 s{}, s{}, s{}", d, a, b),
          {s_name(d), s_name(a), s_name(b), scc_name},
          none,
          2,
          false,
          [=](World& w) { w.s[d] = w.scc ? w.s[a] : w.s[b]; }};
}
inline WaveOp o_exec(unsigned k) { // pair k holds mask k+1, with some bits by k
  return {fmt::format("s_mov_b64 exec, s[{}:{}]", 20 + 2 * k, 21 + 2 * k),    {exec_name}, none, 2, false,
          [=](World& w) { w.exec = static_cast<uint8_t>((k * 7 + 5) & 0xf); }};
}
inline WaveOp o_narrow() {
  return {"s_and_b64 exec, exec, vcc", {exec_name, vcc_name, scc_name}, none, 2, false, [](World& w) {
            w.exec = w.exec & w.vcc;
            w.scc = w.exec != 0;
          }};
}
inline WaveOp o_m0(unsigned s) {
  return {fmt::format("s_mov_b32 m0, s{}", s), {s_name(s), m0_name}, none, 2, false,
          [=](World& w) { w.m0 = w.s[s]; }};
}

inline WaveOp o_ds_read(unsigned d, unsigned a, unsigned offset) {
  return {fmt::format("ds_read_b32 v{}, v{} offset:{}", d, a, 4 * offset),
          {v_name(d), v_name(a), exec_name},
          lload,
          1,
          true,
          [=](World& w) {
            const auto at = w.v[a];
            const uint8_t lanes_on = w.exec;
            w.send({0, 1, lload, {v_name(d)}, [=](World& x) {
                      for (unsigned l = 0; l < wave_lanes; ++l)
                        if ((lanes_on >> l & 1) != 0) x.v[d][l] = x.cell(x.lds, l, at[l] + offset);
                    }});
          }};
}
inline WaveOp o_ds_read2(unsigned d, unsigned a, unsigned first, unsigned second) { // d even, below 7
  return {fmt::format("ds_read2_b32 v[{}:{}], v{} offset0:{} offset1:{}", d, d + 1, a, first, second),
          {v_name(d), v_name(d + 1), v_name(a), exec_name},
          lload,
          1,
          true,
          [=](World& w) {
            const auto at = w.v[a];
            const uint8_t lanes_on = w.exec;
            w.send({0, 1, lload, {v_name(d), v_name(d + 1)}, [=](World& x) {
                      for (unsigned l = 0; l < wave_lanes; ++l) {
                        if ((lanes_on >> l & 1) == 0) continue;
                        x.v[d][l] = x.cell(x.lds, l, at[l] + first);
                        x.v[d + 1][l] = x.cell(x.lds, l, at[l] + second);
                      }
                    }});
          }};
}
inline WaveOp o_ds_write(unsigned a, unsigned b, unsigned offset) {
  return {fmt::format("ds_write_b32 v{}, v{} offset:{}", a, b, 4 * offset),
          {v_name(a), v_name(b), exec_name},
          lstore,
          1,
          true,
          [=](World& w) {
            const auto at = w.v[a], data = w.v[b];
            const uint8_t lanes_on = w.exec;
            w.send({0, 1, lstore, {}, [=](World& x) {
                      for (unsigned l = 0; l < wave_lanes; ++l)
                        if ((lanes_on >> l & 1) != 0) x.cell(x.lds, l, at[l] + offset) = data[l];
                    }});
          }};
}
inline WaveOp o_buffer_load(unsigned d, unsigned a, unsigned offset) {
  return {fmt::format("buffer_load_dword v{}, v{}, s[36:39], 0 offen offset:{}", d, a, 4 * offset),
          {v_name(d), v_name(a), exec_name},
          gload,
          0,
          true,
          [=](World& w) {
            const auto at = w.v[a];
            const uint8_t lanes_on = w.exec;
            w.send({0, 0, gload, {v_name(d)}, [=](World& x) {
                      for (unsigned l = 0; l < wave_lanes; ++l)
                        if ((lanes_on >> l & 1) != 0) x.v[d][l] = x.cell(x.global, l, at[l] + offset);
                    }});
          }};
}
inline WaveOp o_buffer_store(unsigned a, unsigned b, unsigned offset) {
  return {fmt::format("buffer_store_dword v{}, v{}, s[36:39], 0 offen offset:{}", b, a, 4 * offset),
          {v_name(a), v_name(b), exec_name},
          gstore,
          0,
          true,
          [=](World& w) {
            const auto at = w.v[a], data = w.v[b];
            const uint8_t lanes_on = w.exec;
            w.send({0, 0, gstore, {}, [=](World& x) {
                      for (unsigned l = 0; l < wave_lanes; ++l)
                        if ((lanes_on >> l & 1) != 0) x.cell(x.global, l, at[l] + offset) = data[l];
                    }});
          }};
}
inline WaveOp o_to_lds(unsigned a, unsigned offset) { // lane l's word goes to M0 + l
  return {fmt::format("buffer_load_dword v{}, s[36:39], 0 offen offset:{} lds", a, 4 * offset),
          {v_name(a), exec_name, m0_name},
          gload | lstore,
          0,
          true,
          [=](World& w) {
            const auto at = w.v[a];
            const uint32_t base = w.m0;
            const uint8_t lanes_on = w.exec;
            w.send({0, 0, gload | lstore, {}, [=](World& x) {
                      for (unsigned l = 0; l < wave_lanes; ++l)
                        if ((lanes_on >> l & 1) != 0)
                          x.cell(x.lds, l, base + l) = x.cell(x.global, l, at[l] + offset);
                    }});
          }};
}
// Scalar memory: base s[2:3], whose low word counts.
inline WaveOp o_s_load(unsigned d, unsigned offset) {
  return {fmt::format("s_load_dword s{}, s[2:3], {}", d, 4 * offset),
          {s_name(d), s_name(2), s_name(3)},
          gload,
          1,
          false,
          [=](World& w) {
            const uint32_t at = w.s[2] + offset;
            w.send({0, 1, gload, {s_name(d)}, [=](World& x) { x.s[d] = x.cell(x.global, 0, at); }});
          }};
}
inline WaveOp o_s_store(unsigned d, unsigned offset) {
  return {fmt::format("s_store_dword s{}, s[2:3], {}", d, 4 * offset),
          {s_name(d), s_name(2), s_name(3)},
          gstore,
          1,
          false,
          [=](World& w) {
            const uint32_t at = w.s[2] + offset, data = w.s[d];
            w.send({0, 1, gstore, {}, [=](World& x) { x.cell(x.global, 0, at) = data; }});
          }};
}

inline WaveOp o_wait(unsigned counter, unsigned count) {
  return {fmt::format("s_waitcnt {}({})", counter == 0 ? "vmcnt" : "lgkmcnt", count),
          {},
          none,
          2,
          false,
          [=](World& w) { w.wait(counter, count); }};
}
inline WaveOp o_barrier() {
  return {"s_barrier", {}, none, 2, false, [](World& w) { w.barriers.push_back({w.issued, w.complete}); }};
}
inline WaveOp o_nop() {
  return {"s_nop 0", {}, none, 2, false, [](World&) {}};
}
inline WaveOp o_skip(unsigned s) {
  return {fmt::format("s_setvskip s{}, 0", s),          {s_name(s)}, none, 2, false,
          [=](World& w) { w.skip = (w.s[s] & 1) != 0; }};
}
inline WaveOp o_skip_off() {
  return {"s_setvskip 0, 0", {}, none, 2, false, [](World& w) { w.skip = false; }};
}
inline WaveOp o_index_on(unsigned s) {
  return {fmt::format("s_set_gpr_idx_on s{}, gpr_idx(SRC0)", s),
          {s_name(s), m0_name},
          none,
          2,
          false,
          [=](World& w) {
            w.indexing = true;
            w.m0 = w.s[s];
          }};
}
inline WaveOp o_index_off() {
  return {"s_set_gpr_idx_off", {}, none, 2, false, [](World& w) { w.indexing = false; }};
}

} // namespace asmevo::program::testing
