/*
 * Times the vectorizer on a data set in memory. Not a test: build it as Release and run
 *
 *     GROUPERFISH_DATA=<data> time_vectorizer [threads [rounds [data set [name=value ...]]]]
 *
 * such as  time_vectorizer 2 3 reddit-posts/reddit-posts.jsonl.zst language=en ngrams_max=2
 */
#include "support/test.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "vectorize/vectorizer.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

typedef struct corpus {
    gf_buffer bytes;
    gf_text *texts;
    size_t n;
} corpus;

static int failed(const gf_error *err)
{
    fprintf(stderr, "%s\n", err->message);
    return 1;
}

/* The documents' texts, one behind the other in bytes. */
static gf_status read_corpus(const char *name, corpus *c, gf_error *err)
{
    gf_buffer file = {0};
    gf_json_parser *parser;
    size_t capacity = 0;
    gf_slice line;
    gf_test_read_data(name, &file);
    gf_slice rest = gf_buffer_view(&file);
    gf_status st = gf_json_parser_create(&parser, err);
    while (st == GF_OK && gf_test_next_line(&rest, &line)) {
        gf_json_value root, text;
        st = gf_json_parse_copy(parser, line, &root, err);
        if (st != GF_OK || !gf_json_member(root, "text", &text)) continue;
        if (c->n == capacity) {
            capacity = capacity ? capacity * 2 : 1024;
            c->texts = gf_realloc(c->texts, capacity, sizeof *c->texts);
        }
        gf_slice s = gf_json_get_string(text);
        c->texts[c->n++] = (gf_text){.text = {NULL, s.len}};
        gf_buffer_slice(&c->bytes, s);
    }
    size_t at = 0;
    for (size_t i = 0; i < c->n; at += c->texts[i++].text.len)
        c->texts[i].text.ptr = c->bytes.ptr + at;
    gf_json_parser_free(parser);
    gf_buffer_release(&file);
    return st;
}

static gf_status time_once(const corpus *c, const gf_vectorizer_options *options, gf_pool *pool,
                           gf_error *err)
{
    gf_vectorizer *v;
    gf_vectors x = {0};
    double start = gf_clock_seconds(), added = 0, finished = 0;
    clock_t cpu = clock();
    gf_status st = gf_vectorizer_create(options, pool, &v, err);
    if (st != GF_OK) return st;
    /* As the engine does: groups of some megabytes. */
    for (size_t i = 0; i < c->n && st == GF_OK; i += 8192)
        st = gf_vectorizer_add(v, c->texts + i, c->n - i < 8192 ? c->n - i : 8192, NULL, err);
    added = gf_clock_seconds() - start;
    if (st == GF_OK) st = gf_vectorizer_finish(v, &x, NULL, err);
    finished = gf_clock_seconds() - start;
    if (st == GF_OK) {
        double mb = (double)c->bytes.len / 1e6;
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        printf("%zu documents, %.1f MB: add %.3f s, finish %.3f s, %.1f MB/s; %u terms, %u "
               "regular, %llu entries; %u rescued, %u empty; processor %.3f s; peak %.0f MB\n",
               c->n, mb, added, finished - added, mb / finished, x.vocabulary.n_terms,
               x.vocabulary.n_regular, (unsigned long long)gf_csr_nnz(&x.x), x.n_rescued, x.n_empty,
               (double)(clock() - cpu) / CLOCKS_PER_SEC, (double)usage.ru_maxrss / 1e3);
        gf_vectors_release(&x);
    }
    gf_vectorizer_free(v);
    return st;
}

int main(int argc, char **argv)
{
    gf_error err = {GF_OK, ""};
    gf_pool *pool;
    corpus c = {0};
    unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    int rounds = argc > 2 ? atoi(argv[2]) : 3;
    const char *name = argc > 3 ? argv[3] : "reddit-posts/reddit-posts.jsonl.zst";
    gf_vectorizer_options options = gf_vectorizer_options_default();
    options.analysis.language = gf_language_find(GF_SLICE("en"));
    if (!gf_test_has_data()) return gf_test_skipped("the timing");
    for (int i = 4; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        if (!equals) return 2;
        gf_slice setting = gf_slice_of(argv[i], (size_t)(equals - argv[i]));
        if (gf_vectorizer_options_set(&options, setting, gf_slice_str(equals + 1), &err) != GF_OK)
            return failed(&err);
    }
    if (read_corpus(name, &c, &err) != GF_OK || gf_pool_create(threads, &pool, &err) != GF_OK)
        return failed(&err);
    gf_status st = GF_OK;
    for (int round = 0; round < rounds && st == GF_OK; round++)
        st = time_once(&c, &options, pool, &err);
    gf_pool_free(pool);
    gf_buffer_release(&c.bytes);
    gf_free(c.texts);
    return st == GF_OK ? 0 : failed(&err);
}
