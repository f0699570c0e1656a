// What an object says twice and differently, or says in a way no compiler does. Production objects are full
// of it (hand-written assembly), so these are remarks, never errors. Private to this folder.
#pragma once

#include "codeobject/inspection.h"

#include <unordered_map>

namespace asmevo::codeobject {

class NoteWriter {
 public:
  explicit NoteWriter(const CodeObject&);
  std::vector<std::string> of_object() const;
  std::vector<std::string> of_kernel(const KernelInspection&) const;

 private:
  const CodeObject& object_;
  std::unordered_map<std::string_view, const Symbol*> symbols_; // global ones and locals, by name
};

} // namespace asmevo::codeobject
