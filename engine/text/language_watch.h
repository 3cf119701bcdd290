/**
 * Finds the fallback of documents without a `lang` (engine/rows/languages.h) while they are read.
 *
 * The first thousand of these documents are examined, then fewer and fewer, and from 20,000 on one
 * in 40. Each 500 examined ones are a window. If every window is in one language (at least 95 % of
 * the texts whose language can be detected), and all in the same, that is the fallback; else
 * each text has its own. The last window is that of the last 500. So the fallback depends on the
 * documents and their order alone, not on the groups that they come in.
 *
 * Where no text tells a language, as where every document has a `lang`, those say which it is: one
 * that (nearly) all have is the fallback of what comes later without, such as a new document, or the
 * words of a query, a topic, a label.
 */
#ifndef GF_ENGINE_TEXT_LANGUAGE_WATCH_H
#define GF_ENGINE_TEXT_LANGUAGE_WATCH_H

#include "base/arena.h"
#include "base/pool.h"
#include "engine/rows/languages.h"

enum { GF_LANGUAGE_WINDOW = 500 };

typedef struct gf_language_window {
    gf_slice text[GF_LANGUAGE_WINDOW]; /* n: starts of texts, in the memory */
    size_t n;
    gf_arena memory;
} gf_language_window;

/** {0} to begin with, but for pool and cancel, which may be NULL. */
typedef struct gf_language_watch {
    gf_pool *pool;
    const gf_cancel *cancel;
    gf_fallback decided; /* by the windows so far; of unknown kind before any language is found */
    uint64_t seen;       /* documents without a lang */
    uint64_t next;       /* number of the next one to look at */
    uint64_t with_lang, next_lang; /* likewise of documents that have one */
    uint32_t langs[GF_LANGUAGES];  /* how many of those looked at have it */
    gf_language_window windows[2]; /* the one under way, and the one before */
    unsigned at;                   /* which is under way */
} gf_language_watch;

void gf_language_watch_release(gf_language_watch *w);

/** Begin with the first document again; what was decided stays. */
void gf_language_watch_again(gf_language_watch *w);

/** A document, the next one. What is needed of it is copied. */
gf_status gf_language_watch_add(gf_language_watch *w, gf_slice lang, gf_slice text, gf_error *err);

/** End: there are no more documents. */
gf_status gf_language_watch_end(gf_language_watch *w, gf_error *err);

/** Guess the fallback by the window under way, while no other has decided. */
gf_status gf_language_watch_guess(const gf_language_watch *w, gf_fallback *guess, gf_error *err);

#endif
