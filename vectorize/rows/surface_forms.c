#include "vectorize/rows/surface_forms_internal.h"

#include "base/memory.h"

#include <stdlib.h>

enum { TASK_COLUMNS = 4096 };

/* A worker's table of surfaces (or of n-grams' texts), its slots grouped by column. */
typedef struct source {
    const gf_surfaces *table;
    const uint32_t *merged; /* of the worker's terms */
    uint32_t *start;        /* n_terms + 1: where a column's slots start in slots */
    uint32_t *slots;        /* start[n_terms]: places in the table */
} source;

typedef struct chooser {
    const gf_numbering *numbering;
    const gf_merged *terms;
    source *sources; /* n_sources */
    size_t n_sources;
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
static uint32_t column_of(const chooser *c, const source *s, const gf_surface *slot)
{
    if (!slot->used || slot->use == GF_WORD_NONE) return GF_TERM_NONE;
    uint32_t column = c->numbering->column[s->merged[slot->term]];
    if (column < c->numbering->n_regular && slot->use != GF_WORD_TERM) return GF_TERM_NONE;
    return column;
}

/* Counting sort of a table's slots by column. */
static gf_status group(void *context, size_t index, unsigned worker, gf_error *err)
{
    (void)worker;
    chooser *c = context;
    source *s = &c->sources[index];
    uint32_t n = c->numbering->n_terms;
    s->start = gf_calloc((size_t)n + 2, sizeof *s->start);
    if (!s->start) return gf_fail_memory(err, "the forms of terms");
    /* Counted two places on, so that filling leaves the starts behind. */
    for (size_t i = 0; i < s->table->capacity; i++) {
        uint32_t column = column_of(c, s, &s->table->slots[i]);
        if (column != GF_TERM_NONE) s->start[column + 2]++;
    }
    for (uint32_t t = 0; t < n; t++)
        s->start[t + 2] += s->start[t + 1];
    s->slots = gf_array(s->start[n + 1], sizeof *s->slots);
    if (!s->slots) return gf_fail_memory(err, "the forms of terms");
    for (size_t i = 0; i < s->table->capacity; i++) {
        uint32_t column = column_of(c, s, &s->table->slots[i]);
        if (column != GF_TERM_NONE) s->slots[s->start[column + 1]++] = (uint32_t)i;
    }
    return GF_OK;
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
    size_t total = 0, n = 0;
    for (size_t i = 0; i < c->n_sources; i++)
        total += c->sources[i].start[column + 1] - c->sources[i].start[column];
    gf_slice best = c->terms->term[c->numbering->merged[column]];
    if (total) {
        gf_buffer_reset(scratch);
        char *room = gf_buffer_reserve(scratch, total * (sizeof(form) + sizeof(form *)));
        if (!room) return gf_buffer_check(scratch, err);
        form *forms = (form *)(void *)room, **order = (form **)(void *)(forms + total);
        for (size_t i = 0; i < c->n_sources; i++) {
            const source *s = &c->sources[i];
            for (uint32_t k = s->start[column]; k < s->start[column + 1]; k++, n++) {
                const gf_surface *slot = &s->table->slots[s->slots[k]];
                forms[n].s = gf_surface_string(slot, forms[n].small);
                forms[n].count = slot->count;
                order[n] = &forms[n];
            }
        }
        best = commonest(order, total);
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

static void list_sources(const gf_vectorizer *v, const gf_merged *merged, chooser *c)
{
    for (unsigned w = 0; w < v->n_workers; w++) {
        if (!v->workers[w]) continue;
        const gf_surfaces *words = gf_analyser_surfaces(v->workers[w]->analyser);
        c->sources[c->n_sources++] = (source){.table = words, .merged = merged->of[w]};
        const gf_surfaces *ngrams = &v->workers[w]->ngrams.forms;
        if (ngrams->n)
            c->sources[c->n_sources++] = (source){.table = ngrams, .merged = merged->of[w]};
    }
}

gf_status gf_surface_forms_choose(const gf_vectorizer *v, const gf_merged *merged,
                                  const gf_numbering *numbering, gf_forms *forms,
                                  const gf_cancel *cancel, gf_error *err)
{
    gf_forms out = {.n_arenas = ((size_t)numbering->n_terms + TASK_COLUMNS - 1) / TASK_COLUMNS};
    chooser c = {.numbering = numbering, .terms = merged, .out = &out};
    gf_status st = GF_OK;
    c.sources = gf_calloc((size_t)v->n_workers * 2, sizeof *c.sources);
    out.form = gf_calloc(numbering->n_terms, sizeof *out.form);
    out.arenas = gf_calloc(out.n_arenas, sizeof *out.arenas);
    if (!c.sources || !out.form || !out.arenas) st = gf_fail_memory(err, "the forms of terms");
    if (st == GF_OK) list_sources(v, merged, &c);
    if (st == GF_OK) st = gf_pool_run(v->pool, c.n_sources, group, &c, cancel, err);
    if (st == GF_OK) st = gf_pool_run(v->pool, out.n_arenas, choose, &c, cancel, err);
    for (size_t i = 0; i < c.n_sources; i++) {
        gf_free(c.sources[i].start);
        gf_free(c.sources[i].slots);
    }
    gf_free(c.sources);
    if (st == GF_OK)
        *forms = out;
    else
        gf_surface_forms_release(&out);
    return st;
}
