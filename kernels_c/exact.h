#ifndef EXACT_H
#define EXACT_H
#include <stddef.h>
#include <stdint.h>

/* The public C interface of the exact kernels. The lines that do not start with '#' are also the cffi definition.
 *
 * op    a node: attributes, element type and mode, validated once; may hold packed constant inputs
 * plan  an op for given input shapes: output shapes, tables, workspace size; creating one can fail, with a reason
 * run   the arithmetic: allocates nothing, cannot fail, re-entrant for one plan
 *
 * docs/exact-mode.md and the page of each operator family define every bit of the results. */

/* Element types: the numbers of ONNX TensorProto.DataType. 0 in exact_tensor.dtype means an absent optional tensor. */
enum {
  EXACT_ABSENT = 0,
  EXACT_FLOAT32 = 1,
  EXACT_UINT8 = 2,
  EXACT_INT8 = 3,
  EXACT_UINT16 = 4,
  EXACT_INT16 = 5,
  EXACT_INT32 = 6,
  EXACT_INT64 = 7,
  EXACT_BOOL = 9,
  EXACT_FLOAT16 = 10,
  EXACT_FLOAT64 = 11,
  EXACT_UINT32 = 12,
  EXACT_UINT64 = 13,
  EXACT_BFLOAT16 = 16
};
enum { EXACT_OK, EXACT_INVALID, EXACT_UNSUPPORTED, EXACT_NO_MEMORY };
enum { EXACT_MODE_EXACT, EXACT_MODE_FAST };
enum { EXACT_MAX_RANK = 16 };

typedef struct exact_error {
  int code;
  char reason[240];
} exact_error;

/* A tensor in row-major order. In exact_op_infer a dimension may be -1 (unknown). `data` may be NULL wherever only the
 * shape matters. */
typedef struct exact_tensor {
  int dtype;
  int rank;
  int64_t dims[16];
  const void *data;
} exact_tensor;

/* A list attribute; n == 0: absent. n counts the values the caller has, of which at most 6 are stored. */
typedef struct exact_ints {
  int n;
  int64_t v[6];
} exact_ints;

/* Calls task(arg, i) once for every i in [0, count), on any threads, and returns when all are done. */
typedef void (*exact_task)(void *arg, size_t index);
typedef struct exact_threads {
  void (*run)(void *host, size_t count, exact_task task, void *arg);
  void *host;
} exact_threads;

typedef struct exact_op exact_op;
typedef struct exact_plan exact_plan;

/* Bytes of an element; 0 for a type that is not listed above. */
size_t exact_dtype_size(int dtype);

/* ---- every operator ---- */
void exact_op_free(exact_op *op);
/* Output shapes from input shapes that may hold -1; writes exact_op_outputs(op) tensors. */
int exact_op_outputs(const exact_op *op);
int exact_op_infer(const exact_op *op, int n_inputs, const exact_tensor *inputs, exact_tensor *outputs, exact_error *err);
/* Bit i is set when a plan depends on the data of input i (axes, sizes, scales …): exact_op_plan then needs its `data`, and
 * the plan holds for that data alone. exact_op_infer uses it where it is given; an output of rank -1 has an unknown shape. */
unsigned exact_op_value_inputs(const exact_op *op);
/* Shapes known before packing (dims may be -1): lets the op choose the layout of its packed weights. Never changes bits. */
void exact_op_hint(exact_op *op, int n_inputs, const exact_tensor *inputs);
/* Packed constant inputs. packed_size is 0 when the op has no use for packing that input. `packed` must be aligned to 64
 * bytes and outlive the op. */
size_t exact_op_packed_size(const exact_op *op, int input, const exact_tensor *tensor);
int exact_op_pack(const exact_op *op, int input, const exact_tensor *tensor, void *packed, exact_error *err);
void exact_op_set_packed(exact_op *op, int input, const exact_tensor *tensor, const void *packed);

int exact_op_plan(const exact_op *op, int n_inputs, const exact_tensor *inputs, exact_plan **plan, exact_error *err);
void exact_plan_free(exact_plan *plan);
const exact_tensor *exact_plan_output(const exact_plan *plan, int output);
size_t exact_plan_workspace(const exact_plan *plan);
/* inputs[i] is NULL for an absent or packed input, outputs[i] is NULL for an output nobody wants; workspace is aligned to
 * 64 bytes; threads NULL runs on the calling thread. */
void exact_plan_run(const exact_plan *plan, const void *const *inputs, void *const *outputs, void *workspace,
                    const exact_threads *threads);
/* The same on `threads` threads of its own. */
void exact_plan_run_threads(const exact_plan *plan, const void *const *inputs, void *const *outputs, void *workspace,
                            int threads);

