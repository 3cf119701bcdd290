/* Watches: verify finds what is lost of an alert; every allocation of a look and a delivery may fail. */
#include "tests/engine/fixture.h"

#include "base/memory.h"
#include "engine/config/watches.h"
#include "engine/watch/kept.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct watching {
    fixture f;
    char box[64];
} watching;

static void open_watching(watching *w)
{
    gf_error err;
    gf_watch rule = {.when = GF_SLICE("new >= 5 or rising z >= 0"), .way = GF_WATCH_MAIL};
    fixture_open(&w->f);
    snprintf(w->box, sizeof w->box, "/tmp/gf-watch-box.%d", (int)getpid());
    rule.target = gf_slice_str(w->box);
    for (unsigned i = 0; i < 60; i++) {
        static const char *const texts[] = {"cat dog leash", "engine brakes tyre", "flour yeast"};
        char id[8], time[32];
        snprintf(id, sizeof id, "d%u", i);
        snprintf(time, sizeof time, "%u", 1290000000 + i * 86400);
        bool cats = i >= 45 || i % 9 == 0; /* they rise */
        fixture_put_field(&w->f, "number", id, texts[cats ? 0 : 1 + i % 2], time, "1");
    }
    fixture_set(&w->f, "c", "default", "k", "3");
    fixture_rebuild(&w->f, "c");
    assert_ok(
        gf_watch_add(w->f.store, fixture_place("c"), fixture_default(), &rule, NULL, NULL, &err));
    for (unsigned i = 0; i < 12; i++) {
        char id[8];
        snprintf(id, sizeof id, "n%u", i);
        fixture_put(&w->f, "c", id, "sturgeon halibut");
    }
}

static void close_watching(watching *w)
{
    fixture_close(&w->f);
    unlink(w->box);
}

static gf_status look_and_deliver(void *context, gf_error *err)
{
    watching *w = context;
    gf_watch_outcome out = {0};
    gf_store *store = w->f.store;
    gf_status st = gf_watch_check(store, fixture_place("c"), fixture_default(), NULL, &out, err);
    if (st == GF_OK)
        st = gf_watch_deliver(store, fixture_place("c"), fixture_default(), true, NULL, &out, err);
    return st;
}

static gf_status count_alert(void *context, const gf_alert *alert, gf_error *err)
{
    unsigned *n = context;
    (void)err;
    assert_true(gf_slice_equal(alert->state, GF_SLICE("delivered")));
    ++*n;
    return GF_OK;
}

static void failed_allocations_are_told(void **state)
{
    watching w;
    gf_error err;
    unsigned n = 0;
    (void)state;
    open_watching(&w);
    gf_test_sweep(look_and_deliver, NULL, &w);
    assert_ok(
        gf_alert_visit(w.f.store, fixture_place("c"), fixture_default(), 0, count_alert, &n, &err));
    assert_int_equal(n, 2); /* of what is new, and of what rises */
    fixture_is_sound(&w.f);
    close_watching(&w);
}

static void verify_finds_an_alert_without_its_body(void **state)
{
    watching w;
    gf_error err;
    gf_batch *batch;
    gf_verified v;
    char first[512];
    (void)state;
    open_watching(&w);
    assert_ok(look_and_deliver(&w, &err));
    fixture_is_sound(&w.f);
    assert_ok(gf_batch_create(w.f.store->db, &batch, &err));
    assert_ok(gf_watches_delete(w.f.store, fixture_place("c"), fixture_default(), GF_WATCH_BODY, 1,
                                batch, &err));
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
    assert_int_equal(fixture_verify(&w.f, first, &v), 1);
    if (!strstr(first, "alert 1 has lost what it tells")) fail_msg("%s", first);
    close_watching(&w);
}

/* ---- the list of alerts ---------------------------------------------------------------------- */

typedef struct listed {
    unsigned n;
    uint64_t first;
} listed;

