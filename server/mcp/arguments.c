/* Arguments of a tool, which are JSON, as arguments of an operation, which are text. */
#include "server/mcp/internal.h"

#include "base/memory.h"

#include <string.h>

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

static gf_status take_other(void *context, gf_slice name, gf_json_value value, bool *taken,
                            gf_error *err)
{
    gf_mcp_arguments *a = context;
    bool is_input = gf_slice_equal(name, GF_SLICE("input"));
    bool is_null = gf_json_kind_of(value) == GF_JSON_NULL;
    if (a->list.operation->input == GF_INPUT_NONE) return GF_OK;
    if (!is_input && !gf_slice_equal(name, GF_SLICE("records"))) return GF_OK;
    *taken = true;
    if (is_null) return GF_OK;
    if (!is_input) return take_records(a, &a->lines, value, err);
    if (gf_json_kind_of(value) != GF_JSON_STRING)
        return gf_fail(err, GF_EINVAL, "input: is a string");
    return take_input(a, gf_json_get_string(value), err);
}

/* Arguments at most: one a value, and one an item of an array or an object. */
static size_t count_values(gf_json_value object)
{
    size_t n = 0;
    gf_json_value value, item;
    gf_slice name;
    gf_json_iterator it = gf_json_items(object);
    while (gf_json_next(&it, &name, &value)) {
        gf_json_kind kind = gf_json_kind_of(value);
        n++;
        if (kind != GF_JSON_ARRAY && kind != GF_JSON_OBJECT) continue;
        gf_json_iterator items = gf_json_items(value);
        while (gf_json_next(&items, &name, &item))
            n++;
    }
    return n;
}

gf_status gf_mcp_arguments_read(const gf_operation *operation, gf_json_value object,
                                gf_mcp_arguments *arguments, gf_error *err)
{
    size_t most = count_values(object);
    gf_argument *at = gf_array(most + 1, sizeof *at);
    if (!at) return gf_fail_memory(err, "arguments");
    arguments->list = (gf_arguments){.operation = operation,
                                     .at = at,
                                     .room = most + 1,
                                     .most = most,
                                     .memory = &arguments->memory};
    return gf_arguments_take_object(&arguments->list, object, take_other, arguments, err);
}

void gf_mcp_arguments_release(gf_mcp_arguments *a)
{
    gf_free(a->list.at);
    gf_arena_release(&a->memory);
    gf_buffer_release(&a->lines);
}
