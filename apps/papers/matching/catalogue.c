/*
 * One record on its way: the fields that are looked for are one JSON object again, which is parsed,
 * so that records of JSON and rows of CSV are read alike.
 */
#include "apps/papers/matching/catalogue.h"

#include "apps/papers/matching/doi.h"
#include "apps/papers/matching/markup.h"
#include "apps/papers/matching/surnames.h"
#include "apps/papers/matching/title.h"
#include "apps/papers/matching/trim.h"
#include "base/json/writer.h"
#include "base/memory.h"

#include <string.h>

enum { MOST_DEPTH = 8, MOST_PATHS = 4 };

struct gf_catalogue {
    gf_catalogue_fields fields;
    gf_slice names[GF_CATALOGUE_NAMES]; /* n: first parts of all paths */
    size_t n;
    gf_json_parser *json;
    gf_buffer object, id, doi, names_of, titles, subtitle, part;
    size_t ends[GF_WORK_TITLES]; /* of each title in `titles` */
    bool partial[GF_WORK_TITLES];
    size_t n_titles;
};

/* ---- fields ---------------------------------------------------------------------------------- */

static gf_slice first_part(gf_slice path)
{
    const char *dot = memchr(path.ptr, '.', path.len);
    return dot ? gf_slice_of(path.ptr, (size_t)(dot - path.ptr)) : path;
}

static void want(gf_catalogue *c, gf_slice path)
{
    gf_slice name = path.len ? first_part(path) : path;
    for (size_t i = 0; i < c->n; i++)
        if (gf_slice_equal(c->names[i], name)) return;
    if (name.len && c->n < GF_CATALOGUE_NAMES) c->names[c->n++] = name;
}

/* A name with dots in it, and the way by its parts. */
static void want_given(gf_catalogue *c, gf_slice path)
{
    if (path.len && c->n < GF_CATALOGUE_NAMES) c->names[c->n++] = path;
    want(c, path);
}

gf_status gf_catalogue_create(const gf_catalogue_fields *fields, gf_catalogue **catalogue,
                              gf_error *err)
{
    static const char *const usual[] = {
        "title",    "subtitle", "original-title", "original_title", "DOI",
        "doi",      "ext_ids",  "ident",          "authors",        "author",
        "contribs", "message",  "contrib_names"};
    gf_catalogue *c = gf_calloc(1, sizeof *c);
    if (!c) return gf_fail_memory(err, "a catalogue");
    c->fields = *fields;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        want(c, gf_slice_str(usual[i]));
    want_given(c, fields->id);
    want_given(c, fields->title);
    want_given(c, fields->doi);
    want_given(c, fields->authors);
    gf_status st = gf_json_parser_create(&c->json, err);
    if (st != GF_OK) {
        gf_catalogue_free(c);
        return st;
    }
    *catalogue = c;
    return GF_OK;
}

void gf_catalogue_free(gf_catalogue *c)
{
    if (!c) return;
    gf_json_parser_free(c->json);
    gf_buffer_release(&c->object);
    gf_buffer_release(&c->id);
    gf_buffer_release(&c->doi);
    gf_buffer_release(&c->names_of);
    gf_buffer_release(&c->titles);
    gf_buffer_release(&c->subtitle);
    gf_buffer_release(&c->part);
    gf_free(c);
}

