#ifndef EXACT_ISA_H
#define EXACT_ISA_H
/* For the files named *_isa.c, compiled once per instruction-set variant with EXACT_ISA=<name>. EXACT_SYM(x) is x_<name>;
 * EXACT_VB the bytes of a vector register. Vector types are for loads at any element-aligned address. */
#include "exact_impl.h"

#define EXACT_CAT2(a, b) a##_##b
#define EXACT_CAT(a, b) EXACT_CAT2(a, b)
#define EXACT_SYM(name) EXACT_CAT(name, EXACT_ISA)

#if defined(__AVX512F__)
#define EXACT_VB 64
#elif defined(__AVX2__)
#define EXACT_VB 32
#else
#define EXACT_VB 16
#endif

#ifdef __clang__
#define EXACT_UNROLL _Pragma("clang loop unroll(full)")
#else
#define EXACT_UNROLL _Pragma("GCC unroll 16")
#endif

/* Before a loop whose iterations do not depend on each other though the compiler cannot know: y[i] = f(x[i]), y may be x. */
#ifdef __clang__
#define EXACT_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define EXACT_INDEPENDENT _Pragma("GCC ivdep")
#endif

#define EXACT_INLINE static inline __attribute__((always_inline))
#endif
