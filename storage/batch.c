/* Batches: changes collected in memory until they are written together. */
#include "storage/journal.h"
#include "storage/run.h"

#include "base/grow.h"
#include "base/memory.h"

#include <assert.h>

struct gf_batch {
    gf_database *db;
    gf_arena arena;     /* keys, qualifiers, values, columns */
    gf_change *changes; /* n of capacity */
    size_t n, capacity;
    size_t bytes;
    gf_error error; /* the first failure; status GF_OK where there is none */
    bool is_guarded;
    gf_expectation guard;
    gf_slice guard_value;
    uint64_t stamp;     /* where rows hold themselves */
    bool deletes_later; /* gf_batch_delete_later */
};

gf_status gf_batch_create(gf_database *db, gf_batch **batch, gf_error *err)
{
    gf_batch *b = gf_calloc(1, sizeof *b);
    if (!b) return gf_fail_memory(err, "a batch");
    b->db = db;
    *batch = b;
    return GF_OK;
}

void gf_batch_free(gf_batch *b)
{
    if (!b) return;
    gf_arena_release(&b->arena);
    gf_free(b->changes);
    gf_free(b);
}

void gf_batch_reset(gf_batch *b)
{
    gf_arena_reset(&b->arena);
    b->n = 0;
    b->bytes = 0;
    b->error.status = GF_OK;
}

size_t gf_batch_changes(const gf_batch *b)
{
    return b->n;
}

size_t gf_batch_bytes(const gf_batch *b)
{
    return b->bytes;
}

void gf_batch_cut(gf_batch *b, size_t n)
{
    assert(n <= b->n);
    b->n = n;
}

static gf_slice keep_bytes(gf_batch *b, gf_slice s)
{
    gf_slice copy = gf_arena_copy(&b->arena, s);
    if (!copy.ptr) gf_fail_memory(&b->error, "a batch");
    b->bytes += s.len;
    return copy;
}

static gf_slice keep_value(gf_batch *b, gf_slice value)
{
    if (value.len > GF_MAX_VALUE) {
        gf_fail(&b->error, GF_ELIMIT, "a value of more than %d bytes", GF_MAX_VALUE);
        return (gf_slice){0};
    }
    return keep_bytes(b, value);
}

/* A new change of that row with its key copied; NULL where the batch has failed. */
static gf_change *add_change(gf_batch *b, gf_table *t, gf_slice key, gf_change_kind kind)
{
    assert(t->db == b->db);
    if (b->error.status != GF_OK || gf_table_check_key(t, key, &b->error) != GF_OK) return NULL;
    if (!gf_grow(&b->changes, &b->capacity, b->n + 1, sizeof *b->changes)) {
        gf_fail_memory(&b->error, "a batch");
        return NULL;
    }
    gf_change *c = &b->changes[b->n++];
    const gf_change *last = b->n > 1 ? c - 1 : NULL;
    bool same_row = last && gf_slice_equal(last->key, key);
    gf_slice kept = same_row ? last->key : keep_bytes(b, key);
    *c = (gf_change){.kind = kind, .table = gf_table_number(t), .key = kept};
    b->bytes += sizeof *c;
    return c;
}

/* Known names need no copy: the schema keeps them. */
static gf_slice keep_name(gf_batch *b, const gf_table *t, unsigned family, gf_slice name,
                          int number)
{
    if (number < 0) return keep_bytes(b, name);
    return gf_slice_of(gf_table_schema(t)->families[family].columns[number], name.len);
}

void gf_batch_put(gf_batch *b, gf_table *t, gf_slice key, unsigned family, gf_slice qualifier,
                  gf_slice value, int64_t timestamp)
{
    int number = -1;
    gf_change *c = add_change(b, t, key, GF_CHANGE_PUT);
    if (!c || gf_table_check_column(t, family, qualifier, &number, &b->error) != GF_OK) return;
    c->family = family;
    c->qualifier = keep_name(b, t, family, qualifier, number);
    c->value = keep_value(b, value);
    c->timestamp = timestamp;
}

