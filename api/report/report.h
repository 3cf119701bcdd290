/**
 * A report: one page about a build that needs no network, no script and no other file.
 *
 *     report.c        arguments, and what the page is made of
 *     page.c      the page's sections
 *     changes.c   what is different from the build before
 *     style.c     its style sheet
 *
 * Nothing but numbers and our own words goes into the page other than by gf_html_text. Beside that
 * a content policy forbids scripts, and whatever would be loaded.
 */
#ifndef GF_API_REPORT_REPORT_H
#define GF_API_REPORT_REPORT_H

#include "api/call.h"

/** A cluster as the list of them needs it. */
typedef struct gf_report_cluster {
    uint32_t id;
    gf_slice label;
    uint64_t size;
    const gf_trend *trend; /* of the build that is reported; else NULL */
} gf_report_cluster;

/** The clusters of a build, largest first and the mixed last. Set to {0}. */
typedef struct gf_report_clusters {
    gf_arena memory;       /* labels */
    gf_report_cluster *at; /* n of capacity */
    size_t n, capacity;
} gf_report_clusters;

typedef struct gf_report {
    gf_call *call;
    gf_view *view;
    gf_view *before; /* the newest build that is kept and older; NULL where there is none */
    const gf_trends *trends;
    gf_report_clusters clusters;
    size_t written;       /* clusters whose own part is in the page */
    uint64_t documents;   /* of the build that are still there: what shares are of */
    uint64_t docs, terms; /* to show of each cluster */
    gf_buffer html;
} gf_report;

gf_status gf_report_list(gf_view *view, gf_report_clusters *list, gf_error *err);
void gf_report_clusters_release(gf_report_clusters *list);

/** Append the whole page to report->html. */
gf_status gf_report_write(gf_report *report, gf_error *err);

/** Append the section on what is different from the build before. */
gf_status gf_report_changes(gf_report *report, gf_error *err);

extern const char gf_report_style[];

#endif
