/* Rows: mean = sum(x) / n, v = sum((x - mean)^2) / n, inverse = 1 / sqrt(v + epsilon), y = ((x - mean) * inverse) * scale +
 * bias. The sums are canonical; every operation is rounded on its own. Sequences along axes: norm_axes_rows.h. docs/norm.md */
#include "lanes.h"
#include "norm.h"

#include <math.h>

#define TYPE f32
#include "sum16.h"
#define TYPE f32
#define ROOT sqrtf
#include "norm_rows.h"
#define TYPE f32
#include "norm_axes_rows.h"

#define TYPE f64
#include "sum16.h"
#define TYPE f64
#define ROOT sqrt
#include "norm_rows.h"
#define TYPE f64
#include "norm_axes_rows.h"

const struct exact_norm_kernels EXACT_SYM(exact_norm) = {
    .stats = {stats_f32, stats_f64},
    .apply = {apply_f32, apply_f64},
    .sum_rows = {sum_rows_of_f32, sum_rows_of_f64},
    .sum_more = {sum_more_of_f32, sum_more_of_f64},
    .sum_columns = {sum_columns_of_f32, sum_columns_of_f64},
    .divide_row = {divide_row_by_f32, divide_row_by_f64},
    .repeat = {repeat_each_f32, repeat_each_f64},
    .divide_columns = {divide_columns_by_f32, divide_columns_by_f64},
};
