/* Depthwise convolution for one arithmetic type (REAL, INTEGER of its size, NAN_BITS, SUFFIX). Lanes are channels: every output
 * takes its taps in order from +0, then the bias. Included by depthwise_isa.c. */
#define NAME3(name, suffix) name##suffix
#define NAME2(name, suffix) NAME3(name, suffix)
#define NAME(name) NAME2(name, SUFFIX)
#define TV NAME(vector)
#define LANES (EXACT_VB / sizeof(REAL))

typedef REAL TV __attribute__((vector_size(EXACT_VB), aligned(sizeof(REAL)), may_alias));
typedef INTEGER NAME(bits) __attribute__((vector_size(EXACT_VB)));
#include "transpose.h"

EXACT_INLINE TV NAME(canonical)(TV v) {
  NAME(bits) ordered = (NAME(bits))(v == v);
  return (TV)(((NAME(bits))v & ordered) | (((NAME(bits)){0} + NAN_BITS) & ~ordered));
}

/* ---- x to [position][lane]: n pixels of every channel, consecutive in x, to the positions from dst on ---- */
typedef struct NAME(cursor) {
  REAL *at;               /* position of the next pixel */
  size_t left, run, skip; /* pixels left in its row; pixels of a row, positions from the end of a row to the next */
} NAME(cursor);

EXACT_INLINE TV NAME(pixels)(const char *src, size_t n, int dtype) {
  TV v = {0};
  REAL part[LANES] = {0};
  if (dtype == EXACT_FLOAT32 || dtype == EXACT_FLOAT64) {
    if (n == LANES) return *(const TV *)src;
    memcpy(part, src, n * sizeof(REAL));
  } else {
    uint16_t half[LANES] = {0};
    memcpy(half, src, n == LANES ? sizeof half : n * 2);
    if (dtype == EXACT_FLOAT16)
      for (size_t i = 0; i < LANES; i++) part[i] = (REAL)exact_f16_to_f32(half[i]);
    else
      for (size_t i = 0; i < LANES; i++) part[i] = (REAL)exact_bf16_to_f32(half[i]);
  }
  memcpy(&v, part, sizeof v);
  return v;
}

/* The n pixels from `src` on go to the cursor. `before` pixels precede them and `room` begin with them in the channel's plane.
 */
EXACT_INLINE void NAME(block_in)(const exact_depthwise *d, const char *src, size_t n, size_t before, size_t room,
                                 NAME(cursor) * to, const int dtype) {
  size_t element = exact_dtype_size(dtype), last = d->channels - 1;
  size_t plane = (size_t)d->shape->in[0] * (size_t)d->shape->in[1] * (size_t)d->shape->in[2] * element;
  size_t back = room < LANES && before >= LANES - room ? LANES - room : 0; /* read a whole vector, ending at the plane's end */
  const char *x = src - back * element;
  TV block[LANES];
  if (room + back >= LANES && last == LANES - 1) {
    EXACT_UNROLL
    for (size_t i = 0; i < LANES; i++) block[i] = NAME(pixels)(x + i * plane, LANES, dtype);
  } else { /* lanes without a channel repeat the last one */
    size_t read = room + back < LANES ? room : LANES;
    for (size_t i = 0; i < LANES; i++) block[i] = NAME(pixels)(x + (i < last ? i : last) * plane, read, dtype);
  }
  NAME(transpose)(block);
  if (n == LANES && to->left > LANES) { /* within a row */
    EXACT_UNROLL
    for (size_t i = 0; i < LANES; i++) *(TV *)(to->at + i * LANES) = block[i];
    to->at += LANES * LANES;
    to->left -= LANES;
    return;
  }
  TV copy[LANES];
  EXACT_UNROLL
  for (size_t i = 0; i < LANES; i++) copy[i] = block[i];
  for (size_t i = back; i < back + n;) {
    size_t run = back + n - i < to->left ? back + n - i : to->left;
    for (size_t j = 0; j < run; j++) *(TV *)(to->at + j * LANES) = copy[i + j];
    i += run;
    to->at += run * LANES;
    to->left -= run;
    if (!to->left) {
      to->at += to->skip * LANES;
      to->left = to->run;
    }
  }
}

