#ifndef EXACT_VERSION_H
#define EXACT_VERSION_H
/* API version of a host ("1.31.1" -> 31; 0 when it is not onnxruntime 1.x), and the version of this library. */
#include <stdio.h>

#include "ort_abi.h"

#ifndef EXACT_VERSION
#define EXACT_VERSION "0.0.0"
#endif

static inline int host_minor(const OrtApiBase *base) {
  int major = 0, minor = 0;
  return sscanf(base->GetVersionString(), "%d.%d", &major, &minor) == 2 && major == 1 ? minor : 0;
}
#endif
