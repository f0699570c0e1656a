// rocprofv3's SQLite databases (rocpd, schema 3): counters, and since 3.0.4 PC samples. Every table's name
// ends with the run's uuid; only tables are read, no views, so that nothing but our own SQL runs.
#include "profile/json_stream.h"
#include "profile/pc_samples.h"
#include "profile/profile_builder.h"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>

namespace asmevo::profile {

namespace {

constexpr int most_value_bytes = 1 << 20;
constexpr int steps_between_looks = 1 << 20;
constexpr int most_looks = 8192; // some 8e9 steps of SQLite's machine: minutes

struct CloseDatabase {
  void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
};
struct CloseStatement {
  void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
};

class Database;

// Rows of one SELECT.
class Rows {
 public:
  Rows(Database& database, std::unique_ptr<sqlite3_stmt, CloseStatement> statement)
      : database_(database), statement_(std::move(statement)) {}
  Result<bool> next();
  bool null(int c) const { return sqlite3_column_type(statement_.get(), c) == SQLITE_NULL; }
  std::string text(int c) const {
    if (sqlite3_column_type(statement_.get(), c) != SQLITE_TEXT) return {};
    const auto* p = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), c));
    return p == nullptr ? std::string()
                        : std::string(p, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), c)));
  }
  // SQLite has signed numbers only: addresses come as they are, in 64 bits.
  Result<int64_t> number(int c) const;
  Result<double> amount(int c) const;
  void bind(int parameter, uint64_t value) {
    sqlite3_bind_int64(statement_.get(), parameter, static_cast<int64_t>(value));
  }

 private:
  std::unexpected<Error> wrong(int c, std::string_view what) const;
  Database& database_;
  std::unique_ptr<sqlite3_stmt, CloseStatement> statement_;
  uint64_t row_ = 0;
};

class Database {
 public:
  static Result<Database> open(const std::filesystem::path& path) {
    Database database;
    database.name_ = printable(path.string(), whole_text);
    sqlite3* db = nullptr;
    // immutable: nothing is written beside it, and no lock is waited for.
    const int opened =
        sqlite3_open_v2(uri(path).c_str(), &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
    database.db_.reset(db);
    if (opened != SQLITE_OK || db == nullptr)
      return environment_error("{}: cannot be opened", database.name_);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, most_value_bytes);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    return database;
  }

  const std::string& name() const { return name_; }

  Result<Rows> select(const std::string& sql) {
    // Set here, since the database has been moved to where it stays.
    looks_ = 0;
    sqlite3_progress_handler(db_.get(), steps_between_looks, &Database::look, this);
    sqlite3_stmt* statement = nullptr;
    const int prepared = sqlite3_prepare_v2(db_.get(), sql.c_str(), -1, &statement, nullptr);
    if (prepared != SQLITE_OK) return failure();
    return Rows(*this, std::unique_ptr<sqlite3_stmt, CloseStatement>(statement));
  }

  std::unexpected<Error> failure() const {
    const int code = sqlite3_errcode(db_.get());
    if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
      return bad_input("{}: a damaged or cut-off SQLite database: {}", name_,
                       printable(sqlite3_errmsg(db_.get())));
    if (code == SQLITE_INTERRUPT) return bad_input("{}: reading it takes too long", name_);
    if (code == SQLITE_NOMEM) return environment_error("{}: no memory to read it", name_);
    return bad_input("{}: {}", name_, printable(sqlite3_errmsg(db_.get()), 200));
  }

  // The names' common end. BadInput: no rocpd database; Unsupported: several in one.
  Status find_suffix() {
    ASMEVO_TRY(Rows rows, select("SELECT name FROM sqlite_master WHERE type = 'table' LIMIT 100000"));
    std::vector<std::string> suffixes;
    for (;;) {
      ASMEVO_TRY(const bool more, rows.next());
      if (!more) break;
      const std::string table = rows.text(0);
      tables_.push_back(table);
      constexpr std::string_view first = "rocpd_metadata";
      if (table.starts_with(first) && harmless(table)) suffixes.push_back(table.substr(first.size()));
    }
    if (suffixes.empty()) return bad_input("{}: a SQLite database, but not of rocprofv3 (rocpd)", name_);
    if (suffixes.size() > 1)
      return unsupported("{}: {} runs merged into one database: import them one by one", name_,
                         suffixes.size());
    suffix_ = suffixes.front();
    return {};
  }

  bool has(std::string_view table) const {
    return std::ranges::find(tables_, std::string(table) + suffix_) != tables_.end();
  }
  /// A table's name for SQL.
  std::string table(std::string_view name) const { return fmt::format("\"{}{}\"", name, suffix_); }

