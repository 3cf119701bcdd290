#include "engine/rows/geo_point.h"

#include "base/number.h"

#include <math.h>

bool gf_geo_point_is_valid(gf_geo_point p)
{
    return fabs(p.latitude) <= 90 && fabs(p.longitude) <= 180; /* neither of a NaN */
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* [longitude, latitude] */
static bool read_position(gf_json_value v, gf_geo_point *p)
{
    gf_json_value item;
    double at[2];
    int n = 0;
    if (gf_json_kind_of(v) != GF_JSON_ARRAY) return false;
    gf_json_iterator it = gf_json_items(v);
    while (n < 2 && gf_json_next(&it, NULL, &item) && gf_json_is_number(item))
        at[n++] = gf_json_number(item);
    if (n < 2) return false;
    *p = (gf_geo_point){at[1], at[0]};
    return gf_geo_point_is_valid(*p);
}

static bool member(gf_json_value v, const char *name, gf_json_kind kind, gf_json_value *found)
{
    return gf_json_kind_of(v) == GF_JSON_OBJECT && gf_json_member(v, name, found) &&
           gf_json_kind_of(*found) == kind;
}

bool gf_geo_point_read_coordinates(gf_json_value coordinates, gf_geo_point *p)
{
    gf_json_value position;
    return member(coordinates, "coordinates", GF_JSON_ARRAY, &position) &&
           read_position(position, p);
}

/* The mean of the corners: of the outer ring the first four, whatever closes it. */
bool gf_geo_point_read_bounding_box(gf_json_value place, gf_geo_point *p)
{
    gf_json_value box, rings, ring, corner;
    gf_geo_point sum = {0, 0}, at;
    int n = 0;
    if (!member(place, "bounding_box", GF_JSON_OBJECT, &box) ||
        !member(box, "coordinates", GF_JSON_ARRAY, &rings))
        return false;
    gf_json_iterator it = gf_json_items(rings);
    if (!gf_json_next(&it, NULL, &ring) || gf_json_kind_of(ring) != GF_JSON_ARRAY) return false;
    it = gf_json_items(ring);
    while (n < 4 && gf_json_next(&it, NULL, &corner)) {
        if (!read_position(corner, &at)) return false;
        sum.latitude += at.latitude;
        sum.longitude += at.longitude;
        n++;
    }
    *p = (gf_geo_point){sum.latitude / 4, sum.longitude / 4};
    return n == 4;
}

/* ---- a document's place ---------------------------------------------------------------------- */

static const gf_field *find_field(const gf_document *d, const char *name)
{
    for (size_t i = 0; i < d->n_fields; i++)
        if (gf_slice_equal(d->fields[i].name, gf_slice_str(name))) return &d->fields[i];
    return NULL;
}

static gf_status read_degrees(const gf_document *d, const char *name, gf_json_parser *parser,
                              bool *found, double *v, gf_error *err)
{
    const gf_field *f = find_field(d, name);
    gf_json_value value;
    *found = false;
    if (!f) return GF_OK;
    gf_status st = gf_json_parse_copy(parser, f->json, &value, err);
    if (st != GF_OK) return st;
    *found = gf_json_is_number(value);
    if (*found) *v = gf_json_number(value);
    if (gf_json_kind_of(value) == GF_JSON_STRING)
        *found = gf_number_read_decimal(gf_json_get_string(value), v);
    return GF_OK;
}

static gf_status read_member(const gf_document *d, const char *name, gf_json_parser *parser,
                             bool (*read)(gf_json_value, gf_geo_point *), bool *found,
                             gf_geo_point *p, gf_error *err)
{
    const gf_field *f = find_field(d, name);
    gf_json_value value;
    if (!f) return GF_OK;
    gf_status st = gf_json_parse_copy(parser, f->json, &value, err);
    if (st == GF_OK) *found = read(value, p);
    return st;
}

gf_status gf_geo_point_of_document(const gf_document *d, gf_json_parser *parser, bool *has_place,
                                   gf_geo_point *place, gf_error *err)
{
    bool latitude, longitude = false, found = false;
    gf_geo_point p = {0, 0};
    gf_status st = read_degrees(d, "latitude", parser, &latitude, &p.latitude, err);
    if (st == GF_OK) st = read_degrees(d, "longitude", parser, &longitude, &p.longitude, err);
    if (st == GF_OK) found = latitude && longitude && gf_geo_point_is_valid(p);
    if (st == GF_OK && !found)
        st = read_member(d, "coordinates", parser, gf_geo_point_read_coordinates, &found, &p, err);
    if (st == GF_OK && !found)
        st = read_member(d, "place", parser, gf_geo_point_read_bounding_box, &found, &p, err);
    if (st != GF_OK) return st;
    *has_place = found;
    if (found) *place = p;
    return GF_OK;
}
