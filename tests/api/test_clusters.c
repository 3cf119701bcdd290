/* rebuild, builds, clusters, cluster, doc, export: what is built, and how it reads. */
#include "support/test.h"
#include "tests/api/library.h"
#include "tests/api/transport.h"

#include "base/random.h"
#include "cluster/label/labels.h"

#include <stdlib.h>

static double item_number(transport *t, uint64_t row, const char *name, size_t i,
                          const char *member)
{
    return gf_json_number(transport_item(t, row, name, i, member));
}

static gf_slice item_text(transport *t, uint64_t row, const char *name, size_t i,
                          const char *member)
{
    return gf_json_get_string(transport_item(t, row, name, i, member));
}

/* ---- SYSTEMS.md A, check 2 ------------------------------------------------------------------- */

static void three_clusters(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    t.namespace = "will";
    library_mid(&t, true);
    assert_run(&t, "clusters", "collection", "mid");
    assert_int_equal(t.n_rows, 3);
    assert_string_equal(transport_members(&t, 0), "cluster label size share terms");
    assert_slice(transport_text(&t, 0, "label"), "macbeth");
    assert_int_equal(transport_number(&t, 0, "size"), 3);
    assert_near(transport_number(&t, 0, "share"), 3.0 / 7, 1e-12);
    assert_int_equal(transport_number(&t, 1, "size"), 2);
    assert_int_equal(transport_number(&t, 2, "size"), 2);
    static const char *const by_label[] = {"caesar", "general", "macbeth"};
    assert_run(&t, "clusters", "collection", "mid", "sort", "label");
    for (uint64_t i = 0; i < 3; i++) {
        assert_slice(transport_text(&t, i, "label"), by_label[i]);
        assert_slice(item_text(&t, i, "terms", 0, "term"), by_label[i]);
        assert_near(item_number(&t, i, "terms", 0, "weight"), 1, 1e-6);
    }
    assert_run(&t, "clusters", "collection", "mid", "sort", "id");
    for (uint64_t i = 0; i < 2; i++)
        assert_true(transport_number(&t, i, "cluster") < transport_number(&t, i + 1, "cluster"));
    assert_refused(GF_ENOTFOUND, "avenue-q", &t, "cluster", "collection", "mid", "cluster",
                   "label:avenue-q");
    assert_refused(GF_ENOTFOUND, "no-such", &t, "clusters", "collection", "no-such");
    t.namespace = "ben";
    assert_refused(GF_ENOTFOUND, "mid", &t, "clusters", "collection", "mid");
    transport_close(&t);
}

static void shares_are_of_what_is_still_there(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    assert_run(&t, "delete", "collection", "mid", "id", "doc1", "id", "doc2", "id", "doc3");
    assert_run(&t, "clusters", "collection", "mid", "sort", "label");
    assert_near(transport_number(&t, 0, "share"), 2.0 / 4, 1e-12);
    assert_near(transport_number(&t, 1, "share"), 0, 1e-12);
    assert_near(transport_number(&t, 2, "share"), 2.0 / 4, 1e-12);
    assert_run(&t, "cluster", "collection", "mid", "cluster", "label:macbeth");
    assert_near(transport_number(&t, 0, "share"), 2.0 / 4, 1e-12);
    assert_run(&t, "clusters", "collection", "mid", "levels", "1");
    assert_near(transport_number(&t, 0, "share"), 1, 1e-12);
    assert_run(&t, "delete", "collection", "mid", "id", "doc4", "id", "doc5", "id", "doc6", "id",
               "doc7");
    assert_run(&t, "clusters", "collection", "mid");
    for (uint64_t i = 0; i < 3; i++)
        assert_near(transport_number(&t, i, "share"), 0, 1e-12);
    transport_close(&t);
}

