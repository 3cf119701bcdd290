/**
 * Papers as documents: an input of JSON Lines over the table, for put.
 */
#ifndef GF_APPS_PAPERS_SOURCE_H
#define GF_APPS_PAPERS_SOURCE_H

#include "apps/papers/arguments_internal.h"

typedef struct gf_papers_source gf_papers_source;

/** One record for every paper that has a text: id (its SHA-1 in base32), title, doi, date, quality, and of
 * abstract and body those that "text" names (both where it names nothing). */
gf_status gf_papers_source_open(gf_call *call, gf_papers_source **source, gf_error *err);
gf_input gf_papers_source_input(gf_papers_source *source);
void gf_papers_source_close(gf_papers_source *source);

#endif
