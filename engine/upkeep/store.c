/*
 * A store with the parts that the rooms of the engine add to it. They are made here, in the last
 * room, so that no room knows of a later one.
 */
#include "engine/put/group.h"

#include "base/options.h"
#include "engine/edit/edit.h"
#include "engine/store/copy_mark.h"
#include "engine/store/store_internal.h"
#include "engine/user_tables/user_tables_internal.h"
#include "engine/view/shelf.h"
#include "storage/backend.h"

gf_status gf_store_open(const char *path, const gf_store_options *options, gf_store **store,
                        gf_error *err)
{
    gf_status known =
        gf_options_check(options->version, GF_STORE_OPTIONS_VERSION, "gf_store_options", err);
    if (known != GF_OK) return known;
    gf_store *s;
    gf_status st = gf_store_create(path, options, &s, err);
    if (st != GF_OK) return st;
    s->reclaim_tables = gf_user_tables_reclaim;
    s->catch_up_edits = gf_edits_catch_up;
    gf_database_find_by(s->db, gf_user_tables_find, s);
    s->put_line = gf_put_line_create();
    s->cluster_cache = gf_cluster_cache_create();
    s->shelf = gf_shelf_create();
    if (!s->put_line || !s->cluster_cache || !s->shelf) {
        gf_store_close(s);
        return gf_fail_memory(err, "a store");
    }
    st = gf_copy_mark_check(s, path, err);
    if (st != GF_OK) {
        gf_store_close(s);
        return st;
    }
    *store = s;
    return GF_OK;
}

void gf_store_close(gf_store *s)
{
    if (!s) return;
    gf_put_line_free(s->put_line);
    gf_cluster_cache_free(s->cluster_cache);
    gf_shelf_free(s->shelf);
    gf_store_free(s);
}
