/* Nodes of the custom-op library that ONNX Runtime's own kernel computes: the table `forms` says which, and how to call it. */
#include "delegate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TYPES = 3, MOST_ATTRS = 4 };

typedef struct form {
  const char *type;
  int (*version)(const node *n); /* that selects ONNX Runtime's kernel; 0: none can be called */
  const char *constraint[MOST_TYPES];
  int typed[MOST_TYPES]; /* the input that has the type of constraint[i] */
  struct {
    const char *name;
    int type;
    int64_t fallback; /* value to pass when the node has none; 0: pass nothing */
  } attr[MOST_ATTRS];
  bool infer; /* the output has the shape that our op has for float32; else outputs are as input 0 and input 3 */
} form;

/* Only the form that opset 14 introduced has a kernel that can be called. */
static int batchnorm_version(const node *n) {
  int64_t training = 0;
  return n->source->integer(n, "training_mode", &training) == 1 && n->n_inputs == 5 ? 15 : 0;
}

/* Integers under a root or a logarithm. The axes are an input from opset 18 on. */
static int reduce_version(const node *n) {
  int64_t noop = 0;
  return n->n_inputs > 1 || n->source->integer(n, "noop_with_empty_axes", &noop) == 1 ? 18 : 13;
}

/* An exponent that is not served, or integers. */
static int pow_version(const node *n) {
  (void)n;
  return 15;
}

/* float64, for which there is a kernel of every revision. */
static int early_version(const node *n) { return n->dtype == EXACT_FLOAT64 ? 7 : 0; }

#define REDUCTION(type)                                                                                              \
  {                                                                                                                  \
    type, reduce_version, {"T"}, {0},                                                                                \
        {{"keepdims", ORT_ATTR_INT, 1}, {"noop_with_empty_axes", ORT_ATTR_INT, 0}, {"axes", ORT_ATTR_INTS, 0}}, true \
  }
static const form forms[] = {
    {"BatchNormalization",
     batchnorm_version,
     {"T", "T1", "T2"},
     {0, 1, 3},
     {{"epsilon", ORT_ATTR_FLOAT, 0}, {"momentum", ORT_ATTR_FLOAT, 0}, {"training_mode", ORT_ATTR_INT, 0}},
     false},
    REDUCTION("ReduceL2"),
    REDUCTION("ReduceLogSum"),
    REDUCTION("ReduceLogSumExp"),
    {"Pow", pow_version, {"T", "T1"}, {0, 1}, {{0}}, true},
    {"Tanh", early_version, {"T"}, {0}, {{0}}, false},
    {"Sigmoid", early_version, {"T"}, {0}, {{0}}, false},
    {"Sin", early_version, {"T"}, {0}, {{0}}, false},
    {"Cos", early_version, {"T"}, {0}, {{0}}, false},
};

struct delegate {
  const OrtApi *api;
  int minor, inputs, outputs;
  OrtOp *op;
  exact_op *shape; /* infers the output shape; NULL: see form.infer */
};

static OrtStatus *not_served(const OrtApi *api, const op_row *row, const char *reason) {
  char text[256];
  snprintf(text, sizeof text, "%s: a %s node has a form that is not served, and %s", EXACT_EP_NAME, row->type, reason);
  return ORT(api, CreateStatus)(ORT_NOT_IMPLEMENTED, text);
}

/* Appends the attribute when the node has it or it has a fallback. */
static OrtStatus *pass(const node *n, const char *name, int type, int64_t fallback, OrtOpAttr **attrs, int *count) {
  float real;
  int64_t integers[32];
  size_t length = 32;
  OrtOpAttr **out = &attrs[*count];
  int found = type == ORT_ATTR_FLOAT ? n->source->real(n, name, &real)
              : type == ORT_ATTR_INT ? n->source->integer(n, name, integers)
                                     : n->source->integers(n, name, integers, &length);
  if (found == 0 && fallback) integers[0] = fallback;
  if ((found != 1 && !fallback) || length > 32) return NULL;
  ++*count;
  if (type == ORT_ATTR_FLOAT) return ORT(n->api, CreateOpAttr)(name, &real, 1, type, out);
  return ORT(n->api, CreateOpAttr)(name, integers, type == ORT_ATTR_INT ? 1 : (int)length, type, out);
}

