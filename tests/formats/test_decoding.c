#include "formats/bytes/decoding.h"
#include "formats/bytes/encoding.h"
#include "support/test.h"

#include "base/json/writer.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "tests/formats/records.h"

#include <stdlib.h>
#include <unicode/ucnv.h>

/* The first article of the Universal Declaration of Human Rights. */
#define GERMAN                                                                                     \
    "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und " \
    "Gewissen begabt und sollen einander im Geist der Brüderlichkeit begegnen.\n"
#define POLISH                                                                                      \
    "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni " \
    "obdarzeni rozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa.\n"
#define RUSSIAN                                                                                                                                                                 \
    "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и" \
    " совестью и должны поступать в отношении друг друга в духе братства.\n"
#define JAPANESE                                                                                                                                 \
    "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、" \
    "理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない。\n"
#define CHINESE                                                                                    \
    "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。\n"

static void encode(const char *encoding, const char *text, gf_buffer *out)
{
    UErrorCode code = U_ZERO_ERROR;
    static char bytes[1 << 20];
    int32_t n =
        ucnv_convert(encoding, "UTF-8", bytes, sizeof bytes, text, (int32_t)strlen(text), &code);
    assert_true(U_SUCCESS(code));
    gf_buffer_reset(out);
    gf_buffer_append(out, bytes, (size_t)n);
}

typedef struct told {
    unsigned n;
    char encoding[64];
} told;

static void remember(void *context, gf_slice source, const char *encoding, bool was_said)
{
    told *t = context;
    (void)source, (void)was_said;
    t->n++;
    snprintf(t->encoding, sizeof t->encoding, "%s", encoding);
}

/* All bytes of the stream as they come out, in reads of at most `chunk`. */
static gf_status decode(gf_slice bytes, size_t chunk, gf_decoding_options o, gf_buffer *out,
                        uint64_t *replaced, gf_error *err)
{
    memory_stream stream = {"a", bytes, false};
    memory_input m = {.streams = &stream, .n = 1, .chunk = chunk};
    gf_input input = memory_input_start(&m);
    gf_read_buffer w = {0};
    gf_decoding *d = NULL;
    gf_slice name;
    gf_status st = gf_decoding_create(&o, &d, err);
    gf_buffer_reset(out);
    if (st == GF_OK) st = input.next(input.context, &name, err);
    if (st == GF_OK) {
        gf_read_buffer_begin(&w, input.read, input.context);
        st = gf_read_buffer_more(&w, err);
    }
    if (st == GF_OK) st = gf_decoding_begin(d, &w, GF_SLICE("a"), err);
    while (st == GF_OK && !w.at_end) {
        st = gf_read_buffer_more(&w, err);
        gf_buffer_slice(out, gf_read_buffer_unread(&w));
        gf_read_buffer_consume(&w, gf_read_buffer_unread(&w).len);
    }
    if (d && replaced) *replaced = gf_decoding_take_replaced(d);
    gf_decoding_free(d);
    gf_read_buffer_release(&w);
    return st == GF_OK ? gf_buffer_check(out, err) : st;
}

static void check_bytes(gf_slice bytes, const char *said, const char *text, const char *encoding)
{
    static const size_t chunks[] = {0, 1, 7, 1000};
    gf_buffer out = {0};
    gf_error err;
    for (size_t i = 0; i < 4; i++) {
        told t = {0, ""};
        gf_decoding_options o = {
            .encoding = gf_slice_str(said), .converted = remember, .context = &t};
        assert_ok(decode(bytes, chunks[i], o, &out, NULL, &err));
        if (!gf_slice_equal(gf_buffer_view(&out), gf_slice_str(text)))
            fail_msg("%s: %zu bytes: %.200s", encoding, out.len, gf_buffer_cstr(&out));
        assert_string_equal(t.encoding, encoding);
        assert_int_equal(t.n, *encoding ? 1 : 0);
    }
    gf_buffer_release(&out);
}

