/* Shapes and types of the inputs of a drawn op. */
#include "ops.h"

static int64_t dimension(stream *s) {
  unsigned b = byte(s);
  return b < 200 ? (int64_t)(b % 9) : b < 250 ? (int64_t)(b % 50) : b < 253 ? (int64_t)(b % 3) * 300 : extreme(s);
}

static void shape(exact_tensor *t, int rank, const int64_t *dims) {
  t->rank = rank;
  for (int i = 0; i < rank; i++) t->dims[i] = dims[i];
}

static void draw_shape(exact_tensor *t, stream *s, int least, int ranks) {
  t->rank = least + below(s, ranks);
  for (int i = 0; i < t->rank; i++) t->dims[i] = dimension(s);
}

static void list(exact_tensor *t, int dtype, int64_t n) {
  t->dtype = dtype;
  shape(t, 1, &n);
}

/* [n, group * channels, spatial ..] */
static void draw_image(exact_tensor *t, stream *s, int64_t group, int spatial) {
  draw_shape(t, s, 2 + spatial, 1);
  if (group > 0 && group < 64) t->dims[1] = group * below(s, 24);
}

static void draw_weights(const drawn *d, stream *s, exact_tensor in[]) {
  int64_t of_group = d->group > 0 ? in[0].dims[1] / d->group : 0, more = below(s, 20);
  bool transposed = d->family == CONV_TRANSPOSE;
  int64_t m = transposed ? more : more * (d->group < 64 ? d->group : 1);
  int64_t dims[5] = {transposed ? in[0].dims[1] : m, transposed ? more : of_group};
  for (int i = 0; i < d->spatial; i++) dims[2 + i] = d->kernel[i];
  shape(&in[1], 2 + d->spatial, dims);
  list(&in[2], d->dtype, transposed ? more * (d->group < 64 ? d->group : 1) : m);
}

static void draw_product(const drawn *d, stream *s, exact_tensor in[]) {
  int64_t m = dimension(s), k = dimension(s), n = dimension(s);
  if (d->family == GEMM) {
    shape(&in[0], 2, d->trans[0] ? (int64_t[]){k, m} : (int64_t[]){m, k});
    shape(&in[1], 2, d->trans[1] ? (int64_t[]){n, k} : (int64_t[]){k, n});
    int64_t c[] = {byte(s) % 2 ? m : 1, byte(s) % 4 ? n : 1};
    int rank = below(s, 3);
    shape(&in[2], rank, c + 2 - rank);
    return;
  }
  int64_t batch[2] = {below(s, 4), below(s, 3)};
  for (int i = 0; i < 2; i++) {
    int64_t dims[4];
    int r = below(s, 3), rank = 0;
    for (; rank < r; rank++) dims[rank] = byte(s) % 4 ? batch[2 - r + rank] : 1;
    bool vector = byte(s) % 8 == 0;
    if (!vector || i == 1) dims[rank++] = i ? k : m;
    if (!vector || i == 0) dims[rank++] = i ? n : k;
    shape(&in[i], rank, dims);
  }
}

static void draw_resize(const drawn *d, stream *s, exact_tensor in[], int meaning[]) {
  draw_shape(&in[0], s, 1, 4);
  if (d->n_scales) in[0].rank = d->n_scales;
  int64_t n = d->n_axes ? d->n_axes : in[0].rank;
  unsigned form = byte(s);
  if (d->form != EXACT_RESIZE_11) {
    list(&in[1], EXACT_FLOAT32, in[0].rank);
    meaning[1] = SCALES;
    return;
  }
  if (form % 4) list(&in[1], form % 16 == 1 ? EXACT_FLOAT64 : EXACT_FLOAT32, 2 * n);
  if (form / 16 % 2)
    list(&in[2], EXACT_FLOAT32, n);
  else
    list(&in[3], EXACT_INT64, n);
  meaning[2] = SCALES;
  meaning[3] = SIZES;
}

