/*
 * Several processes on one store in a running HBase, whose URL GROUPERFISH_HBASE has (tests/hbase/up
 * starts one). Two children work at random on the same collections; often one of them is killed at a
 * moment of no meaning. What each did is told to the parent, which then takes over:
 *
 *     first     put.. read rebuild....... put.. (killed)
 *     second      read put..... rebuild....  put..  read
 *     parent                                               clears away, reads, puts, rebuilds, deletes
 *
 * The store is sound when the parent has cleared away and when it has gone on (soundness.h). A document
 * that was read has the value of a change that may have come last: one that was begun before the end of
 * the read, and of which no other change of the document is wholly behind it and wholly before the read. So
 * nothing acknowledged is lost, nothing comes back, and each batch is there as a whole or not at all.
 *
 * GROUPERFISH_HBASE_RUNS: so many instead of a few; GROUPERFISH_HBASE_FOLDER: where tests/hbase/up has
 * started it; then its gateway and a region server are killed as well, or cut off for some seconds.
 */
#include "tests/engine/fixture_shared.h"

#include "base/clock.h"
#include "base/grow.h"
#include "base/memory.h"
#include "base/random.h"
#include "engine/store/hold.h"
#include "tests/engine/soundness.h"
#include "tests/hbase/name_space.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COLLECTIONS = 2, IDS = 12, MOST_PUT = 5, OPERATIONS = 10, FEW_RUNS = 6, PROCESSES = 2 };
enum { ABSENT = -1 };

typedef enum kind { PUT, READ, REBUILD, CONFIGURE, DELETE_COLLECTION } kind;

/* What a child did, or is at; sent twice: at the beginning and at the end. */
typedef struct operation {
    kind what;
    int who, number;
    int collection, n; /* n documents */
    int ids[IDS];
    int versions[IDS]; /* that they get, or that were read; ABSENT: it goes, or is not there */
    double begin, end; /* end 0: it is at it */
    gf_status status;
    char message[200];
} operation;

typedef struct history {
    operation *all; /* n of capacity */
    size_t n, capacity;
    gf_store *store;                  /* the parent's, then */
    uint64_t killed, conflicts, lost; /* counted over all runs */
    uint64_t done[DELETE_COLLECTION + 1];
} history;

static const char *const names[COLLECTIONS] = {"c", "d"};
static const char *const subjects[] = {"apple banana cherry juice fruit",
                                       "engine wheel brake road car",
                                       "guitar piano violin song music"};
static char url[512];
static gf_error err;

/* ---- what a child does ----------------------------------------------------------------------- */

typedef struct child {
    gf_random random;
    gf_store *store;
    int who, fd, number;
} child;

static uint64_t below(child *c, uint64_t n)
{
    return gf_random_below(&c->random, n);
}

static void tell(const child *c, const operation *o)
{
    if (write(c->fd, o, sizeof *o) != sizeof *o) _exit(3);
}

static void make_text(int id, int version, char text[96])
{
    snprintf(text, 96, "%s number%d", subjects[id % 3], version);
}

