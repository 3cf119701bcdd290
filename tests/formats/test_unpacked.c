#include "support/test.h"

#include "formats/bytes/unpacked.h"
#include "tests/formats/archive.h"
#include "tests/formats/records.h"

#include <stdlib.h>

static const char *const filters[] = {"gzip", "zstd", "xz", "bzip2", "lz4"};
enum { N_FILTERS = sizeof filters / sizeof *filters };

/* The streams of an input, as lines "name|path|member|bytes". */
static gf_status list_streams(memory_input *m, gf_buffer *out, gf_error *err)
{
    gf_input input = memory_input_start(m);
    gf_unpacked *s = NULL;
    gf_slice bytes;
    gf_status st = gf_unpacked_open(&input, &s, err);
    while (st == GF_OK) {
        st = gf_unpacked_next(s, err);
        if (st != GF_OK) break;
        st = gf_read_buffer_peek(gf_unpacked_buffer(s), 1 << 20, &bytes, err);
        if (st != GF_OK) break;
        gf_buffer_format(out, "%.*s|%.*s|%s|%.*s\n", GF_SLICE_ARG(gf_unpacked_name(s)),
                         GF_SLICE_ARG(gf_unpacked_path(s)),
                         gf_unpacked_is_member(s) ? "member" : "file", GF_SLICE_ARG(bytes));
    }
    gf_unpacked_close(s);
    return st == GF_ENOTFOUND ? gf_buffer_check(out, err) : st;
}

static void check_stream(const char *name, gf_slice bytes, bool in_folder, const char *expected)
{
    gf_error err;
    memory_stream stream = {name, bytes, in_folder};
    for (size_t chunk = 0; chunk < 3; chunk++) {
        memory_input m = {.streams = &stream, .n = 1, .chunk = chunk * chunk * 50};
        gf_buffer out = {0};
        assert_ok(list_streams(&m, &out, &err));
        assert_string_equal(gf_buffer_cstr(&out), expected);
        gf_buffer_release(&out);
    }
}

static void gives_plain_bytes_as_they_are(void **state)
{
    (void)state;
    check_stream("a.txt", GF_SLICE("hello"), false, "a.txt|a.txt|file|hello\n");
    check_stream("d/a.txt", GF_SLICE("hello"), true, "d/a.txt|d/a.txt|member|hello\n");
    check_stream("empty", GF_SLICE(""), false, "empty|empty|file|\n");
    check_stream("bad\xFF.txt", GF_SLICE("x"), false,
                 "bad\xEF\xBF\xBD.txt|bad\xEF\xBF\xBD.txt|file|x\n");
}

static void decompresses(void **state)
{
    (void)state;
    for (int i = 0; i < N_FILTERS; i++) {
        gf_buffer packed = {0};
        compress_bytes(filters[i], GF_SLICE("hello"), &packed);
        check_stream("a.x", gf_buffer_view(&packed), false, "a.x|a.x|file|hello\n");
        gf_buffer_reset(&packed);
        if (strcmp(filters[i], "lz4") == 0) /* libarchive's writer crashes without input */
            gf_buffer_append(&packed, "\x04\x22\x4D\x18\x64\x40\xA7\0\0\0\0\x05\x5D\xCC\x02", 15);
        else
            compress_bytes(filters[i], GF_SLICE(""), &packed);
        check_stream("a.x", gf_buffer_view(&packed), false, "a.x|a.x|file|\n");
        gf_buffer_release(&packed);
    }
}

static const archive_member tree[] = {
    {"./notes", GF_SLICE(""), A_FOLDER},
    {"./notes/a.txt", GF_SLICE("first"), A_FILE},
    {"notes/.hidden", GF_SLICE("no"), A_FILE},
    {".git/config", GF_SLICE("no"), A_FILE},
    {"notes/link", GF_SLICE("a.txt"), A_SYMLINK},
    {"notes/hard", GF_SLICE("./notes/a.txt"), A_HARDLINK},
    {"notes/\xC3\xA4.txt", GF_SLICE("second"), A_FILE},
    {"/empty.txt", GF_SLICE(""), A_FILE},
};

