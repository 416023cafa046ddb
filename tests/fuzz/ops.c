#include "ops.h"

/* n values, or another number of them, or none. */
static void draw_ints(stream *s, exact_ints *list, int n, int64_t least, int range) {
  unsigned form = byte(s);
  list->n = form < 80 ? 0 : form < 250 ? n : (int)(form % 8);
  for (int i = 0; i < list->n && i < 6; i++) list->v[i] = small(s, least, range);
}

static void draw_window(stream *s, drawn *d, exact_window_attrs *w, bool weights) {
  unsigned same = byte(s);
  d->spatial = 1 + below(s, 3);
  for (int i = 0; i < 3; i++) d->kernel[i] = 1 + below(s, d->spatial == 3 ? 3 : 5);
  w->auto_pad = same < 150 ? EXACT_NOTSET : (int)(same % 5);
  draw_ints(s, &w->kernel_shape, d->spatial, 1, 4);
  if (weights)
    for (int i = 0; i < d->spatial && w->kernel_shape.n == d->spatial; i++)
      if (byte(s) % 16) w->kernel_shape.v[i] = d->kernel[i];
  if (!weights && !w->kernel_shape.n && byte(s) % 16) {
    w->kernel_shape.n = d->spatial;
    for (int i = 0; i < d->spatial; i++) w->kernel_shape.v[i] = small(s, 1, 4);
  }
  draw_ints(s, &w->strides, d->spatial, 1, 3);
  draw_ints(s, &w->dilations, d->spatial, 1, 3);
  if (w->auto_pad == EXACT_NOTSET || byte(s) % 16 == 0) draw_ints(s, &w->pads, 2 * d->spatial, 0, 4);
}

static int draw_axes(stream *s, int64_t axes[16]) {
  int n = byte(s) < 100 ? 0 : below(s, 5);
  for (int i = 0; i < n; i++) axes[i] = small(s, -3, 6);
  return n;
}

static int64_t flag(stream *s) { return small(s, 0, 2); }

static exact_pool_attrs draw_pool(stream *s, drawn *d) {
  exact_pool_attrs a = {0};
  draw_window(s, d, &a.window, false);
  a.ceil_mode = flag(s);
  a.count_include_pad = flag(s);
  a.storage_order = flag(s);
  a.p = small(s, 1, 4);
  return a;
}

static exact_resize_attrs draw_resize(stream *s, drawn *d, int kind) {
  exact_resize_attrs a = {.form = kind % 8 < 6 ? EXACT_RESIZE_11 : kind % 4, .mode = below(s, 31) % 31 / 10};
  a.transform = below(s, 29) % 8;
  a.nearest = below(s, 17) % 5;
  a.policy = below(s, 17) % 4;
  a.cubic_coeff_a = real(s), a.extrapolation_value = real(s);
  a.exclude_outside = flag(s), a.antialias = flag(s);
  a.n_axes = draw_axes(s, a.axes);
  a.n_scales = a.form == EXACT_UPSAMPLE ? below(s, 6) : 0;
  for (int i = 0; i < a.n_scales; i++) a.scales[i] = byte(s) % 8 ? 1 + (float)below(s, 9) / 4 : real(s);
  d->n_inputs = a.form == EXACT_RESIZE_11 ? 4 : a.n_scales ? 1 : 2;
  d->n_axes = a.n_axes;
  d->n_scales = a.n_scales;
  d->form = a.form;
  return a;
}

