/* Face 1, the plugin execution provider (onnxruntime >= 1.24.1): a kernel registry made from the operator table.
 * A wrong option is reported when a kernel is created or a run starts: an error from CreateEp would make Python's
 * InferenceSession fall back to the CPU provider. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "kernel.h"
#include "version.h"

enum { NEEDED_API = 24 };
#define EXPORT __attribute__((visibility("default")))

typedef struct factory factory;
typedef struct kernel_state { /* what a kernel's create function is called with */
  factory *factory;
  const op_row *row;
} kernel_state;

struct factory {
  OrtEpFactory base;
  const OrtApi *api;
  const OrtEpApi *ep_api;
  int minor;
  atomic_int references; /* one of ONNX Runtime and one of each provider: a session may outlive the registration */
  OrtKernelRegistry *registry;
  kernel_state *states;
};

typedef struct provider {
  OrtEp base;
  factory *factory;
  const OrtLogger *logger;
  config config;
} provider;

static const char *ep_name(const OrtEp *self) {
  (void)self;
  return EXACT_EP_NAME;
}

/* ---- kernels ---- */
typedef struct ep_kernel {
  OrtKernelImpl base;
  const OrtEpApi *ep_api;
  kernel *kernel;
} ep_kernel;

static OrtStatus *kernel_impl_compute(OrtKernelImpl *self, OrtKernelContext *context) {
  return kernel_compute(((ep_kernel *)self)->kernel, context);
}

static void kernel_impl_release(OrtKernelImpl *self) {
  kernel_free(((ep_kernel *)self)->kernel);
  free(self);
}

static OrtStatus *kernel_impl_prepack(OrtKernelImpl *self, const OrtValue *value, int input, OrtAllocator *allocator,
                                      OrtSharedPrePackedWeightCache *cache, bool *is_packed) {
  ep_kernel *e = (ep_kernel *)self;
  kernel *k = e->kernel;
  exact_tensor t;
  void *packed = NULL;
  *is_packed = false;
  if (input < 0 || input >= EXACT_MOST_IO || !ort_tensor(k->api, k->minor, value, &t)) return NULL;
  size_t size = exact_op_packed_size(k->op, input, &t);
  if (!size) return NULL;
  if (cache)
    packed = allocator->Alloc(allocator, size);
  else if (posix_memalign(&packed, 64, size))
    packed = NULL;
  if (!packed) return ORT(k->api, CreateStatus)(ORT_FAIL, EXACT_EP_NAME ": out of memory for packed weights");
  OrtStatus *status = kernel_pack(k, input, &t, packed);
  if (status) {
    if (cache)
      allocator->Free(allocator, packed);
    else
      free(packed);
    return status;
  }
  if (cache) { /* takes the buffer over and answers through SetSharedPrePackedWeight */
    status = EP(e->ep_api, SharedPrePackedWeightCache_StoreWeightData)(cache, &packed, &size, 1);
  } else {
    k->packed[input] = packed;
    kernel_use_packed(k, input, packed);
  }
  *is_packed = !status;
  return status;
}

static OrtStatus *kernel_impl_shared(OrtKernelImpl *self, const void *const *data, const size_t *sizes, size_t n, int input) {
  (void)sizes;
  if (n == 1 && input >= 0 && input < EXACT_MOST_IO) kernel_use_packed(((ep_kernel *)self)->kernel, input, data[0]);
  return NULL;
}

/* The error that a session with these options must end in; NULL if none. */
static OrtStatus *config_status(const provider *p) {
  char text[1536];
  const config *c = &p->config;
  if (c->error[0]) return ORT(p->factory->api, CreateStatus)(ORT_INVALID_ARGUMENT, c->error);
  if (!c->require_unmodified || !c->missing[0]) return NULL;
  snprintf(text, sizeof text,
           "%s: unmodified_graph = require, but this session lets ONNX Runtime rewrite the graph first; add to its session "
           "config entry '" CONFIG_DISABLED "': %s",
           EXACT_EP_NAME, c->missing);
  return ORT(p->factory->api, CreateStatus)(ORT_INVALID_ARGUMENT, text);
}

