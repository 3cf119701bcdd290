/*
 * The tables of a copy. Those of the engine and of the applications have the same names and numbers
 * everywhere; a user's is known to the database by what the table of tables says, and has another
 * name where names are others' too.
 */
#include "engine/copy/copy_internal.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/number.h"
#include "engine/rows/scan.h"
#include "engine/user_tables/user_tables_internal.h"
#include "storage/backend.h"
#include "storage/schema.h"

#define USERS "user:"

static bool is_users(const char *name)
{
    gf_slice s = gf_slice_str(name);
    return gf_slice_starts(s, GF_SLICE(USERS)) ||
           gf_slice_starts(s, GF_SLICE(GF_BACKEND_USERS_TABLE));
}

static bool has_named_tables(const gf_database *db)
{
    return gf_database_capabilities(db) & GF_BACKEND_NAMED;
}

static gf_status add_table(gf_copy_plan *p, gf_table *from, gf_table *to, gf_slice name,
                           gf_error *err)
{
    gf_slice kept = gf_arena_copy(&p->memory, name);
    if (!kept.ptr || !gf_grow(&p->list, &p->capacity, p->n + 1, sizeof *p->list))
        return gf_fail_memory(err, "a copy");
    p->list[p->n++] =
        (gf_copy_table){.from = from, .to = to, .name = kept, .families = GF_ALL_FAMILIES};
    return gf_copy_mark_renew(p->mark, err);
}

/* ---- the engine's tables --------------------------------------------------------------------- */

/* Collections come last: whoever looks at a copy that was cut short finds none. */
enum { OWN = 6 };

static void list_own(const gf_tables *t, gf_table *own[OWN])
{
    gf_table *const all[OWN] = {t->documents,   t->changes, t->clusters,
                                t->memberships, t->builds,  t->collections};
    memcpy(own, all, sizeof all);
}

/* The schema as the source has it, without what only says who is at work there. */
static gf_schema schema_of(const gf_copy_plan *p, const gf_table *from)
{
    gf_schema s = *gf_table_schema(from);
    if (from == p->from->tables.collections && s.n_families > GF_COLLECTIONS_HOLD)
        s.n_families = GF_COLLECTIONS_HOLD;
    return s;
}

static gf_status make_own(gf_copy_plan *p, gf_error *err)
{
    gf_table *own[OWN], *there[OWN], *made;
    gf_status st = GF_OK;
    bool holds = gf_database_holds_in_rows(p->to); /* by families that no other store has */
    list_own(&p->from->tables, own);
    list_own(&p->tables, there);
    for (int i = 0; i < OWN && st == GF_OK; i++) {
        gf_schema s = schema_of(p, own[i]);
        made = there[i];
        if (!holds) st = gf_table_open(p->to, &s, &made, err);
        if (st == GF_OK) st = add_table(p, own[i], made, gf_slice_str(s.name), err);
        if (st != GF_OK) break;
        gf_copy_table *t = &p->list[p->n - 1];
        t->own = true;
        t->families = s.n_families < 32 ? (UINT32_C(1) << s.n_families) - 1 : GF_ALL_FAMILIES;
        if (own[i] == p->from->tables.collections) t->families &= ~(1u << GF_COLLECTIONS_LEASES);
    }
    return st;
}

/* ---- the applications' tables ---------------------------------------------------------------- */

/*
 * The first part of their keys is the namespace. A database whose tables others know has that in its
 * own, and keys begin behind it; but for keys that are nothing else.
 */
static bool has_name_space(const gf_schema *s)
{
    return s->n_parts > 0 && strcmp(s->parts[0].name, "namespace") == 0;
}

bool gf_copy_plan_is_own(const gf_tables *t, gf_slice name)
{
    gf_table *own[OWN];
    list_own(t, own);
    for (int i = 0; i < OWN; i++)
        if (gf_slice_equal(gf_slice_str(gf_table_schema(own[i])->name), name)) return true;
    return gf_slice_equal(gf_slice_str(gf_table_schema(t->tables)->name), name);
}

gf_status gf_copy_plan_visit_applications(gf_store *s, gf_visit_copied_table *visit, void *context,
                                          gf_error *err)
{
    gf_status st = GF_OK;
    gf_table *t;
    for (unsigned n = 1; n < GF_MAX_TABLES && st == GF_OK; n++) {
        const gf_schema *schema = gf_database_schema(s->db, n);
        if (!schema || is_users(schema->name)) continue;
        if (gf_copy_plan_is_own(&s->tables, gf_slice_str(schema->name))) continue;
        st = gf_table_open(s->db, schema, &t, err);
        if (st == GF_OK) st = visit(context, t, err);
    }
    return st;
}

