/* Rebuilds that may not hold all rows, and what is said of memory before. */
#include "tests/engine/fixture.h"

#include "base/random.h"
#include "engine/build/estimate.h"

#include <stdlib.h>
#include <string.h>

enum { DOCUMENTS = 15000, SUBJECTS = 12 };

static const gf_place where = {{"test", 4}, {"many", 4}};

/* Texts of twelve subjects, whose words stand between words that all have; some have none: from one to another. */
static void put_many(gf_store *store, gf_slice collection, uint32_t from, uint32_t to)
{
    gf_error err;
    gf_put *put;
    gf_random random = gf_random_seed(7, 0);
    gf_buffer text = {0};
    assert_ok(gf_put_open(store, &GF_PUT_OPTIONS(.name_space = GF_SLICE("test")), &put, &err));
    for (uint32_t i = 0; i < to; i++) {
        char id[16];
        gf_buffer_reset(&text);
        uint64_t subject = gf_random_below(&random, SUBJECTS);
        uint64_t words = i % 1000 == 5 ? 0 : 20 + gf_random_below(&random, 150);
        for (uint64_t w = 0; w < words; w++) {
            double u = gf_random_unit(&random);
            if (w % 3)
                gf_buffer_format(&text, "common%u ", (unsigned)(30000 * u * u * u));
            else
                gf_buffer_format(&text, "subject%uword%u ", (unsigned)subject,
                                 (unsigned)(400 * u * u));
        }
        gf_document d = {.id = gf_slice_of(id, (size_t)snprintf(id, sizeof id, "%06u", i)),
                         .text = text.len ? gf_buffer_view(&text) : GF_SLICE("!!!")};
        if (i >= from) assert_ok(gf_put_document(put, collection, &d, &err));
    }
    assert_ok(gf_put_flush(put, &err));
    gf_put_close(put);
    gf_buffer_release(&text);
}

/* A store with these documents and small buffers, which all tests share. */
static fixture shared;

static void open_small(void)
{
    gf_error err;
    gf_store_options o = GF_STORE_OPTIONS(.small_buffers = true);
    assert_ok(gf_store_open(shared.path, &o, &shared.store, &err));
}

/* The store is checked while it is closed. */
static void assert_sound(void)
{
    fixture_is_sound(&shared);
    gf_store_close(shared.store);
    open_small();
}

static int open_shared(void **state)
{
    (void)state;
    fixture_open(&shared);
    put_many(shared.store, where.collection, 0, DOCUMENTS);
    gf_store_close(shared.store);
    open_small();
    fixture_set(&shared, "many", "default", "k", "12");
    fixture_set(&shared, "many", "default", "language", "none");
    return 0;
}

static int close_shared(void **state)
{
    (void)state;
    fixture_close(&shared);
    return 0;
}

static gf_status rebuild(const char *configuration, gf_rebuild_options o, gf_rebuild_result *r,
                         gf_error *err)
{
    o.force = true;
    return gf_rebuild(shared.store, where, gf_slice_str(configuration), &o, r, err);
}

static gf_memory_estimate estimate(void)
{
    gf_error err;
    gf_rebuild_result r;
    assert_ok(rebuild("default", GF_REBUILD_OPTIONS(.dry_run = true, .threads = 1), &r, &err));
    assert_int_equal(r.outcome, GF_REBUILD_DUE);
    return r.memory;
}

/* ---- counting -------------------------------------------------------------------------------- */

/* Up to 20,000 documents all are counted: what is expected is what a build then has. */
static void counts_what_a_build_has(void **state)
{
    (void)state;
    gf_error err;
    gf_rebuild_result r;
    gf_memory_estimate e = estimate();
    assert_ok(rebuild("default", GF_REBUILD_OPTIONS(.threads = 1), &r, &err));
    assert_int_equal(e.documents, DOCUMENTS);
    assert_int_equal(e.k, 12);
    assert_near(e.terms, r.build.terms, 3);
    assert_true(e.words >= e.terms && e.text > DOCUMENTS * 400);
    uint64_t all = e.program + e.reading + e.rows + e.ids + e.points + e.labels + e.centres +
                   e.naming + e.writing + e.index;
    assert_true(e.peak < all && e.peak > all / 3);
    assert_true(e.least < e.peak);
    assert_int_equal(r.memory.peak, 0); /* only where nothing is built */
}

