#include "tests/engine/fixture.h"

#include "base/random.h"

#include <string.h>

enum { COPIES = 20, MOST = 120 };

typedef struct answer {
    char id[32];
    double cosine; /* 0: none */
} answer;

typedef struct asked {
    char id[MOST][32]; /* n: in their order */
    size_t n;
    answer of[MOST];
} asked;

static asked last;

static void copy_id(int i, char id[32])
{
    snprintf(id, 32, "%c%02d", i % 2 ? '0' : 'z', i);
}

/* 200 posts, and 20 that are some of them with a word more. */
static void put_all(fixture *f)
{
    static const char *const copies[] = {
        "A silly little comic about language learning that hits close to home",
        "A silly little comic about language learning",
        "Nice guide on how to pick a lock with a rake and a wrench",
        "Nice guide on how to pick a lock with a rake"};
    char id[32];
    fixture_put_posts(f, "c", 200);
    for (int i = 0; i < COPIES; i++) {
        copy_id(i, id);
        fixture_put(f, "c", id, copies[(i / 2) % 4]);
    }
}

static gf_status note_answer(void *context, size_t number, gf_slice id, double cosine,
                             gf_error *err)
{
    asked *a = context;
    (void)err;
    assert_true(number < a->n);
    assert_true(a->of[number].cosine == 0);
    snprintf(a->of[number].id, sizeof a->of[number].id, "%.*s", GF_SLICE_ARG(id));
    a->of[number].cosine = cosine;
    return GF_OK;
}

static gf_status ask(fixture *f, asked *a, double least, unsigned threads, gf_error *err)
{
    gf_slice ids[MOST];
    for (size_t i = 0; i < a->n; i++) {
        ids[i] = gf_slice_str(a->id[i]);
        a->of[i].cosine = 0;
    }
    return gf_nearest_earlier(
        f->store, fixture_place("c"),
        &GF_NEAREST_EARLIER_OPTIONS(.ids = ids, .n = a->n, .least = least, .threads = threads),
        note_answer, a, err);
}

/* ---- by all that `similar` tells ------------------------------------------------------------- */

typedef struct expected {
    const asked *a;
    size_t number;
    double least;
    answer best;
} expected;

static gf_status take_similar(void *context, const gf_hit *hit, gf_error *err)
{
    expected *e = context;
    char id[32];
    (void)err;
    snprintf(id, sizeof id, "%.*s", GF_SLICE_ARG(hit->document->id));
    if (hit->score < e->least || e->best.cosine > hit->score) return GF_OK;
    for (size_t i = e->number; i < e->a->n; i++)
        if (strcmp(e->a->id[i], id) == 0) return GF_OK;
    if (e->best.cosine == hit->score && strcmp(e->best.id, id) < 0) return GF_OK;
    e->best.cosine = hit->score;
    snprintf(e->best.id, sizeof e->best.id, "%s", id);
    return GF_OK;
}

static size_t check(fixture *f, asked *a, double least)
{
    gf_error err;
    size_t found = 0;
    assert_ok(ask(f, a, least, 2, &err));
    for (size_t i = 0; i < a->n; i++) {
        expected e = {.a = a, .number = i, .least = least};
        assert_ok(gf_similar(f->store, fixture_place("c"),
                             &GF_SIMILAR_OPTIONS(.id = gf_slice_str(a->id[i])), take_similar, &e,
                             &err));
        if (e.best.cosine != a->of[i].cosine ||
            (e.best.cosine > 0 && strcmp(e.best.id, a->of[i].id) != 0))
            fail_msg("%s at %g: %s %g, expected %s %g", a->id[i], least, a->of[i].id,
                     a->of[i].cosine, e.best.id, e.best.cosine);
        found += e.best.cosine > 0;
    }
    return found;
}

static gf_status list_id(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    asked *all = context;
    (void)m, (void)err;
    if (all->n < MOST) snprintf(all->id[all->n++], sizeof all->id[0], "%.*s", GF_SLICE_ARG(id));
    return GF_OK;
}

