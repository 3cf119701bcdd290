/* export with geojson: each document that has a place as a GeoJSON feature (RFC 7946). */
#include "api/clusters/internal.h"
#include "engine/rows/geo_point.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct exporting {
    gf_row_writer row;
    gf_view *view;
    gf_json_parser *parser;
    const gf_membership *member;
    bool with_text;
    float min_score;
    uint64_t without; /* a place */
} exporting;

static void put_point(gf_json_writer *w, gf_geo_point p)
{
    gf_json_key(w, "geometry");
    gf_json_begin(w, '{');
    gf_json_put_str(w, "type", "Point");
    gf_json_key(w, "coordinates");
    gf_json_begin(w, '[');
    gf_json_double(w, p.longitude);
    gf_json_double(w, p.latitude);
    gf_json_end(w, ']');
    gf_json_end(w, '}');
}

static gf_status emit_feature(void *context, const gf_document *d, gf_error *err)
{
    exporting *e = context;
    bool has_place;
    gf_geo_point p;
    gf_status st = gf_geo_point_of_document(d, e->parser, &has_place, &p, err);
    if (st != GF_OK) return st;
    if (!has_place) {
        e->without++;
        return GF_OK;
    }
    gf_json_writer *w = gf_row_writer_begin(&e->row);
    gf_json_put_str(w, "type", "Feature");
    gf_row_put_id(&e->row, d->id);
    put_point(w, p);
    gf_json_key(w, "properties");
    gf_json_begin(w, '{');
    gf_row_put_membership(w, e->member);
    if (e->with_text) gf_json_put_string(w, "text", d->text);
    gf_json_end(w, '}');
    return gf_row_writer_emit(&e->row, err);
}

static gf_status export_member(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    exporting *e = context;
    gf_status st = gf_cancel_check(e->row.call->cancel, err);
    if (st != GF_OK || m->score < e->min_score) return st;
    e->member = m;
    return gf_view_document(e->view, id, emit_feature, e, err);
}

static void tell_without(const exporting *e)
{
    char message[80];
    const gf_call *call = e->row.call;
    gf_notice n = {
        .reason = "no_place", .source = gf_call_text(call, "collection"), .message = message};
    snprintf(message, sizeof message, "%" PRIu64 " document%s without a place left out", e->without,
             e->without == 1 ? "" : "s");
    if (e->without) gf_call_notify(call, &n);
}

gf_status gf_export_geojson(gf_call *call, gf_error *err)
{
    exporting e = {.row = {.call = call},
                   .with_text = gf_call_flag(call, "with-text"),
                   .min_score = (float)gf_call_share(call, "min-score", 0)};
    gf_status st = gf_json_parser_create(&e.parser, err);
    if (st == GF_OK) st = gf_call_view(call, &e.view, err);
    if (st == GF_OK) st = gf_view_memberships(e.view, export_member, &e, err);
    if (st == GF_OK) tell_without(&e);
    gf_row_writer_release(&e.row);
    gf_view_close(e.view);
    gf_json_parser_free(e.parser);
    return st;
}
