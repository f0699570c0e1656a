#include "emulator/workgroup.h"

#include "base/random.h"
#include "emulator/interpreter.h"

#include <algorithm>
#include <cstring>

namespace asmevo::emulator {

namespace {

constexpr size_t noise_bytes = size_t{1} << 18, noise_piece = size_t{1} << 14;

const uint8_t* noise() {
  static const std::vector<uint32_t> made = [] {
    std::vector<uint32_t> all(noise_bytes / sizeof(uint32_t));
    for (uint32_t i = 0; i < all.size(); ++i) all[i] = noise_bits(i);
    return all;
  }();
  return reinterpret_cast<const uint8_t*>(made.data());
}

// Noise for memory that nobody has written; seed 0: zeros. Put together from pieces of one block of noise,
// since there are 128 KiB of registers to fill for every wave.
void fill_initial_state(uint8_t* bytes, size_t count, uint64_t seed) {
  if (count == 0) return; // no LDS: no place either
  if (seed == 0) {
    std::memset(bytes, 0, count);
    return;
  }
  RandomStream random(seed);
  for (size_t at = 0; at < count; at += noise_piece) {
    const size_t piece = std::min(noise_piece, count - at);
    const size_t from = random.below((noise_bytes - noise_piece) / sizeof(uint32_t)) * sizeof(uint32_t);
    std::memcpy(bytes + at, noise() + from, piece);
  }
}

} // namespace

Workgroup::Workgroup(const Launch& launch, Code& code, AddressSpace& memory, uint64_t scratch_first,
                     uint64_t scratch_offset)
    : launch_(launch), code_(code), memory_(memory), scratch_first_(scratch_first),
      scratch_offset_(scratch_offset), waves_(launch.waves_per_group),
      rows_(std::make_unique_for_overwrite<Row[]>(size_t{launch.waves_per_group} *
                                                  launch.context.allocated_vgprs)),
      lds_(launch.lds_bytes) {}

void Workgroup::start(uint64_t index, uint64_t seed, uint64_t initial_state) {
  index_ = index;
  // Hashed: seeds that follow one another would take their orders from one pool, shared out anew.
  seed_ = seed == 0 || seed == waves_abreast ? seed : RandomStream(seed).next() | 1;
  instructions_ = turn_ = 0;
  counts_.fill(0);
  jumps_back_.clear();
  const std::array<uint32_t, 3> size = workgroup_size(launch_, index);
  active_waves_ = (size[0] * size[1] * size[2] + lanes - 1) / lanes;
  const size_t rows = launch_.context.allocated_vgprs;
  const uint64_t state = initial_state == 0 ? 0 : RandomStream(initial_state + index).next();
  fill_initial_state(reinterpret_cast<uint8_t*>(rows_.get()), active_waves_ * rows * sizeof(Row), state);
  fill_initial_state(lds_.data(), lds_.size(), state);
  restore_scratch();
  for (uint32_t w = 0; w < active_waves_; ++w) {
    Wave& wave = waves_[w];
    wave.vectors = rows_.get() + w * rows;
    wave.workgroup = this;
    wave.memory = &memory_;
    wave.lds = lds_.data();
    wave.lds_bytes = static_cast<uint32_t>(lds_.size());
    wave.counts = counts_.data();
    start_wave(launch_, index, w, scratch_first_, scratch_offset_ + w * scratch_bytes_per_wave(launch_),
               state, wave);
  }
  state_ = State::Running;
}

void Workgroup::observe(Observer* observer) {
  observer_ = observer;
  for (uint32_t w = 0; w < active_waves_; ++w) waves_[w].observer = observer;
  if (observer_ != nullptr && instructions_ == 0) observer_->workgroup_started(*this);
}

// What another workgroup left there must not be seen: results would depend on who ran where.
void Workgroup::restore_scratch() {
  memory_.restore_written(scratch_first_ + scratch_offset_, scratch_bytes_per_wave(launch_) * active_waves_);
}

// The next wave that can run, by a random order that the seed fixes. Seed 0 and abreast: round robin.
Wave* Workgroup::next_wave() {
  uint64_t first = turn_++;
  if (seed_ != 0 && seed_ != waves_abreast)
    first = RandomStream(seed_ ^ (index_ * 0x9e3779b97f4a7c15U) ^ turn_).next();
  for (uint32_t i = 0; i < active_waves_; ++i) {
    Wave& wave = waves_[(first + i) % active_waves_];
    if (wave.state == Wave::State::Running) return &wave;
  }
  return nullptr;
}

void Workgroup::release_barrier() {
  if (observer_ != nullptr) observer_->barrier(*this);
  for (uint32_t w = 0; w < active_waves_; ++w) {
    Wave& wave = waves_[w];
    if (wave.state != Wave::State::AtBarrier) continue;
    wave.state = Wave::State::Running;
    wave.attention &= ~uint32_t{Wave::stopped};
  }
}

void Workgroup::after_run(Wave& wave) {
  if (wave.state == Wave::State::Faulted) {
    state_ = State::Faulted;
    faulting_wave_ = wave.number;
    return;
  }
  if (wave.state == Wave::State::Running) return;
  // The barrier opens when every wave that has not ended is there (CDNA3 ISA, S_BARRIER).
  uint32_t waiting = 0, ended = 0;
  for (uint32_t w = 0; w < active_waves_; ++w) {
    waiting += waves_[w].state == Wave::State::AtBarrier ? 1 : 0;
    ended += waves_[w].state == Wave::State::Ended ? 1 : 0;
  }
  if (ended == active_waves_) {
    state_ = State::Finished;
    if (observer_ != nullptr) observer_->workgroup_ended(*this);
  } else if (waiting + ended == active_waves_) {
    release_barrier();
  }
}

uint64_t Workgroup::run(uint64_t budget) {
  uint64_t done = 0;
  constexpr uint64_t long_turn = 4096, short_turn = 4;
  while (state_ == State::Running && done < budget) {
    Wave* wave = next_wave();
    uint64_t turn = seed_ == waves_abreast ? short_turn : long_turn;
    if (seed_ != 0 && seed_ != waves_abreast) turn = uint64_t{1} << (RandomStream(seed_ + turn_).next() % 12);
    done += run_wave(*wave, code_, std::min(turn, budget - done));
    after_run(*wave);
  }
  instructions_ += done;
  return done;
}

void Workgroup::leave() {
  if (state_ != State::Running) return;
  state_ = State::Finished;
  if (observer_ != nullptr) observer_->workgroup_ended(*this);
}

const Fault& Workgroup::fault() const {
  return waves_[faulting_wave_].fault;
}

void Workgroup::run_watched(uint64_t budget) {
  for (; state_ == State::Running && budget != 0; --budget, ++instructions_) {
    Wave* wave = next_wave();
    const uint64_t before = wave->pc;
    run_wave(*wave, code_, 1);
    if (wave->pc <= before) ++jumps_back_[{wave->pc, before, wave->number}];
    after_run(*wave);
  }
}

Workgroup::Loop Workgroup::find_loop() const {
  Loop loop;
  uint64_t most = 0;
  for (const auto& [jump, times] : jumps_back_)
    if (times > most) {
      most = times;
      loop = {
          .found = true, .wave = std::get<2>(jump), .first = std::get<0>(jump), .last = std::get<1>(jump)};
    }
  if (loop.found) return loop;
  for (uint32_t w = 0; w < active_waves_; ++w)
    if (waves_[w].state == Wave::State::Running)
      return {.found = false, .wave = w, .first = waves_[w].pc, .last = waves_[w].pc};
  return loop;
}

} // namespace asmevo::emulator
