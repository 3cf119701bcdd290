/* Documents as counted terms: tiers, n-grams, and their encoding. */
#include "tests/vectorize/settings.h"

#include "base/random.h"
#include "vectorize/rows/counted_rows_internal.h"

#include <stdlib.h>

static gf_vectorizer_options options(const char *const *settings)
{
    gf_vectorizer_options o = gf_vectorizer_options_default();
    o.analysis.language = gf_language_find(GF_SLICE("english"));
    options_set(&o, settings);
    return o;
}

/* Counts as "tier: term count, term count" in order of appearance. */
static void expect(const char *const *settings, const char *text, const char *counts)
{
    static const char *const tiers[] = {"none", "terms", "others", "stops"};
    gf_error err;
    gf_vectorizer_options o = options(settings);
    gf_counter c;
    gf_counts found;
    gf_buffer out = {0};
    uint64_t length = 0;
    assert_ok(gf_document_counts_init(&c, &o.analysis, NULL, true, &err));
    assert_ok(gf_count(&c, GF_SLICE("something else before"), NULL, &found, &err));
    assert_ok(gf_count(&c, gf_slice_str(text), NULL, &found, &err));
    gf_buffer_format(&out, "%s:", tiers[found.tier]);
    for (uint32_t i = 0; i < found.n; i++) {
        gf_slice term = gf_strings_at(gf_analyser_terms(c.analyser), found.term[i]);
        gf_buffer_format(&out, "%s %.*s %u", i ? "," : "", GF_SLICE_ARG(term), found.count[i]);
        length += found.count[i];
    }
    assert_string_equal(gf_buffer_cstr(&out), counts);
    assert_true(found.length == length);
    gf_buffer_release(&out);
    gf_document_counts_release(&c);
}

static void counts_terms(void **state)
{
    (void)state;
    expect(NULL, "Apples, an apple and the APPLE: pears.", "terms: appl 3, pear 1");
    expect(NULL, "", "none:");
    expect(NULL, "... \xF0\x9F\x98\x80 !", "none:");
    expect(NULL, "http://x.org", "none:");
}

static void falls_back_by_tiers(void **state)
{
    (void)state;
    expect(NULL, "the x y x", "others: x 2, y 1");
    expect(NULL, "the of the", "stops: the 2, of 1");
    expect(NULL, "the x pear", "terms: pear 1");
    expect(WITH("max_length", "4"), "x loooong the", "others: x 1, looo 1");
    expect(WITH("numbers", "off"), "42", "none:");
}

static void counts_ngrams(void **state)
{
    (void)state;
    const char *const *two = WITH("ngrams_max", "2");
    const char *const *three = WITH("ngrams_max", "3");
    expect(two, "new york cities", "terms: new 1, york 1, new york 1, citi 1, york citi 1");
    expect(three, "new york cities",
           "terms: new 1, york 1, new york 1, citi 1, york citi 1, new york citi 1");
    expect(two, "new, york", "terms: new 1, york 1");
    expect(two, "new\n\nyork", "terms: new 1, york 1");
    expect(two, "new\nyork", "terms: new 1, york 1, new york 1");
    expect(two, "state of art", "terms: state 1, art 1");
    expect(two, "new http://x.org york", "terms: new 1, york 1");
    expect(two, "vitamin c deficits", "terms: vitamin 1, deficit 1, vitamin deficit 1");
    expect(two, "new york, new york", "terms: new 2, york 2, new york 2");
    expect(WITH("ngrams_min", "2", "ngrams_max", "3"), "new york cities",
           "terms: new york 1, york citi 1, new york citi 1");
    expect(WITH("ngrams_min", "3", "ngrams_max", "3"), "new york", "others: new 1, york 1");
    expect(WITH("ngrams_max", "3", "ngrams_over_stop_words", "on"), "the state of the state of art",
           "terms: state 2, art 1, state of art 1");
    expect(WITH("ngrams_max", "2", "ngrams_over_punctuation", "on"), "new, york. cities",
           "terms: new 1, york 1, new york 1, citi 1, york citi 1");
    expect(WITH("ngrams_max", "2", "urls", "keep"), "new x@y.org york",
           "terms: new 1, x@y.org 1, york 1");
}

