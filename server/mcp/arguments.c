/* Arguments of a tool, which are JSON, as arguments of an operation, which are text. */
#include "server/mcp/internal.h"

#include "base/grow.h"
#include "base/memory.h"

#include <string.h>

static const gf_parameter *find_parameter(const gf_operation *o, gf_slice name)
{
    for (size_t i = 0; i < o->n_parameters; i++)
        if (gf_slice_equal(gf_slice_str(o->parameters[i].name), name)) return &o->parameters[i];
    return NULL;
}

/* An argument whose text is not there yet lies in `values`, which may move: from, len say where. */
typedef struct pending {
    size_t argument, from, len;
} pending;

typedef struct reading {
    gf_mcp_arguments *to;
    pending *pending; /* n */
    size_t n, capacity;
} reading;

static gf_status add(reading *r, gf_slice name, gf_slice text, gf_error *err)
{
    gf_mcp_arguments *a = r->to;
    if (!gf_grow(&a->list, &a->capacity, a->n + 1, sizeof *a->list))
        return gf_fail_memory(err, "arguments");
    a->list[a->n++] = (gf_argument){name, text};
    return GF_OK;
}

static gf_status add_written(reading *r, gf_slice name, gf_json_value value, gf_error *err)
{
    size_t from = r->to->values.len;
    gf_status st = gf_json_write(value, &r->to->values, err);
    if (st != GF_OK) return st;
    if (!gf_grow(&r->pending, &r->capacity, r->n + 1, sizeof *r->pending))
        return gf_fail_memory(err, "arguments");
    r->pending[r->n++] = (pending){r->to->n, from, r->to->values.len - from};
    return add(r, name, (gf_slice){"", 0}, err);
}

static gf_status add_plain(reading *r, gf_slice name, gf_json_value value, gf_error *err)
{
    switch (gf_json_kind_of(value)) {
    case GF_JSON_STRING:
        return add(r, name, gf_json_get_string(value), err);
    case GF_JSON_NULL: /* as if it were not given */
        return GF_OK;
    case GF_JSON_ARRAY:
    case GF_JSON_OBJECT:
        return gf_fail(err, GF_EINVAL, "%.*s: is a string, a number, true or false",
                       (int)(name.len < 100 ? name.len : 100), name.ptr);
    default:
        return add_written(r, name, value, err);
    }
}

static gf_status add_argument(reading *r, const gf_operation *o, gf_slice name, gf_json_value value,
                              gf_error *err)
{
    const gf_parameter *p = find_parameter(o, name);
    bool several = p && (p->kind == GF_PARAMETER_LIST || p->kind == GF_PARAMETER_SEVERAL ||
                         p->kind == GF_PARAMETER_SETTINGS);
    gf_json_value item;
    gf_status st = GF_OK;
    if (!several || gf_json_kind_of(value) != GF_JSON_ARRAY) return add_plain(r, name, value, err);
    gf_json_iterator it = gf_json_items(value);
    while (st == GF_OK && gf_json_next(&it, NULL, &item))
        st = add_plain(r, name, item, err);
    return st;
}

/* ---- input ----------------------------------------------------------------------------------- */

static gf_status take_input(gf_mcp_arguments *a, gf_slice text, gf_error *err)
{
    if (a->has_input) return gf_fail(err, GF_EINVAL, "either input or records");
    a->input = text;
    a->has_input = true;
    return GF_OK;
}

static gf_status take_records(gf_mcp_arguments *a, gf_buffer *lines, gf_json_value records,
                              gf_error *err)
{
    gf_json_value record;
    gf_status st = GF_OK;
    if (gf_json_kind_of(records) != GF_JSON_ARRAY)
        return gf_fail(err, GF_EINVAL, "records: is an array of objects");
    gf_json_iterator it = gf_json_items(records);
    while (st == GF_OK && gf_json_next(&it, NULL, &record)) {
        if (gf_json_kind_of(record) != GF_JSON_OBJECT)
            return gf_fail(err, GF_EINVAL, "records: is an array of objects");
        st = gf_json_write(record, lines, err);
        gf_buffer_byte(lines, '\n');
    }
    if (st == GF_OK) st = gf_buffer_check(lines, err);
    return st == GF_OK ? take_input(a, gf_buffer_view(lines), err) : st;
}

static gf_status next_stream(void *context, gf_slice *name, gf_error *err)
{
    gf_mcp_arguments *a = context;
    if (a->taken) return gf_fail(err, GF_ENOTFOUND, "no more input");
    a->taken = true;
    *name = GF_SLICE("input");
    return GF_OK;
}

static gf_status read_stream(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    gf_mcp_arguments *a = context;
    (void)err;
    *got = a->input.len < n ? a->input.len : n;
    if (*got) memcpy(to, a->input.ptr, *got);
    a->input = gf_slice_skip(a->input, *got);
    return GF_OK;
}

gf_input gf_mcp_arguments_input(gf_mcp_arguments *a)
{
    return (gf_input){.context = a, .next = next_stream, .read = read_stream};
}

/* ---- all of them ----------------------------------------------------------------------------- */

static gf_status read_member(reading *r, const gf_operation *o, gf_slice name, gf_json_value value,
                             gf_error *err)
{
    gf_mcp_arguments *a = r->to;
    bool takes = o->input != GF_INPUT_NONE;
    if (takes && gf_slice_equal(name, GF_SLICE("input"))) {
        if (gf_json_kind_of(value) == GF_JSON_NULL) return GF_OK;
        if (gf_json_kind_of(value) != GF_JSON_STRING)
            return gf_fail(err, GF_EINVAL, "input: is a string");
        return take_input(a, gf_json_get_string(value), err);
    }
    if (takes && gf_slice_equal(name, GF_SLICE("records"))) {
        if (gf_json_kind_of(value) == GF_JSON_NULL) return GF_OK;
        return take_records(a, &a->lines, value, err);
    }
    return add_argument(r, o, name, value, err);
}

gf_status gf_mcp_arguments_read(const gf_operation *operation, gf_json_value object,
                                gf_mcp_arguments *arguments, gf_error *err)
{
    gf_json_value value;
    gf_slice name;
    reading r = {.to = arguments};
    gf_status st = GF_OK;
    gf_json_iterator it = gf_json_items(object);
    while (st == GF_OK && gf_json_next(&it, &name, &value))
        st = read_member(&r, operation, name, value, err);
    if (st == GF_OK) st = gf_buffer_check(&arguments->values, err);
    for (size_t i = 0; st == GF_OK && i < r.n; i++)
        arguments->list[r.pending[i].argument].value =
            gf_slice_of(arguments->values.ptr + r.pending[i].from, r.pending[i].len);
    gf_free(r.pending);
    return st;
}

void gf_mcp_arguments_release(gf_mcp_arguments *a)
{
    gf_free(a->list);
    gf_buffer_release(&a->values);
    gf_buffer_release(&a->lines);
}
