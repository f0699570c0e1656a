#include "profile/import_fixture.h"

#include <sqlite3.h>

namespace asmevo::profile {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using timing::Stall;

constexpr uint64_t delta = 0x7f0000200000;
constexpr std::string_view uuid = "_00004e5f_1b2c_7d3e_9f40_5a6b7c8d9e0f";

// "{}" in SQL stands for the tables' uuid.
void run(sqlite3* db, std::string sql) {
  for (size_t at = sql.find("{}"); at != std::string::npos; at = sql.find("{}", at)) sql.replace(at, 2, uuid);
  char* error = nullptr;
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK) << sql << ": " << error;
  sqlite3_free(error);
}

constexpr std::string_view schema = R"(
CREATE TABLE "rocpd_metadata{}" (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
CREATE TABLE "rocpd_info_agent{}" (id INTEGER PRIMARY KEY, type TEXT, name TEXT);
CREATE TABLE "rocpd_info_code_object{}" (id INTEGER PRIMARY KEY, uri TEXT, load_base BIGINT, load_size BIGINT,
  load_delta BIGINT, storage_type TEXT, extdata JSONB);
CREATE TABLE "rocpd_info_kernel_symbol{}" (id INTEGER PRIMARY KEY, code_object_id INTEGER, kernel_name TEXT,
  display_name TEXT, kernel_object INTEGER, extdata JSONB);
CREATE TABLE "rocpd_kernel_dispatch{}" (id INTEGER PRIMARY KEY, kernel_id INTEGER, dispatch_id INTEGER, event_id INTEGER);
CREATE TABLE "rocpd_info_pmc{}" (id INTEGER PRIMARY KEY, name TEXT, symbol TEXT);
CREATE TABLE "rocpd_pmc_event{}" (id INTEGER PRIMARY KEY, event_id INTEGER, pmc_id INTEGER, value REAL);
INSERT INTO "rocpd_metadata{}" (tag, value) VALUES ('schema_version', '3');
INSERT INTO "rocpd_info_agent{}" (type, name) VALUES ('CPU', 'AMD EPYC'), ('GPU', 'gfx942');
INSERT INTO "rocpd_kernel_dispatch{}" VALUES (1, 7, 1, 11), (2, 8, 2, 12), (3, 7, 3, 13);
INSERT INTO "rocpd_info_pmc{}" VALUES (1, 'SQ_WAVES', 'SQ_WAVES'), (2, 'GRBM_COUNT', 'GRBM_COUNT');
)";

class RocpdFile {
 public:
  explicit RocpdFile(const Folder& folder) : path_(folder.path() / "1_results.db") {
    EXPECT_EQ(sqlite3_open(path_.c_str(), &db_), SQLITE_OK);
    run(db_, "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY");
    run(db_, std::string(schema));
    const KernelListing& l = reduce().listing;
    sql(fmt::format(
        "INSERT INTO \"rocpd_info_code_object{{}}\" VALUES (3, 'memory://1', {0}, 16384, {0}, NULL, "
        "'{{\"memory_size\": {1}}}')",
        delta, l.object_bytes));
    sql(fmt::format(
        "INSERT INTO \"rocpd_info_kernel_symbol{{}}\" VALUES (7, 3, 'reduce_lds.kd', 'reduce_lds', {}, "
        "'{{\"kernel_address\": {{\"handle\": {}}}}}'), (8, 3, 'histogram.kd', 'histogram', 5, '')",
        delta + l.descriptor, delta + l.entry));
  }
  ~RocpdFile() { sqlite3_close(db_); }
  RocpdFile(const RocpdFile&) = delete;
  RocpdFile& operator=(const RocpdFile&) = delete;