/* n consecutive pixels of the depth plane x, from pixel `first` on. */
static void NAME(run_in)(const exact_depthwise *d, const char *x, size_t first, size_t n, NAME(cursor) * to) {
  int dtype = d->shape->dtype, real = sizeof(REAL) == 8 ? EXACT_FLOAT64 : EXACT_FLOAT32;
  size_t element = exact_dtype_size(dtype), end = (size_t)d->shape->in[1] * (size_t)d->shape->in[2];
  for (size_t i = first; i < first + n; i += LANES) {
    size_t part = first + n - i < LANES ? first + n - i : LANES;
    if (dtype == real)
      NAME(block_in)(d, x + i * element, part, i, end - i, to, real);
    else
      NAME(block_in)(d, x + i * element, part, i, end - i, to, dtype);
  }
}

/* ---- outputs ---- */
EXACT_INLINE void NAME(group)(const size_t count, const REAL *in, size_t step, const uint32_t *at, size_t taps, const REAL *w,
                              TV bias, REAL *out) {
  TV acc[8];
  EXACT_UNROLL
  for (size_t i = 0; i < count; i++) acc[i] = (TV){0};
  for (size_t t = 0; t < taps; t++, w += LANES) {
    const REAL *x = in + (size_t)at[t] * LANES;
    TV weight = *(const TV *)w;
    EXACT_UNROLL
    for (size_t i = 0; i < count; i++) acc[i] += *(const TV *)(x + i * step) * weight;
  }
  EXACT_UNROLL
  for (size_t i = 0; i < count; i++) *(TV *)(out + i * LANES) = acc[i] + bias;
}

#if EXACT_VB == 64
/* The same for kernels `kw` wide without dilation, whose taps of a row share positions: with 32 registers they need not be
 * loaded again.
 */
EXACT_INLINE void NAME(shared)(const size_t count, const size_t kw, const size_t stride, const REAL *in, const uint32_t *at,
                               size_t taps, const REAL *w, TV bias, REAL *out) {
  TV acc[8];
  EXACT_UNROLL
  for (size_t i = 0; i < count; i++) acc[i] = (TV){0};
  for (size_t t = 0; t < taps; t += kw, w += kw * LANES) {
    const REAL *row = in + (size_t)at[t] * LANES;
    EXACT_UNROLL
    for (size_t k = 0; k < kw; k++) {
      TV weight = *(const TV *)(w + k * LANES);
      EXACT_UNROLL
      for (size_t i = 0; i < count; i++) acc[i] += *(const TV *)(row + (i * stride + k) * LANES) * weight;
    }
  }
  EXACT_UNROLL
  for (size_t i = 0; i < count; i++) *(TV *)(out + i * LANES) = acc[i] + bias;
}

#define SHARED(count, kw, stride)                                             \
  case 100 * (stride) + 10 * (kw) + (count):                                  \
    NAME(shared)(count, kw, stride, in, d->at, d->shape->taps, w, bias, out); \
    return true;

static bool NAME(shared_group)(const exact_depthwise *d, size_t count, const REAL *in, const REAL *w, TV bias, REAL *out) {
  int64_t stride = d->shape->stride[2], kw = d->shape->kernel[2];
  if (stride > 2 || kw > 7 || d->shape->dilation[2] != 1) return false;
  switch ((size_t)(100 * stride + 10 * kw) + count) {
    SHARED(8, 3, 1)
    SHARED(7, 3, 1)
    SHARED(8, 5, 1) SHARED(7, 5, 1) SHARED(8, 7, 1) SHARED(7, 7, 1) SHARED(8, 3, 2) SHARED(7, 3, 2) default : return false;
  }
}
#undef SHARED
#else
#define shared_group32(d, count, in, w, bias, out) false
#define shared_group64(d, count, in, w, bias, out) false
#endif

