// Facts put into words: one argument, with its evidence line by line.
#include "infer/argument_facts.h"

#include <algorithm>

namespace asmevo::infer {

InferredArgument describe_pointer(const KernargField& f, const KernargFields& fields, const Observations& all,
                                  const Observations& last, isa::Gfx gfx) {
  InferredArgument a;
  a.field = f;
  const TypeFacts type = type_of_region(all, f.region);
  const RoleFacts role = role_of_region(all, f.region);
  a.role = role.role;
  a.atomic = role.atomic;
  a.dtype = type.type != ValueType::None
                ? std::string(dtype_of(type.type, gfx))
                : (type.bits == 8 ? "opaque" : fmt::format("opaque{}", type.bits / 8));
  a.confidence = std::min(type.confidence, role.confidence);
  a.index = is_index(all, f.region);
  // Addresses are rarely made of floats, and what the last run left alone may only seem to be used.
  if ((is_float(type.type) && all.in_address.contains(static_cast<Source>(source::region0 + f.region))) ||
      !last.touched.contains(static_cast<Source>(source::region0 + f.region)))
    a.confidence = std::min(a.confidence, Confidence::Medium);
  const auto s = static_cast<Source>(source::region0 + f.region);
  const auto touch = last.touched.find(s);
  if (touch != last.touched.end()) {
    a.touched.add(touch->second.read.begin, touch->second.read.end);
    a.touched.add(touch->second.written.begin, touch->second.written.end);
  }
  if (!f.declared_pointer && all.pointers.contains(static_cast<Source>(f.offset / 4)))
    a.evidence.push_back(fmt::format("a pointer, though not declared as one: base of {}",
                                     all.pointers.at(static_cast<Source>(f.offset / 4)).text()));
  a.evidence.insert(a.evidence.end(), role.evidence.begin(), role.evidence.end());
  a.evidence.push_back(fmt::format("{}: {}", a.dtype, type.evidence));
  if (a.index)
    a.evidence.push_back(fmt::format("decides where memory is accessed: {}", all.in_address.at(s).text()));
  if (touch != last.touched.end())
    for (const Source by : touch->second.placed_by)
      if (const KernargField* index = fields.pointer_of(static_cast<unsigned>(by - source::region0))) {
        a.placed_by.push_back(index->name);
        a.evidence.push_back(fmt::format("where it is accessed depends on what {} holds", index->name));
      }
  if ((f.access == "read_only" && a.role != oracle::Role::In) ||
      (f.access == "write_only" && a.role == oracle::Role::In)) {
    a.evidence.push_back(fmt::format("the metadata says {}", f.access));
    a.confidence = std::min(a.confidence, Confidence::Medium);
  }
  a.unused = !all.touched.contains(s);
  return a;
}

InferredArgument describe_scalar(const KernargField& f, const Observations& all, isa::Gfx gfx) {
  InferredArgument a;
  a.field = f;
  const TypeFacts type = type_of_scalar(all, f.offset, f.size);
  a.dtype = dtype_of(type.type, gfx);
  a.confidence = type.confidence;
  const auto element = oracle::element_type(a.dtype);
  a.value = element && is_float(type.type)
                ? oracle::show(*element, f.value)
                : (type.type == ValueType::I32   ? fmt::format("{}", static_cast<int32_t>(f.value))
                   : type.type == ValueType::I64 ? fmt::format("{}", static_cast<int64_t>(f.value))
                                                 : fmt::format("{}", f.value));
  const auto d = static_cast<Source>(f.offset / 4);
  a.unused = !all.used.contains(d);
  if (!type.evidence.empty()) a.evidence.push_back(fmt::format("{}: {}", a.dtype, type.evidence));
  if (a.unused) a.evidence.emplace_back("no instruction uses it");
  if (const auto at = all.in_branch.find(d); at != all.in_branch.end())
    a.evidence.push_back(fmt::format("decides {}", at->second.text()));
  if (f.pinned) {
    a.evidence.emplace_back("the value is given");
  }
  return a;
}

} // namespace asmevo::infer
