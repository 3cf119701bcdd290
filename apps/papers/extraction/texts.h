/**
 * Texts of papers, read and made ready for their rows by all processors, in the order of their
 * arrival.
 *
 *     owner        collect 1 | collect 2 | give 1, collect 3 | give 2, collect 4 | ...
 *     processors               read 1      read 2              read 3
 *
 * Texts are collected into groups of some megabytes. While one group is read, parsed and
 * compressed, the next is collected, and the texts of the one before are given. Texts and their
 * order do not depend on the number of threads. A failure is given in its place, behind all texts
 * before it.
 *
 * Memory: two groups, and a parser for each thread. Threads: owner's calls only, and arrive is
 * called by the owner's thread.
 */
#ifndef GF_APPS_PAPERS_TEXTS_H
#define GF_APPS_PAPERS_TEXTS_H

#include "apps/papers/papers.h"

typedef enum gf_papers_arrival_kind {
    GF_PAPERS_ARRIVAL,     /* to be read */
    GF_PAPERS_KNOWN,       /* its extraction is stored: neither read nor kept */
    GF_PAPERS_WITHOUT_NAME /* its digest is not known: not read */
} gf_papers_arrival_kind;

typedef struct gf_papers_arrival {
    gf_papers_arrival_kind kind;
    gf_sha1 sha1;         /* not of GF_PAPERS_WITHOUT_NAME */
    gf_slice source, xml; /* xml is empty of GF_PAPERS_KNOWN */
} gf_papers_arrival;

/** The next text that arrives, copied; GF_ENOTFOUND at the end; any other status ends the texts. */
typedef gf_status gf_papers_arrive(void *context, gf_papers_arrival *arrival, gf_error *err);

typedef struct gf_papers_texts gf_papers_texts;

/**
 * @param threads  that read; 0: one for each processor
 * @param cancel   looked at while a text is read; may be NULL
 */
gf_status gf_papers_texts_open(unsigned threads, gf_papers_arrive *arrive, void *context,
                               const gf_cancel *cancel, gf_papers_texts **texts, gf_error *err);

/**
 * The next text, borrowed until the next call; *text is set of a GF_PAPERS_ARRIVAL.
 * @return GF_OK; GF_ENOTFOUND at the end; the failure of an arrival, or of reading its text: then
 *         nothing more is to be asked for
 */
gf_status gf_papers_texts_next(gf_papers_texts *texts, const gf_papers_arrival **arrival,
                               const gf_papers_text **text, gf_error *err);

void gf_papers_texts_close(gf_papers_texts *texts);

#endif
