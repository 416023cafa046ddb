/* Views of a node: attributes, types and shapes from a kernel's info, from a graph's node or from shape inference. */
#include "ops.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ort_failed(const OrtApi *api, OrtStatus *status) {
  if (!status) return false;
  ORT(api, ReleaseStatus)(status);
  return true;
}

OrtStatus *ort_error(const OrtApi *api, const op_row *row, const char *name, const exact_error *err) {
  char text[1024];
  int code = err->code == EXACT_NO_MEMORY     ? ORT_FAIL
             : err->code == EXACT_UNSUPPORTED ? ORT_NOT_IMPLEMENTED
                                              : ORT_INVALID_ARGUMENT;
  snprintf(text, sizeof text, "%s: %s node '%s': %s", EXACT_EP_NAME, row->type, name, err->reason);
  return ORT(api, CreateStatus)(code, text);
}

int node_fail(exact_error *err, int code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  err->code = code;
  vsnprintf(err->reason, sizeof err->reason, format, args);
  va_end(args);
  return code;
}

/* ---- tensors ---- */
void ort_tensor_of_info(const OrtApi *api, const OrtTensorTypeAndShapeInfo *info, exact_tensor *out) {
  size_t rank = 0;
  *out = (exact_tensor){.rank = -1};
  if (ort_failed(api, ORT(api, GetTensorElementType)(info, &out->dtype)) ||
      ort_failed(api, ORT(api, GetDimensionsCount)(info, &rank)) || rank > EXACT_MAX_RANK ||
      ort_failed(api, ORT(api, GetDimensions)(info, out->dims, rank)))
    return;
  out->rank = (int)rank;
}

bool ort_tensor(const OrtApi *api, int minor, const OrtValue *value, exact_tensor *out) {
  if (minor >= 24) {
    const int64_t *dims = NULL;
    size_t rank = 0;
    if (ort_failed(api, ORT(api, GetTensorElementTypeAndShapeDataReference)(value, &out->dtype, &dims, &rank)) ||
        rank > EXACT_MAX_RANK)
      return false;
    out->rank = (int)rank;
    if (rank) memcpy(out->dims, dims, rank * sizeof *dims);
  } else {
    OrtTensorTypeAndShapeInfo *info = NULL;
    if (ort_failed(api, ORT(api, GetTensorTypeAndShape)(value, &info))) return false;
    ort_tensor_of_info(api, info, out);
    ORT(api, ReleaseTensorTypeAndShapeInfo)(info);
    if (out->rank < 0) return false;
  }
  void *data = NULL;
  if (ort_failed(api, ORT(api, GetTensorMutableData)((OrtValue *)value, &data))) return false;
  out->data = data;
  return true;
}

/* The same for any host. */
static bool value_tensor(const OrtApi *api, const OrtValue *value, exact_tensor *out) { return ort_tensor(api, 0, value, out); }

/* Of a value that is not there yet. ONNX Runtime gives an unknown shape the rank 0 of a scalar: both count as unknown. */
static void tensor_to_come(const OrtApi *api, const OrtTensorTypeAndShapeInfo *info, exact_tensor *out) {
  ort_tensor_of_info(api, info, out);
  if (out->rank == 0) out->rank = -1;
}

static void tensor_of_type(const OrtApi *api, const OrtTypeInfo *type, exact_tensor *out) {
  const OrtTensorTypeAndShapeInfo *info = NULL;
  *out = (exact_tensor){.rank = -1};
  if (!ort_failed(api, ORT(api, CastTypeInfoToTensorInfo)(type, &info)) && info) tensor_to_come(api, info, out);
}

/* ---- attributes of a kernel's info ---- */
enum { INTEGER, REAL, TEXT, INTEGERS, REALS };

static bool info_has(const node *n, const char *name, int kind) {
  int64_t i;
  float f;
  size_t size = 0;
  OrtStatus *status = NULL;
  switch (kind) {
    case INTEGER: return !ort_failed(n->api, ORT(n->api, KernelInfoGetAttribute_int64)(n->handle, name, &i));
    case REAL: return !ort_failed(n->api, ORT(n->api, KernelInfoGetAttribute_float)(n->handle, name, &f));
    case TEXT: status = ORT(n->api, KernelInfoGetAttribute_string)(n->handle, name, NULL, &size); break;
    case INTEGERS: status = ORT(n->api, KernelInfoGetAttributeArray_int64)(n->handle, name, NULL, &size); break;
    case REALS: status = ORT(n->api, KernelInfoGetAttributeArray_float)(n->handle, name, NULL, &size); break;
  }
  return !ort_failed(n->api, status) && size > 0;
}

