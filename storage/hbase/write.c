/*
 * Writing. Changes of one row that follow each other are one mutation, which HBase applies as a
 * whole; each row is another. Many rows go together: what is there of those of which something goes
 * is read in one request, and those that are only put, and those that only go, are one each.
 *
 * HBase has no order within a mutation, and a delete hides what is put at the same time, or before
 * it. So the changes of a row are first brought to what comes of them together: cells that are put,
 * and cells that go. What goes is deleted as of the newest time that it has, which is read before:
 * a put that comes later has a later one, and a cell whose time lies in the future goes, too. Of a
 * change with a time the deletion is of no later one than that: what is newer stays.
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

enum { REQUEST_BYTES = 1 << 20, MOST_ROWS = 4096, MOST_TRIES = 200, MANY_CELLS = 10000 };

/*
 * A gateway takes 2 MB in a request: a row takes no more than this, and what else goes of it has the
 * rest. Of a larger row of the engine's values are cut until it has room, those above SMALL_BYTES first.
 */
enum { ROW_BYTES = GF_HBASE_PART_BYTES, MOST_BYTES = 7 << 18 };
enum { SMALL_BYTES = 16 << 10, SMALLEST_CUT = 256 };

/* About what a cell and a row take in a request beside what is in them. */
enum { OF_CELL = 56, OF_ROW = 32 };

/* The outcome of the changes of a row. */
typedef struct effect {
    const gf_change *put; /* or the column of a replacement, in `column` */
    const gf_column *column;
    unsigned family;
    gf_slice qualifier, value;
    int64_t timestamp; /* of a cell that goes: no later deletion than of that */
    bool goes;         /* the cell is deleted, not put */
    bool is_block, is_cut;
    uint64_t id; /* of a value that is cut */
} effect;

/* A request for many rows. */
typedef struct many_rows {
    gf_hbase_call call;
    size_t rows_at; /* where the number of rows stands in it */
    size_t n;       /* 0: it is not begun */
} many_rows;

