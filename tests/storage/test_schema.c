#include "support/test.h"

#include "base/random.h"
#include "storage/schema.h"

#include <string.h>

static const gf_key_part parts[] = {
    {"namespace", GF_PART_STRING, 0}, {"time", GF_PART_U64, 0}, {"sha1", GF_PART_FIXED, 20}};
static const char *const main_columns[] = {"id", "text", NULL};
static const char *const more_columns[] = {"id", "text", "size", NULL};
static const char *const wide_columns[] = {"", NULL};
static const gf_family families[] = {
    {"main", GF_LAYOUT_PACKED, 1, 0, GF_COMPRESSION_SNAPPY, main_columns, false},
    {"documents", GF_LAYOUT_WIDE, 3, 86400, GF_COMPRESSION_NONE, wide_columns, false},
    {"ranked", GF_LAYOUT_WIDE, 0, 0, GF_COMPRESSION_NONE, NULL, false},
};
static const gf_schema papers = {"papers", parts, 3, families, 3};

static gf_schema with_families(gf_family *copy, unsigned n)
{
    gf_schema s = papers;
    memcpy(copy, families, sizeof families);
    s.families = copy;
    s.n_families = n;
    return s;
}

static void assert_refused(const gf_schema *s, const char *message)
{
    gf_error err;
    assert_status(GF_EINVAL, gf_schema_check(s, &err));
    assert_string_equal(err.message, message);
}

static void accepts_a_schema(void **state)
{
    (void)state;
    gf_error err;
    assert_ok(gf_schema_check(&papers, &err));
}

static void refuses_what_is_no_schema(void **state)
{
    (void)state;
    gf_family f[33];
    gf_schema s = papers;
    s.name = "";
    assert_refused(&s, "a table's name has 1 to 255 bytes");
    s = papers;
    s.n_parts = 0;
    assert_refused(&s, "table papers: a row key has 1 to 8 parts, not 0");
    s.n_parts = 9;
    assert_refused(&s, "table papers: a row key has 1 to 8 parts, not 9");
    gf_key_part wide[] = {{"digest", GF_PART_FIXED, 256}}, none[] = {{"digest", GF_PART_FIXED, 0}};
    s = papers;
    s.n_parts = 1;
    s.parts = wide;
    assert_refused(&s, "table papers: key part digest is 256 bytes wide, not 1 to 255");
    s.parts = none;
    assert_refused(&s, "table papers: key part digest is 0 bytes wide, not 1 to 255");
    gf_key_part nameless[] = {{NULL, GF_PART_U64, 0}};
    s.parts = nameless;
    assert_refused(&s, "table papers: key part 0 has no name");
    s = with_families(f, 0);
    assert_refused(&s, "table papers: a table has 1 to 32 families, not 0");
    s = with_families(f, 33);
    assert_refused(&s, "table papers: a table has 1 to 32 families, not 33");
    s = with_families(f, 3);
    f[1].name = "main";
    assert_refused(&s, "table papers: two families are named main");
    f[1].name = "";
    assert_refused(&s, "table papers: family 1 has no name");
    s = with_families(f, 3);
    f[2].layout = (gf_layout)7;
    assert_refused(&s, "table papers: family ranked has no known layout or compression");
}

static void refuses_a_column_in_two_families(void **state)
{
    (void)state;
    gf_family f[3];
    gf_schema s = with_families(f, 3);
    static const char *const again[] = {"size", "text", NULL}, *const twice[] = {"a", "b", "a",
                                                                                 NULL};
    f[2].columns = again;
    assert_refused(&s, "table papers: column text is in families main and ranked");
    f[2].columns = twice;
    assert_refused(&s, "table papers: column a is twice in family ranked");
    static const char *many[122];
    static char names[121][8];
    for (int i = 0; i < 121; i++) {
        snprintf(names[i], sizeof names[i], "c%d", i);
        many[i] = names[i];
    }
    f[2].columns = many;
    assert_refused(&s, "table papers: family ranked has more than 120 columns");
}

