// Kernels whose waits and wait states the planted-defect test weakens one by one. Each brings other
// instructions: global, scalar, LDS and FLAT traffic, barriers, atomics, DPP, lane access, division, f64,
// packed and matrix work.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
using half4 = _Float16 __attribute__((ext_vector_type(4)));
using float4_ = float __attribute__((ext_vector_type(4)));
using float16_ = float __attribute__((ext_vector_type(16)));
using float2_ = float __attribute__((ext_vector_type(2)));

__device__ static int lane() {
  return __builtin_amdgcn_workitem_id_x();
}
__device__ static int index() {
  return __builtin_amdgcn_workgroup_id_x() * 256 + lane();
}
__device__ static void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

extern "C" __global__ void stream(float* y, const float* x, const float* z, float a, int n) {
  for (int i = index(); i < n; i += 65536) y[i] = a * x[i] + z[i] * y[i];
}

extern "C" __global__ void unrolled(float4_* __restrict__ y, const float4_* __restrict__ x, int n) {
  float4_ sum = {0, 0, 0, 0};
#pragma unroll 8
  for (int i = 0; i < n; ++i) sum += x[i * 256 + lane()] * x[i * 256 + (lane() ^ 1)];
  y[index()] = sum;
}

extern "C" __global__ void block_sum(float* out, const float* in, int n) {
  __shared__ float part[256];
  float s = 0;
  for (int i = index(); i < n; i += 65536) s += in[i];
  part[lane()] = s;
  barrier();
  for (int d = 128; d > 0; d >>= 1) {
    if (lane() < d) part[lane()] += part[lane() + d];
    barrier();
  }
  if (lane() == 0) out[__builtin_amdgcn_workgroup_id_x()] = part[0];
}

extern "C" __global__ void tiled_matmul(float* c, const float* a, const float* b, int n) {
  __shared__ float ta[16][17], tb[16][17];
  const int x = lane() & 15, y = lane() >> 4, row = __builtin_amdgcn_workgroup_id_y() * 16 + y,
            column = __builtin_amdgcn_workgroup_id_x() * 16 + x;
  float sum = 0;
  for (int t = 0; t < n; t += 16) {
    ta[y][x] = a[row * n + t + x];
    tb[y][x] = b[(t + y) * n + column];
    barrier();
    for (int k = 0; k < 16; ++k) sum += ta[y][k] * tb[k][x];
    barrier();
  }
  c[row * n + column] = sum;
}

extern "C" __global__ void softmax(float* out, const float* in, int n) {
  __shared__ float part[4];
  const float* row = in + __builtin_amdgcn_workgroup_id_x() * n;
  float top = -1e30f;
  for (int i = lane(); i < n; i += 256) top = __builtin_fmaxf(top, row[i]);
  for (int d = 32; d > 0; d >>= 1)
    top =
        __builtin_fmaxf(top, __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(
                                                           (lane() ^ d) * 4, __builtin_bit_cast(int, top))));
  if ((lane() & 63) == 0) part[lane() >> 6] = top;
  barrier();
  top = __builtin_fmaxf(__builtin_fmaxf(part[0], part[1]), __builtin_fmaxf(part[2], part[3]));
  float sum = 0;
  for (int i = lane(); i < n; i += 256) sum += __builtin_amdgcn_exp2f((row[i] - top) * 1.4427f);
  for (int i = lane(); i < n; i += 256) out[i] = __builtin_amdgcn_exp2f((row[i] - top) * 1.4427f) / sum;
}

extern "C" __global__ void dpp_sum(int* out, const int* in) {
  int v = in[index()];
  v += __builtin_amdgcn_update_dpp(0, v, 0x111, 0xf, 0xf, true);
  v += __builtin_amdgcn_update_dpp(0, v, 0x112, 0xf, 0xf, true);
  v += __builtin_amdgcn_update_dpp(0, v, 0x114, 0xf, 0xf, true);
  v += __builtin_amdgcn_update_dpp(0, v, 0x118, 0xf, 0xf, true);
  const int last = __builtin_amdgcn_readlane(v, 63);
  const int first = __builtin_amdgcn_readfirstlane(v * last);
  out[index()] = v + first * __builtin_amdgcn_readlane(v, first & 63);
}

