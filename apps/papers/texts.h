/**
 * Texts of papers, read and made ready for their rows by all processors, in the order of their
 * coming.
 *
 *     caller       add 1 | add 2         | take 1, add 3 | take 2, add 4 | ...
 *     processors           read 1          read 2          read 3
 *
 * Texts are collected into groups of some megabytes. While one is read, parsed and compressed, the
 * caller collects the next; then those of the first are given to it one by one. What is given, and
 * in which order, does not depend on the number of threads. A failure is given in its place: all
 * that came before it has been taken.
 *
 * Memory: two groups, and what a parser needs for each thread. Threads: owner's calls only.
 */
#ifndef GF_APPS_PAPERS_TEXTS_H
#define GF_APPS_PAPERS_TEXTS_H

#include "apps/papers/papers.h"

typedef enum gf_papers_arrival_kind {
    GF_PAPER_ARRIVAL,     /* to be read */
    GF_PAPER_KNOWN,       /* its extraction is there: neither read nor kept */
    GF_PAPER_WITHOUT_NAME /* nothing tells its digest: not read */
} gf_papers_arrival_kind;

typedef struct gf_papers_arrival {
    gf_papers_arrival_kind kind;
    gf_sha1 sha1;         /* not of GF_PAPER_WITHOUT_NAME */
    gf_slice source, xml; /* xml is empty of GF_PAPER_KNOWN */
} gf_papers_arrival;

/** Take the next; `text` is what was read of a GF_PAPER_ARRIVAL. Both are borrowed for the call. */
typedef gf_status gf_papers_take(void *context, const gf_papers_arrival *arrival,
                                 const gf_papers_text *text, gf_error *err);

typedef struct gf_papers_texts gf_papers_texts;

/** @param threads  that read; 0: one for each processor */
gf_status gf_papers_texts_open(unsigned threads, gf_papers_take *take, void *context,
                               gf_papers_texts **texts, gf_error *err);

/** Add one, which is copied; some of those before it may be taken. The first failure of both. */
gf_status gf_papers_texts_add(gf_papers_texts *texts, const gf_papers_arrival *arrival,
                              gf_error *err);

/** Have all taken that were added: none where one could not be taken before, which was told. */
gf_status gf_papers_texts_finish(gf_papers_texts *texts, gf_error *err);

/** What was not taken is forgotten. */
void gf_papers_texts_close(gf_papers_texts *texts);

#endif