/* Any documents in any order, few or many, with an index or not. */
static void the_nearest_of_all_before(void **state)
{
    (void)state;
    static const double least[] = {0.05, 0.3, 0.5, 0.8, 1};
    static asked all;
    fixture f;
    gf_view *v;
    gf_error err;
    gf_random r = gf_random_seed(gf_test_seed(), 3);
    fixture_open(&f);
    put_all(&f);
    fixture_rebuild(&f, "c");
    assert_ok(gf_view_open(f.store, fixture_place("c"), fixture_default(), 0, &v, &err));
    assert_ok(gf_view_memberships(v, list_id, &all, &err));
    gf_view_close(v);
    fixture_put(&f, "c", "new", "A silly comic about language learning");
    fixture_put(&f, "c", "01", "Nice guide on how to pick a lock");
    for (int round = 0; round < 12; round++) {
        last.n = round % 3 ? 1 + gf_random_below(&r, 8) : 40 + gf_random_below(&r, 60);
        for (size_t i = 0; i < last.n; i++) { /* some of the copies in each */
            size_t at = gf_random_below(&r, MOST);
            snprintf(last.id[i], sizeof last.id[i], "%s", all.id[at]);
            for (size_t j = 0; j < i; j++)
                if (strcmp(last.id[i], last.id[j]) == 0) last.id[i][0] = 0;
            if (!last.id[i][0]) snprintf(last.id[i], sizeof last.id[i], "%s", i ? "new" : "01");
            for (size_t j = 0; j < i; j++)
                if (strcmp(last.id[i], last.id[j]) == 0) {
                    last.n = i;
                    break;
                }
        }
        check(&f, &last, least[round % 5]);
    }
    last.n = COPIES; /* each has one of the posts before it, whatever the seed */
    for (int i = 0; i < COPIES; i++)
        copy_id(i, last.id[i]);
    assert_int_equal(check(&f, &last, 0.5), COPIES);
    fixture_close(&f);
}

/* ---- by hand --------------------------------------------------------------------------------- */

static void by_hand(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    asked a = {.id = {"b", "a", "gone", "c"}, .n = 4};
    fixture_open(&f);
    assert_status(GF_ENOTFOUND, ask(&f, &a, 0.8, 1, &err));
    fixture_put_subjects(&f, "c");
    assert_status(GF_ENOTFOUND, ask(&f, &a, 0.8, 1, &err));
    fixture_rebuild(&f, "c");
    fixture_put(&f, "c", "a", "a comet passed the star and its planets");
    fixture_put(&f, "c", "b", "the comet passed a star and planets");
    fixture_put(&f, "c", "c", "nothing that is known");
    assert_ok(ask(&f, &a, 0.8, 1, &err));
    assert_string_equal(a.of[0].id, "009"); /* which was there before */
    assert_near(a.of[0].cosine, 1, 1e-6);
    assert_string_equal(a.of[1].id, "009"); /* of several, the first by id */
    assert_true(a.of[2].cosine == 0 && a.of[3].cosine == 0);
    fixture_delete(&f, "c", "009");
    assert_ok(ask(&f, &a, 0.8, 1, &err));
    assert_true(a.of[0].cosine == 0); /* it came before the other */
    assert_string_equal(a.of[1].id, "b");
    assert_status(GF_EINVAL, ask(&f, &a, 1.5, 1, &err));
    assert_status(GF_EINVAL, ask(&f, &a, -1, 1, &err));
    fixture_close(&f);
}

/* ---- failing allocations --------------------------------------------------------------------- */

static gf_status ask_again(void *context, gf_error *err)
{
    return ask(context, &last, 0.3, 1, err);
}

static void failing_allocations(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_rebuild(&f, "c");
    for (last.n = 0; last.n < 12; last.n++)
        snprintf(last.id[last.n], sizeof last.id[0], "%03d", (int)last.n);
    gf_test_sweep(ask_again, NULL, &f);
    last.n = 2;
    gf_test_sweep(ask_again, NULL, &f);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(the_nearest_of_all_before),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests_name("nearest_earlier", tests, NULL, NULL);
}