/* What a reader returns after it failed: 0 when no attribute has the name, -1 when one of another type does. */
static int info_absent(const node *n, const char *name) {
  for (int kind = INTEGER; kind <= REALS; kind++)
    if (info_has(n, name, kind)) return -1;
  return 0;
}

static int info_integer(const node *n, const char *name, int64_t *out) {
  if (!ort_failed(n->api, ORT(n->api, KernelInfoGetAttribute_int64)(n->handle, name, out))) return 1;
  return info_absent(n, name);
}

static int info_real(const node *n, const char *name, float *out) {
  if (!ort_failed(n->api, ORT(n->api, KernelInfoGetAttribute_float)(n->handle, name, out))) return 1;
  return info_absent(n, name);
}

#define INFO_LIST(reader, type, function)                                                                                  \
  static int info_##reader(const node *n, const char *name, type *out, size_t *room) {                                     \
    size_t size = 0;                                                                                                       \
    if (ort_failed(n->api, ORT(n->api, function)(n->handle, name, NULL, &size)) || size == 0) return info_absent(n, name); \
    size_t need = size;                                                                                                    \
    if (size <= *room && ort_failed(n->api, ORT(n->api, function)(n->handle, name, out, &size))) return -1;                \
    *room = need;                                                                                                          \
    return 1;                                                                                                              \
  }
INFO_LIST(integers, int64_t, KernelInfoGetAttributeArray_int64)
INFO_LIST(reals, float, KernelInfoGetAttributeArray_float)

static int info_text(const node *n, const char *name, char *out, size_t *room) {
  if (!ort_failed(n->api, ORT(n->api, KernelInfoGetAttribute_string)(n->handle, name, out, room))) return 1;
  return info_absent(n, name);
}

static int info_constant(const node *n, int i, exact_tensor *out) {
  const OrtValue *value = NULL;
  int constant = 0;
  if (ort_failed(n->api, ORT(n->api, KernelInfoGetConstantInput_tensor)(n->handle, (size_t)i, &constant, &value))) return 0;
  return constant && value && value_tensor(n->api, value, out);
}

static const attr_source of_kernel = {info_integer, info_real, info_integers, info_reals, info_text, info_constant};

/* ---- attributes as OrtOpAttr: graph nodes and shape inference ---- */
static const OrtOpAttr *find_graph(const node *n, const char *name) {
  const OrtOpAttr *attr = NULL;
  return ort_failed(n->api, ORT(n->api, Node_GetAttributeByName)(n->handle, name, &attr)) ? NULL : attr;
}

static const OrtOpAttr *find_inference(const node *n, const char *name) {
  const OrtOpAttr *attr = NULL;
  return ort_failed(n->api, ORT(n->api, ShapeInferContext_GetAttribute)(n->handle, name, &attr)) ? NULL : attr;
}

static int read_attr(const node *n, const OrtOpAttr *attr, int type, void *out, size_t *bytes) {
  size_t used = 0;
  if (!attr) return 0;
  if (!ort_failed(n->api, ORT(n->api, ReadOpAttr)(attr, type, out, *bytes, &used))) {
    *bytes = used;
    return 1;
  }
  if (used <= *bytes) return -1; /* another type, not too little room */
  *bytes = used;
  return 1;
}

static int read_ints(const node *n, const OrtOpAttr *attr, int64_t *out, size_t *room) {
  size_t bytes = *room * sizeof *out;
  int found = read_attr(n, attr, ORT_ATTR_INTS, out, &bytes);
  *room = bytes / sizeof *out;
  return found;
}

static int read_reals(const node *n, const OrtOpAttr *attr, float *out, size_t *room) {
  size_t bytes = *room * sizeof *out;
  int found = read_attr(n, attr, ORT_ATTR_FLOATS, out, &bytes);
  *room = bytes / sizeof *out;
  return found;
}

static int read_text(const node *n, const OrtOpAttr *attr, char *out, size_t *room) {
  size_t bytes = *room - 1;
  int found = read_attr(n, attr, ORT_ATTR_STRING, out, &bytes);
  if (found == 1) out[bytes < *room ? bytes : *room - 1] = '\0';
  return found;
}

