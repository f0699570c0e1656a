// Tables of a TOML file read key by key, so that every mistake is named with its line and keys that nobody
// asked for are found. Includes toml++: for oracle/*.cpp only.
#pragma once

#include "base/toml.h"
#include "oracle/launch_spec.h"

#include <set>

namespace asmevo::oracle {

/// One table, and what it is called in messages ("buffer 'x'").
class TomlReader {
 public:
  TomlReader(const toml::table& table, const LaunchSpec& spec, std::string what)
      : table_(table), spec_(spec), what_(std::move(what)) {}

  unsigned line() const { return line_of(table_); }
  void rename(std::string what) { what_ = std::move(what); }
  const std::string& what() const { return what_; }
  bool has(std::string_view key) const { return table_.contains(key); }
  const toml::node* take(std::string_view key) {
    asked_.emplace(key);
    return table_.get(key);
  }

  /// "launch.toml:3: buffer 'x': key: message"
  template <class... Args>
  std::unexpected<Error> error(const toml::node* at, std::string_view key, fmt::format_string<Args...> format,
                               Args&&... args) const {
    return bad_input("{}: {}{}{}: {}", spec_.place(at != nullptr ? line_of(*at) : line()), what_,
                     what_.empty() ? "" : ": ", printable(key),
                     fmt::format(format, std::forward<Args>(args)...));
  }

  Result<std::string> text(std::string_view key, bool required);
  Result<std::string> name(std::string_view key, bool required);
  /// Not given: an empty one.
  Result<Expression> number(std::string_view key, bool required = false);
  Result<std::optional<uint64_t>> natural(std::string_view key, uint64_t most);
  /// A number alone stands for a list of one.
  Result<std::vector<Expression>> numbers(std::string_view key, bool required, size_t most);
  /// The tables of an array of tables; none if absent.
  Result<std::vector<const toml::table*>> tables(std::string_view key, size_t most);
  Result<std::map<std::string, Expression>> map_of_numbers(std::string_view key);
  Result<std::vector<PointerSpec>> pointers(std::string_view key);
  /// The keys nobody took.
  Status finish() const;

  Result<Expression> expression(const toml::node&, std::string_view key) const;

 private:
  const toml::table& table_;
  const LaunchSpec& spec_;
  std::string what_;
  std::set<std::string, std::less<>> asked_;
};

} // namespace asmevo::oracle
