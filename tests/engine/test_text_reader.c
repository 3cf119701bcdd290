/* Texts by several lanes: each once, in the order of the ids, whatever was cut where. */
#include "tests/engine/fixture.h"

#include "base/json/writer.h"
#include "base/random.h"
#include "engine/store/store_internal.h"
#include "engine/text/reader.h"

#include <string.h>

enum { DOCUMENTS = 2600, LETTERS = 2000 }; /* some four parts on disk */

/* Posts of letters drawn at random; every third is of label "b". */
static void put_documents(fixture *f)
{
    gf_random r = gf_random_seed(7, 0);
    gf_buffer lines = {0}, text = {0};
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        char id[16];
        snprintf(id, sizeof id, "post-%05u", i);
        gf_buffer_reset(&text);
        for (uint64_t n = gf_random_below(&r, LETTERS); n; n--)
            gf_buffer_byte(&text, (char)(' ' + 1 + gf_random_below(&r, 90)));
        gf_json_writer w = gf_json_writer_to(&lines);
        gf_json_begin(&w, '{');
        gf_json_put_string(&w, "id", gf_slice_str(id));
        gf_json_put_string(&w, "text", gf_buffer_view(&text));
        gf_json_put_string(&w, "label", i % 3 ? GF_SLICE("a") : GF_SLICE("b"));
        gf_json_end(&w, '}');
        gf_buffer_byte(&lines, '\n');
    }
    fixture_put_records(f, "c", gf_buffer_view(&lines), DOCUMENTS);
    gf_buffer_release(&lines);
    gf_buffer_release(&text);
}

/* A store with these documents in tables, and how all of them are read. */
static gf_text_reader_options begin(fixture *f)
{
    fixture_open(f);
    put_documents(f);
    fixture_close(f);
    fixture_reopen(f);
    return (gf_text_reader_options){.store = f->store, .where = fixture_place("c")};
}

typedef struct reading {
    gf_buffer out; /* ids and texts */
    gf_text_counts counts;
    uint64_t n;
    size_t most_tasks;
} reading;

static gf_status read_all(const gf_text_reader_options *o, gf_pool *pool, reading *r, gf_error *err)
{
    gf_text_reader *reader;
    const gf_text_group *batch;
    gf_pool_tasks tasks = {.n = 1};
    gf_status st = gf_text_reader_open(o, &reader, err);
    if (st != GF_OK) return st;
    while (st == GF_OK && tasks.n) {
        st = gf_text_reader_take(reader, &batch, &tasks, err);
        if (st != GF_OK) break;
        if (tasks.n > r->most_tasks) r->most_tasks = tasks.n;
        st = gf_pool_run(pool, tasks.n, tasks.task, tasks.context, NULL, err);
        for (size_t i = 0; i < batch->n; i++) { /* still there, while the next was read */
            gf_buffer_slice(&r->out, batch->at[i].id);
            gf_buffer_slice(&r->out, batch->at[i].text);
        }
        r->n += batch->n;
    }
    r->counts = *gf_text_reader_counts(reader);
    gf_text_reader_close(reader);
    return st;
}

static reading read_by(const gf_text_reader_options *o, unsigned threads)
{
    gf_error err;
    gf_pool *pool;
    reading r = {.n = 0};
    gf_text_reader_options options = *o;
    options.threads = threads;
    assert_ok(gf_pool_create(threads < 5 ? threads : 5, &pool, &err));
    assert_ok(read_all(&options, pool, &r, &err));
    gf_pool_free(pool);
    return r;
}

/* One thread's reading, which any number of threads must equal. */
static reading all_lanes_agree(const gf_text_reader_options *o, size_t least_tasks)
{
    reading one = read_by(o, 1);
    assert_int_equal(one.most_tasks, 1);
    const unsigned threads[] = {2, 5, 200};
    for (size_t i = 0; i < 3; i++) {
        reading r = read_by(o, threads[i]);
        assert_true(r.most_tasks >= least_tasks);
        assert_int_equal(r.n, one.n);
        assert_true(gf_slice_equal(gf_buffer_view(&r.out), gf_buffer_view(&one.out)));
        assert_memory_equal(&r.counts, &one.counts, sizeof r.counts);
        gf_buffer_release(&r.out);
    }
    return one;
}

