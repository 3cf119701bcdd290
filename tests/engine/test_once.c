/* Near-duplicates that count once: near_duplicates=once. */
#include "tests/engine/fixture.h"

#include "base/memory.h"
#include "base/random.h"

#include <stdlib.h>
#include <string.h>

typedef struct place {
    char id[32];
    uint32_t cluster;
    float score;
} place;

typedef struct places {
    place at[1000];
    size_t n;
} places;

static gf_status add_place(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    places *p = context;
    (void)err;
    assert_true(p->n < 1000);
    place *to = &p->at[p->n++];
    snprintf(to->id, sizeof to->id, "%.*s", GF_SLICE_ARG(id));
    to->cluster = m->cluster;
    to->score = m->score;
    return GF_OK;
}

static void read_places(fixture *f, const char *collection, places *p)
{
    gf_error err;
    gf_view *v;
    p->n = 0;
    assert_ok(gf_view_open(f->store, fixture_place(collection), fixture_default(), 0, &v, &err));
    assert_ok(gf_view_memberships(v, add_place, p, &err));
    gf_view_close(v);
}

static const place *find_place(const places *p, const char *id)
{
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->at[i].id, id) == 0) return &p->at[i];
    fail_msg("%s has no place", id);
    return NULL;
}

/* ---- by hand --------------------------------------------------------------------------------- */

/* A letter that is there 40 times, word for word, makes a cluster of three: unless it counts once. */
static void a_letter_that_is_there_many_times(void **state)
{
    (void)state;
    places p;
    char id[16];
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    for (int i = 0; i < 40; i++) {
        snprintf(id, sizeof id, "letter%02d", i);
        fixture_put(&f, "c", id, "weekly digest subscribe headlines comet");
    }
    fixture_set(&f, "c", "default", "k", "3");
    fixture_rebuild(&f, "c");
    read_places(&f, "c", &p);
    const place *letter = find_place(&p, "letter00"), *comet = find_place(&p, "000");
    assert_int_not_equal(letter->cluster, comet->cluster); /* it has taken one of the three */

    fixture_set(&f, "c", "default", "near_duplicates", "once");
    gf_rebuild_result result;
    gf_error err;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1, .start = GF_START_FRESH);
    assert_ok(fixture_try_rebuild(&f, "c", &o, &result, &err));
    assert_int_equal(result.build.documents, 52);
    assert_int_equal(result.build.distinct, 13);
    fixture_check_served(&f, "c", 52);
    read_places(&f, "c", &p);
    const place *cars = find_place(&p, "004"), *baking = find_place(&p, "008");
    comet = find_place(&p, "000");
    letter = find_place(&p, "letter00");
    assert_int_not_equal(cars->cluster, baking->cluster);
    assert_int_not_equal(cars->cluster, comet->cluster);
    assert_int_not_equal(baking->cluster, comet->cluster);
    for (int i = 0; i < 40; i++) {
        snprintf(id, sizeof id, "letter%02d", i);
        assert_int_equal(find_place(&p, id)->cluster, letter->cluster);
        assert_true(find_place(&p, id)->score == letter->score);
    }
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* ---- the same clusters as without the copies ------------------------------------------------- */

enum { SUBJECTS = 4, OF_SUBJECT = 25, ORIGINALS = SUBJECTS * OF_SUBJECT, COPIES = 180 };

static void settle(fixture *f, const char *collection)
{
    static const char *const set[][2] = {
        {"k", "4"}, {"idf", "none"}, {"min_df", "1"}, {"max_df", "1.0"}, {"language", "none"}};
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        fixture_set(f, collection, "default", set[i][0], set[i][1]);
}

/*
 * Without idf the rows of the originals are the same with copies and without them, so the centres have to be as well:
 * a copy that counted would pull one.
 */
