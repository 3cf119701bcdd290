/* Copies of stores through their tables: into folders, and over the model, with batches and without. */
#include "tests/engine/fixture_shared.h"

#include "base/file.h"
#include "engine/copy/copy_internal.h"
#include "engine/rows/scan.h"
#include "engine/user_tables/user_tables_internal.h"
#include "tests/engine/fixture_runs.h"
#include "tests/engine/soundness.h"

#include <stdio.h>
#include <unistd.h>

static const char timed[] =
    "{\"key\":[{\"name\":\"id\"}],\"families\":[{\"name\":\"log\",\"versions\":3,\"columns\":"
    "{\"n\":\"text\",\"m\":\"text\"}},{\"name\":\"friend\",\"layout\":\"wide\",\"versions\":2},"
    "{\"name\":\"short\",\"ttl\":86400},{\"name\":\"list\",\"layout\":\"wide\"}]}";
enum { LOG, FRIEND, SHORT, LIST };

/* ---- a store with a bit of everything -------------------------------------------------------- */

static void put(gf_user_table *t, const char *id, unsigned family, const char *column,
                const char *value, int64_t time)
{
    gf_error err;
    gf_batch *batch;
    gf_buffer key = {0};
    gf_slice part = gf_slice_str(id);
    assert_ok(gf_user_table_key_write(t, &part, 1, &key, &err));
    assert_ok(gf_batch_create(gf_store_database(t->store), &batch, &err));
    gf_batch_put(batch, gf_user_table_rows(t), gf_buffer_view(&key), family, gf_slice_str(column),
                 gf_slice_str(value), time);
    assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
    gf_batch_free(batch);
    gf_buffer_release(&key);
}

/* Versions that are put out of order; a column that a later version alone has; a large value. */
static void fill_table(fixture *f, const char *name)
{
    gf_user_table *t = fixture_make_table(f, name, timed);
    gf_buffer large = {0};
    for (int i = 0; i < 200000; i++)
        gf_buffer_byte(&large, (char)('a' + i % 23));
    put(t, "a", LOG, "n", "one", 1000);
    put(t, "a", LOG, "n", "three", 3000);
    put(t, "a", LOG, "m", "two", 2000);
    put(t, "a", LOG, "x", "four", 4000);
    put(t, "b", LOG, "n", "", 5);
    put(t, "a", FRIEND, "u2", "close", 7);
    put(t, "a", FRIEND, "u2", "school", 6);
    put(t, "a", FRIEND, "u2", "lost", 5);
    put(t, "b", FRIEND, "", "nobody", 5);
    put(t, "b", SHORT, "gone", "long ago", 1000);
    put(t, "b", SHORT, "here", "now", 0);
    for (int i = 0; i < 300; i++) {
        char id[16];
        snprintf(id, sizeof id, "c%03d", i);
        put(t, id, LIST, "value", id, 0);
    }
    put(t, "large", LIST, "", gf_buffer_cstr(&large), 0);
    gf_buffer_release(&large);
    gf_user_table_close(t);
}

static void fill(fixture *f)
{
    gf_error err;
    fixture_put_posts(f, "c", 200);
    fixture_put_subjects(f, "other");
    fixture_set(f, "", "default", "k", "5");
    fixture_rebuild(f, "c");
    fixture_put(f, "c", "new", "one fox, which came later");
    fixture_delete(f, "c", "000");
    fixture_rebuild(f, "c");
    fixture_put(f, "c", "newer", "another fox");
    fill_table(f, "dropped");
    fill_table(f, "people");
    assert_ok(gf_user_table_drop(f->store, GF_SLICE("test"), GF_SLICE("dropped"), NULL, &err));
}

/* ---- what reads give ------------------------------------------------------------------------- */

typedef struct dumping {
    gf_user_table *table;
    gf_buffer *out;
} dumping;

static void dump_versions(const dumping *d, gf_slice key, unsigned family, gf_slice column)
{
    gf_error err;
    gf_row row = {0};
    assert_ok(
        gf_table_get_cell(gf_user_table_rows(d->table), NULL, key, family, column, 9, &row, &err));
    for (size_t i = 0; i < row.n_cells; i++)
        gf_buffer_format(d->out, " %u:%.*s@%lld=%.*s", family, GF_SLICE_ARG(column),
                         family == LIST ? 0LL : (long long)row.cells[i].timestamp,
                         GF_SLICE_ARG(row.cells[i].value));
    gf_row_release(&row);
}

