/* MatMul and Gemm around the micro-kernel: what follows the sums, and products of few rows or of integers in place. */
#include "half.h"
#include "isa.h"
#include "matmul.h"

#define REAL float
#define SUFFIX _f32
#define FLOATING 1
#include "matmul_rows.h"
#undef REAL
#undef SUFFIX
#define REAL double
#define SUFFIX _f64
#include "matmul_rows.h"
#undef REAL
#undef SUFFIX
#undef FLOATING
#define REAL uint32_t
#define SUFFIX _u32
#define FLOATING 0
#include "matmul_rows.h"
#undef REAL
#undef SUFFIX
#define REAL uint64_t
#define SUFFIX _u64
#include "matmul_rows.h"

extern void (*const EXACT_SYM(exact_matmul_pack)[2])(void *dst, size_t width, const void *src, size_t row_stride,
                                                     size_t k_stride, size_t rows, size_t k, int dtype);
extern const struct exact_matmul_kernels EXACT_SYM(exact_matmul);
const struct exact_matmul_kernels EXACT_SYM(exact_matmul) = {
    .pack = EXACT_SYM(exact_matmul_pack),
    .finish = {finish_f32, finish_f64},
    .direct = {direct_f32, direct_f64, direct_u32, direct_u64},
};
