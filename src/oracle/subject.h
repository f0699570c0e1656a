// A code object ready to be checked and run.
#pragma once

#include "rebuild/rebuild.h"

namespace asmevo::oracle {

class Subject {
 public:
  static Result<std::shared_ptr<const Subject>> open(Bytes);
  const codeobject::CodeObject& object() const { return original_->object; }
  const rebuild::Original& original() const { return *original_; }
  const program::Program& program() const { return original_->program(); }
  isa::Codec& codec() const { return *codec_; }

 private:
  std::shared_ptr<isa::Codec> codec_;
  std::optional<rebuild::Original> original_;
};

/// The object of a subject, which lives as long as it.
std::shared_ptr<const codeobject::CodeObject> object_of(std::shared_ptr<const Subject>);

} // namespace asmevo::oracle
