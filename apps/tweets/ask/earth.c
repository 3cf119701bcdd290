/*
 * Lengths and areas on the earth, taken as a sphere of 6,378.137 km.
 *
 * Source: R. W. Sinnott, Virtues of the haversine, Sky and Telescope 68 (1984) 159; A. M. Andrew,
 * Another efficient algorithm for convex hulls in two dimensions, Information Processing Letters 9
 * (1979) 216-219; J. P. Snyder, Map projections (USGS Professional Paper 1395, 1987) 182-190.
 */
#include "apps/tweets/ask/earth.h"

#include <math.h>
#include <stdlib.h>

static const double radius = 6378.137, degree = 0.017453292519943295;

double gf_earth_distance(gf_geo_point a, gf_geo_point b)
{
    double s = sin((b.latitude - a.latitude) * degree / 2);
    double t = sin((b.longitude - a.longitude) * degree / 2);
    double h = s * s + cos(a.latitude * degree) * cos(b.latitude * degree) * t * t;
    return 2 * radius * asin(sqrt(h < 1 ? h : 1));
}

/* ---- areas ----------------------------------------------------------------------------------- */

/* The direction that the points have in the mean; false where they have none. */
static bool mean_of(const gf_geo_point *points, size_t n, gf_geo_point *mean)
{
    double x = 0, y = 0, z = 0;
    for (size_t i = 0; i < n; i++) {
        double latitude = points[i].latitude * degree, longitude = points[i].longitude * degree;
        x += cos(latitude) * cos(longitude);
        y += cos(latitude) * sin(longitude);
        z += sin(latitude);
    }
    *mean = (gf_geo_point){atan2(z, hypot(x, y)), atan2(y, x)}; /* radians */
    return sqrt(x * x + y * y + z * z) > 1e-9 * (double)n;
}

/* Into the plane around the centre, in km: x to the east, y to the north. */
static gf_geo_point project_points(gf_geo_point p, gf_geo_point centre)
{
    double latitude = p.latitude * degree, east = p.longitude * degree - centre.longitude;
    double cosine =
        sin(centre.latitude) * sin(latitude) + cos(centre.latitude) * cos(latitude) * cos(east);
    double k = radius * sqrt(2 / fmax(1 + cosine, 1e-12));
    return (gf_geo_point){.longitude = k * cos(latitude) * sin(east),
                          .latitude = k * (cos(centre.latitude) * sin(latitude) -
                                           sin(centre.latitude) * cos(latitude) * cos(east))};
}

static int compare_points(const void *a, const void *b)
{
    const gf_geo_point *p = a, *q = b;
    if (p->longitude != q->longitude) return p->longitude < q->longitude ? -1 : 1;
    return p->latitude < q->latitude ? -1 : p->latitude > q->latitude;
}

/* Twice the area of the triangle; positive where it turns left. */
static double turn_of(gf_geo_point a, gf_geo_point b, gf_geo_point c)
{
    return (b.longitude - a.longitude) * (c.latitude - a.latitude) -
           (b.latitude - a.latitude) * (c.longitude - a.longitude);
}

/*
 * Twice the area between the lower chain of sorted points and the line from the first to the last;
 * of the upper chain with sign -1. The chain is kept in hull, room for n.
 */
static double chain_area(const gf_geo_point *points, size_t n, double sign, gf_geo_point *hull)
{
    size_t m = 0;
    double area = 0;
    for (size_t i = 0; i < n; i++) {
        while (m >= 2 && sign * turn_of(hull[m - 2], hull[m - 1], points[i]) <= 0)
            m--;
        hull[m++] = points[i];
    }
    for (size_t i = 1; i + 1 < m; i++)
        area += sign * turn_of(hull[0], hull[i], hull[i + 1]);
    return area;
}

double gf_earth_hull_area(gf_geo_point *points, size_t n, gf_geo_point *room)
{
    gf_geo_point centre;
    if (n < 3 || !mean_of(points, n, &centre)) return 0;
    for (size_t i = 0; i < n; i++)
        points[i] = project_points(points[i], centre);
    qsort(points, n, sizeof *points, compare_points);
    return (chain_area(points, n, 1, room) + chain_area(points, n, -1, room)) / 2;
}
