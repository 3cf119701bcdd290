/*
 * Tasks of several servers over one store: two services in this process, each with the model open as
 * if it were another process (tests/storage/model_backend.h).
 */
#include "server/service/tasks.h"
#include "tests/engine/fixture_shared.h"

#include "engine/store/asked.h"

#include <unistd.h>

enum { LONG_SECONDS = 60 };

static const double patience = 1.5;

typedef struct server {
    gf_backend *backend;
    gf_store *store;
    gf_service *service;
    gf_tasks *tasks;
    gf_log log;
} server;

static void open_server(server *s, const server *first)
{
    gf_error err;
    gf_service_options o = {.store_path = "model", .purpose = "serve", .rebuilds = true};
    *s = (server){.log = {.out = stderr, .level = GF_LOG_ERROR}};
    s->store = fixture_share(first ? first->backend : NULL, &s->backend);
    s->store->patience = s->store->lease_seconds = patience;
    assert_ok(gf_service_open(s->store, &o, &s->service, &err));
    assert_ok(gf_tasks_open(s->service, &s->log, &s->tasks, &err));
}

static void close_server(server *s)
{
    gf_tasks_close(s->tasks);
    gf_service_drain(s->service);
    gf_service_close(s->service);
    gf_store_close(s->store);
}

/* ---- asking and looking ---------------------------------------------------------------------- */

static gf_slice space(void)
{
    return GF_SLICE("test");
}

/* `endless`: so that it is under way for as long as a test takes. */
static void ask(server *s, const char *collection, bool endless, char id[32], bool *is_new)
{
    gf_error err;
    gf_argument arguments[] = {{GF_SLICE("collection"), gf_slice_str(collection)},
                               {GF_SLICE("set"), GF_SLICE("k=100")},
                               {GF_SLICE("set"), GF_SLICE("restarts=100")},
                               {GF_SLICE("set"), GF_SLICE("tolerance=0")},
                               {GF_SLICE("set"), GF_SLICE("max_passes=10000")},
                               {GF_SLICE("start"), GF_SLICE("fresh")}};
    size_t n = endless ? sizeof arguments / sizeof arguments[0] : 1;
    assert_ok(gf_tasks_ask(s->tasks, space(), arguments, n, id, is_new, &err));
}

typedef struct looked {
    gf_task_state state;
    bool has_rows, begun;
    int n;
    char id[32];
} looked;

static gf_status look(void *context, const gf_task_info *t, gf_error *err)
{
    looked *l = context;
    (void)err;
    if (l->id[0] && strcmp(l->id, t->id) != 0) return GF_OK;
    l->state = t->state;
    l->has_rows = t->rows.len && memmem(t->rows.ptr, t->rows.len, "\"rebuilt\"", 9) != NULL;
    l->begun = t->begun != 0;
    l->n++;
    return GF_OK;
}

static looked read_task(server *s, const char *id)
{
    gf_error err;
    looked l = {.n = 0};
    assert_ok(gf_tasks_read(s->tasks, space(), gf_slice_str(id), look, &l, &err));
    return l;
}

/* Until the task has that state at that server. */
static looked wait_for(server *s, const char *id, gf_task_state state)
{
    looked l = {.n = 0};
    for (int i = 0; i < LONG_SECONDS * 50; i++) {
        l = read_task(s, id);
        if (l.state == state) return l;
        usleep(20000);
    }
    fail_msg("the task is %s, not %s", gf_task_state_name(l.state), gf_task_state_name(state));
    return l;
}

static int count_listed(server *s, const char *id)
{
    gf_error err;
    looked l = {.n = 0};
    snprintf(l.id, sizeof l.id, "%s", id);
    assert_ok(gf_tasks_visit(s->tasks, space(), look, &l, &err));
    return l.n;
}

/* Texts of five groups, several times over. */
static void put_posts(server *s, const char *collection)
{
    fixture f = {.store = s->store};
    fixture_put_posts(&f, collection, FIXTURE_POSTS);
}

static size_t count_builds(server *s, const char *collection)
{
    fixture f = {.store = s->store};
    int64_t builds[64];
    return fixture_builds(&f, collection, "default", builds);
}

/* Two servers of one store, in which there are posts to rebuild. */
static void open_both(server *a, server *b)
{
    open_server(a, NULL);
    open_server(b, a);
    put_posts(a, "c");
}