/* The texts that were counted for a term, as "text count; ...". */
static void remembers_texts_of_ngrams(void **state)
{
    (void)state;
    gf_error err;
    gf_vectorizer_options o = options(WITH("ngrams_max", "2"));
    gf_counter c;
    gf_counts found;
    char small[GF_SURFACE_INLINE];
    size_t folded = 0, hyphen = 0;
    assert_ok(gf_document_counts_init(&c, &o.analysis, NULL, true, &err));
    assert_ok(gf_count(&c,
                       GF_SLICE("New \n\t York; New\xC2\xA0\xE3\x80\x80York; New York; new-york"),
                       NULL, &found, &err));
    const gf_surfaces *forms = &gf_analyser_dictionary(c.analyser)->forms;
    assert_int_equal(gf_surfaces_count(forms), 2);
    for (size_t i = 0; i <= forms->shards->mask; i++) {
        const gf_surface *slot = &forms->shards->slots[i];
        if (!slot->length) continue;
        gf_slice s = gf_surface_string(slot, small);
        if (gf_slice_equal(s, GF_SLICE("New York"))) folded = slot->count;
        if (gf_slice_equal(s, GF_SLICE("new-york"))) hyphen = slot->count;
    }
    assert_int_equal(folded, 3);
    assert_int_equal(hyphen, 1);
    gf_buffer far = {0}; /* a text that is too long to remember */
    gf_buffer_str(&far, "one");
    for (int i = 0; i < 600; i++)
        gf_buffer_byte(&far, '/');
    gf_buffer_str(&far, "two");
    assert_ok(gf_count(&c, gf_buffer_view(&far), NULL, &found, &err));
    assert_int_equal(found.n, 3);
    assert_int_equal(gf_surfaces_count(forms), 2);
    gf_buffer_release(&far);
    gf_document_counts_release(&c);
}

/* Documents that have a term, once the counter is settled. */
static uint32_t documents_with(const gf_counter *c, const char *term)
{
    gf_error err;
    uint32_t id;
    gf_dictionary *d = gf_analyser_dictionary(c->analyser);
    assert_ok(gf_dictionary_intern(d, gf_slice_str(term), &id, &err));
    return gf_tallies_at(&d->documents, id);
}

static void counts_document_frequencies(void **state)
{
    (void)state;
    gf_error err;
    gf_vectorizer_options o = options(NULL);
    gf_counter c;
    gf_counts found;
    static const char *const texts[] = {"pear pear", "pear plum", "the", "x", "plum pear x"};
    assert_ok(gf_document_counts_init(&c, &o.analysis, NULL, false, &err));
    for (size_t i = 0; i < 5; i++)
        assert_ok(gf_count(&c, gf_slice_str(texts[i]), NULL, &found, &err));
    gf_document_counts_settle(&c);
    assert_int_equal(documents_with(&c, "pear"), 3);
    assert_int_equal(documents_with(&c, "plum"), 2);
    assert_int_equal(documents_with(&c, "the"), 0);
    assert_int_equal(documents_with(&c, "x"), 0);
    gf_document_counts_release(&c);
}

