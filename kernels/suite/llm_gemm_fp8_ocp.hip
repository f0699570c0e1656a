// For gfx950: the numbers are OCP's e4m3.
#include "gemm_fp8.h"
