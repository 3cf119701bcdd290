/* papers import: what papers dump gave goes in again, cell by cell the same; what is hostile is refused. */
#include "api/app.h"
#include "apps/papers/table/rows.h"
#include "base/random.h"
#include "tests/apps/papers.h"

/* Rows by chance: any bytes in the columns that are text, groups, empty values. */
static void put_random(transport *t, gf_random *r, int rows)
{
    static const char *const columns[] = {"file:mime", "match0:doi", "match7:doi",
                                          "grobid0:quality", "grobid3:quality"};
    gf_error err;
    gf_papers *papers;
    gf_batch *batch;
    gf_buffer key = {0};
    assert_ok(
        gf_papers_open(t->store, GF_SLICE("default"), GF_SLICE(GF_PAPERS_TABLE), &papers, &err));
    assert_ok(gf_papers_choose_group(papers, GF_PAPERS_MATCH, GF_SLICE("match7"), true, &err));
    assert_ok(gf_papers_choose_group(papers, GF_PAPERS_GROBID, GF_SLICE("grobid3"), true, &err));
    assert_ok(gf_batch_create(gf_store_database(t->store), &batch, &err));
    for (int i = 0; i < rows; i++) {
        gf_sha1 sha1;
        char bytes[24];
        for (size_t b = 0; b < GF_SHA1_BYTES; b++)
            sha1.bytes[b] = (char)gf_random_below(r, 256);
        gf_buffer_reset(&key);
        gf_papers_key(papers, &sha1, &key);
        for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
            unsigned family;
            gf_slice column;
            size_t n = (size_t)gf_random_below(r, sizeof bytes);
            if (c && gf_random_below(r, 2)) continue;
            for (size_t b = 0; b < n; b++)
                bytes[b] = gf_random_below(r, 2) ? "\\\t\n\rN{\"x\0"[gf_random_below(r, 9)]
                                                 : (char)gf_random_below(r, 256);
            assert_ok(gf_papers_column(papers, gf_slice_str(columns[c]), &family, &column, &err));
            gf_batch_put(batch, gf_papers_table(papers), gf_buffer_view(&key), family, column,
                         gf_slice_of(bytes, n), 0);
            if (gf_papers_role(papers, family) == GF_PAPERS_MATCH)
                gf_batch_put(batch, gf_papers_table(papers), gf_buffer_view(&key), family,
                             GF_SLICE("mstatus"), GF_SLICE("match"), 0);
        }
    }
    assert_ok(gf_batch_write(batch, GF_SYNC_ON, &err));
    gf_batch_free(batch);
    gf_papers_close(papers);
    gf_buffer_release(&key);
}

/* The rows of the last call, or with TSV the bytes of its lines. */
static void take_rows(transport *t, bool tsv, gf_buffer *out)
{
    gf_buffer_reset(out);
    for (uint64_t i = 0; i < t->n_rows; i++) {
        gf_slice row = tsv ? transport_text(t, i, "line") : transport_bytes(t, i);
        gf_buffer_slice(out, row);
        if (!tsv) gf_buffer_byte(out, '\n');
    }
}

static void comes_back_whole(void **state)
{
    (void)state;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_buffer first = {0}, lines = {0}, again = {0};
    transport from;
    gf_error err;
    transport_open(&from);
    papers_import_cdx(&from, PAPERS_LINE(PAPERS_HELLO) PAPERS_LINE(PAPERS_OTHER));
    papers_import_tei(&from, PAPERS_HELLO ".tei.xml", GF_SLICE(PAPERS_TEI("one")));
    papers_import_tei(&from, PAPERS_OTHER ".tei.xml", GF_SLICE("this is not XML"));
    put_random(&from, &r, 100);
    assert_ok(transport_run(&from, &err, "papers dump", "fields", "all", NULL));
    assert_int_equal(from.n_rows, 102);
    take_rows(&from, false, &first);
    for (int tsv = 0; tsv < 2; tsv++) {
        transport to;
        transport_open(&to);
        assert_ok(transport_run(&from, &err, "papers dump", "fields", "all",
                                tsv ? "header" : "limit", tsv ? "true" : "1000", NULL));
        take_rows(&from, tsv, &lines);
        transport_input(&to, "rows", gf_buffer_view(&lines));
        assert_ok(transport_run(&to, &err, "papers import", NULL));
        papers_check_counts(&to, 102, 0, 0);
        assert_ok(transport_run(&to, &err, "papers dump", "fields", "all", NULL));
        take_rows(&to, false, &again);
        assert_true(gf_slice_equal(gf_buffer_view(&first), gf_buffer_view(&again)));
        transport_input(&to, "rows", gf_buffer_view(&lines));
        assert_ok(transport_run(&to, &err, "papers import", NULL));
        papers_check_counts(&to, 0, 0, 102);
        transport_close(&to);
    }
    gf_buffer_release(&first);
    gf_buffer_release(&lines);
    gf_buffer_release(&again);
    transport_close(&from);
}

