/* LSTM, GRU, RNN: attributes of ONNX, opset 7 to 22. */
#include <string.h>

#include "ops.h"

static const char *const activations[] = {[EXACT_ACT_RELU] = "Relu",
                                          [EXACT_ACT_TANH] = "Tanh",
                                          [EXACT_ACT_SIGMOID] = "Sigmoid",
                                          [EXACT_ACT_AFFINE] = "Affine",
                                          [EXACT_ACT_LEAKY_RELU] = "LeakyRelu",
                                          [EXACT_ACT_THRESHOLDED_RELU] = "ThresholdedRelu",
                                          [EXACT_ACT_SCALED_TANH] = "ScaledTanh",
                                          [EXACT_ACT_HARD_SIGMOID] = "HardSigmoid",
                                          [EXACT_ACT_ELU] = "Elu",
                                          [EXACT_ACT_SOFTSIGN] = "Softsign",
                                          [EXACT_ACT_SOFTPLUS] = "Softplus",
                                          NULL};

/* An attribute without a default. */
static int optional_attrs(const node *n, exact_recurrent_attrs *a, exact_error *err) {
  int found = n->source->integer(n, "hidden_size", &a->hidden_size);
  if (found < 0) return node_fail(err, EXACT_INVALID, "attribute hidden_size must be an integer");
  a->has_hidden_size = found;
  found = n->source->real(n, "clip", &a->clip);
  if (found < 0) return node_fail(err, EXACT_INVALID, "attribute clip must be a float");
  a->has_clip = found;
  return EXACT_OK;
}

int op_recurrent(const node *n, exact_op **op, exact_error *err) {
  static const char *const directions[] = {
      [EXACT_FORWARD] = "forward", [EXACT_REVERSE] = "reverse", [EXACT_BIDIRECTIONAL] = "bidirectional", NULL};
  exact_recurrent_attrs a = {0};
  int kind = !strcmp(n->row->type, "LSTM") ? EXACT_LSTM : !strcmp(n->row->type, "GRU") ? EXACT_GRU : EXACT_RNN;
  int rc = optional_attrs(n, &a, err);
  if (!rc) rc = node_choice(n, "direction", directions, EXACT_FORWARD, &a.direction, err);
  if (!rc) rc = node_int(n, "layout", 0, &a.layout, err);
  if (!rc && kind == EXACT_LSTM) rc = node_int(n, "input_forget", 0, &a.input_forget, err);
  if (!rc && kind == EXACT_GRU) rc = node_int(n, "linear_before_reset", 0, &a.linear_before_reset, err);
  if (!rc) rc = node_choices(n, "activations", activations, 6, a.activations, &a.n_activations, err);
  if (!rc) rc = node_floats(n, "activation_alpha", 6, a.alpha, &a.n_alpha, err);
  if (!rc) rc = node_floats(n, "activation_beta", 6, a.beta, &a.n_beta, err);
  return rc ? rc : exact_recurrent_new(kind, &a, n->dtype, op, err);
}
