/* The examination of indices, which takes as long as moving the elements unless it is vectorised. docs/unpool.md */
#include "isa.h"
#include "unpool.h"

/* The signs of i and of n - 1 - i tell; i may wrap around. */
static bool inside(const int64_t *index, size_t count, size_t first, size_t n) {
  uint64_t outside = 0;
  for (size_t q = 0; q < count; q++) {
    uint64_t i = (uint64_t)index[q] - first;
    outside |= i | ((uint64_t)n - 1 - i);
  }
  return !(outside >> 63);
}

const struct exact_unpool_kernels EXACT_SYM(exact_unpool) = {inside};
