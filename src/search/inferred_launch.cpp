#include "search/inferred_launch.h"

namespace asmevo::search {

Result<std::string> inferred_launch(Bytes k0, const infer::InferOptions& options, const std::string& name) {
  auto object = codeobject::CodeObject::parse(std::move(k0));
  if (!object) return failed(object.error(), name);
  const auto inferred =
      infer::infer_launch(std::make_shared<const codeobject::CodeObject>(*std::move(object)), options);
  if (!inferred) return failed(inferred.error(), name);
  if (!inferred->last_outcome.empty())
    return bad_input(
        "{}: no launch given, and the inferred one does not complete: {}; 'asmevo infer' drafts one "
        "to edit",
        name, printable(inferred->last_outcome, 300));
  return inferred->text();
}

} // namespace asmevo::search
