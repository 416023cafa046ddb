/* Proof that a function is correctly rounded for all 2^32 float32 arguments, on every evaluation path of this build:
 *
 *     prove FUNCTION LIST [LIBRARY...]     docs/exp_log.md and docs/transcendental.md, "The proof"
 *
 * LIST: the file of the hard arguments, to be written. LIBRARY: the kernels and paths.c in a shared library, one for each
 * compiler.
 *
 * The true value never comes from a libm: it is made of MPFR's values by integer operations whose error is bounded (the other
 * files of this folder). Where it lies nearer to the middle of two floats than that bound, MPFR decides at 500 bits. No
 * function ever hits a middle: all are transcendental at rational arguments but for the few whose results are known. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "exp_log.h"
#include "paths.h"
#include "truth.h"

enum { BLOCK = 1 << 12, HARD = 43 };

u128 fixed_of(mpfr_t v, int point) {
  u128 u = 0;
  mpfr_t scaled;
  mpz_t z;
  mpz_init(z);
  mpfr_init2(scaled, mpfr_get_prec(v));
  mpfr_mul_2si(scaled, v, point, MPFR_RNDN);
  mpfr_get_z(z, scaled, MPFR_RNDD);
  for (int i = (int)mpz_size(z) - 1; i >= 0; i--) u = u << 64 | mpz_getlimbn(z, i);
  mpz_clear(z);
  mpfr_clear(scaled);
  return u;
}

real real_of_mpfr(mpfr_t v) {
  int exponent = (int)mpfr_get_exp(v) - 1;
  return (real){false, fixed_of(v, 127 - exponent), exponent, 1};
}

/* ---- rounding ---- */
static const function *f;
static unsigned long left_to_mpfr;

static bool above_middle(uint32_t u, u128 middle, int exponent) { /* |true value| > middle */
  mpfr_t v, w;
  mpfr_inits2(500, v, w, (mpfr_ptr)0);
  mpfr_set_flt(w, exact_from_bits32(u), MPFR_RNDN);
  f->by_mpfr(v, w);
  mpfr_set_ui_2exp(w, (unsigned long)(uint64_t)(middle >> 64), 64, MPFR_RNDN);
  mpfr_add_ui(w, w, (unsigned long)(uint64_t)middle, MPFR_RNDN);
  mpfr_mul_2si(w, w, exponent - 127, MPFR_RNDN);
  bool above = mpfr_cmpabs(v, w) > 0;
  mpfr_clears(v, w, (mpfr_ptr)0);
  left_to_mpfr++;
  return above;
}

/* r rounded to nearest even; *distance: log2 of the relative distance to the nearest middle when that is below 2^-HARD. */
static uint32_t rounded(uint32_t u, real r, double *distance) {
  int dropped = r.exponent >= -126 ? 104 : 104 + (-126 - r.exponent); /* bits */
  uint32_t sign = r.negative ? 0x80000000u : 0;
  if (dropped > 128) return sign;
  u128 kept = dropped == 128 ? 0 : r.significand >> dropped;
  u128 middle = (dropped == 128 ? 0 : kept << dropped) + ((u128)1 << (dropped - 1));
  u128 apart = r.significand > middle ? r.significand - middle : middle - r.significand;
  bool up = r.significand > middle;
  /* Within its error of a float (or of 0 or a power of two) it is as good as that float. */
  if (apart < (u128)1 << r.error) up = above_middle(u, middle, r.exponent);
  double relative = (double)apart / (double)r.significand;
  if (relative < ldexp(1, -HARD) && r.exponent <= 127) *distance = log2(relative);
  /* A normal number's leading bit adds one to the exponent field; rounding up may carry into the field, or to infinity. */
  uint32_t field = r.exponent >= -126 ? (uint32_t)(r.exponent + 126) << 23 : 0;
  uint32_t magnitude = field + (uint32_t)kept + up;
  return sign | (r.exponent > 127 || magnitude > 0x7F800000u ? 0x7F800000u : magnitude);
}

static uint32_t truth(uint32_t u, double *distance) {
  uint32_t y;
  *distance = 0;
  if ((u & 0x7FFFFFFF) > 0x7F800000) return 0x7FC00000;
  if (f->known(u, &y)) return y;
  return rounded(u, f->value(u), distance);
}

/* ---- paths ---- */
typedef struct path {
  const char *library, *isa, *what;
  proof_run *run;
  bool nonpositive; /* holds for x <= 0 and NaN only */
  unsigned long wrong;
} path;
static path paths[64];
static int path_count;

