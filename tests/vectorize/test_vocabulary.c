#include "support/test.h"

#include "base/random.h"
#include "vectorize/rows/vocabulary.h"

#include <xxhash.h>

/* Three regular terms and one rescue term. */
static const gf_slice terms[] = {{"new", 3}, {"connect", 7}, {"new york", 8}, {"zzz", 3}};
static const gf_slice surfaces[] = {{"New", 3}, {"connected", 9}, {"New York", 8}, {"Zzz", 3}};
static const uint32_t dfs[] = {7, 2, 2, 1};
static const gf_vocabulary_parts parts = {
    .n_docs = 10, .n_terms = 4, .n_regular = 3, .df = dfs, .term = terms, .surface = surfaces};

static void holds_terms(void **state)
{
    (void)state;
    gf_error err;
    gf_vocabulary v;
    assert_ok(gf_vocabulary_init(&v, &parts, &err));
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(gf_slice_equal(gf_vocabulary_term(&v, i), terms[i]));
        assert_true(gf_slice_equal(gf_vocabulary_surface(&v, i), surfaces[i]));
        assert_int_equal(gf_vocabulary_find(&v, terms[i]), i);
        assert_int_equal(v.df[i], dfs[i]);
    }
    assert_near(v.idf[0], 0.3566749439, 1e-9); /* ln(10/7) */
    assert_near(v.idf[1], 1.609437912, 1e-9);  /* ln(10/2) */
    assert_near(v.idf[3], 1, 0);
    assert_int_equal(gf_vocabulary_find(&v, GF_SLICE("New")), GF_TERM_NONE);
    assert_int_equal(gf_vocabulary_find(&v, GF_SLICE("")), GF_TERM_NONE);
    gf_vocabulary_release(&v);
    assert_int_equal(gf_vocabulary_find(&v, GF_SLICE("new")), GF_TERM_NONE);
}

static void refuses_the_same_term_twice(void **state)
{
    (void)state;
    gf_error err;
    const gf_slice twice[] = {{"a", 1}, {"b", 1}, {"a", 1}};
    gf_vocabulary v = {.n_docs = 77};
    gf_vocabulary_parts p = {
        .n_docs = 10, .n_terms = 3, .n_regular = 3, .df = dfs, .term = twice, .surface = twice};
    assert_status(GF_EINVAL, gf_vocabulary_init(&v, &p, &err));
    assert_int_equal(v.n_docs, 77);
}

static void assert_same(const gf_vocabulary *a, const gf_vocabulary *b)
{
    assert_int_equal(a->n_docs, b->n_docs);
    assert_int_equal(a->n_terms, b->n_terms);
    assert_int_equal(a->n_regular, b->n_regular);
    assert_int_equal(a->idf_kind, b->idf_kind);
    for (uint32_t i = 0; i < a->n_terms; i++) {
        assert_int_equal(a->df[i], b->df[i]);
        assert_true(a->idf[i] == b->idf[i]);
        assert_true(gf_slice_equal(gf_vocabulary_term(a, i), gf_vocabulary_term(b, i)));
        assert_true(gf_slice_equal(gf_vocabulary_surface(a, i), gf_vocabulary_surface(b, i)));
        assert_int_equal(gf_vocabulary_find(b, gf_vocabulary_term(a, i)), i);
    }
}

static void writes_and_reads(void **state)
{
    (void)state;
    gf_error err;
    gf_vocabulary v, read;
    gf_buffer bytes = {0};
    gf_buffer_str(&bytes, "before"); /* a vocabulary may stand anywhere in a buffer */
    assert_ok(gf_vocabulary_init(&v, &parts, &err));
    gf_vocabulary_write(&v, &bytes);
    assert_ok(gf_buffer_check(&bytes, &err));
    assert_ok(gf_vocabulary_read(gf_slice_skip(gf_buffer_view(&bytes), 6), &read, &err));
    assert_same(&v, &read);
    gf_vocabulary_release(&v);
    gf_vocabulary_release(&read);
    gf_buffer_release(&bytes);
}

