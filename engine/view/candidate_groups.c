/*
 * Groups of candidates: k-means of the documents that fit nowhere and have a new term, clusters with the same
 * new term joined, and growth by documents that are more like a group's centre than like their own cluster's.
 */
#include "engine/view/candidates_internal.h"

#include "base/grid.h"
#include "base/memory.h"
#include "cluster/kmeans.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5, GROWN = 100 };

/* One in so many of the build's documents is more like a group than what joins it: 20 where few are pending. */
enum { LEAST_ABOVE = 20, MOST_ABOVE = 100, PENDING_ABOVE = 10 };

#define NO_GROUP UINT32_MAX

/* ---- clusters with a new term ---------------------------------------------------------------- */

static bool is_outside(const gf_candidate_search *s, size_t i)
{
    gf_row_view row = gf_csr_row(&s->rows.x, (uint32_t)i);
    for (uint32_t e = 0; !s->at[i].fits && e < row.n; e++)
        if (row.col[e] < s->n_terms && s->p[row.col[e]] < 1) return true;
    return false;
}

/* Rows of the documents that fit nowhere: document[r] of row r. */
static gf_status make_rows(const gf_candidate_search *s, gf_csr *x, uint32_t *document,
                           gf_error *err)
{
    uint32_t n = 0;
    uint64_t entries = 0;
    for (size_t i = 0; i < s->n; i++)
        if (is_outside(s, i)) {
            document[n++] = (uint32_t)i;
            entries += gf_csr_row(&s->rows.x, (uint32_t)i).n;
        }
    gf_status st = gf_csr_init(x, n, s->n_terms, entries, err);
    for (uint32_t r = 0; r < n && st == GF_OK; r++) {
        gf_row_view row = gf_csr_row(&s->rows.x, document[r]);
        uint64_t to = x->start[r];
        double sum = 0;
        for (uint32_t e = 0; e < row.n; e++)
            sum += gf_candidate_weight(s, row, e) * gf_candidate_weight(s, row, e);
        for (uint32_t e = 0; e < row.n; e++) {
            float w = gf_grid_round(gf_candidate_weight(s, row, e) / sqrt(sum));
            if (w <= 0) continue;
            x->col[to] = row.col[e];
            x->val[to++] = w;
        }
        x->start[r + 1] = to;
    }
    return st;
}

/* A document of a group, by falling score. */
typedef struct placed {
    uint32_t document;
    float score;
} placed;

static int by_place(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->document < y->document ? -1 : x->document > y->document;
}

/*
 * Clusters half of which have the same new term are one group: what is new is told by its terms, and
 * k-means may cut it by other words. group[c]: the first cluster of the group of c.
 */
static void join_clusters(const gf_candidate_search *s, const gf_kmeans *kmeans, const gf_csr *x,
                          uint32_t *count, uint32_t *first, uint32_t *group)
{
    for (uint32_t c = 0; c < kmeans->k; c++)
        group[c] = c;
    for (uint32_t c = 0; c < kmeans->k; c++) {
        uint32_t n = 0;
        memset(count, 0, ((size_t)s->n_terms + 1) * sizeof *count);
        for (uint32_t r = 0; r < x->n_rows; r++) {
            if (kmeans->label[r] != c) continue;
            gf_row_view row = gf_csr_row(x, r);
            n++;
            for (uint32_t e = 0; e < row.n; e++)
                count[row.col[e]]++;
        }
        for (uint32_t t = 0; t < s->n_terms; t++) {
            if (s->p[t] >= 1 || count[t] == 0 || 2 * count[t] < n) continue;
            if (first[t] == UINT32_MAX) first[t] = c;
            uint32_t from = group[c], to = group[first[t]];
            uint32_t low = from < to ? from : to;
            for (uint32_t i = 0; i <= c; i++)
                if (group[i] == from || group[i] == to) group[i] = low;
        }
    }
}

/* ---- growth ---------------------------------------------------------------------------------- */

/* Groups that have a new term, once they are found: the documents of each, and its centre. */
typedef struct gathered_group {
    uint32_t n;     /* documents */
    double p;       /* of the best new term that half of those have by which it was found */
    double *centre; /* s->n_terms, of those that grow; NULL: it does not */
    double least;   /* similarity to the centre that hardly a document of the build has */
} gathered_group;

typedef struct gathering {
    gf_candidate_search *s;
    gathered_group *at; /* n */
    uint32_t n;
    uint32_t *of;   /* s->n: the group of each document; NO_GROUP */
    double *length; /* s->n_all: of the weighed row */
    float *score;   /* s->n_all: scratch, and of members the similarity to their centre */
} gathering;

