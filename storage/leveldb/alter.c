/*
 * Changing what a family keeps: its time to live, and how many of several versions.
 *
 * Cells that were expired, or beyond the versions kept, were shown to nobody, and lie in the files until they
 * are overwritten. So before more is kept than was, all of that is deleted: nothing comes back. Cells
 * that were put without a time, since nothing could expire, get the time of the change, and live
 * from there on.
 *
 *     more kept     delete what was not shown, then the schema
 *     less kept     the schema, then delete what is not shown any more (versions alone: what expires
 *                   stays in the files as ever)
 *     first limit   the schema, then a time for each cell that has none, which until then lives
 *
 * The walks are in chunks, each under the lock of all rows: what is read in it is what is there.
 * A cell that expires between the walk and the new schema lives on: it was there a moment ago. What
 * is cut short is done again by the same change.
 */
#include "storage/leveldb/catalogue.h"
#include "storage/leveldb/cells.h"
#include "storage/leveldb/writing.h"

#include "base/clock.h"

enum { CHUNK_LOOKS = 20000, CHUNK_CHANGES = 4000 };
enum { HAS_TIME = 1 }; /* of the flags of a value's head */

typedef struct altering {
    gf_leveldb_writing w;
    gf_leveldb_run run; /* the family, in the schema as it was */
    bool stamps;        /* give a time to what has none; else delete */
    uint64_t ttl;       /* delete what is older by this; 0: nothing */
    uint32_t versions;  /* and of each cell all but so many */
    gf_buffer from, cell, entry;
    uint32_t seen; /* versions of `cell` */
    size_t changes;
} altering;

static gf_status copy_bytes(gf_buffer *to, gf_slice bytes, gf_error *err)
{
    gf_buffer_reset(to);
    gf_buffer_slice(to, bytes);
    return gf_buffer_check(to, err);
}

static gf_status stamp(altering *a, gf_slice key, gf_slice entry, gf_error *err)
{
    gf_buffer_reset(&a->entry);
    gf_buffer_byte(&a->entry, (char)(entry.ptr[0] | HAS_TIME));
    gf_buffer_u64be(&a->entry, (uint64_t)a->w.now);
    gf_buffer_slice(&a->entry, gf_slice_skip(entry, 1));
    gf_leveldb_batch_put(a->w.batch, key, gf_buffer_view(&a->entry));
    a->changes++;
    return gf_buffer_check(&a->entry, err);
}

static gf_status look_at(altering *a, const gf_leveldb_key *key, gf_slice entry, gf_error *err)
{
    gf_value_head head;
    gf_family old = *a->run.schema;
    gf_status st = gf_value_read_head(entry, &head, err);
    if (st != GF_OK) return st;
    if (a->stamps) return head.flags & HAS_TIME ? GF_OK : stamp(a, key->head, entry, err);
    if (!gf_slice_equal(key->cell, gf_buffer_view(&a->cell))) {
        st = copy_bytes(&a->cell, key->cell, err);
        a->seen = 0;
    }
    old.ttl_seconds = a->ttl;
    bool goes =
        gf_leveldb_cells_are_expired(&old, head.timestamp, a->w.now) || ++a->seen > a->versions;
    if (st != GF_OK || !goes) return st;
    a->changes++;
    st = copy_bytes(&a->w.key, key->head, err);
    return st == GF_OK ? gf_leveldb_entries_delete(&a->w, &a->run, err) : st;
}

/* The next entries of the family; *more: it is not at its end. With all rows locked. */
static gf_status walk_chunk(altering *a, gf_slice prefix, bool *more, gf_error *err)
{
    const gf_schema *schema = gf_leveldb_schema(a->w.b, a->run.table);
    gf_leveldb_iterator *it = gf_leveldb_iterator_create(a->w.b->db, NULL, false);
    gf_status st = GF_OK;
    size_t looks = 0;
    *more = false;
    gf_leveldb_iterator_seek(it, gf_buffer_view(&a->from));
    for (; st == GF_OK && gf_leveldb_iterator_valid(it); gf_leveldb_iterator_next(it)) {
        gf_leveldb_key key;
        gf_slice bytes = gf_leveldb_iterator_key(it);
        if (!gf_slice_starts(bytes, prefix)) break;
        *more = looks++ == CHUNK_LOOKS || a->changes >= CHUNK_CHANGES;
        if (*more) {
            st = copy_bytes(&a->from, bytes, err);
            break;
        }
        st = gf_leveldb_keys_parse(schema, bytes, &key, err);
        if (st == GF_OK && key.block == 0)
            st = look_at(a, &key, gf_leveldb_iterator_value(it), err);
    }
    if (st == GF_OK) st = gf_leveldb_iterator_status(it, err);
    gf_leveldb_iterator_free(it);
    return st;
}

