/*
 * Writing. Changes of one row that follow each other are one mutation, which HBase applies as a
 * whole; each row is another. Many rows that are only put go together in one request.
 *
 * HBase has no order within a mutation, and a delete hides what is put at the same time, or before
 * it. So the changes of a row are first brought to what comes of them together: cells that are put,
 * and cells that go. What goes is deleted as of the newest time that it has, which is read before:
 * a put that comes later has a later one, and a cell whose time lies in the future goes, too.
 *
 *     put a=1, delete a, put a=2      puts a=2
 *     delete family f, put f:a=1      f:a is put, all others of f go
 */
#include "storage/hbase/internal.h"

#include "base/clock.h"
#include "base/grow.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/strings.h"
#include "storage/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

/* Kinds of deleting and of durability, as the gateway numbers them. */
enum { DELETE_COLUMNS = 1, DELETE_FAMILY = 2 };
enum { ASYNC_WAL = 2, FSYNC_WAL = 4 };

enum { REQUEST_BYTES = 1 << 20, MOST_TRIES = 200, MANY_CELLS = 10000 };

/* The outcome of the changes of a row. */
typedef struct effect {
    const gf_change *put; /* or the column of a replacement, in `column` */
    const gf_column *column;
    unsigned family;
    gf_slice qualifier, value;
    int64_t timestamp;
    bool goes; /* the cell is deleted, not put */
} effect;

typedef struct writing {
    gf_hbase *b;
    gf_sync sync;
    gf_hbase_table *t;
    const gf_schema *schema;
    effect *effects; /* n of capacity */
    size_t n, capacity;
    gf_strings seen; /* the cells of the first n_seen effects, once there are many */
    size_t n_seen;
    uint32_t gone; /* families whose other cells go */
    bool reads;    /* something goes: what is there has to be known */
    gf_buffer row, cell;
    gf_hbase_call names; /* what is there */
    gf_hbase_call call;
    size_t rows_at; /* where the number of rows stands in a request of several; 0: none is begun */
    size_t n_rows;
    gf_strings sent; /* the rows in it, and perhaps some of earlier ones */
} writing;

/* ---- what comes of a row's changes ----------------------------------------------------------- */

static effect *add_effect(writing *w, unsigned family, gf_slice qualifier, gf_error *err)
{
    if (!gf_grow(&w->effects, &w->capacity, w->n + 1, sizeof *w->effects)) {
        gf_fail_memory(err, "a write");
        return NULL;
    }
    effect *e = &w->effects[w->n++];
    *e = (effect){.family = family, .qualifier = qualifier};
    return e;
}

/* Take out what earlier changes do to the cell: at that time, or (-1) at any. */
static void forget_cell(writing *w, unsigned family, gf_slice qualifier, int64_t timestamp)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->n; i++) {
        const effect *e = &w->effects[i];
        bool same = e->family == family && gf_slice_equal(e->qualifier, qualifier) &&
                    (timestamp < 0 || (!e->goes && e->timestamp == timestamp));
        if (!same) w->effects[kept++] = *e;
    }
    if (w->n_seen > kept) w->n_seen = kept;
    w->n = kept;
}

static gf_status see_cell(writing *w, unsigned family, gf_slice qualifier, bool *is_new,
                          gf_error *err)
{
    uint32_t number;
    w->cell.len = 0;
    gf_buffer_byte(&w->cell, (char)family);
    gf_buffer_slice(&w->cell, qualifier);
    gf_status st = gf_buffer_check(&w->cell, err);
    return st == GF_OK ? gf_strings_add(&w->seen, gf_buffer_view(&w->cell), &number, is_new, err)
                       : st;
}

