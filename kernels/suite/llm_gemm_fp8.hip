// For gfx942: the numbers are e4m3 FNUZ.
#include "gemm_fp8.h"
