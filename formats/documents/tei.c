/*
 * From TEI to JSON:
 *
 *     {"grobid_version", "grobid_timestamp", "title",
 *      "authors": [{"name", "given_name", "surname", "affiliation"}],
 *      "journal": {"name", "publisher", "issn", "eissn", "volume", "issue", "abbrev"},
 *      "date", "doi", "arxiv",
 *      "citations": [{"index", "id", "title", "authors", "journal", "publisher", "date", "volume",
 *                     "issue", "page", "doi", "arxiv", "url", "unstructured"}],
 *      "abstract", "acknowledgement", "body", "annex"}
 *
 * Title, authors, citations, abstract and body are always there; the others where the TEI has them.
 * White space counts as one space, and paragraphs and headings end in a line feed.
 */
#include "formats/documents/tei.h"

#include "base/json/writer.h"
#include "base/utf8.h"
#include "formats/documents/tei_tree.h"

#include <stdio.h>

const char *gf_tei_result_name(gf_tei_result result)
{
    return result == GF_TEI_SUCCESS ? "success" : result == GF_TEI_OVERSIZE ? "oversize" : "fail";
}

void gf_tei_release(gf_tei *tei)
{
    gf_tei_tree_free(tei->tree);
    tei->tree = NULL;
    gf_buffer_release(&tei->json);
    gf_buffer_release(&tei->metadata);
}

/* ---- the tree -------------------------------------------------------------------------------- */

static bool is_element(const gf_tei_node *n, const char *name)
{
    return n->name && n->name[0] == name[0] && strcmp(n->name, name) == 0;
}

static gf_tei_node *child_of(const gf_tei_node *of, const char *name)
{
    for (gf_tei_node *n = of ? of->children : NULL; n; n = n->next)
        if (is_element(n, name)) return n;
    return NULL;
}

/* The element at a path of children: "fileDesc/titleStmt". */
static gf_tei_node *node_at(const gf_tei_node *from, const char *path)
{
    char name[32];
    gf_tei_node *n = (gf_tei_node *)from;
    while (n && *path) {
        size_t length = strcspn(path, "/");
        snprintf(name, sizeof name, "%.*s", (int)length, path);
        n = child_of(n, name);
        path += length + (path[length] == '/');
    }
    return n;
}

/* An attribute's value; NULL where it has none, or an empty one. */
static const char *attribute_of(const gf_tei_node *n, const char *name)
{
    for (const gf_tei_attribute *a = n ? n->attributes : NULL; a; a = a->next)
        if (strcmp(a->name, name) == 0 && *a->value) return a->value;
    return NULL;
}

static bool has_text(const gf_tei_node *n, const char *name, const char *value)
{
    const char *v = attribute_of(n, name);
    return v && strcmp(v, value) == 0;
}