static OrtStatus *create_kernel(void *state, const OrtKernelInfo *info, OrtKernelImpl **out) {
  const kernel_state *s = state;
  const factory *f = s->factory;
  const OrtEp *ep = NULL;
  *out = NULL;
  OrtStatus *status = EP(f->ep_api, KernelInfo_GetEp)(info, &ep);
  if (!status) status = config_status((const provider *)ep);
  if (status) return status;
  ep_kernel *e = calloc(1, sizeof *e);
  if (!e) return ORT(f->api, CreateStatus)(ORT_FAIL, EXACT_EP_NAME ": out of memory");
  status = kernel_new(f->api, f->minor, s->row, info, ((const provider *)ep)->config.mode, &e->kernel);
  if (!status && !e->kernel)
    status = ORT(f->api, CreateStatus)(ORT_NOT_IMPLEMENTED, EXACT_EP_NAME ": a node that it does not serve was assigned to it");
  if (status) {
    free(e);
    return status;
  }
  e->ep_api = f->ep_api;
  e->base = (OrtKernelImpl){.ort_version_supported = NEEDED_API,
                            .Compute = kernel_impl_compute,
                            .Release = kernel_impl_release,
                            .PrePackWeight = kernel_impl_prepack,
                            .SetSharedPrePackedWeight = kernel_impl_shared};
  *out = &e->base;
  return NULL;
}

/* ---- the registry ---- */
static OrtStatus *add_kernel(factory *f, OrtKernelDefBuilder *b, kernel_state *state) {
  const op_row *row = state->row;
  OrtKernelDef *def = NULL;
  OrtStatus *status = EP(f->ep_api, KernelDefBuilder_SetOperatorType)(b, row->type);
  if (!status) status = EP(f->ep_api, KernelDefBuilder_SetDomain)(b, "");
  if (!status) status = EP(f->ep_api, KernelDefBuilder_SetSinceVersion)(b, row->since, row->until);
  if (!status) status = EP(f->ep_api, KernelDefBuilder_SetExecutionProvider)(b, EXACT_EP_NAME);
  for (int c = 0; !status && c < EXACT_MOST_CONSTRAINTS && row->constraint[c].name; c++) {
    const OrtDataType *types[32];
    size_t n = 0;
    for (int t = 0; !status && t < 32; t++)
      if (row->constraint[c].types >> t & 1) status = EP(f->ep_api, GetTensorDataType)(t, &types[n++]);
    if (!status) status = EP(f->ep_api, KernelDefBuilder_AddTypeConstraint)(b, row->constraint[c].name, types, n);
  }
  if (!status && (row->outputs[0] == 'S' || row->outputs[0] == 'E')) {
    static const int in[] = {0, 1}, out[] = {0, 0};
    size_t n = row->outputs[0] == 'S' ? 1 : 2;
    status = EP(f->ep_api, KernelDefBuilder_AddInputOutputMutableAliases)(b, in, out, n);
  }
  if (!status) status = EP(f->ep_api, KernelDefBuilder_Build)(b, &def);
  if (!status) status = EP(f->ep_api, KernelRegistry_AddKernel)(f->registry, def, create_kernel, state);
  if (def) EP(f->ep_api, ReleaseKernelDef)(def);
  return status;
}

static OrtStatus *build_registry(factory *f) {
  OrtStatus *status = EP(f->ep_api, CreateKernelRegistry)(&f->registry);
  for (int i = 0; !status && i < op_row_count; i++) {
    OrtKernelDefBuilder *builder = NULL;
    f->states[i] = (kernel_state){f, &op_rows[i]};
    status = EP(f->ep_api, CreateKernelDefBuilder)(&builder);
    if (!status) status = add_kernel(f, builder, &f->states[i]);
    if (builder) EP(f->ep_api, ReleaseKernelDefBuilder)(builder);
  }
  return status;
}

static OrtStatus *get_registry(OrtEp *self, const OrtKernelRegistry **out) {
  *out = ((provider *)self)->factory->registry;
  return NULL;
}

/* ---- claiming nodes ---- */
static const op_row *find_row(const char *type, int version) {
  for (int i = 0; i < op_row_count; i++)
    if (!strcmp(op_rows[i].type, type) && op_rows[i].since <= version && version <= op_rows[i].until) return &op_rows[i];
  return NULL;
}

/* A node is ours unless its kernel says that it does not serve it. An invalid node is claimed, so that creating its kernel
 * gives the error. */
