// The operations of the tiny machine: text and meaning side by side.
#pragma once

#include "lane_machine.h"

namespace asmevo::program::testing {

inline std::string pair(unsigned k) {
  return fmt::format("s[{}:{}]", 20 + 2 * k, 21 + 2 * k);
}

// --- vector ---

inline Op v_mov(unsigned d, unsigned a) {
  return {fmt::format("v_mov_b32_e32 v{}, v{}", d, a),
          [=](Machine& m) { m.read_on(m.indexed(a, 1)), m.write_on(m.indexed(d, 8)); }, true};
}
inline Op v_add(unsigned d, unsigned a, unsigned b) {
  return {fmt::format("v_add_u32_e32 v{}, v{}, v{}", d, a, b),
          [=](Machine& m) {
            m.read_on(m.indexed(a, 1)), m.read_on(m.indexed(b, 2));
            m.write_on(m.indexed(d, 8));
          },
          true};
}
inline Op load(unsigned d, unsigned a) {
  return {fmt::format("ds_read_b32 v{}, v{}", d, a), [=](Machine& m) { m.read_on(a), m.write_on(d); }, true};
}
inline Op store(unsigned a, unsigned b) {
  return {fmt::format("ds_write_b32 v{}, v{}", a, b), [=](Machine& m) { m.read_on(a), m.read_on(b); }, true};
}
inline Op half_load(unsigned d, unsigned a) { // the other half of the result stays: it is read, in a way
  return {fmt::format("ds_read_u16_d16 v{}, v{}", d, a),
          [=](Machine& m) { m.read_on(a), m.read_on(d), m.write_on(d); }, true};
}
inline Op readlane(unsigned s, unsigned a, unsigned lane) {
  return {fmt::format("v_readlane_b32 s{}, v{}, {}", s, a, real_lane[lane]),
          [=](Machine& m) { m.read(a, lane), m.step.scalar_writes.set(s); }, true};
}
inline Op readfirstlane(unsigned s, unsigned a) {
  return {fmt::format("v_readfirstlane_b32 s{}, v{}", s, a),
          [=](Machine& m) {
            unsigned lane = 0; // with no lane on it reads lane 0
            for (unsigned l = lanes; l-- > 0;)
              if (m.on(l)) lane = l;
            m.read(a, lane), m.step.scalar_writes.set(s);
          },
          true};
}
inline Op writelane(unsigned d, unsigned s, unsigned lane) {
  return {fmt::format("v_writelane_b32 v{}, s{}, {}", d, s, real_lane[lane]),
          [=](Machine& m) { m.step.scalar_reads.set(s), m.write(d, lane); }, true};
}
inline Op dpp(unsigned d, unsigned a) {
  return {
      fmt::format("v_mov_b32_dpp v{}, v{} quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:0", d, a),
      [=](Machine& m) {
        for (unsigned l = 0; l < lanes; ++l)
          if (m.on(l)) m.read(a, l ^ 1U);
        m.write_on(d);
      },
      true};
}
inline Op dpp_some_rows(unsigned d, unsigned a) { // row 0 (lanes 0 to 15) is not written
  return {fmt::format("v_mov_b32_dpp v{}, v{} quad_perm:[1,0,3,2] row_mask:0xe bank_mask:0xf", d, a),
          [=](Machine& m) {
            for (unsigned l = 2; l < lanes; ++l)
              if (m.on(l)) m.read(a, l ^ 1U), m.write(d, l);
          },
          true};
}
inline Op permute(unsigned d, unsigned a, unsigned b) {
  return {fmt::format("ds_bpermute_b32 v{}, v{}, v{}", d, a, b),
          [=](Machine& m) {
            m.read_on(a);
            for (unsigned l = 0; l < lanes; ++l)
              if (m.on(l)) m.read(b, static_cast<unsigned>(m.choose(lanes)));
            m.write_on(d);
          },
          true};
}
inline Op matrix(unsigned a, bool accumulate) { // v[0:3]
  return {fmt::format("v_mfma_f32_4x4x1_16b_f32 v[0:3], v{}, v{}, {}", a, a, accumulate ? "v[0:3]" : "0"),
          [=](Machine& m) {
            m.read_all(a);
            for (unsigned v = 0; v < 4; ++v) {
              if (accumulate) m.read_all(v);
              m.write_all(v);
            }
          },
          true};
}

// --- masks. The functions of (x, old EXEC) stand in the tables. ---

struct MaskFunction {
  const char* name;
  uint8_t (*of)(uint8_t x, uint8_t exec);
};
inline constexpr std::array save_functions = {
    MaskFunction{"and", [](uint8_t x, uint8_t e) -> uint8_t { return x & e; }},
    MaskFunction{"or", [](uint8_t x, uint8_t e) -> uint8_t { return x | e; }},
    MaskFunction{"xor", [](uint8_t x, uint8_t e) -> uint8_t { return x ^ e; }},
    MaskFunction{"andn2", [](uint8_t x, uint8_t e) -> uint8_t { return x & ~e & all_lanes; }},
    MaskFunction{"orn2", [](uint8_t x, uint8_t e) -> uint8_t { return (x | ~e) & all_lanes; }},
    MaskFunction{"nand", [](uint8_t x, uint8_t e) -> uint8_t { return ~(x & e) & all_lanes; }},
    MaskFunction{"nor", [](uint8_t x, uint8_t e) -> uint8_t { return ~(x | e) & all_lanes; }},
    MaskFunction{"xnor", [](uint8_t x, uint8_t e) -> uint8_t { return ~(x ^ e) & all_lanes; }},
    MaskFunction{"andn1", [](uint8_t x, uint8_t e) -> uint8_t { return ~x & e & all_lanes; }},
    MaskFunction{"orn1", [](uint8_t x, uint8_t e) -> uint8_t { return (~x | e) & all_lanes; }},
};
inline Op saveexec(const MaskFunction& f, unsigned d, unsigned x) {
  return {fmt::format("s_{}_saveexec_b64 {}, {}", f.name, pair(d), pair(x)), [=](Machine& m) {
            const uint8_t value = m.use_mask(x), old = m.exec;
            m.set_mask(d, old);
            m.exec = f.of(value, old);
          }};
}
inline Op wrexec(bool first, unsigned d, unsigned x) {
  return {fmt::format("s_andn{}_wrexec_b64 {}, {}", first ? 1 : 2, pair(d), pair(x)), [=](Machine& m) {
            const uint8_t value = m.use_mask(x);
            m.exec = static_cast<uint8_t>(first ? ~value & m.exec : value & ~m.exec) & all_lanes;
            m.set_mask(d, m.exec);
          }};
}

// exec = f(exec, x) and exec = f(x, exec)
inline constexpr std::array binary_functions = {
    MaskFunction{"and", [](uint8_t a, uint8_t b) -> uint8_t { return a & b; }},
    MaskFunction{"or", [](uint8_t a, uint8_t b) -> uint8_t { return a | b; }},
    MaskFunction{"xor", [](uint8_t a, uint8_t b) -> uint8_t { return a ^ b; }},
    MaskFunction{"andn2", [](uint8_t a, uint8_t b) -> uint8_t { return a & ~b & all_lanes; }},
    MaskFunction{"nand", [](uint8_t a, uint8_t b) -> uint8_t { return ~(a & b) & all_lanes; }},
    MaskFunction{"nor", [](uint8_t a, uint8_t b) -> uint8_t { return ~(a | b) & all_lanes; }},
    MaskFunction{"orn2", [](uint8_t a, uint8_t b) -> uint8_t { return (a | ~b) & all_lanes; }},
};
inline Op exec_binary(const MaskFunction& f, unsigned x, bool exec_first) {
  const std::string sources = exec_first ? "exec, " + pair(x) : pair(x) + ", exec";
  return {fmt::format("s_{}_b64 exec, {}", f.name, sources), [=](Machine& m) {
            const uint8_t value = m.use_mask(x);
            m.exec = exec_first ? f.of(m.exec, value) : f.of(value, m.exec);
          }};
}
inline Op mask_binary(const MaskFunction& f, unsigned d, unsigned a, unsigned b) {
  return {fmt::format("s_{}_b64 {}, {}, {}", f.name, pair(d), pair(a), pair(b)),
          [=](Machine& m) { m.set_mask(d, f.of(m.use_mask(a), m.use_mask(b))); }};
}
inline Op exec_from(unsigned x) {
  return {fmt::format("s_mov_b64 exec, {}", pair(x)), [=](Machine& m) { m.exec = m.use_mask(x); }};
}
inline Op exec_constant(bool ones) {
  return {fmt::format("s_mov_b64 exec, {}", ones ? -1 : 0),
          [=](Machine& m) { m.exec = ones ? all_lanes : 0; }};
}
inline Op exec_not() {
  return {"s_not_b64 exec, exec", [](Machine& m) { m.exec = ~m.exec & all_lanes; }};
}
inline Op exec_half(bool high, bool ones) {
  return {fmt::format("s_mov_b32 exec_{}, {}", high ? "hi" : "lo", ones ? -1 : 0), [=](Machine& m) {
            const uint8_t half = high ? all_lanes ^ low_lanes : low_lanes;
            m.exec = static_cast<uint8_t>(ones ? m.exec | half : m.exec & ~half);
          }};
}
inline Op save(unsigned d) {
  return {fmt::format("s_mov_b64 {}, exec", pair(d)), [=](Machine& m) { m.set_mask(d, m.exec); }};
}
inline Op compare(unsigned d, unsigned a, unsigned b) {
  return {fmt::format("v_cmp_gt_u32_e64 {}, v{}, v{}", pair(d), a, b),
          [=](Machine& m) {
            m.read_on(m.indexed(a, 1)), m.read_on(m.indexed(b, 2));
            m.set_mask(d, m.any_mask() & m.exec);
          },
          true};
}
inline Op compare_exec(unsigned a, unsigned b) {
  return {fmt::format("v_cmpx_gt_u32_e32 vcc, v{}, v{}", a, b),
          [=](Machine& m) {
            m.read_on(m.indexed(a, 1)), m.read_on(m.indexed(b, 2));
            m.exec = m.any_mask() & m.exec;
          },
          true};
}

// --- scalars and modes ---

inline Op s_mov(unsigned d, unsigned a) {
  return {fmt::format("s_mov_b32 s{}, s{}", d, a),
          [=](Machine& m) { m.step.scalar_reads.set(a), m.step.scalar_writes.set(d); }};
}
inline Op s_cmov(unsigned d, unsigned a) {
  return {fmt::format("s_cmov_b32 s{}, s{}", d, a), [=](Machine& m) {
            if (m.choose(2) == 0) return;
            m.step.scalar_reads.set(a), m.step.scalar_writes.set(d);
          }};
}
inline Op skip_maybe(unsigned s) {
  return {fmt::format("s_setvskip s{}, 0", s),
          [=](Machine& m) { m.step.scalar_reads.set(s), m.skip = m.choose(2) != 0; }};
}
inline Op skip_off() {
  return {"s_setvskip 0, 0", [](Machine& m) { m.skip = false; }};
}
inline Op index_on(unsigned s, uint8_t operands) {
  std::string list;
  for (const auto& [bit, name] : {std::pair{1, "SRC0"}, {2, "SRC1"}, {8, "DST"}})
    if ((operands & bit) != 0) list += (list.empty() ? "" : ",") + std::string(name);
  return {fmt::format("s_set_gpr_idx_on s{}, gpr_idx({})", s, list), [=](Machine& m) {
            m.step.scalar_reads.set(s);
            m.index_operands = operands;
            m.index = static_cast<unsigned>(m.choose(vector_count));
          }};
}
inline Op index_off() {
  return {"s_set_gpr_idx_off", [](Machine& m) { m.index_operands = 0; }};
}
inline Op branch(int target) {
  return {"s_cbranch_scc0", nullptr, false, target};
}
inline Op end() {
  return {"s_endpgm", nullptr};
}

} // namespace asmevo::program::testing
