/* Puts of many threads at once: each is counted for itself, and none is lost or failed for another.
 */
#include "engine/put/put_internal.h"
#include "engine/store/hold.h"
#include "tests/engine/fixture.h"

#include <pthread.h>

enum { WRITERS = 16, ROUNDS = 60 };

typedef struct writer {
    fixture *f;
    int number;
    uint64_t created, changed, deleted, refused;
    bool wrong;
} writer;

static gf_status put_one(writer *w, const char *collection, gf_slice id, gf_slice text,
                         uint32_t most, gf_put_counts *counts, gf_error *err)
{
    gf_put *put;
    gf_document d = {.id = id, .text = text};
    gf_put_options o = GF_PUT_OPTIONS(.name_space = GF_SLICE("test"), .max_collections = most);
    gf_status st = gf_put_open(w->f->store, &o, &put, err);
    if (st != GF_OK) return st;
    st = text.len ? gf_put_document(put, gf_slice_str(collection), &d, err)
                  : gf_put_delete(put, gf_slice_str(collection), id, err);
    if (st == GF_OK) st = gf_put_flush(put, err);
    *counts = gf_put_counted(put);
    gf_put_close(put);
    return st;
}

/* Own documents, one that all share, and between them what must fail: for its own writer alone. */
static void *write_all(void *context)
{
    writer *w = context;
    gf_error err;
    for (int i = 0; i < ROUNDS; i++) {
        char id[32], text[32];
        gf_put_counts c = {0};
        snprintf(id, sizeof id, "%d-%d", w->number, i);
        snprintf(text, sizeof text, "text of %d", w->number * 1000 + i);
        gf_status st = put_one(w, "own", gf_slice_str(id), GF_SLICE("words"), 0, &c, &err);
        w->wrong |= st != GF_OK || c.created != 1 || c.changed + c.unchanged + c.deleted != 0;
        w->created += c.created;
        st = put_one(w, "shared", GF_SLICE("one"), gf_slice_str(text), 0, &c, &err);
        w->wrong |= st != GF_OK || c.created + c.changed + c.unchanged != 1;
        st = put_one(w, "absent", GF_SLICE("x"), GF_SLICE(""), 0, &c, &err);
        w->wrong |= st != GF_ENOTFOUND || err.status != GF_ENOTFOUND;
        w->refused += st == GF_ENOTFOUND;
        if (i % 2) continue;
        st = put_one(w, "own", gf_slice_str(id), GF_SLICE(""), 0, &c, &err);
        w->wrong |= st != GF_OK || c.deleted != 1;
        w->deleted += c.deleted;
    }
    return NULL;
}

static void test_many(void **state)
{
    fixture f;
    writer writers[WRITERS];
    pthread_t threads[WRITERS];
    uint64_t created = 0, deleted = 0, refused = 0;
    (void)state;
    fixture_open(&f);
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (writer){.f = &f, .number = i};
        pthread_create(&threads[i], NULL, write_all, &writers[i]);
    }
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(threads[i], NULL);
        assert_false(writers[i].wrong);
        created += writers[i].created;
        deleted += writers[i].deleted;
        refused += writers[i].refused;
    }
    assert_int_equal(created, WRITERS * ROUNDS);
    assert_int_equal(refused, WRITERS * ROUNDS);
    assert_int_equal(fixture_read(&f, "own").size, created - deleted);
    assert_int_equal(fixture_read(&f, "own").seq, created + deleted);
    assert_int_equal(fixture_read(&f, "shared").size, 1);
    gf_store_close(f.store);
    fixture_reopen(&f);
    assert_int_equal(fixture_read(&f, "own").size, created - deleted);
    fixture_close(&f);
}

/* ---- written together ------------------------------------------------------------------------ */

typedef struct together {
    fixture f;
    gf_put *puts[3];
    gf_put_counts counts[3];
} together;

static void add(gf_put *put, const char *collection, const char *id, const char *text)
{
    gf_error err;
    gf_document d = {.id = gf_slice_str(id), .text = gf_slice_str(text)};
    assert_ok(text ? gf_put_document(put, gf_slice_str(collection), &d, &err)
                   : gf_put_delete(put, gf_slice_str(collection), d.id, &err));
}

static void open_three(together *t)
{
    gf_error err;
    gf_put_options o = GF_PUT_OPTIONS(.name_space = GF_SLICE("test"));
    fixture_open(&t->f);
    fixture_put(&t->f, "a", "0", "zero");
    for (int i = 0; i < 3; i++)
        assert_ok(gf_put_open(t->f.store, &o, &t->puts[i], &err));
    add(t->puts[0], "a", "1", "one");
    add(t->puts[0], "new", "1", "one");
    add(t->puts[1], "a", "1", "one");    /* the same again: nothing changes */
    add(t->puts[1], "a", "0", "middle"); /* does not last: no change */
    add(t->puts[1], "a", "0", "other");
    add(t->puts[2], "a", "0", "zero"); /* back as it was: a change of what the second wrote */
    add(t->puts[2], "a", "1", NULL);
    add(t->puts[2], "a", "2", NULL);
    add(t->puts[2], "new", "2", "two");
}

static void close_three(together *t)
{
    for (int i = 0; i < 3; i++)
        gf_put_close(t->puts[i]);
    fixture_close(&t->f);
}

static gf_status write_three(void *context, gf_error *err)
{
    together *t = context;
    gf_put_part parts[3];
    for (int i = 0; i < 3; i++)
        parts[i] = (gf_put_part){t->puts[i], &t->puts[i]->rows[t->puts[i]->front], true};
    gf_hold hold;
    gf_status st = gf_put_hold(parts, 3, &hold, err);
    if (st == GF_OK) st = gf_put_write(parts, 3, t->counts, err);
    gf_hold_let_go(&hold);
    return st;
}

static void check_three(const together *t)
{
    const gf_put_counts *c = t->counts;
    assert_int_equal(c[0].created, 2);
    assert_int_equal(c[0].collections, 1);
    assert_int_equal(c[1].unchanged, 2);
    assert_int_equal(c[1].changed, 1);
    assert_int_equal(c[1].collections, 0);
    assert_int_equal(c[2].deleted, 1);
    assert_int_equal(c[2].absent, 1);
    assert_int_equal(c[2].created, 1);
    assert_int_equal(c[2].changed, 1);
    assert_int_equal(c[2].collections, 0);
}

/* As if one came after the other. */
static void test_in_order(void **state)
{
    together t;
    gf_error err;
    (void)state;
    open_three(&t);
    assert_ok(write_three(&t, &err));
    check_three(&t);
    assert_int_equal(fixture_read(&t.f, "a").size, 1);
    assert_int_equal(fixture_read(&t.f, "new").size, 2);
    close_three(&t);
}

static void test_sweep(void **state)
{
    together t;
    (void)state;
    open_three(&t);
    gf_test_sweep(write_three, NULL, &t);
    check_three(&t);
    close_three(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_many), cmocka_unit_test(test_in_order),
                                       cmocka_unit_test(test_sweep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