static void draw_attention(const drawn *d, stream *s, exact_tensor in[], int meaning[]) {
  int64_t batch = below(s, 4), length = dimension(s), fresh = dimension(s), past = byte(s) % 3 ? 0 : below(s, 5), total;
  int64_t sizes[2] = {below(s, 9), below(s, 9)};
  unsigned mask = byte(s);
  if (__builtin_add_overflow(fresh, past, &total)) total = 0;
  for (int i = 0; i < 3; i++) {
    int64_t heads = d->heads[i > 0], size = sizes[i == 2], long_ = i ? fresh : length;
    shape(&in[i], d->form, d->form == 4 ? (int64_t[]){batch, heads, long_, size} : (int64_t[]){batch, long_, heads * size});
  }
  for (int i = 3; i < MOST_INPUTS; i++) in[i].dtype = EXACT_ABSENT;
  if (mask % 2) {
    int64_t full[4] = {mask & 2 ? batch : 1, mask & 4 ? d->heads[0] : 1, mask & 8 ? length : 1, total};
    int rank = 2 + (mask >> 4) % 3;
    in[3].dtype = mask & 128 ? EXACT_BOOL : d->dtype;
    shape(&in[3], rank, full + 4 - rank);
    if (byte(s) % 4 == 0) in[3].dims[rank - 1] = below(s, 6);
  }
  for (int i = 4; i < 6 && past; i++) {
    in[i].dtype = d->dtype;
    shape(&in[i], 4, (int64_t[]){batch, d->heads[1], past, sizes[i == 5]});
  }
  if (!past && byte(s) % 3 == 0) list(&in[6], EXACT_INT64, batch);
  meaning[6] = INDICES;
}

static void draw_operands(const drawn *d, stream *s, exact_tensor in[]) {
  int64_t size[128] = {0};
  for (int i = 0; i < d->n_inputs; i++) {
    in[i].rank = 0;
    for (const char *c = d->term[i]; *c; c++) {
      int axes = *c == '.' ? 2 : 1;
      for (; axes; axes--) {
        int label = *c == '.' ? axes : *c;
        if (!size[label]) size[label] = 1 + below(s, 7);
        in[i].dims[in[i].rank++] = byte(s) % 16 ? size[label] : (int64_t)(byte(s) % 2);
      }
    }
  }
}

static void draw_recurrent(const drawn *d, stream *s, exact_tensor in[], int meaning[]) {
  const int64_t t = below(s, 6), n = below(s, 12), i = below(s, 20), h = d->hidden,
                g = d->form == EXACT_LSTM  ? 4
                    : d->form == EXACT_GRU ? 3
                                           : 1;
  shape(&in[0], 3, d->trans[0] ? (int64_t[]){n, t, i} : (int64_t[]){t, n, i});
  shape(&in[1], 3, (int64_t[]){d->group, g * h, i});
  shape(&in[2], 3, (int64_t[]){d->group, g * h, h});
  shape(&in[3], 2, (int64_t[]){d->group, 2 * g * h});
  list(&in[4], EXACT_INT32, n);
  meaning[4] = LENGTHS;
  for (int k = 5; k < 7; k++) shape(&in[k], 3, d->trans[0] ? (int64_t[]){n, d->group, h} : (int64_t[]){d->group, n, h});
  shape(&in[7], 2, (int64_t[]){d->group, 3 * h});
  unsigned absent = byte(s);
  for (int k = 3; k < 8; k++)
    if (absent >> (k - 3) & 1) in[k].dtype = EXACT_ABSENT;
}

/* [] or [1], or the shape of the rows (axis: the last one of x) or columns. */
static void draw_parameter(exact_tensor *t, stream *s, int dtype, const exact_tensor *x, int axis, bool list_of) {
  unsigned form = byte(s);
  *t = (exact_tensor){.dtype = dtype};
  if (!list_of || form % 3 == 0 || axis < 0) {
    int64_t one = 1;
    shape(t, below(s, 2), &one);
    return;
  }
  shape(t, x->rank, x->dims);
  t->dims[axis] = 1;
  if (x->rank == 2 && form % 2) list(t, dtype, x->dims[1 - axis]);
}

static int float_type(stream *s) {
  static const int types[] = {EXACT_FLOAT32, EXACT_FLOAT32, EXACT_FLOAT16, EXACT_BFLOAT16};
  return types[byte(s) % 4];
}
static int byte_type(stream *s) { return byte(s) % 2 ? EXACT_INT8 : EXACT_UINT8; }