  void sql(const std::string& text) { run(db_, text); }
  void samples() {
    sql("CREATE TABLE \"rocpd_gpu_pc_sample{}\" (id INTEGER PRIMARY KEY, dispatch_id INTEGER, code_object_id "
        "INTEGER, "
        "code_object_offset INTEGER, wave_issued INTEGER, stall_reason INTEGER)");
  }
  void sample(size_t instruction, int dispatch, const std::string& rest) {
    sql(fmt::format(
        "INSERT INTO \"rocpd_gpu_pc_sample{{}}\" (dispatch_id, code_object_id, code_object_offset, "
        "wave_issued, stall_reason) VALUES ({}, 3, {}, {})",
        dispatch, reduce().address(instruction), rest));
  }
  void counters() {
    sql("INSERT INTO \"rocpd_pmc_event{}\" (event_id, pmc_id, value) VALUES (11, 1, 16), (11, 2, 1000), (12, "
        "1, 5), "
        "(13, 1, 4)");
  }
  std::filesystem::path close() {
    sqlite3_close(db_);
    db_ = nullptr;
    return path_;
  }

 private:
  std::filesystem::path path_;
  sqlite3* db_ = nullptr;
};

TEST(Rocpd, Counters) {
  const Folder folder;
  RocpdFile file(folder);
  file.counters();
  const auto path = file.close();
  const ImportedProfile p = imported(path);
  EXPECT_EQ(p.format, ImportFormat::Rocpd);
  EXPECT_EQ(p.profile.origin, Origin::Counters);
  EXPECT_THAT(p.profile.counters, ElementsAre(Pair("GRBM_COUNT", 1000), Pair("SQ_WAVES", 20)));
  EXPECT_EQ(p.dispatches, 2U);
  EXPECT_THAT(imported(path, reduce(), 3).profile.counters, ElementsAre(Pair("SQ_WAVES", 4)));
  EXPECT_THAT(refusal(path, reduce(), 2), HasSubstr("no dispatch 2 of reduce_lds"));
}

TEST(Rocpd, StochasticSamplesByTheKernelsSymbols) {
  const Folder folder;
  RocpdFile file(folder);
  file.samples();
  file.counters();
  const size_t wait = reduce().find("s_waitcnt vmcnt(0)");
  file.sample(wait, 1, "0, 3");
  file.sample(wait, 3, "0, 3");
  file.sample(wait + 1, 1, "1, 0");
  file.sample(wait + 1, 2, "1, 0");
  file.sample(wait + 1, 1, "0, 42");
  const ImportedProfile p = imported(file.close());
  EXPECT_EQ(p.profile.origin, Origin::Stochastic);
  EXPECT_EQ(p.bound, BoundBy::Address);
  EXPECT_EQ(stalled(time_at(p, reduce().address(wait)), Stall::Waitcnt), 2);
  EXPECT_EQ(time_at(p, reduce().address(wait + 1)).busy, 1);
  EXPECT_EQ(time_at(p, reduce().address(wait + 1)).unexplained, 1);
  EXPECT_EQ(p.profile.counters.at("SQ_WAVES"), 20);
  EXPECT_THAT(all_notes(p), HasSubstr("bound by the addresses of the kernel's symbols"));
  EXPECT_THAT(all_notes(p), HasSubstr("unknown stall reason '42'"));
}

TEST(Rocpd, HostTrapSamples) {
  const Folder folder;
  RocpdFile file(folder);
  file.samples();
  const size_t wait = reduce().find("s_waitcnt vmcnt(0)");
  file.sample(wait + 1, 1, "NULL, NULL");
  const ImportedProfile p = imported(file.close());
  EXPECT_EQ(p.profile.origin, Origin::HostTrap);
  EXPECT_EQ(time_at(p, reduce().address(wait)).unexplained, 1);
}

TEST(Rocpd, TextsBindAnotherObjectsCopy) {
  const Folder folder;
  RocpdFile file(folder);
  file.samples();
  file.sql("CREATE TABLE \"rocpd_disassembly_data{}\" (code_object_id INTEGER, code_object_offset INTEGER, "
           "instruction "
           "TEXT)");
  for (size_t n = 0; n < 30; ++n) {
    file.sql(fmt::format("INSERT INTO \"rocpd_disassembly_data{{}}\" VALUES (3, {}, '{}')",
                         reduce().address(n) + 0x80, reduce().texts[n]));
    file.sql(fmt::format(
        "INSERT INTO \"rocpd_gpu_pc_sample{{}}\" (dispatch_id, code_object_id, code_object_offset, "
        "wave_issued, stall_reason) VALUES (1, 3, {}, 1, 0)",
        reduce().address(n) + 0x80));
  }
  const ImportedProfile p = imported(file.close());
  EXPECT_EQ(p.bound, BoundBy::Text);
  EXPECT_EQ(p.profile.total(), 30);
}

