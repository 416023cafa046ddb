/* Runs nodes on the kernels through their C interface alone, without ONNX Runtime or Python: alone CASES INPUTS OUTPUTS.
 * CASES is text (alone.py writes it), INPUTS and OUTPUTS are the tensors' bytes one after the other, little-endian. Prints the
 * type and shape of every output. The nodes' attributes reach the glue of provider/ through an attr_source of this file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops.h"

enum { MOST = 16, NAME = 64 };
enum { INT, REAL, INTS, REALS, TEXT, TEXTS };
typedef struct attribute {
  char name[NAME];
  int kind, n;
  int64_t ints[MOST];
  float reals[MOST];
  char text[4 * NAME]; /* TEXTS: one after another, each with its '\0' */
} attribute;

static attribute attributes[MOST];
static int attribute_count;

static void die(const char *what, const char *detail) {
  fprintf(stderr, "%s: %s\n", what, detail);
  exit(1);
}

/* ---- the node's attributes ---- */
static const attribute *find(const char *name, int kind, int *found) {
  for (int i = 0; i < attribute_count; i++)
    if (!strcmp(attributes[i].name, name)) {
      *found = attributes[i].kind == kind ? 1 : -1;
      return *found == 1 ? &attributes[i] : NULL;
    }
  *found = 0;
  return NULL;
}

static int integer(const node *n, const char *name, int64_t *out) {
  int found;
  const attribute *a = find(name, INT, &found);
  (void)n;
  if (a) *out = a->ints[0];
  return found;
}

static int real(const node *n, const char *name, float *out) {
  int found;
  const attribute *a = find(name, REAL, &found);
  (void)n;
  if (a) *out = a->reals[0];
  return found;
}

static int integers(const node *n, const char *name, int64_t *out, size_t *room) {
  int found;
  const attribute *a = find(name, INTS, &found);
  (void)n;
  if (!a) return found;
  for (int i = 0; i < a->n && (size_t)i < *room; i++) out[i] = a->ints[i];
  *room = (size_t)a->n;
  return 1;
}

static int reals(const node *n, const char *name, float *out, size_t *room) {
  int found;
  const attribute *a = find(name, REALS, &found);
  (void)n;
  if (!a) return found;
  for (int i = 0; i < a->n && (size_t)i < *room; i++) out[i] = a->reals[i];
  *room = (size_t)a->n;
  return 1;
}

static int text(const node *n, const char *name, char *out, size_t *room) {
  int found;
  const attribute *a = find(name, TEXT, &found);
  (void)n;
  if (a) snprintf(out, *room, "%s", a->text);
  return found;
}

static int texts(const node *n, const char *name, char *out, size_t *room) {
  int found;
  const attribute *a = find(name, TEXTS, &found);
  (void)n;
  if (!a) return found;
  if ((size_t)a->n <= *room) memcpy(out, a->text, (size_t)a->n);
  *room = (size_t)a->n;
  return 1;
}

static int constant(const node *n, int i, exact_tensor *out) {
  *out = n->input[i];
  return i > 0;
}

static const attr_source source = {
    .integer = integer, .real = real, .integers = integers, .reals = reals, .text = text, .texts = texts, .constant = constant};

/* ---- tensors ---- */
static size_t elements(const exact_tensor *t) {
  size_t n = 1;
  for (int i = 0; i < t->rank; i++) n *= (size_t)t->dims[i];
  return n;
}

/* Between the machine's byte order and little-endian. */
static void swap(void *data, size_t count, size_t size) {
  const uint16_t one = 1;
  unsigned char *p = data;
  if (*(const unsigned char *)&one) return;
  for (size_t i = 0; i < count; i++, p += size)
    for (size_t k = 0; k < size / 2; k++) {
      unsigned char byte = p[k];
      p[k] = p[size - 1 - k];
      p[size - 1 - k] = byte;
    }
}

static void *area(size_t bytes) {
  void *p = NULL;
  if (posix_memalign(&p, 64, bytes + 64)) die("memory", "none");
  memset(p, 0xA5, bytes + 64);
  return p;
}

/* ---- a case ---- */
/* Outputs of the node, its constant inputs packed or as they are. */
static void run(const node *n, int wanted, bool pack, int threads, exact_tensor *shapes, void **data) {
  exact_error err = {0};
  exact_op *op = NULL;
  exact_plan *plan = NULL;
  exact_tensor inferred[EXACT_MOST_IO];
  void *packed[EXACT_MOST_IO] = {0};
  const void *inputs[EXACT_MOST_IO];
  if (n->row->glue(n, &op, &err) || exact_op_infer(op, n->n_inputs, n->input, inferred, &err)) die(n->row->type, err.reason);
  exact_op_hint(op, n->n_inputs, n->input);
  for (int i = 0; i < n->n_inputs; i++) {
    size_t size = pack && i && n->input[i].dtype ? exact_op_packed_size(op, i, &n->input[i]) : 0;
    inputs[i] = n->input[i].data;
    if (!size) continue;
    packed[i] = area(size);
    if (exact_op_pack(op, i, &n->input[i], packed[i], &err)) die(n->row->type, err.reason);
    exact_op_set_packed(op, i, &n->input[i], packed[i]);
    inputs[i] = NULL;
  }
  if (exact_op_plan(op, n->n_inputs, n->input, &plan, &err)) die(n->row->type, err.reason);
  void *outputs[EXACT_MOST_IO] = {0}, *workspace = area(exact_plan_workspace(plan));
  for (int i = 0; i < wanted; i++) {
    shapes[i] = *exact_plan_output(plan, i);
    data[i] = outputs[i] = area(elements(&shapes[i]) * exact_dtype_size(shapes[i].dtype));
  }
  exact_plan_run_threads(plan, inputs, outputs, workspace, threads);
  free(workspace);
  exact_plan_free(plan);
  exact_op_free(op);
  for (int i = 0; i < n->n_inputs; i++) free(packed[i]);
}