/* Calls CreateOp for the node. */
static OrtStatus *create_op(delegate *d, const form *f, const node *n, const OrtKernelInfo *info, int version) {
  OrtOpAttr *attrs[MOST_ATTRS] = {0};
  const char *names[MOST_TYPES];
  int types[MOST_TYPES], n_types = 0, count = 0;
  OrtStatus *status = NULL;
  for (; n_types < MOST_TYPES && f->constraint[n_types]; n_types++) {
    names[n_types] = f->constraint[n_types];
    types[n_types] = n->input[f->typed[n_types]].dtype;
  }
  for (int i = 0; !status && i < MOST_ATTRS && f->attr[i].name; i++)
    status = pass(n, f->attr[i].name, f->attr[i].type, f->attr[i].fallback, attrs, &count);
  if (!status)
    status = ORT(n->api, CreateOp)(info, n->row->type, "", version, names, types, n_types, (const OrtOpAttr *const *)attrs,
                                   count, d->inputs, d->outputs, &d->op);
  for (int i = 0; i < count; i++)
    if (attrs[i]) ORT(n->api, ReleaseOpAttr)(attrs[i]);
  return status;
}

static int unknown(const node *n, int i, exact_tensor *out) {
  (void)n, (void)i, (void)out;
  return -1;
}

/* Our op for float32 and, where the data of a constant decides about the form, for any data. */
static OrtStatus *create_shape(delegate *d, const node *n) {
  exact_error err = {0};
  node wanted = *n;
  attr_source source = *n->source;
  source.constant = unknown;
  wanted.source = &source;
  wanted.dtype = EXACT_FLOAT32;
  return n->row->glue(&wanted, &d->shape, &err) ? ort_error(n->api, n->row, "", &err) : NULL;
}

OrtStatus *delegate_new(const OrtApi *api, int minor, const op_row *row, int dtype, const OrtKernelInfo *info, delegate **out) {
  const form *f = NULL;
  node n;
  *out = NULL;
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
    if (!strcmp(forms[i].type, row->type)) f = &forms[i];
  if (!f) return not_served(api, row, "ONNX Runtime's kernel cannot be called for it");
  node_of_kernel(&n, api, row, info);
  if (n.n_inputs > EXACT_MOST_IO) {
    node_free(&n);
    return not_served(api, row, "it has too many inputs");
  }
  n.input[0].dtype = dtype;
  int version = f->version(&n);
  if (!version) return not_served(api, row, "no kernel of ONNX Runtime can be called for it");
  delegate *d = calloc(1, sizeof *d);
  if (!d) return ORT(api, CreateStatus)(ORT_FAIL, EXACT_EP_NAME ": out of memory");
  d->api = api;
  d->minor = minor;
  d->inputs = n.n_inputs;
  while (d->inputs > 1 && n.input[d->inputs - 1].dtype == EXACT_ABSENT) d->inputs--;
  for (int i = 0; i < n.n_outputs && n.output_used[i]; i++) d->outputs++;
  OrtStatus *status = create_op(d, f, &n, info, version);
  if (!status && f->infer) status = create_shape(d, &n);
  if (status) {
    delegate_free(d);
    return status;
  }
  *out = d;
  return NULL;
}

static OrtStatus *too_many_dimensions(const delegate *d) {
  return ORT(d->api, CreateStatus)(ORT_FAIL, EXACT_EP_NAME ": an input has too many dimensions");
}

/* Shapes of the outputs from the inputs. */
static OrtStatus *infer_outputs(const delegate *d, const OrtValue *const *in, exact_tensor *shapes) {
  exact_tensor inputs[EXACT_MOST_IO];
  exact_error err = {0};
  for (int i = 0; i < d->inputs; i++) {
    inputs[i].dtype = EXACT_ABSENT;
    if (in[i] && !ort_tensor(d->api, d->minor, in[i], &inputs[i])) return too_many_dimensions(d);
  }
  if (!d->shape) {
    for (int i = 0; i < d->outputs; i++) shapes[i] = inputs[i == 0 ? 0 : 3];
    return NULL;
  }
  inputs[0].dtype = EXACT_FLOAT32;
  if (exact_op_infer(d->shape, d->inputs, inputs, shapes, &err))
    return ORT(d->api, CreateStatus)(ORT_INVALID_ARGUMENT, err.reason);
  return NULL;
}

OrtStatus *delegate_compute(delegate *d, OrtKernelContext *context) {
  const OrtValue *in[EXACT_MOST_IO] = {0};
  OrtValue *out[EXACT_MOST_IO] = {0};
  exact_tensor shapes[EXACT_MOST_IO];
  OrtStatus *status = NULL;
  for (int i = 0; !status && i < d->inputs; i++) status = ORT(d->api, KernelContext_GetInput)(context, (size_t)i, &in[i]);
  if (!status) status = infer_outputs(d, in, shapes);
  for (int i = 0; !status && i < d->outputs; i++)
    status = ORT(d->api, KernelContext_GetOutput)(context, (size_t)i, shapes[i].dims, (size_t)shapes[i].rank, &out[i]);
  return status ? status : ORT(d->api, InvokeOp)(context, d->op, in, d->inputs, out, d->outputs);
}

void delegate_free(delegate *d) {
  if (!d) return;
  if (d->op) ORT(d->api, ReleaseOp)(d->op);
  exact_op_free(d->shape);
  free(d);
}
