/* Included by unary_isa.c once per integer type: INTEGER, its name SUFFIX, and whether it is SIGNED. Sums and differences wrap
 * around. */
#define NAME(x) EXACT_CAT(x, SUFFIX)
#define LOOP(name, expression)                                                             \
  static void NAME(name)(const exact_unary_args *a, const void *in, void *out, size_t n) { \
    const INTEGER *x = in, lo = (INTEGER)a->lo, hi = (INTEGER)a->hi;                       \
    INTEGER *y = out;                                                                      \
    (void)lo, (void)hi;                                                                    \
    EXACT_INDEPENDENT for (size_t i = 0; i < n; i++) {                                     \
      INTEGER v = x[i];                                                                    \
      y[i] = (INTEGER)(expression);                                                        \
    }                                                                                      \
  }
EXACT_INLINE INTEGER NAME(least)(INTEGER a, INTEGER b) { return a < b ? a : b; }
EXACT_INLINE INTEGER NAME(greatest)(INTEGER a, INTEGER b) { return a > b ? a : b; }

LOOP(clip, NAME(least)(hi, NAME(greatest)(lo, v)))
#if SIGNED
LOOP(sign, (v > 0) - (v < 0))
LOOP(absolute, v < 0 ? 0 - (uint64_t)v : (uint64_t)v)
LOOP(relu, v > 0 ? v : 0)
LOOP(neg, 0 - (uint64_t)v)
#else
LOOP(sign, v > 0)
LOOP(absolute, v)
#endif
#undef NAME
#undef LOOP
#undef INTEGER
#undef SUFFIX
