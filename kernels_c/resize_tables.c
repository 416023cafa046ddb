/* Packs the tables of a Resize plan: rows of taps, the picks of the last axis block by block, the inputs of each box. */
#include "resize_plan.h"

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t most(size_t a, size_t b) { return a > b ? a : b; }

static bool is_line(const exact_resize_draft *d, int a) { return a == d->p->axes - 1 && exact_resize_has_line(d); }

static size_t box_end(const exact_resize_axis *x, size_t box) { return box + 1 == x->boxes ? x->out : (box + 1) * x->box; }

/* Sizes of an axis's tables. */
bool exact_resize_size_tables(const exact_resize_draft *d, int a, size_t *total, exact_resize_parts *at) {
  const exact_resize_axis *x = &d->p->axis[a];
  const exact_resize_taps *t = d->taps[a];
  size_t n = 0, blocks = (x->out - 1) / d->lanes + 1;
  *at = (exact_resize_parts){0};
  if (!exact_part(total, x->boxes, sizeof(size_t), &at->first) || !exact_part(total, x->boxes, sizeof(size_t), &at->end))
    return false;
  if (!t) return true;
  if (t->outside && !exact_part(total, x->out, 1, &at->outside)) return false;
  if (!is_line(d, a))
    return exact_mul(x->out, t->taps, &n) && exact_part(total, x->out + 1, sizeof(size_t), &at->start) &&
           exact_part(total, n, sizeof(int32_t), &at->index) && exact_part(total, d->copy ? 0 : n, d->wide, &at->weight);
  return exact_mul(blocks, t->taps, &n) && exact_part(total, n, sizeof(int32_t), &at->base) &&
         exact_part(total, n, d->lanes * sizeof(int32_t), &at->pick) &&
         exact_part(total, d->copy ? 0 : n, d->lanes * d->wide, &at->weight) && exact_part(total, blocks, 1, &at->holes);
}

static void put_weight(const exact_resize_draft *d, void *table, size_t i, float w) {
  if (d->wide == sizeof(double))
    ((double *)table)[i] = w;
  else
    ((float *)table)[i] = w;
}

static void fill_rows(const exact_resize_draft *d, exact_resize_axis *x, const exact_resize_taps *t,
                      const exact_resize_parts *at) {
  char *block = (char *)d->p;
  size_t *start = (size_t *)(block + at->start), n = 0;
  int32_t *index = (int32_t *)(block + at->index);
  for (size_t j = 0; j < t->out; j++) {
    start[j] = n;
    for (size_t i = j * t->taps; i < (j + 1) * t->taps; i++) {
      if (t->weight && t->weight[i] == 0.0f) continue;
      index[n] = t->index[i];
      if (t->weight) put_weight(d, block + at->weight, n, t->weight[i]);
      n++;
    }
  }
  start[t->out] = n;
  x->rows = (exact_resize_rows){start, index, block + at->weight};
}

/* Position of a block's first output. */
static size_t block_start(const exact_resize_draft *d, size_t out, size_t b) {
  return out < d->lanes ? 0 : least(b * d->lanes, out - d->lanes);
}

/* Tap `tap` of output o of an axis; false when there is none. */
static bool get_tap(const exact_resize_taps *t, size_t fold, size_t o, size_t tap, int32_t *index, float *weight) {
  size_t i = fold == 1 ? o : o / fold, at = i * t->taps + tap;
  if (i >= t->out || (t->outside && t->outside[i])) return false;
  *index = (int32_t)((size_t)t->index[at] * fold + (o - i * fold));
  *weight = t->weight ? t->weight[at] : 1.0f;
  return *weight != 0.0f;
}

/* The least and greatest index over outputs from `from` up to `end` and taps from `tap` up to `taps`; false: no tap. */
static bool tap_span(const exact_resize_draft *d, int a, size_t from, size_t end, size_t tap, size_t taps, size_t *low,
                     size_t *high) {
  bool any = false;
  *low = *high = 0;
  for (size_t o = from; o < end; o++)
    for (size_t t = tap; t < taps; t++) {
      int32_t index;
      float weight;
      if (!get_tap(d->taps[a], d->fold[a], o, t, &index, &weight)) continue;
      if (!any || (size_t)index < *low) *low = (size_t)index;
      if (!any || (size_t)index > *high) *high = (size_t)index;
      any = true;
    }
  return any;
}

/* The most elements from the least to the greatest index of a block's tap, or of all its taps. */
static size_t block_span(const exact_resize_draft *d, bool shared) {
  const int a = d->p->axes - 1;
  const size_t out = d->p->axis[a].out, taps = d->taps[a]->taps, step = shared ? taps : 1;
  size_t span = 1, low, high;
  for (size_t b = 0; b < d->p->line.blocks; b++)
    for (size_t tap = 0; tap < taps; tap += step) {
      size_t from = block_start(d, out, b);
      if (tap_span(d, a, from, from + d->lanes, tap, tap + step, &low, &high)) span = most(span, high - low + 1);
    }
  return span;
}

/* Windows may reach past the end of a line in scratch memory, not of one in the input. */
void exact_resize_set_windows(exact_resize_draft *d) {
  exact_resize_line *line = &d->p->line;
  const int a = d->p->axes - 1;
  const bool scratch = !d->copy && (d->p->order[0] != a || !d->p->native);
  size_t apart = (block_span(d, false) - 1) / d->lanes + 1, together = (block_span(d, true) - 1) / d->lanes + 1;
  if (apart > (size_t)d->k->windows || (d->p->axis[a].in < apart * d->lanes && !scratch)) return;
  line->windows = (int)apart;
  line->shared = apart == together;
}

