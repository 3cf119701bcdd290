#include "cli/terminal/member.h"

#include "cli/terminal/text.h"

#include <inttypes.h>

gf_slice gf_member_text(gf_json_value row, const char *key)
{
    gf_json_value v;
    if (!gf_json_member(row, key, &v) || gf_json_kind_of(v) != GF_JSON_STRING)
        return (gf_slice){"", 0};
    return gf_json_get_string(v);
}

double gf_member_number(gf_json_value row, const char *key)
{
    gf_json_value v;
    return gf_json_member(row, key, &v) && gf_json_is_number(v) ? gf_json_number(v) : 0;
}

bool gf_member_flag(gf_json_value row, const char *key)
{
    gf_json_value v;
    return gf_json_member(row, key, &v) && gf_json_kind_of(v) == GF_JSON_BOOL &&
           gf_json_get_bool(v);
}

/* ---- forms of columns ------------------------------------------------------------------------ */

static void write_terms(gf_buffer *b, gf_json_value terms)
{
    gf_json_iterator it = gf_json_items(terms);
    gf_slice name;
    gf_json_value term;
    for (bool first = true; gf_json_next(&it, &name, &term); first = false) {
        if (!first) gf_buffer_str(b, ", ");
        gf_buffer_slice(b, gf_member_text(term, "term"));
    }
}

static void write_counts(gf_buffer *b, gf_json_value periods)
{
    gf_json_iterator it = gf_json_items(periods);
    gf_slice name;
    gf_json_value period;
    for (bool first = true; gf_json_next(&it, &name, &period); first = false)
        gf_buffer_format(b, "%s%.0f", first ? "" : " ", gf_member_number(period, "documents"));
}

/* 1229K: in the largest unit of which there are ten or more, rounded up. */
static void write_size(gf_buffer *b, uint64_t n)
{
    static const char units[] = "KMGT";
    size_t unit = 0;
    while (unit < sizeof units - 1 && n >> (10 * (unit + 1)) >= 10)
        unit++;
    uint64_t one = (uint64_t)1 << (10 * unit);
    gf_buffer_format(b, "%" PRIu64, n / one + (n % one != 0));
    if (unit) gf_buffer_byte(b, units[unit - 1]);
}

/* 2026-11-20T08:00:00.123Z -> 2026-11-20 08:00:00 */
static void write_time(gf_buffer *b, gf_slice iso)
{
    if (iso.len < 19) return;
    gf_buffer_append(b, iso.ptr, 10);
    gf_buffer_byte(b, ' ');
    gf_buffer_append(b, iso.ptr + 11, 8);
}

static void write_number(gf_buffer *b, gf_json_value v, gf_column_kind kind)
{
    double n = gf_json_number(v);
    switch (kind) {
    case GF_COLUMN_RARE:
        if (n == 0) break;
        /* fall through */
    case GF_COLUMN_COUNT:
        gf_buffer_count(b, (uint64_t)n);
        break;
    case GF_COLUMN_SCORE:
        gf_buffer_format(b, "%.3f", n);
        break;
    case GF_COLUMN_SIGNED:
        gf_buffer_format(b, "%+.1f", n);
        break;
    case GF_COLUMN_SHARE:
        gf_buffer_format(b, "%.1f %%", 100 * n);
        break;
    case GF_COLUMN_SECONDS:
        gf_buffer_format(b, "%.1f s", n);
        break;
    case GF_COLUMN_BYTES:
        write_size(b, (uint64_t)n);
        break;
    default:
        gf_json_write(v, b, NULL);
    }
}

static void write_readable(gf_buffer *b, gf_json_value v, gf_column_kind kind)
{
    gf_json_kind is = gf_json_kind_of(v);
    if (is == GF_JSON_STRING && kind == GF_COLUMN_TIME)
        write_time(b, gf_json_get_string(v));
    else if (is == GF_JSON_STRING)
        gf_buffer_slice(b, gf_json_get_string(v));
    else if (gf_json_is_number(v))
        write_number(b, v, kind);
    else if (is == GF_JSON_BOOL && kind == GF_COLUMN_MARK)
        gf_buffer_str(b, gf_json_get_bool(v) ? "*" : "");
    else
        gf_json_write(v, b, NULL);
}

/* The others of the cluster that a document joins, itself not among them, and how far that is. */
static void write_others(gf_buffer *b, gf_json_value row, double size)
{
    gf_slice status = gf_member_text(row, "status");
    bool stored = gf_member_text(row, "result").len || gf_member_text(row, "store").len;
    /* A build's cluster has the documents that the build has in it, wherever they would be now. */
    bool counted = !gf_member_flag(row, "provisional") || gf_member_flag(row, "candidate") ||
                   gf_member_number(row, "cluster_before") == gf_member_number(row, "cluster");
    if (stored && counted && size >= 1) size--;
    gf_buffer_count(b, (uint64_t)size);
    gf_buffer_str(b, size == 1 ? " other" : " others");
    if (status.len == 0) return;
    gf_buffer_str(b, "; ");
    gf_buffer_slice(b, status);
}

void gf_member_write(gf_buffer *b, gf_json_value row, const gf_display_column *column,
                     bool readable)
{
    gf_json_value v;
    if (!gf_json_member(row, column->key, &v) || gf_json_kind_of(v) == GF_JSON_NULL) return;
    if (column->kind == GF_COLUMN_TERMS)
        write_terms(b, v);
    else if (column->kind == GF_COLUMN_COUNTS)
        write_counts(b, v);
    else if (readable && column->kind == GF_COLUMN_OTHERS)
        write_others(b, row, gf_json_number(v));
    else if (readable)
        write_readable(b, v, column->kind);
    else if (gf_json_kind_of(v) == GF_JSON_STRING)
        gf_buffer_slice(b, gf_json_get_string(v));
    else
        gf_json_write(v, b, NULL);
}

/* ---- printing -------------------------------------------------------------------------------- */

void gf_member_print_value(FILE *out, gf_json_value value, unsigned width)
{
    gf_buffer text = {0};
    if (gf_json_kind_of(value) == GF_JSON_STRING)
        gf_buffer_slice(&text, gf_json_get_string(value));
    else
        gf_json_write(value, &text, NULL);
    gf_text_print(out, gf_buffer_view(&text), width);
    gf_buffer_release(&text);
}

void gf_member_show(FILE *out, gf_json_value row, const gf_display_column *column, unsigned width)
{
    gf_buffer b = {0};
    int name = fprintf(out, "%-11s  ", column->header);
    gf_member_write(&b, row, column, true);
    unsigned used = name > 0 ? (unsigned)name : 0;
    gf_text_print(out, gf_buffer_view(&b), width > used + 1 ? width - used : 0);
    fputs(column->kind == GF_COLUMN_TIME && b.len ? " UTC\n" : "\n", out);
    gf_buffer_release(&b);
}

void gf_member_each(gf_session *session, gf_json_value row, const char *key, gf_member_item *show)
{
    gf_json_value list, item;
    gf_slice name;
    if (!gf_json_member(row, key, &list)) return;
    gf_json_iterator it = gf_json_items(list);
    while (gf_json_next(&it, &name, &item))
        show(session, item);
}

void gf_member_print_owner(FILE *out, gf_json_value row)
{
    gf_json_value space;
    bool of_namespace = gf_json_member(row, "namespace", &space);
    fputs(of_namespace ? " of namespace " : " of ", out);
    gf_text_print(out, gf_member_text(row, of_namespace ? "namespace" : "collection"), 0);
}