void gf_catalogue_options(gf_catalogue *c, gf_reader_options *o)
{
    static const gf_slice title = {"title", 5};
    o->id = c->fields.id;
    o->text = c->fields.title.len ? &c->fields.title : &title;
    o->n_text = 1;
    o->text_is_fixed = o->without_text = o->unwraps = o->some_fields = true;
    o->fields = c->names;
    o->n_fields = c->n;
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool member_of(gf_json_value v, gf_slice name, gf_json_value *member)
{
    gf_slice key;
    if (gf_json_kind_of(v) != GF_JSON_OBJECT) return false;
    gf_json_iterator it = gf_json_items(v);
    while (gf_json_next(&it, &key, member))
        if (gf_slice_equal(key, name)) return true;
    return false;
}

/* The value at a path: "a.b" is b of a; a member whose name has the dots comes first. */
static bool value_at(gf_json_value v, gf_slice path, gf_json_value *at)
{
    if (member_of(v, path, at)) return gf_json_kind_of(*at) != GF_JSON_NULL;
    for (int depth = 0; depth < MOST_DEPTH; depth++) {
        gf_slice name = first_part(path);
        if (!member_of(v, name, at)) return false;
        if (name.len == path.len) return gf_json_kind_of(*at) != GF_JSON_NULL;
        path = gf_slice_skip(path, name.len + 1);
        v = *at;
    }
    return false;
}

/* The first of the paths that leads somewhere: the one that was given, else the usual ones. */
static bool find_value(gf_json_value root, gf_slice given, const char *const usual[MOST_PATHS],
                       gf_json_value *at)
{
    if (given.len) return value_at(root, given, at);
    for (int i = 0; i < MOST_PATHS && usual[i]; i++) {
        if (!value_at(root, gf_slice_str(usual[i]), at)) continue;
        gf_json_value item;
        gf_json_kind kind = gf_json_kind_of(*at);
        gf_json_iterator it = {.is_object = 0};
        if (kind == GF_JSON_ARRAY) it = gf_json_items(*at);
        if (kind == GF_JSON_ARRAY && !gf_json_next(&it, NULL, &item)) continue;
        if (kind != GF_JSON_STRING || gf_json_get_string(*at).len) return true;
    }
    return false;
}

static gf_slice string_of(gf_json_value v)
{
    return gf_json_kind_of(v) == GF_JSON_STRING ? gf_json_get_string(v) : (gf_slice){"", 0};
}

/* ---- titles ---------------------------------------------------------------------------------- */

static gf_slice title_at(const gf_catalogue *c, size_t i)
{
    size_t from = i ? c->ends[i - 1] : 0;
    if (c->ends[i] == from) return (gf_slice){"", 0};
    return gf_slice_of(c->titles.ptr + from, c->ends[i] - from);
}

static gf_status add_title(gf_catalogue *c, gf_slice title, gf_error *err)
{
    size_t before = c->titles.len;
    if (c->n_titles == GF_WORK_TITLES) return GF_OK;
    c->partial[c->n_titles] = false;
    gf_status st = gf_markup_strip(title, &c->titles, err);
    if (st != GF_OK) return st;
    bool blank = gf_trim(gf_slice_skip(gf_buffer_view(&c->titles), before)).len == 0;
    if (blank)
        c->titles.len = before;
    else
        c->ends[c->n_titles++] = c->titles.len;
    return GF_OK;
}

/* A title, or each of an array. */
static gf_status add_titles(gf_catalogue *c, gf_json_value v, gf_error *err)
{
    gf_json_value item;
    gf_status st = GF_OK;
    if (gf_json_kind_of(v) == GF_JSON_STRING) return add_title(c, gf_json_get_string(v), err);
    if (gf_json_kind_of(v) != GF_JSON_ARRAY) return GF_OK;
    gf_json_iterator it = gf_json_items(v);
    while (st == GF_OK && c->n_titles < GF_WORK_TITLES && gf_json_next(&it, NULL, &item))
        st = add_title(c, string_of(item), err);
    return st;
}

/* Does the title have the subtitle already, as some publishers write it? */
static gf_status has_subtitle(gf_catalogue *c, gf_slice title, gf_slice subtitle, bool *has,
                              gf_error *err)
{
    gf_buffer_reset(&c->part);
    gf_status st = gf_title_fold(title, &c->part, err);
    size_t n = c->part.len;
    if (st == GF_OK) st = gf_title_fold(subtitle, &c->part, err);
    *has = st == GF_OK && memmem(c->part.ptr, n, c->part.ptr + n, c->part.len - n) != NULL;
    return st;
}

/*
 * "Bees" with the subtitle "How they dance" is "Bees: How they dance". "Bees" alone may as well be
 * another work, such as "Bees: a review" by the same authors.
 */
static gf_status add_subtitle(gf_catalogue *c, gf_slice subtitle, gf_error *err)
{
    size_t n = c->n_titles;
    gf_status st = GF_OK;
    for (size_t i = 0; i < n && st == GF_OK; i++) {
        bool has;
        st = has_subtitle(c, title_at(c, i), subtitle, &has, err);
        if (st != GF_OK || has) continue;
        c->partial[i] = true;
        gf_buffer_reset(&c->part);
        gf_buffer_slice(&c->part, title_at(c, i));
        gf_buffer_str(&c->part, ": ");
        gf_buffer_slice(&c->part, subtitle);
        st = gf_buffer_check(&c->part, err);
        if (st == GF_OK) st = add_title(c, gf_buffer_view(&c->part), err);
    }
    return st;
}

static gf_status read_titles(gf_catalogue *c, gf_json_value root, gf_error *err)
{
    static const char *const usual[MOST_PATHS] = {"title"},
                             *const subtitles[MOST_PATHS] = {"subtitle"},
                             *const originals[MOST_PATHS] = {"original-title", "original_title"};
    gf_json_value v, item;
    gf_status st = GF_OK;
    gf_slice none = {"", 0}, subtitle;
    gf_buffer_reset(&c->titles);
    c->n_titles = 0;
    if (find_value(root, c->fields.title, usual, &v)) st = add_titles(c, v, err);
    if (st == GF_OK && c->n_titles && find_value(root, none, subtitles, &v)) {
        subtitle = string_of(v);
        if (gf_json_kind_of(v) == GF_JSON_ARRAY) {
            gf_json_iterator it = gf_json_items(v);
            if (gf_json_next(&it, NULL, &item)) subtitle = string_of(item);
        }
        gf_buffer_reset(&c->subtitle);
        st = gf_markup_strip(gf_trim(subtitle), &c->subtitle, err);
        if (st == GF_OK && c->subtitle.len) st = add_subtitle(c, gf_buffer_view(&c->subtitle), err);
    }
    if (st == GF_OK && find_value(root, none, originals, &v)) st = add_titles(c, v, err);
    return st;
}

/* ---- records --------------------------------------------------------------------------------- */

static gf_status parse_fields(gf_catalogue *c, const gf_document *d, gf_json_value *root,
                              gf_error *err)
{
    gf_json_value v;
    gf_buffer_reset(&c->object);
    gf_json_writer w = gf_json_writer_to(&c->object);
    gf_json_begin(&w, '{');
    for (size_t i = 0; i < d->n_fields; i++) {
        gf_json_key_slice(&w, d->fields[i].name);
        gf_json_raw(&w, d->fields[i].json);
    }
    gf_json_end(&w, '}');
    gf_status st = gf_buffer_check(&c->object, err);
    if (st == GF_OK) st = gf_json_parse_copy(c->json, gf_buffer_view(&c->object), root, err);
    if (st == GF_OK && gf_json_member(*root, "message", &v) && gf_json_kind_of(v) == GF_JSON_OBJECT)
        *root = v;
    return st;
}

static gf_status read_doi(gf_catalogue *c, gf_json_value root, gf_error *err)
{
    static const char *const usual[MOST_PATHS] = {"DOI", "doi", "ext_ids.doi"};
    gf_json_value v;
    gf_buffer_reset(&c->doi);
    if (find_value(root, c->fields.doi, usual, &v)) gf_doi_append(string_of(v), &c->doi);
    return gf_buffer_check(&c->doi, err);
}

static gf_slice view_of(const gf_buffer *b)
{
    return b->len ? gf_buffer_view(b) : (gf_slice){"", 0};
}

/* The id: the record's, else its DOI, else its hash. */
static gf_status read_id(gf_catalogue *c, gf_json_value root, const gf_record *record, gf_slice *id,
                         gf_error *err)
{
    static const char *const usual[MOST_PATHS] = {"id", "ident"};
    gf_json_value v;
    *id = record->document.id;
    if (!record->hashed_id) return GF_OK;
    gf_buffer_reset(&c->id);
    if (find_value(root, c->fields.id, usual, &v)) {
        if (gf_json_kind_of(v) == GF_JSON_STRING)
            gf_buffer_slice(&c->id, gf_json_get_string(v));
        else if (gf_json_is_number(v))
            gf_json_write(v, &c->id, NULL);
    }
    if (c->id.len == 0) gf_buffer_slice(&c->id, view_of(&c->doi));
    if (c->id.len > GF_MAX_ID) gf_buffer_reset(&c->id);
    if (c->id.len) *id = gf_buffer_view(&c->id);
    return gf_buffer_check(&c->id, err);
}

/* Are these the authors of a record of Crossref? */
static bool is_crossref(gf_json_value root, gf_json_value authors)
{
    gf_json_value doi, author;
    return gf_json_member(root, "DOI", &doi) && gf_json_member(root, "author", &author) &&
           author.index == authors.index;
}

gf_status gf_catalogue_read(gf_catalogue *c, const gf_record *record, gf_work *work, gf_error *err)
{
    static const char *const usual[MOST_PATHS] = {"authors", "author", "contribs", "contrib_names"};
    gf_json_value root, v;
    gf_slice id = {"", 0};
    gf_status st = parse_fields(c, &record->document, &root, err);
    if (st == GF_OK) st = read_titles(c, root, err);
    if (st == GF_OK) st = read_doi(c, root, err);
    if (st == GF_OK) st = read_id(c, root, record, &id, err);
    gf_buffer_reset(&c->names_of);
    if (st == GF_OK && find_value(root, c->fields.authors, usual, &v))
        st = gf_surnames_append(v, is_crossref(root, v), &c->names_of, err);
    if (st != GF_OK) return st;
    *work = (gf_work){.id = id, .doi = view_of(&c->doi), .surnames = view_of(&c->names_of)};
    while (work->n_titles < c->n_titles) {
        work->titles[work->n_titles] = title_at(c, work->n_titles);
        work->partial[work->n_titles] = c->partial[work->n_titles];
        work->n_titles++;
    }
    return GF_OK;
}
