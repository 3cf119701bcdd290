/*
 *     source list --source NAME      the place that is kept, from the store or the server
 *     gf_source                      opened there: records and places, as JSON Lines
 *     put --source NAME              takes them, wherever the store is
 *
 * The host is asked with the rights of whoever runs the command.
 */
#include "cli/commands/put_source.h"

#include "base/file.h"

#include <string.h>

static bool is_from(const gf_session *s, const char *name)
{
    return gf_slice_equal(gf_session_argument(s, "from"), gf_slice_str(name));
}

bool gf_put_source_is_meant(const gf_session *s)
{
    return is_from(s, "postgres") || is_from(s, "url");
}

/* ---- the place that is kept ------------------------------------------------------------------ */

typedef struct kept_place {
    gf_json_parser *parser;
    gf_buffer place;
} kept_place;

static gf_status take_row(void *context, gf_slice row, gf_error *err)
{
    kept_place *k = context;
    gf_json_value root;
    gf_status st = gf_json_parse_copy(k->parser, row, &root, err);
    if (st != GF_OK) return st;
    gf_buffer_reset(&k->place);
    gf_buffer_slice(&k->place, gf_member_text(root, "place"));
    return gf_buffer_check(&k->place, err);
}

/* Ask for it as the put itself will ask; no store and no collection have none. */
static gf_status read_place(gf_session *s, kept_place *k, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    const gf_argument arguments[] = {{GF_SLICE("collection"), gf_session_argument(s, "collection")},
                                     {GF_SLICE("source"), gf_session_argument(s, "source")}};
    gf_store_access access = {.store_path = s->store_path,
                              .command = s->command->name,
                              .maker = s->command->name,
                              .wait_seconds = s->wait_seconds,
                              .wait_given = s->wait_given,
                              .quiet = true,
                              .cancel = &gf_session_stop,
                              .out = stdout,
                              .remote = s->access.remote};
    gf_call call = {.arguments = arguments,
                    .n_arguments = 2,
                    .name_space = gf_slice_str(s->name_space),
                    .sink = {.context = k, .emit = take_row},
                    .cancel = &gf_session_stop};
    gf_status st = gf_store_access_run(&access, gf_operation_find("source list"), &call, &why);
    gf_store_access_close(&access);
    if (st == GF_ENOTFOUND) return GF_OK;
    if (st != GF_OK && err) *err = why;
    return st;
}

static gf_status go_to_place(gf_session *s, gf_error *err)
{
    kept_place k = {0};
    if (gf_session_kept(s, "again")) return GF_OK;
    gf_status st = gf_json_parser_create(&k.parser, err);
    if (st == GF_OK) st = read_place(s, &k, err);
    if (st == GF_OK && k.place.len)
        st = gf_source_set_place(s->source, gf_buffer_view(&k.place), err);
    gf_json_parser_free(k.parser);
    gf_buffer_release(&k.place);
    return st;
}

/* ---- opening --------------------------------------------------------------------------------- */

static gf_status open_postgres(gf_session *s, gf_error *err)
{
    static const char *const others[] = {"items",       "next",        "next-param",
                                         "since-param", "header-file", "other-origins"};
    for (size_t i = 0; i < GF_COUNT(others); i++)
        if (gf_session_kept(s, others[i]))
            return gf_fail(err, GF_EINVAL, "--%s goes with --from url", others[i]);
    if (s->n_words != 2)
        return gf_fail(
            err, GF_EINVAL,
            "--from postgres wants an address and a query: postgres://user@host/database "
            "\"SELECT id, text FROM tickets\"");
    gf_source_postgres o = {.url = s->words[0],
                            .query = s->words[1],
                            .since = gf_session_kept(s, "since-field"),
                            .cancel = &gf_session_stop};
    return gf_source_open_postgres(&o, &s->source, err);
}

static gf_status open_url(gf_session *s, gf_error *err)
{
    const char *headers = gf_session_kept(s, "header-file");
    if (s->n_words != 1) return gf_fail(err, GF_EINVAL, "--from url wants one address");
    gf_status st = headers ? gf_file_read_secret(headers, &s->text, err) : GF_OK;
    if (st != GF_OK) return st;
    gf_source_url o = {.url = s->words[0],
                       .items = gf_session_kept(s, "items"),
                       .next = gf_session_kept(s, "next"),
                       .next_param = gf_session_kept(s, "next-param"),
                       .since = gf_session_kept(s, "since-field"),
                       .since_param = gf_session_kept(s, "since-param"),
                       .headers = gf_buffer_view(&s->text),
                       .other_origins = gf_session_kept(s, "other-origins") != NULL,
                       .cancel = &gf_session_stop};
    return gf_source_open_url(&o, &s->source, err);
}

/* The records come as JSON Lines, whatever they were. */
static gf_status tell_operation(gf_session *s, gf_error *err)
{
    for (size_t i = 0; i < s->n_arguments; i++)
        if (gf_slice_equal(s->arguments[i].name, GF_SLICE("from")))
            s->arguments[i].value = GF_SLICE("jsonl");
    if (gf_session_has(s, "source")) return GF_OK;
    return gf_session_add(s, "source", gf_source_name(s->source).ptr, err);
}

gf_status gf_put_source_prepare(gf_session *s, gf_error *err)
{
    gf_status st = is_from(s, "postgres") ? open_postgres(s, err) : open_url(s, err);
    if (st == GF_OK) st = tell_operation(s, err);
    return st == GF_OK ? go_to_place(s, err) : st;
}
