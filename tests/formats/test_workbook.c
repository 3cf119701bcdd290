#include "support/test.h"

#include "base/random.h"
#include "formats/workbook/workbook_cell.h"
#include "tests/formats/archive.h"
#include "tests/formats/records.h"

#include <stdio.h>

#define XML      "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
#define MAIN     "xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\""
#define DOCUMENT "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
#define WORKBOOK(properties, sheets)                                                               \
    XML "<workbook " MAIN " xmlns:r=\"" DOCUMENT "\">" properties "<sheets>" sheets                \
        "</sheets></workbook>"
#define SHEET(name, id) "<sheet name=\"" name "\" sheetId=\"7\" r:id=\"" id "\"/>"
#define RELATIONS                                                                                  \
    XML "<Relationships><Relationship Id=\"rId9\" Type=\"" DOCUMENT                                \
        "/styles\" Target=\"styles.xml\"/>"                                                        \
        "<Relationship Id=\"rId1\" Type=\"" DOCUMENT                                               \
        "/worksheet\" Target=\"worksheets/sheet1.xml\"/>"                                          \
        "<Relationship Id=\"rId2\" Type=\"" DOCUMENT                                               \
        "/worksheet\" Target=\"/xl/worksheets/sheet2.xml\"/></Relationships>"
#define ROWS(rows) XML "<worksheet " MAIN "><sheetData>" rows "</sheetData></worksheet>"
#define HEADER                                                                                     \
    "<row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c><c r=\"B1\" t=\"s\"><v>1</v></c>"                \
    "<c r=\"C1\" t=\"inlineStr\"><is><t>at</t></is></c></row>"
#define STRINGS(items) XML "<sst " MAIN " count=\"3\">" items "</sst>"
#define USUAL_STRINGS                                                                              \
    STRINGS("<si><t>id</t></si><si><r><rPr/><t>te</t></r><r><t>xt</t></r><rPh><t>no</t></rPh>"     \
            "</si><si><t xml:space=\"preserve\"> Größe &amp;_x000D_\n2 </t></si>")
/* Style 1 is a date, 2 a moment, 3 a time, 4 a date by a code of its own, 5 none by such a code. */
#define STYLES                                                                                     \
    XML "<styleSheet " MAIN                                                                        \
        "><numFmts><numFmt numFmtId=\"164\" formatCode=\"[$-407]d/\\m/yy;@\"/>"                    \
        "<numFmt numFmtId=\"165\" formatCode=\"0.0 &quot;days&quot;\"/></numFmts>"                 \
        "<cellStyleXfs><xf numFmtId=\"14\"/></cellStyleXfs><cellXfs><xf numFmtId=\"0\"/>"          \
        "<xf numFmtId=\"14\"/><xf numFmtId=\"22\"/><xf numFmtId=\"21\"/><xf numFmtId=\"164\"/>"    \
        "<xf numFmtId=\"165\"/></cellXfs></styleSheet>"

typedef struct parts {
    const char *workbook, *relations, *sheet, *second, *styles, *strings; /* NULL: the usual ones */
} parts;

static gf_slice part_or(const char *part, const char *usual)
{
    return gf_slice_str(part ? part : usual);
}

/* As Excel orders them: the texts come behind the sheets. */
static void make_workbook(const parts *p, gf_buffer *out)
{
    const archive_member members[] = {
        {"[Content_Types].xml", GF_SLICE("<Types/>"), A_FILE},
        {"xl/workbook.xml", part_or(p->workbook, WORKBOOK("", SHEET("One", "rId1"))), A_FILE},
        {"xl/_rels/workbook.xml.rels", part_or(p->relations, RELATIONS), A_FILE},
        {"xl/worksheets/sheet1.xml", part_or(p->sheet, ROWS(HEADER)), A_FILE},
        {"xl/worksheets/sheet2.xml", part_or(p->second, ROWS(HEADER)), A_FILE},
        {"xl/styles.xml", part_or(p->styles, STYLES), A_FILE},
        {"xl/sharedStrings.xml", part_or(p->strings, USUAL_STRINGS), A_FILE}};
    gf_buffer_reset(out);
    make_archive("zip", NULL, members, sizeof members / sizeof *members, out);
}

static void check_workbook(const parts *p, const gf_reader_options *options, const char *expected)
{
    gf_buffer book = {0};
    make_workbook(p, &book);
    check_records("a.xlsx", gf_buffer_view(&book), options, expected);
    gf_buffer_release(&book);
}

