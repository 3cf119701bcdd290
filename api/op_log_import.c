/* log import: lines of an access log, each with its entries by ip, cookie and login. */
#include "api/log_internal.h"
#include "base/utf8.h"
#include "sources/accesslog.h"
#include "sources/lines.h"

typedef struct importing {
    gf_log log;
    gf_batch *batch;
    gf_buffer next_key;
    uint64_t next; /* number of the next line */
    uint64_t read, lines, refused;
} importing;

static gf_status read_next(importing *i, gf_error *err)
{
    gf_row row = {0};
    int64_t next = 0;
    gf_log *l = &i->log;
    gf_status st = gf_log_entry_key(l, GF_SLICE("next"), GF_SLICE(""), 0, 0, &i->next_key, err);
    if (st == GF_OK)
        st = gf_table_get_cell(gf_user_table_rows(l->by), NULL, gf_buffer_view(&i->next_key),
                               l->entry, GF_SLICE("line"), 1, &row, err);
    if (st == GF_OK) {
        for (size_t c = 0; c < row.cells[0].value.len; c++)
            next = 10 * next + (row.cells[0].value.ptr[c] - '0');
        i->next = (uint64_t)next;
    }
    gf_row_release(&row);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status write(importing *i, gf_error *err)
{
    gf_log *l = &i->log;
    if (i->lines == 0) return GF_OK;
    gf_buffer_reset(&l->text);
    gf_buffer_format(&l->text, "%llu", (unsigned long long)i->next);
    gf_status st = gf_buffer_check(&l->text, err);
    if (st != GF_OK) return st;
    gf_batch_put(i->batch, gf_user_table_rows(l->by), gf_buffer_view(&i->next_key), l->entry,
                 GF_SLICE("line"), gf_buffer_view(&l->text), 0);
    return gf_batch_write(i->batch, GF_SYNC, err);
}

/* ---- a line -----------------------------------------------------------------------------------
 */

static void add_column(gf_column *columns, size_t *n, const char *name, gf_slice value)
{
    if (value.len) columns[(*n)++] = (gf_column){gf_slice_str(name), value};
}

static void put_line(importing *i, const gf_access *a)
{
    gf_log *l = &i->log;
    gf_column http[8], user[3];
    size_t n_http = 0, n_user = 0;
    char numbers[16];
    for (int b = 0; b < 8; b++) {
        numbers[b] = (char)((uint64_t)a->status >> (56 - 8 * b) & 0xff);
        numbers[8 + b] = (char)(a->bytes >> (56 - 8 * b) & 0xff);
    }
    add_column(http, &n_http, "ip", a->ip);
    add_column(http, &n_http, "domain", a->domain);
    add_column(http, &n_http, "method", a->method);
    add_column(http, &n_http, "url", a->url);
    add_column(http, &n_http, "protocol", a->protocol);
    add_column(http, &n_http, "status", gf_slice_of(numbers, 8));
    add_column(http, &n_http, "bytes", gf_slice_of(numbers + 8, 8));
    add_column(http, &n_http, "referrer", a->referrer);
    add_column(user, &n_user, "browser_cookie", a->cookie);
    add_column(user, &n_user, "login_id", a->login);
    add_column(user, &n_user, "agent", a->agent);
    gf_slice key = gf_buffer_view(&l->key);
    gf_batch_replace(i->batch, gf_user_table_rows(l->lines), key, l->http, http, n_http, 0);
    if (n_user)
        gf_batch_replace(i->batch, gf_user_table_rows(l->lines), key, l->user, user, n_user, 0);
}

static gf_status put_entries(importing *i, const gf_access *a, gf_error *err)
{
    gf_log *l = &i->log;
    const gf_slice kinds[] = {GF_SLICE("ip"), GF_SLICE("cookie"), GF_SLICE("login")};
    const gf_slice values[] = {a->ip, a->cookie, a->login};
    for (int k = 0; k < 3; k++) {
        if (values[k].len == 0) continue;
        gf_status st = gf_log_entry_key(l, kinds[k], values[k], a->time, i->next, &l->key, err);
        if (st != GF_OK) return st;
        gf_batch_put(i->batch, gf_user_table_rows(l->by), gf_buffer_view(&l->key), l->entry,
                     GF_SLICE("line"), GF_SLICE(""), 0);
    }
    return GF_OK;
}

static gf_status take_line(importing *i, const gf_line *line, gf_error *err, gf_error *why)
{
    enum { BATCH_CHANGES = 8000, BATCH_BYTES = 4 << 20 };
    gf_access a;
    gf_log *l = &i->log;
    gf_call *call = l->call;
    if (line->too_long)
        return gf_fail(why, GF_EINVAL, "it has more than %d bytes", GF_MAX_KEY / 2);
    if (gf_utf8_valid_length(line->text) != line->text.len)
        return gf_fail(why, GF_EINVAL, "it is not UTF-8");
    gf_status st = gf_access_parse(line->text, &a, why);
    if (st != GF_OK) return st;
    if (a.domain.len == 0) a.domain = gf_call_text(call, "domain");
    st = gf_log_line_key(l, a.time, i->next, &l->key, err);
    if (st != GF_OK) return st;
    put_line(i, &a);
    st = put_entries(i, &a, err);
    if (st != GF_OK) return st;
    i->next++, i->lines++;
    if (gf_batch_changes(i->batch) < BATCH_CHANGES && gf_batch_bytes(i->batch) < BATCH_BYTES)
        return GF_OK;
    st = gf_cancel_check(call->cancel, err);
    if (st == GF_OK) st = write(i, err);
    if (call->progress)
        call->progress(call->context, gf_call_text(call, "log"), "import", i->lines, 0);
    return st;
}

static gf_status refuse(importing *i, const gf_line *line, const char *message, gf_error *err)
{
    const gf_call *call = i->log.call;
    gf_notice n = {"bad_line", line->source, line->number, message, true};
    i->refused++;
    if (call->notice) call->notice(call->context, &n);
    return call->reject ? call->reject(call->context, line->text, err) : GF_OK;
}

static gf_status import(importing *i, gf_error *err)
{
    const gf_input *input = &i->log.call->input;
    gf_lines *lines;
    gf_line line;
    if (!input->next) return gf_fail(err, GF_EINVAL, "there is no input");
    gf_status st = gf_lines_open(input, GF_MAX_KEY / 2, &lines, err);
    if (st != GF_OK) return st;
    while ((st = gf_lines_next(lines, &line, err)) == GF_OK) {
        gf_error why = {GF_OK, ""};
        i->read++;
        st = take_line(i, &line, err, &why);
        if (why.status != GF_OK) st = refuse(i, &line, why.message, err);
        if (st != GF_OK) break;
    }
    gf_lines_close(lines);
    return st == GF_ENOTFOUND ? write(i, err) : st;
}

gf_status gf_run_log_import(gf_call *call, gf_error *err)
{
    importing i = {.log = {.call = call}};
    gf_status st = gf_log_open(&i.log, true, err);
    if (st == GF_OK) st = gf_batch_create(gf_store_database(i.log.store), &i.batch, err);
    if (st == GF_OK) st = read_next(&i, err);
    if (st == GF_OK) st = import(&i, err);
    if (st == GF_OK) {
        gf_json_writer *w = gf_row_writer_begin(&i.log.writer);
        gf_json_put_string(w, "log", gf_call_text(call, "log"));
        gf_json_put_uint(w, "read", i.read);
        gf_json_put_uint(w, "lines", i.lines);
        gf_json_put_uint(w, "refused", i.refused);
        if (i.refused) call->outcome = GF_SOME_REFUSED;
        st = gf_row_writer_emit(&i.log.writer, err);
    }
    gf_batch_free(i.batch);
    gf_buffer_release(&i.next_key);
    gf_log_close(&i.log);
    return st;
}
