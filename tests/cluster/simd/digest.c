/*
 * Results of one variant of the kernels for random rows and centres, as digests: a line for each
 * kernel. Variants that fuse multiply-add print the same lines on any processor, which neon.sh
 * compares. Every score is also held against the dot product in double precision.
 *
 *     digest NAME     ends with 77 where this processor does not run that variant
 *
 * No cmocka, so that it builds for a processor that this machine has not.
 */
#include "base/memory.h"
#include "base/random.h"
#include "cluster/passes/centre_index.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TERMS = 700, ROWS = 150, SLOTS = 64 };

typedef struct digests {
    uint64_t score, best, runner_up, search, gains, move, near;
} digests;

static void stop(const char *what)
{
    fprintf(stderr, "digest: %s\n", what);
    exit(1);
}

static void need(gf_status st)
{
    if (st != GF_OK) stop("out of memory");
}

/* FNV-1a */
static void take(uint64_t *digest, const void *bytes, size_t n)
{
    if (*digest == 0) *digest = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < n; i++)
        *digest = (*digest ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001B3);
}

static float *make_floats(size_t n)
{
    float *floats = aligned_alloc(64, (n + 15) / 16 * 16 * sizeof *floats);
    if (!floats) stop("out of memory");
    memset(floats, 0, n * sizeof *floats);
    return floats;
}

/* A row of unit length; low terms are more frequent. Values of both signs. */
static gf_csr make_rows(uint32_t n, uint32_t most, gf_random *random)
{
    gf_error err;
    gf_csr x;
    need(gf_csr_init(&x, n, TERMS, (uint64_t)n * TERMS, &err));
    for (uint32_t i = 0; i < n; i++) {
        uint64_t at = x.start[i];
        double squares = 0;
        uint64_t wanted = 1 + gf_random_below(random, most);
        for (uint32_t t = 0; t < TERMS; t++) {
            if (gf_random_below(random, 8 + t) * 4 > wanted) continue;
            float value = (float)gf_random_unit(random) - 0.1f;
            x.col[at] = t;
            x.val[at++] = value;
            squares += (double)value * (double)value;
        }
        for (uint64_t p = x.start[i]; p < at; p++)
            x.val[p] = (float)((double)x.val[p] / sqrt(squares));
        x.start[i + 1] = at;
    }
    return x;
}

/* ---- kernels over an index ------------------------------------------------------------------- */

static void check_scores(const gf_centre_index *index, const gf_centres *c, gf_row_view row,
                         uint32_t columns, const float *scores)
{
    for (uint32_t column = 0; column < columns; column++) {
        gf_row_view centre = gf_centre_row(&c->at[index->cluster_of[column]]);
        double off = fabs((double)scores[column] - gf_csr_row_dot(row, centre));
        if (!(off <= 0x1p-23 * (row.n + 1))) stop("a score is not the dot product");
    }
}

static void run_row(const gf_kernels *kernels, const gf_centre_index *index, const gf_centres *c,
                    gf_row_view row, uint32_t columns, float *scores, digests *d)
{
    float *gains = scores + index->stride;
    float *length = make_floats(2 * (size_t)index->stride);
    for (uint32_t j = 0; j < index->stride; j++) {
        length[j] = 1 + (float)j / 3;
        length[index->stride + j] = length[j] * length[j];
    }
    gf_move_terms terms = {length, length + index->stride, (float)(1 + row.n % 3)};
    kernels->score(index, row, columns, scores);
    check_scores(index, c, row, columns, scores);
    take(&d->score, scores, columns * sizeof *scores);
    kernels->gains(&terms, scores, columns, gains);
    take(&d->gains, gains, columns * sizeof *gains);
    gf_best best = kernels->best(index, columns, scores);
    take(&d->best, &best, sizeof best);
    uint32_t second = columns > 1 ? kernels->runner_up(index, columns, scores, best) : 0;
    take(&d->runner_up, &second, sizeof second);
    gf_best_two two = kernels->search(index, row, row.n % index->k, scores);
    take(&d->search, &two, sizeof two);
    float offer[64];
    for (uint32_t b = 0; b < index->stride / GF_COLUMN_BLOCK; b++)
        offer[b] = 0.5f / length[b * GF_COLUMN_BLOCK];
    gf_move_wanted wanted = {terms, offer, row.n % index->k, terms.weight / 4};
    gf_move_found found = kernels->move(index, row, &wanted, scores);
    take(&d->move, &found, sizeof found);
    free(length);
}