/* Whether an earlier change may be of the cell: of few that is looked up anyhow. */
static gf_status may_be_there(writing *w, unsigned family, gf_slice qualifier, bool *may,
                              gf_error *err)
{
    enum { FEW = 64 };
    bool is_new = false;
    gf_status st = GF_OK;
    *may = true;
    if (w->n < FEW) return GF_OK;
    for (; w->n_seen < w->n && st == GF_OK; w->n_seen++)
        st = see_cell(w, w->effects[w->n_seen].family, w->effects[w->n_seen].qualifier, &is_new,
                      err);
    if (st == GF_OK) st = see_cell(w, family, qualifier, &is_new, err);
    *may = !is_new;
    return st;
}

static void forget_families(writing *w, uint32_t families)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->n; i++)
        if (!(families >> w->effects[i].family & 1)) w->effects[kept++] = w->effects[i];
    if (w->n_seen > kept) w->n_seen = kept;
    w->n = kept;
    w->gone |= families;
    w->reads = true;
}

static gf_status put_cell(writing *w, unsigned family, gf_slice qualifier, gf_slice value,
                          int64_t timestamp, gf_error *err)
{
    bool may;
    gf_status st = may_be_there(w, family, qualifier, &may, err);
    if (st != GF_OK) return st;
    if (may) forget_cell(w, family, qualifier, timestamp);
    effect *e = add_effect(w, family, qualifier, err);
    if (!e) return GF_ENOMEM;
    e->value = value;
    e->timestamp = timestamp;
    return GF_OK;
}

static gf_status add_change(writing *w, const gf_change *c, gf_error *err)
{
    gf_status st = GF_OK;
    effect *e;
    switch (c->kind) {
    case GF_CHANGE_PUT:
        return put_cell(w, c->family, c->qualifier, c->value, c->timestamp, err);
    case GF_CHANGE_REPLACE:
        forget_families(w, UINT32_C(1) << c->family);
        for (size_t i = 0; i < c->n_columns && st == GF_OK; i++)
            st = put_cell(w, c->family, c->columns[i].name, c->columns[i].value, c->timestamp, err);
        return st;
    case GF_CHANGE_DELETE_CELL:
        forget_cell(w, c->family, c->qualifier, -1);
        w->reads = true;
        e = add_effect(w, c->family, c->qualifier, err);
        if (!e) return GF_ENOMEM;
        e->goes = true;
        return GF_OK;
    case GF_CHANGE_DELETE_ROW:
        forget_families(w, c->families);
        return GF_OK;
    default:
        return gf_fail(err, GF_EINVAL, "HBase keeps no runs");
    }
}

/* ---- mutations ------------------------------------------------------------------------------- */

static void put_durability(writing *w, uint16_t id)
{
    gf_thrift_i32_field(&w->call.request, id, w->sync == GF_SYNC_ON ? FSYNC_WAL : ASYNC_WAL);
}

static size_t count_puts(const writing *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        n += !w->effects[i].goes;
    return n;
}

/* A TPut of the row. */
static void write_put(writing *w)
{
    gf_buffer *to = &w->call.request;
    gf_thrift_string_field(to, 1, gf_buffer_view(&w->row));
    gf_thrift_field(to, GF_THRIFT_LIST, 2);
    gf_thrift_list(to, GF_THRIFT_STRUCT, count_puts(w));
    for (size_t i = 0; i < w->n; i++) {
        const effect *e = &w->effects[i];
        if (e->goes) continue;
        gf_thrift_string_field(to, 1, gf_slice_str(w->schema->families[e->family].name));
        gf_thrift_string_field(to, 2, e->qualifier);
        gf_thrift_string_field(to, 3, e->value);
        if (e->timestamp) gf_thrift_i64_field(to, 4, e->timestamp);
        gf_thrift_stop(to);
    }
    put_durability(w, 6);
    gf_thrift_stop(to);
}

/* A TMutation with a TDelete, up to the list of its n columns. */
static void begin_delete(writing *w, size_t n)
{
    gf_buffer *to = &w->call.request;
    gf_thrift_field(to, GF_THRIFT_STRUCT, 2);
    gf_thrift_string_field(to, 1, gf_buffer_view(&w->row));
    gf_thrift_field(to, GF_THRIFT_LIST, 2);
    gf_thrift_list(to, GF_THRIFT_STRUCT, n);
}

