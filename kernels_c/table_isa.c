/* The kernel table of one instruction-set variant. */
#include "isa.h"

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)

extern const struct exact_gemm_kernels EXACT_SYM(exact_gemm32), EXACT_SYM(exact_gemm64);
extern const struct exact_gemm_kernels EXACT_SYM(exact_fast_gemm32), EXACT_SYM(exact_fast_gemm64);
extern const struct exact_conv_kernels EXACT_SYM(exact_conv);
extern const struct exact_matmul_kernels EXACT_SYM(exact_matmul);
extern const struct exact_pool_kernels EXACT_SYM(exact_pool);
extern const struct exact_unpool_kernels EXACT_SYM(exact_unpool);
extern const struct exact_batchnorm_kernels EXACT_SYM(exact_batchnorm);
extern const struct exact_reduce_kernels EXACT_SYM(exact_reduce);
extern const struct exact_norm_kernels EXACT_SYM(exact_norm);
extern const struct exact_lrn_kernels EXACT_SYM(exact_lrn);
extern const struct exact_arg_kernels EXACT_SYM(exact_arg);
extern const struct exact_cumsum_kernels EXACT_SYM(exact_cumsum);
extern const struct exact_binary_kernels EXACT_SYM(exact_binary);
extern const struct exact_softmax_kernels EXACT_SYM(exact_softmax);
extern const struct exact_resize_kernels EXACT_SYM(exact_resize);
extern const struct exact_recurrent_kernels EXACT_SYM(exact_recurrent);
extern const struct exact_integer_kernels EXACT_SYM(exact_integer);
extern const struct exact_quantize_kernels EXACT_SYM(exact_quantize);
extern const struct exact_exp_log_kernels EXACT_SYM(exact_exp_log);
extern const struct exact_transcendental_kernels EXACT_SYM(exact_transcendental);
extern const struct exact_unary_kernels EXACT_SYM(exact_unary);
extern const struct exact_composed_kernels EXACT_SYM(exact_composed);
extern const struct exact_activation_kernels EXACT_SYM(exact_activation);
extern const struct exact_cast_kernels EXACT_SYM(exact_cast);

const exact_isa EXACT_SYM(exact_table) = {
    .name = TEXT(EXACT_ISA),
    .gemm32 = &EXACT_SYM(exact_gemm32),
    .gemm64 = &EXACT_SYM(exact_gemm64),
    .fast_gemm32 = &EXACT_SYM(exact_fast_gemm32),
    .fast_gemm64 = &EXACT_SYM(exact_fast_gemm64),
    .conv = &EXACT_SYM(exact_conv),
    .matmul = &EXACT_SYM(exact_matmul),
    .pool = &EXACT_SYM(exact_pool),
    .unpool = &EXACT_SYM(exact_unpool),
    .batchnorm = &EXACT_SYM(exact_batchnorm),
    .reduce = &EXACT_SYM(exact_reduce),
    .norm = &EXACT_SYM(exact_norm),
    .lrn = &EXACT_SYM(exact_lrn),
    .arg = &EXACT_SYM(exact_arg),
    .cumsum = &EXACT_SYM(exact_cumsum),
    .binary = &EXACT_SYM(exact_binary),
    .softmax = &EXACT_SYM(exact_softmax),
    .resize = &EXACT_SYM(exact_resize),
    .recurrent = &EXACT_SYM(exact_recurrent),
    .integer = &EXACT_SYM(exact_integer),
    .quantize = &EXACT_SYM(exact_quantize),
    .exp_log = &EXACT_SYM(exact_exp_log),
    .transcendental = &EXACT_SYM(exact_transcendental),
    .unary = &EXACT_SYM(exact_unary),
    .composed = &EXACT_SYM(exact_composed),
    .activation = &EXACT_SYM(exact_activation),
    .cast = &EXACT_SYM(exact_cast),
};
