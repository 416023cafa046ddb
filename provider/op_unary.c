/* One input, element by element: attributes of ONNX. Clip has its limits as attributes in opset 6, as inputs from 11 on; where
 * the revision is not known, a Clip with an attribute min or max is of opset 6. */
#include "ops.h"

#include <float.h>
#include <string.h>

static const struct {
  const char *type;
  int kind;
  float alpha, beta, gamma; /* defaults; 0 where there is no such attribute */
} kinds[] = {
    {"Abs", EXACT_UNARY_ABS, 0, 0, 0},
    {"Ceil", EXACT_UNARY_CEIL, 0, 0, 0},
    {"Celu", EXACT_UNARY_CELU, 1, 0, 0},
    {"Cos", EXACT_UNARY_COS, 0, 0, 0},
    {"Elu", EXACT_UNARY_ELU, 1, 0, 0},
    {"Erf", EXACT_UNARY_ERF, 0, 0, 0},
    {"Exp", EXACT_UNARY_EXP, 0, 0, 0},
    {"Floor", EXACT_UNARY_FLOOR, 0, 0, 0},
    {"HardSigmoid", EXACT_UNARY_HARD_SIGMOID, 0.2f, 0.5f, 0},
    {"HardSwish", EXACT_UNARY_HARD_SWISH, 0, 0, 0},
    {"LeakyRelu", EXACT_UNARY_LEAKY_RELU, 0.01f, 0, 0},
    {"Log", EXACT_UNARY_LOG, 0, 0, 0},
    {"Mish", EXACT_UNARY_MISH, 0, 0, 0},
    {"Neg", EXACT_UNARY_NEG, 0, 0, 0},
    {"Reciprocal", EXACT_UNARY_RECIPROCAL, 0, 0, 0},
    {"Relu", EXACT_UNARY_RELU, 0, 0, 0},
    {"Round", EXACT_UNARY_ROUND, 0, 0, 0},
    {"Selu", EXACT_UNARY_SELU, 0x1.ac5afap0f, 0, 0x1.0cfabep0f},
    {"Sigmoid", EXACT_UNARY_SIGMOID, 0, 0, 0},
    {"Sign", EXACT_UNARY_SIGN, 0, 0, 0},
    {"Sin", EXACT_UNARY_SIN, 0, 0, 0},
    {"Softplus", EXACT_UNARY_SOFTPLUS, 0, 0, 0},
    {"Softsign", EXACT_UNARY_SOFTSIGN, 0, 0, 0},
    {"Sqrt", EXACT_UNARY_SQRT, 0, 0, 0},
    {"Swish", EXACT_UNARY_SWISH, 1, 0, 0},
    {"Tanh", EXACT_UNARY_TANH, 0, 0, 0},
    {"ThresholdedRelu", EXACT_UNARY_THRESHOLDED_RELU, 1, 0, 0},
};

static int clip(const node *n, exact_op **op, exact_error *err) {
  exact_clip_attrs a = {0};
  float unused;
  if (n->since ? n->since < 11 : n->source->real(n, "min", &unused) || n->source->real(n, "max", &unused)) {
    a.limits = 1;
    int rc = node_float(n, "min", -FLT_MAX, &a.min, err);
    if (!rc) rc = node_float(n, "max", FLT_MAX, &a.max, err);
    if (rc) return rc;
  }
  return exact_clip_new(&a, n->dtype, op, err);
}

static int gelu(const node *n, exact_op **op, exact_error *err) {
  static const char *const forms[] = {"none", "tanh", NULL};
  exact_unary_attrs a = {0};
  int form, rc = node_choice(n, "approximate", forms, 0, &form, err);
  return rc ? rc : exact_unary_new(form ? EXACT_UNARY_GELU_TANH : EXACT_UNARY_GELU, &a, n->dtype, op, err);
}

int op_unary(const node *n, exact_op **op, exact_error *err) {
  exact_unary_attrs a = {0};
  size_t i = 0;
  int rc = EXACT_OK;
  if (!strcmp(n->row->type, "Clip")) return clip(n, op, err);
  if (!strcmp(n->row->type, "Gelu")) return gelu(n, op, err);
  while (strcmp(kinds[i].type, n->row->type)) i++;
  if (kinds[i].alpha != 0) rc = node_float(n, "alpha", kinds[i].alpha, &a.alpha, err);
  if (!rc && kinds[i].beta != 0) rc = node_float(n, "beta", kinds[i].beta, &a.beta, err);
  if (!rc && kinds[i].gamma != 0) rc = node_float(n, "gamma", kinds[i].gamma, &a.gamma, err);
  return rc ? rc : exact_unary_new(kinds[i].kind, &a, n->dtype, op, err);
}