static void recognises_encodings(void **state)
{
    (void)state;
    static const struct {
        const char *encoding, *text, *taken_for;
    } known[] = {
        {"ISO-8859-1", GERMAN, "windows-1252"},
        {"windows-1252", "„Ärger“ – " GERMAN, "windows-1252"},
        {"ISO-8859-2", POLISH, "ISO-8859-2"},
        {"windows-1250", POLISH, "windows-1250"},
        {"windows-1251", RUSSIAN, "windows-1251"},
        {"KOI8-R", RUSSIAN, "KOI8-U"},
        {"ISO-8859-5", RUSSIAN, "ISO-8859-5"},
        {"Shift_JIS", JAPANESE, "windows-31j"},
        {"EUC-JP", JAPANESE, "EUC-JP"},
        {"GB18030", CHINESE, "GB18030"},
        {"UTF-16LE", GERMAN, "UTF-16LE"},
        {"UTF-16BE", GERMAN, "UTF-16BE"},
        {"UTF-16LE", "\xEF\xBB\xBF" CHINESE, "UTF-16LE"},
        {"UTF-16BE", "\xEF\xBB\xBF" RUSSIAN, "UTF-16BE"},
        {"UTF-32LE", "\xEF\xBB\xBF" GERMAN, "UTF-32LE"},
        {"UTF-8", GERMAN POLISH RUSSIAN, ""},
        {"UTF-8", "no more than ASCII\n", ""},
        {"UTF-8", "", ""},
    };
    gf_buffer bytes = {0};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        encode(known[i].encoding, known[i].text, &bytes);
        check_bytes(gf_buffer_view(&bytes), "", known[i].text, known[i].taken_for);
    }
    gf_buffer_release(&bytes);
}

/* An encoding that was said is not looked at again; nor is one that markup declares. */
static void takes_what_is_said(void **state)
{
    (void)state;
    static const char html[] = "<!DOCTYPE html>\n<meta charset=\"iso-8859-2\"><p>Łódź, źle\n";
    gf_buffer bytes = {0};
    encode("ISO-8859-2", html, &bytes);
    check_bytes(gf_buffer_view(&bytes), "", html, "ISO-8859-2");
    encode("macintosh", "id,text\n1,Müßiggang für Männer\n", &bytes);
    check_bytes(gf_buffer_view(&bytes), "macroman", "id,text\n1,Müßiggang für Männer\n",
                "macintosh");
    encode("UTF-16LE", "aé", &bytes);
    check_bytes(gf_buffer_view(&bytes), "UTF-16LE", "aé", "UTF-16LE");
    check_bytes(GF_SLICE("caf\xE9 \xFF\n"), "utf-8", "caf\xE9 \xFF\n", "");
    gf_buffer_release(&bytes);

    gf_error err;
    gf_decoding *d = NULL;
    gf_decoding_options o = {.encoding = GF_SLICE("klingon")};
    assert_int_equal(gf_decoding_create(&o, &d, &err), GF_EINVAL);
    assert_null(d);
}

static void check_unclear(gf_slice bytes, const char *said, const char *message)
{
    gf_buffer out = {0};
    gf_error err = {GF_OK, ""};
    gf_decoding_options o = {.encoding = gf_slice_str(said)};
    assert_int_equal(decode(bytes, 0, o, &out, NULL, &err), GF_EINVAL);
    assert_string_equal(err.message, message);
    assert_int_equal(out.len, 0);
    gf_buffer_release(&out);
}

static void refuses_what_is_not_clear(void **state)
{
    (void)state;
#define SAY_IT "; say it with --encoding (utf-8 replaces what is bad)"
    gf_buffer bytes = {0};
    encode("macintosh", GERMAN, &bytes);
    check_unclear(gf_buffer_view(&bytes), "",
                  "a: not UTF-8, and its encoding is not clear, perhaps macintosh" SAY_IT);
    encode("IBM850", GERMAN, &bytes);
    check_unclear(gf_buffer_view(&bytes), "",
                  "a: not UTF-8, and its encoding is not clear, perhaps IBM850" SAY_IT);
    check_unclear(gf_buffer_view(&bytes), "utf-32le",
                  "a: not UTF-32LE: more than one character in 1000 is none");
    /* UTF-8 and Latin-1 in turns: one of them would be destroyed. */
    check_unclear(GF_SLICE("Gr\xC3\xBC\xC3\x9F\x65 aus K\xF6ln\n"), "",
                  "a: not UTF-8, and its encoding is not clear" SAY_IT);
    gf_buffer_release(&bytes);
}

