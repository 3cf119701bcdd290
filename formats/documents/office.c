/*
 * A .docx or .odt as one document: its path is the id, its paragraphs are the text.
 *
 *     read buffer -> libarchive -> word/document.xml, content.xml -> libxml2 -> text
 *
 * All of it is streamed, so that pictures beside the text, and XML around it, may be large. Bounds: the
 * text has max_document bytes, the XML 16 times that, a tag CHUNK, elements are 256 deep (libxml2);
 * a DTD, which could declare entities, ends it.
 */
#include "formats/format_internal.h"

#include "base/memory.h"
#include "formats/bytes/archive.h"
#include "formats/documents/xml_stream.h"

#include <errno.h>

enum { CHUNK = GF_XML_STREAM_TAG, XML_FACTOR = 16, XML_SLACK = 16 << 20 };

typedef struct office {
    gf_parse_context in;
    bool is_done;
    gf_buffer text;
    gf_xml_stream xml;
    unsigned skipped; /* elements around what comes that hold no text of the document */
    unsigned running; /* elements around it whose characters are text */
    bool is_too_long;
    gf_error failure; /* of reading the buffer */
} office;

static gf_status open_office(const gf_parse_context *context, void **parser, gf_error *err)
{
    gf_status st = gf_library_load(&gf_archive, err);
    if (st == GF_OK) st = gf_library_load(&gf_xml, err);
    if (st != GF_OK) return st;
    office *o = gf_calloc(1, sizeof *o);
    if (!o) return gf_fail_memory(err, "a reader");
    o->in = *context;
    *parser = o;
    return GF_OK;
}

static void close_office(void *parser)
{
    office *o = parser;
    gf_buffer_release(&o->text);
    gf_free(o);
}

/* ---- XML to text ----------------------------------------------------------------------------- */

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0) return true;
    return false;
}

/* Settings (which name tabs, too), what was deleted, and what is there a second time. */
static const char *const skipped_elements[] = {"pPr",
                                               "rPr",
                                               "sectPr",
                                               "del",
                                               "instrText",
                                               "Fallback",
                                               "automatic-styles",
                                               "tracked-changes",
                                               "annotation",
                                               "scripts",
                                               NULL};
static const char *const running_elements[] = {"t", "h", "p", NULL};
static const char *const docx_running[] = {"t", NULL};

static bool runs(const char *name, const char *space)
{
    bool is_odf = space && strstr(space, "opendocument") != NULL;
    return is_one_of(name, is_odf ? running_elements + 1 : docx_running);
}

static void start_element(void *context, const char *name, const char *space,
                          const gf_xml_attributes *attributes)
{
    office *o = context;
    static const char *const breaks[] = {"br", "cr", "line-break", NULL};
    (void)attributes;
    if (o->skipped || is_one_of(name, skipped_elements)) {
        o->skipped++;
        return;
    }
    o->running += runs(name, space);
    if (strcmp(name, "tab") == 0) gf_buffer_byte(&o->text, '\t');
    if (strcmp(name, "s") == 0) gf_buffer_byte(&o->text, ' ');
    if (is_one_of(name, breaks)) gf_buffer_byte(&o->text, '\n');
}

static void end_element(void *context, const char *name, const char *space)
{
    office *o = context;
    if (o->skipped) {
        o->skipped--;
        return;
    }
    o->running -= runs(name, space) && o->running;
    if (is_one_of(name, running_elements + 1)) gf_buffer_byte(&o->text, '\n');
}

static void add_characters(void *context, gf_slice text)
{
    office *o = context;
    if (o->skipped || !o->running) return;
    gf_buffer_slice(&o->text, text);
    o->is_too_long = o->text.len > o->in.max_document;
    if (o->is_too_long || o->text.state != GF_OK) gf_xml_stream_stop(&o->xml);
}

static const gf_xml_events text_events = {start_element, end_element, add_characters};

/* ---- the zip --------------------------------------------------------------------------------- */

