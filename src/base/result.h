// How functions of this project fail: they return Result<T>, a std::expected whose error says in one line
// what is wrong and of which kind it is. The kind decides the exit code of the program
// (docs/architecture.md).
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace asmevo {

enum class ErrorKind {
  BadInput,    // the caller's bytes, text or arguments are wrong; exit code 2
  Unsupported, // well-formed, but something this program does not do; exit code 2
  Environment, // the machine lacks something: a file cannot be written, no memory; exit code 3
  Internal,    // a promise of this program's own code does not hold; exit code 3
};

/// One clear line: names the file, the offset or the key that is wrong.
struct Error {
  ErrorKind kind = ErrorKind::Internal;
  std::string message;

  /// The same error with what the caller knows put in front: "context: message".
  Error in(std::string_view context) const { return {kind, fmt::format("{}: {}", context, message)}; }
  int exit_code() const { return kind == ErrorKind::BadInput || kind == ErrorKind::Unsupported ? 2 : 3; }
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

template <class... Args>
std::unexpected<Error> bad_input(fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{ErrorKind::BadInput, fmt::format(format, std::forward<Args>(args)...)});
}
template <class... Args>
std::unexpected<Error> unsupported(fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{ErrorKind::Unsupported, fmt::format(format, std::forward<Args>(args)...)});
}
template <class... Args>
std::unexpected<Error> environment_error(fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{ErrorKind::Environment, fmt::format(format, std::forward<Args>(args)...)});
}
template <class... Args>
std::unexpected<Error> internal_error(fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error{ErrorKind::Internal, fmt::format(format, std::forward<Args>(args)...)});
}
inline std::unexpected<Error> failed(const Error& error) {
  return std::unexpected(error);
}
inline std::unexpected<Error> failed(const Error& error, std::string_view context) {
  return std::unexpected(error.in(context));
}

inline constexpr size_t whole_text = std::string_view::npos;
/// Text from outside, fit for a line of output: control characters as "\x0a", those of Unicode (U+0080 to
/// U+009F) too, so that nothing ends the line or moves a terminal's cursor. Of more than `longest` bytes the
/// first, and "...".
std::string printable(std::string_view text, size_t longest = 80);

/// An error whose message quotes whole texts from outside, as one line of some 1000 bytes.
Error one_line(Error error);

} // namespace asmevo

// ASMEVO_TRY(auto value, expression): binds the value of a Result or returns its error from the calling
// function.
#define ASMEVO_CONCAT_(a, b) a##b
#define ASMEVO_CONCAT(a, b) ASMEVO_CONCAT_(a, b)
#define ASMEVO_TRY_(tmp, binding, ...)                                                                       \
  auto tmp = (__VA_ARGS__);                                                                                  \
  if (!tmp) return std::unexpected(std::move(tmp).error());                                                  \
  binding = *std::move(tmp)
#define ASMEVO_TRY(binding, ...) ASMEVO_TRY_(ASMEVO_CONCAT(try_result_, __LINE__), binding, __VA_ARGS__)
// ASMEVO_CHECK(expression): the same for a Status, whose value nobody needs.
#define ASMEVO_CHECK(...)                                                                                    \
  do {                                                                                                       \
    if (auto try_status = (__VA_ARGS__); !try_status) return std::unexpected(std::move(try_status).error()); \
  } while (false)
