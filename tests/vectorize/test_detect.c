#include "support/test.h"

#include "vectorize/text/detect.h"

static const struct {
    const char *text, *code, *name;
} samples[] = {
    {"All human beings are born free and equal in dignity and rights. They are endowed with reason "
     "and conscience and should act towards one another in a spirit of brotherhood.",
     "en", "english"},
    {"Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und "
     "Gewissen begabt und sollen einander im Geist der Brüderlichkeit begegnen.",
     "de", "german"},
    {"Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de "
     "raison et de conscience et doivent agir les uns envers les autres.",
     "fr", "french"},
    {"Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом "
     "и совестью и должны поступать в отношении друг друга в духе братства.",
     "ru", "russian"},
    {"人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。", "zh",
     "chinese"},
    {"すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。", "ja",
     "japanese"},
    {"Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni "
     "obdarzeni rozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa.",
     "pl", NULL},
};
enum { SAMPLES = sizeof samples / sizeof *samples };

static void detects_languages(void **state)
{
    (void)state;
    gf_error err;
    for (size_t i = 0; i < SAMPLES; i++) {
        gf_detection d;
        assert_ok(gf_language_detect(gf_slice_str(samples[i].text), &d, &err));
        assert_string_equal(d.code, samples[i].code);
        assert_true(d.reliable);
        if (samples[i].name)
            assert_string_equal(d.language->name, samples[i].name);
        else
            assert_null(d.language);
    }
}

static void says_when_it_does_not_know(void **state)
{
    (void)state;
    gf_error err;
    const char *none[] = {"", "7", "...", "\xF0\x9F\x98\x80", "xqzt"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        gf_detection d = {.reliable = true};
        assert_ok(gf_language_detect(gf_slice_str(none[i]), &d, &err));
        assert_false(d.reliable);
    }
}

/* Bad bytes, a text longer than what is looked at, a cut through a character. */
static void takes_any_bytes(void **state)
{
    (void)state;
    gf_error err;
    gf_detection d;
    gf_buffer text = {0};
    gf_buffer_str(&text, "\xFF\xC3 ");
    gf_buffer_str(&text, samples[1].text);
    gf_buffer_str(&text, "\xE2\x82");
    assert_ok(gf_language_detect(gf_buffer_view(&text), &d, &err));
    assert_string_equal(d.code, "de");
    gf_buffer_reset(&text);
    gf_buffer_str(&text, "x");
    while (text.len < (size_t)GF_DETECT_BYTES * 2)
        gf_buffer_str(&text, samples[3].text);
    assert_ok(gf_language_detect(gf_buffer_view(&text), &d, &err));
    assert_string_equal(d.code, "ru");
    gf_buffer_reset(&text);
    for (int i = 0; i < 5000; i++)
        gf_buffer_byte(&text, (char)(0x80 + i % 0x80));
    assert_ok(gf_language_detect(gf_buffer_view(&text), &d, &err));
    gf_buffer_release(&text);
}

static gf_dominance dominance_of(const gf_slice *texts, size_t n)
{
    gf_error err;
    gf_dominance d;
    assert_ok(gf_dominant_language(texts, n, NULL, &d, NULL, &err));
    return d;
}

static void finds_what_dominates(void **state)
{
    (void)state;
    gf_slice texts[120];
    for (size_t i = 0; i < 100; i++)
        texts[i] = gf_slice_str(samples[i < 95 ? 0 : 1].text);
    for (size_t i = 100; i < 120; i++)
        texts[i] = GF_SLICE("xqzt"); /* not reliable: counts for nothing */
    gf_dominance d = dominance_of(texts, 120);
    assert_string_equal(d.language->name, "english");
    assert_string_equal(d.code, "en");
    assert_int_equal(d.n_reliable, 100);
    assert_near(d.share, 0.95, 1e-12);
    texts[0] = gf_slice_str(samples[2].text); /* one less, and it is mixed */
    d = dominance_of(texts, 100);
    assert_null(d.language);
    assert_string_equal(d.code, "en");
    for (size_t i = 0; i < 100; i++)
        texts[i] = gf_slice_str(samples[SAMPLES - 1].text);
    d = dominance_of(texts, 100); /* one language, and none that we stem */
    assert_null(d.language);
    assert_string_equal(d.code, "pl");
    assert_near(d.share, 1, 0);
    d = dominance_of(texts, 0);
    assert_null(d.language);
    assert_string_equal(d.code, "");
    assert_int_equal(d.n_reliable, 0);
}

/* A fifth is enough where it says the same; else all count. Whatever the number of threads. */
static void looks_at_no_more_than_it_must(void **state)
{
    (void)state;
    gf_error err;
    gf_slice texts[500];
    gf_pool *pool;
    assert_ok(gf_pool_create(3, &pool, &err));
    for (size_t others = 0; others <= 60; others += 2) {
        for (size_t i = 0; i < 500; i++)
            texts[i] = gf_slice_str(samples[i % 5 == 0 && i / 5 < others ? 1 : 0].text);
        gf_dominance d = dominance_of(texts, 500), same;
        assert_int_equal(d.n_reliable, others == 0 ? 100 : others == 2 ? 200 : d.n_reliable);
        if (others >= 8) assert_int_equal(d.n_reliable, 500);
        if (others >= 8) assert_near(d.share, (double)(500 - others) / 500, 1e-12);
        assert_int_equal(d.language != NULL, others <= 25);
        assert_ok(gf_dominant_language(texts, 500, pool, &same, NULL, &err));
        assert_ptr_equal(same.language, d.language);
        assert_int_equal(same.n_reliable, d.n_reliable);
        assert_near(same.share, d.share, 0);
    }
    gf_pool_free(pool);
}

static void stops_on_request(void **state)
{
    (void)state;
    gf_error err;
    gf_cancel cancel = {0};
    gf_slice text = gf_slice_str(samples[0].text);
    gf_dominance d = {.n_reliable = 77};
    gf_cancel_request(&cancel);
    assert_status(GF_ECANCELLED, gf_dominant_language(&text, 1, NULL, &d, &cancel, &err));
    assert_int_equal(d.n_reliable, 77);
}

static gf_status detect_all(void *context, gf_error *err)
{
    (void)context;
    gf_dominance d;
    gf_slice texts[SAMPLES + 1];
    for (size_t i = 0; i < SAMPLES; i++)
        texts[i] = gf_slice_str(samples[i].text);
    texts[SAMPLES] = GF_SLICE("bad \xFF bytes");
    return gf_dominant_language(texts, SAMPLES + 1, NULL, &d, NULL, err);
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_test_sweep(detect_all, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(detects_languages),
        cmocka_unit_test(says_when_it_does_not_know),
        cmocka_unit_test(takes_any_bytes),
        cmocka_unit_test(finds_what_dominates),
        cmocka_unit_test(looks_at_no_more_than_it_must),
        cmocka_unit_test(stops_on_request),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("detect", tests, NULL, NULL);
}
