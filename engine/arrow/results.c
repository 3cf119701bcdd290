/* A build's memberships and similarities, as columns. */
#include "engine/arrow/export.h"
#include "engine/arrow/reader.h"

#include "base/grow.h"
#include "base/memory.h"
#include "grouperfish/matrix.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROWS_BETWEEN_LOOKS = 4096, MOST_CLUSTER_ROWS = 1 << 14 };

/* ---- columns that grow ----------------------------------------------------------------------- */

typedef struct places {
    size_t n, capacity;  /* rows; capacity is of each array */
    uint32_t *cluster;   /* 0: in none */
    uint32_t *runner_up; /* 0: there is none */
    float *score, *second;
    unsigned char *replaced; /* a byte each; NULL where it is not wanted */
    int64_t *id_end;         /* likewise */
    gf_buffer ids;
    bool has_ids;
    bool has_state; /* size and state of the clusters are wanted */
    const gf_cancel *cancel;
} places;

static void release_places(places *p)
{
    gf_free(p->cluster);
    gf_free(p->runner_up);
    gf_free(p->score);
    gf_free(p->second);
    gf_free(p->replaced);
    gf_free(p->id_end);
    gf_buffer_release(&p->ids);
}

static bool grow_to(void *array, size_t n, size_t size)
{
    void *grown = gf_realloc(*(void **)array, n, size);
    if (grown) *(void **)array = grown;
    return grown != NULL;
}

static gf_status reserve_places(places *p, size_t n, gf_error *err)
{
    if (n <= p->capacity) return GF_OK;
    size_t room = p->capacity + p->capacity / 2;
    if (room < n) room = n < 1024 ? 1024 : n;
    bool grown = grow_to(&p->cluster, room, sizeof *p->cluster) &&
                 grow_to(&p->runner_up, room, sizeof *p->runner_up) &&
                 grow_to(&p->score, room, sizeof *p->score) &&
                 grow_to(&p->second, room, sizeof *p->second);
    if (grown && p->has_ids)
        grown = grow_to(&p->replaced, room, 1) && grow_to(&p->id_end, room + 1, sizeof *p->id_end);
    if (!grown) return gf_fail_memory(err, "columns");
    p->capacity = room;
    return GF_OK;
}

static void set_place(places *p, size_t i, const gf_membership *m)
{
    bool has_second = m->cluster && m->runner_up;
    p->cluster[i] = m->cluster;
    p->score[i] = m->cluster ? m->score : 0;
    p->runner_up[i] = has_second ? m->runner_up : 0;
    p->second[i] = has_second ? m->second : 0;
}

static gf_status add_member(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    places *p = context;
    gf_status st = p->n % ROWS_BETWEEN_LOOKS ? GF_OK : gf_cancel_check(p->cancel, err);
    if (st == GF_OK) st = reserve_places(p, p->n + 1, err);
    if (st != GF_OK) return st;
    set_place(p, p->n, m);
    p->replaced[p->n] = m->replaced;
    gf_buffer_slice(&p->ids, id);
    p->id_end[0] = 0;
    p->id_end[++p->n] = (int64_t)p->ids.len;
    return gf_buffer_check(&p->ids, err);
}

/* ---- clusters -------------------------------------------------------------------------------- */

/* The words that are told of a cluster: its label, and the parts of its state. */
enum { LABEL, STATUS, OWNER, LINK, NOTE, N_TEXTS };

typedef struct names {
    uint32_t *id;   /* n, rising */
    uint64_t *size; /* n: its documents */
    size_t n;
    gf_arrow_made *text[N_TEXTS]; /* of the clusters, in the same order */
} names;

typedef struct name_walk {
    struct named {
        uint32_t id;
        uint64_t size;
        size_t from, len[N_TEXTS]; /* in bytes: one behind the other */
    } * at;
    size_t n, capacity;
    gf_buffer bytes;
} name_walk;