static gf_status list_alert(void *context, const gf_alert *alert, gf_error *err)
{
    listed *l = context;
    (void)err;
    if (l->n++ == 0) l->first = alert->number;
    return GF_OK;
}

static listed list_alerts(watching *w)
{
    listed l = {0};
    gf_error err;
    assert_ok(
        gf_alert_visit(w->f.store, fixture_place("c"), fixture_default(), 0, list_alert, &l, &err));
    return l;
}

/* Put alerts of the first rule after those that are there; the first of them is still to be sent. */
static void put_old_alerts(watching *w, uint64_t n)
{
    gf_error err;
    gf_batch *batch;
    gf_watch_state now;
    const gf_watch_place p = {w->f.store, fixture_place("c"), fixture_default(), NULL};
    assert_ok(gf_batch_create(w->f.store->db, &batch, &err));
    assert_ok(gf_watch_read_state(&p, &now, &err));
    for (uint64_t i = 0; i < n; i++) {
        char key[32];
        snprintf(key, sizeof key, "new %u", 1000000 + (unsigned)i);
        gf_kept_alert a = {.alert = {.number = ++now.alerts,
                                     .watch = 1,
                                     .state = i == 0 ? GF_SLICE("waiting") : GF_SLICE("delivered"),
                                     .time = 1,
                                     .next = INT64_MAX / 2,
                                     .way = "mail"},
                           .key = gf_slice_str(key)};
        assert_ok(gf_watch_put_alert(&p, &a, batch, &err));
        assert_ok(gf_watches_put(p.store, p.where, p.configuration, GF_WATCH_BODY, now.alerts,
                                 GF_SLICE("{}"), batch, &err));
    }
    assert_ok(gf_watch_put_state(&p, &now, batch, &err));
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
}

/* The last thousand are kept, and of older ones what is to be sent or is so still. */
static void old_alerts_go(void **state)
{
    watching w;
    gf_error err;
    gf_watch_outcome out = {0};
    (void)state;
    open_watching(&w);
    put_old_alerts(&w, 1500);
    assert_ok(gf_watch_check(w.f.store, fixture_place("c"), fixture_default(), NULL, &out, &err));
    assert_int_equal(out.told, 2);
    assert_int_equal(list_alerts(&w).n, 1003); /* a thousand, one that waits, two that were told */
    assert_int_equal(list_alerts(&w).first, 1);
    put_old_alerts(&w, 1500);
    out = (gf_watch_outcome){0};
    assert_ok(gf_watch_check(w.f.store, fixture_place("c"), fixture_default(), NULL, &out, &err));
    assert_int_equal(out.told, 0); /* they are known, and older than the last thousand */
    assert_int_equal(list_alerts(&w).n, 1004);
    fixture_is_sound(&w.f);
    close_watching(&w);
}

/* ---- turns ----------------------------------------------------------------------------------- */

typedef struct slow_round {
    watching *w;
    atomic_bool ended;
} slow_round;

static void *send_slowly(void *context)
{
    slow_round *r = context;
    gf_error err;
    gf_watch_outcome out = {0};
    assert_ok(gf_watch_deliver(r->w->f.store, fixture_place("c"), fixture_default(), true, NULL,
                               &out, &err));
    atomic_store(&r->ended, true);
    return NULL;
}

/* Whoever waits for the round of another may stop waiting. */
static void a_turn_that_is_waited_for_is_cancelled(void **state)
{
    watching w;
    slow_round r = {.w = &w};
    gf_cancel cancel = {0};
    gf_error err;
    gf_watch_outcome out = {0};
    pthread_t thread;
    char begun[64], command[128];
    (void)state;
    open_watching(&w);
    snprintf(begun, sizeof begun, "/tmp/gf-watch-begun.%d", (int)getpid());
    snprintf(command, sizeof command, "touch %s; sleep 3", begun);
    gf_watch rule = {
        .when = GF_SLICE("new >= 5"), .way = GF_WATCH_EXEC, .target = gf_slice_str(command)};
    assert_ok(
        gf_watch_add(w.f.store, fixture_place("c"), fixture_default(), &rule, NULL, NULL, &err));
    assert_ok(gf_watch_check(w.f.store, fixture_place("c"), fixture_default(), NULL, &out, &err));
    assert_int_equal(pthread_create(&thread, NULL, send_slowly, &r), 0);
    while (access(begun, F_OK) != 0)
        usleep(10000);
    gf_cancel_request(&cancel);
    assert_int_equal(gf_watch_deliver(w.f.store, fixture_place("c"), fixture_default(), true,
                                      &cancel, &out, &err),
                     GF_ECANCELLED);
    assert_false(atomic_load(&r.ended));
    pthread_join(thread, NULL);
    unlink(begun);
    close_watching(&w);
}