static void one_cluster(void **state)
{
    (void)state;
    transport t;
    char id[16];
    transport_open(&t);
    library_mid(&t, true);
    assert_run(&t, "cluster", "collection", "mid", "cluster", "label:macbeth");
    assert_int_equal(t.n_rows, 1);
    assert_string_equal(transport_members(&t, 0), "build cluster label size share terms documents");
    snprintf(id, sizeof id, "%.0f", transport_number(&t, 0, "cluster"));
    /* The others have the same terms: they are counted. */
    assert_int_equal(transport_length(&t, 0, "documents"), 1);
    assert_slice(item_text(&t, 0, "documents", 0, "id"), "doc3");
    assert_near(item_number(&t, 0, "documents", 0, "copies"), 2, 0);
    assert_run(&t, "cluster", "collection", "mid", "cluster", id, "weakest", "10");
    assert_int_equal(transport_length(&t, 0, "documents"), 3);
    bool seen[8] = {0};
    for (size_t i = 0; i < 3; i++) {
        gf_slice document = item_text(&t, 0, "documents", i, "id");
        seen[document.ptr[3] - '0'] = true;
        assert_near(item_number(&t, 0, "documents", i, "score"), 1, 1e-6);
        assert_int_equal(item_text(&t, 0, "documents", i, "text").len > 0, 1);
    }
    assert_true(seen[3] && seen[4] && seen[5]);
    assert_run(&t, "cluster", "collection", "mid", "cluster", id, "docs", "1", "terms", "0");
    assert_slice(transport_text(&t, 0, "label"), "macbeth");
    assert_int_equal(transport_length(&t, 0, "documents"), 1);
    assert_int_equal(transport_length(&t, 0, "terms"), 0);
    assert_run(&t, "cluster", "collection", "mid", "cluster", id, "docs", "0");
    assert_int_equal(transport_length(&t, 0, "documents"), 0);
    assert_run(&t, "cluster", "collection", "mid", "cluster", id, "docs", "100");
    assert_int_equal(transport_length(&t, 0, "documents"), 1);
    assert_refused(GF_ENOTFOUND, "there is no cluster 4000000000", &t, "cluster", "collection",
                   "mid", "cluster", "4000000000");
    const char *const bad[] = {"0", "-1", "macbeth", "99999999999", "4294967296", "1 "};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_refused(GF_EINVAL, "a label is given as label:", &t, "cluster", "collection", "mid",
                       "cluster", bad[i]);
    assert_refused(GF_ENOTFOUND, "", &t, "cluster", "collection", "mid", "cluster", "label:");
    transport_close(&t);
}

/* A sentence comes with its document's id, which is a number where that is asked for. */
static void sentences(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    transport_put(&t, "c",
                  "{\"id\":\"1\",\"text\":\"ferry harbour\"}\n"
                  "{\"id\":\"2\",\"text\":\"The ferry leaves from the old harbour at noon.\"}\n"
                  "{\"id\":\"3\",\"text\":\"harbour ferry noon\"}\n");
    assert_run(&t, "config set", "collection", "c", "set", "k=1", "set", "min_df=1");
    assert_run(&t, "rebuild", "collection", "c", "threads", "1");
    assert_run(&t, "clusters", "collection", "c");
    assert_string_equal(transport_members(&t, 0),
                        "cluster label size share terms sentence sentence_of");
    assert_slice(transport_text(&t, 0, "sentence"),
                 "The ferry leaves from the old harbour at noon.");
    assert_slice(transport_text(&t, 0, "sentence_of"), "2");
    assert_run(&t, "cluster", "collection", "c", "cluster", "1", "id-type", "number");
    assert_slice(transport_text(&t, 0, "sentence"),
                 "The ferry leaves from the old harbour at noon.");
    assert_int_equal(transport_number(&t, 0, "sentence_of"), 2);
    assert_run(&t, "delete", "collection", "c", "id", "2");
    assert_run(&t, "clusters", "collection", "c");
    assert_false(transport_has(&t, 0, "sentence"));
    assert_false(transport_has(&t, 0, "sentence_of"));
    transport_close(&t);
}

/* ---- rebuilding ------------------------------------------------------------------------------ */

