#include "vectorize/rows/shared_terms_internal.h"

#include "base/memory.h"
#include "vectorize/rows/surface_forms_internal.h"

#include <xxhash.h>

static gf_status fail_bytes(gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "terms of another rank cannot be read");
}

void gf_shared_terms_release(gf_shared_terms *s)
{
    gf_free(s->term);
    gf_free(s->df);
    gf_free(s->idf);
    gf_buffer_release(&s->bytes[0]);
    gf_buffer_release(&s->bytes[1]);
    *s = (gf_shared_terms){0};
}

/* ---- what goes to each rank, and comes from it ------------------------------------------------- */

typedef struct parcels {
    unsigned n;
    gf_buffer *to, *from; /* n */
    gf_slice *view;       /* n: of what goes out */
} parcels;

static void release_parcels(parcels *p)
{
    for (unsigned i = 0; i < p->n; i++) {
        if (p->to) gf_buffer_release(&p->to[i]);
        if (p->from) gf_buffer_release(&p->from[i]);
    }
    gf_free(p->to);
    gf_free(p->from);
    gf_free(p->view);
}

static gf_status init_parcels(parcels *p, const gf_ranks *ranks, gf_error *err)
{
    p->n = gf_ranks_n(ranks);
    p->to = gf_calloc(p->n, sizeof *p->to);
    p->from = gf_calloc(p->n, sizeof *p->from);
    p->view = gf_calloc(p->n, sizeof *p->view);
    return p->to && p->from && p->view ? GF_OK : gf_fail_memory(err, "what goes to ranks");
}

/* Buffers are freed as soon as they have gone out. */
static gf_status deal_parcels(parcels *p, gf_ranks *ranks, gf_error *err)
{
    gf_status st = GF_OK;
    for (unsigned i = 0; i < p->n && st == GF_OK; i++) {
        p->view[i] = gf_buffer_view(&p->to[i]);
        st = gf_buffer_check(&p->to[i], err);
    }
    if (st == GF_OK) st = gf_ranks_deal(ranks, p->view, p->from, err);
    for (unsigned i = 0; i < p->n; i++)
        gf_buffer_release(&p->to[i]);
    return st;
}

/* ---- counts of strings -------------------------------------------------------------------------- */

/* Strings that several ranks have, with the sums of their counts. */
typedef struct counted_strings {
    gf_strings strings;
    uint64_t *count; /* strings.n of capacity */
    size_t capacity;
} counted_strings;

static void release_counted(counted_strings *c)
{
    gf_strings_release(&c->strings);
    gf_free(c->count);
}

static gf_status add_counted(counted_strings *c, gf_slice s, uint64_t count, gf_error *err)
{
    uint32_t id;
    bool added;
    gf_status st = gf_strings_add(&c->strings, s, &id, &added, err);
    if (st != GF_OK) return st;
    if (id >= c->capacity) {
        size_t capacity = c->capacity ? c->capacity * 2 : 1024;
        uint64_t *grown = gf_realloc(c->count, capacity, sizeof *grown);
        if (!grown) return gf_fail_memory(err, "counts of terms");
        c->count = grown;
        c->capacity = capacity;
    }
    c->count[id] = added ? count : c->count[id] + count;
    return GF_OK;
}

static void put_counted(gf_buffer *out, gf_slice s, uint64_t count)
{
    gf_buffer_varint(out, count);
    gf_buffer_string(out, s);
}

/* ---- terms ---------------------------------------------------------------------------------------- */

/* Each of this rank's terms that counts goes to its owner. */
static void send_terms(parcels *p, const gf_found_terms *terms, const uint32_t *count,
                       const uint32_t *column)
{
    for (uint32_t i = 0; i < terms->n; i++) {
        gf_slice s = terms->term[i];
        if (!s.ptr || count[i] == 0 || (column && column[i] != GF_TERM_NONE)) continue;
        put_counted(&p->to[XXH3_64bits(s.ptr, s.len) % p->n], s, count[i]);
    }
}

static gf_status add_up(const parcels *p, counted_strings *sums, gf_error *err)
{
    gf_status st = GF_OK;
    for (unsigned i = 0; i < p->n && st == GF_OK; i++) {
        gf_slice s = gf_buffer_view(&p->from[i]), term;
        uint64_t count;
        while (s.len && st == GF_OK) {
            bool read = gf_slice_take_varint(&s, &count) && gf_slice_take_string(&s, &term);
            st = read ? add_counted(sums, term, count, err) : fail_bytes(err);
        }
        gf_buffer_release(&p->from[i]);
    }
    return st;
}