/* Families of one stem may share their columns: the next run of one step has those of the last. */
static void columns_are_unique_by_stem(void **state)
{
    (void)state;
    gf_error err;
    static const char *const columns[] = {"status", "xml", NULL}, *const some[] = {"status", NULL};
    gf_family f[4] = {{.name = "grobid0", .columns = columns},
                      {.name = "grobid12", .columns = columns},
                      {.name = "grobid", .columns = some},
                      {.name = "match0"}};
    gf_schema s = papers;
    s.families = f;
    s.n_families = 4;
    assert_ok(gf_schema_check(&s, &err));
    f[3].columns = some;
    assert_refused(&s, "table papers: column status is in families grobid0 and match0");
    f[3].name = "grobid0x";
    assert_refused(&s, "table papers: column status is in families grobid0 and grobid0x");
    f[0].name = "1"; /* a name of digits has no stem but itself */
    f[1] = (gf_family){.name = "2", .columns = some};
    s.n_families = 2;
    assert_refused(&s, "table papers: column status is in families 1 and 2");
}

static void assert_same_schema(const gf_schema *a, const gf_schema *b)
{
    gf_buffer x = {0}, y = {0};
    gf_schema_write(a, &x);
    gf_schema_write(b, &y);
    assert_true(gf_slice_equal(gf_buffer_view(&x), gf_buffer_view(&y)));
    gf_buffer_release(&x);
    gf_buffer_release(&y);
}

static void writes_and_reads(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer bytes = {0};
    gf_arena arena = {0};
    gf_schema s;
    gf_schema_write(&papers, &bytes);
    assert_ok(gf_schema_read(gf_buffer_view(&bytes), &arena, &s, &err));
    memset(bytes.ptr, 'x', bytes.len); /* nothing may be borrowed from the bytes */
    assert_string_equal(s.name, "papers");
    assert_int_equal(s.n_parts, 3);
    assert_string_equal(s.parts[2].name, "sha1");
    assert_int_equal(s.parts[2].kind, GF_PART_FIXED);
    assert_int_equal(s.parts[2].width, 20);
    assert_int_equal(s.n_families, 3);
    assert_string_equal(s.families[1].name, "documents");
    assert_int_equal(s.families[1].layout, GF_LAYOUT_WIDE);
    assert_int_equal(s.families[1].versions, 3);
    assert_int_equal(s.families[1].ttl_seconds, 86400);
    assert_int_equal(s.families[0].compression, GF_COMPRESSION_SNAPPY);
    assert_string_equal(s.families[0].columns[1], "text");
    assert_null(s.families[0].columns[2]);
    assert_string_equal(s.families[1].columns[0], "");
    assert_int_equal(s.families[2].versions, 1); /* 0 means 1 */
    assert_same_schema(&s, &papers);
    gf_buffer_release(&bytes);
    gf_arena_release(&arena);
}

/* The width means something of a fixed part alone. */
static void ignores_the_width_of_other_parts(void **state)
{
    (void)state;
    gf_error err;
    gf_arena arena = {0};
    gf_buffer bytes = {0};
    gf_joined_schema joined;
    gf_key_part odd[] = {
        {"namespace", GF_PART_STRING, 1000}, {"time", GF_PART_U64, 8}, {"sha1", GF_PART_FIXED, 20}};
    gf_schema s = papers, again;
    s.parts = odd;
    assert_ok(gf_schema_check(&s, &err));
    gf_schema_write(&s, &bytes);
    assert_ok(gf_schema_read(gf_buffer_view(&bytes), &arena, &again, &err));
    assert_same_schema(&again, &papers);
    assert_ok(gf_schema_join(&again, &s, &joined, &err));
    assert_false(joined.is_more);
    gf_buffer_release(&bytes);
    gf_arena_release(&arena);
}

/* Random bytes are read or refused; a schema that is read is written as those bytes. */
static void reads_hostile_bytes(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer good = {0}, again = {0};
    gf_arena arena = {0};
    gf_schema s;
    gf_random r = gf_random_seed(gf_test_seed(), 0);
    gf_schema_write(&papers, &good);
    for (size_t n = 0; n < good.len; n++)
        assert_status(GF_ECORRUPT, gf_schema_read(gf_slice_of(good.ptr, n), &arena, &s, &err));
    for (int i = 0; i < 20000; i++) {
        char bytes[256];
        assert_in_range(good.len, 1, sizeof bytes - 8);
        memcpy(bytes, good.ptr, good.len);
        size_t n = good.len + (size_t)gf_random_below(&r, 2) * (size_t)gf_random_below(&r, 8);
        for (size_t k = good.len; k < n; k++)
            bytes[k] = (char)gf_random_below(&r, 256);
        for (uint64_t flips = gf_random_below(&r, 4); flips > 0; flips--)
            bytes[gf_random_below(&r, n)] ^= (char)(1u << gf_random_below(&r, 8));
        gf_arena_reset(&arena);
        gf_status st = gf_schema_read(gf_slice_of(bytes, n), &arena, &s, &err);
        if (st == GF_OK) st = gf_schema_check(&s, &err) == GF_OK ? GF_OK : GF_ECORRUPT;
        if (st == GF_OK) {
            gf_arena other = {0};
            gf_schema once_more;
            gf_buffer_reset(&again);
            gf_schema_write(&s, &again);
            assert_ok(gf_schema_read(gf_buffer_view(&again), &other, &once_more, &err));
            assert_same_schema(&s, &once_more);
            gf_arena_release(&other);
        } else {
            assert_int_equal(st, GF_ECORRUPT);
        }
    }
    gf_buffer_release(&good);
    gf_buffer_release(&again);
    gf_arena_release(&arena);
}