#define READERS(where)                                                                    \
  static int where##_integer(const node *n, const char *name, int64_t *out) {             \
    size_t bytes = sizeof *out;                                                           \
    return read_attr(n, find_##where(n, name), ORT_ATTR_INT, out, &bytes);                \
  }                                                                                       \
  static int where##_real(const node *n, const char *name, float *out) {                  \
    size_t bytes = sizeof *out;                                                           \
    return read_attr(n, find_##where(n, name), ORT_ATTR_FLOAT, out, &bytes);              \
  }                                                                                       \
  static int where##_integers(const node *n, const char *name, int64_t *out, size_t *r) { \
    return read_ints(n, find_##where(n, name), out, r);                                   \
  }                                                                                       \
  static int where##_reals(const node *n, const char *name, float *out, size_t *r) {      \
    return read_reals(n, find_##where(n, name), out, r);                                  \
  }                                                                                       \
  static int where##_text(const node *n, const char *name, char *out, size_t *r) {        \
    return read_text(n, find_##where(n, name), out, r);                                   \
  }                                                                                       \
  static const attr_source of_##where = {where##_integer, where##_real, where##_integers, \
                                         where##_reals,   where##_text, where##_constant};

static int graph_constant(const node *n, int i, exact_tensor *out) {
  const OrtValueInfo *values[EXACT_MOST_IO];
  const OrtValue *value = NULL;
  bool constant = false;
  size_t count = 0;
  if (ort_failed(n->api, ORT(n->api, Node_GetNumInputs)(n->handle, &count)) || count > EXACT_MOST_IO || (size_t)i >= count ||
      ort_failed(n->api, ORT(n->api, Node_GetInputs)(n->handle, values, count)) || !values[i] ||
      ort_failed(n->api, ORT(n->api, ValueInfo_IsConstantInitializer)(values[i], &constant)) || !constant ||
      ort_failed(n->api, ORT(n->api, ValueInfo_GetInitializerValue)(values[i], &value)) || !value)
    return 0;
  return value_tensor(n->api, value, out);
}

static int inference_constant(const node *n, int i, exact_tensor *out) {
  (void)n, (void)i, (void)out;
  return -1;
}
READERS(graph)
READERS(inference)

/* ---- typed access ---- */
static int wrong_type(const char *name, const char *type, exact_error *err) {
  return node_fail(err, EXACT_INVALID, "attribute %s must be %s", name, type);
}

int node_int(const node *n, const char *name, int64_t fallback, int64_t *out, exact_error *err) {
  int found = n->source->integer(n, name, out);
  if (found == 0) *out = fallback;
  return found < 0 ? wrong_type(name, "an integer", err) : EXACT_OK;
}

int node_float(const node *n, const char *name, float fallback, float *out, exact_error *err) {
  int found = n->source->real(n, name, out);
  if (found == 0) *out = fallback;
  return found < 0 ? wrong_type(name, "a float", err) : EXACT_OK;
}

int node_ints(const node *n, const char *name, exact_ints *out, exact_error *err) {
  int64_t values[32] = {0};
  size_t count = sizeof values / sizeof values[0];
  int found = n->source->integers(n, name, values, &count);
  *out = (exact_ints){0};
  if (found < 0) return wrong_type(name, "a list of integers", err);
  if (found == 0) return EXACT_OK;
  out->n = count > 1000000 ? 1000000 : (int)count;
  memcpy(out->v, values, sizeof out->v);
  return EXACT_OK;
}

int node_choice(const node *n, const char *name, const char *const *values, int fallback, int *out, exact_error *err) {
  char text[64] = "";
  size_t size = sizeof text;
  int found = n->source->text(n, name, text, &size);
  *out = fallback;
  if (found < 0) return wrong_type(name, "one of the texts that the operator defines", err);
  if (found == 0) return EXACT_OK;
  for (int i = 0; values[i]; i++)
    if (!strcmp(values[i], text)) {
      *out = i;
      return EXACT_OK;
    }
  return node_fail(err, EXACT_INVALID, "attribute %s has the unknown value '%s'", name, text);
}

int node_window(const node *n, exact_window_attrs *out, exact_error *err) {
  static const char *const auto_pads[] = {[EXACT_NOTSET] = "NOTSET",
                                          [EXACT_SAME_UPPER] = "SAME_UPPER",
                                          [EXACT_SAME_LOWER] = "SAME_LOWER",
                                          [EXACT_VALID] = "VALID",
                                          NULL};
  int rc = node_choice(n, "auto_pad", auto_pads, EXACT_NOTSET, &out->auto_pad, err);
  if (!rc) rc = node_ints(n, "kernel_shape", &out->kernel_shape, err);
  if (!rc) rc = node_ints(n, "strides", &out->strides, err);
  if (!rc) rc = node_ints(n, "dilations", &out->dilations, err);
  if (!rc) rc = node_ints(n, "pads", &out->pads, err);
  return rc;
}

/* ---- views ---- */
bool node_ranks_known(const node *n) {
  for (int i = 0; i < n->n_inputs; i++)
    if (n->input[i].dtype != EXACT_ABSENT && n->input[i].rank < 0) return false;
  return n->n_inputs > 0;
}

