#include "api/report/report.h"

#include "api/report/html.h"
#include "base/clock.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_SHOWN = 600, LABEL_SHOWN = 200, MOST_TRENDS = 10 };

/* ---- numbers --------------------------------------------------------------------------------- */

static double share_of(const gf_report *r, uint64_t size)
{
    return r->documents ? (double)size / (double)r->documents : 0;
}

/* ---- head ------------------------------------------------------------------------------------ */

static void fact(gf_buffer *b, const char *name, uint64_t value)
{
    gf_buffer_format(b, "<div><dt>%s</dt><dd>", name);
    gf_buffer_count(b, value);
    gf_buffer_str(b, "</dd></div>\n");
}

static void write_head(gf_report *r)
{
    gf_buffer *b = &r->html;
    const gf_build_info *info = gf_view_build(r->view);
    gf_slice name = gf_call_place(r->call).collection;
    gf_buffer_str(b, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                     "style-src 'unsafe-inline'; img-src data:\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<meta name=\"color-scheme\" content=\"light dark\">\n"
                     "<link rel=\"icon\" href=\"data:,\">\n<title>");
    gf_html_text(b, name);
    gf_buffer_format(b,
                     ": clusters</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1 dir=\"auto\">",
                     gf_report_style);
    gf_html_text(b, name);
    gf_buffer_str(b, "</h1>\n<p class=\"quiet\">Build of ");
    gf_clock_write_iso(b, info->build);
    gf_buffer_str(b, ", configuration <bdi>");
    gf_html_text(b, gf_call_configuration(r->call));
    gf_buffer_str(b, "</bdi></p>\n<dl class=\"facts\">\n");
    fact(b, "documents", info->documents);
    fact(b, "clusters", info->k);
    fact(b, "different documents", info->distinct);
    fact(b, "terms", info->terms);
    if (info->without_terms) fact(b, "documents without words", info->without_terms);
}

/* How many clusters are clear, fair and mixed; builds of earlier versions do not tell. */
static gf_status write_clarities(gf_report *r, gf_error *err)
{
    gf_figures f;
    gf_error why = {GF_OK, ""};
    gf_status st = gf_view_figures(r->view, &f, &why);
    if (st == GF_OK && f.clusters) {
        fact(&r->html, "clear clusters", f.clear);
        fact(&r->html, "fair", f.fair);
        fact(&r->html, "mixed", f.mixed);
    }
    gf_buffer_str(&r->html, "</dl>\n");
    if (st == GF_OK || st == GF_ENOTFOUND) return GF_OK;
    if (err) *err = why;
    return st;
}

/* ---- trends ---------------------------------------------------------------------------------- */

static int by_cluster(const void *a, const void *b)
{
    const gf_trend *x = *(const gf_trend *const *)a, *y = *(const gf_trend *const *)b;
    return x->cluster < y->cluster ? -1 : x->cluster > y->cluster;
}

/* Each cluster in the list gets its trend. */
static gf_status join_trends(gf_report *r, gf_error *err)
{
    size_t n = r->trends->n_clusters;
    const gf_trend **sorted = gf_array(n, sizeof *sorted);
    if (!sorted) return gf_fail_memory(err, "a report");
    for (size_t i = 0; i < n; i++)
        sorted[i] = &r->trends->clusters[i];
    if (n) qsort(sorted, n, sizeof *sorted, by_cluster);
    for (size_t i = 0; i < r->clusters.n && n; i++) {
        const gf_trend key = {.cluster = r->clusters.at[i].id}, *wanted = &key;
        const gf_trend **found = bsearch(&wanted, sorted, n, sizeof *sorted, by_cluster);
        if (found) r->clusters.at[i].trend = *found;
    }
    gf_free(sorted);
    return GF_OK;
}

static void write_period(gf_buffer *b, const gf_trends *t, size_t i)
{
    gf_calendar_write(t->kind, t->first + (int64_t)i, b);
}