 private:
  static int look(void* database) { return ++static_cast<Database*>(database)->looks_ > most_looks ? 1 : 0; }

  static bool harmless(std::string_view name) {
    return std::ranges::all_of(name, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
             c == '-';
    });
  }

  static std::string uri(const std::filesystem::path& path) {
    std::string out = "file:";
    for (const char c : std::filesystem::absolute(path).string()) {
      const bool plain = harmless(std::string_view(&c, 1)) || c == '/' || c == '.';
      out += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
    }
    return out + "?immutable=1";
  }

  std::string name_, suffix_;
  std::unique_ptr<sqlite3, CloseDatabase> db_;
  std::vector<std::string> tables_;
  int looks_ = 0;
};

Result<bool> Rows::next() {
  const int step = sqlite3_step(statement_.get());
  if (step == SQLITE_DONE) return false;
  if (step != SQLITE_ROW) return database_.failure();
  ++row_;
  return true;
}

std::unexpected<Error> Rows::wrong(int c, std::string_view what) const {
  return bad_input("{}: row {} of the query: {} is not {}", database_.name(), row_,
                   sqlite3_column_name(statement_.get(), c), what);
}

Result<int64_t> Rows::number(int c) const {
  if (sqlite3_column_type(statement_.get(), c) != SQLITE_INTEGER) return wrong(c, "a whole number");
  return sqlite3_column_int64(statement_.get(), c);
}

Result<double> Rows::amount(int c) const {
  const int type = sqlite3_column_type(statement_.get(), c);
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return wrong(c, "a number");
  const double value = sqlite3_column_double(statement_.get(), c);
  if (!std::isfinite(value) || value < 0) return wrong(c, "a number of 0 or more");
  return value;
}

class Importer {
 public:
  Importer(Database database, const ImportRequest& request) : db_(std::move(database)), request_(request) {}

  Result<ImportedProfile> run() {
    ASMEVO_CHECK(db_.find_suffix());
    ASMEVO_CHECK(read_agents());
    ASMEVO_CHECK(read_objects());
    ASMEVO_CHECK(read_kernels());
    ASMEVO_CHECK(read_dispatches());
    ASMEVO_CHECK(check_gpus(db_.name(), samples_.gpus, request_.listing));
    if (db_.has("rocpd_gpu_pc_sample")) ASMEVO_CHECK(read_samples());
    std::map<std::string, double> counters;
    ASMEVO_TRY(counters, read_counters());
    if (samples_.samples.empty()) return counters_only(std::move(counters));
    ASMEVO_TRY(ImportedProfile result, place_samples(samples_, ImportFormat::Rocpd, db_.name(), request_));
    result.profile.counters = std::move(counters);
    return result;
  }

 private:
  Status room(size_t have) const {
    if (have < PcSamples::most_records) return {};
    return bad_input("{}: more than {} records of a kind", db_.name(), PcSamples::most_records);
  }

  Status need(std::string_view table) const {
    if (db_.has(table)) return {};
    return bad_input("{}: no table {}", db_.name(), table);
  }

  Status keep(std::string_view text) {
    if (const Status kept = samples_.keep(text); !kept) return failed(kept.error(), db_.name());
    return {};
  }

  // For every row of a SELECT.
  Status each(const std::string& sql, const std::function<Status(Rows&)>& take) {
    ASMEVO_TRY(Rows rows, db_.select(sql));
    for (;;) {
      ASMEVO_TRY(const bool more, rows.next());
      if (!more) return {};
      ASMEVO_CHECK(take(rows));
    }
  }

  Status read_agents() {
    if (!db_.has("rocpd_info_agent")) return {};
    return each("SELECT name FROM " + db_.table("rocpd_info_agent") + " WHERE type = 'GPU'", [&](Rows& r) {
      if (Status room_left = room(samples_.gpus.size()); !room_left) return room_left;
      samples_.gpus.push_back(r.text(0));
      return keep(samples_.gpus.back());
    });
  }

  // What the columns lack stands in "extdata", as JSON; newer versions compress it, which we do without.
  static Json extra(const std::string& text) {
    if (text.empty()) return {};
    int depth = 0;
    for (const char c : text) {
      depth += c == '{' || c == '[' ? 1 : 0;
      if (depth > static_cast<int>(most_json_depth)) return {};
    }
    return Json::parse(text, nullptr, false);
  }

