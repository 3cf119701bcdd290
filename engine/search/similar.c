/*
 * The documents most similar to one, or to a text: by the cosine of their rows in the space of the
 * served build of a configuration.
 *
 *     1. its index (engine/rows/index_cells.h) gives each document's similarity nearly: segment by
 *        segment, term at a time, weights of a byte, so by no more than `bound` wrong
 *     2. those that may be among the best by it are weighed exactly, from their texts
 *     3. so are documents that came or were put anew after the build
 *
 * Without an index every document is weighed. What comes out is the same.
 *
 * Where the build's rows were made elsewhere it keeps them (engine/rows/kept_rows.h), and all are
 * weighed; of documents put since the rows are those that they brought along.
 */
#include "engine/search/internal.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/options.h"
#include "engine/rows/kept_rows.h"

#include <stdlib.h>

/* Beside the rounding to a byte: of a float, and what marks a shared term of hardly any weight. */
#define SLACK 1e-6
#define MARK  1e-9

typedef struct found {
    gf_slice id;
    double score;
} found;

/* A document of the index and its similarity, nearly. */
typedef struct near_document {
    double score;
    uint32_t document;
} near_document;

typedef struct comparing {
    const gf_similar_options *options;
    gf_view *view;
    uint32_t *col; /* n_terms: the row that is compared with */
    float *val;
    uint32_t n_terms;
    double length;      /* its L2 length */
    gf_strings changed; /* documents put or deleted after the build */
    gf_matrix_index index;
    double *nearly;     /* of the documents of a segment */
    uint32_t *left_out; /* n_left_out of left_capacity, rising: not to be weighed by it */
    size_t n_left_out, left_capacity;
    near_document
        *best; /* of n_best, a heap with the worst on top: of those near, `limit` at most */
    size_t n_best;
    near_document *near; /* n_near of near_capacity: documents that may be among the best */
    size_t n_near, near_capacity;
    double bound; /* on the error of a near similarity */
    gf_row row;
    found *found; /* n_found of capacity */
    size_t n_found, capacity;
    double least; /* what is below it is not among the best */
    gf_arena memory;
} comparing;

static double length_of(gf_row_view row)
{
    double sum = 0;
    for (uint32_t p = 0; p < row.n; p++)
        sum += (double)row.val[p] * row.val[p];
    return sqrt(sum);
}

/* ---- exactly --------------------------------------------------------------------------------- */

static gf_status keep_found(comparing *c, gf_slice id, double score, gf_error *err)
{
    if (!gf_grow(&c->found, &c->capacity, c->n_found + 1, sizeof *c->found))
        return gf_fail_memory(err, "similar documents");
    gf_slice copy = gf_arena_copy(&c->memory, id);
    if (!copy.ptr) return gf_fail_memory(err, "similar documents");
    c->found[c->n_found++] = (found){copy, score};
    return GF_OK;
}

/* A document by its row of documents:main. */
static gf_status weigh_document(comparing *c, gf_slice id, const gf_row *document, gf_error *err)
{
    const gf_cell *text = gf_row_find(document, GF_DOCUMENTS_MAIN, "text");
    const gf_cell *lang = gf_row_find(document, GF_DOCUMENTS_MAIN, "lang");
    gf_row_view row;
    bool about;
    gf_status st = gf_view_selects(c->view, document, &about, err);
    if (st != GF_OK || !about || gf_slice_equal(id, c->options->id)) return st;
    if (!text) return gf_fail(err, GF_ECORRUPT, "table documents: a row is damaged");
    st = gf_model_row(&c->view->model, lang ? lang->value : (gf_slice){"", 0}, text->value, &row,
                      err);
    if (st != GF_OK) return st;
    double dot = gf_csr_row_dot((gf_row_view){c->col, c->val, c->n_terms}, row);
    if (!(dot > 0)) return GF_OK;
    double cosine = dot / (c->length * length_of(row));
    return keep_found(c, id, cosine < 1 ? cosine : 1, err);
}

