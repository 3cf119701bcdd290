/* log rollup: the roll-ups of a log made of its lines, also where they are there. */
#include "apps/logs/operations/schema.h"
#include "apps/logs/rollups.h"

static gf_status run_log_rollup(gf_call *call, gf_error *err)
{
    gf_logs l = {.call = call};
    gf_logs_state state = {0};
    uint64_t lines = 0;
    gf_status st = gf_logs_open(&l, false, err);
    if (st == GF_OK) st = gf_logs_claim(&l, err);
    if (st == GF_OK) st = gf_logs_roll_up(&l, true, &lines, err);
    if (st == GF_OK) st = gf_logs_read_state(&l, NULL, &state, err);
    if (st == GF_OK) {
        gf_json_writer *w = gf_row_writer_begin(&l.writer);
        gf_json_put_string(w, "log", l.name);
        gf_json_put_uint(w, "lines", lines);
        gf_row_put_time(w, "deleted_before", state.deleted_before * 1000);
        st = gf_row_writer_emit(&l.writer, err);
    }
    gf_logs_close(&l);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter log_rollup_parameters[] = {P_LOG};

const gf_operation gf_log_rollup_operation = {
    .name = "log rollup",
    .method = "POST",
    .path = "/logs/{log}/rollup",
    .meaning = "Make a log's roll-ups anew of its lines",
    GF_PARAMETERS(log_rollup_parameters),
    .members = gf_schema_log_rollup,
    .run = run_log_rollup,
    .single = true,
    .resumes = true,
};