/* The first of them is at a rebuild that does not end, and has another that waits: it has one worker. */
static void open_at_work(server *a, server *b, char id[32], char queued[32])
{
    bool is_new;
    open_both(a, b);
    put_posts(a, "d");
    ask(a, "c", true, id, &is_new);
    wait_for(a, id, GF_TASK_RUNNING);
    ask(a, "d", false, queued, &is_new);
}

/* ---- the tests ------------------------------------------------------------------------------- */

static void either_tells_of_it(void **state)
{
    (void)state;
    server a, b;
    gf_error err;
    char id[32], same[32];
    bool is_new;
    open_both(&a, &b);
    ask(&a, "c", false, id, &is_new);
    assert_true(is_new);
    assert_true(wait_for(&b, id, GF_TASK_DONE).has_rows);
    assert_true(wait_for(&a, id, GF_TASK_DONE).has_rows);
    assert_int_equal(count_listed(&a, id), 1);
    assert_int_equal(count_listed(&b, id), 1);
    assert_int_equal(gf_tasks_cancel(b.tasks, space(), gf_slice_str(id), &err), GF_ECONFLICT);
    assert_int_equal(gf_tasks_cancel(b.tasks, space(), GF_SLICE("none"), &err), GF_ENOTFOUND);
    assert_int_equal(gf_tasks_read(b.tasks, space(), GF_SLICE("none"), look, NULL, &err),
                     GF_ENOTFOUND);
    ask(&b, "c", false, same, &is_new); /* that one has ended */
    assert_true(is_new && strcmp(id, same) != 0);
    wait_for(&a, same, GF_TASK_DONE);
    assert_int_equal(count_builds(&a, "c"), 1);
    close_server(&b);
    close_server(&a);
}

static void one_task_of_both(void **state)
{
    (void)state;
    server a, b;
    gf_error err;
    char id[32], same[32];
    bool is_new;
    open_both(&a, &b);
    ask(&a, "c", true, id, &is_new);
    wait_for(&a, id, GF_TASK_RUNNING);
    ask(&b, "c", true, same, &is_new);
    assert_false(is_new);
    assert_string_equal(id, same);
    wait_for(&b, id, GF_TASK_RUNNING);
    usleep(3 * (useconds_t)(1e6 * patience)); /* nobody takes what is being done */
    assert_int_equal(read_task(&a, id).state, GF_TASK_RUNNING);
    assert_ok(gf_tasks_cancel(b.tasks, space(), gf_slice_str(id), &err));
    wait_for(&a, id, GF_TASK_CANCELLED);
    wait_for(&b, id, GF_TASK_CANCELLED);
    assert_int_equal(count_builds(&a, "c"), 0);
    close_server(&b);
    close_server(&a);
}

/* A server that closes gives back what it has not done. */
static void is_given_back(void **state)
{
    (void)state;
    server a, b, c;
    gf_error err;
    char id[32], queued[32];
    open_at_work(&a, &b, id, queued);
    gf_tasks_stop(a.tasks);
    wait_for(&b, id, GF_TASK_RUNNING);
    gf_tasks_stop(b.tasks);
    close_server(&b);
    open_server(&c, &a);
    assert_ok(gf_tasks_cancel(c.tasks, space(), gf_slice_str(id), &err));
    wait_for(&c, id, GF_TASK_CANCELLED);
    assert_true(wait_for(&c, queued, GF_TASK_DONE).has_rows);
    assert_int_equal(count_builds(&c, "c"), 0);
    assert_int_equal(count_builds(&c, "d"), 1);
    close_server(&c);
    close_server(&a);
}

/* A server that dies amid a rebuild: the other does it, once the lease of the first has ended. */
static void is_taken_of_the_dead(void **state)
{
    (void)state;
    server a, b;
    gf_error err;
    char id[32], queued[32];
    open_at_work(&a, &b, id, queued);
    gf_model_end_after(a.backend, 1); /* at its next beat */
    assert_true(wait_for(&b, queued, GF_TASK_DONE).has_rows);
    wait_for(&b, id, GF_TASK_RUNNING);
    assert_ok(gf_tasks_cancel(b.tasks, space(), gf_slice_str(id), &err));
    wait_for(&b, id, GF_TASK_CANCELLED);
    assert_int_equal(count_builds(&b, "d"), 1);
    assert_int_equal(count_listed(&b, id), 1);
    close_server(&a);
    close_server(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(either_tells_of_it),
        cmocka_unit_test(one_task_of_both),
        cmocka_unit_test(is_given_back),
        cmocka_unit_test(is_taken_of_the_dead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
