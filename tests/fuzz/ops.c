#include "ops.h"

static void draw_ints(stream *s, exact_ints *list) {
  list->n = (int)(byte(s) % 8);
  for (int i = 0; i < list->n && i < 6; i++) list->v[i] = number(s);
}

static void draw_window(stream *s, exact_window_attrs *w) {
  w->auto_pad = (int)(byte(s) % 4);
  draw_ints(s, &w->kernel_shape);
  draw_ints(s, &w->strides);
  draw_ints(s, &w->dilations);
  draw_ints(s, &w->pads);
}

static int draw_axes(stream *s, int64_t axes[16]) {
  int n = (int)(byte(s) % 6);
  for (int i = 0; i < n; i++) axes[i] = number(s);
  return n;
}

drawn draw_op(stream *s) {
  static const int types[] = {EXACT_FLOAT32, EXACT_FLOAT64, EXACT_FLOAT16, EXACT_BFLOAT16, EXACT_INT8,   EXACT_UINT8, EXACT_INT16,
                              EXACT_UINT16,  EXACT_INT32,   EXACT_UINT32,  EXACT_INT64,    EXACT_UINT64, EXACT_BOOL,  99};
  drawn d = {.n_inputs = 1};
  exact_error err;
  unsigned family = byte(s) % 20;
  int type = types[byte(s) % 14], kind = (int)byte(s);
  d.mode = kind % 5 == 0 ? EXACT_MODE_FAST : EXACT_MODE_EXACT;
  int rc = EXACT_OK;
  switch (family) {
    case 0: {
      exact_conv_attrs a = {0};
      draw_window(s, &a.window);
      a.group = number(s);
      d.n_inputs = 3;
      rc = exact_conv_new(&a, type, d.mode, &d.op, &err);
      break;
    }
    case 1: {
      exact_conv_transpose_attrs a = {0};
      draw_window(s, &a.window);
      a.group = number(s);
      draw_ints(s, &a.output_padding);
      draw_ints(s, &a.output_shape);
      d.n_inputs = 3;
      rc = exact_conv_transpose_new(&a, type, d.mode, &d.op, &err);
      break;
    }
    case 2:
    case 3: {
      exact_pool_attrs a = {0};
      draw_window(s, &a.window);
      a.ceil_mode = number(s);
      a.count_include_pad = number(s);
      a.storage_order = number(s);
      a.p = number(s);
      rc = exact_pool_new(kind % 7, &a, type, &d.op, &err);
      break;
    }
    case 4: {
      exact_max_unpool_attrs a = {0};
      draw_ints(s, &a.kernel_shape);
      draw_ints(s, &a.strides);
      draw_ints(s, &a.pads);
      d.n_inputs = 3;
      rc = exact_max_unpool_new(&a, type, &d.op, &err);
      break;
    }
    case 5: {
      exact_lrn_attrs a = {.size = number(s)};
      a.alpha = real(s), a.beta = real(s), a.bias = real(s);
      rc = exact_lrn_new(&a, type, &d.op, &err);
      break;
    }
    case 6: {
      double epsilon = real(s);
      d.n_inputs = 5;
      rc = exact_batchnorm_new(epsilon, type, &d.op, &err);
      break;
    }
    case 7: {
      int64_t axis = number(s);
      rc = exact_softmax_new(kind % 4, axis, (int)(byte(s) % 2), type, d.mode, &d.op, &err);
      break;
    }
    case 8:
    case 9: {
      exact_reduce_attrs a = {.keepdims = number(s), .noop_with_empty_axes = number(s)};
      a.n_axes = draw_axes(s, a.axes);
      d.n_inputs = 2;
      rc = exact_reduce_new(kind % 11, &a, type, &d.op, &err);
      break;
    }
    case 10: {
      exact_layer_norm_attrs a = {.axis = number(s), .stash_type = 1, .epsilon = real(s)};
      d.n_inputs = kind % 2 ? 3 : 2;
      rc = (kind % 2 ? exact_layer_norm_new : exact_rms_norm_new)(&a, type, &d.op, &err);
      break;
    }
    case 11: {
      exact_instance_norm_attrs a = {real(s)};
      d.n_inputs = 3;
      rc = exact_instance_norm_new(&a, type, &d.op, &err);
      break;
    }
    case 12: {
      exact_group_norm_attrs a = {.num_groups = number(s), .stash_type = 1, .epsilon = real(s), .parameters = kind % 3};
      d.n_inputs = 3;
      rc = exact_group_norm_new(&a, type, &d.op, &err);
      break;
    }
    case 13: {
      int64_t axis = number(s), p = number(s);
      rc = exact_lp_norm_new(axis, p, type, &d.op, &err);
      break;
    }
    case 14: {
      exact_mvn_attrs a = {0};
      a.n_axes = draw_axes(s, a.axes);
      rc = exact_mvn_new(&a, type, &d.op, &err);
      break;
    }
    case 15: {
      exact_arg_attrs a = {.axis = number(s), .keepdims = number(s), .select_last_index = number(s)};
      rc = exact_arg_new(kind % 3, &a, type, &d.op, &err);
      break;
    }
    case 16: {
      exact_cumsum_attrs a = {.exclusive = number(s), .reverse = number(s)};
      d.n_inputs = 2;
      rc = exact_cumsum_new(kind % 3, &a, type, &d.op, &err);
      break;
    }
    case 17: {
      d.n_inputs = 2;
      rc = exact_matmul_new(type, d.mode, &d.op, &err);
      break;
    }
    case 18: {
      exact_gemm_attrs a = {.alpha = real(s), .beta = real(s), .trans_a = number(s), .trans_b = number(s)};
      d.n_inputs = 3;
      rc = exact_gemm_new(&a, type, d.mode, &d.op, &err);
      break;
    }
    default: {
      exact_resize_attrs a = {.form = kind % 4, .mode = (int)(byte(s) % 4)};
      a.transform = (int)(byte(s) % 8);
      a.nearest = (int)(byte(s) % 5);
      a.policy = (int)(byte(s) % 4);
      a.cubic_coeff_a = real(s), a.extrapolation_value = real(s);
      a.exclude_outside = number(s), a.antialias = number(s);
      a.n_axes = draw_axes(s, a.axes);
      a.n_scales = (int)(byte(s) % 6);
      for (int i = 0; i < a.n_scales; i++) a.scales[i] = real(s);
      d.n_inputs = 4;
      rc = exact_resize_new(&a, type, &d.op, &err);
    }
  }
  if (rc) d.op = NULL;
  return d;
}