static double similarity_to(const gathering *g, size_t i, const double *centre)
{
    gf_row_view row = gf_csr_row(&g->s->rows.x, (uint32_t)i);
    double dot = 0;
    if (!(g->length[i] > 0)) return 0;
    for (uint32_t e = 0; e < row.n; e++)
        if (row.col[e] < g->s->n_terms)
            dot += gf_candidate_weight(g->s, row, e) * centre[row.col[e]];
    return dot < g->length[i] ? dot / g->length[i] : 1;
}

static void measure_rows(gathering *g)
{
    for (size_t i = 0; i < g->s->n_all; i++) {
        gf_row_view row = gf_csr_row(&g->s->rows.x, (uint32_t)i);
        double sum = 0;
        for (uint32_t e = 0; e < row.n; e++)
            sum += gf_candidate_weight(g->s, row, e) * gf_candidate_weight(g->s, row, e);
        g->length[i] = sqrt(sum);
    }
}

/* The centre of a group, of unit length: the sum of its documents' rows, each of unit length. */
static void sum_centre(const gathering *g, uint32_t c, double *centre)
{
    size_t n_terms = g->s->n_terms;
    double sum = 0;
    memset(centre, 0, n_terms * sizeof *centre);
    for (size_t i = 0; i < g->s->n; i++) {
        gf_row_view row = gf_csr_row(&g->s->rows.x, (uint32_t)i);
        if (g->of[i] != c || !(g->length[i] > 0)) continue;
        for (uint32_t e = 0; e < row.n; e++)
            if (row.col[e] < n_terms)
                centre[row.col[e]] += gf_candidate_weight(g->s, row, e) / g->length[i];
    }
    for (size_t t = 0; t < n_terms; t++)
        sum += centre[t] * centre[t];
    sum = sum > 0 ? sqrt(sum) : 1;
    for (size_t t = 0; t < n_terms; t++)
        centre[t] = (double)gf_grid_round(centre[t] / sum);
}

