/**
 * Surnames of a paper's authors.
 */
#ifndef GF_APPS_PAPERS_SURNAMES_H
#define GF_APPS_PAPERS_SURNAMES_H

#include "base/json/json.h"

/**
 * Append the surnames of authors, folded as titles are, each with a NUL behind it.
 *
 * @param authors      names in one string, with semicolons between them; or an array of names, or of
 *                     objects as Crossref, fatcat and others write them; the first 10,000 count
 * @param of_crossref  a name alone is an organisation's
 */
gf_status gf_surnames_append(gf_json_value authors, bool of_crossref, gf_buffer *out,
                             gf_error *err);

#endif