/* The bound on false alarms falls with each look at something new, not with each call. */
static void looks_at_the_same_are_one(void **state)
{
    watching w;
    gf_error err;
    gf_watch_state now;
    (void)state;
    open_watching(&w);
    const gf_watch_place p = {w.f.store, fixture_place("c"), fixture_default(), NULL};
    for (unsigned i = 0; i < 3; i++) {
        assert_ok(look_and_deliver(&w, &err));
        assert_ok(gf_watch_read_state(&p, &now, &err));
        assert_int_equal(now.looks, 1);
    }
    fixture_put(&w.f, "c", "later", "sturgeon halibut");
    assert_ok(look_and_deliver(&w, &err));
    assert_ok(gf_watch_read_state(&p, &now, &err));
    assert_int_equal(now.looks, 2);
    fixture_rebuild(&w.f, "c");
    assert_ok(look_and_deliver(&w, &err));
    assert_ok(gf_watch_read_state(&p, &now, &err));
    assert_int_equal(now.looks, 1);
    close_watching(&w);
}

/* ---- candidates are clusters ----------------------------------------------------------------- */

typedef struct seen {
    watching *w;
    uint32_t id;
    uint64_t size;
    size_t n, n_members, n_pending;
    char label[64], best[16];
} seen;

static gf_status see_cluster(void *context, const gf_cluster_info *c, gf_error *err)
{
    seen *s = context;
    (void)err;
    assert_true(c->is_new && c->n_terms > 0);
    s->n++;
    s->id = c->id;
    s->size = c->size;
    snprintf(s->label, sizeof s->label, "%.*s", GF_SLICE_ARG(c->label));
    return GF_OK;
}

static gf_status see_member(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    seen *s = context;
    (void)err;
    assert_int_equal(m->cluster, s->id);
    assert_true(m->is_new && m->provisional && m->score > 0);
    if (s->n_members++ == 0) snprintf(s->best, sizeof s->best, "%.*s", GF_SLICE_ARG(id));
    return GF_OK;
}

static gf_status see_pending(void *context, const gf_document *d, const gf_membership *m,
                             gf_error *err)
{
    seen *s = context;
    (void)err;
    (void)d;
    s->n_pending += m->is_new && m->cluster == s->id;
    return GF_OK;
}

/* What a reader sees of candidates: by their list, by id and label, in pages and by document. */
static gf_status see(void *context, gf_error *err)
{
    seen *s = context;
    gf_view *v;
    s->n = s->n_members = s->n_pending = 0;
    gf_status st = gf_view_open(s->w->f.store, fixture_place("c"), fixture_default(), 0, &v, err);
    if (st != GF_OK) return st;
    st = gf_view_new_clusters(v, see_cluster, s, err);
    if (st == GF_OK && s->n) st = gf_view_cluster(v, s->id, (gf_slice){0}, see_cluster, s, err);
    if (st == GF_OK && s->n)
        st = gf_view_cluster(v, 0, gf_slice_str(s->label), see_cluster, s, err);
    if (st == GF_OK && s->n) st = gf_view_members(v, s->id, 0, see_member, s, err);
    size_t all = s->n_members;
    if (st == GF_OK && s->n)
        st = gf_view_members_after(v, s->id, 1, gf_slice_str(s->best), 0, see_member, s, err);
    if (st == GF_OK && s->n) assert_int_equal(s->n_members, 2 * all - 1);
    s->n_members = all;
    if (st == GF_OK) st = gf_view_pending(v, see_pending, s, err);
    gf_view_close(v);
    return st;
}

