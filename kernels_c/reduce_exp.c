/* ReduceLogSumExp: m + log(sum of exp(x - m)), the sum in order from +0 in both layouts; exp and log correctly rounded.
 * docs/reduce.md */
#include "exp_log_kernels.h"
#include "reduce.h"

enum { PIECE = 256 };

#define T float
#define EXP exp32_nonpositive
#define LOG log32
#define NAME(x) x##32
#include "reduce_exp.h"
#undef T
#undef EXP
#undef LOG
#undef NAME

#define T double
#define EXP exp64
#define LOG log64
#define NAME(x) x##64
#include "reduce_exp.h"

void exact_exp_sum_start(const exact_exp_sum *s) { memset(s->sum, 0, s->width * (s->type == RED_F64 ? 8 : 4)); }

void exact_exp_sum_more(const void *x, size_t n, void *sum) {
  const exact_exp_sum *s = sum;
  if (s->type == RED_F64)
    more64(x, n, s);
  else
    more32(x, n, s);
}

void exact_exp_sum_row(const void *x, const exact_exp_sum *s) {
  if (s->type == RED_F64)
    row64(x, s);
  else
    row32(x, s);
}

void exact_exp_sum_end(const exact_exp_sum *s) {
  if (s->type == RED_F64)
    end64(s);
  else
    end32(s);
}
