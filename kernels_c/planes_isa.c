/* Depthwise Conv without stride along the row: y = +0 + x * w[0] + x * w[1] + ... over (kernel row, column), each operation
 * rounded, padding taken as x = +0; then + b. Lanes are neighbouring pixels of a plane. docs/conv.md */
#include "conv.h"
#include "isa.h"

#define REAL float
#define INTEGER int32_t
#define NAN_BITS 0x7FC00000
#define SUFFIX 32
#include "planes.h"
#undef REAL
#undef INTEGER
#undef NAN_BITS
#undef SUFFIX

#define REAL double
#define INTEGER int64_t
#define NAN_BITS 0x7FF8000000000000
#define SUFFIX 64
#include "planes.h"

extern void (*const EXACT_SYM(exact_planes)[2])(const exact_planes *u);
void (*const EXACT_SYM(exact_planes)[2])(const exact_planes *u) = {planes32, planes64};
