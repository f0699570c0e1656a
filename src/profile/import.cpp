#include "profile/import.h"

#include "base/csv.h"
#include "base/files.h"
#include "base/hash.h"
#include "profile/importers.h"
#include "profile/json_stream.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace asmevo::profile {

namespace fs = std::filesystem;

namespace {

constexpr size_t most_files = 1 << 20, most_profiles = 1000; // of a folder
constexpr int deepest_folder = 6;
constexpr uint64_t largest_snapshot = uint64_t{1} << 30;

enum class FileKind : uint8_t {
  Unknown,
  PcSamplingJson,
  CodeJson,
  Rocpd,
  PcSamplingCsv,
  ThreadTraceCsv,
  CounterCsv,
  PmcPerfCsv,
  KernelTrace,
  Agents,
};

FileKind kind_of_csv(const CsvReader& csv) {
  const auto has = [&](std::string_view name) { return csv.column(name).has_value(); };
  if (has("Sample_Timestamp") && has("Instruction")) return FileKind::PcSamplingCsv;
  if (has("Hitcount") && has("Vaddr")) return FileKind::ThreadTraceCsv;
  if (has("Counter_Name") && has("Counter_Value") && has("Kernel_Name")) return FileKind::CounterCsv;
  if (has("Agent_Type") && has("Name")) return FileKind::Agents;
  if (has("Kind") && has("Dispatch_Id") && has("Kernel_Name")) return FileKind::KernelTrace;
  if (has("Dispatch_ID") && has("Kernel_Name") && has("Grid_Size")) return FileKind::PmcPerfCsv;
  return FileKind::Unknown;
}

// By what it contains, whatever its name.
Result<FileKind> kind_of(const fs::path& path) {
  ASMEVO_TRY(TextSource look, TextSource::open(path));
  ASMEVO_TRY(const std::string_view start, look.piece());
  using namespace std::string_view_literals;
  if (start.starts_with("SQLite format 3\0"sv)) return FileKind::Rocpd;
  const size_t first = start.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos)
    return bad_input("{}: nothing but white space in its first {} bytes", look.name(), start.size());
  ASMEVO_TRY(TextSource source, TextSource::open(path));
  if (start[first] == '{') {
    ASMEVO_TRY(const std::string key, first_json_key(source));
    if (key == "rocprofiler-sdk-tool") return FileKind::PcSamplingJson;
    if (key == "code" || key == "header" || key == "version") return FileKind::CodeJson;
    return FileKind::Unknown;
  }
  ASMEVO_TRY(const CsvReader csv, CsvReader::open(std::move(source)));
  return kind_of_csv(csv);
}

bool importable(FileKind kind) {
  return kind != FileKind::Unknown && kind != FileKind::KernelTrace && kind != FileKind::Agents;
}

bool may_be_profile(const fs::path& file) {
  const std::string name = file.filename().string();
  return name == "code.json" || name.ends_with("_results.json") || name == "results.json" ||
         name.ends_with(".db") || name.ends_with(".csv");
}

// The files of a folder and those below it that may be profiles by their names, in order. A thread trace has
// thousands of others, one a wave.
Result<std::vector<fs::path>> files_in(const fs::path& folder) {
  const std::string name = printable(folder.string(), whole_text);
  std::vector<fs::path> files;
  std::error_code error;
  fs::recursive_directory_iterator it(folder, error);
  size_t seen = 0;
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (++seen > most_files) return bad_input("{}: more than {} files", name, most_files);
    if (it.depth() >= deepest_folder) it.disable_recursion_pending();
    std::error_code ignored;
    if (may_be_profile(it->path()) && it->is_regular_file(ignored)) files.push_back(it->path());
    if (files.size() > most_profiles) return bad_input("{}: more than {} profiles", name, most_profiles);
  }
  if (error) return environment_error("{}: {}", name, error.message());
  std::ranges::sort(files);
  return files;
}

// "…_gfx942_code_object_id_3.out": the GPU and the number of a code object that --att wrote out.
struct Snapshot {
  fs::path path;
  std::string gpu;
  uint64_t number = 0;
};

