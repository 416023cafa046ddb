/* MaxPool, AveragePool, LpPool and their global forms: attributes, shapes and the choice of the way to run.
 * Window taps go in (depth, row, column) order. Maximum: NaN ignored, the first of equal elements; mean: the taps inside the
 * input summed from +0 and divided by their count; Lp: powers of |x| summed from +0, and the root. docs/pool.md */
#include "pool.h"

#include <stdlib.h>

/* Output sizes and the padding in force of the lifted axes. */
static int sizes(const exact_pool_op *op, const int64_t in[3], int64_t out[3], int64_t begin[3], int64_t end[3],
                 exact_error *err) {
  for (int a = 0; a < 3; a++) {
    int rc = exact_window_size(&op->window, a, in[a], op->ceil_mode, &out[a], &begin[a], &end[a], err);
    if (rc) return rc;
  }
  return EXACT_OK;
}

static int infer(const exact_op *base, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  const exact_pool_op *op = (const exact_pool_op *)base;
  (void)n;
  if (in->dtype != base->dtype)
    return exact_fail(err, EXACT_INVALID, "X has the element type %s, expected %s", exact_dtype_name(in->dtype),
                      exact_dtype_name(base->dtype));
  out[0] = *in;
  out[0].data = NULL;
  if (op->global) {
    if (in->rank < 3) return exact_fail(err, EXACT_INVALID, "X has rank %d, expected 3 or more", in->rank);
    for (int i = 2; i < in->rank; i++) out[0].dims[i] = 1;
    return EXACT_OK;
  }
  int64_t size[3], lifted[3], begin[3], end[3];
  if (in->rank != op->window.spatial + 2)
    return exact_fail(err, EXACT_INVALID, "X has rank %d, expected %d for the %d values of kernel_shape", in->rank,
                      op->window.spatial + 2, op->window.spatial);
  exact_window_lift(in, size);
  int rc = sizes(op, size, lifted, begin, end, err);
  for (int i = 0; i < op->window.spatial; i++) out[0].dims[2 + i] = lifted[3 - op->window.spatial + i];
  if (op->kind == EXACT_MAX_POOL) {
    out[1] = out[0];
    out[1].dtype = EXACT_INT64;
  }
  return rc;
}

/* ---- run ---- */
static void run(const exact_call *call) {
  const exact_pool_plan *p = (const exact_pool_plan *)call->plan;
  bool indices = p->op->kind == EXACT_MAX_POOL && call->out[1];
  if (p->shape.planes) (indices ? exact_pool_run_scan : p->run)(call);
}

/* ---- plan ---- */
/* A sum whose one window is the whole plane is a global one. */
static bool is_whole_plane(const exact_pool_op *op, const exact_pool_shape *s) {
  const exact_window *w = &op->window;
  if (op->global) return true;
  bool whole = op->fold != POOL_MAX && s->plane_out == 1;
  for (int a = 0; a < 3; a++)
    whole &= s->begin[a] == 0 && w->kernel[a] == s->in[a] && (w->dilation[a] == 1 || w->kernel[a] == 1);
  return whole;
}

static int plan(const exact_op *base, int n, const exact_tensor *in, exact_plan **out, exact_error *err) {
  const exact_pool_op *op = (const exact_pool_op *)base;
  exact_pool_plan draft = {.plan = {.op = base, .run = run}, .op = op};
  exact_pool_shape *s = &draft.shape;
  size_t count = 0, in_count, bytes = exact_align(sizeof draft), tables_at = 0, columns_at = 0;
  int rc = infer(base, n, in, draft.plan.out, err);
  for (int i = 0; i < base->cls->outputs && !rc; i++) rc = exact_count(&draft.plan.out[i], i ? "Indices" : "Y", &count, err);
  if (!rc) rc = exact_count(in, "X", &in_count, err);
  if (rc) return rc;
  bool factors = false, lanes = false;
  if (count) {
    s->planes = (size_t)in->dims[0] * (size_t)in->dims[1];
    s->plane_in = in_count / s->planes;
    s->plane_out = count / s->planes;
    if (!op->global) {
      exact_window_lift(in, s->in);
      sizes(op, s->in, s->out, s->begin, s->end, NULL);
    }
    if (is_whole_plane(op, s)) {
      draft.run = exact_pool_run_global;
      exact_pool_global_setup(&draft);
    } else {
      exact_pool_scan_setup(&draft);
      lanes = exact_pool_lanes_setup(&draft, &bytes, &tables_at);
      bool tiles = !lanes && exact_pool_tiles_setup(&draft);
      draft.run = lanes ? exact_pool_run_lanes : tiles ? exact_pool_run_tiles : exact_pool_run_scan;
      factors = tiles && op->fold == POOL_MEAN;
    }
  }
  if (factors && !exact_pool_factors_size(&draft, &bytes, &tables_at, &columns_at))
    return exact_fail(err, EXACT_INVALID, "Y is too large");
  exact_pool_plan *p = exact_new(bytes, err);
  if (!p) return EXACT_NO_MEMORY;
  *p = draft;
  if (lanes) exact_pool_fill_lanes(p, (char *)p + tables_at);
  if (factors) exact_pool_fill_factors(p, (char *)p + tables_at, (char *)p + columns_at);
  *out = &p->plan;
  return EXACT_OK;
}