static gf_status check_compressed(const gf_table *t, unsigned family, gf_error *err)
{
    const gf_schema *s = gf_table_schema(t);
    gf_status st = gf_table_check_family(t, family, err);
    if (st != GF_OK) return st;
    const gf_family *f = &s->families[family];
    if (f->layout == GF_LAYOUT_WIDE && f->compression == GF_COMPRESSION_SNAPPY &&
        f->versions <= 1 && !f->ttl_seconds)
        return GF_OK;
    return gf_fail(err, GF_EINVAL,
                   "table %s: family %s takes no values that were compressed before", s->name,
                   f->name);
}

/* A backend that keeps values as they are gets this one so. */
static void put_expanded(gf_batch *b, gf_table *t, gf_slice key, unsigned family,
                         gf_slice qualifier, const gf_compressed *value)
{
    gf_buffer memory = {0};
    gf_slice expanded;
    if (b->error.status == GF_OK && gf_value_expand(value, &memory, &expanded, &b->error) == GF_OK)
        gf_batch_put(b, t, key, family, qualifier, expanded, 0);
    gf_buffer_release(&memory);
}

void gf_batch_put_compressed(gf_batch *b, gf_table *t, gf_slice key, unsigned family,
                             gf_slice qualifier, const gf_compressed *value)
{
    size_t n = b->n;
    if (!(gf_database_capabilities(t->db) & GF_BACKEND_COMPRESSED)) {
        put_expanded(b, t, key, family, qualifier, value);
        return;
    }
    gf_batch_put(b, t, key, family, qualifier, value->bytes, 0);
    if (b->error.status != GF_OK || check_compressed(t, family, &b->error) != GF_OK) return;
    b->changes[n].form = value->smaller ? GF_VALUE_SMALLER : GF_VALUE_NOT_SMALLER;
}

static gf_status check_packed(const gf_table *t, unsigned family, gf_error *err)
{
    const gf_schema *s = gf_table_schema(t);
    gf_status st = gf_table_check_family(t, family, err);
    if (st != GF_OK || s->families[family].layout == GF_LAYOUT_PACKED) return st;
    return gf_fail(err, GF_EINVAL, "table %s: family %s is not packed", s->name,
                   s->families[family].name);
}

static gf_slice borrow_value(gf_batch *b, gf_slice value)
{
    if (value.len > GF_MAX_VALUE) return keep_value(b, value); /* which refuses it */
    b->bytes += value.len;
    return value;
}

static void replace_columns(gf_batch *b, gf_table *t, gf_slice key, unsigned family,
                            const gf_column *columns, size_t n_columns, int64_t timestamp,
                            bool borrow)
{
    gf_change *c = add_change(b, t, key, GF_CHANGE_REPLACE);
    if (!c || check_packed(t, family, &b->error) != GF_OK) return;
    gf_column *kept = gf_arena_alloc(&b->arena, n_columns * sizeof *kept);
    if (!kept) gf_fail_memory(&b->error, "a batch");
    int number = -1;
    size_t bytes = b->bytes;
    for (size_t i = 0; i < n_columns && b->error.status == GF_OK; i++) {
        gf_slice name = columns[i].name;
        if (gf_table_check_column(t, family, name, &number, &b->error) != GF_OK) return;
        gf_slice value = columns[i].value;
        kept[i].name = keep_name(b, t, family, name, number);
        kept[i].value = borrow ? borrow_value(b, value) : keep_value(b, value);
    }
    if (b->error.status == GF_OK && b->bytes - bytes > GF_MAX_VALUE)
        gf_fail(&b->error, GF_ELIMIT, "a row of more than %d bytes", GF_MAX_VALUE);
    c->family = family;
    c->columns = kept;
    c->n_columns = n_columns;
    c->timestamp = timestamp;
}

void gf_batch_replace(gf_batch *b, gf_table *t, gf_slice key, unsigned family,
                      const gf_column *columns, size_t n_columns, int64_t timestamp)
{
    replace_columns(b, t, key, family, columns, n_columns, timestamp, false);
}

void gf_batch_replace_borrowed(gf_batch *b, gf_table *t, gf_slice key, unsigned family,
                               const gf_column *columns, size_t n_columns, int64_t timestamp)
{
    replace_columns(b, t, key, family, columns, n_columns, timestamp, true);
}

gf_slice gf_batch_keep(gf_batch *b, gf_slice bytes)
{
    return keep_bytes(b, bytes);
}

