#include "oracle/subject.h"

namespace asmevo::oracle {

Result<std::shared_ptr<const Subject>> Subject::open(Bytes bytes) {
  ASMEVO_TRY(const codeobject::CodeObject object, codeobject::CodeObject::parse(bytes));
  auto subject = std::make_shared<Subject>();
  ASMEVO_TRY(subject->codec_, isa::Codec::borrow(object.target()));
  ASMEVO_TRY(subject->original_, rebuild::Original::open(std::move(bytes), *subject->codec_));
  return subject;
}

std::shared_ptr<const codeobject::CodeObject> object_of(std::shared_ptr<const Subject> subject) {
  const codeobject::CodeObject* object = &subject->object();
  return {std::move(subject), object};
}

} // namespace asmevo::oracle
