/**
 * DOIs as people and catalogues write them.
 */
#ifndef GF_APPS_PAPERS_DOI_H
#define GF_APPS_PAPERS_DOI_H

#include "grouperfish/buffer.h"

/**
 * Append a DOI as it is compared: "https://doi.org/10.1000/ABC%3C1" is "10.1000/abc<1". Nothing
 * where it is none, as "N/A": a DOI begins with "10." (a short one with "10/") and has a suffix.
 */
void gf_doi_append(gf_slice doi, gf_buffer *out);

#endif