static void copies_pull_no_centre(void **state)
{
    (void)state;
    static places plain, copied;
    char text[ORIGINALS][128], id[16], copy[160];
    uint32_t of[COPIES];
    fixture f;
    gf_random r = gf_random_seed(gf_test_seed(), 1);
    fixture_open(&f);
    for (int i = 0; i < ORIGINALS; i++) {
        int n = 0;
        for (int w = 0; w < 3;
             w++) /* three words of its subject, three of its own: no two are near */
            n += snprintf(text[i] + n, sizeof text[i] - (size_t)n, "w%d%c own%d%c ", i / OF_SUBJECT,
                          'a' + (char)(w * 4 + (int)gf_random_below(&r, 4)), i, 'a' + (char)w);
        snprintf(id, sizeof id, "%03d", i);
        fixture_put(&f, "plain", id, text[i]);
        fixture_put(&f, "copied", id, text[i]);
    }
    for (int i = 0; i < COPIES; i++) {
        of[i] = (uint32_t)gf_random_below(&r, 5); /* of one subject; some with a word twice */
        snprintf(id, sizeof id, "z%03d", i);
        snprintf(copy, sizeof copy, "%s%.4s", text[of[i]], i % 3 ? "" : text[of[i]]);
        fixture_put(&f, "copied", id, copy);
    }
    settle(&f, "plain");
    settle(&f, "copied");
    fixture_set(&f, "plain", "default", "near_duplicates", "once");
    fixture_set(&f, "copied", "default", "near_duplicates", "once");
    assert_int_equal(fixture_rebuild(&f, "plain").distinct, ORIGINALS);
    assert_int_equal(fixture_rebuild(&f, "copied").distinct, ORIGINALS);
    read_places(&f, "plain", &plain);
    read_places(&f, "copied", &copied);
    for (int i = 0; i < ORIGINALS; i++) {
        const place *a = &plain.at[i], *b = find_place(&copied, plain.at[i].id);
        assert_near(a->score, b->score, 1e-5);
        for (int j = 0; j < i; j++)
            assert_int_equal(a->cluster == plain.at[j].cluster,
                             b->cluster == find_place(&copied, plain.at[j].id)->cluster);
    }
    for (int i = 0; i < COPIES; i++) {
        snprintf(id, sizeof id, "z%03d", i);
        const place *own = find_place(&copied, id);
        snprintf(id, sizeof id, "%03d", (int)of[i]);
        assert_int_equal(own->cluster, find_place(&copied, id)->cluster);
        if (i % 3) assert_near(own->score, find_place(&copied, id)->score, 1e-6);
    }
    fixture_close(&f);
}

/* ---- what `duplicates` tells ----------------------------------------------------------------- */

/* Posts, and copies of some of them with another word or two, at other times. */
static void put_copies(fixture *f, const char *collection)
{
    static const char *const texts[] = {
        "Nice guide on how to pick a lock with a rake and a tension wrench",
        "Today I learned twenty new words of Spanish with my deck of cards",
        "The bees of my hive have swarmed and I could not catch the queen"};
    static const char *const more[] = {"", " again", " twice", " and more", " today", " !!!"};
    char id[32], text[200], time[32];
    fixture_put_posts(f, collection, FIXTURE_POSTS);
    for (int i = 0; i < 60; i++) {
        snprintf(id, sizeof id, "%ccopy%02d", i % 2 ? 'a' : 'z', i);
        snprintf(text, sizeof text, "%s%s", texts[i % 3], more[i % 6]);
        snprintf(time, sizeof time, "%d", 1347910884 + (i * 7919) % 1000);
        gf_error err;
        gf_document d = {
            .id = gf_slice_str(id), .text = gf_slice_str(text), .time = gf_slice_str(time)};
        assert_ok(fixture_try_put(f->store, collection, &d, &err));
    }
}

typedef struct near_groups {
    const places *places;
    uint32_t cluster; /* of the representative of the group at hand */
    uint64_t copies, seen;
} near_groups;

