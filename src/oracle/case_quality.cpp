#include "oracle/case_quality.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace asmevo::oracle {

namespace {

using emulator::AddressSpace;

constexpr uint64_t most_examined = 1 << 22; // bytes of a buffer

bool is_output(const CaseView& v) {
  return v.role == Role::Out || v.role == Role::InOut;
}
bool is_input(const CaseView& v) {
  return v.role == Role::In || v.role == Role::InOut;
}

// Elements of whole bytes, of which at most some megabytes are looked at.
uint64_t examined_places(const CaseView& v) {
  const ElementType& t = v.layout.type();
  if (!t.whole_bytes() || t.bits > 64) return 0;
  return std::min(v.layout.places(), most_examined * 8 / t.bits);
}

uint64_t code_at(const Bytes& bytes, uint64_t place, unsigned size) {
  uint64_t code = 0;
  std::memcpy(&code, bytes.data() + place * size, size);
  return code;
}

Status add_quality(const PreparedCase& c, const CaseView& v, OutputQuality& quality) {
  const ElementType& t = v.layout.type();
  const unsigned size = t.bits / 8;
  Bytes left(examined_places(v) * size), before(left.size());
  ASMEVO_CHECK(c.left().memory().read(v.address, left));
  ASMEVO_CHECK(c.dispatch().before->read(v.address, before));
  const double limit = decode(t, encode(t, std::numeric_limits<double>::max()));
  std::optional<uint64_t> first;
  for (uint64_t place = 0; place < left.size() / std::max(size, 1U); ++place) {
    const uint64_t code = code_at(left, place, size);
    if (code == code_at(before, place, size)) continue; // not written, or to no effect
    if (!first) first = code;
    quality.all_same &= code == *first;
    ++quality.elements;
    const double value = decode(t, code);
    quality.not_finite += std::isfinite(value) ? 0 : 1;
    quality.at_limit += std::abs(value) == limit ? 1 : 0;
  }
  return {};
}

// Every element becomes another one of the buffer's own, so that what is an index stays one. Empty: no two
// elements are different, or there is no telling.
Result<Bytes> resampled(const AddressSpace& memory, const CaseView& v) {
  const unsigned size = v.layout.type().bits / 8;
  const uint64_t places = examined_places(v);
  Bytes now(places * size);
  if (places < 2 || !v.layout.dense()) return Bytes();
  ASMEVO_CHECK(memory.read(v.address, now));
  Bytes other(now.size());
  for (uint64_t place = 0; place < places; ++place)
    std::memcpy(other.data() + place * size, now.data() + random_bits(places, place) % places * size, size);
  if (other == now) return Bytes();
  return other;
}

} // namespace

Result<OutputQuality> output_quality(const PreparedCase& c) {
  OutputQuality quality;
  for (const CaseView& v : c.dispatch().views)
    if (is_output(v) && v.layout.type().is_float() && v.layout.dense())
      ASMEVO_CHECK(add_quality(c, v, quality));
  if (quality.elements < 2) quality.all_same = false; // there are no two to be different
  return quality;
}

Result<std::vector<std::pair<std::string, bool>>> input_influence(const PreparedCase& c) {
  std::vector<std::pair<std::string, bool>> list;
  for (const CaseView& v : c.dispatch().views) {
    if (!is_input(v)) continue;
    ASMEVO_TRY(const Bytes other, resampled(*c.dispatch().before, v));
    if (other.empty()) continue;
    auto before = std::make_shared<AddressSpace>(c.dispatch().before->fork());
    ASMEVO_CHECK(before->write(v.address, other));
    Case changed = c.dispatch();
    changed.before = before;
    CaseRunOptions options;
    options.workgroups = c.sample();
    options.threads = 1;
    options.most_instructions = 16 * c.instructions() + 1'000'000;
    ASMEVO_TRY(const CaseRun again, run_case(changed, c.k0(), options));
    if (!again.outcome.completed()) continue;
    bool moved = false;
    for (const CaseView& out : c.dispatch().views) {
      if (out.address == v.address || !c.left().wrote_near(out.address, out.layout.bytes())) continue;
      Bytes a(std::min(out.layout.bytes(), most_examined)), b(a.size());
      ASMEVO_CHECK(c.left().memory().read(out.address, a));
      ASMEVO_CHECK(again.memory().read(out.address, b));
      moved |= a != b;
    }
    // What is read and written in one place moves by itself; it must not come out as it went in.
    if (v.role == Role::InOut) {
      Bytes b(other.size());
      ASMEVO_CHECK(again.memory().read(v.address, b));
      moved |= b != other;
    }
    list.emplace_back(v.name, moved);
  }
  return list;
}

} // namespace asmevo::oracle