static void NAME(row)(const exact_depthwise *d, const REAL *in, const REAL *w, TV bias, REAL *out) {
  size_t step = (size_t)d->shape->stride[2] * LANES, taps = d->shape->taps;
  const uint32_t *at = d->at;
  for (size_t left = d->columns, n; left > 0; left -= n, in += n * step, out += n * LANES) {
    size_t groups = (left + 7) / 8;
    n = (left + groups - 1) / groups;
    if (NAME(shared_group)(d, n, in, w, bias, out)) continue;
    switch (n) {
      case 1: NAME(group)(1, in, step, at, taps, w, bias, out); break;
      case 2: NAME(group)(2, in, step, at, taps, w, bias, out); break;
      case 3: NAME(group)(3, in, step, at, taps, w, bias, out); break;
      case 4: NAME(group)(4, in, step, at, taps, w, bias, out); break;
      case 5: NAME(group)(5, in, step, at, taps, w, bias, out); break;
      case 6: NAME(group)(6, in, step, at, taps, w, bias, out); break;
      case 7: NAME(group)(7, in, step, at, taps, w, bias, out); break;
      default: NAME(group)(8, in, step, at, taps, w, bias, out); break;
    }
  }
}

/* n outputs from [output][lane] to consecutive elements of the channels' planes. */
static void NAME(run_out)(const exact_depthwise *d, const REAL *out, size_t n, char *y, size_t plane) {
  int dtype = d->shape->dtype;
  size_t element = exact_dtype_size(dtype);
  for (size_t i = 0; i < n; i += LANES) {
    if (n - i < LANES && n >= LANES) i = n - LANES; /* some outputs twice */
    size_t part = n - i < LANES ? n - i : LANES;
    TV block[LANES];
    EXACT_UNROLL
    for (size_t j = 0; j < LANES; j++) block[j] = NAME(canonical)(*(const TV *)(out + (i + j) * LANES));
    NAME(transpose)(block);
    if (element == sizeof(REAL) && part == LANES && d->channels == LANES) {
      EXACT_UNROLL
      for (size_t j = 0; j < LANES; j++) *(TV *)(y + j * plane + i * element) = block[j];
      continue;
    }
    TV copy[LANES];
    EXACT_UNROLL
    for (size_t j = 0; j < LANES; j++) copy[j] = block[j];
    for (size_t j = 0; j < d->channels; j++) {
      if (sizeof(REAL) == 8 || element == sizeof(REAL))
        memcpy(y + j * plane + i * element, &copy[j], part * element);
      else
        exact_store_row(y + j * plane + i * element, (const float *)&copy[j], part, dtype);
    }
  }
}

/* ---- a unit ---- */
typedef struct NAME(input) {
  const char *x; /* of the depth plane */
  NAME(cursor) to;
  int64_t next, end;      /* rows to transpose */
  size_t column, columns; /* of a row that lie in the tile */
  size_t done;            /* whole: pixels transposed since row `next` */
  bool whole;             /* rows follow each other in x */
} NAME(input);

static NAME(input) NAME(begin_input)(const exact_depthwise *d, int64_t kd) {
  const exact_conv_shape *s = d->shape;
  int64_t depth = d->depth * s->stride[0] - s->pad[0] + kd * s->dilation[0];
  int64_t top = d->row * s->stride[1] - s->pad[1], left = d->column * s->stride[2] - s->pad[2];
  int64_t row0 = top > 0 ? top : 0, row1 = top + (int64_t)d->high, column0 = left > 0 ? left : 0;
  int64_t column1 = left + (int64_t)d->wide;
  if (row1 > s->in[1]) row1 = s->in[1];
  if (column1 > s->in[2]) column1 = s->in[2];
  NAME(input) in = {0};
  REAL *slab = (REAL *)d->area + (size_t)kd * d->high * d->wide * LANES;
  if (depth < 0 || depth >= s->in[0] || row0 >= row1 || column0 >= column1) {
    memset(slab, 0, d->high * d->wide * LANES * sizeof(REAL));
    return in;
  }
  in.columns = (size_t)(column1 - column0);
  in.whole = column1 - column0 == s->in[2];
  in.column = (size_t)column0;
  in.x = (const char *)d->x + (size_t)(depth * s->in[1] * s->in[2]) * exact_dtype_size(s->dtype);
  in.next = row0;
  in.end = row1;
  /* Zeros: rows above and below, then what lies right of one row and left of the next. */
  size_t above = (size_t)(row0 - top), before = (size_t)(column0 - left), rows = (size_t)(row1 - row0);
  size_t after = d->wide - in.columns - before, below = d->high - above - rows;
  memset(slab, 0, (above * d->wide + before) * LANES * sizeof(REAL));
  in.to.at = slab + (above * d->wide + before) * LANES;
  REAL *gap = in.to.at + in.columns * LANES;
  for (size_t r = 0; r + 1 < rows; r++, gap += d->wide * LANES) memset(gap, 0, (before + after) * LANES * sizeof(REAL));
  memset(gap, 0, (after + below * d->wide) * LANES * sizeof(REAL));
  in.to.left = in.to.run = in.columns;
  in.to.skip = d->wide - in.columns;
  return in;
}

