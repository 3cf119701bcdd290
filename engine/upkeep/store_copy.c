/*
 * Copies of stores: their places, and the rows.
 *
 * The mark in the table of tables is there while a copy is being made, and names who makes it. In
 * HBase, where no lock does, it changes every few seconds: so of two that copy to one place the
 * second sees the first at work.
 */
#include "engine/upkeep/store_copy.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/memory.h"
#include "base/murmur.h"
#include "base/number.h"
#include "base/options.h"
#include "engine/rows/scan.h"
#include "engine/store/hold.h"
#include "engine/store/lease.h"
#include "engine/user_tables/user_tables_internal.h"
#include "storage/backend.h"
#include "storage/hbase/backend.h"
#include "storage/hbase/client.h"
#include "storage/table_copy.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BEAT_SECONDS = 5, SILENCE_SECONDS = 30 };

/* ---- the mark -------------------------------------------------------------------------------- */

#define SOURCE "copying"
#define OWNER  "copied_by"
#define BEAT   "beat"

static gf_status mark_key(gf_buffer *key, gf_error *err)
{
    gf_tables_collection_key(key, (gf_slice){0}, GF_SLICE("copy"));
    return gf_buffer_check(key, err);
}

typedef struct marking {
    gf_database *to;
    gf_table *tables;
    gf_slice from;
    char owner[96];
    uint64_t beats;
    double last;
} marking;

/* there: false takes it off. */
static gf_status write_mark(marking *m, bool there, gf_error *err)
{
    gf_batch *batch = NULL;
    gf_buffer key = {0};
    gf_number_digits digits;
    gf_column columns[] = {{GF_SLICE(SOURCE), m->from},
                           {GF_SLICE(OWNER), gf_slice_str(m->owner)},
                           {GF_SLICE(BEAT), gf_number_write(&digits, ++m->beats)}};
    gf_status st = mark_key(&key, err);
    if (st == GF_OK) st = gf_batch_create(m->to, &batch, err);
    if (st == GF_OK) {
        gf_slice row = gf_buffer_view(&key);
        if (there)
            gf_batch_replace(batch, m->tables, row, GF_TABLES_PROGRESS, columns, 3, 0);
        else
            gf_batch_delete_row(batch, m->tables, row, 1u << GF_TABLES_PROGRESS);
        st = gf_batch_write(batch, GF_SYNC_ON, err);
    }
    m->last = gf_clock_seconds();
    gf_batch_free(batch);
    gf_buffer_release(&key);
    return st;
}

static void name_maker(marking *m)
{
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    snprintf(m->owner, sizeof m->owner, "process %ld of %s", (long)getpid(), host);
}

/* The mark of a store; GF_ENOTFOUND, without a message: it has none. */
static gf_status read_mark(gf_store *s, gf_row *row, gf_error *err)
{
    gf_buffer key = {0};
    gf_status st = mark_key(&key, err);
    if (st == GF_OK)
        st = gf_table_get(s->tables.tables, NULL, gf_buffer_view(&key), 1u << GF_TABLES_PROGRESS,
                          row, err);
    gf_buffer_release(&key);
    if (st == GF_OK && !gf_row_find(row, GF_TABLES_PROGRESS, SOURCE)) st = GF_ENOTFOUND;
    return st;
}

gf_status gf_store_copy_check(gf_store *s, const char *path, gf_error *err)
{
    gf_row row = {0};
    gf_status st = read_mark(s, &row, err);
    if (st == GF_OK) {
        gf_slice from = gf_row_find(&row, GF_TABLES_PROGRESS, SOURCE)->value;
        st = gf_fail(err, GF_EINVAL,
                     "%s is a copy of %.*s that is not whole: it is being made, or was cut short; "
                     "then grouperfish copy begins it anew",
                     path ? path : "the store", GF_SLICE_ARG(from));
    } else if (st != GF_ENOMEM) {
        st = GF_OK; /* what is damaged is found by who reads it */
    }
    gf_row_release(&row);
    return st;
}

/* ---- the rows -------------------------------------------------------------------------------- */

