/* Sums of squares over windows of channels, powers by roots, and the quotient; lanes hold different outputs. docs/lrn.md */
#include "lanes.h"
#include "lrn.h"

#include <math.h>

#define TYPE f32
#define ROOT sqrtf
#define QUIET __builtin_nanf("")
#include "lrn_rows.h"

#define TYPE f64
#define ROOT sqrt
#define QUIET __builtin_nan("")
#include "lrn_rows.h"

const struct exact_lrn_kernels EXACT_SYM(exact_lrn) = {
    {square_f32, square_f64}, {sums_f32, sums_f64}, {times_f32, times_f64}, {divide_f32, divide_f64}};
