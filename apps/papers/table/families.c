/*
 * The families of a table of papers. Those of the schema are the roles of papers.h; a table has all of
 * them, and groups and other families behind them.
 *
 *     role     families
 *     GROBID   grobid0, grobid1, ...     one of them stands for the role, grobid0 until another
 *     MATCH    match0, match1, ...       is chosen
 *
 * A family is known by its name, never by its place: a table that got grobid1 before this code had a
 * family more has that one behind it.
 */
#include "apps/papers/table/table_internal.h"

#include "base/arena.h"
#include "base/memory.h"
#include "storage/backend.h"
#include "storage/schema.h"

#include <stdio.h>

enum { MOST_DIGITS = 4 };

static const gf_key_part parts[] = {
    {.name = "namespace", .kind = GF_PART_STRING},
    {.name = "sha1", .kind = GF_PART_FIXED, .width = GF_SHA1_BYTES}};
static const char *const f_columns[] = {"c", NULL};
static const char *const file_columns[] = {"size", "mime", "cdx", "meta", NULL};
static const char *const grobid_columns[] = {"status_code", "quality",  "status", "tei_xml",
                                             "tei_json",    "metadata", NULL};
static const char *const match_columns[] = {"mstatus", "doi", "minfo", NULL};
static const gf_family families[] = {{.name = "f", .columns = f_columns},
                                     {.name = "file", .columns = file_columns},
                                     {.name = "grobid0",
                                      .layout = GF_LAYOUT_WIDE,
                                      .compression = GF_COMPRESSION_SNAPPY,
                                      .columns = grobid_columns},
                                     {.name = "match0", .columns = match_columns},
                                     {.name = "captures", .layout = GF_LAYOUT_WIDE}};
static const gf_schema schema = {.name = GF_PAPERS_PREFIX GF_PAPERS_TABLE,
                                 .parts = parts,
                                 .n_parts = 2,
                                 .families = families,
                                 .n_families = GF_PAPERS_FAMILIES};

/* Descriptions of a family hold for its siblings of other numbers, too. */
static const gf_part_description described_parts[] = {{"namespace", GF_TYPE_TEXT, 0},
                                                      {"sha1", GF_TYPE_BYTES, GF_SHA1_BYTES}};
static const gf_cell_description described_cells[] = {
    {"f", NULL, GF_TYPE_TEXT, GF_TYPE_JSON},
    {"file", "size", GF_TYPE_TEXT, GF_TYPE_UINT64},
    {"file", "mime", GF_TYPE_TEXT, GF_TYPE_TEXT},
    {"file", NULL, GF_TYPE_TEXT, GF_TYPE_JSON},
    {"grobid0", "status_code", GF_TYPE_TEXT, GF_TYPE_INT64},
    {"grobid0", "quality", GF_TYPE_TEXT, GF_TYPE_TEXT},
    {"grobid0", "tei_xml", GF_TYPE_TEXT, GF_TYPE_TEXT},
    {"grobid0", NULL, GF_TYPE_TEXT, GF_TYPE_JSON},
    {"captures", NULL, GF_TYPE_TEXT, GF_TYPE_JSON},
    {"match0", "minfo", GF_TYPE_TEXT, GF_TYPE_JSON},
    {"match0", NULL, GF_TYPE_TEXT, GF_TYPE_TEXT}};

const gf_table_description gf_papers_description = {.name = GF_PAPERS_PREFIX,
                                                    .is_start = true,
                                                    GF_DESCRIBED_PARTS(described_parts),
                                                    GF_DESCRIBED_CELLS(described_cells)};

const gf_schema *gf_papers_schema(void)
{
    return &schema;
}

/* ---- joining --------------------------------------------------------------------------------- */

static unsigned find_family(const gf_schema *s, gf_slice name)
{
    unsigned f = 0;
    while (f < s->n_families && !gf_slice_equal(gf_slice_str(s->families[f].name), name))
        f++;
    return f;
}

gf_status gf_papers_add(gf_papers *p, const gf_family *more, unsigned n, gf_error *err)
{
    gf_family all[GF_MAX_FAMILIES];
    gf_schema joined = *gf_table_schema(p->table);
    memcpy(all, joined.families, joined.n_families * sizeof *all);
    for (unsigned i = 0; i < n; i++) {
        unsigned f = find_family(&joined, gf_slice_str(more[i].name));
        if (f < joined.n_families) continue;
        if (f == GF_MAX_FAMILIES)
            return gf_fail(err, GF_ELIMIT, "table %s has %d families, and takes no further one",
                           joined.name, GF_MAX_FAMILIES);
        all[joined.n_families++] = more[i];
        joined.families = all;
    }
    if (joined.families != all) return GF_OK;
    return gf_table_open(p->db, &joined, &p->table, err);
}

