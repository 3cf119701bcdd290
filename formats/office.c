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
#include "formats/archive.h"
#include "formats/xml.h"

#include <stdio.h>

enum { CHUNK = 32 << 10, XML_FACTOR = 16, XML_SLACK = 16 << 20 };

typedef struct office {
    gf_parse_context in;
    bool is_done;
    gf_buffer text;
    xmlParserCtxt *parser;
    unsigned skipped; /* elements around what comes that hold no text of the document */
    unsigned running; /* elements around it whose characters are text */
    bool is_too_long, is_unsafe;
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

static bool is_one_of(const xmlChar *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp((const char *)name, *names) == 0) return true;
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

static bool runs(const office *o, const xmlChar *local, const xmlChar *uri)
{
    (void)o;
    bool is_odf = uri && strstr((const char *)uri, "opendocument") != NULL;
    return is_one_of(local, is_odf ? running_elements + 1 : docx_running);
}

static void start_element(void *context, const xmlChar *local, const xmlChar *prefix,
                          const xmlChar *uri, int n_namespaces, const xmlChar **namespaces,
                          int n_attributes, int n_defaulted, const xmlChar **attributes)
{
    office *o = ((xmlParserCtxt *)context)->_private;
    static const char *const breaks[] = {"br", "cr", "line-break", NULL};
    (void)prefix, (void)n_namespaces, (void)namespaces;
    (void)n_attributes, (void)n_defaulted, (void)attributes;
    if (o->skipped || is_one_of(local, skipped_elements)) {
        o->skipped++;
        return;
    }
    o->running += runs(o, local, uri);
    if (strcmp((const char *)local, "tab") == 0) gf_buffer_byte(&o->text, '\t');
    if (strcmp((const char *)local, "s") == 0) gf_buffer_byte(&o->text, ' ');
    if (is_one_of(local, breaks)) gf_buffer_byte(&o->text, '\n');
}

static void end_element(void *context, const xmlChar *local, const xmlChar *prefix,
                        const xmlChar *uri)
{
    office *o = ((xmlParserCtxt *)context)->_private;
    (void)prefix;
    if (o->skipped) {
        o->skipped--;
        return;
    }
    o->running -= runs(o, local, uri) && o->running;
    if (is_one_of(local, running_elements + 1)) gf_buffer_byte(&o->text, '\n');
}

static void add_characters(void *context, const xmlChar *bytes, int length)
{
    office *o = ((xmlParserCtxt *)context)->_private;
    if (o->skipped || !o->running || length <= 0) return;
    gf_buffer_append(&o->text, (const char *)bytes, (size_t)length);
    o->is_too_long = o->text.len > o->in.max_document;
    if (o->is_too_long || o->text.state != GF_OK) xmlStopParser(o->parser);
}

static void meet_doctype(void *context, const xmlChar *name, const xmlChar *external,
                         const xmlChar *system)
{
    office *o = ((xmlParserCtxt *)context)->_private;
    (void)name, (void)external, (void)system;
    o->is_unsafe = true;
    xmlStopParser(o->parser);
}

static gf_status make_parser(office *o, gf_error *err)
{
    gf_xml_silence();
    o->parser = xmlCreatePushParserCtxt(NULL, NULL, NULL, 0, NULL);
    if (!o->parser) return gf_fail_memory(err, "an XML parser");
    xmlCtxtUseOptions(o->parser,
                      XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOENT);
    xmlSAXHandler *sax = o->parser->sax;
    o->parser->_private = o;
    sax->internalSubset = meet_doctype;
    sax->entityDecl = NULL;
    sax->startElementNs = start_element;
    sax->endElementNs = end_element;
    sax->characters = sax->ignorableWhitespace = sax->cdataBlock = add_characters;
    sax->reference = NULL;
    sax->comment = NULL;
    sax->processingInstruction = NULL;
    return GF_OK;
}

static void free_parser(office *o)
{
    if (!o->parser) return;
    if (o->parser->myDoc) xmlFreeDoc(o->parser->myDoc);
    o->parser->myDoc = NULL;
    xmlFreeParserCtxt(o->parser);
    o->parser = NULL;
}

/* ---- the zip --------------------------------------------------------------------------------- */

static la_ssize_t give_bytes(struct archive *a, void *context, const void **bytes)
{
    office *o = context;
    gf_read_buffer *w = o->in.buffer;
    if (gf_read_buffer_unread(w).len == 0) {
        o->failure.status = gf_read_buffer_more(w, &o->failure);
        if (o->failure.status != GF_OK) {
            archive_set_error(a, 5, "the input failed");
            return -1;
        }
    }
    gf_slice unread = gf_read_buffer_unread(w);
    *bytes = unread.ptr;
    gf_read_buffer_consume(w, unread.len);
    return (la_ssize_t)unread.len;
}

/* Elements are known once their tag has ended: one that does not end within a chunk is no text's. */
static bool is_long_tag(const xmlParserCtxt *parser)
{
    const xmlChar *at = parser->input->cur, *end = parser->input->end;
    return end - at > CHUNK && at[0] == '<' && at[1] != '!' && at[1] != '?';
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
        if (xmlParseChunk(o->parser, chunk, (int)n, 0) != 0 || is_long_tag(o->parser)) return false;
    }
    return xmlParseChunk(o->parser, "", 0, 1) == 0;
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
    gf_status st = make_parser(o, err);
    if (st == GF_OK) r = archive_read_open(a, o, NULL, give_bytes, NULL);
    while (r == ARCHIVE_OK || r == ARCHIVE_WARN) {
        r = archive_read_next_header(a, &entry);
        if (r != ARCHIVE_OK && r != ARCHIVE_WARN) break;
        if (!is_text_part(archive_entry_pathname(entry))) continue;
        *is_whole = parse_part(o, a);
        break;
    }
    bool no_memory =
        archive_errno(a) == 12 || (o->parser && o->parser->lastError.code == XML_ERR_NO_MEMORY);
    free_parser(o);
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
                                o->is_unsafe ? ", or made to harm: it declares entities" : "");
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