/* A TColumn: all of a cell, or (qualifier NULL) of a family, that is not newer. */
static void write_column(gf_buffer *to, gf_slice family, const gf_slice *qualifier,
                         int64_t timestamp)
{
    gf_thrift_string_field(to, 1, family);
    if (qualifier) gf_thrift_string_field(to, 2, *qualifier);
    gf_thrift_i64_field(to, 3, timestamp);
    gf_thrift_stop(to);
}

static void end_delete(writing *w, int32_t kind)
{
    gf_buffer *to = &w->call.request;
    gf_thrift_i32_field(to, 4, kind);
    put_durability(w, 7);
    gf_thrift_stop(to);
    gf_thrift_stop(to); /* of the union */
}

static const effect *find_effect(const writing *w, unsigned family, gf_slice qualifier)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->effects[i].family == family && gf_slice_equal(w->effects[i].qualifier, qualifier))
            return &w->effects[i];
    return NULL;
}

/* What goes of that which is there: cells, and families that go as a whole. */
typedef struct going {
    gf_hbase_cell *cells; /* n, borrowed from what was read */
    size_t n;
    int64_t newest[GF_MAX_FAMILIES]; /* -1: it does not go as a whole */
    size_t n_families;
} going;

/*
 * Families of very many cells, of which none is put, go by a delete of the family. Others go cell by
 * cell: a put of the empty qualifier that comes later lies before such a delete, and a scan that
 * is told to skip that cell skips the delete with it (seen in HBase 2.6).
 */
static uint32_t families_as_whole(const writing *w, const gf_hbase_result *there)
{
    uint32_t whole = there->n_cells > MANY_CELLS ? w->gone : 0;
    for (size_t i = 0; i < w->n; i++)
        whole &= ~(UINT32_C(1) << w->effects[i].family);
    return whole;
}

/* g->cells to be freed, also where it fails. */
static gf_status find_going(const writing *w, const gf_hbase_result *there, going *g, gf_error *err)
{
    gf_thrift_reader cells = there->cells;
    gf_hbase_cell cell;
    uint32_t whole = families_as_whole(w, there);
    for (unsigned f = 0; f < GF_MAX_FAMILIES; f++)
        g->newest[f] = -1;
    g->cells = gf_array(there->n_cells + 1, sizeof *g->cells);
    if (!g->cells) return gf_fail_memory(err, "a write");
    for (uint32_t i = 0; i < there->n_cells; i++) {
        if (!gf_hbase_take_cell(&cells, &cell))
            return gf_fail(err, GF_EIO, "the gateway of HBase sent a cell that cannot be read");
        int f = gf_hbase_family_number(w->schema, cell.family);
        if (f < 0) continue;
        if (whole >> f & 1) {
            g->n_families += g->newest[f] < 0;
            if (cell.timestamp > g->newest[f]) g->newest[f] = cell.timestamp;
            continue;
        }
        const effect *e = find_effect(w, (unsigned)f, cell.qualifier);
        if (e ? e->goes : w->gone >> f & 1) g->cells[g->n++] = cell;
    }
    return GF_OK;
}

static void write_deletes(writing *w, const going *g)
{
    gf_buffer *to = &w->call.request;
    if (g->n) {
        begin_delete(w, g->n);
        for (size_t i = 0; i < g->n; i++)
            write_column(to, g->cells[i].family, &g->cells[i].qualifier, g->cells[i].timestamp);
        end_delete(w, DELETE_COLUMNS);
    }
    if (g->n_families) {
        begin_delete(w, g->n_families);
        for (unsigned f = 0; f < w->schema->n_families; f++)
            if (g->newest[f] >= 0)
                write_column(to, gf_slice_str(w->schema->families[f].name), NULL, g->newest[f]);
        end_delete(w, DELETE_FAMILY);
    }
}