/* All columns of both, those that were there first. */
static gf_status join_columns(const gf_family *old, const gf_family *more, gf_arena *memory,
                              gf_family *joined, gf_error *err)
{
    size_t n = 0, m = 0;
    while (old->columns && old->columns[n])
        n++;
    while (more->columns && more->columns[m])
        m++;
    const char **columns = gf_arena_alloc(memory, (n + m + 1) * sizeof *columns);
    if (!columns) return gf_fail_memory(err, "a schema");
    for (size_t i = 0; i < n; i++)
        columns[i] = old->columns[i];
    for (size_t i = 0; i < m; i++)
        if (gf_schema_column(old, gf_slice_str(more->columns[i]), 0) < 0)
            columns[n++] = more->columns[i];
    columns[n] = NULL;
    *joined = *old;
    joined->columns = columns;
    return GF_OK;
}

gf_status gf_papers_alter(gf_papers *p, const gf_family *more, unsigned n, gf_error *err)
{
    gf_family all[GF_MAX_FAMILIES];
    gf_arena memory = {0};
    gf_schema joined = *gf_table_schema(p->table);
    gf_status st = GF_OK;
    memcpy(all, joined.families, joined.n_families * sizeof *all);
    joined.families = all;
    for (unsigned i = 0; i < n && st == GF_OK; i++) {
        gf_slice name = gf_slice_str(more[i].name);
        unsigned f = find_family(&joined, name);
        if (gf_papers_role_named(name) < GF_PAPERS_FAMILIES)
            st = gf_fail(err, GF_EINVAL,
                         "family %s is one that papers have: groups are added by --group",
                         more[i].name);
        else if (f == GF_MAX_FAMILIES)
            st = gf_fail(err, GF_ELIMIT, "more than %d families", GF_MAX_FAMILIES);
        else if (f == joined.n_families)
            all[joined.n_families++] = more[i];
        else if (all[f].layout != more[i].layout || all[f].compression != more[i].compression)
            st =
                gf_fail(err, GF_EINVAL, "family %s is there, and has another layout", more[i].name);
        else
            st = join_columns(&all[f], &more[i], &memory, &all[f], err);
    }
    if (st == GF_OK) st = gf_table_open(p->db, &joined, &p->table, err);
    gf_arena_release(&memory);
    return st;
}

gf_status gf_papers_complete(gf_papers *p, gf_error *err)
{
    gf_status st = gf_papers_add(p, families, GF_PAPERS_FAMILIES, err);
    for (unsigned f = 0; st == GF_OK && f < GF_PAPERS_FAMILIES; f++)
        p->family[f] = find_family(gf_table_schema(p->table), gf_slice_str(families[f].name));
    return st;
}

/* ---- groups ---------------------------------------------------------------------------------- */

unsigned gf_papers_family(const gf_papers *p, unsigned role)
{
    return p->family[role];
}

static bool is_of_stem(gf_slice name, const char *first)
{
    size_t stem = strlen(first) - 1; /* "grobid0" */
    if (name.len <= stem || name.len > stem + MOST_DIGITS || memcmp(name.ptr, first, stem) != 0)
        return false;
    if (name.ptr[stem] == '0' && name.len > stem + 1) return false;
    for (size_t i = stem; i < name.len; i++)
        if (name.ptr[i] < '0' || name.ptr[i] > '9') return false;
    return true;
}

static bool is_group(gf_slice name, unsigned role)
{
    return (role == GF_PAPERS_GROBID || role == GF_PAPERS_MATCH) &&
           is_of_stem(name, families[role].name);
}

unsigned gf_papers_role_named(gf_slice name)
{
    for (unsigned r = 0; r < GF_PAPERS_FAMILIES; r++)
        if (is_group(name, r) || gf_slice_equal(name, gf_slice_str(families[r].name))) return r;
    return GF_PAPERS_FAMILIES;
}

