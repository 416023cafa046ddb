/* Pools with lanes = planes for one arithmetic type (REAL, INTEGER of its size, NAN_BITS, MAGNITUDE: all bits but the sign,
 * SUFFIX, MAX(x, m) = x > m ? x : m, ROOT(x)).
 * Elements are stored [position][lane]. Included by pool_lanes_isa.c. */
#define NAME3(name, suffix) name##suffix
#define NAME2(name, suffix) NAME3(name, suffix)
#define NAME(name) NAME2(name, SUFFIX)
#define TV NAME(vector)
#define LANES (EXACT_VB / sizeof(REAL))

typedef REAL TV __attribute__((vector_size(EXACT_VB), aligned(sizeof(REAL)), may_alias));
typedef INTEGER NAME(bits) __attribute__((vector_size(EXACT_VB)));
#include "transpose.h"

/* LANES elements of a plane, of type REAL or a 16-bit type, from and to a vector. */
EXACT_INLINE TV NAME(load)(const char *src, size_t at, int dtype) {
  if (dtype == EXACT_FLOAT32 || dtype == EXACT_FLOAT64) return *(const TV *)(src + at * sizeof(REAL));
  float wide[LANES];
  TV v;
  exact_load_row(wide, src + at * 2, LANES, dtype);
  for (size_t i = 0; i < LANES; i++) v[i] = wide[i];
  return v;
}
EXACT_INLINE void NAME(store)(char *dst, size_t at, TV v, int dtype) {
  if (dtype == EXACT_FLOAT32 || dtype == EXACT_FLOAT64) {
    *(TV *)(dst + at * sizeof(REAL)) = v;
    return;
  }
  float wide[LANES];
  for (size_t i = 0; i < LANES; i++) wide[i] = (float)v[i];
  exact_store_row(dst + at * 2, wide, LANES, dtype);
}

/* Blocks of LANES positions; a last one that is not full starts earlier. A plane has at least LANES elements. */
static void NAME(planes_in)(void *dst, const void *src, size_t n, int dtype) {
  const size_t size = exact_dtype_size(dtype);
  for (size_t i = 0;; i = i + 2 * LANES <= n ? i + LANES : n - LANES) {
    TV block[LANES];
    EXACT_UNROLL
    for (size_t p = 0; p < LANES; p++) block[p] = NAME(load)((const char *)src + p * n * size, i, dtype);
    NAME(transpose)(block);
    EXACT_UNROLL
    for (size_t p = 0; p < LANES; p++) *(TV *)((REAL *)dst + (i + p) * LANES) = block[p];
    if (i + LANES == n) return;
  }
}

static void NAME(planes_out)(void *dst, const void *src, size_t n, size_t skipped, int dtype) {
  const size_t size = exact_dtype_size(dtype);
  const REAL *x = src;
  if (n < LANES) {
    for (size_t p = skipped; p < LANES; p++)
      for (size_t i = 0; i < n; i++) {
        char *to = (char *)dst + (p * n + i) * size;
        if (size == sizeof(REAL))
          *(REAL *)to = x[i * LANES + p];
        else
          exact_store_row(to, &(float){(float)x[i * LANES + p]}, 1, dtype);
      }
    return;
  }
  for (size_t i = 0;; i = i + 2 * LANES <= n ? i + LANES : n - LANES) {
    TV block[LANES];
    EXACT_UNROLL
    for (size_t p = 0; p < LANES; p++) block[p] = *(const TV *)(x + (i + p) * LANES);
    NAME(transpose)(block);
    EXACT_UNROLL
    for (size_t p = 0; p < LANES; p++)
      if (p >= skipped) NAME(store)((char *)dst + p * n * size, i, block[p], dtype);
    if (i + LANES == n) return;
  }
}

EXACT_INLINE TV NAME(fold)(int fold, TV acc, TV x) {
  if (fold == POOL_MAX) return (TV)MAX(x, acc);
  if (fold == POOL_L1) return acc + (TV)((NAME(bits))x & MAGNITUDE);
  if (fold == POOL_L2) x = x * x;
  return acc + x;
}

EXACT_INLINE bool NAME(windows)(const exact_pool_windows *w, int fold) {
  const exact_pool_taps *axis = w->axis;
  const size_t line = (size_t)axis[2].in * LANES, slice = (size_t)axis[1].in * line;
  const size_t deeper = axis[0].dilation * slice, lower = axis[1].dilation * line, next = axis[2].dilation * LANES;
  REAL *dst = w->dst;
  NAME(bits) low = {0};
  for (size_t od = 0; od < axis[0].out; od++)
    for (size_t oh = 0; oh < axis[1].out; oh++)
      for (size_t ow = 0; ow < axis[2].out; ow++, dst += LANES) {
        const exact_pool_range d = axis[0].ranges[od], h = axis[1].ranges[oh], c = axis[2].ranges[ow];
        const REAL *plane = (const REAL *)w->src + d.first * slice + h.first * line + c.first * LANES;
        TV acc = (TV){0} + (REAL)(fold == POOL_MAX ? -__builtin_inff() : 0);
        for (size_t i = 0; i < d.taps; i++, plane += deeper) {
          const REAL *row = plane;
          for (size_t j = 0; j < h.taps; j++, row += lower) {
            const REAL *x = row;
            for (size_t k = 0; k < c.taps; k++, x += next) acc = NAME(fold)(fold, acc, *(const TV *)x);
          }
        }
        if (fold == POOL_MEAN) acc /= (TV){0} + (REAL)(d.count * h.count * c.count);
        if (fold == POOL_L2) acc = (TV)ROOT(acc);
        if (fold != POOL_MAX) {
          NAME(bits) number = (NAME(bits))(acc == acc);
          acc = (TV)(((NAME(bits))acc & number) | (NAN_BITS & ~number));
        } else {
          low |= (NAME(bits))(acc == (REAL)-__builtin_inff());
        }
        *(TV *)dst = acc;
      }
  for (size_t i = 0; i < LANES; i++)
    if (low[i]) return true;
  return false;
}

static bool NAME(lane_windows)(const exact_pool_windows *w) {
  switch (w->fold) {
    case POOL_MEAN: return NAME(windows)(w, POOL_MEAN);
    case POOL_L1: return NAME(windows)(w, POOL_L1);
    case POOL_L2: return NAME(windows)(w, POOL_L2);
    default: return NAME(windows)(w, POOL_MAX);
  }
}

const struct exact_pool_lane_kernels EXACT_SYM(NAME(exact_pool_lanes)) = {LANES, NAME(planes_in), NAME(lane_windows),
                                                                          NAME(planes_out)};

#undef NAME3
#undef NAME2
#undef NAME
#undef TV
#undef LANES
#undef REAL
#undef INTEGER
#undef NAN_BITS
#undef MAGNITUDE
#undef SUFFIX
#undef MAX
#undef ROOT
