/* The service: many callers of one store, rebuilds in turn, and an end that loses nothing. */
#include "server/service/service.h"
#include "support/test.h"

#include <pthread.h>
#include <unistd.h>

enum { CALLERS = 8 };

typedef struct caller {
    gf_service *service;
    const char *operation, *name_space, *input;
    gf_argument arguments[3];
    size_t n_arguments;
    gf_cancel cancel;
    int n_rows, n_waiting, n_working, *at_work, *most_at_work;
    bool read, at_it;
    gf_status status;
    gf_error err;
} caller;

static gf_status next(void *context, gf_slice *name, gf_error *err)
{
    caller *c = context;
    if (c->read) return gf_fail(err, GF_ENOTFOUND, "no more input");
    *name = GF_SLICE("test.jsonl");
    return GF_OK;
}

static gf_status read_all(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    caller *c = context;
    (void)err;
    *got = c->read ? 0 : strlen(c->input);
    assert_true(*got <= n);
    memcpy(to, c->input, *got);
    c->read = true;
    return GF_OK;
}

static gf_status emit(void *context, gf_slice row, gf_error *err)
{
    (void)row, (void)err;
    ((caller *)context)->n_rows++;
    return GF_OK;
}

/* A call works from its first progress that is not waiting to its end. */
static void progress(void *context, gf_slice what, const char *phase, uint64_t done, uint64_t total)
{
    caller *c = context;
    (void)what, (void)done, (void)total;
    if (strcmp(phase, "waiting") == 0) {
        __atomic_add_fetch(&c->n_waiting, 1, __ATOMIC_SEQ_CST);
        return;
    }
    c->n_working++;
    if (!c->at_work || c->at_it) return;
    c->at_it = true;
    int now = __atomic_add_fetch(c->at_work, 1, __ATOMIC_SEQ_CST);
    int most = __atomic_load_n(c->most_at_work, __ATOMIC_SEQ_CST);
    while (now > most && !__atomic_compare_exchange_n(c->most_at_work, &most, now, false,
                                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    usleep(20000);
    __atomic_sub_fetch(c->at_work, 1, __ATOMIC_SEQ_CST);
}

static void *run(void *context)
{
    caller *c = context;
    gf_call call = {.arguments = c->arguments,
                    .n_arguments = c->n_arguments,
                    .name_space = gf_slice_str(c->name_space ? c->name_space : "default"),
                    .sink = {.context = c, .emit = emit, .progress = progress},
                    .cancel = &c->cancel};
    if (c->input) call.input = (gf_input){.context = c, .next = next, .read = read_all};
    c->status = gf_service_run(c->service, gf_operation_find(c->operation), &call, &c->err);
    return NULL;
}

static caller of(gf_service *s, const char *operation, const char *collection)
{
    return (caller){.service = s,
                    .operation = operation,
                    .arguments = {{GF_SLICE("collection"), gf_slice_str(collection)}},
                    .n_arguments = 1};
}

static void run_well(caller *c)
{
    run(c);
    if (c->status != GF_OK) fail_msg("%s: %s", c->operation, c->err.message);
}

static gf_store *open_store(void)
{
    gf_error err;
    gf_store *store;
    assert_ok(gf_store_open(gf_test_folder(), &GF_STORE_OPTIONS(.create = true), &store, &err));
    return store;
}

static gf_service *serve(gf_store *store, gf_service_options o)
{
    gf_error err;
    gf_service *s;
    o.store_path = "here";
    assert_ok(gf_service_open(store, &o, &s, &err));
    for (int i = 0; i < CALLERS; i++) {
        char name[8];
        snprintf(name, sizeof name, "c%d", i);
        caller put = of(s, "put", name);
        put.input = "{\"id\":1,\"text\":\"red apple\"}\n{\"id\":2,\"text\":\"green pear\"}\n";
        run_well(&put);
        assert_int_equal(put.n_rows, 1);
    }
    return s;
}

static void end(gf_service *s, gf_store *store)
{
    gf_service_drain(s);
    gf_service_close(s);
    gf_store_close(store);
}

static void test_reads(void **state)
{
    (void)state;
    gf_store *store = open_store();
    gf_service *s = serve(store, (gf_service_options){.rebuilds = true});
    pthread_t threads[CALLERS];
    caller callers[CALLERS];
    caller rebuild = of(s, "rebuild", "c0");
    run_well(&rebuild);
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = of(s, i % 2 ? "clusters" : "export", "c0");
        pthread_create(&threads[i], NULL, run, &callers[i]);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(callers[i].status, GF_OK);
        assert_true(callers[i].n_rows > 0);
    }
    assert_int_equal(gf_service_running(s), 0);
    end(s, store);
}

/* As many rebuilds at a time as there are workers, and never more; every one gets its turn. */
static void test_workers(void **state)
{
    (void)state;
    gf_store *store = open_store();
    gf_service *s = serve(store, (gf_service_options){.rebuilds = true, .workers = 2});
    pthread_t threads[CALLERS];
    caller callers[CALLERS];
    char names[CALLERS][8];
    int at_work = 0, most = 0, waited = 0;
    for (int i = 0; i < CALLERS; i++) {
        snprintf(names[i], sizeof names[i], "c%d", i);
        callers[i] = of(s, "rebuild", names[i]);
        callers[i].at_work = &at_work;
        callers[i].most_at_work = &most;
        pthread_create(&threads[i], NULL, run, &callers[i]);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(threads[i], NULL);
        if (callers[i].status != GF_OK) fail_msg("%s", callers[i].err.message);
        assert_int_equal(callers[i].n_rows, 1);
        waited += callers[i].n_waiting;
    }
    assert_true(most >= 1 && most <= 2);
    assert_true(waited >= 1);
    end(s, store);
}

static void refuse(caller c, gf_status status, const char *words)
{
    run(&c);
    if (c.status != status || !strstr(c.err.message, words))
        fail_msg("%s: %s: %s", c.operation, gf_status_name(c.status), c.err.message);
}

static void test_refused(void **state)
{
    (void)state;
    gf_store *store = open_store();
    gf_service *s = serve(store, (gf_service_options){.purpose = "put"});
    refuse(of(s, "rebuild", "c0"), GF_EBUSY, "for put and does not rebuild");
    caller purge = of(s, "delete", "c0");
    purge.arguments[1] = (gf_argument){GF_SLICE("purge"), GF_SLICE("true")};
    purge.n_arguments = 2;
    refuse(purge, GF_EBUSY, "does not rebuild");
    caller dry = of(s, "rebuild", "c0");
    dry.arguments[1] = (gf_argument){GF_SLICE("dry-run"), GF_SLICE("true")};
    dry.n_arguments = 2;
    run_well(&dry);
    caller nameless = of(s, "collection list", "c0");
    nameless.n_arguments = 0;
    nameless.name_space = "";
    refuse(nameless, GF_EINVAL, "namespace cannot be empty");
    nameless.name_space = "a\xff";
    refuse(nameless, GF_EINVAL, "not valid UTF-8");
    refuse(of(s, "clusters", "none"), GF_ENOTFOUND, "none");
    gf_service_drain(s);
    refuse(of(s, "clusters", "c0"), GF_EBUSY, "closing");
    end(s, store);
}

static void *drain(void *s)
{
    gf_service_drain(s);
    return NULL;
}

/* The one that works ends as it would; the one that waits does when its cancel is requested. */
static void test_waiting_ends(void **state)
{
    (void)state;
    gf_store *store = open_store();
    gf_service *s = serve(store, (gf_service_options){.rebuilds = true});
    pthread_t threads[CALLERS], drainer;
    caller callers[CALLERS];
    char names[CALLERS][8];
    int at_work = 0, most = 0;
    for (int i = 0; i < CALLERS; i++) {
        snprintf(names[i], sizeof names[i], "c%d", i);
        callers[i] = of(s, "rebuild", names[i]);
        callers[i].at_work = &at_work;
        callers[i].most_at_work = &most;
        if (i == CALLERS - 1) gf_cancel_request(&callers[i].cancel);
        pthread_create(&threads[i], NULL, run, &callers[i]);
    }
    while (gf_service_running(s) < 2)
        usleep(100);
    pthread_create(&drainer, NULL, drain, s);
    int done = 0;
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(threads[i], NULL);
        done += callers[i].status == GF_OK;
        if (callers[i].status == GF_OK) assert_int_equal(callers[i].n_rows, 1);
    }
    pthread_join(drainer, NULL);
    assert_true(done >= 1);
    assert_true(callers[CALLERS - 1].status == GF_ECANCELLED ||
                callers[CALLERS - 1].status == GF_EBUSY);
    assert_int_equal(most, 1);
    assert_int_equal(gf_service_running(s), 0);
    end(s, store);
}

typedef struct opening {
    gf_store *store;
} opening;

static gf_status open_and_run(void *context, gf_error *err)
{
    gf_service *s = NULL;
    gf_service_options o = {.store_path = "here"};
    gf_status st = gf_service_open(((opening *)context)->store, &o, &s, err);
    if (st != GF_OK) return st;
    caller list = {.service = s, .operation = "collection list"};
    run(&list);
    gf_service_drain(s);
    gf_service_close(s);
    if (err) *err = list.err;
    return list.status;
}

static void test_sweep(void **state)
{
    (void)state;
    opening o = {open_store()};
    gf_test_sweep(open_and_run, NULL, &o);
    gf_store_close(o.store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reads), cmocka_unit_test(test_workers),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_waiting_ends),
                                       cmocka_unit_test(test_sweep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
