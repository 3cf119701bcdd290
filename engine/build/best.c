#include "engine/build/best.h"

#include "base/lower_bound.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "cluster/label/copies.h"
#include "engine/rows/copy_list.h"
#include "vectorize/rows/transformer.h"
#include "vectorize/text/sentences.h"

#include <math.h>
#include <stdlib.h>

/* Documents of each cluster whose sentences are looked at: of all documents READ_SHARE percent, but
 * so many; bytes of each, from its start; its sentences. */
enum { READ_SHARE = 4, LEAST_READ = 8, MOST_READ = 40, MOST_TEXT = 4 << 10, MOST_SENTENCES = 60 };

/* Words of a sentence; SHORT to LONG are best. Bytes. */
enum { LEAST_WORDS = 4, SHORT = 12, LONG = 24, MOST_WORDS = 45, MOST_BYTES = 400 };

typedef struct worker {
    gf_copies *copies;
    gf_sentences *sentences;
    gf_transformer *transformer;
    gf_buffer key;
    gf_row row;
} worker;

typedef struct choosing {
    const gf_build_plan *plan;
    const gf_build_gathered *documents;
    const gf_build_clustered *clustered;
    gf_build_best *out;
    uint32_t n_read; /* documents of each cluster */
    worker *workers;
} choosing;

void gf_build_best_release(gf_build_best *b)
{
    for (uint32_t i = 0; b->of && i < b->k; i++) {
        gf_buffer_release(&b->of[i].copies);
        gf_buffer_release(&b->of[i].sentence);
    }
    gf_free(b->of);
    *b = (gf_build_best){0};
}

/* ---- copies ---------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static uint32_t place_of(const uint32_t *sorted, uint32_t n, uint32_t row)
{
    const uint32_t *found = bsearch(&row, sorted, n, sizeof *sorted, by_number);
    return (uint32_t)(found - sorted);
}

/* Compare members whose rows lie in a file: those are read side by side. row: n. */
static gf_status find_in_file(choosing *c, worker *w, const uint32_t *row, uint32_t n,
                              uint32_t *first, gf_error *err)
{
    gf_csr x = {0};
    uint32_t *sorted = gf_array(2 * (size_t)n, sizeof *sorted);
    if (!sorted) return gf_fail_memory(err, "near-duplicates");
    memcpy(sorted, row, n * sizeof *row);
    qsort(sorted, n, sizeof *sorted, by_number);
    for (uint32_t i = 0; i < n; i++)
        sorted[n + i] = place_of(sorted, n, row[i]);
    gf_row_file file = gf_build_gathered_row_file(c->documents);
    gf_status st = gf_row_file_pick(&file, sorted, n, &x, err);
    if (st == GF_OK) st = gf_copies_find(w->copies, &x, sorted + n, n, first, err);
    gf_csr_release(&x);
    gf_free(sorted);
    return st;
}

/* first: as many as the cluster has members; row: their documents. */
static gf_status find_copies(choosing *c, worker *w, uint32_t cluster, const uint32_t *row,
                             uint32_t *first, gf_error *err)
{
    const gf_vectors *v = &c->documents->vectors;
    uint32_t size = gf_build_clustered_size(c->clustered, cluster), n = size;
    gf_status st = w->copies ? GF_OK : gf_copies_create(v->x.n_cols, &w->copies, err);
    if (st != GF_OK) return st;
    if (!v->entries) return gf_copies_find(w->copies, &v->x, row, n, first, err);
    if (n > GF_BEST_COMPARED) n = GF_BEST_COMPARED;
    for (uint32_t i = n; i < size; i++)
        first[i] = i;
    return find_in_file(c, w, row, n, first, err);
}

/* ---- sentences ------------------------------------------------------------------------------- */

