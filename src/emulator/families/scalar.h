// How a scalar ALU instruction is written: as a function of its sources, with or without SCC.
#pragma once

#include "emulator/opcode_table.h"
#include "emulator/wave.h"

#include <tuple>
#include <type_traits>
#include <utility>

namespace asmevo::emulator {

namespace detail {

template <class R, class... A>
struct ScalarSignature {
  using Result = R;
  using Arguments = std::tuple<A...>;
};
template <class R, class... A>
ScalarSignature<R, A...> scalar_signature(R (*)(A...));
template <class R, class... A>
ScalarSignature<R, A...> scalar_signature(R (*)(bool&, A...)); // reads and writes SCC

template <class T>
T scalar_source(const Wave& wave, const Place& p) {
  if constexpr (sizeof(T) == 8)
    return static_cast<T>(wave.scalar64(p));
  else
    return static_cast<T>(wave.scalar32(p));
}

template <class T>
void write_scalar(Wave& wave, const Place& to, T value) {
  if constexpr (sizeof(T) == 8)
    wave.set_pair(to.index, static_cast<uint64_t>(value));
  else
    wave.scalars[to.index] = static_cast<uint32_t>(value);
}

template <auto F, class S, size_t... I, class Call>
auto call_scalar(const Wave& wave, const MicroOp& op, std::index_sequence<I...>, Call call) {
  return call(scalar_source<std::tuple_element_t<I, typename S::Arguments>>(wave, op.source[I])...);
}

template <auto F, class Call>
auto with_sources(const Wave& wave, const MicroOp& op, Call call) {
  using S = decltype(scalar_signature(+F));
  return call_scalar<F, S>(wave, op, std::make_index_sequence<std::tuple_size_v<typename S::Arguments>>(),
                           call);
}

} // namespace detail

/// result = F(sources); SCC stays.
template <auto F>
void scalar(Wave& wave, const MicroOp& op) {
  detail::write_scalar(wave, op.result, detail::with_sources<F>(wave, op, [](auto... a) { return F(a...); }));
}

/// The same, and SCC = result is not 0.
template <auto F>
void scalar_nonzero(Wave& wave, const MicroOp& op) {
  const auto result = detail::with_sources<F>(wave, op, [](auto... a) { return F(a...); });
  detail::write_scalar(wave, op.result, result);
  wave.scc() = result != 0 ? 1 : 0;
}

/// result = F(scc, sources), where F reads and writes `scc`.
template <auto F>
void scalar_carry(Wave& wave, const MicroOp& op) {
  bool scc = wave.scc() != 0;
  const auto result = detail::with_sources<F>(wave, op, [&](auto... a) { return F(scc, a...); });
  detail::write_scalar(wave, op.result, result);
  wave.scc() = scc ? 1 : 0;
}

/// SCC = F(sources).
template <auto F>
void scalar_compare(Wave& wave, const MicroOp& op) {
  wave.scc() = detail::with_sources<F>(wave, op, [](auto... a) { return F(a...); }) ? 1 : 0;
}

} // namespace asmevo::emulator
