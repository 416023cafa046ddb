#ifndef EXACT_KERNEL_H
#define EXACT_KERNEL_H
/* A node's kernel at run time, the same for both faces: the op, its packed constants and the plans of the last shapes. */
#include <pthread.h>

#include "ops.h"

enum { KERNEL_PLANS = 8, KERNEL_VALUE = 256 };

typedef struct cached_plan {
  exact_plan *plan;
  int users; /* runs in progress */
  uint64_t used;
  int n;
  char (*value)[KERNEL_VALUE]; /* of each input the data that the plan depends on; behind in[n], if there is any */
  exact_tensor in[];
} cached_plan;

typedef struct kernel {
  const OrtApi *api;
  int minor; /* API version of the host */
  const op_row *row;
  char name[512]; /* of the node; a longer one is cut */
  exact_op *op;
  OrtMemoryInfo *memory;
  void *packed[EXACT_MOST_IO]; /* owned */
  bool is_packed[EXACT_MOST_IO];
  exact_tensor packed_shape[EXACT_MOST_IO];
  pthread_mutex_t lock; /* of plans and clock */
  cached_plan *plans[KERNEL_PLANS];
  uint64_t clock;
} kernel;

/* NULL status and *out NULL: the node is one that the library leaves to ONNX Runtime. */
OrtStatus *kernel_new(const OrtApi *api, int minor, const op_row *row, const OrtKernelInfo *info, int mode, kernel **out);
/* Packs every constant input into memory of the kernel's own. */
OrtStatus *kernel_pack_constants(kernel *k, const OrtKernelInfo *info);
/* Packs one constant input into `packed` of exact_op_packed_size bytes; kernel_use_packed then makes runs read it. */
OrtStatus *kernel_pack(kernel *k, int input, const exact_tensor *t, void *packed);
void kernel_use_packed(kernel *k, int input, const void *packed);
OrtStatus *kernel_compute(kernel *k, OrtKernelContext *context);
void kernel_free(kernel *k);

#endif
