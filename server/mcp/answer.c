/*
 * Rows of an operation as the result of a tool:
 *
 *     {"rows": [...], "notices": [...], "more": "in words, what is not there and how to get it"}
 *
 * as an object and as text. An answer is read by a model that has room for little: rows past
 * max_rows or max_bytes are left out, and a first row that is longer than all has its texts cut,
 * then its lists.
 */
#include "server/mcp/internal.h"

#include "api/call.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_NOTICES = 20, DEEPEST = 40 };

/* ---- cutting a row --------------------------------------------------------------------------- */

typedef struct cut {
    size_t texts, lists;
} cut;

/* From mild to harsh; a list is also the members of an object. */
static const cut cuts[] = {{4000, SIZE_MAX}, {1000, SIZE_MAX}, {300, SIZE_MAX}, {300, 100},
                           {300, 20},        {100, 10},        {40, 3}};

static void put_text(gf_json_writer *w, gf_slice text, size_t most)
{
    gf_buffer b = {0};
    if (text.len <= most) {
        gf_json_string(w, text);
        return;
    }
    gf_buffer_slice(&b, gf_utf8_cut(text, most));
    gf_buffer_str(&b, "\xE2\x80\xA6");
    if (b.state == GF_OK)
        gf_json_string(w, gf_buffer_view(&b));
    else
        w->out->state = b.state;
    gf_buffer_release(&b);
}

static void put_cut(gf_json_writer *w, gf_json_value v, const cut *c, unsigned depth)
{
    gf_json_kind kind = gf_json_kind_of(v);
    bool object = kind == GF_JSON_OBJECT;
    gf_json_value item;
    gf_slice name;
    size_t n = 0;
    if (kind == GF_JSON_STRING) {
        put_text(w, gf_json_get_string(v), c->texts);
    } else if (!object && kind != GF_JSON_ARRAY) {
        gf_json_raw(w, GF_SLICE("")); /* the comma */
        if (gf_json_write(v, w->out, NULL) != GF_OK && w->out->state == GF_OK)
            w->out->state = GF_ENOMEM;
    } else if (depth > DEEPEST) {
        gf_json_null(w);
    } else {
        gf_json_begin(w, object ? '{' : '[');
        gf_json_iterator it = gf_json_items(v);
        while (n++ < c->lists && gf_json_next(&it, &name, &item)) {
            if (object) gf_json_key_slice(w, name);
            put_cut(w, item, c, depth + 1);
        }
        gf_json_end(w, object ? '}' : ']');
    }
}

static gf_status emit_cut(gf_mcp_answer *a, gf_slice row, gf_error *err)
{
    gf_json_parser *parser = NULL;
    gf_json_value root;
    gf_status st = gf_json_parser_create(&parser, err);
    if (st == GF_OK) st = gf_json_parse_copy(parser, row, &root, err);
    for (size_t i = 0; st == GF_OK && a->n == 0 && i < sizeof cuts / sizeof cuts[0]; i++) {
        gf_buffer_reset(&a->rows);
        gf_json_writer w = gf_json_writer_to(&a->rows);
        put_cut(&w, root, &cuts[i], 0);
        st = gf_buffer_check(&a->rows, err);
        if (st != GF_OK || a->rows.len > a->max_bytes) continue;
        a->n = 1;
        a->texts = cuts[i].texts;
        a->lists = cuts[i].lists == SIZE_MAX ? 0 : cuts[i].lists;
    }
    gf_json_parser_free(parser);
    if (st != GF_OK || a->n) return st;
    gf_buffer_reset(&a->rows);
    return gf_fail(err, GF_ELIMIT,
                   "a row has %zu bytes, and cannot be cut to the %" PRIu64
                   " of an answer; --max-bytes allows more",
                   row.len, a->max_bytes);
}

/* ---- rows, notices --------------------------------------------------------------------------- */

/* White space of stored JSON may be a line's end, which would end the message. */
static void append_row(gf_buffer *b, gf_slice row)
{
    size_t from = b->len;
    gf_buffer_slice(b, row);
    for (size_t i = from; b->state == GF_OK && i < b->len; i++)
        if (b->ptr[i] == '\n' || b->ptr[i] == '\r') b->ptr[i] = ' ';
}

gf_status gf_mcp_answer_emit(void *answer, gf_slice row, gf_error *err)
{
    gf_mcp_answer *a = answer;
    bool fits = a->n < a->max_rows && a->rows.len + row.len + 1 <= a->max_bytes;
    if (!fits && a->n == 0) return emit_cut(a, row, err);
    if (!fits) {
        a->more = true;
        if (gf_operation_writes(a->operation)) return GF_OK; /* it goes on to its end */
        a->stopped = true;
        return gf_fail(err, GF_ECANCELLED, "enough rows");
    }
    if (a->n++) gf_buffer_byte(&a->rows, ',');
    append_row(&a->rows, row);
    return gf_buffer_check(&a->rows, err);
}

