/* Geohashes against published ones and against halving; covers against what they must have. */
#include "apps/tweets/read/geo.h"

#include "base/random.h"
#include "support/test.h"

static void assert_geohash(double latitude, double longitude, const char *expected)
{
    char text[GF_GEOHASH_LENGTH];
    uint64_t back;
    gf_geohash_write(gf_geohash((gf_geo_point){latitude, longitude}), text);
    assert_slice(gf_slice_of(text, sizeof text), expected);
    assert_true(gf_geohash_read(text, &back));
    assert_true(back == gf_geohash((gf_geo_point){latitude, longitude}));
}

/* SYSTEMS B, check 4. */
static void test_tweets__check_4(void **state)
{
    (void)state;
    assert_geohash(57.64911, 10.40744, "u4pruydq");
    assert_geohash(38.4614716, 27.2147884, "swg6g39n");
    assert_geohash(51.3397, 12.3731, "u30u1d1g");
    assert_geohash(0, 0, "s0000000");
}

static void test_corners(void **state)
{
    (void)state;
    assert_geohash(-90, -180, "00000000");
    assert_geohash(90, 180, "zzzzzzzz");
    assert_geohash(90, -180, "bpbpbpbp");
    assert_geohash(-90, 180, "pbpbpbpb");
}

static void test_read_refuses(void **state)
{
    uint64_t bits = 7;
    (void)state;
    assert_false(gf_geohash_read("u4pruyda", &bits)); /* no a, i, l, o */
    assert_false(gf_geohash_read("U4pruydq", &bits));
    assert_false(gf_geohash_read("u4p\0uydq", &bits));
    assert_true(bits == 7);
}

/* By the definition: forty times the half that the place lies in. */
static uint64_t by_halving(gf_geo_point p)
{
    double low[2] = {-180, -90}, high[2] = {180, 90}, v[2] = {p.longitude, p.latitude};
    uint64_t bits = 0;
    for (int i = 0; i < GF_GEOHASH_BITS; i++) {
        double middle = (low[i % 2] + high[i % 2]) / 2;
        bool above = v[i % 2] >= middle;
        *(above ? &low[i % 2] : &high[i % 2]) = middle;
        bits = bits << 1 | above;
    }
    return bits;
}

static double between(gf_random *r, double least, double most)
{
    return least + (most - least) * gf_random_unit(r);
}

/* Also at the edges of cells and a bit beside them. */
static gf_geo_point random_point(gf_random *r)
{
    gf_geo_point p = {between(r, -90, 90), between(r, -180, 180)};
    uint64_t kind = gf_random_below(r, 8);
    if (kind == 0) p.latitude = -90 + (double)gf_random_below(r, 1 << 20) * (180.0 / (1 << 20));
    if (kind == 1) p.longitude = -180 + (double)gf_random_below(r, 1 << 20) * (360.0 / (1 << 20));
    if (kind == 2) p.longitude = gf_random_below(r, 2) ? 180 : -180;
    if (kind == 3) p.latitude = gf_random_below(r, 2) ? 90 : -90;
    if (kind == 4) p.latitude = (double)(int)p.latitude;
    return p;
}

static void test_random_points(void **state)
{
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    (void)state;
    for (int i = 0; i < 100000; i++) {
        gf_geo_point p = random_point(&r);
        if (gf_geohash(p) != by_halving(p)) fail_msg("(%.17g, %.17g)", p.latitude, p.longitude);
    }
}

static bool covers(const gf_geo_range *ranges, size_t n, uint64_t bits)
{
    for (size_t i = 0; i < n; i++)
        if (bits >= ranges[i].first && bits <= ranges[i].last) return true;
    return false;
}

static gf_geo_box random_box(gf_random *r)
{
    gf_geo_point a = random_point(r), b = random_point(r);
    if (gf_random_below(r, 2)) { /* a small one */
        double size = 1 / (double)(1 + gf_random_below(r, 10000));
        b.latitude = a.latitude + size > 90 ? 90 : a.latitude + size;
        b.longitude = a.longitude + size > 180 ? a.longitude + size - 360 : a.longitude + size;
    }
    gf_geo_box box = {a.longitude, a.latitude, b.longitude, b.latitude};
    if (box.south > box.north) {
        box.south = b.latitude;
        box.north = a.latitude;
    }
    return box;
}

