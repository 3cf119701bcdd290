/* The files that a LevelDB MANIFEST names. */
#include "storage/check/files.h"

#include "base/arena.h"
#include "base/grow.h"
#include "base/memory.h"
#include "base/strings.h"
#include "grouperfish/buffer.h"

#include <assert.h>

/*
 * A MANIFEST is a log of edits, each a sequence of fields; the state is what they come to. Numbers
 * are varints, strings a varint length and bytes.
 *
 *     1 comparator   string
 *     2 log          number of the oldest log that is still needed
 *     3 next file    number
 *     4 sequence     number
 *     5 place        level, key string: where a compaction of the level begins
 *     6 deleted      level, number
 *     7 new          level, number, size, lowest and highest key (strings)
 *     9 older log    number; 0 in what LevelDB writes today
 */
enum { COMPARATOR = 1, LOG, NEXT_FILE, SEQUENCE, PLACE, DELETED, NEW, OLDER_LOG = 9 };
enum { LEVELS = 7 };

typedef struct table_file {
    uint64_t number, size;
    bool is_there;
    gf_slice lowest; /* its lowest key, as LevelDB has it inside; only where keys are kept */
} table_file;

typedef struct manifest {
    uint64_t log, sequence;
    bool has_log, deletes;
    gf_strings numbers; /* number (u64 BE) -> index in tables */
    table_file *tables; /* numbers.n of capacity */
    size_t capacity;
    bool keeps_keys;
    gf_arena keys;
} manifest;

static gf_status fail_edit(gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "an edit is damaged");
}

static gf_status set_table(manifest *m, uint64_t number, uint64_t size, bool is_there,
                           gf_slice lowest, gf_error *err)
{
    gf_buffer key = {0};
    uint32_t id;
    bool added;
    gf_buffer_u64be(&key, number);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_strings_add(&m->numbers, gf_buffer_view(&key), &id, &added, err);
    gf_buffer_release(&key);
    if (st != GF_OK) return st;
    assert(id <= m->capacity); /* numbers rise by one */
    if (!gf_grow(&m->tables, &m->capacity, (size_t)id + 1, sizeof *m->tables))
        return gf_fail_memory(err, "a MANIFEST");
    m->tables[id] = (table_file){number, size, is_there, {0}};
    if (!m->keeps_keys || !is_there) return GF_OK;
    m->tables[id].lowest = gf_arena_copy(&m->keys, lowest);
    return m->tables[id].lowest.ptr ? GF_OK : gf_fail_memory(err, "a MANIFEST");
}

static bool take_level(gf_slice *s)
{
    uint32_t level;
    return gf_slice_take_varint32(s, &level) && level < LEVELS;
}

static gf_status take_table(manifest *m, gf_slice *s, bool is_new, gf_error *err)
{
    uint64_t number, size = 0;
    gf_slice lowest = {0}, highest;
    if (!take_level(s) || !gf_slice_take_varint(s, &number)) return fail_edit(err);
    if (is_new && (!gf_slice_take_varint(s, &size) || !gf_slice_take_string(s, &lowest) ||
                   !gf_slice_take_string(s, &highest)))
        return fail_edit(err);
    return set_table(m, number, size, is_new, lowest, err);
}

static gf_status take_field(manifest *m, gf_slice *s, gf_error *err)
{
    uint32_t tag;
    uint64_t number;
    gf_slice string;
    if (!gf_slice_take_varint32(s, &tag)) return fail_edit(err);
    switch (tag) {
    case COMPARATOR:
        return gf_slice_take_string(s, &string) ? GF_OK : fail_edit(err);
    case LOG:
        m->has_log = true;
        return gf_slice_take_varint(s, &m->log) ? GF_OK : fail_edit(err);
    case SEQUENCE:
        return gf_slice_take_varint(s, &m->sequence) ? GF_OK : fail_edit(err);
    case NEXT_FILE:
    case OLDER_LOG:
        return gf_slice_take_varint(s, &number) ? GF_OK : fail_edit(err);
    case PLACE:
        return take_level(s) && gf_slice_take_string(s, &string) ? GF_OK : fail_edit(err);
    case DELETED:
    case NEW:
        m->deletes = m->deletes || tag == DELETED;
        return take_table(m, s, tag == NEW, err);
    default:
        return fail_edit(err);
    }
}

static gf_status take_edit(void *context, gf_slice record, gf_error *err)
{
    gf_status st = GF_OK;
    while (record.len && st == GF_OK)
        st = take_field(context, &record, err);
    return st;
}

gf_status gf_check_manifest(gf_slice content, gf_check_manifest_file *each, void *context,
                            bool *deletes, gf_error *err)
{
    manifest m = {0};
    gf_status st = gf_check_log(content, take_edit, &m, err);
    if (st == GF_OK && !m.has_log) st = gf_fail(err, GF_ECORRUPT, "it names no log");
    if (st == GF_OK && m.log) st = each(context, m.log, 0, err);
    for (uint32_t i = 0; i < m.numbers.n && st == GF_OK; i++) {
        const table_file *t = &m.tables[i];
        if (t->is_there) st = each(context, t->number, t->size, err);
    }
    if (st == GF_OK && deletes) *deletes = m.deletes;
    gf_strings_release(&m.numbers);
    gf_free(m.tables);
    return st;
}

gf_status gf_check_manifest_sequence(gf_slice content, uint64_t *sequence, gf_error *err)
{
    manifest m = {0};
    gf_status st = gf_check_log(content, take_edit, &m, err);
    if (st == GF_OK) *sequence = m.sequence;
    gf_strings_release(&m.numbers);
    gf_free(m.tables);
    return st;
}

gf_status gf_check_list_tables(gf_slice content, gf_check_manifest_table *each, void *context,
                               gf_error *err)
{
    enum { TRAILER = 8 }; /* sequence and kind of the entry, behind the key */
    manifest m = {.keeps_keys = true};
    gf_status st = gf_check_log(content, take_edit, &m, err);
    for (uint32_t i = 0; i < m.numbers.n && st == GF_OK; i++) {
        const table_file *t = &m.tables[i];
        if (!t->is_there) continue;
        if (t->lowest.len < TRAILER)
            st = fail_edit(err);
        else
            st = each(context, t->number, gf_slice_of(t->lowest.ptr, t->lowest.len - TRAILER), err);
    }
    gf_strings_release(&m.numbers);
    gf_arena_release(&m.keys);
    gf_free(m.tables);
    return st;
}
