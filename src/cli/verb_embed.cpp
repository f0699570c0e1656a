#include "base/files.h"
#include "cli/cli.h"
#include "codeobject/container.h"

#include <filesystem>
#include <optional>

namespace asmevo::cli {

namespace {

namespace fs = std::filesystem;
using codeobject::Container;
using codeobject::ContainerKind;

struct EmbedOptions {
  std::string file, replacement, output;
  std::optional<size_t> index;
};

// A Triton entry's file goes into the folder that is named, or to the file.
Result<fs::path> output_path(const Container& container, const std::string& output) {
  std::error_code ignored;
  if (!fs::is_directory(output, ignored)) return fs::path(output);
  if (container.kind() != ContainerKind::TritonEntry)
    return bad_input("{}: is a folder; name a file", output);
  return fs::path(output) / fs::path(container.name()).filename();
}

// A program stays executable.
Status copy_permissions(const fs::path& from, const fs::path& to) {
  std::error_code error;
  const fs::perms mode = fs::status(from, error).permissions() & fs::perms::all;
  if (!error) fs::permissions(to, mode, error);
  if (error) return environment_error("{}: cannot set the file's mode: {}", to.string(), error.message());
  return {};
}

Result<Answer> embed(const EmbedOptions& options, bool json) {
  ASMEVO_TRY(const Container container, Container::open(options.file));
  ASMEVO_TRY(const fs::path output, output_path(container, options.output));
  ASMEVO_TRY(const Bytes replacement, read_file(options.replacement));
  size_t index = options.index.value_or(0);
  if (!options.index) {
    auto origin = container.find_origin(replacement);
    if (!origin) return failed(origin.error(), options.replacement);
    index = *origin;
  }
  auto result = container.replace(index, replacement);
  if (!result) return failed(result.error(), options.replacement);
  std::error_code error;
  const uint64_t size_before = fs::file_size(container.name(), error);
  ASMEVO_CHECK(write_file(output, ByteSpan(*result)));
  if (container.kind() == ContainerKind::HostElf) ASMEVO_CHECK(copy_permissions(container.name(), output));

  const codeobject::ContainedObject& old = container.objects()[index];
  if (json)
    print_json({{"file", container.name()},
                {"kind", codeobject::describe(container.kind())},
                {"index", index},
                {"target", old.target_id},
                {"object_size", {{"before", old.size}, {"after", replacement.size()}}},
                {"file_size", {{"before", size_before}, {"after", result->size()}}},
                {"written", output.string()}});
  else
    fmt::print("{}: replaced index {} ({}): object {} -> {} bytes, file {} -> {} bytes\n", output.string(),
               index, old.target_id, old.size, replacement.size(), size_before, result->size());
  return Answer::Yes;
}

} // namespace

void add_embed(Context& context) {
  Verb* verb = add_verb(context, "embed", "Put a changed code object back into its bundle or fat binary",
                        "asmevo embed librocrand.so.1.1 --replace changed.co -o changed/librocrand.so.1.1");
  auto options = std::make_shared<EmbedOptions>();
  verb->add_option("FILE", options->file, "what the code object was taken from; stays as it is")->required();
  verb->add_option("--replace", options->replacement, "the changed code object")->required()->type_name("K'");
  verb->add_option("-o,--output", options->output,
                   "file to write; for a Triton cache folder a folder will do")
      ->required();
  verb->add_option("--index", options->index,
                   "which object it replaces, as extract lists them; else found by target and kernels");
  verb->callback([&context, options] {
    context.action = [&context, options] { return embed(*options, context.json); };
  });
}

} // namespace asmevo::cli
