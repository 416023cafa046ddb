/* Proof that exp and log are correctly rounded for all 2^32 float32 arguments, on every evaluation path of this build:
 *
 *     prove_exp_log exp|log [list of hard arguments to write]     both: docs/exp_log.md, "The proof"
 *
 * The true value never comes from a libm. exp x = exp a * exp b, where a holds the upper and b the lower 12 bits of x's
 * significand; log x = e * ln 2 + log m, m one of 2^23 significands. The factors and terms are MPFR's, cut to 128 bits; the
 * errors of the cuts and of the one multiplication are below ERROR; where the value lies nearer to the middle of two
 * floats than that, MPFR decides at 500 bits. Neither function ever hits a middle (both are transcendental off 0 and 1). */
#include <math.h>
#include <mpfr.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "exact_impl.h"
#include "exp_log.h"
#include "exp_log_kernels.h"

typedef unsigned __int128 u128;
enum { BLOCK = 1 << 12, HARD = 43, THREADS = 2 };
enum { EXP_LEAST = -28, EXP_MOST = 6 }; /* exponents of the arguments that need tables */

/* ---- the true value: sign, and a significand of 128 bits with its leading bit set, times 2^(exponent - 127) ---- */
typedef struct real {
  bool negative;
  u128 significand;
  int exponent;
  unsigned error; /* in units of 2^-127 * 2^exponent, both ways, as a power of two */
} real;

static u128 integer(mpfr_t v) { /* floor of 0 <= v < 2^128 */
  u128 u = 0;
  mpz_t z;
  mpz_init(z);
  mpfr_get_z(z, v, MPFR_RNDD);
  for (int i = (int)mpz_size(z) - 1; i >= 0; i--) u = u << 64 | mpz_getlimbn(z, i);
  mpz_clear(z);
  return u;
}

static struct {
  u128 significand;
  int exponent;
} upper[2][EXP_MOST - EXP_LEAST + 1][4096], lower[2][EXP_MOST - EXP_LEAST + 1][4096];

static void exp_tables(void) {
  mpfr_t v;
  mpfr_init2(v, 256);
  for (int sign = 0; sign < 2; sign++)
    for (int e = EXP_LEAST; e <= EXP_MOST; e++)
      for (int i = 0; i < 8192; i++) {
        int part = i & 4095, high = i >> 12;
        mpfr_set_si_2exp(v, sign ? -part : part, e - 23 + (high ? 12 : 0), MPFR_RNDN);
        mpfr_exp(v, v, MPFR_RNDN);
        int exponent = (int)mpfr_get_exp(v) - 1;
        mpfr_mul_2si(v, v, 127 - exponent, MPFR_RNDN);
        u128 u = integer(v);
        if (high)
          upper[sign][e - EXP_LEAST][part].significand = u, upper[sign][e - EXP_LEAST][part].exponent = exponent;
        else
          lower[sign][e - EXP_LEAST][part].significand = u, lower[sign][e - EXP_LEAST][part].exponent = exponent;
      }
  mpfr_clear(v);
}

static u128 high_product(u128 a, u128 b) { /* floor(a * b / 2^128), or one less */
  uint64_t a1 = (uint64_t)(a >> 64), a0 = (uint64_t)a, b1 = (uint64_t)(b >> 64), b0 = (uint64_t)b;
  u128 cross1 = (u128)a1 * b0, cross0 = (u128)a0 * b1;
  return (u128)a1 * b1 + (cross1 >> 64) + (cross0 >> 64) +
         (((u128)(uint64_t)cross1 + (uint64_t)cross0 + ((u128)a0 * b0 >> 64)) >> 64);
}

static real true_exp(uint32_t u) {
  int sign = (int)(u >> 31), e = (int)(u >> 23 & 255) - 127;
  uint32_t m = (u & 0x7FFFFF) | 0x800000;
  const int row = e - EXP_LEAST;
  real r = {false, high_product(upper[sign][row][m >> 12].significand, lower[sign][row][m & 4095].significand),
            upper[sign][row][m >> 12].exponent + lower[sign][row][m & 4095].exponent + 1, 3};
  if (!(r.significand >> 127)) r.significand <<= 1, r.exponent--; /* cuts: below 2 units each before, 8 after */
  return r;
}

enum { LOG_UNIT = 116 };
static u128 *log_m, log_2;

static void *log_table_part(void *arg) {
  mpfr_t v;
  mpfr_init2(v, 192);
  for (uint32_t i = *(int *)arg ? 1 << 22 : 0, end = i + (1 << 22); i < end; i++) {
    mpfr_set_ui_2exp(v, 0x800000 + i, -23, MPFR_RNDN);
    mpfr_log(v, v, MPFR_RNDN);
    mpfr_mul_2si(v, v, LOG_UNIT, MPFR_RNDN);
    log_m[i] = integer(v);
  }
  mpfr_clear(v);
  mpfr_free_cache();
  return NULL;
}

