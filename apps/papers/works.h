/**
 * A catalogue of known works, and the one that a paper is.
 */
#ifndef GF_APPS_PAPERS_WORKS_H
#define GF_APPS_PAPERS_WORKS_H

#include "apps/papers/title.h"
#include "base/json/json.h"
#include "formats/reader.h"

typedef struct gf_works gf_works;

gf_status gf_works_create(gf_works **catalogue, gf_error *err);
void gf_works_free(gf_works *catalogue);

/**
 * Add a record: the document's text is the title, its fields `doi` and `authors` count. Authors are
 * an array of names ("Ada Lovelace", "Lovelace, Ada") or of objects with surname, family or name.
 * *added is false for a title without a slug.
 * Memory: title, id, doi and surnames, and about 100 bytes.
 */
gf_status gf_works_add(gf_works *catalogue, const gf_document *record, bool *added, gf_error *err);

typedef struct gf_works_match {
    bool found;
    bool ambiguous; /* another record of the same score has another DOI */
    gf_slice id, doi, title;
    int score; /* 0..1000; of the best candidate, also where it is not found */
} gf_works_match;

/**
 * The record with the paper's slug that scores best, where it scores GF_SCORE_MATCH or more and
 * each of its surnames is one of the paper's.
 * @param authors   the array of a paper's metadata
 * @param cancel    looked at for each record of that slug; may be NULL
 * @param[out] match  borrowed from the catalogue
 */
gf_status gf_works_find(gf_works *catalogue, gf_slice title, gf_json_value authors,
                        const gf_cancel *cancel, gf_works_match *match, gf_error *err);

#endif
