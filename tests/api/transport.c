#include "tests/api/transport.h"

#include "tests/api/schema.h"

#include "support/test.h"

/* ---- what the operation asks for ------------------------------------------------------------- */

static gf_status give_store(void *context, bool create, gf_store **store, gf_error *err)
{
    transport *t = context;
    gf_store_options options = GF_STORE_OPTIONS(.create = create, .purpose = "test");
    gf_status st = t->store ? GF_OK : gf_store_open(t->folder, &options, &t->store, err);
    if (st == GF_OK) *store = t->store;
    return st;
}

static gf_status next_stream(void *context, gf_slice *name, gf_error *err)
{
    transport *t = context;
    if (t->at == t->n_streams) return gf_fail(err, GF_ENOTFOUND, "no more input");
    *name = gf_slice_str(t->streams[t->at++].name);
    t->read_of = 0;
    return GF_OK;
}

/* In pieces of 7 bytes, so that nothing depends on how the bytes come. */
static gf_status read_bytes(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    transport *t = context;
    gf_slice left = gf_slice_skip(t->streams[t->at - 1].bytes, t->read_of);
    if (left.len < 1000 && n > 7) n = 7;
    if (n > left.len) n = left.len;
    if (n == 0 && t->read_fails != GF_OK) return gf_fail(err, t->read_fails, "reading failed");
    if (n) memcpy(to, left.ptr, n);
    t->read_of += n;
    *got = n;
    return GF_OK;
}

static void count_for_cancel(transport *t)
{
    if (t->cancel_at && t->n_rows + t->n_notices == t->cancel_at) gf_cancel_request(&t->cancel);
}

static gf_status emit(void *context, gf_slice row, gf_error *err)
{
    transport *t = context;
    gf_json_value root;
    if (t->emit_fails_at && t->n_rows + 1 >= t->emit_fails_at)
        return gf_fail(err, GF_EIO, "nobody takes the rows");
    gf_error why;
    gf_status st = gf_json_parse_copy(t->parser, row, &root, &why);
    if (st == GF_ENOMEM) return gf_fail_memory(err, "a row");
    if (st != GF_OK || gf_json_kind_of(root) != GF_JSON_OBJECT || memchr(row.ptr, '\n', row.len))
        fail_msg("not a JSON object on one line: %.*s", GF_SLICE_ARG(row));
    char fault[256];
    if (!schema_fits(t->operation, t->arguments, t->n_arguments, root, fault))
        fail_msg("a row of %s: %s: %.*s", t->operation->name, fault, GF_SLICE_ARG(row));
    if (t->n_rows < TRANSPORT_KEPT) {
        gf_buffer_slice(&t->rows, row);
        t->row_start[t->n_rows + 1] = t->rows.len;
    }
    t->n_rows++;
    count_for_cancel(t);
    return gf_buffer_check(&t->rows, err);
}

static void take_notice(void *context, const gf_notice *n)
{
    transport *t = context;
    if (t->n_notices < TRANSPORT_KEPT) {
        transport_notice *to = &t->notices[t->n_notices];
        snprintf(to->reason, sizeof to->reason, "%s", n->reason);
        snprintf(to->source, sizeof to->source, "%.*s", GF_SLICE_ARG(n->source));
        snprintf(to->message, sizeof to->message, "%s", n->message);
        to->line = n->line;
    }
    t->n_notices++;
    count_for_cancel(t);
}

static void take_progress(void *context, gf_slice what, const char *phase, uint64_t done,
                          uint64_t total)
{
    transport *t = context;
    (void)what, (void)done, (void)total;
    if (phase && *phase) __atomic_add_fetch(&t->n_progress, 1, __ATOMIC_RELAXED);
}

static gf_status take_bytes(void *context, gf_slice bytes, gf_error *err)
{
    transport *t = context;
    gf_buffer_slice(&t->written, bytes);
    return gf_buffer_check(&t->written, err);
}

static gf_status take_reject(void *context, gf_slice record, gf_error *err)
{
    transport *t = context;
    gf_buffer_slice(&t->rejected, record);
    gf_buffer_byte(&t->rejected, '\n');
    return gf_buffer_check(&t->rejected, err);
}

/* ---- life ------------------------------------------------------------------------------------ */

void transport_open(transport *t)
{
    gf_error err;
    *t = (transport){.folder = gf_test_folder(),
                     .namespace = "default",
                     .keeps_rejects = true,
                     .takes_file = true};
    assert_ok(gf_json_parser_create(&t->parser, &err));
}

void transport_close_store(transport *t)
{
    gf_store_close(t->store);
    t->store = NULL;
}

void transport_close(transport *t)
{
    transport_close_store(t);
    gf_json_parser_free(t->parser);
    gf_buffer_release(&t->rows);
    gf_buffer_release(&t->written);
    gf_buffer_release(&t->rejected);
    gf_test_remove(t->folder);
}