static void log_tables(void) {
  pthread_t other;
  int part[2] = {0, 1};
  mpfr_t v;
  log_m = malloc(sizeof *log_m << 23);
  pthread_create(&other, NULL, log_table_part, &part[1]);
  log_table_part(&part[0]);
  pthread_join(other, NULL);
  mpfr_init2(v, 192);
  mpfr_const_log2(v, MPFR_RNDN);
  mpfr_mul_2si(v, v, LOG_UNIT, MPFR_RNDN);
  log_2 = integer(v);
  mpfr_clear(v);
}

static int width(u128 v) { /* position of the leading bit */
  uint64_t high = (uint64_t)(v >> 64);
  return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)v);
}

static real true_log(uint32_t u) {
  int e = (int)(u >> 23) - 127;
  uint32_t m = u & 0x7FFFFF;
  if (e == -127) { /* subnormal */
    int shift = __builtin_clz(m) - 8;
    e = -126 - shift;
    m = (m << shift) & 0x7FFFFF;
  }
  __int128 v = (__int128)log_2 * e + (__int128)log_m[m]; /* cuts: below 151 units */
  real r = {v < 0, v < 0 ? -(u128)v : (u128)v, 0, 0};
  int top = width(r.significand);
  r.significand <<= 127 - top;
  r.exponent = top - LOG_UNIT;
  r.error = 8 + 127 - (unsigned)top;
  return r;
}

/* ---- rounding ---- */
typedef struct found {
  bool is_log;
  pthread_mutex_t lock;
  unsigned long by_mpfr, hard;
  FILE *list;
} found;

static bool above_middle(bool is_log, uint32_t u, u128 middle, int exponent) { /* |true value| > middle */
  mpfr_t v, w;
  mpfr_inits2(500, v, w, (mpfr_ptr)0);
  mpfr_set_flt(v, exact_from_bits32(u), MPFR_RNDN);
  if (is_log)
    mpfr_log(v, v, MPFR_RNDN);
  else
    mpfr_exp(v, v, MPFR_RNDN);
  mpfr_set_ui_2exp(w, (unsigned long)(uint64_t)(middle >> 64), 64, MPFR_RNDN);
  mpfr_add_ui(w, w, (unsigned long)(uint64_t)middle, MPFR_RNDN);
  mpfr_mul_2si(w, w, exponent - 127, MPFR_RNDN);
  bool above = mpfr_cmpabs(v, w) > 0;
  mpfr_clears(v, w, (mpfr_ptr)0);
  return above;
}

/* r rounded to nearest even; *distance: log2 of the relative distance to the nearest middle when that is below 2^-HARD. */
static uint32_t rounded(found *f, uint32_t u, real r, double *distance) {
  int dropped = r.exponent >= -126 ? 104 : 104 + (-126 - r.exponent); /* bits */
  uint32_t sign = r.negative ? 0x80000000u : 0;
  *distance = 0;
  if (dropped > 128) return sign;
  u128 unit_half = (u128)1 << (dropped - 1);
  u128 kept = dropped == 128 ? 0 : r.significand >> dropped;
  u128 middle = (dropped == 128 ? 0 : kept << dropped) + unit_half;
  u128 apart = r.significand > middle ? r.significand - middle : middle - r.significand;
  bool up = r.significand > middle;
  if (apart < (u128)1 << r.error) {
    up = above_middle(f->is_log, u, middle, r.exponent);
    pthread_mutex_lock(&f->lock);
    f->by_mpfr++;
    pthread_mutex_unlock(&f->lock);
  }
  double relative = (double)apart / (double)r.significand;
  if (relative < ldexp(1, -HARD) && r.exponent <= 127) *distance = log2(relative);
  /* A normal number's leading bit adds one to the exponent field; rounding up may carry into the field, or to infinity. */
  uint32_t field = r.exponent >= -126 ? (uint32_t)(r.exponent + 126) << 23 : 0;
  uint32_t magnitude = field + (uint32_t)kept + up;
  return sign | (r.exponent > 127 || magnitude > 0x7F800000u ? 0x7F800000u : magnitude);
}

static uint32_t truth(found *f, uint32_t u, double *distance) {
  uint32_t magnitude = u & 0x7FFFFFFF;
  *distance = 0;
  if (magnitude > 0x7F800000) return 0x7FC00000;
  if (f->is_log) {
    if (magnitude == 0) return 0xFF800000;
    if (u >> 31) return 0x7FC00000;
    if (u == 0x7F800000) return u;
    if (u == 0x3F800000) return 0;
    return rounded(f, u, true_log(u), distance);
  }
  int e = (int)(magnitude >> 23) - 127;
  if (e < EXP_LEAST) return 0x3F800000; /* within 2^-27 of 1 */
  if (e > EXP_MOST) return u >> 31 ? 0 : 0x7F800000;
  return rounded(f, u, true_exp(u), distance);
}

