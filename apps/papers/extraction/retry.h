/**
 * Extractions of papers that are to be made again.
 *
 *     failed           each whose status is not "success"
 *     error            by its status; likewise fail, oversize
 *     code:500         by its status code
 *     version:0.5.1    texts of this GROBID
 *     older-than:0.8   texts of an earlier one, or of one that they do not name
 *
 * Versions are compared part by part, as numbers where they are: 0.8 is before 0.10. One with a
 * suffix is before the same without: 0.5.1-SNAPSHOT, 0.5.1.
 */
#ifndef GF_APPS_PAPERS_RETRY_H
#define GF_APPS_PAPERS_RETRY_H

#include "apps/papers/arguments_internal.h"

typedef struct gf_papers_retry {
    gf_slice *which; /* n */
    size_t n;
    gf_json_parser *json;
    gf_row row;
} gf_papers_retry;

/** Read the argument "retry"; GF_EINVAL. Release it in any case. */
gf_status gf_papers_retry_open(const gf_call *call, gf_papers_retry *retry, gf_error *err);
void gf_papers_retry_release(gf_papers_retry *retry);

/** Is the paper to be extracted: has it no extraction, or one of these? And has it a text? */
gf_status gf_papers_retry_wants(gf_papers_retry *retry, gf_papers *papers, const gf_sha1 *sha1,
                                bool *wanted, bool *has_text, gf_error *err);

/** Less than 0 where a is the earlier version. */
int gf_papers_compare_versions(gf_slice a, gf_slice b);

#endif
