// Some assembly text ends LLVM's process instead of giving an error (a .fill of negative size), or runs on
// (.set of symbols that double each other). Here that process is a child. It sends back one byte that says
// how it went, then the object or the message.
#include "rebuild/assembler.h"
#include "rebuild/assembly.h"
#include "rebuild/assembly_directives.h"

#include <llvm/Support/ErrorHandling.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace asmevo::rebuild {

namespace {

// Bytes of address space: what the process has anyway, and several times what real text of that length takes
// (30 bytes a character).
constexpr rlim_t memory_base = rlim_t{1} << 30, memory_per_character = 128;
constexpr uint8_t assembled = 0xff; // other values: the ErrorKind

#if defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true; // the sanitizer reserves terabytes of address space
#elif defined(__has_feature)
constexpr bool sanitized = __has_feature(address_sanitizer);
#else
constexpr bool sanitized = false;
#endif

// Seconds of CPU time: real text takes 1 a megabyte, many times that with sanitizers.
rlim_t time_limit(std::string_view text) {
  return (10 + 4 * (text.size() >> 20)) * (sanitized ? 10 : 1);
}

rlim_t memory_limit(std::string_view text) {
  return memory_base + memory_per_character * text.size();
}

bool send(int fd, ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return true;
}

Bytes receive_all(int fd) {
  Bytes bytes;
  std::array<uint8_t, 1 << 16> buffer;
  while (true) {
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return bytes;
    bytes.insert(bytes.end(), buffer.begin(), buffer.begin() + n);
  }
}

void limit(__rlimit_resource resource, rlim_t soft, rlim_t hard) {
  const rlimit limits{soft, hard};
  ::setrlimit(resource, &limits);
}

// However the child ends, it must not run what the parent has registered for its own exit: LLVM calls exit().
constexpr int gave_up = 1, out_of_memory = 2; // exit codes

void end_without_cleaning_up() {
  std::set_new_handler([] { ::_exit(out_of_memory); });
  std::set_terminate([] { ::_exit(gave_up); });
  llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { ::_exit(out_of_memory); });
  llvm::install_fatal_error_handler([](void*, const char* reason, bool) {
    std::fprintf(stderr, "%s\n", reason);
    ::_exit(gave_up);
  });
}

// The child's whole life. What LLVM prints before it aborts goes to `log`.
[[noreturn]] void run_child(std::string_view text, std::string_view file_name, int out, int log) {
  const rlim_t memory = memory_limit(text);
  limit(RLIMIT_CORE, 0, 0);
  limit(RLIMIT_CPU, time_limit(text), time_limit(text) + 1); // SIGXCPU at the first, SIGKILL at the second
  if (!sanitized) limit(RLIMIT_AS, memory, memory);
  ::dup2(log, STDERR_FILENO);
  end_without_cleaning_up();
  const auto object = assemble_relocatable(text, file_name);
  const uint8_t outcome = object ? assembled : static_cast<uint8_t>(object.error().kind);
  const bool sent =
      send(out, {&outcome, 1}) && send(out, object ? ByteSpan(*object) : as_bytes(object.error().message));
  ::_exit(sent ? 0 : gave_up);
}

// "LLVM ERROR: ..." where LLVM said something.
std::string last_words(std::FILE* log) {
  std::array<char, 256> line{};
  const bool read = std::fseek(log, 0, SEEK_SET) == 0 && std::fgets(line.data(), line.size(), log);
  std::string words = read ? line.data() : "";
  while (!words.empty() && (words.back() == '\n' || words.back() == ' ')) words.pop_back();
  return words;
}

std::unexpected<Error> died(std::string_view text, std::string_view file_name, int status, std::FILE* log) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    return bad_input("{}: assembling takes more than {} seconds", file_name, time_limit(text));
  const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  if (killed || (WIFEXITED(status) && WEXITSTATUS(status) == out_of_memory))
    return bad_input("{}: assembling takes more than {} MiB of memory", file_name, memory_limit(text) >> 20);
  const std::string words = last_words(log);
  return bad_input("{}: LLVM's assembler gave up on this text{}{}", file_name, words.empty() ? "" : ": ",
                   words);
}

} // namespace

Result<Bytes> assemble_in_child(std::string_view text, std::string_view file_name) {
  ASMEVO_CHECK(check_directives(text, file_name));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> log(std::tmpfile(), std::fclose);
  int ends[2];
  if (!log || ::pipe(ends) != 0)
    return environment_error("cannot start the assembler: {}", std::strerror(errno));
  std::fflush(nullptr); // or the child would have the parent's unwritten output too
  const pid_t child = ::fork();
  if (child < 0) {
    const int error = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    return environment_error("cannot start the assembler: {}", std::strerror(error));
  }
  if (child == 0) run_child(text, file_name, ends[1], ::fileno(log.get()));
  ::close(ends[1]);
  const Bytes reply = receive_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || reply.empty())
    return died(text, file_name, status, log.get());
  const ByteSpan body = ByteSpan(reply).subspan(1);
  if (reply.front() != assembled)
    return std::unexpected(Error{static_cast<ErrorKind>(reply.front()), std::string(as_text(body))});
  auto linked = link(body);
  if (!linked) return failed(linked.error(), file_name);
  return linked;
}

} // namespace asmevo::rebuild