/* Each part of the formula grows with what it is of, and with nothing else. */
static void formula_follows_the_counts(void **state)
{
    (void)state;
    const gf_memory_counts c = {.documents = 100000,
                                .text = 50000000,
                                .cut_text = {50000000, 50000000, 50000000, 50000000, 50000000},
                                .id_bytes = 2000000,
                                .entries = 3e6,
                                .terms = 40000,
                                .words = 90000,
                                .centre_entries = 5e5,
                                .tokens = 4e6,
                                .indexed = 1e7,
                                .k = 50,
                                .threads = 2,
                                .buffers = 12 << 20,
                                .index = true,
                                .search = true};
    gf_memory_estimate e, f;
    gf_memory_counts more = c;
    gf_memory_plan plan, wide;
    gf_estimate_of_build(&c, &e);
    assert_int_equal(e.rows, 8 * 3000000 + 9 * 100000);
    more.entries *= 2;
    gf_estimate_of_build(&more, &f);
    assert_int_equal(f.rows - e.rows, 8 * 3000000);
    assert_int_equal(f.labels, e.labels);
    assert_true(f.peak >= e.peak + 8 * 3000000);
    more = c;
    more.indexed *= 2;
    gf_estimate_of_build(&more, &f);
    /* A segment has all of them, two threads a chunk of 2^15 documents each. */
    assert_near((double)(f.index - e.index), (4 + 2 * 16 * 0.32768) * 10000000, 2);
    more.indexed = c.tokens; /* no filter: no words beside those of the rows */
    gf_estimate_of_build(&more, &f);
    assert_true(e.index - f.index > 5 * 6000000);
    more = c;
    more.index = more.search = false;
    gf_estimate_of_build(&more, &f);
    assert_int_equal(f.index, 0);
    assert_true(f.peak < e.peak);

    /* Threads share the words: one more takes the same however many words there are. */
    more = c;
    more.threads = 1;
    more.text = 0;
    gf_estimate_of_build(&more, &e);
    more.threads = 16;
    gf_estimate_of_build(&more, &f);
    assert_int_equal(f.reading - e.reading, 15 * (700 << 10));
    more.words *= 100;
    gf_estimate_of_build(&more, &f);
    more.threads = 1;
    gf_estimate_of_build(&more, &e);
    assert_int_equal(f.reading - e.reading, 15 * (700 << 10));
    gf_estimate_of_build(&c, &e);

    /* What a spilled build takes at least does not follow the entries; a plan divides what there
     * is. */
    uint64_t least = gf_estimate_of_spilled(&c, 0, &plan);
    assert_true(least < e.peak && plan.sample >= 5000 && plan.text > 0);
    assert_true(gf_estimate_of_spilled(&c, least + (256 << 20), &wide) == least);
    assert_true(wide.sample > plan.sample && wide.text > plan.text && wide.index);
    assert_true(!plan.search && wide.search);
    more = c;
    more.entries *= 4;
    assert_true(gf_estimate_of_spilled(&more, 0, &plan) < least + e.rows);

    /* The index of all words has all ids once more where a filter leaves documents out. */
    more = c;
    more.id_bytes += 100000000;
    gf_estimate_of_build(&more, &f);
    assert_int_equal(f.index, e.index + 100000000);
    more.indexed = more.tokens;
    gf_estimate_of_build(&more, &f);
    assert_true(f.index < e.index);
    least = gf_estimate_of_spilled(&more, 0, &plan);
    assert_true(least < 260 << 20 && !plan.search);
    gf_estimate_of_spilled(&more, 700 << 20, &plan);
    assert_true(plan.index && plan.search);

    /* The refinement's counts are beside the rows, in place of the centres. */
    more = c;
    more.refine = true;
    more.word_counts = 1e8;
    gf_estimate_of_build(&more, &e);
    more.word_counts *= 2;
    gf_estimate_of_build(&more, &f);
    assert_int_equal(f.peak - e.peak, 8 * 100000000);
    least = gf_estimate_of_spilled(&more, 0, &plan);
    more.entries *= 4;
    assert_true(gf_estimate_of_spilled(&more, 0, &plan) < least + 2 * e.rows);

    /* However many documents there are, no more than a segment's entries are held. */
    gf_memory_counts many = {.documents = 40000000, .entries = 1e9, .threads = 2, .index = true};
    gf_estimate_of_build(&many, &e);
    many.documents *= 2;
    many.entries *= 2;
    gf_estimate_of_build(&many, &f);
    assert_near((double)f.index, (double)e.index, 2);
    assert_true(f.index < 500000000);
}

