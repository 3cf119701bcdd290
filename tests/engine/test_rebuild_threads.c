/* A build is the same bytes for any number of threads. */
#include "tests/engine/fixture.h"

#include "base/random.h"
#include "engine/rows/scan.h"
#include "engine/store/store_internal.h"

static void build_with(fixture *f, const char *collection, const char *k, const char *effort,
                       unsigned threads, gf_buffer *out)
{
    gf_error err;
    gf_rebuild_result result;
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = threads);
    fixture_put_posts(f, collection, FIXTURE_POSTS);
    fixture_set(f, collection, "default", "k", k);
    fixture_set(f, collection, "default", "effort", effort);
    fixture_set(f, collection, "default", "store_vectors", "on");
    assert_ok(fixture_try_rebuild(f, collection, &o, &result, &err));
    fixture_dump_build(f, collection, "default", result.build.build, out);
}

static void same_bytes_for_any_number_of_threads(void **state)
{
    (void)state;
    static const char *const ks[] = {"auto", "5", "40", "5", "auto"};
    static const char *const efforts[] = {"full", "full", "full", "thorough", "thorough"};
    fixture f;
    fixture_open(&f);
    for (size_t i = 0; i < 5; i++) {
        gf_buffer expected = {0};
        for (unsigned threads = 1; threads <= 4; threads += threads == 2 ? 2 : 1) {
            char name[32];
            gf_buffer found = {0};
            snprintf(name, sizeof name, "%s-%s-%u", ks[i], efforts[i], threads);
            build_with(&f, name, ks[i], efforts[i], threads, threads == 1 ? &expected : &found);
            if (threads > 1 && !gf_slice_equal(gf_buffer_view(&expected), gf_buffer_view(&found)))
                fail_msg("k=%s, effort=%s: other bytes with %u threads", ks[i], efforts[i],
                         threads);
            gf_buffer_release(&found);
        }
        gf_buffer_release(&expected);
    }
    fixture_close(&f);
}

enum {
    MANY = 42000,
    ENGLISH = 23000,
    DIGITS = 50
}; /* more than two groups that are read, or written, at once; several parts on disk */

/* Drawn at random, so that there is little to compress. */
static void append_digits(gf_random *r, char *text, int *n)
{
    text[(*n)++] = ' ';
    for (int i = 0; i < DIGITS; i++)
        text[(*n)++] = (char)('0' + gf_random_below(r, 10));
}

/* The first half in English, the second in German: that is noticed after the first batches. */
static void put_many(fixture *f)
{
    static const char *const texts[2][3] = {
        {"the printer is out of paper and the tray is stuck with it again %d",
         "this engine of the car has been making noises whenever I was driving %d",
         "we were looking for a recipe with cheese and they have given us one %d"},
        {"der Drucker hat schon wieder kein Papier und das Fach klemmt auch noch %d",
         "der Motor des Wagens macht beim Fahren immer noch merkwuerdige Geraeusche %d",
         "wir haben ein Rezept mit viel Kaese gesucht und es auch gefunden %d"}};
    gf_error err;
    gf_put *put;
    assert_ok(gf_put_open(f->store, &GF_PUT_OPTIONS(.name_space = GF_SLICE("test")), &put, &err));
    gf_random r = gf_random_seed(1, 0);
    for (int i = 0; i < MANY; i++) {
        char id[16], text[128 + 1 + DIGITS];
        gf_document d = {.id = gf_slice_of(id, (size_t)snprintf(id, sizeof id, "%06d", i))};
        int n = snprintf(text, 128, texts[i >= ENGLISH][i % 3], i);
        append_digits(&r, text, &n);
        d.text = gf_slice_of(text, (size_t)n);
        assert_ok(gf_put_document(put, GF_SLICE("many"), &d, &err));
    }
    assert_ok(gf_put_flush(put, &err));
    assert_int_equal(gf_put_counted(put).created, MANY);
    gf_put_close(put);
}

/* Parts of a megabyte that all documents can be cut into. */
static unsigned parts_of(gf_store *store)
{
    gf_error err;
    gf_buffer key = {0}, start = {0};
    gf_scan_options o = GF_SCAN_OPTIONS(.family = GF_DOCUMENTS_MAIN);
    gf_status st;
    unsigned parts = 1;
    for (; (st = gf_scan_cut(store->tables.documents, &o, 1 << 20, &key, &err)) == GF_OK; parts++) {
        gf_buffer_release(&start);
        start = key;
        key = (gf_buffer){0};
        o.start = gf_buffer_view(&start);
    }
    assert_status(GF_ENOTFOUND, st);
    gf_buffer_release(&key);
    gf_buffer_release(&start);
    return parts;
}

/* Many threads that read and one that writes beside them make the same bytes. */
static void many_documents_are_read_by_many_threads(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_buffer dumps[2] = {{0}, {0}};
    fixture_open(&f);
    put_many(&f);
    fixture_close(&f);
    fixture_reopen(&f);
    assert_true(parts_of(f.store) > 2);
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "three" : "one";
        gf_rebuild_result result;
        gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = i ? 3 : 1);
        fixture_set(&f, "many", name, "k", "6");
        assert_ok(
            gf_rebuild(f.store, fixture_place("many"), gf_slice_str(name), &o, &result, &err));
        assert_int_equal(result.build.documents, MANY);
        assert_int_equal(result.build.k, 6);
        fixture_dump_build(&f, "many", name, result.build.build, &dumps[i]);
    }
    assert_true(gf_slice_equal(gf_buffer_view(&dumps[0]), gf_buffer_view(&dumps[1])));
    fixture_is_sound(&f); /* also that each document is in both */
    fixture_close(&f);
    gf_buffer_release(&dumps[0]);
    gf_buffer_release(&dumps[1]);
}

/* The clusters that go on are the same, though the served build is read in parts by several. */
static void the_served_build_is_read_by_many_threads(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_buffer dumps[2] = {{0}, {0}};
    fixture_open(&f);
    put_many(&f);
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "three" : "one";
        gf_rebuild_result result;
        gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 1);
        fixture_set(&f, "many", name, "k", "6");
        assert_ok(
            gf_rebuild(f.store, fixture_place("many"), gf_slice_str(name), &o, &result, &err));
        fixture_close(&f); /* so that it lies in tables, which can be cut */
        fixture_reopen(&f);
        o = GF_REBUILD_OPTIONS(.threads = i ? 3 : 1, .force = true, .start = GF_START_SERVED);
        assert_ok(
            gf_rebuild(f.store, fixture_place("many"), gf_slice_str(name), &o, &result, &err));
        fixture_dump_build(&f, "many", name, result.build.build, &dumps[i]);
    }
    assert_true(gf_slice_equal(gf_buffer_view(&dumps[0]), gf_buffer_view(&dumps[1])));
    fixture_is_sound(&f);
    fixture_close(&f);
    gf_buffer_release(&dumps[0]);
    gf_buffer_release(&dumps[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bytes_for_any_number_of_threads),
        cmocka_unit_test(many_documents_are_read_by_many_threads),
        cmocka_unit_test(the_served_build_is_read_by_many_threads),
    };
    return cmocka_run_group_tests_name("rebuild_threads", tests, NULL, NULL);
}