/* Sums that lie within bounds go to rank 0. */
static gf_status gather_sums(gf_ranks *ranks, const counted_strings *sums, uint32_t least,
                             uint32_t most, gf_buffer *from, gf_error *err)
{
    gf_buffer mine = {0};
    for (uint32_t i = 0; i < sums->strings.n; i++)
        if (sums->count[i] >= least && sums->count[i] <= most)
            put_counted(&mine, gf_strings_at(&sums->strings, i), sums->count[i]);
    gf_status st = gf_buffer_check(&mine, err);
    if (st == GF_OK) st = gf_ranks_gather(ranks, 0, gf_buffer_view(&mine), from, err);
    gf_buffer_release(&mine);
    return st;
}

/* At rank 0: what was gathered, as terms that can be numbered. */
static gf_status list_gathered(const gf_buffer *from, unsigned n_ranks, gf_found_terms *all,
                               gf_error *err)
{
    uint64_t n = 0, count;
    gf_slice term;
    for (unsigned i = 0; i < n_ranks; i++)
        for (gf_slice s = gf_buffer_view(&from[i]); s.len; n++)
            if (!gf_slice_take_varint(&s, &count) || !gf_slice_take_string(&s, &term) ||
                count > UINT32_MAX)
                return fail_bytes(err);
    if (n >= UINT32_MAX) return gf_fail(err, GF_ELIMIT, "too many different words");
    all->term = gf_array((size_t)n, sizeof *all->term);
    all->df = gf_array((size_t)n, sizeof *all->df);
    if (!all->term || !all->df) return gf_fail_memory(err, "the terms");
    for (unsigned i = 0; i < n_ranks; i++)
        for (gf_slice s = gf_buffer_view(&from[i]); s.len; all->n++) {
            gf_slice_take_varint(&s, &count);
            gf_slice_take_string(&s, &all->term[all->n]);
            all->df[all->n] = (uint32_t)count;
        }
    return GF_OK;
}

/* At rank 0: the terms in the order of their columns. options NULL: they are rescue terms. */
static gf_status order_terms(const gf_vectorizer_options *options, uint32_t n_docs,
                             const gf_buffer *from, unsigned n_ranks, gf_buffer *out, gf_error *err)
{
    gf_found_terms all = {0};
    gf_numbering numbering = {0};
    gf_status st = list_gathered(from, n_ranks, &all, err);
    if (st == GF_OK && options) {
        st = gf_number_terms_regular(options, n_docs, &all, &numbering, err);
    } else if (st == GF_OK) {
        numbering.column = gf_array(all.n, sizeof *numbering.column);
        if (!numbering.column) st = gf_fail_memory(err, "numbering terms");
        for (uint32_t i = 0; i < all.n && st == GF_OK; i++)
            numbering.column[i] = GF_TERM_NONE;
        if (st == GF_OK) st = gf_number_terms_rescue(&all, all.df, &numbering, err);
    }
    gf_buffer_varint(out, numbering.n_terms);
    for (uint32_t c = 0; c < numbering.n_terms; c++) {
        uint32_t id = numbering.id[c];
        double idf = options ? gf_weight_idf(options->weights.idf, n_docs, all.df[id]) : 1;
        put_counted(out, all.term[id], all.df[id]);
        gf_buffer_append(out, &idf, sizeof idf);
    }
    if (st == GF_OK) st = gf_buffer_check(out, err);
    gf_number_terms_release(&numbering);
    gf_free(all.term);
    gf_free(all.df);
    return st;
}

/* The next columns, of this rank's terms too. */
static gf_status take_columns(gf_slice s, gf_dictionary *dictionary, gf_shared_terms *shared,
                              gf_numbering *numbering, gf_error *err)
{
    uint32_t n, first = shared->n_terms;
    if (!gf_slice_take_varint32(&s, &n) || n > s.len / sizeof(double)) return fail_bytes(err);
    size_t all = (size_t)first + n;
    gf_slice *term = gf_realloc(shared->term, all, sizeof *term);
    if (term) shared->term = term;
    uint32_t *df = term ? gf_realloc(shared->df, all, sizeof *df) : NULL;
    if (df) shared->df = df;
    double *idf = df ? gf_realloc(shared->idf, all, sizeof *idf) : NULL;
    if (idf) shared->idf = idf;
    if (!idf) return gf_fail_memory(err, "the terms");
    for (uint32_t c = first; c < all; c++) {
        gf_slice bytes;
        if (!gf_slice_take_varint32(&s, &df[c]) || !gf_slice_take_string(&s, &term[c]) ||
            !gf_slice_take_bytes(&s, sizeof *idf, &bytes))
            return fail_bytes(err);
        memcpy(&idf[c], bytes.ptr, sizeof *idf);
        uint32_t id = dictionary ? gf_dictionary_find(dictionary, term[c]) : GF_TERM_NONE;
        if (id != GF_TERM_NONE) numbering->column[id] = c;
    }
    numbering->n_terms = shared->n_terms = (uint32_t)all;
    return GF_OK;
}

