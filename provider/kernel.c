/* A node's kernel at run time: creation, constant inputs, the cache of plans, compute. */
#include "kernel.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- creation ---- */
static void log_created(const kernel *k, const OrtKernelInfo *info, int mode) {
  const OrtLogger *logger = NULL;
  char text[768];
  if (ort_failed(k->api, ORT(k->api, KernelInfo_GetLogger)(info, &logger)) || !logger) return;
  snprintf(text, sizeof text, "%s: %s node '%s' runs the %s kernel (%s)", EXACT_EP_NAME, k->row->type, k->name,
           mode == EXACT_MODE_FAST ? "fast" : "exact", exact_isa_current());
  ort_failed(k->api, ORT(k->api, Logger_LogMessage)(logger, ORT_LOG_INFO, text, __FILE__, __LINE__, __func__));
}

/* 0 for the versions that the custom-op library declares, and below API 24. */
static int since_version(const OrtApi *api, int minor, const op_row *row, const OrtKernelInfo *info) {
  int since = 0;
  if (minor < 24 || ort_failed(api, ORT(api, KernelInfo_GetOperatorSinceVersion)(info, &since))) return 0;
  return since == row->phantom || since < row->since ? 0 : since;
}

static void node_name(kernel *k, const OrtKernelInfo *info) {
  size_t size = 0;
  if (ort_failed(k->api, ORT(k->api, KernelInfo_GetNodeName)(info, NULL, &size)) || !size) return;
  char *name = malloc(size);
  if (name && !ort_failed(k->api, ORT(k->api, KernelInfo_GetNodeName)(info, name, &size)))
    snprintf(k->name, sizeof k->name, "%s", name);
  free(name);
}

OrtStatus *kernel_new(const OrtApi *api, int minor, const op_row *row, const OrtKernelInfo *info, int mode, kernel **out) {
  exact_error err = {0};
  node n;
  *out = NULL;
  kernel *k = calloc(1, sizeof *k);
  if (!k) return ORT(api, CreateStatus)(ORT_FAIL, EXACT_EP_NAME ": out of memory");
  k->api = api;
  k->minor = minor;
  k->row = row;
  pthread_mutex_init(&k->lock, NULL);
  node_name(k, info);
  node_of_kernel(&n, api, row, info);
  n.mode = mode;
  n.since = since_version(api, minor, row, info);
  int rc = row->glue(&n, &k->op, &err);
  if (!rc && node_ranks_known(&n)) {
    exact_tensor shapes[EXACT_MOST_IO];
    rc = exact_op_infer(k->op, n.n_inputs, n.input, shapes, &err);
    if (!rc) exact_op_hint(k->op, n.n_inputs, n.input);
  }
  node_free(&n);
  OrtStatus *status = NULL;
  if (rc && rc != EXACT_UNSUPPORTED) status = ort_error(api, row, k->name, &err);
  if (!rc) status = ORT(api, CreateCpuMemoryInfo)(ORT_ARENA_ALLOCATOR, ORT_MEM_TYPE_DEFAULT, &k->memory);
  if (rc || status) {
    kernel_free(k);
    return status;
  }
  log_created(k, info, mode);
  *out = k;
  return NULL;
}

void kernel_free(kernel *k) {
  if (!k) return;
  for (int i = 0; i < KERNEL_PLANS; i++)
    if (k->plans[i]) {
      exact_plan_free(k->plans[i]->plan);
      free(k->plans[i]);
    }
  exact_op_free(k->op);
  for (int i = 0; i < EXACT_MOST_IO; i++) free(k->packed[i]);
  if (k->memory) ORT(k->api, ReleaseMemoryInfo)(k->memory);
  pthread_mutex_destroy(&k->lock);
  free(k);
}

/* ---- constant inputs ---- */
OrtStatus *kernel_pack(kernel *k, int input, const exact_tensor *t, void *packed) {
  exact_error err = {0};
  if (exact_op_pack(k->op, input, t, packed, &err)) return ort_error(k->api, k->row, k->name, &err);
  k->packed_shape[input] = *t;
  k->packed_shape[input].data = NULL;
  return NULL;
}

void kernel_use_packed(kernel *k, int input, const void *packed) {
  exact_op_set_packed(k->op, input, &k->packed_shape[input], packed);
  k->is_packed[input] = true;
}

