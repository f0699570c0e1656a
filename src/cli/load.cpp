#include "cli/load.h"

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

std::string objects_beside_program(const std::string& suite) {
  std::error_code error;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  return (here / "kernels" / std::filesystem::path(suite).lexically_normal().filename()).string();
}

} // namespace asmevo::cli
