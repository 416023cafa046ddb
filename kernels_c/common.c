/* Errors, sizes, scratch slots and the calls that every op and plan shares. */
#include "exact_impl.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "fpenv.h"

int exact_fail(exact_error *err, int code, const char *format, ...) {
  if (err) {
    va_list args;
    va_start(args, format);
    err->code = code;
    vsnprintf(err->reason, sizeof err->reason, format, args);
    va_end(args);
  }
  return code;
}

void *exact_new(size_t size, exact_error *err) {
  void *p = calloc(1, size);
  if (!p) exact_fail(err, EXACT_NO_MEMORY, "out of memory (%zu bytes)", size);
  return p;
}

void *exact_op_new(size_t size, const exact_op_class *cls, int dtype, int mode, exact_error *err) {
  const exact_isa *isa = exact_isa_table(err);
  exact_op *op = isa ? exact_new(size, err) : NULL;
  if (op) *op = (exact_op){cls, isa, dtype, mode};
  return op;
}

bool exact_part(size_t *total, size_t count, size_t size, size_t *offset) {
  size_t bytes;
  *offset = *total;
  if (!exact_mul(count, size, &bytes) || bytes > EXACT_MOST_BYTES) return false;
  *total += exact_align(bytes);
  return *total <= EXACT_MOST_BYTES;
}

size_t exact_dtype_size(int dtype) {
  switch (dtype) {
    case EXACT_UINT8:
    case EXACT_INT8:
    case EXACT_BOOL: return 1;
    case EXACT_UINT16:
    case EXACT_INT16:
    case EXACT_FLOAT16:
    case EXACT_BFLOAT16: return 2;
    case EXACT_FLOAT32:
    case EXACT_INT32:
    case EXACT_UINT32: return 4;
    case EXACT_FLOAT64:
    case EXACT_INT64:
    case EXACT_UINT64: return 8;
    default: return 0;
  }
}

float exact_to_float(double v) {
  volatile double wide = v; /* volatile: the conversion stays between enter and leave */
  volatile float narrow;
  exact_fpenv saved = exact_fpenv_enter();
  narrow = (float)wide;
  exact_fpenv_leave(saved);
  return narrow;
}

const char *exact_dtype_name(int dtype) {
  static const char *const names[] = {"absent", "float32", "uint8",     "int8",       "uint16",  "int16",
                                      "int32",  "int64",   "string",    "bool",       "float16", "float64",
                                      "uint32", "uint64",  "complex64", "complex128", "bfloat16"};
  return dtype >= 0 && dtype <= EXACT_BFLOAT16 ? names[dtype] : "unknown type";
}

bool exact_is_float(int dtype) {
  return dtype == EXACT_FLOAT32 || dtype == EXACT_FLOAT64 || dtype == EXACT_FLOAT16 || dtype == EXACT_BFLOAT16;
}

const char *exact_shape_text(const exact_tensor *t, char text[96]) {
  size_t used = 0;
  text[0] = '\0';
  if (t->rank == 0) return strcpy(text, "scalar");
  for (int i = 0; i < t->rank && used < 90; i++)
    used += (size_t)snprintf(text + used, 96 - used, i ? "x%lld" : "%lld", (long long)t->dims[i]);
  return text;
}

int exact_count(const exact_tensor *t, const char *what, size_t *count, exact_error *err) {
  size_t n = 1;
  bool empty = false;
  char text[96];
  for (int i = 0; i < t->rank; i++) {
    if (t->dims[i] < 0)
      return exact_fail(err, EXACT_INVALID, "%s has the negative dimension %lld", what, (long long)t->dims[i]);
    if (t->dims[i] == 0) empty = true;
  }
  for (int i = 0; i < t->rank && !empty; i++)
    if ((uint64_t)t->dims[i] > EXACT_MOST_BYTES || !exact_mul(n, (size_t)t->dims[i], &n) ||
        n > EXACT_MOST_BYTES / exact_dtype_size(t->dtype))
      return exact_fail(err, EXACT_INVALID, "%s of shape %s is too large", what, exact_shape_text(t, text));
  *count = empty ? 0 : n;
  return EXACT_OK;
}

/* ---- scratch slots ---- */
void exact_slots_init(exact_slots *s, void *base, size_t stride, int count) {
  atomic_init(&s->busy, 0);
  s->base = base;
  s->stride = stride;
  s->count = count;
}

void *exact_slot_take(exact_slots *s) {
  uint64_t mine = s->count == 64 ? ~(uint64_t)0 : ((uint64_t)1 << s->count) - 1;
  for (;;) {
    uint64_t busy = atomic_load_explicit(&s->busy, memory_order_relaxed), open = ~busy & mine;
    if (!open) {
      sched_yield();
      continue;
    }
    int slot = __builtin_ctzll(open);
    if (atomic_compare_exchange_weak_explicit(&s->busy, &busy, busy | (uint64_t)1 << slot, memory_order_acquire,
                                              memory_order_relaxed))
      return s->base + (size_t)slot * s->stride;
  }
}