static void any_number_of_lanes_reads_the_same(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    put_documents(&f);
    gf_text_reader_options o = {.store = f.store, .where = fixture_place("c")};
    reading fresh = all_lanes_agree(&o, 1); /* nothing has a table: one lane reads it */
    fixture_close(&f);
    fixture_reopen(&f);
    o.store = f.store;
    reading on_disk = all_lanes_agree(&o, 3);
    assert_int_equal(on_disk.n, DOCUMENTS);
    assert_int_equal(on_disk.counts.meant, DOCUMENTS);
    assert_true(gf_slice_equal(gf_buffer_view(&fresh.out), gf_buffer_view(&on_disk.out)));
    o.where = fixture_place("none");
    reading none = all_lanes_agree(&o, 0);
    assert_int_equal(none.n, 0);
    gf_buffer_release(&fresh.out);
    gf_buffer_release(&on_disk.out);
    fixture_close(&f);
}

/* What is written behind the snapshot, in any part, is not seen. */
static void a_snapshot_is_read(void **state)
{
    (void)state;
    gf_error err;
    fixture f;
    gf_snapshot *snapshot;
    gf_text_reader_options o = begin(&f);
    assert_ok(gf_snapshot_create(f.store->db, &snapshot, &err));
    o.snapshot = snapshot;
    reading before = all_lanes_agree(&o, 3);
    for (unsigned i = 0; i < DOCUMENTS; i += 100) {
        char id[16];
        snprintf(id, sizeof id, "post-%05u", i);
        fixture_delete(&f, "c", id);
        snprintf(id, sizeof id, "post-%05ux", i);
        fixture_put(&f, "c", id, "new");
    }
    reading after = all_lanes_agree(&o, 3);
    assert_true(gf_slice_equal(gf_buffer_view(&before.out), gf_buffer_view(&after.out)));
    gf_snapshot_free(snapshot);
    gf_buffer_release(&before.out);
    gf_buffer_release(&after.out);
    fixture_close(&f);
}

static void those_that_are_meant_are_read(void **state)
{
    (void)state;
    fixture f;
    gf_resolved settings = {.filter = GF_SLICE("label=b"), .since = INT64_MIN, .until = INT64_MAX};
    gf_text_reader_options o = begin(&f);
    o.settings = &settings;
    reading meant = all_lanes_agree(&o, 3);
    assert_int_equal(meant.n, (DOCUMENTS + 2) / 3);
    assert_int_equal(meant.counts.meant, meant.n);
    o.every = 10; /* of those; it takes one lane */
    reading part = all_lanes_agree(&o, 1);
    assert_int_equal(part.n, (meant.n + 9) / 10);
    assert_int_equal(part.counts.meant, meant.n);
    assert_int_equal(part.counts.text_bytes, meant.counts.text_bytes);
    o.small = true;
    o.every = 0;
    reading small = all_lanes_agree(&o, 1);
    assert_true(gf_slice_equal(gf_buffer_view(&small.out), gf_buffer_view(&meant.out)));
    gf_buffer_release(&small.out);
    gf_buffer_release(&meant.out);
    gf_buffer_release(&part.out);
    fixture_close(&f);
}

/* ---- failures -------------------------------------------------------------------------------- */

static gf_status read_by_lanes(void *context, gf_error *err)
{
    reading r = {.n = 0};
    gf_status st = read_all(context, NULL, &r, err);
    if (st == GF_OK) {
        assert_int_equal(r.n, DOCUMENTS);
        assert_true(r.most_tasks >= 3);
        st = gf_buffer_check(&r.out, err);
    }
    gf_buffer_release(&r.out);
    return st;
}

static void failed_allocations_are_told(void **state)
{
    (void)state;
    fixture f;
    gf_text_reader_options o = begin(&f);
    o.threads = 4;
    gf_test_sweep(read_by_lanes, NULL, &o);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_lanes_reads_the_same),
        cmocka_unit_test(a_snapshot_is_read),
        cmocka_unit_test(those_that_are_meant_are_read),
        cmocka_unit_test(failed_allocations_are_told),
    };
    return cmocka_run_group_tests_name("text_reader", tests, NULL, NULL);
}