void transport_input(transport *t, const char *name, gf_slice bytes)
{
    assert_true(t->n_streams < TRANSPORT_STREAMS);
    t->streams[t->n_streams++] = (transport_stream){name, bytes};
    t->has_input = true;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void forget_last(transport *t)
{
    t->at = t->read_of = 0;
    t->n_rows = t->n_progress = 0;
    t->n_notices = 0;
    t->cancel = (gf_cancel){0};
    gf_buffer_reset(&t->rows);
    gf_buffer_reset(&t->written);
    gf_buffer_reset(&t->rejected);
}

gf_status transport_run_with(transport *t, const char *name, const gf_argument *arguments, size_t n,
                             gf_error *err)
{
    const gf_operation *operation = gf_operation_find(name);
    if (!operation) fail_msg("there is no operation %s", name);
    forget_last(t);
    t->operation = operation;
    t->arguments = arguments;
    t->n_arguments = n;
    gf_call call = {.arguments = arguments,
                    .n_arguments = n,
                    .name_space = gf_slice_str(t->namespace),
                    .sink = {.context = t,
                             .emit = emit,
                             .write = t->takes_file ? take_bytes : NULL,
                             .notice = take_notice,
                             .progress = take_progress,
                             .reject = t->keeps_rejects ? take_reject : NULL},
                    .holder = {.context = t, .store = give_store, .path = t->folder},
                    .cancel = &t->cancel};
    if (t->has_input)
        call.input = (gf_input){.context = t, .next = next_stream, .read = read_bytes};
    gf_status st = gf_operation_run(operation, &call, err);
    t->outcome = call.outcome;
    t->n_streams = 0;
    t->has_input = false;
    return st;
}

gf_status transport_run(transport *t, gf_error *err, const char *operation, ...)
{
    gf_argument arguments[TRANSPORT_ARGUMENTS];
    size_t n = 0;
    va_list list;
    va_start(list, operation);
    for (const char *name; (name = va_arg(list, const char *)) != NULL; n++) {
        assert_true(n < TRANSPORT_ARGUMENTS);
        arguments[n] = (gf_argument){gf_slice_str(name), gf_slice_str(va_arg(list, const char *))};
    }
    va_end(list);
    return transport_run_with(t, operation, arguments, n, err);
}

void transport_put(transport *t, const char *collection, const char *lines)
{
    transport_input(t, "test.jsonl", gf_slice_str(lines));
    assert_run(t, "put", "collection", collection);
    assert_int_equal(t->outcome, GF_OUTCOME_DONE);
    assert_int_equal(transport_number(t, 0, "skipped"), 0);
}

/* ---- rows ------------------------------------------------------------------------------------ */

gf_slice transport_bytes(const transport *t, uint64_t row)
{
    assert_true(row < t->n_rows && row < TRANSPORT_KEPT);
    size_t start = t->row_start[row];
    return gf_slice_of(t->rows.ptr + start, t->row_start[row + 1] - start);
}

gf_json_value transport_row(transport *t, uint64_t row)
{
    gf_error err;
    gf_json_value root;
    assert_ok(gf_json_parse_copy(t->parser, transport_bytes(t, row), &root, &err));
    return root;
}

bool transport_has(transport *t, uint64_t row, const char *name)
{
    gf_json_value member;
    return gf_json_member(transport_row(t, row), name, &member);
}

gf_json_value transport_member(transport *t, uint64_t row, const char *name)
{
    gf_json_value member;
    if (!gf_json_member(transport_row(t, row), name, &member))
        fail_msg("no %s in %.*s", name, GF_SLICE_ARG(transport_bytes(t, row)));
    return member;
}

double transport_number(transport *t, uint64_t row, const char *name)
{
    gf_json_value member = transport_member(t, row, name);
    assert_true(gf_json_is_number(member));
    return gf_json_number(member);
}

gf_slice transport_text(transport *t, uint64_t row, const char *name)
{
    gf_json_value member = transport_member(t, row, name);
    assert_int_equal(gf_json_kind_of(member), GF_JSON_STRING);
    return gf_json_get_string(member);
}

size_t transport_length(transport *t, uint64_t row, const char *name)
{
    gf_json_value item;
    size_t n = 0;
    gf_json_iterator it = gf_json_items(transport_member(t, row, name));
    while (gf_json_next(&it, NULL, &item))
        n++;
    return n;
}

gf_json_value transport_item(transport *t, uint64_t row, const char *name, size_t i,
                             const char *member)
{
    gf_json_value item = {0}, found;
    gf_json_iterator it = gf_json_items(transport_member(t, row, name));
    for (size_t k = 0; k <= i; k++)
        if (!gf_json_next(&it, NULL, &item)) fail_msg("%s has no item %zu", name, i);
    if (!gf_json_member(item, member, &found)) fail_msg("no %s in item %zu of %s", member, i, name);
    return found;
}

const char *transport_members(transport *t, uint64_t row)
{
    static char names[1024];
    gf_json_value value;
    gf_slice name;
    size_t n = 0;
    gf_json_iterator it = gf_json_items(transport_row(t, row));
    names[0] = '\0';
    while (gf_json_next(&it, &name, &value) && n < sizeof names)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%.*s", n ? " " : "",
                              GF_SLICE_ARG(name));
    return names;
}
