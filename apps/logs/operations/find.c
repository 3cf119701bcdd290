/* log find: the lines of an ip, a cookie or a login, by the entries of LOG-by. */
#include "apps/logs/internal.h"
#include "apps/logs/operations/schema.h"

typedef struct finding {
    gf_logs log;
    gf_buffer prefix, start, end;
    gf_row row;
} finding;

static gf_status choose_entries(finding *f, gf_error *err)
{
    static const char *const kinds[] = {"ip", "cookie", "login"};
    gf_logs *l = &f->log;
    int given = 0;
    gf_slice parts[2] = {{0}};
    for (int k = 0; k < 3; k++) {
        if (!gf_call_has(l->call, kinds[k])) continue;
        given++;
        parts[0] = gf_slice_str(kinds[k]);
        parts[1] = gf_call_text(l->call, kinds[k]);
    }
    if (given != 1) return gf_fail(err, GF_EINVAL, "log find needs one of ip, cookie and login");
    gf_status st = gf_user_table_key_write(l->by, parts, 2, &f->prefix, err);
    return st == GF_OK ? gf_logs_range(l, gf_buffer_view(&f->prefix), &f->start, &f->end, err) : st;
}

static gf_status put_cell(gf_logs *l, gf_json_writer *w, const gf_cell *cell, gf_error *err)
{
    gf_buffer *name = &l->text;
    gf_buffer_reset(name);
    if (gf_slice_equal(cell->qualifier, GF_SLICE("referrer"))) /* of an earlier version */
        gf_buffer_str(name, "referer");
    else
        gf_buffer_slice(name, cell->qualifier);
    if (gf_user_table_cell_type(l->lines, cell->family, cell->qualifier) == GF_TYPE_UINT64 &&
        cell->value.len == 8)
        gf_json_put_uint(w, gf_buffer_cstr(name), gf_read_u64be(cell->value.ptr));
    else
        gf_json_put_string(w, gf_buffer_cstr(name), cell->value);
    return gf_buffer_check(name, err);
}

static gf_status emit_line(finding *f, int64_t time, uint64_t line, gf_error *err)
{
    gf_logs *l = &f->log;
    gf_status st = gf_logs_line_key(l, time, line, &l->key, err);
    if (st == GF_OK)
        st = gf_table_get(gf_user_table_rows(l->lines), NULL, gf_buffer_view(&l->key),
                          UINT32_C(1) << l->http | UINT32_C(1) << l->user, &f->row, err);
    if (st == GF_ENOTFOUND) return GF_OK; /* deleted since, by table delete */
    if (st != GF_OK) return st;
    gf_json_writer *w = gf_row_writer_begin(&l->writer);
    gf_row_put_time(w, "time", time * 1000);
    gf_json_put_uint(w, "line", line);
    for (size_t c = 0; c < f->row.n_cells && st == GF_OK; c++)
        st = put_cell(l, w, &f->row.cells[c], err);
    return st == GF_OK ? gf_row_writer_emit(&l->writer, err) : st;
}

static gf_status find_lines(finding *f, gf_error *err)
{
    gf_call *call = f->log.call;
    gf_scan *scan;
    gf_row entry = {0};
    gf_scan_options options =
        GF_SCAN_OPTIONS(.family = f->log.entry, .prefix = gf_buffer_view(&f->prefix),
                        .start = gf_buffer_view(&f->start), .end = gf_buffer_view(&f->end),
                        .limit = gf_call_number(call, "limit", 0),
                        .reverse = gf_call_flag(call, "newest"));
    gf_status st = gf_scan_open(gf_user_table_rows(f->log.by), &options, &scan, err);
    if (st != GF_OK) return st;
    while ((st = gf_scan_next(scan, &entry, err)) == GF_OK) {
        int64_t time = 0;
        uint64_t line = 0;
        gf_slice key = gf_slice_skip(entry.key, f->prefix.len);
        st = gf_cancel_check(call->cancel, err);
        if (st == GF_OK) st = gf_logs_take(&key, &time, &line, err);
        if (st == GF_OK) st = emit_line(f, time, line, err);
        if (st != GF_OK) break;
    }
    gf_row_release(&entry);
    gf_scan_close(scan);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status run_log_find(gf_call *call, gf_error *err)
{
    finding f = {.log = {.call = call}};
    gf_status st = gf_logs_open(&f.log, false, err);
    if (st == GF_OK) st = choose_entries(&f, err);
    if (st == GF_OK) st = find_lines(&f, err);
    gf_buffer_release(&f.prefix);
    gf_buffer_release(&f.start);
    gf_buffer_release(&f.end);
    gf_row_release(&f.row);
    gf_logs_close(&f.log);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter log_find_parameters[] = {
    P_LOG,
    P_TEXT("ip", "IP", "lines of this address"),
    P_TEXT("cookie", "COOKIE", "lines with this browser cookie"),
    P_TEXT("login", "USER", "lines of this user"),
    P_SINCE,
    P_UNTIL,
    P_FLAG("newest", "the newest first"),
    P_NUMBER("limit", 1, 0, "at most so many (all)")};

const gf_operation gf_log_find_operation = {
    .name = "log find",
    .method = "GET",
    .path = "/logs/{log}/lines",
    .meaning = "Find lines by ip, cookie or login",
    GF_PARAMETERS(log_find_parameters),
    .members = gf_schema_log_find,
    .run = run_log_find,
};
