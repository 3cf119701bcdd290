/* init, status, verify, version, and the collections of a store. */
#include "support/test.h"
#include "tests/api/library.h"
#include "tests/api/transport.h"

#include "base/file.h"
#include "base/random.h"

#include <dirent.h>
#include <stdlib.h>
#include <time.h>

static void init_and_status(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    assert_refused(GF_ENOTFOUND, "", &t, "status");
    assert_run(&t, "init");
    assert_string_equal(transport_members(&t, 0), "store made");
    assert_true(gf_json_get_bool(transport_member(&t, 0, "made")));
    transport_close_store(&t);
    assert_run(&t, "init");
    assert_false(gf_json_get_bool(transport_member(&t, 0, "made")));
    assert_run(&t, "status");
    assert_string_equal(transport_members(&t, 0),
                        "store collections documents builds unfinished bytes format running failed "
                        "changed");
    assert_int_equal(transport_number(&t, 0, "collections"), 0);
    library_mid(&t, true);
    transport_put(&t, "b", "{\"id\":\"1\",\"text\":\"x\"}");
    assert_run(&t, "status");
    assert_int_equal(transport_number(&t, 0, "collections"), 2);
    assert_int_equal(transport_number(&t, 0, "documents"), 8);
    assert_int_equal(transport_number(&t, 0, "builds"), 1);
    assert_int_equal(transport_number(&t, 0, "unfinished"), 0);
    assert_true(transport_number(&t, 0, "bytes") > 0);
    assert_run(&t, "version");
    assert_slice(transport_text(&t, 0, "version"), GF_VERSION);
    transport_close(&t);
}

/* ---- collections ----------------------------------------------------------------------------- */

/* So that no two collections are changed in the same millisecond. */
static void let_time_pass(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
}

static void collections(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    assert_run(&t, "collection create", "collection", "b");
    assert_string_equal(transport_members(&t, 0), "collection created");
    assert_refused(GF_EEXISTS, "", &t, "collection create", "collection", "b");
    transport_put(&t, "c", "{\"id\":\"1\",\"text\":\"x\"}\n{\"id\":\"2\",\"text\":\"x\"}");
    let_time_pass();
    transport_put(&t, "a", "{\"id\":\"1\",\"text\":\"x\"}");
    let_time_pass();
    transport_put(&t, "ab", "{\"id\":\"1\",\"text\":\"x\"}");
    static const struct {
        const char *argument, *value, *names;
    } lists[] = {{"sort", "name", "a ab b c "},     {"sort", "size", "c a ab b "},
                 {"sort", "modified", "ab a c b "}, {"prefix", "a", "a ab "},
                 {"limit", "2", "a ab "},           {"limit", "0", ""},
                 {"limit", "9", "a ab b c "}};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        char names[64] = "";
        assert_run(&t, "collection list", lists[i].argument, lists[i].value);
        for (uint64_t k = 0; k < t.n_rows; k++) {
            size_t n = strlen(names);
            snprintf(names + n, sizeof names - n, "%.*s ",
                     GF_SLICE_ARG(transport_text(&t, k, "collection")));
        }
        assert_string_equal(names, lists[i].names);
    }
    assert_run(&t, "collection create", "collection", "aa"); /* never modified, as b */
    assert_run(&t, "collection list", "sort", "modified");
    assert_slice(transport_text(&t, 3, "collection"), "aa");
    assert_slice(transport_text(&t, 4, "collection"), "b");
    assert_run(&t, "collection delete", "collection", "aa");
    assert_run(&t, "collection list", "sort", "size", "limit", "1");
    assert_int_equal(t.n_rows, 1);
    assert_slice(transport_text(&t, 0, "collection"), "c");
    assert_run(&t, "collection show", "collection", "b");
    assert_false(transport_has(&t, 0, "modified"));
    assert_run(&t, "collection delete", "collection", "c");
    assert_string_equal(transport_members(&t, 0), "collection deleted");
    assert_refused(GF_ENOTFOUND, "", &t, "collection delete", "collection", "c");
    assert_run(&t, "collection list");
    assert_int_equal(t.n_rows, 3);
    t.emit_fails_at = 2;
    assert_refused(GF_EIO, "nobody takes", &t, "collection list");
    assert_refused(GF_EIO, "nobody takes", &t, "collection list", "sort", "size");
    transport_close(&t);
}

