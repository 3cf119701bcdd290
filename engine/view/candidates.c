/*
 * Candidates, what is new since a view's build: groups of pending documents that fit none of its clusters.
 *
 *     pending documents    analysed as the build's are, into terms of their own: rows of tf
 *     a sample of the build's, behind them: a term that the build does not know, because too many
 *                          of its documents have it, is not new
 *     weights              tf * ln((N + n) / (df in the build + df here)), of unit length
 *     fit                  score in the build * length of the known part, against the cluster's own
 *     new terms            more often here, or among the last of them, than chance has it, in documents
 *                          that fit nowhere
 *     k-means              of the documents that fit nowhere and have a new term
 *     groups               of its clusters: those half of which have the same new term are one
 *     growth               documents that are more like a group's centre than like their own cluster's, and than
 *                          nearly all of the build's that were sampled; groups that would join each other are one
 *
 * The build's own space would not do: what is new is told by words that it does not have.
 */
#include "engine/view/candidates_internal.h"

#include "base/clock.h"
#include "base/grow.h"
#include "base/memory.h"
#include "base/number.h"

#include <stdlib.h>

enum { LEAST = 5, SAMPLE = 300, TERMS = 10, EXAMPLES = 5 };

/* ---- documents ------------------------------------------------------------------------------- */

static bool read_time(gf_slice json, int64_t *ms)
{
    double number;
    if (json.len > 2 && json.ptr[0] == '"') {
        gf_slice text = gf_slice_of(json.ptr + 1, json.len - 2);
        return gf_clock_parse_iso(text, ms) || gf_clock_parse_words(text, ms);
    }
    return gf_number_read_decimal(json, &number) && gf_clock_from_number(number, ms);
}

static gf_status keep_document(gf_candidate_search *s, const gf_document *d, gf_error *err)
{
    const char *name = NULL;
    gf_status st = gf_view_language(s->view, d, &name, err);
    if (st != GF_OK) return st;
    if (!gf_grow(&s->at, &s->capacity, s->n_all + 1, sizeof *s->at))
        return gf_fail_memory(err, "documents");
    gf_candidate_pending *p = &s->at[s->n_all];
    *p = (gf_candidate_pending){.id = gf_arena_copy(&s->memory, d->id),
                                .text = gf_arena_copy(&s->memory, d->text),
                                .language = name ? gf_language_find(gf_slice_str(name)) : NULL};
    if (!p->id.ptr || !p->text.ptr) return gf_fail_memory(err, "documents");
    p->has_time = read_time(d->time, &p->time);
    s->n_all++;
    return GF_OK;
}

static gf_status keep_pending(void *context, const gf_document *d, const gf_membership *m,
                              gf_error *err)
{
    gf_candidate_search *s = context;
    gf_status st = gf_cancel_check(s->cancel, err);
    if (st == GF_OK) st = keep_document(s, d, err);
    if (st != GF_OK) return st;
    s->at[s->n].cluster = m->cluster;
    s->at[s->n++].score = m->score;
    return GF_OK;
}

static gf_status keep_sample(void *context, gf_slice id, const gf_membership_cells *cells,
                             const gf_row *row, gf_error *err)
{
    gf_candidate_search *s = context;
    const gf_cell *text = gf_row_find(row, GF_DOCUMENTS_MAIN, "text");
    const gf_cell *lang = gf_row_find(row, GF_DOCUMENTS_MAIN, "lang");
    (void)cells;
    if (s->n_all == s->n + SAMPLE) return gf_fail(NULL, GF_ELIMIT, "enough");
    gf_document d = {.id = id};
    if (text) d.text = text->value;
    if (lang) d.language = lang->value;
    return keep_document(s, &d, err);
}

static gf_status gather(gf_candidate_search *s, gf_error *err)
{
    gf_status st = gf_view_each_pending(s->view, keep_pending, s, err);
    if (st != GF_OK || s->n < s->least) return st;
    st = gf_view_each_member(s->view, keep_sample, s, err);
    return st == GF_ELIMIT ? GF_OK : st;
}

/* ---- telling --------------------------------------------------------------------------------- */

static int by_weight(const void *a, const void *b)
{
    const gf_candidate_term *x = a, *y = b;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return x->term < y->term ? -1 : x->term > y->term;
}

/* "chargers", or "chargers / cable" where a second new term is in others of the group as well. */
static void write_label(const gf_candidate_search *s, const gf_candidate_term *terms, uint32_t n,
                        gf_buffer *out)
{
    const gf_vocabulary *v = &s->rows.vocabulary;
    uint32_t found = 0;
    double first = 0;
    for (uint32_t i = 0; i < n && found < 2; i++) {
        if (s->p[terms[i].term] >= 1 || terms[i].weight < first / 2) continue;
        if (found++) gf_buffer_str(out, " / ");
        gf_buffer_slice(out, gf_vocabulary_surface(v, terms[i].term));
        if (found == 1) first = terms[i].weight;
    }
}

