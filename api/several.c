/*
 * One operation, asked of several collections: of those whose names match a pattern, or of all.
 *
 * The operation is run as it is for one collection after the other, through a call with the same
 * sink and holder whose rows begin with the collection's name. Where a collection has the pattern
 * itself as its name, that collection alone is meant.
 */
#include "api/call.h"

#include "base/glob.h"
#include "base/memory.h"

#include <inttypes.h>

typedef struct several {
    const gf_operation *operation;
    gf_call *outer;
    gf_call inner;
    gf_argument *arguments; /* of the inner call; `collection` of them is the name at hand */
    gf_argument *collection;
    gf_buffer names; /* varint lengths and bytes, in order */
    gf_slice pattern;
    uint64_t n, failed;
    gf_error worst;     /* of the collections that failed */
    gf_outcome outcome; /* the worst of the others */
} several;

bool gf_several_is_asked(const gf_operation *o, const gf_argument *arguments, size_t n)
{
    bool of_several = false;
    for (size_t i = 0; i < n && o->reach != GF_REACH_ONE; i++)
        if (gf_slice_equal(arguments[i].name, GF_SLICE("collection")))
            of_several = gf_glob_is_pattern(arguments[i].value); /* the last one counts */
    return of_several || (o->reach == GF_REACH_ALL && gf_operations_have_flag(arguments, n, "all"));
}

/* ---- which collections ----------------------------------------------------------------------- */

static gf_status add_name(void *context, const gf_collection_info *info, gf_error *err)
{
    several *s = context;
    if (!gf_glob_matches(s->pattern, info->name)) return GF_OK;
    s->n++;
    gf_buffer_string(&s->names, info->name);
    return gf_buffer_check(&s->names, err);
}

static gf_status add_literal(void *context, const gf_collection_info *info, gf_error *err)
{
    several *s = context;
    s->n++;
    gf_buffer_string(&s->names, info->name);
    return gf_buffer_check(&s->names, err);
}

static gf_status list_names(several *s, gf_error *err)
{
    gf_store *store;
    gf_slice space = s->outer->name_space;
    bool all = !gf_call_has(s->outer, "collection");
    s->pattern = all ? GF_SLICE("*") : gf_call_text(s->outer, "collection");
    gf_status st = gf_call_store(s->outer, &store, err);
    if (st != GF_OK) return st;
    st = gf_collection_read(store, (gf_place){space, s->pattern}, add_literal, s, err);
    if (st != GF_ENOTFOUND && st != GF_EINVAL) return st;
    st = gf_collections_visit(store, space, gf_glob_start(s->pattern), add_name, s, err);
    if (st != GF_OK || s->n || all) return st;
    return gf_fail(err, GF_ENOTFOUND, "no collection matches \"%.*s\"", GF_SLICE_ARG(s->pattern));
}

/* ---- the inner call -------------------------------------------------------------------------- */

/* The outer call's arguments, with one collection in the place of the pattern or of "all". */
static gf_status begin(several *s, gf_error *err)
{
    const gf_call *outer = s->outer;
    size_t n = 0;
    if (outer->input.next)
        return gf_fail(err, GF_EINVAL, "an input goes with one collection, not with several");
    s->arguments = gf_array(outer->n_arguments + 1, sizeof *s->arguments);
    if (!s->arguments) return gf_fail_memory(err, "arguments");
    for (size_t i = 0; i < outer->n_arguments; i++) {
        const gf_argument *a = &outer->arguments[i];
        bool goes =
            gf_slice_equal(a->name, GF_SLICE("collection")) ||
            (s->operation->reach == GF_REACH_ALL && gf_slice_equal(a->name, GF_SLICE("all")));
        if (!goes) s->arguments[n++] = *a;
    }
    s->collection = &s->arguments[n++];
    s->collection->name = GF_SLICE("collection");
    s->inner = *outer;
    s->inner.arguments = s->arguments;
    s->inner.n_arguments = n;
    return GF_OK;
}

/* ---- how it ended ---------------------------------------------------------------------------- */

/* The exit codes that docs/operations.md has for them. */
static int weight_of_failure(gf_status st)
{
    switch (st) {
    case GF_OK:
        return 0;
    case GF_ENOTFOUND:
        return 1;
    case GF_EBUSY:
        return 4;
    case GF_ECORRUPT:
        return 5;
    case GF_ECONFLICT:
        return 7;
    default:
        return st == GF_EINVAL || st == GF_EEXISTS || st == GF_ELIMIT ? 2 : 6;
    }
}

static int weight_of_outcome(gf_outcome outcome)
{
    static const int weights[] = {[GF_OUTCOME_DONE] = 0,
                                  [GF_OUTCOME_SOME_ABSENT] = 1,
                                  [GF_OUTCOME_SOME_REFUSED] = 3,
                                  [GF_OUTCOME_DAMAGE_FOUND] = 5,
                                  [GF_OUTCOME_REBUILD_FAILED] = 7};
    return weights[outcome];
}

/* Failures that the next collection would meet, too. */
static bool ends_all(gf_status st)
{
    return st == GF_ECANCELLED || st == GF_EIO || st == GF_ENOMEM;
}

static void note_failure(several *s, gf_slice collection, const gf_error *why)
{
    gf_notice n = {.reason = "failed", .source = collection, .message = why->message};
    gf_call_notify(s->outer, &n);
    s->failed++;
    if (weight_of_failure(why->status) > weight_of_failure(s->worst.status)) s->worst = *why;
}

static gf_status run_one(several *s, gf_slice collection, gf_error *err)
{
    gf_error why = {GF_OK, ""};
    s->collection->value = s->inner.row_collection = collection;
    s->inner.outcome = GF_OUTCOME_DONE;
    gf_status st = gf_cancel_check(s->outer->cancel, err);
    if (st != GF_OK) return st;
    why.status = st = s->operation->run(&s->inner, &why);
    if (weight_of_outcome(s->inner.outcome) > weight_of_outcome(s->outcome))
        s->outcome = s->inner.outcome;
    if (ends_all(st)) {
        if (err) *err = why;
        return st;
    }
    if (st != GF_OK) note_failure(s, collection, &why);
    return GF_OK;
}

static gf_status end(several *s, gf_error *err)
{
    s->outer->outcome = s->outcome;
    if (weight_of_failure(s->worst.status) <= weight_of_outcome(s->outcome)) return GF_OK;
    s->outer->partly = true;
    return gf_fail(err, s->worst.status, "%" PRIu64 " of %" PRIu64 " collection%s failed",
                   s->failed, s->n, s->n == 1 ? "" : "s");
}

gf_status gf_several_run(const gf_operation *o, gf_call *call, gf_error *err)
{
    several s = {.operation = o, .outer = call, .worst = {GF_OK, ""}};
    gf_status st = list_names(&s, err);
    if (st == GF_OK) st = begin(&s, err);
    gf_slice names = gf_buffer_view(&s.names), collection;
    while (st == GF_OK && gf_slice_take_string(&names, &collection))
        st = run_one(&s, collection, err);
    if (st == GF_OK) st = end(&s, err);
    gf_free(s.arguments);
    gf_buffer_release(&s.names);
    return st;
}
