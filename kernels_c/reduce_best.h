/* Included by reduce_isa.c once per arithmetic type TYPE, after best.h: the kernels of maxima and minima in row layout. */
#define T TYPE
#define NAME(x) EXACT_CAT(x, TYPE)
#define BEST_KERNELS(name, op)                                                                 \
  static void NAME(rows_##name)(const void *x, size_t n, size_t count, size_t room, void *y) { \
    (void)room;                                                                                \
    NAME(bests)(x, n, count, y, op);                                                           \
  }                                                                                            \
  static void NAME(more_##name)(const void *x, size_t n, void *state) { NAME(more_best)(x, n, state, op); }
BEST_KERNELS(max, BEST_MAX)
BEST_KERNELS(min, BEST_MIN)
#if IS_FLOAT
BEST_KERNELS(peak, BEST_PEAK)
#endif
#undef BEST_KERNELS
#undef T
#undef NAME
#undef TYPE
#undef IS_FLOAT