static void find_times(const gf_candidate_search *s, const gf_candidate_group *g, gf_new_group *c)
{
    for (uint32_t i = 0; i < g->n; i++) {
        const gf_candidate_pending *d = &s->at[g->member[i]];
        if (!d->has_time) continue;
        if (!c->has_times || d->time < c->first) c->first = d->time;
        if (!c->has_times || d->time > c->last) c->last = d->time;
        c->has_times = true;
    }
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The cluster that most are nearest to; of equally many the lowest id. */
static void find_nearest(const gf_candidate_search *s, const gf_candidate_group *g, uint32_t *ids,
                         gf_new_group *c)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        const gf_candidate_pending *d = &s->at[g->member[i]];
        ids[i] = d->cluster;
        c->similarity += (double)d->score / g->n;
    }
    qsort(ids, g->n, sizeof *ids, by_number);
    for (uint32_t i = 0, from = 0; i < g->n; i++) {
        if (ids[i] != ids[from]) from = i;
        if (ids[i] && i - from + 1 > most) {
            most = i - from + 1;
            c->nearest = ids[i];
        }
    }
    const gf_listed_cluster *l = gf_view_find_cluster(s->view, c->nearest);
    if (l) c->nearest_label = l->label;
}

gf_status gf_candidates_tell(gf_candidate_search *s, const gf_candidate_group *g, double p,
                             gf_candidate_term *weighed, uint32_t n, gf_error *err)
{
    gf_term terms[TERMS];
    gf_slice id[EXAMPLES], text[EXAMPLES];
    double score[EXAMPLES];
    gf_buffer label = {0};
    gf_new_group c = {.size = g->n, .terms = terms, .id = id, .text = text, .score = score, .p = p};
    uint32_t *ids = gf_array(g->n, sizeof *ids);
    gf_slice *all = gf_array(g->n, sizeof *all);
    float *scores = gf_array(g->n, sizeof *scores);
    gf_status st = ids && all && scores ? GF_OK : gf_fail_memory(err, "candidates");
    if (st != GF_OK) goto done;
    for (uint32_t i = 0; i < g->n; i++) {
        all[i] = s->at[g->member[i]].id;
        scores[i] = g->score[g->member[i]];
    }
    c.all = all;
    c.all_score = scores;
    c.candidate = gf_kept_candidates_claim(&s->kept, all, g->n);
    qsort(weighed, n, sizeof *weighed, by_weight);
    write_label(s, weighed, n, &label);
    for (; c.n_terms < n && c.n_terms < TERMS; c.n_terms++)
        terms[c.n_terms] =
            (gf_term){gf_vocabulary_surface(&s->rows.vocabulary, weighed[c.n_terms].term),
                      (float)weighed[c.n_terms].weight};
    for (; c.n_documents < g->n && c.n_documents < EXAMPLES; c.n_documents++) {
        uint32_t r = g->member[c.n_documents];
        id[c.n_documents] = s->at[r].id;
        text[c.n_documents] = s->at[r].text;
        score[c.n_documents] = (double)g->score[r];
    }
    find_times(s, g, &c);
    find_nearest(s, g, ids, &c);
    c.label = gf_buffer_view(&label);
    st = gf_buffer_check(&label, err);
    if (st == GF_OK) st = s->visit(s->context, &c, err);
done:
    gf_free(ids);
    gf_free(all);
    gf_free(scores);
    gf_buffer_release(&label);
    return st;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static gf_status search_candidates(gf_candidate_search *s, gf_error *err)
{
    uint32_t n_new = 0;
    gf_status st = gf_view_load_clusters(s->view, err);
    if (st == GF_OK) st = gf_view_load_model(s->view, err);
    if (st == GF_OK) st = gather(s, err);
    if (st != GF_OK || s->n < s->least) return st;
    st = gf_candidates_find_terms(s, &n_new, err);
    if (st == GF_OK && n_new) st = gf_kept_candidates_read(s->view, &s->kept, err);
    return st == GF_OK && n_new ? gf_candidates_find_groups(s, err) : st;
}

gf_status gf_view_candidates(gf_view *v, uint32_t least, const gf_cancel *cancel,
                             gf_visit_candidate *visit, void *context, gf_error *err)
{
    gf_candidate_search s = {.view = v,
                             .cancel = cancel,
                             .least = least < 2 ? LEAST : least,
                             .visit = visit,
                             .context = context};
    if (gf_rows_are_given(v->info.rows))
        return gf_fail(err, GF_ECONFLICT,
                       "this build clusters vectors that were made elsewhere: what is new is told "
                       "by the words of texts");
    gf_status st = search_candidates(&s, err);
    gf_kept_candidates_release(&s.kept);
    gf_vectors_release(&s.rows);
    gf_free(s.df);
    gf_free(s.known);
    gf_free(s.weight);
    gf_free(s.p);
    gf_free(s.quartile);
    gf_free(s.at);
    gf_arena_release(&s.memory);
    return st;
}