/* A group is one thing; a cell of it that comes alone is not. */
static void keeps_or_replaces_groups(void **state)
{
    (void)state;
    transport t;
    gf_error err;
    gf_buffer value = {0};
    static const char fails[] =
        "{\"sha1\":\"" PAPERS_HELLO "\",\"status_code\":500,\"status\":{\"status\":\"error\"}}\n";
    static const char marks[] = "{\"sha1\":\"" PAPERS_HELLO "\",\"quality\":\"bad\"}\n";
    transport_open(&t);
    papers_import_tei(&t, PAPERS_HELLO ".tei.xml", GF_SLICE(PAPERS_TEI("one")));
    static const struct {
        const char *lines;
        bool replace;
        double created, changed, existing;
        bool has_xml;
    } steps[] = {{fails, false, 0, 0, 1, true},
                 {marks, false, 0, 0, 1, true},
                 {marks, true, 0, 1, 0, true},
                 {fails, true, 0, 1, 0, false},
                 {marks, false, 1, 0, 0, false}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        transport_input(&t, "rows", gf_slice_str(steps[i].lines));
        assert_ok(transport_run(&t, &err, "papers import", "replace",
                                steps[i].replace ? "true" : "false", NULL));
        papers_check_counts(&t, steps[i].created, steps[i].changed, steps[i].existing);
        bool has = papers_cell(&t, PAPERS_HELLO, GF_PAPERS_GROBID, "tei_xml", &value);
        assert_int_equal(has, steps[i].has_xml);
    }
    /* Twice in one input: the second meets the first, which waits in the batch. */
    transport_input(&t, "rows",
                    GF_SLICE("{\"sha1\":\"" PAPERS_OTHER "\",\"size\":1}\n"
                             "{\"sha1\":\"" PAPERS_OTHER "\",\"size\":2}\n"
                             "{\"sha1\":\"" PAPERS_OTHER "\",\"meta\":{}}\n"));
    assert_run(&t, "papers import");
    papers_check_counts(&t, 2, 0, 1);
    gf_buffer_release(&value);
    transport_close(&t);
}

static gf_status fail_here(void *context, const char *where, const char *what, gf_error *err)
{
    (void)context, (void)err;
    fail_msg("%s: %s", where, what);
    return GF_OK;
}

/* Bytes changed by chance are read or refused, and the table is sound whatever comes. */
static void takes_hostile_lines(void **state)
{
    (void)state;
    transport t;
    gf_error err;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_buffer lines = {0};
    transport_open(&t);
    papers_import_cdx(&t, PAPERS_LINE(PAPERS_HELLO));
    papers_import_tei(&t, PAPERS_HELLO ".tei.xml", GF_SLICE(PAPERS_TEI("one")));
    for (int i = 0; i < 200; i++) {
        bool tsv = i & 1;
        assert_ok(transport_run(&t, &err, "papers dump", "fields", "all", tsv ? "header" : "limit",
                                tsv ? "true" : "1", NULL));
        take_rows(&t, tsv, &lines);
        for (uint64_t n = 1 + gf_random_below(&r, 4); n > 0; n--)
            lines.ptr[gf_random_below(&r, lines.len)] = (char)gf_random_below(&r, 256);
        transport_input(&t, "rows", gf_buffer_view(&lines));
        gf_status st = transport_run(&t, &err, "papers import", "replace", "true", NULL);
        assert_true(st == GF_OK || st == GF_EINVAL);
        gf_app_count counts[GF_MOST_APPS] = {{.n = 0}};
        gf_app_check check = {.store = t.store, .visit = fail_here};
        assert_ok(gf_apps_check(&check, counts, &err));
    }
    gf_buffer_release(&lines);
    transport_close(&t);
}

static gf_status import_lines(void *context, gf_error *err)
{
    static const char line[] = "{\"sha1\":\"" PAPERS_HELLO
                               "\",\"size\":7,\"f:c\":{\"u\":\"u\",\"d\":\"2017-07-06\"},\"mime\":"
                               "{\"hex\":\"ff\"},\"grobid1:quality\":\"good\"}";
    char padded[sizeof line + GF_JSON_PADDING] = {0};
    gf_papers_rows *rows = NULL;
    gf_papers_outcome outcome;
    const char *reason;
    memcpy(padded, line, sizeof line);
    gf_status st = gf_papers_rows_open(context, true, &rows, err);
    if (st == GF_OK)
        st = gf_papers_rows_read(rows, gf_slice_of(padded, sizeof line - 1), true, &reason, err);
    if (st == GF_OK) st = gf_papers_rows_put(rows, &outcome, &reason, err);
    if (st == GF_OK) st = gf_papers_rows_flush(rows, err);
    if (st == GF_OK) st = gf_papers_rows_header(rows, GF_SLICE("sha1\tsize\tdoi"), err);
    if (st == GF_OK)
        st = gf_papers_rows_read(rows, GF_SLICE(PAPERS_OTHER "\t8\t\\N"), false, &reason, err);
    if (st == GF_OK) st = gf_papers_rows_put(rows, &outcome, &reason, err);
    gf_papers_rows_close(rows);
    return st;
}

static void memory_fails(void **state)
{
    (void)state;
    transport t;
    gf_error err;
    gf_papers *papers;
    transport_open(&t);
    papers_import_cdx(&t, PAPERS_LINE(PAPERS_HELLO));
    assert_ok(
        gf_papers_open(t.store, GF_SLICE("default"), GF_SLICE(GF_PAPERS_TABLE), &papers, &err));
    gf_test_sweep(import_lines, NULL, papers);
    gf_papers_close(papers);
    transport_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back_whole), cmocka_unit_test(keeps_or_replaces_groups),
        cmocka_unit_test(takes_hostile_lines), cmocka_unit_test(memory_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
