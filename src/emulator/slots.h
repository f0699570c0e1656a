// What RunOptions::observer asks for: something for each slot, made when it is first asked for, from any
// thread.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace asmevo::emulator {

template <class T>
class Slots {
 public:
  /// `make`: a std::shared_ptr<T>.
  template <class Make>
  T& at(size_t slot, Make make) {
    const std::scoped_lock lock(mutex_);
    if (slot >= made_.size()) made_.resize(slot + 1);
    if (!made_[slot]) made_[slot] = make();
    return *made_[slot];
  }
  /// Calls f(T&) for all there are. Not while a run asks for more.
  template <class F>
  void for_each(F f) const {
    for (const auto& t : made_)
      if (t) f(*t);
  }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<T>> made_;
};

} // namespace asmevo::emulator