static uint32_t families_of_deletes(const writing *w)
{
    uint32_t families = w->gone;
    for (size_t i = 0; i < w->n; i++)
        if (w->effects[i].goes) families |= UINT32_C(1) << w->effects[i].family;
    return families;
}

/* Fields of TRowMutations; *any: there is something in it. */
static gf_status write_mutations(writing *w, const gf_hbase_result *there, bool *any, gf_error *err)
{
    gf_buffer *to = &w->call.request;
    going g = {0};
    gf_status st = find_going(w, there, &g, err);
    if (st == GF_OK) {
        bool puts = count_puts(w) > 0;
        size_t n = (size_t)puts + (g.n > 0) + (g.n_families > 0);
        *any = n > 0;
        gf_thrift_string_field(to, 1, gf_buffer_view(&w->row));
        gf_thrift_field(to, GF_THRIFT_LIST, 2);
        gf_thrift_list(to, GF_THRIFT_STRUCT, n);
        if (puts) {
            gf_thrift_field(to, GF_THRIFT_STRUCT, 1);
            write_put(w);
            gf_thrift_stop(to); /* of the union */
        }
        write_deletes(w, &g);
        gf_thrift_stop(to);
    }
    gf_free(g.cells);
    return st;
}

static gf_status read_there(writing *w, gf_hbase_result *there, gf_error *err)
{
    *there = (gf_hbase_result){0};
    if (!w->reads) return GF_OK;
    return gf_hbase_read_names(w->b, w->t, w->schema, gf_buffer_view(&w->row),
                               families_of_deletes(w), &w->names, there, err);
}

static gf_status run(writing *w, gf_thrift_type result, gf_error *err)
{
    gf_status st = gf_hbase_call_run(w->b->client, &w->call, result, GF_HBASE_WRITES, err);
    return gf_hbase_fail_table(w->t, st, err);
}

static gf_status mutate_row(writing *w, gf_error *err)
{
    gf_hbase_result there;
    bool any;
    gf_status st = read_there(w, &there, err);
    if (st != GF_OK) return st;
    gf_hbase_begin_on_table(&w->call, "mutateRow", w->t);
    gf_thrift_field(&w->call.request, GF_THRIFT_STRUCT, 2);
    st = write_mutations(w, &there, &any, err);
    return st == GF_OK && any ? run(w, GF_THRIFT_STOP, err) : st;
}

/* ---- many rows ------------------------------------------------------------------------------- */

static gf_status send_rows(writing *w, gf_error *err)
{
    if (!w->n_rows) return GF_OK;
    gf_buffer *b = &w->call.request;
    for (int i = 0; i < 4 && b->state == GF_OK; i++)
        b->ptr[w->rows_at + (size_t)i] = (char)(w->n_rows >> (8 * (3 - i)) & 0xFF);
    w->n_rows = 0;
    return run(w, GF_THRIFT_STOP, err);
}

/* About the bytes that the row's TPut takes. */
static size_t put_size(const writing *w)
{
    enum { OF_CELL = 64, OF_ROW = 32 }; /* beside what is in them */
    size_t n = OF_ROW + w->row.len;
    for (size_t i = 0; i < w->n; i++)
        n += OF_CELL + w->effects[i].qualifier.len + w->effects[i].value.len;
    return n;
}

static void add_row(writing *w)
{
    gf_buffer *b = &w->call.request;
    if (!w->n_rows) {
        gf_hbase_begin_on_table(&w->call, "putMultiple", w->t);
        gf_thrift_field(b, GF_THRIFT_LIST, 2);
        gf_thrift_list(b, GF_THRIFT_STRUCT, 0);
        w->rows_at = b->len - 4;
    }
    w->n_rows++;
    write_put(w);
}