typedef struct writing {
    gf_hbase *b;
    gf_sync sync;
    gf_hbase_table *t;
    const gf_schema *schema;
    effect *effects; /* n of capacity */
    size_t n, capacity;
    gf_strings seen; /* the cells of the first n_seen effects, once there are many */
    size_t n_seen;
    uint32_t gone;                    /* families whose other cells go */
    int64_t gone_at[GF_MAX_FAMILIES]; /* by no later deletions than these */
    bool reads;                       /* something goes: what is there has to be known */
    bool again;                       /* all changes have times: made twice they are as made once */
    gf_arena memory;                  /* of the row's qualifiers */
    gf_buffer row, cell;
    gf_hbase_call names; /* what is there */
    gf_hbase_call call;
    many_rows puts, deletes;
    gf_strings sent; /* the rows of a group */
    size_t most_rows;
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

/*
 * Take out what earlier changes do to the cell: at that time, or (-1) at any. A deletion as of a time
 * that a put of the same time follows goes, too: made again it would hide what that has put.
 */
static void forget_cell(writing *w, unsigned family, gf_slice qualifier, int64_t timestamp)
{
    size_t kept = 0;
    for (size_t i = 0; i < w->n; i++) {
        const effect *e = &w->effects[i];
        bool same = e->family == family && gf_slice_equal(e->qualifier, qualifier) &&
                    (timestamp < 0 || e->timestamp == timestamp);
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

static int64_t limit_of(int64_t timestamp)
{
    return timestamp ? timestamp : INT64_MAX;
}

static void forget_families(writing *w, uint32_t families, int64_t timestamp)
{
    size_t kept = 0;
    for (unsigned f = 0; f < GF_MAX_FAMILIES; f++)
        if ((families >> f & 1) && (!(w->gone >> f & 1) || w->gone_at[f] < limit_of(timestamp)))
            w->gone_at[f] = limit_of(timestamp);
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

/* A block of a run: of a packed family the only cell of its row, of a wide one under its qualifier. */
static gf_status put_block(writing *w, const gf_change *c, gf_error *err)
{
    gf_slice qualifier = GF_SLICE(gf_hbase_block);
    gf_slice rest = gf_slice_skip(c->key, gf_schema_row_length(w->schema, c->key));
    if (!w->t->own) return gf_fail(err, GF_EINVAL, "users' tables in HBase have no runs");
    if (w->schema->families[c->family].layout == GF_LAYOUT_WIDE) {
        gf_buffer plain = {0};
        bool good = gf_key_take_string(&rest, &plain);
        gf_status st = gf_buffer_check(&plain, err);
        qualifier = gf_arena_copy(&w->memory, gf_buffer_view(&plain));
        gf_buffer_release(&plain);
        if (st != GF_OK) return st;
        if (!good) return gf_fail(err, GF_EINVAL, "a block of a run whose key is none");
        if (!qualifier.ptr) return gf_fail_memory(err, "a write");
    }
    gf_status st = put_cell(w, c->family, qualifier, c->value, c->timestamp, err);
    if (st == GF_OK) w->effects[w->n - 1].is_block = true;
    return st;
}

static gf_status add_change(writing *w, const gf_change *c, gf_error *err)
{
    gf_status st = GF_OK;
    effect *e;
    switch (c->kind) {
    case GF_CHANGE_PUT:
        return put_cell(w, c->family, c->qualifier, c->value, c->timestamp, err);
    case GF_CHANGE_REPLACE:
        forget_families(w, UINT32_C(1) << c->family, c->timestamp);
        for (size_t i = 0; i < c->n_columns && st == GF_OK; i++)
            st = put_cell(w, c->family, c->columns[i].name, c->columns[i].value, c->timestamp, err);
        return st;
    case GF_CHANGE_DELETE_CELL:
        forget_cell(w, c->family, c->qualifier, -1);
        w->reads = true;
        e = add_effect(w, c->family, c->qualifier, err);
        if (!e) return GF_ENOMEM;
        e->goes = true;
        e->timestamp = limit_of(c->timestamp);
        return GF_OK;
    case GF_CHANGE_DELETE_ROW:
        forget_families(w, c->families, c->timestamp);
        return GF_OK;
    case GF_CHANGE_PUT_BLOCK:
        return put_block(w, c, err);
    }
    return gf_fail(err, GF_EINVAL, "a change of no kind");
}

static size_t cell_size(gf_slice family, gf_slice qualifier)
{
    return OF_CELL + family.len + qualifier.len;
}

static size_t name_size(const gf_schema *s, unsigned family, gf_slice qualifier)
{
    return cell_size(gf_slice_str(s->families[family].name), qualifier);
}

/* About the bytes that the row's TPut takes. */
static size_t put_size(const writing *w)
{
    size_t n = OF_ROW + w->row.len;
    for (size_t i = 0; i < w->n; i++)
        n += name_size(w->schema, w->effects[i].family, w->effects[i].qualifier) +
             (w->effects[i].is_cut ? 0 : w->effects[i].value.len);
    return n;
}

/* Mark the values of a large row that are cut; then the old parts of the cells are to be known. */
static void choose_cut(writing *w)
{
    size_t bytes = w->t->own ? put_size(w) : 0;
    for (size_t least = SMALL_BYTES; least >= SMALLEST_CUT; least /= 4)
        for (size_t i = 0; i < w->n && bytes > ROW_BYTES; i++) {
            effect *e = &w->effects[i];
            if (e->goes || e->is_cut || e->value.len <= least) continue;
            bytes -= e->value.len;
            e->is_cut = true;
            e->id = gf_hbase_new_id(e->timestamp);
            w->reads = true;
        }
}

static gf_status write_parts(const writing *w, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < w->n && st == GF_OK; i++) {
        const effect *e = &w->effects[i];
        if (e->is_cut)
            st = gf_hbase_write_parts(w->b, w->t, gf_buffer_view(&w->row), e->family, e->qualifier,
                                      e->value, e->id, e->timestamp, err);
    }
    return st;
}

/* ---- mutations ------------------------------------------------------------------------------- */

static void put_durability(const writing *w, gf_buffer *to, uint16_t id)
{
    gf_thrift_i32_field(to, id, w->sync == GF_SYNC_ON ? FSYNC_WAL : ASYNC_WAL);
}

static size_t count_puts(const writing *w)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        n += !w->effects[i].goes;
    return n;
}

/* A TPut of the row. */
static void write_put(const writing *w, gf_buffer *to)
{
    gf_thrift_string_field(to, 1, gf_buffer_view(&w->row));
    gf_thrift_field(to, GF_THRIFT_LIST, 2);
    gf_thrift_list(to, GF_THRIFT_STRUCT, count_puts(w));
    for (size_t i = 0; i < w->n; i++) {
        const effect *e = &w->effects[i];
        if (e->goes) continue;
        gf_thrift_string_field(to, 1, gf_slice_str(w->schema->families[e->family].name));
        gf_thrift_string_field(to, 2, e->qualifier);
        if (w->t->own)
            gf_hbase_put_value(to, 3, e->value, e->is_block, e->is_cut ? &e->id : NULL);
        else
            gf_thrift_string_field(to, 3, e->value);
        if (e->timestamp) gf_thrift_i64_field(to, 4, e->timestamp);
        gf_thrift_stop(to);
    }
    put_durability(w, to, 6);
    gf_thrift_stop(to);
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

static const effect *find_effect(const writing *w, unsigned family, gf_slice qualifier)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->effects[i].family == family && gf_slice_equal(w->effects[i].qualifier, qualifier))
            return &w->effects[i];
    return NULL;
}

/* The cells that go of those that are there, and families that go as a whole. */
typedef struct going {
    gf_hbase_cell *cells; /* n, borrowed from what was read; with the times of deletions */
    size_t n;
    int64_t newest[GF_MAX_FAMILIES]; /* -1: it does not go as a whole */
    size_t n_families;
} going;

/*
 * Families of very many cells or of long names, of which none is put, go by a delete of the family.
 * Others go cell by cell: a put of the empty qualifier that comes later lies before such a delete, and a
 * scan that is told to skip that cell skips the delete with it (seen in HBase 2.6).
 */
static uint32_t families_as_whole(const writing *w, const gf_hbase_result *there)
{
    bool many = there->n_cells > MANY_CELLS || there->cells.rest.len > REQUEST_BYTES;
    uint32_t whole = many ? w->gone : 0;
    for (size_t i = 0; i < w->n; i++)
        whole &= ~(UINT32_C(1) << w->effects[i].family);
    return whole;
}

static int64_t earlier_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void add_going(going *g, const gf_hbase_cell *cell, int64_t limit)
{
    g->cells[g->n] = *cell;
    g->cells[g->n++].timestamp = earlier_of(cell->timestamp, limit);
}

/* A part of a value that was cut goes with its cell, and where the cell gets other parts. */
static void find_going_part(const writing *w, const gf_hbase_cell *cell, going *g)
{
    gf_hbase_part part;
    if (!gf_hbase_part_read(cell->qualifier, &part) || part.family >= GF_MAX_FAMILIES) return;
    const effect *e = find_effect(w, part.family, part.qualifier);
    if (e && !e->goes && (!e->is_cut || e->id != part.id))
        add_going(g, cell, limit_of(e->timestamp));
    else if (e && e->goes)
        add_going(g, cell, e->timestamp);
    else if (!e && (w->gone >> part.family & 1))
        add_going(g, cell, w->gone_at[part.family]);
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
        if (f < 0) {
            if (w->t->own) find_going_part(w, &cell, g);
            continue;
        }
        if (whole >> f & 1) {
            int64_t as_of = earlier_of(cell.timestamp, w->gone_at[f]);
            g->n_families += g->newest[f] < 0;
            if (as_of > g->newest[f]) g->newest[f] = as_of;
            continue;
        }
        const effect *e = find_effect(w, (unsigned)f, cell.qualifier);
        if (e && e->goes) add_going(g, &cell, e->timestamp);
        if (!e && (w->gone >> f & 1)) add_going(g, &cell, w->gone_at[f]);
    }
    return GF_OK;
}