static bool served(const OrtApi *api, int minor, const OrtNode *graph_node) {
  const char *type = NULL;
  int version = 0;
  node n;
  exact_op *op = NULL;
  exact_error err = {0};
  exact_tensor shapes[EXACT_MOST_IO];
  if (ort_failed(api, ORT(api, Node_GetOperatorType)(graph_node, &type)) ||
      ort_failed(api, ORT(api, Node_GetSinceVersion)(graph_node, &version)))
    return false;
  const op_row *row = find_row(type, version);
  if (!row) return false;
  node_of_graph(&n, api, minor, row, graph_node);
  int rc = row->glue(&n, &op, &err);
  if (!rc && node_ranks_known(&n)) rc = exact_op_infer(op, n.n_inputs, n.input, shapes, &err);
  exact_op_free(op);
  node_free(&n);
  return rc != EXACT_UNSUPPORTED;
}

static OrtStatus *claim(const provider *p, const OrtNode *const *nodes, size_t n, OrtEpGraphSupportInfo *info,
                        size_t *claimed) {
  const factory *f = p->factory;
  OrtStatus *status = NULL;
  for (size_t i = 0; !status && i < n; i++) {
    const OrtKernelDef *def = NULL;
    status = EP(f->ep_api, EpGraphSupportInfo_LookUpKernel)(info, nodes[i], &def);
    if (status || !def || !served(f->api, f->minor, nodes[i])) continue;
    status = EP(f->ep_api, EpGraphSupportInfo_AddSingleNode)(info, nodes[i]);
    ++*claimed;
  }
  return status;
}

static void warn_of_rewrites(const provider *p) {
  char text[1536];
  if (!p->config.missing[0] || p->config.require_unmodified || p->config.error[0]) return;
  snprintf(text, sizeof text,
           "%s: ONNX Runtime may have rewritten this graph before the provider saw it, which changes bits; to switch the "
           "rewrites off add the session config entry '" CONFIG_DISABLED "' = '%s'",
           EXACT_EP_NAME, p->config.missing);
  ort_failed(p->factory->api,
             ORT(p->factory->api, Logger_LogMessage)(p->logger, ORT_LOG_WARNING, text, "plugin_ep.c", __LINE__, __func__));
}

static OrtStatus *get_capability(OrtEp *self, const OrtGraph *graph, OrtEpGraphSupportInfo *info) {
  const provider *p = (const provider *)self;
  const OrtApi *api = p->factory->api;
  size_t n = 0, claimed = 0;
  if (p->config.overridden) return NULL;
  OrtStatus *status = ORT(api, Graph_GetNumNodes)(graph, &n);
  if (status || n == 0) return status;
  const OrtNode **nodes = calloc(n, sizeof *nodes);
  if (!nodes) return ORT(api, CreateStatus)(ORT_FAIL, EXACT_EP_NAME ": out of memory");
  status = ORT(api, Graph_GetNodes)(graph, nodes, n);
  if (!status) status = claim(p, nodes, n, info, &claimed);
  free(nodes);
  if (claimed) warn_of_rewrites(p);
  return status;
}

static OrtStatus *on_run_start(OrtEp *self, const OrtRunOptions *options) {
  (void)options;
  return config_status((const provider *)self);
}

static OrtStatus *is_concurrent(OrtEp *self, bool *out) {
  (void)self;
  *out = true;
  return NULL;
}

/* ---- the factory ---- */
static const char *factory_name(const OrtEpFactory *self) {
  (void)self;
  return EXACT_EP_NAME;
}
static const char *factory_vendor(const OrtEpFactory *self) {
  (void)self;
  return "onnxruntime-ep-exact";
}
static uint32_t factory_vendor_id(const OrtEpFactory *self) {
  (void)self;
  return 0;
}
static const char *factory_version(const OrtEpFactory *self) {
  (void)self;
  return EXACT_VERSION;
}
static bool factory_streams(const OrtEpFactory *self) {
  (void)self;
  return false;
}
static OrtStatus *factory_transfer(OrtEpFactory *self, OrtDataTransferImpl **out) {
  (void)self;
  *out = NULL;
  return NULL;
}

static void factory_release(factory *f) {
  if (atomic_fetch_sub(&f->references, 1) > 1) return;
  if (f->registry) EP(f->ep_api, ReleaseKernelRegistry)(f->registry);
  free(f->states);
  free(f);
}