/* The document's version as its row has it. */
static gf_status read_version(gf_store *s, int collection, int id, int *version, gf_error *why)
{
    char name[8];
    gf_buffer key = {0};
    gf_row row = {0};
    snprintf(name, sizeof name, "%02d", id);
    gf_tables_document_key(&key, GF_SLICE("test"), gf_slice_str(names[collection]),
                           gf_slice_str(name));
    gf_status st = gf_table_get(s->tables.documents, NULL, gf_buffer_view(&key),
                                1u << GF_DOCUMENTS_MAIN, &row, why);
    const gf_cell *text = st == GF_OK ? gf_row_find(&row, GF_DOCUMENTS_MAIN, "text") : NULL;
    *version = ABSENT;
    if (text) {
        char copy[96];
        snprintf(copy, sizeof copy, "%.*s", GF_SLICE_ARG(text->value));
        const char *digits = strstr(copy, "number");
        *version = digits ? atoi(digits + strlen("number")) : 0;
    }
    gf_row_release(&row);
    gf_buffer_release(&key);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status put_some(child *c, operation *o, gf_error *why)
{
    gf_put *put;
    gf_status st =
        gf_put_open(c->store, &GF_PUT_OPTIONS(.name_space = GF_SLICE("test")), &put, why);
    if (st != GF_OK) return st;
    for (int i = 0; i < o->n && st == GF_OK; i++) {
        char id[8], text[96];
        snprintf(id, sizeof id, "%02d", o->ids[i]);
        make_text(o->ids[i], o->versions[i], text);
        gf_document d = {.id = gf_slice_str(id), .text = gf_slice_str(text)};
        st = o->versions[i] == ABSENT
                 ? gf_put_delete(put, gf_slice_str(names[o->collection]), d.id, why)
                 : gf_put_document(put, gf_slice_str(names[o->collection]), &d, why);
    }
    if (st == GF_OK) st = gf_put_flush(put, why);
    gf_put_close(put);
    return st;
}

/* Distinct documents that get versions which nobody else gives. */
static void choose_documents(child *c, operation *o)
{
    o->n = 1 + (int)below(c, MOST_PUT);
    int id = (int)below(c, IDS);
    for (int i = 0; i < o->n; i++) {
        o->ids[i] = id;
        id = (id + 1 + (int)below(c, 2)) % IDS;
        bool deletes = below(c, 4) == 0;
        o->versions[i] = deletes ? ABSENT : (c->who + 1) * 100000 + o->number * IDS + i;
    }
    if (o->n > IDS / 2) o->n = IDS / 2;
}

static void choose(child *c, operation *o)
{
    uint64_t what = below(c, 20);
    *o =
        (operation){.who = c->who, .number = c->number++, .collection = (int)below(c, COLLECTIONS)};
    o->what = what < 9 ? PUT : what < 13 ? READ : what < 18 ? REBUILD : CONFIGURE;
    if (what == 19 && c->who == 0) { /* one of the two alone, and this collection alone */
        o->what = DELETE_COLLECTION;
        o->collection = 1;
        for (o->n = 0; o->n < IDS; o->n++) {
            o->ids[o->n] = o->n;
            o->versions[o->n] = ABSENT;
        }
    }
    if (o->what == PUT) choose_documents(c, o);
    if (o->what == READ) {
        o->n = 1;
        o->ids[0] = (int)below(c, IDS);
    }
}

static gf_status operate(child *c, operation *o, gf_error *why)
{
    gf_place where = fixture_place(names[o->collection]);
    gf_rebuild_options ro = GF_REBUILD_OPTIONS(.force = true, .threads = 1);
    gf_rebuild_result result;
    gf_pair pair = {GF_SLICE("k"), GF_SLICE("2")};
    gf_slice fine = GF_SLICE("fine");
    switch (o->what) {
    case PUT:
        return put_some(c, o, why);
    case READ:
        return read_version(c->store, o->collection, o->ids[0], &o->versions[0], why);
    case REBUILD:
        return gf_rebuild(c->store, where, below(c, 3) ? fixture_default() : fine, &ro, &result,
                          why);
    case CONFIGURE:
        return below(c, 2) ? gf_configuration_set(c->store, where, fine, &pair, 1, why)
                           : gf_configuration_delete(c->store, where, fine, why);
    default:
        return gf_collection_delete(c->store, where, why);
    }
}

/* Leases of others last so long as seen here, less than usual; then conflicts are part of the game. */
static void be_impatient(gf_store *s, double seconds)
{
    s->lease_seconds = s->patience = 2 * seconds;
    gf_database_set_patience(s->db, seconds);
}

static _Noreturn void be_child(uint64_t seed, int who, int fd, double patience, int operations)
{
    gf_error why = {GF_OK, ""};
    child c = {.random = gf_random_seed(seed, (uint64_t)who), .who = who, .fd = fd};
    if (gf_store_open(url, &GF_STORE_OPTIONS(.purpose = "test"), &c.store, &why) != GF_OK) _exit(4);
    be_impatient(c.store, patience);
    for (int i = 0; i < operations; i++) {
        operation o;
        choose(&c, &o);
        o.begin = gf_clock_seconds();
        tell(&c, &o);
        o.status = operate(&c, &o, &why);
        o.end = gf_clock_seconds();
        if (o.status != GF_OK) snprintf(o.message, sizeof o.message, "%.190s", why.message);
        if (o.status == GF_EIO || o.status == GF_EUNKNOWN)
            usleep(300000); /* a server begins again */
        tell(&c, &o);
    }
    gf_store_close(c.store);
    _exit(0);
}

/* ---- what the parent sees -------------------------------------------------------------------- */

static void note(history *h, const operation *o)
{
    for (size_t i = 0; i < h->n && o->end > 0; i++)
        if (h->all[i].who == o->who && h->all[i].number == o->number) {
            h->all[i] = *o;
            return;
        }
    assert_true(gf_grow(&h->all, &h->capacity, h->n + 1, sizeof *h->all));
    h->all[h->n++] = *o;
}

static size_t begun_by_first(const history *h)
{
    size_t n = 0;
    for (size_t i = 0; i < h->n; i++)
        n += h->all[i].who == 0;
    return n;
}

/*
 * Read what the children tell, until `until` (0: to its end), or until the first has begun so many
 * operations (0: any number); false: they have ended.
 */
static bool listen_until(history *h, int fd, double until, size_t begun)
{
    while (!begun || begun_by_first(h) < begun) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        double left = until ? until - gf_clock_seconds() : 600;
        if (left <= 0) return true;
        int n = poll(&p, 1, (int)(left * 1e3) + 1);
        if (n < 0 && errno != EINTR) fail_msg("poll: %s", strerror(errno));
        if (n == 0 && !until) fail_msg("the children do not end");
        if (n <= 0) continue;
        operation o;
        ssize_t got = read(fd, &o, sizeof o);
        if (got == 0) return false;
        assert_int_equal(got, sizeof o); /* what is less than PIPE_BUF is written as a whole */
        note(h, &o);
    }
    return true;
}

