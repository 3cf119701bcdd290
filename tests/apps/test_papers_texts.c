/* Texts that are read by several threads: in their order, the same for any number of these. */
#include "apps/papers/extraction/texts.h"
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

enum { TEXTS = 400 };

/* The texts that were given: each as a line, and its values as they would be stored. */
typedef struct taken {
    gf_buffer log;
    size_t n, fail_at; /* 0: never */
} taken;

static gf_status take(void *context, const gf_papers_arrival *a, const gf_papers_text *text,
                      gf_error *err)
{
    taken *t = context;
    if (t->fail_at && t->n + 1 == t->fail_at)
        return gf_fail(err, GF_EIO, "the %zu. fails", t->n + 1);
    t->n++;
    gf_buffer_format(&t->log, "%.*s: %d, %s, %zu bytes", GF_SLICE_ARG(a->source), (int)a->kind,
                     gf_sha1_hex(&a->sha1).text, a->xml.len);
    if (a->kind == GF_PAPERS_ARRIVAL) {
        gf_buffer_format(&t->log, ": %d, %s", (int)text->result, text->reason);
        if (text->result == GF_TEI_SUCCESS) {
            gf_buffer_format(&t->log, "%s", text->quality);
            gf_buffer_slice(&t->log, text->tei_xml.bytes);
            gf_buffer_slice(&t->log, text->tei_json.bytes);
            gf_buffer_slice(&t->log, text->metadata.bytes);
        }
    }
    gf_buffer_byte(&t->log, '\n');
    return gf_buffer_check(&t->log, err);
}

static gf_buffer made[TEXTS];

/* The i-th: good ones of many lengths, and between them of each other kind. */
static void make(size_t i, gf_buffer *xml)
{
    static const char *const bad[] = {"no XML", "<html/>",
                                      "<!DOCTYPE TEI [<!ENTITY a \"ha\">]><TEI>&a;</TEI>"};
    if (i % 7 == 2) {
        gf_buffer_str(xml, bad[i % 3]);
    } else {
        size_t length = i == 77 ? GF_TEI_MOST : i % 50 == 20 ? 300000 : 1 + i * 37 % 9000;
        char word[16];
        int n = snprintf(word, sizeof word, "word%u ", (unsigned)i);
        gf_buffer_str(xml, "<TEI><teiHeader><fileDesc><titleStmt><title>A paper</title></titleStmt>"
                           "</fileDesc></teiHeader><text><body><p>");
        while (xml->len < length)
            gf_buffer_append(xml, word, (size_t)n);
        gf_buffer_str(xml, "</p></body></text></TEI>");
    }
    assert_int_equal(xml->state, GF_OK);
}

static int make_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXTS; i++)
        make(i, &made[i]);
    return 0;
}

static int release_all(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEXTS; i++)
        gf_buffer_release(&made[i]);
    return 0;
}

/* Its arrival, in memory that is the caller's. */
static gf_papers_arrival arrival(size_t i, gf_buffer *xml, char source[32])
{
    gf_papers_arrival a = {.kind = GF_PAPERS_ARRIVAL};
    gf_buffer_reset(xml);
    gf_buffer_slice(xml, gf_buffer_view(&made[i]));
    snprintf(source, 32, "paper %zu", i);
    memset(a.sha1.bytes, (int)(i % 251), sizeof a.sha1.bytes);
    if (i % 11 == 3) a.kind = GF_PAPERS_KNOWN;
    if (i % 13 == 5) a.kind = GF_PAPERS_WITHOUT_NAME;
    a.source = gf_slice_str(source);
    a.xml = gf_buffer_view(xml);
    return a;
}

typedef struct arriving {
    size_t i, n;
    gf_buffer xml;
    char source[32];
} arriving;

static gf_status arrive(void *context, gf_papers_arrival *next, gf_error *err)
{
    arriving *a = context;
    if (a->xml.ptr) memset(a->xml.ptr, 'x', a->xml.len); /* the one before was copied */
    memset(a->source, 'x', sizeof a->source);
    if (a->i == a->n) return GF_ENOTFOUND;
    *next = arrival(a->i++, &a->xml, a->source);
    return gf_buffer_check(&a->xml, err);
}

