/* Operations asked for by their names, as a program that links the library does. */
#include "support/test.h"

#include "base/json/json.h"
#include "grouperfish.h"

#include <stdio.h>

typedef struct asked {
    gf_buffer rows, notices;
    size_t n, fails_at; /* the row of this number, from 1 on, is not taken; 0: all are */
    gf_slice input;     /* what is left of it */
    bool reads_too_much;
} asked;

static gf_status emit(void *context, gf_slice row, gf_error *err)
{
    asked *a = context;
    if (++a->n == a->fails_at) return gf_fail(err, GF_EIO, "nobody takes the rows");
    gf_buffer_slice(&a->rows, row);
    gf_buffer_byte(&a->rows, '\n');
    return gf_buffer_check(&a->rows, err);
}

static void notice(void *context, const gf_notice *n)
{
    gf_buffer_format(&((asked *)context)->notices, "%s\n", n->reason);
}

static gf_status read_input(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    asked *a = context;
    (void)err;
    *got = a->input.len < n ? a->input.len : n;
    if (*got) memcpy(to, a->input.ptr, *got);
    a->input = gf_slice_skip(a->input, *got);
    if (a->reads_too_much) *got = n + 1;
    return GF_OK;
}

static gf_status ask(gf_store *store, asked *a, const char *operation, const gf_argument *arguments,
                     size_t n, const char *input, gf_ask_result *result, gf_error *err)
{
    gf_buffer_reset(&a->rows);
    gf_buffer_reset(&a->notices);
    a->n = 0;
    a->input = gf_slice_str(input);
    gf_ask question = GF_ASK(.arguments = arguments, .n_arguments = n,
                             .sink = {.context = a, .emit = emit, .notice = notice},
                             .read = input ? read_input : NULL, .context = a,
                             .input_name = GF_SLICE("given.jsonl"));
    return gf_ask_run(store, operation, &question, result, err);
}

static const gf_argument of_c[] = {{{"collection", 10}, {"c", 1}}, {{"threads", 7}, {"1", 1}}};
static const char two[] =
    "{\"id\":1,\"text\":\"an apple\"}\n{\"id\":2}\n{\"id\":3,\"text\":\"the sea\"}\n";

static gf_store *open_store(void)
{
    gf_store *store;
    gf_error err;
    assert_ok(gf_store_open(NULL, &GF_STORE_OPTIONS(.in_memory = true), &store, &err));
    return store;
}

static void close_asked(asked *a)
{
    gf_buffer_release(&a->rows);
    gf_buffer_release(&a->notices);
}

static void put_rebuild_and_read(void **state)
{
    (void)state;
    gf_store *store = open_store();
    asked a = {.n = 0};
    gf_error err;
    gf_ask_result result;
    assert_ok(ask(store, &a, "put", of_c, 1, two, &result, &err));
    assert_int_equal(result.outcome, GF_OUTCOME_SOME_REFUSED);
    assert_int_equal(result.taken, 2);
    assert_int_equal(a.n, 1);
    assert_string_equal(gf_buffer_cstr(&a.notices), "no_text\n");
    assert_ok(ask(store, &a, "rebuild", of_c, 2, NULL, &result, &err));
    assert_int_equal(result.outcome, GF_OUTCOME_DONE);
    assert_ok(ask(store, &a, "clusters", of_c, 1, NULL, &result, &err));
    assert_true(a.n >= 1);
    assert_non_null(strstr(gf_buffer_cstr(&a.rows), "\"cluster\":1"));
    a.fails_at = 1;
    assert_status(GF_EIO, ask(store, &a, "clusters", of_c, 1, NULL, NULL, &err));
    assert_string_equal(err.message, "nobody takes the rows");
    close_asked(&a);
    gf_store_close(store);
}

/* The message of a call that fails as it should. */
static void assert_refused(gf_store *store, const char *operation, const gf_argument *arguments,
                           size_t n, gf_status expected, const char *words)
{
    asked a = {.n = 0};
    gf_error err = {GF_OK, ""};
    gf_ask_result result = {GF_OUTCOME_DAMAGE_FOUND, 17};
    gf_status st = ask(store, &a, operation, arguments, n, NULL, &result, &err);
    if (st != expected || !strstr(err.message, words))
        fail_msg("%s: %s: %s", operation, gf_status_name(st), err.message);
    assert_int_equal(result.taken, 17);
    close_asked(&a);
}

