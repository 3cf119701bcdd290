#include "cluster/label/phrases.h"

#include "base/grow.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <string.h>

#define NEARLY_ALWAYS 0.9

/* ---- words by slots -------------------------------------------------------------------------- */

enum { LEAST_SLOTS = 256, MOST_SLOTS = 1 << 16 };

gf_status gf_phrase_slots_init(gf_phrase_slots *s, uint64_t words, bool last, gf_error *err)
{
    uint32_t n = LEAST_SLOTS;
    while (n < MOST_SLOTS && n < 2 * words)
        n *= 2;
    *s = (gf_phrase_slots){.mask = n - 1};
    s->count = gf_calloc(n, sizeof *s->count);
    s->last = last ? gf_calloc(n, sizeof *s->last) : NULL;
    if (s->count && (s->last || !last)) return GF_OK;
    gf_phrase_slots_release(s);
    return gf_fail_memory(err, "labels");
}

void gf_phrase_slots_release(gf_phrase_slots *s)
{
    gf_free(s->count);
    gf_free(s->last);
    *s = (gf_phrase_slots){0};
}

static uint32_t slot_of_hash(const gf_phrase_slots *s, uint32_t hash)
{
    return (hash ^ hash >> 15) & s->mask;
}

static uint32_t slot_of_term(const gf_phrase_slots *s, uint32_t term)
{
    return slot_of_hash(s, term * 0x9E3779B1u);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static uint32_t slot_of_letters(const gf_phrase_slots *s, gf_slice letters)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < letters.len; i++)
        hash = (hash ^ (unsigned char)lower(letters.ptr[i])) * 16777619u;
    return slot_of_hash(s, hash);
}

static uint32_t slot_of(const gf_phrase_slots *s, const gf_label_document *d,
                        const gf_label_word *w)
{
    if (w->term != GF_LABEL_NO_TERM) return slot_of_term(s, w->term);
    return slot_of_letters(s, gf_slice_of(d->text.ptr + w->start, w->length));
}

gf_status gf_phrase_slots_count(gf_phrase_slots *s, const gf_label_cluster *c, gf_error *err)
{
    uint64_t words = 0;
    for (uint32_t i = 0; i < c->n_documents; i++)
        words += c->documents[i].n_words;
    gf_status st = gf_phrase_slots_init(s, words, true, err);
    for (uint32_t i = 0; i < c->n_documents && st == GF_OK; i++) {
        const gf_label_document *d = &c->documents[i];
        for (uint32_t w = 0; w < d->n_words; w++) {
            uint32_t slot = slot_of(s, d, &d->words[w]);
            s->count[slot] += s->last[slot] != i + 1;
            s->last[slot] = i + 1;
        }
    }
    return st;
}

static uint32_t first_term(gf_slice key)
{
    const unsigned char *p = (const unsigned char *)key.ptr;
    return (uint32_t)p[1] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 8 | p[4];
}

void gf_phrase_slots_mark(gf_phrase_slots *s, gf_slice key)
{
    while (key.len) {
        size_t n = gf_phrase_word_length(key);
        if (key.ptr[0] == 't') {
            s->count[slot_of_term(s, first_term(key))] = 1;
        } else {
            gf_slice letters = gf_slice_skip(key, 1);
            uint64_t length = 0;
            gf_slice_take_varint(&letters, &length);
            s->count[slot_of_letters(s, gf_slice_of(letters.ptr, (size_t)length))] = 1;
        }
        key = gf_slice_skip(key, n);
    }
}

/* ---- the phrases of a document --------------------------------------------------------------- */

static void append_lower(gf_buffer *out, gf_slice text)
{
    for (size_t i = 0; i < text.len; i++)
        gf_buffer_byte(out, lower(text.ptr[i]));
}

void gf_phrase_word_key(gf_buffer *key, const gf_label_document *d, const gf_label_word *w)
{
    if (w->term != GF_LABEL_NO_TERM) {
        char *to = gf_buffer_reserve(key, GF_PHRASE_WORD_BYTES);
        if (!to) return;
        to[0] = 't';
        to[1] = (char)(w->term >> 24);
        to[2] = (char)(w->term >> 16);
        to[3] = (char)(w->term >> 8);
        to[4] = (char)w->term;
        key->len += GF_PHRASE_WORD_BYTES;
        return;
    }
    gf_buffer_byte(key, 'w');
    gf_buffer_varint(key, w->length);
    append_lower(key, gf_slice_of(d->text.ptr + w->start, w->length));
}