drawn draw_op(stream *s) {
  static const int floats[] = {EXACT_FLOAT32, EXACT_FLOAT64, EXACT_FLOAT16, EXACT_BFLOAT16};
  static const int types[] = {EXACT_INT8,   EXACT_UINT8, EXACT_INT16,  EXACT_UINT16, EXACT_INT32,
                              EXACT_UINT32, EXACT_INT64, EXACT_UINT64, EXACT_BOOL,   99};
  drawn d = {.n_inputs = 1, .group = 1};
  exact_error err;
  d.family = below(s, FAMILIES);
  unsigned of_type = byte(s);
  int kind = (int)byte(s), rc = EXACT_OK;
  bool whole = d.family == POOL || d.family == REDUCE || d.family == ARG || d.family == CUMSUM || d.family == MATMUL ||
               d.family == RESIZE || d.family == UNARY || d.family == CLIP || d.family == SEVERAL;
  d.dtype = of_type % (whole ? 3 : 32) == 0 ? types[of_type / 3 % 10] : floats[of_type / 3 % 4];
  d.mode = byte(s) % 5 == 0 ? EXACT_MODE_FAST : EXACT_MODE_EXACT;
  switch (d.family) {
    case CONV: {
      exact_conv_attrs a = {0};
      draw_window(s, &d, &a.window, true);
      a.group = d.group = small(s, 1, 4);
      d.n_inputs = 3;
      rc = exact_conv_new(&a, d.dtype, d.mode, &d.op, &err);
      break;
    }
    case CONV_TRANSPOSE: {
      exact_conv_transpose_attrs a = {0};
      draw_window(s, &d, &a.window, true);
      a.group = d.group = small(s, 1, 4);
      if (kind % 4 == 0) draw_ints(s, &a.output_padding, d.spatial, 0, 2);
      if (kind % 4 == 1) draw_ints(s, &a.output_shape, d.spatial, 1, 20);
      d.n_inputs = 3;
      rc = exact_conv_transpose_new(&a, d.dtype, d.mode, &d.op, &err);
      break;
    }
    case POOL: {
      exact_pool_attrs a = draw_pool(s, &d);
      rc = exact_pool_new(kind % 13 == 12 ? 6 : kind % 6, &a, d.dtype, &d.op, &err);
      break;
    }
    case MAX_UNPOOL: {
      exact_max_unpool_attrs a = {0};
      d.spatial = 1 + below(s, 3);
      draw_ints(s, &a.kernel_shape, d.spatial, 1, 4);
      if (!a.kernel_shape.n) a.kernel_shape = (exact_ints){d.spatial, {2, 2, 2}};
      draw_ints(s, &a.strides, d.spatial, 1, 3);
      draw_ints(s, &a.pads, 2 * d.spatial, 0, 2);
      d.n_inputs = 3;
      rc = exact_max_unpool_new(&a, d.dtype, &d.op, &err);
      break;
    }
    case LRN: {
      exact_lrn_attrs a = {.size = small(s, 1, 7)};
      a.alpha = real(s), a.beta = real(s), a.bias = real(s);
      rc = exact_lrn_new(&a, d.dtype, &d.op, &err);
      break;
    }
    case BATCHNORM: {
      double epsilon = real(s);
      d.n_inputs = 5;
      rc = exact_batchnorm_new(epsilon, d.dtype, &d.op, &err);
      break;
    }
    case SOFTMAX: {
      int64_t axis = small(s, -3, 6);
      rc = exact_softmax_new(kind % 13 == 12 ? 3 : kind % 3, axis, below(s, 2), d.dtype, d.mode, &d.op, &err);
      break;
    }
    case REDUCE: {
      exact_reduce_attrs a = {.keepdims = flag(s), .noop_with_empty_axes = flag(s)};
      a.n_axes = d.n_axes = draw_axes(s, a.axes);
      d.n_inputs = 2;
      rc = exact_reduce_new(kind % 33 == 32 ? 10 : kind % 10, &a, d.dtype, &d.op, &err);
      break;
    }
    case LAYER_NORM:
    case RMS_NORM: {
      exact_layer_norm_attrs a = {.axis = small(s, -3, 5), .stash_type = kind % 16 ? 1 : kind % 3, .epsilon = real(s)};
      d.n_inputs = d.family == LAYER_NORM ? 3 : 2;
      rc = (d.family == LAYER_NORM ? exact_layer_norm_new : exact_rms_norm_new)(&a, d.dtype, &d.op, &err);
      break;
    }
    case INSTANCE_NORM: {
      exact_instance_norm_attrs a = {real(s)};
      d.n_inputs = 3;
      rc = exact_instance_norm_new(&a, d.dtype, &d.op, &err);
      break;
    }
    case GROUP_NORM: {
      exact_group_norm_attrs a = {.num_groups = small(s, 1, 4), .stash_type = 1, .epsilon = real(s), .parameters = kind % 3};
      d.group = a.num_groups;
      d.form = a.parameters;
      d.n_inputs = 3;
      rc = exact_group_norm_new(&a, d.dtype, &d.op, &err);
      break;
    }
    case LP_NORM: {
      int64_t axis = small(s, -3, 6), p = small(s, 1, 2);
      rc = exact_lp_norm_new(axis, p, d.dtype, &d.op, &err);
      break;
    }
    case MVN: {
      exact_mvn_attrs a = {0};
      a.n_axes = draw_axes(s, a.axes);
      rc = exact_mvn_new(&a, d.dtype, &d.op, &err);
      break;
    }
    case ARG: {
      exact_arg_attrs a = {.axis = small(s, -3, 6), .keepdims = flag(s), .select_last_index = flag(s)};
      rc = exact_arg_new(kind % 13 == 12 ? 2 : kind % 2, &a, d.dtype, &d.op, &err);
      break;
    }
    case CUMSUM: {
      exact_cumsum_attrs a = {.exclusive = flag(s), .reverse = flag(s)};
      d.n_inputs = 2;
      rc = exact_cumsum_new(kind % 13 == 12 ? 2 : kind % 2, &a, d.dtype, &d.op, &err);
      break;
    }
    case MATMUL: {
      d.n_inputs = 2;
      rc = exact_matmul_new(d.dtype, d.mode, &d.op, &err);
      break;
    }
    case GEMM: {
      exact_gemm_attrs a = {.alpha = real(s), .beta = real(s), .trans_a = flag(s), .trans_b = flag(s)};
      d.trans[0] = a.trans_a, d.trans[1] = a.trans_b;
      d.n_inputs = 3;
      rc = exact_gemm_new(&a, d.dtype, d.mode, &d.op, &err);
      break;
    }
    case UNARY: {
      exact_unary_attrs a = {.alpha = real(s), .beta = real(s), .gamma = real(s)};
      rc = exact_unary_new(kind % (EXACT_UNARY_KINDS + 1), &a, d.dtype, &d.op, &err);
      break;
    }
    case CLIP: {
      exact_clip_attrs a = {.limits = kind % 4 == 0, .min = real(s), .max = real(s)};
      d.n_inputs = a.limits ? 1 : 1 + kind % 3;
      rc = exact_clip_new(&a, d.dtype, &d.op, &err);
      break;
    }
    case SEVERAL: {
      int form = kind % (EXACT_MEAN + 2);
      d.n_inputs = form >= EXACT_MAX ? 1 + kind / 16 % MOST_INPUTS : 2;
      rc = exact_binary_new(form, d.dtype, &d.op, &err);
      break;
    }
    case POWER: {
      static const double exponents[] = {2, 3, 0.5, 1, 0, -1, -2, -0.5, 4};
      d.n_inputs = 2;
      rc = exact_pow_new(kind % 11 == 10 ? __builtin_nan("") : exponents[kind % 9], d.dtype, &d.op, &err);
      break;
    }
    case CAST: {
      rc = exact_cast_new(d.dtype, kind % 5 ? types[kind % 10] : small(s, 0, 20), &d.op, &err);
      break;
    }
    default: {
      exact_resize_attrs a = draw_resize(s, &d, kind);
      rc = exact_resize_new(&a, d.dtype, &d.op, &err);
    }
  }
  if (rc) d.op = NULL;
  return d;
}
