// A thin skin over SQLite: statements with bound values, errors as Results.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

struct sqlite3;

namespace asmevo::run {

using Value = std::variant<std::nullptr_t, int64_t, double, std::string>;
using Row = std::vector<Value>;

class Database {
 public:
  /// Environment where it cannot be opened, BadInput where the file is no database. In WAL mode: what was
  /// committed survives the process at any moment, and others may read while one writes. To read, also where
  /// nothing may be written beside it: then from a copy.
  static Result<Database> open(const std::filesystem::path&, bool write);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  /// One statement; values for its question marks.
  Status run(const std::string& sql, const std::vector<Value>& values = {});
  Result<std::vector<Row>> rows(const std::string& sql, const std::vector<Value>& values = {}) const;

 private:
  explicit Database(sqlite3* handle) : handle_(handle) {}
  static Result<Database> open_to_read(const std::filesystem::path&);
  static Result<Database> open_copy(const std::filesystem::path&);
  Status each(const std::string& sql, const std::vector<Value>& values,
              const std::function<void(Row)>& row) const;
  sqlite3* handle_ = nullptr;
  std::string name_;           // for messages
  std::filesystem::path copy_; // a folder that goes with this object; empty: none
};

int64_t as_integer(const Value&);
double as_number(const Value&);
std::string as_text(const Value&);

} // namespace asmevo::run
