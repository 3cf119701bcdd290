#include "support/test.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/utf8.h"
#include "vectorize/text/char_class_internal.h"
#include "vectorize/text/tokeniser.h"
#include "vectorize/text/word_breaker_internal.h"

#include <stdlib.h>

/* Tokens as text: "| " where one breaks, the bytes, then the kind where it is no word. */
static void show(const gf_tokeniser *t, gf_slice text, gf_buffer *out)
{
    static const char *const kinds[] = {"", "/n", "/c", "/u", "/a", "/m", "/h"};
    for (size_t i = 0; i < t->n; i++) {
        const gf_token *k = &t->tokens[i];
        gf_buffer_str(out, i ? " " : "");
        if (i && k->flags & GF_TOKEN_BREAK) gf_buffer_str(out, "| ");
        gf_buffer_append(out, text.ptr + k->start, k->length);
        gf_buffer_str(out, kinds[k->kind]);
        if (k->flags & GF_TOKEN_LONG) gf_buffer_str(out, "!");
    }
}

static void expect_with(gf_token_options options, const char *text, const char *tokens)
{
    gf_error err;
    gf_tokeniser t;
    gf_buffer out = {0};
    gf_tokeniser_init(&t, options);
    assert_ok(gf_tokenise(&t, gf_slice_str(text), &err));
    show(&t, gf_slice_str(text), &out);
    assert_string_equal(gf_buffer_cstr(&out), tokens);
    gf_buffer_release(&out);
    gf_tokeniser_release(&t);
}

static void expect(const char *text, const char *tokens)
{
    expect_with(GF_TOKEN_OPTIONS_DEFAULT, text, tokens);
}

static void cuts_words_and_phrases(void **state)
{
    (void)state;
    expect("", "");
    expect(" \n\t ", "");
    expect("Don't panic, it's well-known.", "Don t panic | it s well known");
    expect("R&D and AC/DC (both) ok", "R D and AC DC | both | ok");
    expect("one\ntwo\n \t\nthree", "one two | three");
    expect("one\r\n\r\ntwo", "one | two");
    expect("a - b -c d- e", "a | b | c d | e");
    expect("l\xE2\x80\x99été aujourd\xE2\x80\x99hui", "l été aujourd hui");
    expect("_so_ __init__ snake_case ___ _1_", "so init snake_case 1/n");
    expect("4.0b12 2011 3D x86_64", "4/n | 0b12 2011/n 3D x86_64");
    expect("so\xC2\xADlid \xC2\xADx\xC2\xAD y", "so\xC2\xADlid x y");
    expect("a\xE2\x80\x8D", "a");
}

static void speaks_languages(void **state)
{
    (void)state;
    expect("Die Straße, über Köln", "Die Straße | über Köln");
    expect("C\xE2\x80\x99"
           "est l'œuvre d'été",
           "C est l œuvre d été");
    expect("Привет, мир! Ёлка", "Привет | мир | Ёлка");
    expect("हिन्दी में लिखो। अच्छा", "हिन्दी में लिखो | अच्छा");
    expect("مرحبًا، بالعالم", "مرحبًا | بالعالم");
    expect("한국어 문장입니다.", "한국어 문장입니다");
    expect("e\xCC\x81"
           "te\xCC\x81",
           "e\xCC\x81"
           "te\xCC\x81");
    expect("手机质量很好，但是不喜欢。", "手机/c 质量/c 很好/c | 但是/c 不/c 喜欢/c");
    expect("私は東京でコンピューターを使う", "私/c は/c 東京/c で/c コンピューター/c を/c 使う/c");
    expect("ภาษาไทยง่าย", "ภาษา/c ไทย/c ง่าย/c");
    expect("iPhone手机2个", "iPhone 手机/c 2/n 个/c");
    expect("\xF0\xA0\x80\x80", "\xF0\xA0\x80\x80/c"); /* a Han character beyond the BMP */
    expect("love\xF0\x9F\x98\x8D"
           "it \xE2\x9D\xA4\xEF\xB8\x8F yes",
           "love | it | yes");
    expect("ok \xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7 fine",
           "ok | fine");
}