/* All versions of all cells of a user's table, with the times that count, and its schema. */
static void dump_table(gf_store *s, const char *name, gf_buffer *out)
{
    gf_error err;
    gf_user_table *t;
    gf_row row = {0};
    gf_status st;
    assert_ok(gf_user_table_open(s, GF_SLICE("test"), gf_slice_str(name), &t, &err));
    dumping d = {.table = t, .out = out};
    gf_buffer_slice(out, gf_user_table_json(t));
    for (unsigned f = LOG; f <= LIST; f++) {
        gf_scan *scan;
        assert_ok(gf_scan_open(gf_user_table_rows(t), &GF_SCAN_OPTIONS(.family = f), &scan, &err));
        while ((st = gf_scan_next(scan, &row, &err)) == GF_OK)
            for (size_t i = 0; i < row.n_cells; i++)
                dump_versions(&d, row.key, f, row.cells[i].qualifier);
        assert_int_equal(st, GF_ENOTFOUND);
        gf_scan_close(scan);
    }
    gf_row_release(&row);
    gf_user_table_close(t);
}

static void dump_store(gf_store *s, gf_buffer *out)
{
    fixture f = {.store = s};
    int64_t builds[64];
    size_t n = fixture_builds(&f, "c", "default", builds);
    for (size_t i = 0; i < n; i++)
        fixture_dump_build(&f, "c", "default", builds[i], out);
    dump_table(s, "people", out);
    fixture_collection c = fixture_read(&f, "c");
    gf_buffer_format(out, "%llu %llu %lld %lld", (unsigned long long)c.size,
                     (unsigned long long)c.seq, (long long)c.modified, (long long)c.served);
}

static void assert_same(gf_store *a, gf_store *b)
{
    gf_buffer x = {0}, y = {0};
    dump_store(a, &x);
    dump_store(b, &y);
    assert_true(x.len > 10000);
    assert_true(gf_slice_equal(gf_buffer_view(&x), gf_buffer_view(&y)));
    gf_buffer_release(&x);
    gf_buffer_release(&y);
}

static const char *path_in(const char *name)
{
    static char paths[4][4200];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", gf_test_folder(), name);
    return path;
}

static gf_store *open_store(const char *path)
{
    gf_error err;
    gf_store *s;
    assert_ok(gf_store_open(path, &GF_STORE_OPTIONS(), &s, &err));
    return s;
}

/* ---- into folders ---------------------------------------------------------------------------- */

static void count_calls(void *context, gf_slice table, uint64_t done, uint64_t total)
{
    uint64_t *told = context;
    ++*told;
    assert_true(table.len > 0 && (total == 0 || done <= total));
}

static void comes_out_equal(void **state)
{
    (void)state;
    fixture f, g = {0};
    gf_error err;
    gf_copied copied;
    uint64_t told = 0, counts[2][2];
    gf_buffer before = {0}, after = {0};
    fixture_open(&f);
    fill(&f);
    fixture_dump(&f, &before);
    fixture_runs_count(f.store, &counts[0][0], &counts[0][1]);
    fixture_close(&f);
    g.path = path_in("copy");
    gf_copy_options o = GF_COPY_OPTIONS(.progress = count_calls, .context = &told);
    assert_ok(gf_store_copy(f.path, g.path, &o, &copied, &err));
    assert_int_equal(copied.collections, 2);
    assert_int_equal(copied.documents, 202 + 12);
    assert_int_equal(copied.builds, 2);
    assert_int_equal(copied.tables, 1);
    assert_true(copied.entries > 1000 && copied.bytes > 200000 && told >= 7);
    fixture_reopen(&f);
    fixture_reopen(&g);
    assert_same(f.store, g.store);
    fixture_dump(&g, &after);
    assert_true(gf_slice_equal(gf_buffer_view(&before), gf_buffer_view(&after)));
    fixture_runs_count(g.store, &counts[1][0], &counts[1][1]);
    assert_memory_equal(counts[0], counts[1], sizeof counts[0]); /* as many blocks, too */
    fixture_is_sound(&g);
    fixture_make_table(&g, "later", timed); /* which gets a name of its own */
    gf_user_table_close(g.store->user_tables);
    assert_same(f.store, g.store);
    fixture_rebuild(&g, "c");
    fixture_is_sound(&g);
    fixture_close(&f);
    fixture_close(&g);
    gf_buffer_release(&before);
    gf_buffer_release(&after);
}

