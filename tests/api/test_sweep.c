/* Every n-th allocation of an operation fails: it says so, leaks nothing, and no row is cut. */
#include "support/test.h"
#include "tests/api/library.h"
#include "tests/api/transport.h"

#include "base/memory.h"

typedef struct swept {
    transport *t;
    const char *operation;
    const gf_argument *arguments; /* n */
    size_t n;
    const char *input; /* NULL: none */
} swept;

static gf_status run(void *context, gf_error *err)
{
    swept *s = context;
    if (s->input) transport_input(s->t, "input.jsonl", gf_slice_str(s->input));
    return transport_run_with(s->t, s->operation, s->arguments, s->n, err);
}

enum { MOST = 8 };

/* "collection mid sort label": names and values. */
static void sweep(transport *t, const char *operation, const char *words, const char *input)
{
    gf_argument arguments[MOST];
    size_t n = 0;
    for (gf_slice rest = gf_slice_str(words); rest.len; n++) {
        gf_slice *parts[] = {&arguments[n].name, &arguments[n].value};
        for (size_t i = 0; i < 2; i++) {
            const char *space = memchr(rest.ptr, ' ', rest.len);
            size_t length = space ? (size_t)(space - rest.ptr) : rest.len;
            *parts[i] = gf_slice_of(rest.ptr, length);
            rest = gf_slice_skip(rest, space ? length + 1 : length);
        }
    }
    swept s = {t, operation, arguments, n, input};
    gf_test_sweep(run, NULL, &s);
}

static void reading(void **state)
{
    (void)state;
    static const char *const all[][2] = {{"collection list", ""},
                                         {"collection list", "sort size limit 3"},
                                         {"collection show", "collection mid"},
                                         {"collection show", "collection mid columns true"},
                                         {"config show", "collection mid"},
                                         {"config list", "collection mid"},
                                         {"config keys", ""},
                                         {"builds", "collection mid"},
                                         {"clusters", "collection mid"},
                                         {"clusters", "collection mid sort label"},
                                         {"clusters", "collection mid min-score 0.5"},
                                         {"clusters", "collection mid pending true"},
                                         {"cluster", "collection mid cluster 1 weakest 2"},
                                         {"cluster", "collection mid cluster label:macbeth"},
                                         {"cluster", "collection mid cluster 1 columns true"},
                                         {"members", "collection mid cluster 1 limit 1"},
                                         {"doc", "collection mid id doc1 why true"},
                                         {"doc", "collection mid id doc1 columns true"},
                                         {"doc", "collection mid id doc8"},
                                         {"clusters", "collection mid by day"},
                                         {"clusters", "collection mid tree true"},
                                         {"report", "collection mid"},
                                         {"export", "collection mid with-text true"},
                                         {"export", "collection mid documents true"},
                                         {"export", "collection mid matrix true"},
                                         {"evaluate", "collection mid label-field play"},
                                         {"evaluate", "collection mid"},
                                         {"evaluate", "collection mid stability true threads 1"},
                                         {"clusters", "collection mid figures true"},
                                         {"rebuild", "collection mid dry-run true"},
                                         {"rebuild", "collection mid explain-k true threads 1"},
                                         {"status", ""},
                                         {"status", "changed true"},
                                         {"init", ""},
                                         {"version", ""}};
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    transport_put(&t, "mid", "{\"id\":\"doc8\",\"text\":\"late\"}");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        sweep(&t, all[i][0], all[i][1], NULL);
    sweep(&t, "assign", "collection mid", "{\"id\":\"1\",\"text\":\"macbeth\"}\n{\"id\":\"\"}\n");
    sweep(&t, "evaluate", "collection mid", "doc1\tx\ndoc2\ty\ndoc3\tx\n");
    assert_run(&t, "delete", "collection", "mid", "id", "doc2");
    assert_run(&t, "rebuild", "collection", "mid", "threads", "1");
    sweep(&t, "diff", "collection mid", NULL);
    sweep(&t, "diff", "collection mid docs true", NULL);
    transport_close_store(&t);
    sweep(&t, "verify", "", NULL);
    transport_close(&t);
}

