/* What status says of collections that have changed, and of rebuilds that failed; upgrade. */
#include "support/test.h"
#include "tests/api/transport.h"

#include "base/file.h"
#include "base/memory.h"
#include "storage/check/crc32c.h"

#include <stdlib.h>

static void look(transport *t, double changed, double failed)
{
    assert_run(t, "status");
    assert_true(transport_number(t, 0, "changed") == changed);
    assert_true(transport_number(t, 0, "failed") == failed);
    assert_true(transport_number(t, 0, "running") == 0);
    assert_int_equal(transport_has(t, 0, "last_failure"), failed > 0);
}

static void changed(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    transport_put(&t, "a", "{\"id\":\"1\",\"text\":\"one\"}");
    transport_put(&t, "b", "{\"id\":\"1\",\"text\":\"one\"}");
    look(&t, 0, 0); /* what was never built has not changed since */
    assert_run(&t, "rebuild", "all", "true");
    look(&t, 0, 0);
    transport_put(&t, "b", "{\"id\":\"1\",\"text\":\"one\"}");
    look(&t, 0, 0); /* the same again */
    transport_put(&t, "b", "{\"id\":\"2\",\"text\":\"two\"}");
    assert_run(&t, "delete", "collection", "a", "id", "1");
    look(&t, 2, 0);
    assert_false(transport_has(&t, 0, "changed_collections"));
    assert_run(&t, "status", "changed", "true");
    assert_slice(gf_json_get_string(transport_item(&t, 0, "changed_collections", 0, "collection")),
                 "a");
    assert_slice(gf_json_get_string(transport_item(&t, 0, "changed_collections", 1, "collection")),
                 "b");
    assert_slice(gf_json_get_string(transport_item(&t, 0, "changed_collections", 1, "namespace")),
                 "default");
    assert_run(&t, "rebuild", "collection", "b");
    look(&t, 1, 0);
    assert_run(&t, "collection delete", "collection", "a");
    look(&t, 0, 0);
    transport_close(&t);
}

/* A rebuild that fails for want of memory, once. */
static void fail_rebuild(transport *t, const char *collection)
{
    gf_status st = GF_OK;
    for (int64_t n = 40; st != GF_ENOMEM; n += 7) {
        gf_error err = {GF_OK, ""};
        assert_true(n < 100000);
        gf_memory_fail_at(n);
        st = transport_run(t, &err, "rebuild", "collection", collection, "force", "true", "threads",
                           "1", NULL);
        gf_memory_fail_at(-1);
        if (st != GF_ENOMEM) continue;
        assert_run(t, "status");
        if (transport_number(t, 0, "failed") == 0) st = GF_OK; /* before the rebuild began */
    }
}

static void failed(void **state)
{
    (void)state;
    transport t;
    gf_json_value failure, part;
    transport_open(&t);
    transport_put(&t, "a", "{\"id\":\"1\",\"text\":\"one\"}");
    transport_put(&t, "b", "{\"id\":\"1\",\"text\":\"one\"}");
    assert_run(&t, "rebuild", "all", "true");
    fail_rebuild(&t, "a");
    transport_close_store(&t);
    look(&t, 0, 1); /* also after the store was closed */
    failure = transport_member(&t, 0, "last_failure");
    assert_true(gf_json_member(failure, "collection", &part));
    assert_slice(gf_json_get_string(part), "a");
    assert_true(gf_json_member(failure, "configuration", &part));
    assert_slice(gf_json_get_string(part), "default");
    assert_true(gf_json_member(failure, "error", &part));
    assert_non_null(strstr(gf_buffer_cstr(&t.rows), "out of memory"));
    assert_true(gf_json_member(failure, "time", &part));
    assert_int_equal(gf_json_get_string(part).ptr[4], '-');
    transport_close_store(&t);
    assert_run(&t, "verify");
    assert_run(&t, "rebuild", "collection", "a", "force", "true");
    look(&t, 0, 0);
    fail_rebuild(&t, "b");
    look(&t, 0, 1);
    assert_run(&t, "config delete", "collection", "b", "config", "default");
    look(&t, 0, 0);
    assert_run(&t, "rebuild", "collection", "b", "config", "default");
    fail_rebuild(&t, "b");
    assert_run(&t, "collection delete", "collection", "b");
    look(&t, 0, 0);
    transport_close_store(&t);
    assert_run(&t, "verify");
    transport_close(&t);
}

/* ---- formats --------------------------------------------------------------------------------- */

static void write_format(const transport *t, unsigned format)
{
    char path[600];
    gf_error err;
    gf_buffer text = {0};
    snprintf(path, sizeof path, "%s/grouperfish.store", t->folder);
    gf_buffer_format(&text, "grouperfish store\nformat %u\n", format);
    gf_buffer_format(&text, "check %08x\n", gf_crc32c(0, text.ptr, text.len));
    assert_ok(gf_file_write(path, gf_buffer_view(&text), &err));
    gf_buffer_release(&text);
}

static void upgrade(void **state)
{
    (void)state;
    transport t;
    transport_open(&t);
    assert_refused(GF_ENOTFOUND, "", &t, "upgrade");
    assert_run(&t, "init");
    assert_run(&t, "upgrade");
    assert_string_equal(transport_members(&t, 0), "store format upgraded");
    assert_true(transport_number(&t, 0, "format") == 1);
    assert_false(gf_json_get_bool(transport_member(&t, 0, "upgraded")));
    transport_close_store(&t);
    write_format(&t, 2);
    assert_refused(GF_EINVAL, "the store has format 2; this program knows up to 1: use a newer one",
                   &t, "upgrade");
    assert_refused(GF_EINVAL, "use a newer one", &t, "status");
    write_format(&t, 0);
    assert_refused(GF_ECORRUPT, "marker is damaged", &t, "upgrade");
    write_format(&t, 1);
    assert_run(&t, "upgrade");
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(changed), cmocka_unit_test(failed),
                                       cmocka_unit_test(upgrade)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
