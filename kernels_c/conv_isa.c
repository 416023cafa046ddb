/* Kernels of Conv and ConvTranspose around the micro-kernel: panels of pixels and weights, stores.
 * and the sums over taps of ConvTranspose. docs/conv.md, docs/conv_transpose.md */
#include "conv.h"
#include "gemm.h"
#include "half.h"
#include "isa.h"

static inline double canonical64(void) {
  uint64_t u = 0x7FF8000000000000u;
  double d;
  memcpy(&d, &u, 8);
  return d;
}

#if EXACT_VB < 32
#define COPY_BYTES EXACT_VB
#else
#define COPY_BYTES 32
#endif

#define REAL float
#define INTEGER int32_t
#define CANONICAL exact_f32_from_bits(0x7FC00000u)
#define SUFFIX 32
#include "conv_pack.h"
#include "conv_fold.h"
#undef REAL
#undef INTEGER
#undef CANONICAL
#undef SUFFIX

#define REAL double
#define INTEGER int64_t
#define CANONICAL canonical64()
#define SUFFIX 64
#include "conv_pack.h"
#include "conv_fold.h"
#undef REAL
#undef INTEGER
#undef CANONICAL
#undef SUFFIX

static void store(void *y, size_t y_stride, const float *c, size_t c_stride, size_t rows, size_t n, int dtype) {
  size_t element = exact_dtype_size(dtype);
  for (size_t i = 0; i < rows; i++) exact_store_row((char *)y + i * y_stride * element, c + i * c_stride, n, dtype);
}

extern void (*const EXACT_SYM(exact_depthwise)[2])(const exact_depthwise *d);
extern const struct exact_conv_kernels EXACT_SYM(exact_conv);
const struct exact_conv_kernels EXACT_SYM(exact_conv) = {
    .copy_lanes = {few32, few64},
    .pack = {pack32, pack64},
    .fill = {fill_all32, fill_all64},
    .pack_tile = {pack_tile32, pack_tile64},
    .weights = {weights32, weights64},
    .store = store,
    .store_transposed = {store_transposed32, store_transposed64},
    .fold = {fold32, fold64},
    .scatter = {scatter32, scatter64},
    .depthwise = EXACT_SYM(exact_depthwise),
};