static void refuses_places(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_copied copied;
    gf_copy_options o = GF_COPY_OPTIONS(.wait_seconds = 0);
    fixture_open(&f);
    fixture_put(&f, "c", "1", "one fox");
    assert_int_equal(gf_store_copy(f.path, path_in("held"), &o, &copied, &err), GF_EBUSY);
    fixture_close(&f);
    assert_int_equal(gf_store_copy(f.path, f.path, &o, &copied, &err), GF_EINVAL);
    assert_non_null(strstr(err.message, "are one store"));
    assert_int_equal(gf_store_copy(path_in("none"), path_in("to"), &o, &copied, &err),
                     GF_ENOTFOUND);
    assert_int_equal(gf_store_copy(f.path, gf_test_folder(), &o, &copied, &err), GF_EEXISTS);
    gf_copy_options other = o;
    other.version = 7;
    assert_int_equal(gf_store_copy(f.path, path_in("to"), &other, &copied, &err), GF_EINVAL);
    assert_false(gf_file_exists(path_in("to")) || gf_file_exists(path_in("held")));
}

static void stop_at_table(void *context, gf_slice table, uint64_t done, uint64_t total)
{
    (void)done, (void)total;
    if (gf_slice_equal(table, GF_SLICE("memberships"))) gf_cancel_request(context);
}

/* A copy that is stopped leaves nothing; what a kill leaves is no store, and gives way. */
static void begins_anew(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_copied copied;
    gf_cancel cancel = {0};
    gf_store *s;
    char to[4200], half[4300];
    fixture_open(&f);
    fill(&f);
    gf_copy_options o =
        GF_COPY_OPTIONS(.cancel = &cancel, .progress = stop_at_table, .context = &cancel);
    snprintf(to, sizeof to, "%s", path_in("to"));
    snprintf(half, sizeof half, "%s.new", to);
    assert_ok(gf_store_open(half, &GF_STORE_OPTIONS(.create = true), &s, &err));
    assert_int_equal(fixture_copy(f.store, s->db, &o, &copied, &err), GF_ECANCELLED);
    gf_store_close(s);
    assert_int_equal(gf_store_open(half, &GF_STORE_OPTIONS(), &s, &err), GF_EINVAL);
    assert_non_null(strstr(err.message, "a copy of where that is not whole"));
    fixture_close(&f);
    assert_int_equal(gf_store_copy(f.path, to, &o, &copied, &err), GF_ECANCELLED);
    assert_false(gf_file_exists(to) || gf_file_exists(half));
    gf_copy_options free_of = GF_COPY_OPTIONS(.wait_seconds = 0);
    assert_ok(gf_store_open(half, &GF_STORE_OPTIONS(.create = true), &s, &err));
    assert_int_equal(gf_store_copy(f.path, to, &free_of, &copied, &err), GF_EBUSY);
    gf_store_close(s); /* a store of somebody's, which no copy has marked */
    assert_int_equal(gf_store_copy(f.path, to, &free_of, &copied, &err), GF_EEXISTS);
    gf_test_remove(half);
    assert_ok(gf_store_copy(f.path, to, &free_of, &copied, &err));
    fixture_reopen(&f);
    s = open_store(to);
    assert_same(f.store, s);
    gf_store_close(s);
    fixture_close(&f);
}

/* ---- over the model -------------------------------------------------------------------------- */

/* From the folder into it, on it as a store, and back into another. */
static void goes_there_and_back(unsigned capabilities)
{
    fixture f;
    gf_error err;
    gf_copied copied;
    gf_backend *there, *back;
    gf_copy_options o = GF_COPY_OPTIONS(.wait_seconds = 0);
    const unsigned all = GF_BACKEND_BATCH | GF_BACKEND_SNAPSHOT;
    fixture_open(&f);
    fill(&f);
    fixture g = {.store = fixture_share_as(NULL, capabilities, &there)};
    fixture h = {.store = fixture_share_as(NULL, all, &back)};
    assert_ok(fixture_copy(f.store, g.store->db, &o, &copied, &err));
    assert_same(f.store, g.store);
    assert_ok(gf_copy_mark_check(g.store, "g", &err));
    assert_ok(fixture_copy(g.store, h.store->db, &o, &copied, &err));
    assert_same(f.store, h.store);
    const char *fault = soundness_fault(h.store, false);
    if (fault) fail_msg("%s", fault);
    fixture_put(&g, "c", "new", "changed at once");
    fixture_delete(&g, "c", "new");
    fixture_put(&g, "c", "new", "back again");
    fixture_rebuild(&g, "c");
    assert_int_equal(fixture_read(&g, "c").size, fixture_read(&f, "c").size);
    fault = soundness_fault(g.store, false);
    if (fault) fail_msg("%s", fault);
    gf_store_close(g.store);
    gf_store_close(h.store);
    fixture_close(&f);
}

