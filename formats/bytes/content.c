/*
 * Content is told by its first bytes alone, for names say what users hope for. Office documents are
 * zip files of parts; the names of the parts are in front of each:
 *
 *     PK 03 04 | 22 bytes | length of the name, of what is extra | name | extra | the part
 */
#include "formats/bytes/content.h"

#include <string.h>
#include <strings.h>

typedef struct magic {
    size_t at; /* 8: within a RIFF, whose length comes before */
    gf_slice bytes;
    const char *advice;
} magic;

#define PICTURE "a picture; its text, if any, has to be recognised first (tesseract)"
#define SOUND   "a sound or a film; its speech has to be written down first"
#define PROGRAM "a program, not a text"
#define ARCHIVE "an archive of another kind; unpack it, or make it a zip or a tar"
#define COLUMNS "; make it CSV or JSON Lines first (duckdb, pandas)"
#define BY_PYTHON(ending)                                                                          \
    "; the package for Python puts it, with pyarrow: python3 -c \"import grouperfish as g; "       \
    "g.open('STORE')['NAME'].put('IN." ending "')\""
#define OLD_OFFICE                                                                                 \
    "a document of an old Office (.doc, .xls, .ppt, .msg); save a table as CSV, and a text as "    \
    ".docx"

static const magic magics[] = {
    {0, {"%PDF-", 5}, "a PDF; make text of it first (pdftotext)"},
    {0, {"%!PS-Adobe", 10}, "PostScript; make text of it first (ps2ascii)"},
    {0, {"{\\rtf", 5}, "RTF; save it as text or as .docx"},
    {0, {"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", 8}, OLD_OFFICE},
    {0, {"PAR1\x15", 5}, "Parquet" BY_PYTHON("parquet")},
    {0, {"ARROW1\0", 7}, "Arrow" BY_PYTHON("arrow")},
    {0, {"FEA1\0", 5}, "Feather" BY_PYTHON("feather")},
    {0, {"Obj\x01", 4}, "Avro" COLUMNS},
    {0,
     {"SEQ\x06", 4},
     "a SequenceFile of Hadoop; an export of HBase goes into a table (grouperfish table import "
     "--from hbase)"},
    {0, {"\x89HDF\r\n\x1A\n", 8}, "HDF5" COLUMNS},
    {0, {"\x93NUMPY", 6}, "an array of numpy" COLUMNS},
    {0, {"\x80\x04\x95", 3}, "a pickle of Python" COLUMNS},
    {0, {"\x80\x05\x95", 3}, "a pickle of Python" COLUMNS},
    {0,
     {"SQLite format 3\0", 16},
     "an SQLite database; export a table as CSV (sqlite3 -csv -header)"},
    {0, {"\x89PNG\r\n\x1A\n", 8}, PICTURE},
    {0, {"\xFF\xD8\xFF", 3}, PICTURE},
    {0, {"GIF87a", 6}, PICTURE},
    {0, {"GIF89a", 6}, PICTURE},
    {0, {"II*\0", 4}, PICTURE},
    {0, {"MM\0*", 4}, PICTURE},
    {8, {"WEBP", 4}, PICTURE},
    {8, {"WAVEfmt", 7}, SOUND},
    {0,
     {"\0\0\0\x18"
      "ftyp",
      8},
     SOUND},
    {0,
     {"\0\0\0\x1C"
      "ftyp",
      8},
     SOUND},
    {0,
     {"\0\0\0\x20"
      "ftyp",
      8},
     SOUND},
    {0, {"OggS\0", 5}, SOUND},
    {0, {"fLaC\0", 5}, SOUND},
    {0, {"ID3\x03", 4}, SOUND},
    {0, {"ID3\x04", 4}, SOUND},
    {0, {"\x1A\x45\xDF\xA3", 4}, SOUND},
    {0,
     {"\x7F"
      "ELF",
      4},
     PROGRAM},
    {0, {"MZ\x90\0", 4}, PROGRAM},
    {0, {"\xCA\xFE\xBA\xBE", 4}, PROGRAM},
    {0, {"\xCF\xFA\xED\xFE", 4}, PROGRAM},
    {0, {"\0asm", 4}, PROGRAM},
    {0, {"7z\xBC\xAF\x27\x1C", 6}, ARCHIVE},
    {0, {"Rar!\x1A\x07", 6}, ARCHIVE},
    {0, {"!<arch>\n", 8}, ARCHIVE},
    {0, {"MSCF\0\0\0\0", 8}, ARCHIVE},
    {0, {"PK\x03\x04", 4}, "a zip under another name; call it .zip if it holds texts or records"},
};

#define WORKBOOK_ADVICE "an Excel workbook; save it as CSV"
#define OFFICE_ADVICE   "an office document; save a table as CSV, and a text as .docx"

/* ---- parts of office documents --------------------------------------------------------------- */

enum { HEADER = 30 };

static size_t read_16(const char *p)
{
    return (size_t)(unsigned char)p[0] | (size_t)(unsigned char)p[1] << 8;
}

/* The name of the part whose header is at the start of s; empty where there is none. */
static gf_slice part_name(gf_slice s)
{
    gf_slice none = {"", 0};
    if (s.len < HEADER || memcmp(s.ptr, "PK\x03\x04", 4) != 0) return none;
    size_t n = read_16(s.ptr + 26);
    return n && n <= s.len - HEADER ? gf_slice_of(s.ptr + HEADER, n) : none;
}

static bool ends_in(gf_slice s, const char *end)
{
    size_t n = strlen(end);
    return s.len >= n && strncasecmp(s.ptr + s.len - n, end, n) == 0;
}

