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
  /// committed survives the process at any moment, and others may read while one writes.
  static Result<Database> open(const std::filesystem::path&, bool write);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  /// One statement; values for its question marks.
  Status run(const std::string& sql, const std::vector<Value>& values = {});
  Result<std::vector<Row>> rows(const std::string& sql, const std::vector<Value>& values = {}) const;

 private:
  explicit Database(sqlite3* handle) : handle_(handle) {}
  Status each(const std::string& sql, const std::vector<Value>& values,
              const std::function<void(Row)>& row) const;
  sqlite3* handle_ = nullptr;
};

int64_t as_integer(const Value&);
double as_number(const Value&);
std::string as_text(const Value&);

} // namespace asmevo::run
