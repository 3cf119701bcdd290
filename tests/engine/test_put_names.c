/* Namespaces, collections, ids and fields of any name: none is taken for another, none is lost. */
#include "tests/engine/fixture.h"

#include "engine/rows/scan.h"
#include "engine/store/store_internal.h"

/* ---- names ----------------------------------------------------------------------------------- */

enum { NAMES = 12 };
static char longest_name[GF_MAX_NAME], longest_id[GF_MAX_ID];

static const gf_slice names[NAMES] = {
    {"a/b", 3},      {"c", 1},
    {"a", 1},        {"b/c", 3},
    {"ck", 2},       {"ck2", 3},
    {"\0", 1},       {"\0\0x\0", 4},
    {"c\0k", 3},     {"\xC3\xA9\xF4\x8F\xBF\xBF", 6},
    {"\x01\x7F", 2}, {longest_name, sizeof longest_name},
};

static gf_slice name_at(uint64_t i, bool id)
{
    if (id && names[i].ptr == longest_name) return gf_slice_of(longest_id, sizeof longest_id);
    return names[i];
}

static gf_status text_is(void *context, const gf_document *d, gf_error *err)
{
    if (gf_slice_equal(d->text, *(const gf_slice *)context)) return GF_OK;
    return gf_fail(err, GF_EINVAL, "another text: %.*s", GF_SLICE_ARG(d->text));
}

static gf_status count_document(void *context, const gf_document *d, gf_error *err)
{
    (void)d, (void)err;
    ++*(int *)context;
    return GF_OK;
}

/* Rows of one collection must lie together: each (namespace, collection) is met in one run. */
typedef struct runs {
    gf_buffer seen, last; /* starts of keys, as strings */
    int n;
} runs;

static gf_status note_run(void *context, const gf_row *row, gf_error *err)
{
    runs *r = context;
    gf_buffer space = {0}, collection = {0}, start = {0};
    gf_slice rest = row->key, seen, one;
    assert_true(gf_key_take_string(&rest, &space) && gf_key_take_string(&rest, &collection));
    gf_tables_collection_key(&start, gf_buffer_view(&space), gf_buffer_view(&collection));
    gf_status st = GF_OK;
    if (!gf_slice_equal(gf_buffer_view(&start), gf_buffer_view(&r->last))) {
        seen = gf_buffer_view(&r->seen);
        while (st == GF_OK && gf_slice_take_string(&seen, &one))
            if (gf_slice_equal(one, gf_buffer_view(&start)))
                st = gf_fail(err, GF_EINVAL, "rows of a collection lie apart");
        gf_buffer_string(&r->seen, gf_buffer_view(&start));
        gf_buffer_reset(&r->last);
        gf_buffer_slice(&r->last, gf_buffer_view(&start));
        r->n++;
    }
    gf_buffer_release(&space);
    gf_buffer_release(&collection);
    gf_buffer_release(&start);
    return st;
}

static void put_everywhere(fixture *f)
{
    gf_error err;
    for (uint64_t s = 0; s < NAMES; s++) {
        gf_put *put;
        assert_ok(gf_put_open(f->store, &GF_PUT_OPTIONS(.name_space = names[s]), &put, &err));
        for (uint64_t i = 0; i < NAMES * NAMES; i++) {
            char text[32];
            int n = snprintf(text, sizeof text, "%d %d", (int)s, (int)i);
            gf_document d = {.id = name_at(i % NAMES, true), .text = {text, (size_t)n}};
            assert_ok(gf_put_document(put, names[i / NAMES], &d, &err));
        }
        assert_ok(gf_put_flush(put, &err));
        assert_int_equal(gf_put_counted(put).created, NAMES * NAMES);
        gf_put_close(put);
    }
}