typedef struct copying {
    gf_copy_plan plan;
    marking mark;
    const gf_copy_options *options;
    gf_copied *copied;
    const gf_copy_table *table; /* at hand */
    uint64_t stamp;
    uint64_t applications; /* the latest time of a cell of theirs; 0: there is none */
    gf_status beaten;      /* how the last renewal of the mark ended */
    gf_error why;
} copying;

static void tell(void *context, uint64_t entries)
{
    copying *c = context;
    const gf_copy_options *o = c->options;
    if (o->progress) o->progress(o->context, c->table->name, entries, c->table->of);
    bool shared = gf_database_capabilities(c->plan.to) & GF_BACKEND_NAMED;
    if (shared && c->beaten == GF_OK && gf_clock_seconds() - c->mark.last > BEAT_SECONDS)
        c->beaten = write_mark(&c->mark, true, &c->why);
}

static gf_status copy_table(copying *c, const gf_copy_table *t, gf_error *err)
{
    gf_copy_plan *p = &c->plan;
    unsigned both = gf_database_capabilities(p->from->db) | gf_database_capabilities(p->to);
    gf_table_copying rows = {.from = t->from,
                             .to = t->to,
                             .from_start = t->from_start,
                             .to_start = t->to_start,
                             .snapshot = p->snapshot,
                             .families = t->families,
                             .timeless = t->own,
                             .cell_times = !t->own && both & GF_BACKEND_NAMED,
                             .stamp = t->own ? c->stamp : 0,
                             .untimed = t->of_application ? (int64_t)c->stamp : 0,
                             .cancel = c->options->cancel,
                             .told = tell,
                             .context = c};
    c->table = t;
    gf_status st = gf_table_copy(&rows, err);
    c->copied->entries += rows.entries;
    c->copied->bytes += rows.bytes;
    if (t->of_application && (uint64_t)rows.newest > c->applications)
        c->applications = (uint64_t)rows.newest;
    if (st == GF_OK && c->beaten != GF_OK) {
        if (err) *err = c->why;
        st = c->beaten;
    }
    return st;
}

/* ---- collections ----------------------------------------------------------------------------- */

typedef struct summing {
    uint64_t rows, documents;
    uint32_t hash;
} summing;

static gf_status sum_row(void *context, const gf_row *row, gf_error *err)
{
    summing *s = context;
    uint64_t size = 0;
    (void)err;
    s->rows++;
    s->hash = gf_murmur3(row->key, s->hash);
    for (size_t i = 0; i < row->n_cells; i++)
        s->hash = gf_murmur3(row->cells[i].value, gf_murmur3(row->cells[i].qualifier, s->hash));
    gf_rows_cell_number(gf_row_find(row, GF_COLLECTIONS_MAIN, "size"), &size);
    s->documents += size;
    return GF_OK;
}

static gf_status sum_collections(const gf_copy_plan *p, summing *sum, gf_error *err)
{
    *sum = (summing){0};
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = p->snapshot, .family = GF_COLLECTIONS_MAIN);
    return gf_scan_each(p->from->tables.collections, &o, sum_row, sum, err);
}

/* Without one state of all tables, documents and sizes agree only where nobody changed them. */
static gf_status check_unchanged(const copying *c, const summing *before, gf_error *err)
{
    summing now;
    if (c->plan.snapshot) return GF_OK;
    gf_status st = sum_collections(&c->plan, &now, err);
    if (st != GF_OK || (now.rows == before->rows && now.hash == before->hash)) return st;
    return gf_fail(err, GF_EBUSY,
                   "collections were changed while they were copied, and this store has no one "
                   "state of all; stop what puts and rebuilds, and copy again");
}

typedef struct freeing {
    const copying *c;
    gf_batch *batch;
    gf_slice owner;
} freeing;

static gf_status free_row(void *context, const gf_row *row, gf_error *err)
{
    const freeing *f = context;
    gf_batch_put(f->batch, f->c->plan.tables.collections, row->key, GF_COLLECTIONS_HOLD,
                 GF_SLICE("owner"), f->owner, 0);
    if (gf_batch_changes(f->batch) < 1000) return GF_OK;
    return gf_batch_write(f->batch, GF_SYNC_ON, err);
}