void exact_slot_give(exact_slots *s, void *area) {
  size_t slot = (size_t)((char *)area - s->base) / (s->stride ? s->stride : 1);
  atomic_fetch_and_explicit(&s->busy, ~((uint64_t)1 << slot), memory_order_release);
}

/* ---- parallel runs ---- */
typedef struct guarded {
  exact_task task;
  void *arg;
} guarded;

static void run_guarded(void *arg, size_t i) {
  const guarded *g = arg;
  exact_fpenv saved = exact_fpenv_enter();
  g->task(g->arg, i);
  exact_fpenv_leave(saved);
}

void exact_parallel(const exact_threads *threads, size_t count, exact_task task, void *arg) {
  guarded g = {task, arg};
  if (threads && count > 1)
    threads->run(threads->host, count, run_guarded, &g);
  else
    for (size_t i = 0; i < count; i++) run_guarded(&g, i);
}

/* ---- ops and plans ---- */
static int check_inputs(const exact_op *op, int n, const exact_tensor *in, exact_error *err) {
  const exact_op_class *c = op->cls;
  if (n < c->min_inputs || n > c->max_inputs)
    return exact_fail(err, EXACT_INVALID, "%d inputs, expected %d to %d", n, c->min_inputs, c->max_inputs);
  for (int i = 0; i < n; i++) {
    if (in[i].dtype == EXACT_ABSENT) continue;
    if (!exact_dtype_size(in[i].dtype))
      return exact_fail(err, EXACT_UNSUPPORTED, "input %d has the element type %s", i, exact_dtype_name(in[i].dtype));
    if (in[i].rank < 0 || in[i].rank > EXACT_MAX_RANK)
      return exact_fail(err, EXACT_UNSUPPORTED, "input %d has rank %d, at most %d is supported", i, in[i].rank, EXACT_MAX_RANK);
    for (int k = 0; k < in[i].rank; k++)
      if (in[i].dims[k] > (int64_t)EXACT_MOST_BYTES) { /* also where another dimension is 0 */
        char text[96];
        return exact_fail(err, EXACT_INVALID, "input %d of shape %s is too large", i, exact_shape_text(&in[i], text));
      }
  }
  return EXACT_OK;
}

void exact_op_free(exact_op *op) {
  if (op) op->cls->free(op);
}

int exact_op_outputs(const exact_op *op) { return op->cls->outputs; }

unsigned exact_op_value_inputs(const exact_op *op) { return op->cls->value_inputs; }

int exact_op_infer(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  int rc = check_inputs(op, n, in, err);
  if (rc) return rc;
  exact_fpenv saved = exact_fpenv_enter();
  rc = op->cls->infer(op, n, in, out, err);
  exact_fpenv_leave(saved);
  return rc;
}

void exact_op_hint(exact_op *op, int n, const exact_tensor *in) {
  if (op->cls->hint && !check_inputs(op, n, in, NULL)) op->cls->hint(op, n, in);
}

size_t exact_op_packed_size(const exact_op *op, int input, const exact_tensor *t) {
  return op->cls->packed_size ? op->cls->packed_size(op, input, t) : 0;
}

int exact_op_pack(const exact_op *op, int input, const exact_tensor *t, void *packed, exact_error *err) {
  exact_fpenv saved = exact_fpenv_enter();
  int rc = op->cls->pack(op, input, t, packed, err);
  exact_fpenv_leave(saved);
  return rc;
}

void exact_op_set_packed(exact_op *op, int input, const exact_tensor *t, const void *packed) {
  op->cls->set_packed(op, input, t, packed);
}

int exact_op_plan(const exact_op *op, int n, const exact_tensor *in, exact_plan **plan, exact_error *err) {
  size_t count;
  int rc = check_inputs(op, n, in, err);
  for (int i = 0; i < n && !rc; i++)
    if (in[i].dtype != EXACT_ABSENT) {
      char what[24];
      snprintf(what, sizeof what, "input %d", i);
      rc = exact_count(&in[i], what, &count, err);
    }
  if (rc) return rc;
  exact_fpenv saved = exact_fpenv_enter();
  rc = op->cls->plan(op, n, in, plan, err);
  exact_fpenv_leave(saved);
  return rc;
}

void exact_plan_free(exact_plan *plan) { free(plan); }
const exact_tensor *exact_plan_output(const exact_plan *plan, int output) { return &plan->out[output]; }
size_t exact_plan_workspace(const exact_plan *plan) { return plan->workspace; }

void exact_plan_run(const exact_plan *plan, const void *const *in, void *const *out, void *work, const exact_threads *threads) {
  exact_call call = {plan, in, out, work, threads};
  plan->run(&call);
}
