/* Included by pool_isa.c for float and double, with the definitions of pool_rows.h: planes reduced along their elements. */
static void NAME(mean_rows)(const exact_pool_rows *r) { NAME(windows)(r, true); }

static void NAME(sum_few)(const void *src, size_t step, size_t n, size_t planes, void *acc) {
  enum { CHAINS = 8 }; /* independent, to hide the latency of an addition */
  const T *x = src;
  T *sum = acc;
  for (; planes >= CHAINS; planes -= CHAINS, x += CHAINS * step, sum += CHAINS) {
    T s[CHAINS];
    memcpy(s, sum, sizeof s);
    for (size_t i = 0; i < n; i++) {
      EXACT_UNROLL
      for (size_t p = 0; p < CHAINS; p++) s[p] += x[p * step + i];
    }
    memcpy(sum, s, sizeof s);
  }
  for (size_t p = 0; p < planes; p++)
    for (size_t i = 0; i < n; i++) sum[p] += x[p * step + i];
}

static void NAME(max_plane)(const void *src, size_t n, void *max) {
  const T *x = src;
  T most = *(T *)max;
  const bool was_zero = most == 0;
  V m[4] = {NAME(fill)(most), NAME(fill)(most), NAME(fill)(most), NAME(fill)(most)};
  size_t i = 0;
  for (; i + 4 * LANES <= n; i += 4 * LANES) {
    EXACT_UNROLL
    for (size_t k = 0; k < 4; k++) m[k] = MAX(NAME(load)(x + i + k * LANES), m[k]);
  }
  for (; i + LANES <= n; i += LANES) m[0] = MAX(NAME(load)(x + i), m[0]);
  m[0] = MAX(m[1], m[0]);
  m[2] = MAX(m[3], m[2]);
  m[0] = MAX(m[2], m[0]);
  for (size_t k = 0; k < LANES; k++) most = m[0][k] > most ? m[0][k] : most;
  for (; i < n; i++) most = x[i] > most ? x[i] : most;
  /* The lanes went out of order: a zero takes the sign of the first. */
  if (most == 0 && was_zero) return;
  for (i = 0; most == 0 && i < n; i++)
    if (x[i] == 0) {
      most = x[i];
      break;
    }
  *(T *)max = most;
}
