/*
 * Suggestions for a name that is not there: the nearest of those that are, searched only after a
 * call has found nothing.
 */
#include "api/call.h"

#include "base/nearest.h"

enum { LONGEST_NAME = 63, SHORTEST_PART = 3, DOCUMENTS_LOOKED_AT = 1000 };

typedef struct candidates {
    gf_slice word;
    bool known; /* the word itself is there: something else is missing */
    char nearest[LONGEST_NAME + 1];
    char holding[LONGEST_NAME + 1]; /* the first that has the word in it */
    unsigned looked_at;
} candidates;

static bool holds(gf_slice text, gf_slice word)
{
    return word.len >= SHORTEST_PART && memmem(text.ptr, text.len, word.ptr, word.len);
}

static void consider(candidates *c, gf_slice name)
{
    char copy[LONGEST_NAME + 1];
    if (gf_slice_equal(name, c->word)) c->known = true;
    if (name.len == 0 || name.len > LONGEST_NAME || memchr(name.ptr, '\0', name.len)) return;
    memcpy(copy, name.ptr, name.len);
    copy[name.len] = '\0';
    if (!c->holding[0] && holds(name, c->word)) memcpy(c->holding, copy, sizeof copy);
    /* The first of two equally near ones stays. */
    const char *names[] = {c->nearest, copy};
    size_t from = c->nearest[0] ? 0 : 1;
    if (gf_nearest(c->word, names + from, 2 - from) == copy) memcpy(c->nearest, copy, sizeof copy);
}

/* True where the search ends here: the name was not known. */
static bool name_it(const candidates *c, gf_error *err)
{
    gf_error before = *err;
    const char *best = c->nearest[0] ? c->nearest : c->holding;
    if (c->known) return false;
    if (best[0]) gf_fail(err, before.status, "%s; did you mean \"%s\"?", before.message, best);
    return true;
}

/* ---- where names come from ------------------------------------------------------------------- */

static gf_status visit_collection(void *context, const gf_collection_info *info, gf_error *err)
{
    (void)err;
    consider(context, info->name);
    return GF_OK;
}

static gf_status visit_configuration(void *context, const gf_configuration_info *info,
                                     gf_error *err)
{
    (void)err;
    consider(context, info->name);
    return GF_OK;
}

static gf_status visit_cluster(void *context, const gf_cluster_info *info, gf_error *err)
{
    (void)err;
    consider(context, info->label);
    return GF_OK;
}

static gf_status visit_fields(void *context, const gf_document *d, gf_error *err)
{
    candidates *c = context;
    for (size_t i = 0; i < d->n_fields; i++)
        consider(c, d->fields[i].name);
    if (++c->looked_at < DOCUMENTS_LOOKED_AT) return GF_OK;
    return gf_fail(err, GF_ECANCELLED, "enough was looked at");
}

static gf_status nothing(void *context, const gf_collection_info *info, gf_error *err)
{
    (void)context, (void)info, (void)err;
    return GF_OK;
}

static bool suggest_collection(const gf_call *call, gf_store *store, gf_error *err)
{
    candidates c = {.word = gf_call_text(call, "collection")};
    if (gf_collection_read(store, gf_call_place(call), nothing, NULL, NULL) == GF_OK) return false;
    gf_collections_visit(store, call->name_space, GF_SLICE(""), visit_collection, &c, NULL);
    return name_it(&c, err);
}

static bool suggest_configuration(const gf_call *call, gf_store *store, gf_error *err)
{
    candidates c = {.word = gf_call_text(call, "config")};
    gf_configuration_list_visit(store, gf_call_place(call), visit_configuration, &c, NULL);
    return name_it(&c, err);
}

static void suggest_label(const gf_call *call, gf_slice label, gf_error *err)
{
    candidates c = {.word = label};
    gf_view *view;
    if (gf_call_view(call, &view, NULL) != GF_OK) return;
    gf_view_clusters(view, visit_cluster, &c, NULL);
    gf_view_close(view);
    name_it(&c, err);
}

static void suggest_field(const gf_call *call, gf_store *store, gf_slice field, gf_error *err)
{
    candidates c = {.word = field};
    gf_documents_visit(store, gf_call_place(call), visit_fields, &c, NULL);
    name_it(&c, err);
}

void gf_suggest_nearest(const gf_call *call, gf_error *err)
{
    gf_store *store;
    gf_slice cluster = gf_call_text(call, "cluster"), field = gf_call_text(call, "label-field");
    if (!err || gf_call_store(call, &store, NULL) != GF_OK) return;
    if (gf_call_has(call, "collection") && suggest_collection(call, store, err)) return;
    if (gf_call_has(call, "config") && suggest_configuration(call, store, err)) return;
    if (gf_slice_starts(cluster, GF_SLICE("label:")))
        suggest_label(call, gf_slice_skip(cluster, 6), err);
    else if (field.len)
        suggest_field(call, store, field, err);
}