static bool writes(const operation *o, int collection, int id, int *version)
{
    if ((o->what != PUT && o->what != DELETE_COLLECTION) || o->collection != collection)
        return false;
    for (int i = 0; i < o->n; i++)
        if (o->ids[i] == id) {
            *version = o->versions[i];
            return true;
        }
    return false;
}

static bool is_acknowledged(const operation *o)
{
    return o->end > 0 && o->status == GF_OK;
}

/* Was that change, which ended then, behind another that was wholly before `begin`? */
static bool is_overwritten(const history *h, int collection, int id, double end, double begin)
{
    int version;
    for (size_t i = 0; i < h->n; i++) {
        const operation *o = &h->all[i];
        if (writes(o, collection, id, &version) && is_acknowledged(o) && o->begin > end &&
            o->end < begin)
            return true;
    }
    return false;
}

static bool may_be(const history *h, int collection, int id, int version, double begin, double end)
{
    int written;
    if (version == ABSENT && !is_overwritten(h, collection, id, -INFINITY, begin)) return true;
    for (size_t i = 0; i < h->n; i++) {
        const operation *o = &h->all[i];
        if (!writes(o, collection, id, &written) || written != version || o->begin >= end) continue;
        /* One that failed, or was cut short, may be made at any time by others. */
        double ended = is_acknowledged(o) ? o->end : INFINITY;
        if (!is_overwritten(h, collection, id, ended, begin)) return true;
    }
    return false;
}

static void check_reads(const history *h)
{
    for (size_t i = 0; i < h->n; i++) {
        const operation *o = &h->all[i];
        if (o->what != READ || !is_acknowledged(o)) continue;
        if (!may_be(h, o->collection, o->ids[0], o->versions[0], o->begin, o->end))
            fail_msg("%d read %s/%02d as %d, which cannot be", o->who, names[o->collection],
                     o->ids[0], o->versions[0]);
    }
}