unsigned gf_papers_role(const gf_papers *p, unsigned family)
{
    return gf_papers_role_named(gf_slice_str(gf_table_schema(p->table)->families[family].name));
}

void gf_papers_choose(gf_papers *p, unsigned family)
{
    unsigned role = gf_papers_role(p, family);
    if (role < GF_PAPERS_FAMILIES) p->family[role] = family;
}

gf_status gf_papers_choose_group(gf_papers *p, unsigned role, gf_slice name, bool create,
                                 gf_error *err)
{
    if (!is_group(name, role))
        return gf_fail(err, GF_EINVAL, "\"%.*s\" is no group: such as %s, or with another number",
                       (int)(name.len > 80 ? 80 : name.len), name.ptr, families[role].name);
    unsigned f = find_family(gf_table_schema(p->table), name);
    if (f == gf_table_schema(p->table)->n_families && !create)
        return gf_fail(err, GF_ENOTFOUND, "the table of papers has no group %.*s",
                       GF_SLICE_ARG(name));
    if (f == gf_table_schema(p->table)->n_families) {
        char own[32]; /* the schema that is stored has a copy of it */
        gf_family added = families[role];
        snprintf(own, sizeof own, "%.*s", GF_SLICE_ARG(name));
        added.name = own;
        gf_status st = gf_papers_add(p, &added, 1, err);
        if (st != GF_OK) return st;
        f = find_family(gf_table_schema(p->table), name);
    }
    p->family[role] = f;
    return GF_OK;
}

/* A shorter name is that of a lower number: grobid2 comes before grobid10. */
static int compare_families(const gf_papers *p, unsigned a, unsigned b)
{
    const gf_family *all = gf_table_schema(p->table)->families;
    unsigned roles[] = {gf_papers_role(p, a), gf_papers_role(p, b)};
    if (roles[0] != roles[1]) return roles[0] < roles[1] ? -1 : 1;
    size_t lengths[] = {strlen(all[a].name), strlen(all[b].name)};
    if (roles[0] < GF_PAPERS_FAMILIES && lengths[0] != lengths[1])
        return lengths[0] < lengths[1] ? -1 : 1;
    return strcmp(all[a].name, all[b].name);
}

void gf_papers_families(const gf_papers *p, unsigned order[GF_PAPERS_MOST_FAMILIES])
{
    _Static_assert((int)GF_PAPERS_MOST_FAMILIES == (int)GF_MAX_FAMILIES, "room for all families");
    unsigned n = gf_table_schema(p->table)->n_families;
    for (unsigned f = 0; f < n; f++) {
        unsigned at = f;
        for (; at > 0 && compare_families(p, order[at - 1], f) > 0; at--)
            order[at] = order[at - 1];
        order[at] = f;
    }
}

/* ---- columns --------------------------------------------------------------------------------- */

static gf_status find_named(const gf_papers *p, gf_slice family, gf_slice column, unsigned *found,
                            gf_error *err)
{
    const gf_schema *s = gf_table_schema(p->table);
    unsigned f = find_family(s, family);
    if (f == s->n_families)
        return gf_fail(err, GF_EINVAL, "papers have no family \"%.*s\"",
                       (int)(family.len > 80 ? 80 : family.len), family.ptr);
    if (s->families[f].columns && s->families[f].columns[0] &&
        gf_schema_column(&s->families[f], column, 0) < 0)
        return gf_fail(err, GF_EINVAL, "family %s has no column \"%.*s\"", s->families[f].name,
                       (int)(column.len > 80 ? 80 : column.len), column.ptr);
    *found = f;
    return GF_OK;
}

gf_status gf_papers_column(const gf_papers *p, gf_slice name, unsigned *family, gf_slice *column,
                           gf_error *err)
{
    const gf_schema *s = gf_table_schema(p->table);
    const char *colon = name.len ? memchr(name.ptr, ':', name.len) : NULL;
    if (colon) {
        size_t n = (size_t)(colon - name.ptr);
        *column = gf_slice_skip(name, n + 1);
        return find_named(p, gf_slice_of(name.ptr, n), *column, family, err);
    }
    *column = name;
    for (unsigned f = 0; f < s->n_families; f++) {
        unsigned role = gf_papers_role(p, f);
        if (role < GF_PAPERS_FAMILIES && p->family[role] != f) continue; /* a group not chosen */
        if (gf_schema_column(&s->families[f], name, 0) < 0) continue;
        *family = f;
        return GF_OK;
    }
    return gf_fail(err, GF_EINVAL, "papers have no column \"%.*s\"",
                   (int)(name.len > 80 ? 80 : name.len), name.ptr);
}