/* ---- cells ----------------------------------------------------------------------------------- */

static void check_number(const char *number, unsigned format, bool from_1904, const char *expected)
{
    gf_buffer b = {0};
    gf_workbook_cell_append_number(&b, gf_slice_str(number), format, from_1904);
    assert_string_equal(gf_buffer_cstr(&b), expected);
    gf_buffer_release(&b);
}

static void writes_numbers_as_spreadsheets_do(void **state)
{
    (void)state;
    check_number("42", 0, false, "42");
    check_number("-7", 0, false, "-7");
    check_number("007", 0, false, "007");
    check_number("1042.0", 0, false, "1042");
    check_number("1.1000000000000001", 0, false, "1.1");
    check_number("1E3", 0, false, "1000");
    check_number("0.25", 0, false, "0.25");
    check_number("123456789012345678", 0, false, "123456789012345680");
    check_number("none", 0, false, "none");
    check_number("none", GF_WORKBOOK_DATE, false, "none");
}

/* The serials of the years are those that Excel and LibreOffice show. */
static void counts_days_as_spreadsheets_do(void **state)
{
    (void)state;
    const unsigned moment = GF_WORKBOOK_DATE | GF_WORKBOOK_TIME;
    check_number("1", GF_WORKBOOK_DATE, false, "1900-01-01");
    check_number("59", GF_WORKBOOK_DATE, false, "1900-02-28");
    check_number("61", GF_WORKBOOK_DATE, false, "1900-03-01");
    check_number("42056", GF_WORKBOOK_DATE, false, "2015-02-21");
    check_number("40594", GF_WORKBOOK_DATE, true, "2015-02-21");
    check_number("0", GF_WORKBOOK_DATE, true, "1904-01-01");
    check_number("42056", moment, false, "2015-02-21T00:00:00");
    check_number("42056.573263888889", moment, false, "2015-02-21T13:45:30");
    check_number("42056.573263888889", GF_WORKBOOK_DATE, false, "2015-02-21T13:45:30");
    check_number("42056.573269675928", moment, false, "2015-02-21T13:45:30.500");
    check_number("42055.99999999999999", moment, false, "2015-02-21T00:00:00");
    check_number("0.5", GF_WORKBOOK_TIME, false, "12:00:00");
    check_number("2958465", GF_WORKBOOK_DATE, false, "9999-12-31");
    check_number("2958466", GF_WORKBOOK_DATE, false, "2958466");
    check_number("2957003", GF_WORKBOOK_DATE, true, "9999-12-31");
    check_number("2957004", GF_WORKBOOK_DATE, true, "2957004");
    check_number("2958465.9999999999", GF_WORKBOOK_DATE, false, "2958466");
    check_number("-1", GF_WORKBOOK_DATE, false, "-1");
    check_number("1e300", GF_WORKBOOK_DATE, false, "1e+300");
}