static void rebuilds(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, false);
    assert_refused(GF_ENOTFOUND, "rebuild", &t, "clusters", "collection", "mid");
    assert_run(&t, "builds", "collection", "mid");
    assert_int_equal(t.n_rows, 0);
    assert_run(&t, "rebuild", "collection", "mid", "dry-run", "true");
    assert_slice(transport_text(&t, 0, "outcome"), "would be rebuilt");
    assert_run(&t, "rebuild", "collection", "mid");
    assert_slice(transport_text(&t, 0, "outcome"), "rebuilt");
    assert_int_equal(transport_number(&t, 0, "documents"), 7);
    assert_int_equal(transport_number(&t, 0, "k"), 3);
    assert_true(t.n_progress > 0);
    double first = transport_number(&t, 0, "build");
    assert_run(&t, "rebuild", "collection", "mid");
    assert_slice(transport_text(&t, 0, "outcome"), "unmodified");
    assert_true(transport_number(&t, 0, "build") == first);
    assert_run(&t, "rebuild", "collection", "mid", "force", "false");
    assert_slice(transport_text(&t, 0, "outcome"), "unmodified");
    assert_run(&t, "rebuild", "collection", "mid", "force", "true");
    assert_slice(transport_text(&t, 0, "outcome"), "rebuilt");
    assert_true(transport_number(&t, 0, "build") > first);
    assert_run(&t, "builds", "collection", "mid");
    assert_int_equal(t.n_rows, 2);
    assert_true(gf_json_get_bool(transport_member(&t, 0, "served")));
    assert_false(gf_json_get_bool(transport_member(&t, 1, "served")));
    assert_true(transport_number(&t, 1, "build") == first);
    /* The older build is still there to be read, by its number or its time. */
    char build[32], time[64];
    snprintf(build, sizeof build, "%.0f", first);
    snprintf(time, sizeof time, "%.*s", GF_SLICE_ARG(transport_text(&t, 1, "time")));
    assert_run(&t, "clusters", "collection", "mid", "build", build);
    assert_int_equal(t.n_rows, 3);
    assert_run(&t, "cluster", "collection", "mid", "build", time, "cluster", "label:caesar");
    assert_true(transport_number(&t, 0, "build") == first);
    assert_refused(GF_ENOTFOUND, "there is no build", &t, "clusters", "collection", "mid", "build",
                   "1");
    transport_close(&t);
}

static void rebuild_all(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, false);
    transport_put(&t, "other", "{\"id\":\"1\",\"text\":\"one word\"}");
    assert_run(&t, "config set", "collection", "other", "config", "fine", "set", "k=1");
    assert_refused(GF_EINVAL, "either", &t, "rebuild");
    assert_refused(GF_EINVAL, "either", &t, "rebuild", "all", "true", "collection", "mid");
    assert_refused(GF_EINVAL, "prefix", &t, "rebuild", "collection", "mid", "prefix", "m");
    assert_run(&t, "rebuild", "all", "true", "prefix", "m");
    assert_int_equal(t.n_rows, 1);
    assert_run(&t, "rebuild", "all", "true");
    assert_int_equal(t.n_rows, 3);
    int built = 0;
    for (uint64_t i = 0; i < 3; i++)
        built += gf_slice_equal(transport_text(&t, i, "outcome"), GF_SLICE("rebuilt"));
    assert_int_equal(built, 2);
    assert_int_equal(t.outcome, GF_OUTCOME_DONE);
    assert_run(&t, "rebuild", "all", "true", "config", "fine", "force", "true");
    assert_int_equal(t.n_rows, 1);
    assert_slice(transport_text(&t, 0, "collection"), "other");
    assert_refused(GF_ENOTFOUND, "nope", &t, "rebuild", "all", "true", "config", "nope");
    assert_run(&t, "rebuild", "all", "true", "prefix", "zzz");
    assert_int_equal(t.n_rows, 0);
    assert_run(&t, "rebuild", "collection", "other", "force", "true");
    assert_int_equal(t.n_rows, 2);
    transport_close(&t);
}

