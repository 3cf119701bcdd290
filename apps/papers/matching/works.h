/**
 * Known works that papers may be, and the one that a paper is.
 *
 * A match joins with others: of parts of a catalogue in any order and cut, and of any part again, the
 * same comes out. It is the best candidate of all, by
 *
 *     kind      agrees > title alone > nothing agrees > none
 *     score     of the titles
 *     DOI       one before none, then by its bytes; a second one at the same kind and score is kept
 *     id        by its bytes
 */
#ifndef GF_APPS_PAPERS_WORKS_H
#define GF_APPS_PAPERS_WORKS_H

#include "apps/papers/matching/catalogue.h"
#include "apps/papers/matching/title.h"

typedef enum gf_match_kind {
    GF_MATCH_NONE,    /* no record has the slug */
    GF_MATCH_DIFFERS, /* a record has; its title scores too little, or its authors are others */
    GF_MATCH_TITLE, /* the title agrees alone: of record or paper no author is known, or the record
                         has a subtitle that the paper's title lacks */
    GF_MATCH_AGREES /* title and authors agree */
} gf_match_kind;

typedef struct gf_works_match {
    gf_match_kind kind;
    int score; /* 0..1000 */
    gf_slice id, doi;
    gf_slice also; /* the second DOI, of TITLE and AGREES; empty: none */
    bool others;   /* there are other DOIs, which are not known */
} gf_works_match;

/** The better of two, or what both are together. Borrowed from both. */
gf_works_match gf_works_match_join(const gf_works_match *a, const gf_works_match *b);

/** Do two say the same? */
bool gf_works_match_equal(const gf_works_match *a, const gf_works_match *b);

/** "match", "ambiguous" or "no-match"; and the DOI that a match has. */
const char *gf_works_match_status(const gf_works_match *match);
gf_slice gf_works_match_doi(const gf_works_match *match);

typedef struct gf_works gf_works;

gf_status gf_works_create(gf_works **works, gf_error *err);
void gf_works_free(gf_works *works);

/** Works of this paper's title are to be kept: all others are passed over. */
gf_status gf_works_want(gf_works *works, gf_slice title, gf_error *err);

/**
 * Add a work, by each of its titles that has a slug which is wanted. One that is there already, with
 * the same title, id, DOI and surnames, takes no memory and is compared once.
 * Memory: title, id, DOI and surnames, and about 200 bytes.
 */
gf_status gf_works_add(gf_works *works, const gf_work *work, gf_error *err);

/**
 * The match of a paper among the works of its slug.
 *
 * @param authors     the array of a paper's metadata
 * @param cancel      looked at for each work of that slug; may be NULL
 * @param[out] match  borrowed from the works
 */
gf_status gf_works_find(gf_works *works, gf_slice title, gf_json_value authors,
                        const gf_cancel *cancel, gf_works_match *match, gf_error *err);

#endif