bool gf_content_is_office(gf_slice start)
{
    static const char *const folders[] = {"_rels/", "docProps/", "word/",
                                          "xl/",    "ppt/",      "customXml/"};
    gf_slice name = part_name(start);
    if (gf_slice_equal(name, GF_SLICE("[Content_Types].xml")) ||
        gf_slice_equal(name, GF_SLICE("mimetype")))
        return true;
    if (!ends_in(name, ".xml") && !ends_in(name, ".rels")) return false;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (gf_slice_starts(name, gf_slice_str(folders[i]))) return true;
    return false;
}

/* The media type that is the first part of OpenDocument files and books. */
static gf_slice media_type(gf_slice start)
{
    bool is_stored =
        gf_slice_equal(part_name(start), GF_SLICE("mimetype")) && read_16(start.ptr + 8) == 0;
    if (!is_stored) return (gf_slice){"", 0};
    size_t from = HEADER + 8 + read_16(start.ptr + 28);
    if (from > start.len) from = start.len;
    gf_slice type = gf_slice_skip(start, from);
    if (type.len > 100) type.len = 100;
    return type;
}

static gf_content of_media_type(gf_slice type, const char **advice)
{
    gf_slice odf = GF_SLICE("application/vnd.oasis.opendocument.");
    *advice = OFFICE_ADVICE;
    if (gf_slice_starts(type, GF_SLICE("application/epub")))
        *advice = "a book (EPUB); make text or HTML of it first (pandoc)";
    if (!gf_slice_starts(type, odf)) return GF_CONTENT_NONE;
    type = gf_slice_skip(type, odf.len);
    if (gf_slice_starts(type, GF_SLICE("text"))) return GF_CONTENT_ODT;
    if (gf_slice_starts(type, GF_SLICE("spreadsheet"))) *advice = "a spreadsheet; save it as CSV";
    return GF_CONTENT_NONE;
}

static gf_content of_office(gf_slice start, gf_slice name, const char **advice)
{
    gf_slice type = media_type(start);
    if (type.len) return of_media_type(type, advice);
    for (gf_slice rest = start; rest.len >= HEADER;) {
        gf_slice part = part_name(rest);
        if (gf_slice_starts(part, GF_SLICE("xl/"))) {
            *advice = WORKBOOK_ADVICE;
            if (!gf_slice_equal(part, GF_SLICE("xl/workbook.bin"))) return GF_CONTENT_XLSX;
            *advice = "a binary Excel workbook (.xlsb); save it as .xlsx or CSV";
            return GF_CONTENT_NONE;
        }
        if (gf_slice_starts(part, GF_SLICE("ppt/"))) {
            *advice = "a PowerPoint presentation; save its outline as text or .docx";
            return GF_CONTENT_NONE;
        }
        if (gf_slice_starts(part, GF_SLICE("word/"))) return GF_CONTENT_DOCX;
        const char *next = memmem(rest.ptr + 4, rest.len - 4, "PK\x03\x04", 4);
        if (!next) break;
        rest = gf_slice_skip(rest, (size_t)(next - rest.ptr));
    }
    *advice = OFFICE_ADVICE;
    return ends_in(name, ".docx")   ? GF_CONTENT_DOCX
           : ends_in(name, ".xlsx") ? GF_CONTENT_XLSX
           : ends_in(name, ".odt")  ? GF_CONTENT_ODT
                                    : GF_CONTENT_NONE;
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool is_html(gf_slice s)
{
    static const char *const begins[] = {"<!doctype html", "<html"};
    if (gf_slice_starts(s, GF_SLICE("\xEF\xBB\xBF"))) s = gf_slice_skip(s, 3);
    while (s.len && *s.ptr && strchr(" \t\r\n", *s.ptr))
        s = gf_slice_skip(s, 1);
    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(begins[i]);
        if (s.len > n && strncasecmp(s.ptr, begins[i], n) == 0 && strchr("> \t\r\n", s.ptr[n]))
            return true;
    }
    return false;
}

gf_content gf_content_of(gf_slice start, gf_slice name, const char **advice)
{
    *advice = "";
    if (is_html(start)) return GF_CONTENT_HTML;
    if (gf_content_is_office(start)) return of_office(start, name, advice);
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        const magic *m = &magics[i];
        if (start.len < m->at + m->bytes.len ||
            memcmp(start.ptr + m->at, m->bytes.ptr, m->bytes.len) != 0 ||
            (m->at && !gf_slice_starts(start, GF_SLICE("RIFF"))))
            continue;
        *advice = m->advice;
        return GF_CONTENT_NONE;
    }
    return ends_in(name, ".eml") ? GF_CONTENT_MAIL : GF_CONTENT_PLAIN;
}

gf_status gf_content_check(gf_slice start, gf_slice name, gf_error *err)
{
    const char *advice;
    switch (gf_content_of(start, name, &advice)) {
    case GF_CONTENT_PLAIN:
    case GF_CONTENT_MAIL:
        return GF_OK;
    case GF_CONTENT_HTML:
        advice = "an HTML page, and no records";
        break;
    case GF_CONTENT_DOCX:
    case GF_CONTENT_ODT:
        advice = "a text document, and no records";
        break;
    case GF_CONTENT_XLSX:
        advice = WORKBOOK_ADVICE;
        break;
    case GF_CONTENT_NONE:
        break;
    }
    return gf_fail(err, GF_EINVAL, "%.*s: %s", GF_SLICE_ARG(name), advice);
}
