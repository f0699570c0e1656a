#include "reference/aiter_parts.h"

namespace asmevo::reference {

const std::vector<AiterKernel>& aiter_kernels() {
  static const std::vector<AiterKernel> all = [] {
    std::vector<AiterKernel> list;
    for (const auto& part :
         {aiter_gemm_kernels(), aiter_topk_kernels(), aiter_paged_kernels(), aiter_fmha_kernels(),
          aiter_mla_kernels(), aiter_moe_kernels(), aiter_backward_kernels(), aiter_reduce_kernels()})
      list.insert(list.end(), part.begin(), part.end());
    return list;
  }();
  return all;
}

} // namespace asmevo::reference
