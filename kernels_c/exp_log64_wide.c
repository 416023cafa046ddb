/* exp and log of float64 by fixed-point numbers of 256 bits after the point: the errors stay below 2^-240 and 2^-235, far
 * beyond what the hardest arguments need (docs/exp_log.md), so that rounding the result once is rounding the real value. */
#include <stdbool.h>
#include <string.h>

#include "exp_log64.h"
#include "exp_log64_tables.h"

enum { WORDS = 5, POINT = 256 };
typedef struct wide { /* two's complement; the sum of word[i] * 2^(64 i - 256) */
  uint64_t word[WORDS];
} wide;

/* a + b + *carry; leaves what is above 64 bits in *carry. */
static uint64_t plus(uint64_t a, uint64_t b, uint64_t *carry) {
  uint64_t part = a + b, sum = part + *carry;
  *carry = (uint64_t)(part < a) + (sum < part);
  return sum;
}

/* a * b + c + *carry; leaves what is above 64 bits in *carry. */
static uint64_t times_plus(uint64_t a, uint64_t b, uint64_t c, uint64_t *carry) {
#ifdef __SIZEOF_INT128__
  unsigned __int128 sum = (unsigned __int128)a * b + c + *carry;
  *carry = (uint64_t)(sum >> 64);
  return (uint64_t)sum;
#else
  uint64_t low = (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF), high = (a >> 32) * (b >> 32), more = 0;
  uint64_t one = (a >> 32) * (b & 0xFFFFFFFF), other = (a & 0xFFFFFFFF) * (b >> 32);
  low = plus(low, one << 32, &more);
  high += (one >> 32) + more, more = 0;
  low = plus(low, other << 32, &more);
  high += (other >> 32) + more, more = 0;
  low = plus(low, c, &more);
  high += more, more = 0;
  low = plus(low, *carry, &more);
  *carry = high + more;
  return low;
#endif
}

static wide add(wide a, wide b) {
  uint64_t carry = 0;
  for (int i = 0; i < WORDS; i++) a.word[i] = plus(a.word[i], b.word[i], &carry);
  return a;
}

static wide negate(wide a) {
  for (int i = 0; i < WORDS; i++) a.word[i] = ~a.word[i];
  return add(a, (wide){{1}});
}

static wide subtract(wide a, wide b) { return add(a, negate(b)); }
static bool negative(wide a) { return a.word[WORDS - 1] >> 63; }

/* a * b cut to 256 bits after the point; a, b >= 0. */
static wide multiply(wide a, wide b) {
  uint64_t product[2 * WORDS] = {0};
  wide high;
  for (int i = 0; i < WORDS; i++) {
    uint64_t carry = 0;
    for (int j = 0; j < WORDS; j++) product[i + j] = times_plus(a.word[i], b.word[j], product[i + j], &carry);
    product[i + WORDS] = carry;
  }
  memcpy(high.word, product + WORDS - 1, sizeof high.word);
  return high;
}

static wide divide(wide a, uint32_t n) { /* a >= 0 */
  uint64_t rest = 0;
  for (int i = WORDS - 1; i >= 0; i--) {
    uint64_t high = rest << 32 | a.word[i] >> 32, low = high % n << 32 | (a.word[i] & 0xFFFFFFFF);
    a.word[i] = high / n << 32 | low / n;
    rest = low % n;
  }
  return a;
}

/* m * 2^e exactly; 0 <= e + 256, m * 2^e < 2^62. */
static wide scaled(uint64_t m, int e) {
  wide a = {{0}};
  int at = (e + POINT) / 64, shift = (e + POINT) % 64;
  a.word[at] = m << shift;
  if (shift && at + 1 < WORDS) a.word[at + 1] = m >> (64 - shift);
  return a;
}

