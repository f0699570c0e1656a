#include "cli/cli.h"
#include "cli/listing.h"
#include "codeobject/container.h"
#include "codeobject/inspection.h"
#include "codeobject/object_identity.h"

#include <memory>

namespace asmevo::cli {

namespace {

using codeobject::CodeObject;
using codeobject::ContainedObject;
using codeobject::Container;
using codeobject::Inspection;
using Json = nlohmann::ordered_json;

struct InspectOptions {
  std::string file, target, kernel;
  bool full = false, listing = false;
};

// More kernels than this are listed, one a line, unless asked for at length.
constexpr size_t kernels_at_length = 8;

// Prints object after object, so that a library of thousands of kernels needs no more memory than its largest
// object.
class Printer {
 public:
  Printer(const Container& container, const InspectOptions& options, size_t chosen, bool json)
      : container_(container), options_(options), chosen_(chosen), json_(json) {}

  Status object(const ContainedObject& contained) {
    ASMEVO_TRY(Bytes bytes, contained.read());
    auto object = CodeObject::parse(std::move(bytes));
    if (!object) return not_inspected(contained, object.error());
    ++inspected_;
    const Inspection inspection = codeobject::inspect(*object, options_.kernel);
    if (!options_.kernel.empty() && inspection.kernels.empty()) return {};
    kernels_ += inspection.kernels.size();
    if (json_) {
      Json document = codeobject::inspection_json(*object, inspection);
      document.update(place(contained));
      add_json(document);
      return {};
    }
    const bool full = options_.full || !options_.kernel.empty() ||
                      (inspection.kernels.size() <= kernels_at_length && chosen_ == 1);
    fmt::print("{}{}: {}", objects_++ == 0 ? "" : "\n", name(contained),
               codeobject::inspection_text(*object, inspection, full));
    return {};
  }

  Status finish() {
    if (!options_.kernel.empty() && kernels_ == 0)
      return first_error_ && inspected_ == 0
                 ? failed(*first_error_)
                 : Status(bad_input("{}: no kernel named {}", container_.name(), options_.kernel));
    if (first_error_ && (inspected_ == 0 || first_error_->kind == ErrorKind::BadInput)) {
      if (json_ && objects_ != 0) close_json();
      return failed(objects_ == 0 ? *first_error_ : summary());
    }
    if (json_) {
      if (objects_ == 0) open_json();
      close_json();
    } else if (container_.objects().size() != 1) {
      fmt::print("\n{}: {}, {} of {} code objects inspected, {} kernels\n", container_.name(),
                 codeobject::describe(container_.kind()), inspected_, container_.objects().size(), kernels_);
    }
    return {};
  }

 private:
  std::string name(const ContainedObject& contained) const {
    return printable(container_.objects().size() == 1 ? container_.name() : contained.path_in_container,
                     whole_text);
  }

  Json place(const ContainedObject& contained) const {
    return {{"path", name(contained)},        {"target_id", contained.target_id},
            {"entry_id", contained.entry_id}, {"bundle", contained.bundle},
            {"entry", contained.entry},       {"offset", contained.offset},
            {"size", contained.size},         {"compressed", contained.compressed}};
  }

  // What is wrong has been said object by object.
  Error summary() const {
    return {first_error_->kind, fmt::format("{}: {} of {} code objects not inspected", container_.name(),
                                            chosen_ - inspected_, chosen_)};
  }

  // One object that cannot be read (a GPU this program does not handle, most often) does not keep the others
  // from view.
  Status not_inspected(const ContainedObject& contained, const Error& error) {
    const Error with_name = error.in(name(contained));
    if (!first_error_ || (first_error_->kind != ErrorKind::BadInput && error.kind == ErrorKind::BadInput))
      first_error_ = with_name;
    if (chosen_ == 1 || !options_.kernel.empty()) return {};
    if (json_) {
      Json document = place(contained);
      document["error"] = error.message;
      add_json(document);
    } else {
      fmt::print("{}: {}, {} bytes, not inspected: {}\n", name(contained),
                 printable(contained.target_id, whole_text), contained.size, error.message);
      ++objects_;
    }
    return {};
  }

  static std::string text(const Json& document) {
    return document.dump(2, ' ', false, Json::error_handler_t::replace);
  }
  void open_json() {
    fmt::print("{{\n\"file\": {},\n\"kind\": {},\n\"objects\": [", text(container_.name()),
               text(codeobject::describe(container_.kind())));
  }
  void add_json(const Json& document) {
    if (objects_ == 0) open_json();
    fmt::print("{}\n{}", objects_++ == 0 ? "" : ",", text(document));
  }
  static void close_json() { fmt::print("\n]\n}}\n"); }

  const Container& container_;
  const InspectOptions& options_;
  size_t chosen_; // objects to look at
  bool json_;
  size_t objects_ = 0, inspected_ = 0, kernels_ = 0; // objects_: printed
  std::optional<Error> first_error_;
};

Result<Answer> inspect(const InspectOptions& options, bool json) {
  ASMEVO_TRY(const Container container, Container::open(options.file));
  std::vector<const ContainedObject*> chosen;
  for (const ContainedObject& object : container.objects())
    if (options.target.empty() || codeobject::covers(options.target, object.target_id))
      chosen.push_back(&object);
  if (chosen.empty() && !options.target.empty())
    return bad_input("{}: no code object for {}", container.name(), options.target);
  Printer printer(container, options, chosen.size(), json);
  for (const ContainedObject* object : chosen) ASMEVO_CHECK(printer.object(*object));
  ASMEVO_CHECK(printer.finish());
  return Answer::Yes;
}

} // namespace

void add_inspect(Context& context) {
  Verb* verb = add_verb(context, "inspect", "Show kernels, resources, occupancy, arguments and sections",
                        "asmevo inspect /usr/lib/x86_64-linux-gnu/librocrand.so.1.1 --target gfx90a");
  auto options = std::make_shared<InspectOptions>();
  verb->add_option("FILE", options->file, "code object, offload bundle, host ELF file or Triton cache folder")
      ->required();
  verb->add_option("--target", options->target,
                   "only objects for this target id; gfx90a stands for gfx90a:xnack- too")
      ->type_name("ID");
  verb->add_option("--kernel", options->kernel, "only this kernel, at length")->type_name("NAME");
  verb->add_flag("--full", options->full, "every kernel at length, also where there are many");
  verb->add_flag("--listing", options->listing, "the instructions instead, with the ids that edits use");
  verb->callback([&context, options] {
    context.action = [&context, options] {
      if (options->listing)
        return print_listing(options->file, options->target, options->kernel, context.json);
      return inspect(*options, context.json);
    };
  });
}

} // namespace asmevo::cli
