/**
 * Sources: inputs that are no files, but are asked for their documents. They give JSON Lines, with
 * lines {"$place": "..."} that say how far they were read (reader.h). A place is opaque to all others; given
 * to the same source again, it goes on from there.
 *
 *     source_postgres.c   the rows of a query
 *     source_url.c        the items of pages of JSON
 *
 * Whoever opens a source asks the host itself, with its own rights: no server does it for a stranger.
 * Passwords and headers are in no message, name or place; a place may have the address of a page.
 */
#ifndef GF_FORMATS_SOURCES_SOURCE_H
#define GF_FORMATS_SOURCES_SOURCE_H

#include "formats/bytes/input.h"
#include "grouperfish/buffer.h"

typedef struct gf_source gf_source;

/** Everything is borrowed until the source is closed. */
typedef struct gf_source_postgres {
    const char *url;   /* postgres://... or key=value ...; without a password */
    const char *query; /* one that gives rows */
    const char *since; /* a column that rises with what is new; NULL: all rows, each time */
    gf_slice place;    /* empty: from the beginning */
    const gf_cancel *cancel;
} gf_source_postgres;

/** @return GF_OK; GF_EINVAL (the address); GF_EIO (no libpq); GF_ENOMEM. Nothing is asked yet. */
gf_status gf_source_open_postgres(const gf_source_postgres *options, gf_source **source,
                                  gf_error *err);

typedef struct gf_source_url {
    const char *url;   /* http or https, without a password */
    const char *items; /* path of the array of records (formats/sources/json_path.h); NULL: $ */
    const char *next;  /* path of the next page's address or token; NULL: there is one page */
    const char *next_param;  /* the query's parameter for such a token; NULL: next is an address */
    const char *since;       /* a member that rises with what is new; NULL: all items, each time */
    const char *since_param; /* the query's parameter for it; NULL: called as that */
    gf_slice headers;        /* lines of "Name: value", for that origin alone */
    bool other_origins;      /* pages may be elsewhere */
    unsigned attempts;       /* at a page; 0: 6 */
    gf_slice place;
    const gf_cancel *cancel;
} gf_source_url;

/** @return GF_OK; GF_EINVAL (address, paths, headers, place); GF_EIO (no libcurl); GF_ENOMEM */
gf_status gf_source_open_url(const gf_source_url *options, gf_source **source, gf_error *err);

/** A name for what it reads, which is the same for the same address and query: "url-<hash>". */
gf_slice gf_source_name(const gf_source *source);

/** The place to begin at, instead of the options'; copied. GF_EINVAL where it is none of this source's. */
gf_status gf_source_set_place(gf_source *source, gf_slice place, gf_error *err);

/** One stream of JSON Lines; lasts until close. */
gf_input gf_source_input(gf_source *source);

void gf_source_close(gf_source *source);

#endif
