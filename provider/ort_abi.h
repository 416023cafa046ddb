#ifndef EXACT_ORT_ABI_H
#define EXACT_ORT_ABI_H
/* ONNX Runtime's C ABI, as far as this library uses it. The function tables only ever grow at their end, so a slot number is
 * a stable contract; "since" is the API version (the minor version of onnxruntime) that first has the slot.
 * ORT(api, Name)(...) calls a function of OrtApi, EP(ep_api, Name)(...) one of OrtEpApi. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct OrtStatus OrtStatus;
typedef struct OrtValue OrtValue;
typedef struct OrtTypeInfo OrtTypeInfo;
typedef struct OrtTensorTypeAndShapeInfo OrtTensorTypeAndShapeInfo;
typedef struct OrtMemoryInfo OrtMemoryInfo;
typedef struct OrtKernelInfo OrtKernelInfo;
typedef struct OrtKernelContext OrtKernelContext;
typedef struct OrtShapeInferContext OrtShapeInferContext;
typedef struct OrtSessionOptions OrtSessionOptions;
typedef struct OrtRunOptions OrtRunOptions;
typedef struct OrtCustomOpDomain OrtCustomOpDomain;
typedef struct OrtLogger OrtLogger;
typedef struct OrtOp OrtOp;
typedef struct OrtOpAttr OrtOpAttr;
typedef struct OrtGraph OrtGraph;
typedef struct OrtNode OrtNode;
typedef struct OrtValueInfo OrtValueInfo;
typedef struct OrtKeyValuePairs OrtKeyValuePairs;
typedef struct OrtHardwareDevice OrtHardwareDevice;
typedef struct OrtEpDevice OrtEpDevice;
typedef struct OrtDataType OrtDataType;
typedef struct OrtKernelDef OrtKernelDef;
typedef struct OrtKernelDefBuilder OrtKernelDefBuilder;
typedef struct OrtKernelRegistry OrtKernelRegistry;
typedef struct OrtEpGraphSupportInfo OrtEpGraphSupportInfo;
typedef struct OrtSharedPrePackedWeightCache OrtSharedPrePackedWeightCache;
typedef struct OrtDataTransferImpl OrtDataTransferImpl;
typedef struct OrtCustomOp OrtCustomOp;
typedef struct OrtEp OrtEp;
typedef struct OrtEpFactory OrtEpFactory;
typedef struct OrtKernelImpl OrtKernelImpl;
typedef struct OrtAllocator OrtAllocator;

typedef struct OrtApi {
  void *slots[1];
} OrtApi;
typedef struct OrtEpApi {
  void *slots[1];
} OrtEpApi;
typedef struct OrtApiBase {
  const OrtApi *(*GetApi)(uint32_t version);
  const char *(*GetVersionString)(void);
} OrtApiBase;

enum { ORT_OK = 0, ORT_FAIL = 1, ORT_INVALID_ARGUMENT = 2, ORT_RUNTIME_EXCEPTION = 6, ORT_NOT_IMPLEMENTED = 9 };
enum { ORT_LOG_VERBOSE = 0, ORT_LOG_INFO = 1, ORT_LOG_WARNING = 2 };
enum {
  ORT_ATTR_INT = 1,
  ORT_ATTR_INTS = 2,
  ORT_ATTR_FLOAT = 3,
  ORT_ATTR_FLOATS = 4,
  ORT_ATTR_STRING = 5,
  ORT_ATTR_STRINGS = 6
};
enum { ORT_TYPE_TENSOR = 1 };
enum { ORT_ARENA_ALLOCATOR = 1, ORT_MEM_TYPE_DEFAULT = 0 };
enum { ORT_HARDWARE_CPU = 0 };

/* slot, name, result, arguments. Since: 1 unless a comment says otherwise. */
#define ORT_API_SLOTS(F)                                                                                                     \
  F(0, CreateStatus, OrtStatus *, (int code, const char *text))                                                              \
  F(1, GetErrorCode, int, (const OrtStatus *status))                                                                         \
  F(2, GetErrorMessage, const char *, (const OrtStatus *status))                                                             \
  F(26, CreateCustomOpDomain, OrtStatus *, (const char *domain, OrtCustomOpDomain **out))                                    \
  F(27, CustomOpDomain_Add, OrtStatus *, (OrtCustomOpDomain * domain, const OrtCustomOp *op))                                \
  F(28, AddCustomOpDomain, OrtStatus *, (OrtSessionOptions * options, OrtCustomOpDomain * domain))                           \
  F(51, GetTensorMutableData, OrtStatus *, (OrtValue * value, void **out))                                                   \
  F(55, CastTypeInfoToTensorInfo, OrtStatus *, (const OrtTypeInfo *type, const OrtTensorTypeAndShapeInfo **out))             \
  F(57, CreateTensorTypeAndShapeInfo, OrtStatus *, (OrtTensorTypeAndShapeInfo * *out))                                       \
  F(58, SetTensorElementType, OrtStatus *, (OrtTensorTypeAndShapeInfo * info, int type))                                     \
  F(59, SetDimensions, OrtStatus *, (OrtTensorTypeAndShapeInfo * info, const int64_t *dims, size_t n))                       \
  F(60, GetTensorElementType, OrtStatus *, (const OrtTensorTypeAndShapeInfo *info, int *out))                                \
  F(61, GetDimensionsCount, OrtStatus *, (const OrtTensorTypeAndShapeInfo *info, size_t *out))                               \
  F(62, GetDimensions, OrtStatus *, (const OrtTensorTypeAndShapeInfo *info, int64_t *dims, size_t n))                        \
  F(63, GetSymbolicDimensions, OrtStatus *, (const OrtTensorTypeAndShapeInfo *info, const char **names, size_t n))           \
  F(65, GetTensorTypeAndShape, OrtStatus *, (const OrtValue *value, OrtTensorTypeAndShapeInfo **out))                        \
  F(69, CreateCpuMemoryInfo, OrtStatus *, (int allocator, int mem_type, OrtMemoryInfo **out))                                \
  F(78, GetAllocatorWithDefaultOptions, OrtStatus *, (OrtAllocator * *out))                                                  \
  F(85, KernelInfoGetAttribute_float, OrtStatus *, (const OrtKernelInfo *info, const char *name, float *out))                \
  F(86, KernelInfoGetAttribute_int64, OrtStatus *, (const OrtKernelInfo *info, const char *name, int64_t *out))              \
  F(87, KernelInfoGetAttribute_string, OrtStatus *, (const OrtKernelInfo *info, const char *name, char *out, size_t *n))     \
  F(88, KernelContext_GetInputCount, OrtStatus *, (const OrtKernelContext *context, size_t *out))                            \
  F(89, KernelContext_GetOutputCount, OrtStatus *, (const OrtKernelContext *context, size_t *out))                           \
  F(90, KernelContext_GetInput, OrtStatus *, (const OrtKernelContext *context, size_t i, const OrtValue **out))              \
  F(91, KernelContext_GetOutput, OrtStatus *,                                                                                \
    (OrtKernelContext * context, size_t i, const int64_t *dims, size_t rank, OrtValue **out))                                \
  F(93, ReleaseStatus, void, (OrtStatus * status))                                                                           \
  F(94, ReleaseMemoryInfo, void, (OrtMemoryInfo * info))                                                                     \
  F(98, ReleaseTypeInfo, void, (OrtTypeInfo * type))                                                                         \
  F(99, ReleaseTensorTypeAndShapeInfo, void, (OrtTensorTypeAndShapeInfo * info))                                             \
  F(130, AddSessionConfigEntry, OrtStatus *, (OrtSessionOptions * options, const char *key, const char *value)) /* 7 */      \
  F(132, ReleaseAllocator, void, (OrtAllocator * allocator))                                                    /* 5 */      \
  F(162, KernelInfoGetAttributeArray_float, OrtStatus *,                                                                     \
    (const OrtKernelInfo *info, const char *name, float *out, size_t *n)) /* 8 */                                            \
  F(163, KernelInfoGetAttributeArray_int64, OrtStatus *,                                                                     \
    (const OrtKernelInfo *info, const char *name, int64_t *out, size_t *n))                                 /* 8 */          \
  F(211, CreateOpAttr, OrtStatus *, (const char *name, const void *data, int n, int type, OrtOpAttr **out)) /* 12 */         \
  F(212, ReleaseOpAttr, void, (OrtOpAttr * attr))                                                           /* 12 */         \
  F(213, CreateOp, OrtStatus *,                                                                                              \
    (const OrtKernelInfo *info, const char *op, const char *domain, int version, const char **constraints, const int *types, \
     int n_constraints, const OrtOpAttr *const *attrs, int n_attrs, int n_in, int n_out, OrtOp **out)) /* 12 */              \
  F(214, InvokeOp, OrtStatus *,                                                                                              \
    (const OrtKernelContext *context, const OrtOp *op, const OrtValue *const *in, int n_in, OrtValue *const *out,            \
     int n_out))                                                                                             /* 12 */        \
  F(215, ReleaseOp, void, (OrtOp * op))                                                                      /* 12 */        \
  F(230, KernelInfo_GetInputCount, OrtStatus *, (const OrtKernelInfo *info, size_t *out))                    /* 14 */        \
  F(231, KernelInfo_GetOutputCount, OrtStatus *, (const OrtKernelInfo *info, size_t *out))                   /* 14 */        \
  F(233, KernelInfo_GetOutputName, OrtStatus *, (const OrtKernelInfo *info, size_t i, char *out, size_t *n)) /* 14 */        \
  F(234, KernelInfo_GetInputTypeInfo, OrtStatus *, (const OrtKernelInfo *info, size_t i, OrtTypeInfo **out)) /* 14 */        \
  F(237, HasSessionConfigEntry, OrtStatus *, (const OrtSessionOptions *options, const char *key, int *out))  /* 14 */        \
  F(238, GetSessionConfigEntry, OrtStatus *,                                                                                 \
    (const OrtSessionOptions *options, const char *key, char *out, size_t *n))                   /* 14 */                    \
  F(244, KernelInfo_GetNodeName, OrtStatus *, (const OrtKernelInfo *info, char *out, size_t *n)) /* 15 */                    \
  F(245, KernelInfo_GetLogger, OrtStatus *, (const OrtKernelInfo *info, const OrtLogger **out))  /* 15 */                    \
  F(247, Logger_LogMessage, OrtStatus *,                                                                                     \
    (const OrtLogger *logger, int level, const char *text, const char *file, int line, const char *function)) /* 15 */       \
  F(248, Logger_GetLoggingSeverityLevel, OrtStatus *, (const OrtLogger *logger, int *out))                    /* 15 */       \
  F(249, KernelInfoGetConstantInput_tensor, OrtStatus *,                                                                     \
    (const OrtKernelInfo *info, size_t i, int *is_constant, const OrtValue **out)) /* 15 */                                  \
  F(253, KernelContext_GetAllocator, OrtStatus *,                                                                            \
    (const OrtKernelContext *context, const OrtMemoryInfo *info, OrtAllocator **out))                      /* 15 */          \
  F(267, ShapeInferContext_GetInputCount, OrtStatus *, (const OrtShapeInferContext *context, size_t *out)) /* 17 */          \
  F(268, ShapeInferContext_GetInputTypeShape, OrtStatus *,                                                                   \
    (const OrtShapeInferContext *context, size_t i, OrtTensorTypeAndShapeInfo **out)) /* 17 */                               \
  F(269, ShapeInferContext_GetAttribute, OrtStatus *,                                                                        \
    (const OrtShapeInferContext *context, const char *name, const OrtOpAttr **out)) /* 17 */                                 \
  F(270, ShapeInferContext_SetOutputTypeShape, OrtStatus *,                                                                  \
    (const OrtShapeInferContext *context, size_t i, const OrtTensorTypeAndShapeInfo *info))                     /* 17 */     \
  F(271, SetSymbolicDimensions, OrtStatus *, (OrtTensorTypeAndShapeInfo * info, const char *names[], size_t n)) /* 17 */     \
  F(272, ReadOpAttr, OrtStatus *, (const OrtOpAttr *attr, int type, void *data, size_t size, size_t *out))      /* 17 */     \
  F(274, KernelContext_ParallelFor, OrtStatus *,                                                                             \
    (const OrtKernelContext *context, void (*fn)(void *user, size_t i), size_t total, size_t batches, void *user)) /* 17 */  \
  F(290, GetValueInfoTypeInfo, OrtStatus *, (const OrtValueInfo *value, const OrtTypeInfo **out))                  /* 22 */  \
  F(289, GetValueInfoName, OrtStatus *, (const OrtValueInfo *value, const char **out))                             /* 22 */  \
  F(298, GetKeyValuePairs, void,                                                                                             \
    (const OrtKeyValuePairs *pairs, const char *const **keys, const char *const **values, size_t *n))             /* 22 */   \
  F(300, ReleaseKeyValuePairs, void, (OrtKeyValuePairs * pairs))                                                  /* 22 */   \
  F(307, HardwareDevice_Type, int, (const OrtHardwareDevice *device))                                             /* 22 */   \
  F(317, GetEpApi, const OrtEpApi *, (void))                                                                      /* 22 */   \
  F(326, ValueInfo_GetInitializerValue, OrtStatus *, (const OrtValueInfo *value, const OrtValue **out))           /* 23 */   \
  F(331, ValueInfo_IsConstantInitializer, OrtStatus *, (const OrtValueInfo *value, bool *out))                    /* 23 */   \
  F(344, Graph_GetNumNodes, OrtStatus *, (const OrtGraph *graph, size_t *out))                                    /* 23 */   \
  F(345, Graph_GetNodes, OrtStatus *, (const OrtGraph *graph, const OrtNode **out, size_t n))                     /* 23 */   \
  F(349, Node_GetName, OrtStatus *, (const OrtNode *node, const char **out))                                      /* 23 */   \
  F(350, Node_GetOperatorType, OrtStatus *, (const OrtNode *node, const char **out))                              /* 23 */   \
  F(352, Node_GetSinceVersion, OrtStatus *, (const OrtNode *node, int *out))                                      /* 23 */   \
  F(353, Node_GetNumInputs, OrtStatus *, (const OrtNode *node, size_t *out))                                      /* 23 */   \
  F(354, Node_GetInputs, OrtStatus *, (const OrtNode *node, const OrtValueInfo **out, size_t n))                  /* 23 */   \
  F(355, Node_GetNumOutputs, OrtStatus *, (const OrtNode *node, size_t *out))                                     /* 23 */   \
  F(356, Node_GetOutputs, OrtStatus *, (const OrtNode *node, const OrtValueInfo **out, size_t n))                 /* 23 */   \
  F(361, Node_GetAttributeByName, OrtStatus *, (const OrtNode *node, const char *name, const OrtOpAttr **out))    /* 23 */   \
  F(363, OpAttr_GetType, OrtStatus *, (const OrtOpAttr *attr, int *out))                                          /* 23 */   \
  F(379, GetSessionOptionsConfigEntries, OrtStatus *, (const OrtSessionOptions *options, OrtKeyValuePairs **out)) /* 23 */   \
  F(391, KernelInfo_GetConfigEntries, OrtStatus *, (const OrtKernelInfo *info, OrtKeyValuePairs **out))           /* 24 */   \
  F(394, KernelInfo_GetOperatorSinceVersion, OrtStatus *, (const OrtKernelInfo *info, int *out))                  /* 24 */   \
  F(414, GetTensorElementTypeAndShapeDataReference, OrtStatus *,                                                             \
    (const OrtValue *value, int *type, const int64_t **dims, size_t *rank)) /* 24 */                                         \
  F(417, KernelInfoGetAttributeArray_string, OrtStatus *,                                                                    \
    (const OrtKernelInfo *info, const char *name, OrtAllocator *allocator, char ***out, size_t *n)) /* 25 */

