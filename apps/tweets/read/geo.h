/**
 * Geohashes of eight characters: places as numbers whose order keeps neighbours together.
 *
 *     longitude  cell 0 .. 2^20-1 from west to east      bits  x19 .. x0
 *     latitude   cell 0 .. 2^20-1 from south to north          y19 .. y0
 *     bits       x19 y19 x18 y18 ... x0 y0, 40 of them; five a character of
 *                0123456789bcdefghjkmnpqrstuvwxyz
 *
 * A cell has its west and south edge, and the last ones longitude 180 and latitude 90 too. It is
 * 38 m wide at the equator and 19 m high.
 *
 * Source: G. Niemeyer, geohash.org (2008); G. Morton, A computer oriented geodetic data base (IBM,
 * 1966) for the order.
 */
#ifndef GF_APPS_TWEETS_GEO_H
#define GF_APPS_TWEETS_GEO_H

#include "engine/rows/geo_point.h"

#include <stddef.h>
#include <stdint.h>

enum { GF_GEOHASH_LENGTH = 8, GF_GEOHASH_BITS = 40, GF_GEO_MOST_RANGES = 100 };

/**
 * South to north and west to east, edges included. West of more than east crosses the antimeridian.
 * Longitudes 180 and -180 are the same meridian: a box that has one has the other.
 */
typedef struct gf_geo_box {
    double west, south, east, north;
} gf_geo_box;

bool gf_geo_box_is_valid(const gf_geo_box *box);
bool gf_geo_box_has(const gf_geo_box *box, gf_geo_point p);

/** The 40 bits of a valid point's cell. */
uint64_t gf_geohash(gf_geo_point p);

void gf_geohash_write(uint64_t bits, char text[GF_GEOHASH_LENGTH]);
/** False where the eight bytes are no geohash. */
bool gf_geohash_read(const char *text, uint64_t *bits);

/** Cells first..last, both included. */
typedef struct gf_geo_range {
    uint64_t first, last;
} gf_geo_range;

/**
 * Ranges that have every cell of a valid box, ascending and apart, and few cells beside: at most
 * GF_GEO_MOST_RANGES.
 *
 * @param[out] ranges  room for GF_GEO_MOST_RANGES
 * @return how many there are, at least 1
 * Cost: at most 40 steps over some hundred cells.
 */
size_t gf_geo_cover(const gf_geo_box *box, gf_geo_range *ranges);

#endif