/* The first child of that name whose attribute is the value. */
static gf_tei_node *child_with(const gf_tei_node *of, const char *name, const char *key,
                               const char *value)
{
    for (gf_tei_node *n = of ? of->children : NULL; n; n = n->next)
        if (is_element(n, name) && has_text(n, key, value)) return n;
    return NULL;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Copy, but white space as one space: none at the start, nor behind a space or line feed. */
static void append_text(gf_buffer *b, gf_slice text)
{
    char *to = gf_buffer_reserve(b, text.len);
    if (!to) return;
    const char *start = to, *first = to - b->len, *end = text.ptr + text.len;
    for (const char *at = text.ptr; at < end; at++) {
        /* XML has no other characters up to the space. */
        while (at < end && (unsigned char)*at > ' ')
            *to++ = *at++;
        if (at < end && to > first && to[-1] != ' ' && to[-1] != '\n') *to++ = ' ';
    }
    b->len += (size_t)(to - start);
}

static void end_line(gf_buffer *b)
{
    while (b->len && b->ptr[b->len - 1] == ' ')
        b->len--;
    if (b->len && b->ptr[b->len - 1] != '\n') gf_buffer_byte(b, '\n');
}

static bool is_block(const gf_tei_node *n)
{
    static const char *const names[] = {"p",     "head", "div",     "figure", "figDesc",
                                        "table", "row",  "formula", "item",   "note"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_element(n, names[i])) return true;
    return false;
}

static void append_nodes(gf_buffer *b, const gf_tei_node *first)
{
    for (const gf_tei_node *n = first; n; n = n->next) {
        bool block = n->name && is_block(n);
        if (!n->name) append_text(b, n->text);
        if (block) end_line(b);
        append_nodes(b, n->children);
        if (block) end_line(b);
    }
}

/* ---- members --------------------------------------------------------------------------------- */

typedef struct writing {
    gf_json_writer json;
    gf_buffer text;
    bool title, author, body; /* whether the paper has them */
} writing;

/* The text of a node, borrowed until the next; of no node none. A failure goes to the JSON. */
static gf_slice text_of(writing *w, const gf_tei_node *n)
{
    gf_buffer *text = &w->text;
    gf_buffer_reset(text);
    if (n) append_nodes(text, n->children);
    if (text->state != GF_OK) w->json.out->state = text->state;
    while (text->len && (text->ptr[text->len - 1] == ' ' || text->ptr[text->len - 1] == '\n'))
        text->len--;
    return text->ptr ? gf_buffer_view(text) : (gf_slice){"", 0};
}

static void put_text(writing *w, const char *name, const gf_tei_node *n)
{
    gf_slice text = text_of(w, n);
    if (text.len) gf_json_put_string(&w->json, name, text);
}

static void put_str(writing *w, const char *name, const char *value)
{
    if (value && *value) gf_json_put_str(&w->json, name, value);
}

static bool put_always(writing *w, const char *name, const gf_tei_node *n)
{
    gf_slice text = text_of(w, n);
    gf_json_put_string(&w->json, name, text);
    return text.len > 0;
}

/* "2026-02-23" of the attribute, else the text. */
static void put_date(writing *w, const gf_tei_node *imprint)
{
    const gf_tei_node *date = child_with(imprint, "date", "type", "published");
    const char *when = attribute_of(date, "when");
    if (when)
        put_str(w, "date", when);
    else
        put_text(w, "date", date);
}

static void put_author(writing *w, const gf_tei_node *author)
{
    const gf_tei_node *person = child_of(author, "persName");
    gf_buffer given = {0}, name = {0};
    if (!person) return;
    for (const gf_tei_node *n = person->children; n; n = n->next)
        if (is_element(n, "forename")) {
            if (given.len) gf_buffer_byte(&given, ' ');
            gf_buffer_slice(&given, text_of(w, n));
        }
    gf_slice surname = text_of(w, child_of(person, "surname"));
    gf_buffer_slice(&name, gf_buffer_view(&given));
    if (given.len && surname.len) gf_buffer_byte(&name, ' ');
    gf_buffer_slice(&name, surname);
    gf_json_begin(&w->json, '{');
    gf_json_put_string(&w->json, "name", gf_buffer_view(&name));
    if (given.len) gf_json_put_string(&w->json, "given_name", gf_buffer_view(&given));
    if (surname.len) gf_json_put_string(&w->json, "surname", surname);
    if (given.state != GF_OK || name.state != GF_OK) w->json.out->state = GF_ENOMEM;
    put_text(w, "affiliation",
             child_with(child_of(author, "affiliation"), "orgName", "type", "institution"));
    gf_json_end(&w->json, '}');
    gf_buffer_release(&given);
    gf_buffer_release(&name);
}

static bool has_author(const gf_tei_node *of)
{
    for (const gf_tei_node *n = of ? of->children : NULL; n; n = n->next)
        if (is_element(n, "author") && child_of(n, "persName")) return true;
    return false;
}

static void put_authors(writing *w, const gf_tei_node *of)
{
    gf_json_key(&w->json, "authors");
    gf_json_begin(&w->json, '[');
    for (const gf_tei_node *n = of ? of->children : NULL; n; n = n->next)
        if (is_element(n, "author")) put_author(w, n);
    gf_json_end(&w->json, ']');
}

static const gf_tei_node *scope_of(const gf_tei_node *imprint, const char *unit)
{
    return child_with(imprint, "biblScope", "unit", unit);
}

static void put_journal(writing *w, const gf_tei_node *monogr)
{
    const gf_tei_node *imprint = child_of(monogr, "imprint");
    gf_json_key(&w->json, "journal");
    gf_json_begin(&w->json, '{');
    put_text(w, "name", child_with(monogr, "title", "level", "j"));
    put_text(w, "publisher", child_of(imprint, "publisher"));
    put_text(w, "issn", child_with(monogr, "idno", "type", "ISSN"));
    put_text(w, "eissn", child_with(monogr, "idno", "type", "eISSN"));
    put_text(w, "volume", scope_of(imprint, "volume"));
    put_text(w, "issue", scope_of(imprint, "issue"));
    put_text(w, "abbrev", child_with(monogr, "title", "type", "abbrev"));
    gf_json_end(&w->json, '}');
}

/* An identifier, of the part or, where that has none, of the whole. */
static void put_idno(writing *w, const char *name, const gf_tei_node *a, const gf_tei_node *b,
                     const char *type)
{
    const gf_tei_node *n = child_with(a, "idno", "type", type);
    put_text(w, name, n ? n : child_with(b, "idno", "type", type));
}

static void put_pages(writing *w, const gf_tei_node *imprint)
{
    const gf_tei_node *page = scope_of(imprint, "page");
    const char *from = attribute_of(page, "from"), *to = attribute_of(page, "to");
    gf_buffer range = {0};
    if (!from || !to) {
        put_text(w, "page", page);
        return;
    }
    gf_buffer_format(&range, "%s-%s", from, to);
    if (range.state != GF_OK) w->json.out->state = range.state;
    gf_json_put_string(&w->json, "page", gf_buffer_view(&range));
    gf_buffer_release(&range);
}

static void put_citation(writing *w, const gf_tei_node *bibl, uint64_t index)
{
    const gf_tei_node *analytic = child_of(bibl, "analytic"), *monogr = child_of(bibl, "monogr");
    const gf_tei_node *imprint = child_of(monogr, "imprint");
    const gf_tei_node *title = child_of(analytic, "title");
    gf_json_begin(&w->json, '{');
    gf_json_put_uint(&w->json, "index", index);
    put_str(w, "id", attribute_of(bibl, "id"));
    put_text(w, "title", title ? title : child_of(monogr, "title"));
    put_authors(w, has_author(analytic) ? analytic : monogr);
    if (title) put_text(w, "journal", child_of(monogr, "title"));
    put_text(w, "publisher", child_of(imprint, "publisher"));
    put_date(w, imprint);
    put_text(w, "volume", scope_of(imprint, "volume"));
    put_text(w, "issue", scope_of(imprint, "issue"));
    put_pages(w, imprint);
    put_idno(w, "doi", analytic, monogr, "DOI");
    put_idno(w, "arxiv", analytic, monogr, "arXiv");
    put_str(w, "url", attribute_of(child_of(analytic ? analytic : monogr, "ptr"), "target"));
    put_text(w, "unstructured", child_with(bibl, "note", "type", "raw_reference"));
    gf_json_end(&w->json, '}');
}

/* The list of references lies in a div of back, which is marked as such or not. */
static void put_citations(writing *w, const gf_tei_node *back)
{
    uint64_t index = 0;
    gf_json_key(&w->json, "citations");
    gf_json_begin(&w->json, '[');
    for (const gf_tei_node *div = back ? back->children : NULL; div; div = div->next) {
        const gf_tei_node *list = is_element(div, "listBibl") ? div
                                  : is_element(div, "div")    ? child_of(div, "listBibl")
                                                              : NULL;
        for (const gf_tei_node *n = list ? list->children : NULL; n; n = n->next)
            if (is_element(n, "biblStruct")) put_citation(w, n, index++);
    }
    gf_json_end(&w->json, ']');
}

static void put_metadata(writing *w, const gf_tei_node *root)
{
    const gf_tei_node *header = child_of(root, "teiHeader"), *text = child_of(root, "text");
    const gf_tei_node *bibl = node_at(header, "fileDesc/sourceDesc/biblStruct");
    const gf_tei_node *analytic = child_of(bibl, "analytic"), *monogr = child_of(bibl, "monogr");
    const gf_tei_node *application = node_at(header, "encodingDesc/appInfo/application");
    const gf_tei_node *back = child_of(text, "back");
    const gf_tei_node *title = node_at(header, "fileDesc/titleStmt/title");
    put_str(w, "grobid_version", attribute_of(application, "version"));
    put_str(w, "grobid_timestamp", attribute_of(application, "when"));
    w->title = put_always(w, "title", title ? title : child_of(analytic, "title"));
    w->author = has_author(analytic);
    put_authors(w, analytic);
    put_journal(w, monogr);
    put_date(w, child_of(monogr, "imprint"));
    put_idno(w, "doi", bibl, analytic, "DOI");
    put_idno(w, "arxiv", bibl, analytic, "arXiv");
    put_citations(w, back);
    put_always(w, "abstract", node_at(header, "profileDesc/abstract"));
    put_text(w, "acknowledgement", child_with(back, "div", "type", "acknowledgement"));
}

static void put_body(writing *w, const gf_tei_node *root)
{
    const gf_tei_node *text = child_of(root, "text");
    const gf_tei_node *back = child_of(text, "back");
    w->body = put_always(w, "body", child_of(text, "body"));
    put_text(w, "annex", child_with(back, "div", "type", "annex"));
}

/* The metadata, and a copy of it that goes on with the texts. */
static gf_status write_json(const gf_tei_node *root, gf_tei *tei, gf_error *err)
{
    writing w = {.json = gf_json_writer_to(&tei->json)};
    gf_json_begin(&w.json, '{');
    put_metadata(&w, root);
    gf_buffer_slice(&tei->metadata, gf_buffer_view(&tei->json));
    gf_buffer_byte(&tei->metadata, '}');
    put_body(&w, root);
    gf_json_end(&w.json, '}');
    gf_buffer_release(&w.text);
    gf_status st = gf_buffer_check(&tei->json, err);
    if (st == GF_OK) st = gf_buffer_check(&tei->metadata, err);
    tei->quality = w.title && w.author && w.body ? "good" : w.title || w.body ? "marginal" : "bad";
    return st;
}

/* ---- documents ------------------------------------------------------------------------------- */

static void set_reason(gf_tei *tei, gf_tei_result result, const char *reason)
{
    gf_slice s = gf_slice_str(reason);
    while (s.len && (s.ptr[s.len - 1] == '\n' || s.ptr[s.len - 1] == ' '))
        s.len--;
    s.len = gf_utf8_valid_length(s);
    s = gf_utf8_cut(s, sizeof tei->reason - 1);
    memcpy(tei->reason, s.ptr, s.len);
    tei->reason[s.len] = '\0';
    tei->result = result;
}

gf_status gf_tei_read(gf_slice xml, gf_tei *tei, gf_error *err)
{
    gf_tei_parsed parsed;
    tei->result = GF_TEI_SUCCESS;
    tei->reason[0] = '\0';
    tei->quality = NULL;
    gf_buffer_reset(&tei->json);
    gf_buffer_reset(&tei->metadata);
    if (xml.len > GF_TEI_MOST) {
        tei->result = GF_TEI_OVERSIZE;
        return GF_OK;
    }
    gf_status st = tei->tree ? GF_OK : gf_tei_tree_create(&tei->tree, err);
    if (st == GF_OK) st = gf_tei_tree_parse(tei->tree, xml, tei->cancel, &parsed, err);
    if (st != GF_OK) return st;
    if (parsed.root && is_element(parsed.root, "TEI")) return write_json(parsed.root, tei, err);
    set_reason(tei, parsed.unsafe ? GF_TEI_UNSAFE : GF_TEI_FAIL,
               parsed.root ? "not TEI: its root is another element" : parsed.reason);
    return GF_OK;
}
