/*
 * Tweets of a box and a time.
 *
 *     GeoTemporalIndex   spread 0   day 16925   9q8yy...  9q8yz...  u33d...
 *                                   day 16926   ...
 *                        spread 1   day 16925   ...
 *
 * The rows that may be meant are, for each spreading byte and each day, those of the ranges that
 * cover the box. One walk goes over them: where it stands on a row between ranges it reads a few
 * rows on, and if those are none either it is opened again at the next range. So a table of few
 * rows is read through, and of a large one only the ranges that have any.
 *
 * The table has places as float32. A place that is by an edge of the box is read from the tweet.
 */
#include "apps/tweets/ask/query_internal.h"

#include <math.h>

enum { MOST_MISSES = 24, SPREADS = 256 };

/* More than float32 can be off at 180 degrees: half of 2^-16. */
static const double by_edge = 2e-5;

typedef struct selecting {
    gf_tweets_reading *r;
    gf_tweets_visit_place *visit;
    void *context;
    gf_geo_range ranges[GF_GEO_MOST_RANGES];
    size_t n_ranges;
    unsigned first_day, last_day;
    gf_buffer start;
    gf_row row;
} selecting;

typedef struct geo_key {
    unsigned spread, day;
    uint64_t bits;
} geo_key;

/* ---- where to go on -------------------------------------------------------------------------- */

/* The first of the ranges that ends at or behind these bits; n_ranges where there is none. */
static size_t find_range(const selecting *s, uint64_t bits)
{
    size_t low = 0, high = s->n_ranges;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s->ranges[middle].last < bits)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Move the key on to the first one, from itself on, that may be in the box; false: there is none. */
static bool advance_key(const selecting *s, geo_key *k)
{
    if (k->day < s->first_day) *k = (geo_key){k->spread, s->first_day, 0};
    size_t i = k->day <= s->last_day ? find_range(s, k->bits) : s->n_ranges;
    if (i == s->n_ranges) {
        *k = k->day < s->last_day ? (geo_key){k->spread, k->day + 1, 0}
                                  : (geo_key){k->spread + 1, s->first_day, 0};
        i = 0;
    }
    if (k->bits < s->ranges[i].first) k->bits = s->ranges[i].first;
    return k->spread < SPREADS;
}

static gf_status read_key(const selecting *s, geo_key *k, gf_error *err)
{
    gf_slice part;
    gf_status st = gf_tweets_part(s->r->tweets, s->row.key, GF_TWEET_GEO_ROW, &part, err);
    if (st != GF_OK) return st;
    const unsigned char *p = (const unsigned char *)part.ptr;
    *k = (geo_key){p[0], (unsigned)p[1] << 8 | p[2], 0};
    if (gf_geohash_read(part.ptr + 3, &k->bits)) return GF_OK;
    return gf_fail(err, GF_ECORRUPT, "table GeoTemporalIndex: a key is damaged");
}

static void write_key(selecting *s, const geo_key *k)
{
    char part[GF_TWEET_GEO_ROW] = {(char)k->spread, (char)(k->day >> 8), (char)k->day};
    gf_geohash_write(k->bits, part + 3);
    gf_tweets_key(s->r->tweets, &s->start, gf_slice_of(part, sizeof part));
}

/* ---- what is meant --------------------------------------------------------------------------- */

static bool is_by(double v, double edge)
{
    return fabs(v - edge) < by_edge;
}

static bool is_by_an_edge(const gf_geo_box *b, gf_geo_point p)
{
    return is_by(p.latitude, b->south) || is_by(p.latitude, b->north) ||
           is_by(p.longitude, b->west) || is_by(p.longitude, b->east) ||
           is_by(fabs(p.longitude), 180);
}

