#ifndef PATHS_H
#define PATHS_H
/* The evaluation paths of a function in one library of kernels. */
#include <stdbool.h>
#include <stddef.h>

typedef void proof_run(const float *x, float *y, size_t n);
typedef struct proof_paths {
  const char *compiler, *isa, *what;
  proof_run *run;
  bool nonpositive; /* holds for x <= 0 and NaN only */
} proof_paths;

/* Those of the function, then one whose run is NULL; NULL when there are none. In each library as "proof_find". */
const proof_paths *proof_find(const char *function);
#endif