/* |x| = m * 2^e for x other than 0, infinite or NaN, m < 2^53. */
static uint64_t integer_of(double x, int *e) {
  uint64_t u;
  memcpy(&u, &x, 8);
  uint64_t m = u & 0xFFFFFFFFFFFFF;
  int field = (int)(u >> 52 & 0x7FF);
  *e = (field ? field : 1) - 1075;
  return field ? m | 1ull << 52 : m;
}

static wide magnitude_of(double x) {
  int e;
  uint64_t m = integer_of(x, &e);
  return x == 0 ? (wide){{0}} : scaled(m, e);
}

/* a * 2^exponent, a > 0, rounded to nearest even. Never half-way: both functions are irrational but at exp 0 and log 1. */
static double rounded(wide a, int exponent) {
  int top = WORDS * 64 - 1;
  while (!(a.word[top / 64] >> top % 64 & 1)) top--;
  int power = top - POINT + exponent, keep = power >= -1022 ? 53 : 53 - (-1022 - power);
  if (power > 1023) return __builtin_inf();
  if (keep < 0) return 0;
  uint64_t kept = 0;
  for (int i = 0; i < keep; i++) kept = kept << 1 | (a.word[(top - i) / 64] >> (top - i) % 64 & 1);
  kept += a.word[(top - keep) / 64] >> (top - keep) % 64 & 1;
  uint64_t u = kept + (power >= -1022 ? (uint64_t)(power + 1022) << 52 : 0); /* the leading bit adds one to the field */
  double y;
  memcpy(&y, &u, 8);
  return y;
}

/* e^a, or e^-a when `minus`, for 0 <= a < 1/2 by the Taylor series. */
static wide exponential(wide a, bool minus) {
  wide one = scaled(1, 0), term = one, sum = one, zero = {{0}};
  for (unsigned n = 1; memcmp(&term, &zero, sizeof zero); n++) {
    term = divide(multiply(term, a), n);
    sum = minus && n % 2 ? subtract(sum, term) : add(sum, term);
  }
  return sum;
}

static wide times_ln2(int n) { /* n may be negative */
  wide ln2, product;
  memcpy(&ln2, ln2_words, sizeof ln2);
  product = multiply(ln2, scaled((uint64_t)(n < 0 ? -n : n), 0));
  return n < 0 ? negate(product) : product;
}

double exact_exp_wide(double x) {
  int n = (int)__builtin_rint(x * 0x1.71547652b82fep0);
  wide a = x < 0 ? negate(magnitude_of(x)) : magnitude_of(x);
  a = subtract(a, times_ln2(n));
  return rounded(negative(a) ? exponential(negate(a), true) : exponential(a, false), n);
}

/* log x = e ln 2 + y + log(1 + z), x = 2^e m, y a double near log m, 1 + z = m e^-y, |z| < 2^-40. */
double exact_log_wide(double x) {
  int e;
  uint64_t m = integer_of(x, &e);
  while (m < 1ull << 52) m <<= 1, e--;
  e += 52;
  bool half = m > 0x16A09E667F3BCDull; /* m > sqrt 2 */
  if (half) e++;
  wide w = scaled(m, half ? -53 : -52);
  double f = (double)m * (half ? 0x1p-53 : 0x1p-52), y = exact_log_near(f);
  wide start = y < 0 ? negate(magnitude_of(y)) : magnitude_of(y);
  w = multiply(w, y < 0 ? exponential(magnitude_of(y), false) : exponential(magnitude_of(y), true));
  wide z = subtract(w, scaled(1, 0));
  bool minus = negative(z);
  if (minus) z = negate(z);
  wide power = z, sum = {{0}};
  for (unsigned n = 1; n <= 6; n++, power = multiply(power, z)) {
    wide term = divide(power, n);
    sum = minus || n % 2 == 0 ? subtract(sum, term) : add(sum, term);
  }
  wide v = add(add(start, sum), times_ln2(e));
  return negative(v) ? -rounded(negate(v), 0) : rounded(v, 0);
}
