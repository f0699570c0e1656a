#include "gate/channel.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace asmevo::gate {

namespace {

constexpr uint32_t most_bytes = 1U << 30;
constexpr int poll_interval = 50; // milliseconds

std::unexpected<Error> gone(const char* what) {
  return environment_error("{}: {}", what, errno == 0 ? "closed" : std::strerror(errno));
}

} // namespace

Channel::~Channel() {
  close();
}

void Channel::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<std::pair<Channel, Channel>> Channel::pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return gone("socketpair");
  return std::pair(Channel(ends[0]), Channel(ends[1]));
}

Status Channel::send(const Json& message) {
  std::vector<uint8_t> bytes(4);
  Json::to_cbor(message, bytes);
  const auto length = static_cast<uint32_t>(bytes.size() - 4);
  if (bytes.size() - 4 > most_bytes) return internal_error("a message of {} bytes", bytes.size());
  std::memcpy(bytes.data(), &length, 4);
  for (size_t sent = 0; sent < bytes.size();) {
    const ssize_t n = ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return gone("send");
    sent += static_cast<size_t>(n);
  }
  return {};
}

Result<bool> Channel::read_exactly(char* into, size_t bytes, const std::function<bool()>& give_up) {
  while (bytes > 0) {
    pollfd ready{fd_, POLLIN, 0};
    const int polled = ::poll(&ready, 1, poll_interval);
    if (polled < 0 && errno != EINTR) return gone("poll");
    if (polled <= 0) {
      if (give_up && give_up()) return false;
      continue;
    }
    errno = 0;
    const ssize_t n = ::read(fd_, into, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return gone("read");
    into += n, bytes -= static_cast<size_t>(n);
  }
  return true;
}

Result<std::optional<Json>> Channel::receive(const std::function<bool()>& give_up) {
  uint32_t length = 0;
  ASMEVO_TRY(const bool some, read_exactly(reinterpret_cast<char*>(&length), 4, give_up));
  if (!some) return std::nullopt;
  if (length > most_bytes) return environment_error("a message of {} bytes", length);
  std::string bytes(length, '\0');
  ASMEVO_TRY(const bool all, read_exactly(bytes.data(), length, give_up));
  if (!all) return std::nullopt;
  Json message = Json::from_cbor(bytes, true, false);
  if (message.is_discarded()) return environment_error("a message that is not CBOR");
  return message;
}

Status Channel::send_descriptor(int descriptor) {
  char byte = 'd';
  iovec data{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data, message.msg_iovlen = 1;
  message.msg_control = control.data(), message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET, header->cmsg_type = SCM_RIGHTS, header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  if (::sendmsg(fd_, &message, MSG_NOSIGNAL) != 1) return gone("sendmsg");
  return {};
}

Result<int> Channel::receive_descriptor() {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data, message.msg_iovlen = 1;
  message.msg_control = control.data(), message.msg_controllen = control.size();
  errno = 0;
  if (::recvmsg(fd_, &message, MSG_CMSG_CLOEXEC) != 1) return gone("recvmsg");
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return environment_error("no descriptor came");
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof(int));
  return descriptor;
}

} // namespace asmevo::gate
