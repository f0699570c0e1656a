#include "base/files.h"
#include "cli/cli.h"
#include "cli/rebuild_edit.h"
#include "codeobject/abi_diff.h"
#include "codeobject/container.h"
#include "rebuild/assembly.h"
#include "rebuild/object_gate.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

namespace asmevo::cli {

namespace {

using Json = nlohmann::ordered_json;

using codeobject::AbiDiff;
using codeobject::CodeObject;
using codeobject::ContainedObject;
using codeobject::Container;
using rebuild::ObjectComparison;

struct RebuildOptions {
  std::string file, output, original, edit, target;
};

constexpr uint64_t largest_text = uint64_t{1} << 30; // bytes

// How the result compares with the object it is to replace.
struct Against {
  AbiDiff abi;
  ObjectComparison bytes;
};

// The original may be a bundle or a fat binary: then its object for the same target.
Result<CodeObject> open_original(const std::string& file, const CodeObject& rebuilt) {
  ASMEVO_TRY(const Container container, Container::open(file));
  const ContainedObject* contained = nullptr;
  if (container.objects().size() == 1) {
    contained = &container.objects().front();
  } else {
    ASMEVO_TRY(const size_t index, container.find_origin(rebuilt.bytes()));
    contained = &container.objects()[index];
  }
  ASMEVO_TRY(Bytes bytes, contained->read());
  auto object = CodeObject::parse(std::move(bytes));
  if (!object) return failed(object.error(), file);
  return object;
}

void print_text(const RebuildOptions& options, const CodeObject& rebuilt,
                const std::optional<Against>& against) {
  if (against) {
    for (const codeobject::AbiDifference& d : against->abi.differences)
      fmt::print("{} {}: {}: {} -> {}\n", d.frozen ? "frozen " : "allowed", d.where, d.field, d.k0,
                 d.candidate);
    for (const rebuild::ObjectDifference& d : against->bytes.differences)
      fmt::print("{}+{:#x}: {}\n", d.section, d.offset, d.detail);
    for (const rebuild::Mask& m : against->bytes.masks)
      fmt::print("not compared: {} ({})\n", m.what, m.reason);
  }
  fmt::print("{}: {} bytes, {} kernels for {}", options.output, rebuilt.bytes().size(),
             rebuilt.kernels().size(), rebuilt.target().id());
  if (against)
    fmt::print("; {} with {}, {}", against->abi.compatible() ? "compatible" : "not compatible",
               options.original, against->bytes.identical() ? "identical" : "not identical");
  fmt::print("\n");
}

void print_as_json(const RebuildOptions& options, const CodeObject& rebuilt,
                   const std::optional<Against>& against) {
  Json document = {{"written", options.output},
                   {"bytes", rebuilt.bytes().size()},
                   {"kernels", rebuilt.kernels().size()},
                   {"target", rebuilt.target().id()}};
  if (against) {
    Json abi = Json::array(), differences = Json::array(), masks = Json::array();
    for (const codeobject::AbiDifference& d : against->abi.differences)
      abi.push_back({{"where", d.where},
                     {"field", d.field},
                     {"k0", d.k0},
                     {"candidate", d.candidate},
                     {"frozen", d.frozen}});
    for (const rebuild::ObjectDifference& d : against->bytes.differences)
      differences.push_back({{"section", d.section}, {"offset", d.offset}, {"detail", d.detail}});
    for (const rebuild::Mask& m : against->bytes.masks)
      masks.push_back({{"what", m.what}, {"reason", m.reason}});
    document["original"] = options.original;
    document["compatible"] = against->abi.compatible();
    document["identical"] = against->bytes.identical();
    document["abi_differences"] = std::move(abi);
    document["differences"] = std::move(differences);
    document["masks"] = std::move(masks);
  }
  print_json(document);
}

Result<Answer> rebuild_file(const RebuildOptions& options, bool json) {
  ASMEVO_TRY(const Bytes text, read_file(options.file, largest_text));
  ASMEVO_TRY(Bytes linked, rebuild::assemble_in_child(as_text(text), options.file));
  auto rebuilt = CodeObject::parse(std::move(linked));
  if (!rebuilt) return failed(rebuilt.error(), options.file + ", assembled");
  std::optional<Against> against;
  if (!options.original.empty()) {
    ASMEVO_TRY(const CodeObject k0, open_original(options.original, *rebuilt));
    against = Against{codeobject::abi_diff(k0, *rebuilt),
                      rebuild::compare_objects(k0, *rebuilt, rebuild::Route::Assembly)};
  }
  ASMEVO_CHECK(write_file(options.output, rebuilt->bytes()));
  if (json)
    print_as_json(options, *rebuilt, against);
  else
    print_text(options, *rebuilt, against);
  return !against || against->abi.compatible() ? Answer::Yes : Answer::No;
}

} // namespace

void add_rebuild(Context& context) {
  Verb* verb =
      add_verb(context, "rebuild",
               "Assemble and link a .s file from 'recover', edited or not; with --original compare the "
               "result with it (exit 1 where the frozen interface differs)",
               "asmevo rebuild k.s -o k.co --original k0.co");
  auto options = std::make_shared<RebuildOptions>();
  verb->add_option("FILE", options->file, "assembly file, or a code object with --edit")->required();
  verb->add_option("-o,--output", options->output, "code object to write")->type_name("FILE")->required();
  verb->add_option("--original", options->original, "the object it came from, or a file that holds it")
      ->type_name("K0");
  Option* edit =
      verb->add_option(
              "--edit", options->edit,
              "FILE is a code object: apply this edit (JSON) to it, without text or linker in between")
          ->type_name("EDIT");
  verb->add_option("--target", options->target, "which object, where FILE holds several")
      ->type_name("ID")
      ->needs(edit);
  edit->excludes("--original");
  verb->callback([&context, options] {
    context.action = [&context, options] {
      if (!options->edit.empty())
        return rebuild_with_edit(options->file, options->target, options->edit, options->output,
                                 context.json);
      return rebuild_file(*options, context.json);
    };
  });
}

} // namespace asmevo::cli