/* The documents of a put that was not acknowledged came all, or none, where nobody else changed them. */
static void check_whole(const history *h, const operation *put)
{
    int came = 0, alone = 0, version;
    if (put->what != PUT || is_acknowledged(put)) return;
    for (int i = 0; i < put->n; i++) {
        bool others = false;
        for (size_t k = 0; k < h->n; k++)
            others |=
                &h->all[k] != put && writes(&h->all[k], put->collection, put->ids[i], &version);
        if (others || put->versions[i] == ABSENT) continue;
        assert_ok(read_version(h->store, put->collection, put->ids[i], &version, &err));
        alone++;
        came += version == put->versions[i];
    }
    if (came && came != alone) fail_msg("%d of %d documents of a put came", came, alone);
}

static void check_documents(const history *h)
{
    double now = gf_clock_seconds();
    int version;
    for (int c = 0; c < COLLECTIONS; c++)
        for (int id = 0; id < IDS; id++) {
            assert_ok(read_version(h->store, c, id, &version, &err));
            if (!may_be(h, c, id, version, now, now + 1))
                fail_msg("%s/%02d is %d, which cannot be", names[c], id, version);
        }
    for (size_t i = 0; i < h->n; i++)
        check_whole(h, &h->all[i]);
}

static void is_sound(const history *h, const char *when)
{
    const char *fault = soundness_fault(h->store, true);
    if (fault) fail_msg("%s: %s", when, fault);
}

/* What is dropped is looked at twice. */
static void tidy(const history *h)
{
    fixture_know_ended(h->store);
    fixture_know_stopped(h->store);
    for (int i = 0; i < 3; i++)
        assert_ok(gf_store_tidy(h->store, &err));
}

/* Failures that others are the reason of; and servers that died. */
static void check_failures(history *h, bool servers_die)
{
    for (size_t i = 0; i < h->n; i++) {
        const operation *o = &h->all[i];
        if (o->end == 0) continue;
        h->done[o->what] += o->status == GF_OK;
        h->conflicts += o->status == GF_ECONFLICT;
        bool lost = o->status == GF_EIO || o->status == GF_EUNKNOWN;
        h->lost += lost;
        if (o->status == GF_OK || o->status == GF_EBUSY || o->status == GF_ENOTFOUND ||
            o->status == GF_ECONFLICT || (lost && servers_die))
            continue;
        fail_msg("operation %d of %d, of kind %d: %s", o->number, o->who, (int)o->what, o->message);
    }
}

/* ---- a run ----------------------------------------------------------------------------------- */

static void go_on(history *h)
{
    fixture f = {.store = h->store};
    for (int c = 0; c < COLLECTIONS; c++) {
        fixture_put_subjects(&f, names[c]);
        fixture_rebuild(&f, names[c]);
    }
    tidy(h);
    is_sound(h, "when the parent had gone on");
    for (int c = 0; c < COLLECTIONS; c++)
        assert_ok(gf_collection_delete(h->store, fixture_place(names[c]), &err));
    tidy(h);
    is_sound(h, "when the parent had deleted everything");
}

static void take_over(history *h, bool servers_die)
{
    double until = gf_clock_seconds() + (servers_die ? 120 : 0);
    gf_store_options o = GF_STORE_OPTIONS(.purpose = "test");
    gf_status st;
    while ((st = gf_store_open(url, &o, &h->store, &err)) != GF_OK && gf_clock_seconds() < until)
        usleep(200000); /* the gateway begins */
    assert_ok(st);
    tidy(h);
    is_sound(h, "when the parent had cleared away");
    check_failures(h, servers_die);
    check_reads(h);
    check_documents(h);
    go_on(h);
    gf_store_close(h->store);
}

/* Something that befalls a server in the middle of a run: a script beside this file, and its words. */
typedef struct blow {
    const char *script, *words;
} blow;

/* False: it cannot be done here, where the servers have no hosts of their own. */
static bool strike(const blow *b)
{
    char command[600];
    snprintf(command, sizeof command, "%s/tests/hbase/%s %s %s", getenv("GROUPERFISH_SOURCE"),
             b->script, b->words, getenv("GROUPERFISH_HBASE_FOLDER"));
    int status = system(command);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 3) return false;
    assert_int_equal(status, 0);
    return true;
}

