/*
 * Titles of the clusters of a served build, asked of a language model over HTTP.
 *
 *     clusters of the view   largest first
 *       prompt, hash         the hash that the cluster's title has: kept
 *       POST                 again after 1, 2, 4, ... 60 seconds or what the server says (Retry-After)
 *       answer checked       no title: told once what is wrong with it
 *       three cells          title, title_model, title_prompt of the cluster's row, synced
 *
 * Nothing is held meanwhile but the view's snapshot: puts and rebuilds go on, and a build that is
 * published before the end has the titles that were there when it was made.
 */
#include "engine/titles/answer.h"

#include "base/clock.h"
#include "base/http/address.h"
#include "base/http/client.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/options.h"
#include "base/utf8.h"
#include "engine/rows/scan.h"
#include "engine/store/hold.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    MOST_CALLS = 1000,
    SECONDS = 60,
    ATTEMPTS = 4,
    MOST_ANSWER = 1 << 20, /* bytes */
    MOST_WAIT = 300,       /* seconds that a server may ask for */
    IN_A_ROW = 3,          /* clusters without an answer: the server is taken for dead */
    ANSWERS = 2            /* of a cluster: where the first is no title, one more */
};

#define ROUTE "/chat/completions"

typedef struct titling {
    const gf_titles_options *options;
    gf_view *view;
    const gf_language *language;
    gf_titled_clusters clusters;
    gf_prompt prompt;
    gf_http_client *http;
    gf_buffer url, shown, header; /* shown: the address in messages */
    gf_http_answer answer;
    gf_json_parser *parser;
    gf_buffer body, text, why;
    uint64_t calls_left;
    unsigned failed; /* clusters without an answer, in a row */
    gf_visit_title *visit;
    void *context;
} titling;

const char *gf_title_outcome_word(gf_title_outcome outcome)
{
    static const char *const words[] = {"named",  "kept", "pinned", "refused",
                                        "failed", "left", "shown"};
    return words[outcome];
}

/* ---- the server ------------------------------------------------------------------------------ */

/* ".../v1/chat/completions", of which the end may be missing. */
static gf_status set_route(CURLU *u, gf_error *err)
{
    gf_buffer path = {0};
    char *given = gf_http_address_part(u, CURLUPART_PATH);
    gf_buffer_str(&path, given ? given : "");
    curl_free(given);
    while (path.len && path.ptr[path.len - 1] == '/')
        path.len--;
    size_t end = sizeof ROUTE - 1;
    if (path.len < end || memcmp(path.ptr + path.len - end, ROUTE, end) != 0)
        gf_buffer_str(&path, path.len ? ROUTE : "/v1" ROUTE);
    const char *text = gf_buffer_cstr(&path);
    gf_status st = gf_buffer_check(&path, err);
    if (st == GF_OK && curl_url_set(u, CURLUPART_PATH, text, 0) != CURLUE_OK)
        st = gf_fail_memory(err, "an address");
    gf_buffer_release(&path);
    return st;
}

static gf_status set_address(titling *t, gf_error *err)
{
    CURLU *u = NULL;
    char *text = NULL;
    gf_status st = gf_http_address_read(t->options->url, "a model's server",
                                        "put the key into a file (--key-file)", &u, err);
    if (st == GF_OK) st = set_route(u, err);
    if (st == GF_OK && curl_url_get(u, CURLUPART_URL, &text, 0) != CURLUE_OK)
        st = gf_fail_memory(err, "an address");
    if (st == GF_OK) {
        gf_buffer_str(&t->url, text);
        gf_http_address_show(u, &t->shown);
        gf_buffer_cstr(&t->shown);
        gf_buffer_cstr(&t->url);
        st = gf_buffer_check(&t->url, err);
        if (st == GF_OK) st = gf_buffer_check(&t->shown, err);
    }
    curl_free(text);
    curl_url_cleanup(u);
    return st;
}