static void reads_an_empty_one(void **state)
{
    (void)state;
    gf_error err;
    gf_vocabulary v, read;
    gf_buffer bytes = {0};
    gf_vocabulary_parts none = {.n_docs = 0};
    assert_ok(gf_vocabulary_init(&v, &none, &err));
    gf_vocabulary_write(&v, &bytes);
    assert_ok(gf_vocabulary_read(gf_buffer_view(&bytes), &read, &err));
    assert_int_equal(read.n_terms, 0);
    assert_int_equal(gf_vocabulary_find(&read, GF_SLICE("a")), GF_TERM_NONE);
    gf_vocabulary_release(&v);
    gf_vocabulary_release(&read);
    gf_buffer_release(&bytes);
}

/* The right checksum behind other bytes. */
static void sign(gf_buffer *bytes)
{
    uint64_t sum = XXH3_64bits(bytes->ptr, bytes->len);
    gf_buffer_u64be(bytes, sum);
}

/* The bytes by hand, so that the format is pinned. */
static void has_the_written_format(void **state)
{
    (void)state;
    gf_error err;
    gf_vocabulary v;
    gf_buffer got = {0}, want = {0};
    gf_buffer_append(&want,
                     "GFvocab\x01\x0A\x03\x04\x00" /* 10 documents, 3 regular of 4, idf log */
                     "\x03\x05\x00\x09"            /* df 10-3, 7-5, 2-0; 10-9 */
                     "\x03new\x00\x03New"
                     "\x07"
                     "connect\x07\x02"
                     "ed"
                     "\x08new york\x00\x08New York"
                     "\x03zzz\x00\x03Zzz",
                     8 + 4 + 4 + 9 + 12 + 19 + 9);
    sign(&want);
    assert_ok(gf_vocabulary_init(&v, &parts, &err));
    gf_vocabulary_write(&v, &got);
    assert_int_equal(got.len, want.len);
    assert_memory_equal(got.ptr, want.ptr, want.len);
    gf_vocabulary_release(&v);
    gf_buffer_release(&got);
    gf_buffer_release(&want);
}

/* Bytes that lie, under a right checksum. */
static void refuses_lies(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
    } lies[] = {
        {"GFvocab\x02\x01\x00\x00\x00", 12},                 /* another version */
        {"GFvocab\x01\x01\x01\x00\x00", 12},                 /* more regular terms than terms */
        {"GFvocab\x01\x01\x00\xFF\xFF\xFF\xFF\x0F\x00", 16}, /* 2^32 - 1 terms in no bytes */
        {"GFvocab\x01\x01\x00\x00\x07", 12},                 /* no such idf */
        {"GFvocab\x01\x01\x00\x00\x00 ", 13},                /* bytes behind */
        {"GFvocab\x01\x01\x01\x01\x00\x01\x01"
         "a\x01\x00",
         17},                                                    /* df 0 */
        {"GFvocab\x01\x01\x01\x01\x00\x00\x00\x00\x00\x00", 17}, /* an empty term */
        {"GFvocab\x01\x01\x01\x01\x00\x00\x01"
         "a\x02\x00",
         17}, /* shares more than there is */
        {"GFvocab\x01\x01\x01\x01\x00\x00\x01"
         "a\x00\x00",
         17},                                                    /* an empty surface */
        {"GFvocab\x01\x01\x01\x01\x00\x00\x01\xFF\x01\x00", 17}, /* no UTF-8 */
        {"GFvocab\x01\x01\x01\x01\x00\x00\x05"
         "a\x01\x00",
         17}, /* a string past the end */
        {"GFvocab\x01\x01\x02\x02\x00\x00\x00\x01"
         "b\x01\x00\x01"
         "a\x01\x00",
         22}, /* order */
        {"GFvocab\x01\x01\x01\x02\x00\x00\x00\x01"
         "a\x01\x00\x01"
         "a\x01\x00",
         22}, /* twice */
        {"", 0},
        {"GFvocab", 7},
    };
    gf_error err;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        gf_vocabulary v = {.n_docs = 77};
        gf_buffer bytes = {0};
        gf_buffer_append(&bytes, lies[i].bytes, lies[i].n);
        sign(&bytes);
        gf_status st = gf_vocabulary_read(gf_buffer_view(&bytes), &v, &err);
        if (st != GF_ECORRUPT) fail_msg("lie %zu: %s", i, gf_status_name(st));
        assert_int_equal(v.n_docs, 77);
        gf_buffer_release(&bytes);
    }
}