static void run_index(const gf_kernels *kernels, uint32_t k, gf_random *random, digests *d)
{
    gf_error err;
    gf_csr x = make_rows(ROWS, 60, random), centres = make_rows(k, 20, random);
    gf_centres c;
    gf_centre_index index;
    float *key = make_floats(k);
    need(gf_centres_init(&c, k, TERMS, &err));
    for (uint32_t j = 0; j < k; j++) {
        need(gf_centres_set_row(&c, j, gf_csr_row(&centres, j), &err));
        key[j] = (float)gf_random_below(random, 4);
    }
    need(gf_centre_index_init(&index, k, TERMS, &err));
    need(gf_centre_index_build(&index, &c, key, NULL, &err));
    need(gf_centre_index_set_ceilings(&index, NULL, &err));
    float *scores = make_floats(2 * (size_t)index.stride);
    for (uint32_t i = 0; i < ROWS; i++) {
        uint32_t columns = i % 2 ? k : 1 + (uint32_t)gf_random_below(random, k);
        run_row(kernels, &index, &c, gf_csr_row(&x, i), columns, scores, d);
    }
    free(scores);
    free(key);
    gf_centre_index_release(&index);
    gf_centres_release(&c);
    gf_csr_release(&x);
    gf_csr_release(&centres);
}

/* ---- moves within a group -------------------------------------------------------------------- */

static void run_group(const gf_kernels *kernels, uint32_t n, gf_random *random, digests *d)
{
    float *sum = make_floats((size_t)TERMS * GF_GROUP), *length = make_floats(2 * GF_GROUP);
    float *dot = make_floats(GF_GROUP);
    uint32_t slot[TERMS];
    gf_csr x = make_rows(ROWS, 40, random);
    for (uint32_t t = 0; t < TERMS; t++)
        slot[t] = TERMS - 1 - t;
    for (size_t i = 0; i < (size_t)TERMS * GF_GROUP; i++)
        sum[i] = (float)gf_random_unit(random);
    for (uint32_t c = 0; c < GF_GROUP; c++) {
        length[c] = 15 + (float)c;
        length[GF_GROUP + c] = length[c] * length[c];
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        gf_near_sums sums = {sum, slot, length, length + GF_GROUP, n, (float)(1 + i % 2)};
        gf_near_move move = kernels->near(&sums, gf_csr_row(&x, i), i % n, dot);
        if (move.gain <= 0) move.to = 0;
        take(&d->near, &move, sizeof move);
        take(&d->near, dot, n * sizeof *dot);
    }
    gf_csr_release(&x);
    free(sum);
    free(length);
    free(dot);
}

int main(int argc, char **argv)
{
    static const uint32_t ks[] = {1, 2, 16, 17, 32, 33, 48, 64, 100, 129, 300};
    const gf_kernels *kernels = argc == 2 ? gf_scoring_kernels_named(argv[1]) : NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: %s VARIANT\n", argv[0]);
        return 2;
    }
    if (!kernels) return 77;
    gf_random random = gf_random_seed(7, 0);
    digests d = {0};
    for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++)
        run_index(kernels, ks[i], &random, &d);
    for (uint32_t n = 2; n <= GF_GROUP; n += 5)
        run_group(kernels, n, &random, &d);
    printf("score %016llx\nbest %016llx\nrunner_up %016llx\nsearch %016llx\ngains %016llx\n"
           "move %016llx\nnear %016llx\n",
           (unsigned long long)d.score, (unsigned long long)d.best, (unsigned long long)d.runner_up,
           (unsigned long long)d.search, (unsigned long long)d.gains, (unsigned long long)d.move,
           (unsigned long long)d.near);
    return 0;
}
