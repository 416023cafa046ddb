#ifndef EXACT_GEMM_H
#define EXACT_GEMM_H
/* The micro-kernel of every matrix product: a tile of C, at most 6 rows by 2 vectors, kept in registers over a run of k.
 *   C[i][j] = (first ? +0 : C[i][j]) + a[0][i] * b[0][j] + a[1][i] * b[1][j] + ...   in this order, each operation rounded
 * The lanes of a vector are columns of C, so that the width of a vector cannot change a bit. */
#include "exact_impl.h"

enum { EXACT_GEMM_ROWS = 6, EXACT_GEMM_VECTORS = 2 };

/* What follows the last product. NaN becomes the canonical NaN after everything here. */
typedef struct exact_epilogue {
  const void *row_bias;    /* added to every column of row i: row_bias[i]; may be NULL */
  const void *column_bias; /* added to every row of column j: column_bias[j]; may be NULL */
} exact_epilogue;

struct exact_gemm_kernels {
  int lanes; /* elements of a vector */
  /* a: [k][rows], b: [k][>= vectors * lanes] with rows ldb apart, c: rows ldc apart; last: NULL when more products follow. */
  void (*tile)(int rows, int vectors, size_t k, const void *a, const void *b, size_t ldb, void *c, size_t ldc, bool first,
               const exact_epilogue *last);
};

/* Rows of the next panel when `left` remain: sixes, then such fours, threes and fives that no panel of 1 or 2 is left over. */
static inline int exact_gemm_rows(size_t left) {
  if (left <= EXACT_GEMM_ROWS) return (int)left;
  return left == 7 || left == 8 ? 4 : EXACT_GEMM_ROWS;
}
#endif
