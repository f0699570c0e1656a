#include "sanitizer/sanitizer.h"

#include "emulator/slots.h"
#include "isa/codec.h"
#include "sanitizer/collector.h"
#include "sanitizer/watcher.h"

#include <algorithm>

namespace asmevo::sanitizer {

class Session::Impl {
 public:
  Impl(const isa::Target& target, Options options)
      : target_(target), options_(std::move(options)), collector_(options_.workgroups) {}

  emulator::Observer* observer(size_t slot) {
    return &watchers_.at(slot, [this] { return std::make_shared<Watcher>(target_, options_, collector_); });
  }

  Result<Defects> take() {
    watchers_.for_each([](Watcher& w) { w.give_up(); });
    Defects list;
    const RawDefects raw = collector_.take();
    if (raw.empty()) return list;
    ASMEVO_TRY(const auto codec, isa::Codec::borrow(target_));
    const auto site = [&](const isa::Instruction* i, uint64_t pc, uint32_t wave, uint64_t workgroup) {
      if (i == nullptr) return Site{};
      return Site{pc, codec->print(*i), std::string(i->base_mnemonic), wave, workgroup};
    };
    for (const auto& [key, d] : raw)
      list.push_back({.kind = key.kind,
                      .rule = key.rule,
                      .possible = key.possible,
                      .first = site(d.first, key.first_pc, d.first_wave, d.first_workgroup),
                      .second = site(d.second, key.second_pc, d.second_wave, d.second_workgroup),
                      .object = d.object,
                      .lane = d.lane,
                      .fix = d.fix,
                      .lacking = d.lacking,
                      .times = d.times});
    std::ranges::stable_sort(list, {}, [](const Defect& d) { return d.second.pc; });
    return list;
  }

 private:
  isa::Target target_;
  Options options_;
  Collector collector_;
  emulator::Slots<Watcher> watchers_;
};

Session::Session(const isa::Target& target, Options options)
    : impl_(std::make_unique<Impl>(target, std::move(options))) {}
Session::~Session() = default;

std::function<emulator::Observer*(size_t)> Session::observers() {
  return [this](size_t slot) { return impl_->observer(slot); };
}

Result<Defects> Session::take() {
  return impl_->take();
}

} // namespace asmevo::sanitizer
