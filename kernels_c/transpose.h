/* transposeSUFFIX: a square matrix of vectors in registers, x[i][j] <-> x[j][i], for one element type (REAL 4 or 8 bytes;
 * SUFFIX; TV, its vector type of EXACT_VB bytes). First within 128-bit lanes, then whole lanes among each other. */
#define TNAME3(name, suffix) name##suffix
#define TNAME2(name, suffix) TNAME3(name, suffix)
#define TNAME(name) TNAME2(name, SUFFIX)

#if EXACT_VB == 64
#define EACH4(a, b, c, d) a, b, c, d, a + 4, b + 4, c + 4, d + 4, a + 8, b + 8, c + 8, d + 8, a + 12, b + 12, c + 12, d + 12
#define EACH2(a, b) a, b, a + 2, b + 2, a + 4, b + 4, a + 6, b + 6
#elif EXACT_VB == 32
#define EACH4(a, b, c, d) a, b, c, d, a + 4, b + 4, c + 4, d + 4
#define EACH2(a, b) a, b, a + 2, b + 2
#else
#define EACH4(a, b, c, d) a, b, c, d
#define EACH2(a, b) a, b
#endif

#define MIX(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

/* Lanes: q[i] lane j <-> q[j] lane i of the EXACT_VB / 16 vectors q[0], q[step], ... */
EXACT_INLINE void TNAME(transpose_lanes)(TV *q, const size_t step) {
  (void)q;
  (void)step;
#if EXACT_VB > 16
  typedef double lanes __attribute__((vector_size(EXACT_VB)));
#if EXACT_VB == 64
  lanes a = (lanes)q[0], b = (lanes)q[step], c = (lanes)q[2 * step], d = (lanes)q[3 * step];
  lanes ab0 = MIX(a, b, 0, 1, 4, 5, 8, 9, 12, 13), ab1 = MIX(a, b, 2, 3, 6, 7, 10, 11, 14, 15);
  lanes cd0 = MIX(c, d, 0, 1, 4, 5, 8, 9, 12, 13), cd1 = MIX(c, d, 2, 3, 6, 7, 10, 11, 14, 15);
  q[0] = (TV)MIX(ab0, cd0, 0, 1, 4, 5, 8, 9, 12, 13);
  q[step] = (TV)MIX(ab1, cd1, 0, 1, 4, 5, 8, 9, 12, 13);
  q[2 * step] = (TV)MIX(ab0, cd0, 2, 3, 6, 7, 10, 11, 14, 15);
  q[3 * step] = (TV)MIX(ab1, cd1, 2, 3, 6, 7, 10, 11, 14, 15);
#else
  lanes a = (lanes)q[0], b = (lanes)q[step];
  q[0] = (TV)MIX(a, b, 0, 1, 4, 5);
  q[step] = (TV)MIX(a, b, 2, 3, 6, 7);
#endif
#endif
}

EXACT_INLINE void TNAME(transpose)(TV *x) {
  enum { N = EXACT_VB / sizeof(REAL), PER_LANE = 16 / sizeof(REAL) };
#if SUFFIX == 32
  EXACT_UNROLL
  for (size_t i = 0; i < N; i += 4) {
    TV a = MIX(x[i], x[i + 1], EACH4(0, N, 1, N + 1)), b = MIX(x[i], x[i + 1], EACH4(2, N + 2, 3, N + 3));
    TV c = MIX(x[i + 2], x[i + 3], EACH4(0, N, 1, N + 1)), d = MIX(x[i + 2], x[i + 3], EACH4(2, N + 2, 3, N + 3));
    x[i] = MIX(a, c, EACH4(0, 1, N, N + 1));
    x[i + 1] = MIX(a, c, EACH4(2, 3, N + 2, N + 3));
    x[i + 2] = MIX(b, d, EACH4(0, 1, N, N + 1));
    x[i + 3] = MIX(b, d, EACH4(2, 3, N + 2, N + 3));
  }
#else
  EXACT_UNROLL
  for (size_t i = 0; i < N; i += 2) {
    TV a = x[i], b = x[i + 1];
    x[i] = MIX(a, b, EACH2(0, N));
    x[i + 1] = MIX(a, b, EACH2(1, N + 1));
  }
#endif
  EXACT_UNROLL
  for (size_t i = 0; i < PER_LANE; i++) TNAME(transpose_lanes)(x + i, PER_LANE);
}

#undef MIX
#undef EACH4
#undef EACH2
#undef TNAME
#undef TNAME2
#undef TNAME3