/* ---- op ---- */
static void free_op(exact_op *op) { free(op); }

static const exact_op_class max_pool_class = {
    .name = "MaxPool", .outputs = 2, .min_inputs = 1, .max_inputs = 1, .infer = infer, .plan = plan, .free = free_op};
static const exact_op_class pool_class = {
    .name = "pool", .outputs = 1, .min_inputs = 1, .max_inputs = 1, .infer = infer, .plan = plan, .free = free_op};

static int check_switch(const char *name, int64_t value, exact_error *err) {
  if (value == 0 || value == 1) return EXACT_OK;
  return exact_fail(err, EXACT_INVALID, "%s is %lld, expected 0 or 1", name, (long long)value);
}

static bool is_global(int kind) {
  return kind == EXACT_GLOBAL_MAX_POOL || kind == EXACT_GLOBAL_AVERAGE_POOL || kind == EXACT_GLOBAL_LP_POOL;
}
static bool is_lp(int kind) { return kind == EXACT_LP_POOL || kind == EXACT_GLOBAL_LP_POOL; }

static int check(int kind, const exact_pool_attrs *attrs, int dtype, exact_window *window, exact_error *err) {
  int rc;
  if (kind < EXACT_MAX_POOL || kind > EXACT_GLOBAL_LP_POOL)
    return exact_fail(err, EXACT_INVALID, "unknown kind of pool %d", kind);
  bool bytes = kind == EXACT_MAX_POOL && (dtype == EXACT_INT8 || dtype == EXACT_UINT8);
  if (!exact_is_float(dtype) && !bytes)
    return exact_fail(err, EXACT_UNSUPPORTED, "element type %s, supported are float types%s", exact_dtype_name(dtype),
                      kind == EXACT_MAX_POOL ? ", int8 and uint8" : "");
  if (is_lp(kind) && attrs->p < 1)
    return exact_fail(err, EXACT_UNSUPPORTED, "p is %lld, supported is 1 and more", (long long)attrs->p);
  if (is_global(kind)) return EXACT_OK;
  if ((rc = check_switch("ceil_mode", attrs->ceil_mode, err))) return rc;
  if (kind == EXACT_MAX_POOL && (rc = check_switch("storage_order", attrs->storage_order, err))) return rc;
  if (kind == EXACT_AVERAGE_POOL && (rc = check_switch("count_include_pad", attrs->count_include_pad, err))) return rc;
  if (attrs->window.kernel_shape.n == 0) return exact_fail(err, EXACT_INVALID, "kernel_shape is missing");
  return exact_window_init(window, &attrs->window, attrs->window.kernel_shape.n, NULL, err);
}

static int fold_of(int kind, int64_t p) {
  if (is_lp(kind)) return p == 2 ? POOL_L2 : POOL_L1;
  return kind == EXACT_AVERAGE_POOL || kind == EXACT_GLOBAL_AVERAGE_POOL ? POOL_MEAN : POOL_MAX;
}

int exact_pool_new(int kind, const exact_pool_attrs *attrs, int dtype, exact_op **op, exact_error *err) {
  exact_window window = {0};
  int rc = check(kind, attrs, dtype, &window, err);
  if (rc) return rc;
  exact_error local;
  if (!err) err = &local;
  exact_pool_op *p =
      exact_op_new(sizeof *p, kind == EXACT_MAX_POOL ? &max_pool_class : &pool_class, dtype, EXACT_MODE_EXACT, err);
  if (!p) return err->code;
  p->kind = kind;
  p->fold = fold_of(kind, attrs->p);
  p->power = is_lp(kind) && attrs->p > 2 ? attrs->p : 0;
  p->global = is_global(kind);
  p->window = window;
  p->ceil_mode = !p->global && attrs->ceil_mode != 0;
  p->count_include_pad = kind == EXACT_AVERAGE_POOL && attrs->count_include_pad != 0;
  p->column_major = kind == EXACT_MAX_POOL && attrs->storage_order == 1;
  *op = &p->op;
  return EXACT_OK;
}