/* ---- building -------------------------------------------------------------------------------- */

/* The least in the message is enough; one megabyte less is not; nothing changes by a refusal. */
static void names_the_least_that_does(void **state)
{
    (void)state;
    gf_error err;
    gf_rebuild_result r;
    fixture_collection before = fixture_read(&shared, "many");
    assert_status(GF_ELIMIT, rebuild("default", GF_REBUILD_OPTIONS(.memory = 2 << 20), &r, &err));
    const char *said = strstr(err.message, "clusters: ");
    assert_non_null(said);
    assert_non_null(strstr(said, "M is the least"));
    uint64_t least = strtoull(said + strlen("clusters: "), NULL, 10);
    assert_true(least > 20 && least < 100);
    gf_rebuild_options less = GF_REBUILD_OPTIONS(.memory = (least - 1) << 20),
                       enough = GF_REBUILD_OPTIONS(.memory = least << 20);
    assert_status(GF_ELIMIT, rebuild("default", less, &r, &err));
    assert_int_equal(fixture_read(&shared, "many").served, before.served);
    assert_ok(rebuild("default", enough, &r, &err));
    assert_true(fixture_read(&shared, "many").served > before.served);
    assert_sound();
}

typedef struct labels {
    unsigned n, named;
    uint32_t ids[64];
} labels;

static gf_status note_cluster(void *context, const gf_cluster_info *info, gf_error *err)
{
    (void)err;
    labels *l = context;
    l->ids[l->n++] = info->id;
    l->named += info->label.len > 0;
    return GF_OK;
}

static labels read_labels(const char *configuration)
{
    gf_error err;
    gf_view *view;
    labels l = {0};
    assert_ok(gf_view_open(shared.store, where, gf_slice_str(configuration), 0, &view, &err));
    assert_ok(gf_view_clusters(view, note_cluster, &l, &err));
    gf_view_close(view);
    return l;
}

/* Nearly as good as with all rows; clusters go on from one to the other, and have names. */
static void builds_with_little_memory(void **state)
{
    (void)state;
    gf_error err;
    gf_rebuild_result all, some, again;
    uint64_t least = estimate().least;
    gf_rebuild_options little =
        GF_REBUILD_OPTIONS(.memory = least, .start = GF_START_FRESH, .threads = 2);
    assert_ok(rebuild("default", GF_REBUILD_OPTIONS(.start = GF_START_FRESH), &all, &err));
    assert_ok(rebuild("default", little, &some, &err));
    assert_int_equal(some.build.documents, DOCUMENTS);
    assert_int_equal(some.build.without_terms, all.build.without_terms);
    assert_int_equal(some.build.distinct, all.build.distinct);
    assert_int_equal(some.build.terms, all.build.terms);
    assert_int_equal(some.build.k, 12);
    assert_true(some.build.objective >= 0.93 * all.build.objective);
    fixture_check_served(&shared, "many", DOCUMENTS);

    labels before = read_labels("default");
    assert_int_equal(before.n, 12);
    assert_int_equal(before.named, 12);
    little.start = GF_START_SERVED;
    assert_ok(rebuild("default", little, &again, &err));
    labels now = read_labels("default");
    unsigned stay = 0;
    for (unsigned i = 0; i < now.n; i++)
        for (unsigned j = 0; j < before.n; j++)
            stay += now.ids[i] == before.ids[j];
    assert_true(stay >= 11);
    assert_sound();
}