size_t gf_phrase_word_length(gf_slice key)
{
    if (key.ptr[0] == 't') return GF_PHRASE_WORD_BYTES;
    gf_slice rest = gf_slice_skip(key, 1);
    uint64_t n = 0;
    gf_slice_take_varint(&rest, &n);
    return (size_t)(rest.ptr - key.ptr) + (size_t)n;
}

uint32_t gf_phrase_single_term(gf_slice key)
{
    bool single = key.len == GF_PHRASE_WORD_BYTES && key.ptr[0] == 't';
    return single ? first_term(key) : GF_LABEL_NO_TERM;
}

static bool can_begin(const gf_label_word *w)
{
    return !(w->flags & (GF_LABEL_INNER | GF_LABEL_NEVER | GF_LABEL_NUMBER));
}

static bool can_end(const gf_label_word *w)
{
    return !(w->flags & (GF_LABEL_INNER | GF_LABEL_NEVER));
}

gf_slice gf_phrase_text(const gf_phrase_walk *w)
{
    const gf_label_word *a = &w->d->words[w->first], *b = a + w->n_words - 1;
    return gf_slice_of(w->d->text.ptr + a->start, b->start + b->length - a->start);
}

gf_phrase_walk gf_phrase_start(const gf_label_document *d, gf_buffer key)
{
    key.len = 0; /* and its failure, if it had one, stays */
    return (gf_phrase_walk){.d = d, .key = key};
}

gf_phrase_walk gf_phrase_start_among(const gf_label_document *d, gf_buffer key,
                                     const gf_phrase_slots *slots, uint32_t least)
{
    gf_phrase_walk w = gf_phrase_start(d, key);
    w.slots = slots;
    w.least = least;
    return w;
}

static bool counts_enough(const gf_phrase_walk *w, const gf_label_word *word)
{
    return !w->slots || w->slots->count[slot_of(w->slots, w->d, word)] >= w->least;
}

/* True if the phrase of the walk can be extended by one word. */
static bool extend(gf_phrase_walk *w)
{
    uint32_t next = w->first + w->n_words;
    if (w->n_words == GF_PHRASE_WORDS || next >= w->d->n_words) return false;
    const gf_label_word *word = &w->d->words[next];
    if (w->n_words && (word->flags & (GF_LABEL_BREAK | GF_LABEL_NEVER))) return false;
    if (w->n_words == 0 && !can_begin(word)) return false;
    if (!counts_enough(w, word)) return false;
    w->n_words++;
    gf_phrase_word_key(&w->key, w->d, word);
    return gf_phrase_text(w).len <= GF_PHRASE_BYTES;
}

bool gf_phrase_next(gf_phrase_walk *w)
{
    for (;;) {
        if (extend(w)) {
            if (can_end(&w->d->words[w->first + w->n_words - 1])) return true;
            continue;
        }
        w->first++;
        w->n_words = 0;
        w->key.len = 0;
        if (w->first >= w->d->n_words) return false;
    }
}

uint32_t gf_phrase_inner(const gf_phrase_walk *w)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n_words; i++)
        n += (w->d->words[w->first + i].flags & GF_LABEL_INNER) != 0;
    return n;
}

/* Ideographs and syllables of Hangul: what is written without spaces, or in few characters. */
static bool is_ideograph(uint32_t c)
{
    return (c >= 0x3400 && c <= 0xD7FF) || (c >= 0xF900 && c <= 0xFAFF) ||
           (c >= 0x20000 && c <= 0x3FFFF);
}

static gf_slice word_text(const gf_phrase_walk *w, uint32_t i)
{
    const gf_label_word *word = &w->d->words[w->first + i];
    return gf_slice_of(w->d->text.ptr + word->start, word->length);
}

/* True for a letter of ASCII, alone; but C++ and C# are names. */
static bool is_single_letter(const gf_phrase_walk *w)
{
    gf_slice word = word_text(w, 0);
    if (w->n_words > 1 || word.len != 1) return false;
    const char *behind = word.ptr + 1, *end = w->d->text.ptr + w->d->text.len;
    if (behind < end && (*behind == '+' || *behind == '#')) return false;
    return (word.ptr[0] >= 'a' && word.ptr[0] <= 'z') || (word.ptr[0] >= 'A' && word.ptr[0] <= 'Z');
}

/* True if one of the two begins with the other, but for the case of ASCII. */
static bool one_begins_other(gf_slice a, gf_slice b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    for (size_t i = 0; i < n; i++)
        if (lower(a.ptr[i]) != lower(b.ptr[i])) return false;
    return n > 0;
}