static void draw_quantize(const drawn *d, stream *s, exact_tensor in[]) {
  static const int types[] = {EXACT_INT8, EXACT_UINT8, EXACT_INT16, EXACT_UINT16};
  exact_tensor *x = &in[0], *scale = &in[1];
  draw_shape(x, s, 0, 5);
  if (d->form == 2) return;
  int64_t axis = d->axis < 0 ? d->axis + x->rank : d->axis, one = 1;
  shape(scale, below(s, 2), &one);
  if (d->block > 0 && axis >= 0 && axis < x->rank) {
    shape(scale, x->rank, x->dims);
    scale->dims[axis] = x->dims[axis] / d->block + (x->dims[axis] % d->block != 0);
  } else if (byte(s) % 2 && axis >= 0 && axis < x->rank) {
    shape(scale, 1, &x->dims[axis]);
  }
  in[2] = *scale;
  scale->dtype = float_type(s);
  in[2].dtype = d->form ? d->dtype : types[byte(s) % 4];
  if (byte(s) % 4 == 0) in[2].dtype = EXACT_ABSENT;
}

/* Zero points and scales of a product of a and b (inputs 0 and 1, or 0 and 3), or of a convolution. */
static void draw_integer(const drawn *d, stream *s, exact_tensor in[]) {
  bool conv = d->family == CONV_INTEGER, given = !d->form;
  exact_tensor pair[3] = {{0}};
  int types[2] = {d->dtype, byte_type(s)};
  if (conv) {
    draw_image(&pair[0], s, d->group, d->spatial);
    draw_weights(d, s, pair);
  } else {
    draw_product(d, s, pair);
  }
  for (int i = 0; i < 2; i++) {
    exact_tensor *x = &in[given ? i : 3 * i], *zero = &in[given ? 2 + i : 2 + 3 * i];
    int axis = conv ? -1 : pair[i].rank - 1 - i;
    *x = pair[i];
    x->dtype = types[i];
    if (pair[i].rank < 2) axis = -1;
    draw_parameter(zero, s, types[i], x, axis, true);
    if (!given) draw_parameter(&in[1 + 3 * i], s, conv ? EXACT_FLOAT32 : float_type(s), x, axis, true);
    if (conv && i && byte(s) % 2) list(zero, types[i], x->dims[0]);
    if (conv && i && !given && byte(s) % 2) list(&in[4], EXACT_FLOAT32, x->dims[0]);
    if (given && byte(s) % 4 == 0) zero->dtype = EXACT_ABSENT;
  }
  if (given) return;
  draw_parameter(&in[6], s, EXACT_FLOAT32, NULL, -1, false);
  draw_parameter(&in[7], s, byte_type(s), NULL, -1, false);
  if (!conv) return;
  list(&in[8], EXACT_INT32, pair[1].dims[0]);
  if (byte(s) % 2) in[8].dtype = EXACT_ABSENT;
}

/* Shapes that broadcast to that of the first, or to which it does. */
static void draw_broadcast(const drawn *d, stream *s, exact_tensor in[]) {
  exact_tensor whole;
  draw_shape(&whole, s, 0, 6);
  for (int i = 0; i < d->n_inputs; i++) {
    int64_t dims[EXACT_MAX_RANK];
    unsigned form = byte(s), ones = byte(s);
    int rank = form % 3 == 0 ? below(s, whole.rank + 1) : whole.rank;
    for (int k = 0; k < rank; k++) dims[k] = form % 2 && ones >> k % 8 & 1 ? 1 : whole.dims[whole.rank - rank + k];
    shape(&in[i], rank, dims);
  }
}