/* A rebuild that is cancelled leaves what was served; rows told before stay whole. */
static void cancelled(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    char served[32];
    snprintf(served, sizeof served, "%s", library_served(&t, "mid"));
    assert_run(&t, "config set", "collection", "mid", "config", "a", "set", "k=2");
    t.cancel_at = 1;
    assert_refused(GF_ECANCELLED, "what was served is served on", &t, "rebuild", "collection",
                   "mid", "force", "true");
    assert_int_equal(t.n_rows, 1);
    assert_slice(transport_text(&t, 0, "configuration"), "a");
    t.cancel_at = 0;
    assert_string_equal(library_served(&t, "mid"), served);
    t.cancel_at = 2;
    assert_refused(GF_ECANCELLED, "stopped", &t, "export", "collection", "mid");
    assert_int_equal(t.n_rows, 2);
    assert_refused(GF_ECANCELLED, "stopped", &t, "cluster", "collection", "mid", "cluster",
                   "label:macbeth", "columns", "true");
    assert_int_equal(t.n_rows, 2);
    t.cancel_at = 0;
    transport_close(&t);
}

/* ---- documents ------------------------------------------------------------------------------- */

/* The parts of the terms and the rest sum to the score. */
static void explained(transport *t)
{
    gf_json_value why = transport_item(t, 0, "memberships", 0, "why");
    gf_json_value sum = {0}, rest = {0}, terms = {0}, part;
    assert_true(gf_json_member(why, "terms", &terms));
    assert_true(gf_json_member(why, "rest", &rest));
    assert_true(gf_json_member(why, "sum", &sum));
    double total = gf_json_number(rest);
    gf_json_value term;
    gf_json_iterator it = gf_json_items(terms);
    while (gf_json_next(&it, NULL, &term)) {
        assert_true(gf_json_member(term, "part", &part));
        total += gf_json_number(part);
    }
    assert_near(total, gf_json_number(sum), 1e-9);
    assert_near(total, item_number(t, 0, "memberships", 0, "score"), 1e-5);
}

static void document(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    assert_run(&t, "doc", "collection", "mid", "id", "doc1");
    assert_string_equal(transport_members(&t, 0), "collection id text time fields memberships");
    assert_int_equal(transport_length(&t, 0, "memberships"), 1);
    assert_slice(item_text(&t, 0, "memberships", 0, "configuration"), "default");
    assert_slice(item_text(&t, 0, "memberships", 0, "label"), "general");
    assert_near(item_number(&t, 0, "memberships", 0, "score"), 1, 1e-6);
    assert_run(&t, "doc", "collection", "mid", "id", "doc1", "why", "true");
    explained(&t);
    assert_refused(GF_ENOTFOUND, "nobody", &t, "doc", "collection", "mid", "id", "nobody");
    assert_int_equal(t.n_rows, 0);
    transport_close(&t);
}

/* What came or changed after the build is shown where it would be, and why. */
static void document_after_build(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    transport_put(&t, "mid",
                  "{\"id\":\"doc8\",\"text\":\"late\"}\n"
                  "{\"id\":\"doc9\",\"text\":\"some general\"}\n"
                  "{\"id\":\"doc3\",\"text\":\"caesar\"}\n");
    assert_run(&t, "doc", "collection", "mid", "id", "doc8", "why", "true");
    assert_slice(item_text(&t, 0, "memberships", 0, "note"), "put after the build");
    assert_slice(item_text(&t, 0, "memberships", 0, "label"), "without terms");
    assert_run(&t, "doc", "collection", "mid", "id", "doc9", "why", "true");
    assert_true(gf_json_get_bool(transport_item(&t, 0, "memberships", 0, "provisional")));
    assert_slice(item_text(&t, 0, "memberships", 0, "label"), "general");
    explained(&t);
    assert_run(&t, "doc", "collection", "mid", "id", "doc3", "why", "true");
    assert_true(gf_json_get_bool(transport_item(&t, 0, "memberships", 0, "replaced")));
    assert_slice(item_text(&t, 0, "memberships", 0, "note"), "put anew since the build");
    assert_slice(item_text(&t, 0, "memberships", 0, "label"), "caesar");
    explained(&t);
    assert_run(&t, "config set", "collection", "mid", "config", "unbuilt", "set", "k=2");
    assert_run(&t, "doc", "collection", "mid", "id", "doc1");
    assert_int_equal(transport_length(&t, 0, "memberships"), 1);
    assert_refused(GF_ENOTFOUND, "", &t, "doc", "collection", "mid", "id", "doc1", "config",
                   "unbuilt");
    assert_int_equal(t.n_rows, 0);
    assert_refused(GF_ENOTFOUND, "there is no build", &t, "doc", "collection", "mid", "id", "doc1",
                   "build", "5");
    transport_close(&t);
}

