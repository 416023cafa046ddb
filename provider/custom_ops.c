/* Face 2, the custom-op library (onnxruntime >= 1.17.3): declares every operator of the table in the standard domain "",
 * which overrides ONNX Runtime's own kernels. Each is declared under its phantom version, which no optimizer looks for. */
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "delegate.h"
#include "kernel.h"
#include "version.h"

enum { OLDEST_API = 17, OP_VERSION = 17 };
enum { REQUIRED, OPTIONAL, VARIADIC };
#define EXPORT __attribute__((visibility("default")))

/* The custom ops of one host, mode and stated opset. Sessions refer to them for as long as they live, so a set is never freed.
 */
typedef struct op_set {
  const OrtApi *api;
  int minor, mode, opset;
  OrtCustomOpDomain *domain;
  struct custom_op *ops;
  struct op_set *next;
} op_set;

typedef struct custom_op {
  OrtCustomOp base;
  const op_set *set;
  const op_row *row;
  int dtype;
} custom_op;

static const custom_op *of(const OrtCustomOp *op) { return (const custom_op *)op; }

/* ---- declaration ---- */
static int type_of(const OrtCustomOp *op, char letter) {
  switch (letter | 0x20) {
    case 's':
    case 'e':
    case 't':
    case 'v': return of(op)->dtype;
    case 'l': return EXACT_INT64;
    case 'f': return EXACT_FLOAT32;
    case 'i': return EXACT_INT32;
    case 'b': return EXACT_UINT8;
    default: return 0; /* undefined: any */
  }
}
static const char *get_name(const OrtCustomOp *op) { return of(op)->row->type; }
static const char *get_provider(const OrtCustomOp *op) {
  (void)op;
  return NULL; /* CPU */
}
static int input_type(const OrtCustomOp *op, size_t i) { return type_of(op, of(op)->row->inputs[i]); }
static size_t input_count(const OrtCustomOp *op) { return strlen(of(op)->row->inputs); }
static int output_type(const OrtCustomOp *op, size_t i) { return type_of(op, of(op)->row->outputs[i]); }
static size_t output_count(const OrtCustomOp *op) { return strlen(of(op)->row->outputs); }
static int input_kind(const OrtCustomOp *op, size_t i) {
  char letter = of(op)->row->inputs[i];
  return letter == 'V' ? VARIADIC : letter >= 'a' ? OPTIONAL : REQUIRED;
}
static int output_kind(const OrtCustomOp *op, size_t i) { return of(op)->row->outputs[i] >= 'a' ? OPTIONAL : REQUIRED; }
static int memory_type(const OrtCustomOp *op, size_t i) {
  (void)op, (void)i;
  return ORT_MEM_TYPE_DEFAULT;
}
static int one(const OrtCustomOp *op) { /* variadic inputs are at least one, and of one type */
  (void)op;
  return 1;
}
static int start_version(const OrtCustomOp *op) {
  enum { EARLY = 2 }; /* no revision of an operator that has rows of several phantoms */
  int opset = of(op)->set->opset;
  return opset && opset < of(op)->row->phantom ? EARLY : of(op)->row->phantom;
}
static int end_version(const OrtCustomOp *op) {
  (void)op;
  return INT_MAX;
}

/* ---- shape inference: static shapes flow on past our nodes. An error is left for kernel creation to report. ---- */
/* An unknown dimension needs a symbol, and one of its own: ONNX Runtime takes equal symbols for equal sizes. */
static void set_output(const OrtApi *api, OrtShapeInferContext *context, size_t i, const exact_tensor *t, const char *batch) {
  static _Atomic unsigned long long symbols;
  OrtTensorTypeAndShapeInfo *info = NULL;
  const char *names[EXACT_MAX_RANK];
  char fresh[EXACT_MAX_RANK][40];
  if (t->rank < 0) return;
  if (ort_failed(api, ORT(api, CreateTensorTypeAndShapeInfo)(&info))) return;
  for (int d = 0; d < t->rank; d++) {
    snprintf(fresh[d], sizeof fresh[d], "exact_unknown_%llu", atomic_fetch_add(&symbols, 1));
    names[d] = t->dims[d] >= 0 ? "" : d == 0 && batch && *batch ? batch : fresh[d];
  }
  if (!ort_failed(api, ORT(api, SetTensorElementType)(info, t->dtype)) &&
      !ort_failed(api, ORT(api, SetDimensions)(info, t->dims, (size_t)t->rank)) &&
      !ort_failed(api, ORT(api, SetSymbolicDimensions)(info, names, (size_t)t->rank)))
    ort_failed(api, ORT(api, ShapeInferContext_SetOutputTypeShape)(context, i, info));
  ORT(api, ReleaseTensorTypeAndShapeInfo)(info);
}