/* The start of keys of the one namespace; to be released. */
static gf_status write_start(gf_buffer *start, gf_error *err)
{
    gf_key_string(start, GF_SLICE(GF_COPY_NAME_SPACE));
    return gf_buffer_check(start, err);
}

/* The key as `to` has it, made of parts that have room for one more; *goes, *comes: the namespace does. */
static gf_schema schema_there(const gf_copy_plan *p, const gf_schema *s, gf_key_part *parts,
                              bool *goes, bool *comes)
{
    gf_schema made = *s;
    bool had = has_name_space(s);
    bool gets = !has_named_tables(p->to) || (had && s->n_parts == 1);
    *goes = had && !gets;
    *comes = gets && !had;
    if (*goes) {
        made.parts++;
        made.n_parts--;
    } else if (*comes) {
        parts[0] = (gf_key_part){.name = "namespace", .kind = GF_PART_STRING};
        memcpy(parts + 1, s->parts, s->n_parts * sizeof *parts);
        made.parts = parts;
        made.n_parts++;
    }
    return made;
}

static gf_status make_of_application(void *context, gf_table *from, gf_error *err)
{
    gf_copy_plan *p = context;
    gf_key_part parts[GF_MAX_PARTS + 1];
    bool goes, comes;
    gf_table *to;
    gf_buffer start = {0};
    gf_schema made = schema_there(p, gf_table_schema(from), parts, &goes, &comes);
    unsigned number = has_named_tables(p->from->db) ? 0 : gf_table_number(from);
    gf_status st = gf_table_open_numbered(p->to, &made, number, &to, err);
    if (st == GF_OK) st = add_table(p, from, to, gf_slice_str(made.name), err);
    if (st == GF_OK) st = write_start(&start, err);
    if (st == GF_OK) {
        gf_copy_table *t = &p->list[p->n - 1];
        gf_slice kept = gf_arena_copy(&p->memory, gf_buffer_view(&start));
        if (!kept.ptr) st = gf_fail_memory(err, "a copy");
        t->of_application = true;
        if (goes) t->from_start = kept;
        if (comes) t->to_start = kept;
    }
    gf_buffer_release(&start);
    return st;
}

/* Empties the name that is looked for. */
static gf_status forget_if_its_name(void *context, gf_table *t, gf_error *err)
{
    gf_slice *name = context;
    (void)err;
    if (gf_slice_equal(gf_slice_str(gf_table_schema(t)->name), *name)) *name = (gf_slice){0};
    return GF_OK;
}

/* Whether an application has a table of that name, too. */
static gf_status is_of_application(const gf_copy_plan *p, gf_slice name, bool *is, gf_error *err)
{
    gf_slice looked_for = name;
    gf_status st = gf_copy_plan_visit_applications(p->from, forget_if_its_name, &looked_for, err);
    *is = !looked_for.ptr;
    return st;
}

/* ---- tables of users ------------------------------------------------------------------------- */

static gf_status fail_damaged(const char *name, const gf_error *why, gf_error *err)
{
    if (err) *err = *why;
    gf_error_prefix(err, "table \"%s\" cannot be read", name);
    return why->status;
}

/* The name that `to` knows the table by. */
static gf_status name_rows(gf_copy_plan *p, const gf_user_table *t, gf_buffer *id, gf_error *err)
{
    const char *name = gf_table_schema(t->rows)->name;
    gf_buffer_reset(id);
    p->users++;
    if (has_named_tables(p->to))
        gf_buffer_format(id, GF_BACKEND_USERS_TABLE "%.*s", GF_SLICE_ARG(t->name));
    else if (gf_slice_starts(gf_slice_str(name), GF_SLICE(USERS)))
        gf_buffer_str(id, name);
    else
        gf_buffer_format(id, USERS "%llu", (unsigned long long)p->users);
    gf_buffer_cstr(id);
    return gf_buffer_check(id, err);
}

/* number 0: the table is not made yet. */
static gf_status write_row(gf_copy_plan *p, const gf_user_table *t, gf_slice id, unsigned number,
                           gf_error *err)
{
    gf_batch *batch;
    gf_number_digits digits;
    gf_column columns[] = {{GF_SLICE("id"), id},
                           {GF_SLICE("schema"), t->json},
                           {GF_SLICE("number"), gf_number_write(&digits, number)}};
    gf_status st = gf_batch_create(p->to, &batch, err);
    if (st != GF_OK) return st;
    gf_copy_mark_guard(p->mark, batch);
    gf_batch_replace(batch, p->tables.tables, t->key, GF_TABLES_MAIN, columns, number ? 3 : 2, 0);
    st = gf_batch_write(batch, GF_SYNC_ON, err);
    gf_batch_free(batch);
    return st;
}

/*
 * In HBase a user's schema may be one more of an application's table. Its rows come with that, and the
 * schema where they are one table again.
 */
