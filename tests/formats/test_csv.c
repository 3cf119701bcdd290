#include "support/test.h"

#include "base/json/writer.h"
#include "formats/text/csv.h"
#include "grouperfish/buffer.h"
#include "tests/formats/records.h"

static void reads_rows(void **state)
{
    (void)state;
    check_records("a.csv",
                  GF_SLICE("id,text,price,name\r\n"
                           "1,one,5,\"Smith, \"\"Bob\"\"\"\r\n"
                           "\r\n"
                           " \r\n"
                           "2,\"two\nlines\" , , padded\t\r\n"
                           "3,5\" disk,007,\"\""),
                  NULL,
                  "a.csv:2 id=\"1\" text=\"one\" price=\"5\" name=\"Smith, \\\"Bob\\\"\"\n"
                  "a.csv:5 id=\"2\" text=\"two\\nlines\" name=\"padded\"\n"
                  "a.csv:7 id=\"3\" text=\"5\\\" disk\" price=\"007\"\n");
}

static void the_header_decides_the_delimiter(void **state)
{
    (void)state;
    check_records("a.csv", GF_SLICE("id;text;\"a,b,c,d\"\n1;x,y;z\n"), NULL,
                  "a.csv:2 id=\"1\" text=\"x,y\" a,b,c,d=\"z\"\n");
    check_records("a.csv", GF_SLICE("id\ttext\n1\t\"x\ty\"\n"), NULL,
                  "a.csv:2 id=\"1\" text=\"x\\ty\"\n");
    check_records("a.csv", GF_SLICE("\xEF\xBB\xBFtext\nx;y,z\n"), NULL,
                  "a.csv:2 wrong_field_count (refused): 2 fields, not 1\n");
}

static void reads_lone_carriage_returns(void **state)
{
    (void)state;
    check_records("a.csv", GF_SLICE("id,text\r1,one\r2,\"t\rw\"\r"), NULL,
                  "a.csv:2 id=\"1\" text=\"one\"\na.csv:3 id=\"2\" text=\"t\\rw\"\n");
}

static void names_columns_without_a_name(void **state)
{
    (void)state;
    check_records("a.csv", GF_SLICE(",text,text,\n0,a,b,c\n1,a,,\n"), NULL,
                  "a.csv:2 id=hash text=\"a\" column1=\"0\" text.2=\"b\" column4=\"c\"\n"
                  "a.csv:3 id=hash text=\"a\" column1=\"1\"\n");
    check_records("a.csv", GF_SLICE("column2,,text\n0,a,b\n"), NULL,
                  "a.csv:2 id=hash text=\"b\" column2=\"0\" column2.2=\"a\"\n");
}

static void refuses_rows_of_another_length(void **state)
{
    (void)state;
    check_records("a.csv", GF_SLICE("id,text\n1\n2,b\n3,c,d\n\"4\nx\",d,\"e\n\"\n5,f\n"), NULL,
                  "a.csv:2 wrong_field_count (refused): 1 field, not 2\n"
                  "a.csv:3 id=\"2\" text=\"b\"\n"
                  "a.csv:4 wrong_field_count (refused): 3 fields, not 2\n"
                  "a.csv:5 wrong_field_count (refused): 3 fields, not 2\n"
                  "a.csv:8 id=\"5\" text=\"f\"\n");
}

static void refuses_an_open_quote(void **state)
{
    (void)state;
    check_records("a.csv", GF_SLICE("id,text\n1,a\n2,\"b\n3,c\n"), NULL,
                  "a.csv:2 id=\"1\" text=\"a\"\n"
                  "a.csv:3 broken_csv (refused): a quote that is opened here is never closed\n");
    check_records(
        "a.csv", GF_SLICE("id,\"text\n1,a\n"), NULL,
        "invalid: a.csv:1: the header cannot be read: a quote that is opened here is never "
        "closed\n");
}

static void speaks_of_empty_files(void **state)
{
    (void)state;
    check_records("a.csv", GF_SLICE(""), NULL, "a.csv:0 empty_file (skipped): the file is empty\n");
    check_records("a.csv", GF_SLICE("\r\n\r\n"), NULL,
                  "a.csv:0 empty_file (skipped): no row in it, at most a header\n");
    check_records("a.csv", GF_SLICE("id,text"), NULL,
                  "a.csv:0 empty_file (skipped): no row in it, at most a header\n");
}