static void walks_archives(void **state)
{
    (void)state;
    static const char *const formats[] = {"pax", "gnutar"};
    for (int f = 0; f < 2; f++)
        for (int i = -1; i < N_FILTERS; i++) {
            gf_buffer tar = {0};
            make_archive(formats[f], i < 0 ? NULL : filters[i], tree, 8, &tar);
            check_stream("a.x", gf_buffer_view(&tar), false,
                         "a.x/notes/a.txt|notes/a.txt|member|first\n"
                         "a.x/notes/\xC3\xA4.txt|notes/\xC3\xA4.txt|member|second\n"
                         "a.x/empty.txt|empty.txt|member|\n");
            gf_buffer_release(&tar);
        }
}

static void walks_zip(void **state)
{
    (void)state;
    static const archive_member members[] = {
        {"d/", GF_SLICE(""), A_FOLDER},
        {"d/\xE6\x97\xA5.txt", GF_SLICE("text"), A_FILE},
        {"__MACOSX/d/._a.txt", GF_SLICE("no"), A_FILE},
        {"b.txt", GF_SLICE("more"), A_FILE},
    };
    gf_buffer zip = {0};
    make_archive("zip", NULL, members, 4, &zip);
    check_stream("a.zip", gf_buffer_view(&zip), false,
                 "a.zip/d/\xE6\x97\xA5.txt|d/\xE6\x97\xA5.txt|member|text\n"
                 "a.zip/b.txt|b.txt|member|more\n");
    check_stream("request", gf_buffer_view(&zip), false,
                 "request/d/\xE6\x97\xA5.txt|d/\xE6\x97\xA5.txt|member|text\n"
                 "request/b.txt|b.txt|member|more\n");
    check_stream("x/a.zip", gf_buffer_view(&zip), true,
                 "x/a.zip/d/\xE6\x97\xA5.txt|x/a.zip/d/\xE6\x97\xA5.txt|member|text\n"
                 "x/a.zip/b.txt|x/a.zip/b.txt|member|more\n");
    gf_buffer_release(&zip);
}

/* A word processor's file is a zip, but not one to look into. */
static void leaves_office_files_closed(void **state)
{
    (void)state;
    gf_error err;
    static const archive_member member = {"word/document.xml", GF_SLICE("<w/>"), A_FILE};
    gf_buffer zip = {0}, out = {0};
    make_archive("zip", NULL, &member, 1, &zip);
    memory_stream stream = {"report.docx", gf_buffer_view(&zip), true};
    memory_input m = {.streams = &stream, .n = 1};
    assert_ok(list_streams(&m, &out, &err));
    assert_true(
        gf_slice_starts(gf_buffer_view(&out), GF_SLICE("report.docx|report.docx|member|PK")));
    gf_buffer_release(&zip);
    gf_buffer_release(&out);
}

static void walks_archives_in_archives(void **state)
{
    (void)state;
    gf_buffer lines = {0}, inner = {0}, outer = {0};
    compress_bytes("gzip", GF_SLICE("deep"), &lines);
    archive_member in_zip[] = {{"x.txt.gz", gf_buffer_view(&lines), A_FILE},
                               {"y.txt", GF_SLICE("shallow"), A_FILE}};
    make_archive("zip", NULL, in_zip, 2, &inner);
    archive_member in_tar[] = {{"in.zip", gf_buffer_view(&inner), A_FILE},
                               {"z.txt", GF_SLICE("last"), A_FILE}};
    make_archive("pax", "zstd", in_tar, 2, &outer);
    check_stream("out.tar.zst", gf_buffer_view(&outer), false,
                 "out.tar.zst/in.zip/x.txt.gz|in.zip/x.txt.gz|member|deep\n"
                 "out.tar.zst/in.zip/y.txt|in.zip/y.txt|member|shallow\n"
                 "out.tar.zst/z.txt|z.txt|member|last\n");
    gf_buffer_release(&lines);
    gf_buffer_release(&inner);
    gf_buffer_release(&outer);
}

