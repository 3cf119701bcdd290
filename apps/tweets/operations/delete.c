/*
 * tweets delete: by id, from the arguments or one on each line of the input, or by what they are. Ids
 * are looked for and deleted in portions.
 */
#include "apps/tweets/arguments_internal.h"
#include "apps/tweets/operations/schema.h"

#include "base/arena.h"
#include "base/grow.h"
#include "base/memory.h"

enum { PORTION = 1000 };

typedef struct deleting {
    gf_call *call;
    gf_tweets *tweets;
    bool only_counts;
    gf_slice *ids; /* n_ids of capacity, in memory: not yet looked for */
    size_t n_ids, capacity;
    gf_arena memory;
    uint64_t asked, absent;
    gf_tweets_deleted deleted;
} deleting;

/* ---- by id ----------------------------------------------------------------------------------- */

static gf_status count_absent(void *context, gf_slice id, gf_error *err)
{
    (void)id, (void)err;
    ((deleting *)context)->absent++;
    return GF_OK;
}

static gf_status delete_portion(deleting *d, gf_error *err)
{
    gf_tweets_query query = {.to = GF_TWEET_LAST_SECOND,
                             .ids = d->ids,
                             .n_ids = d->n_ids,
                             .absent = count_absent,
                             .context = d,
                             .cancel = d->call->cancel};
    if (d->n_ids == 0) return GF_OK;
    gf_status st = gf_tweets_delete(d->tweets, &query, d->only_counts, &d->deleted, err);
    d->n_ids = 0;
    gf_arena_reset(&d->memory);
    return st;
}

static gf_status take_id(void *context, gf_slice id, gf_error *err)
{
    deleting *d = context;
    d->asked++;
    if (!gf_grow(&d->ids, &d->capacity, d->n_ids + 1, sizeof *d->ids))
        return gf_fail_memory(err, "ids");
    gf_slice copy = gf_arena_copy(&d->memory, id);
    if (!copy.ptr) return gf_fail_memory(err, "ids");
    d->ids[d->n_ids++] = copy;
    return d->n_ids == PORTION ? delete_portion(d, err) : GF_OK;
}

/* ---- by what they are ------------------------------------------------------------------------ */

static bool chooses(const gf_call *call)
{
    static const char *const names[] = {"before", "from", "to", "box", "user", "user-id", "lang"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (gf_call_has(call, names[i])) return true;
    return false;
}

static gf_status delete_choice(deleting *d, gf_error *err)
{
    gf_tweets_query query;
    gf_geo_box box;
    int64_t before;
    if (gf_call_has(d->call, "id") || d->call->input.next)
        return gf_fail(err, GF_EINVAL, "either ids, or what the tweets are: time, user, place");
    gf_status st = gf_tweets_query_of_call(d->call, 0, &box, &query, err);
    if (st == GF_OK)
        st = gf_tweets_time_of_call(d->call, "before", false, GF_TWEET_LAST_SECOND + 1, &before,
                                    err);
    if (st != GF_OK) return st;
    if (before <= query.to) query.to = before - 1;
    return gf_tweets_delete(d->tweets, &query, d->only_counts, &d->deleted, err);
}

/* ---- the call -------------------------------------------------------------------------------- */

static gf_status delete_all(deleting *d, gf_error *err)
{
    const gf_call *call = d->call;
    bool any = gf_call_has(call, "id") || call->input.next;
    if (chooses(call)) return delete_choice(d, err);
    if (!any && gf_call_flag(call, "purge")) return GF_OK;
    gf_status st = gf_call_each_id(call, take_id, d, err);
    return st == GF_OK ? delete_portion(d, err) : st;
}

static gf_status emit_counts(deleting *d, bool purged, gf_error *err)
{
    gf_tweets_info info;
    gf_row_writer row = {.call = d->call};
    gf_status st = gf_tweets_read_info(d->tweets, &info, err);
    if (st != GF_OK) return st;
    gf_json_writer *w = gf_row_writer_begin(&row);
    gf_json_put_uint(w, "asked", d->asked);
    gf_json_put_uint(w, "deleted", d->only_counts ? 0 : d->deleted.tweets);
    gf_json_put_uint(w, "absent", d->absent);
    if (d->only_counts) gf_json_put_uint(w, "would_delete", d->deleted.tweets);
    gf_json_put_uint(w, "tweets", info.tweets);
    if (purged) gf_json_put_bool(w, "purged", true);
    if (d->absent) d->call->outcome = GF_OUTCOME_SOME_ABSENT;
    return gf_row_writer_emit_only(&row, err);
}

static gf_status delete_and_tell(deleting *d, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    gf_store *store;
    gf_status st = delete_all(d, &why);
    bool purges = st == GF_OK && gf_call_flag(d->call, "purge") && !d->only_counts;
    if (purges) st = gf_call_store(d->call, &store, &why);
    if (purges && st == GF_OK) st = gf_purge_store(store, d->call->cancel, &why);
    bool tells = st == GF_OK || d->deleted.tweets;
    gf_status told = tells ? emit_counts(d, purges && st == GF_OK, err) : GF_OK;
    if (st != GF_OK && err) *err = why;
    return st == GF_OK ? told : st;
}

static gf_status run_tweets_delete(gf_call *call, gf_error *err)
{
    deleting d = {.call = call, .only_counts = gf_call_flag(call, "dry-run")};
    gf_status st = gf_tweets_of_call(call, &d.tweets, err);
    if (st == GF_OK) st = delete_and_tell(&d, err);
    gf_tweets_close(d.tweets);
    gf_free(d.ids);
    gf_arena_release(&d.memory);
    return st;
}

/* ---- the operation --------------------------------------------------------------------------- */

static const gf_parameter tweets_delete_parameters[] = {
    P_SEVERAL("id", false, "ID", "ids or raw rows to delete; else one on each line of the input"),
    P_TEXT("before", "TIME", "tweets before this: 201605051430, ISO 8601, or an age (90d)"),
    P_FROM,
    P_TO,
    P_BOX,
    P_USER,
    P_USER_ID,
    P_LANG,
    P_FLAG("dry-run", "count what would be deleted, and do nothing"),
    P_PURGE};

const gf_operation gf_tweets_delete_operation = {
    .name = "tweets delete",
    .method = "DELETE",
    .path = "/tweets",
    .meaning = "Delete tweets",
    GF_PARAMETERS(tweets_delete_parameters),
    .members = gf_schema_tweets_delete,
    .run = run_tweets_delete,
    .input = GF_INPUT_OPTIONAL,
    .single = true,
};
