/* Of each cluster: its best documents that are different, and its most central sentence. */
#include "tests/engine/fixture.h"

#include "engine/rows/copy_list.h"
#include "engine/store/store_internal.h"

#include <stdlib.h>

static gf_view *open_served(fixture *f)
{
    gf_error err;
    gf_view *view;
    assert_ok(gf_view_open(f->store, fixture_place("c"), fixture_default(), 0, &view, &err));
    return view;
}

static void build_one(fixture *f)
{
    fixture_set(f, "c", "default", "k", "1");
    fixture_set(f, "c", "default", "min_df", "1");
    fixture_rebuild(f, "c");
}

/* ---- different documents --------------------------------------------------------------------- */

static gf_status list_member(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    gf_buffer *out = context;
    gf_buffer_slice(out, id);
    if (m->copies) gf_buffer_format(out, "+%u", (unsigned)m->copies);
    gf_buffer_byte(out, ' ');
    return gf_buffer_check(out, err);
}

/* The different documents of cluster 1, each with the number of those like it: "2+3 5 ". */
static void assert_different(fixture *f, uint64_t limit, const char *expected)
{
    gf_error err;
    gf_buffer out = {0};
    gf_view *view = open_served(f);
    assert_ok(gf_view_different(view, 1, limit, list_member, &out, &err));
    assert_string_equal(gf_buffer_cstr(&out), expected);
    gf_buffer_release(&out);
    gf_view_close(view);
}

static void put_copies(fixture *f)
{
    fixture_open(f);
    fixture_put(f, "c", "1", "red apples grow on old trees in autumn");
    fixture_put(f, "c", "2", "red apples grow on old trees in autumn!");
    fixture_put(f, "c", "3", "Red apples grow on old trees, in autumn");
    fixture_put(f, "c", "4", "green pears taste better than apples");
    fixture_put(f, "c", "5", "green pears taste better than apples.");
    fixture_put(f, "c", "6", "plums fall early");
    build_one(f);
}

