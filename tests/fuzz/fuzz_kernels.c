/* libFuzzer target: an op, its input shapes and data from the fuzzer's bytes, through inference, packing, plan and run.
 * Every buffer has exactly the size that was agreed on, so that AddressSanitizer sees an access outside. Outputs must have
 * the same bits on every instruction-set variant and on one and three threads. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "ops.h"

enum { MOST_INPUTS = 5, MOST_OUTPUTS = 3, MOST_RANK = EXACT_MAX_RANK };
enum { MOST_ELEMENTS = 6000, MOST_WORKSPACE = 64 << 20 };

static void *aligned(size_t size) {
  void *block;
  if (posix_memalign(&block, 64, size ? size : 1)) abort();
  return block;
}

static size_t bytes_of(const exact_tensor *t) {
  size_t n = 1;
  for (int i = 0; i < t->rank; i++) {
    if (t->dims[i] < 0 || __builtin_mul_overflow(n, (size_t)t->dims[i], &n)) return SIZE_MAX;
    if (n > MOST_ELEMENTS) return SIZE_MAX;
  }
  return n * exact_dtype_size(t->dtype);
}

static uint64_t next(uint64_t *state) { return *state = *state * 6364136223846793005u + 1442695040888963407u; }

/* Random bit patterns for floats, every third a special one; small numbers for what an op may read as axes or indices. */
static void fill(void *data, const exact_tensor *t, size_t bytes, uint64_t *state) {
  size_t size = exact_dtype_size(t->dtype);
  for (size_t i = 0; i < bytes; i += size) {
    uint64_t r = next(state) >> 11, v = r;
    double real = (double)(int64_t)(r % 4001) / 1000 - 2;
    float single = (float)real;
    uint32_t word;
    memcpy(&word, &single, 4);
    int special = (int)(next(state) >> 40) % 16;
    switch (t->dtype) {
      case EXACT_FLOAT32: v = special == 0 ? r : special == 1 ? 0x7F800000u | (r & 0x80000000u) : word; break;
      case EXACT_FLOAT64: memcpy(&v, &real, 8), v = special == 0 ? next(state) : v; break;
      case EXACT_FLOAT16: v = special == 0 ? r : 0x3000 | (r & 0x8FFF); break;
      case EXACT_BFLOAT16: v = special == 0 ? r : word >> 16; break;
      case EXACT_BOOL: v = r & 1; break;
      default: v = special == 0 ? r : (uint64_t)((int64_t)(r % 12) - 3);
    }
    memcpy((char *)data + i, &v, size);
  }
}

typedef struct bytes_copy {
  void *data[MOST_OUTPUTS];
} bytes_copy;

static void run(const exact_plan *plan, int outputs, const void *const *in, int threads, bytes_copy *out, const size_t *sizes) {
  void *work = aligned(exact_plan_workspace(plan));
  for (int o = 0; o < outputs; o++) {
    out->data[o] = malloc(sizes[o] ? sizes[o] : 1);
    memset(out->data[o], 0xA5, sizes[o]);
  }
  exact_plan_run_threads(plan, in, out->data, work, threads);
  free(work);
}

static void compare(bytes_copy *a, bytes_copy *b, int outputs, const size_t *sizes, const char *what) {
  for (int o = 0; o < outputs; o++) {
    if (memcmp(a->data[o], b->data[o], sizes[o])) {
      fprintf(stderr, "output %d differs: %s\n", o, what);
      abort();
    }
    free(b->data[o]);
  }
}

static exact_op *same_op(const uint8_t *data, size_t size, const char *isa) {
  exact_error err;
  stream s = {data, data + size};
  if (exact_isa_select(isa, &err)) abort();
  return draw_op(&s).op;
}

static exact_plan *planned(exact_op *op, int n, const exact_tensor *in, exact_error *err) {
  exact_plan *plan = NULL;
  if (exact_op_plan(op, n, in, &plan, err)) {
    if (!*err->reason) abort(); /* an error has a reason */
    return NULL;
  }
  return plan;
}

