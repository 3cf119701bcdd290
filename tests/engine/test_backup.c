/* Backups and what is restored of them. */
#include "tests/engine/fixture.h"

#include "base/random.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct copies {
    char backup[4096], restored[4096];
} copies;

static copies make_paths(void)
{
    copies c;
    const char *folder = gf_test_folder();
    snprintf(c.backup, sizeof c.backup, "%s/backup", folder);
    snprintf(c.restored, sizeof c.restored, "%s/restored", folder);
    return c;
}

static gf_status note_fault(void *context, const char *where, const char *what, gf_error *err)
{
    (void)where, (void)what, (void)err;
    ++*(int *)context;
    return GF_OK;
}

static gf_status restore(const copies *c, int *faults, gf_error *err)
{
    gf_store_status status;
    *faults = 0;
    return gf_backup_restore(c->backup, c->restored, &GF_STORE_OPTIONS(), note_fault, faults,
                             &status, err);
}

static gf_status note_member(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    gf_buffer_format(context, "%.*s %u %.9g %.*s\n", GF_SLICE_ARG(id), m->cluster, (double)m->score,
                     GF_SLICE_ARG(m->label));
    return gf_buffer_check(context, err);
}

static gf_status note_document(void *context, const gf_document *d, gf_error *err)
{
    gf_buffer_format(context, "%.*s %.*s\n", GF_SLICE_ARG(d->id), GF_SLICE_ARG(d->text));
    return gf_buffer_check(context, err);
}

/* All memberships of the served build; all documents. */
static void export_all(const char *path, gf_buffer *members, gf_buffer *documents)
{
    gf_store *store;
    gf_view *view;
    gf_error err;
    assert_ok(gf_store_open(path, &GF_STORE_OPTIONS(), &store, &err));
    assert_ok(gf_view_open(store, fixture_place("c"), fixture_default(), 0, &view, &err));
    assert_ok(gf_view_memberships(view, note_member, members, &err));
    gf_view_close(view);
    assert_ok(gf_documents_visit(store, fixture_place("c"), note_document, documents, &err));
    gf_store_close(store);
}

static void assert_same_bytes(const gf_buffer *a, const gf_buffer *b)
{
    assert_true(a->len > 0 && gf_slice_equal(gf_buffer_view(a), gf_buffer_view(b)));
}

static void comes_back_equal(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    int faults;
    gf_store_status status;
    gf_buffer before[2] = {{0}}, after[2] = {{0}}, dump = {0}, again = {0};
    copies c = make_paths();
    fixture_open(&f);
    fixture_put_posts(&f, "c", 100);
    fixture_put_subjects(&f, "other");
    fixture_set(&f, "", "default", "k", "5");
    fixture_rebuild(&f, "c");
    assert_ok(gf_backup_create(f.store, c.backup, NULL, &status, &err));
    assert_int_equal(status.collections, 2);
    assert_int_equal(status.documents, 100 + 12);
    assert_int_equal(status.builds, 1);
    fixture_dump(&f, &dump);
    fixture_close(&f);
    assert_ok(restore(&c, &faults, &err));
    export_all(f.path, &before[0], &before[1]);
    export_all(c.restored, &after[0], &after[1]);
    assert_same_bytes(&before[0], &after[0]);
    assert_same_bytes(&before[1], &after[1]);
    fixture r = {.path = c.restored};
    fixture_reopen(&r);
    fixture_dump(&r, &again);
    assert_same_bytes(&dump, &again);
    fixture_is_sound(&r);
    fixture_close(&r);
    for (int i = 0; i < 2; i++) {
        gf_buffer_release(&before[i]);
        gf_buffer_release(&after[i]);
    }
    gf_buffer_release(&dump);
    gf_buffer_release(&again);
}

/* ---- while another thread puts --------------------------------------------------------------- */

typedef struct putting {
    gf_store *store;
    atomic_bool stop;
    atomic_uint done; /* documents that are on disk */
    gf_status status;
} putting;

static void *put_on(void *context)
{
    putting *p = context;
    for (unsigned i = 0; !atomic_load(&p->stop) && p->status == GF_OK; i++) {
        char id[16];
        snprintf(id, sizeof id, "%08u", i);
        gf_document d = {.id = gf_slice_str(id), .text = GF_SLICE("put meanwhile")};
        p->status = fixture_try_put(p->store, "later", &d, NULL);
        if (p->status == GF_OK) atomic_store(&p->done, i + 1);
    }
    return NULL;
}

typedef struct prefix {
    unsigned n;
    bool whole;
} prefix;

static gf_status next_id(void *context, const gf_document *d, gf_error *err)
{
    prefix *p = context;
    char id[16];
    (void)err;
    snprintf(id, sizeof id, "%08u", p->n++);
    p->whole = p->whole && gf_slice_equal(d->id, gf_slice_str(id));
    return GF_OK;
}

/* Puts follow each other, so any state that there ever was has the first n of them: and so has the
 * backup, with at least those that were on disk before it began. */
