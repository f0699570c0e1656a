// The kernarg segment as a list of fields: what the metadata names, where it names nothing (structures,
// blobs, hand-written kernels) dwords. Two dwords that turn out to be a pointer become one field.
#pragma once

#include "codeobject/code_object.h"
#include "infer/observations.h"

#include <string>
#include <vector>

namespace asmevo::infer {

struct KernargField {
  std::string name;
  uint64_t offset = 0, size = 0; // bytes; size at most 8
  bool pointer = false;
  bool pad = false;            // named so by the metadata
  bool whole_argument = false; // an argument of the metadata, not a piece of one
  bool declared_pointer = false;
  unsigned region = 0; // pointer
  uint64_t value = 0;  // scalar
  bool pinned = false; // the value is the user's
  std::string access;  // as the metadata says: "read_only"
};

class KernargFields {
 public:
  /// BadInput: more kernarg bytes than can be followed, or more pointers.
  static Result<KernargFields> of(const codeobject::CodeObject&, const codeobject::Kernel&);

  std::vector<KernargField>& fields() { return fields_; }
  const std::vector<KernargField>& fields() const { return fields_; }
  unsigned regions() const { return regions_; }
  /// The field with some byte of dword `d`; null: none.
  KernargField* at_dword(Source d);
  const KernargField* pointer_of(unsigned region) const;
  /// Makes a pointer of the two dwords from `d` on. False: they are one already, or cannot be.
  bool make_pointer(Source d);
  /// Makes one number of 64 bits of the two dwords from `d` on, or two numbers of an 8-byte field.
  bool join(Source d);
  bool split(Source d);
  /// The explicit arguments' bytes; `pointer` gives the address of a region.
  Bytes bytes() const;
  uint64_t size() const { return size_; }
  /// Every field is an argument of the metadata as it is there.
  bool as_declared() const;

 private:
  std::vector<KernargField> fields_;
  uint64_t size_ = 0;
  unsigned regions_ = 0;
};

} // namespace asmevo::infer
