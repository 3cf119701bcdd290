#include "support/test.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/utf8.h"

#include <string.h>

/*
 * The checker knows no table of lead bytes: it encodes every code point there is and remembers what
 * starts a character. Of the 4-byte ones the first three bytes tell: the last is any of 80 to BF.
 */
enum { WHOLE = 1, START = 2 }; /* these bytes are a character; they are a longer one's beginning */
static unsigned char one[1 << 8], two[1 << 16], three[1 << 24];

static size_t encode(uint32_t c, unsigned char *to)
{
    if (c < 0x80) return to[0] = (unsigned char)c, 1;
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= 6)
        to[i] = (unsigned char)(0x80 | (c & 0x3F));
    to[0] = (unsigned char)(0xF00 >> n | c);
    return n;
}

static uint32_t number_of(const unsigned char *p, size_t n)
{
    uint32_t v = 0;
    for (size_t i = 0; i < n; i++)
        v = v << 8 | p[i];
    return v;
}

static int know_all_characters(void **state)
{
    (void)state;
    unsigned char p[4];
    for (uint32_t c = 0; c <= 0x10FFFF; c++) {
        if (c >= 0xD800 && c <= 0xDFFF) continue;
        size_t n = encode(c, p);
        one[number_of(p, 1)] |= n == 1 ? WHOLE : START;
        if (n > 1) two[number_of(p, 2)] |= n == 2 ? WHOLE : START;
        if (n > 2) three[number_of(p, 3)] |= n == 3 ? WHOLE : START;
    }
    return 0;
}

/* Bytes of the character at the start, or 0; *bad is what to skip where there is none. */
static size_t first_character(const unsigned char *p, size_t n, size_t *bad)
{
    *bad = 1;
    if (one[p[0]] & WHOLE) return 1;
    if (!(one[p[0]] & START) || n < 2) return 0;
    if (two[number_of(p, 2)] & WHOLE) return 2;
    if (!(two[number_of(p, 2)] & START)) return 0;
    *bad = 2;
    if (n < 3) return 0;
    if (three[number_of(p, 3)] & WHOLE) return 3;
    if (!(three[number_of(p, 3)] & START)) return 0;
    *bad = 3;
    return n > 3 && (p[3] & 0xC0) == 0x80 ? 4 : 0;
}

/* A comparison of our own: cmocka's, made millions of times, would take most of the time. */
static void check_first(const unsigned char *p, size_t n)
{
    gf_slice s = gf_slice_of((const char *)p, n);
    size_t bad, length = first_character(p, n, &bad), at = 0;
    uint32_t code = gf_utf8_next(s, &at), expected = 0xFFFD;
    if (length) {
        unsigned char again[4];
        expected = code;
        if (encode(code, again) != length || memcmp(again, p, length) != 0) expected = ~code;
    }
    size_t valid = gf_utf8_valid_length(s), skipped = length ? length : gf_utf8_bad_length(s);
    if (code != expected || at != (length ? length : bad) || (valid > 0) != (length > 0) ||
        (length && valid < length) || skipped != (length ? length : bad))
        fail_msg("%02x %02x %02x %02x (%zu bytes): code %x, %zu taken, %zu valid", p[0], p[1], p[2],
                 p[3], n, code, at, valid);
}

static void knows_every_sequence_of_three_bytes(void **state)
{
    (void)state;
    unsigned char p[4] = {0};
    for (uint32_t v = 0; v < 1 << 24; v++) {
        p[0] = (unsigned char)(v >> 16);
        p[1] = (unsigned char)(v >> 8);
        p[2] = (unsigned char)v;
        if ((v & 0xFFFF) == 0) check_first(p, 1);
        if ((v & 0xFF) == 0) check_first(p, 2);
        check_first(p, 3);
    }
}

