#ifndef EXACT_GEMM_H
#define EXACT_GEMM_H
/* The micro-kernel of every matrix product: a tile of C, a few rows by a few vectors, kept in registers over a run of k.
 *   C[i][j] = (first ? +0 : C[i][j]) + a[0][i] * b[0][j] + a[1][i] * b[1][j] + ...   in this order, each operation rounded
 * The lanes of a vector are columns of C, so that neither their number nor the size of a tile can change a bit. */
#include "exact_impl.h"

/* What follows the last product. NaN becomes the canonical NaN after everything here. */
typedef struct exact_epilogue {
  const void *row_bias;    /* added to every column of row i: row_bias[i]; may be NULL */
  const void *column_bias; /* added to every row of column j: column_bias[j]; may be NULL */
} exact_epilogue;

struct exact_gemm_kernels {
  size_t lanes;         /* elements of a vector */
  size_t rows, vectors; /* of the largest tile */
  /* a: [k][rows], b: [k][>= vectors * lanes] with rows ldb apart, c: rows ldc apart; last: NULL when more products follow;
   * ahead: k cache lines that will be wanted soon, fetched by tiles of more than 4 rows. */
  void (*tile)(size_t rows, size_t vectors, size_t k, const void *a, const void *b, size_t ldb, void *c, size_t ldc, bool first,
               const exact_epilogue *last, const void *ahead);
  /* The same with a: rows of k elements in place, lda apart. */
  void (*tile_rows)(size_t rows, size_t vectors, size_t k, const void *a, size_t lda, const void *b, size_t ldb, void *c,
                    size_t ldc, bool first, const exact_epilogue *last, const void *ahead);
};

/* Size of the next part when `left` remain and a part has at most `most`: the last two are evened out. */
static inline size_t exact_gemm_part(size_t left, size_t most) {
  if (left <= most) return left;
  return left < most + (most + 1) / 2 ? (left + 1) / 2 : most;
}
#endif