/* One kind of terms, from the ranks that have them to columns. */
static gf_status number(gf_ranks *ranks, const gf_vectorizer_options *options,
                        gf_dictionary *dictionary, const gf_found_terms *terms,
                        const uint32_t *count, gf_shared_terms *shared, gf_numbering *numbering,
                        gf_error *err)
{
    parcels p;
    counted_strings sums = {0};
    gf_buffer *told = &shared->bytes[options ? 0 : 1];
    uint32_t least = 1, most = UINT32_MAX;
    if (options) gf_vectorizer_options_df_bounds(options, shared->n_docs, &least, &most);
    gf_status st = init_parcels(&p, ranks, err);
    if (st == GF_OK) send_terms(&p, terms, count, options ? NULL : numbering->column);
    if (st == GF_OK) st = deal_parcels(&p, ranks, err);
    if (st == GF_OK) st = add_up(&p, &sums, err);
    if (st == GF_OK) st = gather_sums(ranks, &sums, least, most, p.from, err);
    release_counted(&sums);
    if (st == GF_OK && gf_ranks_me(ranks) == 0)
        st = order_terms(options, shared->n_docs, p.from, p.n, told, err);
    release_parcels(&p);
    if (st == GF_OK) st = gf_ranks_send_all(ranks, 0, told, err);
    return st == GF_OK ? take_columns(gf_buffer_view(told), dictionary, shared, numbering, err)
                       : st;
}

gf_status gf_shared_terms_number(gf_ranks *ranks, const gf_vectorizer_options *options,
                                 uint32_t n_docs, gf_dictionary *dictionary,
                                 const gf_found_terms *terms, gf_shared_terms *shared,
                                 gf_numbering *numbering, gf_error *err)
{
    uint64_t documents = n_docs;
    gf_status st = gf_ranks_sum(ranks, &documents, 1, err);
    if (st == GF_OK && documents > UINT32_MAX - 1)
        st = gf_fail(err, GF_ELIMIT, "more than 2^32 - 2 documents");
    numbering->column = gf_array(terms->n, sizeof *numbering->column);
    if (st == GF_OK && !numbering->column) st = gf_fail_memory(err, "numbering terms");
    if (st != GF_OK) return st;
    for (uint32_t i = 0; i < terms->n; i++)
        numbering->column[i] = GF_TERM_NONE;
    shared->n_docs = (uint32_t)documents;
    st = number(ranks, options, dictionary, terms, terms->df, shared, numbering, err);
    numbering->n_regular = shared->n_regular = shared->n_terms;
    return st;
}

gf_status gf_shared_terms_rescue(gf_ranks *ranks, gf_dictionary *dictionary,
                                 const gf_found_terms *terms, const uint32_t *rows,
                                 gf_shared_terms *shared, gf_numbering *numbering, gf_error *err)
{
    return number(ranks, NULL, dictionary, terms, rows, shared, numbering, err);
}

/* ---- forms ------------------------------------------------------------------------------------------ */

/* A form among those of all columns: the column in front of its bytes. */
enum { COLUMN_BYTES = sizeof(uint32_t) };

static gf_status add_forms(const parcels *p, counted_strings *sums, gf_error *err)
{
    gf_buffer key = {0};
    gf_status st = GF_OK;
    for (unsigned i = 0; i < p->n && st == GF_OK; i++) {
        gf_slice s = gf_buffer_view(&p->from[i]), form;
        uint32_t column;
        uint64_t count;
        while (s.len && st == GF_OK) {
            bool read = gf_slice_take_varint32(&s, &column) && gf_slice_take_varint(&s, &count) &&
                        gf_slice_take_string(&s, &form);
            if (!read) {
                st = fail_bytes(err);
                break;
            }
            gf_buffer_reset(&key);
            gf_buffer_append(&key, &column, COLUMN_BYTES);
            gf_buffer_slice(&key, form);
            st = gf_buffer_check(&key, err);
            if (st == GF_OK) st = add_counted(sums, gf_buffer_view(&key), count, err);
        }
        gf_buffer_release(&p->from[i]);
    }
    gf_buffer_release(&key);
    return st;
}

