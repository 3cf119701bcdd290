/*
 * How fast texts become TF-IDF rows: analysis, counting and weights alone, from text in memory.
 *
 *     bench_vectorize FILE [[FROM-]THREADS [ROUNDS [NAME=VALUE ...]]]
 *
 * FILE is anything that `put` reads. For each number of threads from FROM (1) to THREADS (2) the texts are
 * gone through ROUNDS (5) times, and the median time is printed, and the least processor time,
 * which a busy machine disturbs less: MB are 10^6 bytes of UTF-8. Serial is the share of that time
 * by one thread that no other can take part in: what a median of n threads cannot fall below.
 * NAME=VALUE are settings of the analysis, such as language=en ngrams_max=2. Without a language each document's is found as a
 * rebuild finds it, and "languages" is the share of time that this takes. The hash is one over all
 * rows, terms and surface forms: equal where the results are.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/memory.h"
#include "engine/rows/languages.h"
#include "formats/bytes/files.h"
#include "formats/reader.h"
#include "vectorize/rows/vectorizer.h"
#include "vectorize/text/detect.h"
#include "vectorize/text/tokeniser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GROUP_BYTES = 8 << 20, GROUP_TEXTS = 20000, SAMPLE = 500, MOST_ROUNDS = 99 }; /* gather.c */

typedef struct corpus {
    gf_arena arena;
    gf_text *texts; /* n; language NULL where the record gives none */
    bool *own;      /* n: the record says its language */
    size_t n, bytes, tokens;
} corpus;

typedef struct measured {
    double seconds, cpu, languages;
    gf_pool_account account;
} measured;

typedef struct run {
    corpus *c;
    gf_vectorizer *v;
    gf_pool *pool;
    bool detect;
    gf_fallback fallback;
    size_t first; /* of the group */
} run;

/* ---- the texts ------------------------------------------------------------------------------- */

static gf_status add_text(corpus *c, size_t *capacity, const gf_document *d, gf_error *err)
{
    if (c->n == *capacity) {
        *capacity = *capacity ? *capacity * 2 : 1024;
        gf_text *texts = gf_realloc(c->texts, *capacity, sizeof *texts);
        if (texts) c->texts = texts;
        bool *own = gf_realloc(c->own, *capacity, sizeof *own);
        if (own) c->own = own;
        if (!texts || !own) return gf_fail_memory(err, "texts");
    }
    gf_slice text = gf_arena_copy(&c->arena, d->text);
    if (!text.ptr) return gf_fail_memory(err, "texts");
    c->own[c->n] = d->language.len > 0;
    c->texts[c->n++] = (gf_text){text, d->language.len ? gf_language_find(d->language) : NULL};
    c->bytes += text.len;
    return GF_OK;
}