/* What is written again and again until it gets through is there once. */
static void writing(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    sweep(&t, "config set", "collection mid config fine set k=2", NULL);
    assert_run(&t, "config list", "collection", "mid");
    assert_int_equal(t.n_rows, 2);
    sweep(&t, "put", "collection {kind} also all",
          "{\"id\":\"1\",\"text\":\"x\",\"kind\":\"a\"}\n{\"id\":\"\"}\n"
          "{\"id\":\"2\",\"text\":\"y\",\"kind\":\"b\"}\n");
    assert_int_equal(t.outcome, GF_OUTCOME_SOME_REFUSED);
    assert_run(&t, "collection list");
    assert_int_equal(t.n_rows, 4);
    sweep(&t, "put", "collection mid source desk",
          "{\"id\":\"z\",\"text\":\"x\"}\n{\"$place\":\"7\"}\n");
    sweep(&t, "source list", "collection mid", NULL);
    assert_slice(transport_text(&t, 0, "place"), "7");
    assert_run(&t, "delete", "collection", "mid", "id", "z");
    sweep(&t, "delete", "collection mid", "doc1\ndoc2\n");
    assert_run(&t, "collection show", "collection", "mid");
    assert_int_equal(transport_number(&t, 0, "size"), 5);
    transport_close_store(&t);
    assert_run(&t, "verify");
    assert_int_equal(transport_number(&t, 0, "faults"), 0);
    transport_close(&t);
}

/*
 * Some allocations of a rebuild: it fails and what was served is served on; or it is done, and only
 * cleaning up behind it, or the buffer of its row, had no memory.
 */
static void rebuilding(void **state)
{
    (void)state;
    enum { STEP = 23 };
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    char served[32];
    snprintf(served, sizeof served, "%s", library_served(&t, "mid"));
    int failed = 1;
    for (int64_t n = 0; failed; n += STEP) {
        gf_error err = {GF_OK, ""};
        gf_memory_fail_at(n);
        gf_status st = transport_run(&t, &err, "rebuild", "collection", "mid", "force", "true",
                                     "threads", "1", NULL);
        failed = gf_memory_failed();
        gf_memory_fail_at(-1);
        assert_true(st == GF_OK || (failed && st == GF_ENOMEM));
        assert_int_equal(t.n_rows, st == GF_OK);
        bool moved = strcmp(library_served(&t, "mid"), served) != 0;
        assert_true(!moved || st == GF_OK || strstr(err.message, "a buffer"));
        snprintf(served, sizeof served, "%s", library_served(&t, "mid"));
        assert_run(&t, "clusters", "collection", "mid");
        assert_int_equal(t.n_rows, 3);
    }
    transport_close(&t);
}

/*
 * Of several collections one fails for want of memory: its row says so, a notice too, the rest is
 * built, and the outcome is what makes the command fail at its end.
 */
static void one_of_all_fails(void **state)
{
    (void)state;
    enum { STEP = 7, COLLECTIONS = 3 };
    static const char *const names[COLLECTIONS] = {"a", "b", "mid"};
    transport t;
    int with_failure = 0, failed = 1;
    transport_open(&t);
    library_mid(&t, false);
    for (size_t i = 0; i + 1 < COLLECTIONS; i++)
        transport_put(&t, names[i],
                      "{\"id\":\"1\",\"text\":\"one\"}\n{\"id\":\"2\",\"text\":\"two\"}");
    for (int64_t n = 0; failed && with_failure < 5; n += STEP) {
        gf_error err = {GF_OK, ""};
        uint64_t told = 0;
        gf_memory_fail_at(n);
        gf_status st = transport_run(&t, &err, "rebuild", "all", "true", "force", "true", "threads",
                                     "1", NULL);
        failed = gf_memory_failed();
        gf_memory_fail_at(-1);
        assert_true(st == GF_OK || st == GF_ENOMEM);
        if (st != GF_OK) continue;
        assert_int_equal(t.n_rows, COLLECTIONS);
        for (uint64_t i = 0; i < t.n_rows; i++) {
            bool bad = gf_slice_equal(transport_text(&t, i, "outcome"), GF_SLICE("failed"));
            assert_int_equal(transport_has(&t, i, "error"), bad);
            assert_int_equal(transport_has(&t, i, "build"), !bad);
            told += bad;
        }
        assert_int_equal(t.n_notices, told);
        assert_int_equal(t.outcome, told ? GF_OUTCOME_REBUILD_FAILED : GF_OUTCOME_DONE);
        with_failure += told > 0;
    }
    assert_true(with_failure > 0);
    transport_close(&t);
}