/* A bar for each period, as high as its documents; the numbers are its text. */
static void write_bars(gf_buffer *b, const gf_trends *all, const gf_trend *t)
{
    enum { STEP = 4, WIDTH = 3, HEIGHT = 24 };
    uint32_t most = 1;
    for (size_t i = 0; i < all->n_periods; i++)
        if (t->documents[i] > most) most = t->documents[i];
    gf_buffer_format(
        b, "<svg viewBox=\"0 0 %zu %d\" preserveAspectRatio=\"none\" role=\"img\"><title>",
        STEP * all->n_periods, (int)HEIGHT);
    for (size_t i = 0; i < all->n_periods; i++) {
        write_period(b, all, i);
        gf_buffer_format(b, ": %" PRIu32 "\n", t->documents[i]);
    }
    gf_buffer_str(b, "</title>");
    for (size_t i = 0; i < all->n_periods; i++) {
        double height = (double)HEIGHT * t->documents[i] / most;
        if (t->documents[i])
            gf_buffer_format(b, "<rect x=\"%zu\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>",
                             STEP * i, HEIGHT - height, (int)WIDTH, height);
    }
    gf_buffer_str(b, "</svg>");
}

static void write_word(gf_buffer *b, const gf_trend *t)
{
    const char *word = gf_clusters_trend_word(t->direction);
    bool up = t->direction == GF_RISING, down = t->direction == GF_FALLING;
    gf_buffer_format(b, "<span class=\"%s\">%s%s</span>",
                     up     ? "up"
                     : down ? "down"
                            : "quiet",
                     up     ? "\xE2\x96\xB2 "
                     : down ? "\xE2\x96\xBC "
                            : "",
                     word);
}

static void write_link(gf_buffer *b, uint32_t id, gf_slice label)
{
    gf_buffer_format(b, "<a href=\"#c%" PRIu32 "\"><bdi>", id);
    gf_html_text_cut(b, label, LABEL_SHOWN);
    gf_buffer_str(b, "</bdi></a>");
}

static void write_trend(gf_buffer *b, const gf_trends *all, const gf_trend *t)
{
    gf_buffer_str(b, "<tr><td>");
    write_link(b, t->cluster, t->label);
    gf_buffer_str(b, "</td><td>");
    write_word(b, t);
    gf_buffer_format(b, "</td><td class=\"n m\">%+.1f</td><td class=\"n\">", t->z);
    gf_buffer_count(b, t->recent);
    gf_buffer_str(b, "</td><td class=\"n m\">");
    gf_buffer_count(b, t->earlier);
    gf_buffer_str(b, "</td><td>");
    write_bars(b, all, t);
    gf_buffer_str(b, "</td></tr>\n");
}

static void write_trends(gf_report *r)
{
    gf_buffer *b = &r->html;
    const gf_trends *t = r->trends;
    size_t shown = 0;
    while (shown < t->n_clusters && shown < MOST_TRENDS &&
           t->clusters[shown].direction != GF_STEADY)
        shown++;
    if (t->n_periods < 2) return;
    gf_buffer_str(b, "<h2>Rising and falling</h2>\n<p class=\"quiet\">Each cluster's share of the "
                     "documents of the last ");
    gf_buffer_format(b, "%zu of %zu %ss, ", t->n_recent, t->n_periods,
                     gf_clusters_unit_name(t->kind));
    write_period(b, t, 0);
    gf_buffer_str(b, " to ");
    write_period(b, t, t->n_periods - 1);
    gf_buffer_str(b, ", against its share of those before; z is the change in standard errors.");
    if (t->undated) {
        gf_buffer_str(b, " Documents without a time: ");
        gf_buffer_count(b, t->undated);
        gf_buffer_byte(b, '.');
    }
    gf_buffer_str(b, "</p>\n");
    if (shown == 0) {
        gf_buffer_str(b, "<p>No cluster clearly rises or falls.</p>\n");
        return;
    }
    gf_buffer_str(b, "<table>\n<tr><th>cluster</th><th></th><th class=\"n m\">z</th>"
                     "<th class=\"n\">recent</th><th class=\"n m\">earlier</th><th></th></tr>\n");
    for (size_t i = 0; i < shown; i++)
        write_trend(b, t, &t->clusters[i]);
    gf_buffer_str(b, "</table>\n");
}

