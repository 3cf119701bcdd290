/*
 * Checking tables of users: every row of every family is read, and its key is one by the schema.
 * Values of cells are not checked: they are their writers' business, and no damage.
 */
#include "engine/rows/scan.h"
#include "engine/user_tables/user_tables_internal.h"

typedef struct table_check {
    gf_audit *audit;
    gf_verified *verified;
    /* the table at hand */
    gf_user_table *table;
    const char *name;
    gf_buffer text, last;
} table_check;

static gf_status tell(table_check *c, const char *what, gf_error *err)
{
    gf_buffer where = {0};
    gf_buffer_format(&where, "table \"%s\"", c->name);
    gf_status st = gf_audit_fault(c->audit, gf_buffer_cstr(&where), err, "%s", what);
    gf_buffer_release(&where);
    return st;
}

static gf_status check_key(table_check *c, gf_slice key, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    gf_status st = GF_OK;
    for (unsigned part = 0; key.len && st == GF_OK; part++) {
        gf_buffer_reset(&c->text);
        st = gf_user_table_key_take(c->table, part, &key, &c->text, &why);
    }
    if (st == GF_ECORRUPT) return tell(c, why.message, err);
    if (st != GF_OK && err) *err = why;
    return st;
}

static gf_status check_entry(void *context, const gf_row *row, gf_error *err)
{
    table_check *c = context;
    if (gf_slice_equal(row->key, gf_buffer_view(&c->last))) return GF_OK;
    gf_buffer_reset(&c->last);
    gf_buffer_slice(&c->last, row->key);
    c->verified->rows++;
    gf_status st = gf_buffer_check(&c->last, err);
    if (st == GF_OK) st = gf_cancel_check(c->audit->cancel, err);
    return st == GF_OK ? check_key(c, row->key, err) : st;
}

static gf_status check_table(void *context, const char *name, gf_user_table *table,
                             const gf_error *why, gf_error *err)
{
    table_check *c = context;
    gf_error damage = {GF_OK, ""};
    gf_status st = GF_OK;
    c->table = table;
    c->name = name;
    c->verified->tables++;
    if (!table) return tell(c, why->message, err);
    for (unsigned f = 0; f < gf_user_table_schema(table)->n_families && st == GF_OK; f++) {
        gf_scan_options o = GF_SCAN_OPTIONS(.family = f);
        gf_buffer_reset(&c->last);
        st = gf_scan_each(gf_user_table_rows(table), &o, check_entry, c, &damage);
        if (st == GF_ECORRUPT)
            st = tell(c, damage.message, err);
        else if (st != GF_OK && err)
            *err = damage;
    }
    return st;
}

gf_status gf_user_tables_verify(gf_audit *audit, gf_verified *verified, gf_error *err)
{
    table_check c = {.audit = audit, .verified = verified};
    gf_status st = gf_user_tables_each(audit->store, check_table, &c, err);
    gf_buffer_release(&c.text);
    gf_buffer_release(&c.last);
    return st;
}
