#ifndef FUZZ_STREAM_H
#define FUZZ_STREAM_H
/* Numbers out of the fuzzer's bytes; zeros past the end. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct stream {
  const uint8_t *at, *end;
} stream;

static inline unsigned byte(stream *s) { return s->at < s->end ? *s->at++ : 0; }
/* 0 .. n - 1 */
static inline int below(stream *s, int n) { return (int)(byte(s) % (unsigned)n); }

static inline int64_t raw(stream *s) {
  uint8_t bytes[8] = {0};
  for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)byte(s);
  int64_t v;
  memcpy(&v, bytes, 8);
  return v;
}

/* What attributes and dimensions must survive: the ends of types and limits, and anything. */
static inline int64_t extreme(stream *s) {
  static const int64_t ends[] = {INT64_MIN,
                                 INT64_MAX,
                                 INT32_MIN,
                                 INT32_MAX,
                                 -1,
                                 (int64_t)1 << 32,
                                 (int64_t)1 << 40,
                                 (int64_t)1 << 46,
                                 (int64_t)1 << 47,
                                 ((int64_t)1 << 47) + 1,
                                 (int64_t)1 << 62,
                                 (int64_t)1 << 20,
                                 -((int64_t)1 << 40),
                                 ((int64_t)1 << 31) + 1,
                                 (int64_t)1 << 24,
                                 (int64_t)65536,
                                 4096,
                                 255,
                                 1 << 28};
  unsigned b = byte(s);
  return b < 224 ? ends[b % (sizeof ends / sizeof *ends)] : raw(s);
}

/* least .. least + n - 1 as a rule */
static inline int64_t small(stream *s, int64_t least, int n) {
  unsigned b = byte(s);
  return b < 250 ? least + (int64_t)(b % (unsigned)n) : b < 253 ? least - 1 : extreme(s);
}

static inline float real(stream *s) {
  static const float values[] = {0, 1, -1, 0.5f, 2, 1e-5f, 1e30f, -0.75f, 1e-40f, 0.6f, 3};
  unsigned b = byte(s);
  if (b < 240) return values[b % (sizeof values / sizeof *values)];
  int64_t v = raw(s);
  float f;
  memcpy(&f, &v, 4);
  return f;
}
#endif
