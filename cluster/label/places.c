/*
 * How the best candidates of a cluster stand in the texts that stand for all: the form in which
 * they are written, the documents that have them, and what tells a name from what only looks so:
 *
 *     heading      "Edit:" at the start of a line, but not of the text
 *     entity       "&amp;"
 *     cut word     "Jaehrige", of 32-Jaehrige and 45-Jaehrige; where the number is mostly the same, it
 *                  belongs to the name
 *     everywhere   a mention, or a name, that a tenth of all documents have
 *     boilerplate  the same before and behind it in nine of ten places
 */
#include "base/memory.h"
#include "base/utf8.h"
#include "cluster/label/internal.h"

#include <stdlib.h>
#include <string.h>

#define NEARLY_ALWAYS 0.9
#define MOSTLY        0.5
#define EVERYWHERE    0.1 /* share of all documents from which a name says nothing */
#define NAMED         0.8 /* share of the places with a capital that makes a name */
#define NAME_LIFT     4.0 /* how much more frequent than in all documents such a name has to be */

enum {
    LEAST_PLACES = 5,      /* below which nothing is said of neighbours */
    LEAST_DOCUMENTS = 100, /* below which nothing is everywhere */
    MOST_PREFIX = 16       /* bytes of what is cut off before a form */
};

/* Keys of a tally: the candidate's number, one of these, and a text. */
enum { FORM = 'F', PREFIX = 'P', SUFFIX = 'S', BEFORE = 'B', BEHIND = 'N' };

/* Kinds of neighbours. */
enum { A_WORD = 'w', NO_NAME = 's', AN_END = 'e' };

/* Sums over the places of a candidate. */
typedef struct facts {
    uint32_t n, headings, entities, glued, mentions, inside, named;
} facts;

/* The text that was tallied most often, of equals the lowest. */
typedef struct most {
    gf_slice text;
    uint32_t count;
} most;

/* One place of a candidate: n_words of the document's from the first on; its number of all. */
typedef struct spot {
    const gf_label_document *d;
    uint32_t first, n_words, place;
} spot;

typedef struct looking {
    const gf_labelling *l;
    const gf_label_cluster *cluster;
    gf_label_counted *counted;
    gf_strings top;        /* keys of the candidates that are looked at, in their order */
    gf_phrase_slots words; /* marked: theirs */
    gf_phrase_tally seen;
    gf_buffer key;
    facts facts[GF_LABEL_TOP];
    spot early[GF_LABEL_TOP]
              [LEAST_PLACES - 1]; /* whose neighbours are tallied where there are more */
    bool was[GF_LABEL_TOP][2];    /* is the first or second part of the label before */
    uint32_t place;               /* of all that were met, so that each is tallied */
} looking;

/* ---- one place ------------------------------------------------------------------------------- */

static void begin_key(looking *k, uint32_t candidate, char what)
{
    gf_buffer_reset(&k->key);
    gf_buffer_byte(&k->key, (char)candidate);
    gf_buffer_byte(&k->key, what);
}

static gf_status tally(looking *k, uint32_t place, gf_error *err)
{
    gf_status st = gf_buffer_check(&k->key, err);
    if (st != GF_OK) return st;
    return gf_phrase_tally_add(&k->seen, gf_buffer_view(&k->key), (gf_phrase_tallied){0}, place,
                               err);
}

static bool is_letter_or_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_markup(char c)
{
    return c != '\0' && strchr(" \t*_>#~`", c) != NULL;
}

/* True for "Edit:" at the start of a line, but not of the text; with a number and markup, too. */
static bool is_heading(gf_slice text, size_t start, size_t end)
{
    size_t at = start;
    while (at > 0 && is_markup(text.ptr[at - 1]))
        at--;
    if (at == 0 || text.ptr[at - 1] != '\n') return false;
    while (end < text.len &&
           (is_markup(text.ptr[end]) || (text.ptr[end] >= '0' && text.ptr[end] <= '9')))
        end++;
    return end < text.len && text.ptr[end] == ':';
}

