/* exact_plan_run_threads: a parallel run on threads that live as long as the call. */
#include "exact_impl.h"

#include <pthread.h>

typedef struct job {
  _Atomic size_t next;
  size_t count;
  exact_task task;
  void *arg;
} job;

static void *work(void *arg) {
  job *j = arg;
  for (size_t i; (i = atomic_fetch_add(&j->next, 1)) < j->count;) j->task(j->arg, i);
  return NULL;
}

static void run(void *host, size_t count, exact_task task, void *arg) {
  enum { MOST = 256 };
  pthread_t threads[MOST];
  size_t wanted = *(const size_t *)host, started = 0;
  job j = {0, count, task, arg};
  if (wanted > MOST) wanted = MOST;
  if (wanted > count) wanted = count;
  while (started + 1 < wanted && pthread_create(&threads[started], NULL, work, &j) == 0) started++;
  work(&j);
  while (started > 0) pthread_join(threads[--started], NULL);
}

void exact_plan_run_threads(const exact_plan *plan, const void *const *in, void *const *out, void *workspace, int threads) {
  size_t wanted = threads > 1 ? (size_t)threads : 1;
  exact_threads pool = {run, &wanted};
  exact_plan_run(plan, in, out, workspace, wanted > 1 ? &pool : NULL);
}
