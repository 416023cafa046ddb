#ifndef EXACT_INTEGER_H
#define EXACT_INTEGER_H
/* Products of 8-bit integers, exact in int32, wrapping: what MatMulInteger, QLinearMatMul, ConvInteger and QLinearConv share.
 *
 * Every operand has a form in which an instruction multiplies it: unsigned (0 to 255; an int8 number + 128) or signed (-128 to
 * 127; a uint8 number - 128), and its zero point is shifted alike. A word holds 2 or 4 (`group`) consecutive products' numbers
 * of one row or column. The micro-kernel sums form * form; since all is modulo 2^32, the zero points follow afterwards:
 *   sum (a - za) * (b - zb) = sum a * b - zb * sum a - za * (sum b - k * zb)                                    */
#include "exact_impl.h"
#include "gemm.h" /* exact_gemm_part */

/* How a tensor's bytes become a form: byte ^ flip, then taken as signed or unsigned. */
typedef struct exact_form {
  uint8_t flip;
  bool is_signed;
} exact_form;

static inline exact_form exact_form_of(int dtype, bool is_signed) {
  return (exact_form){(dtype == EXACT_INT8) != is_signed ? 0x80 : 0, is_signed};
}
static inline int32_t exact_form_value(exact_form f, uint8_t byte) {
  uint8_t v = byte ^ f.flip;
  return f.is_signed ? (int8_t)v : v;
}

/* One row of the result: its zero point and the sum of its numbers, both in form; what is added (a bias); the requantisation.
 */
typedef struct exact_integer_row {
  int32_t zero, sum, add, y_zero;
  float scale, y_scale;
} exact_integer_row;

/* Columns of the result that are stored together: `length` from column `from` of the panel on, at y + to. */
typedef struct exact_integer_run {
  size_t from, length, to;
} exact_integer_run;

/* What follows the sums for the rows of a tile. columns: sum b - k * zb, NULL when all rows have zero 0. */
typedef struct exact_integer_finish {
  int dtype; /* of y: int32, uint8 or int8 */
  const int32_t *columns;
  const int32_t *zeros; /* of the columns, in form; NULL: `zero` for all */
  const float *scales;  /* NULL: `scale` for all */
  int32_t zero;
  float scale;
  void *y;
  size_t y_stride; /* elements between rows */
  const exact_integer_run *runs;
  size_t n_runs;
} exact_integer_finish;

enum { EXACT_INTEGER_ROWS = 8, EXACT_INTEGER_WIDTH = 64 }; /* of a tile at most */

struct exact_integer_kernels {
  size_t group;         /* numbers in a word */
  size_t lanes;         /* words of a vector */
  size_t rows, vectors; /* of the largest tile */
  /* c[rows][vectors * lanes] = sums over `words` of a[word][rows] * b[word][vectors * lanes]. [0]: a is in unsigned form and b
   * in signed form; [1]: the other way round. */
  void (*tile[2])(size_t rows, size_t vectors, size_t words, const uint32_t *a, const uint32_t *b, int32_t *c);
  /* dst[word][rows] from rows of k bytes, row_stride apart; what fills up the last word is 0. */
  void (*pack_rows)(uint32_t *dst, const uint8_t *src, size_t row_stride, size_t rows, size_t k, exact_form form);
  /* dst[words][width] from columns [0, n) of rows of bytes: row k begins at src + at[k]. Columns from n on are 0. at: words *
   * group places. */
  void (*pack_columns)(uint32_t *dst, const uint8_t *src, const size_t *at, size_t words, size_t n, size_t width,
                       exact_form form);
  /* The sums of one row without a panel: c[n] = sums over `words` of a[word] * the word of the column, in unsigned form; a in
   * signed form. n is a multiple of lanes. */
  void (*line)(const uint32_t *a, const uint8_t *src, const size_t *at, size_t words, size_t n, exact_form form, int32_t *c);
  int32_t (*sum)(const uint8_t *src, size_t n, exact_form form);
  void (*finish)(const exact_integer_finish *f, const exact_integer_row *row, size_t rows, const int32_t *acc, size_t width);
  /* The same for one row of n columns, a multiple of lanes, to `out` as they come. */
  void (*finish_line)(const exact_integer_finish *f, const exact_integer_row *row, const int32_t *acc, size_t n, void *out);
};

static inline size_t exact_integer_words(const struct exact_integer_kernels *k, size_t n) {
  return n / k->group + (n % k->group != 0);
}
/* Columns of the panel that starts with `left` to go, with those that fill up its last vector. */
static inline size_t exact_integer_width(const struct exact_integer_kernels *k, size_t left) {
  return exact_gemm_part((left + k->lanes - 1) / k->lanes, k->vectors) * k->lanes;
}
static inline size_t exact_integer_padded(const struct exact_integer_kernels *k, size_t columns) {
  return (columns + k->lanes - 1) / k->lanes * k->lanes;
}
static inline bool exact_is_byte(int dtype) { return dtype == EXACT_UINT8 || dtype == EXACT_INT8; }

/* ---- integer.c ---- */
/* ones[words]: every number of a product is 1, what fills up the last word is 0. */
void exact_integer_ones(const struct exact_integer_kernels *k, size_t n, uint32_t *ones);
/* Element of an array of scales (float32, float16, bfloat16), and of zero points in form; `array` NULL: 1, or that of 0. */
float exact_integer_scale(const void *array, int dtype, size_t i);
int32_t exact_integer_zero(const void *array, size_t i, exact_form form);
/* Number of a zero point of y. */
int32_t exact_integer_y_zero(const void *array, int dtype);
/* x and its zero point: both of 8 bits and of one type. */
int exact_integer_types(const exact_tensor *x, const char *what, const exact_tensor *zero, exact_error *err);
/* Scales: of a float type that is served. y_zero: of 8 bits. */
int exact_integer_scales(const exact_tensor *const scale[3], const exact_tensor *y_zero, exact_error *err);
/* One element. */
static inline bool exact_is_one(const exact_tensor *t) {
  return t->rank == 0 || (t->rank == 1 && (t->dims[0] == 1 || t->dims[0] < 0));
}
#endif