/* A name with a NUL in it would be read as a shorter one. */
static void refuses_a_name_with_a_nul(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer bytes = {0};
    gf_arena arena = {0};
    gf_schema s;
    gf_schema_write(&papers, &bytes);
    char *name = memchr(bytes.ptr, 'p', bytes.len);
    name[3] = '\0';
    assert_status(GF_ECORRUPT, gf_schema_read(gf_buffer_view(&bytes), &arena, &s, &err));
    gf_buffer_release(&bytes);
    gf_arena_release(&arena);
}

/* ---- joining --------------------------------------------------------------------------------- */

static void joins_what_each_has_more(void **state)
{
    (void)state;
    gf_error err;
    gf_family f[4];
    gf_joined_schema joined;
    gf_schema more = with_families(f, 4);
    f[3] = (gf_family){"grobid1", GF_LAYOUT_PACKED, 1, 0, GF_COMPRESSION_NONE, NULL, false};
    assert_ok(gf_schema_join(&papers, &papers, &joined, &err));
    assert_false(joined.is_more);
    assert_same_schema(&joined.schema, &papers);
    assert_ok(gf_schema_join(&papers, &more, &joined, &err));
    assert_true(joined.is_more);
    assert_same_schema(&joined.schema, &more);
    assert_ok(gf_schema_join(&more, &papers, &joined, &err));
    assert_false(joined.is_more);
    assert_same_schema(&joined.schema, &more);

    gf_family g[3];
    gf_schema columns = with_families(g, 3), both = with_families(f, 4);
    g[0].columns = more_columns;
    assert_ok(gf_schema_join(&papers, &columns, &joined, &err));
    assert_true(joined.is_more);
    assert_ok(gf_schema_join(&columns, &papers, &joined, &err));
    assert_false(joined.is_more);
    assert_same_schema(&joined.schema, &columns);
    f[3] = (gf_family){"grobid1", GF_LAYOUT_PACKED, 1, 0, GF_COMPRESSION_NONE, NULL, false};
    assert_ok(gf_schema_join(&both, &columns, &joined, &err)); /* each has what the other lacks */
    assert_true(joined.is_more);
    assert_int_equal(joined.schema.n_families, 4);
    assert_int_equal(gf_schema_column(&joined.schema.families[0], GF_SLICE("size"), 0), 2);
}

static void assert_differs(const gf_schema *given, const char *message)
{
    gf_error err;
    gf_joined_schema joined;
    memset(&joined, 7, sizeof joined);
    assert_status(GF_EINVAL, gf_schema_join(&papers, given, &joined, &err));
    assert_string_equal(err.message, message);
    for (size_t i = 0; i < sizeof joined; i++)
        assert_int_equal(((char *)&joined)[i], 7);
}

static void refuses_other_differences(void **state)
{
    (void)state;
    gf_family f[4];
    gf_schema s = papers;
    s.n_parts = 2;
    assert_differs(&s, "table papers is stored with another row key");
    gf_key_part narrow[] = {parts[0], parts[1], {"sha1", GF_PART_FIXED, 16}};
    s.n_parts = 3;
    s.parts = narrow;
    assert_differs(&s, "table papers is stored with another row key");
    s = papers;
    s.name = "other";
    assert_differs(&s, "table other is stored with another name");
    s = with_families(f, 3);
    f[1].versions = 1;
    assert_differs(&s, "table papers is stored with another family documents");
    /* Times and versions stay as they are stored, however it was meant when the schema was written. */
    s = with_families(f, 3);
    f[1].versions = papers.families[1].versions + 1;
    f[1].ttl_seconds = 0;
    gf_joined_schema kept;
    gf_error err;
    assert_ok(gf_schema_join(&papers, &s, &kept, &err));
    assert_false(kept.is_more);
    assert_int_equal(kept.schema.families[1].versions, papers.families[1].versions);
    assert_int_equal(kept.schema.families[1].ttl_seconds, papers.families[1].ttl_seconds);
    s = with_families(f, 3);
    f[0].compression = GF_COMPRESSION_NONE;
    assert_differs(&s, "table papers is stored with another family main");
    s = with_families(f, 3);
    f[2].name = "other";
    assert_differs(&s, "table papers is stored with another family ranked");
    static const char *const renamed[] = {"id", "body", NULL};
    s = with_families(f, 3);
    f[0].columns = renamed;
    assert_differs(&s, "table papers: family main is stored with column text, not body");
    static const char *const stolen[] = {"text", NULL};
    s = with_families(f, 4);
    f[3] = (gf_family){"grobid1", GF_LAYOUT_PACKED, 1, 0, GF_COMPRESSION_NONE, stolen, false};
    assert_differs(&s, "table papers: column text is in families main and grobid1");
}