static gf_status check_member(void *context, const gf_near_duplicate *hit, gf_error *err)
{
    near_groups *g = context;
    char id[32];
    (void)err;
    snprintf(id, sizeof id, "%.*s", GF_SLICE_ARG(hit->document->id));
    const place *own = find_place(g->places, id);
    if (hit->representative) g->cluster = own->cluster;
    assert_int_equal(own->cluster, g->cluster);
    g->copies = hit->copies;
    g->seen += !hit->representative;
    return GF_OK;
}

static void groups_are_those_of_duplicates(void **state)
{
    (void)state;
    static const char *const least[] = {"0.4", "0.6", "0.8", "1"};
    static places p;
    fixture f;
    gf_error err;
    fixture_open(&f);
    put_copies(&f, "c");
    fixture_set(&f, "c", "default", "near_duplicates", "once");
    for (size_t i = 0; i < 4; i++) {
        fixture_set(&f, "c", "default", "near_min", least[i]);
        gf_build_info built = fixture_rebuild(&f, "c");
        near_groups g = {.places = &p};
        gf_near_duplicates_options o =
            GF_NEAR_DUPLICATES_OPTIONS(.least = strtod(least[i], NULL), .threads = 1);
        read_places(&f, "c", &p);
        assert_ok(gf_near_duplicates(f.store, fixture_place("c"), &o, check_member, &g, &err));
        assert_true(g.copies >= 20);
        assert_int_equal(g.seen, g.copies);
        assert_int_equal(built.distinct, built.documents - built.without_terms - g.copies);
    }
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* ---- beside all else ------------------------------------------------------------------------- */

static gf_status edit(fixture *f, const gf_edit_request *r, gf_error *err)
{
    return gf_edit_make(f->store, fixture_place("c"), fixture_default(), r, NULL, NULL, err);
}

/* Edits, topics and ids hold, also where a copy is moved away from what it counts with. */
static void edits_and_topics_hold(void **state)
{
    (void)state;
    static places before, after;
    fixture f;
    gf_error err;
    fixture_open(&f);
    put_copies(&f, "c");
    fixture_set(&f, "c", "default", "near_duplicates", "once");
    fixture_set(&f, "c", "default", "near_min", "0.5");
    fixture_set(&f, "c", "default", "k", "6");
    fixture_rebuild(&f, "c");
    read_places(&f, "c", &before);
    uint32_t lock = find_place(&before, "zcopy00")->cluster, other = lock == 1 ? 2 : 1;
    assert_ok(edit(
        &f,
        &GF_EDIT_REQUEST(.kind = GF_EDIT_MOVE, .cluster = other, .document = GF_SLICE("zcopy00")),
        &err));
    uint32_t gone = lock == 3 || other == 3 ? 4 : 3;
    assert_ok(edit(
        &f,
        &GF_EDIT_REQUEST(.kind = GF_EDIT_MERGE, .cluster = lock, .others = &gone, .n_others = 1),
        &err));
    assert_ok(gf_topic_add(
        f.store, fixture_place("c"), fixture_default(),
        &GF_TOPIC_REQUEST(.name = GF_SLICE("bees"), .words = GF_SLICE("bees hive queen swarm")),
        NULL, NULL, &err));
    for (int i = 0; i < 3; i++) {
        fixture_rebuild(&f, "c");
        fixture_is_sound(&f);
        read_places(&f, "c", &after);
        assert_int_equal(find_place(&after, "zcopy00")->cluster, other);
        assert_int_equal(find_place(&after, "zcopy06")->cluster, lock);
        for (size_t j = 0; j < after.n; j++)
            assert_int_not_equal(after.at[j].cluster, gone);
    }
    fixture_close(&f);
}

static void the_same_bytes_for_any_number_of_threads(void **state)
{
    (void)state;
    gf_buffer bytes[4] = {{0}};
    fixture f;
    gf_error err;
    fixture_open(&f);
    for (unsigned i = 0; i < 4; i++) {
        char name[8];
        gf_rebuild_result result;
        gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = i == 3 ? 1 : i + 1);
        snprintf(name, sizeof name, "c%u", i);
        put_copies(&f, name);
        if (i < 3) fixture_set(&f, name, "default", "near_duplicates", "once");
        assert_ok(fixture_try_rebuild(&f, name, &o, &result, &err));
        fixture_dump_build(&f, name, "default", result.build.build, &bytes[i]);
    }
    assert_true(gf_slice_equal(gf_buffer_view(&bytes[0]), gf_buffer_view(&bytes[1])));
    assert_true(gf_slice_equal(gf_buffer_view(&bytes[0]), gf_buffer_view(&bytes[2])));
    assert_false(gf_slice_equal(gf_buffer_view(&bytes[0]), gf_buffer_view(&bytes[3])));
    for (unsigned i = 0; i < 4; i++)
        gf_buffer_release(&bytes[i]);
    fixture_close(&f);
}