static void while_others_put(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    int faults;
    pthread_t thread;
    gf_store_status status;
    gf_buffer before[2] = {{0}}, after[2] = {{0}};
    copies c = make_paths();
    fixture_open(&f);
    fixture_put_posts(&f, "c", 100);
    fixture_rebuild(&f, "c");
    putting p = {.store = f.store};
    assert_int_equal(pthread_create(&thread, NULL, put_on, &p), 0);
    while (atomic_load(&p.done) < 20)
        usleep(1000);
    unsigned least = atomic_load(&p.done);
    assert_ok(gf_backup_create(f.store, c.backup, NULL, &status, &err));
    unsigned most = atomic_load(&p.done) + 1;
    atomic_store(&p.stop, true);
    pthread_join(thread, NULL);
    assert_int_equal(p.status, GF_OK);
    fixture_close(&f);
    assert_ok(restore(&c, &faults, &err));
    export_all(f.path, &before[0], &before[1]);
    export_all(c.restored, &after[0], &after[1]);
    assert_same_bytes(&before[0], &after[0]);
    assert_same_bytes(&before[1], &after[1]);
    fixture r = {.path = c.restored};
    prefix found = {.whole = true};
    fixture_reopen(&r);
    assert_ok(gf_documents_visit(r.store, fixture_place("later"), next_id, &found, &err));
    assert_true(found.whole && found.n >= least && found.n <= most);
    assert_int_equal(fixture_read(&r, "later").size, found.n);
    fixture_is_sound(&r);
    fixture_close(&r);
    for (int i = 0; i < 2; i++) {
        gf_buffer_release(&before[i]);
        gf_buffer_release(&after[i]);
    }
}

/* ---- refusals -------------------------------------------------------------------------------- */

static bool is_there(const char *path)
{
    struct stat s;
    return lstat(path, &s) == 0;
}

