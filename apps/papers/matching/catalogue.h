/**
 * Records of catalogues, as they are: from the fields of a record to a work.
 *
 *               id             titles                              DOI             authors
 *     Crossref  DOI            title[], subtitle[],                DOI             author[]: family, given, name
 *                              original-title[]
 *     fatcat    ident          title, subtitle, original_title     ext_ids.doi,    contribs[]: surname, raw_name,
 *                                                                  doi             creator
 *     others    id             title, subtitle                     doi             authors: names, or objects
 *
 * A record may be wrapped as {"message": {...}}. Titles are text where they are HTML; DOIs are
 * compared, and kept, in lower case without a resolver's address or "doi:".
 */
#ifndef GF_APPS_PAPERS_CATALOGUE_H
#define GF_APPS_PAPERS_CATALOGUE_H

#include "base/json/json.h"
#include "formats/reader.h"

/** Paths of fields, such as "ext_ids.doi"; an empty one stands for the usual ones. */
typedef struct gf_catalogue_fields {
    gf_slice id, title, doi, authors;
} gf_catalogue_fields;

enum { GF_CATALOGUE_NAMES = 24, GF_WORK_TITLES = 16 };

typedef struct gf_catalogue gf_catalogue;

/** A record's work: borrowed until the next. */
typedef struct gf_work {
    gf_slice id;
    gf_slice doi; /* empty: none */
    gf_slice titles[GF_WORK_TITLES];
    bool partial[GF_WORK_TITLES]; /* the title lacks the subtitle that the work has */
    size_t n_titles;              /* 0: none that is no blank */
    gf_slice surnames;            /* folded, each with a NUL behind it; empty: no author is known */
} gf_work;

/** @param fields  borrowed until close */
gf_status gf_catalogue_create(const gf_catalogue_fields *fields, gf_catalogue **catalogue,
                              gf_error *err);
void gf_catalogue_free(gf_catalogue *catalogue);

/** Options of a reader whose records have what is looked for; borrowed from the catalogue. */
void gf_catalogue_options(gf_catalogue *catalogue, gf_reader_options *options);

/** The work of a record: @return GF_OK, whatever the record lacks; GF_ENOMEM; GF_EIO */
gf_status gf_catalogue_read(gf_catalogue *catalogue, const gf_record *record, gf_work *work,
                            gf_error *err);

#endif