/* ---- instruction sets ---- */
/* Name of the i-th variant that this CPU can run, best last; NULL past the end. */
const char *exact_isa_name(int i);
/* The variant that new ops use: the best, unless the environment variable EXACT_ISA or exact_isa_select chose another;
 * NULL when EXACT_ISA names one that cannot run here (creating an op then fails). */
const char *exact_isa_current(void);
int exact_isa_select(const char *name, exact_error *err);

/* ---- sliding windows: Conv, ConvTranspose and pools ---- */
enum { EXACT_NOTSET, EXACT_SAME_UPPER, EXACT_SAME_LOWER, EXACT_VALID };
typedef struct exact_window_attrs {
  int auto_pad;
  exact_ints kernel_shape;
  exact_ints strides;
  exact_ints dilations;
  exact_ints pads;
} exact_window_attrs;

/* Inputs X, W, B (optional). Output Y. docs/conv.md */
typedef struct exact_conv_attrs {
  exact_window_attrs window;
  int64_t group;
} exact_conv_attrs;
int exact_conv_new(const exact_conv_attrs *attrs, int dtype, int mode, exact_op **op, exact_error *err);

/* Inputs X, W, B (optional). Output Y. docs/conv_transpose.md */
typedef struct exact_conv_transpose_attrs {
  exact_window_attrs window;
  int64_t group;
  exact_ints output_padding;
  exact_ints output_shape;
} exact_conv_transpose_attrs;
int exact_conv_transpose_new(const exact_conv_transpose_attrs *attrs, int dtype, int mode, exact_op **op, exact_error *err);

/* Input X. Output Y; MaxPool also Indices (int64). docs/pool.md */
enum {
  EXACT_MAX_POOL,
  EXACT_AVERAGE_POOL,
  EXACT_GLOBAL_MAX_POOL,
  EXACT_GLOBAL_AVERAGE_POOL,
  EXACT_LP_POOL,
  EXACT_GLOBAL_LP_POOL
};
typedef struct exact_pool_attrs {
  exact_window_attrs window;
  int64_t ceil_mode;
  int64_t count_include_pad; /* AveragePool */
  int64_t storage_order;     /* MaxPool */
  int64_t p;                 /* LpPool, GlobalLpPool: from 1 on */
} exact_pool_attrs;
int exact_pool_new(int kind, const exact_pool_attrs *attrs, int dtype, exact_op **op, exact_error *err);

/* Inputs X, I (int64), output_shape (int64, optional). Output Y. docs/unpool.md */
typedef struct exact_max_unpool_attrs {
  exact_ints kernel_shape;
  exact_ints strides;
  exact_ints pads;
} exact_max_unpool_attrs;
int exact_max_unpool_new(const exact_max_unpool_attrs *attrs, int dtype, exact_op **op, exact_error *err);

/* Input X. Output Y. docs/lrn.md */
typedef struct exact_lrn_attrs {
  int64_t size;
  float alpha, beta, bias;
} exact_lrn_attrs;
int exact_lrn_new(const exact_lrn_attrs *attrs, int dtype, exact_op **op, exact_error *err);

/* Inputs X, scale, B, mean, var. Output Y. epsilon is rounded to float32. docs/batchnorm.md */
int exact_batchnorm_new(double epsilon, int dtype, exact_op **op, exact_error *err);

/* ---- matrix products: docs/matmul.md ---- */
/* Inputs A, B. Output Y. */
int exact_matmul_new(int dtype, int mode, exact_op **op, exact_error *err);
/* Inputs A, B, C (optional). Output Y. */
typedef struct exact_gemm_attrs {
  float alpha, beta;
  int64_t trans_a, trans_b;
} exact_gemm_attrs;
int exact_gemm_new(const exact_gemm_attrs *attrs, int dtype, int mode, exact_op **op, exact_error *err);

/* ---- quantization: docs/quantize.md ---- */
/* QuantizeLinear: inputs x, y_scale, y_zero_point (optional). Output y. DequantizeLinear: inputs x, x_scale, x_zero_point
 * (optional). Output y. output_dtype and precision are element types, 0 when absent. */
typedef struct exact_quantize_attrs {
  int64_t axis;
  int64_t block_size;
  int64_t output_dtype;
  int64_t precision; /* QuantizeLinear */
} exact_quantize_attrs;
int exact_quantize_linear_new(const exact_quantize_attrs *attrs, int dtype, exact_op **op, exact_error *err);
int exact_dequantize_linear_new(const exact_quantize_attrs *attrs, int dtype, exact_op **op, exact_error *err);
/* Input x. Outputs y, y_scale, y_zero_point. */
int exact_dynamic_quantize_linear_new(int dtype, exact_op **op, exact_error *err);

