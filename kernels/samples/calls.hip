// The calling convention: arguments beyond the registers and results returned through the stack, calls
// through pointers that differ from lane to lane, virtual functions, indirect calls that call on, stack of a
// size known only at run time, values that live across calls.
#include "device.h"

struct Matrix {
  float at[4][4];
};

__device__ __noinline__ static Matrix product(const Matrix& a, Matrix b) {
  Matrix c;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      c.at[i][j] = 0;
      for (int k = 0; k < 4; ++k) c.at[i][j] += a.at[i][k] * b.at[k][j];
    }
  return c;
}

/// out = in * in * in, one 4x4 matrix a lane.
extern "C" __global__ void cube(const Matrix* in, Matrix* out, uint n) {
  const uint i = index_x();
  if (i < n) out[i] = product(in[i], product(in[i], in[i]));
}

__device__ __noinline__ static double many(double a, int b, double c, long d, float e, short f, double g,
                                           double h, int i, double j, double k, double l, double m, double n,
                                           double o, long p, double q, double r, char s, double t) {
  return a - b + c * static_cast<double>(d) - e + f * g + h - i * j + k * l - m * n + o -
         static_cast<double>(p) + q * r - s + t;
}

extern "C" __global__ void many_arguments(const double* in, double* out) {
  const uint i = index_x();
  const double x = in[i];
  const double first = many(x, 2, 3, 4, 5, 6, x, 8, 9, 10, x, 12, 13, x, 15, 16, 17, x, 19, 20);
  out[i] = many(first, 1, x, 2, 3, 4, 5, x, 6, 7, 8, 9, x, 10, 11, 12, x, 13, 14, 15) + first;
}

struct Shape {
  float size;
  __device__ Shape(float s) : size(s) {}
  __device__ virtual float area() const { return 0; }
  __device__ virtual float around() const { return 4 * size; }
};
struct Square final : Shape {
  using Shape::Shape;
  __device__ float area() const override { return size * size; }
};
struct Circle final : Shape {
  using Shape::Shape;
  __device__ float area() const override { return 3.14159265f * size * size; }
  __device__ float around() const override { return 2 * 3.14159265f * size; }
};

__device__ __noinline__ static float describe(const Shape& shape) {
  return shape.area() + 1000 * shape.around();
}

/// Objects on the stack, virtual calls that differ from lane to lane.
extern "C" __global__ void shapes(const float* sizes, float* out) {
  const float size = sizes[index_x()];
  const Square square(size);
  const Circle circle(size);
  out[index_x()] = lane_x() % 3 == 0 ? describe(circle) : describe(square);
}

using Operation = int (*)(int, int);
__device__ static int add(int a, int b) {
  return a + b;
}
__device__ static int subtract(int a, int b) {
  return a - b;
}
__device__ static int multiply(int a, int b) {
  return a * b;
}
__device__ static int nested(int a, int b);
__device__ static const Operation operations[] = {add, subtract, multiply, nested};
/// An indirect call from within one.
__device__ static int nested(int a, int b) {
  return operations[static_cast<uint>(a) % 3](a, b) + operations[static_cast<uint>(b) % 3](b, a);
}

/// Lanes call different functions, in a loop whose state must survive the calls.
extern "C" __global__ void indirect(const int* in, int* out, int rounds) {
  int value = in[index_x()], sum = 0;
  for (int k = 0; k < rounds; ++k) {
    const int result = operations[static_cast<uint>(value + k) % 4](value, k + 3);
    sum = sum * 3 + result;
    value = result % 1001;
  }
  out[index_x()] = sum + value;
}

/// Sorts n values of each lane on a stack that is as large as the launch says.
__device__ __noinline__ static void sort(const int* in, int* out, uint n) {
  int* own = static_cast<int*>(__builtin_alloca(n * sizeof(int)));
  for (uint k = 0; k < n; ++k) {
    uint at = k;
    for (; at > 0 && own[at - 1] > in[k]; --at) own[at] = own[at - 1];
    own[at] = in[k];
  }
  for (uint k = 0; k < n; ++k) out[k] = own[k];
}
extern "C" __global__ void sort_rows(const int* in, int* out, uint n) {
  const uint i = index_x() * n;
  sort(in + i, out + i, n);
}

/// Two functions that recurse into each other; frames hold an array each.
__device__ __noinline__ static int odd_step(const int* seen, int n);
__device__ __noinline__ static int even_step(const int* seen, int n) {
  int own[3] = {n, seen[1] + 1, seen[2]};
  return n <= 0 ? own[1] * 100 + own[2] : odd_step(own, n - 1);
}
__device__ __noinline__ static int odd_step(const int* seen, int n) {
  int own[3] = {n, seen[1], seen[2] + 2};
  return n <= 0 ? own[1] * 100 + own[2] : even_step(own, n - 1);
}
extern "C" __global__ void mutual(const int* in, int* out) {
  const int start[3] = {0, 0, 0};
  out[index_x()] = even_step(start, in[index_x()]);
}