static void fit(const drawn *d, stream *s, exact_tensor in[], int meaning[]) {
  exact_tensor *x = &in[0];
  for (int i = 0; i < d->n_inputs; i++) in[i].dtype = d->dtype;
  if (d->family == RESIZE)
    for (int i = 1; i < MOST_INPUTS; i++) in[i].dtype = EXACT_ABSENT;
  switch (d->family) {
    case CONV:
    case CONV_TRANSPOSE:
      draw_image(x, s, d->group, d->spatial);
      draw_weights(d, s, in);
      break;
    case POOL: draw_image(x, s, 1, d->spatial); break;
    case MAX_UNPOOL:
      draw_image(x, s, 1, d->spatial);
      in[1] = *x;
      in[1].dtype = EXACT_INT64;
      meaning[1] = INDICES;
      list(&in[2], EXACT_INT64, x->rank);
      meaning[2] = SIZES;
      break;
    case BATCHNORM:
      draw_shape(x, s, 1, 5);
      for (int i = 1; i < 5; i++) list(&in[i], d->dtype, x->rank > 1 ? x->dims[1] : 1);
      break;
    case REDUCE:
      draw_shape(x, s, 0, 5);
      in[1].dtype = EXACT_ABSENT;
      if (!d->n_axes && byte(s) % 2) list(&in[1], EXACT_INT64, below(s, x->rank + 1));
      meaning[1] = AXES;
      break;
    case LAYER_NORM:
    case RMS_NORM: {
      draw_shape(x, s, 1, 4);
      int rank = below(s, x->rank + 1);
      for (int i = 1; i < 3; i++) shape(&in[i], rank, x->dims + x->rank - rank);
      break;
    }
    case INSTANCE_NORM:
    case GROUP_NORM: {
      draw_image(x, s, d->group, 1 + below(s, 3));
      int64_t n =
          d->family == GROUP_NORM && (d->form == EXACT_GROUP_PER_GROUP || (d->form == EXACT_GROUP_BY_LENGTH && byte(s) % 2))
              ? d->group
              : x->dims[1];
      for (int i = 1; i < 3; i++) list(&in[i], d->dtype, n);
      break;
    }
    case CUMSUM:
      draw_shape(x, s, 1, 4);
      list(&in[1], byte(s) % 2 ? EXACT_INT64 : EXACT_INT32, 1);
      in[1].rank = below(s, 2);
      meaning[1] = AXES;
      break;
    case MATMUL:
    case GEMM: draw_product(d, s, in); break;
    case RESIZE: draw_resize(d, s, in, meaning); break;
    case ATTENTION: draw_attention(d, s, in, meaning); break;
    case EINSUM: draw_operands(d, s, in); break;
    case RECURRENT: draw_recurrent(d, s, in, meaning); break;
    case SEVERAL: draw_broadcast(d, s, in); break;
    case POWER:
      draw_shape(x, s, 0, 6);
      shape(&in[1], below(s, 4), (int64_t[]){1, 1, 1});
      if (byte(s) % 2) in[1].dtype = byte(s) % 2 ? EXACT_INT64 : EXACT_FLOAT32;
      break;
    case UNARY:
    case CAST: draw_shape(x, s, 0, 6); break;
    case CLIP:
      draw_shape(x, s, 0, 6);
      for (int i = 1; i < d->n_inputs; i++) {
        if (byte(s) % 4 == 0)
          in[i].dtype = EXACT_ABSENT;
        else
          shape(&in[i], below(s, 2), (int64_t[]){1});
      }
      break;
    case QUANTIZE: draw_quantize(d, s, in); break;
    case MATMUL_INTEGER:
    case CONV_INTEGER: draw_integer(d, s, in); break;
    case MVN: draw_shape(x, s, 4, 2); break;
    default: draw_shape(x, s, 1, 4);
  }
}

void draw_inputs(const drawn *d, stream *s, exact_tensor in[MOST_INPUTS], int meaning[MOST_INPUTS]) {
  fit(d, s, in, meaning);
  /* One of five is spoilt. */
  unsigned spoil = byte(s);
  if (spoil < 205) return;
  exact_tensor *t = &in[below(s, d->n_inputs)];
  switch (spoil % 5) {
    case 0: t->dtype = below(s, 19); break;
    case 1: t->rank = below(s, EXACT_MAX_RANK + 1); break;
    case 2: t->dims[below(s, 5)] = extreme(s); break;
    case 3: t->dims[below(s, 5)] = below(s, 12); break;
    default: t->dtype = EXACT_ABSENT;
  }
}