/* All first and second bytes; third and fourth at the borders of every range that there is. */
static void knows_every_sequence_of_four_bytes(void **state)
{
    (void)state;
    static const unsigned char border[] = {0x00, 0x41, 0x7F, 0x80, 0x81, 0x8F, 0x90, 0x9F, 0xA0,
                                           0xBF, 0xC0, 0xC2, 0xE0, 0xED, 0xF0, 0xF4, 0xFF};
    unsigned char p[4];
    for (uint32_t v = 0; v < 1 << 16; v++)
        for (size_t i = 0; i < sizeof border; i++)
            for (size_t j = 0; j < sizeof border; j++) {
                p[0] = (unsigned char)(v >> 8);
                p[1] = (unsigned char)v;
                p[2] = border[i];
                p[3] = border[j];
                check_first(p, 4);
            }
}

static void every_code_point_is_one_character(void **state)
{
    (void)state;
    unsigned char p[4];
    gf_buffer written = {0};
    for (uint32_t c = 0; c <= 0x10FFFF; c++) {
        gf_slice s = gf_slice_of((const char *)p, encode(c, p));
        bool surrogate = c >= 0xD800 && c <= 0xDFFF;
        size_t at = 0;
        if ((gf_utf8_valid_length(s) == s.len) == surrogate) fail_msg("U+%04X", c);
        if (!surrogate && (gf_utf8_next(s, &at) != c || at != s.len)) fail_msg("U+%04X", c);
        if (!surrogate && gf_utf8_count(s) != 1) fail_msg("U+%04X", c);
        gf_buffer_reset(&written);
        if (!surrogate) gf_utf8_append(&written, c);
        if (!surrogate && !gf_slice_equal(gf_buffer_view(&written), s)) fail_msg("U+%04X", c);
    }
    gf_buffer_release(&written);
}

/* The example of Table 3-8 of the Unicode standard, and truncated characters (Table 3-11). */
static void repairs_as_the_standard_shows(void **state)
{
    (void)state;
    const char *cases[][2] = {
        {"\x41\xC0\xAF\x41\xF4\x80\x80\x41", "A\uFFFD\uFFFDA\uFFFDA"},
        {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", "\uFFFD\uFFFD\uFFFD\uFFFDA"},
        {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},
        {"caf\xC3\xA9", "caf\u00E9"},
        {"caf\xE9", "caf\uFFFD"},
    };
    const uint64_t bad[] = {3, 4, 3, 0, 1};
    for (size_t i = 0; i < 5; i++) {
        gf_buffer out = {0};
        assert_int_equal(gf_utf8_repair(gf_slice_str(cases[i][0]), &out), bad[i]);
        assert_slice(gf_buffer_view(&out), cases[i][1]);
        gf_buffer_release(&out);
    }
}

static void empty_text_is_valid(void **state)
{
    (void)state;
    gf_slice empty = {NULL, 0};
    gf_buffer out = {0};
    assert_int_equal(gf_utf8_valid_length(empty), 0);
    assert_int_equal(gf_utf8_count(empty), 0);
    assert_int_equal(gf_utf8_cut(empty, 5).len, 0);
    assert_int_equal(gf_utf8_repair(empty, &out), 0);
    assert_int_equal(out.len, 0);
    gf_buffer_release(&out);
}

/* Bytes in memory of just their size, so that the sanitizer sees a read behind the end. */
static gf_slice random_text(gf_random *r, char **memory)
{
    size_t n = gf_random_below(r, 40), at = 0;
    unsigned char bytes[48];
    while (at < n) {
        uint64_t kind = gf_random_below(r, 8);
        if (kind < 4)
            bytes[at++] = (unsigned char)('a' + kind);
        else if (kind < 7)
            at += encode(kind == 4 ? 0xE9 : kind == 5 ? 0x65E5 : 0x1F41F, bytes + at);
        else
            bytes[at++] = (unsigned char)gf_random_below(r, 256);
    }
    *memory = gf_copy_string((const char *)bytes, n);
    char *exact = gf_realloc(*memory, n, 1);
    *memory = exact ? exact : *memory;
    return gf_slice_of(*memory, n);
}

static void agrees_with_the_checker_on_whole_texts(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_buffer out = {0}, expected = {0};
    for (int round = 0; round < 50000; round++) {
        char *memory;
        gf_slice s = random_text(&r, &memory);
        size_t valid = s.len, characters = 0, at = 0;
        uint64_t bad = 0;
        gf_buffer_reset(&expected);
        while (at < s.len) {
            const unsigned char *p = (const unsigned char *)s.ptr + at;
            size_t skip, n = first_character(p, s.len - at, &skip);
            if (n == 0 && valid == s.len) valid = at;
            if (n == 0) bad++;
            gf_buffer_slice(&expected, n ? gf_slice_of(s.ptr + at, n) : GF_SLICE("\uFFFD"));
            characters++;
            at += n ? n : skip;
        }
        gf_buffer_reset(&out);
        assert_int_equal(gf_utf8_valid_length(s), valid);
        assert_int_equal(gf_utf8_repair(s, &out), bad);
        assert_true(gf_slice_equal(gf_buffer_view(&out), gf_buffer_view(&expected)));
        assert_int_equal(gf_utf8_count(gf_buffer_view(&out)), characters);
        assert_int_equal(gf_utf8_valid_length(gf_buffer_view(&out)), out.len);
        gf_free(memory);
    }
    gf_buffer_release(&out);
    gf_buffer_release(&expected);
}

/* The longest start: valid, of n bytes at most, and the next character would not have fitted. */
static void cuts_at_characters(void **state)
{
    (void)state;
    gf_slice s = GF_SLICE("a\u00E9\u65E5\U0001F41Fz");
    const size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11, 11};
    for (size_t n = 0; n < sizeof expected / sizeof expected[0]; n++) {
        gf_slice cut = gf_utf8_cut(s, n);
        assert_ptr_equal(cut.ptr, s.ptr);
        assert_int_equal(cut.len, expected[n]);
    }
}

