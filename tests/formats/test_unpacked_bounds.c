/* Few bytes that become very many, or none at all for very long. */
#include "support/test.h"

#include "formats/bytes/unpacked.h"
#include "formats/reader.h"
#include "tests/formats/archive.h"
#include "tests/formats/memory_input.h"

enum { MIB = 1 << 20 };

/* Compress n bytes of one kind `layers` times. */
static void make_bomb(const char *filter, char byte, size_t n, int layers, gf_buffer *out)
{
    gf_buffer bytes = {0};
    char *to = gf_buffer_reserve(&bytes, n);
    assert_non_null(to);
    memset(to, byte, n);
    bytes.len = n;
    for (int i = 0; i < layers; i++) {
        gf_buffer_reset(out);
        compress_bytes(filter, gf_buffer_view(&bytes), out);
        gf_buffer swap = bytes;
        bytes = *out;
        *out = swap;
    }
    gf_buffer_release(out);
    *out = bytes;
}

/* The callers that go away do so when they are asked for the n-th time. */
static uint64_t asked, goes_at;

static bool has_gone(void *context)
{
    (void)context;
    return goes_at && ++asked >= goes_at;
}

/* Read a stream to its end, or up to the failure. */
static gf_status read_all(const char *name, gf_slice packed, gf_input_bounds *bounds,
                          uint64_t *n_bytes, gf_error *err)
{
    memory_stream stream = {name, packed, false};
    memory_input m = {.streams = &stream, .n = 1};
    gf_input input = memory_input_start(&m);
    gf_unpacked *s;
    gf_slice bytes;
    input.bounds = bounds;
    input.gone = has_gone;
    asked = 0;
    *n_bytes = 0;
    assert_int_equal(GF_OK, gf_unpacked_open(&input, &s, err));
    gf_status st;
    while ((st = gf_unpacked_next(s, err)) == GF_OK) {
        gf_read_buffer *w = gf_unpacked_buffer(s);
        do {
            st = gf_read_buffer_peek(w, 1, &bytes, err);
            if (st == GF_OK) gf_read_buffer_consume(w, bytes.len);
            if (st == GF_OK) *n_bytes += bytes.len;
        } while (st == GF_OK && bytes.len);
        if (st != GF_OK) break;
    }
    gf_unpacked_close(s);
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static void unpacks_one_layer_unless_told(void **state)
{
    (void)state;
    static const char *const filters[] = {"gzip", "zstd", "xz", "bzip2", "lz4"};
    for (size_t i = 0; i < 5; i++) {
        gf_error err;
        gf_buffer packed = {0};
        uint64_t n;
        make_bomb(filters[i], 'x', 1000, 3, &packed);
        gf_input_bounds bounds = {.layers = 0};
        assert_status(GF_EINVAL, read_all("a.x", gf_buffer_view(&packed), NULL, &n, &err));
        assert_status(GF_EINVAL, read_all("a.x", gf_buffer_view(&packed), &bounds, &n, &err));
        assert_string_equal(err.message, "a.x is compressed more than once over; where it is meant "
                                         "to be so, --layers 2 unpacks it");
        bounds.layers = 2;
        assert_status(GF_EINVAL, read_all("a.x", gf_buffer_view(&packed), &bounds, &n, &err));
        assert_non_null(strstr(err.message, "--layers 3 unpacks it"));
        bounds.layers = 3;
        assert_ok(read_all("a.x", gf_buffer_view(&packed), &bounds, &n, &err));
        assert_int_equal(n, 1000);
        gf_buffer_release(&packed);
    }
}

/* Each member of an archive has a layer of its own. */
static void unpacks_compressed_members(void **state)
{
    (void)state;
    static const char *const formats[] = {"pax", "zip"};
    gf_error err;
    gf_buffer text = {0};
    uint64_t n;
    compress_bytes("gzip", GF_SLICE("text"), &text);
    archive_member member = {"a.txt.gz", gf_buffer_view(&text), A_FILE};
    for (int i = 0; i < 2; i++) {
        gf_buffer packed = {0};
        make_archive(formats[i], i ? NULL : "xz", &member, 1, &packed);
        assert_ok(read_all(i ? "a.zip" : "a.tar.xz", gf_buffer_view(&packed), NULL, &n, &err));
        assert_int_equal(n, 4);
        gf_buffer_release(&packed);
    }
    gf_buffer_release(&text);
}

static void bounds_what_comes_out(void **state)
{
    (void)state;
    static const char *const filters[] = {"zstd", "bzip2", "xz"}; /* gzip stays under the bound */
    for (size_t i = 0; i < 3; i++) {
        gf_error err;
        gf_buffer packed = {0};
        uint64_t n;
        make_bomb(filters[i], '\n', 100 * MIB, 1, &packed);
        gf_input_bounds bounds = {.max_unpacked = 0};
        assert_status(GF_ELIMIT, read_all("bomb", gf_buffer_view(&packed), &bounds, &n, &err));
        assert_non_null(strstr(err.message, "bomb: more comes out of it than 1,000 times"));
        assert_non_null(strstr(err.message, "--max-unpacked SIZE"));
        assert_in_range(n, 64 * MIB, 64 * MIB + 1000 * packed.len + 4 * MIB);
        assert_false(bounds.damaged);
        bounds.max_unpacked = 100 * MIB;
        assert_ok(read_all("bomb", gf_buffer_view(&packed), &bounds, &n, &err));
        assert_int_equal(n, 100 * MIB);
        bounds.max_unpacked--;
        assert_status(GF_ELIMIT, read_all("bomb", gf_buffer_view(&packed), &bounds, &n, &err));
        gf_buffer_release(&packed);
    }
}

/* gzip of gzip of gzip: each of them is under the bound, all of them are not. */
static void bounds_layers_together(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer packed = {0};
    uint64_t n;
    make_bomb("gzip", '\n', 100 * MIB, 3, &packed);
    gf_input_bounds bounds = {.layers = 3};
    assert_status(GF_ELIMIT, read_all("bomb", gf_buffer_view(&packed), &bounds, &n, &err));
    assert_in_range(n, 1, 64 * MIB + 1000 * packed.len + 4 * MIB);
    bounds.max_unpacked = 120 * MIB;
    assert_ok(read_all("bomb", gf_buffer_view(&packed), &bounds, &n, &err));
    assert_int_equal(n, 100 * MIB);
    gf_buffer_release(&packed);
}

/* Members that nobody reads are passed over, and count all the same. */
static void bounds_what_is_passed_over(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer zeros = {0}, packed = {0};
    uint64_t n;
    make_bomb("zstd", '\0', 100 * MIB, 0, &zeros);
    archive_member members[] = {{".hidden", gf_buffer_view(&zeros), A_FILE},
                                {"a.txt", GF_SLICE("text"), A_FILE}};
    make_archive("pax", "zstd", members, 2, &packed);
    assert_status(GF_ELIMIT, read_all("bomb", gf_buffer_view(&packed), NULL, &n, &err));
    gf_input_bounds bounds = {.max_unpacked = 120 * MIB};
    assert_ok(read_all("bomb", gf_buffer_view(&packed), &bounds, &n, &err));
    assert_int_equal(n, 4);
    gf_buffer_release(&zeros);
    gf_buffer_release(&packed);
}

/* Nothing comes out of empty gzip members, however many there are. */
static void make_empty_members(size_t n, gf_buffer *out)
{
    gf_buffer one = {0}, all = {0};
    compress_bytes("gzip", GF_SLICE(""), &one);
    for (size_t i = 0; i < n; i++)
        gf_buffer_slice(&all, gf_buffer_view(&one));
    compress_bytes("gzip", gf_buffer_view(&all), out);
    gf_buffer_release(&one);
    gf_buffer_release(&all);
}

static void ends_for_callers_that_have_gone(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer newlines = {0}, nothing = {0};
    uint64_t n, all;
    make_bomb("gzip", '\n', 64 * MIB, 1, &newlines);
    make_empty_members(MIB, &nothing);
    const gf_slice streams[] = {gf_buffer_view(&newlines), gf_buffer_view(&nothing)};
    for (int i = 0; i < 2; i++) {
        gf_input_bounds bounds = {.layers = 2};
        goes_at = UINT64_MAX;
        assert_ok(read_all("a", streams[i], &bounds, &n, &err));
        all = asked;
        assert_in_range(all, 200, UINT64_MAX); /* for each window, not for each stream */
        goes_at = all / 2;
        assert_status(GF_ECANCELLED, read_all("a", streams[i], &bounds, &n, &err));
        assert_in_range(asked, goes_at, goes_at + 2);
        goes_at = 0;
    }
    gf_buffer_release(&newlines);
    gf_buffer_release(&nothing);
}

/* Records of nothing but white space are passed over inside one call. */
static void cancels_between_records(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        char byte;
    } inputs[] = {{"a.jsonl", '\n'}, {"a.json", ' '}, {"a.csv", '\n'},
                  {"a.csv", '"'},    {"a.tsv", '\n'}, {"a.tsv", 'x'},
                  {"a.json", '['},   {"a.json", '{'}, {"a.jsonl", ' '}};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        gf_error err;
        gf_buffer packed = {0};
        make_bomb("gzip", inputs[i].byte, 64 * MIB, 1, &packed);
        memory_stream stream = {inputs[i].name, gf_buffer_view(&packed), false};
        memory_input m = {.streams = &stream, .n = 1};
        gf_input input = memory_input_start(&m);
        gf_cancel cancel = {0};
        gf_input_bounds bounds = {.cancel = &cancel};
        gf_reader *reader;
        gf_record record;
        input.bounds = &bounds;
        input.gone = has_gone;
        asked = 0;
        goes_at = 100;
        assert_ok(gf_reader_open(&input, NULL, &reader, &err));
        gf_status st;
        while ((st = gf_reader_next(reader, &record, &err)) == GF_OK)
            ;
        if (st != GF_ECANCELLED)
            fail_msg("%s of %c: %s", inputs[i].name, inputs[i].byte, err.message);
        gf_reader_close(reader);
        goes_at = 0;
        gf_cancel_request(&cancel);
        input = memory_input_start(&m);
        input.bounds = &bounds;
        assert_ok(gf_reader_open(&input, NULL, &reader, &err));
        assert_status(GF_ECANCELLED, gf_reader_next(reader, &record, &err));
        gf_reader_close(reader);
        gf_buffer_release(&packed);
    }
}