static void shown(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    assert_run(&t, "collection show", "collection", "mid");
    assert_string_equal(transport_members(&t, 0), "collection size modified configurations");
    assert_int_equal(transport_length(&t, 0, "configurations"), 1);
    double build = gf_json_number(transport_item(&t, 0, "configurations", 0, "build"));
    assert_true(build == strtod(library_served(&t, "mid"), NULL));
    assert_run(&t, "collection create", "collection", "never");
    assert_run(&t, "collection show", "collection", "never");
    assert_int_equal(transport_length(&t, 0, "configurations"), 0);
    transport_close(&t);
}

/* A long list by name is streamed: the caller that stops it gets no more. */
static void stopped_list(void **state)
{
    (void)state;
    transport t;
    gf_buffer lines = {0};
    transport_open(&t);
    for (int i = 0; i < 500; i++)
        gf_buffer_format(&lines, "{\"id\":\"1\",\"text\":\"x\",\"c\":\"c%03d\"}\n", i);
    transport_input(&t, "l.jsonl", gf_buffer_view(&lines));
    assert_run(&t, "put", "collection", "{c}");
    assert_run(&t, "collection list");
    assert_int_equal(t.n_rows, 500);
    t.cancel_at = 10;
    assert_refused(GF_ECANCELLED, "stopped", &t, "collection list");
    assert_int_equal(t.n_rows, 10);
    assert_refused(GF_ECANCELLED, "stopped", &t, "collection list", "sort", "size");
    assert_int_equal(t.n_rows, 10);
    gf_buffer_release(&lines);
    transport_close(&t);
}

/* ---- verify ---------------------------------------------------------------------------------- */

static void sound(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    library_mid(&t, true);
    assert_refused(GF_EBUSY, "", &t, "verify");
    transport_close_store(&t);
    assert_run(&t, "verify");
    assert_string_equal(transport_members(&t, 0),
                        "collections documents builds memberships faults");
    assert_int_equal(transport_number(&t, 0, "collections"), 1);
    assert_int_equal(transport_number(&t, 0, "documents"), 7);
    assert_int_equal(transport_number(&t, 0, "memberships"), 7);
    assert_int_equal(transport_number(&t, 0, "faults"), 0);
    assert_int_equal(t.n_notices, 0);
    assert_int_equal(t.outcome, GF_OUTCOME_DONE);
    transport_close(&t);
    transport_open(&t);
    assert_refused(GF_ENOTFOUND, "", &t, "verify");
    transport_close(&t);
}

/* The path of the store's first file of this ending, below its folder. */
static bool find_file(const char *folder, const char *ending, char *path, size_t size)
{
    bool found = false;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && !found && (e = readdir(d)) != NULL;) {
        char below[300];
        if (e->d_name[0] == '.') continue;
        snprintf(below, sizeof below, "%.40s/%.255s", folder, e->d_name);
        if (gf_file_is_folder(below)) found = find_file(below, ending, path, size);
        if (found || !gf_slice_ends(gf_slice_str(below), gf_slice_str(ending))) continue;
        snprintf(path, size, "%s", below);
        found = true;
    }
    if (d) closedir(d);
    return found;
}