OrtStatus *kernel_pack_constants(kernel *k, const OrtKernelInfo *info) {
  size_t inputs = 0;
  OrtStatus *status = ORT(k->api, KernelInfo_GetInputCount)(info, &inputs);
  for (size_t i = 0; !status && i < inputs && i < EXACT_MOST_IO; i++) {
    int constant = 0;
    const OrtValue *value = NULL;
    exact_tensor t;
    status = ORT(k->api, KernelInfoGetConstantInput_tensor)(info, i, &constant, &value);
    if (status || !constant || !value || !ort_tensor(k->api, k->minor, value, &t)) continue;
    size_t size = exact_op_packed_size(k->op, (int)i, &t);
    if (!size) continue;
    if (posix_memalign(&k->packed[i], 64, size))
      return ORT(k->api, CreateStatus)(ORT_FAIL, EXACT_EP_NAME ": out of memory for packed weights");
    status = kernel_pack(k, (int)i, &t, k->packed[i]);
    if (!status) kernel_use_packed(k, (int)i, k->packed[i]);
  }
  return status;
}

/* ---- plans ---- */
static size_t value_bytes(const exact_tensor *t) {
  size_t size = exact_dtype_size(t->dtype);
  for (int i = 0; i < t->rank; i++) size *= (size_t)t->dims[i];
  return size;
}

/* Whether the plan depends on the data of input i. */
static bool is_value(unsigned values, int i) { return i < 32 && values >> i & 1; }

static bool same_inputs(const kernel *k, const cached_plan *c, int n, const exact_tensor *in) {
  unsigned values = exact_op_value_inputs(k->op);
  if (c->n != n) return false;
  for (int i = 0; i < n; i++) {
    if (c->in[i].dtype != in[i].dtype || c->in[i].rank != in[i].rank ||
        memcmp(c->in[i].dims, in[i].dims, (size_t)in[i].rank * sizeof in[i].dims[0]))
      return false;
    if (is_value(values, i) && in[i].dtype && memcmp(c->value[i], in[i].data, value_bytes(&in[i]))) return false;
  }
  return true;
}

/* A plan without its key. */
static cached_plan *new_plan(const kernel *k, int n) {
  size_t room = (size_t)n * (sizeof(exact_tensor) + (exact_op_value_inputs(k->op) ? KERNEL_VALUE : 0));
  cached_plan *c = calloc(1, sizeof *c + room);
  if (!c) return NULL;
  c->n = n;
  c->value = (char(*)[KERNEL_VALUE])(c->in + n);
  return c;
}

/* Fills the key of a new plan. False when it depends on more data than a key holds: such a plan is not kept. */
static bool set_key(const kernel *k, cached_plan *c, int n, const exact_tensor *in) {
  unsigned values = exact_op_value_inputs(k->op);
  memcpy(c->in, in, (size_t)n * sizeof *in);
  for (int i = 0; i < n; i++) {
    if (!is_value(values, i) || !in[i].dtype) continue;
    size_t size = value_bytes(&in[i]);
    if (size > KERNEL_VALUE) return false;
    if (size) memcpy(c->value[i], in[i].data, size);
  }
  return true;
}

static cached_plan *find_plan(kernel *k, int n, const exact_tensor *in) {
  cached_plan *found = NULL;
  pthread_mutex_lock(&k->lock);
  for (int i = 0; i < KERNEL_PLANS && !found; i++)
    if (k->plans[i] && same_inputs(k, k->plans[i], n, in)) found = k->plans[i];
  if (found) {
    found->users++;
    found->used = ++k->clock;
  }
  pthread_mutex_unlock(&k->lock);
  return found;
}

/* Puts a new plan into the cache in place of the one unused for longest. False when all are in use: the caller frees it. */
static bool keep_plan(kernel *k, cached_plan *c) {
  int slot = -1;
  cached_plan *old = NULL;
  pthread_mutex_lock(&k->lock);
  for (int i = 0; i < KERNEL_PLANS; i++) {
    if (!k->plans[i]) {
      slot = i;
      break;
    }
    if (!k->plans[i]->users && (slot < 0 || k->plans[i]->used < k->plans[slot]->used)) slot = i;
  }
  if (slot >= 0) {
    old = k->plans[slot];
    c->users = 1;
    c->used = ++k->clock;
    k->plans[slot] = c;
  }
  pthread_mutex_unlock(&k->lock);
  if (old) {
    exact_plan_free(old->plan);
    free(old);
  }
  return slot >= 0;
}

/* ---- compute ---- */
typedef struct run {
  kernel *k;
  OrtKernelContext *context;
  const OrtApi *api;
  size_t n_in, n_out;
  exact_tensor *in; /* few_in, or memory of its own when there are more */
  const void **in_data;
  void *out_data[EXACT_MOST_IO];
  exact_tensor few_in[EXACT_MOST_IO];
  const void *few_data[EXACT_MOST_IO];
} run;

static bool set_inputs(run *r) {
  r->in = r->few_in;
  r->in_data = r->few_data;
  if (r->n_in <= EXACT_MOST_IO) return true;
  r->in = calloc(r->n_in, sizeof *r->in);
  r->in_data = calloc(r->n_in, sizeof *r->in_data);
  return r->in && r->in_data;
}

