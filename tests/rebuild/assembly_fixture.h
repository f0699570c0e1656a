// What the tests of the assembly route share: objects made by LLVM's own tools, and the way there and back.
#pragma once

#include "codeobject/samples.h"
#include "rebuild/assembly.h"
#include "rebuild/object_gate.h"

#include <memory>
#include <string>

namespace asmevo::rebuild {

/// Symbols of every kind: default visibility (through the GOT), hidden, weak, static, tables of functions and
/// data.
inline constexpr std::string_view rich_source = R"(
#define global __attribute__((global))
#define device __attribute__((device))
#define shown __attribute__((visibility("default")))
typedef int (*Function)(int);
device __attribute__((noinline)) int triple(int a) { return a * 3 + 1; }
device __attribute__((noinline)) int quintuple(int a) { return a * 5 + 1; }
namespace ns { template <class T> device __attribute__((noinline)) T twice(T x) { return x + x; } }
shown device __attribute__((noinline)) int exported(int a) { return a ^ 0x55; }
device __attribute__((weak, noinline)) int maybe(int a) { return a - 3; }
shown device int visible[3] = {7, 8, 9};
static device int counter;
__attribute__((constant)) int weights[8] = {5, 6, 7, 8, 9, 1, 2, 3};
device int numbers[4] = {1, 2, 3, 4};
device int zeros[400];
device int* number = &numbers[2];
device Function table[2] = {triple, quintuple};
device const char* const message = "hello, device";
extern "C" global void call(int* p, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
  p[i] = table[n & 1](p[i]) + numbers[n & 3] + zeros[n] + *number + weights[n & 7] + ns::twice(n) + exported(n) +
         maybe(i) + visible[n % 3] + message[n & 7];
  if (n == 77) counter = n;
  if (n == 78) p[0] = counter;
}
template <class T> global void turn(T* __restrict__ p, T x) {
  __attribute__((shared)) static T s[64];
  int i = __builtin_amdgcn_workitem_id_x();
  s[i] = p[i];
  __builtin_amdgcn_s_barrier();
  p[i] = s[63 - i] * x;
}
template global void turn<float>(float*, float);
)";

/// `text` through external clang and ld.lld.
inline Bytes build(std::string_view text, const std::string& target, const std::string& link_flags = "") {
  const auto in = samples::save("built.s", as_bytes(text));
  const auto object = samples::folder() / "built.o", out = samples::folder() / "built.co";
  const samples::Run made = samples::run(
      fmt::format("{0}clang -target amdgcn-amd-amdhsa -mcpu={1} -c -x assembler {2} -o {3} && {0}ld.lld "
                  "-shared {4} {3} -o {5}",
                  samples::llvm, target, in.string(), object.string(), link_flags, out.string()));
  EXPECT_EQ(made.code, 0) << made.output;
  return made.code == 0 ? samples::read(out) : Bytes();
}

inline codeobject::CodeObject parse(Bytes bytes) {
  auto object = codeobject::CodeObject::parse(std::move(bytes));
  if (!object) throw std::runtime_error(object.error().message);
  return *std::move(object);
}

inline Result<std::string> text_of(const codeobject::CodeObject& object) {
  ASMEVO_TRY(const auto codec, isa::Codec::create(object.target()));
  ASMEVO_TRY(const Recovery recovery, recover(object, *codec));
  return write_assembly(object, recovery, *codec);
}

struct ThereAndBack {
  std::string text;
  Bytes rebuilt;
  ObjectComparison comparison;
};

inline Result<ThereAndBack> there_and_back(const codeobject::CodeObject& object) {
  ThereAndBack result;
  ASMEVO_TRY(result.text, text_of(object));
  ASMEVO_TRY(result.rebuilt, assemble(result.text, "recovered.s"));
  ASMEVO_TRY(const codeobject::CodeObject again, codeobject::CodeObject::parse(result.rebuilt));
  result.comparison = compare_objects(object, again, Route::Assembly);
  return result;
}

inline std::string describe(const ObjectComparison& comparison) {
  std::string text;
  for (const ObjectDifference& d : comparison.differences)
    text += fmt::format("{}+{:#x}: {}\n", d.section, d.offset, d.detail);
  return text;
}

/// There and back gives the same object; what it took comes back for a closer look.
inline ThereAndBack expect_same(const codeobject::CodeObject& object) {
  auto result = there_and_back(object);
  EXPECT_TRUE(result) << result.error().message;
  if (!result) return {};
  EXPECT_TRUE(result->comparison.identical()) << describe(result->comparison);
  return *std::move(result);
}

inline bool masks(const ObjectComparison& comparison, std::string_view word) {
  return std::ranges::any_of(comparison.masks,
                             [&](const Mask& m) { return m.what.find(word) != std::string::npos; });
}

} // namespace asmevo::rebuild