/* Each allocation but a few fails until the build is made: what is written after it may fail in silence. */
static void rebuild_in_spite_of_failures(watching *w)
{
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = true, .threads = 1);
    gf_rebuild_result r;
    gf_error err;
    gf_status st = GF_ENOMEM;
    for (int64_t n = 0; st == GF_ENOMEM; n += 3) {
        gf_memory_fail_at(n);
        st = gf_rebuild(w->f.store, fixture_place("c"), fixture_default(), &o, &r, &err);
        gf_memory_fail_at(-1);
    }
    assert_ok(st);
}

static gf_status find_id(void *context, const gf_cluster_info *c, gf_error *err)
{
    seen *s = context;
    (void)err;
    if (c->id == s->id) s->n++, s->size = c->size;
    assert_false(c->is_new);
    return GF_OK;
}

static void a_candidate_is_a_cluster(void **state)
{
    watching w;
    gf_error err;
    seen s = {.w = &w};
    gf_view *v;
    (void)state;
    open_watching(&w);
    fixture_set(&w.f, "c", "default", "k", "auto");
    fixture_rebuild(&w.f, "c"); /* it has those documents now */
    for (unsigned i = 0; i < 12; i++) {
        char id[8];
        snprintf(id, sizeof id, "v%u", i);
        fixture_put(&w.f, "c", id, "volcano eruption");
    }
    assert_ok(see(&s, &err));
    assert_int_equal(s.n, 0); /* nobody has looked */
    assert_ok(look_and_deliver(&w, &err));
    gf_test_sweep(see, NULL, &s);
    assert_int_equal(s.n, 3);
    assert_int_equal(s.size, 12);
    assert_int_equal(s.n_members, 12);
    assert_int_equal(s.n_pending, 12);
    uint32_t id = s.id;

    /* What was deleted, or put anew, since the look is no part of it; another look keeps the id. */
    fixture_delete(&w.f, "c", "v0");
    fixture_put(&w.f, "c", "v1", "cat dog leash");
    assert_ok(see(&s, &err));
    assert_int_equal(s.size, 10);
    assert_int_equal(s.n_pending, 10);
    assert_ok(look_and_deliver(&w, &err));
    assert_ok(see(&s, &err));
    assert_int_equal(s.id, id);
    assert_int_equal(s.size, 10);

    /* The next build makes it one of its clusters, under that id. */
    rebuild_in_spite_of_failures(&w);
    s.n = 0;
    assert_ok(gf_view_open(w.f.store, fixture_place("c"), fixture_default(), 0, &v, &err));
    assert_ok(gf_view_clusters(v, find_id, &s, &err));
    gf_view_close(v);
    assert_int_equal(s.n, 1);
    assert_int_equal(s.size, 10);
    assert_ok(see(&s, &err));
    assert_int_equal(s.n, 0);

    /* Its documents, put anew, are a group again, which gets another id: that one is the cluster's. */
    for (unsigned i = 2; i < 12; i++) {
        char name[8];
        snprintf(name, sizeof name, "v%u", i);
        fixture_put(&w.f, "c", name, "glacier crevasse moraine");
    }
    assert_ok(look_and_deliver(&w, &err));
    assert_ok(see(&s, &err));
    assert_int_equal(s.size, 10);
    assert_true(s.id > id);
    fixture_is_sound(&w.f);
    close_watching(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_allocations_are_told),
        cmocka_unit_test(verify_finds_an_alert_without_its_body),
        cmocka_unit_test(old_alerts_go),
        cmocka_unit_test(a_turn_that_is_waited_for_is_cancelled),
        cmocka_unit_test(looks_at_the_same_are_one),
        cmocka_unit_test(a_candidate_is_a_cluster),
    };
    return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
