#include "api/app.h"

#include "storage/backend.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

static const gf_app *apps[GF_MOST_APPS];
static size_t n_apps;

void gf_app_register(const gf_app *app)
{
    for (size_t i = 0; i < n_apps; i++)
        if (apps[i] == app) return;
    assert(n_apps < GF_MOST_APPS);
    apps[n_apps++] = app;
}

const gf_app *gf_app_at(size_t i)
{
    return i < n_apps ? apps[i] : NULL;
}

const gf_app *gf_app_find(gf_slice name)
{
    for (size_t i = 0; i < n_apps; i++)
        if (gf_slice_equal(name, gf_slice_str(apps[i]->name))) return apps[i];
    return NULL;
}

/* ---- checks ---------------------------------------------------------------------------------- */

gf_status gf_app_fault(gf_app_check *c, const char *where, gf_error *err, const char *format, ...)
{
    char what[GF_ERROR_MESSAGE];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    c->faults++;
    return c->visit ? c->visit(c->context, where, what, err) : GF_OK;
}

gf_status gf_app_handle(gf_app_check *c, gf_status st, const char *where, gf_error *err)
{
    if (st != GF_ECORRUPT || !c->visit) return st;
    gf_error damage = *err;
    return gf_app_fault(c, where, err, "%s", damage.message);
}

gf_status gf_apps_check(gf_app_check *c, gf_app_count *counts, gf_error *err)
{
    gf_error own;
    gf_database *db = gf_store_database(c->store);
    if (!err) err = &own;
    memset(counts, 0, n_apps * sizeof *counts);
    for (unsigned n = 1; n < GF_MAX_TABLES; n++) {
        const gf_schema *schema = gf_database_schema(db, n);
        for (size_t i = 0; schema && i < n_apps; i++) {
            if (!apps[i]->has_table || !apps[i]->has_table(schema->name)) continue;
            c->counted = 0;
            c->uncounted = apps[i]->uncounted;
            gf_status st = apps[i]->check(c, schema->name, err);
            if (st != GF_OK) return st;
            counts[i].any |= !c->uncounted;
            counts[i].n += c->counted;
        }
    }
    return GF_OK;
}

/* ---- repairs --------------------------------------------------------------------------------- */

gf_status gf_apps_repair(gf_app_repair *r, gf_error *err)
{
    gf_error own;
    gf_database *db = gf_store_database(r->store);
    if (!err) err = &own;
    for (unsigned n = 1; n < GF_MAX_TABLES; n++) {
        const gf_schema *schema = gf_database_schema(db, n);
        for (size_t i = 0; schema && i < n_apps; i++) {
            if (!apps[i]->repair || !apps[i]->has_table(schema->name)) continue;
            gf_status st = apps[i]->repair(r, schema->name, err);
            if (st != GF_OK) return st;
        }
    }
    return GF_OK;
}

/* ---- copies ---------------------------------------------------------------------------------- */

gf_status gf_apps_open_tables(gf_store *store, bool cut_short, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < n_apps && st == GF_OK; i++)
        if (apps[i]->open_tables) st = apps[i]->open_tables(store, cut_short, err);
    return st;
}
