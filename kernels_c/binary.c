/* Add, Sub, Mul, Div, PRelu, Pow, Max, Min, Sum, Mean: the ops, types and shapes. docs/binary.md */
#include "binary.h"

#include <limits.h>
#include <stdlib.h>

/* ---- shapes ---- */
static int64_t dim_of(const exact_tensor *t, int axis, int rank) {
  int own = axis - (rank - t->rank);
  return own < 0 ? 1 : t->dims[own];
}

/* The output's shape; a dimension is -1 where the known ones do not tell it. */
static int broadcast(int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  out->rank = 0;
  for (int i = 0; i < n; i++)
    if (in[i].rank > out->rank) out->rank = in[i].rank;
  for (int axis = 0; axis < out->rank; axis++) {
    int64_t size = 1;
    bool unknown = false;
    for (int i = 0; i < n; i++) {
      int64_t d = dim_of(&in[i], axis, out->rank);
      char one[96], other[96];
      if (d < 0) unknown = true;
      if (d < 0 || d == 1) continue;
      for (int k = 0; size != 1 && size != d && k < i; k++) {
        int64_t e = dim_of(&in[k], axis, out->rank);
        if (e >= 0 && e != 1)
          return exact_fail(err, EXACT_INVALID, "inputs %d and %d of shapes %s and %s do not broadcast", k, i,
                            exact_shape_text(&in[k], one), exact_shape_text(&in[i], other));
      }
      size = d;
    }
    out->dims[axis] = size == 1 && unknown ? -1 : size;
  }
  return EXACT_OK;
}

static int infer_chain(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  for (int i = 0; i < n; i++) {
    if (in[i].dtype == EXACT_ABSENT) return exact_fail(err, EXACT_INVALID, "input %d is missing", i);
    if (in[i].dtype != op->dtype)
      return exact_fail(err, EXACT_INVALID, "input %d has the element type %s, expected %s", i, exact_dtype_name(in[i].dtype),
                        exact_dtype_name(op->dtype));
  }
  *out = (exact_tensor){.dtype = op->dtype};
  return broadcast(n, in, out, err);
}

/* The slope broadcasts to X alone. */
static int infer_prelu(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  int rc = infer_chain(op, n, in, out, err);
  bool larger = !rc && out->rank != in[0].rank;
  for (int axis = 0; !rc && !larger && axis < out->rank; axis++) {
    if (in[0].dims[axis] == 1 && out->dims[axis] != -1 && out->dims[axis] != 1) larger = true;
    if (in[0].dims[axis] == 1) out->dims[axis] = 1;
  }
  if (!larger) return rc;
  char x[96], slope[96];
  return exact_fail(err, EXACT_INVALID, "slope of shape %s does not broadcast to X of shape %s",
                    exact_shape_text(&in[1], slope), exact_shape_text(&in[0], x));
}

static bool is_number(int dtype) { return exact_dtype_size(dtype) && dtype != EXACT_BOOL; }

static int infer_power(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  if (in[0].dtype != op->dtype)
    return exact_fail(err, EXACT_INVALID, "X has the element type %s, expected %s", exact_dtype_name(in[0].dtype),
                      exact_dtype_name(op->dtype));
  if (!is_number(in[1].dtype))
    return exact_fail(err, EXACT_UNSUPPORTED, "Y has the element type %s", exact_dtype_name(in[1].dtype));
  for (int axis = 0; ((const binary_op *)op)->step != POWER_UNKNOWN && axis < in[1].rank; axis++)
    if (in[1].dims[axis] >= 0 && in[1].dims[axis] != 1)
      return exact_fail(err, EXACT_UNSUPPORTED, "Y has more or less than one element");
  *out = (exact_tensor){.dtype = op->dtype};
  return broadcast(n, in, out, err);
}

static int plan(const exact_op *op, int n, const exact_tensor *in, exact_plan **out, exact_error *err) {
  exact_tensor y;
  int rc = op->cls->infer(op, n, in, &y, err);
  const binary_op *o = (const binary_op *)op;
  if (!rc && o->family == BIN_POWER && o->step == POWER_UNKNOWN)
    rc = exact_fail(err, EXACT_UNSUPPORTED, "the exponent is not known in advance");
  return rc ? rc : exact_binary_plan((const binary_op *)op, n, in, &y, out, err);
}

