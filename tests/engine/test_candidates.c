#include "tests/engine/fixture.h"

#include "base/memory.h"
#include "base/random.h"

#include <string.h>

enum { RUNS = 100, MOST_FALSE = 5, PENDING = 60 };

/* The posts of the fixture as lines: those that the build has, and those that come after it. */
typedef struct halves {
    gf_buffer file, build, pending;
    size_t n_build, n_pending;
} halves;

static void add_line(halves *h, gf_slice line, bool is_pending)
{
    gf_buffer *to = is_pending ? &h->pending : &h->build;
    gf_buffer_slice(to, line);
    gf_buffer_byte(to, '\n');
    ++*(is_pending ? &h->n_pending : &h->n_build);
}

static void reset_halves(halves *h)
{
    gf_buffer_reset(&h->build);
    gf_buffer_reset(&h->pending);
    h->n_build = h->n_pending = 0;
}

static void release_halves(halves *h)
{
    gf_buffer_release(&h->file);
    gf_buffer_release(&h->build);
    gf_buffer_release(&h->pending);
}

/* Documents of a label come later, all others are there before. */
static void divide_by_label(halves *h, const char *label)
{
    gf_slice rest = gf_buffer_view(&h->file), line;
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"label\": \"%s\"", label);
    reset_halves(h);
    while (gf_test_next_line(&rest, &line))
        add_line(h, line, memmem(line.ptr, line.len, wanted, strlen(wanted)) != NULL);
}

static void divide_at_random(halves *h, gf_random *random)
{
    gf_slice rest = gf_buffer_view(&h->file), line;
    size_t left = FIXTURE_POSTS, wanted = PENDING;
    reset_halves(h);
    for (; gf_test_next_line(&rest, &line); left--) {
        bool taken = gf_random_below(random, left) < wanted;
        add_line(h, line, taken);
        wanted -= taken;
    }
}

typedef struct told {
    size_t n;       /* candidates */
    uint64_t size;  /* of all */
    char label[64]; /* of the largest */
    gf_buffer all;
    fixture *f;
} told;

static gf_status note_candidate(void *context, const gf_new_group *c, gf_error *err)
{
    told *t = context;
    (void)err;
    assert_true(c->size >= 5 && c->label.len && c->n_terms && c->n_documents);
    assert_true(c->p > 0 && c->p <= 0.05);
    for (size_t i = 1; i < c->n_documents; i++)
        assert_true(c->score[i - 1] >= c->score[i]);
    if (t->n++ == 0) snprintf(t->label, sizeof t->label, "%.*s", GF_SLICE_ARG(c->label));
    t->size += c->size;
    gf_buffer_slice(&t->all, c->label);
    for (size_t i = 0; i < c->n_documents; i++)
        gf_buffer_slice(&t->all, c->id[i]);
    return GF_OK;
}

static gf_status find_candidates(void *context, gf_error *err)
{
    told *t = context;
    gf_view *view;
    t->n = t->size = 0;
    gf_buffer_reset(&t->all);
    gf_status st = gf_view_open(t->f->store, fixture_place("c"), fixture_default(), 0, &view, err);
    if (st != GF_OK) return st;
    st = gf_view_candidates(view, 0, NULL, note_candidate, t, err);
    gf_view_close(view);
    return st == GF_OK ? gf_buffer_check(&t->all, err) : st;
}

static void put_halves(fixture *f, const halves *h)
{
    fixture_put_records(f, "c", gf_buffer_view(&h->build), h->n_build);
    fixture_set(f, "c", "default", "k", "5");
    fixture_rebuild(f, "c");
    fixture_put_records(f, "c", gf_buffer_view(&h->pending), h->n_pending);
}

static void drop_collection(fixture *f)
{
    gf_error err;
    assert_ok(gf_collection_delete(f->store, fixture_place("c"), &err));
}

/* ---- what is new is told of ------------------------------------------------------------------ */