static gf_status add_name(void *context, const gf_cluster_info *info, gf_error *err)
{
    name_walk *w = context;
    const gf_cluster_state none = {.status = {0}}, *state = info->state ? info->state : &none;
    const gf_slice texts[N_TEXTS] = {info->label, state->status, state->owner, state->link,
                                     state->note};
    if (!gf_grow(&w->at, &w->capacity, w->n + 1, sizeof *w->at))
        return gf_fail_memory(err, "clusters");
    struct named *one = &w->at[w->n++];
    *one = (struct named){.id = info->id, .size = info->size, .from = w->bytes.len};
    for (int t = 0; t < N_TEXTS; t++) {
        one->len[t] = texts[t].len;
        gf_buffer_slice(&w->bytes, texts[t]);
    }
    return gf_buffer_check(&w->bytes, err);
}

static int compare_named(const void *a, const void *b)
{
    uint32_t x = ((const struct named *)a)->id, y = ((const struct named *)b)->id;
    return x < y ? -1 : x > y;
}

/* The texts of one kind, of all clusters; NULL where there is no memory. */
static gf_arrow_made *list_texts(const name_walk *w, int kind)
{
    size_t all = 0;
    for (size_t i = 0; i < w->n; i++)
        all += w->at[i].len[kind];
    gf_arrow_made *c = gf_arrow_made_create("", "U");
    int64_t *offset = gf_array(w->n + 1, sizeof *offset);
    char *bytes = gf_malloc(all + 1);
    if (!c || !offset || !bytes) {
        gf_arrow_made_free(c);
        gf_free(offset);
        gf_free(bytes);
        return NULL;
    }
    offset[0] = 0;
    for (size_t i = 0; i < w->n; i++) {
        size_t from = w->at[i].from, len = w->at[i].len[kind];
        for (int t = 0; t < kind; t++)
            from += w->at[i].len[t];
        if (len) memcpy(bytes + offset[i], w->bytes.ptr + from, len);
        offset[i + 1] = offset[i] + (int64_t)len;
    }
    c->length = (int64_t)w->n;
    c->n_buffers = 3;
    c->buffers[1] = offset;
    c->buffers[2] = bytes;
    return c;
}

static void release_names(names *n)
{
    gf_free(n->id);
    gf_free(n->size);
    for (int t = 0; t < N_TEXTS; t++)
        gf_arrow_made_free(n->text[t]);
}

static gf_status sort_names(name_walk *w, names *out, gf_error *err)
{
    names n = {.id = gf_array(w->n + 1, sizeof *n.id),
               .size = gf_array(w->n + 1, sizeof *n.size),
               .n = w->n};
    bool made = n.id && n.size;
    if (made && w->n) qsort(w->at, w->n, sizeof *w->at, compare_named);
    for (size_t i = 0; i < w->n && made; i++) {
        n.id[i] = w->at[i].id;
        n.size[i] = w->at[i].size;
    }
    for (int t = 0; t < N_TEXTS && made; t++)
        made = (n.text[t] = list_texts(w, t)) != NULL;
    if (made) {
        *out = n;
        return GF_OK;
    }
    release_names(&n);
    return gf_fail_memory(err, "clusters");
}

static gf_status read_names(gf_view *view, names *out, gf_error *err)
{
    name_walk w = {0};
    gf_status st = gf_view_clusters(view, add_name, &w, err);
    if (st == GF_OK) st = sort_names(&w, out, err);
    gf_free(w.at);
    gf_buffer_release(&w.bytes);
    return st;
}

static int32_t find_name(const names *n, uint32_t id)
{
    size_t low = 0, high = n->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (n->id[mid] < id)
            low = mid + 1;
        else
            high = mid;
    }
    return low < n->n && n->id[low] == id ? (int32_t)low : -1;
}

/* ---- handing out ----------------------------------------------------------------------------- */

typedef struct column_list {
    gf_arrow_made *at[GF_ARROW_MOST_COLUMNS];
    size_t n;
    bool failed;
} column_list;

static gf_arrow_made *add_column(column_list *l, const char *name, const char *format,
                                 size_t length)
{
    gf_arrow_made *c = l->failed ? NULL : gf_arrow_made_create(name, format);
    l->failed = !c;
    if (!c) return NULL;
    c->length = (int64_t)length;
    c->n_buffers = 2;
    l->at[l->n++] = c;
    return c;
}