std::optional<Snapshot> snapshot(const fs::path& file) {
  const std::string name = file.filename().string();
  constexpr std::string_view mark = "_code_object_id_";
  const size_t at = name.rfind(mark);
  if (at == std::string::npos || !name.ends_with(".out")) return std::nullopt;
  Snapshot out{file, {}, 0};
  const char* begin = name.data() + at + mark.size();
  const char* end = name.data() + name.size() - 4;
  if (const auto [stop, error] = std::from_chars(begin, end, out.number); error != std::errc() || stop != end)
    return std::nullopt;
  const std::string front = name.substr(0, at);
  out.gpu = front.substr(front.rfind('_') + 1);
  return out;
}

// The number behind the last "dispatch_" of a name.
std::optional<uint64_t> dispatch_in(const std::string& name) {
  constexpr std::string_view mark = "dispatch_";
  const size_t at = name.rfind(mark);
  if (at == std::string::npos) return std::nullopt;
  uint64_t number = 0;
  const char* begin = name.data() + at + mark.size();
  if (std::from_chars(begin, name.data() + name.size(), number).ec != std::errc()) return std::nullopt;
  return number;
}

// Reads one file with what lies beside it.
class FileImport {
 public:
  FileImport(fs::path file, const KernelListing& listing, std::optional<uint64_t> dispatch)
      : file_(std::move(file)), request_{listing, dispatch, {}, {}, false, {}} {}

  Result<ImportedProfile> run(FileKind kind) {
    const std::string name = printable(file_.string(), whole_text);
    switch (kind) {
    case FileKind::PcSamplingJson: return with(import_pc_sampling_json);
    case FileKind::CodeJson: {
      const fs::path folder = fs::absolute(file_).parent_path();
      return thread_trace(folder.filename(), folder.parent_path(), import_code_json);
    }
    case FileKind::Rocpd: return finished(import_rocpd(file_, request_));
    case FileKind::PcSamplingCsv: ASMEVO_CHECK(look_beside()); return with(import_pc_sampling_csv);
    case FileKind::ThreadTraceCsv:
      return thread_trace(file_.filename(), fs::absolute(file_).parent_path(), import_thread_trace_csv);
    case FileKind::CounterCsv: ASMEVO_CHECK(look_beside()); return with(import_counter_csv);
    case FileKind::PmcPerfCsv: return with(import_pmc_perf_csv);
    case FileKind::KernelTrace:
      return bad_input("{}: a kernel trace: it has no time by instruction and no counters", name);
    case FileKind::Agents: return bad_input("{}: a list of agents, no profile", name);
    case FileKind::Unknown: break;
    }
    return bad_input("{}: no profile that is known (docs/profiles.md)", name);
  }

 private:
  using Import = Result<ImportedProfile> (*)(TextSource, const ImportRequest&);

  // Of one dispatch, which only a name tells.
  Result<ImportedProfile> thread_trace(const fs::path& name, const fs::path& folder, Import import) {
    const auto number = dispatch_in(name.string());
    if (request_.dispatch && number && *number != *request_.dispatch)
      return bad_input("{}: a trace of dispatch {}, not of {}", printable(file_.string(), whole_text),
                       *number, *request_.dispatch);
    if (request_.dispatch && !number) hint_ = "nothing tells which dispatch was traced";
    look_for_snapshots(folder);
    return with(import);
  }

  Result<ImportedProfile> with(Import import) {
    ASMEVO_TRY(TextSource source, TextSource::open(file_));
    return finished(import(std::move(source), request_));
  }

  Result<ImportedProfile> finished(Result<ImportedProfile> result) const {
    if (!result) return failed(one_line(result.error()));
    result->files = {file_};
    result->files.insert(result->files.end(), beside_.begin(), beside_.end());
    for (std::string& note : result->profile.notes) note = printable(note, whole_text);
    if (!hint_.empty()) result->profile.notes.push_back(hint_);
    return result;
  }

  // Of "out_pc_sampling_host_trap.csv" the file "out_<ending>".
  std::optional<fs::path> sibling(std::string_view ending) const {
    std::string name = file_.filename().string();
    for (const std::string_view own :
         {"pc_sampling_host_trap.csv", "pc_sampling_stochastic.csv", "counter_collection.csv"}) {
      if (!name.ends_with(own)) continue;
      name.replace(name.size() - own.size(), own.size(), ending);
      fs::path path = file_.parent_path() / name;
      std::error_code ignored;
      if (fs::is_regular_file(path, ignored)) return path;
    }
    return std::nullopt;
  }