gf_status gf_papers_column_or_family(const gf_papers *p, gf_slice name, unsigned *family,
                                     gf_slice *column, gf_error *err)
{
    const gf_schema *s = gf_table_schema(p->table);
    unsigned f = find_family(s, name);
    if (f == s->n_families || (s->families[f].columns && s->families[f].columns[0]))
        return gf_papers_column(p, name, family, column, err);
    *family = f;
    *column = (gf_slice){NULL, 0};
    return GF_OK;
}

/* ---- tables that others may have made -------------------------------------------------------- */

typedef struct collecting {
    gf_arena memory;
    gf_family families[GF_MAX_FAMILIES]; /* n */
    unsigned n;
    bool all; /* false: those of a role */
} collecting;

static gf_status collect_family(void *context, gf_slice name, gf_error *err)
{
    collecting *c = context;
    unsigned role = gf_papers_role_named(name);
    gf_family family = {.layout = GF_LAYOUT_WIDE};
    if (role == GF_PAPERS_FAMILIES && !c->all) return GF_OK;
    if (c->n == GF_MAX_FAMILIES)
        return gf_fail(err, GF_ELIMIT, "it has more than %d families", GF_MAX_FAMILIES);
    if (role < GF_PAPERS_FAMILIES) family = families[role];
    family.name = gf_arena_copy(&c->memory, name).ptr; /* with a NUL */
    if (!family.name) return gf_fail_memory(err, "a table of papers");
    c->families[c->n++] = family;
    return GF_OK;
}

/* Families that every table has come first, in the order of the schema, as in a table that was made here. */
static void order_families(const collecting *c, gf_family ordered[GF_MAX_FAMILIES])
{
    unsigned n = 0;
    for (unsigned r = 0; r < GF_PAPERS_FAMILIES; r++)
        for (unsigned f = 0; f < c->n; f++)
            if (strcmp(c->families[f].name, families[r].name) == 0) ordered[n++] = c->families[f];
    for (unsigned f = 0; f < c->n; f++)
        if (find_family(&schema, gf_slice_str(c->families[f].name)) == schema.n_families)
            ordered[n++] = c->families[f];
}

gf_status gf_papers_open_as_kept(gf_database *db, const char *name, bool all, gf_table **table,
                                 gf_error *err)
{
    collecting c = {.all = all};
    gf_family ordered[GF_MAX_FAMILIES];
    gf_status st = gf_database_visit_families(db, name, collect_family, &c, err);
    order_families(&c, ordered);
    gf_schema s = {
        .name = name, .parts = parts + 1, .n_parts = 1, .families = ordered, .n_families = c.n};
    if (st == GF_OK) st = gf_table_open(db, &s, table, err);
    if (st != GF_OK) gf_error_prefix(err, "table %s", name);
    gf_arena_release(&c.memory);
    return st;
}

typedef struct naming {
    gf_arena memory;
    const char *names[GF_MAX_TABLES]; /* n */
    unsigned n;
} naming;

static gf_status collect_table(void *context, gf_slice name, gf_error *err)
{
    naming *c = context;
    if (!gf_slice_starts(name, GF_SLICE(GF_PAPERS_PREFIX))) return GF_OK;
    if (c->n == GF_MAX_TABLES)
        return gf_fail(err, GF_ELIMIT, "more than %d tables of papers", GF_MAX_TABLES);
    c->names[c->n] = gf_arena_copy(&c->memory, name).ptr;
    return c->names[c->n++] ? GF_OK : gf_fail_memory(err, "tables of papers");
}

gf_status gf_papers_open_all(gf_store *store, bool cut_short, gf_error *err)
{
    (void)cut_short;
    gf_database *db = gf_store_database(store);
    gf_table *t;
    naming *c = gf_calloc(1, sizeof *c);
    if (!c) return gf_fail_memory(err, "tables of papers");
    gf_status st = gf_database_visit_tables(db, collect_table, c, err);
    for (unsigned i = 0; i < c->n && st == GF_OK; i++)
        st = gf_papers_open_as_kept(db, c->names[i], true, &t, err);
    gf_arena_release(&c->memory);
    gf_free(c);
    return st;
}