static const function *const functions[] = {&function_exp,      &function_log, &function_sigmoid, &function_tanh,
                                            &function_softplus, &function_erf, &function_sin,     &function_cos};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static void find_paths(const char *file) {
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  const proof_paths *(*find)(const char *) =
      library ? (const proof_paths *(*)(const char *))dlsym(library, "proof_find") : NULL;
  const proof_paths *p = find ? find(f->name) : NULL;
  if (!p) fprintf(stderr, "no paths of %s in %s: %s\n", f->name, file, dlerror()), exit(2);
  for (; p->run; p++) paths[path_count++] = (path){p->compiler, p->isa, p->what, p->run, p->nonpositive, 0};
}

/* ---- the run ---- */
typedef struct hard {
  uint32_t x, y;
  double distance;
} hard;
static hard *hards;
static size_t hard_count, hard_room;

static void keep_hard(uint32_t x, uint32_t y, double distance) {
  if (hard_count == hard_room) hards = realloc(hards, (hard_room = hard_room ? 2 * hard_room : 4096) * sizeof *hards);
  hards[hard_count++] = (hard){x, y, distance};
}

static void compare(path *p, const float *x, const uint32_t *want) {
  static float got[BLOCK];
  if (p->nonpositive && exact_bits32(x[0]) != 0 && !(x[0] <= 0) && !isnan(x[0])) return;
  p->run(x, got, BLOCK);
  for (uint32_t i = 0; i < BLOCK; i++)
    if (exact_bits32(got[i]) != want[i] && !(p->nonpositive && x[i] > 0) && p->wrong++ < 20)
      printf("wrong: %s %s %s %08x gives %08x, not %08x\n", p->library, p->isa, p->what, exact_bits32(x[i]),
             exact_bits32(got[i]), want[i]);
}

/* The arguments first ... first + BLOCK - 1; where the function is symmetric the true values are those without the sign. */
static void block(uint32_t first) {
  static float x[BLOCK];
  static uint32_t want[BLOCK];
  static double distance[BLOCK];
  bool mirrored = f->symmetry && first >> 31;
  for (uint32_t i = 0; i < BLOCK; i++) {
    x[i] = exact_from_bits32(first + i);
    if (!mirrored)
      want[i] = truth(first + i, &distance[i]);
    else if (f->symmetry < 0 && want[i] != 0x7FC00000)
      want[i] ^= 0x80000000u;
    if (distance[i] < 0) keep_hard(first + i, want[i], distance[i]);
  }
  for (int p = 0; p < path_count; p++) compare(&paths[p], x, want);
}

static int by_argument(const void *a, const void *b) {
  uint32_t x = ((const hard *)a)->x, y = ((const hard *)b)->x;
  return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
  int index = 0;
  unsigned long wrong = 0;
  while (index < FUNCTIONS && (argc < 3 || strcmp(argv[1], functions[index]->name))) index++;
  if (index == FUNCTIONS) {
    fprintf(stderr, "usage: prove FUNCTION LIST [LIBRARY...]\n");
    return 2;
  }
  f = functions[index];
  f->tables();
  for (int i = 3; i < argc; i++) find_paths(argv[i]);
  for (uint32_t u = 0; u < 0x80000000u; u += BLOCK) {
    block(u);
    block(u | 0x80000000u); /* uses the true values of u where the function is symmetric */
  }
  qsort(hards, hard_count, sizeof *hards, by_argument);
  for (int p = 0; p < path_count; p++) {
    printf("%s %-6s %-6s %-8s %s arguments: %lu misrounded\n", f->name, paths[p].library, paths[p].isa, paths[p].what,
           paths[p].nonpositive ? "2^31 + NaN" : "2^32", paths[p].wrong);
    wrong += paths[p].wrong;
  }
  double hardest = 0;
  for (size_t i = 0; i < hard_count; i++) hardest = fmin(hardest, hards[i].distance);
  printf("%s: %zu arguments within 2^-%d of a rounding boundary, the nearest 2^%.1f; %lu roundings left to MPFR\n", f->name,
         hard_count, HARD, hardest, left_to_mpfr);
  FILE *file = fopen(argv[2], "w");
  if (!file) return 2;
  for (size_t i = 0; i < hard_count; i++) fprintf(file, "%08x %08x %.2f\n", hards[i].x, hards[i].y, hards[i].distance);
  fclose(file);
  return wrong != 0;
}
