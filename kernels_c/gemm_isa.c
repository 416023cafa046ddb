/* The micro-kernel tables. With EXACT_FAST the same source is compiled free to fuse a * b + c (mode fast).
 * docs/exact-mode.md */
#include "gemm.h"
#include "isa.h"

#ifdef EXACT_FAST
#define TABLE32 EXACT_SYM(exact_fast_gemm32)
#define TABLE64 EXACT_SYM(exact_fast_gemm64)
#else
#define TABLE32 EXACT_SYM(exact_gemm32)
#define TABLE64 EXACT_SYM(exact_gemm64)
#endif

#if EXACT_VB == 64 /* 32 registers */
#define ROWS 8
#define VECTORS 3
#else
#define ROWS 6
#define VECTORS 2
#endif

/* Tiles of few rows wait for b: its rows so far ahead are fetched meanwhile. */
enum { FEW = 4, AHEAD = 32 };

/* Keeps products in the order of the source, which the schedulers of compilers tend to spoil. */
#if defined(EXACT_FAST) || !defined(__x86_64__)
#define KEEP(v) (void)(v)
#else
#define KEEP(v) __asm__("" : "+v"(v))
#endif

#define REAL float
#define INTEGER int32_t
#define NAN_BITS 0x7FC00000
#define SUFFIX 32
#include "gemm_tile.h"
#undef REAL
#undef INTEGER
#undef NAN_BITS
#undef SUFFIX

#define REAL double
#define INTEGER int64_t
#define NAN_BITS 0x7FF8000000000000
#define SUFFIX 64
#include "gemm_tile.h"

extern const struct exact_gemm_kernels TABLE32, TABLE64;
const struct exact_gemm_kernels TABLE32 = {count32, ROWS, VECTORS, run32, run_rows32};
const struct exact_gemm_kernels TABLE64 = {count64, ROWS, VECTORS, run64, run_rows64};