/* The commonest form of each column that this rank owns, which are every n-th; the lowest of several. */
static gf_status choose_forms(const counted_strings *sums, unsigned n, uint32_t n_terms,
                              gf_buffer *out, gf_error *err)
{
    size_t owned = (size_t)n_terms / n + 1;
    uint32_t *best = gf_array(owned, sizeof *best);
    if (!best) return gf_fail_memory(err, "the forms of terms");
    for (size_t i = 0; i < owned; i++)
        best[i] = GF_STRING_NONE;
    for (uint32_t id = 0; id < sums->strings.n; id++) {
        gf_slice key = gf_strings_at(&sums->strings, id);
        uint32_t column, *chosen;
        memcpy(&column, key.ptr, COLUMN_BYTES);
        if (column >= n_terms) {
            gf_free(best);
            return fail_bytes(err);
        }
        chosen = &best[column / n];
        bool is_better = *chosen == GF_STRING_NONE || sums->count[id] > sums->count[*chosen] ||
                         (sums->count[id] == sums->count[*chosen] &&
                          gf_slice_compare(key, gf_strings_at(&sums->strings, *chosen)) < 0);
        if (is_better) *chosen = id;
    }
    for (size_t i = 0; i < owned; i++) {
        gf_slice key = {NULL, 0};
        if (best[i] != GF_STRING_NONE)
            key = gf_slice_skip(gf_strings_at(&sums->strings, best[i]), COLUMN_BYTES);
        gf_buffer_string(out, key);
    }
    gf_free(best);
    return gf_buffer_check(out, err);
}

/* At rank 0. A column without a form is written as its term. */
static gf_status make_vocabulary(const gf_buffer *from, unsigned n, gf_idf idf,
                                 const gf_shared_terms *shared, gf_vocabulary *vocabulary,
                                 gf_error *err)
{
    gf_slice *form = gf_array(shared->n_terms, sizeof *form);
    gf_status st = form ? GF_OK : gf_fail_memory(err, "the forms of terms");
    for (unsigned i = 0; i < n && st == GF_OK; i++) {
        gf_slice s = gf_buffer_view(&from[i]);
        for (uint32_t c = i; c < shared->n_terms && st == GF_OK; c += n) {
            if (!gf_slice_take_string(&s, &form[c])) st = fail_bytes(err);
            if (st == GF_OK && form[c].len == 0) form[c] = shared->term[c];
        }
    }
    const gf_vocabulary_parts parts = {.n_docs = shared->n_docs,
                                       .n_terms = shared->n_terms,
                                       .n_regular = shared->n_regular,
                                       .idf_kind = idf,
                                       .df = shared->df,
                                       .term = shared->term,
                                       .surface = form};
    if (st == GF_OK) st = gf_vocabulary_init(vocabulary, &parts, err);
    gf_free(form);
    return st;
}

gf_status gf_shared_terms_describe(gf_ranks *ranks, const gf_dictionary *dictionary, gf_idf idf,
                                   const gf_numbering *numbering, const gf_shared_terms *shared,
                                   gf_vocabulary *vocabulary, gf_error *err)
{
    parcels p;
    counted_strings sums = {0};
    gf_buffer mine = {0};
    gf_status st = init_parcels(&p, ranks, err);
    if (st == GF_OK && dictionary) gf_surface_forms_write(dictionary, numbering, p.n, p.to);
    if (st == GF_OK) st = deal_parcels(&p, ranks, err);
    if (st == GF_OK) st = add_forms(&p, &sums, err);
    if (st == GF_OK) st = choose_forms(&sums, p.n, shared->n_terms, &mine, err);
    release_counted(&sums);
    if (st == GF_OK) st = gf_ranks_gather(ranks, 0, gf_buffer_view(&mine), p.from, err);
    gf_buffer_release(&mine);
    if (st == GF_OK && gf_ranks_me(ranks) == 0)
        st = make_vocabulary(p.from, p.n, idf, shared, vocabulary, err);
    release_parcels(&p);
    return st;
}