  Status look_beside() {
    if (const auto trace = sibling("kernel_trace.csv")) {
      ASMEVO_TRY(TextSource source, TextSource::open(*trace));
      ASMEVO_TRY(request_.kernel_of_dispatch, read_kernel_trace(std::move(source)));
      beside_.push_back(*trace);
    }
    if (const auto agents = sibling("agent_info.csv")) {
      ASMEVO_TRY(TextSource source, TextSource::open(*agents));
      ASMEVO_TRY(request_.gpus, read_agent_names(std::move(source)));
      beside_.push_back(*agents);
    }
    if (const auto json = sibling("results.json"))
      hint_ = fmt::format("{} beside it has the samples' addresses", printable(json->filename().string()));
    return {};
  }

  // The code objects that --att writes beside what it traced, or in a folder of the host's name: one that is
  // ours settles which number is ours.
  void look_for_snapshots(const fs::path& folder) {
    std::error_code error;
    size_t seen = 0;
    for (fs::recursive_directory_iterator it(folder, error); it != fs::recursive_directory_iterator();
         it.increment(error)) {
      if (error || ++seen > most_files) return;
      if (it.depth() >= 1 || it->path().filename().string().starts_with("ui_output"))
        it.disable_recursion_pending();
      const auto found = snapshot(it->path());
      if (!found) continue;
      request_.gpus.push_back(found->gpu);
      if (!request_.same_object) compare(*found);
    }
  }

  void compare(const Snapshot& found) {
    std::error_code ignored;
    if (fs::file_size(found.path, ignored) != request_.listing.object_bytes) return;
    const auto bytes = read_file(found.path, largest_snapshot);
    if (!bytes || content_hash(*bytes) != request_.listing.object_hash) return;
    request_.same_object = true;
    request_.code_object = found.number;
    beside_.push_back(found.path);
  }

  fs::path file_;
  ImportRequest request_;
  std::vector<fs::path> beside_;
  std::string hint_;
};

// What is better comes first: addresses with reasons, addresses, texts, counters.
constexpr FileKind by_worth[] = {FileKind::PcSamplingJson, FileKind::CodeJson,       FileKind::Rocpd,
                                 FileKind::PcSamplingCsv,  FileKind::ThreadTraceCsv, FileKind::CounterCsv,
                                 FileKind::PmcPerfCsv};

class FolderImport {
 public:
  FolderImport(const fs::path& folder, const KernelListing& listing, std::optional<uint64_t> dispatch)
      : folder_(folder), listing_(listing), dispatch_(dispatch) {}

  Result<ImportedProfile> run() {
    ASMEVO_CHECK(sort());
    const std::string name = printable(folder_.string(), whole_text);
    if (files_.empty()) return bad_input("{}: no profile in it", name);
    std::optional<ImportedProfile> best;
    for (const FileKind kind : by_worth) {
      const auto files = files_.find(kind);
      if (files == files_.end()) continue;
      if (best && kind != FileKind::CounterCsv && kind != FileKind::PmcPerfCsv) continue;
      ASMEVO_TRY(auto found, only(files->second, kind));
      if (!found) continue;
      if (!best)
        best = std::move(found);
      else if (best->profile.counters.empty())
        add_counters(*best, *found);
    }
    if (best) return *std::move(best);
    if (errors_.size() == 1) return failed(errors_.front());
    return bad_input("{}: none of {} files can be imported; the first: {}", name, errors_.size(),
                     errors_.front().message);
  }

 private:
  Status sort() {
    ASMEVO_TRY(const auto files, files_in(folder_));
    for (const fs::path& file : files) {
      const auto kind = kind_of(file);
      if (!kind) {
        if (kind.error().kind != ErrorKind::BadInput) return failed(kind.error());
        files_.try_emplace(FileKind::Unknown);
        errors_.push_back(kind.error());
      } else if (importable(*kind)) {
        files_[*kind].push_back(file);
      }
    }
    return {};
  }