static void over_batches(void **state)
{
    (void)state;
    goes_there_and_back(GF_BACKEND_BATCH | GF_BACKEND_SNAPSHOT | GF_BACKEND_SHARED);
}

static void over_rows(void **state)
{
    (void)state;
    goes_there_and_back(GF_BACKEND_SHARED);
}

static void put_meanwhile(void *context, gf_slice table, uint64_t done, uint64_t total)
{
    fixture *f = context;
    (void)done, (void)total;
    if (gf_slice_equal(table, GF_SLICE("builds")))
        fixture_put(f, "c", "late", "a fox that is late");
}

/* Without one state of all tables, a change is noticed. */
static void tells_of_changes(void **state)
{
    (void)state;
    gf_error err;
    gf_copied copied;
    gf_backend *there, *back;
    fixture g = {.store = fixture_share_as(NULL, GF_BACKEND_SHARED, &there)};
    fixture h = {.store = fixture_share(NULL, &back)};
    fixture_put_subjects(&g, "c");
    gf_copy_options o = GF_COPY_OPTIONS(.progress = put_meanwhile, .context = &g);
    assert_int_equal(fixture_copy(g.store, h.store->db, &o, &copied, &err), GF_EBUSY);
    assert_non_null(strstr(err.message, "were changed while they were copied"));
    assert_int_equal(gf_copy_mark_check(h.store, "h", &err), GF_EINVAL);
    gf_store_close(g.store);
    gf_store_close(h.store);
}

/* Names that others know are those of one namespace. */
static void tells_what_cannot_be(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_copied copied;
    gf_backend *there;
    gf_copy_options o = GF_COPY_OPTIONS(.wait_seconds = 0);
    const unsigned named = GF_BACKEND_SHARED | GF_BACKEND_NAMED;
    fixture_open(&f);
    fill_table(&f, "people");
    gf_store *s = fixture_share_as(NULL, named, &there);
    assert_int_equal(fixture_copy(f.store, s->db, &o, &copied, &err), GF_EINVAL);
    assert_non_null(strstr(err.message, "table \"people\" is of the namespace \"test\""));
    assert_ok(gf_copy_mark_check(s, "s", &err)); /* nothing was written */
    gf_store_close(s);
    fixture_close(&f);
}

/* ---- another process ------------------------------------------------------------------------- */

/* Another process takes a copy for one that was cut short, once builds are copied, and begins its own. */
typedef struct taking_over {
    gf_store *store; /* another process' */
    gf_copy_mark mark;
    bool taken;
} taking_over;

static void take_over(void *context, gf_slice table, uint64_t done, uint64_t total)
{
    gf_error err;
    gf_row row = {0};
    gf_batch *batch;
    taking_over *t = context;
    gf_database *db = t->store->db;
    gf_table *tables = t->store->tables.tables;
    (void)done, (void)total;
    if (t->taken || !gf_slice_equal(table, GF_SLICE("builds"))) return;
    t->taken = true;
    assert_ok(gf_copy_mark_read(t->store, &row, &err));
    assert_false(gf_copy_mark_is(&t->mark, &row));
    assert_int_equal(gf_copy_mark_put(&t->mark, db, tables, &err), GF_ECONFLICT);
    assert_ok(gf_batch_create(db, &batch, &err));
    gf_batch_delete_row(batch, tables, row.key, 1u << GF_TABLES_PROGRESS);
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    assert_ok(gf_copy_mark_put(&t->mark, db, tables, &err));
    gf_batch_free(batch);
    gf_row_release(&row);
}