static void free_inputs(run *r) {
  if (r->n_in <= EXACT_MOST_IO) return;
  free(r->in);
  free(r->in_data);
}

static OrtStatus *no_memory(const kernel *k) {
  exact_error err = {EXACT_NO_MEMORY, "out of memory"};
  return ort_error(k->api, k->row, k->name, &err);
}

static void parallel_for(void *host, size_t count, exact_task task, void *arg) {
  run *r = host;
  if (ort_failed(r->api, ORT(r->api, KernelContext_ParallelFor)(r->context, task, count, 0, arg)))
    for (size_t i = 0; i < count; i++) task(arg, i);
}

static OrtStatus *gather_inputs(run *r) {
  kernel *k = r->k;
  OrtStatus *status = NULL;
  for (size_t i = 0; i < r->n_in; i++) {
    const OrtValue *value = NULL;
    r->in[i].dtype = EXACT_ABSENT;
    r->in[i].rank = 0;
    r->in[i].data = NULL;
    if (i < EXACT_MOST_IO && k->is_packed[i]) {
      r->in[i] = k->packed_shape[i];
    } else {
      status = ORT(r->api, KernelContext_GetInput)(r->context, i, &value);
      if (status) return status;
      if (value && !ort_tensor(r->api, k->minor, value, &r->in[i])) {
        exact_error err = {EXACT_UNSUPPORTED, ""};
        snprintf(err.reason, sizeof err.reason, "input %zu has more than %d dimensions", i, EXACT_MAX_RANK);
        return ort_error(r->api, k->row, k->name, &err);
      }
    }
    r->in_data[i] = r->in[i].data;
  }
  return NULL;
}

static OrtStatus *create_outputs(run *r, const exact_plan *plan) {
  size_t known = (size_t)exact_op_outputs(r->k->op);
  OrtStatus *status = ORT(r->api, KernelContext_GetOutputCount)(r->context, &r->n_out);
  for (size_t i = 0; i < known; i++) r->out_data[i] = NULL;
  for (size_t i = 0; !status && i < r->n_out && i < known; i++) {
    const exact_tensor *t = exact_plan_output(plan, (int)i);
    OrtValue *value = NULL;
    status = ORT(r->api, KernelContext_GetOutput)(r->context, i, t->dims, (size_t)t->rank, &value);
    if (!status && value) status = ORT(r->api, GetTensorMutableData)(value, &r->out_data[i]);
  }
  return status;
}

static OrtStatus *run_plan(run *r, const exact_plan *plan) {
  OrtAllocator *allocator = NULL;
  void *work = NULL;
  size_t size = exact_plan_workspace(plan);
  OrtStatus *status = create_outputs(r, plan);
  if (status) return status;
  if (size) {
    status = ORT(r->api, KernelContext_GetAllocator)(r->context, r->k->memory, &allocator);
    if (status) return status;
    work = allocator->Alloc(allocator, size);
    if (!work) {
      exact_error err = {EXACT_NO_MEMORY, ""};
      snprintf(err.reason, sizeof err.reason, "out of memory for a workspace of %zu bytes", size);
      ORT(r->api, ReleaseAllocator)(allocator);
      return ort_error(r->api, r->k->row, r->k->name, &err);
    }
  }
  exact_threads threads = {parallel_for, r};
  exact_plan_run(plan, r->in_data, r->out_data, work, &threads);
  if (size) {
    allocator->Free(allocator, work);
    ORT(r->api, ReleaseAllocator)(allocator);
  }
  return NULL;
}

static OrtStatus *compute(run *r) {
  kernel *k = r->k;
  int n = (int)r->n_in;
  OrtStatus *status = gather_inputs(r);
  if (status) return status;
  cached_plan *c = find_plan(k, n, r->in);
  bool kept = c != NULL;
  if (!c) {
    exact_error err;
    c = new_plan(k, n);
    if (!c) return no_memory(k);
    if (exact_op_plan(k->op, n, r->in, &c->plan, &err)) {
      free(c);
      return ort_error(k->api, k->row, k->name, &err);
    }
    kept = set_key(k, c, n, r->in) && keep_plan(k, c);
  }
  status = run_plan(r, c->plan);
  if (kept) {
    pthread_mutex_lock(&k->lock);
    c->users--;
    pthread_mutex_unlock(&k->lock);
  } else {
    exact_plan_free(c->plan);
    free(c);
  }
  return status;
}

OrtStatus *kernel_compute(kernel *k, OrtKernelContext *context) {
  run r; /* not cleared: that would take as long as a small node */
  r.k = k;
  r.context = context;
  r.api = k->api;
  OrtStatus *status = ORT(r.api, KernelContext_GetInputCount)(context, &r.n_in);
  if (status) return status;
  status = r.n_in <= INT_MAX && set_inputs(&r) ? compute(&r) : no_memory(k);
  free_inputs(&r);
  return status;
}