  Status read_objects() {
    if (!db_.has("rocpd_info_code_object")) return {};
    return each("SELECT id, uri, load_base, load_delta, extdata FROM " + db_.table("rocpd_info_code_object"),
                [&](Rows& r) -> Status {
                  ASMEVO_CHECK(room(samples_.objects.size()));
                  ASMEVO_TRY(const int64_t id, r.number(0));
                  if (r.null(2) || r.null(3)) return {};
                  LoadedObject object;
                  object.uri = r.text(1);
                  ASMEVO_TRY(const int64_t base, r.number(2));
                  object.base = static_cast<uint64_t>(base);
                  ASMEVO_TRY(object.delta, r.number(3));
                  object.bytes = whole_number(extra(r.text(4)), "memory_size").value_or(0);
                  ASMEVO_CHECK(keep(object.uri));
                  samples_.objects[static_cast<uint64_t>(id)] = std::move(object);
                  return {};
                });
  }

  Status read_kernels() {
    ASMEVO_CHECK(need("rocpd_info_kernel_symbol"));
    return each("SELECT id, code_object_id, kernel_name, display_name, kernel_object, extdata FROM " +
                    db_.table("rocpd_info_kernel_symbol"),
                [&](Rows& r) -> Status {
                  ASMEVO_CHECK(room(samples_.kernels.size()));
                  LoadedKernel kernel;
                  ASMEVO_TRY(const int64_t id, r.number(0));
                  ASMEVO_TRY(const int64_t object, r.number(1));
                  kernel.id = static_cast<uint64_t>(id);
                  kernel.code_object = static_cast<uint64_t>(object);
                  kernel.name = r.text(2);
                  kernel.display_name = r.text(3);
                  if (!r.null(4)) {
                    ASMEVO_TRY(const int64_t descriptor, r.number(4));
                    kernel.descriptor = static_cast<uint64_t>(descriptor);
                  }
                  kernel.entry = whole_number(extra(r.text(5)), "kernel_address.handle").value_or(0);
                  ASMEVO_CHECK(keep(kernel.name));
                  ASMEVO_CHECK(keep(kernel.display_name));
                  samples_.kernels.push_back(std::move(kernel));
                  return {};
                });
  }

  Status read_dispatches() {
    ASMEVO_CHECK(need("rocpd_kernel_dispatch"));
    return each(
        "SELECT dispatch_id, kernel_id FROM " + db_.table("rocpd_kernel_dispatch"), [&](Rows& r) -> Status {
          ASMEVO_CHECK(room(samples_.kernel_of_dispatch.size()));
          ASMEVO_TRY(const int64_t dispatch, r.number(0));
          ASMEVO_TRY(const int64_t kernel, r.number(1));
          samples_.kernel_of_dispatch[static_cast<uint64_t>(dispatch)] = static_cast<uint64_t>(kernel);
          return {};
        });
  }

  // With --complete-isa-decode the texts are there, too.
  Status read_texts() {
    if (!db_.has("rocpd_disassembly_data")) return {};
    return each("SELECT code_object_id, code_object_offset, instruction FROM " +
                    db_.table("rocpd_disassembly_data"),
                [&](Rows& r) -> Status {
                  ASMEVO_CHECK(room(samples_.texts.size()));
                  ASMEVO_TRY(const int64_t object, r.number(0));
                  ASMEVO_TRY(const int64_t offset, r.number(1));
                  samples_.text_at[{static_cast<uint64_t>(object), static_cast<uint64_t>(offset)}] =
                      static_cast<int64_t>(samples_.texts.size());
                  samples_.texts.push_back(r.text(2));
                  return keep(samples_.texts.back());
                });
  }

  Status read_samples() {
    ASMEVO_CHECK(read_texts());
    bool host_trap = false, stochastic = false;
    const auto take = [&](Rows& r) -> Status {
      SampleKey key;
      ASMEVO_TRY(const int64_t dispatch, r.number(0));
      ASMEVO_TRY(const int64_t object, r.number(1));
      ASMEVO_TRY(const int64_t offset, r.number(2));
      key.dispatch = static_cast<uint64_t>(dispatch);
      key.code_object = static_cast<uint64_t>(object);
      key.offset = static_cast<uint64_t>(offset);
      (r.null(3) ? host_trap : stochastic) = true;
      if (!r.null(3)) {
        ASMEVO_TRY(const int64_t issued, r.number(3));
        if (issued != 0)
          key.kind = SampleKind::Issued;
        else
          ASMEVO_CHECK(set_reason(key, r));
      }
      if (const Status added = samples_.add(key); !added) return failed(added.error(), db_.name());
      return {};
    };
    ASMEVO_CHECK(
        each("SELECT dispatch_id, code_object_id, code_object_offset, wave_issued, stall_reason FROM " +
                 db_.table("rocpd_gpu_pc_sample"),
             take));
    if (host_trap && stochastic)
      return bad_input("{}: both host-trap and stochastic samples in it", db_.name());
    samples_.origin = host_trap ? Origin::HostTrap : Origin::Stochastic;
    return {};
  }

