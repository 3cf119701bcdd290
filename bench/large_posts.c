/*
 * Posts by the million, made from a file of real ones, for sizes that no data set here has.
 *
 *     bench_large_posts FILE N [FIRST] > posts.jsonl
 *
 * FILE is anything that `put` reads; its field "label" is kept. The posts FIRST, FIRST + 1, ... (0)
 * are written as JSON Lines, each the same in every run. What a made post keeps of the real ones:
 *
 *     length      a real post gives its label and its number of words;
 *     subjects    the words come in runs of 3 to 8, one half from that post, the others from posts
 *                 of the same label: groups stay groups, and no two posts are alike;
 *     vocabulary  it grows on as the real posts' does, by Heaps' law V(n) = K n^b, whose b is
 *                 measured on FILE: a share of the words is replaced by made ones whose ranks
 *                 follow Zipf's law from the real vocabulary's size V on without an end.
 *
 * With N real words the law's growth at N is s = b V / N new words a word: the share of made words.
 * A made word has the rank V u^(-b / (1 - b)), u uniform in (0, 1], so that after n of them
 * V ((1 + n s' / N)^b - 1) or so are distinct. It is spelt by its rank in syllables.
 *
 * Source: H. S. Heaps, Information Retrieval (1978), 206-208; the tail of Zipf's law that goes with
 * it: D. C. van Leijenhorst & T. P. van der Weide, Information Sciences 170 (2005) 263-272.
 */
#include "base/arena.h"
#include "base/distinct.h"
#include "base/grow.h"
#include "base/json/writer.h"
#include "base/memory.h"
#include "base/random.h"
#include "formats/bytes/files.h"
#include "formats/reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { SHORTEST_RUN = 3, LONGEST_RUN = 8, KEPT_OUTPUT = 1 << 20 };

typedef struct post {
    size_t word;    /* its first word */
    uint32_t words; /* 1 or more */
    uint32_t label;
} post;

typedef struct label {
    gf_slice json;
    size_t first, n; /* its posts in corpus.of_label */
} label;

typedef struct corpus {
    gf_arena arena;
    gf_buffer text; /* all posts' words as in a JSON string, each with a space behind it */
    size_t *start;  /* n_words + 1: where each word begins in the text */
    size_t n_words, words_capacity;
    post *posts; /* n_posts */
    size_t n_posts, posts_capacity;
    label *labels; /* n_labels */
    size_t n_labels, labels_capacity;
    uint32_t *of_label;                    /* n_posts: posts by label */
    double vocabulary, growth, made_share; /* V, b, s */
} corpus;

/* ---- reading --------------------------------------------------------------------------------- */

static gf_status find_label(corpus *c, const gf_document *d, uint32_t *found, gf_error *err)
{
    gf_slice json = GF_SLICE("\"\"");
    for (size_t i = 0; i < d->n_fields; i++)
        if (gf_slice_equal(d->fields[i].name, GF_SLICE("label"))) json = d->fields[i].json;
    /* Posts of one label mostly stand together. */
    for (size_t i = c->n_labels; i-- > 0;)
        if (gf_slice_equal(c->labels[i].json, json)) {
            *found = (uint32_t)i;
            return GF_OK;
        }
    gf_slice kept = gf_arena_copy(&c->arena, json);
    if (!kept.ptr || !gf_grow(&c->labels, &c->labels_capacity, c->n_labels + 1, sizeof *c->labels))
        return gf_fail_memory(err, "labels");
    c->labels[c->n_labels] = (label){.json = kept};
    *found = (uint32_t)c->n_labels++;
    return GF_OK;
}

/* Room is kept for the end of the last word, too. */
static gf_status add_word(corpus *c, gf_slice word, gf_error *err)
{
    if (!gf_grow(&c->start, &c->words_capacity, c->n_words + 2, sizeof *c->start))
        return gf_fail_memory(err, "words");
    size_t begin = c->text.len;
    c->start[c->n_words++] = begin;
    gf_json_append_string(&c->text, word);
    gf_status st = gf_buffer_check(&c->text, err);
    if (st != GF_OK) return st;
    /* "word" becomes word and a space. */
    memmove(c->text.ptr + begin, c->text.ptr + begin + 1, c->text.len - begin - 1);
    c->text.len--;
    c->text.ptr[c->text.len - 1] = ' ';
    c->start[c->n_words] = c->text.len;
    return GF_OK;
}