/* A few bad bytes of a large text in UTF-8 pass: parsers replace them. */
static void passes_a_few_bad_bytes(void **state)
{
    (void)state;
    gf_buffer text = {0}, out = {0};
    gf_error err;
    for (int i = 0; i < 3000; i++) {
        gf_buffer_str(&text, i % 100 == 7 ? "Wir m\xFCssen m\xFC"
                                            "de sein.\n"
                                          : GERMAN);
        if (i % 100 == 9) gf_buffer_str(&text, "cut \xF0\x9F\x98\n");
    }
    uint64_t replaced = 1;
    gf_decoding_options o = {.as_it_is = false};
    for (size_t chunk = 0; chunk < 30000; chunk += 9999) {
        assert_ok(decode(gf_buffer_view(&text), chunk, o, &out, &replaced, &err));
        assert_true(gf_slice_equal(gf_buffer_view(&text), gf_buffer_view(&out)));
        assert_int_equal(replaced, 0);
    }
    gf_buffer_release(&text);
    gf_buffer_release(&out);
}

/* The first umlaut comes late, and further on somebody appended a file in UTF-8. */
static void follows_a_change(void **state)
{
    (void)state;
    gf_buffer text = {0}, expected = {0}, latin = {0}, out = {0}, again = {0};
    gf_error err;
    encode("windows-1252", GERMAN, &latin);
    for (int i = 0; i < 30000; i++) {
        bool is_ascii = i < 20000, is_utf8 = i >= 25000;
        gf_slice utf8 = is_ascii ? GF_SLICE("Er kam, sah und ging wieder.\n") : GF_SLICE(GERMAN);
        gf_buffer_slice(&expected, utf8);
        gf_buffer_slice(&text, is_ascii || is_utf8 ? utf8 : gf_buffer_view(&latin));
        /* Where they meet, a stretch of ASCII longer than a window. */
        for (int j = 0; i == 24999 && j < 5000; j++) {
            gf_buffer_str(&text, "Er kam, sah und ging wieder.\n");
            gf_buffer_str(&expected, "Er kam, sah und ging wieder.\n");
        }
    }
    gf_decoding_options o = {.as_it_is = false};
    assert_ok(decode(gf_buffer_view(&text), 0, o, &out, NULL, &err));
    assert_true(gf_slice_equal(gf_buffer_view(&out), gf_buffer_view(&expected)));
    assert_ok(decode(gf_buffer_view(&text), 777, o, &again, NULL, &err));
    assert_true(gf_slice_equal(gf_buffer_view(&out), gf_buffer_view(&again)));
    gf_buffer_release(&text);
    gf_buffer_release(&expected);
    gf_buffer_release(&latin);
    gf_buffer_release(&out);
    gf_buffer_release(&again);
}

/* What a conversion replaces is counted, and little of it is borne. */
static void counts_what_it_replaces(void **state)
{
    (void)state;
    gf_buffer bytes = {0}, out = {0};
    gf_error err;
    uint64_t replaced;
    encode("Shift_JIS", JAPANESE, &bytes);
    gf_buffer_append(&bytes, "\x81\x20", 2);
    gf_slice once = gf_slice_of(gf_copy_string(bytes.ptr, bytes.len), bytes.len);
    gf_buffer_reset(&bytes);
    for (int i = 0; i < 2000; i++)
        gf_buffer_append(&bytes, once.ptr, i % 50 == 49 ? once.len : once.len - 2);
    gf_decoding_options o = {.encoding = GF_SLICE("sjis")};
    assert_ok(decode(gf_buffer_view(&bytes), 0, o, &out, &replaced, &err));
    assert_int_equal(replaced, 40);
    gf_buffer_reset(&bytes);
    for (int i = 0; i < 2000; i++)
        gf_buffer_append(&bytes, once.ptr, i > 1000 ? once.len : once.len - 2);
    assert_int_equal(decode(gf_buffer_view(&bytes), 0, o, &out, &replaced, &err), GF_EINVAL);
    gf_free((char *)(uintptr_t)once.ptr);
    gf_buffer_release(&bytes);
    gf_buffer_release(&out);
}