/* Applications write under the hold of their namespace, which is that of a collection without a name. */
static gf_status free_name_space(const copying *c, gf_batch *batch, gf_error *err)
{
    gf_buffer key = {0};
    gf_number_digits digits;
    uint64_t stamp = c->applications > c->stamp ? c->applications : c->stamp;
    if (!c->applications) return GF_OK;
    gf_tables_collection_key(&key, GF_SLICE(GF_COPY_NAME_SPACE), (gf_slice){0});
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK)
        gf_batch_put(batch, c->plan.tables.collections, gf_buffer_view(&key), GF_COLLECTIONS_HOLD,
                     GF_SLICE("owner"), gf_number_write(&digits, stamp), 0);
    gf_buffer_release(&key);
    return st;
}

/* Later holds get later stamps than what was copied, where rows hold themselves. */
static gf_status free_rows(copying *c, gf_error *err)
{
    gf_number_digits digits;
    freeing f = {.c = c, .owner = gf_number_write(&digits, c->stamp)};
    if (!c->stamp) return GF_OK;
    gf_status st = gf_batch_create(c->plan.to, &f.batch, err);
    for (unsigned family = 0; family < GF_COLLECTIONS_LEASES && st == GF_OK; family++) {
        gf_scan_options o = GF_SCAN_OPTIONS(.family = family, .keys_only = true);
        st = gf_scan_each(c->plan.tables.collections, &o, free_row, &f, err);
    }
    if (st == GF_OK) st = free_name_space(c, f.batch, err);
    if (st == GF_OK) st = gf_batch_write(f.batch, GF_SYNC_ON, err);
    gf_batch_free(f.batch);
    return st;
}

/* ---- one store into another ------------------------------------------------------------------ */

static gf_status copy_rows(copying *c, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < c->plan.n && st == GF_OK; i++)
        st = copy_table(c, &c->plan.list[i], err);
    return st;
}

static gf_status count_builds(const gf_copy_plan *p, uint64_t *n, gf_error *err)
{
    *n = 0;
    return gf_scan_count(p->from->tables.builds, p->snapshot, GF_BUILDS_MAIN, (gf_slice){0}, n,
                         err);
}

static gf_status copy_all(copying *c, gf_error *err)
{
    gf_copy_plan *p = &c->plan;
    summing sum;
    gf_status st = sum_collections(p, &sum, err);
    if (st == GF_OK) st = count_builds(p, &c->copied->builds, err);
    if (st == GF_OK) st = gf_copy_plan_check(p, err);
    if (st == GF_OK) st = write_mark(&c->mark, true, err);
    if (st == GF_OK) st = gf_copy_plan_make(p, err);
    if (st == GF_OK) st = copy_rows(c, err);
    if (st == GF_OK) st = check_unchanged(c, &sum, err);
    if (st == GF_OK) st = free_rows(c, err);
    c->copied->collections = sum.rows;
    c->copied->documents = sum.documents;
    c->copied->tables = p->users;
    return st == GF_OK ? write_mark(&c->mark, false, err) : st;
}

gf_status gf_store_copy_into(gf_store *from, const char *from_name, gf_database *to,
                             const gf_copy_options *options, gf_copied *copied, gf_error *err)
{
    gf_snapshot *snapshot = NULL;
    copying c = {.plan = {.from = from, .to = to}, .options = options, .copied = copied};
    *copied = (gf_copied){0};
    c.mark = (marking){.to = to, .from = gf_slice_str(from_name)};
    name_maker(&c.mark);
    gf_status st = gf_tables_open(to, &c.plan.tables, err);
    c.mark.tables = c.plan.tables.tables;
    if (st == GF_OK && gf_database_holds_in_rows(to)) c.stamp = (uint64_t)gf_clock_ms();
    if (st == GF_OK) st = gf_store_finish_all_batches(from, err);
    if (st == GF_OK) st = gf_snapshot_create_if_any(from->db, &snapshot, err);
    c.plan.snapshot = snapshot;
    if (st == GF_OK) st = copy_all(&c, err);
    gf_copy_plan_release(&c.plan);
    gf_snapshot_free(snapshot);
    return st;
}

