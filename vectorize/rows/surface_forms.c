#include "vectorize/rows/surface_forms_internal.h"

#include "base/memory.h"

#include <stdlib.h>

enum { TASK_COLUMNS = 4096 };

/* A slot of the dictionary, with the times that it was met. */
typedef struct found_form {
    const gf_surface *slot;
    uint32_t count;
} found_form;

typedef struct chooser {
    const gf_dictionary *dictionary;
    const gf_numbering *numbering;
    const gf_found_terms *terms;
    uint32_t *start;   /* n_terms + 2: where a column's forms start in found, one place on */
    found_form *found; /* start[n_terms + 1], by column; in no order within one */
    gf_forms *out;
} chooser;

/* A form that a column may get. */
typedef struct form {
    gf_slice s;
    uint64_t count;
    char small[GF_SURFACE_INLINE]; /* s.ptr may point here: a form is not moved, only pointed to */
} form;

void gf_surface_forms_release(gf_forms *forms)
{
    for (size_t i = 0; forms->arenas && i < forms->n_arenas; i++)
        gf_arena_release(&forms->arenas[i]);
    gf_free(forms->arenas);
    gf_free(forms->form);
    *forms = (gf_forms){0};
}

/* The column that a slot is a form of, or GF_TERM_NONE. */
static uint32_t column_of(const chooser *c, const gf_surface *slot)
{
    if (!slot->length || slot->use == GF_WORD_NONE) return GF_TERM_NONE;
    uint32_t column = c->numbering->column[slot->term];
    if (column < c->numbering->n_regular && slot->use != GF_WORD_TERM) return GF_TERM_NONE;
    return column;
}

static size_t shards_of(const gf_surfaces *t)
{
    return t->shards ? (size_t)1 << t->bits : 0;
}

/* A shard of the words, or of the n-grams' texts behind those. */
static const gf_surface_shard *shard_at(const chooser *c, size_t index)
{
    size_t n = shards_of(&c->dictionary->surfaces);
    return index < n ? &c->dictionary->surfaces.shards[index]
                     : &c->dictionary->forms.shards[index - n];
}

/* Counting sort of all slots by column: counted two places on, so that filling leaves the starts. */
static gf_status count_forms(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    const chooser *c = context;
    const gf_surface_shard *s = shard_at(c, index);
    for (size_t i = 0; s->slots && i <= s->mask; i++) {
        uint32_t column = column_of(c, &s->slots[i]);
        if (column != GF_TERM_NONE)
            __atomic_fetch_add(&c->start[(size_t)column + 2], 1, __ATOMIC_RELAXED);
    }
    return GF_OK;
}

static gf_status place_forms(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)worker, (void)err;
    const chooser *c = context;
    const gf_surface_shard *s = shard_at(c, index);
    bool is_word = index < shards_of(&c->dictionary->surfaces);
    for (size_t i = 0; s->slots && i <= s->mask; i++) {
        const gf_surface *slot = &s->slots[i];
        uint32_t column = column_of(c, slot);
        if (column == GF_TERM_NONE) continue;
        uint32_t met = is_word ? gf_dictionary_met(c->dictionary, slot) : slot->count;
        uint32_t at = __atomic_fetch_add(&c->start[(size_t)column + 1], 1, __ATOMIC_RELAXED);
        c->found[at] = (found_form){slot, met};
    }
    return GF_OK;
}

static gf_status group(chooser *c, gf_pool *pool, const gf_cancel *cancel, gf_error *err)
{
    uint32_t n = c->numbering->n_terms;
    const gf_dictionary *d = c->dictionary;
    size_t shards = d ? shards_of(&d->surfaces) + shards_of(&d->forms) : 0;
    c->start = gf_calloc((size_t)n + 2, sizeof *c->start);
    if (!c->start) return gf_fail_memory(err, "the forms of terms");
    gf_status st = gf_pool_run(pool, shards, count_forms, c, cancel, err);
    if (st != GF_OK) return st;
    for (uint32_t t = 0; t < n; t++)
        c->start[t + 2] += c->start[t + 1];
    c->found = gf_array(c->start[n + 1], sizeof *c->found);
    if (!c->found) return gf_fail_memory(err, "the forms of terms");
    return gf_pool_run(pool, shards, place_forms, c, cancel, err);
}

static int by_bytes(const void *a, const void *b)
{
    const form *const *x = a, *const *y = b;
    return gf_slice_compare((*x)->s, (*y)->s);
}