/* ---- products of integers: docs/matmul_integer.md, docs/conv_integer.md ---- */
/* Inputs A, B, a_zero_point, b_zero_point (both optional). Output Y. */
int exact_matmul_integer_new(int dtype, exact_op **op, exact_error *err);
/* Inputs a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point. Output y. */
int exact_qlinear_matmul_new(int dtype, exact_op **op, exact_error *err);
/* Inputs x, w, x_zero_point, w_zero_point (both optional). Output y. */
int exact_conv_integer_new(const exact_conv_attrs *attrs, int dtype, exact_op **op, exact_error *err);
/* Inputs x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B (optional). Output y. */
int exact_qlinear_conv_new(const exact_conv_attrs *attrs, int dtype, exact_op **op, exact_error *err);

/* ---- Softmax, LogSoftmax, Hardmax ---- */
/* Input. Output. flatten: up to opset 12, where the axes from `axis` on are one row. docs/softmax.md */
enum { EXACT_SOFTMAX, EXACT_LOG_SOFTMAX, EXACT_HARDMAX };
int exact_softmax_new(int kind, int64_t axis, int flatten, int dtype, int mode, exact_op **op, exact_error *err);

/* ---- exp and log of arrays, correctly rounded: docs/exp_log.md. y may be x; fails only when EXACT_ISA is wrong ---- */
int exact_exp_f32(const float *x, float *y, size_t n, exact_error *err);
int exact_log_f32(const float *x, float *y, size_t n, exact_error *err);
int exact_exp_f64(const double *x, double *y, size_t n, exact_error *err);
int exact_log_f64(const double *x, double *y, size_t n, exact_error *err);

/* ---- functions of arrays, correctly rounded: docs/transcendental.md. y may be x; fails only when EXACT_ISA is wrong ---- */
int exact_sigmoid_f32(const float *x, float *y, size_t n, exact_error *err);
int exact_tanh_f32(const float *x, float *y, size_t n, exact_error *err);
int exact_erf_f32(const float *x, float *y, size_t n, exact_error *err);
int exact_softplus_f32(const float *x, float *y, size_t n, exact_error *err);
int exact_sin_f32(const float *x, float *y, size_t n, exact_error *err);
int exact_cos_f32(const float *x, float *y, size_t n, exact_error *err);

/* ---- reductions ---- */
/* Inputs data, axes (int64, optional). The attribute axes of the older opsets: n_axes 0 when absent. docs/reduce.md */
enum {
  EXACT_REDUCE_SUM,
  EXACT_REDUCE_MEAN,
  EXACT_REDUCE_L1,
  EXACT_REDUCE_L2,
  EXACT_REDUCE_SUM_SQUARE,
  EXACT_REDUCE_LOG_SUM,
  EXACT_REDUCE_LOG_SUM_EXP,
  EXACT_REDUCE_PROD,
  EXACT_REDUCE_MAX,
  EXACT_REDUCE_MIN
};
typedef struct exact_reduce_attrs {
  int64_t keepdims;
  int64_t noop_with_empty_axes;
  int n_axes;
  int64_t axes[16];
} exact_reduce_attrs;
int exact_reduce_new(int kind, const exact_reduce_attrs *attrs, int dtype, exact_op **op, exact_error *err);

/* ---- normalization over rows: docs/norm.md ---- */
/* Inputs X, scale, B (optional, not of RMSNormalization). Outputs Y; LayerNormalization also Mean and InvStdDev (float32). */
typedef struct exact_layer_norm_attrs {
  int64_t axis;
  int64_t stash_type;
  float epsilon;
} exact_layer_norm_attrs;
int exact_layer_norm_new(const exact_layer_norm_attrs *attrs, int dtype, exact_op **op, exact_error *err);
int exact_rms_norm_new(const exact_layer_norm_attrs *attrs, int dtype, exact_op **op, exact_error *err);
/* Inputs X, scale, B. Output Y. */
typedef struct exact_instance_norm_attrs {
  float epsilon;
} exact_instance_norm_attrs;
int exact_instance_norm_new(const exact_instance_norm_attrs *attrs, int dtype, exact_op **op, exact_error *err);
/* Inputs X, scale, B. Output Y. scale and B hold one number per channel (opset 21) or per group (opset 18); BY_LENGTH tells
 * them apart by the length of scale. */