static void tells_damage_of_the_input(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer packed = {0};
    uint64_t n;
    static const char *const filters[] = {"gzip", "zstd", "xz", "bzip2", "lz4"};
    for (size_t i = 0; i < 10; i++) {
        make_bomb(filters[i / 2], 'x', i % 2 ? MIB : 100, 1, &packed);
        gf_input_bounds bounds = {.damaged = false};
        assert_ok(read_all("a.gz", gf_buffer_view(&packed), &bounds, &n, &err));
        assert_false(bounds.damaged);
        for (size_t length = packed.len - 1; length > 12; length = length * 3 / 4) {
            bounds.damaged = false;
            gf_slice cut = gf_slice_of(packed.ptr, length);
            gf_status st = read_all("a.gz", cut, &bounds, &n, &err);
            if (st != GF_ECORRUPT || !bounds.damaged)
                fail_msg("%s of %zu bytes cut to %zu: %s, %d", filters[i / 2], packed.len, length,
                         gf_status_name(st), bounds.damaged);
        }
        gf_buffer_release(&packed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unpacks_one_layer_unless_told),
        cmocka_unit_test(unpacks_compressed_members),
        cmocka_unit_test(bounds_what_comes_out),
        cmocka_unit_test(bounds_layers_together),
        cmocka_unit_test(bounds_what_is_passed_over),
        cmocka_unit_test(ends_for_callers_that_have_gone),
        cmocka_unit_test(cancels_between_records),
        cmocka_unit_test(tells_damage_of_the_input),
    };
    return cmocka_run_group_tests_name("unpacked_bounds", tests, NULL, NULL);
}