static void replaces_what_is_no_character(void **state)
{
    (void)state;
    gf_reader_options as_utf8 = {.decoding = {.encoding = GF_SLICE("utf-8")}};
    check_records(
        "a.csv", GF_SLICE("id,text,caf\xE9\n1,\xC3,\xA4\n2,\xC3\xA4,\"\xFF\xFF\n\"\n"), &as_utf8,
        "a.csv:2 id=\"1\" text=\"\xEF\xBF\xBD\" caf\xEF\xBF\xBD=\"\xEF\xBF\xBD\" replaced=2\n"
        "a.csv:3 id=\"2\" text=\"\xC3\xA4\" caf\xEF\xBF\xBD=\"\xEF\xBF\xBD\xEF\xBF\xBD\\n\" "
        "replaced=2\n");
}

/* Rows written by the rules of RFC 4180 come back, whatever is in the cells. */
static void write_cell(gf_random *random, gf_buffer *csv, const gf_buffer *cell, char delimiter)
{
    bool plain = gf_random_below(random, 2) != 0;
    if (cell->len && (strchr(" \t", cell->ptr[0]) || strchr(" \t", cell->ptr[cell->len - 1])))
        plain = false;
    for (size_t i = 0; i < cell->len; i++)
        plain = plain && !strchr("\"\r\n", cell->ptr[i]) && cell->ptr[i] != delimiter;
    if (!plain) gf_buffer_byte(csv, '"');
    for (size_t i = 0; i < cell->len; i++) {
        if (cell->ptr[i] == '"') gf_buffer_byte(csv, '"');
        gf_buffer_byte(csv, cell->ptr[i]);
    }
    if (!plain) gf_buffer_byte(csv, '"');
}

static void check_written(gf_random *random, char delimiter, const char *line_end)
{
    enum { COLUMNS = 5 };
    gf_buffer csv = {0}, expected = {0}, cell = {0};
    int line = 2;
    gf_buffer_format(&csv, "id%ctext%cc3%cc4%cc5%s", delimiter, delimiter, delimiter, delimiter,
                     line_end);
    for (int row = 0; row < 100; row++) {
        int lines = 1;
        gf_buffer_format(&csv, "%d", row);
        gf_buffer_format(&expected, "a.csv:%d id=\"%d\"", line, row);
        for (int c = 1; c < COLUMNS; c++) {
            size_t n = (size_t)gf_random_below(random, 8) + (c == 1);
            gf_buffer_reset(&cell);
            for (size_t i = 0; i < n; i++) {
                char byte = "ab \",;\t\n\r\\"[gf_random_below(random, 10)];
                lines += byte == '\n';
                gf_buffer_byte(&cell, byte);
            }
            gf_buffer_byte(&csv, delimiter);
            write_cell(random, &csv, &cell, delimiter);
            if (n == 0) continue;
            gf_buffer_format(&expected, c == 1 ? " text=" : " c%d=", c + 1);
            gf_json_append_string(&expected, gf_buffer_view(&cell));
        }
        gf_buffer_byte(&expected, '\n');
        gf_buffer_str(&csv, line_end);
        line += lines;
    }
    check_records("a.csv", gf_buffer_view(&csv), NULL, gf_buffer_cstr(&expected));
    check_chunking("a.csv", gf_buffer_view(&csv), NULL);
    gf_buffer_release(&csv);
    gf_buffer_release(&expected);
    gf_buffer_release(&cell);
}

static void reads_what_was_written(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    for (int i = 0; i < 12; i++)
        check_written(&random, ",;\t"[i % 3], i % 2 ? "\r\n" : "\n");
}

/* Rows too long by a quoted cell, by blanks, by many cells: each ends where it should. */
static void goes_on_behind_long_rows(void **state)
{
    (void)state;
    static const char *const fillers[] = {"x", "\n", "\"\"", " ", "\r", "\"\" "};
    gf_reader_options options = {.max_document = 1000};
    for (size_t f = 0; f < sizeof fillers / sizeof *fillers; f++) {
        gf_buffer csv = {0}, expected = {0};
        gf_buffer_str(&csv, "id,text\n1,\"");
        for (int i = 0; i < 100000; i++)
            gf_buffer_str(&csv, fillers[f]);
        gf_buffer_str(&csv, "\" \n2,t\n3,\"");
        for (int i = 0; i < 100000; i++)
            gf_buffer_str(&csv, "\",\"");
        gf_buffer_str(&csv, "\"\n4,t\n");
        int lines = fillers[f][0] == '\n' ? 100000 : 0;
        gf_buffer_format(
            &expected,
            "a.csv:2 too_long (refused): longer than the limit of 1000 bytes (--max-document)\n"
            "a.csv:%d id=\"2\" text=\"t\"\n"
            "a.csv:%d too_long (refused): longer than the limit of 1000 bytes (--max-document)\n"
            "a.csv:%d id=\"4\" text=\"t\"\n",
            lines + 3, lines + 4, lines + 5);
        check_records("a.csv", gf_buffer_view(&csv), &options, gf_buffer_cstr(&expected));
        gf_buffer_release(&csv);
        gf_buffer_release(&expected);
    }
}

