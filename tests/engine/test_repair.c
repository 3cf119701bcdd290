/* Repairs: of tables with damaged blocks, of lost and damaged files, of sound stores. */
#include "tests/engine/fixture.h"

#include "base/memory.h"
#include "engine/rows/scan.h"
#include "engine/store/delete.h"
#include "engine/user_tables/user_tables_internal.h"
#include "storage/backend.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct damaged {
    fixture f;
    char to[4096];
    size_t told;
} damaged;

enum { DOCUMENTS = 4000 };

static void document_text(unsigned i, char text[200])
{
    /* Words that compress badly, so that a table has many blocks. */
    int n = snprintf(text, 200, "document %u", i);
    uint64_t v = i * UINT64_C(0x9E3779B97F4A7C15) + 1;
    for (int w = 0; w < 8; w++) {
        v ^= v >> 29;
        v *= UINT64_C(0xBF58476D1CE4E5B9);
        n += snprintf(text + n, 200 - (size_t)n, " w%llx", (unsigned long long)v);
    }
}

static void put_many(fixture *f)
{
    gf_put *put;
    gf_error err;
    gf_put_options o = GF_PUT_OPTIONS(.name_space = GF_SLICE("test"));
    assert_ok(gf_put_open(f->store, &o, &put, &err));
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        char id[16], text[200];
        snprintf(id, sizeof id, "%06u", i);
        document_text(i, text);
        gf_document d = {.id = gf_slice_str(id), .text = gf_slice_str(text)};
        assert_ok(gf_put_document(put, GF_SLICE("many"), &d, &err));
        if (i % 500 == 499) assert_ok(gf_put_flush(put, &err)); /* a record of the log */
    }
    assert_ok(gf_put_flush(put, &err));
    gf_put_close(put);
}

/* Run a shell command in the old store's db folder. */
static void spoil(const damaged *d, const char *command)
{
    char line[9000];
    snprintf(line, sizeof line, "cd %s/db && %s", d->f.path, command);
    assert_int_equal(system(line), 0);
}

/*
 * A store of two collections, one with a build: all in tables, or as a process that was ended
 * leaves it, with a log.
 */
static void make(damaged *d, bool compacted)
{
    gf_error err;
    *d = (damaged){.told = 0};
    fixture_open(&d->f);
    put_many(&d->f);
    fixture_put_subjects(&d->f, "c");
    fixture_rebuild(&d->f, "c");
    if (compacted) assert_ok(gf_database_compact(gf_store_database(d->f.store), &err));
    if (!compacted) spoil(d, "cp -r . ../open");
    fixture_close(&d->f);
    if (!compacted) spoil(d, "rm -r ./* && mv ../open/* . && rmdir ../open");
    snprintf(d->to, sizeof d->to, "%s/repaired", gf_test_folder());
}

static gf_status note_fault(void *context, const char *where, const char *what, gf_error *err)
{
    (void)where, (void)what, (void)err;
    ++((damaged *)context)->told;
    return GF_OK;
}

static gf_repaired repair(damaged *d)
{
    gf_error err;
    gf_repaired r;
    assert_ok(gf_repair(d->f.path, d->to, &GF_STORE_OPTIONS(), note_fault, d, &r, &err));
    assert_true(d->told >= r.damages + r.rows + r.builds);
    return r;
}

typedef struct found {
    uint64_t n;
    bool equal;
} found;

static gf_status check_document(void *context, const gf_document *document, gf_error *err)
{
    found *seen = context;
    char id[16], text[200];
    (void)err;
    snprintf(id, sizeof id, "%.*s", GF_SLICE_ARG(document->id));
    document_text((unsigned)strtoul(id, NULL, 10), text);
    seen->equal = seen->equal && gf_slice_equal(document->text, gf_slice_str(text));
    seen->n++;
    return GF_OK;
}

/* The repaired store is sound, and its documents are as they were put: how many. */
static uint64_t read_repaired(damaged *d)
{
    gf_error err;
    found seen = {0, true};
    fixture r = {.path = d->to};
    fixture_reopen(&r);
    gf_status st = gf_documents_visit(r.store, fixture_place("many"), check_document, &seen, &err);
    assert_true(st == GF_OK || st == GF_ENOTFOUND);
    assert_true(seen.equal);
    if (st == GF_OK) assert_int_equal(fixture_read(&r, "many").size, seen.n);
    fixture_is_sound(&r);
    fixture_close(&r);
    return seen.n;
}

static void a_sound_store_is_copied(void **state)
{
    (void)state;
    damaged d;
    make(&d, false);
    gf_repaired r = repair(&d);
    assert_int_equal(r.damages + r.rows + r.collections + r.builds, 0);
    assert_int_equal(r.documents, DOCUMENTS + 12);
    assert_int_equal(read_repaired(&d), DOCUMENTS);
    fixture n = {.path = d.to};
    fixture_reopen(&n);
    fixture_check_served(&n, "c", 12);
    fixture_close(&n);
    /* Nothing is replaced. */
    gf_error err;
    assert_status(GF_EEXISTS,
                  gf_repair(d.f.path, d.to, &GF_STORE_OPTIONS(), note_fault, &d, &r, &err));
}

