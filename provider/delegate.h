#ifndef EXACT_DELEGATE_H
#define EXACT_DELEGATE_H
/* In the custom-op library a node that we do not serve still reaches us, since the declaration covers the whole operator:
 * it is handed to ONNX Runtime's own kernel. */
#include "ops.h"

typedef struct delegate delegate;
OrtStatus *delegate_new(const OrtApi *api, int minor, const op_row *row, int dtype, const OrtKernelInfo *info, delegate **out);
OrtStatus *delegate_compute(delegate *d, OrtKernelContext *context);
void delegate_free(delegate *d);

#endif
