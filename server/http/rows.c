/*
 * An operation's rows as an answer.
 *
 *     Accept: application/x-ndjson   one row a line
 *     else                           an operation that gives one thing: an object
 *                                    all others: an array
 *
 * Up to the first 16 KiB nothing has gone out, and a failure becomes a problem with its own status.
 * After that the status is said already: a failure then ends the connection before the answer's
 * end, behind a last line {"error": problem} where rows are lines.
 */
#include "server/http/rows.h"
#include "server/http/answer.h"

#include "api/call.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- the shape ------------------------------------------------------------------------------- */

/* Whether the request wants the file that the operation writes beside its rows. */
static bool wants_file(const gf_request *r)
{
    const gf_operation *o = r->route->operation;
    if (!o->file_type) return false;
    if (o->file_only) return true;
    return o->file_flag ? gf_operations_have_flag(r->arguments, r->n_arguments, o->file_flag)
                        : r->page_wanted;
}

static void choose_shape(gf_request *r)
{
    const gf_operation *o = r->route->operation;
    r->status = o->creates ? 201 : 200;
    if (wants_file(r)) {
        r->shape = GF_SHAPE_FILE;
        r->content_type = o->file_type;
        r->whole = !o->file_flag && !o->file_only;
        if (r->whole) r->policy = GF_PAGE_POLICY;
    } else if (r->lines_wanted) {
        r->shape = GF_SHAPE_LINES;
        r->content_type = "application/x-ndjson";
    } else {
        bool one = gf_operation_gives_one(o, r->arguments, r->n_arguments);
        r->shape = one ? GF_SHAPE_OBJECT : GF_SHAPE_ARRAY;
        r->content_type = "application/json";
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static gf_status put_row(gf_request *r, gf_slice row, gf_error *err)
{
    if (r->shape == GF_SHAPE_FILE) return GF_OK;
    if (r->shape == GF_SHAPE_OBJECT && r->n_rows)
        return gf_fail(err, GF_EINVAL, "%s gave more than one row", r->route->name);
    if (r->shape == GF_SHAPE_ARRAY) gf_buffer_str(&r->answer, r->n_rows ? ",\n" : "[");
    r->row_from = r->answer.len;
    gf_buffer_slice(&r->answer, row);
    r->row_to = r->answer.len;
    r->n_rows++;
    return gf_answer_piece(r, r->shape == GF_SHAPE_LINES ? GF_SLICE("\n") : GF_SLICE(""), err);
}

static gf_status emit(void *context, gf_slice row, gf_error *err)
{
    return put_row(context, row, err);
}

static gf_status write_bytes(void *context, gf_slice bytes, gf_error *err)
{
    return gf_answer_piece(context, bytes, err);
}

/* Notices become rows of a list: {"notice": {...}}. */
static void notice(void *context, const gf_notice *n)
{
    gf_request *r = context;
    if (n->refused && r->n_refused++ == 0) {
        r->too_long = strcmp(n->reason, "too_long") == 0;
        gf_buffer_slice(&r->refusal, n->source);
        if (n->line) gf_buffer_format(&r->refusal, ":%" PRIu64, n->line);
        gf_buffer_format(&r->refusal, ": %s", n->message);
    }
    bool told = n->refused || strcmp(n->reason, "failed") == 0 || strcmp(n->reason, "lost") == 0;
    if (!told || r->route->operation->tells_refused ||
        (r->shape != GF_SHAPE_LINES && r->shape != GF_SHAPE_ARRAY))
        return;
    gf_buffer row = {0};
    gf_json_writer w = gf_json_writer_to(&row);
    gf_json_begin(&w, '{');
    gf_json_key(&w, "notice");
    gf_row_put_notice(&w, n);
    gf_json_end(&w, '}');
    if (row.state == GF_OK)
        emit(r, gf_buffer_view(&row), NULL); /* a failure shows at the next row */
    gf_buffer_release(&row);
}

/* Whether the operation has a parameter that the call does not give. */
static bool lacks(const gf_operation *o, const gf_call *call, const char *name)
{
    bool takes = false, given = false;
    for (size_t i = 0; i < o->n_parameters; i++)
        takes |= strcmp(o->parameters[i].name, name) == 0;
    for (size_t i = 0; i < call->n_arguments; i++)
        given |= gf_slice_equal(call->arguments[i].name, gf_slice_str(name));
    return takes && !given;
}

gf_status gf_rows_add(gf_request *r, const gf_operation *o, const gf_call *call,
                      gf_argument added[GF_ROWS_MOST_ADDED], size_t *n, gf_error *err)
{
    static const char limit[] = "max-document", who[] = "by";
    uint64_t most = r->http->options.max_document;
    *n = 0;
    if (gf_call_number(call, limit, most) > most)
        return gf_fail(err, GF_EINVAL, "max-document: this server takes %" PRIu64 " bytes at most",
                       most);
    if (lacks(o, call, limit)) {
        char text[24];
        snprintf(text, sizeof text, "%" PRIu64, most);
        gf_slice kept = gf_arena_copy(&r->memory, gf_slice_str(text));
        if (!kept.ptr) return gf_fail_memory(err, "a request");
        added[(*n)++] = (gf_argument){gf_slice_str(limit), kept};
    }
    bool named = *r->token && !strchr(r->token, ' '); /* else it is called by its line */
    if (named && o->authored && lacks(o, call, who))
        added[(*n)++] = (gf_argument){gf_slice_str(who), gf_slice_str(r->token)};
    return GF_OK;
}

/* Arguments that the server adds are from then on the request's own. */
static gf_status add_arguments(gf_request *r, const gf_operation *o, gf_call *call, gf_error *err)
{
    gf_argument added[GF_ROWS_MOST_ADDED];
    size_t n = 0;
    gf_arguments a = gf_request_arguments(r, o);
    gf_status st = gf_rows_add(r, o, call, added, &n, err);
    for (size_t i = 0; i < n && st == GF_OK; i++)
        st = gf_arguments_add(&a, added[i].name, added[i].value, err);
    gf_request_keep_arguments(r, &a);
    call->arguments = r->arguments;
    call->n_arguments = r->n_arguments;
    return st;
}

gf_status gf_rows_call(gf_request *r, const gf_operation *o, gf_call *call, gf_error *err)
{
    call->arguments = r->arguments;
    call->n_arguments = r->n_arguments;
    call->name_space = r->name_space;
    if (r->has_body && !r->parameters_taken) call->input = gf_body_input(r);
    call->cancel = &r->cancel;
    gf_status st = gf_operation_check_from_afar(o, call->arguments, call->n_arguments, err);
    if (st == GF_OK) st = add_arguments(r, o, call, err);
    if (st != GF_OK) return st;
    st = gf_service_run(r->http->options.service, o, call, err);
    /* A cut archive is the client's fault, not damage of the store. */
    if (st != GF_ECORRUPT || !call->bounds.damaged) return st;
    if (err) err->status = GF_EINVAL;
    return GF_EINVAL;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void end_rows(gf_request *r)
{
    if (r->shape == GF_SHAPE_ARRAY) gf_buffer_str(&r->answer, r->n_rows ? "]\n" : "[]\n");
    if (r->shape == GF_SHAPE_OBJECT) gf_buffer_byte(&r->answer, '\n');
}

/* The last row of what was to be stored and failed: it counts what is stored all the same. */
static gf_slice counts_of(const gf_request *r)
{
    const gf_operation *o = r->route->operation;
    bool stores = gf_operation_writes(o) && o->input != GF_INPUT_NONE;
    if (!stores || r->n_rows == 0 || r->answer.state != GF_OK || r->row_to > r->answer.len)
        return (gf_slice){"", 0};
    return gf_slice_of(r->answer.ptr + r->row_from, r->row_to - r->row_from);
}

/* An answer that did not begin to go out is dropped with all that was kept of it. */
static void fail_with_counts(gf_request *r, const gf_error *err)
{
    gf_slice counts = counts_of(r);
    gf_buffer rows = r->answer;
    r->answer = (gf_buffer){0};
    if (r->spool) fclose(r->spool);
    r->spool = NULL;
    gf_answer_failure(r, err);
    if (counts.len && r->answer.state == GF_OK) {
        r->answer.len--; /* its bracket */
        gf_buffer_str(&r->answer, ",\"counts\":");
        gf_buffer_slice(&r->answer, counts);
        gf_buffer_byte(&r->answer, '}');
    }
    gf_buffer_release(&rows);
}

static void end_with(gf_request *r, const gf_error *err)
{
    if (!r->streams) {
        fail_with_counts(r, err);
        return;
    }
    r->broken = true;
    if (r->shape != GF_SHAPE_LINES) return;
    gf_buffer rows = r->answer;
    r->answer = (gf_buffer){0};
    unsigned status = r->status;
    gf_answer_failure(r, err);
    gf_buffer_str(&rows, "{\"error\":");
    gf_buffer_slice(&rows, gf_buffer_view(&r->answer));
    gf_buffer_str(&rows, "}\n");
    gf_buffer_release(&r->answer);
    r->answer = rows;
    r->status = status;
}

/* Every record was refused: the first one's reason says why nothing was put. */
static bool took_nothing(const gf_request *r, const gf_call *call)
{
    return r->route->operation->tells_refused && call->outcome == GF_OUTCOME_SOME_REFUSED &&
           call->taken == 0 && r->shape == GF_SHAPE_OBJECT;
}

void gf_rows_run(gf_request *r)
{
    gf_error err = {GF_OK, ""};
    gf_call call = {.sink = {r, emit, .notice = notice}};
    if (gf_parameters_take(r) != GF_OK) return;
    choose_shape(r);
    if (strcmp(r->route->method, "GET") == 0 && gf_etag_settles(r)) return;
    if (r->shape == GF_SHAPE_FILE) call.sink.write = write_bytes;
    gf_status st = gf_rows_call(r, r->route->operation, &call, &err);
    if (st != GF_OK && !(call.partly && r->n_rows))
        end_with(r, &err);
    else if (took_nothing(r, &call))
        gf_answer_problem(r, r->too_long ? 413 : 400, gf_buffer_cstr(&r->refusal));
    else
        end_rows(r);
}
