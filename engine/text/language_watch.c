#include "engine/text/language_watch.h"

#include "base/utf8.h"
#include "vectorize/text/detect.h"

#include <string.h>

/* Share of the texts that must be in one language for all to count as in it. */
#define SHARED 0.95

enum {
    WINDOW = GF_LANGUAGE_WINDOW,
    MOST_STEP = 40 /* documents from one that is looked at to the next */
};

void gf_language_watch_release(gf_language_watch *w)
{
    gf_arena_release(&w->windows[0].memory);
    gf_arena_release(&w->windows[1].memory);
}

static void clear(gf_language_window *window)
{
    window->n = 0;
    gf_arena_reset(&window->memory);
}

void gf_language_watch_again(gf_language_watch *w)
{
    w->seen = w->next = w->with_lang = w->next_lang = 0;
    memset(w->langs, 0, sizeof w->langs);
    clear(&w->windows[0]);
    clear(&w->windows[1]);
}

/* Join what texts say to what is known. */
static gf_status look(const gf_language_watch *w, const gf_slice *texts, size_t n,
                      gf_fallback *known, gf_error *err)
{
    gf_dominance found;
    if (n == 0 || known->kind == GF_FALLBACK_DETECT) return GF_OK;
    gf_status st = gf_dominant_language(texts, n, w->pool, &found, w->cancel, err);
    if (st != GF_OK || found.n_reliable == 0) return st;
    bool another = known->kind == GF_FALLBACK_FIXED && known->language != found.language;
    if (found.share < SHARED || another)
        *known = (gf_fallback){GF_FALLBACK_DETECT, NULL};
    else
        *known = (gf_fallback){GF_FALLBACK_FIXED, found.language};
    return GF_OK;
}

/* Whether the next document of so many is looked at: all at first, then fewer and fewer. */
static bool is_looked_at(uint64_t *seen, uint64_t *next)
{
    uint64_t number = (*seen)++, step = number / WINDOW;
    if (number < *next) return false;
    *next = number + (step < 1 ? 1 : step > MOST_STEP ? MOST_STEP : step);
    return true;
}

static void count_lang(gf_language_watch *w, gf_slice lang)
{
    if (w->decided.kind != GF_FALLBACK_UNKNOWN || !is_looked_at(&w->with_lang, &w->next_lang))
        return;
    const gf_language *language = gf_language_find(lang);
    if (language) w->langs[gf_language_index(language)]++;
}

/* The language of nearly all documents that have a lang; unknown where none has one that is known. */
static gf_fallback decide_by_langs(const gf_language_watch *w)
{
    uint64_t sum = 0;
    size_t most = 0;
    for (size_t i = 0; i < GF_LANGUAGES; i++) {
        sum += w->langs[i];
        if (w->langs[i] > w->langs[most]) most = i;
    }
    if (!sum) return (gf_fallback){0};
    if ((double)w->langs[most] < SHARED * (double)sum)
        return (gf_fallback){GF_FALLBACK_DETECT, NULL};
    return (gf_fallback){GF_FALLBACK_FIXED, gf_language_at(most)};
}

gf_status gf_language_watch_add(gf_language_watch *w, gf_slice lang, gf_slice text, gf_error *err)
{
    if (lang.len) {
        count_lang(w, lang);
        return GF_OK;
    }
    if (w->decided.kind == GF_FALLBACK_DETECT || !is_looked_at(&w->seen, &w->next)) return GF_OK;
    gf_language_window *now = &w->windows[w->at];
    /* Detection reads no further, and what it reads must not end earlier. */
    gf_slice start = gf_arena_copy(&now->memory, gf_utf8_cut(text, GF_DETECT_BYTES + 4));
    if (!start.ptr) return gf_fail_memory(err, "language detection");
    now->text[now->n++] = start;
    if (now->n < WINDOW) return GF_OK;
    w->at = !w->at;
    clear(&w->windows[w->at]);
    return look(w, now->text, WINDOW, &w->decided, err);
}

gf_status gf_language_watch_end(gf_language_watch *w, gf_error *err)
{
    const gf_language_window *now = &w->windows[w->at], *before = &w->windows[!w->at];
    gf_slice last[WINDOW];
    size_t older = before->n < WINDOW - now->n ? before->n : WINDOW - now->n;
    gf_status st = GF_OK;
    if (now->n) {
        memcpy(last, before->text + before->n - older, older * sizeof *last);
        memcpy(last + older, now->text, now->n * sizeof *last);
        st = look(w, last, older + now->n, &w->decided, err);
    }
    if (st == GF_OK && w->decided.kind == GF_FALLBACK_UNKNOWN) w->decided = decide_by_langs(w);
    return st;
}

gf_status gf_language_watch_guess(const gf_language_watch *w, gf_fallback *guess, gf_error *err)
{
    *guess = (gf_fallback){0};
    gf_status st = look(w, w->windows[w->at].text, w->windows[w->at].n, guess, err);
    if (st == GF_OK && guess->kind == GF_FALLBACK_UNKNOWN) *guess = decide_by_langs(w);
    return st;
}
