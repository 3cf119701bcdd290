/* A hold: one changes what it is of, and nobody else does. */
#include "tests/storage/given.h"

#include "tests/storage/model_backend.h"

#include <pthread.h>
#include <stdlib.h>

enum { ADDERS = 4, TIMES = 200 };

typedef struct adder {
    gf_database *db;
    gf_table *t;
    pthread_t thread;
    const char *fault;
} adder;

/* Add one to a number: read, then written, which only a hold makes one step of. */
static const char *add_one(adder *a, gf_batch *batch, gf_row *row)
{
    gf_hold hold;
    char text[24];
    const gf_slice keys[] = {KEY("a"), KEY("n")};
    if (gf_hold_take(a->t, keys, 2, &hold, NULL) != GF_OK) return "no hold";
    gf_status st = gf_table_get(a->t, NULL, KEY("n"), 1u << INFO, row, NULL);
    const gf_cell *cell = st == GF_OK ? gf_row_find(row, INFO, "n") : NULL;
    snprintf(text, sizeof text, "%.*s", cell ? (int)cell->value.len : 1,
             cell ? cell->value.ptr : "0");
    snprintf(text, sizeof text, "%ld", strtol(text, NULL, 10) + 1);
    gf_batch_put(batch, a->t, KEY("n"), INFO, S("n"), S(text), 0);
    st = gf_batch_write(batch, GF_SYNC_OFF, NULL);
    gf_hold_let_go(&hold);
    return st == GF_OK ? NULL : "no write";
}

static void *add(void *context)
{
    adder *a = context;
    gf_row row = {0};
    gf_batch *batch;
    if (gf_batch_create(a->db, &batch, NULL) != GF_OK) return NULL;
    for (int i = 0; i < TIMES && !a->fault; i++)
        a->fault = add_one(a, batch, &row);
    gf_row_release(&row);
    gf_batch_free(batch);
    return NULL;
}

static void run_adders(adder *adders)
{
    for (int i = 0; i < ADDERS; i++)
        assert_int_equal(pthread_create(&adders[i].thread, NULL, add, &adders[i]), 0);
    for (int i = 0; i < ADDERS; i++) {
        pthread_join(adders[i].thread, NULL);
        assert_null(adders[i].fault);
    }
}

static void threads_lose_no_change(void **state)
{
    given g = given_begin(state, &given_students);
    adder adders[ADDERS];
    for (int i = 0; i < ADDERS; i++)
        adders[i] = (adder){.db = g.db, .t = g.t};
    run_adders(adders);
    given_is(&g, "n", INFO, "n", "800");
    given_end(&g);
}

static void letting_go_of_nothing(void **state)
{
    given g = given_begin(state, &given_students);
    gf_error err;
    gf_hold hold = {0};
    gf_hold_let_go(&hold);
    assert_null(gf_hold_of_thread(g.db));
    assert_ok(gf_hold_take(g.t, &(gf_slice){"k", 1}, 1, &hold, &err));
    assert_non_null(gf_hold_of_thread(g.db));
    gf_hold_let_go(&hold);
    assert_null(gf_hold_of_thread(g.db));
    gf_hold_let_go(&hold);
    given_end(&g);
}

/* ---- several processes ----------------------------------------------------------------------- */

typedef struct sharing {
    gf_backend *backends[2];
    gf_database *dbs[2];
    gf_table *t[2];
} sharing;

static void share(sharing *s)
{
    gf_error err;
    for (int i = 0; i < 2; i++) {
        s->backends[i] = gf_model_share(i ? s->backends[0] : NULL);
        assert_ok(gf_database_create(s->backends[i], &s->dbs[i], &err));
        assert_ok(gf_table_open(s->dbs[i], &given_students, &s->t[i], &err));
    }
}

static void end_sharing(sharing *s)
{
    gf_database_close(s->dbs[0]);
    gf_database_close(s->dbs[1]);
}

static void processes_lose_no_change(void **state)
{
    sharing s;
    adder adders[ADDERS];
    (void)state;
    share(&s);
    for (int i = 0; i < ADDERS; i++)
        adders[i] = (adder){.db = s.dbs[i % 2], .t = s.t[i % 2]};
    run_adders(adders);
    gf_test_cell_is(s.t[1], NULL, KEY("n"), INFO, "n", "800");
    end_sharing(&s);
}

static void other_rows_are_free(void **state)
{
    sharing s;
    gf_error err;
    gf_hold a, b;
    gf_slice keys[] = {KEY("a"), KEY("b")};
    (void)state;
    share(&s);
    assert_ok(gf_hold_take(s.t[0], &keys[0], 1, &a, &err));
    assert_ok(gf_hold_take(s.t[1], &keys[1], 1, &b, &err));
    assert_ptr_not_equal(gf_hold_of_thread(s.dbs[0]), gf_hold_of_thread(s.dbs[1]));
    gf_hold_let_go(&b);
    gf_hold_let_go(&a);
    end_sharing(&s);
}

/* What a process held when it ended is free again; the process itself does nothing more. */
static void an_end(void **state)
{
    sharing s;
    gf_error err;
    gf_hold hold;
    gf_slice key = KEY("k");
    (void)state;
    share(&s);
    gf_model_end_after(s.backends[0], 1);
    assert_ok(gf_hold_take(s.t[0], &key, 1, &hold, &err));
    assert_ok(gf_test_put(s.dbs[0], s.t[0], key, INFO, "c", S("1"), 0, &err));
    assert_status(GF_EIO, gf_test_put(s.dbs[0], s.t[0], key, INFO, "c", S("2"), 0, &err));
    gf_hold_let_go(&hold);
    assert_status(GF_EIO, gf_hold_take(s.t[0], &key, 1, &hold, &err));
    assert_ok(gf_hold_take(s.t[1], &key, 1, &hold, &err));
    gf_test_cell_is(s.t[1], NULL, key, INFO, "c", "1");
    gf_hold_let_go(&hold);
    end_sharing(&s);
}

static int run(const char *name, make_database *make)
{
    const struct CMUnitTest tests[] = {ON_BOTH(threads_lose_no_change),
                                       ON_BOTH(letting_go_of_nothing)};
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest shared[] = {cmocka_unit_test(processes_lose_no_change),
                                        cmocka_unit_test(other_rows_are_free),
                                        cmocka_unit_test(an_end)};
    return run("hold on the model", gf_test_model) + run("hold on leveldb", gf_test_leveldb) +
           cmocka_run_group_tests_name("shared", shared, NULL, NULL);
}