static void nothing_is_replaced(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_store_status status;
    gf_cancel cancel = {0};
    char half[4200];
    copies c = make_paths();
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    assert_int_equal(mkdir(c.backup, 0755), 0); /* not even an empty folder */
    assert_status(GF_EEXISTS, gf_backup_create(f.store, c.backup, NULL, &status, &err));
    assert_int_equal(rmdir(c.backup), 0);
    snprintf(half, sizeof half, "%s.new", c.backup);
    assert_int_equal(mkdir(half, 0755), 0);
    assert_status(GF_EEXISTS, gf_backup_create(f.store, c.backup, NULL, &status, &err));
    assert_int_equal(rmdir(half), 0);
    gf_cancel_request(&cancel);
    assert_status(GF_ECANCELLED, gf_backup_create(f.store, c.backup, &cancel, &status, &err));
    assert_false(is_there(c.backup) || is_there(half));
    assert_ok(gf_backup_create(f.store, c.backup, NULL, &status, &err));
    assert_status(GF_EEXISTS, gf_backup_create(f.store, c.backup, NULL, &status, &err));
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* One wrong byte, wherever it is: nothing is made of such a backup. */
static void damage_is_found_first(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    int faults;
    gf_store_status status;
    char command[9000];
    copies c = make_paths();
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    assert_ok(gf_backup_create(f.store, c.backup, NULL, &status, &err));
    fixture_close(&f);
    snprintf(command, sizeof command,
             "f=$(ls -S %s/db/*.ldb %s/db/*.log | head -1); printf X | dd of=$f bs=1 seek=40 "
             "conv=notrunc status=none",
             c.backup, c.backup);
    assert_int_equal(system(command), 0);
    assert_status(GF_ECORRUPT, restore(&c, &faults, &err));
    assert_true(faults > 0);
    assert_false(is_there(c.restored));
    snprintf(c.backup, sizeof c.backup, "%s/none", gf_test_folder());
    assert_status(GF_ENOTFOUND, restore(&c, &faults, &err));
}

/* ---- archives -------------------------------------------------------------------------------- */

static gf_status append(void *taker, gf_slice bytes, gf_error *err)
{
    gf_buffer_slice(taker, bytes);
    return gf_buffer_check(taker, err);
}

/* An archive as it may come: `step` bytes at a time. */
typedef struct pieces {
    gf_slice bytes;
    size_t step;
} pieces;

static gf_status give_pieces(void *context, gf_archive_take *take, void *taker, gf_error *err)
{
    const pieces *p = context;
    gf_status st = GF_OK;
    for (size_t at = 0; at < p->bytes.len && st == GF_OK; at += p->step) {
        size_t left = p->bytes.len - at;
        st = take(taker, gf_slice_of(p->bytes.ptr + at, left < p->step ? left : p->step), err);
    }
    return st;
}

static void archives_come_back_equal(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_store_status status;
    gf_buffer archive = {0}, dump = {0}, again = {0};
    copies c = make_paths();
    fixture_open(&f);
    fixture_put_posts(&f, "c", 100);
    fixture_put_subjects(&f, "other");
    fixture_set(&f, "", "default", "k", "5");
    fixture_rebuild(&f, "c");
    fixture_dump(&f, &dump);
    assert_ok(gf_backup_archive(f.store, append, &archive, NULL, &err));
    fixture_close(&f);
    for (size_t step = 1; step < 1 << 20; step = step * 100 + 1) {
        pieces p = {gf_buffer_view(&archive), step};
        assert_ok(gf_backup_unpack(c.restored, give_pieces, &p, &status, &err));
        assert_int_equal(status.documents, 100 + 12);
        fixture r = {.path = c.restored};
        fixture_reopen(&r);
        gf_buffer_reset(&again);
        fixture_dump(&r, &again);
        assert_same_bytes(&dump, &again);
        fixture_is_sound(&r);
        fixture_close(&r);
        assert_status(GF_EEXISTS, gf_backup_unpack(c.restored, give_pieces, &p, &status, &err));
        assert_ok(gf_backup_remove(c.restored, &err));
        assert_false(is_there(c.restored));
    }
    gf_buffer_release(&archive);
    gf_buffer_release(&dump);
    gf_buffer_release(&again);
}

/* Cut anywhere, longer, or with a bit changed anywhere: told, and nothing is there. */
static void damaged_archives(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_store_status status;
    gf_buffer archive = {0};
    copies c = make_paths();
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    assert_ok(gf_backup_archive(f.store, append, &archive, NULL, &err));
    fixture_close(&f);
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (int i = 0; i < 60; i++) {
        size_t at = gf_random_below(&random, (uint32_t)archive.len);
        pieces p = {gf_slice_of(archive.ptr, at), 4096};
        gf_status st = gf_backup_unpack(c.restored, give_pieces, &p, &status, &err);
        assert_true(st == GF_ECORRUPT || (st == GF_EINVAL && at < 22));
        archive.ptr[at] ^= (char)(1 << i % 8);
        p.bytes = gf_buffer_view(&archive);
        st = gf_backup_unpack(c.restored, give_pieces, &p, &status, &err);
        assert_true(st == GF_ECORRUPT || (st == GF_EINVAL && at < 22));
        archive.ptr[at] ^= (char)(1 << i % 8);
        assert_false(is_there(c.restored));
    }
    gf_buffer_byte(&archive, 0);
    pieces p = {gf_buffer_view(&archive), 4096};
    assert_status(GF_ECORRUPT, gf_backup_unpack(c.restored, give_pieces, &p, &status, &err));
    gf_buffer_release(&archive);
}

/* Only a store is removed, and of its folder only what a store has. */
static void removes_stores_alone(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_store_status status;
    char mine[4200];
    copies c = make_paths();
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    assert_ok(gf_backup_create(f.store, c.backup, NULL, &status, &err));
    fixture_close(&f);
    assert_status(GF_EINVAL, gf_backup_remove(gf_test_folder(), &err));
    snprintf(mine, sizeof mine, "%s/mine", c.backup);
    assert_int_equal(mkdir(mine, 0700), 0);
    assert_status(GF_EIO, gf_backup_remove(c.backup, &err));
    snprintf(mine, sizeof mine, "%s.old/mine", c.backup);
    assert_true(is_there(mine));
}

/* ---- failures -------------------------------------------------------------------------------- */

typedef struct sweeping {
    fixture f;
    copies c;
    gf_status st;
} sweeping;

static gf_status back_up(void *context, gf_error *err)
{
    sweeping *s = context;
    gf_store_status status;
    return s->st = gf_backup_create(s->f.store, s->c.backup, NULL, &status, err);
}

/* What failed at its very end is not there either. */
static void remove_backup(void *context)
{
    sweeping *s = context;
    char half[4200];
    snprintf(half, sizeof half, "%s.new", s->c.backup);
    assert_false(is_there(half));
    assert_int_equal(is_there(s->c.backup), s->st == GF_OK);
    if (is_there(s->c.backup)) gf_test_remove(s->c.backup);
}

static gf_status archive_and_unpack(void *context, gf_error *err)
{
    sweeping *s = context;
    gf_store_status status;
    gf_buffer archive = {0};
    s->st = gf_backup_archive(s->f.store, append, &archive, NULL, err);
    pieces p = {gf_buffer_view(&archive), 100};
    if (s->st == GF_OK) s->st = gf_backup_unpack(s->c.backup, give_pieces, &p, &status, err);
    gf_buffer_release(&archive);
    return s->st;
}

static void sweeps(void **state)
{
    (void)state;
    sweeping s = {.c = make_paths()};
    fixture_open(&s.f);
    fixture_put(&s.f, "c", "1", "one fox");
    gf_test_sweep(back_up, remove_backup, &s);
    remove_backup(&s);
    gf_test_sweep(archive_and_unpack, remove_backup, &s);
    fixture_close(&s.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back_equal),         cmocka_unit_test(while_others_put),
        cmocka_unit_test(nothing_is_replaced),      cmocka_unit_test(damage_is_found_first),
        cmocka_unit_test(archives_come_back_equal), cmocka_unit_test(damaged_archives),
        cmocka_unit_test(removes_stores_alone),     cmocka_unit_test(sweeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