static gf_status make_of_user(void *context, const char *name, gf_user_table *t,
                              const gf_error *why, gf_error *err)
{
    gf_copy_plan *p = context;
    gf_buffer id = {0};
    gf_table *made;
    bool twice = false;
    if (!t) return fail_damaged(name, why, err);
    gf_schema s = *gf_table_schema(t->rows);
    gf_status st = GF_OK;
    if (has_named_tables(p->from->db)) st = is_of_application(p, t->name, &twice, err);
    if (st == GF_OK && twice && !has_named_tables(p->to)) return GF_OK;
    if (st == GF_OK) st = name_rows(p, t, &id, err);
    s.name = gf_buffer_cstr(&id);
    /* The row comes first: whoever drops a copy that was cut short finds all tables by their rows. */
    if (st == GF_OK) st = write_row(p, t, gf_buffer_view(&id), 0, err);
    if (st == GF_OK) st = gf_table_open(p->to, &s, &made, err);
    if (st != GF_OK) gf_error_prefix(err, "table \"%s\"", name);
    if (st == GF_OK) st = write_row(p, t, gf_buffer_view(&id), gf_table_number(made), err);
    if (st == GF_OK && !twice) st = add_table(p, t->rows, made, t->name, err);
    gf_buffer_release(&id);
    return st;
}

/* The counter of names, behind all that were given. */
static gf_status put_counter(gf_copy_plan *p, gf_error *err)
{
    gf_row row = {0};
    gf_batch *batch = NULL;
    gf_buffer key = {0};
    gf_number_digits digits;
    uint64_t next = p->users;
    if (has_named_tables(p->to)) return GF_OK;
    gf_tables_collection_key(&key, (gf_slice){0}, (gf_slice){0});
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        st = gf_table_get(p->from->tables.tables, p->snapshot, gf_buffer_view(&key),
                          1u << GF_TABLES_COUNTER, &row, err);
    if (st == GF_OK) gf_rows_cell_number(gf_row_find(&row, GF_TABLES_COUNTER, "next"), &next);
    if (st == GF_ENOTFOUND) st = GF_OK;
    if (st == GF_OK && next) {
        st = gf_batch_create(p->to, &batch, err);
        if (st == GF_OK) {
            gf_copy_mark_guard(p->mark, batch);
            gf_batch_put(batch, p->tables.tables, gf_buffer_view(&key), GF_TABLES_COUNTER,
                         GF_SLICE("next"), gf_number_write(&digits, next), 0);
            st = gf_batch_write(batch, GF_SYNC_ON, err);
        }
    }
    gf_batch_free(batch);
    gf_row_release(&row);
    gf_buffer_release(&key);
    return st;
}

/* ---- what cannot be -------------------------------------------------------------------------- */

static gf_status has_entries(gf_table *t, const gf_snapshot *snapshot, bool *has, gf_error *err)
{
    gf_status st = GF_OK;
    *has = false;
    for (unsigned f = 0; f < gf_table_schema(t)->n_families && st == GF_OK && !*has; f++)
        st = gf_scan_finds(t, snapshot, f, (gf_slice){0}, has, err);
    return st;
}

static gf_status fail_name_space(gf_slice name, gf_slice name_space, gf_error *err)
{
    return gf_fail(err, GF_EINVAL,
                   "table \"%.*s\" is of the namespace \"%.*s\", and a store in HBase has that of "
                   "its URL, for tables of the namespace \"" GF_COPY_NAME_SPACE
                   "\"; nothing was copied",
                   GF_SLICE_ARG(name), GF_SLICE_ARG(name_space));
}

/* The first row of a range, whose namespace is another one. */
static gf_status check_range(const gf_copy_plan *p, gf_table *t, unsigned family, gf_slice start,
                             gf_slice end, gf_error *err)
{
    gf_scan *scan = NULL;
    gf_row row = {0};
    gf_buffer other = {0};
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = p->snapshot, .family = family, .start = start,
                                        .end = end, .limit = 1, .keys_only = true);
    gf_status st = gf_scan_open(t, &o, &scan, err);
    if (st == GF_OK) st = gf_scan_next(scan, &row, err);
    if (st == GF_OK) {
        gf_slice key = row.key;
        gf_key_take_string(&key, &other);
        st = gf_buffer_check(&other, err);
        if (st == GF_OK)
            st = fail_name_space(gf_slice_str(gf_table_schema(t)->name), gf_buffer_view(&other),
                                 err);
    } else if (st == GF_ENOTFOUND) {
        st = GF_OK;
    }
    gf_scan_close(scan);
    gf_row_release(&row);
    gf_buffer_release(&other);
    return st;
}

