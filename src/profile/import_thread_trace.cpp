// What rocprofv3 --att writes for each traced dispatch: stats_*.csv, and the same as ui_output_*/code.json.
// Rows are in the order of code object and address; a row "; name" stands in front of a kernel's first
// instruction.
#include "base/csv.h"
#include "profile/importers.h"
#include "profile/json_stream.h"
#include "profile/profile_builder.h"

#include <algorithm>
#include <array>
#include <set>

namespace asmevo::profile {

namespace {

constexpr size_t most_rows = 4 << 20, most_text_bytes = 256 << 20;
constexpr double most_count = 9007199254740992.0; // 2^53

struct Row {
  uint64_t code_object = 0, address = 0;
  std::string text, source;
  double hits = 0, latency = 0, stall = 0, idle = 0;
  bool kernel() const { return text.starts_with(";"); }
};

class Importer {
 public:
  Importer(std::string file, ImportFormat format, const ImportRequest& request)
      : file_(std::move(file)), request_(request), listing_(request.listing),
        builder_(listing_, Origin::ThreadTrace, format, file_) {}

  Status add(Row row) {
    if (rows_.size() == most_rows) return bad_input("more than {} instructions", most_rows);
    text_bytes_ += row.text.size() + row.source.size();
    if (text_bytes_ > most_text_bytes) return bad_input("more than {} bytes of text", most_text_bytes);
    rows_.push_back(std::move(row));
    return {};
  }

  Result<ImportedProfile> run() {
    if (rows_.empty())
      return bad_input("{}: no instructions in it: the trace holds no wave of a known code object", file_);
    ASMEVO_CHECK(check_gpus(file_, request_.gpus, listing_));
    std::ranges::stable_sort(rows_, {}, [](const Row& r) { return std::pair(r.code_object, r.address); });
    if (std::ranges::none_of(rows_, [](const Row& r) { return r.hits > 0; }))
      return bad_input("{}: no instruction was hit: the trace holds no wave", file_);
    ASMEVO_TRY(const uint64_t object, choose_object());
    ASMEVO_TRY(const int64_t shift, bind(object));
    place(object, shift);
    if (placed_ == 0) return bad_input("{}: no instruction of {} was hit", file_, listing_.kernel.symbol());
    say();
    return builder_.finish();
  }

 private:
  static std::string_view kernel_name(const Row& row) {
    std::string_view name = std::string_view(row.text).substr(1);
    name.remove_prefix(std::min(name.find_first_not_of(' '), name.size()));
    return name;
  }
  NameMatch match(const Row& row) const {
    return std::max(listing_.kernel.match(kernel_name(row)), listing_.kernel.match(row.source));
  }

  // The code object that has our kernel. Where the file names no kernels, there must be only one object.
  Result<uint64_t> choose_object() {
    std::set<uint64_t> objects, ours;
    std::set<std::string> names;
    for (const Row& r : rows_) {
      if (r.code_object != 0) objects.insert(r.code_object);
      if (!r.kernel()) continue;
      names.emplace(kernel_name(r));
      if (match(r) == NameMatch::Full) ours.insert(r.code_object);
    }
    if (request_.code_object && objects.contains(*request_.code_object)) return *request_.code_object;
    if (ours.size() > 1)
      return bad_input("{}: {} code objects in it have a kernel {}", file_, ours.size(),
                       listing_.kernel.symbol());
    if (ours.size() == 1) return *ours.begin();
    if (!names.empty())
      return bad_input("{}: no kernel {} in it; it has {}", file_, listing_.kernel.symbol(),
                       some_of({names.begin(), names.end()}));
    if (objects.size() != 1)
      return bad_input("{}: it names no kernels, and has instructions of {} code objects", file_,
                       objects.size());
    return *objects.begin();
  }

  // The instructions of one object that stand behind our kernel's row, up to the next kernel's.
  std::vector<TextAt> texts_of(uint64_t object) const {
    std::vector<TextAt> own, all;
    bool inside = false;
    for (const Row& r : rows_) {
      if (r.code_object != object) continue;
      if (r.kernel()) {
        inside = match(r) == NameMatch::Full;
        continue;
      }
      all.push_back({r.address, r.text});
      if (inside) own.push_back({r.address, r.text});
    }
    return own.empty() ? all : own;
  }