TEST(Rocpd, AnotherObject) {
  const Folder folder;
  {
    RocpdFile file(folder);
    file.samples();
    file.sample(0, 1, "1, 0");
    file.sql("UPDATE \"rocpd_info_kernel_symbol{}\" SET kernel_object = kernel_object + 64 WHERE id = 7");
    EXPECT_THAT(refusal(file.close()),
                HasSubstr("recorded with another object: reduce_lds has its descriptor at"));
  }
  std::filesystem::remove(folder.path() / "1_results.db");
  RocpdFile file(folder);
  file.samples();
  file.sample(0, 1, "1, 0");
  file.sql("UPDATE \"rocpd_info_code_object{}\" SET extdata = '{\"memory_size\": 5}'");
  EXPECT_THAT(refusal(file.close()), HasSubstr("memory://1 has 5 bytes"));
}

TEST(Rocpd, BrokenFiles) {
  const Folder folder;
  const auto with = [&](const std::string& change) {
    std::filesystem::remove(folder.path() / "1_results.db");
    RocpdFile file(folder);
    file.samples();
    file.counters();
    file.sample(0, 1, "1, 0");
    file.sql(change);
    return refusal(file.close());
  };
  EXPECT_THAT(with("DROP TABLE \"rocpd_metadata{}\""), HasSubstr("not of rocprofv3"));
  EXPECT_THAT(with("DROP TABLE \"rocpd_kernel_dispatch{}\""), HasSubstr("no table rocpd_kernel_dispatch"));
  EXPECT_THAT(with("UPDATE \"rocpd_info_agent{}\" SET name = 'gfx90a'"), HasSubstr("recorded on gfx90a"));
  EXPECT_THAT(with("UPDATE \"rocpd_gpu_pc_sample{}\" SET code_object_offset = 'x'"),
              HasSubstr("code_object_offset is not a whole number"));
  EXPECT_THAT(with("UPDATE \"rocpd_pmc_event{}\" SET value = -1"),
              HasSubstr("value is not a number of 0 or more"));
  EXPECT_THAT(with("UPDATE \"rocpd_pmc_event{}\" SET value = 9e999"),
              HasSubstr("value is not a number of 0 or more"));
  EXPECT_THAT(with("UPDATE \"rocpd_info_kernel_symbol{}\" SET kernel_name = '', display_name = 'x'"),
              HasSubstr("no kernel reduce_lds in it; it has x"));
  EXPECT_THAT(with("DELETE FROM \"rocpd_gpu_pc_sample{}\"; DELETE FROM \"rocpd_pmc_event{}\""),
              HasSubstr("neither PC samples nor counters of reduce_lds"));
  EXPECT_THAT(with("ALTER TABLE \"rocpd_gpu_pc_sample{}\" DROP COLUMN stall_reason"),
              HasSubstr("stall_reason"));
}

TEST(Rocpd, CutOffAndFalseFiles) {
  const Folder folder;
  RocpdFile file(folder);
  file.counters();
  const auto whole = read_file(file.close());
  ASSERT_TRUE(whole);
  for (size_t n = 16; n < whole->size(); n += 2048)
    refusal(folder.write("cut.db", as_text(ByteSpan(*whole).first(n))));
  std::string noise(as_text(*whole));
  for (size_t n = 100; n < noise.size(); n += 7) noise[n] = static_cast<char>(n * 31);
  refusal(folder.write("noise.db", noise));
}

TEST(Rocpd, MergedRuns) {
  const Folder folder;
  RocpdFile file(folder);
  file.sql("CREATE TABLE \"rocpd_metadata_2\" (id INTEGER)");
  const auto result = import(file.close());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::Unsupported);
  EXPECT_THAT(result.error().message, HasSubstr("2 runs merged"));
}

} // namespace
} // namespace asmevo::profile