/* Words of less than four bytes begin too many others. */
static bool has_word_twice(const gf_phrase_walk *w)
{
    enum { LEAST = 4 };
    for (uint32_t i = 0; i < w->n_words; i++)
        for (uint32_t j = i + 1; j < w->n_words; j++) {
            gf_slice a = word_text(w, i), b = word_text(w, j);
            bool same = a.len == b.len || (a.len >= LEAST && b.len >= LEAST);
            if (same && one_begins_other(a, b)) return true;
        }
    return false;
}

static bool is_vague(const gf_phrase_walk *w)
{
    const gf_label_word *words = w->d->words + w->first;
    const uint32_t says_nothing = GF_LABEL_VAGUE | GF_LABEL_UNIT | GF_LABEL_INNER | GF_LABEL_NUMBER;
    bool says = false;
    for (uint32_t i = 0; i < w->n_words; i++) {
        gf_slice text = word_text(w, i);
        says = says || !(words[i].flags & says_nothing);
        if (text.len && memchr(text.ptr, '.', text.len)) return true;
    }
    return !says || ((words[0].flags | words[w->n_words - 1].flags) & GF_LABEL_UNIT);
}

gf_phrase_kind gf_phrase_kind_of(const gf_phrase_walk *w)
{
    gf_slice text = word_text(w, 0);
    size_t at = 0;
    if (text.len == 0) return GF_PHRASE_PLAIN;
    if (is_single_letter(w) || has_word_twice(w)) return GF_PHRASE_NEVER;
    if (is_vague(w)) return GF_PHRASE_VAGUE;
    uint32_t c = gf_utf8_next(text, &at);
    if (c >= '0' && c <= '9') return GF_PHRASE_WEAK;
    bool ideograph = w->n_words == 1 && at == text.len && is_ideograph(c);
    return ideograph ? GF_PHRASE_WEAK : GF_PHRASE_PLAIN;
}

bool gf_phrase_holds(gf_slice whole, gf_slice part)
{
    for (size_t from = 0; from + part.len <= whole.len;) {
        gf_slice tail = gf_slice_skip(whole, from);
        if (memcmp(tail.ptr, part.ptr, part.len) == 0) return true;
        from += gf_phrase_word_length(tail);
    }
    return false;
}

/* ---- documents per phrase -------------------------------------------------------------------- */

void gf_phrase_tally_release(gf_phrase_tally *t)
{
    gf_strings_release(&t->keys);
    gf_free(t->at);
    *t = (gf_phrase_tally){0};
}

gf_status gf_phrase_tally_add(gf_phrase_tally *t, gf_slice key, gf_phrase_tallied fresh,
                              uint32_t document, gf_error *err)
{
    uint32_t id;
    bool added;
    gf_status st = gf_strings_add(&t->keys, key, &id, &added, err);
    if (st == GF_OK && !gf_grow(&t->at, &t->capacity, (size_t)id + 1, sizeof *t->at))
        st = gf_fail_memory(err, "labels");
    if (st != GF_OK) return st;
    if (added) t->at[id] = fresh;
    if (t->at[id].last == document + 1) return GF_OK;
    t->at[id].last = document + 1;
    t->at[id].count++;
    return GF_OK;
}

gf_status gf_phrase_tally_cluster(gf_phrase_tally *t, const gf_label_cluster *c, uint32_t least,
                                  gf_error *err)
{
    gf_phrase_slots words;
    gf_status st = gf_phrase_slots_count(&words, c, err);
    if (st != GF_OK) return st;
    gf_buffer key = {0};
    for (uint32_t i = 0; i < c->n_documents && st == GF_OK; i++) {
        gf_phrase_walk w = gf_phrase_start_among(&c->documents[i], key, &words, least);
        while (st == GF_OK && gf_phrase_next(&w)) {
            gf_phrase_tallied fresh = {.n_words = (uint8_t)w.n_words,
                                       .n_inner = (uint8_t)gf_phrase_inner(&w),
                                       .kind = (uint8_t)gf_phrase_kind_of(&w)};
            st = gf_buffer_check(&w.key, err);
            if (st == GF_OK) st = gf_phrase_tally_add(t, gf_buffer_view(&w.key), fresh, i, err);
        }
        key = w.key;
    }
    if (st == GF_OK) st = gf_buffer_check(&key, err);
    gf_buffer_release(&key);
    gf_phrase_slots_release(&words);
    return st;
}