static gf_status read_texts(const char *path, corpus *c, gf_error *err)
{
    gf_files *files;
    gf_reader *reader = NULL;
    gf_record record;
    size_t capacity = 0;
    gf_status st = gf_files_open(&path, 1, &files, err);
    if (st != GF_OK) return st;
    gf_input input = gf_files_input(files);
    st = gf_reader_open(&input, NULL, &reader, err);
    while (st == GF_OK && (st = gf_reader_next(reader, &record, err)) == GF_OK)
        if (record.kind == GF_RECORD_DOCUMENT) st = add_text(c, &capacity, &record.document, err);
    if (reader) gf_reader_close(reader);
    gf_files_close(files);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status count_tokens(corpus *c, gf_error *err)
{
    gf_tokeniser t;
    gf_status st = GF_OK;
    gf_tokeniser_init(&t, GF_TOKEN_OPTIONS_DEFAULT);
    for (size_t i = 0; i < c->n && st == GF_OK; i++) {
        st = gf_tokenise(&t, c->texts[i].text, err);
        c->tokens += t.n;
    }
    gf_tokeniser_release(&t);
    return st;
}

/* ---- their languages, as engine/build/gather.c finds them ------------------------------------ */

static gf_status detect_one(void *context, size_t i, unsigned worker, gf_error *err)
{
    (void)worker;
    run *r = context;
    gf_text *t = &r->c->texts[r->first + i];
    if (r->c->own[r->first + i]) return GF_OK;
    return gf_languages_of_document(&r->fallback, (gf_slice){0}, t->text, &t->language, err);
}

static gf_status find_languages(run *r, size_t n, gf_error *err)
{
    gf_slice sample[SAMPLE];
    gf_dominance found;
    size_t without = 0, taken = 0, seen = 0;
    const corpus *c = r->c;
    for (size_t i = r->first; i < r->first + n; i++)
        without += !c->own[i];
    size_t step = without / SAMPLE + 1;
    for (size_t i = r->first; i < r->first + n && taken < SAMPLE; i++)
        if (!c->own[i] && seen++ % step == 0) sample[taken++] = c->texts[i].text;
    gf_status st = GF_OK;
    if (taken && r->fallback.kind != GF_FALLBACK_DETECT) {
        st = gf_dominant_language(sample, taken, r->pool, &found, NULL, err);
        if (st == GF_OK && found.n_reliable)
            r->fallback = (gf_fallback){found.share < 0.95 ? GF_FALLBACK_DETECT : GF_FALLBACK_FIXED,
                                        found.language};
    }
    bool parallel = r->fallback.kind == GF_FALLBACK_DETECT;
    return st == GF_OK ? gf_pool_run(parallel ? r->pool : NULL, n, detect_one, r, NULL, err) : st;
}

/* ---- the measuring --------------------------------------------------------------------------- */

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001B3u;
    return h;
}

static uint64_t hash_of(const gf_vectors *x)
{
    size_t n = (size_t)gf_csr_nnz(&x->x);
    uint64_t h = 0xCBF29CE484222325u;
    h = hash_bytes(h, x->x.start, ((size_t)x->x.n_rows + 1) * sizeof *x->x.start);
    h = hash_bytes(h, x->x.col, n * sizeof *x->x.col);
    h = hash_bytes(h, x->x.val, n * sizeof *x->x.val);
    h = hash_bytes(h, x->kind, x->x.n_rows);
    const gf_vocabulary *v = &x->vocabulary;
    h = hash_bytes(h, v->df, v->n_terms * sizeof *v->df);
    h = hash_bytes(h, v->start, (2 * (size_t)v->n_terms + 1) * sizeof *v->start);
    h = hash_bytes(h, v->bytes, (size_t)v->start[2 * (size_t)v->n_terms]);
    return h;
}

/* Groups of some megabytes, as a rebuild's. */
static gf_status add_all(run *r, measured *m, gf_error *err)
{
    const corpus *c = r->c;
    gf_status st = GF_OK;
    for (size_t i = 0, n; i < c->n && st == GF_OK; i += n) {
        size_t bytes = 0;
        for (n = 0; i + n < c->n && n < GROUP_TEXTS && bytes < GROUP_BYTES; n++)
            bytes += c->texts[i + n].text.len;
        double start = gf_clock_seconds();
        r->first = i;
        if (r->detect) st = find_languages(r, n, err);
        m->languages += gf_clock_seconds() - start;
        if (st == GF_OK) st = gf_vectorizer_add(r->v, c->texts + i, n, NULL, err);
    }
    return st;
}

static gf_status time_once(corpus *c, const gf_vectorizer_options *o, gf_pool *pool, measured *m,
                           uint64_t *hash, gf_error *err)
{
    gf_vectors x = {0};
    run r = {.c = c, .pool = pool, .detect = !o->analysis.language};
    *m = (measured){.seconds = gf_clock_seconds(), .cpu = (double)clock()};
    gf_pool_keep_account(true);
    gf_status st = gf_vectorizer_create(o, pool, &r.v, err);
    if (st != GF_OK) return st;
    st = add_all(&r, m, err);
    if (st == GF_OK) st = gf_vectorizer_finish(r.v, &x, NULL, err);
    m->seconds = gf_clock_seconds() - m->seconds;
    m->cpu = ((double)clock() - m->cpu) / CLOCKS_PER_SEC;
    m->account = gf_pool_read_account();
    gf_pool_keep_account(false);
    if (st == GF_OK) *hash = hash_of(&x);
    gf_vectors_release(&x);
    gf_vectorizer_free(r.v);
    return st;
}