/* A vocabulary of n random terms. */
static void random_vocabulary(gf_random *r, uint32_t n, gf_vocabulary *v)
{
    gf_error err;
    gf_buffer strings = {0};
    gf_slice term[200], surface[200];
    uint32_t df[200], n_regular = (uint32_t)gf_random_below(r, n + 1), last = 0;
    gf_buffer_reserve(&strings, 200 * 40); /* so that the slices hold */
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || i == n_regular) last = 1000;
        last -= (uint32_t)gf_random_below(r, 4);
        df[i] = last;
        size_t at = strings.len;
        gf_buffer_format(&strings, "%03u%c", i, (int)('a' + gf_random_below(r, 26)));
        term[i] = gf_slice_of(strings.ptr + at, strings.len - at);
        at = strings.len;
        gf_buffer_format(&strings, gf_random_below(r, 2) ? "%03uX%llu" : "Y%u%llu", i,
                         (unsigned long long)gf_random_below(r, 1000));
        surface[i] = gf_slice_of(strings.ptr + at, strings.len - at);
    }
    gf_vocabulary_parts p = {.n_docs = 1000,
                             .n_terms = n,
                             .n_regular = n_regular,
                             .idf_kind = (gf_idf)gf_random_below(r, 4),
                             .df = df,
                             .term = term,
                             .surface = surface};
    assert_ok(gf_vocabulary_init(v, &p, &err));
    gf_buffer_release(&strings);
}

static void round_trips_and_survives_damage(void **state)
{
    (void)state;
    gf_error err;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    for (int i = 0; i < 300; i++) {
        gf_vocabulary v, read;
        gf_buffer bytes = {0};
        random_vocabulary(&r, (uint32_t)gf_random_below(&r, 200), &v);
        gf_vocabulary_write(&v, &bytes);
        assert_ok(gf_vocabulary_read(gf_buffer_view(&bytes), &read, &err));
        assert_same(&v, &read);
        gf_vocabulary_release(&read);
        for (int k = 0; k < 20; k++) { /* a damaged byte, with and without a right checksum */
            size_t at = (size_t)gf_random_below(&r, bytes.len);
            char was = bytes.ptr[at];
            bytes.ptr[at] = (char)(was + 1 + (int)gf_random_below(&r, 255));
            assert_status(GF_ECORRUPT, gf_vocabulary_read(gf_buffer_view(&bytes), &read, &err));
            gf_buffer forged = {0};
            gf_buffer_append(&forged, bytes.ptr, bytes.len - 8);
            sign(&forged);
            gf_status st = gf_vocabulary_read(gf_buffer_view(&forged), &read, &err);
            assert_true(st == GF_OK || st == GF_ECORRUPT);
            if (st == GF_OK) gf_vocabulary_release(&read);
            gf_buffer_release(&forged);
            bytes.ptr[at] = was;
        }
        gf_slice cut = gf_slice_of(bytes.ptr, (size_t)gf_random_below(&r, bytes.len));
        assert_status(GF_ECORRUPT, gf_vocabulary_read(cut, &read, &err));
        gf_vocabulary_release(&v);
        gf_buffer_release(&bytes);
    }
}

static gf_status write_and_read(void *context, gf_error *err)
{
    (void)context;
    gf_vocabulary v = {0}, read = {0};
    gf_buffer bytes = {0};
    gf_status st = gf_vocabulary_init(&v, &parts, err);
    if (st == GF_OK) gf_vocabulary_write(&v, &bytes);
    if (st == GF_OK) st = gf_buffer_check(&bytes, err);
    if (st == GF_OK) st = gf_vocabulary_read(gf_buffer_view(&bytes), &read, err);
    if (st != GF_OK) assert_int_equal(read.n_terms, 0);
    gf_vocabulary_release(&v);
    gf_vocabulary_release(&read);
    gf_buffer_release(&bytes);
    return st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_test_sweep(write_and_read, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_terms),
        cmocka_unit_test(refuses_the_same_term_twice),
        cmocka_unit_test(writes_and_reads),
        cmocka_unit_test(reads_an_empty_one),
        cmocka_unit_test(has_the_written_format),
        cmocka_unit_test(refuses_lies),
        cmocka_unit_test(round_trips_and_survives_damage),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("vocabulary", tests, NULL, NULL);
}
