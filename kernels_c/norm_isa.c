/* Rows: mean = sum(x) / n, v = sum((x - mean)^2) / n, inverse = 1 / sqrt(v + epsilon), y = ((x - mean) * inverse) * scale +
 * bias. The sums are canonical; every operation is rounded on its own. docs/norm.md */
#include "lanes.h"
#include "norm.h"

#include <math.h>

#define TYPE f32
#include "sum16.h"
#define TYPE f32
#define ROOT sqrtf
#include "norm_rows.h"

#define TYPE f64
#include "sum16.h"
#define TYPE f64
#define ROOT sqrt
#include "norm_rows.h"

const struct exact_norm_kernels EXACT_SYM(exact_norm) = {{stats_f32, stats_f64}, {apply_f32, apply_f64}};