  // The one file of that kind which has the kernel; none if none has. Several are for the user to choose
  // from.
  Result<std::optional<ImportedProfile>> only(const std::vector<fs::path>& files, FileKind kind) {
    std::optional<ImportedProfile> found;
    for (const fs::path& file : files) {
      auto result = FileImport(file, listing_, dispatch_).run(kind);
      if (!result && result.error().kind == ErrorKind::BadInput) {
        errors_.push_back(result.error());
      } else if (!result) {
        return failed(result.error());
      } else if (found) {
        return bad_input("{}: both {} and {} have {}: name one of them",
                         printable(folder_.string(), whole_text),
                         printable(found->files.front().string(), whole_text),
                         printable(file.string(), whole_text), listing_.kernel.symbol());
      } else {
        found = *std::move(result);
      }
    }
    return found;
  }

  static void add_counters(ImportedProfile& to, const ImportedProfile& from) {
    to.profile.counters = from.profile.counters;
    to.files.insert(to.files.end(), from.files.begin(), from.files.end());
    to.profile.notes.push_back(fmt::format("counters from {}, {}",
                                           printable(from.files.front().string(), whole_text),
                                           counted_dispatches(from.dispatches)));
  }
  static std::string counted_dispatches(uint64_t n) {
    return n == 1 ? "1 dispatch" : fmt::format("sums over {} dispatches", n);
  }

  const fs::path& folder_;
  const KernelListing& listing_;
  std::optional<uint64_t> dispatch_;
  std::map<FileKind, std::vector<fs::path>> files_;
  std::vector<Error> errors_;
};

} // namespace

std::string_view describe(ImportFormat format) {
  switch (format) {
  case ImportFormat::PcSamplingJson: return "rocprofv3 PC sampling, JSON";
  case ImportFormat::PcSamplingCsv: return "rocprofv3 PC sampling, CSV";
  case ImportFormat::ThreadTraceJson: return "rocprofv3 thread trace, code.json";
  case ImportFormat::ThreadTraceCsv: return "rocprofv3 thread trace, statistics";
  case ImportFormat::CounterCsv: return "rocprofv3 counters, CSV";
  case ImportFormat::PmcPerfCsv: return "rocprof-compute counters, CSV";
  case ImportFormat::Rocpd: return "rocprofv3 database (rocpd)";
  }
  return "";
}

std::string_view describe(BoundBy by) {
  switch (by) {
  case BoundBy::Nothing: return "nothing";
  case BoundBy::Hash: return "the object's hash";
  case BoundBy::Address: return "address";
  case BoundBy::Text: return "instruction text";
  }
  return "";
}

std::string some_of(const std::vector<std::string>& names, size_t most) {
  std::string out;
  for (size_t n = 0; n < names.size() && n < most; ++n)
    out += fmt::format("{}{}", n == 0 ? "" : ", ", printable(names[n]));
  if (names.size() > most) out += fmt::format(" and {} more", names.size() - most);
  return out.empty() ? "none" : out;
}

Status check_gpus(const std::string& file, const std::vector<std::string>& gpus,
                  const KernelListing& listing) {
  std::set<std::string> known;
  for (const std::string& gpu : gpus)
    if (gpu.starts_with("gfx")) known.insert(gpu.substr(0, gpu.find(':')));
  if (known.empty() || known.contains(listing.target)) return {};
  return bad_input("{}: recorded on {}, the object is for {}", file, some_of({known.begin(), known.end()}),
                   listing.target);
}

Result<ImportedProfile> import_profile(const fs::path& path, const KernelListing& listing,
                                       std::optional<uint64_t> dispatch) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return FolderImport(path, listing, dispatch).run();
  ASMEVO_TRY(const FileKind kind, kind_of(path));
  return FileImport(path, listing, dispatch).run(kind);
}

Result<ImportedProfile> import_profile(const fs::path& path, const oracle::Subject& subject,
                                       const ImportOptions& options) {
  ASMEVO_TRY(const KernelListing listing, list_kernel(subject, options.kernel));
  return import_profile(path, listing, options.dispatch);
}

} // namespace asmevo::profile
