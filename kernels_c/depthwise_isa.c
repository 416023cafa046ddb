/* Depthwise Conv (one input channel per group): y = +0 + x * w[0] + x * w[1] + ... over (kernel depth, row, column), each
 * operation rounded, padding taken as x = +0; then + b. Lanes are channels. docs/conv.md */
#include "conv.h"
#include "half.h"
#include "isa.h"

#define REAL float
#define INTEGER int32_t
#define NAN_BITS 0x7FC00000
#define SUFFIX 32
#include "depthwise.h"
#undef REAL
#undef INTEGER
#undef NAN_BITS
#undef SUFFIX

#define REAL double
#define INTEGER int64_t
#define NAN_BITS 0x7FF8000000000000
#define SUFFIX 64
#include "depthwise.h"

extern void (*const EXACT_SYM(exact_depthwise)[2])(const exact_depthwise *d);
void (*const EXACT_SYM(exact_depthwise)[2])(const exact_depthwise *d) = {depthwise32, depthwise64};
