// What Debian's HIP 5.2 headers take from an older clang's builtins. Included before everything else.
#pragma once

using prelude_half2 = _Float16 __attribute__((ext_vector_type(2)));

__attribute__((device)) inline _Float16 __llvm_amdgcn_rcp_f16(_Float16 x) {
  return static_cast<_Float16>(__builtin_amdgcn_rcph(x));
}
__attribute__((device)) inline prelude_half2 __llvm_amdgcn_rcp_2f16(prelude_half2 x) {
  return prelude_half2{__llvm_amdgcn_rcp_f16(x.x), __llvm_amdgcn_rcp_f16(x.y)};
}
