/* CumSum and CumProd: a chain of additions or multiplications for each line, several lines side by side. docs/cumsum.md */
#include "lanes.h"
#include "cumsum.h"

#define TYPE f32
#define NOT_A_NUMBER __builtin_nanf("")
#include "cumsum_scan.h"
#define TYPE f64
#define NOT_A_NUMBER __builtin_nan("")
#include "cumsum_scan.h"
#define TYPE u32
#include "cumsum_scan.h"
#define TYPE u64
#include "cumsum_scan.h"

#define TABLE(form)                                                                                            \
  {                                                                                                            \
    {form##_sum_f32, form##_prod_f32}, {form##_sum_f64, form##_prod_f64}, {form##_sum_u32, form##_prod_u32}, { \
      form##_sum_u64, form##_prod_u64                                                                          \
    }                                                                                                          \
  }

const struct exact_cumsum_kernels EXACT_SYM(exact_cumsum) = {.rows = TABLE(rows), .columns = TABLE(columns)};