extern "C" __global__ void divide(double* q, const double* a, const double* b, float* f, const float* g) {
  const int i = index();
  q[i] = a[i] / b[i];
  f[i] = f[i] / g[i] + __builtin_sqrtf(g[i]) + __builtin_amdgcn_rcpf(f[i]) * __builtin_amdgcn_sinf(g[i]);
}

extern "C" __global__ void histogram(unsigned* bins, const unsigned char* data, int n) {
  __shared__ unsigned local[256];
  local[lane()] = 0;
  barrier();
  for (int i = index(); i < n; i += 65536)
    __hip_atomic_fetch_add(&local[data[i]], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  barrier();
  const unsigned old =
      __hip_atomic_fetch_add(&bins[lane()], local[lane()], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  if (old + local[lane()] < old) bins[256] = 1;
}

extern "C" __global__ void gather(float* out, float* const* rows, const int* which, int n) {
  const int i = index();
  if (i >= n) return;
  float* row = rows[which[i]]; // FLAT: the address space is not known
  float s = row[0];
  for (int k = 1; k < 8; ++k) s = s * row[k] + row[(k * 7) & 7];
  row[8] = s;
  out[i] = s + row[9];
}

extern "C" __global__ void scalar_table(float* out, const float* table, const int* pick, float a) {
  const int w = __builtin_amdgcn_workgroup_id_x();
  const float f = table[pick[w]] * a + table[pick[w + 1]];
  float s = 0;
  for (int k = 0; k < pick[w + 2]; ++k) s += table[k] * f;
  out[index()] = s;
}

extern "C" __global__ void ballot(unsigned long long* out, const float* in, float limit) {
  const float v = in[index()];
  const unsigned long long m = __builtin_amdgcn_ballot_w64(v > limit);
  const int rank = __builtin_amdgcn_mbcnt_hi(m >> 32, __builtin_amdgcn_mbcnt_lo(m, 0));
  if (v > limit) out[__builtin_popcountll(m) - rank] = m ^ (unsigned long long)(v * 3);
}

extern "C" __global__ void packed(float2_* y, const float2_* x, const _Float16* h, _Float16* k) {
  const int i = index();
  float2_ v = y[i];
  for (int j = 0; j < 4; ++j) v = v * x[i + j] + x[j];
  y[i] = v;
  k[i] = h[i] * h[i + 1] + (_Float16)v.x;
}

extern "C" __global__ void matrix_small(float4_* c, const half4* a, const half4* b, int n) {
  float4_ acc = {0, 0, 0, 0}, other = {1, 1, 1, 1};
  for (int k = 0; k < n; ++k) {
    acc = __builtin_amdgcn_mfma_f32_16x16x16f16(a[k * 64 + lane()], b[k * 64 + lane()], acc, 0, 0, 0);
    other = __builtin_amdgcn_mfma_f32_4x4x4f16(a[lane()], b[k], other, 0, 0, 0);
  }
  c[lane()] = acc * other;
}

extern "C" __global__ void matrix_large(float16_* c, const half4* a, const half4* b, const float* f, int n) {
  float16_ acc = c[lane()];
  for (int k = 0; k < n; ++k) {
    acc = __builtin_amdgcn_mfma_f32_32x32x8f16(a[k * 64 + lane()], b[k * 64 + lane()], acc, 0, 0, 0);
    acc = __builtin_amdgcn_mfma_f32_32x32x2f32(f[k], f[k + lane()], acc, 0, 0, 0);
    acc[0] += f[k];
  }
  c[lane()] = acc;
}

extern "C" __global__ void matrix_f64(double* c, const double* a, const double* b, int n) {
  double acc = 0;
  for (int k = 0; k < n; ++k) {
    acc = __builtin_amdgcn_mfma_f64_4x4x4f64(a[k * 64 + lane()], b[k * 64 + lane()], acc, 0, 0, 0);
    acc = acc * a[k] + b[k];
  }
  c[lane()] = acc;
}

extern "C" __global__ void dot(float* out, const int* a, const int* b) {
  using half2 = _Float16 __attribute__((ext_vector_type(2)));
  float s = 0;
  int t = 0;
  for (int k = 0; k < 4; ++k) {
    s = __builtin_amdgcn_fdot2(__builtin_bit_cast(half2, a[index() + k]), __builtin_bit_cast(half2, b[k]), s,
                               false);
    t = __builtin_amdgcn_sdot4(a[k], b[index() + k], t, false);
  }
  out[index()] = s * (float)t;
}

// A chain of matrix instructions whose result is used at once, added to, stored and overwritten.
#define MATRIX(NAME, VECTOR, ELEMENT, INTRINSIC)                                                             \
  extern "C" __global__ void NAME(VECTOR* c, const ELEMENT* a, const ELEMENT* b, const float* f, int n) {    \
    VECTOR acc = c[lane()], second = c[lane() + 1];                                                          \
    for (int k = 0; k < n; ++k) {                                                                            \
      const ELEMENT x = a[k * 64 + lane()] + a[k], y = b[k * 64 + lane()] * b[k];                            \
      acc = INTRINSIC(x, y, acc, 0, 0, 0);                                                                   \
      second = INTRINSIC(y, x, acc, 0, 0, 0);                                                                \
      acc[1] *= f[k];                                                                                        \
      if (n & 1) c[k] = acc;                                                                                 \
      acc[0] = second[1] * f[k + 1];                                                                         \
    }                                                                                                        \
    c[lane()] = acc + second;                                                                                \
  }
using float32_ = float __attribute__((ext_vector_type(32)));
MATRIX(matrix_4x4_f32, float4_, float, __builtin_amdgcn_mfma_f32_4x4x1f32)
MATRIX(matrix_16x16_f32, float4_, float, __builtin_amdgcn_mfma_f32_16x16x4f32)
MATRIX(matrix_16x16_4b, float16_, half4, __builtin_amdgcn_mfma_f32_16x16x4f16)
MATRIX(matrix_32x32_f32, float16_, float, __builtin_amdgcn_mfma_f32_32x32x2f32)
MATRIX(matrix_32x32_f16, float16_, half4, __builtin_amdgcn_mfma_f32_32x32x8f16)
MATRIX(matrix_32x32_2b, float32_, half4, __builtin_amdgcn_mfma_f32_32x32x4f16)
MATRIX(matrix_16x16_f16, float4_, half4, __builtin_amdgcn_mfma_f32_16x16x16f16)

extern "C" __global__ void lane_select(int* out, const float* in, const int* pick) {
  const float v = in[index()];
  const int where = __builtin_amdgcn_readfirstlane((int)(v * 3.0f));
  int r = __builtin_amdgcn_readlane((int)v, where);
  r += __builtin_amdgcn_readlane(pick[index()], __builtin_amdgcn_readfirstlane(r) & 63);
  r = lane() == where ? r * where : r;
  if (__builtin_amdgcn_ballot_w64(v > 1.0f) & 1) r += out[where];
  out[index()] = r;
}

extern "C" __global__ void carries(unsigned long long* out, const unsigned long long* a, const unsigned* b) {
  const unsigned long long x = a[index()], y = a[index() + 1];
  const unsigned long long s = x * y + b[index()];
  out[index()] = s < x ? s : (x > y ? s + y : s * 3 + x);
}

extern "C" __global__ void wide_stores(float4_* out, const float4_* in, const int* flag) {
  float4_ v = in[index()];
  for (int k = 0; k < 6; ++k) {
    if (flag[index() + k] > 0) out[index() * 8 + k] = v;
    v = v * v + (float)k;
  }
  out[index() * 8 + 7] = v;
}