/* Each file of a folder is judged by itself; one that was handed in itself ends the import. */
static void judges_each_file(void **state)
{
    (void)state;
    gf_buffer mac = {0}, latin = {0}, csv = {0};
    encode("macintosh", GERMAN, &mac);
    encode("ISO-8859-1", GERMAN, &latin);
    gf_buffer_str(&csv, "id;text\n1;");
    gf_buffer_slice(&csv, gf_buffer_view(&mac));
    const memory_stream streams[] = {{"a.csv", gf_buffer_view(&csv), true},
                                     {"b.txt", gf_buffer_view(&latin), true},
                                     {"c.txt", gf_buffer_view(&mac), true},
                                     {"d.txt", GF_SLICE("ü"), true}};
    gf_buffer expected = {0};
    gf_buffer_str(&expected,
                  "a.csv:0 encoding (refused): not UTF-8, and its encoding is not clear, perhaps "
                  "macintosh" SAY_IT "\n"
                  "b.txt:0 id=\"b.txt\" text=");
    gf_json_append_string(&expected, GF_SLICE(GERMAN));
    gf_buffer_str(&expected,
                  "\nc.txt:0 encoding (refused): not UTF-8, and its encoding is not clear, perhaps "
                  "macintosh" SAY_IT "\n"
                  "d.txt:0 id=\"d.txt\" text=\"ü\"\n");
    check_streams(streams, 4, NULL, gf_buffer_cstr(&expected));
    check_records(
        "a.csv", gf_buffer_view(&csv), NULL,
        "invalid: a.csv: not UTF-8, and its encoding is not clear, perhaps macintosh" SAY_IT "\n");
    gf_buffer_release(&mac);
    gf_buffer_release(&latin);
    gf_buffer_release(&csv);
    gf_buffer_release(&expected);
}

/* Whatever comes in: what comes out is the same for reads of any size, and what is converted is UTF-8. */
static void survives_anything(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_buffer bytes = {0}, out = {0}, again = {0};
    static const char *const pieces[] = {GERMAN, POLISH, RUSSIAN, JAPANESE};
    static const char *const encodings[] = {"UTF-8", "ISO-8859-1", "KOI8-R", "Shift_JIS",
                                            "UTF-16LE"};
    for (int i = 0; i < 300; i++) {
        static const char *const said[] = {"", "", "", "utf-16", "gb18030", "windows-1252"};
        told t = {0, ""};
        gf_error err, other;
        gf_decoding_options o = {.encoding = gf_slice_str(said[gf_random_below(&random, 6)]),
                                 .converted = remember,
                                 .context = &t};
        encode(encodings[gf_random_below(&random, 5)], pieces[gf_random_below(&random, 4)], &bytes);
        for (uint64_t n = gf_random_below(&random, 6); n > 0; n--)
            bytes.ptr[gf_random_below(&random, bytes.len)] = (char)gf_random_below(&random, 256);
        gf_status st = decode(gf_buffer_view(&bytes), 0, o, &out, NULL, &err);
        assert_true(st == GF_OK || st == GF_EINVAL);
        if (st == GF_OK && t.n)
            assert_int_equal(gf_utf8_valid_length(gf_buffer_view(&out)), out.len);
        assert_int_equal(decode(gf_buffer_view(&bytes), 3, o, &again, NULL, &other), st);
        if (st == GF_OK) assert_true(gf_slice_equal(gf_buffer_view(&out), gf_buffer_view(&again)));
    }
    gf_buffer_release(&bytes);
    gf_buffer_release(&out);
    gf_buffer_release(&again);
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_buffer csv = {0};
    encode("ISO-8859-1", "text\n" GERMAN, &csv);
    sweep_records("a.csv", gf_buffer_view(&csv), NULL);
    gf_buffer_release(&csv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recognises_encodings),       cmocka_unit_test(takes_what_is_said),
        cmocka_unit_test(refuses_what_is_not_clear),  cmocka_unit_test(passes_a_few_bad_bytes),
        cmocka_unit_test(follows_a_change),           cmocka_unit_test(counts_what_it_replaces),
        cmocka_unit_test(judges_each_file),           cmocka_unit_test(survives_anything),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("decoding", tests, NULL, NULL);
}
