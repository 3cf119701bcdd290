/**
 * Captures of a file: the first is f:c and file:cdx, the further ones are cells of `captures`.
 *
 *     captures:<date>-<base32 of the URL's SHA-1>     file:cdx of that capture
 *     captures:x<date>-<...>                          empty: it is counted in f:c, and not kept
 *
 * Cells of a row that waits in a batch are not seen by reads, so its captures are remembered.
 */
#ifndef GF_APPS_PAPERS_CAPTURES_H
#define GF_APPS_PAPERS_CAPTURES_H

#include "apps/papers/papers.h"
#include "base/arena.h"
#include "base/json/json.h"
#include "base/strings.h"

/** Bytes of a name with its NUL: "x", 14 digits, "-", 32 of base32. */
enum { GF_PAPERS_CAPTURE_NAME = 49 };
#define GF_PAPERS_CAPTURE_COUNTED 'x'

/** The name of a capture; behind its first byte, which is the x, that of one that is kept. */
gf_status gf_papers_capture_name(gf_slice date, gf_slice url, char name[GF_PAPERS_CAPTURE_NAME],
                                 gf_error *err);

/** Append file:cdx; f:c with that count, `date` is scratch. */
void gf_papers_capture_cdx(const gf_cdx *cdx, gf_buffer *out);
void gf_papers_capture_history(const gf_cdx *cdx, uint64_t count, gf_buffer *date, gf_buffer *out);

typedef struct gf_papers_captures {
    gf_slice history, cdx; /* f:c and file:cdx; ptr NULL: there is none */
    uint64_t count;        /* of captures; 0: as f:c says */
    uint64_t kept;         /* further ones that are kept; UINT64_MAX: not known */
} gf_papers_captures;

/** Read the count of f:c, and the name of file:cdx. GF_ECORRUPT where that is none. */
gf_status gf_papers_captures_read(gf_json_parser *parser, gf_papers_captures *c,
                                  char name[GF_PAPERS_CAPTURE_NAME], gf_error *err);
uint64_t gf_papers_captures_count(const gf_papers_captures *c); /* 1 at least */

/** Append f:c with another count, all else as it is. */
gf_status gf_papers_capture_recount(gf_json_parser *parser, const gf_papers_captures *c,
                                    uint64_t count, gf_buffer *out, gf_error *err);

/** Captures by digest; begin with {0}. */
typedef struct gf_papers_staged {
    gf_strings digests;
    gf_papers_captures *rows; /* one for each digest, of capacity */
    size_t capacity;
    gf_arena memory;
} gf_papers_staged;

void gf_papers_staged_release(gf_papers_staged *staged);
const gf_papers_captures *gf_papers_staged_find(const gf_papers_staged *staged, gf_slice digest);
gf_status gf_papers_staged_set(gf_papers_staged *staged, gf_slice digest,
                               const gf_papers_captures *captures, gf_error *err);

#endif