/* The first dimension of the output is the first one of the input, whatever that is. */
static bool keeps_batch(const exact_op *op, const node *n) {
  static const int64_t batches[] = {1000003, 1}; /* a batch of 1 is one that another input may enlarge */
  exact_tensor out[EXACT_MOST_IO];
  exact_error err;
  bool keeps = n->input[0].rank > 0;
  if (!keeps) return false;
  int64_t own = n->input[0].dims[0];
  for (int i = 0; i < 2; i++) {
    n->input[0].dims[0] = batches[i];
    keeps = keeps && !exact_op_infer(op, n->n_inputs, n->input, out, &err) && out[0].rank > 0 && out[0].dims[0] == batches[i];
  }
  n->input[0].dims[0] = own;
  return keeps;
}

/* A node may leave out an input before its last one. Up to onnxruntime 1.23 a host crashes at such a node when the operator
 * infers shapes; 1.17 cannot tell its output type and refuses the model, so there the operator is not declared. */
static bool has_gaps(const op_row *row) {
  const char *optional = row->inputs;
  while (*optional && *optional < 'a') optional++;
  return *optional && optional[1];
}

static OrtStatus *infer_shapes(const OrtCustomOp *self, OrtShapeInferContext *context) {
  const OrtApi *api = of(self)->set->api;
  OrtTensorTypeAndShapeInfo *info = NULL;
  const char *names[EXACT_MAX_RANK] = {0};
  node n;
  exact_op *op = NULL;
  exact_error err;
  exact_tensor out[EXACT_MOST_IO];
  node_of_inference(&n, api, of(self)->set->minor, of(self)->row, context);
  if (n.row->inputs[0] == 'T' || n.row->inputs[0] == 'V') n.dtype = of(self)->dtype;
  if (n.row->glue(&n, &op, &err)) op = NULL;
  for (int i = 0; op && i < n.n_inputs; i++) /* a rank of 0 looks like an unknown one; an op that needs more of it refuses it */
    if (n.input[i].rank < 0 && i < 32 && exact_op_value_inputs(op) >> i & 1) n.input[i].rank = 0;
  if (op && node_ranks_known(&n) && !exact_op_infer(op, n.n_inputs, n.input, out, &err) &&
      !ort_failed(api, ORT(api, ShapeInferContext_GetInputTypeShape)(context, 0, &info))) {
    if (ort_failed(api, ORT(api, GetSymbolicDimensions)(info, names, (size_t)n.input[0].rank))) names[0] = NULL;
    set_output(api, context, 0, &out[0], keeps_batch(op, &n) ? names[0] : NULL);
  }
  exact_op_free(op);
  node_free(&n);
  return NULL;
}

/* ---- kernels ---- */
typedef struct co_kernel {
  const OrtApi *api;
  kernel *kernel;     /* ours, or */
  delegate *delegate; /* ONNX Runtime's own for a form that we do not serve */
} co_kernel;

/* The mode of the session: entries added after the registration count as well where the host lets a kernel read them. */
static OrtStatus *mode_of(const custom_op *op, const OrtKernelInfo *info, int *mode) {
  const OrtApi *api = op->set->api;
  OrtKeyValuePairs *entries = NULL;
  config c;
  *mode = op->set->mode;
  if (op->set->minor < 24) return NULL;
  OrtStatus *status = ORT(api, KernelInfo_GetConfigEntries)(info, &entries);
  if (status) return status;
  config_read(api, entries, &c);
  ORT(api, ReleaseKeyValuePairs)(entries);
  *mode = c.mode;
  return c.error[0] ? ORT(api, CreateStatus)(ORT_INVALID_ARGUMENT, c.error) : NULL;
}