static void run_case(const node *n, int wanted, FILE *file) {
  exact_tensor shapes[EXACT_MOST_IO], again_shapes[EXACT_MOST_IO];
  void *data[EXACT_MOST_IO], *again[EXACT_MOST_IO];
  run(n, wanted, true, 1, shapes, data);
  run(n, wanted, false, 3, again_shapes, again);
  for (int i = 0; i < wanted; i++) {
    size_t count = elements(&shapes[i]), size = exact_dtype_size(shapes[i].dtype);
    if (memcmp(data[i], again[i], count * size)) die(n->row->type, "packed inputs or threads change bits");
    printf("output %d", shapes[i].dtype);
    for (int k = 0; k < shapes[i].rank; k++) printf(" %" PRId64, shapes[i].dims[k]);
    printf("\n");
    swap(data[i], count, size);
    if (fwrite(data[i], size, count, file) != count) die("outputs", "cannot write");
    free(data[i]);
    free(again[i]);
  }
}

/* ---- the file of cases ---- */
static int64_t number(FILE *f) {
  int64_t value;
  if (fscanf(f, "%" SCNd64, &value) != 1) die("cases", "a number is missing");
  return value;
}

static void word(FILE *f, char *out) {
  if (fscanf(f, "%63s", out) != 1) die("cases", "a word is missing");
}

static void read_attribute(FILE *f, int kind) {
  if (attribute_count == MOST) die("cases", "too many attributes");
  attribute *a = &attributes[attribute_count++];
  *a = (attribute){.kind = kind, .n = 1};
  word(f, a->name);
  if (kind == TEXT) {
    word(f, a->text);
    return;
  }
  if (kind == TEXTS) {
    a->n = 0;
    for (int64_t left = number(f); left > 0; left--) {
      if (a->n + NAME > (int)sizeof a->text) die("cases", "a list of texts is too long");
      word(f, a->text + a->n);
      a->n += (int)strlen(a->text + a->n) + 1;
    }
    return;
  }
  if (kind == INTS || kind == REALS) a->n = (int)number(f);
  if (a->n > MOST) die("cases", "a list is too long");
  for (int i = 0; i < a->n; i++) {
    a->ints[i] = number(f);
    uint32_t bits = (uint32_t)a->ints[i];
    memcpy(&a->reals[i], &bits, 4);
  }
}

static void read_input(FILE *f, FILE *data, exact_tensor *t) {
  *t = (exact_tensor){.dtype = (int)number(f)};
  if (!t->dtype) return;
  t->rank = (int)number(f);
  if (t->rank > EXACT_MAX_RANK) die("cases", "too many dimensions");
  for (int i = 0; i < t->rank; i++) t->dims[i] = number(f);
  size_t count = elements(t), size = exact_dtype_size(t->dtype);
  void *values = area(count * size);
  if (fread(values, size, count, data) != count) die("inputs", "too short");
  swap(values, count, size);
  t->data = values;
}

static const op_row *row_of(const char *type, int since) {
  for (int i = 0; i < op_row_count; i++)
    if (!strcmp(op_rows[i].type, type) && op_rows[i].since <= since && since <= op_rows[i].until) return &op_rows[i];
  die(type, "is no served operator");
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 4) die("usage", "alone CASES INPUTS OUTPUTS");
  FILE *cases = fopen(argv[1], "r"), *inputs = fopen(argv[2], "rb"), *outputs = fopen(argv[3], "wb");
  if (!cases || !inputs || !outputs) die("files", "cannot be opened");
  node n = {0};
  char what[NAME], type[NAME];
  while (fscanf(cases, "%63s", what) == 1) {
    if (!strcmp(what, "case")) {
      n = (node){.source = &source, .mode = EXACT_MODE_EXACT, .input = n.few};
      attribute_count = 0;
      word(cases, type);
      n.since = (int)number(cases);
      n.row = row_of(type, n.since);
    } else if (!strcmp(what, "int")) {
      read_attribute(cases, INT);
    } else if (!strcmp(what, "real")) {
      read_attribute(cases, REAL);
    } else if (!strcmp(what, "ints")) {
      read_attribute(cases, INTS);
    } else if (!strcmp(what, "reals")) {
      read_attribute(cases, REALS);
    } else if (!strcmp(what, "text")) {
      read_attribute(cases, TEXT);
    } else if (!strcmp(what, "texts")) {
      read_attribute(cases, TEXTS);
    } else if (!strcmp(what, "input")) {
      if (n.n_inputs == EXACT_MOST_IO) die("cases", "too many inputs");
      read_input(cases, inputs, &n.input[n.n_inputs++]);
    } else if (!strcmp(what, "run")) {
      n.dtype = n.input[0].dtype;
      n.n_outputs = (int)number(cases);
      if (n.n_outputs > EXACT_MOST_IO) die("cases", "too many outputs");
      for (int i = 0; i < n.n_outputs; i++) n.output_used[i] = true;
      run_case(&n, n.n_outputs, outputs);
      for (int i = 0; i < n.n_inputs; i++) free((void *)n.input[i].data);
    } else {
      die("cases: unknown word", what);
    }
  }
  return fclose(outputs) ? 1 : 0;
}
