/* A copy into a namespace of HBase that has no tables, or those of a copy that was cut short. */
#include "engine/copy/copy_internal.h"

#include "base/grow.h"
#include "base/memory.h"
#include "engine/rows/scan.h"
#include "engine/user_tables/user_tables_internal.h"
#include "storage/backend.h"
#include "storage/hbase/backend.h"

static gf_status open_hbase(const char *url, gf_database **db, gf_error *err)
{
    gf_backend *backend;
    gf_status st = gf_hbase_open(url, &backend, err);
    if (st != GF_OK) return st;
    st = gf_database_create(backend, db, err);
    if (st != GF_OK) backend->operations->close(backend);
    return st;
}

typedef struct named {
    gf_arena memory;
    gf_slice *names; /* n of capacity, two each: namespace, name */
    size_t n, capacity;
} named;

static gf_status note_table(void *context, gf_slice name_space, gf_slice name, gf_error *err)
{
    named *list = context;
    if (!gf_grow(&list->names, &list->capacity, list->n + 2, sizeof *list->names))
        return gf_fail_memory(err, "tables");
    gf_slice *at = list->names + list->n;
    at[0] = gf_arena_copy(&list->memory, name_space);
    at[1] = gf_arena_copy(&list->memory, name);
    if (!at[0].ptr || !at[1].ptr) return gf_fail_memory(err, "tables");
    list->n += 2;
    return GF_OK;
}

static gf_status drop_of_application(void *context, gf_table *t, gf_error *err)
{
    return gf_table_drop(t, context, err);
}

/*
 * Drop what a copy has made, the table of tables, which has its mark, last. Applications' tables are
 * the copy's where it has begun: the namespace had none.
 */
static gf_status drop_copy(gf_store *s, const gf_copy_options *o, bool begun, gf_error *err)
{
    named list = {0};
    gf_tables *t = &s->tables;
    gf_table *own[] = {t->documents,   t->clusters, t->collections, t->builds,
                       t->memberships, t->changes,  t->tables};
    gf_status st = begun && o->open_more ? o->open_more(s, true, err) : GF_OK;
    if (st == GF_OK && begun)
        st = gf_copy_plan_visit_applications(s, drop_of_application, (void *)o->cancel, err);
    if (st == GF_OK) st = gf_user_tables_visit_all(s, note_table, &list, err);
    for (size_t i = 0; i < list.n && st == GF_OK; i += 2)
        st = gf_user_table_drop(s, list.names[i], list.names[i + 1], o->cancel, err);
    for (size_t i = 0; i < sizeof own / sizeof own[0] && st == GF_OK; i++)
        st = gf_table_drop(own[i], o->cancel, err);
    gf_free(list.names);
    gf_arena_release(&list.memory);
    return st;
}

static gf_status fail_filled(const char *to, const gf_buffer *name, gf_error *err)
{
    return gf_fail(err, GF_EEXISTS,
                   "%s has tables already, %.*s among them; a copy needs a namespace of HBase "
                   "without any",
                   to, GF_SLICE_ARG(gf_buffer_view(name)));
}

typedef struct other_tables {
    const gf_tables *own;
    bool has;
} other_tables;

static gf_status note_other(void *context, gf_slice name, gf_error *err)
{
    other_tables *o = context;
    (void)err;
    if (!gf_slice_starts(name, GF_SLICE(GF_BACKEND_OWN_TABLE)) ||
        !gf_copy_plan_is_own(o->own, gf_slice_skip(name, sizeof GF_BACKEND_OWN_TABLE - 1)))
        o->has = true;
    return GF_OK;
}

/* *bare: the place has no tables but the engine's, and these no table of a user's, and no collection. */
static gf_status is_bare(gf_store *s, bool *bare, gf_error *err)
{
    other_tables others = {.own = &s->tables};
    gf_status st = gf_database_visit_tables(s->db, note_other, &others, err);
    bool has = others.has;
    if (st == GF_OK && !has)
        st = gf_scan_finds(s->tables.tables, NULL, GF_TABLES_MAIN, (gf_slice){0}, &has, err);
    if (st == GF_OK && !has)
        st = gf_scan_finds(s->tables.collections, NULL, GF_COLLECTIONS_MAIN, (gf_slice){0}, &has,
                           err);
    *bare = !has;
    return st;
}

/* A copy that was cut short goes, and so do empty tables of ours; anything else is refused. */
static gf_status clear_hbase(const char *to, const gf_buffer *name, const gf_copy_options *options,
                             gf_error *err)
{
    gf_store *s;
    gf_row mark = {0};
    bool at_work = false, bare = false;
    gf_store_options o = GF_STORE_OPTIONS(.purpose = "copy");
    gf_status st = gf_store_create(to, &o, &s, err);
    if (st != GF_OK) return st;
    st = is_bare(s, &bare, err);
    if (st == GF_OK) st = gf_copy_mark_read(s, &mark, err);
    bool marked = st == GF_OK;
    if (st == GF_ENOTFOUND) st = bare ? GF_OK : fail_filled(to, name, err);
    if (st == GF_OK && marked) st = gf_copy_mark_watch(s, &mark, options->cancel, &at_work, err);
    if (st == GF_OK && at_work) {
        st = gf_fail(err, GF_EBUSY, "%s is being copied to by %.*s", to,
                     GF_SLICE_ARG(gf_copy_mark_owner(&mark)));
    }
    if (st == GF_OK) st = drop_copy(s, options, marked, err);
    gf_row_release(&mark);
    gf_store_free(s);
    return st;
}

static gf_status note_first(void *context, gf_slice name, gf_error *err)
{
    gf_buffer *first = context;
    if (first->len == 0) gf_buffer_slice(first, name);
    return gf_buffer_check(first, err);
}

/* An open database over a namespace without tables. */
static gf_status open_empty(const char *to, const gf_copy_options *options, gf_database **db,
                            gf_error *err)
{
    gf_buffer name = {0};
    gf_status st = open_hbase(to, db, err);
    if (st != GF_OK) return st;
    st = gf_database_visit_tables(*db, note_first, &name, err);
    if (st == GF_OK && name.len) {
        gf_database_close(*db);
        *db = NULL;
        st = clear_hbase(to, &name, options, err);
        if (st == GF_OK) st = open_hbase(to, db, err);
        gf_buffer_reset(&name);
        if (st == GF_OK) st = gf_database_visit_tables(*db, note_first, &name, err);
        if (st == GF_OK && name.len) st = fail_filled(to, &name, err);
    }
    gf_buffer_release(&name);
    if (st == GF_OK) return st;
    gf_database_close(*db);
    return st;
}

gf_status gf_copy_to_hbase(gf_copy_work *m, const char *to, gf_error *err)
{
    gf_database *db;
    gf_status st = open_empty(to, m->options, &db, err);
    if (st != GF_OK) return st;
    st = gf_store_copy_into(m, db, err);
    gf_database_close(db);
    if (st == GF_OK || m->copied->entries) return st;
    /* Not a row was copied: the namespace is left as it was. */
    gf_store *s;
    gf_row mark = {0};
    gf_store_options o = GF_STORE_OPTIONS(.purpose = "copy");
    gf_copy_options dropping = *m->options;
    dropping.cancel = NULL;
    if (gf_store_create(to, &o, &s, NULL) != GF_OK) return st;
    if (gf_copy_mark_read(s, &mark, NULL) == GF_OK && gf_copy_mark_is(&m->mark, &mark))
        drop_copy(s, &dropping, true, NULL);
    gf_row_release(&mark);
    gf_store_free(s);
    return st;
}