/* A TDelete of the cells, or of the families. */
static void write_delete(const writing *w, const going *g, bool families, gf_buffer *to)
{
    gf_thrift_string_field(to, 1, gf_buffer_view(&w->row));
    gf_thrift_field(to, GF_THRIFT_LIST, 2);
    gf_thrift_list(to, GF_THRIFT_STRUCT, families ? g->n_families : g->n);
    for (size_t i = 0; i < g->n && !families; i++)
        write_column(to, g->cells[i].family, &g->cells[i].qualifier, g->cells[i].timestamp);
    for (unsigned f = 0; f < w->schema->n_families && families; f++)
        if (g->newest[f] >= 0)
            write_column(to, gf_slice_str(w->schema->families[f].name), NULL, g->newest[f]);
    gf_thrift_i32_field(to, 4, families ? DELETE_FAMILY : DELETE_COLUMNS);
    put_durability(w, to, 7);
    gf_thrift_stop(to);
}

static uint32_t families_of_deletes(const writing *w)
{
    uint32_t families = w->gone;
    for (size_t i = 0; i < w->n; i++)
        if (w->effects[i].goes || w->effects[i].is_cut)
            families |= UINT32_C(1) << w->effects[i].family;
    return families;
}

/* Fields of TRowMutations. */
static void write_mutations(const writing *w, const going *g, gf_buffer *to)
{
    bool puts = count_puts(w) > 0;
    gf_thrift_string_field(to, 1, gf_buffer_view(&w->row));
    gf_thrift_field(to, GF_THRIFT_LIST, 2);
    gf_thrift_list(to, GF_THRIFT_STRUCT, (size_t)puts + (g->n > 0) + (g->n_families > 0));
    if (puts) {
        gf_thrift_field(to, GF_THRIFT_STRUCT, 1);
        write_put(w, to);
        gf_thrift_stop(to); /* of the union */
    }
    for (int families = 0; families < 2; families++) {
        if (!(families ? g->n_families : g->n)) continue;
        gf_thrift_field(to, GF_THRIFT_STRUCT, 2);
        write_delete(w, g, families, to);
        gf_thrift_stop(to); /* of the union */
    }
    gf_thrift_stop(to);
}