/* One byte in the middle of the largest table: at most one block of some kilobytes is lost. */
static void one_damaged_table(void **state)
{
    (void)state;
    damaged d;
    make(&d, true);
    spoil(&d, "f=$(ls -S *.ldb | head -1); s=$(stat -c %s $f); "
              "printf '\\125\\252' | dd of=$f bs=1 seek=$((s / 3)) conv=notrunc status=none");
    gf_repaired r = repair(&d);
    assert_int_equal(r.damages, 1);
    uint64_t n = read_repaired(&d);
    assert_true(n < DOCUMENTS && n >= DOCUMENTS - 100);
    assert_int_equal(r.documents, n + 12);
    assert_int_equal(r.collections, 1);
    assert_int_equal(r.builds, 0);
    fixture c = {.path = d.to};
    fixture_reopen(&c);
    fixture_check_served(&c, "c", 12);
    fixture_close(&c);
}

/* Files that only say where the others are: all documents come back. */
static void lost_current_and_manifest(void **state)
{
    (void)state;
    static const char *const commands[] = {"rm CURRENT", "rm MANIFEST-*",
                                           "rm CURRENT ../grouperfish.store",
                                           "printf X | dd of=$(ls MANIFEST-*) bs=1 seek=20 "
                                           "conv=notrunc status=none",
                                           "echo nonsense > ../grouperfish.store"};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        damaged d;
        make(&d, true);
        spoil(&d, commands[i]);
        gf_repaired r = repair(&d);
        assert_true(r.damages > 0);
        assert_int_equal(read_repaired(&d), DOCUMENTS);
    }
}

/* A log's sound records are kept; a table whose end is cut off is lost, and the rest is not. */
static void damaged_log_and_cut_table(void **state)
{
    (void)state;
    damaged d;
    make(&d, false);
    spoil(&d, "f=$(ls -S *.log | head -1); s=$(stat -c %s $f); "
              "printf '\\125\\252' | dd of=$f bs=1 seek=$((s / 2)) conv=notrunc status=none");
    gf_repaired r = repair(&d);
    assert_true(r.damages > 0);
    uint64_t n = read_repaired(&d);
    assert_true(n > 0 && n <= DOCUMENTS);
    damaged e;
    make(&e, true);
    spoil(&e, "f=$(ls -S *.ldb | head -1); truncate -s -20 $f");
    r = repair(&e);
    assert_true(r.damages > 0);
    read_repaired(&e);
}

static void bytes_of_old_store_stay(void **state)
{
    (void)state;
    damaged d;
    make(&d, true);
    spoil(&d, "rm CURRENT; cp -r . ../kept");
    repair(&d);
    spoil(&d, "diff -r . ../kept");
    spoil(&d, "rm -r ../kept");
}

static void there_is_none(void **state)
{
    (void)state;
    damaged d = {.told = 0};
    gf_error err;
    gf_repaired r;
    char none[4200];
    snprintf(none, sizeof none, "%s/none", gf_test_folder());
    snprintf(d.to, sizeof d.to, "%s/to", gf_test_folder());
    assert_status(GF_ENOTFOUND,
                  gf_repair(none, d.to, &GF_STORE_OPTIONS(), note_fault, &d, &r, &err));
    struct stat s;
    assert_int_equal(lstat(d.to, &s), -1);
}

/* ---- what leads nowhere ---------------------------------------------------------------------- */

static gf_status repair_with(damaged *d, bool drops, gf_repaired *r, gf_error *err)
{
    gf_store_options o = GF_STORE_OPTIONS(.drop_unreadable = drops);
    return gf_repair(d->f.path, d->to, &o, note_fault, d, r, err);
}

static void make_built(damaged *d)
{
    *d = (damaged){.told = 0};
    fixture_open(&d->f);
    fixture_put_subjects(&d->f, "c");
    fixture_rebuild(&d->f, "c");
    snprintf(d->to, sizeof d->to, "%s/repaired", gf_test_folder());
}

/* All rows of the build are gone, as with a lost table, and the collection's row leads to it. */
static void a_pointer_to_no_build(void **state)
{
    (void)state;
    damaged d;
    gf_error err;
    gf_repaired r;
    gf_batch *batch;
    gf_tables tables;
    gf_verified checked;
    make_built(&d);
    gf_database *db = gf_store_database(d.f.store);
    assert_ok(gf_tables_open(db, &tables, &err));
    assert_ok(gf_batch_create(db, &batch, &err));
    assert_ok(gf_delete_rows(tables.builds, (gf_slice){0}, batch, &err));
    assert_ok(gf_delete_rows(tables.clusters, (gf_slice){0}, batch, &err));
    assert_ok(gf_delete_rows(tables.memberships, (gf_slice){0}, batch, &err));
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
    fixture_close(&d.f);
    assert_ok(repair_with(&d, false, &r, &err));
    assert_int_equal(r.pointers, 1);
    assert_int_equal(r.builds, 0);
    assert_ok(gf_verify(d.to, &GF_STORE_OPTIONS(), note_fault, &d, &checked, &err));
    assert_int_equal(checked.faults, 0);
    fixture n = {.path = d.to};
    fixture_reopen(&n);
    fixture_rebuild(&n, "c");
    fixture_check_served(&n, "c", 12);
    fixture_is_sound(&n);
    fixture_close(&n);
}