/* Transposes the rows before `row`, and of whole rows what fills a vector. */
static void NAME(advance)(const exact_depthwise *d, NAME(input) * in, int64_t row) {
  size_t pitch = (size_t)d->shape->in[2];
  if (row > in->end) row = in->end;
  if (row <= in->next) return;
  if (in->whole) {
    size_t all = (size_t)(in->end - in->next) * pitch, to = (size_t)(row - in->next) * pitch;
    to = (to + LANES - 1) / LANES * LANES;
    if (to > all) to = all;
    if (to <= in->done) return;
    NAME(run_in)(d, in->x, (size_t)in->next * pitch + in->done, to - in->done, &in->to);
    in->done = to;
    return;
  }
  for (; in->next < row; in->next++) NAME(run_in)(d, in->x, (size_t)in->next * pitch + in->column, in->columns, &in->to);
}

static void NAME(depthwise)(const exact_depthwise *d) {
  const exact_conv_shape *s = d->shape;
  size_t element = exact_dtype_size(s->dtype), plane = (size_t)s->out[0] * (size_t)s->out[1] * (size_t)s->out[2] * element;
  size_t room = (d->columns + EXACT_DEPTHWISE_HELD * LANES) * LANES, held = 0;
  size_t first = (size_t)((d->depth * s->out[1] + d->row) * s->out[2] + d->column);
  bool flat = d->columns == (size_t)s->out[2]; /* rows follow each other in y */
  NAME(input) in[EXACT_DEPTHWISE_SLABS];
  for (int64_t kd = 0; kd < s->kernel[0]; kd++) in[kd] = NAME(begin_input)(d, kd);
  for (size_t r = 0; r < d->rows; r++) {
    int64_t top = (d->row + (int64_t)r) * s->stride[1] - s->pad[1];
    for (int64_t kd = 0; kd < s->kernel[0]; kd++) NAME(advance)(d, &in[kd], top + (s->kernel[1] - 1) * s->dilation[1] + 1);
    /* Outputs wait until they fill vectors; at least a vector of them stays for the end. */
    size_t all = held + d->columns, send = all;
    if (flat && r + 1 < d->rows) send = all < (EXACT_DEPTHWISE_HELD - 2) * LANES ? 0 : (all / LANES - 1) * LANES;
    for (size_t j = 0; j < s->m; j++) {
      REAL *out = (REAL *)d->out + j * room;
      TV bias = {0};
      if (d->bias && s->m == 1 && d->channels == LANES)
        bias = *(const TV *)d->bias;
      else if (d->bias)
        for (size_t l = 0; l < d->channels; l++) bias[l] = ((const REAL *)d->bias)[l * s->m + j];
      NAME(row)
      (d, (const REAL *)d->area + r * (size_t)s->stride[1] * d->wide * LANES, (const REAL *)d->weights + j * s->taps * LANES,
       bias, out + held * LANES);
      if (!send) continue;
      NAME(run_out)(d, out, send, (char *)d->y + j * plane + first * element, s->m * plane);
      for (size_t i = send; i < all; i++) *(TV *)(out + (i - send) * LANES) = *(const TV *)(out + i * LANES);
    }
    held = all - send;
    first += flat ? send : (size_t)s->out[2];
  }
}

#undef LANES
#undef TV
#undef NAME
#undef NAME2
#undef NAME3