/* An open k is chosen anew for a collection that has grown, though no more than a sample of it is held. */
static void chooses_k_anew_with_little_memory(void **state)
{
    (void)state;
    gf_error err;
    gf_rebuild_result r;
    gf_place grown = {where.name_space, GF_SLICE("grown")};
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.force = true, .threads = 2);
    put_many(shared.store, grown.collection, 0, 1000);
    fixture_set(&shared, "grown", "default", "language", "none");
    assert_ok(gf_rebuild(shared.store, grown, fixture_default(), &o, &r, &err));
    assert_true(r.build.k >= 2);
    put_many(shared.store, grown.collection, 1000, DOCUMENTS);
    o.dry_run = true;
    assert_ok(gf_rebuild(shared.store, grown, fixture_default(), &o, &r, &err));
    o.dry_run = false;
    o.memory = r.memory.least + (2 << 20);
    assert_true(o.memory < r.memory.peak);
    assert_ok(gf_rebuild(shared.store, grown, fixture_default(), &o, &r, &err));
    assert_int_equal(r.build.documents, DOCUMENTS);
    assert_int_equal(r.build.k, SUBJECTS);
    fixture_check_served(&shared, "grown", DOCUMENTS);
    assert_sound();
}

/* The same bytes for any number of threads, vectors and index included. */
static void threads_change_nothing(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer dumps[2] = {{0}, {0}};
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "three" : "one";
        gf_rebuild_result r;
        gf_rebuild_options o =
            GF_REBUILD_OPTIONS(.memory = estimate().least + (2 << 20), .threads = i ? 3 : 1);
        fixture_set(&shared, "many", name, "k", "3");
        fixture_set(&shared, "many", name, "language", "none");
        fixture_set(&shared, "many", name, "polish", "off");
        fixture_set(&shared, "many", name, "store_vectors", "on");
        fixture_set(&shared, "many", name, "store_index", "on");
        assert_ok(rebuild(name, o, &r, &err));
        fixture_dump_build(&shared, "many", name, r.build.build, &dumps[i]);
    }
    assert_true(gf_slice_equal(gf_buffer_view(&dumps[0]), gf_buffer_view(&dumps[1])));
    assert_sound();
    gf_buffer_release(&dumps[0]);
    gf_buffer_release(&dumps[1]);
}

/* If all fits, the build is the one that it would be without a bound. */
static void enough_memory_changes_nothing(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer dumps[2] = {{0}, {0}};
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "bound" : "free";
        gf_rebuild_result r;
        gf_rebuild_options o =
            GF_REBUILD_OPTIONS(.memory = i ? UINT64_C(1) << 40 : 0, .threads = 1);
        fixture_set(&shared, "many", name, "k", "5");
        assert_ok(rebuild(name, o, &r, &err));
        fixture_dump_build(&shared, "many", name, r.build.build, &dumps[i]);
    }
    assert_true(gf_slice_equal(gf_buffer_view(&dumps[0]), gf_buffer_view(&dumps[1])));
    gf_buffer_release(&dumps[0]);
    gf_buffer_release(&dumps[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(formula_follows_the_counts),
                                       cmocka_unit_test(counts_what_a_build_has),
                                       cmocka_unit_test(names_the_least_that_does),
                                       cmocka_unit_test(builds_with_little_memory),
                                       cmocka_unit_test(chooses_k_anew_with_little_memory),
                                       cmocka_unit_test(threads_change_nothing),
                                       cmocka_unit_test(enough_memory_changes_nothing)};
    return cmocka_run_group_tests_name("memory", tests, open_shared, close_shared);
}