/* ---- the list -------------------------------------------------------------------------------- */

static void write_list(gf_report *r)
{
    gf_buffer *b = &r->html;
    bool dated = r->trends->n_periods > 1;
    double most = r->clusters.n ? share_of(r, r->clusters.at[0].size) : 1;
    gf_buffer_str(b, "<h2>Clusters by size</h2>\n<table>\n<tr><th class=\"n m\">id</th>"
                     "<th>label</th><th class=\"n\">documents</th><th class=\"n m\">share</th>"
                     "<th class=\"w\"></th><th></th></tr>\n");
    for (size_t i = 0; i < r->clusters.n; i++) {
        const gf_report_cluster *c = &r->clusters.at[i];
        double share = share_of(r, c->size);
        gf_buffer_format(b, "<tr><td class=\"n m\">%" PRIu32 "</td><td>", c->id);
        write_link(b, c->id, c->label);
        gf_buffer_str(b, "</td><td class=\"n\">");
        gf_buffer_count(b, c->size);
        gf_buffer_str(b, "</td><td class=\"n m\">");
        gf_html_share(b, share);
        gf_buffer_format(
            b, "</td><td class=\"w\"><span class=\"b\" style=\"width:%.1f%%\"></span></td><td>",
            most > 0 ? 100 * share / most : 0);
        if (dated && c->trend) write_bars(b, r->trends, c->trend);
        gf_buffer_str(b, "</td></tr>\n");
    }
    gf_buffer_str(b, "</table>\n");
}

/* ---- the tree -------------------------------------------------------------------------------- */

typedef struct tree_writing {
    gf_buffer *b;
    uint32_t open; /* lists that are open */
    bool any;
} tree_writing;

static gf_status write_node(void *context, const gf_tree_node *n, gf_error *err)
{
    tree_writing *w = context;
    gf_buffer *b = w->b;
    if (n->depth == 0) return GF_OK; /* all there is */
    for (; w->open > n->depth; w->open--)
        gf_buffer_str(b, "</li></ul>\n");
    if (w->open == n->depth) gf_buffer_str(b, "</li>\n");
    for (; w->open < n->depth; w->open++)
        gf_buffer_str(b, w->open ? "<ul>\n" : "<h2>The tree</h2>\n<ul class=\"tree\">\n");
    gf_buffer_str(b, "<li>");
    if (n->cluster) {
        write_link(b, n->cluster, n->label);
    } else {
        gf_buffer_str(b, "<span class=\"group\"><bdi>");
        gf_html_text_cut(b, n->label, LABEL_SHOWN);
        gf_buffer_str(b, "</bdi></span>");
    }
    gf_buffer_str(b, " <span class=\"quiet\">");
    gf_buffer_count(b, n->size);
    gf_buffer_str(b, "</span>");
    return gf_buffer_check(b, err);
}

/* Builds of earlier versions, and those of very many clusters, have none. */
static gf_status write_tree(gf_report *r, gf_error *err)
{
    tree_writing w = {.b = &r->html};
    gf_status st = gf_view_tree(r->view, UINT32_MAX, write_node, &w, err);
    for (; w.open; w.open--)
        gf_buffer_str(w.b, "</li></ul>\n");
    return st == GF_ENOTFOUND ? GF_OK : st;
}

/* ---- each cluster ---------------------------------------------------------------------------- */

static gf_status write_text(void *context, const gf_document *d, gf_error *err)
{
    gf_buffer *b = context;
    gf_buffer_str(b, "<blockquote dir=\"auto\">");
    gf_html_text_cut(b, d->text, TEXT_SHOWN);
    gf_buffer_str(b, "<footer><bdi>");
    gf_html_text(b, d->id);
    return gf_buffer_check(b, err);
}