/* ---- how a phrase is written ----------------------------------------------------------------- */

/* Characters of ASCII. */
static bool is_white_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

void gf_phrase_fold_spaces(gf_slice text, gf_buffer *out)
{
    for (size_t at = 0; at < text.len;) {
        size_t from = at;
        while (at < text.len && !is_white_space(text.ptr[at]))
            at++;
        gf_buffer_append(out, text.ptr + from, at - from);
        if (at < text.len) gf_buffer_byte(out, ' ');
        while (at < text.len && is_white_space(text.ptr[at]))
            at++;
    }
}

gf_slice gf_phrase_next_ideograph(const gf_phrase_walk *w)
{
    const gf_label_word *last = &w->d->words[w->first + w->n_words - 1];
    gf_slice rest = gf_slice_skip(w->d->text, (size_t)last->start + last->length);
    size_t at = 0;
    if (rest.len == 0 || !is_ideograph(gf_utf8_next(rest, &at))) return (gf_slice){"", 0};
    return gf_slice_of(rest.ptr, at);
}

/* How the phrase is written, and what follows it. */
static gf_status tally_forms(gf_phrase_tally *forms, gf_phrase_tally *next,
                             const gf_label_cluster *c, gf_slice key, gf_error *err)
{
    gf_phrase_slots words; /* of the phrase */
    gf_status st = gf_phrase_slots_init(&words, GF_PHRASE_WORDS, false, err);
    if (st != GF_OK) return st;
    gf_phrase_slots_mark(&words, key);
    gf_buffer walked = {0}, text = {0};
    uint32_t occurrence = 0;
    for (uint32_t i = 0; i < c->n_documents && st == GF_OK; i++) {
        gf_phrase_walk w = gf_phrase_start_among(&c->documents[i], walked, &words, 1);
        while (st == GF_OK && gf_phrase_next(&w)) {
            if (!gf_slice_equal(gf_buffer_view(&w.key), key)) continue;
            gf_buffer_reset(&text);
            gf_phrase_fold_spaces(gf_phrase_text(&w), &text);
            st = gf_buffer_check(&text, err);
            if (st == GF_OK)
                st = gf_phrase_tally_add(forms, gf_buffer_view(&text), (gf_phrase_tallied){0},
                                         occurrence, err);
            if (st == GF_OK)
                st = gf_phrase_tally_add(next, gf_phrase_next_ideograph(&w), (gf_phrase_tallied){0},
                                         occurrence++, err);
        }
        walked = w.key;
    }
    if (st == GF_OK) st = gf_buffer_check(&walked, err);
    gf_buffer_release(&walked);
    gf_buffer_release(&text);
    gf_phrase_slots_release(&words);
    return st;
}

/*
 * The breaker of words cuts some that its dictionary lacks; where what is cut off is a stop word by
 * itself, no phrase ends with it. An ideograph that nearly always follows is part of the word.
 */
static void mend_word(const gf_phrase_tally *next, gf_buffer *form)
{
    enum { LEAST = 5 };
    uint64_t all = 0;
    uint32_t best = 0;
    for (uint32_t id = 0; id < next->keys.n; id++) {
        all += next->at[id].count;
        if (next->at[id].count > next->at[best].count) best = id;
    }
    if (all >= LEAST && (double)next->at[best].count >= NEARLY_ALWAYS * (double)all)
        gf_buffer_slice(form, gf_strings_at(&next->keys, best));
}

gf_status gf_phrase_common_form(const gf_label_cluster *c, gf_slice key, gf_buffer *form,
                                gf_error *err)
{
    gf_phrase_tally forms = {0}, next = {0};
    uint32_t best = 0;
    gf_status st = tally_forms(&forms, &next, c, key, err);
    for (uint32_t id = 1; id < forms.keys.n && st == GF_OK; id++) {
        uint32_t more = forms.at[id].count, most = forms.at[best].count;
        int order =
            gf_slice_compare(gf_strings_at(&forms.keys, id), gf_strings_at(&forms.keys, best));
        if (more > most || (more == most && order < 0)) best = id;
    }
    gf_buffer_reset(form);
    if (st == GF_OK && forms.keys.n) {
        gf_buffer_slice(form, gf_strings_at(&forms.keys, best));
        mend_word(&next, form);
    }
    if (st == GF_OK) st = gf_buffer_check(form, err);
    gf_phrase_tally_release(&forms);
    gf_phrase_tally_release(&next);
    return st;
}