void gf_mcp_answer_notice(void *answer, const gf_notice *n)
{
    gf_mcp_answer *a = answer;
    gf_json_writer w = gf_json_writer_to(&a->notices);
    if (a->n_noticed++ >= MOST_NOTICES) return;
    if (a->n_notices++) gf_buffer_byte(&a->notices, ',');
    gf_json_begin(&w, '{');
    gf_json_put_str(&w, "reason", n->reason);
    if (n->source.len) gf_json_put_string(&w, "source", n->source);
    if (n->line) gf_json_put_uint(&w, "line", n->line);
    gf_json_put_str(&w, "message", n->message);
    gf_json_end(&w, '}');
}

/* ---- the result ------------------------------------------------------------------------------ */

static bool takes(const gf_operation *o, const char *name)
{
    for (size_t i = 0; i < o->n_parameters; i++)
        if (strcmp(o->parameters[i].name, name) == 0) return true;
    return false;
}

/* Parts that are not in the answer, and how they are asked for. */
static void write_more(gf_buffer *b, const gf_mcp_answer *a, const gf_call *call)
{
    const gf_operation *o = a->operation;
    if (a->more) {
        gf_buffer_str(b, "Only the first ");
        if (a->n > 1) gf_buffer_count(b, a->n);
        gf_buffer_str(b, a->n > 1 ? " rows are here" : "row is here");
        gf_buffer_str(b, ", there are more. ");
        if (takes(o, "offset"))
            gf_buffer_format(b, "The next ones: the same call with offset=%" PRIu64 ". ",
                             gf_call_number(call, "offset", 0) + a->n);
        else if (takes(o, "limit") || o->n_parameters > 1)
            gf_buffer_str(b, "Other arguments of this tool ask for fewer. ");
    }
    if (a->texts)
        gf_buffer_format(b, "Texts of more than %zu bytes are cut, and end with \xE2\x80\xA6. ",
                         a->texts);
    if (a->lists) gf_buffer_format(b, "Lists have their first %zu items. ", a->lists);
    if (a->lists && takes(o, "limit")) gf_buffer_str(b, "A smaller limit gives whole ones. ");
    if (b->len)
        gf_buffer_format(b,
                         "The command gives all: grouperfish %s; so does a larger --max-rows or "
                         "--max-bytes of grouperfish mcp.",
                         o->name);
}

static const char *outcome_words(gf_outcome outcome)
{
    switch (outcome) {
    case GF_OUTCOME_SOME_ABSENT:
        return "something that was asked for is not there";
    case GF_OUTCOME_SOME_REFUSED:
        return "records were refused";
    case GF_OUTCOME_DAMAGE_FOUND:
        return "damage was found";
    case GF_OUTCOME_REBUILD_FAILED:
        return "a collection could not be rebuilt";
    default:
        return NULL;
    }
}

static void write_object(gf_buffer *b, const gf_mcp_answer *a, const gf_call *call,
                         gf_status status, const gf_error *why)
{
    gf_json_writer w = gf_json_writer_to(b);
    gf_buffer more = {0};
    const char *outcome = status == GF_OK ? outcome_words(call->outcome) : NULL;
    gf_json_begin(&w, '{');
    if (status != GF_OK) {
        gf_json_key(&w, "error");
        gf_json_begin(&w, '{');
        gf_json_put_str(&w, "status", gf_status_name(status));
        gf_json_put_str(&w, "message", why->message);
        gf_json_end(&w, '}');
    }
    gf_json_key(&w, "rows");
    gf_json_begin(&w, '[');
    gf_json_raw(&w, gf_buffer_view(&a->rows));
    gf_json_end(&w, ']');
    if (outcome) gf_json_put_str(&w, "outcome", outcome);
    if (a->n_notices) {
        gf_json_key(&w, "notices");
        gf_json_begin(&w, '[');
        gf_json_raw(&w, gf_buffer_view(&a->notices));
        gf_json_end(&w, ']');
        if (a->n_noticed > a->n_notices)
            gf_json_put_uint(&w, "further_notices", a->n_noticed - a->n_notices);
    }
    write_more(&more, a, call);
    if (more.len) gf_json_put_string(&w, "more", gf_buffer_view(&more));
    gf_json_end(&w, '}');
    if (more.state != GF_OK && b->state == GF_OK) b->state = more.state;
    gf_buffer_release(&more);
}

void gf_mcp_answer_write(gf_json_writer *w, const gf_mcp_answer *a, const gf_call *call,
                         gf_status status, const gf_error *why)
{
    gf_buffer object = {0};
    write_object(&object, a, call, status, why);
    if (object.state == GF_OK) object.state = a->notices.state;
    if (object.state != GF_OK) {
        w->out->state = object.state;
        gf_buffer_release(&object);
        return;
    }
    gf_json_key(w, "content");
    gf_json_begin(w, '[');
    gf_json_begin(w, '{');
    gf_json_put_str(w, "type", "text");
    gf_json_put_string(w, "text", gf_buffer_view(&object));
    gf_json_end(w, '}');
    gf_json_end(w, ']');
    gf_json_key(w, "structuredContent");
    gf_json_raw(w, gf_buffer_view(&object));
    bool failed = status != GF_OK || call->outcome == GF_OUTCOME_REBUILD_FAILED;
    gf_json_put_bool(w, "isError", failed);
    gf_buffer_release(&object);
}

void gf_mcp_answer_release(gf_mcp_answer *a)
{
    gf_buffer_release(&a->rows);
    gf_buffer_release(&a->notices);
}
