/* A copy into a folder: under another name until it is whole. */
#include "engine/copy/copy_internal.h"

#include "base/file.h"
#include "storage/backend.h"

#include <string.h>

static gf_status fill_folder(void *context, gf_database *db, gf_error *err)
{
    return gf_store_copy_into(context, db, err);
}

/* Count what the copy has, which also shows that it opens. */
static gf_status count_folder(void *context, const char *building, gf_error *err)
{
    const gf_copy_work *m = context;
    gf_store *copy = NULL;
    gf_store_status status;
    gf_store_options o = GF_STORE_OPTIONS(.purpose = "copy");
    gf_status st = gf_store_open(building, &o, &copy, err);
    if (st == GF_OK) st = gf_store_read_status(copy, &status, err);
    gf_store_close(copy);
    if (st != GF_OK) return st;
    m->copied->collections = status.collections;
    m->copied->documents = status.documents;
    m->copied->builds = status.builds;
    return GF_OK;
}

/* A copy to that folder that was cut short goes, if nobody is making it. */
static gf_status remove_cut_short(const char *to, gf_error *err)
{
    gf_buffer name = {0};
    gf_store *s = NULL;
    gf_row mark = {0};
    size_t n = strlen(to);
    while (n > 1 && to[n - 1] == '/')
        n--;
    gf_buffer_append(&name, to, n);
    gf_buffer_str(&name, ".new");
    gf_status st = gf_buffer_check(&name, err);
    const char *building = gf_buffer_cstr(&name);
    bool is_marked = false;
    if (st == GF_OK && !gf_file_exists(to) && gf_file_exists(building)) {
        gf_error why;
        gf_store_options o = GF_STORE_OPTIONS(.purpose = "copy");
        gf_status opened = gf_store_create(building, &o, &s, &why);
        if (opened == GF_OK) {
            is_marked = gf_copy_mark_read(s, &mark, NULL) == GF_OK;
            gf_row_release(&mark);
            gf_store_free(s);
        } else if (opened == GF_EBUSY || opened == GF_ENOMEM) {
            if (err) *err = why;
            st = opened;
        }
    }
    if (is_marked) st = gf_folder_remove(building, err);
    gf_buffer_release(&name);
    return st;
}

gf_status gf_copy_to_folder(gf_copy_work *work, const char *to, gf_error *err)
{
    gf_status st = remove_cut_short(to, err);
    if (st == GF_OK) st = gf_folder_make(to, fill_folder, count_folder, work, err);
    return st;
}
