/* Panels of MatMul and Gemm: rows or columns of a matrix side by side for the micro-kernel. */
#include "half.h"
#include "isa.h"
#include "matmul.h"

/* Panels of A have at most 8 rows: wider blocks would transpose rows that are not there. */
#if EXACT_VB > 32
#undef EXACT_VB
#define EXACT_VB 32
#endif

enum { WIDENED = 64 }; /* elements of a row that are widened at a time */

#define REAL float
#define SUFFIX 32
#include "matmul_pack.h"
#undef REAL
#undef SUFFIX
#define REAL double
#define SUFFIX 64
#include "matmul_pack.h"

extern void (*const EXACT_SYM(exact_matmul_pack)[2])(void *dst, size_t width, const void *src, size_t row_stride,
                                                     size_t k_stride, size_t rows, size_t k, int dtype);
void (*const EXACT_SYM(exact_matmul_pack)[2])(void *dst, size_t width, const void *src, size_t row_stride, size_t k_stride,
                                              size_t rows, size_t k, int dtype) = {pack32, pack64};