static void a_subject_that_comes_later_is_new(void **state)
{
    (void)state;
    static const char *const labels[] = {"lockpicking", "bikecommuting", "aquaponics"};
    fixture f;
    gf_error err;
    halves h = {.n_build = 0};
    told t = {.f = &f};
    gf_test_read_source("tests/engine/data/posts.jsonl", &h.file);
    fixture_open(&f);
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        divide_by_label(&h, labels[i]);
        assert_true(h.n_pending >= 30);
        put_halves(&f, &h);
        assert_ok(find_candidates(&t, &err));
        if (t.n == 0) fail_msg("%s: nothing is new", labels[i]);
        print_message("%s: %zu of %zu posts in %zu groups, \"%s\"\n", labels[i], (size_t)t.size,
                      h.n_pending, t.n, t.label);
        assert_true(t.size * 4 >= h.n_pending); /* short posts: not all have one of its words */
        if (i == 0) gf_test_sweep(find_candidates, NULL, &t);
        fixture_rebuild(&f, "c");
        assert_ok(find_candidates(&t, &err));
        assert_int_equal(t.n, 0); /* they are in clusters now */
        drop_collection(&f);
    }
    gf_buffer_release(&t.all);
    release_halves(&h);
    fixture_close(&f);
}

/* Of a cluster whose worst members were deleted, those that are left say what fits. */
static void deleted_members_say_nothing_of_what_fits(void **state)
{
    (void)state;
    enum { GOOD = 12, POOR = 30, OTHER = 40, NEW = 12 };
    fixture f;
    gf_error err;
    char id[8], text[64];
    told t = {.f = &f};
    fixture_open(&f);
    for (unsigned i = 0; i < GOOD + POOR + OTHER; i++) {
        snprintf(id, sizeof id, "%c%u", i < GOOD ? 'g' : i < GOOD + POOR ? 'p' : 'o', i);
        snprintf(text, sizeof text, "cat rare%u seldom%u", i / 2, i / 2);
        bool poor = id[0] == 'p';
        fixture_put(&f, "c", id, poor ? text : id[0] == 'g' ? "cat dog leash" : "engine brakes");
    }
    fixture_set(&f, "c", "default", "k", "2");
    fixture_rebuild(&f, "c");
    for (unsigned i = GOOD; i < GOOD + POOR; i++) {
        snprintf(id, sizeof id, "p%u", i);
        fixture_delete(&f, "c", id);
    }
    for (unsigned i = 0; i < NEW; i++) {
        snprintf(id, sizeof id, "n%u", i);
        fixture_put(&f, "c", id, "cat dog sturgeon");
    }
    assert_ok(find_candidates(&t, &err));
    assert_int_equal(t.n, 1);
    assert_int_equal(t.size, NEW);
    gf_buffer_release(&t.all);
    fixture_close(&f);
}

static void nothing_is_new_where_nothing_came(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    told t = {.f = &f};
    fixture_open(&f);
    fixture_put_subjects(&f, "c");
    fixture_rebuild(&f, "c");
    assert_ok(find_candidates(&t, &err));
    assert_int_equal(t.n, 0);
    for (int i = 0; i < 4; i++) { /* fewer than are a group */
        char id[8];
        snprintf(id, sizeof id, "n%d", i);
        fixture_put(&f, "c", id, "volcano eruption ash");
    }
    assert_ok(find_candidates(&t, &err));
    assert_int_equal(t.n, 0);
    gf_buffer_release(&t.all);
    fixture_close(&f);
}

/* ---- false alarms ---------------------------------------------------------------------------- */

/* Posts in a random order of time: the last fifth is as the rest, so nothing about it is new. */
static void shuffled_times_tell_of_hardly_anything(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    halves h = {.n_build = 0};
    told t = {.f = &f};
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    size_t alarms = 0;
    gf_test_read_source("tests/engine/data/posts.jsonl", &h.file);
    fixture_open(&f);
    for (int run = 0; run < RUNS; run++) {
        divide_at_random(&h, &random);
        assert_int_equal(h.n_pending, PENDING);
        put_halves(&f, &h);
        assert_ok(find_candidates(&t, &err));
        alarms += t.n > 0;
        drop_collection(&f);
    }
    print_message("%zu of %d runs tell of anything\n", alarms, (int)RUNS);
    assert_true(alarms <= MOST_FALSE);
    gf_buffer_release(&t.all);
    release_halves(&h);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_subject_that_comes_later_is_new),
        cmocka_unit_test(deleted_members_say_nothing_of_what_fits),
        cmocka_unit_test(nothing_is_new_where_nothing_came),
        cmocka_unit_test(shuffled_times_tell_of_hardly_anything),
    };
    return cmocka_run_group_tests_name("candidates", tests, NULL, NULL);
}