/* A copy that was taken over writes nothing more, and is not told as done. */
static void gives_way(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_copied copied;
    gf_backend *there, *other;
    gf_row row = {0};
    bool has;
    taking_over t = {.taken = false};
    gf_copy_options o = GF_COPY_OPTIONS(.progress = take_over, .context = &t);
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_rebuild(&f, "c");
    gf_store *to = fixture_share_as(NULL, GF_BACKEND_SHARED | GF_BACKEND_NAMED, &there);
    t.store = fixture_share_as(there, GF_BACKEND_SHARED | GF_BACKEND_NAMED, &other);
    assert_ok(gf_copy_mark_make(GF_SLICE("another"), &t.mark, &err));
    assert_int_equal(fixture_copy(f.store, to->db, &o, &copied, &err), GF_EBUSY);
    assert_non_null(strstr(err.message, "another process is copying to the same place"));
    assert_true(t.taken);
    assert_ok(gf_copy_mark_read(to, &row, &err));
    assert_true(gf_copy_mark_is(&t.mark, &row));
    assert_ok(gf_scan_finds(to->tables.collections, NULL, GF_COLLECTIONS_MAIN, (gf_slice){0}, &has,
                            &err));
    assert_false(has); /* they come behind the builds */
    assert_int_equal(fixture_copy(f.store, to->db, &o, &copied, &err), GF_EBUSY);
    assert_int_equal(gf_copy_mark_remove(&t.mark, &err), GF_OK);
    gf_row_release(&row);
    gf_copy_mark_release(&t.mark);
    gf_store_close(t.store);
    gf_store_close(to);
    fixture_close(&f);
}

typedef struct ending {
    gf_store *store;
    gf_backend *backend;
    bool ended;
} ending;

/* A put whose process ends once its journal is there, before the collection's row changes. */
static void end_in_a_put(void *context, gf_slice table, uint64_t done, uint64_t total)
{
    gf_error err;
    ending *e = context;
    gf_document d = {.id = GF_SLICE("half"), .text = GF_SLICE("a fox that is put by half")};
    (void)done, (void)total;
    if (e->ended || !gf_slice_equal(table, GF_SLICE("documents"))) return;
    e->ended = true;
    gf_model_end_after(e->backend, 3); /* the hold, the journal, the change */
    assert_true(fixture_try_put(e->store, "c", &d, &err) != GF_OK);
}

/* A batch of another process that was cut short would be there by half. */
static void tells_of_a_batch_that_was_cut_short(void **state)
{
    (void)state;
    gf_error err;
    gf_copied copied;
    gf_backend *there, *other, *back;
    ending e = {.ended = false};
    gf_copy_options o = GF_COPY_OPTIONS(.progress = end_in_a_put, .context = &e);
    fixture g = {.store = fixture_share_as(NULL, GF_BACKEND_SHARED, &there)};
    fixture h = {.store = fixture_share(NULL, &back)};
    fixture_put_subjects(&g, "c");
    e.store = fixture_share_as(there, GF_BACKEND_SHARED, &other);
    e.backend = other;
    assert_int_equal(fixture_copy(g.store, h.store->db, &o, &copied, &err), GF_EBUSY);
    assert_true(e.ended);
    assert_non_null(strstr(err.message, "were changed while they were copied"));
    gf_store_close(e.store);
    gf_store_close(h.store);
    h.store = fixture_share(NULL, &back);
    fixture_know_ended(g.store);
    assert_ok(fixture_copy(g.store, h.store->db, &o, &copied, &err));
    assert_int_equal(copied.documents, 13);
    gf_store_close(g.store);
    gf_store_close(h.store);
}

/* ---- tables of applications ------------------------------------------------------------------ */

/* Their keys begin with the namespace; that of the second is nothing else. */
static const gf_key_part picture_parts[] = {{.name = "namespace", .kind = GF_PART_STRING},
                                            {.name = "id", .kind = GF_PART_STRING}};
static const gf_family picture_families[] = {{.name = "main"},
                                             {.name = "tags", .layout = GF_LAYOUT_WIDE}};
static const gf_schema pictures = {.name = "pictures",
                                   .parts = picture_parts,
                                   .n_parts = 2,
                                   .families = picture_families,
                                   .n_families = 2};
static const gf_schema counts = {.name = "counts",
                                 .parts = picture_parts,
                                 .n_parts = 1,
                                 .families = picture_families,
                                 .n_families = 1};