static gf_status set_header(titling *t, gf_error *err)
{
    gf_slice key = t->options->key;
    for (size_t i = 0; i < key.len; i++)
        if ((unsigned char)key.ptr[i] <= ' ' || (unsigned char)key.ptr[i] >= 0x7f)
            return gf_fail(err, GF_EINVAL, "a key is one word of printable ASCII");
    if (key.len) gf_buffer_format(&t->header, "Authorization: Bearer %.*s", GF_SLICE_ARG(key));
    return gf_buffer_check(&t->header, err);
}

static gf_status open_server(titling *t, gf_error *err)
{
    const gf_titles_options *o = t->options;
    const gf_http_client_options client = {.most_bytes = MOST_ANSWER,
                                           .answer_seconds = o->seconds ? o->seconds : SECONDS,
                                           .cancel = o->cancel};
    gf_status st = gf_http_client_open(&client, &t->http, err);
    if (st == GF_OK) st = set_address(t, err);
    if (st == GF_OK) st = set_header(t, err);
    return st == GF_OK ? gf_json_parser_create(&t->parser, err) : st;
}

/* ---- an answer ------------------------------------------------------------------------------- */

/* A fault that no further call would mend; GF_OK: none. */
static gf_status look_at_status(titling *t, gf_error *err)
{
    const gf_http_answer *a = &t->answer;
    const char *shown = t->shown.ptr;
    if (a->is_not_trusted) return gf_fail(err, GF_EIO, "%s: %s", shown, a->fault);
    if (a->fault[0] || a->status == 200 || gf_http_may_again(a)) return GF_OK;
    gf_status st =
        gf_titles_read_answer(t->parser, gf_buffer_view(&a->body), &t->text, &t->why, err);
    if (st != GF_OK) return st;
    if (a->status == 401 || a->status == 403)
        return gf_fail(err, GF_EINVAL, "%s: status %ld: is the key right? (--key-file)", shown,
                       a->status);
    if (a->status / 100 == 3)
        return gf_fail(err, GF_EINVAL, "%s: status %ld: it leads elsewhere; give that address",
                       shown, a->status);
    return gf_fail(err, GF_EINVAL, "%s: status %ld: %.*s (are address and model right?)", shown,
                   a->status, GF_SLICE_ARG(gf_buffer_view(&t->why)));
}

/* Ask once: t->text, or t->why there is none. *wait: seconds that the server wants to have. */
static gf_status ask_once(titling *t, double *wait, gf_error *err)
{
    gf_slice headers[] = {GF_SLICE("Content-Type: application/json"),
                          GF_SLICE("Accept: application/json"), gf_buffer_view(&t->header)};
    const gf_http_request r = {.url = t->url.ptr,
                               .headers = headers,
                               .n_headers = t->header.len ? 3 : 2,
                               .body = gf_buffer_view(&t->body)};
    gf_http_answer *a = &t->answer;
    t->calls_left--;
    gf_buffer_reset(&t->text);
    gf_buffer_reset(&t->why);
    gf_status st = gf_http_client_ask(t->http, &r, a, err);
    if (st == GF_OK) st = look_at_status(t, err);
    if (st != GF_OK) return st;
    *wait = a->wait;
    if (a->fault[0])
        gf_buffer_str(&t->why, a->fault);
    else if (a->status != 200)
        gf_buffer_format(&t->why, "status %ld", a->status);
    else
        return gf_titles_read_answer(t->parser, gf_buffer_view(&a->body), &t->text, &t->why, err);
    return gf_buffer_check(&t->why, err);
}

