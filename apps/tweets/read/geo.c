#include "apps/tweets/read/geo.h"

#include <math.h>
#include <string.h>

static const char alphabet[] = "0123456789bcdefghjkmnpqrstuvwxyz";

enum { AXIS_BITS = 20 };
#define CELLS (UINT32_C(1) << AXIS_BITS)

/* ---- boxes ----------------------------------------------------------------------------------- */

bool gf_geo_box_is_valid(const gf_geo_box *b)
{
    return fabs(b->south) <= 90 && fabs(b->north) <= 90 && fabs(b->west) <= 180 &&
           fabs(b->east) <= 180 && b->south <= b->north;
}

static bool has_longitude(const gf_geo_box *b, double longitude)
{
    if (b->west > b->east) return longitude >= b->west || longitude <= b->east;
    return longitude >= b->west && longitude <= b->east;
}

bool gf_geo_box_has(const gf_geo_box *b, gf_geo_point p)
{
    if (!(p.latitude >= b->south && p.latitude <= b->north)) return false;
    return has_longitude(b, p.longitude) ||
           (fabs(p.longitude) == 180 && has_longitude(b, -p.longitude));
}

/* ---- cells ----------------------------------------------------------------------------------- */

/*
 * The cell of v on an axis from -half to half. An edge, -half + i * (2 * half / 2^20), is exact as
 * a double, v + half is not: so the quotient may be one off, and is held against the edges.
 */
static uint32_t cell_of(double v, double half)
{
    double width = 2 * half / CELLS;
    double guess = floor((v + half) / width);
    uint32_t i = guess < 0 ? 0 : guess >= CELLS ? CELLS - 1 : (uint32_t)guess;
    if (i > 0 && v < -half + i * width) i--;
    if (i + 1 < CELLS && v >= -half + (i + 1) * width) i++;
    return i;
}

static uint64_t spread_bits(uint32_t v)
{
    uint64_t x = v;
    x = (x | x << 16) & UINT64_C(0x0000FFFF0000FFFF);
    x = (x | x << 8) & UINT64_C(0x00FF00FF00FF00FF);
    x = (x | x << 4) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    x = (x | x << 2) & UINT64_C(0x3333333333333333);
    return (x | x << 1) & UINT64_C(0x5555555555555555);
}

uint64_t gf_geohash(gf_geo_point p)
{
    return spread_bits(cell_of(p.longitude, 180)) << 1 | spread_bits(cell_of(p.latitude, 90));
}

/* ---- text ------------------------------------------------------------------------------------ */

void gf_geohash_write(uint64_t bits, char text[GF_GEOHASH_LENGTH])
{
    for (int i = 0; i < GF_GEOHASH_LENGTH; i++)
        text[i] = alphabet[bits >> (GF_GEOHASH_BITS - 5 - 5 * i) & 31];
}

bool gf_geohash_read(const char *text, uint64_t *bits)
{
    uint64_t v = 0;
    for (int i = 0; i < GF_GEOHASH_LENGTH; i++) {
        const char *at = text[i] ? strchr(alphabet, text[i]) : NULL;
        if (!at) return false;
        v = v << 5 | (uint64_t)(at - alphabet);
    }
    *bits = v;
    return true;
}

/* ---- covering a box -------------------------------------------------------------------------- */

/* A rectangle of cells, both ends included. */
typedef struct rectangle {
    uint32_t x0, x1, y0, y1;
} rectangle;

/*
 * The parts of the world that the box's cells are. A box at the antimeridian has the last column of
 * cells beside what it says, or the first: points of longitude 180 and -180 lie in those.
 */
typedef struct target {
    rectangle parts[3];
    int n;
} target;

static void add_part(target *t, double west, double east, uint32_t y0, uint32_t y1)
{
    t->parts[t->n++] = (rectangle){cell_of(west, 180), cell_of(east, 180), y0, y1};
}

static target target_of(const gf_geo_box *b)
{
    target t = {.n = 0};
    uint32_t y0 = cell_of(b->south, 90), y1 = cell_of(b->north, 90);
    if (b->west > b->east) {
        add_part(&t, b->west, 180, y0, y1);
        add_part(&t, -180, b->east, y0, y1);
        return t;
    }
    add_part(&t, b->west, b->east, y0, y1);
    if (b->west == -180 && b->east < 180) add_part(&t, 180, 180, y0, y1);
    if (b->east == 180 && b->west > -180) add_part(&t, -180, -180, y0, y1);
    return t;
}