static void pairs_characters(void **state)
{
    (void)state;
    gf_token_options o = GF_TOKEN_OPTIONS_DEFAULT;
    o.bigrams = true;
    expect_with(o, "手机很好 a", "手机/c 机很/c 很好/c a");
    expect_with(o, "好。テレビ", "好/c | テレ/c レビ/c");
    expect_with(o, "か\xE3\x82\x99き",
                "か\xE3\x82\x99き/c"); /* a voicing mark stays with its letter */
    expect_with(o, "ภาษาไทย", "ภาษา/c ไทย/c");
}

static void finds_links_and_signs(void **state)
{
    (void)state;
    expect("see http://x.org/a(b). Mail ann.b@example.org, ok",
           "see http://x.org/a(b)/u | Mail ann.b@example.org/a | ok");
    expect("ok: john.doe+x@mail.org", "ok | john.doe+x@mail.org/a");
    expect("WWW.Example.org/x y", "WWW.Example.org/x/u y");
    expect("[this](http://x.org/y) one", "this | http://x.org/y/u | one");
    expect("@Bob_1 likes #this and #1 of a@b c#d ##e",
           "Bob_1/m likes this/h and | 1/n of a | b c | d | e/h");
    expect("#话题很好# 好", "话题/h 很好/h | 好/c");
    expect("@ # @@ #!", "");
    expect("AT&amp;T &lt;b&gt; &nbsp;x&#39;s", "AT T | b | x s");
    gf_token_options o = {.max_length = 64};
    expect_with(o, "see http://x.org a@b.org AT&amp;T",
                "see http | x | org a | b | org AT amp | T");
    o = GF_TOKEN_OPTIONS_DEFAULT;
    o.mention_signs = o.hashtag_signs = true;
    expect_with(o, "@Bob likes #this and #1 #话题很好 x",
                "@Bob/m likes #this/h and | 1/n #话题很好/h x");
}

static void marks_long_words(void **state)
{
    (void)state;
    gf_token_options o = GF_TOKEN_OPTIONS_DEFAULT;
    o.max_length = 4;
    expect_with(o, "four fives été! étédé x", "four fives! été | étédé! x");
    char url[GF_LONGEST_LINK + 2];
    memset(url, 'a', sizeof url);
    memcpy(url, "http://", 7);
    gf_error err;
    gf_tokeniser t;
    gf_tokeniser_init(&t, GF_TOKEN_OPTIONS_DEFAULT);
    assert_ok(gf_tokenise(&t, gf_slice_of(url, GF_LONGEST_LINK), &err));
    assert_int_equal(t.tokens[0].flags, 0);
    assert_ok(gf_tokenise(&t, gf_slice_of(url, GF_LONGEST_LINK + 1), &err));
    assert_int_equal(t.tokens[0].flags, GF_TOKEN_LONG);
    gf_tokeniser_release(&t);
}

static void bad_bytes_separate(void **state)
{
    (void)state;
    expect("caf\xE9 ol\xC3 x\xFFy \xE6\x89", "caf | ol | x | y");
    expect("\xC3\xA9\xA9z", "é | z");
    expect("\xED\xA0\x80"
           "a\xF5\x80\x80\x80"
           "b",
           "a | b"); /* a surrogate, beyond U+10FFFF */
    expect("\xC0\xAF"
           "a\xE0\x80\xAF"
           "b",
           "a | b"); /* overlong */
}

/* ---- an independent tokeniser, one character at a time --------------------------------------- */

typedef struct character {
    uint32_t c;
    gf_char_class k;
    uint32_t at; /* its first byte */
} character;