static void destroy_kernel(void *self) {
  co_kernel *c = self;
  kernel_free(c->kernel);
  delegate_free(c->delegate);
  free(c);
}

static OrtStatus *create_kernel(const OrtCustomOp *self, const OrtApi *api, const OrtKernelInfo *info, void **out) {
  const custom_op *op = of(self);
  int mode;
  *out = NULL;
  OrtStatus *status = mode_of(op, info, &mode);
  if (status) return status;
  co_kernel *c = calloc(1, sizeof *c);
  if (!c) return ORT(api, CreateStatus)(ORT_FAIL, EXACT_EP_NAME ": out of memory");
  c->api = api;
  status = kernel_new(api, op->set->minor, op->row, info, mode, &c->kernel);
  if (!status && c->kernel) status = kernel_pack_constants(c->kernel, info);
  if (!status && !c->kernel) status = delegate_new(api, op->set->minor, op->row, op->dtype, info, &c->delegate);
  if (status) {
    destroy_kernel(c);
    return status;
  }
  *out = c;
  return NULL;
}

static OrtStatus *compute(void *self, OrtKernelContext *context) {
  co_kernel *c = self;
  return c->kernel ? kernel_compute(c->kernel, context) : delegate_compute(c->delegate, context);
}

/* ---- registration ---- */
static bool same_type(int i, int j) { return j >= 0 && j < op_row_count && !strcmp(op_rows[i].type, op_rows[j].type); }
/* One row of a type is declared: the first one of its newest phantom, or of the newest that the stated opset reaches. None of
 * phantom 0. */
static bool declared(int i, int opset) {
  if (!op_rows[i].phantom) return false;
  if (same_type(i, i - 1) && op_rows[i].phantom == op_rows[i - 1].phantom) return false;
  for (int j = i + 1; same_type(i, j); j++)
    if (op_rows[j].phantom != op_rows[i].phantom && (!opset || op_rows[j].since <= opset)) return false;
  return !opset || op_rows[i].since <= opset;
}

static OrtStatus *fill_set(op_set *set) {
  OrtStatus *status = ORT(set->api, CreateCustomOpDomain)("", &set->domain);
  custom_op *op = set->ops;
  for (int i = 0; i < op_row_count; i++) {
    const op_row *row = &op_rows[i];
    if (!declared(i, set->opset) || (has_gaps(row) && set->minor < 18) || (op_reads_texts(row) && set->minor < 25)) continue;
    for (int t = 0; t < 32; t++) {
      if (!(row->constraint[0].types >> t & 1)) continue;
      *op = (custom_op){.base = {.version = OP_VERSION,
                                 .GetName = get_name,
                                 .GetExecutionProviderType = get_provider,
                                 .GetInputType = input_type,
                                 .GetInputTypeCount = input_count,
                                 .GetOutputType = output_type,
                                 .GetOutputTypeCount = output_count,
                                 .KernelDestroy = destroy_kernel,
                                 .GetInputCharacteristic = input_kind,
                                 .GetOutputCharacteristic = output_kind,
                                 .GetInputMemoryType = memory_type,
                                 .GetVariadicInputMinArity = one,
                                 .GetVariadicInputHomogeneity = one,
                                 .CreateKernelV2 = create_kernel,
                                 .KernelComputeV2 = compute,
                                 .InferOutputShapeFn = has_gaps(row) && set->minor < 24 ? NULL : infer_shapes,
                                 .GetStartVersion = start_version,
                                 .GetEndVersion = end_version},
                        .set = set,
                        .row = row,
                        .dtype = t};
      if (!status) status = ORT(set->api, CustomOpDomain_Add)(set->domain, &op->base);
      op++;
    }
  }
  return status;
}

