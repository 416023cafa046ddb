#ifndef EXACT_BINARY_H
#define EXACT_BINARY_H
/* Elementwise operators of several inputs. docs/binary.md */
#include "exact_impl.h"

/* Arithmetic types. */
enum { BIN_F32, BIN_F64, BIN_I8, BIN_U8, BIN_I16, BIN_U16, BIN_I32, BIN_U32, BIN_I64, BIN_U64, BIN_TYPES };
/* One operation on two operands. Of equal ones, MAX and MIN give a. */
enum { STEP_ADD, STEP_SUB, STEP_MUL, STEP_DIV, STEP_PRELU, STEP_MAX, STEP_MIN, STEP_COUNT };
/* Which operand has one element for all of a row. */
enum { FORM_BOTH, FORM_ONE_B, FORM_ONE_A };

/* y[r n + i] = a[r a_pitch + i] op b[r b_pitch + i], r < rows, i < n; i is 0 for an operand of one element. y may be a or b
 * where their elements lie as those of y. */
typedef void exact_binary_rows(const void *a, const void *b, void *y, size_t rows, size_t n, size_t a_pitch, size_t b_pitch,
                               int form);

struct exact_binary_kernels {
  exact_binary_rows *step[BIN_TYPES][STEP_COUNT]; /* integers: the last three; PRELU from 32 bits on */
  /* x to the power of 0.5, indexed by BIN_F32 and BIN_F64. y may be x. */
  void (*root[2])(const void *x, void *y, size_t n);
  /* float16 and bfloat16 to float32 and back, rounded. */
  void (*widen)(float *y, const void *x, size_t n, int dtype);
  void (*narrow)(void *y, const float *x, size_t n, int dtype);
};

/* Families of operators: a chain of steps over the inputs, the chain divided by their number, a power. */
enum { BIN_CHAIN, BIN_MEAN, BIN_POWER };
enum { POWER_0, POWER_1, POWER_2, POWER_3, POWER_ROOT, POWER_M1, POWER_M2, POWER_M_ROOT, POWER_UNKNOWN };

typedef struct binary_op {
  exact_op op;
  int family;
  int step; /* of a chain, or the power */
  int type;
} binary_op;

/* How an input's elements are found. */
enum {
  SHAPED,   /* at the place of the output's */
  PERIODIC, /* a row that repeats */
  SPREAD    /* by strides */
};

/* The output's shape without extents of 1, neighbouring axes merged where every input has the same of them: extent[dims].
 * An output of one element has dims 1 and extent 1. */
typedef struct binary_plan {
  exact_plan plan;
  int inputs, dims;
  size_t extent[EXACT_MAX_RANK];
  size_t count, n, rows; /* elements; those of the last axis; count / n */
  bool direct;           /* two inputs, rows in the element type: no block is copied */
  size_t pieces, piece;  /* direct: a row is cut into `pieces` of at most `piece` elements */
  size_t block;          /* else: elements of a block */
  size_t units, per_task, tasks;
  size_t *stride; /* of input i on axis d at [i * dims + d], in elements; 0 where it has one element */
  char *found;    /* of each input: SHAPED ... */
} binary_plan;

enum { BIN_BLOCK = 512, BIN_TASK = 32768 };

int exact_binary_plan(const binary_op *o, int n, const exact_tensor *in, const exact_tensor *out, exact_plan **plan,
                      exact_error *err);
void exact_binary_run(const exact_call *call);
#endif
