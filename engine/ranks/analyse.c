#include "engine/ranks/analyse.h"

#include "base/memory.h"
#include "base/row_file.h"
#include "engine/ranks/job.h"

#include <stdlib.h>
#include <string.h>

/*
 * A message of texts has so many bytes at most, or one text. The first ones are small, so that
 * few texts go to all ranks, too. Rank 0 holds two of them for each rank.
 */
enum { MOST_BYTES = 4 << 20, BYTES_OF_ALL = 32 << 20, FIRST_TEXTS = 64, DOUBLINGS = 6 };

static gf_status fail_message(gf_error *err)
{
    return gf_ranks_session_fail_message(err);
}

static gf_slice bytes_of(const void *p, size_t n)
{
    return gf_slice_of(p, n);
}

bool gf_ranks_analyse_is_wanted(void)
{
    const char *where = getenv("GROUPERFISH_RANKS_ANALYSIS");
    return !where || strcmp(where, "here") != 0;
}

/* ---- out ------------------------------------------------------------------------------------------- */

gf_status gf_ranks_analyse_begin(gf_ranks_session *s, const gf_vectorizer_options *options,
                                 const gf_ranks_wants *wants, bool has_languages, gf_error *err)
{
    const gf_slice none = {NULL, 0};
    const gf_ranks_analysis head = {wants->index_of_words, wants->index_of_rows, wants->compressed,
                                    has_languages};
    gf_buffer settings = {0};
    s->frames = 0;
    s->held_rows = s->held_entries = 0;
    if (s->is_analysis) return gf_ranks_session_tell(s, GF_JOB_AGAIN, none, none, err);
    gf_vectorizer_options_write(options, &settings);
    gf_status st = gf_buffer_check(&settings, err);
    if (st == GF_OK)
        st = gf_ranks_session_tell(s, GF_JOB_ANALYSE, bytes_of(&head, sizeof head),
                                   gf_buffer_view(&settings), err);
    s->is_analysis = st == GF_OK;
    gf_buffer_release(&settings);
    return st;
}

/* Texts of the next message, from the first one on. */
static size_t count_texts(const gf_ranks_session *s, const gf_text_group *group, size_t first)
{
    uint64_t round = s->frames / s->n;
    size_t most = (size_t)FIRST_TEXTS << (round < DOUBLINGS ? round : DOUBLINGS), n = 0, bytes = 0;
    size_t all = BYTES_OF_ALL / s->n, most_bytes = all < MOST_BYTES ? all : MOST_BYTES;
    while (first + n < group->n && n < most) {
        bytes += group->at[first + n].text.len;
        if (n > 0 && bytes > most_bytes) break;
        n++;
    }
    return n;
}

gf_status gf_ranks_analyse_add(gf_ranks_session *s, const gf_text_group *group,
                               const gf_fallback *fallback, gf_error *err)
{
    gf_buffer bytes = {0};
    gf_status st = GF_OK;
    gf_ranks_texts head = {0, GF_FALLBACK_UNKNOWN, 0};
    if (fallback) head.fallback = fallback->kind;
    if (fallback && fallback->language)
        head.language = (uint32_t)gf_language_index(fallback->language) + 1;
    for (size_t at = 0, n; at < group->n && st == GF_OK; at += n) {
        n = count_texts(s, group, at);
        gf_buffer_reset(&bytes);
        for (size_t i = at; i < at + n; i++) {
            gf_buffer_string(&bytes, group->at[i].lang);
            gf_buffer_string(&bytes, group->at[i].text);
        }
        head.n = (uint32_t)n;
        st = gf_buffer_check(&bytes, err);
        if (st == GF_OK) st = gf_ranks_session_drain(s, err);
        if (st == GF_OK)
            st = gf_ranks_session_tell(s, GF_JOB_TEXTS, bytes_of(&head, sizeof head),
                                       gf_buffer_view(&bytes), err);
        s->frames++;
    }
    gf_buffer_release(&bytes);
    return st;
}

/* ---- back ------------------------------------------------------------------------------------------ */

typedef struct coming {
    gf_ranks_session *session;
    gf_ranks_terms all;
    gf_vectors vectors;
    gf_ranks_cells cells;
    uint32_t row; /* that comes next */
} coming;

