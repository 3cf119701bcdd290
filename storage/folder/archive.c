/* A store as an archive, and an archive as a store. */
#include "storage/folder/folder.h"

#include "storage/leveldb/archive.h"
#include "storage/table_internal.h"

gf_status gf_folder_archive(gf_database *db, gf_archive_take *take, void *taker,
                            const gf_cancel *cancel, gf_error *err)
{
    return gf_leveldb_archive_write(gf_database_backend(db), take, taker, cancel, err);
}

typedef struct unpacking {
    gf_archive_give *give;
    void *context;
    gf_folder_finish *finish;
    void *finisher;
} unpacking;

gf_status gf_folder_unpack_into(gf_backend *to, gf_archive_give *give, void *context, gf_error *err)
{
    gf_archive_reader *reader = NULL;
    uint64_t entries;
    gf_status st = gf_archive_reader_create(to, &reader, err);
    if (st == GF_OK) st = give(context, gf_archive_reader_take, reader, err);
    if (st == GF_OK) st = gf_archive_reader_end(reader, &entries, err);
    gf_archive_reader_free(reader);
    return st;
}

static gf_status unpack_into(void *context, gf_database *to, gf_error *err)
{
    const unpacking *u = context;
    return gf_folder_unpack_into(gf_database_backend(to), u->give, u->context, err);
}

static gf_status finish(void *context, const char *building, gf_error *err)
{
    const unpacking *u = context;
    return u->finish(u->finisher, building, err);
}

gf_status gf_folder_unpack(const char *path, gf_archive_give *give, void *context,
                           gf_folder_finish *finish_with, void *finisher, gf_error *err)
{
    unpacking u = {give, context, finish_with, finisher};
    return gf_folder_make(path, unpack_into, finish_with ? finish : NULL, &u, err);
}