/* Check 1 of the core: nothing mixes, nothing is lost, all of a collection is one run. */
static void every_name_round_trips(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    fixture_open(&f);
    put_everywhere(&f);
    for (uint64_t i = 0; i < NAMES * NAMES * NAMES; i++) {
        uint64_t s = i / (NAMES * NAMES), c = i / NAMES % NAMES;
        gf_place where = {names[s], names[c]};
        char text[32];
        int n = snprintf(text, sizeof text, "%d %d", (int)s, (int)(i % (NAMES * NAMES)));
        gf_slice expected = {text, (size_t)n};
        assert_ok(
            gf_document_read(f.store, where, name_at(i % NAMES, true), text_is, &expected, &err));
        int found = 0;
        if (i % NAMES == 0) {
            assert_ok(gf_documents_visit(f.store, where, count_document, &found, &err));
            assert_int_equal(found, NAMES);
        }
    }
    runs r = {.n = 0};
    gf_scan_options o = GF_SCAN_OPTIONS(.family = GF_DOCUMENTS_MAIN);
    assert_ok(gf_scan_each(f.store->tables.documents, &o, note_run, &r, &err));
    assert_int_equal(r.n, NAMES * NAMES);
    gf_buffer_release(&r.seen);
    gf_buffer_release(&r.last);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* ---- fields ---------------------------------------------------------------------------------- */

static const gf_field hostile[] = {
    {{"", 0}, {"null", 4}},
    {{" ", 1}, {"true", 4}},
    {{"a\"\\\n", 4}, {"\"\\u0000\"", 8}},
    {{"collection_key", 14}, {"1", 1}},
    {{"field:", 6}, {"2", 1}},
    {{"field:field:text", 16}, {"3", 1}},
    {{"field:text", 10}, {"4", 1}},
    {{"id", 2}, {"5", 1}},
    {{"lang", 4}, {"6", 1}},
    {{"member_of", 9}, {"7", 1}},
    {{"namespace", 9}, {"8", 1}},
    {{"seq", 3}, {"18446744073709551615", 20}},
    {{"text", 4}, {"\"another text\"", 14}},
    {{"time", 4}, {"{\"a\":[]}", 8}},
    {{"vector_idf", 10}, {"9", 1}},
    {{"vector_tfidf", 12}, {"10", 2}},
    {{"\xE4\xB8\xAD", 3}, {"\"\xE4\xB8\xAD\"", 5}},
};
enum { HOSTILE = sizeof hostile / sizeof hostile[0] };

static gf_status fields_are(void *context, const gf_document *d, gf_error *err)
{
    (void)context;
    if (!gf_slice_equal(d->text, GF_SLICE("the text")) || d->time.len || d->language.len)
        return gf_fail(err, GF_EINVAL, "a field took the place of the text, time or language");
    if (d->n_fields != HOSTILE) return gf_fail(err, GF_EINVAL, "%zu fields", d->n_fields);
    for (size_t i = 0; i < HOSTILE; i++) {
        bool found = false;
        for (size_t j = 0; j < HOSTILE; j++)
            found = found || (gf_slice_equal(d->fields[j].name, hostile[i].name) &&
                              gf_slice_equal(d->fields[j].json, hostile[i].json));
        if (!found)
            return gf_fail(err, GF_EINVAL, "field %.*s is lost", GF_SLICE_ARG(hostile[i].name));
    }
    return GF_OK;
}

static void fields_may_have_any_name(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_document d = {
        .id = GF_SLICE("x"), .text = GF_SLICE("the text"), .fields = hostile, .n_fields = HOSTILE};
    fixture_open(&f);
    for (int again = 0; again < 2; again++) {
        assert_ok(fixture_try_put(f.store, "c", &d, &err));
        assert_int_equal(fixture_read(&f, "c").seq, 1);
    }
    assert_ok(gf_document_read(f.store, fixture_place("c"), GF_SLICE("x"), fields_are, NULL, &err));
    assert_ok(gf_documents_visit(f.store, fixture_place("c"), fields_are, NULL, &err));
    fixture_is_sound(&f);
    fixture_close(&f);
}

int main(void)
{
    memset(longest_name, 'n', sizeof longest_name);
    memset(longest_id, 'i', sizeof longest_id);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_round_trips),
        cmocka_unit_test(fields_may_have_any_name),
    };
    return cmocka_run_group_tests_name("put_names", tests, NULL, NULL);
}