static gf_status take_terms(coming *c, const char *folder, gf_slice s, gf_error *err)
{
    gf_csr *x = &c->vectors.x;
    if (!gf_ranks_job_take(&s, &c->all, sizeof c->all) || c->all.rows >= UINT32_MAX)
        return fail_message(err);
    gf_status st = gf_vocabulary_read(s, &c->vectors.vocabulary, err);
    if (st != GF_OK) return st;
    x->n_rows = (uint32_t)c->all.rows;
    x->n_cols = c->vectors.vocabulary.n_terms;
    x->start = gf_array((size_t)x->n_rows + 1, sizeof *x->start);
    c->vectors.kind = gf_array(x->n_rows, sizeof *c->vectors.kind);
    if (!x->start || !c->vectors.kind) return gf_fail_memory(err, "the rows");
    x->start[0] = 0;
    return gf_spill_create(folder, &c->vectors.entries, err);
}

/* Kinds and lengths of n rows; their entries are as many as was said. */
static bool take_lengths(coming *c, const gf_ranks_vectors *head, gf_slice *s)
{
    gf_vectors *v = &c->vectors;
    if (!gf_ranks_job_take(s, v->kind + c->row, head->n)) return false;
    for (uint32_t row = c->row; row < c->row + head->n; row++) {
        uint32_t length;
        if (!gf_ranks_job_take(s, &length, sizeof length) || v->kind[row] > GF_ROW_EMPTY)
            return false;
        v->x.start[row + 1] = v->x.start[row] + length;
        v->n_rescued += v->kind[row] == GF_ROW_RESCUED;
        v->n_empty += v->kind[row] == GF_ROW_EMPTY;
    }
    return v->x.start[c->row + head->n] - v->x.start[c->row] == head->entries;
}

static gf_status take_entries(coming *c, const gf_ranks_vectors *head, gf_slice *s, gf_error *err)
{
    const gf_csr *x = &c->vectors.x;
    size_t n = (size_t)head->entries;
    uint32_t *col = gf_array(n, sizeof *col);
    float *val = gf_array(n, sizeof *val);
    gf_status st = col && val ? GF_OK : gf_fail_memory(err, "the rows");
    if (st == GF_OK && (!gf_ranks_job_take(s, col, n * sizeof *col) ||
                        !gf_ranks_job_take(s, val, n * sizeof *val)))
        st = fail_message(err);
    for (size_t i = 0; i < n && st == GF_OK; i++)
        if (col[i] >= x->n_cols) st = fail_message(err);
    if (st == GF_OK)
        st = gf_row_file_write(c->vectors.entries, c->all.entries, x->start[c->row], n, col, val,
                               err);
    gf_free(col);
    gf_free(val);
    return st;
}

static gf_status take_vectors(coming *c, gf_slice s, gf_error *err)
{
    gf_ranks_vectors head;
    if (!gf_ranks_job_take(&s, &head, sizeof head) || head.n > c->all.rows - c->row ||
        !take_lengths(c, &head, &s) || head.entries > c->all.entries - c->vectors.x.start[c->row])
        return fail_message(err);
    gf_status st = take_entries(c, &head, &s, err);
    if (st == GF_OK && s.len) st = fail_message(err);
    c->row += (uint32_t)head.n;
    return st;
}

/* ---- cells ------------------------------------------------------------------------------------------ */

void gf_ranks_cells_release(gf_ranks_cells *cells)
{
    gf_spill_free(cells->spill);
    *cells = (gf_ranks_cells){.spill = NULL};
}

static bool take_cell(gf_slice *s, gf_slice *qualifier, gf_compressed *value)
{
    char smaller;
    if (!gf_slice_take_string(s, qualifier) || !gf_ranks_job_take(s, &smaller, 1) ||
        !gf_slice_take_string(s, &value->bytes))
        return false;
    value->smaller = smaller == 1;
    return smaller == 0 || smaller == 1;
}

/* A message of cells, which is looked through: who reads the file need not doubt it. */
static gf_status keep_cells(coming *c, gf_slice s, gf_error *err)
{
    gf_ranks_cells *to = &c->cells;
    const uint64_t length = s.len;
    gf_slice rest = s, qualifier;
    gf_compressed value;
    while (rest.len)
        if (!take_cell(&rest, &qualifier, &value) || (value.smaller && !to->of.compressed))
            return fail_message(err);
    gf_status st = gf_spill_write(to->spill, to->size, &length, sizeof length, err);
    if (st == GF_OK) st = gf_spill_write(to->spill, to->size + sizeof length, s.ptr, s.len, err);
    to->size += sizeof length + length;
    return st;
}