static void refuses_a_header_without_end(void **state)
{
    (void)state;
    gf_reader_options options = {.max_document = 1000};
    gf_buffer csv = {0};
    for (int i = 0; i < 70000; i++)
        gf_buffer_byte(&csv, ',');
    check_records("a.csv", gf_buffer_view(&csv), &options,
                  "invalid: a.csv:1: the header cannot be read: longer than the limit of 1000 "
                  "bytes (--max-document)\n");
    check_records("a.csv", gf_buffer_view(&csv), NULL,
                  "invalid: the header of a.csv has 70001 columns, more than 65536\n");
    gf_buffer_release(&csv);
}

#define MIXED                                                                                      \
    "id,text,price,name\r\n1,one,5,\"Smith, \"\"Bob\"\"\"\r\n\r\n2,\"two\nlines\",, padded \r\n"   \
    "\xFF,5\" disk,007,\"\"\n3,4\n,\"\",,\n\"un\"quoted,a,b,c"

static void survives_anything(void **state)
{
    (void)state;
    fuzz_records("a.csv", GF_SLICE(MIXED), NULL, 5000);
    check_chunking("a.csv", GF_SLICE(MIXED), NULL);
}

static void reports_failed_allocations(void **state)
{
    (void)state;
    sweep_records("a.csv", GF_SLICE(MIXED), NULL);
}

/* ---- plain rows ------------------------------------------------------------------------------ */

typedef struct reading {
    memory_input input;
    gf_buffer found; /* "source:number[cell][cell]-" with - for an absent cell, a line per row */
} reading;

static gf_status read_rows(void *context, gf_error *err)
{
    reading *r = context;
    gf_input input = memory_input_start(&r->input);
    gf_csv_reader *reader;
    gf_csv_row row;
    gf_buffer_reset(&r->found);
    gf_status st = gf_csv_reader_open(&input, 40, 5, NULL, &reader, err);
    if (st != GF_OK) return st;
    while ((st = gf_csv_reader_next(reader, &row, err)) == GF_OK) {
        gf_buffer_format(&r->found, "%.*s:%d", GF_SLICE_ARG(row.source), (int)row.number);
        for (size_t i = 0; i < row.n; i++) {
            if (row.cells[i].is_absent)
                gf_buffer_str(&r->found, "-");
            else
                gf_buffer_format(&r->found, "[%.*s]", GF_SLICE_ARG(row.cells[i].text));
        }
        gf_buffer_str(&r->found, "\n");
    }
    gf_csv_reader_close(reader);
    return st == GF_ENOTFOUND ? gf_buffer_check(&r->found, err) : st;
}

static const memory_stream sources[] = {
    {.name = "one",
     .bytes = GF_SLICE("\xEF\xBB\xBFid, a ,\"b\"\"\"\r\n\r\n1,,\"\"\n\t\n2,\"x\r\ny\",")},
    {.name = "none", .bytes = {"", 0}},
    {.name = "two", .bytes = GF_SLICE("a\rb\r\rc,")}};

static void gives_plain_rows(void **state)
{
    (void)state;
    gf_error err;
    reading r = {.input = {.streams = sources, .n = 3}};
    for (r.input.chunk = 0; r.input.chunk < 20; r.input.chunk++) {
        assert_ok(read_rows(&r, &err));
        assert_string_equal(gf_buffer_cstr(&r.found),
                            "one:1[id][ a ][b\"]\none:2[1]-[]\none:3[\t]\none:4[2][x\r\ny]-\n"
                            "two:1[a]\ntwo:2[b]\ntwo:3[c]-\n");
    }
    r.input.chunk = 0;
    gf_test_sweep(read_rows, NULL, &r);
    gf_buffer_release(&r.found);
}