/* ---- row keys and columns -------------------------------------------------------------------- */

static void measures_row_keys(void **state)
{
    (void)state;
    gf_buffer key = {0};
    gf_key_string(&key, GF_SLICE("a\0b"));
    gf_key_u64(&key, 7);
    gf_buffer_str(&key, "01234567890123456789");
    size_t whole = key.len;
    assert_int_equal(whole, 6 + 8 + 20);
    for (size_t n = 0; n < whole; n++)
        assert_int_equal(gf_schema_row_length(&papers, gf_slice_of(key.ptr, n)), 0);
    gf_buffer_str(&key, "and what follows");
    assert_int_equal(gf_schema_row_length(&papers, gf_buffer_view(&key)), whole);
    gf_buffer_release(&key);
}

static void finds_columns(void **state)
{
    (void)state;
    const gf_family *f = &families[0];
    for (int hint = 0; hint <= 2; hint++) {
        assert_int_equal(gf_schema_column(f, GF_SLICE("id"), hint), 0);
        assert_int_equal(gf_schema_column(f, GF_SLICE("text"), hint), 1);
        assert_int_equal(gf_schema_column(f, GF_SLICE("tex"), hint), -1);
        assert_int_equal(gf_schema_column(f, GF_SLICE("texts"), hint), -1);
        assert_int_equal(gf_schema_column(f, GF_SLICE("id\0"), hint), -1);
        assert_int_equal(gf_schema_column(f, GF_SLICE(""), hint), -1);
    }
    assert_int_equal(gf_schema_column(&families[1], GF_SLICE(""), 0), 0);
    assert_int_equal(gf_schema_column(&families[2], GF_SLICE("id"), 0), -1);
}

static gf_status read_schema(void *context, gf_error *err)
{
    gf_arena arena = {0};
    gf_schema s = {.name = "unchanged"};
    gf_status st = gf_schema_read(gf_buffer_view(context), &arena, &s, err);
    if (st != GF_OK) assert_string_equal(s.name, "unchanged");
    gf_arena_release(&arena);
    return st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_family f[32];
    static const char *many[121];
    static char names[32][120][64];
    gf_schema s = {"a table that is large", parts, 3, f, 32};
    gf_buffer bytes = {0};
    for (int i = 0; i < 32; i++) {
        for (int c = 0; c < 120; c++)
            snprintf(names[i][c], sizeof names[i][c], "a column with a long name %d.%d", i, c);
        f[i] = (gf_family){names[i][0], GF_LAYOUT_PACKED, 1, 0, GF_COMPRESSION_NONE, NULL, false};
    }
    for (int c = 0; c < 120; c++)
        many[c] = names[0][c];
    f[0].columns = many;
    gf_schema_write(&s, &bytes);
    gf_test_sweep(read_schema, NULL, &bytes);
    gf_buffer_release(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_a_schema),
        cmocka_unit_test(refuses_what_is_no_schema),
        cmocka_unit_test(refuses_a_column_in_two_families),
        cmocka_unit_test(columns_are_unique_by_stem),
        cmocka_unit_test(writes_and_reads),
        cmocka_unit_test(ignores_the_width_of_other_parts),
        cmocka_unit_test(reads_hostile_bytes),
        cmocka_unit_test(refuses_a_name_with_a_nul),
        cmocka_unit_test(joins_what_each_has_more),
        cmocka_unit_test(refuses_other_differences),
        cmocka_unit_test(measures_row_keys),
        cmocka_unit_test(finds_columns),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("schema", tests, NULL, NULL);
}
