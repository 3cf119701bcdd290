/* log delete: the lines of old days. */
#include "apps/logs/operations/schema.h"
#include "apps/logs/retention.h"

static gf_status run_log_delete(gf_call *call, gf_error *err)
{
    gf_logs l = {.call = call};
    gf_slice counts = gf_call_text(call, "counts");
    gf_logs_deletion d = {.dry = gf_call_flag(call, "dry-run")};
    uint64_t lines, rows;
    if (gf_slice_equal(counts, GF_SLICE("impersonal"))) d.counts = GF_LOGS_KEEP_IMPERSONAL;
    if (gf_slice_equal(counts, GF_SLICE("delete"))) d.counts = GF_LOGS_DELETE;
    gf_status st = gf_logs_read_before(call, &d.before, err);
    if (st == GF_OK) st = gf_logs_open(&l, false, err);
    if (st == GF_OK && !d.dry) st = gf_logs_claim(&l, err);
    if (st == GF_OK) st = gf_logs_delete_before(&l, &d, &lines, &rows, err);
    if (st == GF_OK && gf_call_flag(call, "purge") && !d.dry)
        st = gf_purge_store(l.store, call->cancel, err);
    if (st == GF_OK) {
        gf_json_writer *w = gf_row_writer_begin(&l.writer);
        gf_json_put_string(w, "log", l.name);
        gf_row_put_time(w, "before", d.before * 1000);
        gf_json_put_uint(w, "lines", lines);
        if (!d.dry) gf_json_put_uint(w, "counts", rows);
        gf_json_put_bool(w, "dry_run", d.dry);
        st = gf_row_writer_emit(&l.writer, err);
    }
    gf_logs_close(&l);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter log_delete_parameters[] = {
    P_LOG,
    {"before", GF_PARAMETER_MOMENT, false, "TIME", "lines of days (UTC) before that of this time",
     0, 0},
    P_TEXT("keep", "AGE", "in place of it: lines older than this, such as 365d or 52w"),
    P_CHOICE("counts", "keep|impersonal|delete",
             "the roll-ups of these days; impersonal: all but those by ip and login (keep)"),
    P_FLAG("dry-run", "delete nothing, and say how many lines there are"),
    P_PURGE};

const gf_operation gf_log_delete_operation = {
    .name = "log delete",
    .method = "DELETE",
    .path = "/logs/{log}/lines",
    .meaning = "Delete the lines of old days",
    GF_PARAMETERS(log_delete_parameters),
    .members = gf_schema_log_delete,
    .run = run_log_delete,
    .single = true,
    .resumes = true,
};
