/* Nodes of the custom-op library that ONNX Runtime's own kernel computes: the training form of BatchNormalization. */
#include "delegate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct delegate {
  const OrtApi *api;
  int minor, inputs, outputs;
  OrtOp *op;
};

static OrtStatus *not_served(const OrtApi *api, const op_row *row, const char *reason) {
  char text[256];
  snprintf(text, sizeof text, "%s: a %s node has a form that is not served, and %s", EXACT_EP_NAME, row->type, reason);
  return ORT(api, CreateStatus)(ORT_NOT_IMPLEMENTED, text);
}

/* Appends the attribute when the node has it. */
static OrtStatus *pass_float(const node *n, const char *name, OrtOpAttr **attrs, int *count) {
  float value;
  if (n->source->real(n, name, &value) != 1) return NULL;
  return ORT(n->api, CreateOpAttr)(name, &value, 1, ORT_ATTR_FLOAT, &attrs[(*count)++]);
}

static OrtStatus *pass_int(const node *n, const char *name, OrtOpAttr **attrs, int *count) {
  int64_t value;
  if (n->source->integer(n, name, &value) != 1) return NULL;
  return ORT(n->api, CreateOpAttr)(name, &value, 1, ORT_ATTR_INT, &attrs[(*count)++]);
}

OrtStatus *delegate_new(const OrtApi *api, int minor, const op_row *row, int dtype, const OrtKernelInfo *info, delegate **out) {
  static const char *names[] = {"T", "T1", "T2"};
  OrtOpAttr *attrs[3] = {0};
  int count = 0;
  int64_t training = 0;
  node n;
  *out = NULL;
  node_of_kernel(&n, api, row, info);
  if (strcmp(row->type, "BatchNormalization")) return not_served(api, row, "ONNX Runtime's kernel cannot be called for it");
  if (n.source->integer(&n, "training_mode", &training) != 1 || n.n_inputs != 5)
    return not_served(api, row, "only training_mode = 1 of opset 14 and later can be handed to ONNX Runtime");
  delegate *d = calloc(1, sizeof *d);
  if (!d) return ORT(api, CreateStatus)(ORT_FAIL, EXACT_EP_NAME ": out of memory");
  d->api = api;
  d->minor = minor;
  d->inputs = n.n_inputs;
  for (int i = 0; i < n.n_outputs && n.output_used[i]; i++) d->outputs++;
  int types[] = {dtype, n.input[1].dtype, n.input[3].dtype};
  OrtStatus *status = pass_float(&n, "epsilon", attrs, &count);
  if (!status) status = pass_float(&n, "momentum", attrs, &count);
  if (!status) status = pass_int(&n, "training_mode", attrs, &count);
  if (!status)
    status = ORT(api, CreateOp)(info, row->type, "", 15, names, types, 3, (const OrtOpAttr *const *)attrs, count, d->inputs,
                                d->outputs, &d->op);
  for (int i = 0; i < count; i++)
    if (attrs[i]) ORT(api, ReleaseOpAttr)(attrs[i]);
  if (status) {
    delegate_free(d);
    return status;
  }
  *out = d;
  return NULL;
}

/* Y has the shape of X, the running statistics that of the mean input. */
OrtStatus *delegate_compute(delegate *d, OrtKernelContext *context) {
  const OrtValue *in[EXACT_MOST_IO] = {0};
  OrtValue *out[EXACT_MOST_IO] = {0};
  OrtStatus *status = NULL;
  for (int i = 0; !status && i < d->inputs; i++) status = ORT(d->api, KernelContext_GetInput)(context, (size_t)i, &in[i]);
  for (int i = 0; !status && i < d->outputs; i++) {
    exact_tensor t;
    if (!ort_tensor(d->api, d->minor, in[i == 0 ? 0 : 3], &t))
      return ORT(d->api, CreateStatus)(ORT_FAIL, EXACT_EP_NAME ": an input has too many dimensions");
    status = ORT(d->api, KernelContext_GetOutput)(context, (size_t)i, t.dims, (size_t)t.rank, &out[i]);
  }
  return status ? status : ORT(d->api, InvokeOp)(context, d->op, in, d->inputs, out, d->outputs);
}

void delegate_free(delegate *d) {
  if (!d) return;
  if (d->op) ORT(d->api, ReleaseOp)(d->op);
  free(d);
}