enum { EXACT_GROUP_BY_LENGTH, EXACT_GROUP_PER_GROUP, EXACT_GROUP_PER_CHANNEL };
typedef struct exact_group_norm_attrs {
  int64_t num_groups;
  int64_t stash_type;
  float epsilon;
  int parameters;
} exact_group_norm_attrs;
int exact_group_norm_new(const exact_group_norm_attrs *attrs, int dtype, exact_op **op, exact_error *err);
/* Input X. Output Y. p is 1 or 2. */
int exact_lp_norm_new(int64_t axis, int64_t p, int dtype, exact_op **op, exact_error *err);
/* Input X. Output Y. n_axes 0: axes 0, 2 and 3. */
typedef struct exact_mvn_attrs {
  int n_axes;
  int64_t axes[16];
} exact_mvn_attrs;
int exact_mvn_new(const exact_mvn_attrs *attrs, int dtype, exact_op **op, exact_error *err);

/* ---- ArgMax, ArgMin ---- */
/* Input data. Output indices (int64). docs/arg.md */
enum { EXACT_ARG_MAX, EXACT_ARG_MIN };
typedef struct exact_arg_attrs {
  int64_t axis;
  int64_t keepdims;
  int64_t select_last_index;
} exact_arg_attrs;
int exact_arg_new(int kind, const exact_arg_attrs *attrs, int dtype, exact_op **op, exact_error *err);

/* ---- CumSum, CumProd ---- */
/* Inputs x, axis (int32 or int64, one element). Output y. docs/cumsum.md */
enum { EXACT_CUMSUM, EXACT_CUMPROD };
typedef struct exact_cumsum_attrs {
  int64_t exclusive;
  int64_t reverse;
} exact_cumsum_attrs;
int exact_cumsum_new(int kind, const exact_cumsum_attrs *attrs, int dtype, exact_op **op, exact_error *err);

/* ---- Attention: docs/attention.md ---- */
/* Inputs Q, K, V, attn_mask, past_key, past_value, nonpad_kv_seqlen, those from attn_mask on optional. Outputs Y, present_key,
 * present_value, qk_matmul_output. */
typedef struct exact_attention_attrs {
  int has_scale;
  float scale;
  float softcap;
  int64_t is_causal;
  int64_t q_num_heads; /* 0: those of the input */
  int64_t kv_num_heads;
  int64_t qk_matmul_output_mode;
  int64_t softmax_precision; /* 0: absent */
  int short_mask;            /* attn_mask may have fewer columns than there are keys: opset 24 */
} exact_attention_attrs;
int exact_attention_new(const exact_attention_attrs *attrs, int dtype, int mode, exact_op **op, exact_error *err);

/* ---- Einsum ---- */
/* As many inputs as the equation has terms. Output Y. docs/einsum.md */
int exact_einsum_new(const char *equation, int dtype, int mode, exact_op **op, exact_error *err);

/* ---- one input, element by element: docs/unary.md ---- */
/* Input X. Output Y. */
enum {
  EXACT_UNARY_ABS,
  EXACT_UNARY_CEIL,
  EXACT_UNARY_CELU,
  EXACT_UNARY_CLIP, /* of exact_clip_new */
  EXACT_UNARY_COS,
  EXACT_UNARY_ELU,
  EXACT_UNARY_ERF,
  EXACT_UNARY_EXP,
  EXACT_UNARY_FLOOR,
  EXACT_UNARY_GELU,
  EXACT_UNARY_GELU_TANH,
  EXACT_UNARY_HARD_SIGMOID,
  EXACT_UNARY_HARD_SWISH,
  EXACT_UNARY_LEAKY_RELU,
  EXACT_UNARY_LOG,
  EXACT_UNARY_MISH,
  EXACT_UNARY_NEG,
  EXACT_UNARY_RECIPROCAL,
  EXACT_UNARY_RELU,
  EXACT_UNARY_ROUND,
  EXACT_UNARY_SELU,
  EXACT_UNARY_SIGMOID,
  EXACT_UNARY_SIGN,
  EXACT_UNARY_SIN,
  EXACT_UNARY_SOFTPLUS,
  EXACT_UNARY_SOFTSIGN,
  EXACT_UNARY_SQRT,
  EXACT_UNARY_SWISH,
  EXACT_UNARY_TANH,
  EXACT_UNARY_THRESHOLDED_RELU,
  EXACT_UNARY_KINDS
};
typedef struct exact_unary_attrs {
  float alpha; /* Celu, Elu, HardSigmoid, LeakyRelu, Selu, Swish, ThresholdedRelu */
  float beta;  /* HardSigmoid */
  float gamma; /* Selu */
} exact_unary_attrs;
int exact_unary_new(int kind, const exact_unary_attrs *attrs, int dtype, exact_op **op, exact_error *err);

