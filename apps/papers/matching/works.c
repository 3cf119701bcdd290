/*
 * Works by slug: a set of slugs, and of each a chain of its works.
 *
 *     slugs[id] -> first[id] -> entries[i] -> next -> ...
 *
 * The bytes of entries[i] are records[i], so that a record that comes again is known by them:
 *
 *     id of the slug | partial | lengths of title, id, DOI | title | id | DOI | surnames
 */
#include "apps/papers/matching/works.h"

#include "apps/papers/matching/surnames.h"
#include "base/grow.h"
#include "base/memory.h"
#include "base/strings.h"

#define NONE UINT32_MAX

typedef struct entry {
    gf_slice title, id, doi;
    gf_slice surnames; /* folded, each with a NUL behind it */
    uint32_t next;
    bool partial; /* the title lacks a subtitle */
} entry;

struct gf_works {
    gf_strings slugs; /* that are wanted */
    uint32_t *first;  /* first_capacity: slugs.n of them are set */
    entry *entries;   /* capacity: records.n of them are set */
    size_t first_capacity, capacity;
    gf_strings records;
    gf_buffer slug, theirs, record;
};

gf_status gf_works_create(gf_works **works, gf_error *err)
{
    gf_works *w = gf_calloc(1, sizeof *w);
    if (!w) return gf_fail_memory(err, "works");
    *works = w;
    return GF_OK;
}

void gf_works_free(gf_works *w)
{
    if (!w) return;
    gf_strings_release(&w->slugs);
    gf_free(w->first);
    gf_free(w->entries);
    gf_strings_release(&w->records);
    gf_buffer_release(&w->slug);
    gf_buffer_release(&w->theirs);
    gf_buffer_release(&w->record);
    gf_free(w);
}

/* ---- matches --------------------------------------------------------------------------------- */

static int compare_bytes(gf_slice a, gf_slice b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.ptr, b.ptr, n) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

/* None comes last. */
static int compare_dois(gf_slice a, gf_slice b)
{
    if (!a.len || !b.len) return (a.len == 0) - (b.len == 0);
    return compare_bytes(a, b);
}

static int compare_rank(const gf_works_match *a, const gf_works_match *b)
{
    return a->kind != b->kind ? (a->kind > b->kind) - (a->kind < b->kind)
                              : (a->score > b->score) - (a->score < b->score);
}

/* The least of three DOIs that is not `but`. */
static gf_slice second_doi(gf_slice but, gf_slice a, gf_slice b, gf_slice c)
{
    gf_slice all[] = {a, b, c}, least = {"", 0};
    for (int i = 0; i < 3; i++)
        if (all[i].len && !gf_slice_equal(all[i], but) && compare_dois(all[i], least) < 0)
            least = all[i];
    return least;
}

/* Both are of one rank: the least DOI, the second least, and the least id of the first. */
gf_works_match gf_works_match_join(const gf_works_match *a, const gf_works_match *b)
{
    int order = compare_rank(a, b);
    if (order) return order > 0 ? *a : *b;
    order = compare_dois(a->doi, b->doi);
    if (order == 0) order = compare_bytes(a->id, b->id);
    const gf_works_match *low = order <= 0 ? a : b, *high = order <= 0 ? b : a;
    gf_works_match both = *low;
    both.others = a->others || b->others;
    both.also = low->kind >= GF_MATCH_TITLE ? second_doi(low->doi, low->also, high->doi, high->also)
                                            : (gf_slice){"", 0};
    return both;
}

bool gf_works_match_equal(const gf_works_match *a, const gf_works_match *b)
{
    return compare_rank(a, b) == 0 && gf_slice_equal(a->id, b->id) &&
           gf_slice_equal(a->doi, b->doi) && gf_slice_equal(a->also, b->also) &&
           a->others == b->others;
}

const char *gf_works_match_status(const gf_works_match *m)
{
    if (m->kind < GF_MATCH_TITLE) return "no-match";
    return m->kind == GF_MATCH_TITLE || m->also.len || m->others ? "ambiguous" : "match";
}

gf_slice gf_works_match_doi(const gf_works_match *m)
{
    bool is_match = m->kind == GF_MATCH_AGREES && !m->also.len && !m->others;
    return is_match ? m->doi : (gf_slice){"", 0};
}

/* ---- surnames -------------------------------------------------------------------------------- */

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

/* The slug into w->slug; false where the title has none. */
static gf_status make_slug(gf_works *w, gf_slice title, bool *has, gf_error *err)
{
    gf_buffer_reset(&w->slug);
    gf_status st = gf_title_slug(title, &w->slug, err);
    *has = st == GF_OK && w->slug.len > 0;
    return st;
}

