#ifndef EXACT_UNPOOL_H
#define EXACT_UNPOOL_H
/* MaxUnpool: the kernels of an instruction set. docs/unpool.md */
#include "exact_impl.h"

struct exact_unpool_kernels {
  /* Every index lies in [first, first + n). */
  bool (*inside)(const int64_t *index, size_t count, size_t first, size_t n);
};
#endif
