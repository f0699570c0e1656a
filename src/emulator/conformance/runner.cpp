#include "emulator/conformance/runner.h"

#include "base/files.h"
#include "base/parallel.h"
#include "emulator/conformance/alu_vectors.h"
#include "emulator/conformance/matrix_vectors.h"
#include "isa/instruction.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <zstd.h>

#include <algorithm>
#include <map>
#include <optional>

namespace asmevo::emulator::conformance {

namespace {

using nlohmann::json;

constexpr uint64_t largest_text = uint64_t{1} << 30; // bytes, unpacked

// --- files to lines

Result<Bytes> unpack(ByteSpan packed) {
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(), ZSTD_freeDStream);
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  Bytes text;
  Bytes piece(ZSTD_DStreamOutSize());
  size_t more = 1;
  while (in.pos < in.size) {
    ZSTD_outBuffer out{piece.data(), piece.size(), 0};
    more = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(more) != 0) return bad_input("not zstd data: {}", ZSTD_getErrorName(more));
    if (text.size() + out.pos > largest_text)
      return bad_input("more than {} bytes when unpacked", largest_text);
    append(text, ByteSpan(piece).first(out.pos));
  }
  if (more != 0) return bad_input("the zstd data is cut off");
  return text;
}

struct Line {
  size_t file = 0, number = 0; // number: from 1
  std::string text;
};

bool is_vector_file(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".jsonl") || name.ends_with(".jsonl.zst");
}

Result<std::vector<std::filesystem::path>> find_files(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& path : paths) {
    ASMEVO_TRY(auto found, list_files(path));
    const bool named = found.size() == 1 && found.front() == path;
    for (std::filesystem::path& f : found)
      if (named || is_vector_file(f)) files.push_back(std::move(f));
  }
  if (files.empty())
    return bad_input("{}: no .jsonl or .jsonl.zst file there", printable(paths.front().string()));
  return files;
}