static void refused_where_there_are_no_rows(void **state)
{
    (void)state;
    static const float rows[] = {1, 0, 0, 1};
    static const gf_slice ids[] = {{"000", 3}, {"001", 3}};
    fixture f;
    gf_error err;
    gf_rebuild_result result;
    gf_matrix m = {.n_rows = 2, .n_cols = 2, .dense = rows, .id = ids};
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_set(&f, "c", "default", "near_duplicates", "once");
    assert_status(GF_EINVAL,
                  fixture_try_rebuild(&f, "c", &GF_REBUILD_OPTIONS(.matrix = &m, .threads = 1),
                                      &result, &err));
    assert_non_null(strstr(err.message, "near_duplicates=all"));
    fixture_rebuild(&f, "c");
    fixture_set(&f, "c", "default", "near_min", "0.3");
    assert_ok(fixture_try_rebuild(&f, "c", &GF_REBUILD_OPTIONS(.threads = 1), &result, &err));
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* ---- failing allocations --------------------------------------------------------------------- */

/* The failure is armed once near-duplicates are looked for: what is before that fails in other sweeps. */
typedef struct arming {
    int64_t fails;
} arming;

static void arm(void *context, gf_place where, const char *phase, uint64_t done, uint64_t total)
{
    arming *a = context;
    (void)where, (void)done, (void)total;
    if (strcmp(phase, "finding near-duplicates") == 0) gf_memory_fail_at(a->fails);
}

static void failing_allocations(void **state)
{
    (void)state;
    enum { NEAR = 250, FAR = 1500, FAR_STEP = 61 };
    fixture f;
    gf_error err;
    gf_rebuild_result result;
    arming a;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1, .force = true, .start = GF_START_FRESH,
                                              .progress = arm, .context = &a);
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_put(&f, "c", "copy", "the engine and the brakes of the old car");
    fixture_put(&f, "c", "near", "the engine and the brakes of the car");
    fixture_set(&f, "c", "default", "k", "3");
    fixture_set(&f, "c", "default", "near_duplicates", "once");
    fixture_set(&f, "c", "default", "near_min", "0.5");
    for (a.fails = 0; a.fails < FAR; a.fails += a.fails < NEAR ? 1 : FAR_STEP) {
        gf_status st = fixture_try_rebuild(&f, "c", &o, &result, &err);
        bool failed = gf_memory_failed();
        gf_memory_fail_at(-1);
        assert_true(failed);
        assert_status(GF_ENOMEM, st);
    }
    fixture_rebuild(&f, "c");
    fixture_check_served(&f, "c", 14);
    fixture_is_sound(&f);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_letter_that_is_there_many_times),
        cmocka_unit_test(copies_pull_no_centre),
        cmocka_unit_test(groups_are_those_of_duplicates),
        cmocka_unit_test(edits_and_topics_hold),
        cmocka_unit_test(the_same_bytes_for_any_number_of_threads),
        cmocka_unit_test(refused_where_there_are_no_rows),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests_name("once", tests, NULL, NULL);
}