static gf_status check_name_spaces(const gf_copy_plan *p, gf_table *t, gf_error *err)
{
    gf_buffer start = {0}, end = {0};
    gf_status st = write_start(&start, err);
    gf_key_after_prefix(gf_buffer_view(&start), &end);
    if (st == GF_OK) st = gf_buffer_check(&end, err);
    for (unsigned f = 0; f < gf_table_schema(t)->n_families && st == GF_OK; f++) {
        st = check_range(p, t, f, (gf_slice){0}, gf_buffer_view(&start), err);
        if (st == GF_OK) st = check_range(p, t, f, gf_buffer_view(&end), (gf_slice){0}, err);
    }
    gf_buffer_release(&start);
    gf_buffer_release(&end);
    return st;
}

typedef struct checking {
    gf_copy_plan *plan;
    gf_buffer names; /* of tables that `to` does not keep */
} checking;

static gf_status check_application(void *context, gf_table *t, gf_error *err)
{
    checking *c = context;
    bool has;
    const gf_schema *s = gf_table_schema(t);
    if (gf_database_keeps(c->plan->to, s->name))
        return has_named_tables(c->plan->from->db) ? GF_OK : check_name_spaces(c->plan, t, err);
    gf_status st = has_entries(t, c->plan->snapshot, &has, err);
    if (st == GF_OK && has) gf_buffer_format(&c->names, "%s%s", c->names.len ? ", " : "", s->name);
    return st;
}

static gf_status check_applications(gf_copy_plan *p, gf_error *err)
{
    checking c = {.plan = p};
    gf_status st = gf_copy_plan_visit_applications(p->from, check_application, &c, err);
    if (st == GF_OK) st = gf_buffer_check(&c.names, err);
    if (st == GF_OK && c.names.len)
        st = gf_fail(err, GF_EINVAL,
                     "a store in HBase does not keep all that this one has: %s; nothing was copied",
                     gf_buffer_cstr(&c.names));
    gf_buffer_release(&c.names);
    return st;
}

static gf_status check_users(void *context, gf_slice name_space, gf_slice name, gf_error *err)
{
    const gf_copy_plan *p = context;
    bool is;
    if (!gf_slice_equal(name_space, GF_SLICE(GF_COPY_NAME_SPACE)))
        return fail_name_space(name, name_space, err);
    if (has_named_tables(p->from->db)) return GF_OK;
    gf_status st = is_of_application(p, name, &is, err);
    if (st != GF_OK || !is) return st;
    return gf_fail(
        err, GF_EINVAL,
        "a user's table has the name of another one, \"%.*s\", and in HBase both would be "
        "one: export the user's and drop it (table export, table drop); nothing was copied",
        GF_SLICE_ARG(name));
}

gf_status gf_copy_plan_check(gf_copy_plan *p, gf_error *err)
{
    if (!has_named_tables(p->to)) return GF_OK;
    gf_status st = check_applications(p, err);
    if (st == GF_OK) st = gf_user_tables_visit_all(p->from, check_users, p, err);
    return st;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

typedef struct adding {
    unsigned family;
    const char *column;
    uint64_t sum;
} adding;

static gf_status add_number(void *context, const gf_row *row, gf_error *err)
{
    adding *a = context;
    uint64_t number = 0;
    (void)err;
    gf_rows_cell_number(gf_row_find(row, a->family, a->column), &number);
    a->sum += number;
    return GF_OK;
}

/* Documents by their collections, memberships by their builds. */
static gf_status add_sizes(gf_copy_plan *p, gf_error *err)
{
    adding documents = {GF_COLLECTIONS_MAIN, "size", 0}, members = {GF_BUILDS_MAIN, "documents", 0};
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = p->snapshot, .family = documents.family);
    gf_status st = gf_scan_each(p->from->tables.collections, &o, add_number, &documents, err);
    o.family = members.family;
    if (st == GF_OK) st = gf_scan_each(p->from->tables.builds, &o, add_number, &members, err);
    for (size_t i = 0; i < p->n && st == GF_OK; i++) {
        if (p->list[i].from == p->from->tables.documents) p->list[i].of = documents.sum;
        if (p->list[i].from == p->from->tables.memberships) p->list[i].of = members.sum;
    }
    return st;
}

gf_status gf_copy_plan_make(gf_copy_plan *p, gf_error *err)
{
    gf_status st = gf_copy_plan_visit_applications(p->from, make_of_application, p, err);
    if (st == GF_OK) st = make_own(p, err);
    if (st == GF_OK) st = gf_user_tables_each(p->from, make_of_user, p, err);
    if (st == GF_OK) st = put_counter(p, err);
    return st == GF_OK ? add_sizes(p, err) : st;
}

void gf_copy_plan_release(gf_copy_plan *p)
{
    gf_free(p->list);
    gf_arena_release(&p->memory);
}
