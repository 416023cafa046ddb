/* The micro-kernel for one element type. Included by gemm_isa.c with REAL, INTEGER (of the same size), NAN_BITS and SUFFIX. */
#define NAME3(name, suffix) name##suffix
#define NAME2(name, suffix) NAME3(name, suffix)
#define NAME(name) NAME2(name, SUFFIX)
#define V NAME(vector)
#define VI NAME(lanes)
#define TILE NAME(tile)
#define RUN NAME(run)
#define RUN_ROWS NAME(run_rows)

typedef REAL V __attribute__((vector_size(EXACT_VB), aligned(sizeof(REAL)), may_alias));
typedef INTEGER VI __attribute__((vector_size(EXACT_VB)));
enum { NAME(count) = EXACT_VB / sizeof(REAL) };

EXACT_INLINE V NAME(finish)(V c) {
  VI ordered = (VI)(c == c);
  return (V)(((VI)c & ordered) | (((VI){0} + NAN_BITS) & ~ordered));
}

/* a[i * a_row + p * a_k]: either packed, 1 and rows, or rows in place, their distance and 1. */
EXACT_INLINE void TILE(const size_t rows, const size_t vectors, size_t k, const REAL *a, const size_t a_row, const size_t a_k,
                       const REAL *b, size_t ldb, REAL *c, size_t ldc, bool first, const exact_epilogue *last,
                       const char *ahead) {
  V acc[ROWS][VECTORS];
  EXACT_UNROLL
  for (size_t i = 0; i < rows; i++) {
    EXACT_UNROLL
    for (size_t j = 0; j < vectors; j++) acc[i][j] = first ? (V){0} : *(const V *)(c + i * ldc + j * NAME(count));
  }
  for (size_t p = 0; p < k; p++) {
    V right[VECTORS];
    if (rows <= FEW) {
      EXACT_UNROLL
      for (size_t j = 0; j < vectors; j++) __builtin_prefetch((const char *)b + (AHEAD * ldb + j * NAME(count)) * sizeof(REAL));
    } else {
      __builtin_prefetch(ahead + 64 * p);
    }
    EXACT_UNROLL
    for (size_t j = 0; j < vectors; j++) right[j] = *(const V *)(b + j * NAME(count));
    EXACT_UNROLL
    for (size_t i = 0; i < rows; i++) {
      EXACT_UNROLL
      for (size_t j = 0; j < vectors; j++) {
        V product = right[j] * a[i * a_row];
        KEEP(product);
        acc[i][j] += product;
      }
    }
    a += a_k;
    b += ldb;
  }
  if (last) {
    const REAL *row = last->row_bias, *column = last->column_bias;
    EXACT_UNROLL
    for (size_t i = 0; i < rows; i++) {
      EXACT_UNROLL
      for (size_t j = 0; j < vectors; j++) {
        V y = acc[i][j];
        if (row) y = y + row[i];
        if (column) y = y + *(const V *)(column + j * NAME(count));
        acc[i][j] = NAME(finish)(y);
      }
    }
  }
  EXACT_UNROLL
  for (size_t i = 0; i < rows; i++) {
    EXACT_UNROLL
    for (size_t j = 0; j < vectors; j++) *(V *)(c + i * ldc + j * NAME(count)) = acc[i][j];
  }
}

/* clang-format off */
#if ROWS == 8
#define SHAPES                                                                              \
  SHAPE(1, 1) SHAPE(2, 1) SHAPE(3, 1) SHAPE(4, 1) SHAPE(5, 1) SHAPE(6, 1) SHAPE(7, 1) SHAPE(8, 1) \
  SHAPE(1, 2) SHAPE(2, 2) SHAPE(3, 2) SHAPE(4, 2) SHAPE(5, 2) SHAPE(6, 2) SHAPE(7, 2) SHAPE(8, 2) \
  SHAPE(1, 3) SHAPE(2, 3) SHAPE(3, 3) SHAPE(4, 3) SHAPE(5, 3) SHAPE(6, 3) SHAPE(7, 3) SHAPE(8, 3)
#else
#define SHAPES                                                        \
  SHAPE(1, 1) SHAPE(2, 1) SHAPE(3, 1) SHAPE(4, 1) SHAPE(5, 1) SHAPE(6, 1) \
  SHAPE(1, 2) SHAPE(2, 2) SHAPE(3, 2) SHAPE(4, 2) SHAPE(5, 2) SHAPE(6, 2)
#endif
/* clang-format on */

static void RUN(size_t rows, size_t vectors, size_t k, const void *a, const void *b, size_t ldb, void *c, size_t ldc,
                bool first, const exact_epilogue *last, const void *ahead) {
#define SHAPE(rows, vectors) \
  case 4 * (rows) + (vectors): TILE(rows, vectors, k, a, 1, rows, b, ldb, c, ldc, first, last, ahead); break;
  switch (4 * rows + vectors) { SHAPES }
#undef SHAPE
}

static void RUN_ROWS(size_t rows, size_t vectors, size_t k, const void *a, size_t lda, const void *b, size_t ldb, void *c,
                     size_t ldc, bool first, const exact_epilogue *last, const void *ahead) {
#define SHAPE(rows, vectors) \
  case 4 * (rows) + (vectors): TILE(rows, vectors, k, a, lda, 1, b, ldb, c, ldc, first, last, ahead); break;
  switch (4 * rows + vectors) { SHAPES }
#undef SHAPE
}

#undef SHAPES
#undef RUN
#undef RUN_ROWS
#undef TILE
#undef VI
#undef V
#undef NAME
#undef NAME2
#undef NAME3