/* The changes of the row that begins at i: up to *end, not included. */
static gf_status begin_row(writing *w, const gf_change *changes, size_t n, size_t i, size_t *end,
                           gf_error *err)
{
    const gf_change *first = &changes[i];
    gf_status st = gf_hbase_find_table(w->b, first->table, &w->t, &w->schema, err);
    if (st == GF_OK) st = gf_hbase_make_table(w->b, w->t, err);
    w->n = w->n_seen = 0;
    gf_strings_release(&w->seen);
    w->gone = 0;
    w->reads = false;
    gf_buffer_reset(&w->row);
    if (st == GF_OK) st = gf_hbase_row_of_key(w->schema, first->key, &w->row, err);
    for (; i < n && st == GF_OK; i++) {
        if (changes[i].table != first->table || !gf_slice_equal(changes[i].key, first->key)) break;
        st = add_change(w, &changes[i], err);
    }
    *end = i;
    return st;
}

static gf_status write_all(writing *w, const gf_change *changes, size_t n, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0, end; i < n && st == GF_OK; i = end) {
        if (w->n_rows && changes[i].table != changes[i - 1].table) st = send_rows(w, err);
        if (st == GF_OK) st = begin_row(w, changes, n, i, &end, err);
        if (st != GF_OK) return st;
        if (w->reads) {
            st = send_rows(w, err);
            if (st == GF_OK) st = mutate_row(w, err);
            continue;
        }
        uint32_t number;
        bool is_new;
        st = gf_strings_add(&w->sent, gf_buffer_view(&w->row), &number, &is_new, err);
        /* Of a row that is in it already both would have one time, and no order. */
        bool ends = !is_new || w->call.request.len + put_size(w) > REQUEST_BYTES;
        if (st == GF_OK && ends) st = send_rows(w, err);
        if (st != GF_OK) return st;
        add_row(w);
    }
    return st == GF_OK ? send_rows(w, err) : st;
}

/* ---- conditions ------------------------------------------------------------------------------ */

static gf_status lost_race(gf_error *err)
{
    return gf_fail(err, GF_ECONFLICT, "another writer was first");
}

static gf_status check_condition(writing *w, const gf_expectation *c, gf_error *err)
{
    gf_row row = {0};
    gf_selection what = {UINT32_C(1) << c->family, true, c->qualifier, 1};
    gf_status st = gf_row_begin(&row, err);
    if (st == GF_OK) st = gf_hbase_get(&w->b->base, NULL, c->table, c->key, &what, &row, err);
    bool there = row.n_cells > 0;
    bool holds = c->expected ? there && gf_slice_equal(row.cells[0].value, *c->expected) : !there;
    gf_row_release(&row);
    if (st != GF_OK) return st;
    return holds ? GF_OK : lost_race(err);
}

static gf_status write_if(writing *w, const gf_change *changes, size_t n, const gf_expectation *c,
                          gf_error *err)
{
    gf_hbase_result there;
    size_t end = 0;
    bool any = false;
    for (size_t i = 0; i < n; i++)
        if (changes[i].table != c->table || !gf_slice_equal(changes[i].key, c->key))
            return gf_fail(err, GF_EINVAL,
                           "a store in HBase writes on a condition only the row of that condition");
    gf_status st = GF_OK;
    if (n == 0) return check_condition(w, c, err);
    /* HBase takes an empty value and none for each other; so which of them is there is asked before. */
    if (!c->expected || c->expected->len == 0) st = check_condition(w, c, err);
    if (st != GF_OK) return st;
    st = begin_row(w, changes, n, 0, &end, err);
    if (st == GF_OK) st = read_there(w, &there, err);
    if (st != GF_OK) return st;
    gf_buffer *to = &w->call.request;
    enum { EQUAL = 2 };
    gf_hbase_begin_on_table(&w->call, "checkAndMutate", w->t);
    gf_thrift_string_field(to, 2, gf_buffer_view(&w->row));
    gf_thrift_string_field(to, 3, gf_slice_str(w->schema->families[c->family].name));
    gf_thrift_string_field(to, 4, c->qualifier);
    gf_thrift_i32_field(to, 5, EQUAL);
    gf_thrift_string_field(to, 6, c->expected ? *c->expected : (gf_slice){0});
    gf_thrift_field(to, GF_THRIFT_STRUCT, 7);
    st = write_mutations(w, &there, &any, err);
    if (st == GF_OK && !any) {
        st = check_condition(w, c, err);
    } else if (st == GF_OK) {
        st = run(w, GF_THRIFT_BOOL, err);
        if (st == GF_OK && !(w->call.has_result && gf_thrift_take_bool(&w->call.result)))
            st = lost_race(err);
    }
    return st;
}