/*
 * HBase names no table in the failure of many rows; of one that was dropped meanwhile we say so. It is
 * asked where it has answered, and not where the connection is lost.
 */
static gf_status fail_write(const writing *w, gf_status st, gf_error *err)
{
    bool there = true;
    st = gf_hbase_fail_table(w->t, st, err);
    if ((st != GF_EUNKNOWN && st != GF_EIO) || w->t->own) return st;
    if (!err || !strstr(err->message, "HBase: ")) return st;
    if (gf_hbase_has_table(&w->b->base, w->schema->name, &there, NULL) != GF_OK || there) return st;
    return gf_fail(err, GF_ENOTFOUND, "HBase has no table %s any more", w->t->name.ptr);
}

static gf_status run(const writing *w, gf_hbase_call *call, gf_thrift_type result,
                     gf_hbase_effect kind, gf_error *err)
{
    gf_status st = gf_hbase_call_run(w->b->client, call, result, kind, err);
    return st == GF_OK ? st : fail_write(w, st, err);
}

static gf_status run_again(const writing *w, gf_hbase_call *call, gf_error *err)
{
    return run(w, call, GF_THRIFT_STOP, w->again ? GF_HBASE_WRITES_AGAIN : GF_HBASE_WRITES, err);
}

/* ---- many rows ------------------------------------------------------------------------------- */

/* The changes of the row that begins at i: up to *end, not included. */
static gf_status begin_row(writing *w, const gf_change *changes, size_t n, size_t i, size_t *end,
                           gf_error *err)
{
    const gf_change *first = &changes[i];
    gf_status st = gf_hbase_find_table(w->b, first->table, &w->t, &w->schema, err);
    if (st == GF_OK) st = gf_hbase_make_table(w->b, w->t, err);
    if (st != GF_OK) return st;
    w->n = w->n_seen = 0;
    gf_strings_release(&w->seen);
    gf_arena_reset(&w->memory);
    w->gone = 0;
    w->reads = false;
    gf_buffer_reset(&w->row);
    gf_slice key = gf_slice_of(first->key.ptr, gf_schema_row_length(w->schema, first->key));
    st = gf_hbase_row_of_key(w->schema, key, &w->row, err);
    for (; i < n && st == GF_OK; i++) {
        const gf_change *c = &changes[i];
        if (c->table != first->table || !gf_slice_starts(c->key, key) ||
            (c->key.len > key.len && c->kind != GF_CHANGE_PUT_BLOCK))
            break;
        st = add_change(w, c, err);
    }
    if (st == GF_OK) choose_cut(w);
    *end = i;
    return st;
}