static void copies_are_passed_over(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_buffer out = {0};
    put_copies(&f);
    assert_different(&f, 0, "1+2 4+1 6 ");
    assert_different(&f, 2, "1+2 4+1 ");
    gf_view *view = open_served(&f);
    assert_ok(gf_view_members(view, 1, 0, list_member, &out, &err));
    assert_string_equal(gf_buffer_cstr(&out), "1 2 3 4 5 6 ");
    assert_status(GF_ENOTFOUND, gf_view_different(view, 9, 0, list_member, &out, &err));
    gf_view_close(view);
    gf_buffer_release(&out);
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* The next copy takes the place of one that was deleted, and counts no others that were. */
static void deleted_documents_and_their_copies(void **state)
{
    (void)state;
    fixture f;
    put_copies(&f);
    fixture_delete(&f, "c", "1");
    assert_different(&f, 0, "2+1 4+1 6 ");
    fixture_delete(&f, "c", "5");
    assert_different(&f, 0, "2+1 4 6 ");
    fixture_delete(&f, "c", "3");
    fixture_delete(&f, "c", "2");
    assert_different(&f, 0, "4 6 ");
    fixture_put(&f, "c", "3", "red apples grow on old trees in autumn");
    assert_different(&f, 0, "3 4 6 ");
    fixture_close(&f);
}

typedef struct page {
    gf_buffer text;
    float score;
    char id[8];
} page;

static gf_status note_last(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    page *p = context;
    p->score = m->score;
    snprintf(p->id, sizeof p->id, "%.*s", GF_SLICE_ARG(id));
    return list_member(&p->text, id, m, err);
}

static void pages_of_different_documents(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    page p = {.score = 0};
    put_copies(&f);
    gf_view *view = open_served(&f);
    assert_ok(gf_view_different(view, 1, 1, note_last, &p, &err));
    for (int i = 0; i < 3; i++)
        assert_ok(
            gf_view_different_after(view, 1, p.score, gf_slice_str(p.id), 1, note_last, &p, &err));
    assert_string_equal(gf_buffer_cstr(&p.text), "1+2 4+1 6 ");
    gf_buffer_release(&p.text);
    gf_view_close(view);
    fixture_close(&f);
}

/* As a build of an earlier version has it: without the cell all documents are given. */
static void builds_without_a_list(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_batch *batch;
    gf_buffer key = {0}, qualifier = {0};
    put_copies(&f);
    gf_tables_build_key(&key, GF_SLICE("test"), GF_SLICE("c"), fixture_default(),
                        fixture_read(&f, "c").served);
    gf_copy_list_qualifier(&qualifier, 1);
    assert_ok(gf_batch_create(f.store->db, &batch, &err));
    gf_batch_delete_cell(batch, f.store->tables.builds, gf_buffer_view(&key), GF_BUILDS_MODEL,
                         gf_buffer_view(&qualifier));
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
    assert_different(&f, 0, "1 2 3 4 5 6 ");
    fixture_is_sound(&f);
    assert_ok(gf_batch_create(f.store->db, &batch, &err));
    gf_batch_put(batch, f.store->tables.builds, gf_buffer_view(&key), GF_BUILDS_MODEL,
                 gf_buffer_view(&qualifier), GF_SLICE("\x09\x01"), 0);
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_view *view = open_served(&f);
    assert_status(GF_ECORRUPT, gf_view_different(view, 1, 0, list_member, &key, &err));
    gf_view_close(view);
    gf_batch_free(batch);
    gf_buffer_release(&key);
    gf_buffer_release(&qualifier);
    fixture_close(&f);
}

static void lists_are_read_as_written(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer bytes = {0}, qualifier = {0};
    uint32_t first[] = {0, 1, 0, 0, 4, 1, 4}, read[7], id;
    gf_copy_list_write(first, 7, &bytes);
    assert_ok(gf_copy_list_read(gf_buffer_view(&bytes), read, 7, &err));
    assert_memory_equal(first, read, sizeof first);
    for (size_t n = 1; n < bytes.len; n++) /* cut in the middle of a pair */
        if (n % 2)
            assert_status(GF_ECORRUPT, gf_copy_list_read(gf_slice_of(bytes.ptr, n), read, 7, &err));
    assert_status(GF_ECORRUPT, gf_copy_list_read(gf_buffer_view(&bytes), read, 6, &err));
    /* a copy of a copy, of itself, of what stands before all */
    assert_status(GF_ECORRUPT, gf_copy_list_read(GF_SLICE("\x01\x01\x01\x01"), read, 7, &err));
    assert_status(GF_ECORRUPT, gf_copy_list_read(GF_SLICE("\x01\x00"), read, 7, &err));
    assert_status(GF_ECORRUPT, gf_copy_list_read(GF_SLICE("\x01\x02"), read, 7, &err));
    gf_copy_list_qualifier(&qualifier, 258);
    assert_true(gf_copy_list_cluster(gf_buffer_view(&qualifier), &id));
    assert_int_equal(id, 258);
    assert_false(gf_copy_list_cluster(GF_SLICE("copies"), &id));
    assert_false(gf_copy_list_cluster(GF_SLICE("times\0\0\0\1"), &id));
    gf_buffer_release(&bytes);
    gf_buffer_release(&qualifier);
}

/* ---- sentences ------------------------------------------------------------------------------- */

static gf_status note_sentence(void *context, const gf_cluster_info *info, gf_error *err)
{
    gf_buffer *out = context;
    gf_buffer_slice(out, info->sentence_of);
    if (info->sentence.len) gf_buffer_str(out, ": ");
    gf_buffer_slice(out, info->sentence);
    return gf_buffer_check(out, err);
}

static void assert_sentence(fixture *f, const char *expected)
{
    gf_error err;
    gf_buffer out = {0};
    gf_view *view = open_served(f);
    assert_ok(gf_view_cluster(view, 1, (gf_slice){0}, note_sentence, &out, &err));
    assert_string_equal(gf_buffer_cstr(&out), expected);
    gf_buffer_release(&out);
    gf_view_close(view);
}

/* The one that is about what the others are about; not a heading, a quotation, a link, a fragment. */
static void the_most_central_sentence(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put(&f, "c", "a",
                "Re: ferry\n\n> The ferry to the island leaves from the harbour at noon.\n"
                "Hello there everybody, how are you doing today?\n"
                "See http://ferry.example/ for the ferry to the island from the harbour.\n");
    fixture_put(&f, "c", "b",
                "My dog is old. The ferry to the island leaves from the harbour every\n"
                "morning at seven o'clock. I like it.\n--\nThe ferry man of the island harbour\n");
    fixture_put(&f, "c", "c", "ferry island harbour");
    fixture_put(&f, "c", "d", "The harbour was closed. No ferry came.");
    build_one(&f);
    assert_sentence(&f, "b: The ferry to the island leaves from the harbour every morning at "
                        "seven o'clock.");
    fixture_is_sound(&f);
    fixture_put(&f, "c", "e", "something that came later");
    assert_sentence(&f, "b: The ferry to the island leaves from the harbour every morning at "
                        "seven o'clock.");
    fixture_put(&f, "c", "b", "put anew");
    assert_sentence(&f, "");
    fixture_delete(&f, "c", "b");
    assert_sentence(&f, "");
    fixture_close(&f);
}

static void clusters_without_a_sentence(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    fixture_put(&f, "c", "1", "apple");
    fixture_put(&f, "c", "2", "apple pear http://apple.example/");
    build_one(&f);
    assert_sentence(&f, "");
    fixture_is_sound(&f);
    fixture_close(&f);
}

/* Rebuilt side by side, with texts that are kept, small collections get what they get by one. */
static gf_status ignore(void *context, gf_place where, gf_slice configuration, gf_status st,
                        const char *message, const gf_rebuild_result *result, gf_error *err)
{
    (void)context, (void)where, (void)configuration, (void)message, (void)result, (void)err;
    return st;
}

static void in_a_group(void **state)
{
    (void)state;
    fixture f;
    gf_error err;
    gf_buffer alone = {0}, together = {0};
    fixture_open(&f);
    fixture_put_posts(&f, "c", 120);
    fixture_set(&f, "c", "default", "k", "6");
    fixture_rebuild(&f, "c");
    gf_view *view = open_served(&f);
    assert_ok(gf_view_clusters(view, note_sentence, &alone, &err));
    gf_view_close(view);
    assert_true(alone.len > 100);
    gf_rebuild_options o = GF_REBUILD_OPTIONS(.threads = 2, .force = true, .start = GF_START_FRESH);
    assert_ok(gf_rebuild_all(f.store, GF_SLICE("test"), GF_SLICE(""), GF_SLICE(""), &o, ignore,
                             NULL, &err));
    view = open_served(&f);
    assert_ok(gf_view_clusters(view, note_sentence, &together, &err));
    gf_view_close(view);
    assert_string_equal(gf_buffer_cstr(&alone), gf_buffer_cstr(&together));
    gf_buffer_release(&alone);
    gf_buffer_release(&together);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_passed_over),
        cmocka_unit_test(deleted_documents_and_their_copies),
        cmocka_unit_test(pages_of_different_documents),
        cmocka_unit_test(builds_without_a_list),
        cmocka_unit_test(lists_are_read_as_written),
        cmocka_unit_test(the_most_central_sentence),
        cmocka_unit_test(clusters_without_a_sentence),
        cmocka_unit_test(in_a_group),
    };
    return cmocka_run_group_tests_name("best", tests, NULL, NULL);
}
