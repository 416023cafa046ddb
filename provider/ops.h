#ifndef EXACT_OPS_H
#define EXACT_OPS_H
/* The operator table at run time, and the view of a node that the glue of a family reads. Used by both faces. */
#include "exact.h"
#include "ort_abi.h"

#define EXACT_EP_NAME "ExactExecutionProvider"
#define EXACT_CONFIG_PREFIX "ep.exactexecutionprovider."

/* Inputs and outputs of an operator whose number of inputs is not free. */
enum { EXACT_MOST_IO = 8, EXACT_MOST_CONSTRAINTS = 3 };

struct node;
/* Creates the op of a node. EXACT_UNSUPPORTED: the node is left to ONNX Runtime. */
typedef int (*op_glue)(const struct node *node, exact_op **op, exact_error *err);

typedef struct op_row {
  const char *type;
  int since, until, phantom;
  const char *inputs, *outputs;
  op_glue glue;
  struct {
    const char *name;
    uint32_t types; /* bit n: element type n */
  } constraint[EXACT_MOST_CONSTRAINTS];
} op_row;
extern const op_row op_rows[];
extern const int op_row_count;

/* ---- nodes ---- */
/* Where attributes come from: the info of a kernel, a node of a graph, or shape inference. Each reader returns 1 and the
 * value, 0 when the attribute is absent, -1 when it has another type. *n is the room in `out` before, the length after. */
typedef struct attr_source {
  int (*integer)(const struct node *node, const char *name, int64_t *out);
  int (*real)(const struct node *node, const char *name, float *out);
  int (*integers)(const struct node *node, const char *name, int64_t *out, size_t *n);
  int (*reals)(const struct node *node, const char *name, float *out, size_t *n);
  int (*text)(const struct node *node, const char *name, char *out, size_t *n);
  /* Input i: 1 and the tensor with its data when it is a constant of the model, 0 when not, -1 when that cannot be told. The
   * data stays while the node's kernel is being created. */
  int (*constant)(const struct node *node, int i, exact_tensor *out);
} attr_source;

typedef struct node {
  const op_row *row;
  const attr_source *source;
  const OrtApi *api;
  const void *handle; /* OrtKernelInfo, OrtNode or OrtShapeInferContext */
  int mode;
  int since; /* revision of the operator that the node has; 0: not known (custom-op library) */
  int n_inputs, n_outputs;
  int dtype;                       /* of the first input */
  bool output_used[EXACT_MOST_IO]; /* has a name */
  exact_tensor *input;             /* type and shape as far as known: dtype 0 absent, dimension -1 unknown */
  exact_tensor few[EXACT_MOST_IO]; /* what `input` points to, or memory of its own when there are more */
} node;

/* Reads an optional attribute; `fallback` when absent. EXACT_INVALID when it has another type. */
int node_int(const node *n, const char *name, int64_t fallback, int64_t *out, exact_error *err);
int node_float(const node *n, const char *name, float fallback, float *out, exact_error *err);
int node_ints(const node *n, const char *name, exact_ints *out, exact_error *err);
/* Position of the attribute's text in `values` (NULL-terminated); fallback when absent. EXACT_INVALID for another text. */
int node_choice(const node *n, const char *name, const char *const *values, int fallback, int *out, exact_error *err);
/* auto_pad, kernel_shape, strides, dilations and pads. */
int node_window(const node *n, exact_window_attrs *out, exact_error *err);
int node_fail(exact_error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* All inputs that are there have a known rank: what exact_op_infer and exact_op_hint need. */
bool node_ranks_known(const node *n);
/* Views of a node. A row must be given; rank -1 in an input: shape unknown. */
void node_of_kernel(node *n, const OrtApi *api, const op_row *row, const OrtKernelInfo *info);
void node_of_graph(node *n, const OrtApi *api, const op_row *row, const OrtNode *graph_node);
void node_of_inference(node *n, const OrtApi *api, const op_row *row, const OrtShapeInferContext *context);
/* What a view holds. Without memory for its inputs a view has none. */
void node_free(node *n);

/* ---- statuses and tensors ---- */
/* Releases a status; true when it was an error. */
bool ort_failed(const OrtApi *api, OrtStatus *status);
/* "<EP>: <type> node '<name>': <reason>" */
OrtStatus *ort_error(const OrtApi *api, const op_row *row, const char *name, const exact_error *err);
/* Type and shape of a value; false when it has more dimensions than an exact_tensor. `minor` is the host's API version. */
bool ort_tensor(const OrtApi *api, int minor, const OrtValue *value, exact_tensor *out);
void ort_tensor_of_info(const OrtApi *api, const OrtTensorTypeAndShapeInfo *info, exact_tensor *out);

#endif
