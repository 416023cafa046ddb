#ifndef EXACT_WINDOW_H
#define EXACT_WINDOW_H
/* Sliding windows of Conv, ConvTranspose and the pools: attributes checked and lifted to three axes (depth, row, column;
 * missing leading axes get kernel 1, stride 1, dilation 1, pads 0), and the output size of an axis. */
#include "exact_impl.h"

enum { EXACT_AXES = 3 };

typedef struct exact_window {
  int spatial;  /* 1 to 3; the axes in use are the last ones */
  int auto_pad; /* begin and end hold the declared pads, all 0 unless EXACT_NOTSET */
  int64_t kernel[3], stride[3], dilation[3], begin[3], end[3];
} exact_window;

/* `kernel`: the `spatial` kernel sizes of a weight tensor, checked against kernel_shape when that is present, -1 where
 * unknown; NULL when kernel_shape itself is the kernel. Pads other than 0 need auto_pad NOTSET. */
int exact_window_init(exact_window *w, const exact_window_attrs *attrs, int spatial, const int64_t *kernel, exact_error *err);

/* Output size of lifted axis 0..2 for input size n, and the padding before and after in force (docs/conv.md, "Output
 * sizes"). ceil_mode matters for NOTSET and VALID. *out is -1 when n or the kernel is -1. */
int exact_window_size(const exact_window *w, int axis, int64_t n, bool ceil_mode, int64_t *out, int64_t *begin, int64_t *end,
                      exact_error *err);

/* dilation * (kernel - 1) + 1; never overflows after exact_window_init. */
static inline int64_t exact_window_extent(const exact_window *w, int axis) {
  return w->dilation[axis] * (w->kernel[axis] - 1) + 1;
}

/* Copies the `rank - 2` spatial dimensions of t to dims[3], missing leading axes 1. */
static inline void exact_window_lift(const exact_tensor *t, int64_t dims[3]) {
  int spatial = t->rank - 2;
  for (int i = 0; i < 3; i++) dims[i] = i < 3 - spatial ? 1 : t->dims[2 + i - (3 - spatial)];
}

/* Checks a list attribute of `n` values (absent is fine) and copies it to out, or fills out with `absent`. */
int exact_window_list(const exact_ints *list, int n, int64_t absent, int64_t least, const char *name, int64_t *out,
                      exact_error *err);
#endif
