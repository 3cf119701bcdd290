/*
 * The program's own tables as tables of users: a schema is made of the one that is stored, which
 * says families and columns, and of the description, which says parts and types.
 *
 *     stored         RawTwitterData: (namespace, 12 bytes), family t
 *     description    namespace text, time int64 of 8 bytes, hash bytes of 4; t: json
 *     shown          ["default", 1461920755, "4d12f1a4"]   {"t": {"": {...}}}
 *
 * A family or a column that the description lacks (a later version of the program has made it) is
 * shown as binary.
 */
#include "engine/user_tables/system.h"

#include "base/memory.h"
#include "engine/user_tables/user_tables_internal.h"
#include "storage/schema.h"

static size_t stem_length(const char *name)
{
    size_t n = strlen(name);
    while (n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9')
        n--;
    return n;
}

/* The same name, but for the digits at its end. */
static bool is_family(const gf_cell_description *c, const char *family)
{
    size_t n = stem_length(c->family);
    return stem_length(family) == n && memcmp(c->family, family, n) == 0;
}

/* The column's description, else that of all others of the family; NULL: neither is there. */
static const gf_cell_description *find_cell(const gf_table_description *d, const char *family,
                                            const char *column)
{
    const gf_cell_description *others = NULL;
    for (unsigned i = 0; i < d->n_cells; i++) {
        const gf_cell_description *c = &d->cells[i];
        if (!is_family(c, family)) continue;
        if (!c->column)
            others = c;
        else if (column && strcmp(c->column, column) == 0)
            return c;
    }
    return others;
}

bool gf_system_table_is(const gf_table_description *d, const char *name)
{
    if (d->is_of_user) return false;
    return d->is_start ? strncmp(name, d->name, strlen(d->name)) == 0 : strcmp(name, d->name) == 0;
}

bool gf_system_table_is_user(const gf_table_description *d, const gf_user_table *t)
{
    const gf_schema *s = &t->schema.schema;
    if (!d->is_of_user || s->n_parts != d->n_parts) return false;
    for (unsigned i = 0; i < s->n_parts; i++)
        if (t->schema.parts[i].type != d->parts[i].type ||
            strcmp(t->schema.parts[i].name, d->parts[i].name) != 0)
            return false;
    for (unsigned i = 0; i < d->n_cells; i++) {
        bool found = false;
        for (unsigned f = 0; f < s->n_families && !found; f++)
            found = strcmp(s->families[f].name, d->cells[i].family) == 0;
        if (!found) return false;
    }
    return true;
}

bool gf_user_table_is_system(const gf_user_table *table)
{
    return table->space.len > 0;
}

/* ---- the schema that is shown ---------------------------------------------------------------- */

static bool is_among(const char *const *columns, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(columns[i], name) == 0) return true;
    return false;
}

/* The columns that the schema declares, then those that are only described, with their types. */
static gf_status fill_columns(gf_user_schema *s, unsigned f, const gf_table_description *d,
                              const gf_family *stored, gf_arena *memory, gf_error *err)
{
    size_t n = 0, most = d->n_cells;
    for (const char *const *c = stored->columns; c && *c; c++)
        most++;
    const char **columns = gf_arena_alloc(memory, (most + 1) * sizeof *columns);
    gf_type *types = gf_arena_alloc(memory, (most + 1) * sizeof *types);
    if (!columns || !types) return gf_fail_memory(err, "a schema");
    for (const char *const *c = stored->columns; c && *c; c++)
        columns[n++] = *c;
    for (unsigned i = 0; i < d->n_cells; i++)
        if (d->cells[i].column && is_family(&d->cells[i], stored->name) &&
            !is_among(columns, n, d->cells[i].column))
            columns[n++] = d->cells[i].column;
    columns[n] = NULL;
    for (size_t i = 0; i < n; i++) {
        const gf_cell_description *c = find_cell(d, stored->name, columns[i]);
        types[i] = c ? c->type : GF_TYPE_BINARY;
    }
    s->families[f].columns = columns;
    s->columns[f] = types;
    return GF_OK;
}

static gf_status make_schema(const gf_table_description *d, const gf_schema *stored,
                             gf_user_schema *s, gf_arena *memory, gf_error *err)
{
    gf_status st = GF_OK;
    memset(s, 0, sizeof *s);
    s->schema = (gf_schema){.name = stored->name,
                            .parts = stored->parts,
                            .n_parts = d->n_parts,
                            .families = s->families,
                            .n_families = stored->n_families};
    for (unsigned i = 0; i < d->n_parts; i++) {
        s->parts[i] = (gf_user_part){
            .name = d->parts[i].name, .type = d->parts[i].type, .width = d->parts[i].width};
        s->key_parts[i] = (gf_key_part){.name = d->parts[i].name};
    }
    s->schema.parts = s->key_parts;
    for (unsigned f = 0; f < stored->n_families && st == GF_OK; f++) {
        const gf_cell_description *others = find_cell(d, stored->families[f].name, NULL);
        s->families[f] = stored->families[f];
        s->types[f] = others ? others->type : GF_TYPE_BINARY;
        s->qualifiers[f] = others ? others->qualifier : GF_TYPE_ESCAPED;
        st = fill_columns(s, f, d, &stored->families[f], memory, err);
    }
    return st;
}

gf_status gf_system_table_open(gf_store *store, const gf_table_description *d,
                               const gf_schema *stored, gf_slice name_space, gf_user_table **table,
                               gf_error *err)
{
    gf_buffer text = {0};
    gf_user_table *t = gf_calloc(1, sizeof *t);
    if (!t) return gf_fail_memory(err, "a table");
    t->store = store;
    t->name = gf_slice_str(stored->name);
    gf_key_string(&text, name_space);
    t->space = gf_arena_copy(&t->memory, gf_buffer_view(&text));
    gf_status st = t->space.ptr ? gf_buffer_check(&text, err) : gf_fail_memory(err, "a table");
    if (st == GF_OK) st = gf_table_open(store->db, stored, &t->rows, err);
    if (st == GF_OK) st = make_schema(d, stored, &t->schema, &t->memory, err);
    if (st == GF_OK) {
        gf_buffer_reset(&text);
        gf_user_table_schema_write(&t->schema, &text);
        t->json = gf_arena_copy(&t->memory, gf_buffer_view(&text));
        st = t->json.ptr ? gf_buffer_check(&text, err) : gf_fail_memory(err, "a table");
    }
    gf_buffer_release(&text);
    if (st != GF_OK)
        gf_user_table_close(t);
    else
        *table = t;
    return st;
}
