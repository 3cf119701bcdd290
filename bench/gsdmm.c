/*
 * GSDMM, a Dirichlet multinomial mixture of whole documents by collapsed Gibbs sampling: what
 * bench/quality compares clusters of short texts with. Not a part of Grouperfish.
 *
 *     bench_gsdmm COUNTS K SEED [ROUNDS [ALPHA [BETA]]]
 *
 * COUNTS is a text file: the number of documents and of words, then for each document a line with
 * the number of its different words and pairs "word count", words from 0. Prints the group of each
 * document, 0..K-1, a line each. By default 30 rounds, alpha = beta = 0.1.
 *
 * Each document in turn leaves its group z and draws another one with a chance in proportion to
 *
 *     (m_z + alpha) * product over its words w, j = 1..N_dw, of (n_zw + beta + j - 1)
 *                   / product over i = 1..N_d of (n_z + V beta + i - 1)
 *
 * m_z: documents of z; n_zw, n_z: places of word w, and of all words, in z; V: words.
 * Source: Yin & Wang, "A Dirichlet Multinomial Mixture Model-based Approach for Short Text
 * Clustering", KDD 2014, pages 233-242, equation 4 and algorithm 1.
 */
#include "base/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LOGARITHMS 65536 /* of i + beta, i below it, are in a table */

typedef struct mixture {
    uint32_t n, v, k;
    double alpha, beta;
    uint64_t *start; /* n + 1: a document's pairs in word, count */
    uint32_t *word, *count;
    uint32_t *length; /* n: places of a document */
    uint32_t *group;  /* n */
    uint32_t *m;      /* k: documents */
    uint64_t *places; /* k: of all words */
    uint32_t *in;     /* v * k, word-major: places of a word in each group */
    double *logs;     /* LOGARITHMS */
    double *chance;   /* k */
} mixture;

static void stop(const char *why)
{
    fprintf(stderr, "bench_gsdmm: %s\n", why);
    exit(1);
}

static void *allocate(uint64_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p) stop("out of memory");
    return p;
}

static uint32_t read_number(FILE *file)
{
    uint32_t x = 0;
    if (fscanf(file, "%" SCNu32, &x) != 1) stop("the file of counts ends early, or has no number");
    return x;
}

static void read_counts(mixture *g, const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) stop("the file of counts cannot be read");
    g->n = read_number(file);
    g->v = read_number(file);
    g->start = allocate((uint64_t)g->n + 1, sizeof *g->start);
    g->length = allocate(g->n, sizeof *g->length);
    uint64_t room = 0;
    for (uint32_t d = 0; d < g->n; d++) {
        uint32_t words = read_number(file);
        g->start[d + 1] = g->start[d] + words;
        if (g->start[d + 1] > room) {
            room = 2 * g->start[d + 1];
            g->word = realloc(g->word, room * sizeof *g->word);
            g->count = realloc(g->count, room * sizeof *g->count);
            if (!g->word || !g->count) stop("out of memory");
        }
        for (uint64_t i = g->start[d]; i < g->start[d + 1]; i++) {
            g->word[i] = read_number(file);
            g->count[i] = read_number(file);
            if (g->word[i] >= g->v) stop("a word of the file of counts is not below their number");
            g->length[d] += g->count[i];
        }
    }
    fclose(file);
}

static void prepare(mixture *g)
{
    g->group = allocate(g->n, sizeof *g->group);
    g->m = allocate(g->k, sizeof *g->m);
    g->places = allocate(g->k, sizeof *g->places);
    g->in = allocate((uint64_t)g->v * g->k, sizeof *g->in);
    g->chance = allocate(g->k, sizeof *g->chance);
    g->logs = allocate(LOGARITHMS, sizeof *g->logs);
    for (uint32_t i = 0; i < LOGARITHMS; i++)
        g->logs[i] = log(i + g->beta);
}

/* Let a document join its group (sign 1) or leave it (-1); unsigned numbers wrap as they should. */
static void count_in(mixture *g, uint32_t d, int sign)
{
    uint32_t z = g->group[d], one = (uint32_t)sign;
    g->m[z] += one;
    g->places[z] += (uint64_t)(int64_t)sign * g->length[d];
    for (uint64_t i = g->start[d]; i < g->start[d + 1]; i++)
        g->in[(uint64_t)g->word[i] * g->k + z] += one * g->count[i];
}

static double log_of(const mixture *g, uint32_t i)
{
    return i < LOGARITHMS ? g->logs[i] : log(i + g->beta);
}

/* The group that a document draws, which is in none. */
static uint32_t draw(mixture *g, uint32_t d, gf_random *random)
{
    double most = -INFINITY, sum = 0;
    for (uint32_t z = 0; z < g->k; z++) {
        double base = (double)g->places[z] + g->v * g->beta;
        g->chance[z] = log(g->m[z] + g->alpha) + lgamma(base) - lgamma(base + g->length[d]);
    }
    for (uint64_t i = g->start[d]; i < g->start[d + 1]; i++) {
        const uint32_t *in = g->in + (uint64_t)g->word[i] * g->k;
        for (uint32_t j = 0; j < g->count[i]; j++)
            for (uint32_t z = 0; z < g->k; z++)
                g->chance[z] += log_of(g, in[z] + j);
    }
    for (uint32_t z = 0; z < g->k; z++)
        if (g->chance[z] > most) most = g->chance[z];
    for (uint32_t z = 0; z < g->k; z++)
        sum += g->chance[z] = exp(g->chance[z] - most);
    double at = gf_random_unit(random) * sum;
    for (uint32_t z = 0; z < g->k; z++)
        if ((at -= g->chance[z]) < 0) return z;
    return g->k - 1;
}

static void sample(mixture *g, uint32_t rounds, uint64_t seed)
{
    gf_random random = gf_random_seed(seed, 0);
    for (uint32_t d = 0; d < g->n; d++) {
        g->group[d] = (uint32_t)gf_random_below(&random, g->k);
        count_in(g, d, 1);
    }
    for (uint32_t round = 0; round < rounds; round++)
        for (uint32_t d = 0; d < g->n; d++) {
            count_in(g, d, -1);
            g->group[d] = draw(g, d, &random);
            count_in(g, d, 1);
        }
}

int main(int argc, char **argv)
{
    if (argc < 4) stop("usage: bench_gsdmm COUNTS K SEED [ROUNDS [ALPHA [BETA]]]");
    mixture g = {.k = (uint32_t)strtoul(argv[2], NULL, 10),
                 .alpha = argc > 5 ? strtod(argv[5], NULL) : 0.1,
                 .beta = argc > 6 ? strtod(argv[6], NULL) : 0.1};
    if (!g.k || !(g.alpha > 0) || !(g.beta > 0)) stop("K, ALPHA and BETA are above 0");
    read_counts(&g, argv[1]);
    prepare(&g);
    sample(&g, argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 30, strtoull(argv[3], NULL, 10));
    for (uint32_t d = 0; d < g.n; d++)
        printf("%" PRIu32 "\n", g.group[d]);
    free(g.start), free(g.word), free(g.count), free(g.length), free(g.group);
    free(g.m), free(g.places), free(g.in), free(g.chance), free(g.logs);
    return 0;
}