static gf_status repair(void *context, gf_error *err)
{
    (void)context;
    gf_buffer out = {0};
    for (int i = 0; i < 100; i++)
        gf_utf8_repair(GF_SLICE("na\xEFve caf\xE9"), &out);
    gf_status st = gf_buffer_check(&out, err);
    gf_buffer_release(&out);
    return st;
}

static void compares_without_regard_to_case(void **state)
{
    (void)state;
    gf_buffer folded = {0};
    gf_utf8_fold(GF_SLICE("ÄRGER mit Σίσυφος, İ"), &folded);
    assert_slice(gf_buffer_view(&folded), "ärger mit σίσυφοσ, İ");
    gf_buffer_release(&folded);
    assert_true(gf_utf8_same_letters(GF_SLICE("Späte Flüge"), GF_SLICE("SPÄTE flÜge")));
    assert_true(gf_utf8_same_letters(GF_SLICE(""), GF_SLICE("")));
    assert_false(gf_utf8_same_letters(GF_SLICE("Flug"), GF_SLICE("Flüge")));
    assert_false(gf_utf8_same_letters(GF_SLICE("Fluge"), GF_SLICE("Flug")));
    assert_false(gf_utf8_same_letters(GF_SLICE("a"), GF_SLICE("")));
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_test_sweep(repair, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_every_sequence_of_three_bytes),
        cmocka_unit_test(knows_every_sequence_of_four_bytes),
        cmocka_unit_test(every_code_point_is_one_character),
        cmocka_unit_test(repairs_as_the_standard_shows),
        cmocka_unit_test(empty_text_is_valid),
        cmocka_unit_test(agrees_with_the_checker_on_whole_texts),
        cmocka_unit_test(cuts_at_characters),
        cmocka_unit_test(compares_without_regard_to_case),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("utf8", tests, know_all_characters, NULL);
}
