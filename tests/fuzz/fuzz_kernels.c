/* libFuzzer target: an op, its input shapes and data from the fuzzer's bytes, through inference, packing, plan and run.
 * Every buffer has exactly the size that was agreed on, so that AddressSanitizer sees an access outside. What must hold:
 * a shape that can be planned can be inferred, from known and from unknown dimensions; outputs have the same bits on every
 * instruction-set variant, on one and three threads, with and without packed weights, and whatever the output and the
 * workspace hold before. EXACT_FUZZ_COUNTS=1 prints how often each family came how far. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "data.h"

enum { MOST_OUTPUTS = 3, MOST_ELEMENTS = 4096, MOST_WORKSPACE = 64 << 20 };
enum { DRAWN, CREATED, PLANNED, RAN, STAGES };

static size_t counts[FAMILIES][STAGES];

__attribute__((destructor)) static void print_counts(void) {
  static const char *const names[] = {"Conv",    "ConvTranspose", "pools",     "MaxUnpool", "LRN",      "BatchNorm",
                                      "Softmax", "Reduce",        "LayerNorm", "RMSNorm",   "InstNorm", "GroupNorm",
                                      "LpNorm",  "MVN",           "Arg",       "CumSum",    "MatMul",   "Gemm",
                                      "Resize",  "unary",         "Clip",      "Cast",      "several",  "Pow"};
  if (!getenv("EXACT_FUZZ_COUNTS")) return;
  fprintf(stderr, "%-14s %10s %10s %10s %10s\n", "family", "drawn", "created", "planned", "ran");
  for (int f = 0; f < FAMILIES; f++)
    fprintf(stderr, "%-14s %10zu %10zu %10zu %10zu\n", names[f], counts[f][DRAWN], counts[f][CREATED], counts[f][PLANNED],
            counts[f][RAN]);
}

static void require(bool truth, const char *what) {
  if (truth) return;
  fprintf(stderr, "violated: %s\n", what);
  abort();
}

static size_t bytes_of(const exact_tensor *t) {
  size_t n = 1;
  for (int i = 0; i < t->rank; i++)
    if (t->dims[i] == 0) return 0;
  for (int i = 0; i < t->rank; i++) {
    if (t->dims[i] < 0 || __builtin_mul_overflow(n, (size_t)t->dims[i], &n) || n > MOST_ELEMENTS) return SIZE_MAX;
  }
  return n * exact_dtype_size(t->dtype);
}

/* ---- a run ---- */
typedef struct results {
  void *data[MOST_OUTPUTS];
} results;

/* Memory holds `before` in every byte. */
static void *block(size_t size, int before) {
  void *p;
  require(!posix_memalign(&p, 64, size ? size : 1), "memory");
  return memset(p, before, size);
}

static results run(const exact_plan *plan, int outputs, const void *const *in, int threads, int before, const size_t *sizes) {
  void *work = block(exact_plan_workspace(plan), ~before);
  results out;
  for (int o = 0; o < outputs; o++) out.data[o] = memset(malloc(sizes[o] ? sizes[o] : 1), before, sizes[o]);
  exact_plan_run_threads(plan, in, out.data, work, threads);
  free(work);
  return out;
}

static void compare(const results *a, results b, int outputs, const size_t *sizes, const char *what) {
  for (int o = 0; o < outputs; o++) {
    require(!memcmp(a->data[o], b.data[o], sizes[o]), what);
    free(b.data[o]);
  }
}

/* ---- a case ---- */
typedef struct fuzz_case {
  const uint8_t *data;
  size_t size;
  drawn d;
  int n, outputs;
  unsigned form;
  exact_tensor in[MOST_INPUTS], unknown[MOST_INPUTS];
  const void *pointers[MOST_INPUTS];
  void *blocks[MOST_INPUTS];
  bool fits, readable; /* all data is there; and what a plan reads of it */
} fuzz_case;

static void select_isa(const char *name) {
  exact_error err;
  require(!exact_isa_select(name, &err), "a variant that is listed can be selected");
}

/* Some inputs begin at addresses that are aligned to their elements alone. */
static void *input_block(size_t size, size_t offset, char **start) {
  *start = malloc(offset + size ? offset + size : 1);
  return *start + offset;
}