/* ---- ops ---- */
static void free_op(exact_op *op) { free(op); }

#define CLASS(text, most, function)                                                                                   \
  {                                                                                                                   \
    .name = text, .outputs = 1, .min_inputs = most == 2 ? 2 : 1, .max_inputs = most, .infer = function, .plan = plan, \
    .free = free_op                                                                                                   \
  }
static const exact_op_class pair = CLASS("binary", 2, infer_chain), prelu = CLASS("PRelu", 2, infer_prelu),
                            power = CLASS("Pow", 2, infer_power), chain = CLASS("variadic", INT_MAX, infer_chain);

static int type_of(int dtype) {
  switch (dtype) {
    case EXACT_FLOAT64: return BIN_F64;
    case EXACT_INT8: return BIN_I8;
    case EXACT_UINT8: return BIN_U8;
    case EXACT_INT16: return BIN_I16;
    case EXACT_UINT16: return BIN_U16;
    case EXACT_INT32: return BIN_I32;
    case EXACT_UINT32: return BIN_U32;
    case EXACT_INT64: return BIN_I64;
    case EXACT_UINT64: return BIN_U64;
    default: return BIN_F32;
  }
}

static int create(const exact_op_class *cls, int family, int step, int dtype, exact_op **op, exact_error *err) {
  binary_op *o = exact_op_new(sizeof *o, cls, dtype, EXACT_MODE_EXACT, err);
  if (!o) return err->code;
  o->family = family;
  o->step = step;
  o->type = type_of(dtype);
  *op = &o->op;
  return EXACT_OK;
}

int exact_binary_new(int kind, int dtype, exact_op **op, exact_error *err) {
  static const struct {
    const exact_op_class *cls;
    int family, step;
  } kinds[] = {[EXACT_ADD] = {&pair, BIN_CHAIN, STEP_ADD},      [EXACT_SUB] = {&pair, BIN_CHAIN, STEP_SUB},
               [EXACT_MUL] = {&pair, BIN_CHAIN, STEP_MUL},      [EXACT_DIV] = {&pair, BIN_CHAIN, STEP_DIV},
               [EXACT_PRELU] = {&prelu, BIN_CHAIN, STEP_PRELU}, [EXACT_MAX] = {&chain, BIN_CHAIN, STEP_MAX},
               [EXACT_MIN] = {&chain, BIN_CHAIN, STEP_MIN},     [EXACT_SUM] = {&chain, BIN_CHAIN, STEP_ADD},
               [EXACT_MEAN] = {&chain, BIN_MEAN, STEP_ADD}};
  exact_error local;
  if (!err) err = &local;
  if (kind < 0 || kind >= (int)(sizeof kinds / sizeof kinds[0])) return exact_fail(err, EXACT_INVALID, "unknown kind %d", kind);
  size_t size = exact_dtype_size(dtype);
  bool whole = kind == EXACT_MAX || kind == EXACT_MIN ? is_number(dtype) : kind == EXACT_PRELU && is_number(dtype) && size >= 4;
  if (!exact_is_float(dtype) && !whole) return exact_fail(err, EXACT_UNSUPPORTED, "element type %s", exact_dtype_name(dtype));
  return create(kinds[kind].cls, kinds[kind].family, kinds[kind].step, dtype, op, err);
}

int exact_pow_new(double exponent, int dtype, exact_op **op, exact_error *err) {
  static const struct {
    double value;
    int power;
  } powers[] = {{2, POWER_2}, {3, POWER_3},   {0.5, POWER_ROOT}, {1, POWER_1},
                {0, POWER_0}, {-1, POWER_M1}, {-2, POWER_M2},    {-0.5, POWER_M_ROOT}};
  exact_error local;
  if (!err) err = &local;
  if (exponent != exponent && is_number(dtype)) return create(&power, BIN_POWER, POWER_UNKNOWN, dtype, op, err);
  if (!exact_is_float(dtype)) return exact_fail(err, EXACT_UNSUPPORTED, "element type %s of X", exact_dtype_name(dtype));
  for (size_t i = 0; i < sizeof powers / sizeof powers[0]; i++)
    if (exponent == powers[i].value) return create(&power, BIN_POWER, powers[i].power, dtype, op, err);
  return exact_fail(err, EXACT_UNSUPPORTED, "the exponent %g", exponent);
}