#define ORT_EP_API_SLOTS(F)                                                                                  \
  F(0, CreateEpDevice, OrtStatus *,                                                                          \
    (OrtEpFactory * factory, const OrtHardwareDevice *device, const OrtKeyValuePairs *metadata,              \
     const OrtKeyValuePairs *options, OrtEpDevice **out))                                                    \
  F(3, EpGraphSupportInfo_AddSingleNode, OrtStatus *, (OrtEpGraphSupportInfo * info, const OrtNode *node))   \
  F(18, CreateKernelRegistry, OrtStatus *, (OrtKernelRegistry * *out))                                       \
  F(19, ReleaseKernelRegistry, void, (OrtKernelRegistry * registry))                                         \
  F(20, KernelRegistry_AddKernel, OrtStatus *,                                                               \
    (OrtKernelRegistry * registry, const OrtKernelDef *def,                                                  \
     OrtStatus *(*create)(void *state, const OrtKernelInfo *info, OrtKernelImpl **out), void *state))        \
  F(21, CreateKernelDefBuilder, OrtStatus *, (OrtKernelDefBuilder * *out))                                   \
  F(22, ReleaseKernelDefBuilder, void, (OrtKernelDefBuilder * builder))                                      \
  F(23, KernelDefBuilder_SetOperatorType, OrtStatus *, (OrtKernelDefBuilder * builder, const char *op))      \
  F(24, KernelDefBuilder_SetDomain, OrtStatus *, (OrtKernelDefBuilder * builder, const char *domain))        \
  F(25, KernelDefBuilder_SetSinceVersion, OrtStatus *, (OrtKernelDefBuilder * builder, int first, int last)) \
  F(26, KernelDefBuilder_SetExecutionProvider, OrtStatus *, (OrtKernelDefBuilder * builder, const char *ep)) \
  F(29, KernelDefBuilder_AddTypeConstraint, OrtStatus *,                                                     \
    (OrtKernelDefBuilder * builder, const char *name, const OrtDataType *const *types, size_t n))            \
  F(31, KernelDefBuilder_AddInputOutputMutableAliases, OrtStatus *,                                          \
    (OrtKernelDefBuilder * builder, const int *in, const int *out, size_t n))                                \
  F(32, KernelDefBuilder_Build, OrtStatus *, (OrtKernelDefBuilder * builder, OrtKernelDef * *out))           \
  F(33, ReleaseKernelDef, void, (OrtKernelDef * def))                                                        \
  F(40, GetTensorDataType, OrtStatus *, (int type, const OrtDataType **out))                                 \
  F(41, EpGraphSupportInfo_LookUpKernel, OrtStatus *,                                                        \
    (OrtEpGraphSupportInfo * info, const OrtNode *node, const OrtKernelDef **out))                           \
  F(42, SharedPrePackedWeightCache_StoreWeightData, OrtStatus *,                                             \
    (OrtSharedPrePackedWeightCache * cache, void **data, size_t *sizes, size_t n))                           \
  F(43, KernelInfo_GetEp, OrtStatus *, (const OrtKernelInfo *info, const OrtEp **out))