/* A flipped byte in a table is found wherever it is, told of, and is what the outcome says. */
static void damaged(void **state)
{
    (void)state;
    enum { PLACES = 16 };
    transport t;
    char path[300];
    gf_error err = {GF_OK, ""};
    gf_buffer content = {0};
    transport_open(&t);
    library_mid(&t, true);
    transport_close_store(&t);
    library_mid(&t, false); /* opening anew moves what the log holds into a table */
    transport_close_store(&t);
    if (!find_file(t.folder, ".ldb", path, sizeof path)) fail_msg("no table in %s", t.folder);
    assert_ok(gf_file_read(path, &content, &err));
    for (size_t i = 0; i < PLACES; i++) {
        size_t at = content.len * i / PLACES;
        content.ptr[at] ^= 0x10;
        assert_ok(gf_file_write(path, gf_buffer_view(&content), &err));
        content.ptr[at] ^= 0x10;
        assert_run(&t, "verify");
        assert_int_equal(t.outcome, GF_OUTCOME_DAMAGE_FOUND);
        assert_true(transport_number(&t, 0, "faults") > 0);
        assert_true(t.n_notices > 0);
        assert_string_equal(t.notices[0].reason, "damage");
        assert_true(t.notices[0].source[0] && t.notices[0].message[0]);
    }
    assert_ok(gf_file_write(path, gf_buffer_view(&content), &err));
    assert_run(&t, "verify");
    assert_int_equal(transport_number(&t, 0, "faults"), 0);
    gf_buffer_release(&content);
    transport_close(&t);
}

/* ---- a transport that wants nothing but rows ------------------------------------------------- */

static gf_status give_store(void *context, bool create, gf_store **store, gf_error *err)
{
    transport *t = context;
    gf_store_options options = GF_STORE_OPTIONS(.create = create);
    gf_status st = t->store ? GF_OK : gf_store_open(t->folder, &options, &t->store, err);
    if (st == GF_OK) *store = t->store;
    return st;
}

static gf_status count_row(void *context, gf_slice row, gf_error *err)
{
    (void)err;
    ((transport *)context)->n_rows++;
    return row.len ? GF_OK : GF_EINVAL;
}

static gf_status one_stream(void *context, gf_slice *name, gf_error *err)
{
    (void)err;
    transport *t = context;
    if (t->at++) return GF_ENOTFOUND;
    *name = GF_SLICE("a.jsonl");
    return GF_OK;
}

static gf_status one_read(void *context, char *to, size_t n, size_t *got, gf_error *err)
{
    static const char bytes[] = "{\"id\":\"1\",\"text\":\"x\"}\n{\"id\":\"\"}\n";
    (void)err;
    transport *t = context;
    gf_slice left = gf_slice_skip(gf_slice_of(bytes, sizeof bytes - 1), t->read_of);
    *got = left.len < n ? left.len : n;
    memcpy(to, left.ptr, *got);
    t->read_of += *got;
    return GF_OK;
}

static void bare(void **state)
{
    (void)state;
    static const char *const all[] = {"put", "rebuild", "clusters", "export", "verify"};
    transport t;
    transport_open(&t);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        bool verify = strcmp(all[i], "verify") == 0;
        gf_argument a = {GF_SLICE("collection"), GF_SLICE("c")};
        gf_call call = {.arguments = &a,
                        .n_arguments = !verify,
                        .name_space = GF_SLICE("default"),
                        .sink = {&t, count_row},
                        .holder = {&t, give_store, .path = t.folder}};
        if (i == 0) call.input = (gf_input){.context = &t, .next = one_stream, .read = one_read};
        if (verify) transport_close_store(&t);
        t.n_rows = 0;
        assert_int_equal(gf_operation_run(gf_operation_find(all[i]), &call, NULL), GF_OK);
        assert_int_equal(call.outcome, i == 0 ? GF_OUTCOME_SOME_REFUSED : GF_OUTCOME_DONE);
        assert_int_equal(t.n_rows, 1);
    }
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(init_and_status),
                                       cmocka_unit_test(collections),
                                       cmocka_unit_test(shown),
                                       cmocka_unit_test(stopped_list),
                                       cmocka_unit_test(sound),
                                       cmocka_unit_test(damaged),
                                       cmocka_unit_test(bare)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