static void begin_of_many(writing *w, many_rows *m, const char *method)
{
    if (m->n == 0) {
        gf_hbase_begin_on_table(&m->call, method, w->t);
        gf_thrift_field(&m->call.request, GF_THRIFT_LIST, 2);
        gf_thrift_list(&m->call.request, GF_THRIFT_STRUCT, 0);
        m->rows_at = m->call.request.len - 4;
    }
    m->n++;
}

static void end_many(many_rows *m)
{
    gf_buffer *b = &m->call.request;
    for (int i = 0; i < 4 && b->state == GF_OK; i++)
        b->ptr[m->rows_at + (size_t)i] = (char)(m->n >> (8 * (3 - i)) & 0xFF);
    m->n = 0;
}

static gf_status send_many(writing *w, many_rows *m, gf_error *err)
{
    if (!m->n) return GF_OK;
    bool deletes = m == &w->deletes;
    end_many(m);
    /* A list of deletes that failed is the answer to these; it is empty, or the call fails. */
    return run(w, &m->call, deletes ? GF_THRIFT_LIST : GF_THRIFT_STOP,
               w->again ? GF_HBASE_WRITES_AGAIN : GF_HBASE_WRITES, err);
}

/* About the bytes that the row's TDelete takes. */
static size_t delete_size(const writing *w, const going *g)
{
    size_t n = OF_ROW + w->row.len;
    for (size_t i = 0; i < g->n; i++)
        n += cell_size(g->cells[i].family, g->cells[i].qualifier);
    return n;
}

static gf_status add_delete(writing *w, const going *g, gf_error *err)
{
    gf_status st = GF_OK;
    if (w->deletes.n && w->deletes.call.request.len + delete_size(w, g) > REQUEST_BYTES)
        st = send_many(w, &w->deletes, err);
    if (st != GF_OK) return st;
    begin_of_many(w, &w->deletes, "deleteMultiple");
    write_delete(w, g, g->n_families > 0, &w->deletes.call.request);
    return GF_OK;
}

/* Cells that go, and for which a request has no room beside what is put, go before it, some at a time. */
static gf_status delete_ahead(writing *w, going *g, gf_error *err)
{
    enum { FEW = MOST_BYTES - ROW_BYTES, PIECE = REQUEST_BYTES / 2 };
    gf_status st = GF_OK;
    size_t puts = count_puts(w) ? put_size(w) : 0;
    size_t bytes = delete_size(w, g);
    while (st == GF_OK && bytes > FEW && puts + bytes > MOST_BYTES) {
        going piece = {.cells = g->cells + g->n};
        size_t left = bytes > PIECE ? bytes - PIECE : 0;
        for (; g->n && bytes > left; piece.n++) {
            const gf_hbase_cell *cell = --piece.cells;
            bytes -= cell_size(cell->family, cell->qualifier);
            g->n--;
        }
        st = add_delete(w, &piece, err);
        if (st == GF_OK) st = send_many(w, &w->deletes, err);
    }
    return st;
}

/* The row at hand, of which `there` is there. */
static gf_status write_row(writing *w, const gf_hbase_result *there, gf_error *err)
{
    going g = {0};
    gf_status st = write_parts(w, err);
    if (st == GF_OK) st = find_going(w, there, &g, err);
    if (st == GF_OK) st = delete_ahead(w, &g, err);
    if (st != GF_OK) goto done;
    bool puts = count_puts(w) > 0;
    if (puts && !g.n && !g.n_families) {
        begin_of_many(w, &w->puts, "putMultiple");
        write_put(w, &w->puts.call.request);
    } else if (!puts && (g.n > 0) != (g.n_families > 0)) {
        st = add_delete(w, &g, err);
    } else if (puts || g.n || g.n_families) {
        gf_hbase_begin_on_table(&w->call, "mutateRow", w->t);
        gf_thrift_field(&w->call.request, GF_THRIFT_STRUCT, 2);
        write_mutations(w, &g, &w->call.request);
        st = run_again(w, &w->call, err);
    }
done:
    gf_free(g.cells);
    return st;
}

/*
 * The rows from i on that go together: of one table, each once, and not much in all. What is to be
 * known of them is asked for in *reads, whose rows are in that order.
 */