static gf_status write_member(void *context, gf_slice id, const gf_membership *m, gf_error *err)
{
    gf_report *r = context;
    gf_status st = gf_cancel_check(r->call->cancel, err);
    if (st == GF_OK) st = gf_view_document(r->view, id, write_text, &r->html, err);
    gf_buffer_format(&r->html, "</bdi>, score %.3f", m->score);
    if (m->copies) {
        gf_buffer_str(&r->html, ", and ");
        gf_buffer_count(&r->html, m->copies);
        gf_buffer_str(&r->html, " like it");
    }
    gf_buffer_str(&r->html, "</footer></blockquote>\n");
    return st;
}

static void write_terms(gf_report *r, const gf_cluster_info *info)
{
    gf_buffer *b = &r->html;
    gf_buffer_str(b, "<p class=\"quiet\">");
    for (size_t i = 0; i < info->n_terms && i < r->terms; i++) {
        gf_buffer_str(b, i ? ", <bdi>" : "<bdi>");
        gf_html_text_cut(b, info->terms[i].surface, LABEL_SHOWN);
        gf_buffer_str(b, "</bdi>");
    }
    gf_buffer_str(b, "</p>\n");
}

static void write_sentence(gf_buffer *b, const gf_cluster_info *info)
{
    if (info->sentence.len == 0) return;
    gf_buffer_str(b, "<p class=\"sentence\" dir=\"auto\">");
    gf_html_text_cut(b, info->sentence, TEXT_SHOWN);
    gf_buffer_str(b, "</p>\n");
}

static void write_title(gf_buffer *b, const gf_cluster_info *info)
{
    if (info->title.len == 0) return;
    gf_buffer_str(b, "<p class=\"title\" dir=\"auto\">");
    gf_html_text_cut(b, info->title, TEXT_SHOWN);
    gf_buffer_str(b, "</p>\n");
}

static gf_status write_cluster(void *context, const gf_cluster_info *info, gf_error *err)
{
    gf_report *r = context;
    gf_buffer *b = &r->html;
    if (info->hidden) return GF_OK;
    const gf_report_cluster *c = &r->clusters.at[r->written++]; /* the list is in this order */
    gf_buffer_format(b, "<article id=\"c%" PRIu32 "\">\n<header><h3 dir=\"auto\">", info->id);
    gf_html_text_cut(b, info->label, LABEL_SHOWN);
    gf_buffer_format(b, "</h3><span class=\"quiet\">cluster %" PRIu32 ", ", info->id);
    gf_buffer_count(b, info->size);
    gf_buffer_str(b, info->size == 1 ? " document, " : " documents, ");
    gf_html_share(b, share_of(r, info->size));
    if (info->figures) gf_buffer_format(b, ", %s", gf_cluster_figures_word(info->figures->clarity));
    gf_buffer_str(b, "</span>");
    if (c->trend && r->trends->n_periods > 1) {
        write_word(b, c->trend);
        write_bars(b, r->trends, c->trend);
    }
    gf_buffer_str(b, "</header>\n");
    write_title(b, info);
    write_sentence(b, info);
    write_terms(r, info);
    gf_status st =
        r->docs ? gf_view_different(r->view, info->id, r->docs, write_member, r, err) : GF_OK;
    gf_buffer_str(b, "</article>\n");
    return st == GF_OK ? gf_buffer_check(b, err) : st;
}

gf_status gf_report_write(gf_report *r, gf_error *err)
{
    gf_status st = join_trends(r, err);
    if (st != GF_OK) return st;
    write_head(r);
    st = write_clarities(r, err);
    if (st != GF_OK) return st;
    write_list(r);
    write_trends(r);
    st = gf_report_changes(r, err);
    if (st == GF_OK) st = write_tree(r, err);
    if (st != GF_OK) return st;
    gf_buffer_str(&r->html, "<h2>Each cluster</h2>\n");
    st = gf_view_clusters(r->view, write_cluster, r, err);
    if (st != GF_OK) return st;
    gf_buffer_format(&r->html, "<p class=\"quiet\">grouperfish %s</p>\n</body>\n</html>\n",
                     GF_VERSION);
    return GF_OK;
}
