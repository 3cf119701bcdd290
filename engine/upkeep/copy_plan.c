/*
 * The tables of a copy. Those of the engine and of the applications have the same names and numbers
 * everywhere; a user's is known to the database by what the table of tables says, and has another
 * name where names are others' too.
 */
#include "engine/upkeep/store_copy.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/number.h"
#include "engine/rows/scan.h"
#include "engine/user_tables/user_tables_internal.h"
#include "storage/backend.h"

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
    return GF_OK;
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

bool gf_copy_plan_keeps(gf_database *db, const gf_table *table)
{
    return !has_named_tables(db) || gf_database_schema(db, gf_table_number(table)) != NULL;
}

static bool keeps_collections(const gf_copy_plan *p)
{
    return gf_copy_plan_keeps(p->to, p->tables.collections) &&
           gf_copy_plan_keeps(p->from->db, p->from->tables.collections);
}

/* ---- the applications' tables ---------------------------------------------------------------- */

static bool is_own(const gf_copy_plan *p, unsigned number)
{
    gf_table *own[OWN];
    list_own(&p->from->tables, own);
    for (int i = 0; i < OWN; i++)
        if (gf_table_number(own[i]) == number) return true;
    return number == gf_table_number(p->from->tables.tables);
}

/* The next table, from that number on, that an application made; NULL: there are no more. */
static const gf_schema *next_of_application(const gf_copy_plan *p, unsigned *number)
{
    for (; *number < GF_MAX_TABLES; ++*number) {
        const gf_schema *s = gf_database_schema(p->from->db, *number);
        if (s && !is_own(p, *number) && !is_users(s->name)) return s;
    }
    return NULL;
}

static gf_status make_of_applications(gf_copy_plan *p, gf_error *err)
{
    gf_status st = GF_OK;
    const gf_schema *s;
    gf_table *from, *to;
    if (has_named_tables(p->to)) return GF_OK; /* they are empty, or the copy was refused */
    for (unsigned n = 1; st == GF_OK && (s = next_of_application(p, &n)) != NULL; n++) {
        st = gf_table_open(p->from->db, s, &from, err);
        if (st == GF_OK) st = gf_table_open_numbered(p->to, s, n, &to, err);
        if (st == GF_OK) st = add_table(p, from, to, gf_slice_str(s->name), err);
    }
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
    gf_batch_replace(batch, p->tables.tables, t->key, GF_TABLES_MAIN, columns, number ? 3 : 2, 0);
    st = gf_batch_write(batch, GF_SYNC_ON, err);
    gf_batch_free(batch);
    return st;
}

static gf_status make_of_user(void *context, const char *name, gf_user_table *t,
                              const gf_error *why, gf_error *err)
{
    gf_copy_plan *p = context;
    gf_buffer id = {0};
    gf_table *made;
    if (!t) return fail_damaged(name, why, err);
    gf_schema s = *gf_table_schema(t->rows);
    gf_status st = name_rows(p, t, &id, err);
    s.name = gf_buffer_cstr(&id);
    /* The row comes first: whoever drops a copy that was cut short finds all tables by their rows. */
    if (st == GF_OK) st = write_row(p, t, gf_buffer_view(&id), 0, err);
    if (st == GF_OK) st = gf_table_open(p->to, &s, &made, err);
    if (st != GF_OK) gf_error_prefix(err, "table \"%s\"", name);
    if (st == GF_OK) st = write_row(p, t, gf_buffer_view(&id), gf_table_number(made), err);
    if (st == GF_OK) st = add_table(p, t->rows, made, t->name, err);
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

static gf_status name_if_filled(gf_copy_plan *p, gf_table *t, const char *name, gf_buffer *names,
                                gf_error *err)
{
    bool has;
    gf_status st = has_entries(t, p->snapshot, &has, err);
    if (st == GF_OK && has) gf_buffer_format(names, "%s%s", names->len ? ", " : "", name);
    return st;
}

/* Tables of the source's that `to` does not keep, or with other keys, as those know them whose they are. */
static gf_status check_others(gf_copy_plan *p, gf_error *err)
{
    gf_buffer names = {0};
    const gf_schema *s;
    gf_table *t;
    gf_table *collections = p->from->tables.collections;
    gf_status st = GF_OK;
    if (!gf_copy_plan_keeps(p->to, p->tables.collections) &&
        gf_copy_plan_keeps(p->from->db, collections))
        st = name_if_filled(p, collections, "collections", &names, err);
    for (unsigned n = 1; st == GF_OK && (s = next_of_application(p, &n)) != NULL; n++) {
        st = gf_table_open(p->from->db, s, &t, err);
        if (st == GF_OK) st = name_if_filled(p, t, s->name, &names, err);
    }
    if (st == GF_OK && names.len)
        st = gf_fail(err, GF_EINVAL,
                     "a store in HBase does not keep all that this one has: %s; nothing was copied",
                     gf_buffer_cstr(&names));
    gf_buffer_release(&names);
    return st;
}

static gf_status check_name_space(void *context, gf_slice name_space, gf_slice name, gf_error *err)
{
    (void)context;
    if (gf_slice_equal(name_space, GF_SLICE("default"))) return GF_OK;
    return gf_fail(err, GF_EINVAL,
                   "table \"%.*s\" is of the namespace \"%.*s\", and a store in HBase has that of "
                   "its URL, for tables of the namespace \"default\"; nothing was copied",
                   GF_SLICE_ARG(name), GF_SLICE_ARG(name_space));
}

gf_status gf_copy_plan_check(gf_copy_plan *p, gf_error *err)
{
    if (!has_named_tables(p->to)) return GF_OK;
    gf_status st = check_others(p, err);
    if (st == GF_OK) st = gf_user_tables_visit_all(p->from, check_name_space, NULL, err);
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
    gf_status st = GF_OK;
    if (keeps_collections(p)) {
        st = make_of_applications(p, err);
        if (st == GF_OK) st = make_own(p, err);
    }
    if (st == GF_OK) st = gf_user_tables_each(p->from, make_of_user, p, err);
    if (st == GF_OK) st = put_counter(p, err);
    return st == GF_OK && keeps_collections(p) ? add_sizes(p, err) : st;
}

void gf_copy_plan_release(gf_copy_plan *p)
{
    gf_free(p->list);
    gf_arena_release(&p->memory);
}
