#include "support/test.h"

#include "base/pool.h"
#include "base/random.h"
#include "base/strings.h"
#include "vectorize/rows/surfaces_internal.h"

#include <stdlib.h>
#include <xxhash.h>

/* The slot of s, which is added where it is new, with its count raised. */
static gf_surface *count(gf_surfaces *t, gf_slice s, size_t readable, uint32_t tag)
{
    gf_error err;
    gf_surface_key key;
    gf_surface_make_key(&key, s, readable, tag);
    gf_surfaces_prefetch(t, &key);
    gf_surface *slot = gf_surfaces_find(t, &key, s);
    if (!slot) assert_ok(gf_surfaces_add(t, &key, s, 0, 0, &slot, &err));
    gf_surfaces_meet(t, slot, NULL);
    return slot;
}

static gf_surface *find(const gf_surfaces *t, gf_slice s, uint32_t tag)
{
    gf_surface_key key;
    gf_surface_make_key(&key, s, s.len, tag);
    return gf_surfaces_find(t, &key, s);
}

static void tells_strings_apart(void **state)
{
    (void)state;
    gf_surfaces t = {0};
    const char *words[] = {"a",
                           "aa",
                           "aaa",
                           "b",
                           "aaaaaaaa",
                           "aaaaaaaaa",
                           "aaaaaaaab",
                           "fifteen bytes..",
                           "sixteen bytes...",
                           "seventeen bytes..",
                           "seventeen bytes,,"};
    const size_t n = sizeof words / sizeof *words;
    for (uint32_t tag = 0; tag < 3; tag++)
        for (size_t i = 0; i < n; i++)
            for (size_t times = 0; times <= i; times++)
                count(&t, gf_slice_str(words[i]), strlen(words[i]), tag);
    assert_int_equal(gf_surfaces_count(&t), 3 * n);
    for (uint32_t tag = 0; tag < 3; tag++)
        for (size_t i = 0; i < n; i++) {
            char small[GF_SURFACE_INLINE];
            gf_slice s = gf_slice_str(words[i]);
            gf_surface *slot = find(&t, s, tag);
            assert_non_null(slot);
            assert_int_equal(slot->count, i + 1);
            assert_slice(gf_surface_string(slot, small), words[i]);
        }
    assert_null(find(&t, GF_SLICE("a"), 3));
    gf_surfaces_release(&t);
    assert_null(find(&t, GF_SLICE("a"), 0));
}

/* Equal bytes under many tags: their hashes meet in the table, the tags tell them apart. */
static void tells_tags_apart(void **state)
{
    (void)state;
    gf_surfaces t = {0};
    const gf_slice words[] = {{"a", 1}, {"seventeen bytes..", 17}};
    for (uint32_t tag = 0; tag < 5000; tag++)
        for (size_t i = 0; i < 2; i++)
            count(&t, words[i], words[i].len, tag)->term = tag;
    assert_int_equal(gf_surfaces_count(&t), 10000);
    for (uint32_t tag = 0; tag < 5000; tag++)
        for (size_t i = 0; i < 2; i++)
            assert_int_equal(find(&t, words[i], tag)->term, tag);
    gf_surfaces_release(&t);
}

/* A key does not depend on what stands behind the string, nor on whether it may be read. */
static void reads_only_the_string(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 20; n++) {
        char *exact = malloc(n), room[64];
        memset(exact, 'x', n);
        memset(room, '?', sizeof room);
        memcpy(room, exact, n);
        gf_surface_key a, b;
        gf_surface_make_key(&a, gf_slice_of(exact, n), n, 7);
        gf_surface_make_key(&b, gf_slice_of(room, n), sizeof room, 7);
        assert_true(a.low == b.low && a.high == b.high && a.hash == b.hash);
        free(exact);
    }
}

/* Against a table that is written otherwise. */
static void equals_a_plain_table(void **state)
{
    (void)state;
    gf_error err;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_surfaces t = {0};
    gf_strings plain = {0};
    static uint32_t counts[100000];
    uint32_t id;
    char small[GF_SURFACE_INLINE], word[24];
    for (int i = 0; i < 100000; i++) {
        size_t n = 1 + gf_random_below(&r, 22);
        for (size_t k = 0; k < n; k++)
            word[k] = (char)('a' + gf_random_below(&r, k < 3 ? 20 : 2) * (k < 3 || k > 14));
        gf_slice s = gf_slice_of(word, n);
        assert_ok(gf_strings_add(&plain, s, &id, NULL, &err));
        counts[id]++;
        count(&t, s, n, 1);
    }
    assert_int_equal(gf_surfaces_count(&t), plain.n);
    size_t seen = 0;
    for (size_t i = 0; i <= t.shards->mask; i++) {
        const gf_surface *slot = &t.shards->slots[i];
        if (!slot->length) continue;
        id = gf_strings_find(&plain, gf_surface_string(slot, small));
        assert_int_not_equal(id, GF_STRING_NONE);
        assert_int_equal(slot->count, counts[id]);
        seen++;
    }
    assert_int_equal(seen, plain.n);
    gf_surfaces_release(&t);
    gf_strings_release(&plain);
}

