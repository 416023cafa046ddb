/* The operator table. */
#include "ops.h"

#define BIT(type) (1u << (type))
#define FLOATS (BIT(EXACT_FLOAT32) | BIT(EXACT_FLOAT64) | BIT(EXACT_FLOAT16) | BIT(EXACT_BFLOAT16))
#define BYTES (BIT(EXACT_INT8) | BIT(EXACT_UINT8))
#define WHOLE (BIT(EXACT_INT32) | BIT(EXACT_INT64) | BIT(EXACT_UINT32) | BIT(EXACT_UINT64))
#define SHORTS (BIT(EXACT_INT16) | BIT(EXACT_UINT16))
#define SIGNED (BIT(EXACT_INT8) | BIT(EXACT_INT16) | BIT(EXACT_INT32) | BIT(EXACT_INT64))
#define AXIS (BIT(EXACT_INT32) | BIT(EXACT_INT64))
#define SUMS BIT(EXACT_INT32)
#define SCALES (BIT(EXACT_FLOAT32) | BIT(EXACT_FLOAT16) | BIT(EXACT_BFLOAT16))
#define TRUTH BIT(EXACT_BOOL)
#define UP_TO_SINGLE (BIT(EXACT_FLOAT32) | BIT(EXACT_FLOAT16) | BIT(EXACT_BFLOAT16))
#define LENGTHS BIT(EXACT_INT32)
#define SINGLE BIT(EXACT_FLOAT32)
#define INDEX BIT(EXACT_INT64)

#define OP(type, since, until, phantom, inputs, outputs, glue, ...) \
  int op_##glue(const node *n, exact_op **op, exact_error *err);
#include "ops.def"
#undef OP

#define OP(type, since, until, phantom, inputs, outputs, glue, ...) \
  {#type, since, until, phantom, inputs, outputs, op_##glue, {__VA_ARGS__}},
const op_row op_rows[] = {
#include "ops.def"
};
#undef OP
const int op_row_count = sizeof op_rows / sizeof op_rows[0];

bool op_reads_texts(const op_row *row) { return row->glue == op_recurrent; }
