#ifndef EXACT_IMPL_H
#define EXACT_IMPL_H
/* Private to the kernels: the op and plan objects, instruction-set tables, error and size helpers, scratch slots. */
#include "exact.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

/* ---- errors and sizes ---- */
/* Fills *err (may be NULL) and returns code. */
int exact_fail(exact_error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* *size = a * b; false on overflow. */
static inline bool exact_mul(size_t a, size_t b, size_t *size) { return !__builtin_mul_overflow(a, b, size); }
static inline bool exact_add(size_t a, size_t b, size_t *size) { return !__builtin_add_overflow(a, b, size); }
/* The most that a tensor, a workspace or packed weights may take: larger sizes are errors. */
#define EXACT_MOST_BYTES ((size_t)1 << (sizeof(size_t) > 4 ? 47 : 30))
/* Rounds up to a multiple of 64, the alignment of every workspace part. */
static inline size_t exact_align(size_t n) { return (n + 63) & ~(size_t)63; }
/* Appends a part of count * size bytes, aligned to 64, to a workspace of *total bytes; its offset goes to *offset. */
bool exact_part(size_t *total, size_t count, size_t size, size_t *offset);

/* v rounded to float32, to nearest even whatever the caller's rounding mode. */
float exact_to_float(double v);
const char *exact_dtype_name(int dtype);
bool exact_is_float(int dtype);
/* The type that arithmetic on dtype uses: float32 for float16, bfloat16 and float32; float64 for float64. */
static inline int exact_arith(int dtype) { return dtype == EXACT_FLOAT64 ? EXACT_FLOAT64 : EXACT_FLOAT32; }
/* Elements of a tensor with known dimensions; fails when the bytes overflow (limit 2^47) or a dimension is negative. */
int exact_count(const exact_tensor *t, const char *what, size_t *count, exact_error *err);
/* "2x3x5" of a shape, for error texts. */
const char *exact_shape_text(const exact_tensor *t, char text[96]);

/* ---- ops and plans ---- */
typedef struct exact_isa exact_isa;

typedef struct exact_op_class {
  const char *name; /* of the family, for error texts */
  int outputs;
  int min_inputs, max_inputs;
  unsigned value_inputs; /* as exact_op_value_inputs returns it */
  int (*infer)(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err);
  int (*plan)(const exact_op *op, int n, const exact_tensor *in, exact_plan **plan, exact_error *err);
  void (*free)(exact_op *op);
  /* optional */
  void (*hint)(exact_op *op, int n, const exact_tensor *in);
  size_t (*packed_size)(const exact_op *op, int input, const exact_tensor *t);
  int (*pack)(const exact_op *op, int input, const exact_tensor *t, void *packed, exact_error *err);
  void (*set_packed)(exact_op *op, int input, const exact_tensor *t, const void *packed);
} exact_op_class;

/* First member of every family's op. */
struct exact_op {
  const exact_op_class *cls;
  const exact_isa *isa;
  int dtype, mode;
};

typedef struct exact_call {
  const exact_plan *plan;
  const void *const *in;
  void *const *out;
  char *work;
  const exact_threads *threads;
} exact_call;

/* First member of every family's plan. A plan is one block from malloc. */
struct exact_plan {
  const exact_op *op;
  void (*run)(const exact_call *call);
  size_t workspace;
  exact_tensor out[4];
};

/* calloc for a plan; on failure fills *err and returns NULL. */
void *exact_new(size_t size, exact_error *err);
/* An op of `size` bytes with its header filled in; NULL and *err when out of memory or when EXACT_ISA names a variant that
 * this CPU or build does not have. */
void *exact_op_new(size_t size, const exact_op_class *cls, int dtype, int mode, exact_error *err);

/* Runs the tasks with the floating-point environment of exact mode set around each (round to nearest even, subnormals
 * kept), and the caller's restored after it. */
void exact_parallel(const exact_threads *threads, size_t count, exact_task task, void *arg);

/* Scratch areas for the tasks of one parallel run: at most 64 tasks hold one at a time, lowest free slot first, so that
 * only as many areas are touched as threads run. */
typedef struct exact_slots {
  _Atomic uint64_t busy;
  int count;
  size_t stride;
  char *base;
} exact_slots;
static inline int exact_slot_count(size_t tasks) { return tasks < 64 ? (tasks ? (int)tasks : 1) : 64; }
void exact_slots_init(exact_slots *s, void *base, size_t stride, int count);
void *exact_slot_take(exact_slots *s);
void exact_slot_give(exact_slots *s, void *area);

/* ---- instruction sets ---- */
/* One table per variant; the files named *_isa.c are compiled once for each and reach each other through it. */
struct exact_isa {
  const char *name;
  const struct exact_gemm_kernels *gemm32, *gemm64;           /* gemm.h */
  const struct exact_gemm_kernels *fast_gemm32, *fast_gemm64; /* the same, free to fuse */
  const struct exact_conv_kernels *conv;                      /* conv.h */
  const struct exact_matmul_kernels *matmul;                  /* matmul.h */
  const struct exact_pool_kernels *pool;                      /* pool.h */
  const struct exact_unpool_kernels *unpool;                  /* unpool.h */
  const struct exact_batchnorm_kernels *batchnorm;            /* batchnorm.h */
  const struct exact_reduce_kernels *reduce;                  /* reduce.h */
  const struct exact_norm_kernels *norm;                      /* norm.h */
  const struct exact_lrn_kernels *lrn;                        /* lrn.h */
  const struct exact_arg_kernels *arg;                        /* arg.h */
  const struct exact_cumsum_kernels *cumsum;                  /* cumsum.h */
  const struct exact_binary_kernels *binary;                  /* binary.h */
  const struct exact_softmax_kernels *softmax;                /* softmax.h */
  const struct exact_resize_kernels *resize;                  /* resize.h */
  const struct exact_recurrent_kernels *recurrent;            /* recurrent.h */
  const struct exact_integer_kernels *integer;                /* integer.h */
  const struct exact_quantize_kernels *quantize;              /* quantize.h */
  const struct exact_exp_log_kernels *exp_log;                /* exp_log_kernels.h */
  const struct exact_transcendental_kernels *transcendental;  /* transcendental_kernels.h */
  const struct exact_unary_kernels *unary;                    /* unary.h */
  const struct exact_composed_kernels *composed;              /* unary.h */
  const struct exact_activation_kernels *activation;          /* unary.h */
  const struct exact_cast_kernels *cast;                      /* cast.h */
};
const exact_isa *exact_isa_table(exact_error *err);

#endif
