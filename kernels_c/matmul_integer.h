#ifndef EXACT_MATMUL_INTEGER_H
#define EXACT_MATMUL_INTEGER_H
/* Private to MatMulInteger and QLinearMatMul: which input is what, the plan, packed constant B. A is in unsigned form, B in
 * signed form (integer.h). */
#include "integer.h"
#include "matmul.h"

/* Numbers of inputs; -1: the operator has none. */
typedef struct exact_product_inputs {
  int a, b, a_zero, b_zero, a_scale, b_scale, y_scale, y_zero;
} exact_product_inputs;

typedef struct exact_integer_product {
  exact_plan base;
  exact_matmul_shape s;
  exact_product_inputs at;
  const struct exact_integer_kernels *k;
  exact_form a_form, b_form;
  bool a_zeros, b_zeros, a_scales, b_scales; /* one for each row, for each column */
  int scale_dtype[3];                        /* of a, b, y */
  const void *packed;                        /* B; NULL: arrives with the run */
  size_t words, padded_n;
  size_t m_block, m_blocks, n_block, n_blocks, tasks;
  size_t pack_block, pack_blocks; /* columns of B that are prepared together */
  size_t ones_at, a_at, rows_at, b_at, sums_at, columns_at, zeros_at, scales_at;
} exact_integer_product;

/* Words of a packed matrix B, its sums not counted; false on overflow. */
bool exact_integer_b_size(const struct exact_integer_kernels *k, size_t n, size_t depth, size_t *words);
/* Packs columns [n0, n1) (whole panels) of a matrix B of n columns and `depth` rows into its panels: those of column n begin at
 * n * words. sums[n]: of the columns. */
void exact_integer_pack_b(const struct exact_integer_kernels *k, exact_form form, const uint8_t *src, size_t n, size_t depth,
                          size_t n0, size_t n1, const uint32_t *ones, uint32_t *dst, int32_t *sums);
/* p: base.op, base.out, s, at, the forms, types and `packed` are set. */
bool exact_integer_product_plan(exact_integer_product *p);
void exact_integer_product_run(const exact_call *call);
#endif
