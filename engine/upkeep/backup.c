/* Backups: copies of a store, each a store of its own. */
#include "engine/store/store_internal.h"

/* Count what the copy has, which also shows that it opens; before it gets its name. */
static gf_status count_copy(void *context, const char *path, gf_error *err)
{
    gf_store_status *status = context;
    gf_store *copy = NULL;
    gf_store_options o = GF_STORE_OPTIONS(.purpose = "backup");
    gf_status st = gf_store_open(path, &o, &copy, err);
    if (st == GF_OK) st = gf_store_read_status(copy, status, err);
    gf_store_close(copy);
    return st;
}

gf_status gf_backup_create(gf_store *s, const char *path, const gf_cancel *cancel,
                           gf_store_status *status, gf_error *err)
{
    gf_status st = gf_store_check_folder(s, err);
    return st == GF_OK ? gf_folder_copy(s->db, path, count_copy, status, cancel, err) : st;
}

gf_status gf_backup_remove(const char *path, gf_error *err)
{
    return gf_folder_remove(path, err);
}

gf_status gf_backup_archive(gf_store *s, gf_archive_take *take, void *taker,
                            const gf_cancel *cancel, gf_error *err)
{
    gf_status st = gf_store_check_folder(s, err);
    return st == GF_OK ? gf_folder_archive(s->db, take, taker, cancel, err) : st;
}

gf_status gf_backup_unpack(const char *path, gf_archive_give *give, void *context,
                           gf_store_status *status, gf_error *err)
{
    return gf_folder_unpack(path, give, context, count_copy, status, err);
}

static gf_status check_backup(const char *backup, const gf_store_options *options,
                              gf_visit_fault *visit, void *context, gf_error *err)
{
    gf_verified found;
    gf_status st = gf_verify(backup, options, visit, context, &found, err);
    if (st == GF_OK && found.faults)
        st = gf_fail(err, GF_ECORRUPT, "%s is damaged; grouperfish repair rescues what is sound",
                     backup);
    return st;
}

gf_status gf_backup_restore(const char *backup, const char *path, const gf_store_options *options,
                            gf_visit_fault *visit, void *context, gf_store_status *status,
                            gf_error *err)
{
    gf_store *source = NULL;
    gf_store_options o = *options;
    o.create = false;
    o.read_only = true;
    gf_status st = check_backup(backup, &o, visit, context, err);
    if (st == GF_OK) st = gf_store_open(backup, &o, &source, err);
    if (st == GF_OK) st = gf_folder_copy(source->db, path, count_copy, status, o.cancel, err);
    gf_store_close(source);
    return st;
}