/* Packs input 1 as a constant; the block to free, or NULL. */
static void *pack(exact_op *op, const exact_tensor *t, exact_error *err) {
  size_t size = exact_op_packed_size(op, 1, t);
  if (!size || size > MOST_WORKSPACE || !t->data) return NULL;
  void *packed = aligned(size);
  if (exact_op_pack(op, 1, t, packed, err)) {
    free(packed);
    return NULL;
  }
  exact_op_set_packed(op, 1, t, packed);
  return packed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  exact_tensor in[MOST_INPUTS] = {0}, unknown[MOST_INPUTS], out[MOST_OUTPUTS];
  const void *pointers[MOST_INPUTS] = {0};
  void *blocks[MOST_INPUTS] = {0}, *packed = NULL;
  exact_error err = {0};
  stream s = {data, data + size};
  const char *best = NULL;
  for (int i = 0; exact_isa_name(i); i++) best = exact_isa_name(i);
  if (exact_isa_select(best, &err)) abort();
  drawn d = draw_op(&s);
  if (!d.op) return 0;
  int outputs = exact_op_outputs(d.op), n = d.n_inputs - (int)(byte(&s) % 2);
  uint64_t state = (uint64_t)raw(&s);
  unsigned shape_form = byte(&s);
  bool fits = true, readable = true; /* all data is there; and what a plan reads of it */
  for (int i = 0; i < n; i++) {
    static const int types[] = {EXACT_FLOAT32, EXACT_FLOAT64, EXACT_FLOAT16, EXACT_BFLOAT16, EXACT_INT64, EXACT_INT32, EXACT_UINT8, EXACT_ABSENT};
    exact_tensor *t = &in[i];
    unsigned form = byte(&s);
    if (i && form % 9 == 8) continue; /* absent */
    t->dtype = i == 0 || form % 3 ? in[0].dtype : types[form / 3 % 8];
    if (i == 0) t->dtype = (int)byte(&s) % 17;
    t->rank = (int)(byte(&s) % (shape_form % 8 == 7 ? MOST_RANK + 3 : 6));
    if (t->rank > MOST_RANK) t->rank = MOST_RANK;
    for (int k = 0; k < t->rank; k++) t->dims[k] = i && shape_form % 2 && k < in[0].rank && byte(&s) % 2 ? in[0].dims[k] : dimension(&s);
    size_t bytes = t->dtype ? bytes_of(t) : SIZE_MAX;
    if (bytes == SIZE_MAX || !exact_dtype_size(t->dtype)) {
      fits = fits && !t->dtype;
      readable = readable && !(t->dtype && exact_op_value_inputs(d.op) >> i & 1);
      continue;
    }
    blocks[i] = malloc(bytes ? bytes : 1);
    fill(blocks[i], t, bytes, &state);
    pointers[i] = t->data = blocks[i];
  }
  memcpy(unknown, in, sizeof in);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < unknown[i].rank; k++)
      if (byte(&s) % 3 == 0) unknown[i].dims[k] = -1;
  for (int i = 0; i < n; i++) unknown[i].data = NULL;
  exact_op_infer(d.op, n, unknown, out, &err);
  exact_op_hint(d.op, n, unknown);
  memset(&err, 0, sizeof err);
  exact_plan *plan = readable ? planned(d.op, n, in, &err) : NULL;
  if (plan) {
    size_t sizes[MOST_OUTPUTS];
    for (int o = 0; o < outputs; o++) {
      sizes[o] = bytes_of(exact_plan_output(plan, o));
      fits = fits && sizes[o] != SIZE_MAX;
    }
    if (fits && exact_plan_workspace(plan) <= MOST_WORKSPACE) {
      bytes_copy one, other;
      run(plan, outputs, pointers, 1, &one, sizes);
      run(plan, outputs, pointers, 3, &other, sizes);
      compare(&one, &other, outputs, sizes, "threads");
      for (int i = 0; exact_isa_name(i) && d.mode == EXACT_MODE_EXACT; i++) {
        exact_op *again = same_op(data, size, exact_isa_name(i));
        const void *kept = pointers[1];
        if (!again) abort();
        packed = n > 1 && shape_form % 4 < 2 ? pack(again, &in[1], &err) : NULL;
        exact_plan *second = planned(again, n, in, &err);
        if (!second) abort();
        if (packed) pointers[1] = NULL;
        if (exact_plan_workspace(second) <= MOST_WORKSPACE) {
          run(second, outputs, pointers, 1, &other, sizes);
          compare(&one, &other, outputs, sizes, exact_isa_name(i));
        }
        pointers[1] = kept;
        exact_plan_free(second);
        exact_op_free(again);
        free(packed);
      }
      for (int o = 0; o < outputs; o++) free(one.data[o]);
    }
    exact_plan_free(plan);
  }
  exact_op_free(d.op);
  for (int i = 0; i < n; i++) free(blocks[i]);
  return 0;
}