/* Ask until an answer comes: t->text, or t->why none did. */
static gf_status ask(titling *t, uint64_t *calls, gf_error *err)
{
    unsigned attempts = t->options->attempts ? t->options->attempts : ATTEMPTS;
    double pause = 1;
    for (unsigned n = 1;; n++, pause = gf_http_longer_pause(pause)) {
        double wait = 0;
        gf_status st = ask_once(t, &wait, err);
        ++*calls;
        if (st != GF_OK || t->why.len == 0 || n == attempts || t->calls_left == 0) return st;
        if (t->answer.is_long) return GF_OK; /* it would be as long again */
        if (wait > MOST_WAIT)
            return gf_fail(
                err, GF_EIO,
                "%s: %.*s, and wants to be asked in %.0f s: the same command goes on then",
                t->shown.ptr, GF_SLICE_ARG(gf_buffer_view(&t->why)), wait);
        st = gf_http_sleep(t->options->cancel, wait > 0 ? wait : pause, err);
        if (st != GF_OK) return st;
    }
}

/* ---- what is kept ---------------------------------------------------------------------------- */

/* Is the row still the cluster's? Edits of others take labels away, and give them to new clusters. */
static bool is_row_of(const gf_row *row, uint32_t cluster)
{
    uint64_t id;
    return gf_rows_cell_number(gf_row_find(row, GF_CLUSTERS_MAIN, "id"), &id) && id == cluster;
}

/* *there: the cluster is, and has the title now. */
static gf_status put_cells(titling *t, const gf_titled_cluster *c, gf_slice own_label,
                           const char *hash, gf_batch *batch, bool *there, gf_error *err)
{
    gf_view *v = t->view;
    const gf_tables *tables = &v->store->tables;
    gf_buffer key = {0}, where = {0}, column = {0};
    gf_row row = {0};
    gf_number_digits digits;
    gf_tables_cluster_key(&key, gf_buffer_view(&v->key), own_label);
    gf_tables_collection_key(&where, v->where.name_space, v->where.collection);
    gf_collection_row_column(&column, v->configuration, "named");
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_buffer_check(&where, err);
    if (st == GF_OK) st = gf_buffer_check(&column, err);
    /* A build that is being dropped still has its rows, but nobody is to write to them. */
    if (st == GF_OK)
        st = gf_table_get(tables->builds, NULL, gf_buffer_view(&v->key),
                          1u << GF_BUILDS_MAIN | 1u << GF_BUILDS_PROGRESS, &row, err);
    if (st == GF_OK && gf_row_find(&row, GF_BUILDS_PROGRESS, "state")) st = GF_ENOTFOUND;
    if (st == GF_ENOTFOUND)
        st = gf_fail(
            err, GF_ECONFLICT,
            "the build was dropped meanwhile; the same command names the one that is served "
            "now");
    if (st == GF_OK)
        st = gf_table_get(tables->clusters, NULL, gf_buffer_view(&key), 1u << GF_CLUSTERS_MAIN,
                          &row, err);
    *there = st == GF_OK && is_row_of(&row, c->id);
    if (st == GF_ENOTFOUND) st = GF_OK;
    if (*there) {
        const gf_column columns[] = {{GF_SLICE("title"), c->title},
                                     {GF_SLICE("title_model"), gf_slice_str(t->options->model)},
                                     {GF_SLICE("title_prompt"), gf_slice_str(hash)}};
        for (size_t i = 0; i < 3; i++)
            gf_batch_put(batch, tables->clusters, gf_buffer_view(&key), GF_CLUSTERS_MAIN,
                         columns[i].name, columns[i].value, 0);
        /* The collection's row tells of the change, so that answers kept elsewhere are stale: see gf_collection_mark. */
        gf_batch_put(batch, tables->collections, gf_buffer_view(&where), GF_COLLECTIONS_MAIN,
                     gf_buffer_view(&column), gf_number_write(&digits, (uint64_t)gf_clock_ms()), 0);
        st = gf_batch_write(batch, GF_SYNC_ON, err);
    }
    gf_row_release(&row);
    gf_buffer_release(&key);
    gf_buffer_release(&where);
    gf_buffer_release(&column);
    return st;
}