gf_status gf_works_want(gf_works *w, gf_slice title, gf_error *err)
{
    uint32_t id;
    bool has, is_new;
    gf_status st = make_slug(w, title, &has, err);
    if (!has) return st;
    if (!gf_grow(&w->first, &w->first_capacity, (size_t)w->slugs.n + 1, sizeof *w->first))
        return gf_fail_memory(err, "works");
    st = gf_strings_add(&w->slugs, gf_buffer_view(&w->slug), &id, &is_new, err);
    if (st == GF_OK && is_new) w->first[id] = NONE;
    return st;
}

static gf_slice take_bytes(gf_slice *s, size_t n)
{
    gf_slice taken = gf_slice_of(s->ptr, n);
    *s = gf_slice_skip(*s, n);
    return taken;
}

/* A record that comes again, as in parts that overlap, is there already. */
static gf_status add_entry(gf_works *w, uint32_t slug, const gf_work *work, size_t i, gf_error *err)
{
    const gf_slice parts[] = {work->titles[i], work->id, work->doi, work->surnames};
    gf_buffer *r = &w->record;
    uint32_t id;
    bool is_new;
    gf_buffer_reset(r);
    gf_buffer_u32be(r, slug);
    gf_buffer_byte(r, (char)work->partial[i]);
    for (int k = 0; k < 3; k++)
        gf_buffer_u64be(r, parts[k].len);
    size_t head = r->len;
    for (int k = 0; k < 4; k++)
        gf_buffer_slice(r, parts[k]);
    gf_status st = gf_buffer_check(r, err);
    if (st != GF_OK) return st;
    if (!gf_grow(&w->entries, &w->capacity, (size_t)w->records.n + 1, sizeof *w->entries))
        return gf_fail_memory(err, "works");
    st = gf_strings_add(&w->records, gf_buffer_view(r), &id, &is_new, err);
    if (st != GF_OK || !is_new) return st;
    gf_slice bytes = gf_slice_skip(gf_strings_at(&w->records, id), head);
    entry e = {.next = w->first[slug], .partial = work->partial[i]};
    e.title = take_bytes(&bytes, parts[0].len);
    e.id = take_bytes(&bytes, parts[1].len);
    e.doi = take_bytes(&bytes, parts[2].len);
    e.surnames = bytes;
    w->entries[id] = e;
    w->first[slug] = id;
    return GF_OK;
}

gf_status gf_works_add(gf_works *w, const gf_work *work, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < work->n_titles && st == GF_OK; i++) {
        bool has;
        st = make_slug(w, work->titles[i], &has, err);
        if (!has) continue;
        uint32_t slug = gf_strings_find(&w->slugs, gf_buffer_view(&w->slug));
        if (slug != GF_STRING_NONE) st = add_entry(w, slug, work, i, err);
    }
    return st;
}

/* ---- finding --------------------------------------------------------------------------------- */

static gf_match_kind kind_of(const entry *e, int score, gf_slice theirs)
{
    if (score < GF_SCORE_MATCH) return GF_MATCH_DIFFERS;
    if (!e->surnames.len || !theirs.len) return GF_MATCH_TITLE;
    if (!has_all(theirs, e->surnames)) return GF_MATCH_DIFFERS;
    return e->partial ? GF_MATCH_TITLE : GF_MATCH_AGREES;
}

gf_status gf_works_find(gf_works *w, gf_slice title, gf_json_value authors, const gf_cancel *cancel,
                        gf_works_match *match, gf_error *err)
{
    gf_works_match best = {.id = {"", 0}, .doi = {"", 0}, .also = {"", 0}};
    bool has;
    gf_buffer_reset(&w->theirs);
    gf_status st = make_slug(w, title, &has, err);
    if (st == GF_OK) st = gf_surnames_append(authors, false, &w->theirs, err);
    if (st != GF_OK) return st;
    gf_slice theirs = w->theirs.len ? gf_buffer_view(&w->theirs) : (gf_slice){"", 0};
    uint32_t slug = has ? gf_strings_find(&w->slugs, gf_buffer_view(&w->slug)) : GF_STRING_NONE;
    for (uint32_t i = slug == GF_STRING_NONE ? NONE : w->first[slug]; i != NONE && st == GF_OK;
         i = w->entries[i].next) {
        const entry *e = &w->entries[i];
        gf_works_match one = {.id = e->id, .doi = e->doi, .also = {"", 0}};
        st = gf_cancel_check(cancel, err);
        if (st != GF_OK) break;
        one.score = gf_title_score(title, e->title);
        one.kind = kind_of(e, one.score, theirs);
        best = gf_works_match_join(&best, &one);
    }
    if (st == GF_OK) *match = best;
    return st;
}