static la_ssize_t give_bytes(struct archive *a, void *context, const void **bytes)
{
    office *o = context;
    gf_read_buffer *w = o->in.buffer;
    if (gf_read_buffer_unread(w).len == 0) {
        o->failure.status = gf_read_buffer_more(w, &o->failure);
        if (o->failure.status != GF_OK) {
            archive_set_error(a, EIO, "the input failed");
            return -1;
        }
    }
    gf_slice unread = gf_read_buffer_unread(w);
    *bytes = unread.ptr;
    gf_read_buffer_consume(w, unread.len);
    return (la_ssize_t)unread.len;
}

/* False where the part cannot be read: damaged, unsafe, or too long. */
static bool parse_part(office *o, struct archive *a)
{
    uint64_t most = (uint64_t)o->in.bounds.kept * XML_FACTOR + XML_SLACK, all = 0;
    char chunk[CHUNK];
    for (;;) {
        la_ssize_t n = archive_read_data(a, chunk, sizeof chunk);
        if (n == ARCHIVE_RETRY) continue;
        if (n < 0) return false;
        if (n == 0) break;
        all += (uint64_t)n;
        if (all > most) o->is_too_long = true;
        if (o->is_too_long) return false;
        if (!gf_xml_stream_feed(&o->xml, gf_slice_of(chunk, (size_t)n))) return false;
    }
    return gf_xml_stream_end(&o->xml);
}

static bool is_text_part(const char *path)
{
    return path && (strcmp(path, "word/document.xml") == 0 || strcmp(path, "content.xml") == 0);
}

static gf_status read_document(office *o, bool *is_whole, gf_error *err)
{
    struct archive_entry *entry;
    struct archive *a = archive_read_new();
    int r = ARCHIVE_FATAL;
    *is_whole = false;
    if (!a) return gf_fail_memory(err, "an archive");
    archive_read_support_format_zip_streamable(a);
    gf_status st = gf_xml_stream_open(&o->xml, &text_events, o, err);
    if (st == GF_OK) r = archive_read_open(a, o, NULL, give_bytes, NULL);
    while (r == ARCHIVE_OK || r == ARCHIVE_WARN) {
        r = archive_read_next_header(a, &entry);
        if (r != ARCHIVE_OK && r != ARCHIVE_WARN) break;
        if (!is_text_part(archive_entry_pathname(entry))) continue;
        *is_whole = parse_part(o, a);
        break;
    }
    bool no_memory = archive_errno(a) == ENOMEM || o->xml.out_of_memory;
    gf_xml_stream_release(&o->xml);
    archive_read_free(a);
    if (st != GF_OK) return st;
    if (no_memory) return gf_fail_memory(err, "an office document");
    if (o->failure.status != GF_OK) {
        if (err) *err = o->failure;
        return o->failure.status;
    }
    return gf_buffer_check(&o->text, err);
}

static gf_status next_office(void *parser, gf_parsed_record *parsed, gf_error *err)
{
    office *o = parser;
    bool is_whole;
    if (o->is_done) return GF_ENOTFOUND;
    o->is_done = true;
    gf_status st = read_document(o, &is_whole, err);
    if (st != GF_OK) return st;
    while (o->text.len && strchr(" \t\n", o->text.ptr[o->text.len - 1]))
        o->text.len--;
    if (o->is_too_long) {
        gf_parsed_record_refuse_long(parsed, o->in.max_document);
    } else if (!is_whole) {
        gf_parsed_record_refuse(parsed, "not_text", "an office document that is damaged%s",
                                o->xml.is_unsafe ? ", or made to harm: it declares entities" : "");
    } else if (o->text.len == 0) {
        gf_parsed_record_skip(parsed, "empty_text", "the document holds no text");
    } else {
        parsed->is_file = true;
        parsed->id = o->in.path;
        parsed->text = gf_buffer_view(&o->text);
    }
    return GF_OK;
}

const gf_parser_kind gf_office_parser = {open_office, next_office, close_office};