static gf_status keep_title(titling *t, gf_titled_cluster *c, const char *hash,
                            gf_title_outcome *outcome, gf_error *err)
{
    gf_store *s = t->view->store;
    gf_batch *batch = NULL;
    gf_hold hold;
    bool there = false;
    const gf_listed_cluster *listed = gf_view_find_cluster(t->view, c->id);
    gf_slice title = gf_arena_copy(&t->clusters.memory, gf_buffer_view(&t->text));
    if (!title.ptr) return gf_fail_memory(err, "a title");
    gf_slice before = c->title;
    c->title = title;
    gf_status st = gf_batch_create(s->db, &batch, err);
    if (st == GF_OK) {
        st = gf_hold_collection(s, t->view->where, &hold, err);
        if (st == GF_OK) st = put_cells(t, c, listed->own_label, hash, batch, &there, err);
        gf_hold_let_go(&hold);
    }
    gf_batch_free(batch);
    if (there) return st;
    c->title = before;
    *outcome = GF_TITLE_FAILED;
    gf_buffer_str(&t->why, "clusters were edited meanwhile: the same command asks anew");
    return st == GF_OK ? gf_buffer_check(&t->why, err) : st;
}

/* ---- a cluster ------------------------------------------------------------------------------- */

static gf_status tell(titling *t, const gf_titled_cluster *c, gf_title_outcome outcome,
                      uint64_t calls, gf_error *err)
{
    gf_title_info info = {
        .cluster = c->id, .label = c->label, .outcome = outcome, .title = c->title, .calls = calls};
    if (outcome == GF_TITLE_REFUSED || outcome == GF_TITLE_FAILED)
        info.why = gf_buffer_view(&t->why);
    if (outcome == GF_TITLE_SHOWN) info.prompt = gf_buffer_view(&t->body);
    return t->visit(t->context, &info, err);
}

static gf_status write_body(titling *t, gf_slice refused, gf_slice why, gf_error *err)
{
    gf_buffer_reset(&t->body);
    gf_prompt_write(&t->prompt, t->options->model, refused, why, &t->body);
    return gf_buffer_check(&t->body, err);
}

/* Ask up to twice; t->text is a title, or t->why says why there is none. */
static gf_status find_title(titling *t, const gf_titled_cluster *c, uint64_t *calls,
                            gf_title_outcome *outcome, gf_error *err)
{
    gf_status st = write_body(t, (gf_slice){0}, (gf_slice){0}, err);
    for (unsigned n = 1; st == GF_OK; n++) {
        *outcome = GF_TITLE_FAILED;
        st = ask(t, calls, err);
        if (st != GF_OK || t->why.len) break;
        st = gf_titles_check_answer(&t->text, &t->prompt, &t->clusters, c, &t->why, err);
        *outcome = t->why.len ? GF_TITLE_REFUSED : GF_TITLE_NAMED;
        if (st != GF_OK || t->why.len == 0 || n == ANSWERS || t->calls_left == 0) break;
        st = write_body(t, gf_utf8_cut(gf_buffer_view(&t->text), 4 * (size_t)GF_TITLE_CHARACTERS),
                        gf_buffer_view(&t->why), err);
    }
    return st;
}