Status read_lines(const std::filesystem::path& path, size_t index, std::vector<Line>& lines) {
  ASMEVO_TRY(Bytes bytes, read_file(path, largest_text));
  if (path.extension() == ".zst") {
    auto text = unpack(bytes);
    if (!text) return failed(text.error(), path.string());
    bytes = *std::move(text);
  }
  std::string_view text = as_text(bytes);
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (text.substr(0, end).find_first_not_of(" \t\r") != std::string_view::npos)
      lines.push_back({index, number, std::string(text.substr(0, end))});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

// --- one vector

Outcome run_vector(const json& v) {
  if (is_matrix_vector(v)) return run_matrix_vector(v);
  if (is_observed_dot_product(v)) return run_observed_dot_product(v);
  return run_alu_vector(v);
}

std::vector<std::string> mnemonics_of(const json& v) {
  std::vector<std::string> list;
  const auto add = [&](const json& text) {
    if (!text.is_string()) return;
    std::string name = text.get<std::string>();
    name.resize(std::min(name.find(' '), name.size()));
    std::ranges::transform(name, name.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
    list.emplace_back(isa::without_encoding_suffix(name));
  };
  if (const auto ops = v.find("ops"); ops != v.end())
    for (const json& op : *ops) add(op);
  else if (const auto text = v.find("asm"); text != v.end())
    add(*text);
  return list;
}

const Exception* exception_for(const json& v, const std::string& id,
                               const std::vector<Exception>& exceptions) {
  if (exceptions.empty()) return nullptr;
  const std::vector<std::string> names = mnemonics_of(v);
  for (const Exception& e : exceptions) {
    const bool named =
        std::ranges::any_of(names, [&](const std::string& n) { return std::ranges::count(e.ops, n) != 0; });
    if (named && (e.condition.empty() || id.find(e.condition) != std::string::npos)) return &e;
  }
  return nullptr;
}

struct Judged {
  Outcome outcome;
  std::string malformed;                // not JSON
  bool left_out = false;                // by the filter
  const Exception* exception = nullptr; // that covers it, if it failed
};

Judged judge(const Line& line, const Options& options) {
  Judged j;
  const json v = json::parse(line.text, nullptr, false);
  if (v.is_discarded() || !v.is_object()) {
    j.malformed = "not a JSON object";
    return j;
  }
  const std::string id = v.contains("id") && v["id"].is_string() ? v["id"].get<std::string>() : std::string();
  if (!options.filter.empty() && id.find(options.filter) == std::string::npos) {
    j.left_out = true;
    return j;
  }
  j.outcome = run_vector(v);
  if (j.outcome.kind != Outcome::Kind::Failed) return j;
  const auto origin = v.find("origin");
  const bool hardware = origin != v.end() && *origin == "hw";
  if (!hardware) j.exception = exception_for(v, j.outcome.id, options.exceptions);
  return j;
}

void apply_exceptions(std::vector<Judged>& judged) {
  std::map<std::string, size_t> left; // exceptions that a family may still have
  for (const Judged& j : judged)
    if (!j.left_out) ++left[j.outcome.family];
  for (auto& [family, count] : left) count = std::max<size_t>(1, count / 100);
  for (Judged& j : judged) {
    if (j.exception == nullptr) continue;
    if (left[j.outcome.family] == 0) {
      j.outcome.text += fmt::format(
          " (judged wrong itself, but the exceptions of its family, one in a hundred, are used up: {})",
          j.exception->reason);
      continue;
    }
    --left[j.outcome.family];
    j.outcome.kind = Outcome::Kind::Skipped;
    j.outcome.text = fmt::format("{} ({})", j.exception->reason, j.exception->source);
  }
}

} // namespace

Result<std::vector<Exception>> read_exceptions(const std::filesystem::path& path) {
  ASMEVO_TRY(const Bytes bytes, read_file(path, largest_text));
  const json list = json::parse(as_text(bytes), nullptr, false);
  if (!list.is_array()) return bad_input("{}: not a JSON list of exceptions", path.string());
  std::vector<Exception> exceptions;
  for (const json& entry : list) {
    try {
      exceptions.push_back({entry.at("ops").get<std::vector<std::string>>(),
                            entry.at("condition").get<std::string>(), entry.at("reason").get<std::string>(),
                            entry.at("source").get<std::string>()});
    } catch (const json::exception&) {
      return bad_input("{}: exception {} needs ops (a list), condition, reason and source", path.string(),
                       exceptions.size() + 1);
    }
  }
  return exceptions;
}

Result<Report> run(const std::vector<std::filesystem::path>& paths, const Options& options) {
  ASMEVO_TRY(const auto files, find_files(paths));
  std::vector<Line> lines;
  for (size_t i = 0; i < files.size(); ++i) ASMEVO_CHECK(read_lines(files[i], i, lines));
  if (lines.empty()) return bad_input("{}: no vectors there", printable(paths.front().string()));
  std::vector<Judged> judged(lines.size());
  parallel_for(lines.size(), options.threads,
               [&](size_t index, unsigned) { judged[index] = judge(lines[index], options); });
  Report report;
  for (size_t i = 0; i < judged.size(); ++i) {
    Judged& j = judged[i];
    if (!j.malformed.empty())
      return bad_input("{}, line {}: {}", files[lines[i].file].string(), lines[i].number, j.malformed);
  }
  apply_exceptions(judged);
  for (Judged& j : judged) {
    if (j.left_out) continue;
    switch (j.outcome.kind) {
    case Outcome::Kind::Passed: ++report.passed; break;
    case Outcome::Kind::Failed: ++report.failed; break;
    case Outcome::Kind::Skipped: ++report.skipped; break;
    }
    report.outcomes.push_back(std::move(j.outcome));
  }
  return report;
}

} // namespace asmevo::emulator::conformance
