/* The report's section of differences from the build before, as the operation diff has them. */
#include "api/report/report.h"

#include "api/report/html.h"
#include "base/clock.h"

#include <inttypes.h>

enum { LABEL_SHOWN = 200 };

typedef struct changes {
    gf_buffer *html;
    size_t same; /* clusters without any change, which have no row */
} changes;

static void write_name(gf_buffer *b, gf_slice label)
{
    gf_buffer_str(b, "<bdi>");
    gf_html_text_cut(b, label, LABEL_SHOWN);
    gf_buffer_str(b, "</bdi>");
}

static void write_parts(gf_buffer *b, const char *words, const gf_flow *parts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        gf_buffer_str(b, i ? ", " : "<br><span class=\"quiet\">");
        if (i == 0) gf_buffer_str(b, words);
        gf_buffer_count(b, parts[i].documents);
        gf_buffer_byte(b, ' ');
        write_name(b, parts[i].label);
    }
    if (n) gf_buffer_str(b, "</span>");
}

static void write_cluster(gf_buffer *b, const gf_cluster_change *c)
{
    bool now = c->fate != GF_FATE_GONE;
    if (now) gf_buffer_format(b, "<a href=\"#c%" PRIu32 "\">", c->cluster);
    write_name(b, c->label);
    if (now) gf_buffer_str(b, "</a>");
    if (c->fate == GF_FATE_CONTINUED && !gf_slice_equal(c->label, c->label_before)) {
        gf_buffer_str(b, " <span class=\"quiet\">was ");
        write_name(b, c->label_before);
        gf_buffer_str(b, "</span>");
    }
    write_parts(b, "split: now ", c->split, c->n_split);
    write_parts(b, "merged: of ", c->merged, c->n_merged);
}

static void write_count(gf_buffer *b, uint64_t n, const char *word)
{
    gf_buffer_str(b, "</td><td class=\"n\">");
    if (word)
        gf_buffer_str(b, word);
    else
        gf_buffer_count(b, n);
}

static gf_status write_change(void *context, const gf_cluster_change *c, gf_error *err)
{
    changes *all = context;
    gf_buffer *b = all->html;
    if (c->fate == GF_FATE_CONTINUED && c->stayed == c->size && c->stayed == c->size_before &&
        gf_slice_equal(c->label, c->label_before)) {
        all->same++;
        return GF_OK;
    }
    gf_buffer_str(b, "<tr><td>");
    write_cluster(b, c);
    write_count(b, c->size_before, c->fate == GF_FATE_NEW ? "new" : NULL);
    write_count(b, c->size, c->fate == GF_FATE_GONE ? "gone" : NULL);
    write_count(b, c->came + c->added, NULL);
    write_count(b, c->left + c->removed, NULL);
    gf_buffer_str(b, "</td></tr>\n");
    return gf_buffer_check(b, err);
}

static void write_heading(gf_buffer *b, const gf_build_info *before, const gf_build_info *now)
{
    gf_buffer_str(b, "<h2>What changed</h2>\n<p class=\"quiet\">Since the build of ");
    gf_clock_write_iso(b, before->build);
    gf_buffer_str(b, ": ");
    gf_buffer_count(b, before->documents);
    gf_buffer_str(b, " documents then, ");
    gf_buffer_count(b, now->documents);
    gf_buffer_format(b, " now; %" PRIu32 " clusters then, %" PRIu32 " now.</p>\n<table>\n",
                     before->k, now->k);
    gf_buffer_str(b, "<tr><th>cluster</th><th class=\"n\">then</th><th class=\"n\">now</th>"
                     "<th class=\"n\">came</th><th class=\"n\">left</th></tr>\n");
}

gf_status gf_report_changes(gf_report *r, gf_error *err)
{
    gf_buffer *b = &r->html;
    changes all = {.html = b};
    if (!r->before) return GF_OK;
    write_heading(b, gf_view_build(r->before), gf_view_build(r->view));
    gf_status st = gf_diff(r->before, r->view, r->call->cancel, write_change, &all, err);
    if (st != GF_OK) return st;
    gf_buffer_str(b, "</table>\n<p class=\"quiet\">");
    if (all.same == 1) gf_buffer_str(b, "1 cluster is as it was. ");
    if (all.same > 1) gf_buffer_format(b, "%zu clusters are as they were. ", all.same);
    gf_buffer_str(b, "Documents that are new came, those that were deleted left.</p>\n");
    return GF_OK;
}