/* ---- into a folder --------------------------------------------------------------------------- */

typedef struct making {
    gf_store *from;
    const char *from_name;
    const gf_copy_options *options;
    gf_copied *copied;
} making;

static gf_status fill_folder(void *context, gf_database *db, gf_error *err)
{
    const making *m = context;
    return gf_store_copy_into(m->from, m->from_name, db, m->options, m->copied, err);
}

/* Count what the copy has, which also shows that it opens. */
static gf_status count_folder(void *context, const char *building, gf_error *err)
{
    const making *m = context;
    gf_store *copy = NULL;
    gf_store_status status;
    gf_store_options o = GF_STORE_OPTIONS(.purpose = "copy");
    gf_status st = gf_store_open(building, &o, &copy, err);
    if (st == GF_OK) st = gf_store_read_status(copy, &status, err);
    gf_store_close(copy);
    if (st != GF_OK) return st;
    m->copied->collections = status.collections;
    m->copied->documents = status.documents;
    m->copied->builds = status.builds;
    return GF_OK;
}

/* A copy to that folder that was cut short goes, if nobody is making it. */
static gf_status remove_cut_short(const char *to, gf_error *err)
{
    gf_buffer name = {0};
    gf_store *s = NULL;
    gf_row mark = {0};
    size_t n = strlen(to);
    while (n > 1 && to[n - 1] == '/')
        n--;
    gf_buffer_append(&name, to, n);
    gf_buffer_str(&name, ".new");
    gf_status st = gf_buffer_check(&name, err);
    const char *building = gf_buffer_cstr(&name);
    bool is_marked = false;
    if (st == GF_OK && !gf_file_exists(to) && gf_file_exists(building)) {
        gf_error why;
        gf_store_options o = GF_STORE_OPTIONS(.purpose = "copy");
        gf_status opened = gf_store_create(building, &o, &s, &why);
        if (opened == GF_OK) {
            is_marked = read_mark(s, &mark, NULL) == GF_OK;
            gf_row_release(&mark);
            gf_store_free(s);
        } else if (opened == GF_EBUSY || opened == GF_ENOMEM) {
            if (err) *err = why;
            st = opened;
        }
    }
    if (is_marked) st = gf_folder_remove(building, err);
    gf_buffer_release(&name);
    return st;
}

/* ---- into HBase ------------------------------------------------------------------------------ */

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

