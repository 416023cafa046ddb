#ifndef EXACT_ATTENTION_H
#define EXACT_ATTENTION_H
/* Private to Attention: sizes and the plan, made of two products and a pass over the rows of scores. docs/attention.md */
#include "exact_impl.h"
#include "matmul.h"

enum { ATTENTION_Q, ATTENTION_K, ATTENTION_V, ATTENTION_MASK, ATTENTION_PAST_K, ATTENTION_PAST_V, ATTENTION_SEEN };
enum { ATTENTION_Y, ATTENTION_PRESENT_K, ATTENTION_PRESENT_V, ATTENTION_SCORES };

typedef struct exact_attention_op {
  exact_op op;
  exact_op product; /* of the arithmetic type: the op of both products */
  exact_attention_attrs attrs;
} exact_attention_op;

typedef struct exact_attention_plan {
  exact_plan base;
  exact_matmul_plan scores, mix; /* q * k and P * v */
  bool split;                    /* rank 3: the heads of a position stand side by side */
  size_t batch, heads, groups;   /* of the query; heads of the query to one of keys and values */
  size_t length, past, total;    /* of the query, of the past, of past and keys */
  size_t key, value;             /* sizes of a head */
  size_t real, element;          /* bytes in the arithmetic and in memory */
  bool v_in_place, y_in_place;
  int mask;                                    /* element type; EXACT_ABSENT without */
  size_t mask_step[4];                         /* from one batch, head, row and column to the next */
  size_t mask_columns;                         /* fewer than total: what follows is excluded */
  bool seen;                                   /* nonpad_kv_seqlen is there */
  size_t row_chunk;                            /* rows of scores of a task */
  size_t q_at, k_at, v_at, s_at, y_at, sub_at; /* workspace */
} exact_attention_plan;

void exact_attention_run(const exact_call *call);
#endif