static void what_cannot_be_asked(void **state)
{
    (void)state;
    gf_store *store = open_store();
    const gf_argument wrong[] = {{{"collection", 10}, {"c", 1}}, {{"colour", 6}, {"red", 3}}};
    asked a = {.reads_too_much = true};
    gf_error err;
    gf_ask none = GF_ASK(.n_arguments = 0);
    none.version = 0;
    assert_refused(store, "cluster everything", NULL, 0, GF_EINVAL,
                   "there is no operation \"cluster everything\"");
    assert_refused(store, "clusters", NULL, 0, GF_EINVAL, "collection");
    assert_refused(store, "clusters", wrong, 2, GF_EINVAL, "colour");
    assert_refused(store, "clusters", of_c, 1, GF_ENOTFOUND, "there is no collection \"c\"");
    assert_refused(store, "put", of_c, 1, GF_EINVAL, "");
    assert_refused(store, "verify", NULL, 0, GF_EINVAL, "works on a store that is closed");
    assert_refused(NULL, "verify", NULL, 0, GF_EINVAL, "needs the path of a store");
    assert_refused(NULL, "status", NULL, 0, GF_EINVAL, "status needs an open store");
    assert_status(GF_EINVAL, gf_ask_run(store, "status", &none, NULL, &err));
    assert_status(GF_EINVAL, ask(store, &a, "put", of_c, 1, two, NULL, &err));
    close_asked(&a);
    gf_store_close(store);
}

static void without_a_store(void **state)
{
    (void)state;
    asked a = {.n = 0};
    gf_error err;
    assert_ok(ask(NULL, &a, "version", NULL, 0, NULL, NULL, &err));
    assert_int_equal(a.n, 1);
    assert_non_null(strstr(gf_buffer_cstr(&a.rows), GF_VERSION));
    close_asked(&a);
}

static void a_closed_store_is_verified(void **state)
{
    (void)state;
    const char *folder = gf_test_folder();
    gf_store *store;
    gf_error err;
    asked a = {.n = 0};
    gf_ask_result result;
    gf_ask question = GF_ASK(.sink = {.context = &a, .emit = emit}, .path = folder);
    assert_ok(gf_store_open(folder, &GF_STORE_OPTIONS(.create = true), &store, &err));
    gf_store_close(store);
    assert_ok(gf_ask_run(NULL, "verify", &question, &result, &err));
    assert_int_equal(result.outcome, GF_OUTCOME_DONE);
    close_asked(&a);
}

typedef struct listing {
    gf_json_parser *parser;
    size_t n, fails_at;
    bool has_put;
} listing;

static gf_status visit_operation(void *context, gf_slice json, gf_error *err)
{
    listing *l = context;
    gf_json_value root;
    if (++l->n == l->fails_at) return gf_fail(err, GF_ECANCELLED, "enough");
    gf_status st = gf_json_parse_copy(l->parser, json, &root, err);
    if (st != GF_OK) return st;
    l->has_put |= strstr(json.ptr, "{\"name\":\"put\",") == json.ptr;
    return GF_OK;
}

static void all_operations_are_listed(void **state)
{
    (void)state;
    gf_error err;
    listing l = {.n = 0};
    assert_ok(gf_json_parser_create(&l.parser, &err));
    assert_ok(gf_ask_operations(visit_operation, &l, &err));
    assert_true(l.has_put);
    assert_true(l.n > 40);
    l.fails_at = l.n + 2;
    assert_status(GF_ECANCELLED, gf_ask_operations(visit_operation, &l, &err));
    gf_json_parser_free(l.parser);
}

typedef struct sweeping {
    gf_store *store;
} sweeping;

static gf_status ask_again(void *context, gf_error *err)
{
    sweeping *s = context;
    asked a = {.n = 0};
    static const char one[] = "{\"id\":1,\"text\":\"an apple\"}\n";
    gf_status st = ask(s->store, &a, "put", of_c, 1, one, NULL, err);
    if (st == GF_OK) st = ask(s->store, &a, "collection show", of_c, 1, NULL, NULL, err);
    close_asked(&a);
    return st;
}

static gf_status skip_operation(void *context, gf_slice json, gf_error *err)
{
    (void)context, (void)json, (void)err;
    return GF_OK;
}

static gf_status list_again(void *context, gf_error *err)
{
    return gf_ask_operations(skip_operation, context, err);
}

static void allocations_that_fail(void **state)
{
    (void)state;
    sweeping s = {open_store()};
    gf_test_sweep(ask_again, NULL, &s);
    gf_test_sweep(list_again, NULL, &s);
    gf_store_close(s.store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(put_rebuild_and_read),      cmocka_unit_test(what_cannot_be_asked),
        cmocka_unit_test(without_a_store),           cmocka_unit_test(a_closed_store_is_verified),
        cmocka_unit_test(all_operations_are_listed), cmocka_unit_test(allocations_that_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
