/*
 * Looking terms up. Raw rows are the qualifiers, which lie by time: of an exact term the walk
 * begins at the time that is asked for.
 */
#include "apps/tweets/ask/query_internal.h"

#include "base/memory.h"

/* A token as it would be indexed in that field; false where nothing of it is left. */
static gf_status prepare_token(gf_slice token, unsigned field, bool *starts, gf_buffer *term,
                               gf_error *err)
{
    static const char deleted[] = ".,;:+/*!?()[]<>{}'\"";
    size_t n = 0;
    *starts = gf_slice_ends(token, GF_SLICE("*"));
    if (*starts) token.len--;
    gf_buffer_reset(term);
    gf_status st = gf_tweets_lower_case(token, term, err);
    if (st != GF_OK || field == GF_TWEETS_TERM_USER) return st;
    for (size_t i = 0; i < term->len; i++) {
        char c = term->ptr[i];
        if (c == '\0' || !strchr(deleted, c)) term->ptr[n++] = c;
    }
    term->len = n;
    return GF_OK;
}

static gf_status take_rows(gf_tweets_reading *r, gf_scan *scan, gf_raw_rows *rows, gf_error *err)
{
    gf_status st;
    while ((st = gf_scan_next(scan, &r->row, err)) == GF_OK) {
        gf_slice row = r->row.cells[0].qualifier;
        st = gf_cancel_check(r->query->cancel, err);
        if (st == GF_OK && row.len == GF_TWEET_ROW &&
            !gf_tweets_in_time(r->query, gf_tweets_row_seconds(row)))
            continue;
        if (st == GF_OK) st = gf_raw_rows_add(rows, row, err);
        if (st != GF_OK) return st;
    }
    return st == GF_ENOTFOUND ? GF_OK : st;
}

static gf_status scan_term(gf_tweets_reading *r, gf_slice term, bool starts, unsigned family,
                           gf_raw_rows *rows, gf_error *err)
{
    gf_scan_options o =
        GF_SCAN_OPTIONS(.snapshot = r->snapshot, .family = family, .keys_only = true);
    gf_buffer from = {0};
    gf_scan *scan = NULL;
    if (starts) {
        gf_tweets_key(r->tweets, &r->key, (gf_slice){"", 0});
        gf_key_string_start(&r->key, term);
    } else {
        gf_tweets_term_key(r->tweets, &r->key, term);
        gf_buffer_u64be(&from, (uint64_t)(r->query->from < 0 ? 0 : r->query->from));
        o.after_qualifier = gf_buffer_view(&from);
    }
    o.prefix = gf_buffer_view(&r->key);
    gf_status st = gf_buffer_check(&r->key, err);
    if (st == GF_OK) st = gf_buffer_check(&from, err);
    if (st == GF_OK) st = gf_scan_open(r->tweets->terms, &o, &scan, err);
    if (st == GF_OK) st = take_rows(r, scan, rows, err);
    gf_scan_close(scan);
    gf_buffer_release(&from);
    return st;
}

gf_status gf_tweets_select_token(gf_tweets_reading *r, gf_slice token, gf_raw_rows *rows,
                                 gf_error *err)
{
    static const struct {
        unsigned field, family;
    } fields[] = {{GF_TWEETS_TERM_TEXT, GF_TWEETS_TERMS_TEXT},
                  {GF_TWEETS_TERM_USER, GF_TWEETS_TERMS_USER}};
    gf_buffer term = {0};
    gf_status st = GF_OK;
    bool any = false, starts;
    for (size_t i = 0; i < 2 && st == GF_OK; i++) {
        if (!(r->query->fields & fields[i].field)) continue;
        st = prepare_token(token, fields[i].field, &starts, &term, err);
        if (st != GF_OK || term.len == 0 || term.len > 2 * GF_TWEETS_MOST_TERM) continue;
        any = true;
        st = scan_term(r, gf_buffer_view(&term), starts, fields[i].family, rows, err);
    }
    gf_buffer_release(&term);
    if (st != GF_OK || any) return st;
    return gf_fail(err, GF_EINVAL, "\"%.*s\" is no term: it has no letter, or is too long",
                   (int)(token.len > 60 ? 60 : token.len), token.ptr);
}

gf_status gf_tweets_select_user(gf_tweets_reading *r, gf_slice name, gf_raw_rows *rows,
                                gf_error *err)
{
    if (name.len > 2 * GF_TWEETS_MOST_TERM) return GF_OK;
    return scan_term(r, name, false, GF_TWEETS_TERMS_USER, rows, err);
}
