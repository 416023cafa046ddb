/* ConvTranspose after its matrix product, for one arithmetic type (as conv_pack.h, after it; INTEGER, CANONICAL): every output
 * is the sum, from +0, of the taps that land on it in increasing (depth, row, column) order, plus the bias. Position q = output
 * column + pad belongs to phase q % stride; in a phase neighbouring outputs take neighbouring inputs. */
#define NAME3(name, suffix) name##suffix
#define NAME2(name, suffix) NAME3(name, suffix)
#define NAME(name) NAME2(name, SUFFIX)

EXACT_INLINE REAL NAME(finished)(REAL a, REAL bias) {
  REAL v = a + bias;
  return v == v ? v : CANONICAL;
}

typedef INTEGER NAME(lane_bits) __attribute__((vector_size(COPY_BYTES)));

/* Lanes i.. of two vectors in turn. */
#define PAIRS(i, lanes) (i), (i) + (lanes), (i) + 1, (i) + 1 + (lanes)
#if 8 * COPY_BYTES / SUFFIX == 8
#define LOW_PAIRS PAIRS(0, 8), PAIRS(2, 8)
#define HIGH_PAIRS PAIRS(4, 8), PAIRS(6, 8)
#elif 8 * COPY_BYTES / SUFFIX == 4
#define LOW_PAIRS PAIRS(0, 4)
#define HIGH_PAIRS PAIRS(2, 4)
#else
#define LOW_PAIRS 0, 2
#define HIGH_PAIRS 1, 3
#endif

/* Input index of the tap k at output position o of an axis; false when it does not land in [in0, in1). */
EXACT_INLINE bool NAME(lands)(const exact_fold *f, int axis, int64_t o, int64_t k, int64_t *i) {
  const exact_conv_shape *s = f->shape;
  int64_t t = o + s->pad[axis] - k * s->dilation[axis];
  if (t < 0 || t % s->stride[axis]) return false;
  *i = t / s->stride[axis];
  return *i >= f->in0[axis] && *i < f->in1[axis];
}

/* Adds the input row of one tap to its phase, whose outputs j0.. are `count`. */
static void NAME(add_tap)(const exact_fold *f, REAL *acc, size_t step, const REAL *col, int64_t shift, int64_t j0,
                          int64_t count) {
  int64_t begin = f->in0[2] > j0 - shift ? f->in0[2] : j0 - shift;
  int64_t end = f->in1[2] < j0 + count - shift ? f->in1[2] : j0 + count - shift;
  if (begin >= end) return;
  const REAL *src = col + (begin - f->in0[2]);
  REAL *dst = acc + (size_t)(begin + shift - j0) * step;
  size_t n = (size_t)(end - begin);
  if (step == 1) {
    size_t i = 0;
    for (; i + NAME(few) <= n; i += NAME(few)) *(NARROW *)(dst + i) += *(const NARROW *)(src + i);
    for (; i < n; i++) dst[i] += src[i];
  } else
    for (size_t i = 0; i < n; i++) dst[i * step] += src[i];
}

/* y[2i] = even[i], y[2i + 1] = odd[i], finished */
static void NAME(interleave_pairs)(REAL *y, int64_t n, const REAL *even, const REAL *odd, REAL bias) {
  enum { L = NAME(few) };
  int64_t i = 0;
  if (n >= L) {
    NARROW nan = (NARROW){0} + CANONICAL;
    for (;; i += L) {
      if (i > n - L) i = n - L; /* some twice */
      NARROW a = *(const NARROW *)(even + i) + bias, b = *(const NARROW *)(odd + i) + bias;
      NAME(lane_bits) a_ordered = (NAME(lane_bits))(a == a), b_ordered = (NAME(lane_bits))(b == b);
      a = (NARROW)(((NAME(lane_bits))a & a_ordered) | ((NAME(lane_bits))nan & ~a_ordered));
      b = (NARROW)(((NAME(lane_bits))b & b_ordered) | ((NAME(lane_bits))nan & ~b_ordered));
      *(NARROW *)(y + 2 * i) = __builtin_shufflevector(a, b, LOW_PAIRS);
      *(NARROW *)(y + 2 * i + L) = __builtin_shufflevector(a, b, HIGH_PAIRS);
      if (i == n - L) return;
    }
  }
  for (; i < n; i++) {
    y[2 * i] = NAME(finished)(even[i], bias);
    y[2 * i + 1] = NAME(finished)(odd[i], bias);
  }
}