/* Archives in archives without end are opened four deep; then the bytes are given as they are. */
static void ends_at_a_depth(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer packed = {0}, again = {0}, out = {0};
    gf_buffer_str(&packed, "x");
    for (int i = 0; i < 50; i++) {
        gf_buffer_reset(&again);
        archive_member member = {"a", gf_buffer_view(&packed), A_FILE};
        make_archive("pax", "gzip", &member, 1, &again);
        gf_buffer swap = packed;
        packed = again;
        again = swap;
    }
    memory_stream stream = {"bomb", gf_buffer_view(&packed), false};
    memory_input m = {.streams = &stream, .n = 1};
    assert_ok(list_streams(&m, &out, &err));
    assert_true(
        gf_slice_starts(gf_buffer_view(&out), GF_SLICE("bomb/a/a/a/a|a/a/a/a|member|\x1F\x8B")));
    gf_buffer_release(&packed);
    gf_buffer_release(&again);
    gf_buffer_release(&out);
}

static void speaks_of_empty_archives(void **state)
{
    (void)state;
    static const archive_member folder = {"d", GF_SLICE(""), A_FOLDER};
    gf_buffer tar = {0};
    make_archive("pax", "gzip", &folder, 1, &tar);
    check_stream("a.tgz", gf_buffer_view(&tar), false, "a.tgz|a.tgz|file|\n");
    gf_buffer_release(&tar);
}

