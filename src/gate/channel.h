// Messages between processes: one JSON value at a time over a socket, as CBOR behind its length. Descriptors
// can be handed over, too.
#pragma once

#include "base/result.h"
#include "gate/outcome.h"

#include <chrono>
#include <functional>

namespace asmevo::gate {

class Channel {
 public:
  Channel() = default;
  explicit Channel(int descriptor) : fd_(descriptor) {}
  Channel(Channel&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  Channel& operator=(Channel&& o) noexcept {
    std::swap(fd_, o.fd_);
    return *this;
  }
  ~Channel();

  /// Two ends. They are closed in programs that are started.
  static Result<std::pair<Channel, Channel>> pair();

  bool open() const { return fd_ >= 0; }
  int descriptor() const { return fd_; }
  void close();

  /// Environment: the other end is gone.
  Status send(const Json&);
  /// Environment: the other end is gone ("closed"). `give_up` is asked several times a second; once it says
  /// true, the answer is nothing.
  Result<std::optional<Json>> receive(const std::function<bool()>& give_up = {});

  Status send_descriptor(int descriptor);
  Result<int> receive_descriptor();

 private:
  Result<bool> read_exactly(char* into, size_t bytes, const std::function<bool()>& give_up);
  int fd_ = -1;
};

} // namespace asmevo::gate