static OrtStatus *factory_devices(OrtEpFactory *self, const OrtHardwareDevice *const *devices, size_t n, OrtEpDevice **out,
                                  size_t most, size_t *n_out) {
  factory *f = (factory *)self;
  *n_out = 0;
  for (size_t i = 0; i < n && *n_out < most; i++)
    if (ORT(f->api, HardwareDevice_Type)(devices[i]) == ORT_HARDWARE_CPU) {
      OrtStatus *status = EP(f->ep_api, CreateEpDevice)(self, devices[i], NULL, NULL, &out[*n_out]);
      if (status) return status;
      ++*n_out;
      break;
    }
  return NULL;
}

static OrtStatus *create_ep(OrtEpFactory *self, const OrtHardwareDevice *const *devices,
                            const OrtKeyValuePairs *const *metadata, size_t n, const OrtSessionOptions *options,
                            const OrtLogger *logger, OrtEp **out) {
  factory *f = (factory *)self;
  OrtKeyValuePairs *entries = NULL;
  (void)devices, (void)metadata, (void)n;
  *out = NULL;
  provider *p = calloc(1, sizeof *p);
  if (!p) return ORT(f->api, CreateStatus)(ORT_FAIL, EXACT_EP_NAME ": out of memory");
  OrtStatus *status = ORT(f->api, GetSessionOptionsConfigEntries)(options, &entries);
  if (status) {
    free(p);
    return status;
  }
  config_read(f->api, entries, &p->config);
  ORT(f->api, ReleaseKeyValuePairs)(entries);
  p->factory = f;
  p->logger = logger;
  p->base = (OrtEp){.ort_version_supported = NEEDED_API,
                    .GetName = ep_name,
                    .GetCapability = get_capability,
                    .OnRunStart = on_run_start,
                    .GetKernelRegistry = get_registry,
                    .IsConcurrentRunSupported = is_concurrent};
  atomic_fetch_add(&f->references, 1);
  *out = &p->base;
  return NULL;
}

static void release_ep(OrtEpFactory *self, OrtEp *ep) {
  free(ep);
  factory_release((factory *)self);
}

EXPORT OrtStatus *CreateEpFactories(const char *registered_name, const OrtApiBase *base, const OrtLogger *logger,
                                    OrtEpFactory **factories, size_t most, size_t *n) {
  (void)registered_name, (void)logger;
  int minor = host_minor(base);
  char text[160];
  *n = 0;
  if (minor < NEEDED_API) {
    snprintf(text, sizeof text, "%s: the plugin needs onnxruntime 1.24.1 or newer, this is %s", EXACT_EP_NAME,
             base->GetVersionString());
    return ORT(base->GetApi(1), CreateStatus)(ORT_NOT_IMPLEMENTED, text);
  }
  const OrtApi *api = base->GetApi(NEEDED_API);
  if (most < 1) return ORT(api, CreateStatus)(ORT_INVALID_ARGUMENT, EXACT_EP_NAME ": no room for a factory");
  factory *f = calloc(1, sizeof *f);
  kernel_state *states = calloc((size_t)op_row_count, sizeof *states);
  if (!f || !states) {
    free(f);
    free(states);
    return ORT(api, CreateStatus)(ORT_FAIL, EXACT_EP_NAME ": out of memory");
  }
  f->api = api;
  f->ep_api = ORT(api, GetEpApi)();
  f->minor = minor;
  f->states = states;
  atomic_init(&f->references, 1);
  f->base = (OrtEpFactory){.ort_version_supported = NEEDED_API,
                           .GetName = factory_name,
                           .GetVendor = factory_vendor,
                           .GetSupportedDevices = factory_devices,
                           .CreateEp = create_ep,
                           .ReleaseEp = release_ep,
                           .GetVendorId = factory_vendor_id,
                           .GetVersion = factory_version,
                           .CreateDataTransfer = factory_transfer,
                           .IsStreamAware = factory_streams};
  OrtStatus *status = build_registry(f);
  if (status) {
    factory_release(f);
    return status;
  }
  factories[0] = &f->base;
  *n = 1;
  return NULL;
}

EXPORT OrtStatus *ReleaseEpFactory(OrtEpFactory *self) {
  factory_release((factory *)self);
  return NULL;
}