/* Without memory to look for a suggestion, the answer is still that the thing is not there. */
static void suggesting(void **state)
{
    (void)state;
    static const char *const all[][2] = {
        {"collection", "mdi"}, {"config", "defualt"}, {"build", "5"}};
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        gf_argument a[] = {{GF_SLICE("collection"), GF_SLICE("mid")},
                           {gf_slice_str(all[i][0]), gf_slice_str(all[i][1])}};
        int failed = 1;
        for (int64_t n = 0; failed; n++) {
            gf_error err = {GF_OK, ""};
            gf_memory_fail_at(n);
            gf_status st = transport_run_with(&t, "clusters", a, 2, &err);
            failed = gf_memory_failed();
            gf_memory_fail_at(-1);
            assert_true(st == GF_ENOTFOUND || (failed && st == GF_ENOMEM));
            assert_int_equal(err.status, st);
        }
    }
    transport_close(&t);
}

#define CDX                                                                                        \
    "org,a)/ 20170706005950 http://a.org/a.pdf application/pdf 200 "                               \
    "MPCXVWMUTRUGFP36SLPHKDLY6NGU4S3J - - 1 2 w\n"                                                 \
    "org,a)/ 20170706005950 http://a.org/a.pdf application/pdf 404 "                               \
    "MPCXVWMUTRUGFP36SLPHKDLY6NGU4S3J - - 1 2 w\n"
#define TEI                                                                                        \
    "<TEI><teiHeader><fileDesc><titleStmt><title>How bees dance</title></titleStmt></fileDesc>"    \
    "</teiHeader><text><body>Round.</body></text></TEI>"

static void papers(void **state)
{
    (void)state;
    static const char *const all[][3] = {
        {"papers import-cdx", "replace true", CDX},
        {"papers import-cdx", "", CDX},
        {"papers import-tei", "hash true force true", TEI},
        {"papers import-tei", "hash true", "no TEI"},
        {"papers show", "sha1 MPCXVWMUTRUGFP36SLPHKDLY6NGU4S3J", NULL},
        {"papers show", "sha1 MPCXVWMUTRUGFP36SLPHKDLY6NGU4S3J column cdx", NULL},
        {"papers list", "", NULL},
        {"papers counts", "", NULL},
        {"papers missing", "", NULL},
        {"papers dump", "", NULL},
        {"papers dump", "only extracted fields size,tei_json tsv true", NULL},
        {"papers match", "dry-run true",
         "{\"id\":\"w\",\"title\":\"How bees dance\",\"doi\":\"10/x\",\"authors\":[]}\n"},
        {"papers match", "", "{\"id\":\"w\",\"title\":\"How bees dance\"}\n"},
        {"put", "collection papers from papers", NULL}};
    transport t;
    transport_open(&t);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        sweep(&t, all[i][0], all[i][1], all[i][2]);
    assert_run(&t, "papers counts");
    assert_int_equal(t.n_rows, 3);
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(papers),           cmocka_unit_test(reading),
        cmocka_unit_test(writing),          cmocka_unit_test(rebuilding),
        cmocka_unit_test(one_of_all_fails), cmocka_unit_test(suggesting)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