/* Inputs X, min (optional), max (optional). Output Y. limits 1: the attributes min and max of opset 6, and X alone. */
typedef struct exact_clip_attrs {
  int limits;
  float min, max;
} exact_clip_attrs;
int exact_clip_new(const exact_clip_attrs *attrs, int dtype, exact_op **op, exact_error *err);

/* Input X of the float type `from`. Output Y of the integer type `to` or bool. docs/cast.md */
int exact_cast_new(int from, int64_t to, exact_op **op, exact_error *err);

/* ---- elementwise operators of several inputs: docs/binary.md ---- */
/* Two inputs A, B (PRelu: X, slope); from Max on one or any number. One output. */
enum { EXACT_ADD, EXACT_SUB, EXACT_MUL, EXACT_DIV, EXACT_PRELU, EXACT_MAX, EXACT_MIN, EXACT_SUM, EXACT_MEAN };
int exact_binary_new(int kind, int dtype, exact_op **op, exact_error *err);
/* Inputs X, Y. Output Z. The exponent is the number in Y, of which only the shape is read later. NAN: not known; the op infers
 * shapes alone, of any Y. */
int exact_pow_new(double exponent, int dtype, exact_op **op, exact_error *err);

/* ---- Resize, Upsample: docs/resize.md ---- */
/* Inputs X, roi, scales, sizes, the last three optional (form 11: Resize from opset 11 on), or X, scales (Resize 10 and
 * Upsample; Upsample 7 has X alone and the attribute scales). Output Y. */
enum { EXACT_RESIZE_11, EXACT_RESIZE_10, EXACT_UPSAMPLE };
enum { EXACT_RESIZE_NEAREST, EXACT_RESIZE_LINEAR, EXACT_RESIZE_CUBIC };
enum {
  EXACT_HALF_PIXEL,
  EXACT_PYTORCH_HALF_PIXEL,
  EXACT_HALF_PIXEL_SYMMETRIC,
  EXACT_ALIGN_CORNERS,
  EXACT_ASYMMETRIC,
  EXACT_TF_HALF_PIXEL_FOR_NN,
  EXACT_TF_CROP_AND_RESIZE
};
enum { EXACT_ROUND_PREFER_FLOOR, EXACT_ROUND_PREFER_CEIL, EXACT_FLOOR, EXACT_CEIL };
enum { EXACT_STRETCH, EXACT_NOT_LARGER, EXACT_NOT_SMALLER };
typedef struct exact_resize_attrs {
  int form;
  int mode;
  /* what follows: form 11 only */
  int transform;
  int nearest;
  int policy;
  float cubic_coeff_a;
  float extrapolation_value;
  int64_t exclude_outside;
  int64_t antialias;
  int n_axes; /* 0: all */
  int64_t axes[16];
  /* Upsample only; 0: an input */
  int n_scales;
  float scales[16];
} exact_resize_attrs;
int exact_resize_new(const exact_resize_attrs *attrs, int dtype, exact_op **op, exact_error *err);

/* ---- LSTM, GRU, RNN: docs/recurrent.md ---- */
/* Inputs X, W, R, B, sequence_lens (int32), initial_h, LSTM also initial_c and P; all from B on optional. Outputs Y, Y_h, LSTM
 * also Y_c. */
enum { EXACT_LSTM, EXACT_GRU, EXACT_RNN };
enum { EXACT_FORWARD, EXACT_REVERSE, EXACT_BIDIRECTIONAL };
enum {
  EXACT_ACT_RELU,
  EXACT_ACT_TANH,
  EXACT_ACT_SIGMOID,
  EXACT_ACT_AFFINE,
  EXACT_ACT_LEAKY_RELU,
  EXACT_ACT_THRESHOLDED_RELU,
  EXACT_ACT_SCALED_TANH,
  EXACT_ACT_HARD_SIGMOID,
  EXACT_ACT_ELU,
  EXACT_ACT_SOFTSIGN,
  EXACT_ACT_SOFTPLUS
};
typedef struct exact_recurrent_attrs {
  int direction;
  int has_hidden_size, has_clip;
  int64_t hidden_size;
  int64_t layout;
  int64_t input_forget;        /* LSTM */
  int64_t linear_before_reset; /* GRU */
  float clip;
  /* The lists of the node: numbers of values, of which at most 6 are stored; 0: absent. */
  int n_activations, n_alpha, n_beta;
  int activations[6];
  float alpha[6], beta[6];
} exact_recurrent_attrs;
int exact_recurrent_new(int kind, const exact_recurrent_attrs *attrs, int dtype, exact_op **op, exact_error *err);

#endif