static void draw_case(fuzz_case *c, stream *s) {
  int meaning[MOST_INPUTS] = {VALUES};
  draw_inputs(&c->d, s, c->in, meaning);
  c->form = byte(s);
  c->n = c->d.n_inputs - (c->d.n_inputs > 1 && byte(s) % 6 == 0);
  uint64_t state = (uint64_t)raw(s);
  c->fits = c->readable = true;
  for (int i = 0; i < c->n; i++) {
    exact_tensor *t = &c->in[i];
    size_t bytes = t->dtype ? bytes_of(t) : SIZE_MAX, size = exact_dtype_size(t->dtype);
    if (bytes == SIZE_MAX || !size) {
      c->fits = c->fits && !t->dtype;
      c->readable = c->readable && !(t->dtype && exact_op_value_inputs(c->d.op) >> i & 1);
      continue;
    }
    char *start;
    void *data = input_block(bytes, c->form / 8 % 4 * size, &start);
    fill(data, t, bytes, meaning[i], &c->in[0], &state);
    c->blocks[i] = start;
    c->pointers[i] = t->data = data;
  }
  memcpy(c->unknown, c->in, sizeof c->in);
  for (int i = 0; i < c->n; i++) {
    if (byte(s) % 2) c->unknown[i].data = NULL;
    for (int k = 0; k < c->unknown[i].rank; k++)
      if (byte(s) % 3 == 0) c->unknown[i].dims[k] = -1;
    if (exact_op_value_inputs(c->d.op) >> i & 1)
      for (int k = 0; k < c->unknown[i].rank; k++)
        if (c->unknown[i].dims[k] < 0) c->unknown[i].data = NULL;
  }
}

/* More memory than this cannot be had: what a plan must answer by an error. */
const char *__asan_default_options(void) { return "allocator_may_return_null=1:max_allocation_size_mb=900:detect_leaks=1"; }

/* EXACT_FUZZ_SHOW=1: for those who look into a finding. */
static void show(const fuzz_case *c) {
  fprintf(stderr, "family %d type %d mode %d, %d inputs\n", c->d.family, c->d.dtype, c->d.mode, c->n);
  for (int i = 0; i < c->n; i++) {
    fprintf(stderr, "  %d: type %d%s [", i, c->in[i].dtype, c->pointers[i] ? "" : " without data");
    for (int k = 0; k < c->in[i].rank; k++)
      fprintf(stderr, " %lld (%lld)", (long long)c->in[i].dims[k], (long long)c->unknown[i].dims[k]);
    fprintf(stderr, " ]\n");
  }
}

/* A plan may have tables in proportion to an axis: sensible ones are not made for axes of such a length that this takes
 * seconds, while absurd ones must be refused at once. */
static bool is_long(const exact_tensor *t) {
  for (int i = 0; i < t->rank; i++)
    if (t->dims[i] > 1 << 18 && t->dims[i] < (int64_t)1 << 31) return true;
  return false;
}

static bool any_long(const fuzz_case *c) {
  exact_tensor out[MOST_OUTPUTS];
  bool found = false;
  if (exact_op_infer(c->d.op, c->n, c->in, out, NULL)) return false;
  for (int i = 0; i < c->n; i++) found |= c->in[i].dtype && is_long(&c->in[i]);
  for (int o = 0; o < c->outputs; o++) found |= is_long(&out[o]);
  return found;
}

static exact_plan *planned(exact_op *op, const fuzz_case *c) {
  exact_plan *plan = NULL;
  exact_error err = {0};
  int rc = exact_op_plan(op, c->n, c->in, &plan, &err);
  require(!rc || (rc == err.code && *err.reason), "an error has a code and a reason");
  require(!rc == !!plan, "a plan or an error");
  return plan;
}

