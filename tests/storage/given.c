#include "tests/storage/given.h"

static const gf_key_part one_string[] = {{"id", GF_PART_STRING, 0}};
static const gf_key_part two_strings[] = {{"collection", GF_PART_STRING, 0},
                                          {"id", GF_PART_STRING, 0}};
static const char *const info_columns[] = {"name", "age", "sex", NULL};
static const char *const other_columns[] = {"mime", NULL};

const gf_family given_families[7] = {
    [INFO] = {"info", GF_LAYOUT_PACKED, 1, 0, GF_COMPRESSION_NONE, info_columns, false},
    [OTHER] = {"other", GF_LAYOUT_PACKED, 1, 0, GF_COMPRESSION_SNAPPY, other_columns, false},
    [COURSE] = {"course", GF_LAYOUT_WIDE, 1, 0, GF_COMPRESSION_NONE, NULL, false},
    [HISTORY] = {"history", GF_LAYOUT_PACKED, 2, 0, GF_COMPRESSION_NONE, NULL, false},
    [EVENTS] = {"events", GF_LAYOUT_WIDE, 2, 0, GF_COMPRESSION_NONE, NULL, false},
    [SHORT_LIVED] = {"short", GF_LAYOUT_WIDE, 1, 3600, GF_COMPRESSION_NONE, NULL, false},
    [BRIEF] = {"brief", GF_LAYOUT_PACKED, 2, 3600, GF_COMPRESSION_NONE, NULL, false},
};
const gf_schema given_students = {"students", one_string, 1, given_families, 7};
const gf_schema given_documents = {"documents", two_strings, 2, given_families, 3};

given given_begin(void **state, const gf_schema *schema)
{
    given g = {.db = (*(make_database **)state)()};
    gf_error err;
    assert_ok(gf_table_open(g.db, schema, &g.t, &err));
    assert_ok(gf_batch_create(g.db, &g.batch, &err));
    return g;
}

void given_end(given *g)
{
    gf_row_release(&g->row);
    gf_batch_free(g->batch);
    gf_database_close(g->db);
}

void given_put(given *g, const char *row, unsigned family, const char *qualifier, const char *value,
               int64_t timestamp)
{
    gf_error err;
    assert_ok(gf_test_put(g->db, g->t, KEY(row), family, qualifier, S(value), timestamp, &err));
}

void given_is(given *g, const char *row, unsigned family, const char *qualifier, const char *want)
{
    gf_test_cell_is(g->t, NULL, KEY(row), family, qualifier, want);
}

void given_write_batch(given *g)
{
    gf_error err;
    assert_ok(gf_batch_write(g->batch, GF_SYNC_OFF, &err));
}

void given_row_is(given *g, const gf_snapshot *snapshot, const char *row, uint32_t wanted,
                  const char *want)
{
    gf_buffer text = {0};
    gf_status st = gf_table_get(g->t, snapshot, KEY(row), wanted, &g->row, &g->err);
    if (st != GF_OK && st != GF_ENOTFOUND) fail_msg("%s", g->err.message);
    for (size_t i = 0; i < g->row.n_cells; i++) {
        const gf_cell *c = &g->row.cells[i];
        gf_buffer_format(&text, "%s%u.%.*s=%.*s", i ? " " : "", c->family,
                         GF_SLICE_ARG(c->qualifier), GF_SLICE_ARG(c->value));
        if (c->timestamp) gf_buffer_format(&text, "@%lld", (long long)c->timestamp);
    }
    assert_string_equal(gf_buffer_cstr(&text), want);
    assert_int_equal(st, *want ? GF_OK : GF_ENOTFOUND);
    gf_buffer_release(&text);
}

void given_scan_is(given *g, const gf_scan_options *options, const char *want)
{
    gf_scan *scan;
    gf_buffer text = {0}, part = {0};
    gf_error err;
    gf_status st;
    assert_ok(gf_scan_open(g->t, options, &scan, &err));
    while ((st = gf_scan_next(scan, &g->row, &err)) == GF_OK) {
        if (text.len) gf_buffer_byte(&text, ' ');
        gf_slice rest = g->row.key;
        for (int i = 0; rest.len; i++) {
            gf_buffer_reset(&part);
            assert_true(gf_key_take_string(&rest, &part));
            gf_buffer_format(&text, "%s%.*s", i ? "/" : "", (int)part.len,
                             part.ptr ? part.ptr : "");
        }
        for (size_t i = 0; i < g->row.n_cells; i++)
            gf_buffer_format(&text, "%s%.*s=%.*s", i ? "," : ":",
                             GF_SLICE_ARG(g->row.cells[i].qualifier),
                             GF_SLICE_ARG(g->row.cells[i].value));
    }
    if (st != GF_ENOTFOUND) fail_msg("%s", err.message);
    assert_status(GF_ENOTFOUND, gf_scan_next(scan, &g->row, &err)); /* again the same */
    assert_int_equal(g->row.n_cells, 0);
    gf_scan_close(scan);
    assert_string_equal(gf_buffer_cstr(&text), want);
    gf_buffer_release(&text);
    gf_buffer_release(&part);
}

gf_slice given_document(const char *collection, const char *id)
{
    return gf_test_key2(S(collection), S(id));
}
