#include "base/files.h"
#include "cli/cli.h"
#include "codeobject/container.h"
#include "rebuild/assembly.h"
#include "rebuild/object_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace asmevo::cli {

namespace {

using codeobject::CodeObject;
using codeobject::ContainedObject;
using codeobject::Container;
using rebuild::ObjectComparison;

struct RecoverOptions {
  std::string file, output, target;
  std::optional<size_t> index;
  bool unchecked = false;
};

struct Summary {
  size_t kernels = 0, instructions = 0, labels = 0, as_words = 0;
  std::optional<ObjectComparison> check;
};

Result<const ContainedObject*> select(const Container& container, const RecoverOptions& options) {
  const auto& objects = container.objects();
  if (options.index) {
    if (*options.index >= objects.size())
      return bad_input("{}: --index {}, but it holds {} code objects", container.name(), *options.index,
                       objects.size());
    return &objects[*options.index];
  }
  if (!options.target.empty()) return container.find(options.target);
  if (objects.size() == 1) return &objects.front();
  return bad_input(
      "{}: holds {} code objects; choose one with --target or --index (see 'asmevo extract --list')",
      container.name(), objects.size());
}

// Instructions that text cannot express stand in it as words, with the instruction in a comment.
size_t instructions_as_words(std::string_view text) {
  size_t n = 0;
  for (size_t at = text.find(" // "); at != std::string_view::npos; at = text.find(" // ", at + 1)) ++n;
  return n;
}

// The text must give the object back before it is handed out.
Result<ObjectComparison> check(const CodeObject& k0, const std::string& text, const std::string& name) {
  ASMEVO_TRY(Bytes again, rebuild::assemble_in_child(text, name));
  ASMEVO_TRY(const CodeObject rebuilt, CodeObject::parse(std::move(again)));
  return rebuild::compare_objects(k0, rebuilt, rebuild::Route::Assembly);
}

Result<Summary> recover_object(const RecoverOptions& options, const std::string& name, Bytes bytes,
                               std::string& text) {
  ASMEVO_TRY(const CodeObject object, CodeObject::parse(std::move(bytes)));
  ASMEVO_TRY(const auto codec, isa::Codec::create(object.target()));
  ASMEVO_TRY(const rebuild::Recovery recovery, rebuild::recover(object, *codec));
  ASMEVO_TRY(text, rebuild::write_assembly(object, recovery, *codec));
  Summary summary{object.kernels().size(), recovery.program.entries.size(), recovery.program.labels.size(),
                  instructions_as_words(text), std::nullopt};
  if (!options.unchecked) {
    ASMEVO_TRY(summary.check, check(object, text, name + ".s"));
  }
  return summary;
}

void print_text(const RecoverOptions& options, const Summary& s) {
  for (const rebuild::ObjectDifference& d :
       s.check ? s.check->differences : std::vector<rebuild::ObjectDifference>())
    fmt::print("{}+{:#x}: {}\n", d.section, d.offset, d.detail);
  const bool failed = s.check && !s.check->identical();
  fmt::print("{}: {} kernels, {} instructions, {} labels, {} instructions kept as .long; {}\n",
             failed ? options.file : options.output, s.kernels, s.instructions, s.labels, s.as_words,
             !s.check ? "not checked"
             : failed ? "does not give the object back, nothing written"
                      : fmt::format("assembles to the same object ({} masks)", s.check->masks.size()));
}

void print_as_json(const RecoverOptions& options, const Summary& s) {
  nlohmann::ordered_json document = {{"file", options.file},           {"kernels", s.kernels},
                                     {"instructions", s.instructions}, {"labels", s.labels},
                                     {"kept_as_long", s.as_words},     {"checked", s.check.has_value()}};
  if (s.check) {
    document["identical"] = s.check->identical();
    document["masks"] = nlohmann::ordered_json::array();
    for (const rebuild::Mask& m : s.check->masks)
      document["masks"].push_back({{"what", m.what}, {"reason", m.reason}});
    document["differences"] = nlohmann::ordered_json::array();
    for (const rebuild::ObjectDifference& d : s.check->differences)
      document["differences"].push_back({{"section", d.section}, {"offset", d.offset}, {"detail", d.detail}});
  }
  if (!s.check || s.check->identical()) document["written"] = options.output;
  print_json(document);
}

Result<Answer> recover(const RecoverOptions& options, bool json) {
  ASMEVO_TRY(const Container container, Container::open(options.file));
  ASMEVO_TRY(const ContainedObject* contained, select(container, options));
  ASMEVO_TRY(Bytes bytes, contained->read());
  const std::string name = container.objects().size() == 1 ? options.file : contained->path_in_container;
  std::string text;
  const auto summary = recover_object(options, name, std::move(bytes), text);
  if (!summary) return failed(summary.error(), name);
  const bool good = !summary->check || summary->check->identical();
  if (good) ASMEVO_CHECK(write_file(options.output, std::string_view(text)));
  if (json)
    print_as_json(options, *summary);
  else
    print_text(options, *summary);
  return good ? Answer::Yes : Answer::No;
}

} // namespace

void add_recover(Context& context) {
  Verb* verb =
      add_verb(context, "recover",
               "Write a code object as assembly that clang and ld.lld accept, and check that it gives the "
               "object back (exit 1 where it does not)",
               "asmevo recover k0.co -o k.s");
  auto options = std::make_shared<RecoverOptions>();
  verb->add_option("FILE", options->file, "code object, offload bundle, host ELF file or Triton cache folder")
      ->required();
  verb->add_option("-o,--output", options->output, "assembly file to write")->type_name("FILE")->required();
  auto* target =
      verb->add_option("--target", options->target, "which object of several: by target id")->type_name("ID");
  verb->add_option("--index", options->index,
                   "which object of several: by number, as 'extract --list' counts")
      ->excludes(target);
  verb->add_flag("--unchecked", options->unchecked, "do not assemble the text for comparison");
  verb->callback([&context, options] {
    context.action = [&context, options] { return recover(*options, context.json); };
  });
}

} // namespace asmevo::cli