static void tells_dates_by_their_formats(void **state)
{
    (void)state;
    static const struct {
        const char *code;
        unsigned format;
    } codes[] = {
        {"General", 0},
        {"0.00", 0},
        {"#,##0.00 \"dm\"", 0},
        {"0\\d", 0},
        {"@", 0},
        {"", 0},
        {"[Red]0.00;[Blue]yyyy", 0},
        {"[h]:mm:ss", 0},
        {"[mm]:ss", 0},
        {"\"d", 0},
        {"[d", 0},
        {"yyyy\\-mm\\-dd", GF_WORKBOOK_DATE},
        {"mmmm", GF_WORKBOOK_DATE},
        {"mmm\\ yy", GF_WORKBOOK_DATE},
        {"[$-409]mmmm\\ d\\,\\ yyyy;@", GF_WORKBOOK_DATE},
        {"dddd", GF_WORKBOOK_DATE},
        {"h:mm AM/PM", GF_WORKBOOK_TIME},
        {"mm:ss.0", GF_WORKBOOK_TIME},
        {"d/m/yyyy h:mm", GF_WORKBOOK_DATE | GF_WORKBOOK_TIME},
        {"\"at\" hh", GF_WORKBOOK_TIME},
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (gf_workbook_cell_format_of_code(gf_slice_str(codes[i].code)) != codes[i].format)
            fail_msg("%s is not %u", codes[i].code, codes[i].format);
    assert_int_equal(gf_workbook_cell_format_of_number(0), 0);
    assert_int_equal(gf_workbook_cell_format_of_number(14), GF_WORKBOOK_DATE);
    assert_int_equal(gf_workbook_cell_format_of_number(46), 0);
    assert_int_equal(gf_workbook_cell_format_of_number(49), 0);
}

static void undoes_escaped_units(void **state)
{
    (void)state;
    gf_buffer b = {0};
    gf_workbook_cell_append_text(
        &b, GF_SLICE("a_x000D_b_x005F_x000D_ _xD83D__xDE00_ _xD83D_ _x12_ _x"));
    assert_string_equal(gf_buffer_cstr(&b), "a\rb_x000D_ \xF0\x9F\x98\x80 \xEF\xBF\xBD _x12_ _x");
    gf_buffer_release(&b);
}

/* ---- sheets ---------------------------------------------------------------------------------- */

#define VALUES                                                                                     \
    HEADER "<row r=\"2\"/>"                                                                        \
           "<row r=\"3\" spans=\"1:3\"><c r=\"A3\"><v>1</v></c><c r=\"B3\" t=\"s\"><v>2</v></c>"   \
           "<c r=\"C3\" s=\"1\"><v>42056</v></c></row>"                                            \
           "<row r=\"5\"><c r=\"A5\" s=\"3\"><v>0.25</v></c><c r=\"B5\" t=\"inlineStr\"><is><r>"   \
           "<t>in</t></r><r><t>line</t></r></is></c><c r=\"C5\" s=\"4\"><v>42056.5</v></c></row>"  \
           "<row r=\"6\"><c r=\"A6\" s=\"5\"><v>2.5</v></c><c r=\"B6\" t=\"str\"><f>A1&amp;B1</f>" \
           "<v>idtext</v></c><c r=\"C6\" t=\"e\"><v>#N/A</v></c><c r=\"D6\" s=\"1\"/></row>"       \
           "<row><c><v>4</v></c><c t=\"b\"><v>1</v></c><c t=\"d\"><v>2015-02-21</v></c></row>"     \
           "<row r=\"9\"><c r=\"B9\" t=\"inlineStr\"><is><t>no id</t></is></c></row>"              \
           "<row r=\"10\"><c r=\"A10\"><v>6</v></c><c r=\"D10\"><v>7</v></c></row>"                \
           "<row r=\"11\"><c r=\"A11\"><v>8</v></c></row>"
static const char values[] = "a.xlsx:3 id=\"1\" text=\" Größe &\\r\\n2 \" at=\"2015-02-21\"\n"
                             "a.xlsx:5 id=\"06:00:00\" text=\"inline\" at=\"2015-02-21T12:00:00\"\n"
                             "a.xlsx:6 id=\"2.5\" text=\"idtext\"\n"
                             "a.xlsx:7 id=\"4\" text=\"TRUE\" at=\"2015-02-21\"\n"
                             "a.xlsx:9 id=hash text=\"no id\"\n"
                             "a.xlsx:10 wrong_field_count (refused): 4 fields, not 3\n"
                             "a.xlsx:11 no_text (refused): no text in field \"text\"\n";

static void reads_values_of_all_types(void **state)
{
    (void)state;
    check_workbook(&(parts){.sheet = ROWS(VALUES)}, NULL, values);
    check_workbook(
        &(parts){.workbook = WORKBOOK("<workbookPr date1904=\"1\"/>", SHEET("One", "rId1")),
                 .sheet = ROWS(HEADER "<row r=\"2\"><c r=\"B2\" t=\"b\"><v>0</v></c>"
                                      "<c r=\"C2\" s=\"2\"><v>40594.75</v></c></row>")},
        NULL, "a.xlsx:2 id=hash text=\"FALSE\" at=\"2015-02-21T18:00:00\"\n");
}

/* The time of a document, in whatever order the bytes come. */
static void reads_the_same_however_it_comes(void **state)
{
    (void)state;
    gf_buffer book = {0}, zip = {0};
    make_workbook(&(parts){.sheet = ROWS(VALUES)}, &book);
    check_chunking("a.xlsx", gf_buffer_view(&book), NULL);
    check_records("body", gf_buffer_view(&book), &(gf_reader_options){.time = GF_SLICE("at")},
                  "body:3 id=\"1\" text=\" Größe &\\r\\n2 \" time=\"2015-02-21\"\n"
                  "body:5 id=\"06:00:00\" text=\"inline\" time=\"2015-02-21T12:00:00\"\n"
                  "body:6 id=\"2.5\" text=\"idtext\"\n"
                  "body:7 id=\"4\" text=\"TRUE\" time=\"2015-02-21\"\n"
                  "body:9 id=hash text=\"no id\"\n"
                  "body:10 wrong_field_count (refused): 4 fields, not 3\n"
                  "body:11 no_text (refused): no text in field \"text\"\n");
    const archive_member members[] = {{"b.txt", GF_SLICE("text"), A_FILE},
                                      {"a.xlsx", gf_buffer_view(&book), A_FILE}};
    make_archive("zip", NULL, members, 2, &zip);
    check_records("all.zip", gf_buffer_view(&zip),
                  &(gf_reader_options){.text = &GF_SLICE("at"), .n_text = 1},
                  "all.zip/b.txt:0 id=\"b.txt\" text=\"text\"\n"
                  "all.zip/a.xlsx:3 id=\"1\" text=\"2015-02-21\" text=\" Größe &\\r\\n2 \"\n"
                  "all.zip/a.xlsx:5 id=\"06:00:00\" text=\"2015-02-21T12:00:00\" text=\"inline\"\n"
                  "all.zip/a.xlsx:6 no_text (refused): no text in field \"at\"\n"
                  "all.zip/a.xlsx:7 id=\"4\" text=\"2015-02-21\" text=\"TRUE\"\n"
                  "all.zip/a.xlsx:9 no_text (refused): no text in field \"at\"\n"
                  "all.zip/a.xlsx:10 wrong_field_count (refused): 4 fields, not 3\n"
                  "all.zip/a.xlsx:11 no_text (refused): no text in field \"at\"\n");
    gf_buffer_release(&book);
    gf_buffer_release(&zip);
}

static void keep_remark(void *context, const char *reason, gf_slice source, const char *message)
{
    gf_buffer_format(context, "%s %.*s: %s", reason, GF_SLICE_ARG(source), message);
}

static void reads_the_sheet_that_is_asked_for(void **state)
{
    (void)state;
    gf_buffer remarks = {0};
    gf_reader_options options = {.remark = keep_remark, .remark_context = &remarks};
    const parts p = {.workbook =
                         WORKBOOK("", "<sheet name=\"Old\" state=\"hidden\" r:id=\"rId1\"/>" SHEET(
                                          "New &amp; good", "rId2") SHEET("Third", "rId7")),
                     .sheet = ROWS(HEADER "<row r=\"2\"><c r=\"B2\"><v>1</v></c></row>"),
                     .second = ROWS(HEADER "<row r=\"2\"><c r=\"B2\"><v>2</v></c></row>")};
    check_workbook(&p, &options, "a.xlsx:2 id=hash text=\"2\"\n");
    assert_string_equal(gf_buffer_cstr(&remarks),
                        "sheets a.xlsx: the sheet \"New & good\" is read; --sheet says another of: "
                        "New & good, Third");
    gf_buffer_reset(&remarks);
    options.sheet = GF_SLICE("Old");
    check_workbook(&p, &options, "a.xlsx:2 id=hash text=\"1\"\n");
    options.sheet = GF_SLICE("2");
    check_workbook(&p, &options, "a.xlsx:2 id=hash text=\"2\"\n");
    options.sheet = GF_SLICE("4");
    check_workbook(&p, &options,
                   "invalid: a.xlsx has no sheet \"4\"; its sheets: New & good, Third\n");
    options.sheet = GF_SLICE("Third");
    check_workbook(&p, &options,
                   "a.xlsx:0 not_text (refused): a workbook whose sheet \"Third\" has no rows of "
                   "cells\n");
    assert_int_equal(remarks.len, 0);
    gf_buffer_release(&remarks);
}

static void says_that_a_sheet_is_empty(void **state)
{
    (void)state;
    check_workbook(&(parts){.sheet = ROWS("")}, NULL,
                   "a.xlsx:0 empty_file (skipped): no row in it, at most a header\n");
    check_workbook(&(parts){.sheet = ROWS(HEADER "<row r=\"2\"><c r=\"A2\" s=\"1\"/></row>")}, NULL,
                   "a.xlsx:0 empty_file (skipped): no row in it, at most a header\n");
}

static void a_workbook_is_what_its_name_says(void **state)
{
    (void)state;
    gf_buffer book = {0};
    make_workbook(&(parts){0}, &book);
    static const char why[] = "an Excel workbook, and not what it is said to be; call it .xlsx, "
                              "and leave --from out\n";
    char expected[200];
    snprintf(expected, sizeof expected, "invalid: a.csv: %s", why);
    check_records("a.csv", gf_buffer_view(&book), NULL, expected);
    snprintf(expected, sizeof expected, "invalid: a.xlsx: %s", why);
    check_records("a.xlsx", gf_buffer_view(&book), &(gf_reader_options){.format = GF_FORMAT_JSONL},
                  expected);
    gf_buffer_release(&book);
}

/* ---- damage, and harm ------------------------------------------------------------------------ */

#define GOOD_ROW "<row r=\"2\"><c r=\"B2\"><v>1</v></c></row>"
static const char good_row[] = "a.xlsx:2 id=hash text=\"1\"\n";

static void check_damage(const char *rows, const char *message)
{
    gf_buffer expected = {0};
    gf_buffer_format(&expected, "%sa.xlsx:0 not_text (refused): a workbook that is damaged%s\n",
                     good_row, message);
    check_workbook(&(parts){.sheet = rows}, NULL, gf_buffer_cstr(&expected));
    gf_buffer_release(&expected);
}

/* Rows before the damage are given. */
static void refuses_damaged_sheets(void **state)
{
    (void)state;
    check_damage(XML "<worksheet><sheetData>" HEADER GOOD_ROW "<row r=\"3\"><c", "");
    check_damage(ROWS(HEADER GOOD_ROW "<row><c t=\"s\"><v>3</v></c></row>"),
                 ": a cell has text 3 of 3");
    check_damage(ROWS(HEADER GOOD_ROW "<row><c t=\"s\"><v>x</v></c></row>"),
                 ": a text without a number");
    check_damage(ROWS(HEADER GOOD_ROW "<row><c r=\"B3\"/><c r=\"A3\"/></row>"),
                 ": cells that are not in order");
    check_damage(ROWS(HEADER GOOD_ROW "<row><c r=\"XFE3\"/></row>"), ": a cell beyond XFD");
    check_damage(ROWS(HEADER GOOD_ROW "<row><c r=\"3\"/></row>"), ": a cell without a column");
    check_workbook(&(parts){.sheet = XML "<!DOCTYPE x [<!ENTITY a \"aaaa\">]><x>&a;</x>"}, NULL,
                   "a.xlsx:0 not_text (refused): a workbook that is damaged, or made to harm: it "
                   "declares entities\n");
    check_workbook(
        &(parts){.strings = XML "<!DOCTYPE x SYSTEM \"file:///etc/passwd\"><sst><si><t>a</t></si>"
                                "</sst>"},
        NULL,
        "a.xlsx:0 not_text (refused): a workbook that is damaged, or made to harm: it declares "
        "entities\n");
    check_workbook(&(parts){.workbook = WORKBOOK("", "")}, NULL,
                   "a.xlsx:0 not_text (refused): an Excel workbook without sheets that can be "
                   "read; save it as .xlsx or CSV\n");
    check_workbook(&(parts){.relations = "<x><Relationship Id=\"rId1\" Type=\"/worksheet\" "
                                         "Target=\"../../etc/passwd\"/></x>"},
                   NULL,
                   "a.xlsx:0 not_text (refused): a workbook that is damaged: it lacks "
                   "xl/../../etc/passwd\n");
}

/* A short cell stands for a long text, and short XML for long rows. */
static void bounds_the_bytes_of_a_row(void **state)
{
    (void)state;
    gf_buffer strings = {0}, rows = {0}, expected = {0};
    gf_reader_options options = {.max_document = 100000};
    gf_buffer_str(&strings, XML "<sst><si><t>id</t></si><si><t>text</t></si><si><t>");
    for (int i = 0; i < 90000; i++)
        gf_buffer_byte(&strings, 'x');
    gf_buffer_str(&strings, "</t></si></sst>");
    gf_buffer_str(&rows, XML "<worksheet><sheetData>" HEADER);
    for (int i = 0; i < 3; i++) {
        gf_buffer_str(&rows, "<row>");
        for (int j = 0; j < 16384; j++)
            gf_buffer_str(&rows, "<c t=\"s\"><v>2</v></c>");
        gf_buffer_str(&rows, "</row>");
        gf_buffer_format(&expected,
                         "a.xlsx:%d too_long (refused): longer than the limit of 100000 bytes "
                         "(--max-document)\n",
                         i + 2);
    }
    gf_buffer_str(&rows, "<row><c t=\"inlineStr\"><is><t>");
    for (int i = 0; i < 300000; i++)
        gf_buffer_byte(&rows, 'y');
    gf_buffer_str(&rows, "</t></is></c></row>" GOOD_ROW "</sheetData></worksheet>");
    gf_buffer_str(&expected, "a.xlsx:5 too_long (refused): longer than the limit of 100000 bytes "
                             "(--max-document)\n");
    gf_buffer_str(&expected, good_row);
    check_workbook(&(parts){.sheet = gf_buffer_cstr(&rows), .strings = gf_buffer_cstr(&strings)},
                   &options, gf_buffer_cstr(&expected));
    gf_buffer_release(&strings);
    gf_buffer_release(&rows);
    gf_buffer_release(&expected);
}

/* A million empty texts: three megabytes of XML out of some thousand bytes. */
static void stops_at_bombs(void **state)
{
    (void)state;
    gf_buffer xml = {0}, book = {0}, got = {0};
    gf_error err = {0};
    gf_buffer_str(&xml, XML "<sst>");
    for (int i = 0; i < 1000000; i++)
        gf_buffer_str(&xml, "<si/>");
    gf_buffer_str(&xml, "</sst>");
    make_workbook(&(parts){.strings = gf_buffer_cstr(&xml)}, &book);
    assert_true(book.len < 20000);
    memory_stream stream = {"a.xlsx", gf_buffer_view(&book), false};
    memory_input input = {.streams = &stream, .n = 1, .chunk = 4096};
    gf_input_bounds bounds = {.max_unpacked = 1 << 20};
    gf_input in = memory_input_start(&input);
    in.bounds = &bounds;
    assert_status(GF_ELIMIT, list_records(&in, NULL, false, &got, &err));
    assert_string_equal(err.message,
                        "a.xlsx: more than 1048576 bytes come out of it (--max-unpacked)");
    gf_buffer_release(&xml);
    gf_buffer_release(&book);
    gf_buffer_release(&got);
}

/* Nothing is read further once that was asked for. */
static void can_be_cancelled(void **state)
{
    (void)state;
    gf_buffer book = {0}, got = {0};
    gf_error err = {0};
    gf_cancel cancel = {0};
    make_workbook(&(parts){.sheet = ROWS(VALUES)}, &book);
    memory_stream stream = {"a.xlsx", gf_buffer_view(&book), false};
    memory_input input = {.streams = &stream, .n = 1};
    gf_input_bounds bounds = {.cancel = &cancel};
    gf_input in = memory_input_start(&input);
    in.bounds = &bounds;
    gf_cancel_request(&cancel);
    assert_status(GF_ECANCELLED, list_records(&in, NULL, false, &got, &err));
    gf_buffer_release(&book);
    gf_buffer_release(&got);
}

/* Deep elements, long tags and many styles cost no more than their bytes. */
static void survives_odd_xml(void **state)
{
    (void)state;
    gf_buffer xml = {0};
    static const char damaged[] = "a.xlsx:0 not_text (refused): a workbook that is damaged\n";
    gf_buffer_str(&xml, "<worksheet>");
    for (int i = 0; i < 100000; i++)
        gf_buffer_str(&xml, "<x>");
    check_workbook(&(parts){.sheet = gf_buffer_cstr(&xml)}, NULL, damaged);
    gf_buffer_reset(&xml);
    gf_buffer_str(&xml, "<worksheet ");
    for (int i = 0; i < 100000; i++)
        gf_buffer_format(&xml, "a%d='' ", i);
    gf_buffer_str(&xml, "/>");
    check_workbook(&(parts){.sheet = gf_buffer_cstr(&xml)}, NULL, damaged);
    gf_buffer_reset(&xml);
    gf_buffer_str(&xml, "<styleSheet>");
    for (int i = 0; i < 20000; i++)
        gf_buffer_format(&xml, "<numFmt numFmtId='%d' formatCode='d'/>", i + 164);
    gf_buffer_str(&xml, "<cellXfs>");
    for (int i = 0; i < 200000; i++)
        gf_buffer_str(&xml, "<xf numFmtId='7777'/>");
    gf_buffer_str(&xml, "</cellXfs></styleSheet>");
    check_workbook(&(parts){.styles = gf_buffer_cstr(&xml), .sheet = ROWS(HEADER GOOD_ROW)}, NULL,
                   good_row);
    gf_buffer_reset(&xml);
    gf_buffer_str(&xml, "<workbook><sheets>");
    for (int i = 0; i < 5000; i++)
        gf_buffer_str(&xml, "<sheet name='a' id='rId1'/>");
    gf_buffer_str(&xml, "</sheets></workbook>");
    check_workbook(&(parts){.workbook = gf_buffer_cstr(&xml)}, NULL,
                   "a.xlsx:0 not_text (refused): a workbook of more than 4096 sheets\n");
    gf_buffer_release(&xml);
}

static void survives_damage(void **state)
{
    (void)state;
    gf_buffer book = {0};
    make_workbook(&(parts){.sheet = ROWS(VALUES)}, &book);
    fuzz_records("a.xlsx", gf_buffer_view(&book), NULL, 1000);
    gf_buffer_release(&book);
}

/* Bytes of each part that were changed, before they were packed. */
static void survives_damaged_parts(void **state)
{
    (void)state;
    gf_random random = gf_random_seed(gf_test_seed(), 0);
    gf_buffer part = {0}, book = {0}, got = {0};
    const char *const usual[] = {WORKBOOK("<workbookPr/>", SHEET("One", "rId1")), RELATIONS,
                                 ROWS(VALUES), STYLES, USUAL_STRINGS};
    for (int i = 0; i < 1500; i++) {
        int which = i % 5;
        gf_error err = {0};
        gf_buffer_reset(&part);
        gf_buffer_reset(&got);
        gf_buffer_str(&part, usual[which]);
        for (uint64_t n = gf_random_below(&random, 4) + 1; n; n--) {
            size_t at = (size_t)gf_random_below(&random, part.len);
            part.ptr[at] = "<>/\"&;=1 9AZr\x80"[gf_random_below(&random, 15)];
        }
        const char *bytes = gf_buffer_cstr(&part);
        const parts p = {.workbook = which == 0 ? bytes : NULL,
                         .relations = which == 1 ? bytes : NULL,
                         .sheet = which == 2 ? bytes : usual[2],
                         .styles = which == 3 ? bytes : NULL,
                         .strings = which == 4 ? bytes : NULL};
        make_workbook(&p, &book);
        memory_stream stream = {"a.xlsx", gf_buffer_view(&book), true};
        memory_input input = {.streams = &stream, .n = 1};
        gf_input in = memory_input_start(&input);
        gf_status st = list_records(&in, NULL, true, &got, &err);
        if (st != GF_EINVAL) assert_ok(st); /* a header without "text" */
        assert_true(st != GF_OK || got.len > 0);
    }
    gf_buffer_release(&part);
    gf_buffer_release(&book);
    gf_buffer_release(&got);
}

static void survives_missing_memory(void **state)
{
    (void)state;
    gf_buffer book = {0};
    make_workbook(&(parts){.sheet = ROWS(VALUES)}, &book);
    sweep_records("a.xlsx", gf_buffer_view(&book), NULL);
    gf_buffer_release(&book);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_numbers_as_spreadsheets_do),
        cmocka_unit_test(counts_days_as_spreadsheets_do),
        cmocka_unit_test(tells_dates_by_their_formats),
        cmocka_unit_test(undoes_escaped_units),
        cmocka_unit_test(reads_values_of_all_types),
        cmocka_unit_test(reads_the_same_however_it_comes),
        cmocka_unit_test(reads_the_sheet_that_is_asked_for),
        cmocka_unit_test(says_that_a_sheet_is_empty),
        cmocka_unit_test(a_workbook_is_what_its_name_says),
        cmocka_unit_test(refuses_damaged_sheets),
        cmocka_unit_test(bounds_the_bytes_of_a_row),
        cmocka_unit_test(stops_at_bombs),
        cmocka_unit_test(can_be_cancelled),
        cmocka_unit_test(survives_odd_xml),
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(survives_damaged_parts),
        cmocka_unit_test(survives_missing_memory),
    };
    return cmocka_run_group_tests_name("workbook", tests, NULL, NULL);
}