/* The text of a document and its language; borrowed from the row or the gathered texts. */
static gf_status read_text(choosing *c, worker *w, uint32_t document, gf_text *text, gf_error *err)
{
    const gf_build_plan *p = c->plan;
    const gf_build_gathered *d = c->documents;
    *text = (gf_text){.text = {"", 0}};
    if (d->texts) {
        *text = d->texts[document];
        return GF_OK;
    }
    gf_buffer_reset(&w->key);
    gf_tables_document_key(&w->key, p->where.name_space, p->where.collection,
                           gf_build_gathered_id(d, document));
    gf_status st = gf_buffer_check(&w->key, err);
    if (st == GF_OK) st = gf_build_plan_document(p, gf_buffer_view(&w->key), &w->row, err);
    if (st == GF_ENOTFOUND && !p->snapshot)
        return GF_OK; /* no sentence of it is one of the build */
    if (st != GF_OK) return st;
    const gf_cell *cell = gf_row_find(&w->row, GF_DOCUMENTS_MAIN, "text");
    const gf_cell *lang = gf_row_find(&w->row, GF_DOCUMENTS_MAIN, "lang");
    if (!cell) return gf_fail(err, GF_ECORRUPT, "table documents: a row is damaged");
    text->text = cell->value;
    if (!p->settings.detect) return GF_OK;
    return gf_languages_of_document(&d->fallback, lang ? lang->value : (gf_slice){0}, cell->value,
                                    &text->language, err);
}

/*
 * How central a sentence's row is: its product with the centre, less half of the largest of the
 * parts that terms add. So one term that all members have does not make a sentence of little else
 * the most central one. The centre, a long row, is looked up in.
 */
static double centrality(gf_row_view row, gf_row_view centre)
{
    double sum = 0, largest = 0;
    for (uint32_t p = 0; p < row.n; p++) {
        uint32_t low = gf_lower_bound(centre.col, centre.n, row.col[p]);
        if (low == centre.n || centre.col[low] != row.col[p]) continue;
        double part = (double)row.val[p] * centre.val[low];
        sum += part;
        if (part > largest) largest = part;
    }
    return sum - largest / 2;
}

/*
 * How fit a sentence is, beside its similarity: 0..1.
 *
 *     sqrt(words / SHORT) of a short one, sqrt(LONG / words) of a long one;
 *     x .9 of a title, which no mark ends, x .7 of another without; x .8 where it begins with a small letter
 */
static double fitness(const gf_sentence *s)
{
    double f = 1;
    if (!s->plain || s->words < LEAST_WORDS || s->words > MOST_WORDS || s->text.len > MOST_BYTES)
        return 0;
    if (s->words < SHORT) f = sqrt((double)s->words / SHORT);
    if (s->words > LONG) f = sqrt((double)LONG / s->words);
    return f * (s->ends ? 1 : s->whole ? .9 : .7) * (s->begins ? 1 : .8);
}

/* The share of the words that are terms of the build, among those that are no stop words. */
static gf_status share_of_known(worker *w, gf_slice text, const gf_language *language,
                                double *share, gf_error *err)
{
    const gf_sequence_token *tokens;
    size_t n, known = 0, others = 0;
    gf_status st = gf_transformer_sequence(w->transformer, text, language, &tokens, &n, err);
    if (st != GF_OK) return st;
    for (size_t i = 0; i < n; i++) {
        if (tokens[i].flags & (GF_SEQUENCE_STOP | GF_SEQUENCE_OTHER)) continue;
        *(tokens[i].term == GF_TERM_NONE ? &others : &known) += 1;
    }
    *share = known ? (double)known / (double)(known + others) : 0;
    return GF_OK;
}

static gf_status look_at_text(choosing *c, worker *w, uint32_t document, gf_row_view centre,
                              gf_build_best_of *of, double *best, gf_error *err)
{
    gf_text text;
    const gf_sentence *list;
    size_t n;
    gf_status st = read_text(c, w, document, &text, err);
    if (st != GF_OK) return st;
    gf_slice start = gf_utf8_cut(text.text, MOST_TEXT);
    st = gf_sentences_split(w->sentences, start, &list, &n, err);
    if (st == GF_OK && n && start.len < text.text.len) n--; /* it may be cut */
    for (size_t i = 0; i < n && i < MOST_SENTENCES && st == GF_OK; i++) {
        gf_row_view row;
        double known, fit = fitness(&list[i]);
        if (fit <= *best) continue; /* a similarity is at most 1 */
        st = gf_transformer_row(w->transformer, list[i].text, text.language, &row, NULL, err);
        if (st != GF_OK) break;
        double score = fit * centrality(row, centre);
        if (score <= *best) continue;
        st = share_of_known(w, list[i].text, text.language, &known, err);
        if (st != GF_OK) break;
        score *= sqrt(known);
        if (score <= *best) continue;
        *best = score;
        of->document = document;
        gf_buffer_reset(&of->sentence);
        gf_buffer_slice(&of->sentence, list[i].text);
        st = gf_buffer_check(&of->sentence, err);
    }
    return st;
}

