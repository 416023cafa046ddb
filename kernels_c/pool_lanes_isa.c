/* Windows over planes side by side: every lane is a plane, so that all strides and edges are alike. docs/pool.md */
#include "isa.h"
#include "pool.h"
#include "half.h"
#include "pool_max.h"

#define REAL float
#define INTEGER int32_t
#define NAN_BITS 0x7FC00000
#define MAGNITUDE 0x7FFFFFFF
#define SUFFIX 32
#define MAX MAX_F32
#define ROOT ROOT_F32
#include "pool_lanes.h"

#define REAL double
#define INTEGER int64_t
#define NAN_BITS 0x7FF8000000000000
#define MAGNITUDE 0x7FFFFFFFFFFFFFFF
#define SUFFIX 64
#define MAX MAX_F64
#define ROOT ROOT_F64
#include "pool_lanes.h"
