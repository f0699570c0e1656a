#include "search/batch_input.h"

#include "base/files.h"
#include "base/hash.h"
#include "codeobject/container.h"
#include "isa/target.h"
#include "oracle/launch_spec.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fnmatch.h>
#include <map>

namespace asmevo::search {

namespace {

namespace fs = std::filesystem;
using codeobject::ContainedObject;
using codeobject::Container;
using Json = nlohmann::json;

// What is called so and cannot be read is an error, and not another kind of file.
bool is_called_object(const fs::path& file) {
  const fs::path ending = file.extension();
  return ending == ".co" || ending == ".hsaco";
}

// "softmax" of "softmax.gfx942"; nothing where there is no target in the name.
std::string without_target(const std::string& stem) {
  const size_t dot = stem.rfind(".gfx");
  return dot == std::string::npos ? "" : stem.substr(0, dot);
}

// Whether one of the folders between `root` and the file is a run's, or a batch's.
class RunFolders {
 public:
  explicit RunFolders(const fs::path& root) : root_(root) {}
  bool hold(const fs::path& file) { return is_inside(file.parent_path()); }

 private:
  bool is_inside(const fs::path& folder) {
    const auto known = inside_.find(folder);
    if (known != inside_.end()) return known->second;
    std::error_code error;
    bool inside = fs::exists(folder / "run.sqlite", error) || fs::exists(folder / "batch.json", error);
    if (!inside && folder != root_ && folder.has_parent_path() && folder.parent_path() != folder)
      inside = is_inside(folder.parent_path());
    inside_[folder] = inside;
    return inside;
  }

  fs::path root_;
  std::map<fs::path, bool> inside_;
};

class Finder {
 public:
  Finder(const fs::path& folder, const BatchSelection& selection)
      : folder_(folder), selection_(selection), runs_(folder) {}

  Result<std::vector<BatchInput>> find() {
    ASMEVO_TRY(const std::vector<fs::path> files, list_files(folder_));
    for (const fs::path& file : files)
      if (is_chosen(file) && !runs_.hold(file)) look_into(file);
    if (!inputs_.empty()) return std::move(inputs_);
    return bad_input("{}: no code object{}", folder_.string(),
                     selection_.target.empty() && selection_.kernel.empty() && selection_.only.empty()
                         ? ""
                         : " that --target, --kernel and --only leave");
  }

 private:
  bool is_chosen(const fs::path& file) const {
    return selection_.only.empty() || std::ranges::any_of(selection_.only, [&](const std::string& pattern) {
             return ::fnmatch(pattern.c_str(), file.filename().c_str(), 0) == 0;
           });
  }

  void look_into(const fs::path& file) {
    BatchInput input;
    input.file = file.lexically_relative(folder_).string();
    const auto container = Container::open(file);
    if (!container) {
      if (!is_called_object(file)) return;
      input.broken = one_line(container.error());
      inputs_.push_back(std::move(input));
      return;
    }
    find_launch(file, input);
    find_metadata(file, input);
    input.of_several = container->objects().size() > 1;
    for (const ContainedObject* object : chosen_objects(*container)) add(*object, input);
  }

  std::vector<const ContainedObject*> chosen_objects(const Container& container) const {
    std::vector<const ContainedObject*> list;
    if (!selection_.target.empty()) {
      if (const auto found = container.find(selection_.target)) list.push_back(*found);
      return list;
    }
    for (const ContainedObject& object : container.objects())
      if (isa::Target::from_id(object.target_id)) list.push_back(&object);
    return list;
  }

  // One input for the object, or one for each of its kernels.
  void add(const ContainedObject& object, BatchInput input) {
    input.target = object.target_id;
    const auto bytes = object.read();
    const auto names = object.kernels();
    if (!bytes || !names) {
      input.broken = one_line(bytes ? names.error() : bytes.error());
      inputs_.push_back(std::move(input));
      return;
    }
    input.object_hash = content_hash(*bytes);
    std::vector<std::string> kernels = *names;
    // Metadata of another object than this says nothing.
    const std::string wanted = !selection_.kernel.empty()                                ? selection_.kernel
                               : std::ranges::find(*names, input.kernel) != names->end() ? input.kernel
                                                                                         : "";
    if (!wanted.empty()) std::erase_if(kernels, [&](const std::string& name) { return name != wanted; });
    if (kernels.empty() && !selection_.kernel.empty()) return;
    input.kernel = selection_.kernel;
    if (names->size() <= 1 || names_kernels(input)) {
      inputs_.push_back(std::move(input));
      return;
    }
    for (const std::string& name : kernels) {
      input.kernel = name;
      inputs_.push_back(input);
    }
  }

