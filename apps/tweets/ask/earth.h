/**
 * Paths and areas on the earth.
 */
#ifndef GF_APPS_TWEETS_EARTH_H
#define GF_APPS_TWEETS_EARTH_H

#include "apps/tweets/read/geo.h"

/** Great circle from one point to another in km, by the haversine formula; R = 6378.137 km. */
double gf_earth_distance(gf_geo_point a, gf_geo_point b);

/**
 * Area of the convex hull of n points in km2; the points are overwritten, room is for n more. The
 * hull is that of the plane of Lambert's azimuthal equal-area projection around their mean
 * direction: areas are right, and edges nearly great circles where the points are not far apart. 0
 * of fewer than three points, and of points whose mean has no direction.
 */
double gf_earth_hull_area(gf_geo_point *points, size_t n, gf_geo_point *room);

#endif
