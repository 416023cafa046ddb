/* float64 exp and log: a pair of doubles, the tail far smaller than the head, with an error below 2^-66 (exp) and 2^-65 (log);
 * where head + (tail - error) and head + (tail + error) round to the same double, that is the result, elsewhere 256-bit
 * integers decide. The bounds: docs/exp_log.md, "float64". */
#include "exp_log64.h"

#include <stdint.h>
#include <string.h>

#include "exp_log.h"
#include "exp_log_kernels.h"
#include "exp_log64_tables.h"

typedef struct pair {
  double head, tail;
} pair;

/* a + b exactly. */
static pair two_sum(double a, double b) {
  double s = a + b, c = s - a;
  return (pair){s, (a - (s - c)) + (b - c)};
}

/* The upper 26 bits of x and the rest, both exact. */
static pair split(double x) {
  double head = exact_from_bits64(exact_bits64(x) & ~(uint64_t)0x7FFFFFF);
  return (pair){head, x - head};
}

/* a * b exactly. */
static pair two_product(double a, double b) {
  double p = a * b;
  pair x = split(a), y = split(b);
  return (pair){p, ((x.head * y.head - p) + (x.head * y.tail + x.tail * y.head)) + x.tail * y.tail};
}

/* e^x = 2^floor(k/128) * (the pair), k = rint(128 x / ln 2), for 2^-54 <= |x| < 746. */
static pair exp_pair(double x, int *power) {
  const double magic = 0x1.8p52;
  double k = (x * 0x1.71547652b82fep7 + magic) - magic;
  int64_t i = (int64_t)k;
  pair r = two_sum(x - k * exp_l1, -(k * exp_l2)); /* the products and the first difference are exact */
  double low = r.tail - k * exp_l3, h = r.head, h2 = h * h;
  double series =
      h2 *
      (0.5 + h * (0x1.5555555555555p-3 + h * (0x1.5555555555555p-5 + h * (0x1.1111111111111p-7 + h * 0x1.6c16c16c16c17p-10))));
  double rest = series + (low + low * h); /* e^(r + low) = 1 + h + rest */
  const double *t = exp_table[i & 127];
  pair th = two_product(t[0], h);
  double s = t[0] + th.head, error = th.head - (s - t[0]);
  *power = (int)(i >> 7);
  return (pair){s, error + (th.tail + (t[0] * rest + (t[1] + t[1] * h)))};
}

double exact_exp_cr(double x) {
  int power;
  if (x != x) return __builtin_nan("");
  if (x > 709.79) return __builtin_inf(); /* the greatest double is e^709.782... */
  if (x < -745.2) return 0;               /* half of the least is e^-745.133... */
  if (__builtin_fabs(x) < 0x1p-54) return 1;
  if (x < -708 || x > 709) return exact_exp_wide(x);
  pair y = exp_pair(x, &power);
  double above = y.head + (y.tail + 0x1p-66), below = y.head + (y.tail - 0x1p-66);
  if (above != below) return exact_exp_wide(x);
  return exact_from_bits64(exact_bits64(above) + ((uint64_t)(int64_t)power << 52));
}

/* log(2^e m) for sqrt(1/2) <= m < sqrt 2: e ln 2 - log c + log(1 + z), c near 1/m, z = m c - 1, |z| < 2^-7. */
static pair log_pair(double m, double e) {
  const double *row = log_table[(int)(m * 128 + 0.5) - 90];
  pair parts = split(m);
  pair z = two_sum(parts.head * row[0] - 1, parts.tail * row[0]); /* exact, for c has 12 bits */
  pair square = two_product(z.head, z.head);
  double h = z.head;
  double series = 0x1.2492492492492p-3 + h * (-0.125 + h * 0x1.c71c71c71c71cp-4);
  series = 0x1.5555555555555p-2 + h * (-0.25 + h * (0x1.999999999999ap-3 + h * (-0x1.5555555555555p-3 + h * series)));
  pair a = two_sum(e * log_l1, row[1]), b = two_sum(a.head, h), c = two_sum(b.head, -0.5 * square.head);
  double tail = h * square.head * series;
  tail = tail + (z.tail - (0.5 * square.tail + h * z.tail));
  tail = tail + (((row[2] + e * log_l3) + e * log_l2) + (a.tail + (b.tail + c.tail)));
  double head = c.head + tail;
  return (pair){head, tail - (head - c.head)};
}

double exact_log_near(double m) { return log_pair(m, 0).head; }

double exact_log_cr(double x) {
  uint64_t u = exact_bits64(x), least = 0x3FE6A09E667F3BCD; /* sqrt(1/2) */
  double e = 0;
  if (x != x || x < 0) return __builtin_nan("");
  if (x == 0) return -__builtin_inf();
  if (x == __builtin_inf()) return x;
  if (x == 1) return 0;
  if (u < (uint64_t)1 << 52) {
    u = exact_bits64(x * 0x1p54);
    e = -54;
  }
  int64_t power = (int64_t)(u - least) >> 52;
  pair y = log_pair(exact_from_bits64(u - ((uint64_t)power << 52)), e + (double)power);
  double error = __builtin_fabs(y.head) * 0x1p-65;
  double above = y.head + (y.tail + error), below = y.head + (y.tail - error);
  return above == below ? above : exact_log_wide(x);
}

void exact_exp_array64(const double *x, double *y, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = exact_exp_cr(x[i]);
}

void exact_log_array64(const double *x, double *y, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = exact_log_cr(x[i]);
}