/* ---- paths ---- */
typedef struct path {
  const char *isa, *what;
  void (*run)(const float *x, float *y, size_t n);
  bool nonpositive; /* holds for x <= 0 and NaN only */
  unsigned long wrong;
} path;
static path paths[16];
static int path_count;

/* One element at a time, as ReduceLogSum and LogSoftmax call them. */
__attribute__((noinline)) static float one_exp(float x) { return exact_expf_cr(x); }
__attribute__((noinline)) static float one_log(float x) { return exact_logf_cr(x); }
static void scalar_exp(const float *x, float *y, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = one_exp(x[i]);
}
static void scalar_log(const float *x, float *y, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = one_log(x[i]);
}

static void find_paths(bool is_log) {
  paths[path_count++] = (path){"-", "scalar", is_log ? scalar_log : scalar_exp, false, 0};
  for (int i = 0; exact_isa_name(i); i++) {
    exact_isa_select(exact_isa_name(i), NULL);
    const struct exact_exp_log_kernels *k = exact_isa_table(NULL)->exp_log;
    paths[path_count++] = (path){exact_isa_name(i), "array", is_log ? k->log32 : k->exp32, false, 0};
    if (!is_log) paths[path_count++] = (path){exact_isa_name(i), "softmax", k->exp32_nonpositive, true, 0};
  }
}

static found state = {.lock = PTHREAD_MUTEX_INITIALIZER};
static _Atomic uint32_t next_block;

typedef struct hard {
  uint32_t x, y;
  double distance;
} hard;
static hard *hards;
static size_t hard_count, hard_room;

static void keep_hard(uint32_t x, uint32_t y, double distance) {
  pthread_mutex_lock(&state.lock);
  if (hard_count == hard_room) hards = realloc(hards, (hard_room = hard_room ? 2 * hard_room : 4096) * sizeof *hards);
  hards[hard_count++] = (hard){x, y, distance};
  pthread_mutex_unlock(&state.lock);
}

static void *work(void *arg) {
  static _Thread_local float x[BLOCK], got[BLOCK];
  static _Thread_local uint32_t want[BLOCK];
  (void)arg;
  for (uint32_t block; (block = atomic_fetch_add(&next_block, 1)) < (1u << 20);) {
    for (uint32_t i = 0; i < BLOCK; i++) {
      double distance;
      uint32_t u = block * BLOCK + i;
      x[i] = exact_from_bits32(u);
      want[i] = truth(&state, u, &distance);
      if (distance < 0) keep_hard(u, want[i], distance);
    }
    for (int p = 0; p < path_count; p++) {
      if (paths[p].nonpositive && block * BLOCK != 0 && !(x[0] <= 0) && !isnan(x[0])) continue;
      paths[p].run(x, got, BLOCK);
      for (uint32_t i = 0; i < BLOCK; i++)
        if (exact_bits32(got[i]) != want[i] && !(paths[p].nonpositive && x[i] > 0)) {
          pthread_mutex_lock(&state.lock);
          if (paths[p].wrong++ < 20)
            printf("wrong: %s %s %08x gives %08x, not %08x\n", paths[p].isa, paths[p].what, exact_bits32(x[i]),
                   exact_bits32(got[i]), want[i]);
          pthread_mutex_unlock(&state.lock);
        }
    }
  }
  return NULL;
}

static int by_argument(const void *a, const void *b) {
  uint32_t x = ((const hard *)a)->x, y = ((const hard *)b)->x;
  return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
  if (argc < 2 || (strcmp(argv[1], "exp") && strcmp(argv[1], "log"))) {
    fprintf(stderr, "usage: prove_exp_log exp|log [file]\n");
    return 2;
  }
  pthread_t threads[THREADS];
  unsigned long wrong = 0;
  state.is_log = !strcmp(argv[1], "log");
  if (state.is_log)
    log_tables();
  else
    exp_tables();
  find_paths(state.is_log);
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  qsort(hards, hard_count, sizeof *hards, by_argument);
  for (int p = 0; p < path_count; p++) {
    printf("%s %-6s %-8s %s arguments: %lu misrounded\n", argv[1], paths[p].isa, paths[p].what,
           paths[p].nonpositive ? "2^31 + NaN" : "2^32", paths[p].wrong);
    wrong += paths[p].wrong;
  }
  printf("%s: %zu arguments within 2^-%d of a rounding boundary; %lu roundings left to MPFR\n", argv[1], hard_count, HARD,
         state.by_mpfr);
  if (argc > 2) {
    FILE *file = fopen(argv[2], "w");
    if (!file) return 2;
    for (size_t i = 0; i < hard_count; i++) fprintf(file, "%08x %08x %.2f\n", hards[i].x, hards[i].y, hards[i].distance);
    fclose(file);
  }
  return wrong != 0;
}
