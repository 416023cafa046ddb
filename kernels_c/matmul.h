#ifndef EXACT_MATMUL_H
#define EXACT_MATMUL_H
/* Private to MatMul and Gemm: the shape of a product, its plan, and the kernels that exist once per instruction set. */
#include "exact_impl.h"
#include "gemm.h"

/* Y[position] = A[..] * B[..]: m x k times k x n, elements of A and B at row * _row + k * _k and k * _k + column * _column.
 * A position of the stack takes the matrix at the sum of index * step over the axes, last axis fastest. */
typedef struct exact_matmul_shape {
  int dtype;
  size_t m, n, k;
  size_t a_row, a_k, b_k, b_column; /* of each pair one is 1 */
  bool swapped;                     /* A is input 1, B input 0 */
  int axes;
  size_t size[EXACT_MAX_RANK], a_step[EXACT_MAX_RANK], b_step[EXACT_MAX_RANK];
  size_t positions, a_count, b_count; /* of Y; different matrices of A and B */
  float alpha, beta;
  bool c;                 /* beta * C is added */
  size_t c_row, c_column; /* 0: broadcast */
} exact_matmul_shape;

/* What follows the sums over k, for a part of Y: y = alpha * y, then y + beta * c where c is not NULL, then NaN canonical. */
typedef struct exact_matmul_finish {
  int dtype; /* of c */
  float alpha, beta;
  const void *c;
  size_t c_row, c_column;
} exact_matmul_finish;

struct exact_matmul_kernels {
  /* [0] for float32, float16 and bfloat16, [1] for float64. */
  /* dst[p][width]: dst[p * width + r] = src[r * row_stride + p * k_stride], widened, r < rows; the columns from `rows` on hold
   * anything. One of the strides is 1; width is rows or a multiple of the vector. */
  void (*const *pack)(void *dst, size_t width, const void *src, size_t row_stride, size_t k_stride, size_t rows, size_t k,
                      int dtype);
  void (*finish[2])(const exact_matmul_finish *f, void *y, size_t y_stride, size_t rows, size_t n);
  /* y[i][j] = +0 + a[i][0] * b[0][j] + ... in place, for float32, float64 and unsigned integers of 32 and 64 bits. */
  void (*direct[4])(void *y, size_t y_stride, const void *a, size_t a_row, size_t a_k, const void *b, size_t b_k, size_t rows,
                    size_t n, size_t k);
};

typedef struct exact_matmul_plan {
  exact_plan base;
  exact_matmul_shape s;
  const struct exact_gemm_kernels *gemm; /* NULL for integers */
  const struct exact_matmul_kernels *kernels;
  const void *packed;   /* B, packed; NULL: arrives with the run */
  size_t element, real; /* bytes in memory and in the arithmetic */
  int kind;
  bool half;
  bool direct; /* nothing is packed, and the sums stand in Y */
  bool a_in_place, b_in_place;
  bool a_shared, b_shared; /* packed before the products, else by each task for itself */
  bool bias, pass;         /* beta * C is a row that the micro-kernel adds; alpha and C need a pass of their own */
  size_t k_block, k_blocks, m_block, m_blocks, n_block, n_blocks, tasks;
  size_t padded_n;
  size_t a_at, b_at, bias_at, slots_at, slot; /* workspace */
  size_t a_part, b_part, c_part, c_stride;    /* of a slot */
} exact_matmul_plan;

static inline size_t exact_smaller(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t exact_quotient(size_t a, size_t b) { return a / b + (a % b != 0); }

/* Columns of the panel of B that starts with `left` to go, and its width with those that fill up the last vector. */
static inline size_t exact_matmul_width(const struct exact_gemm_kernels *gemm, size_t left) {
  return exact_gemm_part(exact_quotient(left, gemm->lanes), gemm->vectors) * gemm->lanes;
}

static inline const struct exact_gemm_kernels *exact_matmul_gemm(const exact_op *op) {
  bool fast = op->mode == EXACT_MODE_FAST;
  if (op->dtype == EXACT_FLOAT64) return fast ? op->isa->fast_gemm64 : op->isa->gemm64;
  return fast ? op->isa->fast_gemm32 : op->isa->gemm32;
}

/* ---- matmul.c: the shapes, for products of 8-bit integers too ---- */
/* Checks the shapes and sets rank and dimensions of y; dimensions may be -1. */
int exact_matmul_output(const exact_tensor *a, const exact_tensor *b, bool trans_a, bool trans_b, exact_tensor *y,
                        exact_error *err);
/* The product, all dimensions known and y not empty. */
exact_matmul_shape exact_matmul_product(const exact_tensor *a, const exact_tensor *b, bool trans_a, bool trans_b);

/* ---- matmul_plan.c ---- */
/* Cuts `size` into blocks of whole units, `wanted` of them or the least number of at most `most`. The last block may be longer
 * than the others, never shorter than a unit unless it is the only one. */
void exact_matmul_cut(size_t size, size_t unit, size_t most, size_t wanted, size_t *block, size_t *blocks);
int exact_matmul_plan_new(const exact_op *op, const exact_matmul_shape *s, const void *packed, const exact_tensor *y,
                          exact_plan **plan, exact_error *err);

/* ---- matmul_run.c ---- */
/* Packs columns [n0, n1) (whole panels) of products [k0, k1) of one matrix B into its panels: those of column n begin at
 * n * k, [k][width] each. */
typedef struct exact_matmul_b {
  const struct exact_gemm_kernels *gemm;
  const struct exact_matmul_kernels *kernels;
  int dtype;
  size_t n, k, b_k, b_column;
} exact_matmul_b;
void exact_matmul_pack_b(const exact_matmul_b *b, const void *src, void *dst, size_t k0, size_t k1);
void exact_matmul_run(const exact_call *call);
#endif