static int by_seconds(const void *a, const void *b)
{
    const measured *x = a, *y = b;
    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

static int by_cpu(const void *a, const void *b)
{
    const measured *x = a, *y = b;
    return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static gf_status measure(corpus *c, const gf_vectorizer_options *o, unsigned threads, size_t rounds,
                         gf_error *err)
{
    measured m[MOST_ROUNDS];
    uint64_t hash = 0;
    gf_pool *pool;
    gf_status st = gf_pool_create(threads, &pool, err);
    if (st != GF_OK) return st;
    for (size_t i = 0; i < rounds && st == GF_OK; i++)
        st = time_once(c, o, pool, &m[i], &hash, err);
    gf_pool_free(pool);
    if (st != GF_OK) return st;
    double mb = (double)c->bytes / 1e6, tokens = (double)c->tokens / 1e6;
    qsort(m, rounds, sizeof *m, by_seconds);
    measured middle = m[rounds / 2];
    qsort(m, rounds, sizeof *m, by_cpu);
    const gf_pool_account *a = &middle.account;
    printf(
        "%u %s: %.3f s, %.1f MB/s, %.1f million tokens/s; serial %.1f %% (%.3f s), at best by 16 "
        "%.3f s; languages %.0f %%; least processor time %.3f s, %.1f MB/s; hash %016llx\n",
        threads, threads == 1 ? "thread" : "threads", middle.seconds, mb / middle.seconds,
        tokens / middle.seconds, 100 * a->serial / (a->serial + a->parallel), a->serial,
        a->serial + a->with[4], 100 * middle.languages / middle.seconds, m[0].cpu, mb / m[0].cpu,
        (unsigned long long)hash);
    fflush(stdout);
    return GF_OK;
}

static gf_status set_options(int n, char **settings, gf_vectorizer_options *o, gf_error *err)
{
    gf_status st = GF_OK;
    *o = gf_vectorizer_options_default();
    for (int i = 0; i < n && st == GF_OK; i++) {
        size_t name = strcspn(settings[i], "=");
        if (!settings[i][name]) return gf_fail(err, GF_EINVAL, "%s is no name=value", settings[i]);
        st = gf_vectorizer_options_set(o, gf_slice_of(settings[i], name),
                                       gf_slice_str(settings[i] + name + 1), err);
    }
    return st;
}

int main(int argc, char **argv)
{
    gf_error err = {GF_OK, ""};
    gf_vectorizer_options options;
    corpus c = {0};
    char *rest = NULL;
    unsigned from = 1, threads = argc > 2 ? (unsigned)strtoul(argv[2], &rest, 10) : 2;
    if (rest && *rest == '-') {
        from = threads;
        threads = (unsigned)strtoul(rest + 1, NULL, 10);
    }
    size_t rounds = argc > 3 ? strtoul(argv[3], NULL, 10) : 5;
    if (argc < 2 || from < 1 || threads < from || rounds < 1 || rounds > MOST_ROUNDS) {
        fputs("usage: bench_vectorize FILE [[FROM-]THREADS [ROUNDS (1..99) [NAME=VALUE ...]]]\n",
              stderr);
        return 2;
    }
    gf_status st = set_options(argc > 4 ? argc - 4 : 0, argv + 4, &options, &err);
    if (st == GF_OK) st = read_texts(argv[1], &c, &err);
    if (st == GF_OK) st = count_tokens(&c, &err);
    if (st == GF_OK)
        printf("%zu texts, %.1f MB, %.1f million tokens\n", c.n, (double)c.bytes / 1e6,
               (double)c.tokens / 1e6);
    for (unsigned n = from; n <= threads && st == GF_OK; n++)
        st = measure(&c, &options, n, rounds, &err);
    if (st != GF_OK) fprintf(stderr, "%s\n", err.message);
    gf_arena_release(&c.arena);
    gf_free(c.texts);
    gf_free(c.own);
    return st == GF_OK ? 0 : 1;
}
