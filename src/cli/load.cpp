#include "cli/load.h"

#include "base/words.h"
#include "codeobject/container.h"
#include "oracle/verify.h"

#include <filesystem>

namespace asmevo::cli {

Result<Bytes> load_object(const std::string& path, const std::string& target) {
  ASMEVO_TRY(const codeobject::Container container, codeobject::Container::open(path));
  if (target.empty() && container.objects().size() == 1) return container.objects().front().read();
  if (target.empty())
    return bad_input("{}: {} code objects; choose one with --target", path, container.objects().size());
  ASMEVO_TRY(const codeobject::ContainedObject* object, container.find(target));
  return object->read();
}

namespace {

// load_object, then `open` on the bytes.
template <class Open>
auto load_opened(const std::string& path, const std::string& target, Open open) -> decltype(open(Bytes())) {
  ASMEVO_TRY(Bytes bytes, load_object(path, target));
  auto opened = open(std::move(bytes));
  if (!opened) return failed(opened.error(), path);
  return opened;
}

} // namespace

Result<codeobject::CodeObject> load_code_object(const std::string& path, const std::string& target) {
  return load_opened(path, target, codeobject::CodeObject::parse);
}

Result<std::shared_ptr<const oracle::Subject>> load_subject(const std::string& path,
                                                            const std::string& target) {
  return load_opened(path, target, oracle::Subject::open);
}

Result<Loaded> load_program(const std::string& path, const std::string& target, Codecs& codecs) {
  const auto load = [&]() -> Result<Loaded> {
    ASMEVO_TRY(Bytes bytes, load_object(path, target));
    // The codec depends on the target, which the file says.
    ASMEVO_TRY(codeobject::CodeObject object, codeobject::CodeObject::parse(bytes));
    ASMEVO_TRY(isa::Codec * codec, codecs.get(object.target()));
    ASMEVO_TRY(rebuild::Original original, rebuild::Original::open(std::move(bytes), *codec));
    return Loaded{codec, std::move(original)};
  };
  Result<Loaded> loaded = load();
  if (!loaded && !loaded.error().message.starts_with(path)) return failed(loaded.error(), path);
  return loaded;
}

Result<FileAndKernel> split_kernel(const std::string& argument) {
  std::error_code error;
  if (std::filesystem::exists(argument, error)) return FileAndKernel{argument, ""};
  for (size_t colon = argument.rfind(':'); colon != std::string::npos && colon != 0;
       colon = argument.rfind(':', colon - 1)) {
    FileAndKernel both{argument.substr(0, colon), argument.substr(colon + 1)};
    if (!std::filesystem::exists(both.file, error)) continue;
    if (both.kernel.empty()) return bad_input("{}: no kernel behind the ':'", printable(argument));
    return both;
  }
  return FileAndKernel{argument, ""}; // whoever opens it says that there is none
}

Status check_kernel(const codeobject::CodeObject& object, const std::string& file,
                    const std::string& kernel) {
  if (object.find_kernel(kernel) != nullptr) return {};
  std::vector<std::string_view> names;
  for (const codeobject::Kernel& k : object.kernels()) names.push_back(k.name);
  return bad_input("{}: no kernel '{}'{}", file, printable(kernel), suggestion(kernel, names));
}

std::string objects_beside_program(const std::string& suite) {
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  return (here / "kernels" / std::filesystem::path(suite).lexically_normal().filename()).string();
}

} // namespace asmevo::cli
