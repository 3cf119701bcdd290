/*
 * The program's own tables, of the engine and of applications: which there are, and opening one.
 *
 * Their types are data: descriptions beside their schemas (storage/description.h). An
 * application's tables that are tables of users, such as an access log, are among them, too.
 */
#include "engine/user_tables/system.h"
#include "api/app.h"
#include "api/tables/internal.h"
#include "storage/backend.h"

/* The descriptions of the engine (i is 0), then of each application; false past the last. */
static bool descriptions_of(size_t i, const gf_table_description **list, size_t *n, const char **of)
{
    *of = "engine";
    if (i == 0) {
        *list = gf_tables_descriptions(n);
        return true;
    }
    const gf_app *app = gf_app_at(i - 1);
    if (!app) return false;
    *of = app->name;
    *list = app->tables;
    *n = app->n_tables;
    return true;
}

/* The description of the database's table of that name; NULL: there is none. */
static const gf_table_description *find_description(const char *name, const char **of)
{
    const gf_table_description *list;
    size_t n;
    for (size_t i = 0; descriptions_of(i, &list, &n, of); i++)
        for (size_t k = 0; k < n; k++)
            if (gf_system_table_is(&list[k], name)) return &list[k];
    return NULL;
}

/* The same of a table whose keys begin as is described: HBase's lack the namespace. */
static const gf_table_description *describe(const gf_schema *s, const char **of)
{
    const gf_table_description *d = s ? find_description(s->name, of) : NULL;
    return d && strcmp(d->parts[0].name, s->parts[0].name) == 0 ? d : NULL;
}

/* Whose table it is; NULL: its user's alone. */
static const char *owner_of(const gf_user_table *t)
{
    const gf_table_description *list;
    const char *of;
    size_t n;
    for (size_t i = 0; descriptions_of(i, &list, &n, &of); i++)
        for (size_t k = 0; k < n; k++)
            if (gf_system_table_is_user(&list[k], t)) return of;
    return NULL;
}

/* The schema that the database has of the program's table of that name; NULL: there is none. */
static const gf_schema *find_stored(gf_store *store, gf_slice name, const gf_table_description **d,
                                    const char **of)
{
    for (unsigned i = 1; i < GF_MAX_TABLES; i++) {
        const gf_schema *s = gf_database_schema(gf_store_database(store), i);
        if (!s || !gf_slice_equal(gf_slice_str(s->name), name)) continue;
        *d = describe(s, of);
        return *d ? s : NULL;
    }
    return NULL;
}

gf_status gf_table_open_system(gf_store *store, gf_slice name_space, gf_slice name,
                               gf_user_table **table, const char **of, gf_error *err)
{
    const gf_table_description *d;
    const gf_schema *stored = find_stored(store, name, &d, of);
    if (stored) return gf_system_table_open(store, d, stored, name_space, table, err);
    gf_user_table *t = NULL;
    gf_status st = gf_user_table_open(store, name_space, name, &t, err);
    if (st == GF_OK && (*of = owner_of(t)) != NULL) {
        *table = t;
        return GF_OK;
    }
    gf_user_table_close(t);
    if (st != GF_OK && st != GF_ENOTFOUND) return st;
    return gf_fail(err, GF_ENOTFOUND, "there is no system table \"%.*s\"%s", GF_SLICE_ARG(name),
                   st == GF_OK ? ": it is a user's table, which is read without --system" : "");
}

gf_status gf_table_absent(gf_store *store, gf_slice name, gf_status st, gf_error *err)
{
    const gf_table_description *d;
    const char *of;
    if (st != GF_ENOTFOUND || !find_stored(store, name, &d, &of)) return st;
    return gf_fail(err, GF_ENOTFOUND,
                   "there is no table \"%.*s\" of a user's; the system table of that name is only "
                   "read, by table describe, get and scan with --system",
                   GF_SLICE_ARG(name));
}

/* ---- the list -------------------------------------------------------------------------------- */

typedef struct listing {
    gf_store *store;
    gf_slice name_space;
    gf_each_system_table *each;
    void *context;
} listing;

static gf_status visit_one(listing *l, gf_slice name, gf_error *err)
{
    gf_user_table *t = NULL;
    const char *of;
    gf_error why = {GF_OK, ""};
    gf_status st = gf_table_open_system(l->store, l->name_space, name, &t, &of, &why);
    if (st == GF_ENOTFOUND) return GF_OK; /* a user's alone */
    if (st != GF_OK && err) *err = why;
    if (st == GF_OK) st = l->each(l->context, t, of, err);
    gf_user_table_close(t);
    return st;
}

static gf_status visit_user_table(void *context, gf_slice name, gf_slice schema, gf_error *err)
{
    (void)schema;
    return visit_one(context, name, err);
}

gf_status gf_table_visit_system(gf_store *store, gf_slice name_space, gf_slice prefix,
                                gf_each_system_table *each, void *context, gf_error *err)
{
    listing l = {store, name_space, each, context};
    gf_status st = GF_OK;
    for (unsigned i = 1; i < GF_MAX_TABLES && st == GF_OK; i++) {
        const gf_schema *s = gf_database_schema(gf_store_database(store), i);
        const char *of;
        if (!describe(s, &of)) continue;
        gf_slice name = gf_slice_str(s->name);
        if (gf_slice_starts(name, prefix)) st = visit_one(&l, name, err);
    }
    if (st == GF_OK)
        st = gf_user_tables_visit(store, name_space, prefix, visit_user_table, &l, err);
    return st;
}