/* Its values are taken from *values; where `present` is given, 0 there means null. */
static gf_arrow_made *add_values(column_list *l, const char *name, const char *format,
                                 size_t length, void *values, const uint32_t *present)
{
    gf_arrow_made *c = add_column(l, name, format, length);
    if (!c) return NULL;
    if (present) {
        unsigned char *bits = gf_arrow_made_bits((int64_t)length);
        c->buffers[0] = bits;
        l->failed = !bits;
        for (size_t i = 0; bits && i < length; i++) {
            if (present[i]) continue;
            gf_arrow_made_clear_bit(bits, (int64_t)i);
            c->null_count++;
        }
    }
    c->buffers[1] = *(void **)values;
    *(void **)values = NULL;
    if (c->buffers[1]) return c;
    c->buffers[1] = gf_malloc(1); /* of no rows */
    l->failed = l->failed || !c->buffers[1];
    return c;
}

static void add_ids(column_list *l, places *p)
{
    gf_arrow_made *c = add_values(l, "id", "U", p->n, &p->id_end, NULL);
    if (!c) return;
    c->n_buffers = 3;
    c->buffers[2] = p->ids.ptr;
    p->ids = (gf_buffer){0};
}

/* A text of each row's cluster, by a dictionary of all; null where the row is in none, or a part is not set. */
static void add_texts(column_list *l, const char *name, const places *p, names *n, int kind)
{
    int32_t *index = gf_array(p->n + 1, sizeof *index);
    uint32_t *present = gf_array(p->n + 1, sizeof *present);
    const int64_t *offset = n->text[kind]->buffers[1];
    l->failed = l->failed || !index || !present;
    for (size_t i = 0; index && present && i < p->n; i++) {
        int32_t at = p->cluster[i] ? find_name(n, p->cluster[i]) : -1;
        index[i] = at < 0 ? 0 : at;
        present[i] = kind == LABEL ? p->cluster[i] != 0 : at >= 0 && offset[at + 1] > offset[at];
    }
    gf_arrow_made *c = l->failed ? NULL : add_values(l, name, "i", p->n, &index, present);
    gf_free(index);
    gf_free(present);
    if (!c) return;
    c->dictionary = n->text[kind];
    n->text[kind] = NULL;
}

static void add_sizes(column_list *l, const places *p, const names *n)
{
    uint64_t *size = gf_array(p->n + 1, sizeof *size);
    l->failed = l->failed || !size;
    for (size_t i = 0; size && i < p->n; i++) {
        int32_t at = p->cluster[i] ? find_name(n, p->cluster[i]) : -1;
        size[i] = at < 0 ? 0 : n->size[at];
    }
    if (!l->failed) add_values(l, "size", "L", p->n, &size, p->cluster);
    gf_free(size);
}

static void add_replaced(column_list *l, const places *p)
{
    unsigned char *bits = gf_arrow_made_bits((int64_t)p->n);
    l->failed = l->failed || !bits;
    for (size_t i = 0; bits && i < p->n; i++)
        if (!p->replaced[i]) gf_arrow_made_clear_bit(bits, (int64_t)i);
    add_values(l, "replaced", "b", p->n, &bits, NULL);
    gf_free(bits);
}

/* The buffers go into the stream; what presence is told by goes last. */
static gf_status export_places(places *p, names *n, struct ArrowArrayStream *out, gf_error *err)
{
    column_list l = {0};
    size_t rows = p->n;
    uint32_t *cluster = p->cluster, *runner_up = p->runner_up;
    if (p->has_ids && rows) {
        add_ids(&l, p);
    } else if (p->has_ids) {
        p->id_end = gf_calloc(1, sizeof *p->id_end);
        l.failed = !p->id_end;
        add_ids(&l, p);
    }
    add_values(&l, "cluster", "I", rows, &p->cluster, cluster);
    p->cluster = cluster; /* it is looked at below; the column has it */
    add_texts(&l, "label", p, n, LABEL);
    add_values(&l, "score", "f", rows, &p->score, NULL);
    add_values(&l, "runner_up", "I", rows, &p->runner_up, runner_up);
    add_values(&l, "runner_up_score", "f", rows, &p->second, runner_up);
    if (p->has_state) {
        add_sizes(&l, p, n);
        add_texts(&l, "status", p, n, STATUS);
        add_texts(&l, "owner", p, n, OWNER);
        add_texts(&l, "link", p, n, LINK);
        add_texts(&l, "note", p, n, NOTE);
    }
    if (p->has_ids) add_replaced(&l, p);
    bool has_cluster = l.n > p->has_ids; /* else it is still ours */
    if (has_cluster) p->cluster = NULL;
    if (!l.failed) return gf_arrow_export(l.at, l.n, (int64_t)rows, out, err);
    for (size_t i = 0; i < l.n; i++)
        gf_arrow_made_free(l.at[i]);
    return gf_fail_memory(err, "columns");
}

