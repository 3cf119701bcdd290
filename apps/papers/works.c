/*
 * Records by slug: a set of slugs, and of each a chain of its records.
 *
 *     slugs[id] -> first[id] -> records[i] -> next -> ...      newest first
 */
#include "apps/papers/works.h"

#include "base/arena.h"
#include "base/grow.h"
#include "base/memory.h"
#include "base/strings.h"

#define NONE UINT32_MAX
enum { MOST_SURNAMES = 10000 };

typedef struct entry {
    gf_slice title, id, doi;
    gf_slice surnames; /* folded, each with a NUL behind it */
    uint32_t next;
} entry;

struct gf_works {
    gf_strings slugs;
    uint32_t *first; /* first_capacity */
    entry *entries;  /* n, capacity */
    size_t first_capacity, n, capacity;
    gf_arena memory;
    gf_json_parser *json;
    gf_buffer slug, names, theirs;
};

gf_status gf_works_create(gf_works **catalogue, gf_error *err)
{
    gf_works *c = gf_calloc(1, sizeof *c);
    if (!c) return gf_fail_memory(err, "a catalogue");
    gf_status st = gf_json_parser_create(&c->json, err);
    if (st != GF_OK) {
        gf_free(c);
        return st;
    }
    *catalogue = c;
    return GF_OK;
}

void gf_works_free(gf_works *c)
{
    if (!c) return;
    gf_strings_release(&c->slugs);
    gf_free(c->first);
    gf_free(c->entries);
    gf_arena_release(&c->memory);
    gf_json_parser_free(c->json);
    gf_buffer_release(&c->slug);
    gf_buffer_release(&c->names);
    gf_buffer_release(&c->theirs);
    gf_free(c);
}

/* ---- surnames -------------------------------------------------------------------------------- */

/* The surname: in "Lovelace, Ada" the text before the comma, in "Ada Lovelace" the last word. */
static gf_slice surname_of(gf_slice name)
{
    const char *comma = name.len ? memchr(name.ptr, ',', name.len) : NULL;
    size_t from = name.len;
    if (comma) return gf_slice_of(name.ptr, (size_t)(comma - name.ptr));
    while (name.len && name.ptr[name.len - 1] == ' ')
        from = --name.len;
    while (from > 0 && name.ptr[from - 1] != ' ')
        from--;
    return gf_slice_skip(name, from);
}

static gf_slice author_surname(gf_json_value author)
{
    static const char *const names[] = {"surname", "family"};
    gf_json_value v;
    if (gf_json_kind_of(author) == GF_JSON_STRING) return surname_of(gf_json_get_string(author));
    if (gf_json_kind_of(author) != GF_JSON_OBJECT) return (gf_slice){"", 0};
    for (int i = 0; i < 2; i++)
        if (gf_json_member(author, names[i], &v) && gf_json_kind_of(v) == GF_JSON_STRING)
            return gf_json_get_string(v);
    if (gf_json_member(author, "name", &v) && gf_json_kind_of(v) == GF_JSON_STRING)
        return surname_of(gf_json_get_string(v));
    return (gf_slice){"", 0};
}

/* Each surname, folded, with a NUL behind it; each is compared with each of another list. */
static gf_status list_surnames(gf_json_value authors, gf_buffer *out, gf_error *err)
{
    gf_json_value author;
    gf_status st = GF_OK;
    gf_buffer_reset(out);
    if (gf_json_kind_of(authors) != GF_JSON_ARRAY) return GF_OK;
    gf_json_iterator it = gf_json_items(authors);
    for (int n = 0; n < MOST_SURNAMES && st == GF_OK && gf_json_next(&it, NULL, &author); n++) {
        size_t start = out->len;
        st = gf_title_fold(author_surname(author), out, err);
        if (out->len > start) gf_buffer_byte(out, '\0');
    }
    return st == GF_OK ? gf_buffer_check(out, err) : st;
}

static bool take_surname(gf_slice *list, gf_slice *surname)
{
    if (list->len == 0) return false;
    size_t n = strlen(list->ptr);
    *surname = gf_slice_of(list->ptr, n);
    *list = gf_slice_skip(*list, n + 1);
    return true;
}

static bool has_surname(gf_slice list, gf_slice wanted)
{
    gf_slice surname;
    while (take_surname(&list, &surname))
        if (gf_slice_equal(surname, wanted)) return true;
    return false;
}

static bool has_all(gf_slice list, gf_slice wanted)
{
    gf_slice surname;
    while (take_surname(&wanted, &surname))
        if (!has_surname(list, surname)) return false;
    return true;
}