/* Far more terms than there are slots for, in texts of one word to 20,000, beside plain counts. */
static void shares_slots_between_terms(void **state)
{
    (void)state;
    enum { DISTINCT = 60000 };
    static uint32_t df[DISTINCT], times[DISTINCT], left[DISTINCT];
    gf_error err;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    for (int shared = 0; shared < 2; shared++) {
        gf_vectorizer_options o = options(NULL);
        gf_dictionary *d;
        gf_counter c;
        gf_counts found;
        gf_buffer text = {0};
        assert_ok(gf_dictionary_create(shared, &d, &err));
        assert_ok(gf_document_counts_init(&c, &o.analysis, d, true, &err));
        memset(df, 0, sizeof df);
        for (int document = 0; document < 400; document++) {
            uint32_t n = document % 100 == 99 ? 20000 : (uint32_t)gf_random_below(&r, 300),
                     seen = 0;
            gf_buffer_reset(&text);
            memset(times, 0, sizeof times);
            for (uint32_t i = 0; i < n; i++) {
                uint32_t w = (uint32_t)gf_random_below(&r, DISTINCT);
                if (i % 2) w /= 1000;
                gf_buffer_format(&text, "%uq ", w);
                seen += times[w]++ == 0;
                df[w] += times[w] == 1;
            }
            assert_ok(gf_count(&c, gf_buffer_view(&text), NULL, &found, &err));
            assert_int_equal(found.n, seen);
            assert_int_equal(found.length, n);
            memcpy(left, times, sizeof left);
            for (uint32_t i = 0; i < found.n; i++) {
                uint32_t w = (uint32_t)strtoul(gf_dictionary_term(d, found.term[i]).ptr, NULL, 10);
                assert_int_equal(found.count[i], left[w]);
                left[w] = 0;
            }
        }
        gf_document_counts_settle(&c);
        for (uint32_t w = 0; w < DISTINCT; w++) {
            char word[16];
            snprintf(word, sizeof word, "%uq", w);
            if (df[w]) assert_int_equal(documents_with(&c, word), df[w]);
        }
        gf_buffer_release(&text);
        gf_document_counts_release(&c);
        gf_dictionary_free(d);
    }
}

static void encodes_rows(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    for (int round = 0; round < 2000; round++) {
        uint32_t term[50], count[50], n = (uint32_t)gf_random_below(&r, 50), got;
        gf_buffer rows = {0};
        for (uint32_t i = 0; i < n; i++) {
            term[i] = (uint32_t)(gf_random_u64(&r) >> (32 + gf_random_below(&r, 32)));
            count[i] = gf_random_below(&r, 2) ? 1 : 1 + (uint32_t)(gf_random_u64(&r) >> 33);
        }
        gf_counts counts = {.term = term, .count = count, .n = n};
        gf_rows_append(&rows, &counts, (uint32_t)round);
        gf_rows_append(&rows, &counts, (uint32_t)round);
        const unsigned char *p = (const unsigned char *)rows.ptr;
        for (int twice = 0; twice < 2; twice++) {
            uint32_t mark;
            assert_int_equal(gf_rows_head(&p, &mark), n);
            assert_int_equal(mark, round);
            for (uint32_t i = 0; i < n; i++) {
                assert_int_equal(gf_rows_entry(&p, &got), term[i]);
                assert_int_equal(got, count[i]);
            }
        }
        assert_ptr_equal(p, rows.ptr + rows.len);
        gf_buffer_release(&rows);
    }
}

static gf_status count_much(void *context, gf_error *err)
{
    gf_vectorizer_options o = options(WITH("ngrams_max", "3"));
    gf_counter c = {0};
    gf_counts found;
    gf_status st = gf_document_counts_init(&c, &o.analysis, NULL, true, err);
    for (int i = 0; i < 2 && st == GF_OK; i++)
        st = gf_count(&c, *(gf_slice *)context, NULL, &found, err);
    gf_document_counts_release(&c);
    return st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_buffer text = {0};
    for (int i = 0; i < 500; i++)
        gf_buffer_format(&text, "word%d ", i);
    gf_slice s = gf_buffer_view(&text);
    gf_test_sweep(count_much, NULL, &s);
    gf_buffer_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_terms),
        cmocka_unit_test(falls_back_by_tiers),
        cmocka_unit_test(counts_ngrams),
        cmocka_unit_test(remembers_texts_of_ngrams),
        cmocka_unit_test(counts_document_frequencies),
        cmocka_unit_test(shares_slots_between_terms),
        cmocka_unit_test(encodes_rows),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("counts", tests, NULL, NULL);
}