gf_status gf_arrow_memberships(gf_view *view, const gf_cancel *cancel, struct ArrowArrayStream *out,
                               gf_error *err)
{
    places p = {.has_ids = true, .cancel = cancel};
    names n = {0};
    gf_status st = read_names(view, &n, err);
    if (st == GF_OK) st = gf_view_memberships(view, add_member, &p, err);
    if (st == GF_OK) st = export_places(&p, &n, out, err);
    release_places(&p);
    release_names(&n);
    return st;
}

/* ---- texts that are assigned ------------------------------------------------------------------ */

/* Documents of a run of rows. */
typedef struct batch_documents {
    gf_document *at;           /* of capacity */
    size_t *row;               /* of capacity: its row in the batch */
    gf_membership *membership; /* of capacity */
    size_t n, capacity;
} batch_documents;

static void release_documents(batch_documents *b)
{
    gf_free(b->at);
    gf_free(b->row);
    gf_free(b->membership);
}

static gf_status reserve_documents(batch_documents *b, size_t n, gf_error *err)
{
    if (n <= b->capacity) return GF_OK;
    bool grown = grow_to(&b->at, n, sizeof *b->at) && grow_to(&b->row, n, sizeof *b->row) &&
                 grow_to(&b->membership, n, sizeof *b->membership);
    if (!grown) return gf_fail_memory(err, "documents");
    b->capacity = n;
    return GF_OK;
}

/* A build of given rows places documents by their field "vector" alone. */
static gf_status check_rows(const gf_view *view, const gf_arrow_reader *r, gf_error *err)
{
    if (!gf_rows_are_given(gf_view_build(view)->rows) || r->n_fields) return GF_OK;
    return gf_fail(
        err, GF_ECONFLICT,
        "this build clusters vectors that were made elsewhere: a text has no place in it, "
        "but a row with the column \"vector\" has");
}

/* The next run of documents from row *i on; refused ones are told of and left out. */
static gf_status read_run(gf_arrow_reader *r, int64_t *i, int64_t rows, batch_documents *b,
                          gf_error *err)
{
    gf_status st = gf_cancel_check(r->options->cancel, err);
    size_t most = r->n_fields ? 1 : MOST_CLUSTER_ROWS;
    b->n = 0;
    if (st == GF_OK) st = reserve_documents(b, most, err);
    for (; *i < rows && b->n < most && st == GF_OK; ++*i) {
        const char *reason;
        gf_error why = {GF_OK, ""};
        st = gf_arrow_reader_row(r, *i, &b->at[b->n], &reason, &why, err);
        if (st == GF_OK && reason)
            st = gf_arrow_reader_refuse(r, *i, reason, why.message, err);
        else if (st == GF_OK)
            b->row[b->n++] = (size_t)*i;
    }
    return st;
}

static gf_status assign_batch(gf_view *view, gf_arrow_reader *r, int64_t rows, unsigned threads,
                              batch_documents *b, places *p, gf_error *err)
{
    size_t before = p->n;
    gf_status st = reserve_places(p, before + (size_t)rows, err);
    if (st != GF_OK) return st;
    for (int64_t i = 0; i < rows; i++)
        set_place(p, before + (size_t)i, &(gf_membership){0});
    p->n += (size_t)rows;
    for (int64_t i = 0; i < rows && st == GF_OK;) {
        st = read_run(r, &i, rows, b, err);
        if (st == GF_OK) st = gf_view_assign_all(view, b->at, b->n, threads, b->membership, err);
        for (size_t k = 0; k < b->n && st == GF_OK; k++)
            set_place(p, before + b->row[k], &b->membership[k]);
    }
    return st;
}