/* ---- adding ---------------------------------------------------------------------------------- */

static gf_status read_fields(gf_works *c, const gf_document *d, gf_slice *doi, gf_error *err)
{
    gf_status st = GF_OK;
    gf_json_value v;
    *doi = (gf_slice){"", 0};
    gf_buffer_reset(&c->names);
    for (size_t i = 0; i < d->n_fields && st == GF_OK; i++) {
        bool is_doi = gf_slice_equal(d->fields[i].name, GF_SLICE("doi"));
        if (!is_doi && !gf_slice_equal(d->fields[i].name, GF_SLICE("authors"))) continue;
        st = gf_json_parse_copy(c->json, d->fields[i].json, &v, err);
        if (st == GF_OK && !is_doi) st = list_surnames(v, &c->names, err);
        if (st != GF_OK || !is_doi || gf_json_kind_of(v) != GF_JSON_STRING) continue;
        *doi = gf_arena_copy(&c->memory, gf_json_get_string(v));
        if (!doi->ptr) st = gf_fail_memory(err, "a catalogue");
    }
    return st;
}

gf_status gf_works_add(gf_works *c, const gf_document *d, bool *added, gf_error *err)
{
    uint32_t slug;
    bool is_new;
    entry e = {.next = NONE};
    gf_buffer_reset(&c->slug);
    gf_status st = gf_title_slug(d->text, &c->slug, err);
    *added = st == GF_OK && c->slug.len > 0;
    if (!*added) return st;
    st = read_fields(c, d, &e.doi, err);
    if (st == GF_OK)
        st = gf_grow(&c->first, &c->first_capacity, (size_t)c->slugs.n + 1, sizeof *c->first)
                 ? GF_OK
                 : gf_fail_memory(err, "a catalogue");
    if (st == GF_OK)
        st = gf_grow(&c->entries, &c->capacity, (size_t)c->n + 1, sizeof *c->entries)
                 ? GF_OK
                 : gf_fail_memory(err, "a catalogue");
    if (st != GF_OK) return st;
    e.title = gf_arena_copy(&c->memory, d->text);
    e.id = gf_arena_copy(&c->memory, d->id);
    e.surnames =
        gf_arena_copy(&c->memory, c->names.len ? gf_buffer_view(&c->names) : (gf_slice){"", 0});
    if (!e.title.ptr || !e.id.ptr || !e.surnames.ptr) return gf_fail_memory(err, "a catalogue");
    st = gf_strings_add(&c->slugs, gf_buffer_view(&c->slug), &slug, &is_new, err);
    if (st != GF_OK) return st;
    if (!is_new) e.next = c->first[slug];
    c->entries[c->n] = e;
    c->first[slug] = (uint32_t)c->n++;
    return GF_OK;
}

/* ---- finding --------------------------------------------------------------------------------- */

/* Among equal scores the record that was added first wins: later ones in the chain are older. */
static void take_match(gf_works_match *match, const entry *e, int score, bool agrees)
{
    bool found = agrees && score >= GF_SCORE_MATCH;
    bool better = found != match->found ? found : score >= match->score;
    bool same = found && match->found && score == match->score;
    bool ambiguous = same && (match->ambiguous || !gf_slice_equal(match->doi, e->doi));
    if (better) *match = (gf_works_match){found, ambiguous, e->id, e->doi, e->title, score};
}

gf_status gf_works_find(gf_works *c, gf_slice title, gf_json_value authors, const gf_cancel *cancel,
                        gf_works_match *match, gf_error *err)
{
    gf_works_match best = {.found = false};
    gf_buffer_reset(&c->slug);
    gf_status st = gf_title_slug(title, &c->slug, err);
    if (st == GF_OK) st = list_surnames(authors, &c->theirs, err);
    if (st != GF_OK) return st;
    uint32_t slug =
        c->slug.len ? gf_strings_find(&c->slugs, gf_buffer_view(&c->slug)) : GF_STRING_NONE;
    for (uint32_t i = slug == GF_STRING_NONE ? NONE : c->first[slug]; i != NONE && st == GF_OK;
         i = c->entries[i].next) {
        const entry *e = &c->entries[i];
        int score = 0;
        st = gf_cancel_check(cancel, err);
        if (st == GF_OK) st = gf_title_score(title, e->title, &score, err);
        if (st == GF_OK)
            take_match(&best, e, score, has_all(gf_buffer_view(&c->theirs), e->surnames));
    }
    if (st == GF_OK) *match = best;
    return st;
}