  // As a number of rocprofiler_pc_sampling_instruction_not_issued_reason_t, whose 1 is our first, or a name.
  Status set_reason(SampleKey& key, const Rows& r) {
    if (const std::string text = r.text(4); !text.empty() || r.null(4)) {
      samples_.set_reason(key, text);
      return {};
    }
    ASMEVO_TRY(const int64_t reason, r.number(4));
    const bool known = reason >= 1 && reason <= static_cast<int64_t>(timing::stall_count);
    samples_.set_reason(key, known ? std::string(timing::name(static_cast<timing::Stall>(reason - 1)))
                                   : fmt::format("{}", reason));
    return {};
  }

  // By kernel id: whether it is ours.
  std::vector<uint64_t> our_kernels() const {
    NameMatch best = NameMatch::None;
    std::vector<uint64_t> ids;
    for (const LoadedKernel& k : samples_.kernels) {
      const auto& name = request_.listing.kernel;
      const NameMatch match = std::max(name.match(k.name), name.match(k.display_name));
      if (match == NameMatch::None || match < best) continue;
      if (match > best) ids.clear();
      best = match;
      ids.push_back(k.id);
    }
    return ids;
  }

  Result<std::map<std::string, double>> read_counters() {
    std::map<std::string, double> counters;
    if (!db_.has("rocpd_pmc_event") || !db_.has("rocpd_info_pmc")) return counters;
    constexpr size_t most_counters = 1 << 16;
    for (const uint64_t kernel : our_kernels()) {
      std::string sql = fmt::format(
          "SELECT p.name, e.value FROM {} e JOIN {} p ON p.id = e.pmc_id JOIN {} d ON "
          "d.event_id = e.event_id WHERE d.kernel_id = ?1",
          db_.table("rocpd_pmc_event"), db_.table("rocpd_info_pmc"), db_.table("rocpd_kernel_dispatch"));
      if (request_.dispatch) sql += " AND d.dispatch_id = ?2";
      ASMEVO_TRY(Rows rows, db_.select(sql));
      rows.bind(1, kernel);
      if (request_.dispatch) rows.bind(2, *request_.dispatch);
      for (;;) {
        ASMEVO_TRY(const bool more, rows.next());
        if (!more) break;
        ASMEVO_TRY(const double amount, rows.amount(1));
        counters[rows.text(0)] += amount;
        if (counters.size() > most_counters)
          return bad_input("{}: more than {} counters", db_.name(), most_counters);
      }
    }
    return counters;
  }

  Result<ImportedProfile> counters_only(std::map<std::string, double> counters) {
    const KernelListing& listing = request_.listing;
    const auto ids = our_kernels();
    if (ids.empty()) {
      std::vector<std::string> names;
      names.reserve(samples_.kernels.size());
      for (const LoadedKernel& k : samples_.kernels)
        names.push_back(k.display_name.empty() ? k.name : k.display_name);
      return bad_input("{}: no kernel {} in it; it has {}", db_.name(), listing.kernel.symbol(),
                       some_of(names));
    }
    uint64_t dispatches = 0;
    for (const auto& [dispatch, kernel] : samples_.kernel_of_dispatch)
      if (std::ranges::find(ids, kernel) != ids.end() &&
          (!request_.dispatch || dispatch == *request_.dispatch))
        ++dispatches;
    if (dispatches == 0 && request_.dispatch)
      return bad_input("{}: no dispatch {} of {}", db_.name(), *request_.dispatch, listing.kernel.symbol());
    if (counters.empty())
      return bad_input("{}: neither PC samples nor counters of {} in it", db_.name(),
                       listing.kernel.symbol());
    ProfileBuilder builder(listing, Origin::Counters, ImportFormat::Rocpd, db_.name());
    builder.note(dispatches == 1 ? "counters are of one dispatch"
                                 : fmt::format("counters are sums over {} dispatches", dispatches));
    builder.result().dispatches = dispatches;
    builder.result().profile.counters = std::move(counters);
    return builder.finish();
  }

  Database db_;
  const ImportRequest& request_;
  PcSamples samples_;
};

} // namespace

Result<ImportedProfile> import_rocpd(const std::filesystem::path& file, const ImportRequest& request) {
  ASMEVO_TRY(Database database, Database::open(file));
  return Importer(std::move(database), request).run();
}

} // namespace asmevo::profile