/* name_space NULL: the keys are without. */
static void put_picture(gf_store *s, gf_table *t, const char *name_space, const char *id)
{
    gf_error err;
    gf_batch *batch;
    gf_buffer key = {0};
    if (name_space) gf_key_string(&key, gf_slice_str(name_space));
    if (id) gf_key_string(&key, gf_slice_str(id));
    assert_ok(gf_batch_create(gf_store_database(s), &batch, &err));
    gf_batch_put(batch, t, gf_buffer_view(&key), 0, GF_SLICE("n"), GF_SLICE("1"), 0);
    if (id) gf_batch_put(batch, t, gf_buffer_view(&key), 1, GF_SLICE("sea"), gf_slice_str(id), 0);
    assert_ok(gf_batch_write(batch, GF_SYNC_OFF, &err));
    gf_batch_free(batch);
    gf_buffer_release(&key);
}

static void fill_pictures(gf_store *s, const char *name_space)
{
    gf_error err;
    gf_table *t;
    assert_ok(gf_table_open(gf_store_database(s), &pictures, &t, &err));
    put_picture(s, t, name_space, "a");
    put_picture(s, t, name_space, "b");
    assert_ok(gf_table_open(gf_store_database(s), &counts, &t, &err));
    put_picture(s, t, name_space, NULL);
}

/* "KEY/QUALIFIER=VALUE" of all cells, with _ for bytes below 32. */
static void dump_pictures(gf_store *s, const char *table, gf_buffer *out)
{
    gf_error err;
    gf_table *t;
    gf_row row = {0};
    gf_buffer_reset(out);
    assert_ok(gf_table_find(gf_store_database(s), table, &t, &err));
    for (unsigned f = 0; f < gf_table_schema(t)->n_families; f++) {
        gf_scan *scan;
        gf_status st;
        assert_ok(gf_scan_open(t, &GF_SCAN_OPTIONS(.family = f), &scan, &err));
        while ((st = gf_scan_next(scan, &row, &err)) == GF_OK) {
            for (size_t i = 0; i < row.key.len; i++)
                gf_buffer_byte(out, row.key.ptr[i] < 32 ? '_' : row.key.ptr[i]);
            gf_buffer_format(out, "/%.*s=%.*s ", GF_SLICE_ARG(row.cells[0].qualifier),
                             GF_SLICE_ARG(row.cells[0].value));
        }
        assert_int_equal(st, GF_ENOTFOUND);
        gf_scan_close(scan);
    }
    gf_row_release(&row);
}

static void assert_pictures(gf_store *s, const char *table, const char *expected)
{
    gf_buffer out = {0};
    dump_pictures(s, table, &out);
    assert_string_equal(gf_buffer_cstr(&out), expected);
    gf_buffer_release(&out);
}

/* The namespace is part of the keys in a folder, and of the place where tables' names are others' too. */
static void moves_the_name_space(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_copied copied;
    gf_backend *there, *back;
    gf_copy_options o = GF_COPY_OPTIONS(.wait_seconds = 0);
    static const char in_folder[] = "default__a__/n=1 default__b__/n=1 "
                                    "default__a__/sea=a default__b__/sea=b ";
    fixture_open(&f);
    fill_pictures(f.store, "default");
    gf_store *named = fixture_share_as(NULL, GF_BACKEND_SHARED | GF_BACKEND_NAMED, &there);
    gf_store *folder = fixture_share_as(NULL, 0, &back);
    assert_ok(fixture_copy(f.store, named->db, &o, &copied, &err));
    assert_pictures(named, "pictures", "a__/n=1 b__/n=1 a__/sea=a b__/sea=b ");
    assert_pictures(named, "counts", "default__/n=1 ");
    assert_ok(fixture_copy(named, folder->db, &o, &copied, &err));
    assert_pictures(folder, "pictures", in_folder);
    assert_pictures(folder, "counts", "default__/n=1 ");
    gf_store_close(named);
    gf_store_close(folder);
    fixture_close(&f);
}

