/* Chooses the instruction-set table: the best that the CPU runs, or the one that EXACT_ISA or exact_isa_select names.
 * EXACT_ISA naming a variant that cannot run here makes every op creation fail: never another variant in silence. */
#include "exact_impl.h"

#include <pthread.h>
#include <stdlib.h>

extern const exact_isa exact_table_base;
#if defined(__x86_64__)
extern const exact_isa exact_table_avx2, exact_table_avx512;
extern const struct exact_integer_kernels exact_integer_avx512vnni;
static exact_isa avx512vnni; /* avx512 but for the products of 8-bit integers */
#endif

enum { VARIANTS = 4 };
static const exact_isa *runnable[VARIANTS + 1]; /* best last, NULL after */
static _Atomic(const exact_isa *) chosen;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const exact_isa *named(const char *name) {
  for (int i = 0; runnable[i]; i++)
    if (!strcmp(runnable[i]->name, name)) return runnable[i];
  return NULL;
}

static void look(void) {
  int n = 0;
  runnable[n++] = &exact_table_base;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    runnable[n++] = &exact_table_avx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
      runnable[n++] = &exact_table_avx512;
    if (n == VARIANTS - 1 && __builtin_cpu_supports("avx512vnni")) {
      avx512vnni = exact_table_avx512;
      avx512vnni.name = "avx512vnni";
      avx512vnni.integer = &exact_integer_avx512vnni;
      runnable[n++] = &avx512vnni;
    }
  }
#endif
  const char *wanted = getenv("EXACT_ISA");
  atomic_store(&chosen, wanted && *wanted ? named(wanted) : runnable[n - 1]);
}

const char *exact_isa_name(int i) {
  pthread_once(&once, look);
  return i >= 0 && i < VARIANTS && runnable[i] ? runnable[i]->name : NULL;
}

static int unknown(const char *name, exact_error *err) {
  return exact_fail(err, EXACT_INVALID, "this CPU or build has no instruction-set variant '%s'", name);
}

const exact_isa *exact_isa_table(exact_error *err) {
  pthread_once(&once, look);
  const exact_isa *isa = atomic_load(&chosen);
  if (!isa) unknown(getenv("EXACT_ISA"), err);
  return isa;
}

const char *exact_isa_current(void) {
  const exact_isa *isa = exact_isa_table(NULL);
  return isa ? isa->name : NULL;
}

int exact_isa_select(const char *name, exact_error *err) {
  pthread_once(&once, look);
  const exact_isa *isa = named(name);
  if (!isa) return unknown(name, err);
  atomic_store(&chosen, isa);
  return EXACT_OK;
}
