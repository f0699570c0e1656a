// Opening what a verb's argument names: the code object in any container, as bytes, parsed, recovered or
// ready to run.
#pragma once

#include "cli/codecs.h"
#include "rebuild/rebuild.h"

#include <memory>
#include <string>

namespace asmevo::oracle {
class Subject;
}

namespace asmevo::cli {

struct Loaded {
  isa::Codec* codec = nullptr; // owned by the Codecs it came from
  rebuild::Original original;
};

/// The bytes of the one code object in `path`, or of the one for `target` where it holds several.
Result<Bytes> load_object(const std::string& path, const std::string& target);

/// An argument FILE or FILE:KERNEL. A file of which the whole is the name is meant where there is one.
struct FileAndKernel {
  std::string file, kernel; // no kernel: empty
};
/// BadInput: a ':' with nothing behind it.
Result<FileAndKernel> split_kernel(const std::string& argument);

/// BadInput, with the names that there are: not a kernel of the object in `file`.
Status check_kernel(const codeobject::CodeObject&, const std::string& file, const std::string& kernel);

/// Where the build puts the code objects of a suite of kernels of this tree: kernels/<its name> beside the
/// program.
std::string objects_beside_program(const std::string& suite);

/// load_object, parsed. Errors start with the path.
Result<codeobject::CodeObject> load_code_object(const std::string& path, const std::string& target);

/// load_object, ready to be checked and run. Errors start with the path.
Result<std::shared_ptr<const oracle::Subject>> load_subject(const std::string& path,
                                                            const std::string& target);

/// load_object, parsed and recovered. Errors start with the path.
Result<Loaded> load_program(const std::string& path, const std::string& target, Codecs& codecs);

} // namespace asmevo::cli
