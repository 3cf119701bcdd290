/*
 * Everything readable of a damaged store's database is copied into another (storage/salvage).
 *
 * Its files are checked first, for what only the check knows: filling, filters, sizes, CURRENT.
 */
#include "storage/folder/folder.h"

#include "base/file.h"
#include "base/grow.h"
#include "base/memory.h"
#include "base/strings.h"
#include "storage/leveldb/backend.h"
#include "storage/salvage/salvage.h"

#include <dirent.h>

/* An entry of the catalogue that names a table. */
typedef struct held_table {
    unsigned number;
    uint64_t sequence;
    gf_buffer key, value;
} held_table;

typedef struct rescue {
    gf_damage_report *report;
    void *context;
    gf_strings told; /* files whose damage was reported */
    gf_error failed; /* that a name could not be kept */
    gf_backend_fill *fill;
    held_table *held; /* n_held */
    size_t n_held, held_capacity;
} rescue;

static void note_damage(void *context, const char *file, const char *what)
{
    rescue *r = context;
    uint32_t id;
    if (r->failed.status == GF_OK)
        r->failed.status = gf_strings_add(&r->told, gf_slice_str(file), &id, NULL, &r->failed);
    r->report(r->context, file, what);
}

/* The salvage meets again what the check has told of. */
static void note_more(void *context, const char *file, const char *what)
{
    rescue *r = context;
    if (gf_strings_find(&r->told, gf_slice_str(file)) == GF_STRING_NONE)
        r->report(r->context, file, what);
}

static void note_odd(void *context, const char *file, const char *what)
{
    rescue *r = context;
    r->report(r->context, file, what);
}

static gf_status hold_table(rescue *r, unsigned number, gf_slice key, gf_slice value,
                            uint64_t sequence, gf_error *err)
{
    if (!gf_grow(&r->held, &r->held_capacity, r->n_held + 1, sizeof *r->held))
        return gf_fail_memory(err, "the catalogue");
    held_table *t = &r->held[r->n_held++];
    *t = (held_table){.number = number, .sequence = sequence};
    gf_buffer_slice(&t->key, key);
    gf_buffer_slice(&t->value, value);
    gf_status st = gf_buffer_check(&t->key, err);
    return st == GF_OK ? gf_buffer_check(&t->value, err) : st;
}

/* The rows of a number that two tables have are those of the table that was named last. */
static bool is_overwritten(const rescue *r, size_t at)
{
    for (size_t i = 0; i < r->n_held; i++)
        if (r->held[i].number == r->held[at].number && r->held[i].sequence > r->held[at].sequence)
            return true;
    return false;
}

static gf_status put_tables(rescue *r, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < r->n_held && st == GF_OK; i++) {
        const held_table *t = &r->held[i];
        if (!is_overwritten(r, i))
            st = gf_leveldb_fill_put(r->fill, gf_buffer_view(&t->key), gf_buffer_view(&t->value),
                                     err);
        else
            r->report(r->context, "the catalogue",
                      "a table of another time, whose number another table has now, is left out");
    }
    return st;
}

/* The catalogue's tables wait until all are known. */
static gf_status put_entry(void *context, gf_slice key, gf_slice value, uint64_t sequence,
                           gf_error *err)
{
    rescue *r = context;
    if (!gf_slice_starts(key, gf_slice_of("\0\0T", 3)) || value.len < 2)
        return gf_leveldb_fill_put(r->fill, key, value, err);
    unsigned number = (unsigned)(unsigned char)value.ptr[0] << 8 | (unsigned char)value.ptr[1];
    return hold_table(r, number, key, value, sequence, err);
}

static gf_status salvage_files(rescue *r, const char *from, const gf_cancel *cancel, gf_error *err)
{
    const gf_salvage_calls calls = {note_more, note_odd, put_entry, r};
    gf_status st = gf_check_files(from, note_damage, r, cancel, err);
    if (st == GF_OK && r->failed.status != GF_OK) {
        *err = r->failed;
        st = err->status;
    }
    return st == GF_OK ? gf_salvage(from, &calls, cancel, err) : st;
}

bool gf_folder_has_remains(const char *path)
{
    gf_buffer db = {0};
    bool any = false;
    uint64_t number;
    gf_buffer_format(&db, "%s/db", path);
    DIR *dir = opendir(gf_buffer_cstr(&db));
    for (struct dirent *e; dir && !any && (e = readdir(dir));)
        any = gf_check_kind_of(e->d_name, &number) != GF_CHECK_OTHER;
    if (dir) closedir(dir);
    gf_buffer_release(&db);
    return any;
}

gf_status gf_folder_rescue(const char *path, gf_database *to, gf_damage_report *report,
                           void *context, const gf_cancel *cancel, gf_folder_rescued *rescued,
                           gf_error *err)
{
    gf_error own;
    gf_buffer from = {0};
    gf_backend_filled filled = {.names = false};
    rescue r = {.report = report, .context = context, .failed = {GF_OK, ""}};
    if (!err) err = &own;
    gf_buffer_format(&from, "%s/db", path);
    gf_status st = gf_buffer_check(&from, err);
    if (st == GF_OK && !gf_file_is_folder(gf_buffer_cstr(&from)))
        st = gf_fail(err, GF_ENOTFOUND, "there is no database at %s", gf_buffer_cstr(&from));
    if (st == GF_OK) st = gf_leveldb_fill_begin(gf_database_backend(to), cancel, &r.fill, err);
    if (st == GF_OK) st = salvage_files(&r, gf_buffer_cstr(&from), cancel, err);
    if (st == GF_OK) st = put_tables(&r, err);
    st = gf_leveldb_fill_end(r.fill, st, &filled, err);
    if (st == GF_OK) {
        rescued->names = filled.names;
        memcpy(rescued->used, filled.used, sizeof rescued->used);
    }
    for (size_t i = 0; i < r.n_held; i++) {
        gf_buffer_release(&r.held[i].key);
        gf_buffer_release(&r.held[i].value);
    }
    gf_free(r.held);
    gf_strings_release(&r.told);
    gf_buffer_release(&from);
    return st;
}