static gf_status walk(altering *a, const gf_cancel *cancel, gf_error *err)
{
    gf_buffer prefix = {0};
    bool more = true;
    gf_leveldb_keys_family(&prefix, a->run.table, a->run.family);
    gf_status st = gf_buffer_check(&prefix, err);
    if (st == GF_OK) st = copy_bytes(&a->from, gf_buffer_view(&prefix), err);
    a->seen = 0;
    gf_buffer_reset(&a->cell);
    while (st == GF_OK && more) {
        st = gf_cancel_check(cancel, err);
        if (st != GF_OK) break;
        gf_leveldb_lock_all_rows(a->w.b);
        a->changes = 0;
        a->w.now = gf_clock_ms();
        st = walk_chunk(a, gf_buffer_view(&prefix), &more, err);
        if (st == GF_OK && a->changes) st = gf_leveldb_commit(a->w.b, a->w.batch, GF_SYNC_ON, err);
        gf_leveldb_unlock_all_rows(a->w.b);
        gf_leveldb_batch_clear(a->w.batch);
    }
    gf_buffer_release(&prefix);
    return st;
}

static uint32_t versions_of(const gf_family *f)
{
    return f->versions ? f->versions : 1;
}

/* Delete what was not shown, where more will be shown. */
static gf_status delete_hidden(altering *a, const gf_family *old, const gf_family *fresh,
                               const gf_cancel *cancel, gf_error *err)
{
    bool longer =
        old->ttl_seconds && (!fresh->ttl_seconds || fresh->ttl_seconds > old->ttl_seconds);
    bool fewer = versions_of(fresh) < versions_of(old);
    if (!longer && !fewer) return GF_OK;
    a->ttl = longer ? old->ttl_seconds : 0;
    a->versions = fewer ? versions_of(fresh) : UINT32_MAX;
    return walk(a, cancel, err);
}

gf_status gf_leveldb_alter_family(gf_backend *backend, unsigned table, unsigned family,
                                  uint32_t versions, uint64_t ttl_seconds, const gf_cancel *cancel,
                                  const gf_schema **stored, gf_error *err)
{
    gf_leveldb *b = (gf_leveldb *)backend;
    gf_status st = gf_leveldb_check_writable(b, err);
    if (st != GF_OK) return st;
    const gf_schema *schema = gf_leveldb_schema(b, table);
    const gf_family *old = &schema->families[family];
    gf_family fresh = *old;
    fresh.versions = versions;
    fresh.ttl_seconds = ttl_seconds;
    if ((versions_of(old) > 1) != (versions_of(&fresh) > 1))
        return gf_fail(err, GF_EINVAL,
                       "family %s keeps %s: its cells lie otherwise in the files, and "
                       "that cannot change",
                       old->name, versions_of(old) > 1 ? "several versions" : "one version");
    altering a = {.w = {.b = b, .batch = gf_leveldb_batch_create()},
                  .run = {.table = table, .family = family, .schema = old}};
    st = delete_hidden(&a, old, &fresh, cancel, err);
    if (st == GF_OK) st = gf_leveldb_catalogue_set_family(b, table, family, &fresh, err);
    a.stamps = ttl_seconds > 0;
    if (st == GF_OK && a.stamps) st = walk(&a, cancel, err);
    if (st == GF_OK) *stored = gf_leveldb_schema(b, table);
    gf_leveldb_batch_free(a.w.batch);
    gf_buffer_release(&a.w.key);
    gf_buffer_release(&a.w.block_key);
    gf_buffer_release(&a.w.entry);
    gf_buffer_release(&a.from);
    gf_buffer_release(&a.cell);
    gf_buffer_release(&a.entry);
    return st;
}