static gf_char_class plain_class(uint32_t c)
{
    if (c == 0xFFFD) return GF_CHAR_BREAK;
    if (c >= 0x80) return gf_char_class_of(c);
    if ((c >= '0' && c <= '9')) return GF_CHAR_DIGIT;
    if (c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return GF_CHAR_LETTER;
    if (c <= ' ' || c == 0x7F) return GF_CHAR_SPACE;
    return strchr("-/'&", (int)c) ? GF_CHAR_JOIN : GF_CHAR_BREAK;
}

static bool is_start(gf_char_class k)
{
    return k == GF_CHAR_LETTER || k == GF_CHAR_DIGIT || k == GF_CHAR_CJK || k == GF_CHAR_COMPLEX;
}

/* True if a word (or a run of class `run`) goes on with k. */
static bool goes_on(gf_char_class run, gf_char_class k)
{
    if (k == GF_CHAR_MARK || k == GF_CHAR_JOINER) return true;
    if (run == GF_CHAR_CJK || run == GF_CHAR_COMPLEX) return k == run;
    return k == GF_CHAR_LETTER || k == GF_CHAR_DIGIT;
}

typedef struct naive {
    character *x; /* n, and one of GF_CHAR_SPACE behind them */
    size_t n;
    gf_token *tokens;
    size_t n_tokens;
    gf_word_breaker *breaker;
    gf_slice text;
} naive;

static void emit(naive *v, uint32_t start, uint32_t end, gf_token_kind kind, uint8_t *flags)
{
    v->tokens[v->n_tokens++] = (gf_token){start, end - start, (uint8_t)kind, *flags};
    *flags = 0;
}

static void emit_run(naive *v, uint32_t start, uint32_t end, bool in_sign, gf_token_kind sign,
                     uint8_t *flags)
{
    gf_error err;
    const uint32_t *ends;
    size_t n;
    gf_slice run = gf_slice_of(v->text.ptr + start, end - start);
    assert_ok(gf_word_break(v->breaker, run, &ends, &n, &err));
    assert_int_equal(ends[n - 1], run.len);
    for (size_t i = 0, from = 0; i < n; from = ends[i++]) {
        *flags |= GF_TOKEN_PIECE;
        emit(v, start + (uint32_t)from, start + ends[i], in_sign ? sign : GF_TOKEN_CJK, flags);
    }
}

/* The word or run at x[i], whose end (marks in, joiners at the end out) is returned. */
static size_t emit_word(naive *v, size_t i, bool in_sign, gf_token_kind sign, uint8_t *flags)
{
    gf_char_class run = v->x[i].k;
    size_t to = i, end;
    bool letters = false, digits = false;
    while (to < v->n && goes_on(run, v->x[to].k))
        to++;
    for (end = to; v->x[end - 1].k == GF_CHAR_JOINER;)
        end--;
    if (run == GF_CHAR_CJK || run == GF_CHAR_COMPLEX) {
        emit_run(v, v->x[i].at, v->x[end].at, in_sign, sign, flags);
        return end;
    }
    const size_t whole = end;
    for (size_t k = i; k < end; k++) {
        letters |= v->x[k].k == GF_CHAR_LETTER && v->x[k].c != '_';
        digits |= v->x[k].k == GF_CHAR_DIGIT;
    }
    while (!in_sign && i < end && v->x[i].c == '_')
        i++;
    while (!in_sign && end > i && v->x[end - 1].c == '_')
        end--;
    if (!in_sign && !letters && !digits) return whole;
    gf_token_kind kind = in_sign ? sign : letters ? GF_TOKEN_WORD : GF_TOKEN_NUMBER;
    emit(v, v->x[i].at, v->x[end].at, kind, flags);
    return whole;
}

/* The end of a name at x[i], in characters; only_digits tells whether it is that. */
static size_t name_of(const naive *v, size_t i, bool *only_digits)
{
    size_t end = i;
    *only_digits = true;
    for (; i < v->n &&
           (v->x[i].k == GF_CHAR_JOINER || v->x[i].k == GF_CHAR_MARK || is_start(v->x[i].k));
         i++) {
        if (v->x[i].k == GF_CHAR_JOINER) continue;
        if (v->x[i].k != GF_CHAR_DIGIT) *only_digits = false;
        end = i + 1;
    }
    return end;
}

static void tokenise_naively(naive *v)
{
    uint8_t flags = 0;
    gf_token_kind sign = GF_TOKEN_WORD;
    size_t sign_end = 0, gap = 0, lines = 0;
    for (size_t i = 0; i < v->n;) {
        const character *x = &v->x[i];
        bool only_digits, next = is_start(v->x[i + 1].k);
        if (is_start(x->k)) {
            i = gap = emit_word(v, i, i < sign_end, sign, &flags);
            lines = 0;
            continue;
        }
        if ((x->c == '@' || x->c == '#') && next && (i != gap || i == 0)) {
            size_t end = name_of(v, i + 1, &only_digits);
            if (x->c == '@' || !only_digits) {
                sign = x->c == '@' ? GF_TOKEN_MENTION : GF_TOKEN_HASHTAG;
                sign_end = end;
                i++;
                continue;
            }
        }
        bool dash = x->c == '-' && (i != gap || i == 0 || !next);
        if (x->k == GF_CHAR_BREAK || dash) flags |= GF_TOKEN_BREAK;
        if (x->c == '\n' && lines++ > 0) flags |= GF_TOKEN_BREAK;
        if (x->k != GF_CHAR_SPACE) lines = 0;
        i++;
    }
}

static void random_text(gf_random *r, gf_buffer *text)
{
    static const char *const pieces[] = {"a",
                                         "b",
                                         "word",
                                         "Some",
                                         "7",
                                         "42",
                                         "_",
                                         " ",
                                         " ",
                                         " ",
                                         " ",
                                         "\n",
                                         "\n",
                                         "\t",
                                         ".",
                                         ",",
                                         "!",
                                         "-",
                                         "-",
                                         "/",
                                         "'",
                                         "&",
                                         "@",
                                         "#",
                                         "(",
                                         "\xC3\xA9",
                                         "\xC3\xB1",
                                         "\xD0\xBF\xD1\x80",
                                         "\xCC\x81",
                                         "\xC2\xAD",
                                         "\xE2\x80\x8D",
                                         "\xE2\x80\x99",
                                         "\xE6\x89\x8B",
                                         "\xE6\x9C\xBA",
                                         "\xE3\x83\xBC",
                                         "\xE3\x82\xAB",
                                         "\xE3\x82\x99",
                                         "\xE0\xB8\xA0\xE0\xB8\xB2",
                                         "\xE3\x80\x82",
                                         "\xE3\x80\x80",
                                         "\xF0\x9F\x98\x80",
                                         "\xF0\xA0\x80\x80",
                                         "\xEF\xBB\xBF",
                                         "\xFF",
                                         "\xC3",
                                         "\xE2\x82",
                                         "\xF0\x9F",
                                         "\xE0\xA4\xB9\xE0\xA4\xBF",
                                         "\xD9\x85\xD9\x91",
                                         "\xEF\xBC\xA1",
                                         "\xC2\xBD",
                                         "\xE2\x80\x94"};
    gf_buffer_reset(text);
    for (uint64_t n = gf_random_below(r, 40); n > 0; n--)
        gf_buffer_str(text, pieces[gf_random_below(r, sizeof pieces / sizeof *pieces)]);
}

static void equals_the_naive_tokeniser(void **state)
{
    (void)state;
    gf_error err;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_tokeniser t;
    gf_buffer text = {0}, want = {0}, got = {0};
    naive v = {0};
    gf_tokeniser_init(&t, (gf_token_options){.max_length = UINT32_MAX});
    assert_ok(gf_word_breaker_create(&v.breaker, &err));
    for (int round = 0; round < 30000; round++) {
        random_text(&r, &text);
        t.options.portable = round % 2;
        char *exact = malloc(text.len); /* for the sanitizer to see a step outside */
        if (text.len) memcpy(exact, text.ptr, text.len);
        v.text = gf_slice_of(exact, text.len);
        v.x = calloc(text.len + 2, sizeof *v.x);
        v.tokens = calloc(text.len + 1, sizeof *v.tokens);
        v.n = v.n_tokens = 0;
        for (size_t at = 0; at < text.len; v.n++) {
            v.x[v.n].at = (uint32_t)at;
            v.x[v.n].c = gf_utf8_next(v.text, &at);
            v.x[v.n].k = plain_class(v.x[v.n].c);
        }
        v.x[v.n].at = v.x[v.n + 1].at = (uint32_t)text.len;
        tokenise_naively(&v);
        assert_ok(gf_tokenise(&t, v.text, &err));
        gf_buffer_reset(&want), gf_buffer_reset(&got);
        show(&t, v.text, &got);
        gf_tokeniser as_tokeniser = {.tokens = v.tokens, .n = v.n_tokens};
        show(&as_tokeniser, v.text, &want);
        if (!gf_slice_equal(gf_buffer_view(&want), gf_buffer_view(&got)))
            fail_msg("\"%s\":\n%s\n%s", gf_buffer_cstr(&text), gf_buffer_cstr(&got),
                     gf_buffer_cstr(&want));
        free(exact), free(v.x), free(v.tokens);
    }
    gf_word_breaker_free(v.breaker);
    gf_tokeniser_release(&t);
    gf_buffer_release(&text);
    gf_buffer_release(&want);
    gf_buffer_release(&got);
}

/* Mostly ASCII, so that there are whole windows of it. */
static void random_ascii(gf_random *r, gf_buffer *text)
{
    static const char *const pieces[] = {" ",
                                         " ",
                                         " ",
                                         " ",
                                         " ",
                                         ", ",
                                         ". ",
                                         "\n",
                                         "\n \n",
                                         "\n\n",
                                         "\n'\n",
                                         "-",
                                         " - ",
                                         "--",
                                         "- ",
                                         "/",
                                         "'",
                                         "_",
                                         "&",
                                         "&amp;",
                                         "@",
                                         "#",
                                         "\x7F",
                                         "\t",
                                         "\r\n",
                                         "word",
                                         "a",
                                         "42",
                                         "7",
                                         "abc7",
                                         "Some",
                                         "I",
                                         "www.",
                                         "ww",
                                         "http://",
                                         "HTTPS",
                                         "https:",
                                         "WWW.",
                                         "ann@x.org ",
                                         "(",
                                         "\xC3\xA9",
                                         "\xE2\x80\x99",
                                         "\xE6\x89\x8B",
                                         "\xFF",
                                         "averyveryverylongwordofmanyletters"};
    const size_t n_pieces = sizeof pieces / sizeof *pieces;
    uint64_t n = gf_random_below(r, 120), rare = gf_random_below(r, 2) ? n_pieces : 32;
    gf_buffer_reset(text);
    for (; n > 0; n--) {
        gf_buffer_str(text, pieces[gf_random_below(r, gf_random_below(r, 4) ? 12 : rare)]);
        gf_buffer_str(text, gf_random_below(r, 8) ? pieces[25 + gf_random_below(r, 7)] : "");
    }
}

/* With and without windows: the same tokens with the same flags, whatever the options. */
static void windows_change_nothing(void **state)
{
    (void)state;
    gf_error err;
    gf_random r = gf_random_seed(gf_test_seed(), 1);
    gf_buffer text = {0};
    for (int round = 0; round < 30000; round++) {
        gf_tokeniser fast, slow;
        uint64_t bits = gf_random_u64(&r);
        gf_token_options o = {.max_length = bits & 1 ? 64 : 3,
                              .links = bits & 2,
                              .references = bits & 4,
                              .mention_signs = bits & 8,
                              .hashtag_signs = bits & 16};
        random_ascii(&r, &text);
        char *exact = malloc(text.len);
        if (text.len) memcpy(exact, text.ptr, text.len);
        gf_slice s = gf_slice_of(exact, text.len);
        gf_tokeniser_init(&fast, o);
        o.portable = true;
        gf_tokeniser_init(&slow, o);
        assert_ok(gf_tokenise(&fast, s, &err));
        assert_ok(gf_tokenise(&slow, s, &err));
        bool same = fast.n == slow.n;
        for (size_t i = 0; same && i < fast.n; i++) {
            const gf_token *a = &fast.tokens[i], *b = &slow.tokens[i];
            same = a->start == b->start && a->length == b->length && a->kind == b->kind &&
                   a->flags == b->flags;
        }
        if (!same)
            fail_msg("seed %llu: \"%s\"", (unsigned long long)gf_test_seed(),
                     gf_buffer_cstr(&text));
        gf_tokeniser_release(&fast);
        gf_tokeniser_release(&slow);
        free(exact);
    }
    gf_buffer_release(&text);
}

/* ---- hostile text ---------------------------------------------------------------------------- */

/* Seconds for n bytes of a piece repeated. */
static double time_of(const char *piece, size_t n, bool bigrams)
{
    gf_error err;
    gf_tokeniser t;
    gf_buffer text = {0};
    gf_tokeniser_init(&t, GF_TOKEN_OPTIONS_DEFAULT);
    t.options.bigrams = bigrams;
    while (text.len < n)
        gf_buffer_str(&text, piece);
    double start = gf_clock_seconds();
    assert_ok(gf_tokenise(&t, gf_buffer_view(&text), &err));
    double seconds = gf_clock_seconds() - start;
    gf_buffer_release(&text);
    gf_tokeniser_release(&t);
    return seconds;
}

/*
 * 16 times the text takes about 16 times as long; 256 times would be quadratic. Whatever else the
 * machine has to do lengthens one or the other, so one of several tries has to be so.
 */
static void takes_linear_time(const char *piece)
{
    enum { TRIES = 5 };
    const size_t small = (size_t)64 << 10;
    double once = 0, many = 1;
    for (int i = 0; i < TRIES && many > 100 * once + 0.1; i++) {
        once = time_of(piece, small, false);
        many = time_of(piece, small * 16, false);
    }
    if (many > 100 * once + 0.1)
        fail_msg("\"%s\": %g s, 16 times the text %g s", piece, once, many);
}

static void is_linear_in_anything(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "a",       "_",    "\xCC\x81", "a\xCC\x81", "\xE2\x80\x8D",
        "@",       "#",    "@a",       "a@",        "a@a.",
        "http://", "www.", "&",        "&amp;",     "&#1",
        "-",       "#1",   "\n",       "\xFF",      "\xE3\x83\xBC",
        "a.",      "1",    "(",        "_a",        "\xE6\x89\x8B"};
    const size_t large = (size_t)1 << 20;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        takes_linear_time(pieces[i]);
    double least = time_of("\xE6\x89\x8B", large, true);
    for (int i = 0; i < 4 && least >= 2; i++) {
        double again = time_of("\xE6\x89\x8B", large, true);
        if (again < least) least = again;
    }
    assert_true(least < 2);
    assert_true(time_of("\xE0\xB8\x81", large, false) < 20);
}