static OrtStatus *get_set(const OrtApi *api, int minor, const config *c, op_set **out) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static op_set *sets;
  OrtStatus *status = NULL;
  pthread_mutex_lock(&lock);
  op_set *set = sets;
  while (set && (set->api != api || set->mode != c->mode || set->opset != c->opset)) set = set->next;
  if (!set) {
    set = calloc(1, sizeof *set);
    if (set) set->ops = calloc((size_t)op_row_count * 32, sizeof *set->ops);
    if (!set || !set->ops) {
      status = ORT(api, CreateStatus)(ORT_FAIL, EXACT_EP_NAME ": out of memory");
    } else {
      set->api = api;
      set->minor = minor;
      set->mode = c->mode;
      set->opset = c->opset;
      status = fill_set(set);
    }
    if (status) {
      if (set) free(set->ops);
      free(set);
      set = NULL;
    } else {
      set->next = sets;
      sets = set;
    }
  }
  pthread_mutex_unlock(&lock);
  *out = set;
  return status;
}

/* Appends to a list of names joined by ';'; false when there is no room. */
static bool append(char *list, size_t size, const char *name) {
  size_t used = strlen(list);
  return (size_t)snprintf(list + used, size - used, "%s%s", used ? ";" : "", name) < size - used;
}

/* Switches off the optimizers that do not look at versions: the QDQ selectors, what moves a Transpose through our nodes, and
 * below 1.32 constant folding, which fails on a node of ours whose inputs are all constant. */
static OrtStatus *set_entries(const OrtApi *api, int minor, const config *c, OrtSessionOptions *options) {
  static const char *const names[] = {
#define REWRITE(name, faces, reason) (faces) & CUSTOM ? name : NULL,
#include "rewrites.def"
#undef REWRITE
  };
  char disabled[1024];
  OrtStatus *status = ORT(api, AddSessionConfigEntry)(options, "session.disable_quant_qdq", "1");
  if (!status) status = ORT(api, AddSessionConfigEntry)(options, CONFIG_OVERRIDDEN, "1");
  if (status) return status;
  bool fits = config_entry(api, options, CONFIG_DISABLED, disabled, sizeof disabled);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (names[i] && !config_listed(disabled, names[i])) fits = fits && append(disabled, sizeof disabled, names[i]);
  if (minor < 32 && !c->folding_checked && !config_listed(disabled, "ConstantFolding"))
    fits = fits && append(disabled, sizeof disabled, "ConstantFolding");
  /* Without folding, ReshapeFusion of onnxruntime 1.25 to 1.30 fails on some models; it only merges shape computations. */
  if (minor >= 25 && minor <= 30 && config_listed(disabled, "ConstantFolding") && !config_listed(disabled, "ReshapeFusion"))
    fits = fits && append(disabled, sizeof disabled, "ReshapeFusion");
  if (!fits) return ORT(api, CreateStatus)(ORT_INVALID_ARGUMENT, EXACT_EP_NAME ": the entry '" CONFIG_DISABLED "' is too long");
  return ORT(api, AddSessionConfigEntry)(options, CONFIG_DISABLED, disabled);
}

EXPORT OrtStatus *RegisterCustomOps(OrtSessionOptions *options, const OrtApiBase *base) {
  int minor = host_minor(base);
  config c;
  op_set *set = NULL;
  if (minor < OLDEST_API) {
    char text[160];
    snprintf(text, sizeof text, "%s: the custom-op library needs onnxruntime 1.17.3 or newer, this is %s", EXACT_EP_NAME,
             base->GetVersionString());
    return ORT(base->GetApi(1), CreateStatus)(ORT_NOT_IMPLEMENTED, text);
  }
  const OrtApi *api = base->GetApi(OLDEST_API);
  config_read_known(api, options, &c);
  if (c.error[0]) return ORT(api, CreateStatus)(ORT_INVALID_ARGUMENT, c.error);
  OrtStatus *status = get_set(api, minor, &c, &set);
  if (!status) status = set_entries(api, minor, &c, options);
  return status ? status : ORT(api, AddCustomOpDomain)(options, set->domain);
}