  // Whether there is a launch file and it says what is launched; one that cannot be read says so later.
  bool names_kernels(const BatchInput& input) const {
    if (input.launch.empty()) return false;
    const auto spec = oracle::LaunchSpec::read(folder_ / input.launch);
    return !spec || std::ranges::none_of(spec->steps, [](const oracle::StepSpec& s) {
      return s.kind == oracle::StepSpec::Kind::Launch && s.kernel.empty();
    });
  }

  static std::vector<std::string> stems(const fs::path& file) {
    const std::string stem = file.stem().string(), shorter = without_target(stem);
    if (shorter.empty()) return {stem};
    return {stem, shorter};
  }

  void find_launch(const fs::path& file, BatchInput& input) const {
    std::vector<std::string> names = stems(file);
    names.emplace_back("launch");
    for (const std::string& name : names) {
      const fs::path launch = file.parent_path() / (name + ".toml");
      std::error_code error;
      if (!fs::is_regular_file(launch, error)) continue;
      const auto text = read_file(launch);
      if (!text) input.broken = one_line(text.error());
      input.launch = launch.lexically_relative(folder_).string();
      input.launch_hash = text ? content_hash(*text) : "";
      return;
    }
  }

  // What Triton passes at a launch. Other JSON beside an object, and what is wrong in it, says nothing.
  static void find_metadata(const fs::path& file, BatchInput& input) {
    constexpr uint64_t most = 1 << 20, most_waves = 16;
    for (const std::string& name : stems(file)) {
      const auto text = read_file(file.parent_path() / (name + ".json"), most);
      if (!text) continue;
      const Json j = Json::parse(text->begin(), text->end(), nullptr, false);
      if (!j.is_object()) continue;
      const auto number = [&](const char* key, const Json& in) -> uint64_t {
        const auto found = in.find(key);
        return found != in.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
      };
      const uint64_t waves = number("num_warps", j), lds = number("shared", j);
      if (waves == 0 || waves > most_waves || lds > (1 << 20)) continue;
      const auto target = j.find("target");
      const uint64_t lanes =
          target != j.end() && target->is_object() ? number("warp_size", *target) : number("warp_size", j);
      input.workgroup = {static_cast<uint32_t>(waves) * (lanes == 32 ? 32U : 64U), 1, 1};
      input.dynamic_lds = static_cast<uint32_t>(lds);
      const auto kernel = j.find("name");
      if (kernel != j.end() && kernel->is_string()) input.kernel = kernel->get<std::string>();
      return;
    }
  }

  fs::path folder_;
  const BatchSelection& selection_;
  RunFolders runs_;
  std::vector<BatchInput> inputs_;
};

} // namespace

std::string BatchInput::name() const {
  std::string text = fs::path(file).stem().string();
  if (of_several) text += "." + target;
  if (!kernel.empty()) text += "." + kernel;
  for (char& c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '-' || c == '_' || c == '+';
    if (!plain) c = '_';
  }
  constexpr size_t longest = 100; // names of C++ kernels are long, those of files are not
  if (text.size() > longest) text = text.substr(0, longest) + "-" + content_hash(as_bytes(text)).substr(0, 8);
  return text.empty() || text[0] == '.' ? "kernel" + text : text;
}

bool BatchInput::same_as(const BatchInput& other) const {
  return !object_hash.empty() && object_hash == other.object_hash && kernel == other.kernel &&
         (launch.empty() || other.launch.empty() || launch_hash == other.launch_hash);
}

Result<std::vector<BatchInput>> find_batch_inputs(const fs::path& folder, const BatchSelection& selection) {
  return Finder(folder, selection).find();
}

Result<Bytes> read_input(const fs::path& folder, const BatchInput& input) {
  ASMEVO_TRY(const Container container, Container::open(folder / input.file));
  for (const ContainedObject& object : container.objects()) {
    if (object.target_id != input.target) continue;
    ASMEVO_TRY(Bytes bytes, object.read());
    if (content_hash(bytes) == input.object_hash) return bytes;
  }
  return bad_input("{}: has changed since it was found", (folder / input.file).string());
}

} // namespace asmevo::search