/* The row of the collection is gone: it comes back, and its build is served again. */
static void a_build_that_nothing_leads_to(void **state)
{
    (void)state;
    damaged d;
    gf_error err;
    gf_repaired r;
    gf_batch *batch;
    gf_tables tables;
    make_built(&d);
    gf_database *db = gf_store_database(d.f.store);
    assert_ok(gf_tables_open(db, &tables, &err));
    assert_ok(gf_batch_create(db, &batch, &err));
    assert_ok(gf_delete_rows(tables.collections, (gf_slice){0}, batch, &err));
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
    fixture_close(&d.f);
    assert_ok(repair_with(&d, false, &r, &err));
    assert_int_equal(r.pointers, 1);
    assert_int_equal(r.collections, 1);
    fixture n = {.path = d.to};
    fixture_reopen(&n);
    fixture_check_served(&n, "c", 12);
    fixture_is_sound(&n);
    fixture_close(&n);
}

/* A user's table whose row in the table of tables is gone: nothing is made, or it is left out. */
static void a_table_without_a_name(void **state)
{
    (void)state;
    damaged d;
    gf_error err;
    gf_repaired r;
    gf_batch *batch;
    gf_tables tables;
    struct stat s;
    make_built(&d);
    gf_user_table *people = fixture_make_table(&d.f, "people", fixture_people);
    fixture_put_cell(people, "ann", 0, "name", "Ann");
    gf_user_table_close(people);
    gf_database *db = gf_store_database(d.f.store);
    assert_ok(gf_tables_open(db, &tables, &err));
    assert_ok(gf_batch_create(db, &batch, &err));
    assert_ok(gf_delete_rows(tables.tables, (gf_slice){0}, batch, &err));
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
    fixture_close(&d.f);
    assert_status(GF_ECORRUPT, repair_with(&d, false, &r, &err));
    assert_non_null(strstr(err.message, "--drop-unreadable"));
    assert_int_equal(lstat(d.to, &s), -1);
    assert_ok(repair_with(&d, true, &r, &err));
    assert_int_equal(r.tables, 1);
    fixture n = {.path = d.to};
    fixture_reopen(&n);
    fixture_check_served(&n, "c", 12);
    /* The counter was lost, too: a new table has none of the old one's rows. */
    people = fixture_make_table(&n, "people", fixture_people);
    bool any = true;
    assert_ok(gf_scan_finds(gf_user_table_rows(people), NULL, 0, (gf_slice){0}, &any, &err));
    assert_false(any);
    gf_user_table_close(people);
    fixture_is_sound(&n);
    fixture_close(&n);
}

/* Wherever memory ends, that is what is said, nothing half-made is left, and the next one works. */
static void memory_ends(void **state)
{
    (void)state;
    damaged d = {.told = 0};
    gf_error err;
    int failed = 1;
    fixture_open(&d.f);
    fixture_put_subjects(&d.f, "c");
    fixture_rebuild(&d.f, "c");
    fixture_close(&d.f);
    snprintf(d.to, sizeof d.to, "%s/repaired", gf_test_folder());
    for (int64_t n = 0; failed; n += 1 + n / 25) {
        char half[4200];
        struct stat s;
        gf_repaired r;
        gf_memory_fail_at(n);
        gf_status st = gf_repair(d.f.path, d.to, &GF_STORE_OPTIONS(), note_fault, &d, &r, &err);
        failed = gf_memory_failed();
        gf_memory_fail_at(-1);
        assert_int_equal(st, failed ? GF_ENOMEM : GF_OK);
        snprintf(half, sizeof half, "%s.new", d.to);
        assert_int_equal(lstat(half, &s), -1);
        snprintf(half, sizeof half, "%s.work", d.to);
        assert_int_equal(lstat(half, &s), -1);
        if (failed) assert_int_equal(lstat(d.to, &s), -1);
    }
    fixture n = {.path = d.to};
    fixture_reopen(&n);
    fixture_check_served(&n, "c", 12);
    fixture_is_sound(&n);
    fixture_close(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_store_is_copied),
        cmocka_unit_test(one_damaged_table),
        cmocka_unit_test(lost_current_and_manifest),
        cmocka_unit_test(damaged_log_and_cut_table),
        cmocka_unit_test(bytes_of_old_store_stay),
        cmocka_unit_test(there_is_none),
        cmocka_unit_test(a_pointer_to_no_build),
        cmocka_unit_test(a_build_that_nothing_leads_to),
        cmocka_unit_test(a_table_without_a_name),
        cmocka_unit_test(memory_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
