#ifndef FUZZ_DATA_H
#define FUZZ_DATA_H
/* Contents of tensors. */
#include "ops.h"

static inline uint64_t next(uint64_t *state) { return *state = *state * 6364136223846793005u + 1442695040888963407u; }

/* The bits of a number of type dtype; any bits and special values among them. */
static inline uint64_t value_bits(int dtype, uint64_t *state) {
  uint64_t any = next(state) ^ next(state) >> 32, v = any;
  double wide = (double)(int64_t)(next(state) >> 40 & 4095) / 1000 - 2;
  float single = (float)wide;
  uint32_t word;
  memcpy(&word, &single, 4);
  unsigned form = (unsigned)(next(state) >> 40) % 32;
  bool negative = form == 1;
  switch (dtype) {
    case EXACT_FLOAT32: return form == 0 ? any : form < 3 ? 0x7F800000u | (uint64_t)negative << 31 : word;
    case EXACT_FLOAT64:
      memcpy(&v, &wide, 8);
      return form == 0 ? any : form < 3 ? 0x7FF0000000000000u | (uint64_t)negative << 63 : v;
    case EXACT_FLOAT16: return form == 0 ? any : form < 3 ? 0x7C00u | (uint64_t)negative << 15 : 0x3000u | (any & 0x8FFFu);
    case EXACT_BFLOAT16: return form == 0 ? any : form < 3 ? 0x7F80u | (uint64_t)negative << 15 : word >> 16;
    case EXACT_BOOL: return any & 1;
    default: return form == 0 ? any : (any >> 8) % 12 - 3;
  }
}

/* What an input of this meaning may hold beside the first input x; one in 64 is anything. */
static inline uint64_t meant_bits(int meaning, int dtype, const exact_tensor *x, size_t i, uint64_t *state) {
  uint64_t r = next(state) >> 33;
  int64_t whole = 0;
  float single;
  uint32_t word;
  if (next(state) >> 58 == 0) return value_bits(dtype, state);
  switch (meaning) {
    case AXES: whole = x->rank ? (int64_t)(r % (unsigned)(2 * x->rank)) - x->rank : 0; break;
    case INDICES: whole = (int64_t)(r % 64); break;
    case LENGTHS: whole = (int64_t)(r % 6); break;
    case SIZES: whole = i < 2 && r % 8 ? x->dims[i] : (int64_t)(1 + r % 20); break;
    default: /* SCALES */
      single = (float)(1 + r % 11) / 4;
      memcpy(&word, &single, 4);
      return word;
  }
  return (uint64_t)whole;
}

static inline void fill(void *data, const exact_tensor *t, size_t bytes, int meaning, const exact_tensor *x, uint64_t *state) {
  size_t size = exact_dtype_size(t->dtype);
  for (size_t i = 0; i < bytes / size; i++) {
    uint64_t v = meaning == VALUES ? value_bits(t->dtype, state) : meant_bits(meaning, t->dtype, x, i, state);
    memcpy((char *)data + i * size, &v, size);
  }
}
#endif