static gf_status read_all(unsigned threads, size_t n, taken *t, gf_error *err)
{
    gf_papers_texts *texts;
    arriving coming = {.n = n};
    const gf_papers_arrival *a;
    const gf_papers_text *text;
    gf_status st = gf_papers_texts_open(threads, arrive, &coming, NULL, &texts, err);
    if (st != GF_OK) return st;
    while ((st = gf_papers_texts_next(texts, &a, &text, err)) == GF_OK &&
           (st = take(t, a, text, err)) == GF_OK) {
    }
    gf_papers_texts_close(texts);
    gf_buffer_release(&coming.xml);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* The same texts, read one by one without groups. */
static void expect_all(size_t n, taken *t)
{
    gf_error err;
    gf_buffer xml = {0}, scratch = {0};
    gf_tei tei = {.result = GF_TEI_SUCCESS};
    gf_papers_text text = {.quality = NULL};
    for (size_t i = 0; i < n; i++) {
        char source[32];
        gf_papers_arrival a = arrival(i, &xml, source);
        assert_ok(gf_tei_read(a.xml, &tei, &err));
        assert_ok(gf_papers_text_make(a.xml, &tei, &scratch, &text, &err));
        if (a.kind == GF_PAPERS_KNOWN) a.xml.len = 0;
        assert_ok(take(t, &a, &text, &err));
    }
    gf_papers_text_release(&text);
    gf_tei_release(&tei);
    gf_buffer_release(&xml);
    gf_buffer_release(&scratch);
}

static void the_same_for_any_number_of_threads(void **state)
{
    (void)state;
    gf_error err;
    taken expected = {.n = 0};
    expect_all(TEXTS, &expected);
    assert_int_equal(expected.n, TEXTS);
    for (unsigned threads = 1; threads <= 5; threads += 2) {
        taken t = {.n = 0};
        assert_ok(read_all(threads, TEXTS, &t, &err));
        assert_int_equal(t.n, TEXTS);
        assert_true(gf_slice_equal(gf_buffer_view(&t.log), gf_buffer_view(&expected.log)));
        gf_buffer_release(&t.log);
    }
    gf_buffer_release(&expected.log);
}

/* The one that fails is told of once, and nothing behind it is taken. */
static void a_failure_ends_the_taking(void **state)
{
    (void)state;
    static const size_t places[] = {1, 64, 65, 150, TEXTS};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        gf_error err;
        char message[48];
        taken t = {.fail_at = places[i]};
        snprintf(message, sizeof message, "the %zu. fails", places[i]);
        assert_status(GF_EIO, read_all(3, TEXTS, &t, &err));
        assert_string_equal(err.message, message);
        assert_int_equal(t.n, places[i] - 1);
        gf_buffer_release(&t.log);
    }
}

static gf_status read_some(void *context, gf_error *err)
{
    taken *t = context;
    gf_buffer_reset(&t->log);
    t->n = 0;
    return read_all(2, 5, t, err);
}

/* Texts come one after the other, from the first on. */
static void in_order(void *context)
{
    const taken *t = context;
    char first[40];
    gf_slice log = gf_buffer_view(&t->log);
    for (size_t i = 0; i < t->n && t->log.state == GF_OK; i++) {
        snprintf(first, sizeof first, "paper %zu: ", i);
        assert_non_null(memmem(log.ptr, log.len, first, strlen(first)));
    }
}

static void no_memory(void **state)
{
    (void)state;
    taken t = {.n = 0};
    gf_test_sweep(read_some, in_order, &t);
    assert_int_equal(t.n, 5);
    gf_buffer_release(&t.log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_same_for_any_number_of_threads),
                                       cmocka_unit_test(a_failure_ends_the_taking),
                                       cmocka_unit_test(no_memory)};
    return cmocka_run_group_tests(tests, make_all, release_all);
}
