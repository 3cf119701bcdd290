/* Kinds of files by their bytes. */
#include "apps/papers/extraction/magic.h"
#include "base/random.h"
#include "base/utf8.h"
#include "tests/support/test.h"

#include <pthread.h>

static const struct {
    const char *bytes, *words, *mime;
    bool pdf;
} kinds[] = {
    {"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "PDF document, version 1.4", "application/pdf", true},
    {"\r\njunk of a server\r\n%PDF-1.5\n", "PDF document, version 1.5", "application/pdf", true},
    {"%PDF-", "", "", true}, /* whatever libmagic says of so little */
    {"<!DOCTYPE html>\n<html><body>404</body></html>\n", "HTML document, ASCII text", "text/html",
     false},
    {"no\n", "ASCII text", "text/plain", false},
    {"", "empty", "application/x-empty", false},
    {"%!PS-Adobe-3.0\n", "PostScript document text conforming DSC level 3.0",
     "application/postscript", false},
};

static void tells_kinds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        gf_error err;
        gf_papers_magic magic;
        gf_slice bytes = gf_slice_str(kinds[i].bytes);
        assert_ok(gf_papers_magic_read(bytes, &magic, &err));
        if (kinds[i].words[0]) assert_non_null(strstr(magic.words, kinds[i].words));
        if (kinds[i].words[0]) assert_string_equal(magic.mime, kinds[i].mime);
        assert_int_equal(gf_papers_magic_is_pdf(bytes, &magic), kinds[i].pdf);
    }
}

/* Whatever the bytes are, the words are a line of UTF-8. */
static void reads_hostile_bytes(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    static char bytes[3 << 20];
    for (int i = 0; i < 300; i++) {
        gf_error err;
        gf_papers_magic magic;
        size_t n = i ? (size_t)gf_random_below(&r, 4096) : sizeof bytes;
        const char *start = kinds[gf_random_below(&r, sizeof kinds / sizeof *kinds)].bytes;
        for (size_t k = 0; k < n; k++)
            bytes[k] = gf_random_below(&r, 3) ? (char)gf_random_below(&r, 256) : '\0';
        if (strlen(start) <= n && i) memcpy(bytes, start, strlen(start));
        assert_ok(gf_papers_magic_read(gf_slice_of(bytes, n), &magic, &err));
        assert_true(gf_utf8_is_valid(gf_slice_str(magic.words)));
        assert_null(strchr(magic.words, '\n'));
    }
}

static void *read_often(void *context)
{
    bool *good = context;
    *good = true;
    for (int i = 0; i < 70 && *good; i++) {
        gf_papers_magic magic;
        size_t k = (size_t)i % 7;
        gf_status st = gf_papers_magic_read(gf_slice_str(kinds[k].bytes), &magic, NULL);
        *good = st == GF_OK && (!kinds[k].mime[0] || strcmp(magic.mime, kinds[k].mime) == 0);
    }
    return NULL;
}

/* A handle is one thread's at a time; more threads than handles are kept. */
static void serves_threads(void **state)
{
    enum { THREADS = 20 };
    (void)state;
    pthread_t threads[THREADS];
    bool good[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_often, &good[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(good[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tells_kinds),
                                       cmocka_unit_test(reads_hostile_bytes),
                                       cmocka_unit_test(serves_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
