/*
 * What is different from the build before: clusters by their ids, and those whose ids are in one
 * build only by their labels.
 */
#include "api/report.h"

#include "api/html.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/strings.h"

#include <inttypes.h>
#include <stdlib.h>

enum { LABEL_SHOWN = 200, NONE = -1 };

typedef struct matching {
    const gf_report_clusters *now, *before;
    int64_t *of_now;    /* now->n: place in before, or NONE */
    int64_t *of_before; /* before->n: likewise */
} matching;

static void match(matching *m, size_t now, size_t before)
{
    m->of_now[now] = (int64_t)before;
    m->of_before[before] = (int64_t)now;
}

/* Match what is not matched yet by a key of each cluster; keys are unique in a build. */
static gf_status match_by(matching *m, bool label, gf_error *err)
{
    gf_strings keys = {0};
    gf_buffer key = {0};
    gf_status st = GF_OK;
    for (size_t i = 0; i < m->before->n + m->now->n && st == GF_OK; i++) {
        bool now = i >= m->before->n;
        size_t at = now ? i - m->before->n : i;
        const gf_report_cluster *c = now ? &m->now->at[at] : &m->before->at[at];
        uint32_t number;
        gf_buffer_reset(&key);
        if (label)
            gf_buffer_slice(&key, c->label);
        else
            gf_buffer_u32be(&key, c->id);
        st = gf_buffer_check(&key, err);
        if (st != GF_OK) break;
        if (!now) {
            st = gf_strings_add(&keys, gf_buffer_view(&key), &number, NULL, err);
            continue;
        }
        number = gf_strings_find(&keys, gf_buffer_view(&key));
        if (number != GF_STRING_NONE && m->of_now[at] == NONE && m->of_before[number] == NONE)
            match(m, at, number);
    }
    gf_strings_release(&keys);
    gf_buffer_release(&key);
    return st;
}

static void write_name(gf_buffer *b, gf_slice label)
{
    gf_buffer_str(b, "<bdi>");
    gf_html_text_cut(b, label, LABEL_SHOWN);
    gf_buffer_str(b, "</bdi>");
}

static void write_row(gf_buffer *b, const gf_report_cluster *now, const gf_report_cluster *before)
{
    gf_buffer_str(b, "<tr><td>");
    if (now) gf_buffer_format(b, "<a href=\"#c%" PRIu32 "\">", now->id);
    write_name(b, now ? now->label : before->label);
    if (now) gf_buffer_str(b, "</a>");
    if (now && before && !gf_slice_equal(now->label, before->label)) {
        gf_buffer_str(b, " <span class=\"quiet\">was ");
        write_name(b, before->label);
        gf_buffer_str(b, "</span>");
    }
    gf_buffer_str(b, "</td><td class=\"n\">");
    if (before)
        gf_html_count(b, before->size);
    else
        gf_buffer_str(b, "new");
    gf_buffer_str(b, "</td><td class=\"n\">");
    if (now)
        gf_html_count(b, now->size);
    else
        gf_buffer_str(b, "gone");
    gf_buffer_str(b, "</td></tr>\n");
}

/* Continued clusters whose size or label is another, new ones, and those that are gone. */
static size_t write_rows(gf_buffer *b, const matching *m)
{
    size_t same = 0;
    for (size_t i = 0; i < m->now->n; i++) {
        const gf_report_cluster *now = &m->now->at[i];
        const gf_report_cluster *before =
            m->of_now[i] == NONE ? NULL : &m->before->at[m->of_now[i]];
        if (before && before->size == now->size && gf_slice_equal(before->label, now->label))
            same++;
        else
            write_row(b, now, before);
    }
    for (size_t i = 0; i < m->before->n; i++)
        if (m->of_before[i] == NONE) write_row(b, NULL, &m->before->at[i]);
    return same;
}

static gf_status match_all(matching *m, gf_error *err)
{
    m->of_now = gf_array(m->now->n, sizeof *m->of_now);
    m->of_before = gf_array(m->before->n, sizeof *m->of_before);
    if (!m->of_now || !m->of_before) return gf_fail_memory(err, "a report");
    for (size_t i = 0; i < m->now->n; i++)
        m->of_now[i] = NONE;
    for (size_t i = 0; i < m->before->n; i++)
        m->of_before[i] = NONE;
    gf_status st = match_by(m, false, err);
    return st == GF_OK ? match_by(m, true, err) : st;
}

static void write_section(gf_report *r, const matching *m)
{
    gf_buffer *b = &r->html;
    const gf_build_info *now = gf_view_build(r->view), *before = gf_view_build(r->before);
    gf_buffer_str(b, "<h2>What changed</h2>\n<p class=\"quiet\">Since the build of ");
    gf_clock_write_iso(b, before->build);
    gf_buffer_str(b, ": ");
    gf_html_count(b, before->documents);
    gf_buffer_str(b, " documents then, ");
    gf_html_count(b, now->documents);
    gf_buffer_format(b, " now; %" PRIu32 " clusters then, %" PRIu32 " now.</p>\n<table>\n",
                     before->k, now->k);
    gf_buffer_str(b,
                  "<tr><th>cluster</th><th class=\"n\">then</th><th class=\"n\">now</th></tr>\n");
    size_t same = write_rows(b, m);
    gf_buffer_str(b, "</table>\n");
    if (same) gf_buffer_format(b, "<p class=\"quiet\">%zu clusters are as they were.</p>\n", same);
}

gf_status gf_report_changes(gf_report *r, gf_error *err)
{
    gf_report_clusters before = {0};
    if (!r->before) return GF_OK;
    matching m = {.now = &r->clusters, .before = &before};
    gf_status st = gf_report_list(r->before, &before, err);
    if (st == GF_OK) st = match_all(&m, err);
    if (st == GF_OK) write_section(r, &m);
    gf_free(m.of_now);
    gf_free(m.of_before);
    gf_report_clusters_release(&before);
    return st;
}
