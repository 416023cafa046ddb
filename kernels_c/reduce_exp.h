/* Included by reduce_exp.c once per arithmetic type T, with EXP and LOG of arrays; NAME(x) = x with the type's suffix. */
static void NAME(more)(const T *x, size_t n, const exact_exp_sum *s) {
  T e[PIECE], best = *(const T *)s->best, sum = *(T *)s->sum;
  for (size_t i = 0, part; i < n; i += part) {
    part = n - i < PIECE ? n - i : PIECE;
    for (size_t j = 0; j < part; j++) e[j] = x[i + j] - best;
    s->k->EXP(e, e, part);
    for (size_t j = 0; j < part; j++) sum = sum + e[j];
  }
  *(T *)s->sum = sum;
}

static void NAME(row)(const T *x, const exact_exp_sum *s) {
  T e[PIECE], *sum = s->sum;
  const T *best = s->best;
  for (size_t i = 0; i < s->width; i++) e[i] = x[i] - best[i];
  s->k->EXP(e, e, s->width);
  for (size_t i = 0; i < s->width; i++) sum[i] = sum[i] + e[i];
}

static void NAME(end)(const exact_exp_sum *s) {
  T *sum = s->sum;
  const T *best = s->best;
  s->k->LOG(sum, sum, s->width);
  for (size_t i = 0; i < s->width; i++) sum[i] = best[i] - best[i] == 0 ? best[i] + sum[i] : best[i];
}
