/* clusters by hour, day, week, month, quarter or year. */
#include "api/clusters/internal.h"

enum { PERIODS = 12 }; /* of a unit, unless told otherwise */

const char *gf_clusters_trend_word(gf_direction direction)
{
    return direction == GF_RISING ? "rising" : direction == GF_FALLING ? "falling" : "steady";
}

static const struct {
    const char *name;
    gf_period kind;
} units[] = {{"hour", GF_PERIOD_HOUR},   {"day", GF_PERIOD_DAY},         {"week", GF_PERIOD_WEEK},
             {"month", GF_PERIOD_MONTH}, {"quarter", GF_PERIOD_QUARTER}, {"year", GF_PERIOD_YEAR}};
enum { N_UNITS = sizeof units / sizeof units[0] };

gf_period gf_clusters_unit(const gf_call *call)
{
    gf_slice by = gf_call_text(call, "by");
    for (size_t i = 0; i < N_UNITS; i++)
        if (gf_slice_equal(by, gf_slice_str(units[i].name))) return units[i].kind;
    return GF_PERIOD_AUTO;
}

const char *gf_clusters_unit_name(gf_period kind)
{
    size_t i = 0;
    while (i + 1 < N_UNITS && units[i].kind != kind)
        i++;
    return units[i].name;
}

uint64_t gf_clusters_periods(const gf_call *call)
{
    bool any = gf_clusters_unit(call) == GF_PERIOD_AUTO;
    return gf_call_number(call, "periods", any ? GF_TREND_PERIODS : PERIODS);
}

static void put_period(gf_json_writer *w, const char *name, const gf_trends *t, size_t i)
{
    gf_buffer text = {0};
    gf_calendar_write(t->kind, t->first + (int64_t)i, &text);
    gf_json_put_string(w, name, gf_buffer_view(&text));
    if (text.state != GF_OK) w->out->state = text.state;
    gf_buffer_release(&text);
}

static void put_periods(gf_json_writer *w, const gf_trends *all, const gf_trend *t)
{
    gf_json_key(w, "periods");
    gf_json_begin(w, '[');
    for (size_t i = 0; i < all->n_periods; i++) {
        gf_json_begin(w, '{');
        put_period(w, "period", all, i);
        gf_json_put_uint(w, "documents", t->documents[i]);
        gf_json_end(w, '}');
    }
    gf_json_end(w, ']');
}

static gf_status emit_trend(gf_row_writer *row, const gf_trends *all, const gf_trend *t,
                            gf_error *err)
{
    gf_json_writer *w = gf_row_writer_begin(row);
    gf_json_put_uint(w, "cluster", t->cluster);
    gf_json_put_string(w, "label", t->label);
    gf_json_put_uint(w, "size", t->size);
    gf_json_put_str(w, "trend", gf_clusters_trend_word(t->direction));
    gf_json_put_double(w, "change", t->change);
    gf_json_put_double(w, "z", t->z);
    gf_json_put_uint(w, "recent", t->recent);
    gf_json_put_uint(w, "earlier", t->earlier);
    gf_json_put_uint(w, "before", t->before);
    gf_json_put_uint(w, "undated", t->undated);
    gf_json_put_str(w, "unit", gf_clusters_unit_name(all->kind));
    gf_json_put_uint(w, "recent_periods", all->n_recent);
    if (all->n_periods) {
        put_period(w, "from", all, 0);
        put_period(w, "to", all, all->n_periods - 1);
    }
    put_periods(w, all, t);
    return gf_row_writer_emit(row, err);
}

typedef struct trend_list {
    gf_call *call;
    const gf_view *view;
} trend_list;

static gf_status emit_trends(void *context, const gf_trends *all, gf_error *err)
{
    const trend_list *l = context;
    gf_row_writer row = {.call = l->call};
    bool with_hidden = gf_call_flag(l->call, "hidden");
    uint64_t hidden = 0;
    gf_status st = GF_OK;
    for (size_t i = 0; i < all->n_clusters && st == GF_OK; i++) {
        st = gf_cancel_check(row.call->cancel, err);
        if (!with_hidden && gf_view_hides(l->view, all->clusters[i].cluster))
            hidden++;
        else if (st == GF_OK)
            st = emit_trend(&row, all, &all->clusters[i], err);
    }
    if (st == GF_OK) gf_clusters_tell_hidden(l->call, hidden);
    gf_row_writer_release(&row);
    return st;
}

gf_status gf_clusters_run_by(gf_call *call, gf_view *view, gf_error *err)
{
    trend_list l = {call, view};
    return gf_view_trends(view, gf_clusters_unit(call), (size_t)gf_clusters_periods(call),
                          call->cancel, emit_trends, &l, err);
}