/* Of one name there is one table in HBase: a user's schema of an application's is one more of it. */
static void tells_of_one_name_twice(void **state)
{
    (void)state;
    static const char json[] = "{\"key\":[{\"name\":\"id\"}],\"families\":[{\"name\":\"main\"}]}";
    fixture f;
    gf_error err;
    gf_copied copied;
    gf_user_table *t;
    gf_backend *there, *back;
    gf_slice space = GF_SLICE("default"), name = GF_SLICE("pictures");
    gf_copy_options o = GF_COPY_OPTIONS(.wait_seconds = 0);
    fixture_open(&f);
    fill_pictures(f.store, "default");
    gf_store *named = fixture_share_as(NULL, GF_BACKEND_SHARED | GF_BACKEND_NAMED, &there);
    gf_store *folder = fixture_share_as(NULL, 0, &back);
    assert_ok(fixture_copy(f.store, named->db, &o, &copied, &err));
    assert_ok(gf_user_table_create(named, space, name, gf_slice_str(json), &err));
    assert_ok(fixture_copy(named, folder->db, &o, &copied, &err));
    assert_int_equal(copied.tables, 0);
    assert_int_equal(gf_user_table_open(folder, space, name, &t, &err), GF_ENOTFOUND);
    gf_store_close(named);
    gf_store_close(folder);

    assert_ok(gf_user_table_create(f.store, space, name, gf_slice_str(json), &err));
    named = fixture_share_as(NULL, GF_BACKEND_SHARED | GF_BACKEND_NAMED, &there);
    assert_int_equal(fixture_copy(f.store, named->db, &o, &copied, &err), GF_EINVAL);
    assert_non_null(strstr(err.message, "has the name of another one, \"pictures\""));
    gf_store_close(named);
    fixture_close(&f);
}

static void refuses_other_name_spaces(void **state)
{
    (void)state;
    static const char *const others[] = {"a", "z"};
    for (int i = 0; i < 2; i++) {
        fixture f;
        gf_error err;
        gf_copied copied;
        gf_backend *there;
        gf_copy_options o = GF_COPY_OPTIONS(.wait_seconds = 0);
        fixture_open(&f);
        fill_pictures(f.store, "default");
        fill_pictures(f.store, others[i]);
        gf_store *s = fixture_share_as(NULL, GF_BACKEND_SHARED | GF_BACKEND_NAMED, &there);
        assert_int_equal(fixture_copy(f.store, s->db, &o, &copied, &err), GF_EINVAL);
        assert_non_null(
            strstr(err.message, i ? "is of the namespace \"z\"" : "is of the namespace \"a\""));
        assert_ok(gf_copy_mark_check(s, "s", &err));
        gf_store_close(s);
        fixture_close(&f);
    }
}

/* ---- failures -------------------------------------------------------------------------------- */

typedef struct sweeping {
    const char *from;
    char to[4200];
    gf_status st;
} sweeping;

static gf_status copy(void *context, gf_error *err)
{
    sweeping *s = context;
    gf_copied copied;
    return s->st = gf_store_copy(s->from, s->to, &GF_COPY_OPTIONS(.wait_seconds = 0), &copied, err);
}

static void remove_copy(void *context)
{
    sweeping *s = context;
    char half[4300];
    snprintf(half, sizeof half, "%s.new", s->to);
    assert_false(gf_file_exists(half));
    assert_int_equal(gf_file_exists(s->to), s->st == GF_OK);
    if (gf_file_exists(s->to)) gf_test_remove(s->to);
}

static void sweeps(void **state)
{
    (void)state;
    fixture f;
    sweeping s = {.st = GF_OK};
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_rebuild(&f, "c");
    gf_user_table *t = fixture_make_table(&f, "people", timed);
    put(t, "a", LOG, "n", "one", 1000);
    put(t, "a", LOG, "m", "two", 2000);
    put(t, "a", FRIEND, "u2", "close", 7);
    gf_user_table_close(t);
    fill_pictures(f.store, "default");
    fixture_close(&f);
    s.from = f.path;
    snprintf(s.to, sizeof s.to, "%s", path_in("to"));
    gf_test_sweep(copy, remove_copy, &s);
    remove_copy(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_out_equal),
        cmocka_unit_test(refuses_places),
        cmocka_unit_test(begins_anew),
        cmocka_unit_test(over_batches),
        cmocka_unit_test(over_rows),
        cmocka_unit_test(tells_of_changes),
        cmocka_unit_test(gives_way),
        cmocka_unit_test(tells_of_a_batch_that_was_cut_short),
        cmocka_unit_test(tells_what_cannot_be),
        cmocka_unit_test(moves_the_name_space),
        cmocka_unit_test(tells_of_one_name_twice),
        cmocka_unit_test(refuses_other_name_spaces),
        cmocka_unit_test(sweeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