static void refuses_rows_without_bounds(void **state)
{
    (void)state;
    static const struct {
        gf_slice bytes;
        gf_status status;
        const char *message;
    } cases[] = {{GF_SLICE("a,b\nc,\"d\n"), GF_EINVAL, "f: it ends within quotes"},
                 {GF_SLICE("a,b,c,d,e\n,,,,,\n"), GF_ELIMIT, "f: a row of more than 5 columns"},
                 {GF_SLICE("a\n0123456789012345678901234567890123456789\n"), GF_ELIMIT,
                  "f: row 2 has more than 40 bytes"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gf_error err;
        memory_stream stream = {.name = "f", .bytes = cases[i].bytes};
        reading r = {.input = {.streams = &stream, .n = 1}};
        assert_status(cases[i].status, read_rows(&r, &err));
        assert_string_equal(err.message, cases[i].message);
        gf_buffer_release(&r.found);
    }
}

static void writes_cells_that_read_back(void **state)
{
    (void)state;
    gf_error err;
    gf_buffer csv = {0};
    static const char *const cells[] = {"plain", "a,b", "\"q\"", "x\r\n", " "};
    for (size_t i = 0; i < 5; i++) {
        if (i) gf_buffer_byte(&csv, ',');
        gf_csv_write_cell(&csv, gf_slice_str(cells[i]), i == 4 ? GF_CSV_QUOTED : GF_CSV_AS_NEEDED);
    }
    assert_string_equal(gf_buffer_cstr(&csv), "plain,\"a,b\",\"\"\"q\"\"\",\"x\r\n\",\" \"");
    memory_stream stream = {.name = "f", .bytes = gf_buffer_view(&csv)};
    reading r = {.input = {.streams = &stream, .n = 1}};
    assert_ok(read_rows(&r, &err));
    assert_string_equal(gf_buffer_cstr(&r.found), "f:1[plain][a,b][\"q\"][x\r\n][ ]\n");
    gf_buffer_release(&r.found);
    gf_buffer_release(&csv);
}

static void defuses_formulas(void **state)
{
    (void)state;
    static const char *const formulas[] = {"=1+1", "+49 30", "-x",   "@a", "\tx",  "\rx",
                                           "\n",   " =1",    "\t-a", "-",  "-1-1", "+1e"};
    static const char *const plain[] = {"",     " ",      "a",   "1",   "-1",
                                        "-1.5", "-1.5e3", "a=b", "'=1", "#N/A"};
    gf_buffer csv = {0};
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++)
        assert_true(gf_csv_is_formula(gf_slice_str(formulas[i])));
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        assert_false(gf_csv_is_formula(gf_slice_str(plain[i])));
    assert_false(gf_csv_is_formula(GF_SLICE("\0=1")));
    gf_csv_write_cell(&csv, GF_SLICE("=\"a\""), GF_CSV_SPREADSHEET);
    gf_csv_write_cell(&csv, GF_SLICE("=\"a\""), GF_CSV_AS_NEEDED);
    gf_csv_write_cell(&csv, GF_SLICE("=a"), GF_CSV_AS_NEEDED);
    gf_csv_write_cell(&csv, GF_SLICE("a"), GF_CSV_SPREADSHEET | GF_CSV_QUOTED);
    assert_slice(gf_buffer_view(&csv), "\"'=\"\"a\"\"\"\"=\"\"a\"\"\"=a\"a\"");
    gf_buffer_release(&csv);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_rows),
        cmocka_unit_test(the_header_decides_the_delimiter),
        cmocka_unit_test(reads_lone_carriage_returns),
        cmocka_unit_test(names_columns_without_a_name),
        cmocka_unit_test(refuses_rows_of_another_length),
        cmocka_unit_test(refuses_an_open_quote),
        cmocka_unit_test(speaks_of_empty_files),
        cmocka_unit_test(replaces_what_is_no_character),
        cmocka_unit_test(reads_what_was_written),
        cmocka_unit_test(goes_on_behind_long_rows),
        cmocka_unit_test(refuses_a_header_without_end),
        cmocka_unit_test(survives_anything),
        cmocka_unit_test(reports_failed_allocations),
        cmocka_unit_test(gives_plain_rows),
        cmocka_unit_test(refuses_rows_without_bounds),
        cmocka_unit_test(writes_cells_that_read_back),
        cmocka_unit_test(defuses_formulas),
    };
    return cmocka_run_group_tests_name("csv", tests, NULL, NULL);
}