/* ---- what is pending, the weakest, sizes above a score --------------------------------------- */

static void pending(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    assert_run(&t, "clusters", "collection", "mid", "pending", "true");
    assert_int_equal(t.n_rows, 0);
    transport_put(&t, "mid",
                  "{\"id\":\"doc9\",\"text\":\"some general\"}\n"
                  "{\"id\":\"doc8\",\"text\":\"late\"}\n"
                  "{\"id\":\"gone\",\"text\":\"macbeth\"}\n");
    transport_put(&t, "mid", "{\"id\":\"doc3\",\"text\":\"caesar\"}\n");
    assert_run(&t, "delete", "collection", "mid", "id", "gone");
    assert_run(&t, "clusters", "collection", "mid", "pending", "true");
    assert_int_equal(t.n_rows, 3);
    assert_string_equal(transport_members(&t, 0), "id cluster label score provisional text");
    assert_slice(transport_text(&t, 0, "id"), "doc8"); /* a put goes by id */
    assert_int_equal(gf_json_kind_of(transport_member(&t, 0, "cluster")), GF_JSON_NULL);
    assert_slice(transport_text(&t, 1, "id"), "doc9");
    assert_slice(transport_text(&t, 1, "label"), "general");
    assert_near(transport_number(&t, 1, "score"), 1, 1e-6);
    assert_slice(transport_text(&t, 1, "text"), "some general");
    assert_slice(transport_text(&t, 2, "id"), "doc3");
    assert_slice(transport_text(&t, 2, "label"), "caesar");
    assert_true(gf_json_get_bool(transport_member(&t, 2, "replaced")));
    assert_run(&t, "clusters", "collection", "mid", "pending", "true", "min-score", "0.5");
    assert_int_equal(t.n_rows, 2);
    assert_refused(GF_EINVAL, "with pending", &t, "clusters", "collection", "mid", "pending",
                   "true", "sort", "id");
    t.emit_fails_at = 2;
    assert_refused(GF_EIO, "nobody takes the rows", &t, "clusters", "collection", "mid", "pending",
                   "true");
    t.emit_fails_at = 0;
    assert_run(&t, "rebuild", "collection", "mid", "threads", "1");
    assert_run(&t, "clusters", "collection", "mid", "pending", "true");
    assert_int_equal(t.n_rows, 0);
    transport_close(&t);
}

static void weakest(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    transport_put(&t, "c",
                  "{\"id\":\"1\",\"text\":\"bread dough\"}\n{\"id\":\"2\",\"text\":\"bread\"}\n"
                  "{\"id\":\"3\",\"text\":\"dough bread yeast and a lot more\"}\n");
    assert_run(&t, "config set", "collection", "c", "set", "k=1", "set", "language=english");
    assert_run(&t, "rebuild", "collection", "c", "threads", "1");
    double last = -1;
    assert_run(&t, "cluster", "collection", "c", "cluster", "1", "weakest", "9");
    assert_int_equal(transport_length(&t, 0, "documents"), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(item_number(&t, 0, "documents", i, "score") >= last);
        last = item_number(&t, 0, "documents", i, "score");
    }
    assert_run(&t, "cluster", "collection", "c", "cluster", "1", "weakest", "1");
    assert_int_equal(transport_length(&t, 0, "documents"), 1);
    assert_refused(GF_EINVAL, "--weakest", &t, "cluster", "collection", "c", "cluster", "1",
                   "weakest", "1", "docs", "1");
    assert_refused(GF_EINVAL, "weakest is at least 1", &t, "cluster", "collection", "c", "cluster",
                   "1", "weakest", "0");
    transport_close(&t);
}