static int by_rising_score(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

/*
 * The similarity that one in so many of the build's documents that were sampled is above: the more are pending, the
 * fewer, so that a group gets hardly more of them by chance.
 */
static double find_least(const gathering *g, const double *centre)
{
    size_t n = g->s->n_all - g->s->n;
    size_t above = g->s->n / PENDING_ABOVE;
    float *score = g->score + g->s->n;
    above = above < LEAST_ABOVE ? LEAST_ABOVE : above > MOST_ABOVE ? MOST_ABOVE : above;
    for (size_t i = 0; i < n; i++)
        score[i] = (float)similarity_to(g, g->s->n + i, centre);
    if (n == 0) return 1;
    qsort(score, n, sizeof *score, by_rising_score);
    return (double)score[n - 1 - n / above];
}

/* Centres of the groups that grow, and what is hardly like them. */
static void move_centres(gathering *g)
{
    for (uint32_t c = 0; c < g->n; c++) {
        if (!g->at[c].centre || g->at[c].n == 0) continue;
        sum_centre(g, c, g->at[c].centre);
        g->at[c].least = find_least(g, g->at[c].centre);
    }
}

static bool grows(const gathered_group *c)
{
    return c->centre && c->n > 0;
}

/*
 * A document joins the group whose centre it is most like, where it is more like that than hardly a document of the
 * build is, and than its own cluster's. Whatever is in a group already, and like no other, stays.
 */
static bool join_groups(gathering *g)
{
    bool moved = false;
    for (size_t i = 0; i < g->s->n; i++) {
        uint32_t best = NO_GROUP;
        double most = (double)g->s->at[i].score;
        if (g->of[i] != NO_GROUP && !g->at[g->of[i]].centre) continue;
        for (uint32_t c = 0; c < g->n; c++) {
            if (!grows(&g->at[c])) continue;
            double score = similarity_to(g, i, g->at[c].centre);
            if (score <= g->at[c].least || score <= most) continue;
            most = score;
            best = c;
        }
        if (best == NO_GROUP || best == g->of[i]) continue;
        if (g->of[i] != NO_GROUP) g->at[g->of[i]].n--;
        g->at[best].n++;
        g->of[i] = best;
        moved = true;
    }
    return moved;
}

/* like: n x n, how many documents of the one would join the other, were they in none. */
static void count_like(const gathering *g, uint32_t *like)
{
    memset(like, 0, (size_t)g->n * g->n * sizeof *like);
    for (size_t i = 0; i < g->s->n; i++) {
        if (g->of[i] == NO_GROUP) continue;
        for (uint32_t c = 0; c < g->n; c++)
            if (c != g->of[i] && grows(&g->at[c]) &&
                similarity_to(g, i, g->at[c].centre) > g->at[c].least)
                like[(size_t)g->of[i] * g->n + c]++;
    }
}

/*
 * One subject may have several new terms, and have been found once by each: a group more than half of which would join
 * a larger one goes into that.
 */
static gf_status merge_groups(gathering *g, bool *merged, gf_error *err)
{
    uint32_t *like = gf_array((size_t)g->n * g->n + 1, sizeof *like);
    uint32_t *into = gf_array((size_t)g->n + 1, sizeof *into);
    gf_status st = like && into ? GF_OK : gf_fail_memory(err, "candidates");
    *merged = false;
    if (st == GF_OK) count_like(g, like);
    for (uint32_t a = 0; a < g->n && st == GF_OK; a++) {
        into[a] = a;
        for (uint32_t b = 0; b < g->n; b++) {
            bool larger = g->at[b].n > g->at[a].n || (g->at[b].n == g->at[a].n && b < a);
            uint32_t n = like[(size_t)a * g->n + b];
            if (b == a || !larger || !grows(&g->at[a]) || 3 * (uint64_t)n <= g->at[a].n) continue;
            if (into[a] == a || g->at[b].n > g->at[into[a]].n) into[a] = b;
        }
    }
    for (size_t i = 0; i < g->s->n && st == GF_OK; i++) {
        uint32_t c = g->of[i];
        while (c != NO_GROUP && into[c] != c)
            c = into[c]; /* each is larger than the one before */
        *merged = *merged || c != g->of[i];
        g->of[i] = c;
    }
    for (uint32_t c = 0; c < g->n && st == GF_OK; c++) {
        uint32_t to = into[c];
        while (into[to] != to)
            to = into[to];
        if (to == c) continue;
        if (g->at[c].p < g->at[to].p) g->at[to].p = g->at[c].p;
        g->at[to].n += g->at[c].n;
        g->at[c].n = 0;
    }
    gf_free(like);
    gf_free(into);
    return st;
}

static gf_status grow_groups(gathering *g, gf_error *err)
{
    gf_status st = GF_OK;
    bool changed = g->n > 0;
    move_centres(g);
    for (uint32_t round = 0; st == GF_OK && changed && round < ROUNDS; round++) {
        bool merged = false;
        st = gf_cancel_check(g->s->cancel, err);
        bool moved = st == GF_OK && join_groups(g);
        if (moved) move_centres(g);
        if (st == GF_OK) st = merge_groups(g, &merged, err);
        if (merged) move_centres(g);
        changed = moved || merged;
    }
    return st;
}

/* ---- all groups ------------------------------------------------------------------------------ */

static gf_status tell_one(gathering *g, uint32_t c, double *centre, gf_error *err)
{
    gf_candidate_search *s = g->s;
    placed *rows = gf_array((size_t)g->at[c].n + 1, sizeof *rows);
    uint32_t *member = gf_array((size_t)g->at[c].n + 1, sizeof *member), n = 0, n_weighed = 0;
    gf_candidate_term *weighed = gf_array((size_t)s->n_terms + 1, sizeof *weighed);
    gf_status st = rows && member && weighed ? GF_OK : gf_fail_memory(err, "candidates");
    if (st == GF_OK) sum_centre(g, c, centre);
    for (size_t i = 0; st == GF_OK && i < s->n; i++)
        if (g->of[i] == c) {
            g->score[i] = (float)similarity_to(g, i, centre);
            rows[n++] = (placed){(uint32_t)i, g->score[i]};
        }
    if (st == GF_OK && n) qsort(rows, n, sizeof *rows, by_place);
    for (uint32_t i = 0; i < n; i++)
        member[i] = rows[i].document;
    for (uint32_t t = 0; st == GF_OK && t < s->n_terms; t++)
        if (centre[t] > 0) weighed[n_weighed++] = (gf_candidate_term){t, centre[t]};
    const gf_candidate_group group = {member, g->score, n};
    if (st == GF_OK && n >= s->least)
        st = gf_candidates_tell(s, &group, g->at[c].p, weighed, n_weighed, err);
    gf_free(rows);
    gf_free(member);
    gf_free(weighed);
    return st;
}

static int by_falling_size(const void *a, const void *b, void *groups)
{
    const gathered_group *at = groups;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (at[x].n != at[y].n) return at[x].n > at[y].n ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void order_groups(const gathering *g, uint32_t *order)
{
    for (uint32_t c = 0; c < g->n; c++)
        order[c] = c;
    if (g->n) qsort_r(order, g->n, sizeof *order, by_falling_size, g->at);
}

/* The largest groups get a centre, and grow; all are told of by falling size. */
static gf_status grow_and_tell(gathering *g, gf_error *err)
{
    uint32_t *order = gf_array((size_t)g->n + 1, sizeof *order);
    double *centre = gf_array((size_t)g->s->n_terms + 1, sizeof *centre);
    gf_status st = order && centre ? GF_OK : gf_fail_memory(err, "candidates");
    if (st == GF_OK) order_groups(g, order);
    for (uint32_t c = 0; st == GF_OK && c < g->n && c < GROWN; c++) {
        gathered_group *group = &g->at[order[c]];
        group->centre = gf_array((size_t)g->s->n_terms + 1, sizeof *group->centre);
        if (!group->centre) st = gf_fail_memory(err, "candidates");
    }
    if (st == GF_OK) st = grow_groups(g, err);
    if (st == GF_OK) order_groups(g, order);
    for (uint32_t c = 0; st == GF_OK && c < g->n; c++)
        if (g->at[order[c]].n) st = tell_one(g, order[c], centre, err);
    gf_free(order);
    gf_free(centre);
    return st;
}

/* The groups of k-means' clusters: those that are large enough, and half of which have a new term. */
static void take_groups(gathering *g, const gf_kmeans *kmeans, const gf_csr *x,
                        const uint32_t *document, const uint32_t *group, uint32_t *count)
{
    gf_candidate_search *s = g->s;
    for (uint32_t from = 0; from < kmeans->k; from++) {
        uint32_t n = 0;
        double p = 1;
        memset(count, 0, ((size_t)s->n_terms + 1) * sizeof *count);
        for (uint32_t r = 0; r < x->n_rows; r++) {
            if (group[kmeans->label[r]] != from) continue;
            gf_row_view row = gf_csr_row(x, r);
            n++;
            for (uint32_t e = 0; e < row.n; e++)
                count[row.col[e]]++;
        }
        if (n < s->least) continue;
        for (uint32_t t = 0; t < s->n_terms; t++)
            if (2 * count[t] >= n && count[t] && s->p[t] < p) p = s->p[t];
        if (p >= 1) continue;
        for (uint32_t r = 0; r < x->n_rows; r++)
            if (group[kmeans->label[r]] == from) g->of[document[r]] = g->n;
        g->at[g->n++] = (gathered_group){.n = n, .p = p};
    }
}

static gf_status look_at_groups(gf_candidate_search *s, const gf_kmeans *kmeans, const gf_csr *x,
                                const uint32_t *document, gf_error *err)
{
    size_t terms = (size_t)s->n_terms + 1, k = kmeans->k;
    gathering g = {.s = s,
                   .at = gf_array(k, sizeof *g.at),
                   .of = gf_array(s->n, sizeof *g.of),
                   .length = gf_array(s->n_all, sizeof *g.length),
                   .score = gf_array(s->n_all, sizeof *g.score)};
    uint32_t *count = gf_array(terms, sizeof *count), *first = gf_array(terms, sizeof *first),
             *group = gf_array(k, sizeof *group);
    bool all = g.at && g.of && g.length && g.score && count && first && group;
    gf_status st = all ? GF_OK : gf_fail_memory(err, "candidates");
    if (st == GF_OK) {
        for (uint32_t t = 0; t < s->n_terms; t++)
            first[t] = UINT32_MAX;
        for (size_t i = 0; i < s->n; i++)
            g.of[i] = NO_GROUP;
        join_clusters(s, kmeans, x, count, first, group);
        measure_rows(&g);
        take_groups(&g, kmeans, x, document, group, count);
        st = grow_and_tell(&g, err);
    }
    for (uint32_t c = 0; c < g.n; c++)
        gf_free(g.at[c].centre);
    gf_free(g.at);
    gf_free(g.of);
    gf_free(g.length);
    gf_free(g.score);
    gf_free(count);
    gf_free(first);
    gf_free(group);
    return st;
}

gf_status gf_candidates_find_groups(gf_candidate_search *s, gf_error *err)
{
    gf_csr x = {0};
    gf_kmeans kmeans = {0};
    uint32_t *document = gf_array(s->n, sizeof *document);
    if (!document) return gf_fail_memory(err, "candidates");
    gf_status st = make_rows(s, &x, document, err);
    if (st == GF_OK && x.n_rows >= s->least) {
        gf_kmeans_options o = {.max_k = x.n_rows / s->least, .seed = 1, .cancel = s->cancel};
        if (o.max_k == 1) o.k = 1;
        st = gf_kmeans_run(NULL, &x, &o, &kmeans, err);
        if (st == GF_OK) st = look_at_groups(s, &kmeans, &x, document, err);
    }
    gf_kmeans_release(&kmeans);
    gf_csr_release(&x);
    gf_free(document);
    return st;
}