/* A cell of the quadtree: the `depth` first of the 40 bits, and what it spans. */
typedef struct node {
    uint64_t bits;
    int depth;
    rectangle span;
} node;

typedef enum overlap { APART, PARTLY, INSIDE } overlap;

static overlap compare_cells(const rectangle *a, const rectangle *part)
{
    if (a->x1 < part->x0 || a->x0 > part->x1 || a->y1 < part->y0 || a->y0 > part->y1) return APART;
    bool inside = a->x0 >= part->x0 && a->x1 <= part->x1 && a->y0 >= part->y0 && a->y1 <= part->y1;
    return inside ? INSIDE : PARTLY;
}

static overlap relate_cell(const rectangle *a, const target *t)
{
    overlap most = APART;
    for (int i = 0; i < t->n; i++) {
        overlap o = compare_cells(a, &t->parts[i]);
        if (o > most) most = o;
    }
    return most;
}

/* The halves of a node, by the next bit: of the longitude first, then in turns. */
static void halve_cell(const node *n, node halves[2])
{
    for (unsigned i = 0; i < 2; i++)
        halves[i] = (node){n->bits << 1 | i, n->depth + 1, n->span};
    if (n->depth % 2 == 0) {
        halves[0].span.x1 = n->span.x0 + (n->span.x1 - n->span.x0) / 2;
        halves[1].span.x0 = halves[0].span.x1 + 1;
    } else {
        halves[0].span.y1 = n->span.y0 + (n->span.y1 - n->span.y0) / 2;
        halves[1].span.y0 = halves[0].span.y1 + 1;
    }
}

/* One more level: nodes that are partly inside become their halves that are not apart. */
static size_t refine_cells(const node *from, size_t n, const target *t, node *to)
{
    size_t n_to = 0;
    for (size_t i = 0; i < n; i++) {
        if (from[i].depth == GF_GEOHASH_BITS || relate_cell(&from[i].span, t) == INSIDE) {
            to[n_to++] = from[i];
            continue;
        }
        node halves[2];
        halve_cell(&from[i], halves);
        for (int h = 0; h < 2; h++)
            if (relate_cell(&halves[h].span, t) != APART) to[n_to++] = halves[h];
    }
    return n_to;
}

/* Neighbours join; true where they are few enough. */
static bool join_ranges(const node *nodes, size_t n, gf_geo_range *ranges, size_t *n_ranges)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        int shift = GF_GEOHASH_BITS - nodes[i].depth;
        uint64_t first = nodes[i].bits << shift, last = first + (UINT64_C(1) << shift) - 1;
        if (m && ranges[m - 1].last + 1 == first) {
            ranges[m - 1].last = last;
            continue;
        }
        if (m == GF_GEO_MOST_RANGES) return false;
        ranges[m++] = (gf_geo_range){first, last};
    }
    *n_ranges = m;
    return true;
}

size_t gf_geo_cover(const gf_geo_box *box, gf_geo_range *ranges)
{
    /* Nodes that are inside may be more than the ranges that they join to, but not without end. */
    enum { MOST_NODES = 4 * GF_GEO_MOST_RANGES };
    node a[2 * MOST_NODES], b[2 * MOST_NODES];
    node *now = a, *next = b;
    gf_geo_range tried[GF_GEO_MOST_RANGES];
    target t = target_of(box);
    size_t n = 1, n_ranges = 0;
    now[0] = (node){0, 0, {0, CELLS - 1, 0, CELLS - 1}};
    join_ranges(now, n, ranges, &n_ranges);
    for (int level = 0; level < GF_GEOHASH_BITS; level++) {
        size_t n_tried;
        n = refine_cells(now, n, &t, next);
        if (n > MOST_NODES || !join_ranges(next, n, tried, &n_tried)) break;
        memcpy(ranges, tried, n_tried * sizeof *tried);
        n_ranges = n_tried;
        node *done = now;
        now = next;
        next = done;
    }
    return n_ranges;
}