gf_status gf_ranks_cells_each(const gf_ranks_cells *cells, gf_ranks_each_cell *each, void *context,
                              gf_error *err)
{
    gf_buffer bytes = {0};
    gf_status st = GF_OK;
    for (uint64_t at = 0, length; at < cells->size && st == GF_OK; at += sizeof length + length) {
        gf_buffer_reset(&bytes);
        st = gf_spill_read(cells->spill, at, &length, sizeof length, err);
        char *to = st == GF_OK ? gf_buffer_reserve(&bytes, (size_t)length) : NULL;
        if (st == GF_OK && !to) st = gf_fail_memory(err, "an index");
        if (st == GF_OK)
            st = gf_spill_read(cells->spill, at + sizeof length, to, (size_t)length, err);
        if (st != GF_OK) break;
        gf_slice s = gf_slice_of(to, (size_t)length), qualifier;
        gf_compressed value;
        while (st == GF_OK && take_cell(&s, &qualifier, &value))
            st = each(context, qualifier, &value, err);
    }
    gf_buffer_release(&bytes);
    return st;
}

static bool take_head(coming *c, gf_slice s)
{
    gf_ranks_indexed came;
    gf_index_words_head *head = &c->cells.head;
    if (!gf_ranks_job_take(&s, &came, sizeof came) || s.len || came.documents != c->all.rows ||
        came.spoken >> GF_LANGUAGES > 1)
        return false;
    head->documents = (uint32_t)came.documents;
    head->words = came.words;
    head->shape = gf_index_shape_now();
    for (size_t l = 0; l <= GF_LANGUAGES; l++)
        head->spoken[l] = came.spoken >> l & 1;
    return true;
}

/* Cells of the indexes until their heads come. */
static gf_status take_indexes(coming *c, const char *folder, gf_buffer *bytes, gf_error *err)
{
    uint32_t kind = GF_JOB_CELLS;
    gf_status st = gf_spill_create(folder, &c->cells.spill, err);
    while (st == GF_OK && kind == GF_JOB_CELLS) {
        st = gf_ranks_session_hear(c->session, &kind, bytes, err);
        gf_slice s = gf_buffer_view(bytes);
        if (st != GF_OK) break;
        if (kind == GF_JOB_CELLS)
            st = keep_cells(c, s, err);
        else if (kind != GF_JOB_INDEXED || !take_head(c, s))
            st = fail_message(err);
    }
    return st;
}

/* ---- the whole -------------------------------------------------------------------------------------- */

static gf_status hear(coming *c, uint32_t kind, gf_buffer *bytes, gf_error *err)
{
    uint32_t came;
    gf_status st = gf_ranks_session_hear(c->session, &came, bytes, err);
    return st == GF_OK && came != kind ? fail_message(err) : st;
}

static gf_status take_all(coming *c, const char *folder, gf_error *err)
{
    gf_buffer bytes = {0};
    gf_status st = hear(c, GF_JOB_TERMS, &bytes, err);
    if (st == GF_OK) st = take_terms(c, folder, gf_buffer_view(&bytes), err);
    while (st == GF_OK && c->row < c->all.rows) {
        st = hear(c, GF_JOB_VECTORS, &bytes, err);
        if (st == GF_OK) st = take_vectors(c, gf_buffer_view(&bytes), err);
    }
    if (st == GF_OK && c->vectors.x.start[c->row] != c->all.entries) st = fail_message(err);
    if (st == GF_OK && (c->cells.of.index_of_words || c->cells.of.index_of_rows))
        st = take_indexes(c, folder, &bytes, err);
    gf_buffer_release(&bytes);
    return st;
}

gf_status gf_ranks_analyse_finish(gf_ranks_session *s, const char *folder,
                                  const gf_ranks_wants *wants, gf_vectors *vectors,
                                  gf_ranks_cells *cells, gf_error *err)
{
    const gf_slice none = {NULL, 0};
    coming c = {.session = s, .cells.of = *wants};
    gf_status st = gf_ranks_session_tell(s, GF_JOB_WEIGH, none, none, err);
    if (st == GF_OK) st = take_all(&c, folder, err);
    if (st == GF_OK) {
        s->is_analysis = false;
        s->held_rows = c.vectors.x.n_rows - c.vectors.n_empty;
        s->held_entries = c.all.entries;
        *vectors = c.vectors;
        *cells = c.cells;
        return GF_OK;
    }
    gf_vectors_release(&c.vectors);
    gf_ranks_cells_release(&c.cells);
    return st;
}