/* y[i] = output at position q0 + i of a row; phase p, outputs j0.. at from[p]. */
static void NAME(interleave)(REAL *y, int64_t n, int64_t q0, int64_t stride, const REAL *const from[4], REAL bias) {
  int64_t j0 = q0 / stride;
  if (stride == 1) {
    for (int64_t i = 0; i < n; i++) y[i] = NAME(finished)(from[0][i], bias);
  } else if (stride == 2) {
    const REAL *even = from[0], *odd = from[1];
    if (q0 % 2) {
      *y++ = NAME(finished)(*odd++, bias);
      even++;
      n--;
    }
    NAME(interleave_pairs)(y, n / 2, even, odd, bias);
    if (n % 2) y[n - 1] = NAME(finished)(even[n / 2], bias);
  } else {
    for (int64_t i = 0; i < n; i++) y[i] = NAME(finished)(from[(q0 + i) % stride][(q0 + i) / stride - j0], bias);
  }
}

/* When exactly one tap lands on every output of the row: outputs straight from col. */
static bool NAME(fold_single)(const exact_fold *f, int64_t depth, int64_t row, REAL *y) {
  const exact_conv_shape *s = f->shape;
  int64_t stride = s->stride[2], q0 = f->out0[2] + s->pad[2], n = f->out1[2] - f->out0[2], id = 0, ih = 0, tap = -1;
  if (stride > 4 || s->kernel[2] != stride || (s->dilation[2] != 1 && stride > 1)) return false;
  if (q0 / stride < f->in0[2] || (q0 + n - 1) / stride >= f->in1[2]) return false;
  for (int64_t kd = 0; kd < s->kernel[0]; kd++) {
    int64_t z, r;
    if (!NAME(lands)(f, 0, depth, kd, &z)) continue;
    for (int64_t kh = 0; kh < s->kernel[1]; kh++) {
      if (!NAME(lands)(f, 1, row, kh, &r)) continue;
      if (tap >= 0) return false;
      tap = (kd * s->kernel[1] + kh) * stride;
      id = z - f->in0[0];
      ih = r - f->in0[1];
    }
  }
  if (tap < 0) return false;
  const REAL *col = (const REAL *)f->col + (size_t)tap * f->col_stride, *from[4] = {NULL};
  col += ((id * (f->in1[1] - f->in0[1]) + ih) * (f->in1[2] - f->in0[2])) + q0 / stride - f->in0[2];
  for (int64_t p = 0; p < stride; p++) from[p] = col + (size_t)p * f->col_stride;
  NAME(interleave)(y, n, q0, stride, from, (REAL)f->bias);
  return true;
}

static void NAME(fold_row)(const exact_fold *f, int64_t depth, int64_t row, REAL *y) {
  if (NAME(fold_single)(f, depth, row, y)) return;
  const exact_conv_shape *s = f->shape;
  int64_t stride = s->stride[2], q0 = f->out0[2] + s->pad[2], n = f->out1[2] - f->out0[2];
  size_t wide = (size_t)(f->in1[2] - f->in0[2]), high = (size_t)(f->in1[1] - f->in0[1]);
  REAL bias = (REAL)f->bias, *acc = f->area;
  bool split = stride <= 4; /* accumulators of a phase stand together; else those of an output row */
  int64_t j0 = q0 / stride, each = (q0 + n - 1) / stride - j0 + 1;
  memset(acc, 0, (size_t)(split ? each * stride : n) * sizeof(REAL));
  for (int64_t kd = 0; kd < s->kernel[0]; kd++) {
    int64_t id, ih;
    if (!NAME(lands)(f, 0, depth, kd, &id)) continue;
    for (int64_t kh = 0; kh < s->kernel[1]; kh++) {
      if (!NAME(lands)(f, 1, row, kh, &ih)) continue;
      const REAL *col = (const REAL *)f->col + (size_t)((kd * s->kernel[1] + kh) * s->kernel[2]) * f->col_stride +
                        ((size_t)(id - f->in0[0]) * high + (size_t)(ih - f->in0[1])) * wide;
      for (int64_t kw = 0; kw < s->kernel[2]; kw++, col += f->col_stride) {
        int64_t phase = kw * s->dilation[2] % stride, shift = kw * s->dilation[2] / stride;
        if (split) {
          NAME(add_tap)(f, acc + phase * each, 1, col, shift, j0, each);
        } else { /* the first output of the phase is at position phase + j * stride >= q0 */
          int64_t j = q0 > phase ? (q0 - phase + stride - 1) / stride : 0, first = phase + j * stride - q0;
          if (first < n) NAME(add_tap)(f, acc + first, (size_t)stride, col, shift, j, (n - first - 1) / stride + 1);
        }
      }
    }
  }
  const REAL *from[4] = {acc, acc + each, acc + 2 * each, acc + 3 * each};
  NAME(interleave)(y, n, split ? q0 : 0, split ? stride : 1, from, bias);
}

