#include "cli/rebuild_edit.h"

#include "base/files.h"
#include "cli/load.h"

#include <fmt/format.h>

namespace asmevo::cli {

namespace {

constexpr uint64_t largest_edit = uint64_t{16} << 20; // bytes; the parser has its own, lower limit

std::string_view route_name(rebuild::BuiltBy route) {
  return route == rebuild::BuiltBy::Direct ? "direct" : "in-place";
}

void print_result(const rebuild::Built& built, const std::string& output, bool json) {
  if (json) {
    auto resources = nlohmann::ordered_json::array();
    for (const rebuild::ResourceChange& c : built.resources)
      resources.push_back({{"kernel", c.kernel}, {"field", c.field}, {"from", c.from}, {"to", c.to}});
    print_json({{"written", output},
                {"bytes", built.object.size()},
                {"route", route_name(built.route)},
                {"resources", std::move(resources)}});
    return;
  }
  for (const rebuild::ResourceChange& c : built.resources)
    fmt::print("kernel {}: {} {} -> {}\n", c.kernel, c.field, c.from, c.to);
  fmt::print("{}: {} bytes, built by the {} route\n", output, built.object.size(), route_name(built.route));
}

} // namespace

Result<Answer> rebuild_with_edit(const std::string& file, const std::string& target,
                                 const std::string& edit_file, const std::string& output, bool json) {
  ASMEVO_TRY(const Bytes text, read_file(edit_file, largest_edit));
  const auto edit = program::Edit::parse(as_text(text));
  if (!edit) return failed(edit.error(), edit_file);
  Codecs codecs;
  ASMEVO_TRY(const Loaded loaded, load_program(file, target, codecs));
  const rebuild::Original& k0 = loaded.original;
  if (edit->base != 0)
    return bad_input("{}: base is node {}; without a run folder only edits of node 0 can be applied",
                     edit_file, edit->base);
  const auto built = rebuild::apply_edit(k0, k0.program(), *edit, 1, *loaded.codec);
  // What is wrong with the edit names the edit's file, what is wrong with the object the object's.
  if (!built) return failed(built.error(), built.error().message.starts_with("edit:") ? edit_file : file);
  ASMEVO_CHECK(write_file(output, built->object));
  print_result(*built, output, json);
  return Answer::Yes;
}

} // namespace asmevo::cli