/* The commonest of n forms; equal ones are added up. */
static gf_slice commonest(form **forms, size_t n)
{
    if (n == 1) return forms[0]->s;
    qsort(forms, n, sizeof *forms, by_bytes);
    gf_slice best = forms[0]->s;
    uint64_t best_count = 0;
    for (size_t i = 0, next; i < n; i = next) {
        uint64_t count = 0;
        for (next = i; next < n && gf_slice_equal(forms[next]->s, forms[i]->s); next++)
            count += forms[next]->count;
        if (count > best_count) {
            best_count = count;
            best = forms[i]->s;
        }
    }
    return best;
}

static gf_status choose_one(const chooser *c, uint32_t column, gf_buffer *scratch, gf_arena *arena,
                            gf_error *err)
{
    const found_form *found = c->found + c->start[column];
    size_t n = c->start[column + 1] - c->start[column];
    gf_slice best = c->terms->term[c->numbering->id[column]];
    if (n) {
        gf_buffer_reset(scratch);
        char *room = gf_buffer_reserve(scratch, n * (sizeof(form) + sizeof(form *)));
        if (!room) return gf_buffer_check(scratch, err);
        form *forms = (form *)(void *)room, **order = (form **)(void *)(forms + n);
        for (size_t i = 0; i < n; i++) {
            forms[i].s = gf_surface_string(found[i].slot, forms[i].small);
            forms[i].count = found[i].count;
            order[i] = &forms[i];
        }
        best = commonest(order, n);
    }
    c->out->form[column] = gf_arena_copy(arena, best);
    return c->out->form[column].ptr ? GF_OK : gf_fail_memory(err, "the forms of terms");
}

static gf_status choose(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)worker;
    const chooser *c = context;
    uint32_t n = c->numbering->n_terms, from = (uint32_t)index * TASK_COLUMNS;
    uint32_t to = n - from > TASK_COLUMNS ? from + TASK_COLUMNS : n;
    gf_buffer scratch = {0};
    gf_status st = GF_OK;
    for (uint32_t column = from; column < to && st == GF_OK; column++)
        st = choose_one(c, column, &scratch, &c->out->arenas[index], err);
    gf_buffer_release(&scratch);
    return st;
}

gf_status gf_surface_forms_choose(gf_pool *pool, const gf_dictionary *dictionary,
                                  const gf_found_terms *terms, const gf_numbering *numbering,
                                  gf_forms *forms, const gf_cancel *cancel, gf_error *err)
{
    gf_forms out = {.n_arenas = ((size_t)numbering->n_terms + TASK_COLUMNS - 1) / TASK_COLUMNS};
    chooser c = {.dictionary = dictionary, .numbering = numbering, .terms = terms, .out = &out};
    gf_status st = GF_OK;
    out.form = gf_calloc(numbering->n_terms, sizeof *out.form);
    out.arenas = gf_calloc(out.n_arenas, sizeof *out.arenas);
    if (!out.form || !out.arenas) st = gf_fail_memory(err, "the forms of terms");
    if (st == GF_OK) st = group(&c, pool, cancel, err);
    if (st == GF_OK) st = gf_pool_run(pool, out.n_arenas, choose, &c, cancel, err);
    gf_free(c.start);
    gf_free(c.found);
    if (st == GF_OK)
        *forms = out;
    else
        gf_surface_forms_release(&out);
    return st;
}

void gf_surface_forms_write(const gf_dictionary *dictionary, const gf_numbering *numbering,
                            unsigned n, gf_buffer *to)
{
    const chooser c = {.dictionary = dictionary, .numbering = numbering};
    size_t words = shards_of(&dictionary->surfaces), shards = words + shards_of(&dictionary->forms);
    for (size_t index = 0; index < shards; index++) {
        const gf_surface_shard *s = shard_at(&c, index);
        for (size_t i = 0; s->slots && i <= s->mask; i++) {
            const gf_surface *slot = &s->slots[i];
            char small[GF_SURFACE_INLINE];
            uint32_t column = column_of(&c, slot);
            if (column == GF_TERM_NONE) continue;
            gf_buffer *out = &to[column % n];
            gf_buffer_varint(out, column);
            gf_buffer_varint(out,
                             index < words ? gf_dictionary_met(dictionary, slot) : slot->count);
            gf_buffer_string(out, gf_surface_string(slot, small));
        }
    }
}