gf_status gf_hbase_write(gf_backend *backend, const gf_change *changes, size_t n,
                         const gf_expectation *condition, gf_backend_hold *hold, gf_sync sync,
                         gf_error *err)
{
    (void)hold; /* is never lost */
    writing w = {.b = (gf_hbase *)backend, .sync = sync};
    gf_status st =
        condition ? write_if(&w, changes, n, condition, err) : write_all(&w, changes, n, err);
    gf_hbase_call_release(&w.call);
    gf_hbase_call_release(&w.names);
    gf_buffer_release(&w.row);
    gf_buffer_release(&w.cell);
    gf_strings_release(&w.sent);
    gf_strings_release(&w.seen);
    gf_free(w.effects);
    return st;
}

/* ---- increments ------------------------------------------------------------------------------ */

/* Some milliseconds, more of them after each try, and never the same as another process'. */
static void wait_a_moment(int tries)
{
    long most = 1000000L * (tries < 20 ? tries + 1 : 20);
    long some = (long)(gf_clock_seconds() * 1e9) % most;
    nanosleep(&(struct timespec){.tv_nsec = some}, NULL);
}

static gf_status try_to_add(gf_hbase *b, const gf_change *put, int64_t delta, gf_sync sync,
                            int64_t *sum, gf_error *err)
{
    char digits[32];
    gf_row row = {0};
    gf_change change = *put;
    gf_selection what = {UINT32_C(1) << put->family, true, put->qualifier, 1};
    gf_expectation was = {put->table, put->family, put->key, put->qualifier, NULL};
    int64_t old = 0;
    gf_status st = gf_row_begin(&row, err);
    if (st == GF_OK) st = gf_hbase_get(&b->base, NULL, put->table, put->key, &what, &row, err);
    if (st == GF_OK && row.n_cells) {
        was.expected = &row.cells[0].value;
        if (!gf_number_read_signed(row.cells[0].value, &old))
            st = gf_fail(err, GF_EINVAL, "cell %.*s holds no base-10 integer of 64 bits",
                         GF_SLICE_ARG(put->qualifier));
    }
    if (st == GF_OK && __builtin_add_overflow(old, delta, sum))
        st = gf_fail(err, GF_ELIMIT, "%" PRId64 " + %" PRId64 " does not fit 64 bits", old, delta);
    if (st == GF_OK) {
        int n = snprintf(digits, sizeof digits, "%" PRId64, *sum);
        change.kind = GF_CHANGE_PUT;
        change.value = gf_slice_of(digits, (size_t)n);
        st = gf_hbase_write(&b->base, &change, 1, &was, NULL, sync, err);
    }
    gf_row_release(&row);
    return st;
}

gf_status gf_hbase_increment(gf_backend *backend, const gf_change *put, int64_t delta, gf_sync sync,
                             int64_t *result, gf_error *err)
{
    int64_t sum = 0;
    gf_status st = GF_ECONFLICT;
    for (int tries = 0; tries < MOST_TRIES && st == GF_ECONFLICT; tries++) {
        if (tries) wait_a_moment(tries);
        st = try_to_add((gf_hbase *)backend, put, delta, sync, &sum, err);
    }
    if (st == GF_OK) *result = sum;
    return st;
}
