/* Add ... Mean: no attributes. Pow: the exponent is a constant of the model. */
#include "ops.h"

#include <math.h>
#include <string.h>

/* Of the bits of a float16 or bfloat16. */
static double half_value(uint16_t bits, int dtype) {
  int digits = dtype == EXACT_FLOAT16 ? 10 : 7, bias = dtype == EXACT_FLOAT16 ? 15 : 127;
  int exponent = (bits & 0x7FFF) >> digits, fraction = bits & ((1 << digits) - 1);
  if (exponent == 2 * bias + 1) return fraction ? __builtin_nan("") : __builtin_inf();
  double magnitude = exponent ? ldexp((1 << digits) + fraction, exponent - bias - digits) : ldexp(fraction, 1 - bias - digits);
  return bits >> 15 ? -magnitude : magnitude;
}

/* The one number of a tensor; NAN when it has another number of elements or another type. */
static double number_of(const exact_tensor *t) {
  for (int i = 0; i < t->rank; i++)
    if (t->dims[i] != 1) return __builtin_nan("");
  switch (t->dtype) {
    case EXACT_FLOAT32: return *(const float *)t->data;
    case EXACT_FLOAT64: return *(const double *)t->data;
    case EXACT_INT8: return *(const int8_t *)t->data;
    case EXACT_UINT8: return *(const uint8_t *)t->data;
    case EXACT_INT16: return *(const int16_t *)t->data;
    case EXACT_UINT16: return *(const uint16_t *)t->data;
    case EXACT_INT32: return *(const int32_t *)t->data;
    case EXACT_UINT32: return *(const uint32_t *)t->data;
    case EXACT_INT64: return (double)*(const int64_t *)t->data;
    case EXACT_UINT64: return (double)*(const uint64_t *)t->data;
    case EXACT_FLOAT16:
    case EXACT_BFLOAT16: return half_value(*(const uint16_t *)t->data, t->dtype);
    default: return __builtin_nan("");
  }
}

static int op_pow(const node *n, exact_op **op, exact_error *err) {
  exact_tensor y;
  int found = n->source->constant(n, 1, &y);
  if (!found) return node_fail(err, EXACT_UNSUPPORTED, "the exponent is not a constant of the model");
  double exponent = found < 0 ? __builtin_nan("") : number_of(&y);
  if (found > 0 && exponent != exponent)
    return node_fail(err, EXACT_UNSUPPORTED, "the exponent has several elements, or is none of those that are served");
  return exact_pow_new(exponent, n->dtype, op, err);
}

int op_binary(const node *n, exact_op **op, exact_error *err) {
  static const char *const kinds[] = {
      [EXACT_ADD] = "Add", [EXACT_SUB] = "Sub", [EXACT_MUL] = "Mul", [EXACT_DIV] = "Div",  [EXACT_PRELU] = "PRelu",
      [EXACT_MAX] = "Max", [EXACT_MIN] = "Min", [EXACT_SUM] = "Sum", [EXACT_MEAN] = "Mean"};
  int kind = 0;
  if (!strcmp(n->row->type, "Pow")) return op_pow(n, op, err);
  while (strcmp(kinds[kind], n->row->type)) kind++;
  return exact_binary_new(kind, n->dtype, op, err);
}