static void fill_block(const exact_resize_draft *d, size_t b, int32_t *base, int32_t *pick, char *weights, uint8_t *hole) {
  const int a = d->p->axes - 1;
  const exact_resize_axis *x = &d->p->axis[a];
  const exact_resize_taps *t = d->taps[a];
  const size_t from = block_start(d, x->out, b), span = (size_t)d->p->line.windows * d->lanes;
  size_t lowest, low, high;
  tap_span(d, a, from, from + d->lanes, 0, t->taps, &lowest, &high);
  for (size_t tap = 0; tap < t->taps; tap++) {
    if (d->p->line.shared || !tap_span(d, a, from, from + d->lanes, tap, tap + 1, &low, &high)) low = lowest;
    /* A window does not reach past the end of a line that is as long as one. */
    base[tap] = (int32_t)(low + span <= x->in ? low : x->in < span ? 0 : x->in - span);
    for (size_t l = 0; l < d->lanes; l++) {
      int32_t index = (int32_t)low;
      float weight = 0.0f;
      bool tapped = get_tap(t, d->fold[a], from + l, tap, &index, &weight);
      pick[tap * d->lanes + l] = (tapped ? index : (int32_t)low) - base[tap];
      if (!tapped && from + l < x->out) *hole = 1;
      if (!d->copy) put_weight(d, weights, tap * d->lanes + l, tapped ? weight : 0.0f);
    }
  }
}

/* Whether block b continues a run of blocks that are alike. */
static bool is_alike(const exact_resize_draft *d, size_t b, size_t step) {
  const exact_resize_line *l = &d->p->line;
  const size_t n = l->taps * d->lanes;
  for (size_t t = 0; t < l->taps; t++)
    if ((size_t)(l->base[b * l->taps + t] - l->base[(b - 1) * l->taps + t]) != step) return false;
  return !l->holes[b] && !l->holes[b - 1] && !memcmp(l->pick + b * n, l->pick + (b - 1) * n, n * sizeof *l->pick) &&
         (d->copy ||
          !memcmp((const char *)l->weight + b * n * d->wide, (const char *)l->weight + (b - 1) * n * d->wide, n * d->wide));
}

/* The longest run of blocks that are alike; the last block of the axis, which may start anywhere, is not among them. */
static void find_alike(const exact_resize_draft *d, exact_resize_line *l) {
  for (size_t from = 0, end; from + 2 < l->blocks; from = end) {
    size_t step = (size_t)(l->base[(from + 1) * l->taps] - l->base[from * l->taps]);
    for (end = from + 1; end + 1 < l->blocks && is_alike(d, end, step);) end++;
    if (end - from < 2 || end - from <= l->alike_end - l->alike) continue;
    l->alike = from;
    l->alike_end = end;
    l->step = step;
  }
}

static void fill_line(exact_resize_draft *d, const exact_resize_parts *at) {
  char *p = (char *)d->p;
  exact_resize_line *line = &d->p->line;
  int32_t *base = (int32_t *)(p + at->base), *pick = (int32_t *)(p + at->pick);
  uint8_t *holes = (uint8_t *)(p + at->holes);
  line->base = base;
  line->pick = pick;
  line->holes = holes;
  line->weight = d->copy ? NULL : p + at->weight;
  for (size_t b = 0; b < line->blocks; b++) {
    size_t i = b * line->taps;
    fill_block(d, b, base + i, pick + i * d->lanes, p + at->weight + i * d->lanes * d->wide, holes + b);
  }
  find_alike(d, line);
}

/* The inputs that each box of an axis needs. A line's windows may begin before. */
static void set_reach(exact_resize_draft *d, int a, size_t *first, size_t *end) {
  exact_resize_axis *x = &d->p->axis[a];
  for (size_t box = 0; box < x->boxes; box++) {
    size_t low = box * x->box, high = box_end(x, box);
    first[box] = low;
    end[box] = high;
    if (x->boxes == 1) {
      first[box] = 0;
      end[box] = x->in;
    } else if (x->resampled) {
      tap_span(d, a, low, high, 0, d->taps[a]->taps, &first[box], &end[box]);
      end[box]++;
      for (size_t i = low / d->lanes; is_line(d, a) && i < (high - 1) / d->lanes + 1; i++)
        for (size_t tap = 0; tap < d->taps[a]->taps; tap++)
          first[box] = least(first[box], (size_t)d->p->line.base[i * d->taps[a]->taps + tap]);
    }
    x->reach = most(x->reach, end[box] - first[box]);
  }
  x->first = first;
  x->end = end;
}

static void fill_outside(const exact_resize_draft *d, exact_resize_axis *x, int a, uint8_t *flags) {
  for (size_t o = 0; o < x->out; o++) flags[o] = d->taps[a]->outside[o / d->fold[a]];
  x->outside = flags;
}

void exact_resize_fill_tables(exact_resize_draft *d, const exact_resize_parts *at) {
  exact_resize_plan *p = d->p;
  char *block = (char *)p;
  for (int a = 0; a < p->axes; a++) {
    exact_resize_axis *x = &p->axis[a];
    if (is_line(d, a))
      fill_line(d, &at[a]);
    else if (x->resampled)
      fill_rows(d, x, d->taps[a], &at[a]);
    if (x->resampled && d->taps[a]->outside) fill_outside(d, x, a, (uint8_t *)(block + at[a].outside));
    set_reach(d, a, (size_t *)(block + at[a].first), (size_t *)(block + at[a].end));
  }
}
