/* Window attributes and output sizes. Every attribute is limited to 2^47, the limit of a tensor's bytes, so that sums of a
 * few of them cannot overflow; only the dilated extent needs a checked product. */
#include "window.h"

static const int64_t most = (int64_t)1 << 47;

int exact_window_list(const exact_ints *list, int n, int64_t absent, int64_t least, const char *name, int64_t *out,
                      exact_error *err) {
  if (list->n != 0 && list->n != n) return exact_fail(err, EXACT_INVALID, "%s has %d values, expected %d", name, list->n, n);
  for (int i = 0; i < n; i++) {
    out[i] = list->n ? list->v[i] : absent;
    if (out[i] < least)
      return exact_fail(err, EXACT_INVALID, "%s holds %lld, the least allowed is %lld", name, (long long)out[i],
                        (long long)least);
    if (out[i] > most) return exact_fail(err, EXACT_INVALID, "%s holds %lld, which is too large", name, (long long)out[i]);
  }
  return EXACT_OK;
}

int exact_window_init(exact_window *w, const exact_window_attrs *attrs, int spatial, const int64_t *kernel, exact_error *err) {
  int64_t shape[3], strides[3], dilations[3], pads[6] = {0};
  int rc;
  if (spatial < 1 || spatial > 3)
    return exact_fail(err, spatial < 1 ? EXACT_INVALID : EXACT_UNSUPPORTED, "%d spatial axes, 1 to 3 are supported", spatial);
  if (attrs->auto_pad < EXACT_NOTSET || attrs->auto_pad > EXACT_VALID)
    return exact_fail(err, EXACT_INVALID, "unknown auto_pad %d", attrs->auto_pad);
  if (!kernel && attrs->kernel_shape.n == 0) return exact_fail(err, EXACT_INVALID, "kernel_shape is missing");
  if ((rc = exact_window_list(&attrs->kernel_shape, spatial, 1, 1, "kernel_shape", shape, err)) ||
      (rc = exact_window_list(&attrs->strides, spatial, 1, 1, "strides", strides, err)) ||
      (rc = exact_window_list(&attrs->dilations, spatial, 1, 1, "dilations", dilations, err)) ||
      (rc = exact_window_list(&attrs->pads, 2 * spatial, 0, 0, "pads", pads, err)))
    return rc;
  for (int i = 0; i < 2 * spatial; i++)
    if (pads[i] && attrs->auto_pad != EXACT_NOTSET) return exact_fail(err, EXACT_INVALID, "pads need auto_pad NOTSET");
  *w = (exact_window){spatial, attrs->auto_pad, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0}, {0}};
  for (int i = 0; i < spatial; i++) {
    int axis = 3 - spatial + i;
    int64_t reach;
    if (kernel && attrs->kernel_shape.n && kernel[i] >= 0 && kernel[i] != shape[i])
      return exact_fail(err, EXACT_INVALID, "kernel_shape holds %lld where the weight has %lld", (long long)shape[i],
                        (long long)kernel[i]);
    if (kernel && kernel[i] == 0) return exact_fail(err, EXACT_INVALID, "the weight's kernel has a size of 0");
    w->kernel[axis] = kernel && (kernel[i] >= 0 || !attrs->kernel_shape.n) ? kernel[i] : shape[i];
    w->stride[axis] = strides[i];
    w->dilation[axis] = dilations[i];
    w->begin[axis] = pads[i];
    w->end[axis] = pads[spatial + i];
    if (w->kernel[axis] > 0 && (__builtin_mul_overflow(w->kernel[axis] - 1, w->dilation[axis], &reach) || reach > 2 * most))
      return exact_fail(err, EXACT_INVALID, "kernel %lld with dilation %lld is too large", (long long)w->kernel[axis],
                        (long long)w->dilation[axis]);
  }
  return EXACT_OK;
}

int exact_window_size(const exact_window *w, int axis, int64_t n, bool ceil_mode, int64_t *out, int64_t *begin, int64_t *end,
                      exact_error *err) {
  int64_t s = w->stride[axis], b = w->begin[axis], a = w->end[axis];
  *begin = b;
  *end = a;
  *out = -1;
  if (n < 0 || w->kernel[axis] < 0) return EXACT_OK;
  int64_t e = exact_window_extent(w, axis);
  if (w->auto_pad == EXACT_SAME_UPPER || w->auto_pad == EXACT_SAME_LOWER) {
    *out = n / s + (n % s != 0);
    int64_t total = (*out - 1) * s + e - n;
    if (total < 0) total = 0;
    *begin = w->auto_pad == EXACT_SAME_UPPER ? total / 2 : total - total / 2;
    *end = total - *begin;
    return EXACT_OK;
  }
  if (n + b + a < e)
    return exact_fail(err, EXACT_INVALID, "window does not fit: input %lld, pads %lld and %lld, dilated kernel %lld",
                      (long long)n, (long long)b, (long long)a, (long long)e);
  int64_t room = n + b + a - e;
  *out = room / s + 1;
  if (ceil_mode) {
    *out += room % s != 0;
    if ((*out - 1) * s >= n + b) *out -= 1;
  }
  return EXACT_OK;
}