/* True for "amp" of "&amp;", and where the sign before it was lost. */
static bool is_entity(gf_slice text, size_t start, size_t end)
{
    static const char *const names[] = {"amp", "lt", "gt", "quot", "nbsp", "apos"};
    if (end >= text.len || text.ptr[end] != ';') return false;
    if (start > 0 && text.ptr[start - 1] == '&') return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (gf_slice_equal(gf_slice_of(text.ptr + start, end - start), gf_slice_str(names[i])))
            return true;
    return false;
}

/* Letters right before the phrase that are no word of a phrase by themselves, such as "32-". */
static gf_slice prefix_of(const gf_phrase_walk *w, size_t start)
{
    gf_slice text = w->d->text;
    size_t at = start;
    if (w->first > 0) {
        const gf_label_word *before = &w->d->words[w->first - 1];
        bool word = !(before->flags & (GF_LABEL_INNER | GF_LABEL_NUMBER | GF_LABEL_NEVER));
        if (word && (size_t)before->start + before->length + 1 >= start) return (gf_slice){"", 0};
    }
    if (at == 0 || (text.ptr[at - 1] != '-' && !is_letter_or_digit(text.ptr[at - 1])))
        return (gf_slice){"", 0};
    while (at > 0 && start - at < MOST_PREFIX &&
           (text.ptr[at - 1] == '-' || is_letter_or_digit(text.ptr[at - 1])))
        at--;
    while (at < start && text.ptr[at] == '-')
        at++;
    return gf_slice_of(text.ptr + at, start - at);
}

/* The signs of C++ and C#, or the ideograph that follows. */
static gf_slice suffix_of(const gf_phrase_walk *w, size_t end)
{
    gf_slice text = w->d->text;
    size_t to = end;
    bool letter = w->n_words == 1 && w->d->words[w->first].length == 1;
    while (letter && to < text.len && to - end < 2 && (text.ptr[to] == '+' || text.ptr[to] == '#'))
        to++;
    return to > end ? gf_slice_of(text.ptr + end, to - end) : gf_phrase_next_ideograph(w);
}

/* The word before or behind the phrase, or that a sentence begins or ends there. */
static gf_status tally_neighbour(looking *k, const spot *at, uint32_t candidate, char what,
                                 gf_error *err)
{
    uint32_t last = at->first + at->n_words - 1;
    const gf_label_word *words = at->d->words, *neighbour = NULL;
    if (what == BEFORE && at->first > 0 && !(words[at->first].flags & GF_LABEL_BREAK))
        neighbour = &words[at->first - 1];
    if (what == BEHIND && last + 1 < at->d->n_words && !(words[last + 1].flags & GF_LABEL_BREAK))
        neighbour = &words[last + 1];
    const uint32_t names_nothing =
        GF_LABEL_INNER | GF_LABEL_VAGUE | GF_LABEL_UNIT | GF_LABEL_NUMBER | GF_LABEL_NEVER;
    char kind = !neighbour ? AN_END : neighbour->flags & names_nothing ? NO_NAME : A_WORD;
    begin_key(k, candidate, what);
    gf_buffer_byte(&k->key, kind);
    if (neighbour) gf_phrase_word_key(&k->key, at->d, neighbour);
    return tally(k, at->place, err);
}

/* The neighbours at the n-th place of a candidate, and with the fifth those of the places before. */
static gf_status tally_neighbours(looking *k, const spot *at, uint32_t candidate, uint32_t n,
                                  gf_error *err)
{
    gf_status st = GF_OK;
    if (n < LEAST_PLACES) {
        k->early[candidate][n - 1] = *at;
        return GF_OK;
    }
    for (uint32_t i = 0; n == LEAST_PLACES && i < LEAST_PLACES - 1 && st == GF_OK; i++) {
        st = tally_neighbour(k, &k->early[candidate][i], candidate, BEFORE, err);
        if (st == GF_OK) st = tally_neighbour(k, &k->early[candidate][i], candidate, BEHIND, err);
    }
    if (st == GF_OK) st = tally_neighbour(k, at, candidate, BEFORE, err);
    return st == GF_OK ? tally_neighbour(k, at, candidate, BEHIND, err) : st;
}