static gf_status make_worker(choosing *c, worker *w, gf_error *err)
{
    const gf_build_gathered *d = c->documents;
    if (w->transformer) return GF_OK;
    gf_status st = w->sentences ? GF_OK : gf_sentences_create(&w->sentences, err);
    if (st == GF_OK)
        st = gf_transformer_create(&c->plan->settings.vectorizer, &d->vectors.vocabulary,
                                   &w->transformer, err);
    if (st == GF_OK && d->analyser) gf_transformer_borrow(w->transformer, d->analyser);
    return st;
}

static gf_status choose_task(void *context, size_t cluster, unsigned number, gf_error *err)
{
    choosing *c = context;
    worker *w = &c->workers[number];
    gf_build_best_of *of = &c->out->of[cluster];
    const gf_build_clustered *clustered = c->clustered;
    const uint32_t *members = clustered->members + clustered->start[cluster];
    uint32_t size = gf_build_clustered_size(clustered, (uint32_t)cluster), n_read = 0;
    uint32_t *first = gf_array(2 * (size_t)size, sizeof *first), *row = first + size;
    double best = 0;
    if (!first) return gf_fail_memory(err, "best documents");
    for (uint32_t i = 0; i < size; i++)
        row[i] = clustered->row_of[members[i]];
    gf_status st = find_copies(c, w, (uint32_t)cluster, row, first, err);
    if (st == GF_OK) {
        gf_copy_list_write(first, size, &of->copies);
        st = gf_buffer_check(&of->copies, err);
    }
    if (st == GF_OK) st = make_worker(c, w, err);
    gf_row_view centre = gf_centre_row(&gf_build_clustered_terms(clustered)->at[cluster]);
    for (uint32_t i = 0; i < size && n_read < c->n_read && st == GF_OK; i++) {
        if (first[i] != i) continue;
        n_read++;
        st = look_at_text(c, w, row[i], centre, of, &best, err);
    }
    gf_free(first);
    return st;
}

/* ---- all clusters ---------------------------------------------------------------------------- */

static uint32_t divide_reading(const gf_build_clustered *c)
{
    uint64_t n = (uint64_t)c->kmeans.n * READ_SHARE / 100 / c->kmeans.k;
    return n < LEAST_READ ? LEAST_READ : n > MOST_READ ? MOST_READ : (uint32_t)n;
}

gf_status gf_build_best_choose(const gf_build_plan *plan, gf_pool *pool,
                               const gf_build_gathered *documents,
                               const gf_build_clustered *clustered, gf_build_best *out,
                               gf_error *err)
{
    uint32_t k = clustered->kmeans.k;
    unsigned n_workers = gf_pool_size(pool);
    if (k == 0) return GF_OK;
    gf_build_plan_progress(plan, "choosing sentences", 0, k);
    choosing c = {.plan = plan,
                  .documents = documents,
                  .clustered = clustered,
                  .out = out,
                  .n_read = divide_reading(clustered)};
    c.workers = gf_calloc(n_workers, sizeof *c.workers);
    out->of = gf_calloc(k, sizeof *out->of);
    gf_status st = c.workers && out->of ? GF_OK : gf_fail_memory(err, "best documents");
    if (st == GF_OK) {
        out->k = k;
        st = gf_pool_run(pool, k, choose_task, &c, plan->options->cancel, err);
    }
    for (unsigned i = 0; c.workers && i < n_workers; i++) {
        gf_copies_free(c.workers[i].copies);
        gf_sentences_free(c.workers[i].sentences);
        gf_transformer_free(c.workers[i].transformer);
        gf_buffer_release(&c.workers[i].key);
        gf_row_release(&c.workers[i].row);
    }
    gf_free(c.workers);
    return st;
}
