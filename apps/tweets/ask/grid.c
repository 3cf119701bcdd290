/*
 * Numbers of tweets in the cells of a grid: what a map shows of more tweets than it can draw.
 *
 *     level 1   2 x 1 cells of 180 degrees      level k   2^k x 2^(k-1) cells of 360 / 2^k degrees
 *     geohash   x19 y19 x18 y18 x17 ...         cell      its first 2 k - 1 bits: k of x, k - 1 of y
 *
 * A cell is a prefix of geohashes, so the keys of GeoTemporalIndex say it, and no tweet is read;
 * with tokens, a user or languages those that are meant are.
 */
#include "apps/tweets/ask/query_internal.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/strings.h"

#include <math.h>
#include <stdlib.h>

typedef struct sums {
    uint64_t tweets;
    double latitude, longitude;
} sums;

typedef struct counting {
    unsigned level;
    gf_strings cells; /* numbers of cells, 8 bytes each, big-endian */
    sums *sums;       /* of cells; capacity */
    size_t capacity;
} counting;

static gf_status count_place(void *context, gf_slice raw_row, uint64_t geohash, gf_geo_point place,
                             gf_error *err)
{
    counting *c = context;
    gf_buffer cell = {0};
    uint32_t id;
    bool added;
    (void)raw_row;
    if (!gf_grow(&c->sums, &c->capacity, (size_t)c->cells.n + 1, sizeof *c->sums))
        return gf_fail_memory(err, "cells");
    gf_buffer_u64be(&cell, geohash >> (GF_GEOHASH_BITS + 1 - 2 * c->level));
    gf_status st = gf_buffer_check(&cell, err);
    if (st == GF_OK) st = gf_strings_add(&c->cells, gf_buffer_view(&cell), &id, &added, err);
    gf_buffer_release(&cell);
    if (st != GF_OK) return st;
    if (added) c->sums[id] = (sums){0, 0, 0};
    c->sums[id].tweets++;
    c->sums[id].latitude += place.latitude;
    c->sums[id].longitude += place.longitude;
    return GF_OK;
}

static gf_status count_tweet(void *context, gf_slice json, const gf_tweet *tweet,
                             const gf_tweets_parser *parser, gf_error *err)
{
    (void)json, (void)parser;
    if (!tweet->has_place) return GF_OK;
    return count_place(context, (gf_slice){"", 0}, gf_geohash(tweet->place), tweet->place, err);
}

static gf_status count_index(gf_tweets *tweets, const gf_tweets_query *query, counting *c,
                             gf_error *err)
{
    gf_tweets_reading r = {.tweets = tweets, .query = query};
    gf_status st = gf_snapshot_create(tweets->db, &r.snapshot, err);
    if (st == GF_OK) st = gf_tweets_parser_create(&r.parser, err);
    if (st == GF_OK) st = gf_tweets_visit_box(&r, count_place, c, err);
    gf_snapshot_free(r.snapshot);
    gf_tweets_parser_free(r.parser);
    gf_buffer_release(&r.key);
    gf_row_release(&r.row);
    return st;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static gf_tweets_square cell_of(const counting *c, uint32_t id)
{
    uint64_t number = gf_read_u64be(gf_strings_at(&c->cells, id).ptr), x = 0, y = 0;
    const sums *s = &c->sums[id];
    for (unsigned bit = 2 * c->level - 1; bit-- > 0;) {
        uint64_t *axis = bit % 2 == 0 ? &x : &y; /* the first bit and the last one are of x */
        *axis = *axis << 1 | (number >> bit & 1);
    }
    double side = ldexp(360, -(int)c->level), west = (double)x * side - 180,
           south = (double)y * side - 90;
    return (gf_tweets_square){
        .box = {west, south, west + side, fmin(south + side, 90)},
        .tweets = s->tweets,
        .middle = {s->latitude / (double)s->tweets, s->longitude / (double)s->tweets}};
}

static int compare_cells(const void *a, const void *b)
{
    const gf_tweets_square *x = a, *y = b;
    if (x->tweets != y->tweets) return x->tweets > y->tweets ? -1 : 1;
    if (x->box.south != y->box.south) return x->box.south > y->box.south ? -1 : 1;
    return x->box.west < y->box.west ? -1 : x->box.west > y->box.west;
}

static gf_status visit_cells(const counting *c, size_t most, gf_tweets_visit_square *visit,
                             void *context, gf_error *err)
{
    size_t n = c->cells.n;
    gf_tweets_square *cells = gf_array(n, sizeof *cells);
    gf_status st = cells ? GF_OK : gf_fail_memory(err, "cells");
    for (size_t i = 0; i < n && st == GF_OK; i++)
        cells[i] = cell_of(c, (uint32_t)i);
    if (st == GF_OK && n) qsort(cells, n, sizeof *cells, compare_cells);
    for (size_t i = 0; i < n && i < most && st == GF_OK; i++)
        st = visit(context, &cells[i], err);
    gf_free(cells);
    return st;
}

gf_status gf_tweets_grid(gf_tweets *tweets, const gf_tweets_query *query, unsigned level,
                         size_t most, gf_tweets_visit_square *visit, void *context, gf_error *err)
{
    static const gf_geo_box world = {-180, -90, 180, 90};
    counting c = {.level = level};
    gf_tweets_query q = *query;
    if (level < 1 || level > GF_TWEETS_MOST_LEVEL)
        return gf_fail(err, GF_EINVAL, "a grid has a level of 1 to %d", GF_TWEETS_MOST_LEVEL);
    if (!q.box) q.box = &world;
    if (!gf_geo_box_is_valid(q.box))
        return gf_fail(err, GF_EINVAL,
                       "a box has latitudes -90 to 90, south first, and longitudes -180 to 180");
    if (q.from > q.to) return GF_OK;
    q.limit = 0;
    bool by_index = !q.n_tokens && !q.user.len && !q.user_id.len && !q.languages.len;
    gf_status st = by_index ? count_index(tweets, &q, &c, err)
                            : gf_tweets_query_run(tweets, &q, count_tweet, &c, err);
    if (st == GF_OK) st = visit_cells(&c, most, visit, context, err);
    gf_strings_release(&c.cells);
    gf_free(c.sums);
    return st;
}