/* A run longer than the breaker takes at once comes out whole. */
static void breaks_long_runs(void **state)
{
    (void)state;
    gf_error err;
    gf_tokeniser t;
    gf_buffer text = {0};
    for (int i = 0; i < 10000; i++)
        gf_buffer_str(&text, i % 2 ? "\xE6\x89\x8B" : "\xF0\xA0\x80\x80");
    gf_tokeniser_init(&t, GF_TOKEN_OPTIONS_DEFAULT);
    assert_ok(gf_tokenise(&t, gf_buffer_view(&text), &err));
    size_t at = 0;
    for (size_t i = 0; i < t.n; i++) {
        assert_int_equal(t.tokens[i].start, at);
        at += t.tokens[i].length;
        assert_int_equal(gf_utf8_valid_length(gf_slice_of(text.ptr, at)), at);
    }
    assert_int_equal(at, text.len);
    gf_buffer_release(&text);
    gf_tokeniser_release(&t);
}

static gf_status tokenise_much(void *context, gf_error *err)
{
    gf_tokeniser t;
    gf_tokeniser_init(&t, GF_TOKEN_OPTIONS_DEFAULT);
    gf_status st = gf_tokenise(&t, *(gf_slice *)context, err);
    if (st != GF_OK) assert_int_equal(t.n, 0);
    gf_tokeniser_release(&t);
    return st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_buffer text = {0};
    for (int i = 0; i < 600; i++)
        gf_buffer_str(&text, "a 手机很好 ");
    gf_slice s = gf_buffer_view(&text);
    gf_test_sweep(tokenise_much, NULL, &s);
    gf_buffer_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_words_and_phrases),     cmocka_unit_test(speaks_languages),
        cmocka_unit_test(pairs_characters),           cmocka_unit_test(finds_links_and_signs),
        cmocka_unit_test(marks_long_words),           cmocka_unit_test(bad_bytes_separate),
        cmocka_unit_test(equals_the_naive_tokeniser), cmocka_unit_test(windows_change_nothing),
        cmocka_unit_test(is_linear_in_anything),      cmocka_unit_test(breaks_long_runs),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("tokenise", tests, NULL, NULL);
}
