#include "run/database.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace asmevo::run {

namespace {

constexpr int wait_for_others = 10'000; // milliseconds

std::unexpected<Error> complaint(sqlite3* handle, int code, const std::string& file) {
  const char* text = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
  switch (code & 0xff) {
  case SQLITE_NOTADB:
  case SQLITE_CORRUPT:
  case SQLITE_ERROR: // a table or a column that is not there
    return bad_input("{}: not a run of asmevo, or damaged: {}", file, text);
  case SQLITE_FULL: return environment_error("{}: cannot write: the disk is full", file);
  default: return environment_error("{}: {}", file, text);
  }
}

int bind(sqlite3_stmt* s, int at, const Value& v) {
  if (const auto* i = std::get_if<int64_t>(&v)) return sqlite3_bind_int64(s, at, *i);
  if (const auto* d = std::get_if<double>(&v)) return sqlite3_bind_double(s, at, *d);
  if (const auto* t = std::get_if<std::string>(&v))
    return sqlite3_bind_text64(s, at, t->data(), t->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return sqlite3_bind_null(s, at);
}

Row row_of(sqlite3_stmt* s) {
  Row row;
  for (int n = 0; n < sqlite3_column_count(s); ++n) switch (sqlite3_column_type(s, n)) {
    case SQLITE_INTEGER: row.emplace_back(static_cast<int64_t>(sqlite3_column_int64(s, n))); break;
    case SQLITE_FLOAT: row.emplace_back(sqlite3_column_double(s, n)); break;
    case SQLITE_NULL: row.emplace_back(nullptr); break;
    default:
      row.emplace_back(std::string(reinterpret_cast<const char*>(sqlite3_column_text(s, n)),
                                   static_cast<size_t>(sqlite3_column_bytes(s, n))));
    }
  return row;
}

} // namespace

Result<Database> Database::open(const std::filesystem::path& path, bool write) {
  if (!write) return open_to_read(path);
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  Database database(handle);
  database.name_ = path.string();
  if (code != SQLITE_OK) return complaint(handle, code, database.name_);
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, wait_for_others);
  ASMEVO_CHECK(database.run("PRAGMA journal_mode = WAL"));
  ASMEVO_CHECK(database.run("PRAGMA synchronous = NORMAL"));
  return database;
}

// Reading a database in WAL mode wants its shared memory, a file beside it.
Result<Database> Database::open_to_read(const std::filesystem::path& path) {
  sqlite3* handle = nullptr;
  int code = sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE, nullptr);
  Database database(handle);
  database.name_ = path.string();
  if (code == SQLITE_OK) {
    sqlite3_busy_timeout(handle, wait_for_others);
    code = sqlite3_exec(handle, "PRAGMA query_only = 1; SELECT 1 FROM sqlite_master LIMIT 1", nullptr,
                        nullptr, nullptr);
  }
  switch (code & 0xff) {
  case SQLITE_OK: return database;
  case SQLITE_CANTOPEN:
  case SQLITE_READONLY:
  case SQLITE_PERM: return open_copy(path);
  default: return complaint(handle, code, path.string());
  }
}

// With what was written last, which stands in a file of its own until the database is closed.
Result<Database> Database::open_copy(const std::filesystem::path& path) {
  std::error_code none;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(none);
  if (none)
    return environment_error(
        "{}: cannot be written to, and there is no folder for temporary files (TMPDIR) to "
        "copy it to",
        path.string());
  std::string folder = (temporary / "asmevo_run_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr)
    return environment_error("{}: cannot be made: {}", folder, std::strerror(errno));
  Database database(nullptr);
  database.copy_ = folder;
  database.name_ = path.string();
  for (const char* suffix : {"", "-wal"}) {
    const std::string from = path.string() + suffix, to = folder + "/run.sqlite" + suffix;
    std::error_code error;
    if (*suffix != '\0' && !std::filesystem::exists(from, error)) continue;
    if (!std::filesystem::copy_file(from, to, error))
      return environment_error("{}: cannot be read: {}", from, error.message());
    std::filesystem::permissions(to, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write,
                                 error);
  }
  const int code =
      sqlite3_open_v2((folder + "/run.sqlite").c_str(), &database.handle_, SQLITE_OPEN_READWRITE, nullptr);
  if (code != SQLITE_OK) return complaint(database.handle_, code, path.string());
  return database;
}

Database::Database(Database&& o) noexcept
    : handle_(std::exchange(o.handle_, nullptr)), name_(std::move(o.name_)),
      copy_(std::exchange(o.copy_, {})) {}

Database& Database::operator=(Database&& o) noexcept {
  std::swap(handle_, o.handle_);
  std::swap(name_, o.name_);
  std::swap(copy_, o.copy_);
  return *this;
}

Database::~Database() {
  sqlite3_close(handle_);
  std::error_code ignored;
  if (!copy_.empty()) std::filesystem::remove_all(copy_, ignored);
}

Status Database::each(const std::string& sql, const std::vector<Value>& values,
                      const std::function<void(Row)>& row) const {
  sqlite3_stmt* prepared = nullptr;
  int code = sqlite3_prepare_v2(handle_, sql.c_str(), -1, &prepared, nullptr);
  if (code != SQLITE_OK) return complaint(handle_, code, name_);
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(prepared, sqlite3_finalize);
  for (size_t n = 0; n < values.size(); ++n)
    if (code = bind(prepared, static_cast<int>(n + 1), values[n]); code != SQLITE_OK)
      return complaint(handle_, code, name_);
  while ((code = sqlite3_step(prepared)) == SQLITE_ROW)
    if (row) row(row_of(prepared));
  if (code != SQLITE_DONE) return complaint(handle_, code, name_);
  return {};
}

Status Database::run(const std::string& sql, const std::vector<Value>& values) {
  return each(sql, values, {});
}

Result<std::vector<Row>> Database::rows(const std::string& sql, const std::vector<Value>& values) const {
  std::vector<Row> list;
  ASMEVO_CHECK(each(sql, values, [&](Row r) { list.push_back(std::move(r)); }));
  return list;
}

int64_t as_integer(const Value& v) {
  if (const auto* i = std::get_if<int64_t>(&v)) return *i;
  if (const auto* d = std::get_if<double>(&v)) return static_cast<int64_t>(*d);
  return 0;
}

double as_number(const Value& v) {
  if (const auto* d = std::get_if<double>(&v)) return *d;
  return static_cast<double>(as_integer(v));
}

std::string as_text(const Value& v) {
  if (const auto* t = std::get_if<std::string>(&v)) return *t;
  return {};
}

} // namespace asmevo::run