  Result<int64_t> bind(uint64_t object) {
    const std::vector<TextAt> texts = texts_of(object);
    const TextMatch here = match_texts(listing_, texts);
    const size_t all = here.same + here.different;
    const bool hash = request_.same_object && request_.code_object == object;
    if (here.good() || (hash && here.same > here.different)) {
      builder_.result().bound = hash ? BoundBy::Hash : BoundBy::Address;
      builder_.note(
          fmt::format("bound by {}: {} of {} instructions read as in the object",
                      hash ? "the code object beside the trace, which is this one byte for byte" : "address",
                      here.same, all));
      note_different(here);
      return 0;
    }
    const auto shift = find_shift(listing_, texts);
    const TextMatch moved = shift ? match_texts(listing_, texts, *shift) : TextMatch();
    if (!shift || !moved.good() || moved.same < 2)
      return other_object_error(file_, listing_, here, "instruction");
    builder_.result().bound = BoundBy::Text;
    builder_.note(moved_note(moved, *shift, "instruction"));
    note_different(moved);
    return *shift;
  }

  void note_different(const TextMatch& m) {
    if (std::string text = different_note(m); !text.empty()) builder_.note(std::move(text));
  }

  void place(uint64_t object, int64_t shift) {
    for (const Row& r : rows_) {
      if (r.kernel()) continue;
      const double cycles = r.latency + r.idle;
      const auto at =
          r.code_object == object ? listing_.at(r.address - static_cast<uint64_t>(shift)) : std::nullopt;
      if (!at) {
        if (r.code_object == 0) unresolved_ += r.hits;
        if (r.code_object == 0) builder_.unplaced(cycles);
        if (r.code_object != 0 && r.hits > 0) ++others_;
        continue;
      }
      placed_ += r.hits;
      add_times(builder_.at(*at), r);
      const ListedInstruction& i = listing_.instructions[*at];
      if (i.address == listing_.entry) entered_ += r.hits;
      if (i.text == "s_endpgm") ended_ += r.hits;
    }
  }

  void add_times(InstructionTime& time, const Row& r) {
    time.issues += r.hits;
    if (r.stall > r.latency) ++odd_;
    time.busy += std::max(0.0, r.latency - r.stall);
    time.unexplained += std::min(r.stall, r.latency) + r.idle;
  }

  void say() {
    builder_.note("a thread trace gives no reasons: stalled and idle cycles are unexplained");
    if (entered_ > ended_)
      builder_.note(
          fmt::format("records are lost: {} begin in the trace, {:.0f} end; trace less or give a larger "
                      "--att-buffer-size",
                      counted(entered_, "wave"), ended_));
    if (unresolved_ > 0)
      builder_.note(fmt::format("records are lost: {} that the decoder gave no code object",
                                counted(unresolved_, "instruction")));
    if (others_ > 0)
      builder_.note(fmt::format("{} of other kernels left out", counted(others_, "instruction")));
    if (odd_ > 0)
      builder_.note(fmt::format("{} with more stalled cycles than cycles", counted(odd_, "instruction")));
    builder_.result().dispatches = 1;
  }