/* A bound that is printed as a document's score keeps that document. */
static void above_a_score(void **state)
{
    (void)state;
    transport t;
    gf_json_value score;
    transport_open(&t);
    transport_put(
        &t, "c",
        "{\"id\":\"1\",\"text\":\"bread dough oven\"}\n{\"id\":\"2\",\"text\":\"bread\"}\n"
        "{\"id\":\"3\",\"text\":\"dough bread yeast\"}\n{\"id\":\"4\",\"text\":\"!\"}\n");
    assert_run(&t, "config set", "collection", "c", "set", "k=1", "set", "language=english");
    assert_run(&t, "rebuild", "collection", "c", "threads", "1");
    for (uint64_t i = 0; i < 3; i++) {
        gf_buffer bound = {0};
        uint64_t counted = 0;
        assert_run(&t, "export", "collection", "c");
        score = transport_member(&t, i, "score");
        double s = gf_json_number(score);
        gf_error err;
        assert_ok(gf_json_write(score, &bound, &err));
        for (uint64_t j = 0; j < 3; j++)
            counted += transport_number(&t, j, "score") >= s;
        assert_run(&t, "export", "collection", "c", "min-score", gf_buffer_cstr(&bound));
        assert_int_equal(t.n_rows, counted);
        assert_run(&t, "clusters", "collection", "c", "min-score", gf_buffer_cstr(&bound));
        assert_int_equal(transport_number(&t, 0, "size"), counted);
        assert_near(transport_number(&t, 0, "share"), (double)counted / 4, 1e-12);
        gf_buffer_release(&bound);
    }
    assert_run(&t, "export", "collection", "c", "min-score", "0");
    assert_int_equal(t.n_rows, 4);
    transport_close(&t);
}

/* ---- how k=auto chooses ---------------------------------------------------------------------- */

static void explained_k(void **state)
{
    (void)state;
    transport t;
    double chosen = 0;
    transport_open(&t);
    library_mid(&t, false);
    assert_run(&t, "config set", "collection", "mid", "config", "auto", "set", "language=english");
    assert_run(&t, "rebuild", "collection", "mid", "explain-k", "true", "config", "auto");
    assert_true(t.n_rows > 0);
    for (uint64_t i = 0; i < t.n_rows; i++) {
        assert_string_equal(transport_members(&t, i),
                            "collection configuration k separation worth plateau chosen why");
        assert_slice(transport_text(&t, i, "configuration"), "auto");
        if (!gf_json_get_bool(transport_member(&t, i, "chosen"))) continue;
        assert_true(chosen == 0);
        chosen = transport_number(&t, i, "k");
    }
    assert_run(&t, "builds", "collection", "mid", "config", "auto");
    assert_int_equal(t.n_rows, 0);
    assert_run(&t, "rebuild", "collection", "mid", "config", "auto", "threads", "1");
    assert_true(transport_number(&t, 0, "k") == chosen);
    assert_refused(GF_EINVAL, "--explain-k", &t, "rebuild", "all", "true", "explain-k", "true");
    assert_refused(GF_ENOTFOUND, "nothing", &t, "rebuild", "collection", "nothing", "explain-k",
                   "true");
    transport_close(&t);
}