gf_status gf_arrow_assign(gf_view *view, struct ArrowArrayStream *stream,
                          const gf_arrow_options *options, unsigned threads,
                          struct ArrowArrayStream *out, gf_error *err)
{
    gf_arrow_reader r = {0};
    batch_documents b = {0};
    places p = {.has_state = true};
    names n = {0};
    int64_t rows;
    gf_status st = gf_arrow_reader_open(&r, stream, options, GF_ARROW_NEED_TEXT, err);
    if (st == GF_OK) st = check_rows(view, &r, err);
    if (st == GF_OK) st = read_names(view, &n, err);
    while (st == GF_OK && (st = gf_arrow_reader_next(&r, &rows, err)) == GF_OK)
        st = assign_batch(view, &r, rows, threads, &b, &p, err);
    if (st == GF_ENOTFOUND) st = export_places(&p, &n, out, err);
    gf_arrow_reader_release(&r);
    release_documents(&b);
    release_places(&p);
    release_names(&n);
    return st;
}

/* ---- similarities ---------------------------------------------------------------------------- */

typedef struct similarities {
    float *value; /* rows * k, of capacity */
    size_t rows, capacity, k;
} similarities;

static gf_status similar_batch(gf_view *view, gf_arrow_reader *r, int64_t rows, unsigned threads,
                               batch_documents *b, similarities *s, float **run, gf_error *err)
{
    size_t before = s->rows, all = before + (size_t)rows;
    gf_status st = GF_OK;
    if (all > s->capacity) {
        size_t room = all + s->capacity / 2;
        if (s->k && room > SIZE_MAX / 4 / s->k) return gf_fail_memory(err, "similarities");
        if (!grow_to(&s->value, room * s->k + 1, sizeof *s->value))
            return gf_fail_memory(err, "similarities");
        s->capacity = room;
    }
    memset(s->value + before * s->k, 0, (size_t)rows * s->k * sizeof *s->value);
    s->rows = all;
    for (int64_t i = 0; i < rows && st == GF_OK;) {
        st = read_run(r, &i, rows, b, err);
        if (st == GF_OK && !grow_to(run, b->n * s->k + 1, sizeof **run))
            st = gf_fail_memory(err, "similarities");
        if (st == GF_OK)
            st = gf_view_similarities(view, b->at, b->n, threads, r->options->cancel, *run, err);
        for (size_t j = 0; j < b->n && st == GF_OK; j++)
            memcpy(s->value + (before + b->row[j]) * s->k, *run + j * s->k, s->k * sizeof **run);
    }
    return st;
}

static gf_status export_similarities(similarities *s, struct ArrowArrayStream *out, gf_error *err)
{
    char format[24];
    column_list l = {0};
    snprintf(format, sizeof format, "+w:%zu", s->k);
    gf_arrow_made *c = add_column(&l, "similarity", format, s->rows);
    gf_arrow_made *values = c ? gf_arrow_made_create("item", "f") : NULL;
    if (!values) {
        gf_arrow_made_free(c);
        return gf_fail_memory(err, "columns");
    }
    c->n_buffers = 1;
    c->child = values;
    values->length = (int64_t)(s->rows * s->k);
    values->n_buffers = 2;
    values->buffers[1] = s->value ? s->value : gf_malloc(1);
    s->value = NULL;
    if (values->buffers[1]) return gf_arrow_export(l.at, 1, (int64_t)s->rows, out, err);
    gf_arrow_made_free(c);
    return gf_fail_memory(err, "columns");
}

gf_status gf_arrow_similarities(gf_view *view, struct ArrowArrayStream *stream,
                                const gf_arrow_options *options, unsigned threads,
                                struct ArrowArrayStream *out, gf_error *err)
{
    gf_arrow_reader r = {0};
    batch_documents b = {0};
    similarities s = {0};
    names n = {0};
    float *run = NULL;
    int64_t rows;
    gf_status st = gf_arrow_reader_open(&r, stream, options, GF_ARROW_NEED_TEXT, err);
    if (st == GF_OK) st = check_rows(view, &r, err);
    if (st == GF_OK) st = read_names(view, &n, err);
    s.k = n.n;
    while (st == GF_OK && (st = gf_arrow_reader_next(&r, &rows, err)) == GF_OK)
        st = similar_batch(view, &r, rows, threads, &b, &s, &run, err);
    if (st == GF_ENOTFOUND) st = export_similarities(&s, out, err);
    gf_arrow_reader_release(&r);
    release_documents(&b);
    release_names(&n);
    gf_free(s.value);
    gf_free(run);
    return st;
}