static gf_status tally_text(looking *k, uint32_t candidate, char what, gf_slice text, gf_error *err)
{
    if (text.len == 0) return GF_OK;
    begin_key(k, candidate, what);
    gf_phrase_fold_spaces(text, &k->key);
    return tally(k, k->place, err);
}

static gf_status look_at_place(looking *k, const gf_phrase_walk *w, uint32_t candidate,
                               gf_error *err)
{
    facts *f = &k->facts[candidate];
    const gf_label_word *last = &w->d->words[w->first + w->n_words - 1];
    const gf_label_word *first = &w->d->words[w->first];
    gf_slice text = w->d->text, prefix = prefix_of(w, first->start);
    size_t end = (size_t)last->start + last->length;
    f->n++;
    f->headings += is_heading(text, first->start, end);
    f->entities += is_entity(text, first->start, end);
    f->glued += prefix.len > 0;
    f->mentions += (last->flags & GF_LABEL_MENTION) != 0;
    f->inside += w->first > 0 && !(first->flags & GF_LABEL_BREAK);
    f->named += w->first > 0 && !(first->flags & GF_LABEL_BREAK) && (last->flags & GF_LABEL_NAME);
    k->place++;
    gf_status st = tally_text(k, candidate, FORM, gf_phrase_text(w), err);
    if (st == GF_OK) st = tally_text(k, candidate, PREFIX, prefix, err);
    if (st == GF_OK) st = tally_text(k, candidate, SUFFIX, suffix_of(w, end), err);
    spot at = {w->d, w->first, w->n_words, k->place};
    return st == GF_OK ? tally_neighbours(k, &at, candidate, f->n, err) : st;
}

static gf_status look_at_documents(looking *k, gf_error *err)
{
    gf_buffer key = {0};
    gf_status st = GF_OK;
    for (uint32_t i = 0; i < k->cluster->n_documents && st == GF_OK; i++) {
        gf_phrase_walk w = gf_phrase_start_among(&k->cluster->documents[i], key, &k->words, 1);
        while (st == GF_OK && gf_phrase_next(&w)) {
            uint32_t id = gf_strings_find(&k->top, gf_buffer_view(&w.key));
            if (id == GF_STRING_NONE) continue;
            k->counted->candidates[id].places.documents[i / 64] |= (uint64_t)1 << (i % 64);
            st = look_at_place(k, &w, id, err);
        }
        key = w.key;
        if (st == GF_OK) st = gf_buffer_check(&key, err);
    }
    gf_buffer_release(&key);
    return st;
}

/* ---- what follows from them ------------------------------------------------------------------ */

typedef struct mosts {
    most form, prefix, suffix, before, behind;
} mosts;

static void find_most(const looking *k, mosts *of)
{
    for (uint32_t id = 0; id < k->seen.keys.n; id++) {
        gf_slice key = gf_strings_at(&k->seen.keys, id), text = gf_slice_skip(key, 2);
        mosts *m = &of[(unsigned char)key.ptr[0]];
        uint32_t count = k->seen.at[id].count;
        most *best = key.ptr[1] == FORM     ? &m->form
                     : key.ptr[1] == PREFIX ? &m->prefix
                     : key.ptr[1] == SUFFIX ? &m->suffix
                     : key.ptr[1] == BEFORE ? &m->before
                                            : &m->behind;
        bool more = count > best->count;
        if (more || (count == best->count && gf_slice_compare(text, best->text) < 0))
            *best = (most){text, count};
    }
}

/* A mention or a name that so many documents have that it tells none from another. */
static bool is_everywhere(const looking *k, const gf_label_candidate *c, const facts *f)
{
    const gf_labelling *l = k->l;
    double with = l->with[c->phrase], size = (double)k->cluster->size;
    if (l->documents < LEAST_DOCUMENTS || with < EVERYWHERE * l->documents) return false;
    if (f->mentions >= MOSTLY * f->n) return true;
    bool named = f->inside > 0 && f->named >= NAMED * f->inside;
    return named && c->documents / size < NAME_LIFT * with / l->documents;
}