static int cap(size_t n) { return n < EXACT_MOST_IO ? (int)n : EXACT_MOST_IO; }

/* Room for the inputs; 0 of them when there is none. */
static void set_inputs(node *n, size_t count) {
  n->input = count <= EXACT_MOST_IO ? n->few : calloc(count, sizeof *n->input);
  n->n_inputs = n->input && count <= INT_MAX ? (int)count : 0;
}

void node_free(node *n) {
  if (n->input != n->few) free(n->input);
}

void node_of_kernel(node *n, const OrtApi *api, const op_row *row, const OrtKernelInfo *info) {
  *n = (node){.row = row, .source = &of_kernel, .api = api, .handle = info, .input = n->few};
  size_t inputs = 0, outputs = 0;
  if (ort_failed(api, ORT(api, KernelInfo_GetInputCount)(info, &inputs))) inputs = 0;
  if (ort_failed(api, ORT(api, KernelInfo_GetOutputCount)(info, &outputs))) outputs = 0;
  set_inputs(n, inputs);
  n->n_outputs = cap(outputs);
  for (int i = 0; i < n->n_inputs; i++) {
    OrtTypeInfo *type = NULL;
    n->input[i].rank = -1;
    if (ort_failed(api, ORT(api, KernelInfo_GetInputTypeInfo)(info, (size_t)i, &type)) || !type) continue;
    tensor_of_type(api, type, &n->input[i]);
    ORT(api, ReleaseTypeInfo)(type);
  }
  for (int i = 0; i < n->n_outputs; i++) {
    size_t size = 0; /* with the terminator: an unused output has the name "" */
    n->output_used[i] = ort_failed(api, ORT(api, KernelInfo_GetOutputName)(info, (size_t)i, NULL, &size)) || size > 1;
  }
  n->dtype = n->n_inputs ? n->input[0].dtype : EXACT_ABSENT;
}

void node_of_graph(node *n, const OrtApi *api, const op_row *row, const OrtNode *graph_node) {
  *n = (node){.row = row, .source = &of_graph, .api = api, .handle = graph_node, .input = n->few};
  const OrtValueInfo **values = NULL;
  size_t inputs = 0, outputs = 0;
  if (ort_failed(api, ORT(api, Node_GetSinceVersion)(graph_node, &n->since))) n->since = 0;
  if (ort_failed(api, ORT(api, Node_GetNumInputs)(graph_node, &inputs)) ||
      ort_failed(api, ORT(api, Node_GetNumOutputs)(graph_node, &outputs)))
    return;
  values = calloc((inputs > outputs ? inputs : outputs) + 1, sizeof *values);
  if (!values || ort_failed(api, ORT(api, Node_GetInputs)(graph_node, values, inputs))) {
    free(values);
    return;
  }
  set_inputs(n, inputs);
  for (int i = 0; i < n->n_inputs; i++) {
    const OrtTypeInfo *type = NULL;
    n->input[i].rank = -1;
    if (values[i] && !ort_failed(api, ORT(api, GetValueInfoTypeInfo)(values[i], &type)) && type)
      tensor_of_type(api, type, &n->input[i]);
  }
  n->dtype = n->n_inputs ? n->input[0].dtype : EXACT_ABSENT;
  n->n_outputs = ort_failed(api, ORT(api, Node_GetOutputs)(graph_node, values, outputs)) ? 0 : cap(outputs);
  for (int i = 0; i < n->n_outputs; i++) {
    const char *name = NULL;
    n->output_used[i] = values[i] && !ort_failed(api, ORT(api, GetValueInfoName)(values[i], &name)) && name && *name;
  }
  free(values);
}

void node_of_inference(node *n, const OrtApi *api, const op_row *row, const OrtShapeInferContext *context) {
  *n = (node){.row = row, .source = &of_inference, .api = api, .handle = context, .input = n->few};
  size_t inputs = 0;
  if (ort_failed(api, ORT(api, ShapeInferContext_GetInputCount)(context, &inputs))) return;
  set_inputs(n, inputs);
  for (int i = 0; i < n->n_inputs; i++) {
    OrtTensorTypeAndShapeInfo *info = NULL;
    n->input[i].rank = -1;
    if (ort_failed(api, ORT(api, ShapeInferContext_GetInputTypeShape)(context, (size_t)i, &info)) || !info) continue;
    tensor_to_come(api, info, &n->input[i]); /* the info stays the context's */
  }
  n->dtype = n->n_inputs ? n->input[0].dtype : EXACT_ABSENT;
}