void gf_batch_put_block(gf_batch *b, const gf_run_block *block)
{
    gf_slice key = gf_run_block_key(block);
    assert(block->stored.bytes.len);
    if (b->error.status != GF_OK) return;
    if (!gf_grow(&b->changes, &b->capacity, b->n + 1, sizeof *b->changes)) {
        gf_fail_memory(&b->error, "a batch");
        return;
    }
    bool able = gf_database_capabilities(b->db) & GF_BACKEND_COMPRESSED;
    gf_slice value = able ? block->stored.bytes : gf_buffer_view(&block->bytes);
    gf_change *c = &b->changes[b->n++];
    *c = (gf_change){.kind = GF_CHANGE_PUT_BLOCK,
                     .table = gf_table_number(block->table),
                     .family = block->family,
                     .key = keep_bytes(b, key),
                     .value = keep_value(b, value)};
    if (able) c->form = block->stored.smaller ? GF_VALUE_SMALLER : GF_VALUE_NOT_SMALLER;
    b->bytes += sizeof *c;
}

void gf_batch_delete_cell(gf_batch *b, gf_table *t, gf_slice key, unsigned family,
                          gf_slice qualifier)
{
    int number = -1;
    gf_change *c = add_change(b, t, key, GF_CHANGE_DELETE_CELL);
    if (!c || gf_table_check_column(t, family, qualifier, &number, &b->error) != GF_OK) return;
    c->family = family;
    c->qualifier = keep_bytes(b, qualifier);
}

void gf_batch_delete_row(gf_batch *b, gf_table *t, gf_slice key, uint32_t families)
{
    gf_change *c = add_change(b, t, key, GF_CHANGE_DELETE_ROW);
    if (c) c->families = gf_table_families(t, families);
}

/* Row after row, with a hold's journal where this thread holds a row. */
static gf_status write_rows(gf_batch *b, const gf_expectation *condition, gf_sync sync,
                            gf_error *err)
{
    gf_held_row *held = gf_hold_row_of_thread(b->db);
    if (held) return gf_held_row_write(held, b->changes, b->n, b->deletes_later, condition, err);
    return gf_journal_write_free(b->db, b->changes, b->n, condition, b->stamp, sync, err);
}

static gf_status write_changes(gf_batch *b, const gf_expectation *condition, gf_sync sync,
                               gf_error *err)
{
    gf_status st = b->error.status;
    if (st != GF_OK) {
        if (err) *err = b->error;
    } else if (b->db->holds.table) {
        st = write_rows(b, condition, sync, err);
    } else {
        gf_backend *backend = b->db->backend;
        st = backend->operations->write(backend, b->changes, b->n, condition,
                                        gf_hold_of_thread(b->db), sync, err);
    }
    gf_batch_reset(b);
    return st;
}

void gf_batch_guard(gf_batch *b, gf_table *t, gf_slice key, unsigned family, gf_slice qualifier,
                    gf_slice value)
{
    b->is_guarded = true;
    b->guard_value = value;
    b->guard = (gf_expectation){gf_table_number(t), family, key, qualifier, &b->guard_value};
}

void gf_batch_unguard(gf_batch *b)
{
    b->is_guarded = false;
}

void gf_batch_delete_later(gf_batch *b)
{
    b->deletes_later = true;
}

void gf_batch_stamp(gf_batch *b, uint64_t stamp)
{
    b->stamp = stamp;
}

gf_status gf_batch_write(gf_batch *b, gf_sync sync, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    if (!b->is_guarded) return write_changes(b, NULL, sync, err);
    gf_status st = write_changes(b, &b->guard, sync, &why);
    if (st == GF_ECONFLICT)
        return gf_fail(err, st, "another process has taken over what was being written");
    if (st != GF_OK && err) *err = why;
    return st;
}

gf_status gf_batch_write_if(gf_batch *b, gf_table *t, gf_slice key, unsigned family,
                            gf_slice qualifier, const gf_slice *expected, gf_sync sync,
                            gf_error *err)
{
    int number = -1;
    gf_status st = gf_table_check_key(t, key, err);
    if (st == GF_OK) st = gf_table_check_column(t, family, qualifier, &number, err);
    if (st != GF_OK) {
        gf_batch_reset(b);
        return st;
    }
    gf_expectation condition = {gf_table_number(t), family, key, qualifier, expected};
    return write_changes(b, &condition, sync, err);
}