  std::string file_;
  const ImportRequest& request_;
  const KernelListing& listing_;
  ProfileBuilder builder_;
  std::vector<Row> rows_;
  size_t text_bytes_ = 0;
  double placed_ = 0, entered_ = 0, ended_ = 0, unresolved_ = 0, others_ = 0, odd_ = 0;
};

Result<Row> csv_row(const CsvReader& csv, std::span<const size_t> columns) {
  Row row;
  ASMEVO_TRY(row.code_object, csv.id(columns[0]));
  ASMEVO_TRY(row.address, csv.id(columns[1]));
  row.text = csv.field(columns[2]);
  ASMEVO_TRY(row.hits, csv.count(columns[3]));
  ASMEVO_TRY(row.latency, csv.count(columns[4]));
  ASMEVO_TRY(row.stall, csv.count(columns[5]));
  ASMEVO_TRY(row.idle, csv.count(columns[6]));
  if (row.kernel()) row.source = csv.field(columns[7]);
  return row;
}

// The columns of a row of code.json by default; a header that names them otherwise is obeyed.
constexpr std::array<std::string_view, 10> code_columns = {"ISA",   "_",   "LineNumber", "Source", "Codeobj",
                                                           "Vaddr", "Hit", "Latency",    "Stall",  "Idle"};

Result<Row> json_row(const Json& j) {
  if (!j.is_array() || j.size() != code_columns.size())
    return bad_input("not a row of {} fields", code_columns.size());
  if (!j[0].is_string()) return bad_input("ISA is not a text");
  const auto number = [&](size_t column) -> Result<uint64_t> {
    if (j[column].is_number_unsigned()) return j[column].get<uint64_t>();
    return bad_input("{} is {}, not a whole number", code_columns[column],
                     printable(j[column].dump(-1, ' ', true, Json::error_handler_t::replace), 40));
  };
  const auto count = [&](size_t column) -> Result<double> {
    ASMEVO_TRY(const uint64_t value, number(column));
    const auto amount = static_cast<double>(value);
    if (amount > most_count) return bad_input("{} is {}, which is no count", code_columns[column], value);
    return amount;
  };
  Row row;
  row.text = j[0].get<std::string>();
  if (row.kernel() && j[3].is_string()) row.source = j[3].get<std::string>();
  ASMEVO_TRY(row.code_object, number(4));
  ASMEVO_TRY(row.address, number(5));
  ASMEVO_TRY(row.hits, count(6));
  ASMEVO_TRY(row.latency, count(7));
  ASMEVO_TRY(row.stall, count(8));
  ASMEVO_TRY(row.idle, count(9));
  return row;
}

Status check_header(const Json& header) {
  if (!header.is_string()) return bad_input("not a text");
  const auto& text = header.get_ref<const std::string&>();
  std::string expected;
  for (const std::string_view c : code_columns)
    expected += fmt::format("{}{}", expected.empty() ? "" : ", ", c);
  if (same_word(text, expected)) return {};
  return bad_input("'{}', where '{}' is expected", printable(text, 120), expected);
}

} // namespace

Result<ImportedProfile> import_thread_trace_csv(TextSource source, const ImportRequest& request) {
  ASMEVO_TRY(CsvReader csv, CsvReader::open(std::move(source)));
  std::array<size_t, 8> columns{};
  constexpr std::array<std::string_view, 8> names = {"Codeobj", "Vaddr", "Instruction", "Hitcount",
                                                     "Latency", "Stall", "Idle",        "Source"};
  for (size_t c = 0; c < names.size(); ++c) {
    ASMEVO_TRY(columns[c], csv.needed(names[c]));
  }
  Importer importer(csv.name(), ImportFormat::ThreadTraceCsv, request);
  for (;;) {
    ASMEVO_TRY(const bool more, csv.next());
    if (!more) break;
    ASMEVO_TRY(Row row, csv_row(csv, columns));
    if (const Status added = importer.add(std::move(row)); !added) return csv.wrong(added.error().message);
  }
  if (csv.rows() == 0)
    return bad_input("{}: nothing but a header: the trace decoder found no instructions", csv.name());
  return importer.run();
}

Result<ImportedProfile> import_code_json(TextSource source, const ImportRequest& request) {
  Importer importer(source.name(), ImportFormat::ThreadTraceJson, request);
  bool any = false;
  const std::array<JsonPart, 2> parts = {{
      {"code[]",
       [&](const Json& j) -> Status {
         any = true;
         ASMEVO_TRY(Row row, json_row(j));
         return importer.add(std::move(row));
       },
       "the trace decoder found no instructions"},
      {"header", check_header, {}},
  }};
  ASMEVO_CHECK(read_json(source, parts));
  if (!any)
    return bad_input("{}: no rows in \"code\": the trace decoder found no instructions", source.name());
  return importer.run();
}

} // namespace asmevo::profile