static void check_inference(const fuzz_case *c, const exact_tensor *in, const exact_plan *plan) {
  exact_tensor out[MOST_OUTPUTS];
  exact_error err = {0};
  int rc = exact_op_infer(c->d.op, c->n, in, out, &err);
  require(!rc || (rc == err.code && *err.reason), "an error of inference has a code and a reason");
  if (!plan) return;
  if (rc) fprintf(stderr, "%s\n", err.reason);
  require(!rc, "what can be planned can be inferred");
  for (int o = 0; o < c->outputs; o++) {
    const exact_tensor *y = exact_plan_output(plan, o);
    require(out[o].dtype == y->dtype, "inferred type");
    if (out[o].rank == -1 && in == c->unknown) continue;
    require(out[o].rank == y->rank, "inferred rank");
    for (int k = 0; k < y->rank; k++)
      require(out[o].dims[k] == y->dims[k] || (out[o].dims[k] == -1 && in == c->unknown), "inferred dimension");
  }
}

/* Packs input 1 as a constant; the block to free, or NULL. */
static void *pack(exact_op *op, const exact_tensor *t) {
  size_t size = exact_op_packed_size(op, 1, t);
  exact_error err;
  if (!size || size > MOST_WORKSPACE || !t->data) return NULL;
  void *packed = block(size, 0xA5);
  if (exact_op_pack(op, 1, t, packed, &err)) {
    free(packed);
    return NULL;
  }
  exact_op_set_packed(op, 1, t, packed);
  return packed;
}

static void run_variant(const fuzz_case *c, const char *isa, const results *want, const size_t *sizes) {
  stream s = {c->data, c->data + c->size};
  select_isa(isa);
  exact_op *op = draw_op(&s).op;
  require(op, "an op is valid on every variant");
  if (c->form % 2) exact_op_hint(op, c->n, c->unknown);
  void *packed = c->n > 1 && c->form / 2 % 4 ? pack(op, &c->in[1]) : NULL;
  exact_plan *plan = planned(op, c);
  require(plan, "a plan exists on every variant");
  const void *pointers[MOST_INPUTS];
  memcpy(pointers, c->pointers, sizeof pointers);
  if (packed) pointers[1] = NULL;
  if (exact_plan_workspace(plan) <= MOST_WORKSPACE)
    compare(want, run(plan, c->outputs, pointers, 1, 0x33, sizes), c->outputs, sizes, isa);
  exact_plan_free(plan);
  exact_op_free(op);
  free(packed);
}

static bool run_all(const fuzz_case *c, const exact_plan *plan) {
  size_t sizes[MOST_OUTPUTS];
  for (int o = 0; o < c->outputs; o++)
    if ((sizes[o] = bytes_of(exact_plan_output(plan, o))) == SIZE_MAX) return false;
  if (!c->fits || exact_plan_workspace(plan) > MOST_WORKSPACE) return false;
  results one = run(plan, c->outputs, c->pointers, 1, 0x5A, sizes);
  compare(&one, run(plan, c->outputs, c->pointers, 3, 0x00, sizes), c->outputs, sizes, "the same bits on three threads");
  for (int i = 0; exact_isa_name(i) && c->d.mode == EXACT_MODE_EXACT; i++) run_variant(c, exact_isa_name(i), &one, sizes);
  for (int o = 0; o < c->outputs; o++) free(one.data[o]);
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_case c = {.data = data, .size = size};
  stream s = {data, data + size};
  const char *best = NULL;
  for (int i = 0; exact_isa_name(i); i++) best = exact_isa_name(i);
  select_isa(best);
  c.d = draw_op(&s);
  counts[c.d.family][DRAWN]++;
  if (!c.d.op) return 0;
  counts[c.d.family][CREATED]++;
  c.outputs = exact_op_outputs(c.d.op);
  draw_case(&c, &s);
  if (getenv("EXACT_FUZZ_SHOW")) show(&c);
  exact_plan *plan = c.readable && !any_long(&c) ? planned(c.d.op, &c) : NULL;
  check_inference(&c, c.in, plan);
  check_inference(&c, c.unknown, plan);
  exact_op_hint(c.d.op, c.n, c.unknown);
  if (plan) {
    counts[c.d.family][PLANNED]++;
    counts[c.d.family][RAN] += run_all(&c, plan);
    exact_plan_free(plan);
  }
  exact_op_free(c.d.op);
  for (int i = 0; i < c.n; i++) free(c.blocks[i]);
  return 0;
}