/*
 * The first child is killed in an operation, or a server has a blow (may be NULL) in the middle. Most
 * operations take a tenth of a second, a rebuild half of one.
 */
static void run(history *h, uint64_t seed, uint64_t number, const blow *server)
{
    int fds[2];
    pid_t children[PROCESSES];
    gf_random random = gf_random_seed(seed, number);
    double patience = gf_random_below(&random, 2) ? 1 : 30;
    bool kills = !server && gf_random_below(&random, 8);
    h->n = 0;
    if (kills) patience = 1;
    assert_int_equal(pipe(fds), 0);
    fflush(stdout);
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            close(fds[0]);
            be_child(seed ^ number << 20, i, fds[1], server ? 30 : patience,
                     server ? 3 * OPERATIONS : OPERATIONS);
        }
    }
    close(fds[1]);
    size_t begun = 1 + gf_random_below(&random, OPERATIONS);
    double within = gf_random_unit(&random) * (gf_random_below(&random, 3) ? 0.1 : 0.5);
    bool goes_on = listen_until(h, fds[0], 0, begun) &&
                   listen_until(h, fds[0], gf_clock_seconds() + within, 0);
    if (goes_on && kills) {
        kill(children[0], SIGKILL);
        h->killed++;
    }
    if (server) h->killed += strike(server);
    if (goes_on) listen_until(h, fds[0], 0, 0);
    close(fds[0]);
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        if (i == 0 && kills && WIFSIGNALED(status)) continue;
        if (!WIFEXITED(status) || WEXITSTATUS(status)) fail_msg("a child ended with %x", status);
    }
    take_over(h, server != NULL);
}

static void say(const history *h, uint64_t runs)
{
    print_message("%" PRIu64 " runs, %" PRIu64 " kills; puts %" PRIu64 ", reads %" PRIu64
                  ", rebuilds %" PRIu64 ", deletions %" PRIu64 "; conflicts %" PRIu64
                  ", answers lost %" PRIu64 "\n",
                  runs, h->killed, h->done[PUT], h->done[READ], h->done[REBUILD],
                  h->done[DELETE_COLLECTION], h->conflicts, h->lost);
}

static void nothing_is_lost_by_kills_and_others(void **state)
{
    const char *given = getenv("GROUPERFISH_HBASE_RUNS");
    uint64_t runs = given ? strtoull(given, NULL, 10) : FEW_RUNS, seed = gf_test_seed();
    history h = {.n = 0};
    (void)state;
    hbase_make_name_space(url, sizeof url);
    for (uint64_t i = 0; i < runs; i++) {
        run(&h, seed, i, NULL);
        if (i % 50 == 49) say(&h, i + 1);
    }
    say(&h, runs);
    assert_true(runs == 0 || (h.done[PUT] > 0 && h.done[REBUILD] > 0));
    gf_free(h.all);
}

static void nothing_is_lost_by_servers_that_die(void **state)
{
    static const blow blows[] = {{"restart", "gateway"}, {"restart", "region1"},
                                 {"cut", "region2 15"},  {"cut", "gateway 10"},
                                 {"restart", "region2"}, {"cut", "data1 5"}};
    const char *given = getenv("GROUPERFISH_HBASE_SERVER_RUNS");
    uint64_t runs = given ? strtoull(given, NULL, 10) : 3, seed = gf_test_seed();
    history h = {.n = 0};
    (void)state;
    if (!getenv("GROUPERFISH_HBASE_FOLDER")) skip();
    hbase_make_name_space(url, sizeof url);
    for (uint64_t i = 0; i < runs; i++)
        run(&h, seed, i, &blows[i % 6]);
    say(&h, runs);
    gf_free(h.all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_lost_by_kills_and_others),
                                       cmocka_unit_test(nothing_is_lost_by_servers_that_die)};
    if (!getenv("GROUPERFISH_HBASE")) {
        printf("SKIPPED: no HBase (tests/hbase/up starts one; GROUPERFISH_HBASE has its URL)\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
