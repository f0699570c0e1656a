#include "base/files.h"
#include "cli/cli.h"
#include "codeobject/container.h"
#include "codeobject/object_identity.h"
#include "isa/target.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace asmevo::cli {

namespace {

using codeobject::ContainedObject;
using codeobject::Container;

struct ExtractOptions {
  std::string file, folder, target;
  bool list = false;
};

struct Row {
  size_t index = 0; // into Container::objects(), what `embed --index` takes
  const ContainedObject* object = nullptr;
  size_t kernels = 0;
  std::string file; // written to; empty where only listed
};

// What a file name may hold everywhere; a target id comes from the file and may be anything.
std::string file_name_part(std::string_view text) {
  constexpr size_t longest = 100;
  std::string part(text.substr(0, longest));
  for (char& c : part) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!plain && std::string_view(".+-_").find(c) == std::string_view::npos) c = '_';
  }
  return part;
}

// "librocrand.so.1.1.b000.gfx90a_xnack-.co"; the index is added where two objects would get the same name.
std::string file_name(const Container& container, const Row& row, std::set<std::string>& taken) {
  const ContainedObject& object = *row.object;
  std::string stem = file_name_part(std::filesystem::path(container.name()).filename().string());
  if (!object.entry_id.empty()) stem += fmt::format(".b{:03}", object.bundle);
  stem += "." + file_name_part(object.target_id);
  std::string name = stem + ".co";
  for (size_t i = row.index; !taken.insert(name).second; ++i) name = fmt::format("{}.{}.co", stem, i);
  return name;
}

Result<std::vector<Row>> select(const Container& container, const std::string& target) {
  std::vector<Row> rows;
  std::set<std::string> present;
  for (size_t i = 0; i < container.objects().size(); ++i) {
    const ContainedObject& object = container.objects()[i];
    present.insert(object.target_id);
    if (!target.empty() && !codeobject::covers(target, object.target_id)) continue;
    ASMEVO_TRY(const auto kernels, object.kernels());
    rows.push_back({i, &object, kernels.size(), {}});
  }
  if (rows.empty() && !target.empty())
    return bad_input("{}: no code object for {}; there are: {}", container.name(), target,
                     present.empty() ? "none" : fmt::format("{}", fmt::join(present, ", ")));
  return rows;
}

Status write_objects(const Container& container, const std::string& folder, std::vector<Row>& rows) {
  ASMEVO_CHECK(make_folder(folder));
  std::set<std::string> taken;
  for (Row& row : rows) {
    ASMEVO_TRY(const Bytes bytes, row.object->read());
    row.file = (std::filesystem::path(folder) / file_name(container, row, taken)).string();
    ASMEVO_CHECK(write_file(row.file, ByteSpan(bytes)));
  }
  return {};
}

void print_rows(const Container& container, const std::vector<Row>& rows) {
  size_t width = 6;
  for (const Row& row : rows) width = std::max(width, row.object->target_id.size());
  fmt::print("{:>5}  {:<{}}  {:>7}  {:>10}  {:>10}  {}\n", "index", "target", width, "kernels", "offset",
             "size", "where");
  for (const Row& row : rows) {
    const ContainedObject& object = *row.object;
    const std::string where = object.entry_id.empty()
                                  ? "whole file"
                                  : fmt::format("bundle {} entry {}{}", object.bundle, object.entry,
                                                object.compressed ? " (compressed)" : "");
    fmt::print("{:>5}  {:<{}}  {:>7}  {:>#10x}  {:>10}  {}\n", row.index, object.target_id, width,
               row.kernels, object.offset, object.size, row.file.empty() ? where : row.file);
  }
  fmt::print("{} of {} code objects in {} ({})\n", rows.size(), container.objects().size(), container.name(),
             codeobject::describe(container.kind()));
}

void print_rows_json(const Container& container, const std::vector<Row>& rows) {
  nlohmann::ordered_json document = {{"file", container.name()},
                                     {"kind", codeobject::describe(container.kind())},
                                     {"objects", nlohmann::ordered_json::array()}};
  for (const Row& row : rows) {
    const ContainedObject& object = *row.object;
    nlohmann::ordered_json entry = {{"index", row.index},
                                    {"target", object.target_id},
                                    {"supported", isa::Target::from_id(object.target_id).has_value()},
                                    {"kernels", row.kernels},
                                    {"offset", object.offset},
                                    {"size", object.size},
                                    {"compressed", object.compressed}};
    if (!object.entry_id.empty()) {
      entry["bundle"] = object.bundle;
      entry["entry"] = object.entry;
      entry["entry_id"] = object.entry_id;
    }
    if (!row.file.empty()) entry["written"] = row.file;
    document["objects"].push_back(std::move(entry));
  }
  print_json(document);
}

Result<Answer> extract(const ExtractOptions& options, bool json) {
  if (options.list != options.folder.empty())
    return bad_input("extract: give either a folder to write to (-o DIR) or --list");
  ASMEVO_TRY(const Container container, Container::open(options.file));
  ASMEVO_TRY(std::vector<Row> rows, select(container, options.target));
  if (!options.list) ASMEVO_CHECK(write_objects(container, options.folder, rows));
  if (json)
    print_rows_json(container, rows);
  else
    print_rows(container, rows);
  return Answer::Yes;
}

} // namespace

void add_extract(Context& context) {
  Verb* verb = add_verb(
      context, "extract", "Write the code objects of a bundle, fat binary or Triton cache entry to files",
      "asmevo extract /usr/lib/x86_64-linux-gnu/librocrand.so.1.1 --target gfx90a -o objects");
  auto options = std::make_shared<ExtractOptions>();
  verb->add_option("FILE", options->file, "code object, offload bundle, host ELF file or Triton cache folder")
      ->required();
  verb->add_option("-o,--output", options->folder, "folder to write to; made if missing")->type_name("DIR");
  verb->add_flag("--list", options->list, "list only, write nothing");
  verb->add_option("--target", options->target,
                   "only objects for this target id; gfx90a stands for gfx90a:xnack- too")
      ->type_name("ID");
  verb->callback([&context, options] {
    context.action = [&context, options] { return extract(*options, context.json); };
  });
}

} // namespace asmevo::cli