/* Wait as long as a maker may be silent; *changed: one is at work. */
static gf_status watch_mark(gf_store *s, const gf_row *mark, const gf_cancel *cancel, bool *changed,
                            gf_error *err)
{
    gf_row row = {0};
    double end = gf_clock_seconds() + SILENCE_SECONDS;
    gf_status st = GF_OK;
    gf_slice was = gf_row_find(mark, GF_TABLES_PROGRESS, BEAT)->value;
    *changed = false;
    while (st == GF_OK && !*changed && gf_clock_seconds() < end) {
        usleep(200000);
        st = gf_cancel_check(cancel, err);
        if (st == GF_OK) st = read_mark(s, &row, err);
        const gf_cell *is = st == GF_OK ? gf_row_find(&row, GF_TABLES_PROGRESS, BEAT) : NULL;
        *changed = st == GF_ENOTFOUND || (is && !gf_slice_equal(is->value, was));
        if (st == GF_ENOTFOUND) st = GF_OK;
    }
    gf_row_release(&row);
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
    if (st == GF_OK) st = read_mark(s, &mark, err);
    bool marked = st == GF_OK;
    if (st == GF_ENOTFOUND) st = bare ? GF_OK : fail_filled(to, name, err);
    if (st == GF_OK && marked) st = watch_mark(s, &mark, options->cancel, &at_work, err);
    if (st == GF_OK && at_work) {
        const gf_cell *owner = gf_row_find(&mark, GF_TABLES_PROGRESS, OWNER);
        st = gf_fail(err, GF_EBUSY, "%s is being copied to by %.*s", to,
                     GF_SLICE_ARG(owner ? owner->value : GF_SLICE("another process")));
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

static gf_status copy_to_hbase(const making *m, const char *to, gf_error *err)
{
    gf_database *db;
    gf_status st = open_empty(to, m->options, &db, err);
    if (st != GF_OK) return st;
    st = gf_store_copy_into(m->from, m->from_name, db, m->options, m->copied, err);
    gf_database_close(db);
    if (st == GF_OK || m->copied->entries) return st;
    /* Not a row was copied: the namespace is left as it was. */
    gf_store *s;
    gf_row mark = {0};
    gf_store_options o = GF_STORE_OPTIONS(.purpose = "copy");
    gf_copy_options dropping = *m->options;
    dropping.cancel = NULL;
    if (gf_store_create(to, &o, &s, NULL) != GF_OK) return st;
    if (read_mark(s, &mark, NULL) == GF_OK) drop_copy(s, &dropping, true, NULL);
    gf_row_release(&mark);
    gf_store_free(s);
    return st;
}

/* ---- places ---------------------------------------------------------------------------------- */

/* "hbase:/HOST" would be a folder, which nobody means. */
static gf_status check_place(const char *place, gf_error *err)
{
    bool is_typo = strncmp(place, "hbase:", 6) == 0 || strstr(place, "://");
    if (!is_typo || gf_hbase_is_url(place)) return GF_OK;
    return gf_fail(err, GF_EINVAL,
                   "%s is no folder, and no URL of an HBase: hbase://HOST:PORT/NAMESPACE", place);
}

static gf_status are_one_place(const char *a, const char *b, bool *one, gf_error *err)
{
    gf_hbase_address x, y;
    char of_a[PATH_MAX], of_b[PATH_MAX];
    gf_status st = GF_OK;
    *one = strcmp(a, b) == 0;
    if (*one || gf_hbase_is_url(a) != gf_hbase_is_url(b)) return st;
    if (!gf_hbase_is_url(a)) {
        *one = realpath(a, of_a) && realpath(b, of_b) && strcmp(of_a, of_b) == 0;
        return st;
    }
    st = gf_hbase_address_read(a, &x, err);
    if (st == GF_OK) st = gf_hbase_address_read(b, &y, err);
    if (st == GF_OK)
        *one = strcmp(x.host, y.host) == 0 && strcmp(x.port, y.port) == 0 &&
               strcmp(x.name_space, y.name_space) == 0;
    return st;
}

gf_status gf_store_copy(const char *from, const char *to, const gf_copy_options *options,
                        gf_copied *copied, gf_error *err)
{
    bool one;
    making m = {.from_name = from, .options = options, .copied = copied};
    gf_store_options o =
        GF_STORE_OPTIONS(.wait_seconds = options->wait_seconds, .purpose = "copy",
                         .cancel = options->cancel, .read_only = !gf_hbase_is_url(from));
    gf_status st =
        gf_options_check(options->version, GF_COPY_OPTIONS_VERSION, "gf_copy_options", err);
    if (st == GF_OK) st = check_place(from, err);
    if (st == GF_OK) st = check_place(to, err);
    if (st == GF_OK) st = are_one_place(from, to, &one, err);
    if (st == GF_OK && one) st = gf_fail(err, GF_EINVAL, "%s and %s are one store", from, to);
    if (st == GF_OK) st = gf_store_open(from, &o, &m.from, err);
    if (st != GF_OK) return st;
    if (options->open_more && gf_hbase_is_url(from)) st = options->open_more(m.from, false, err);
    if (st != GF_OK) {
        gf_store_close(m.from);
        return st;
    }
    if (gf_hbase_is_url(to)) {
        st = copy_to_hbase(&m, to, err);
    } else {
        st = remove_cut_short(to, err);
        if (st == GF_OK) st = gf_folder_make(to, fill_folder, count_folder, &m, err);
    }
    gf_store_close(m.from);
    return st;
}
