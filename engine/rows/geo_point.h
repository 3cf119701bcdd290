/**
 * Places on earth that documents have.
 */
#ifndef GF_ENGINE_ROWS_GEO_POINT_H
#define GF_ENGINE_ROWS_GEO_POINT_H

#include "base/json/json.h"
#include "grouperfish/document.h"

/** A place in degrees: latitude -90..90, longitude -180..180. */
typedef struct gf_geo_point {
    double latitude, longitude;
} gf_geo_point;

bool gf_geo_point_is_valid(gf_geo_point p);

/**
 * The place of a document: by its fields latitude and longitude, numbers or text, else by
 * coordinates and place as tweets have them.
 */
gf_status gf_geo_point_of_document(const gf_document *document, gf_json_parser *parser,
                                   bool *has_place, gf_geo_point *place, gf_error *err);

/** The members `coordinates` and `place` of a tweet; false where they are no place. */
bool gf_geo_point_read_coordinates(gf_json_value coordinates, gf_geo_point *point);
bool gf_geo_point_read_bounding_box(gf_json_value place, gf_geo_point *middle);

#endif