#define ORT_DECLARE(slot, name, result, arguments) \
  typedef result(*OrtFn_##name) arguments;         \
  enum { ORT_SLOT_##name = slot };
ORT_API_SLOTS(ORT_DECLARE)
ORT_EP_API_SLOTS(ORT_DECLARE)
#define ORT(api, name) ((OrtFn_##name)(api)->slots[ORT_SLOT_##name])
#define EP(ep_api, name) ORT(ep_api, name)

/* Structs that this library fills in for ONNX Runtime, in field order; unused callbacks stay NULL. */
struct OrtCustomOp { /* fields as of version 17 */
  uint32_t version;
  void *(*CreateKernel)(const OrtCustomOp *, const OrtApi *, const OrtKernelInfo *);
  const char *(*GetName)(const OrtCustomOp *);
  const char *(*GetExecutionProviderType)(const OrtCustomOp *);
  int (*GetInputType)(const OrtCustomOp *, size_t);
  size_t (*GetInputTypeCount)(const OrtCustomOp *);
  int (*GetOutputType)(const OrtCustomOp *, size_t);
  size_t (*GetOutputTypeCount)(const OrtCustomOp *);
  void (*KernelCompute)(void *, OrtKernelContext *);
  void (*KernelDestroy)(void *);
  int (*GetInputCharacteristic)(const OrtCustomOp *, size_t); /* 0 required, 1 optional, 2 variadic */
  int (*GetOutputCharacteristic)(const OrtCustomOp *, size_t);
  int (*GetInputMemoryType)(const OrtCustomOp *, size_t);
  int (*GetVariadicInputMinArity)(const OrtCustomOp *);
  int (*GetVariadicInputHomogeneity)(const OrtCustomOp *);
  int (*GetVariadicOutputMinArity)(const OrtCustomOp *);
  int (*GetVariadicOutputHomogeneity)(const OrtCustomOp *);
  OrtStatus *(*CreateKernelV2)(const OrtCustomOp *, const OrtApi *, const OrtKernelInfo *, void **);
  OrtStatus *(*KernelComputeV2)(void *, OrtKernelContext *);
  OrtStatus *(*InferOutputShapeFn)(const OrtCustomOp *, OrtShapeInferContext *);
  int (*GetStartVersion)(const OrtCustomOp *);
  int (*GetEndVersion)(const OrtCustomOp *);
};

struct OrtAllocator {
  uint32_t version;
  void *(*Alloc)(OrtAllocator *, size_t);
  void (*Free)(OrtAllocator *, void *);
  const OrtMemoryInfo *(*Info)(const OrtAllocator *);
};

struct OrtKernelImpl { /* API 24 */
  uint32_t ort_version_supported;
  uint32_t flags;
  OrtStatus *(*Compute)(OrtKernelImpl *, OrtKernelContext *);
  void (*Release)(OrtKernelImpl *);
  OrtStatus *(*PrePackWeight)(OrtKernelImpl *, const OrtValue *, int input, OrtAllocator *, OrtSharedPrePackedWeightCache *,
                              bool *is_packed);
  OrtStatus *(*SetSharedPrePackedWeight)(OrtKernelImpl *, const void *const *data, const size_t *sizes, size_t n, int input);
};

struct OrtEp { /* API 24 */
  uint32_t ort_version_supported;
  const char *(*GetName)(const OrtEp *);
  OrtStatus *(*GetCapability)(OrtEp *, const OrtGraph *, OrtEpGraphSupportInfo *);
  void *Compile, *ReleaseNodeComputeInfos, *GetPreferredDataLayout, *ShouldConvertDataLayoutForOp, *SetDynamicOptions;
  OrtStatus *(*OnRunStart)(OrtEp *, const OrtRunOptions *);
  void *OnRunEnd, *CreateAllocator, *CreateSyncStreamForDevice, *GetCompiledModelCompatibilityInfo;
  OrtStatus *(*GetKernelRegistry)(OrtEp *, const OrtKernelRegistry **);
  OrtStatus *(*IsConcurrentRunSupported)(OrtEp *, bool *);
};

struct OrtEpFactory { /* API 24 */
  uint32_t ort_version_supported;
  const char *(*GetName)(const OrtEpFactory *);
  const char *(*GetVendor)(const OrtEpFactory *);
  OrtStatus *(*GetSupportedDevices)(OrtEpFactory *, const OrtHardwareDevice *const *, size_t n, OrtEpDevice **, size_t most,
                                    size_t *n_out);
  OrtStatus *(*CreateEp)(OrtEpFactory *, const OrtHardwareDevice *const *, const OrtKeyValuePairs *const *, size_t n,
                         const OrtSessionOptions *, const OrtLogger *, OrtEp **);
  void (*ReleaseEp)(OrtEpFactory *, OrtEp *);
  uint32_t (*GetVendorId)(const OrtEpFactory *);
  const char *(*GetVersion)(const OrtEpFactory *);
  void *ValidateCompiledModelCompatibilityInfo, *CreateAllocator, *ReleaseAllocator;
  OrtStatus *(*CreateDataTransfer)(OrtEpFactory *, OrtDataTransferImpl **);
  bool (*IsStreamAware)(const OrtEpFactory *);
  void *CreateSyncStreamForDevice, *GetHardwareDeviceIncompatibilityDetails, *CreateExternalResourceImporterForDevice,
      *GetNumCustomOpDomains, *GetCustomOpDomains;
};

#endif