static bool is_white(char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static gf_status add_post(corpus *c, const gf_document *d, gf_error *err)
{
    post p = {.word = c->n_words};
    gf_status st = find_label(c, d, &p.label, err);
    const char *at = d->text.ptr, *end = at + d->text.len;
    while (st == GF_OK && at < end) {
        while (at < end && is_white(*at))
            at++;
        const char *word = at;
        while (at < end && !is_white(*at))
            at++;
        if (at > word) st = add_word(c, gf_slice_of(word, (size_t)(at - word)), err);
    }
    p.words = (uint32_t)(c->n_words - p.word);
    if (st != GF_OK || p.words == 0) return st;
    if (!gf_grow(&c->posts, &c->posts_capacity, c->n_posts + 1, sizeof *c->posts))
        return gf_fail_memory(err, "posts");
    c->posts[c->n_posts++] = p;
    c->labels[p.label].n++;
    return GF_OK;
}

static gf_status group_by_label(corpus *c, gf_error *err)
{
    c->of_label = gf_calloc(c->n_posts, sizeof *c->of_label);
    if (!c->of_label) return gf_fail_memory(err, "labels");
    size_t first = 0;
    for (size_t i = 0; i < c->n_labels; i++) {
        c->labels[i].first = first;
        first += c->labels[i].n;
        c->labels[i].n = 0;
    }
    for (size_t i = 0; i < c->n_posts; i++) {
        label *l = &c->labels[c->posts[i].label];
        c->of_label[l->first + l->n++] = (uint32_t)i;
    }
    return GF_OK;
}

static gf_status read_posts(const char *path, corpus *c, gf_error *err)
{
    gf_files *files;
    gf_reader *reader = NULL;
    gf_record record;
    gf_status st = gf_files_open(&path, 1, &files, err);
    if (st != GF_OK) return st;
    gf_input input = gf_files_input(files);
    st = gf_reader_open(&input, NULL, &reader, err);
    while (st == GF_OK && (st = gf_reader_next(reader, &record, err)) == GF_OK)
        if (record.kind == GF_RECORD_DOCUMENT) st = add_post(c, &record.document, err);
    if (reader) gf_reader_close(reader);
    gf_files_close(files);
    if (st != GF_OK && st != GF_ENOTFOUND) return st;
    if (c->n_posts == 0) return gf_fail(err, GF_EINVAL, "%s: no post with words", path);
    return group_by_label(c, err);
}

/* ---- the vocabulary's growth ----------------------------------------------------------------- */

static uint64_t hash_word(const corpus *c, size_t word)
{
    return XXH3_64bits(c->text.ptr + c->start[word], c->start[word + 1] - c->start[word]);
}

/* b = log2(V of all posts / V of one half of them), the half drawn at random. */
static void measure_growth(corpus *c)
{
    static gf_distinct half, whole;
    gf_random random = gf_random_seed(1, UINT64_MAX);
    size_t words_of_half = 0;
    for (size_t i = 0; i < c->n_posts; i++) {
        const post *p = &c->posts[i];
        bool in_half = gf_random_below(&random, 2) == 0;
        if (in_half) words_of_half += p->words;
        for (size_t w = p->word; w < p->word + p->words; w++) {
            uint64_t hash = hash_word(c, w);
            gf_distinct_add(&whole, hash);
            if (in_half) gf_distinct_add(&half, hash);
        }
    }
    c->vocabulary = (double)gf_distinct_estimate(&whole);
    c->growth = log(c->vocabulary / (double)gf_distinct_estimate(&half)) /
                log((double)c->n_words / (double)words_of_half);
    if (!(c->growth > 0.05)) c->growth = 0.05; /* of a handful of posts it is anything */
    if (c->growth > 0.95) c->growth = 0.95;
    c->made_share = c->growth * c->vocabulary / (double)c->n_words;
    fprintf(stderr,
            "%zu posts of %zu labels, %zu words, %.0f distinct; b = %.3f, made words %.2f %%\n",
            c->n_posts, c->n_labels, c->n_words, c->vocabulary, c->growth, 100 * c->made_share);
}

/* ---- making ---------------------------------------------------------------------------------- */

/* A word of two syllables or more by its rank; no rank has another's word. */
static void append_made_word(const corpus *c, gf_random *random, gf_buffer *out)
{
    static const char onsets[] = "bdfgjklmnprstvwz", vowels[] = "aeiou";
    double u = 1 - gf_random_unit(random);
    double rank = c->vocabulary * pow(u, -c->growth / (1 - c->growth));
    uint64_t left = rank < 1e15 ? (uint64_t)rank : UINT64_C(1000000000000000);
    while (left) {
        gf_buffer_byte(out, onsets[left % 16]);
        gf_buffer_byte(out, vowels[left / 16 % 5]);
        left /= 80;
    }
    gf_buffer_byte(out, ' ');
}

/* A run of words of a post, from a random place on. */
static void append_run(const corpus *c, const post *from, uint32_t length, gf_random *random,
                       gf_buffer *out)
{
    if (length > from->words) length = from->words;
    size_t word = from->word + gf_random_below(random, from->words - length + 1);
    size_t begin = c->start[word], end = c->start[word + length];
    uint64_t draw = gf_random_u64(random) >> 11;
    double none = pow(1 - c->made_share, length);
    if ((double)draw * 0x1p-53 < none) {
        gf_buffer_append(out, c->text.ptr + begin, end - begin);
        return;
    }
    /* One at least is replaced: the first at a place drawn among them, others by the share. */
    uint32_t first = (uint32_t)gf_random_below(random, length);
    for (uint32_t i = 0; i < length; i++)
        if (i == first || (i > first && gf_random_unit(random) < c->made_share))
            append_made_word(c, random, out);
        else
            gf_buffer_append(out, c->text.ptr + c->start[word + i],
                             c->start[word + i + 1] - c->start[word + i]);
}

static void append_post(const corpus *c, uint64_t number, gf_buffer *out)
{
    gf_random random = gf_random_seed(1, number);
    const post *p = &c->posts[gf_random_below(&random, c->n_posts)];
    const label *l = &c->labels[p->label];
    gf_buffer_format(out, "{\"id\":\"p%09" PRIu64 "\",\"label\":", number);
    gf_buffer_slice(out, l->json);
    gf_buffer_str(out, ",\"text\":\"");
    for (uint32_t left = p->words; left;) {
        uint32_t run =
            SHORTEST_RUN + (uint32_t)gf_random_below(&random, LONGEST_RUN - SHORTEST_RUN + 1);
        const post *from = p;
        if (gf_random_below(&random, 2))
            from = &c->posts[c->of_label[l->first + gf_random_below(&random, l->n)]];
        if (run > left) run = left;
        if (run > from->words) run = from->words;
        append_run(c, from, run, &random, out);
        left -= run;
    }
    out->len--; /* the last space */
    gf_buffer_str(out, "\"}\n");
}

static gf_status write_posts(const corpus *c, uint64_t first, uint64_t n, gf_error *err)
{
    gf_buffer out;
    gf_buffer_init(&out, (size_t)1 << 30);
    gf_status st = GF_OK;
    for (uint64_t i = first; i < first + n && st == GF_OK; i++) {
        append_post(c, i, &out);
        if (out.len < KEPT_OUTPUT && i + 1 < first + n) continue;
        st = gf_buffer_check(&out, err);
        if (st == GF_OK && fwrite(out.ptr, 1, out.len, stdout) < out.len)
            st = gf_fail_errno(err, "the posts could not be written");
        gf_buffer_reset(&out);
    }
    gf_buffer_release(&out);
    if (st == GF_OK && fflush(stdout) != 0)
        st = gf_fail_errno(err, "the posts could not be written");
    return st;
}

int main(int argc, char **argv)
{
    gf_error err = {GF_OK, ""};
    if (argc < 3 || argc > 4) {
        fputs("usage: bench_large_posts FILE N [FIRST] > posts.jsonl\n", stderr);
        return 2;
    }
    uint64_t n = strtoull(argv[2], NULL, 10), first = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    corpus c = {.n_words = 0};
    gf_buffer_init(&c.text, SIZE_MAX / 2);
    gf_status st = read_posts(argv[1], &c, &err);
    if (st == GF_OK) {
        measure_growth(&c);
        st = write_posts(&c, first, n, &err);
    }
    if (st != GF_OK) fprintf(stderr, "bench_large_posts: %s\n", err.message);
    gf_buffer_release(&c.text);
    gf_arena_release(&c.arena);
    gf_free(c.start);
    gf_free(c.posts);
    gf_free(c.labels);
    gf_free(c.of_label);
    return st == GF_OK ? 0 : 1;
}
