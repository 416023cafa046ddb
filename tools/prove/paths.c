/* The part of the proof that goes into each library of kernels: the scalar path, and the array path of every instruction set.
 */
#include "paths.h"

#include <string.h>

#include "exact_impl.h"
#include "exp_log.h"
#include "exp_log_kernels.h"
#include "sin_cos.h"
#include "transcendental.h"
#include "transcendental_kernels.h"

#ifdef __clang__
#define COMPILER "clang"
#else
#define COMPILER "gcc"
#endif

/* The scalar function, one element at a time as operators call it. */
#define SCALAR(name)                                                                           \
  static __attribute__((noinline)) float one_##name(float x) { return exact_##name##f_cr(x); } \
  static void run_##name(const float *x, float *y, size_t n) {                                 \
    for (size_t i = 0; i < n; i++) y[i] = one_##name(x[i]);                                    \
  }
#define ARRAY(name, member) \
  static proof_run *array_##name(const exact_isa *isa) { return isa->member->name##32; }
#define FUNCTION(name, member) SCALAR(name) ARRAY(name, member)
FUNCTION(exp, exp_log)
FUNCTION(log, exp_log)
FUNCTION(sigmoid, transcendental)
FUNCTION(tanh, transcendental)
FUNCTION(erf, transcendental)
FUNCTION(softplus, transcendental)
FUNCTION(sin, transcendental)
FUNCTION(cos, transcendental)

#define ROW(name) \
  { #name, run_##name, array_##name }
static const struct {
  const char *name;
  proof_run *scalar, *(*array)(const exact_isa *isa);
} functions[] = {ROW(exp), ROW(log), ROW(sigmoid), ROW(tanh), ROW(erf), ROW(softplus), ROW(sin), ROW(cos)};

__attribute__((visibility("default"))) const proof_paths *proof_find(const char *function) {
  static proof_paths paths[32];
  size_t row = 0, count = 0;
  while (row < sizeof functions / sizeof *functions && strcmp(functions[row].name, function)) row++;
  if (row == sizeof functions / sizeof *functions) return NULL;
#ifndef __clang__ /* a vectorised loop costs a tenth of it */
  paths[count++] = (proof_paths){COMPILER, "-", "scalar", functions[row].scalar, false};
#endif
  for (int i = 0; exact_isa_name(i); i++) {
    exact_isa_select(exact_isa_name(i), NULL);
    const exact_isa *isa = exact_isa_table(NULL);
    paths[count++] = (proof_paths){COMPILER, isa->name, "array", functions[row].array(isa), false};
    if (row == 0) paths[count++] = (proof_paths){COMPILER, isa->name, "softmax", isa->exp_log->exp32_nonpositive, true};
  }
  paths[count].run = NULL;
  return paths;
}
