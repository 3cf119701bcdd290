/* Ranges of rows, as the arguments "key", "prefix", "from", "to", "family" and "where" say them. */
#include "api/tables/internal.h"

#include "base/memory.h"
#include "engine/user_tables/system.h"

enum { MOST_PARTS = 8 };

/*
 * The parts of "key", and those of `name` behind them. Keys of the program's own tables begin with
 * the namespace, which is understood where no part is given.
 */
static unsigned parts_of(const gf_table_call *c, const char *name, gf_slice parts[MOST_PARTS + 1])
{
    const gf_call *call = c->call;
    const char *const names[] = {"key", name};
    unsigned n = 0;
    if (gf_user_table_is_system(c->table) && !gf_call_has(call, "key"))
        parts[n++] = call->name_space;
    for (size_t w = 0; w < 2 && names[w]; w++)
        for (size_t i = 0; i < gf_call_count(call, names[w]) && n <= MOST_PARTS; i++)
            parts[n++] = gf_call_nth(call, names[w], i);
    return n;
}

static gf_status bound(gf_table_call *c, const char *name, gf_buffer *key, gf_error *err)
{
    gf_slice parts[MOST_PARTS + 1];
    if (!gf_call_has(c->call, name)) return GF_OK;
    unsigned n = parts_of(c, name, parts);
    gf_status st = gf_user_table_key_write(c->table, parts, n, key, err);
    if (st != GF_OK) gf_error_prefix(err, "%s", name);
    return st;
}

static gf_status read_bounds(gf_table_call *c, gf_table_range *r, gf_error *err)
{
    gf_slice parts[MOST_PARTS + 1];
    gf_call *call = c->call;
    unsigned n = parts_of(c, NULL, parts);
    gf_status st = gf_user_table_key_write(c->table, parts, n, &r->prefix, err);
    if (st == GF_OK && gf_call_has(call, "prefix"))
        st = gf_user_table_key_start(c->table, n, gf_call_text(call, "prefix"), &r->prefix, err);
    if (st == GF_OK) st = bound(c, "from", &r->start, err);
    if (st == GF_OK) st = bound(c, "to", &r->end, err);
    r->options.prefix = gf_buffer_view(&r->prefix);
    r->options.start = gf_buffer_view(&r->start);
    r->options.end = gf_buffer_view(&r->end);
    return st;
}

static gf_status read_where(const gf_call *call, gf_table_range *r, gf_error *err)
{
    size_t n = gf_call_count(call, "where");
    r->where = gf_array(n, sizeof *r->where);
    if (!r->where) return gf_fail_memory(err, "arguments");
    for (size_t i = 0; i < n; i++)
        r->where[i] = gf_call_nth(call, "where", i);
    r->options.where = r->where;
    r->options.n_where = n;
    return GF_OK;
}

gf_status gf_table_range_read(gf_table_call *c, gf_table_range *r, gf_error *err)
{
    gf_status st = gf_table_call_families(c, &r->options.families, err);
    if (st == GF_OK) st = read_bounds(c, r, err);
    return st == GF_OK ? read_where(c->call, r, err) : st;
}

void gf_table_range_release(gf_table_range *r)
{
    gf_buffer_release(&r->prefix);
    gf_buffer_release(&r->start);
    gf_buffer_release(&r->end);
    gf_free(r->where);
}
