#ifndef EXACT_CUMSUM_H
#define EXACT_CUMSUM_H
/* CumSum and CumProd. docs/cumsum.md */
#include "exact_impl.h"

/* Arithmetic types; signed integers as unsigned ones. */
enum { CUM_F32, CUM_F64, CUM_U32, CUM_U64, CUM_TYPES };
enum { CUM_SUM, CUM_PROD };

/* `state` is the running value of each line, before and after. */
struct exact_cumsum_kernels {
  /* Lines along rows: `count` rows of n > 0 elements one after the other. */
  void (*rows[CUM_TYPES][2])(const void *x, size_t n, size_t count, bool exclusive, bool reverse, void *state, void *y);
  /* Lines across rows: `rows` > 0 rows of `width` elements, `pitch` apart. */
  void (*columns[CUM_TYPES][2])(const void *x, size_t rows, size_t pitch, size_t width, bool exclusive, bool reverse,
                                void *state, void *y);
};
#endif