static void exported(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    assert_run(&t, "export", "collection", "mid");
    assert_int_equal(t.n_rows, 7);
    for (uint64_t i = 0; i < 7; i++) {
        gf_json_value play;
        char id[8], name[16];
        snprintf(id, sizeof id, "doc%d", (int)i + 1);
        assert_slice(transport_text(&t, i, "id"), id);
        assert_false(transport_has(&t, i, "text"));
        assert_true(gf_json_member(transport_member(&t, i, "fields"), "play", &play));
        snprintf(name, sizeof name, "%.*s", GF_SLICE_ARG(gf_json_get_string(play)));
        assert_slice(transport_text(&t, i, "label"), name);
    }
    assert_run(&t, "export", "collection", "mid", "with-text", "true");
    assert_slice(transport_text(&t, 2, "text"), "macbeth");
    t.emit_fails_at = 4;
    assert_refused(GF_EIO, "nobody takes the rows", &t, "export", "collection", "mid");
    assert_int_equal(t.n_rows, 3);
    t.emit_fails_at = 2;
    assert_refused(GF_EIO, "nobody takes the rows", &t, "clusters", "collection", "mid");
    assert_refused(GF_EIO, "nobody takes the rows", &t, "clusters", "collection", "mid", "sort",
                   "label");
    transport_close(&t);
}

/* A document without a word is in no cluster: cluster is null, and it has no runner-up. */
static void without_terms(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    transport_put(&t, "c",
                  "{\"id\":\"1\",\"text\":\"apple\"}\n{\"id\":\"2\",\"text\":\"...\"}\n"
                  "{\"id\":\"3\",\"text\":\"\"}\n");
    assert_run(&t, "rebuild", "collection", "c");
    assert_int_equal(transport_number(&t, 0, "without_terms"), 2);
    assert_run(&t, "export", "collection", "c");
    assert_int_equal(gf_json_kind_of(transport_member(&t, 1, "cluster")), GF_JSON_NULL);
    assert_slice(transport_text(&t, 1, "label"), "without terms");
    assert_int_equal(transport_number(&t, 1, "score"), 0);
    assert_false(transport_has(&t, 1, "runner_up"));
    assert_run(&t, "doc", "collection", "c", "id", "3", "why", "true");
    assert_run(&t, "collection create", "collection", "empty");
    assert_run(&t, "rebuild", "collection", "empty");
    assert_int_equal(transport_number(&t, 0, "k"), 0);
    assert_run(&t, "clusters", "collection", "empty");
    assert_int_equal(t.n_rows, 0);
    transport_close(&t);
}

/* ---- columns --------------------------------------------------------------------------------- */

static uint64_t find_column(transport *t, const char *family, const char *column)
{
    for (uint64_t i = 0; i < t->n_rows; i++)
        if (gf_slice_equal(transport_text(t, i, "family"), gf_slice_str(family)) &&
            gf_slice_equal(transport_text(t, i, "column"), gf_slice_str(column)))
            return i;
    fail_msg("no column %s:%s", family, column);
    return 0;
}

static void columns(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    assert_run(&t, "doc", "collection", "mid", "id", "doc4", "columns", "true");
    assert_slice(transport_text(&t, find_column(&t, "main", "namespace"), "value"), "default");
    assert_slice(transport_text(&t, find_column(&t, "main", "text"), "value"), "macbeth macbeth");
    assert_slice(transport_text(&t, find_column(&t, "main", "member_of"), "value"), "macbeth");
    assert_slice(transport_text(&t, find_column(&t, "main", "play"), "value"), "\"macbeth\"");
    assert_true(transport_has(&t, find_column(&t, "processing", "vector_tfidf"), "hex"));
    assert_slice(transport_text(&t, find_column(&t, "processing", "id"), "value"), "doc4");
    assert_run(&t, "cluster", "collection", "mid", "cluster", "label:macbeth", "columns", "true");
    assert_slice(transport_text(&t, find_column(&t, "main", "size"), "value"), "3");
    for (int i = 3; i <= 5; i++) {
        char id[8], score[32];
        snprintf(id, sizeof id, "doc%d", i);
        gf_slice value = transport_text(&t, find_column(&t, "documents", id), "value");
        snprintf(score, sizeof score, "%.*s", GF_SLICE_ARG(value));
        assert_near(atof(score), 1, 1e-6);
    }
    assert_run(&t, "collection show", "collection", "mid", "columns", "true");
    assert_slice(transport_text(&t, find_column(&t, "main", "size"), "value"), "7");
    char build[32];
    gf_slice value =
        transport_text(&t, find_column(&t, "main", "configuration:default:rebuilt"), "value");
    snprintf(build, sizeof build, "%.*s", GF_SLICE_ARG(value));
    assert_string_equal(build, library_served(&t, "mid"));
    assert_refused(GF_ENOTFOUND, "", &t, "doc", "collection", "mid", "id", "x", "columns", "true");
    transport_close(&t);
}

