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