static gf_status title_cluster(titling *t, gf_titled_cluster *c, gf_error *err)
{
    char hash[17];
    uint64_t calls = 0;
    gf_title_outcome outcome = GF_TITLE_FAILED;
    if (c->pinned && !t->options->show) return tell(t, c, GF_TITLE_PINNED, 0, err);
    if (!t->options->show && t->calls_left == 0) return tell(t, c, GF_TITLE_LEFT, 0, err);
    gf_status st = gf_prompt_make(t->view, &t->clusters, c, t->language, &t->prompt, err);
    if (st != GF_OK) return st;
    if (t->options->show) {
        st = write_body(t, (gf_slice){0}, (gf_slice){0}, err);
        return st == GF_OK ? tell(t, c, GF_TITLE_SHOWN, 0, err) : st;
    }
    gf_prompt_hash(&t->prompt, t->options->model, hash);
    if (!t->options->again && c->title.len && gf_slice_equal(c->prompt, gf_slice_str(hash)))
        return tell(t, c, GF_TITLE_KEPT, 0, err);
    st = find_title(t, c, &calls, &outcome, err);
    if (st != GF_OK) return st;
    t->failed = outcome == GF_TITLE_FAILED ? t->failed + 1 : 0;
    if (outcome == GF_TITLE_NAMED) st = keep_title(t, c, hash, &outcome, err);
    if (st == GF_OK) st = tell(t, c, outcome, calls, err);
    if (st != GF_OK) return st;
    if (t->failed == IN_A_ROW)
        return gf_fail(err, GF_EIO,
                       "%s: no answer for %u clusters in a row (%.*s): the same command goes on",
                       t->shown.ptr, t->failed, GF_SLICE_ARG(gf_buffer_view(&t->why)));
    return st;
}

static bool is_meant(const titling *t, uint32_t id)
{
    const gf_titles_options *o = t->options;
    for (size_t i = 0; i < o->n_clusters; i++)
        if (o->clusters[i] == id) return true;
    return o->n_clusters == 0;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static gf_status check_options(titling *t, gf_error *err)
{
    const gf_titles_options *o = t->options;
    gf_status st =
        gf_options_check(o->version, GF_TITLES_OPTIONS_VERSION, "gf_titles_options", err);
    if (st != GF_OK) return st;
    if (!o->model || !o->model[0]) return gf_fail(err, GF_EINVAL, "which model? (--model)");
    if (!o->show && !o->url) return gf_fail(err, GF_EINVAL, "which server? (--from)");
    if (o->language.len == 0) return GF_OK;
    t->language = gf_language_find(o->language);
    if (t->language) return GF_OK;
    const char *nearest = gf_language_nearest(o->language);
    return gf_fail(err, GF_EINVAL, "\"%.*s\" is no language that is known%s%s%s",
                   GF_SLICE_ARG(o->language), nearest ? "; did you mean \"" : "",
                   nearest ? nearest : "", nearest ? "\"?" : "");
}

static gf_status title_all(titling *t, gf_error *err)
{
    const gf_titles_options *o = t->options;
    gf_status st = gf_prompt_list_clusters(t->view, &t->clusters, err);
    for (size_t i = 0; i < o->n_clusters && st == GF_OK; i++)
        if (!gf_view_find_cluster(t->view, o->clusters[i]))
            st = gf_fail(err, GF_ENOTFOUND, "there is no cluster %" PRIu32, o->clusters[i]);
    for (size_t i = 0; i < t->clusters.n && st == GF_OK; i++) {
        st = gf_cancel_check(o->cancel, err);
        if (st == GF_OK && is_meant(t, t->clusters.at[i].id))
            st = title_cluster(t, &t->clusters.at[i], err);
    }
    return st;
}

gf_status gf_titles_make(gf_store *store, gf_place where, gf_slice configuration,
                         const gf_titles_options *options, gf_visit_title *visit, void *context,
                         gf_error *err)
{
    titling t = {.options = options, .visit = visit, .context = context};
    t.calls_left = options->most_calls ? options->most_calls : MOST_CALLS;
    gf_status st = check_options(&t, err);
    if (st == GF_OK && !options->show) st = open_server(&t, err);
    if (st == GF_OK) st = gf_view_open(store, where, configuration, 0, &t.view, err);
    if (st == GF_OK) st = title_all(&t, err);
    gf_view_close(t.view);
    gf_http_client_close(t.http);
    gf_http_answer_release(&t.answer);
    gf_json_parser_free(t.parser);
    gf_prompt_release_clusters(&t.clusters);
    gf_prompt_release(&t.prompt);
    gf_buffer *buffers[] = {&t.url, &t.shown, &t.header, &t.body, &t.text, &t.why};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        gf_buffer_release(buffers[i]);
    return st;
}