static gf_status check_place(selecting *s, gf_slice raw_row, gf_slice value, gf_geo_point *place,
                             bool *meant, gf_error *err)
{
    const gf_geo_box *box = s->r->query->box;
    float latitude, longitude;
    gf_tweet tweet;
    gf_slice json;
    if (!gf_tweets_read_geo_value(value, &latitude, &longitude))
        return gf_fail(err, GF_ECORRUPT, "table GeoTemporalIndex: a place is damaged");
    *place = (gf_geo_point){latitude, longitude};
    *meant = gf_geo_box_has(box, *place);
    if (!is_by_an_edge(box, *place)) return GF_OK;
    gf_status st = gf_tweets_read(s->r, raw_row, &json, &tweet, err);
    *meant = false;
    if (st != GF_OK) return st == GF_ENOTFOUND ? GF_OK : st;
    *meant = tweet.has_place && gf_geo_box_has(box, tweet.place);
    *place = tweet.place;
    return GF_OK;
}

static gf_status take_row(selecting *s, uint64_t geohash, gf_error *err)
{
    gf_slice raw_row = s->row.cells[0].qualifier;
    gf_geo_point place;
    bool meant = false;
    if (raw_row.len == GF_TWEET_ROW &&
        !gf_tweets_in_time(s->r->query, gf_tweets_row_seconds(raw_row)))
        return GF_OK;
    gf_status st = check_place(s, raw_row, s->row.cells[0].value, &place, &meant, err);
    return st == GF_OK && meant ? s->visit(s->context, raw_row, geohash, place, err) : st;
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* From `next` until too many rows in a row are not meant: *next is then where to go on. */
static gf_status walk_ranges(selecting *s, geo_key *next, bool *more, gf_error *err)
{
    gf_scan *scan;
    int misses = 0;
    write_key(s, next);
    gf_status st = gf_buffer_check(&s->start, err);
    if (st != GF_OK) return st;
    gf_scan_options o = GF_SCAN_OPTIONS(.snapshot = s->r->snapshot, .family = GF_TWEETS_GEO_PLACES,
                                        .prefix = gf_tweets_prefix(s->r->tweets),
                                        .start = gf_buffer_view(&s->start));
    st = gf_scan_open(s->r->tweets->geo, &o, &scan, err);
    if (st != GF_OK) return st;
    while (*more && misses <= MOST_MISSES && (st = gf_scan_next(scan, &s->row, err)) == GF_OK) {
        geo_key at = {0, 0, 0};
        st = gf_cancel_check(s->r->query->cancel, err);
        if (st == GF_OK) st = read_key(s, &at, err);
        if (st != GF_OK) break;
        *next = at;
        *more = advance_key(s, next);
        bool hit =
            *more && next->spread == at.spread && next->day == at.day && next->bits == at.bits;
        misses = hit ? 0 : misses + 1;
        if (hit && (st = take_row(s, at.bits, err)) != GF_OK) break;
    }
    gf_scan_close(scan);
    if (st == GF_ENOTFOUND) *more = false;
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static unsigned day_of(int64_t seconds)
{
    if (seconds < 0) return 0;
    return (unsigned)((seconds < GF_TWEET_LAST_SECOND ? seconds : GF_TWEET_LAST_SECOND) / 86400);
}

gf_status gf_tweets_visit_box(gf_tweets_reading *r, gf_tweets_visit_place *visit, void *context,
                              gf_error *err)
{
    selecting s = {.r = r,
                   .visit = visit,
                   .context = context,
                   .first_day = day_of(r->query->from),
                   .last_day = day_of(r->query->to)};
    geo_key next = {0, s.first_day, 0};
    gf_status st = GF_OK;
    s.n_ranges = gf_geo_cover(r->query->box, s.ranges);
    bool more = r->query->to >= 0 && advance_key(&s, &next);
    while (more && st == GF_OK)
        st = walk_ranges(&s, &next, &more, err);
    gf_buffer_release(&s.start);
    gf_row_release(&s.row);
    return st;
}

static gf_status add_row(void *rows, gf_slice raw_row, uint64_t geohash, gf_geo_point place,
                         gf_error *err)
{
    (void)geohash, (void)place;
    return gf_raw_rows_add(rows, raw_row, err);
}

gf_status gf_tweets_select_box(gf_tweets_reading *r, gf_raw_rows *rows, gf_error *err)
{
    return gf_tweets_visit_box(r, add_row, rows, err);
}