static gf_status set_form(looking *k, gf_label_candidate *c, const mosts *m, const facts *f,
                          gf_error *err)
{
    uint32_t id;
    gf_buffer_reset(&k->key);
    if (m->prefix.count >= MOSTLY * f->n) gf_buffer_slice(&k->key, m->prefix.text);
    gf_buffer_slice(&k->key, m->form.text);
    bool always = f->n >= LEAST_PLACES && m->suffix.count >= NEARLY_ALWAYS * f->n;
    bool sign = m->suffix.text.len && (unsigned char)m->suffix.text.ptr[0] < 0x80;
    if (m->suffix.count && (always || (sign && m->suffix.count >= MOSTLY * f->n)))
        gf_buffer_slice(&k->key, m->suffix.text);
    gf_status st = gf_buffer_check(&k->key, err);
    if (st == GF_OK)
        st = gf_strings_add(&k->counted->forms, gf_buffer_view(&k->key), &id, NULL, err);
    if (st == GF_OK) c->places.form = gf_strings_at(&k->counted->forms, id);
    return st;
}

/*
 * Cut out of a longer name: a word that might be part of one stands always on the same side of it.
 * Of two words and more it is enough that the same, be it a stop word or the end of a sentence, is
 * on both sides; but they may be whole sentences.
 */
static bool is_boilerplate(const gf_label_candidate *c, const mosts *m, const facts *f)
{
    bool before = m->before.count >= NEARLY_ALWAYS * f->n;
    bool behind = m->behind.count >= NEARLY_ALWAYS * f->n;
    char first = m->before.text.len ? m->before.text.ptr[0] : AN_END;
    char last = m->behind.text.len ? m->behind.text.ptr[0] : AN_END;
    if ((before && first == A_WORD) || (behind && last == A_WORD)) return true;
    return c->n_words > 1 && before && behind && !(first == AN_END && last == AN_END);
}

static gf_status judge(looking *k, uint32_t candidate, const mosts *m, gf_error *err)
{
    gf_label_candidate *c = &k->counted->candidates[candidate];
    const facts *f = &k->facts[candidate];
    gf_label_places *p = &c->places;
    p->n = f->n;
    if (f->n == 0) return GF_OK;
    bool is_cut = f->glued >= MOSTLY * f->n && m->prefix.count < MOSTLY * f->n;
    p->dropped = f->headings >= MOSTLY * f->n || f->entities >= MOSTLY * f->n || is_cut ||
                 is_everywhere(k, c, f);
    p->boilerplate = f->n >= LEAST_PLACES && is_boilerplate(c, m, f);
    return set_form(k, c, m, f, err);
}

/* ---- the label before ------------------------------------------------------------------------ */

/* True if a part of a label is the candidate's form, or one in which some text has it. */
static gf_status is_form(looking *k, uint32_t candidate, gf_slice part, bool *is, gf_error *err)
{
    *is = gf_utf8_same_letters(k->counted->candidates[candidate].places.form, part);
    if (*is) return GF_OK;
    begin_key(k, candidate, FORM);
    gf_buffer_slice(&k->key, part);
    *is = gf_strings_find(&k->seen.keys, gf_buffer_view(&k->key)) != GF_STRING_NONE;
    return gf_buffer_check(&k->key, err);
}

/* Cut the text before a separator off, and the separator. */
static gf_slice take_part(gf_slice *text, const char *separator)
{
    size_t n = strlen(separator);
    for (size_t at = 0; at + n <= text->len; at++) {
        if (memcmp(text->ptr + at, separator, n) != 0) continue;
        gf_slice part = gf_slice_of(text->ptr, at);
        *text = gf_slice_skip(*text, at + n);
        return part;
    }
    gf_slice all = *text;
    *text = gf_slice_skip(all, all.len);
    return all;
}

