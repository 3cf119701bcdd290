/* Labels where words are written without spaces, and the breaker of words cuts some of them. */
#include "support/test.h"

#include "cluster/label/phrases.h"

#include <string.h>

enum { MOST_WORDS = 8, MOST_LINES = 12 };

typedef struct line {
    gf_label_word words[MOST_WORDS];
    gf_label_document document;
} line;

/*
 * "性价|比|高": words with | between; the text has no |. Those in `stops` are stop words; a space
 * and a full stop are no words.
 */
static void make_line(line *l, char *text, const char *marked, const char *stops)
{
    uint32_t n = 0, length = 0, start = 0, flag = 0;
    for (const char *c = marked;; c++) {
        if (*c && *c != '|') {
            text[length++] = *c;
            continue;
        }
        bool gap = length == start + 1 && strchr(" .", text[start]);
        if (gap) flag = text[start] == '.' ? GF_LABEL_BREAK : flag;
        if (length > start && !gap) {
            char word[32];
            snprintf(word, sizeof word, "%.*s", (int)(length - start), text + start);
            uint32_t term = 0;
            for (uint32_t i = start; i < length; i++)
                term = term * 131 + (unsigned char)text[i];
            l->words[n++] =
                (gf_label_word){.term = term % 1000000007u,
                                .flags = (strstr(stops, word) ? GF_LABEL_INNER : 0) | flag,
                                .start = start,
                                .length = length - start};
            flag = 0;
        }
        start = length;
        if (!*c) break;
    }
    l->document = (gf_label_document){gf_slice_of(text, length), l->words, n};
}

typedef struct lines {
    line at[MOST_LINES];
    char texts[MOST_LINES][96];
    gf_label_document documents[MOST_LINES];
} lines;

static gf_label_cluster cluster_of(lines *l, const char *const *marked, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        make_line(&l->at[i], l->texts[i], marked[i], "\xE6\xAF\x94 \xE7\x9A\x84"); /* 比 的 */
        l->documents[i] = l->at[i].document;
    }
    return (gf_label_cluster){.documents = l->documents, .n_documents = n, .size = n};
}

static bool is_weak(const char *word)
{
    line l;
    char text[96];
    make_line(&l, text, word, "");
    gf_phrase_walk w = gf_phrase_start(&l.document, (gf_buffer){0});
    assert_true(gf_phrase_next(&w));
    bool weak = gf_phrase_kind_of(&w) == GF_PHRASE_WEAK;
    gf_buffer_release(&w.key);
    return weak;
}

static void knows_single_ideographs(void **state)
{
    (void)state;
    assert_true(is_weak("\xE6\x9C\xBA"));              /* 机 */
    assert_true(is_weak("\xF0\xA0\x80\x80"));          /* U+20000 */
    assert_false(is_weak("\xE6\x89\x8B\xE6\x9C\xBA")); /* 手机 */
    assert_false(is_weak("a"));
    assert_false(is_weak("a4"));
    assert_true(is_weak("4a"));
    assert_false(is_weak("\xC3\xA9"));         /* é */
    assert_false(is_weak("\xF0\x9F\x90\x9D")); /* a bee */
}

static void form_is(const char *const *marked, uint32_t n, const char *expected)
{
    gf_error err;
    lines l;
    gf_buffer form = {0};
    gf_label_cluster c = cluster_of(&l, marked, n);
    gf_phrase_walk w = gf_phrase_start(&l.documents[0], (gf_buffer){0});
    assert_true(gf_phrase_next(&w));
    assert_ok(gf_phrase_common_form(&c, gf_buffer_view(&w.key), &form, &err));
    assert_string_equal(gf_buffer_cstr(&form), expected);
    gf_buffer_release(&w.key);
    gf_buffer_release(&form);
}

#define VALUE "\xE6\x80\xA7\xE4\xBB\xB7" /* 性价 */
#define RATIO "\xE6\xAF\x94"             /* 比, a stop word */
#define OF    "\xE7\x9A\x84"             /* 的, a stop word */
#define HIGH  "\xE9\xAB\x98"             /* 高 */

static void mends_words(void **state)
{
    (void)state;
    const char *torn[] = {VALUE "|" RATIO "|" HIGH, VALUE "|" RATIO, VALUE "|" RATIO "|" OF,
                          VALUE "|" RATIO, HIGH "|" VALUE "|" RATIO};
    form_is(torn, 5, VALUE RATIO);
    form_is(torn, 4, VALUE); /* too few to tell */
    const char *whole[] = {VALUE "|" OF, VALUE "|" OF, VALUE "|" OF, VALUE "|" HIGH, VALUE};
    form_is(whole, 5, VALUE);
    const char *spaced[] = {VALUE "| |" RATIO, VALUE "| |" RATIO, VALUE "| |" RATIO,
                            VALUE "| |" RATIO, VALUE "| |" RATIO};
    form_is(spaced, 5, VALUE);
}

#define MACHINE "\xE6\x9C\xBA"             /* 机 */
#define BATTERY "\xE7\x94\xB5\xE6\xB1\xA0" /* 电池 */
#define FRUIT   "\xE8\x8B\xB9\xE6\x9E\x9C" /* 苹果 */
#define BOOK    "\xE4\xB9\xA6"             /* 书 */

static void labels_are(const char *const *first, const char *const *second, const char *expected)
{
    gf_error err;
    gf_arena memory = {0};
    gf_slice labels[2];
    gf_buffer both = {0};
    lines a, b;
    gf_label_cluster c[] = {cluster_of(&a, first, 4), cluster_of(&b, second, 4)};
    assert_ok(gf_labels_choose(NULL, c, 2, &(gf_label_options){0}, &memory, labels, &err));
    gf_buffer_format(&both, "%.*s %.*s", GF_SLICE_ARG(labels[0]), GF_SLICE_ARG(labels[1]));
    assert_string_equal(gf_buffer_cstr(&both), expected);
    gf_buffer_release(&both);
    gf_arena_release(&memory);
}

/* The word of two as frequent, or nearly; but a far more frequent one, though it is short. */
static void prefers_words(void **state)
{
    (void)state;
    const char *fruit[] = {FRUIT, FRUIT, FRUIT, FRUIT};
    const char *both[] = {MACHINE "|.|" BATTERY, MACHINE "|.|" BATTERY, MACHINE "|.|" BATTERY,
                          MACHINE};
    labels_are(both, fruit, BATTERY " " FRUIT);
    const char *book[] = {BOOK, BOOK, BOOK "|.|" BATTERY, BOOK};
    labels_are(book, fruit, BOOK " " FRUIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(knows_single_ideographs),
                                       cmocka_unit_test(mends_words),
                                       cmocka_unit_test(prefers_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