static gf_status weigh_id(comparing *c, gf_slice id, gf_error *err)
{
    gf_status st = gf_cancel_check(c->options->cancel, err);
    if (st == GF_OK) st = gf_state_row(c->view->state, id, &c->row, err);
    if (st == GF_OK) return weigh_document(c, id, &c->row, err);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* ---- nearly ---------------------------------------------------------------------------------- */

static gf_status open_index(comparing *c, bool *there, gf_error *err)
{
    gf_status st = gf_matrix_index_open(&c->index, c->view->store, c->view->snapshot,
                                        gf_buffer_view(&c->view->key), there, err);
    if (st != GF_OK || !*there) return st;
    c->nearly =
        gf_array(c->index.ids.n < c->index.ids.segment ? c->index.ids.n : c->index.ids.segment,
                 sizeof *c->nearly);
    return c->nearly ? GF_OK : gf_fail_memory(err, "similar documents");
}

/* Add up, for n documents of a segment that have a term, their share with the row by it. */
static gf_status add_postings(comparing *c, gf_slice bytes, uint32_t n, uint32_t of_segment,
                              double weight, gf_error *err)
{
    const unsigned char *p = (const unsigned char *)bytes.ptr, *end = p + bytes.len;
    uint32_t document = 0, value;
    for (uint32_t i = 0; i < n; i++) {
        p = gf_index_posting(p, end, of_segment, i == 0, &document, &value);
        if (!p || value > 256) return gf_index_damaged(err);
        if (weight > 0) c->nearly[document] += weight * ((value - 1) / 255.0) + MARK;
    }
    return p == end ? GF_OK : gf_index_damaged(err);
}

/* The terms of the row from the at-th on that are in its cell: the last that does not begin behind. */
static gf_status read_terms(comparing *c, uint32_t segment, uint32_t of_segment, uint32_t *at,
                            gf_error *err)
{
    char name[4];
    uint32_t wanted = c->col[*at];
    gf_scan *scan = NULL;
    gf_row row = {0};
    bool more = false;
    for (int i = 0; i < 4; i++)
        name[i] = (char)(wanted >> (24 - 8 * i));
    gf_status st =
        gf_index_walk(&c->index.place, segment, 't', gf_slice_of(name, 4), true, &scan, err);
    if (st == GF_OK) st = gf_scan_step(scan, &row, &more, err);
    gf_slice cell = {0}, qualifier = {0};
    if (st == GF_OK && more) {
        cell = row.cells[0].value;
        qualifier = row.cells[0].qualifier;
        if (qualifier.len < 4) st = gf_index_damaged(err);
    }
    uint64_t term = st == GF_OK && more ? gf_read_u32be(qualifier.ptr + qualifier.len - 4) : 0;
    while (st == GF_OK && *at < c->n_terms && cell.len) {
        uint32_t step, n;
        gf_slice postings;
        if (!gf_slice_take_varint32(&cell, &step) || !gf_slice_take_varint32(&cell, &n) ||
            !gf_slice_take_string(&cell, &postings)) {
            st = gf_index_damaged(err);
            break;
        }
        term += step;
        while (*at < c->n_terms && c->col[*at] < term)
            ++*at; /* no document of the segment has it */
        if (*at < c->n_terms && c->col[*at] == term)
            st = add_postings(c, postings, n, of_segment, c->val[(*at)++], err);
    }
    gf_scan_close(scan);
    gf_row_release(&row);
    if (st == GF_OK && *at < c->n_terms && c->col[*at] == wanted) ++*at;
    return st;
}

/* ---- the best of these ----------------------------------------------------------------------- */

static void sift_score(near_document *heap, size_t n, size_t i)
{
    for (;;) {
        size_t least = i, left = 2 * i + 1;
        if (left < n && heap[left].score < heap[least].score) least = left;
        if (left + 1 < n && heap[left + 1].score < heap[least].score) least = left + 1;
        if (least == i) return;
        near_document swap = heap[i];
        heap[i] = heap[least];
        heap[least] = swap;
        i = least;
    }
}

static double bound_of(const comparing *c)
{
    double sum = 0;
    for (uint32_t p = 0; p < c->n_terms; p++)
        sum += fabs((double)c->val[p]);
    return sum * (0.5 / 255) + SLACK + MARK * c->n_terms;
}

static bool is_full(const comparing *c)
{
    return c->options->limit && c->n_best == c->options->limit;
}

/* The least similarity that may be among the best: from the limit-th best of those near so far. */
static double least_near(const comparing *c)
{
    return is_full(c) ? c->best[0].score - 2 * c->bound : 0;
}

static void forget_far(comparing *c)
{
    double least = least_near(c);
    size_t kept = 0;
    for (size_t i = 0; i < c->n_near; i++)
        if (c->near[i].score >= least) c->near[kept++] = c->near[i];
    c->n_near = kept;
}

static gf_status add_near(comparing *c, near_document d, gf_error *err)
{
    enum { MANY = 1 << 16 };
    if (is_full(c)) {
        if (d.score > c->best[0].score) {
            c->best[0] = d;
            sift_score(c->best, c->n_best, 0);
        }
    } else if (c->options->limit) {
        c->best[c->n_best++] = d;
        for (size_t i = c->n_best / 2; is_full(c) && i-- > 0;)
            sift_score(c->best, c->n_best, i);
    }
    if (c->n_near == c->near_capacity && c->n_near >= MANY) forget_far(c);
    if (!gf_grow(&c->near, &c->near_capacity, c->n_near + 1, sizeof *c->near))
        return gf_fail_memory(err, "similar documents");
    c->near[c->n_near++] = d;
    return GF_OK;
}

/* Documents that changed after the build, and the document itself, must not be among the best. */
static gf_status leave_out(comparing *c, gf_slice id, gf_error *err)
{
    uint32_t rank;
    bool there;
    gf_status st = gf_id_reader_rank(&c->index.ids, id, &rank, &there, err);
    if (st != GF_OK || !there) return st;
    if (!gf_grow(&c->left_out, &c->left_capacity, c->n_left_out + 1, sizeof *c->left_out))
        return gf_fail_memory(err, "similar documents");
    c->left_out[c->n_left_out++] = rank;
    return GF_OK;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static gf_status leave_out_all(comparing *c, gf_error *err)
{
    gf_status st = leave_out(c, c->options->id, err);
    for (uint32_t i = 0; i < c->changed.n && st == GF_OK; i++)
        st = leave_out(c, gf_strings_at(&c->changed, i), err);
    if (c->n_left_out) qsort(c->left_out, c->n_left_out, sizeof *c->left_out, by_number);
    return st;
}

static gf_status add_segment(comparing *c, uint32_t segment, size_t *left_out, gf_error *err)
{
    uint32_t first = segment * c->index.ids.segment, n = c->index.ids.n - first;
    gf_status st = GF_OK;
    if (n > c->index.ids.segment) n = c->index.ids.segment;
    memset(c->nearly, 0, n * sizeof *c->nearly);
    for (uint32_t at = 0; at < c->n_terms && st == GF_OK;) {
        st = gf_cancel_check(c->options->cancel, err);
        if (st == GF_OK) st = read_terms(c, segment, n, &at, err);
    }
    for (; *left_out < c->n_left_out && c->left_out[*left_out] - first < n; ++*left_out)
        c->nearly[c->left_out[*left_out] - first] = 0;
    double least = least_near(c);
    for (uint32_t d = 0; d < n && st == GF_OK; d++) {
        if (!(c->nearly[d] > 0) || c->nearly[d] < least) continue;
        st = add_near(c, (near_document){c->nearly[d], first + d}, err);
        least = least_near(c);
    }
    return st;
}

static gf_status weigh_best(comparing *c, gf_error *err)
{
    uint64_t limit = c->options->limit < c->index.ids.n ? c->options->limit : c->index.ids.n;
    size_t left_out = 0;
    c->bound = bound_of(c);
    c->best = gf_array((size_t)limit, sizeof *c->best);
    if (!c->best) return gf_fail_memory(err, "similar documents");
    gf_status st = leave_out_all(c, err);
    for (uint32_t s = 0; s < c->index.ids.n_segments && st == GF_OK; s++)
        st = add_segment(c, s, &left_out, err);
    forget_far(c);
    for (size_t i = 0; i < c->n_near && st == GF_OK; i++) {
        gf_slice id;
        st = gf_id_reader_id(&c->index.ids, c->near[i].document, &id, err);
        if (st == GF_OK) st = weigh_id(c, id, err);
    }
    for (uint32_t i = 0; i < c->changed.n && st == GF_OK; i++)
        st = weigh_id(c, gf_strings_at(&c->changed, i), err);
    return st;
}

/* ---- all ------------------------------------------------------------------------------------- */

static gf_status weigh_row(void *context, const gf_row *document, gf_error *err)
{
    comparing *c = context;
    gf_buffer id = {0};
    gf_status st = gf_cancel_check(c->options->cancel, err);
    if (st == GF_OK)
        st = gf_tables_key_last_string(c->view->store->tables.documents, document->key, &id, err);
    if (st == GF_OK) st = weigh_document(c, gf_buffer_view(&id), document, err);
    gf_buffer_release(&id);
    return st;
}

static gf_status weigh_all(comparing *c, gf_error *err)
{
    gf_buffer prefix = {0};
    gf_tables_collection_key(&prefix, c->view->where.name_space, c->view->where.collection);
    gf_status st = gf_buffer_check(&prefix, err);
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = c->view->snapshot, .family = GF_DOCUMENTS_MAIN,
                                        .prefix = gf_buffer_view(&prefix));
    if (st == GF_OK) st = gf_scan_each(c->view->store->tables.documents, &o, weigh_row, c, err);
    gf_buffer_release(&prefix);
    return st;
}

static gf_status compare_documents(comparing *c, gf_error *err)
{
    bool unit = c->view->model.analysis.options.weights.norm == GF_NORM_L2, there = false;
    gf_status st = unit ? open_index(c, &there, err) : GF_OK;
    if (st != GF_OK) return st;
    if (!there) return weigh_all(c, err);
    st = gf_view_changed_ids(c->view, &c->changed, err);
    return st == GF_OK ? weigh_best(c, err) : st;
}

/* ---- given rows ------------------------------------------------------------------------------ */

static int by_rank(const void *a, const void *b)
{
    const found *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return gf_slice_compare(x->id, y->id);
}

/* Forget now and then what is not among the best, so that memory does not grow with the rows. */
static gf_status keep_best(comparing *c, gf_slice id, double cosine, gf_error *err)
{
    enum { MORE = 1000 };
    uint64_t limit = c->options->limit;
    if (!(cosine > 0) || cosine < c->least) return GF_OK;
    gf_status st = keep_found(c, id, cosine < 1 ? cosine : 1, err);
    if (st != GF_OK || limit == 0 || c->n_found < limit + MORE) return st;
    qsort(c->found, c->n_found, sizeof *c->found, by_rank);
    c->n_found = (size_t)limit;
    c->least = c->found[limit - 1].score;
    return GF_OK;
}

/* Rows are of unit length, but for what a byte a column leaves out. */
static gf_status weigh_kept(void *context, gf_slice id, gf_row_view row, gf_error *err)
{
    comparing *c = context;
    gf_status st = gf_cancel_check(c->options->cancel, err);
    if (st != GF_OK || gf_slice_equal(id, c->options->id) ||
        gf_strings_find(&c->changed, id) != GF_STRING_NONE)
        return st;
    gf_row_view own = {c->col, c->val, c->n_terms};
    double dot = 0;
    if (own.n == c->view->info.terms && row.n == own.n)
        for (uint32_t i = 0; i < row.n; i++)
            dot += (double)own.val[i] * (double)row.val[i];
    else
        dot = gf_csr_row_dot(own, row);
    double length = dot > 0 ? length_of(row) : 0;
    return length > 0 ? keep_best(c, id, dot / (c->length * length), err) : GF_OK;
}

/* A document put after the build, by the row that it brought along. */
static gf_status weigh_brought(comparing *c, gf_slice id, gf_error *err)
{
    gf_document d;
    gf_field *fields = NULL;
    gf_row_view row;
    uint64_t seq;
    bool about = false;
    gf_view *v = c->view;
    if (gf_slice_equal(id, c->options->id)) return GF_OK;
    gf_status st = gf_state_document_row(v->state, id, &c->row, &d, &fields, &seq, err);
    if (st == GF_ENOTFOUND) return GF_OK;
    if (st == GF_OK) st = gf_view_selects(v, &c->row, &about, err);
    if (st == GF_OK && about) st = gf_view_row_of(v, &d, &row, err);
    if (st == GF_OK && about) {
        double dot = gf_csr_row_dot((gf_row_view){c->col, c->val, c->n_terms}, row);
        st = keep_best(c, id, dot / c->length, err);
    }
    gf_free(fields);
    return st;
}

static gf_status keep_row(comparing *c, gf_row_view row, gf_error *err);

/* The row of the document that is compared with: the build's, or if it was put since its own. */
static gf_status read_given(comparing *c, gf_kept_rows *rows, gf_error *err)
{
    gf_document d;
    gf_field *fields = NULL;
    gf_view *v = c->view;
    gf_row_view row = {0};
    uint64_t seq = 0;
    const char *why = GF_VECTOR_WITHOUT;
    bool given = gf_rows_are_given(v->info.rows);
    if (c->options->id.len == 0 && given)
        return gf_fail(err, GF_ECONFLICT,
                       "this build clusters vectors that were made elsewhere: a text cannot be "
                       "compared with them; give the id of a document");
    gf_status st = GF_OK;
    if (c->options->id.len)
        st = gf_state_document_row(v->state, c->options->id, &c->row, &d, &fields, &seq, err);
    else
        d = (gf_document){.text = c->options->text, .language = c->options->language};
    if (st == GF_OK && c->options->id.len && seq <= v->info.seq && given) {
        st = gf_kept_rows_find(rows, c->options->id, &row, err);
        if (st == GF_ENOTFOUND) st = GF_OK;
    } else if (st == GF_OK) {
        st = gf_view_row_of(v, &d, &row, err);
        why = v->vector.why;
    }
    if (st == GF_OK && row.n == 0 && given)
        st = gf_fail(err, GF_ECONFLICT, "document \"%.*s\" is %s: nothing is similar to it",
                     GF_SLICE_ARG(c->options->id), why);
    if (st == GF_OK) st = keep_row(c, row, err);
    gf_free(fields);
    return st;
}

static gf_status compare_given(comparing *c, gf_error *err)
{
    gf_kept_rows rows = {0};
    gf_view *v = c->view;
    gf_status st = gf_kept_rows_open(&rows, v->store->tables.builds, v->snapshot,
                                     gf_buffer_view(&v->key), err);
    if (st == GF_ENOTFOUND)
        st = gf_fail(err, GF_ECONFLICT,
                     "this build is of an earlier version, and keeps no vectors: rebuild it with "
                     "its matrix");
    if (st == GF_OK) st = read_given(c, &rows, err);
    if (st == GF_OK) st = gf_view_changed_ids(v, &c->changed, err);
    if (st == GF_OK && c->n_terms) st = gf_kept_rows_each(&rows, weigh_kept, c, err);
    for (uint32_t i = 0; i < c->changed.n && st == GF_OK && c->n_terms; i++) {
        st = gf_cancel_check(c->options->cancel, err);
        if (st == GF_OK) st = weigh_brought(c, gf_strings_at(&c->changed, i), err);
    }
    gf_kept_rows_release(&rows);
    return st;
}

/* ---- visits ---------------------------------------------------------------------------------- */

gf_status gf_search_read_placed(gf_view *view, gf_slice id, gf_row *row, gf_document *document,
                                gf_field **fields, gf_membership *m, bool *placed, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    uint64_t seq;
    *placed = false;
    gf_status st = gf_view_current_membership(view, id, m, &why);
    if (st != GF_OK && st != GF_ENOTFOUND && st != GF_ECONFLICT) {
        if (err) *err = why;
        return st;
    }
    *placed = st == GF_OK;
    return gf_state_document_row(view->state, id, row, document, fields, &seq, err);
}

static gf_status visit_found(comparing *c, const found *f, gf_visit_hit *visit, void *context,
                             gf_error *err)
{
    gf_document document;
    gf_field *fields = NULL;
    gf_membership m;
    bool placed;
    gf_status st =
        gf_search_read_placed(c->view, f->id, &c->row, &document, &fields, &m, &placed, err);
    gf_hit hit = {.document = &document, .score = f->score, .membership = placed ? &m : NULL};
    if (st == GF_OK) st = visit(context, &hit, err);
    gf_free(fields);
    return st;
}

static gf_status visit_best(comparing *c, gf_visit_hit *visit, void *context, gf_error *err)
{
    uint64_t limit = c->options->limit ? c->options->limit : UINT64_MAX;
    gf_status st = GF_OK;
    if (c->n_found) qsort(c->found, c->n_found, sizeof *c->found, by_rank);
    for (size_t i = 0; i < c->n_found && i < limit && st == GF_OK; i++) {
        st = gf_cancel_check(c->options->cancel, err);
        if (st == GF_OK) st = visit_found(c, &c->found[i], visit, context, err);
    }
    return st;
}

/* ---- the row that is compared with ----------------------------------------------------------- */

static gf_status keep_row(comparing *c, gf_row_view row, gf_error *err)
{
    c->col = gf_array(row.n, sizeof *c->col);
    c->val = gf_array(row.n, sizeof *c->val);
    if (!c->col || !c->val) return gf_fail_memory(err, "a row");
    if (row.n) memcpy(c->col, row.col, row.n * sizeof *c->col);
    if (row.n) memcpy(c->val, row.val, row.n * sizeof *c->val);
    c->n_terms = row.n;
    c->length = length_of(row);
    return GF_OK;
}

static gf_status read_row(comparing *c, gf_error *err)
{
    const gf_similar_options *o = c->options;
    gf_document d = {.text = o->text, .language = o->language};
    gf_field *fields = NULL;
    gf_row_view row;
    uint64_t seq;
    gf_status st = gf_view_load_model(c->view, err);
    if (st == GF_OK && o->id.len)
        st = gf_state_document_row(c->view->state, o->id, &c->row, &d, &fields, &seq, err);
    if (st == GF_OK) st = gf_model_row(&c->view->model, d.language, d.text, &row, err);
    if (st == GF_OK) st = keep_row(c, row, err);
    gf_free(fields);
    return st;
}

static void release_comparison(comparing *c)
{
    gf_free(c->col);
    gf_free(c->val);
    gf_matrix_index_release(&c->index);
    gf_free(c->nearly);
    gf_free(c->left_out);
    gf_free(c->best);
    gf_free(c->near);
    gf_free(c->found);
    gf_strings_release(&c->changed);
    gf_row_release(&c->row);
    gf_arena_release(&c->memory);
    gf_view_close(c->view);
}

gf_status gf_similar(gf_store *store, gf_place where, const gf_similar_options *options,
                     gf_visit_hit *visit, void *context, gf_error *err)
{
    gf_status known =
        gf_options_check(options->version, GF_SIMILAR_OPTIONS_VERSION, "gf_similar_options", err);
    if (known != GF_OK) return known;
    comparing c = {.options = options};
    gf_slice configuration =
        options->configuration.len ? options->configuration : GF_SLICE("default");
    gf_status st = gf_view_open_warm(store, where, configuration, 0, &c.view, err);
    bool given = st == GF_OK && gf_view_build(c.view)->rows != GF_ROWS_OF_TEXTS;
    if (given) st = compare_given(&c, err);
    if (st == GF_OK && !given) st = read_row(&c, err);
    if (st == GF_OK && !given && c.n_terms) st = compare_documents(&c, err);
    if (st == GF_OK) st = visit_best(&c, visit, context, err);
    release_comparison(&c);
    return st;
}