/* ---- random collections: the operations agree with each other -------------------------------- */

static void agreement(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    for (int round = 0; round < 4; round++) {
        transport t;
        gf_buffer lines = {0};
        int n = 1 + (int)gf_random_below(&r, 120);
        transport_open(&t);
        for (int i = 0; i < n; i++) {
            gf_buffer_format(&lines, "{\"id\":\"%d\",\"text\":\"", i);
            for (int k = (int)gf_random_below(&r, 6); k > 0; k--)
                gf_buffer_format(&lines, "word%d ", (int)gf_random_below(&r, 30));
            gf_buffer_str(&lines, "\"}\n");
        }
        transport_put(&t, "c", gf_buffer_cstr(&lines));
        assert_run(&t, "rebuild", "collection", "c");
        double k = transport_number(&t, 0, "k"), without = transport_number(&t, 0, "without_terms");
        assert_run(&t, "clusters", "collection", "c");
        assert_true((double)t.n_rows == k);
        double sizes[TRANSPORT_KEPT] = {0}, total = 0;
        for (uint64_t i = 0; i < t.n_rows; i++) {
            sizes[(size_t)transport_number(&t, i, "cluster")] = transport_number(&t, i, "size");
            total += transport_number(&t, i, "size");
            bool mixed = gf_label_is_mixed(transport_text(&t, i, "label"));
            if (!i) continue;
            bool was_mixed = gf_label_is_mixed(transport_text(&t, i - 1, "label"));
            assert_true(mixed || !was_mixed); /* mixed ones come behind the others */
            if (mixed == was_mixed)
                assert_true(transport_number(&t, i, "size") <= transport_number(&t, i - 1, "size"));
        }
        assert_true(total + without == n);
        assert_run(&t, "export", "collection", "c");
        assert_int_equal(t.n_rows, n);
        for (uint64_t i = 0; i < t.n_rows; i++) {
            gf_json_value cluster = transport_member(&t, i, "cluster");
            if (gf_json_kind_of(cluster) == GF_JSON_NULL)
                without--;
            else
                sizes[(size_t)gf_json_number(cluster)]--;
            if (transport_has(&t, i, "margin"))
                assert_true(transport_number(&t, i, "margin") > -1e-6);
        }
        assert_true(without == 0);
        for (size_t i = 0; i < TRANSPORT_KEPT; i++)
            assert_true(sizes[i] == 0);
        gf_buffer_release(&lines);
        transport_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(three_clusters),
                                       cmocka_unit_test(shares_are_of_what_is_still_there),
                                       cmocka_unit_test(one_cluster),
                                       cmocka_unit_test(sentences),
                                       cmocka_unit_test(rebuilds),
                                       cmocka_unit_test(rebuild_all),
                                       cmocka_unit_test(cancelled),
                                       cmocka_unit_test(document),
                                       cmocka_unit_test(document_after_build),
                                       cmocka_unit_test(pending),
                                       cmocka_unit_test(weakest),
                                       cmocka_unit_test(above_a_score),
                                       cmocka_unit_test(explained_k),
                                       cmocka_unit_test(exported),
                                       cmocka_unit_test(without_terms),
                                       cmocka_unit_test(columns),
                                       cmocka_unit_test(agreement)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