/* A mixed cluster's label is found where its first term is still among the candidates. */
static gf_status find_label_before(looking *k, gf_error *err)
{
    gf_slice rest = k->cluster->before;
    gf_label_kept *kept = &k->counted->kept;
    *kept = (gf_label_kept){.mixed = gf_label_is_mixed(rest), .whole = rest.len > 0};
    if (kept->mixed) take_part(&rest, ": ");
    gf_status st = GF_OK;
    for (int part = 0; rest.len && st == GF_OK; part++) {
        gf_slice text = take_part(&rest, kept->mixed ? ", " : " / ");
        bool found = false;
        for (uint32_t i = 0; i < k->counted->n_top && !found && st == GF_OK; i++) {
            st = is_form(k, i, text, &found, err);
            if (found && part < 2) k->was[i][part] = true;
        }
        kept->whole = kept->whole && (kept->mixed ? found || part > 0 : found && part < 2);
        kept->two = part == 1;
    }
    return st;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Hide what a longer one holds that is nearly as frequent, and that may be a label itself. */
static void hide_parts(gf_label_counted *c)
{
    for (uint32_t i = 0; i < c->n_top; i++) {
        const gf_label_candidate *longer = &c->candidates[i];
        if (longer->places.dropped) continue;
        for (uint32_t p = 0; p < c->n_top; p++) {
            gf_label_candidate *part = &c->candidates[p];
            if (longer->kind == GF_PHRASE_VAGUE && part->kind != GF_PHRASE_VAGUE) continue;
            if (longer->places.boilerplate && !part->places.boilerplate) continue;
            if (part->key.len < longer->key.len && gf_phrase_holds(longer->key, part->key) &&
                longer->count >= GF_LABEL_COMPLETE * part->count)
                part->hidden = true;
        }
    }
}

/* Boilerplate counts half; then the candidates are sorted again. */
static void sort_again(looking *k)
{
    gf_label_counted *c = k->counted;
    gf_slice keys[2] = {{0}, {0}};
    for (uint32_t i = 0; i < c->n_top; i++) {
        if (c->candidates[i].places.boilerplate) c->candidates[i].score /= 2;
        for (int part = 0; part < 2; part++)
            if (k->was[i][part]) keys[part] = c->candidates[i].key;
    }
    if (c->n_top) qsort(c->candidates, c->n_top, sizeof *c->candidates, gf_label_by_score);
    hide_parts(c);
    for (uint32_t i = 0; i < c->n_top; i++) {
        if (keys[0].len && gf_slice_equal(c->candidates[i].key, keys[0]))
            c->kept.first = &c->candidates[i];
        if (keys[1].len && gf_slice_equal(c->candidates[i].key, keys[1]))
            c->kept.second = &c->candidates[i];
    }
}

static gf_status look(looking *k, gf_error *err)
{
    gf_label_counted *c = k->counted;
    mosts of[GF_LABEL_TOP] = {0};
    gf_status st = gf_phrase_slots_init(&k->words, 4 * (uint64_t)c->n_top, false, err);
    for (uint32_t i = 0; i < c->n_top && st == GF_OK; i++) {
        uint32_t id;
        st = gf_strings_add(&k->top, c->candidates[i].key, &id, NULL, err);
        if (st == GF_OK) gf_phrase_slots_mark(&k->words, c->candidates[i].key);
    }
    if (st == GF_OK) st = look_at_documents(k, err);
    if (st == GF_OK) find_most(k, of);
    for (uint32_t i = 0; i < c->n_top && st == GF_OK; i++)
        st = judge(k, i, &of[i], err);
    if (st == GF_OK && k->cluster->before.len) st = find_label_before(k, err);
    if (st == GF_OK) sort_again(k);
    return st;
}

gf_status gf_label_look(const gf_labelling *l, uint32_t cluster, gf_error *err)
{
    gf_label_counted *c = &l->counted[cluster];
    size_t row = (l->clusters[cluster].n_documents + 63) / 64;
    c->n_top = c->n < GF_LABEL_TOP ? c->n : GF_LABEL_TOP;
    c->bits = gf_calloc(c->n_top * row, sizeof *c->bits);
    if (!c->bits) return gf_fail_memory(err, "labels");
    for (uint32_t i = 0; i < c->n_top; i++)
        c->candidates[i].places.documents = c->bits + i * row;
    looking k = {.l = l, .cluster = &l->clusters[cluster], .counted = c};
    gf_status st = look(&k, err);
    gf_strings_release(&k.top);
    gf_phrase_slots_release(&k.words);
    gf_phrase_tally_release(&k.seen);
    gf_buffer_release(&k.key);
    return st;
}