static void NAME(fold)(const exact_fold *f) {
  const exact_conv_shape *s = f->shape;
  size_t element = exact_dtype_size(s->dtype), n = (size_t)(f->out1[2] - f->out0[2]);
  REAL *buffer = (REAL *)f->area + exact_fold_area(s) / 2;
  for (int64_t d = f->out0[0]; d < f->out1[0]; d++)
    for (int64_t r = f->out0[1]; r < f->out1[1]; r++) {
      char *y = (char *)f->y + (size_t)((d * s->out[1] + r) * s->out[2] + f->out0[2]) * element;
      if (element == sizeof(REAL)) {
        NAME(fold_row)(f, d, r, (REAL *)y);
      } else {
        NAME(fold_row)(f, d, r, buffer);
        NAME(narrow_row)(y, buffer, n, s->dtype);
      }
    }
}

/* ---- one output at a time ---- */
/* Packed weights of a row of the block: element k at [k * width]. */
static const REAL *NAME(weight_row)(const exact_scatter *job, size_t row, size_t k, size_t *width) {
  size_t start = 0;
  for (;;) {
    size_t high = exact_gemm_part(job->rows - start, job->panel_rows);
    *width = high;
    if (row < start + high) return (const REAL *)job->w + start * k + (row - start);
    start += high;
  }
}

static REAL NAME(scattered)(const exact_scatter *job, int64_t depth, int64_t row, int64_t column) {
  const exact_conv_shape *s = job->shape;
  exact_fold box = {.shape = s, .in1 = {s->in[0], s->in[1], s->in[2]}};
  size_t plane = (size_t)s->in[0] * (size_t)s->in[1] * (size_t)s->in[2], element = exact_dtype_size(s->dtype), width;
  REAL acc = 0;
  for (int64_t kd = 0; kd < s->kernel[0]; kd++)
    for (int64_t kh = 0; kh < s->kernel[1]; kh++)
      for (int64_t kw = 0; kw < s->kernel[2]; kw++) {
        int64_t z, y, x;
        if (!NAME(lands)(&box, 0, depth, kd, &z) || !NAME(lands)(&box, 1, row, kh, &y) || !NAME(lands)(&box, 2, column, kw, &x))
          continue;
        size_t tap = (size_t)((kd * s->kernel[1] + kh) * s->kernel[2] + kw);
        const REAL *w = NAME(weight_row)(job, job->row + tap, s->c, &width);
        const char *src = (const char *)job->x + (size_t)((z * s->in[1] + y) * s->in[2] + x) * element;
        REAL p = 0;
        for (size_t c = 0; c < s->c; c++) {
          REAL value;
          NAME(load)(&value, src + c * plane * element, 1, 1, s->dtype);
          p += value * w[c * width];
        }
        acc += p;
      }
  return NAME(finished)(acc, (REAL)job->bias);
}

static void NAME(scatter)(const exact_scatter *job) {
  const exact_conv_shape *s = job->shape;
  char *y = job->y;
  for (int64_t d = 0; d < s->out[0]; d++)
    for (int64_t r = 0; r < s->out[1]; r++)
      for (int64_t c = 0; c < s->out[2]; c++, y += exact_dtype_size(s->dtype)) {
        REAL value = NAME(scattered)(job, d, r, c);
        NAME(narrow_row)(y, &value, 1, s->dtype);
      }
}

#undef LOW_PAIRS
#undef HIGH_PAIRS
#undef PAIRS
#undef WIDE
#undef NARROW
#undef NAME
#undef NAME2
#undef NAME3
