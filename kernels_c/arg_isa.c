/* ArgMax and ArgMin: the best value of a row, then its first or last place; columns side by side. docs/arg.md */
#include "lanes.h"
#include "arg.h"

#define TYPE f32
#define IS_FLOAT 1
#include "best.h"
#define TYPE f32
#define INDEX int32_t
#include "arg_scan.h"

#define TYPE f64
#define IS_FLOAT 1
#include "best.h"
#define TYPE f64
#define INDEX int64_t
#include "arg_scan.h"

#define TYPE i32
#define IS_FLOAT 0
#include "best.h"
#define TYPE i32
#define INDEX int32_t
#include "arg_scan.h"

#define TYPE u32
#define IS_FLOAT 0
#include "best.h"
#define TYPE u32
#define INDEX int32_t
#include "arg_scan.h"

#define TYPE i64
#define IS_FLOAT 0
#include "best.h"
#define TYPE i64
#define INDEX int64_t
#include "arg_scan.h"

#define TYPE u64
#define IS_FLOAT 0
#include "best.h"
#define TYPE u64
#define INDEX int64_t
#include "arg_scan.h"

#define TABLE(form)                                                                                       \
  {                                                                                                       \
    {form##_max_f32, form##_min_f32}, {form##_max_f64, form##_min_f64}, {form##_max_i32, form##_min_i32}, \
        {form##_max_u32, form##_min_u32}, {form##_max_i64, form##_min_i64}, {                             \
      form##_max_u64, form##_min_u64                                                                      \
    }                                                                                                     \
  }

const struct exact_arg_kernels EXACT_SYM(exact_arg) = {.rows = TABLE(rows), .more = TABLE(more), .columns = TABLE(columns)};