static void goes_on_without_reading_to_the_end(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer tar = {0};
    make_archive("pax", "gzip", tree, 8, &tar);
    memory_stream streams[] = {{"a", gf_buffer_view(&tar), false}, {"b", GF_SLICE("text"), false}};
    memory_input m = {.streams = streams, .n = 2, .chunk = 10};
    gf_input input = memory_input_start(&m);
    gf_unpacked *s;
    assert_ok(gf_unpacked_open(&input, &s, &err));
    static const char *const names[] = {"a/notes/a.txt", "a/notes/\xC3\xA4.txt", "a/empty.txt",
                                        "b"};
    for (size_t i = 0; i < 4; i++) {
        assert_ok(gf_unpacked_next(s, &err));
        assert_slice(gf_unpacked_name(s), names[i]);
    }
    assert_status(GF_ENOTFOUND, gf_unpacked_next(s, &err));
    gf_unpacked_close(s);
    gf_buffer_release(&tar);
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* Lines that do not compress well, so that a cut is far from the start of what was read. */
static void noisy_lines(gf_buffer *out, int n)
{
    gf_random random = gf_random_seed(7, 0);
    for (int i = 0; i < n; i++)
        gf_buffer_format(out, "{\"id\":%d,\"text\":\"%016llx%016llx\"}\n", i,
                         (unsigned long long)gf_random_u64(&random),
                         (unsigned long long)gf_random_u64(&random));
}

/* Records before the damage are delivered; then the error names the file and says why. */
static void check_cut(const char *name, gf_slice packed, size_t at_least)
{
    memory_stream stream = {name, packed, false};
    memory_input m = {.streams = &stream, .n = 1};
    gf_input input = memory_input_start(&m);
    gf_error err;
    gf_reader *reader;
    gf_record record;
    gf_status st;
    size_t n = 0;
    assert_ok(gf_reader_open(&input, NULL, &reader, &err));
    while ((st = gf_reader_next(reader, &record, &err)) == GF_OK) {
        assert_int_equal(record.kind, GF_RECORD_DOCUMENT);
        char id[20];
        snprintf(id, sizeof id, "%zu", n++);
        assert_slice(record.document.id, id);
    }
    if (st != GF_ECORRUPT) fail_msg("%s: %s after %zu records", name, gf_status_name(st), n);
    assert_non_null(strstr(err.message, name));
    assert_non_null(strstr(err.message, " further: "));
    if (n < at_least) fail_msg("%s: only %zu records before the damage", name, n);
    gf_reader_close(reader);
}

static void tells_of_cut_archives(void **state)
{
    (void)state;
    gf_buffer lines = {0};
    noisy_lines(&lines, 100000);
    for (int i = 0; i < N_FILTERS; i++) {
        gf_buffer packed = {0};
        compress_bytes(filters[i], gf_buffer_view(&lines), &packed);
        check_cut("cut.jsonl.x", gf_slice_of(packed.ptr, packed.len * 9 / 10),
                  strcmp(filters[i], "lz4") ? 75000 : 30000); /* lz4 has blocks of 4 MB */
        gf_buffer_release(&packed);
    }
    archive_member member = {"m.jsonl", gf_buffer_view(&lines), A_FILE};
    gf_buffer tar = {0}, zip = {0};
    make_archive("pax", NULL, &member, 1, &tar);
    check_cut("cut.tar", gf_slice_of(tar.ptr, tar.len / 2), 45000);
    make_archive("zip", NULL, &member, 1, &zip);
    check_cut("cut.zip", gf_slice_of(zip.ptr, zip.len / 2), 40000);
    gf_buffer_release(&tar);
    gf_buffer_release(&zip);
    gf_buffer_release(&lines);
}

static void survives_damaged_archives(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_buffer lines = {0};
    noisy_lines(&lines, 200);
    archive_member members[] = {{"m.jsonl", gf_buffer_view(&lines), A_FILE},
                                {"n.txt", gf_buffer_view(&lines), A_FILE}};
    for (int i = 0; i < 2 * (N_FILTERS + 1); i++) {
        gf_buffer packed = {0}, out = {0};
        const char *filter = i / 2 < N_FILTERS ? filters[i / 2] : NULL;
        if (i % 2 && filter)
            compress_bytes(filter, gf_buffer_view(&lines), &packed);
        else
            make_archive(i % 2 ? "zip" : "pax", filter, members, 2, &packed);
        for (int j = 0; j < 30; j++) {
            size_t at = (size_t)gf_random_below(&random, packed.len);
            char before = packed.ptr[at];
            packed.ptr[at] = (char)gf_random_below(&random, 256);
            memory_stream stream = {"a.zip", gf_buffer_view(&packed), true};
            memory_input m = {.streams = &stream, .n = 1, .chunk = 1000};
            gf_input input = memory_input_start(&m);
            gf_buffer_reset(&out);
            list_records(&input, NULL, false, &out, NULL);
            packed.ptr[at] = before;
        }
        gf_buffer_release(&packed);
        gf_buffer_release(&out);
    }
    gf_buffer_release(&lines);
}

static void passes_the_inputs_failure_on(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer lines = {0}, packed = {0}, out = {0};
    noisy_lines(&lines, 2000);
    compress_bytes("gzip", gf_buffer_view(&lines), &packed);
    memory_stream stream = {"a.jsonl.gz", gf_buffer_view(&packed), false};
    memory_input m = {.streams = &stream, .n = 1, .chunk = 1000, .fail_at = 10000};
    gf_input input = memory_input_start(&m);
    assert_status(GF_EIO, list_records(&input, NULL, false, &out, &err));
    assert_string_equal(err.message, "the disk is on fire");
    gf_buffer_release(&lines);
    gf_buffer_release(&packed);
    gf_buffer_release(&out);
}

static gf_status list_nested(void *context, gf_error *err)
{
    memory_stream stream = {"a.tar.gz", *(gf_slice *)context, false};
    memory_input m = {.streams = &stream, .n = 1, .chunk = 500};
    gf_buffer out = {0};
    gf_status st = list_streams(&m, &out, err);
    gf_buffer_release(&out);
    return st;
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    gf_buffer tar = {0};
    make_archive("pax", "gzip", tree, 8, &tar);
    gf_slice bytes = gf_buffer_view(&tar);
    gf_test_sweep(list_nested, NULL, &bytes);
    gf_buffer_release(&tar);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_plain_bytes_as_they_are),
        cmocka_unit_test(decompresses),
        cmocka_unit_test(walks_archives),
        cmocka_unit_test(walks_zip),
        cmocka_unit_test(leaves_office_files_closed),
        cmocka_unit_test(walks_archives_in_archives),
        cmocka_unit_test(ends_at_a_depth),
        cmocka_unit_test(speaks_of_empty_archives),
        cmocka_unit_test(goes_on_without_reading_to_the_end),
        cmocka_unit_test(tells_of_cut_archives),
        cmocka_unit_test(survives_damaged_archives),
        cmocka_unit_test(passes_the_inputs_failure_on),
        cmocka_unit_test(reports_failed_allocations),
    };
    return cmocka_run_group_tests_name("unpacked", tests, NULL, NULL);
}