static gf_status begin_group(writing *w, const gf_change *changes, size_t n, size_t i, size_t *end,
                             many_rows *reads, gf_error *err)
{
    size_t bytes = 0;
    *end = i;
    gf_strings_release(&w->sent);
    while (*end < n && w->sent.n < w->most_rows && changes[*end].table == changes[i].table) {
        size_t next;
        uint32_t number;
        bool is_new;
        gf_status st = begin_row(w, changes, n, *end, &next, err);
        if (st != GF_OK) return st;
        bytes += put_size(w);
        if (*end > i && bytes > REQUEST_BYTES) return GF_OK;
        st = gf_strings_add(&w->sent, gf_buffer_view(&w->row), &number, &is_new, err);
        if (st != GF_OK) return st;
        if (!is_new) return GF_OK; /* both would have one time, and no order */
        if (w->reads) {
            begin_of_many(w, reads, "getMultiple");
            gf_hbase_get_of_names(&reads->call.request, w->t, w->schema, gf_buffer_view(&w->row),
                                  families_of_deletes(w));
        }
        *end = next;
        if (reads->call.request.len > REQUEST_BYTES) return GF_OK;
    }
    return GF_OK;
}

static gf_status bad_rows(gf_error *err)
{
    return gf_fail(err, GF_EIO, "the gateway of HBase sent rows that cannot be read");
}

static gf_status write_group(writing *w, const gf_change *changes, size_t n, size_t i, size_t *end,
                             gf_error *err)
{
    many_rows reads = {0};
    gf_thrift_reader results = {0};
    gf_status st = begin_group(w, changes, n, i, end, &reads, err);
    size_t n_reads = reads.n;
    if (st == GF_OK && n_reads) {
        end_many(&reads);
        st = run(w, &reads.call, GF_THRIFT_LIST, GF_HBASE_READS, err);
        results = reads.call.result;
        if (st == GF_OK &&
            (!reads.call.has_result || gf_thrift_take_list(&results, GF_THRIFT_STRUCT) != n_reads))
            st = bad_rows(err);
    }
    if (st == GF_ELIMIT && w->sent.n > 1) { /* fewer rows have fewer names */
        w->most_rows = (w->sent.n + 15) / 16;
        *end = i;
        st = GF_OK;
    }
    for (size_t next; i < *end && st == GF_OK; i = next) {
        gf_hbase_result there = {0};
        st = begin_row(w, changes, *end, i, &next, err);
        if (st == GF_OK && w->reads && !gf_hbase_take_result(&results, &there)) st = bad_rows(err);
        if (st == GF_OK) st = write_row(w, &there, err);
    }
    if (st == GF_OK) st = send_many(w, &w->puts, err);
    if (st == GF_OK) st = send_many(w, &w->deletes, err);
    gf_hbase_call_release(&reads.call);
    return st;
}

static gf_status write_all(writing *w, const gf_change *changes, size_t n, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0, end; i < n && st == GF_OK; i = end)
        st = write_group(w, changes, n, i, &end, err);
    return st;
}

/* ---- conditions ------------------------------------------------------------------------------ */

static gf_status lost_race(gf_error *err)
{
    return gf_fail(err, GF_ECONFLICT, "another writer was first");
}