static double width(const gf_geo_box *b)
{
    return b->west > b->east ? b->east - b->west + 360 : b->east - b->west;
}

static gf_geo_point random_point_in(gf_random *r, const gf_geo_box *b)
{
    double x = gf_random_below(r, 4) ? b->west + gf_random_unit(r) * width(b) : b->east;
    double y = gf_random_below(r, 4) ? between(r, b->south, b->north) : b->north;
    return (gf_geo_point){y, x > 180 ? x - 360 : x};
}

static void test_covers(void **state)
{
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_geo_range ranges[GF_GEO_MOST_RANGES];
    (void)state;
    for (int i = 0; i < 2000; i++) {
        gf_geo_box box = random_box(&r);
        assert_true(gf_geo_box_is_valid(&box));
        size_t n = gf_geo_cover(&box, ranges);
        assert_in_range(n, 1, GF_GEO_MOST_RANGES);
        for (size_t k = 0; k < n; k++) {
            assert_true(ranges[k].first <= ranges[k].last && ranges[k].last >> 40 == 0);
            if (k) assert_true(ranges[k].first > ranges[k - 1].last + 1);
        }
        for (int k = 0; k < 100; k++) {
            gf_geo_point p = random_point_in(&r, &box);
            if (gf_geo_box_has(&box, p) && !covers(ranges, n, gf_geohash(p)))
                fail_msg("(%.17g, %.17g) is missing of %.17g,%.17g,%.17g,%.17g", p.latitude,
                         p.longitude, box.west, box.south, box.east, box.north);
        }
    }
}

/* A cover has few cells beside those of the box: of a city's less than a half more. */
static void test_cover_is_tight(void **state)
{
    gf_geo_range ranges[GF_GEO_MOST_RANGES];
    gf_geo_box berlin = {13.0884, 52.3382, 13.7611, 52.6755};
    size_t n = gf_geo_cover(&berlin, ranges);
    double cells = 0, own = (13.7611 - 13.0884) * (52.6755 - 52.3382) / (360 * 180.0) * 0x1p40;
    (void)state;
    for (size_t i = 0; i < n; i++)
        cells += (double)(ranges[i].last - ranges[i].first + 1);
    if (cells > 1.5 * own) fail_msg("%.0f cells for %.0f, in %zu ranges", cells, own, n);
}

static void test_boxes(void **state)
{
    gf_geo_box pacific = {170, -20, -170, 20}, east = {170, -20, 180, 20},
               pole = {-180, 80, 180, 90};
    (void)state;
    assert_true(gf_geo_box_has(&pacific, (gf_geo_point){0, 180}));
    assert_true(gf_geo_box_has(&pacific, (gf_geo_point){0, -180}));
    assert_true(gf_geo_box_has(&pacific, (gf_geo_point){20, -170}));
    assert_false(gf_geo_box_has(&pacific, (gf_geo_point){0, 0}));
    assert_true(gf_geo_box_has(&east, (gf_geo_point){0, -180}));
    assert_false(gf_geo_box_has(&east, (gf_geo_point){0, -179.9}));
    assert_true(gf_geo_box_has(&pole, (gf_geo_point){90, 12}));
    assert_false(gf_geo_box_is_valid(&(gf_geo_box){0, 1, 0, 0}));
    assert_false(gf_geo_box_is_valid(&(gf_geo_box){0, 0, 181, 0}));
    assert_false(gf_geo_point_is_valid((gf_geo_point){90.001, 0}));
    assert_false(gf_geo_point_is_valid((gf_geo_point){0.0 / 0.0, 0}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tweets__check_4),
                                       cmocka_unit_test(test_corners),
                                       cmocka_unit_test(test_read_refuses),
                                       cmocka_unit_test(test_random_points),
                                       cmocka_unit_test(test_covers),
                                       cmocka_unit_test(test_cover_is_tight),
                                       cmocka_unit_test(test_boxes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