/* ---- several threads ------------------------------------------------------------------------- */

enum { THREADS = 4, TASKS = 64, WORDS_OF_TASK = 4000, DISTINCT = 30000 };

typedef struct meeting {
    gf_surfaces t;
    uint32_t early[THREADS][GF_EARLY_SURFACES];
} meeting;

/* The i-th word of a task: some are met by all tasks all the time, some once. */
static gf_slice word_of(size_t task, size_t i, char word[40])
{
    gf_random r = gf_random_seed(task, i);
    double u = gf_random_unit(&r);
    unsigned w = (unsigned)(DISTINCT * u * u * u);
    int n = snprintf(word, 40, w % 3 ? "w%u" : "a rather long word %u", w);
    return gf_slice_of(word, (size_t)n);
}

static gf_status meet_words(void *context, size_t task, unsigned worker, gf_error *err)
{
    meeting *m = context;
    gf_status st = GF_OK;
    char word[40];
    for (size_t i = 0; i < WORDS_OF_TASK && st == GF_OK; i++) {
        gf_slice s = word_of(task, i, word);
        gf_surface_key key;
        gf_surface *slot;
        gf_surface_make_key(&key, s, s.len, 1);
        gf_surfaces_prefetch(&m->t, &key);
        slot = gf_surfaces_find(&m->t, &key, s);
        uint32_t term = (uint32_t)XXH3_64bits(s.ptr, s.len);
        if (!slot) st = gf_surfaces_add(&m->t, &key, s, term, term & 3, &slot, err);
        if (st != GF_OK) break;
        assert_true(slot->term == term && slot->use == (term & 3));
        gf_surfaces_meet(&m->t, slot, m->early[worker]);
    }
    return st;
}

/* Whoever met what: each string is there once, and has been met as often as one thread counts. */
static void is_shared_by_threads(void **state)
{
    (void)state;
    gf_error err;
    gf_pool *pool;
    char word[40];
    gf_strings plain = {0};
    static uint32_t counts[DISTINCT + 1];
    uint32_t id;
    meeting *m = calloc(1, sizeof *m);
    for (size_t task = 0; task < TASKS; task++)
        for (size_t i = 0; i < WORDS_OF_TASK; i++) {
            assert_ok(gf_strings_add(&plain, word_of(task, i, word), &id, NULL, &err));
            counts[id]++;
        }
    assert_true(plain.n > GF_EARLY_SURFACES);
    assert_ok(gf_surfaces_share(&m->t, 3, &err));
    assert_ok(gf_pool_create(THREADS, &pool, &err));
    for (size_t half = 0; half < 2; half++) { /* settled in between */
        assert_ok(gf_pool_run(pool, TASKS, meet_words, m, NULL, &err));
        gf_surfaces_settle(&m->t);
    }
    gf_pool_free(pool);
    assert_int_equal(gf_surfaces_count(&m->t), plain.n);
    for (id = 0; id < plain.n; id++) {
        gf_slice s = gf_strings_at(&plain, id);
        const gf_surface *slot = find(&m->t, s, 1);
        uint64_t met = slot->count;
        assert_non_null(slot);
        for (unsigned w = 0; slot->early && w < THREADS; w++)
            met += m->early[w][slot->early];
        assert_int_equal(met, 2 * counts[id]);
    }
    gf_surfaces_release(&m->t);
    gf_strings_release(&plain);
    free(m);
}

static gf_status add_many(gf_surfaces *t, gf_error *err)
{
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < 400 && st == GF_OK; i++) {
        char word[32];
        int n = snprintf(word, sizeof word, i % 2 ? "word %u" : "a rather long word %u", i);
        gf_slice s = gf_slice_of(word, (size_t)n);
        gf_surface *slot;
        gf_surface_key key;
        gf_surface_make_key(&key, s, s.len, 0);
        st = gf_surfaces_add(t, &key, s, 0, 0, &slot, err);
    }
    gf_surfaces_release(t);
    return st;
}

static gf_status add_many_alone(void *context, gf_error *err)
{
    (void)context;
    gf_surfaces t = {0};
    return add_many(&t, err);
}

static gf_status add_many_shared(void *context, gf_error *err)
{
    (void)context;
    gf_surfaces t = {0};
    gf_status st = gf_surfaces_share(&t, 2, err);
    return st == GF_OK ? add_many(&t, err) : st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_test_sweep(add_many_alone, NULL, NULL);
    gf_test_sweep(add_many_shared, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_strings_apart),   cmocka_unit_test(tells_tags_apart),
        cmocka_unit_test(reads_only_the_string), cmocka_unit_test(equals_a_plain_table),
        cmocka_unit_test(is_shared_by_threads),  cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("surfaces", tests, NULL, NULL);
}