static gf_status read_there(writing *w, gf_hbase_result *there, gf_error *err)
{
    *there = (gf_hbase_result){0};
    if (!w->reads) return GF_OK;
    return gf_hbase_read_names(w->b, w->t, w->schema, gf_buffer_view(&w->row),
                               families_of_deletes(w), &w->names, there, err);
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

static void write_expected(const writing *w, const gf_expectation *c, gf_buffer *to)
{
    if (w->t->own && c->expected)
        gf_hbase_put_value(to, 6, *c->expected, false, NULL);
    else
        gf_thrift_string_field(to, 6, c->expected ? *c->expected : (gf_slice){0});
}

/* The row at hand, of which `there` is there. */
static gf_status mutate_if(writing *w, const gf_expectation *c, const gf_hbase_result *there,
                           gf_error *err)
{
    enum { EQUAL = 2 };
    going g = {0};
    gf_buffer *to = &w->call.request;
    gf_status st = find_going(w, there, &g, err);
    if (st == GF_OK && !g.n && !g.n_families && !count_puts(w)) {
        st = check_condition(w, c, err);
    } else if (st == GF_OK) {
        gf_hbase_begin_on_table(&w->call, "checkAndMutate", w->t);
        gf_thrift_string_field(to, 2, gf_buffer_view(&w->row));
        gf_thrift_string_field(to, 3, gf_slice_str(w->schema->families[c->family].name));
        gf_thrift_string_field(to, 4, c->qualifier);
        gf_thrift_i32_field(to, 5, EQUAL);
        write_expected(w, c, to);
        gf_thrift_field(to, GF_THRIFT_STRUCT, 7);
        write_mutations(w, &g, to);
        st = run(w, &w->call, GF_THRIFT_BOOL, GF_HBASE_WRITES, err);
        if (st == GF_OK && !(w->call.has_result && gf_thrift_take_bool(&w->call.result)))
            st = lost_race(err);
    }
    gf_free(g.cells);
    return st;
}

static gf_status write_if(writing *w, const gf_change *changes, size_t n, const gf_expectation *c,
                          gf_error *err)
{
    gf_hbase_result there;
    size_t end = 0;
    for (size_t i = 0; i < n; i++)
        if (changes[i].table != c->table || !gf_slice_equal(changes[i].key, c->key))
            return gf_fail(err, GF_EINVAL,
                           "a store in HBase writes on a condition only the row of that condition");
    if (n == 0) return check_condition(w, c, err);
    gf_status st = begin_row(w, changes, n, 0, &end, err);
    if (st != GF_OK) return st;
    /* HBase takes an empty value and none for each other; so which of them is there is asked before.
       The engine's tables have no empty ones. */
    if (!w->t->own && (!c->expected || c->expected->len == 0)) st = check_condition(w, c, err);
    if (st == GF_OK) st = read_there(w, &there, err);
    if (st == GF_OK) st = write_parts(w, err);
    return st == GF_OK ? mutate_if(w, c, &there, err) : st;
}

/* At most what a cell takes in a request once all is cut that can be. */
static size_t least_size(const gf_hbase_table *t, const gf_schema *s, unsigned family,
                         gf_slice qualifier, gf_slice value)
{
    bool is_cut = t->own && value.len > SMALLEST_CUT;
    return name_size(s, family, qualifier) + (is_cut ? 0 : value.len);
}

gf_status gf_hbase_check_row(gf_backend *backend, const gf_change *changes, size_t n, gf_error *err)
{
    gf_hbase_table *t;
    const gf_schema *s;
    gf_buffer row = {0};
    gf_status st = gf_hbase_find_table((gf_hbase *)backend, changes->table, &t, &s, err);
    if (st != GF_OK) return st;
    gf_slice key = changes->key;
    st = gf_hbase_row_of_key(s, gf_slice_of(key.ptr, gf_schema_row_length(s, key)), &row, err);
    size_t bytes = OF_ROW + row.len;
    gf_buffer_release(&row);
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        const gf_change *c = &changes[i];
        if (c->kind != GF_CHANGE_REPLACE && c->kind != GF_CHANGE_DELETE_ROW)
            bytes += least_size(t, s, c->family, c->qualifier, c->value);
        for (size_t k = 0; k < c->n_columns; k++)
            bytes += least_size(t, s, c->family, c->columns[k].name, c->columns[k].value);
    }
    if (st != GF_OK || bytes <= ROW_BYTES) return st;
    return gf_fail(err, GF_ELIMIT,
                   "a row of table %s has %zu bytes of names and %s; in HBase it can have %d",
                   s->name, bytes, t->own ? "small values" : "values", ROW_BYTES);
}

gf_status gf_hbase_write(gf_backend *backend, const gf_change *changes, size_t n,
                         const gf_expectation *condition, gf_backend_hold *hold, gf_sync sync,
                         gf_error *err)
{
    (void)hold; /* is never lost */
    writing w = {.b = (gf_hbase *)backend, .sync = sync, .again = true, .most_rows = MOST_ROWS};
    for (size_t i = 0; i < n; i++)
        w.again &= changes[i].timestamp != 0;
    gf_status st =
        condition ? write_if(&w, changes, n, condition, err) : write_all(&w, changes, n, err);
    gf_hbase_call_release(&w.call);
    gf_hbase_call_release(&w.names);
    gf_hbase_call_release(&w.puts.call);
    gf_hbase_call_release(&w.deletes.call);
    gf_arena_release(&w.memory);
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
