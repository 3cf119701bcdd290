/*
 * A look: groups of new documents and clusters that rise, rules put to each, alerts of what is told.
 *
 *     view       groups (candidates.c), with the ids that they have; z of clusters (trends.c)
 *     lock       ids for groups that have none; an alert for each rule and key that none told before
 *     one write  candidates, alerts, state: an alert is on disk before it is sent
 *
 * The bound on false alarms is one for groups, one for clusters. Looks at one build are many tests
 * of documents that are mostly the same; the n-th has the share 1 / n(n+1) of the bound, and all together 1.
 * A look that sees what the one before saw is the same test, and has the same number.
 * Clusters are tested at the first look at a build with these rules: a put does not move them.
 */
#include "engine/config/candidates.h"
#include "engine/edit/internal.h"
#include "engine/store/collections.h"
#include "engine/store/hold.h"
#include "engine/store/lease.h"
#include "engine/watch/kept.h"
#include "engine/watch/rising.h"
#include "engine/watch/turn.h"
#include "engine/watch/when.h"

#include "base/clock.h"
#include "base/grow.h"
#include "base/json/writer.h"
#include "base/memory.h"
#include "base/number.h"
#include "grouperfish/changes.h"

#include <inttypes.h>
#include <math.h>

#define BOUND 0.025 /* of groups, over all looks at a build; of clusters */

enum { LEAST_GROUP = 5, PERIODS = 48, TERMS = 5, MOST_ALERTS = 1000 };

/* A group or a cluster that is looked at. */
typedef struct subject {
    gf_watch_subject is;
    double p;                         /* corrected for all that was looked at */
    gf_slice label, terms;            /* terms: a JSON array */
    gf_slice weighed;                 /* of a group: terms with weights, a JSON array of pairs */
    gf_candidate_document *documents; /* of a group: n_documents, most central first */
    size_t n_documents;
    gf_slice period;  /* of a cluster: the last one */
    uint32_t nearest; /* of a group; 0: none */
    gf_slice nearest_label;
} subject;

typedef struct looking {
    gf_watch_place place;
    const gf_cancel *cancel;
    gf_view *view;
    gf_kept_watches rules;
    gf_kept_alerts alerts;
    gf_watch_state state;
    subject *at; /* n */
    size_t n, capacity;
    uint64_t judged; /* the last rule, once clusters were put to all of them; 0: not at this look */
    gf_arena memory;
    gf_batch *batch;
    uint64_t next_id;
    gf_buffer newest; /* key of the newest build, which knows of ids that are used */
    gf_watch_outcome *out;
} looking;

/* One look at a time: ids of groups are those that the look before gave. */
static pthread_mutex_t one_look = PTHREAD_MUTEX_INITIALIZER;

static gf_status keep_subject(looking *l, const subject *s, gf_error *err)
{
    if (!gf_grow(&l->at, &l->capacity, l->n + 1, sizeof *l->at))
        return gf_fail_memory(err, "candidates");
    l->at[l->n++] = *s;
    return GF_OK;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static gf_status keep_bytes(looking *l, gf_buffer *bytes, gf_slice *out, gf_error *err)
{
    gf_status st = gf_buffer_check(bytes, err);
    *out = gf_arena_copy(&l->memory, gf_buffer_view(bytes));
    gf_buffer_release(bytes);
    return st == GF_OK && !out->ptr ? gf_fail_memory(err, "candidates") : st;
}

static gf_status keep_documents(looking *l, const gf_new_group *g, subject *s, gf_error *err)
{
    s->n_documents = g->size < GF_WATCH_MEMBERS ? g->size : GF_WATCH_MEMBERS;
    s->documents = gf_arena_alloc(&l->memory, (s->n_documents + 1) * sizeof *s->documents);
    if (!s->documents) return gf_fail_memory(err, "candidates");
    for (size_t i = 0; i < s->n_documents; i++) {
        s->documents[i] =
            (gf_candidate_document){gf_arena_copy(&l->memory, g->all[i]), g->all_score[i]};
        if (!s->documents[i].id.ptr) return gf_fail_memory(err, "candidates");
    }
    return GF_OK;
}

static gf_status keep_group(void *context, const gf_new_group *g, gf_error *err)
{
    looking *l = context;
    gf_buffer terms = {0}, weighed = {0};
    gf_json_writer w = gf_json_writer_to(&terms), pairs = gf_json_writer_to(&weighed);
    subject s = {.is = {.is_new = true, .cluster = g->candidate, .size = g->size},
                 .p = g->p,
                 .label = gf_arena_copy(&l->memory, g->label),
                 .nearest = g->nearest,
                 .nearest_label = gf_arena_copy(&l->memory, g->nearest_label)};
    gf_json_begin(&w, '[');
    gf_json_begin(&pairs, '[');
    for (size_t i = 0; i < g->n_terms; i++) {
        if (i < TERMS) gf_json_string(&w, g->terms[i].surface);
        gf_json_begin(&pairs, '[');
        gf_json_string(&pairs, g->terms[i].surface);
        gf_json_float(&pairs, g->terms[i].weight);
        gf_json_end(&pairs, ']');
    }
    gf_json_end(&w, ']');
    gf_json_end(&pairs, ']');
    gf_status st = keep_bytes(l, &terms, &s.terms, err);
    gf_status kept = keep_bytes(l, &weighed, &s.weighed, err);
    if (st == GF_OK) st = kept;
    if (st == GF_OK) st = keep_documents(l, g, &s, err);
    if (st == GF_OK && (!s.label.ptr || !s.nearest_label.ptr))
        st = gf_fail_memory(err, "candidates");
    return st == GF_OK ? keep_subject(l, &s, err) : st;
}

/* ---- clusters -------------------------------------------------------------------------------- */

/* The chance of z alone, where there are no words to tell by. */
static double chance_of_z(const gf_trends *t, const gf_trend *c)
{
    return (double)t->n_clusters * erfc(c->z / sqrt(2)) / 2;
}

static gf_status judge(looking *l, const gf_trends *t, gf_watch_rise *rises, size_t n,
                       gf_error *err)
{
    if (l->view->info.rows == GF_ROWS_OF_TEXTS)
        return gf_watch_judge_rises(l->view, t, l->cancel, rises, n, err);
    for (size_t i = 0, at = 0; i < t->n_clusters && at < n; i++)
        if (t->clusters[i].cluster == rises[at].cluster)
            rises[at++].p = chance_of_z(t, &t->clusters[i]);
    return GF_OK;
}

static gf_status keep_rising(looking *l, const gf_trend *c, double p, gf_slice period,
                             gf_error *err)
{
    subject s = {.is = {.cluster = c->cluster, .size = c->size, .z = c->z},
                 .p = p,
                 .label = gf_arena_copy(&l->memory, c->label),
                 .period = period};
    return s.label.ptr ? keep_subject(l, &s, err) : gf_fail_memory(err, "clusters");
}

static gf_status keep_clusters(void *context, const gf_trends *t, gf_error *err)
{
    looking *l = context;
    gf_buffer text = {0};
    gf_slice period;
    size_t n = 0;
    if (t->n_periods == 0) return GF_OK;
    gf_watch_rise *rises = gf_array(t->n_clusters + 1, sizeof *rises);
    if (!rises) return gf_fail_memory(err, "clusters");
    for (size_t i = 0; i < t->n_clusters; i++)
        if (t->clusters[i].direction == GF_RISING)
            rises[n++] = (gf_watch_rise){.cluster = t->clusters[i].cluster, .p = 1};
    gf_calendar_write(t->kind, t->first + (int64_t)t->n_periods - 1, &text);
    gf_status st = keep_bytes(l, &text, &period, err);
    if (st == GF_OK) st = judge(l, t, rises, n, err);
    for (size_t i = 0, at = 0; i < t->n_clusters && st == GF_OK; i++)
        if (t->clusters[i].direction == GF_RISING)
            st = keep_rising(l, &t->clusters[i], rises[at++].p, period, err);
    gf_free(rises);
    return st;
}

/* Whether there is a rule of rising clusters that those of this build were not put to. */
static gf_status owes_rising(looking *l, bool *owes, gf_error *err)
{
    gf_watch_state state;
    gf_status st = gf_watch_read_state(&l->place, &state, err);
    uint64_t judged = st == GF_OK && state.build == l->view->info.build ? state.judged : 0;
    for (size_t i = 0; i < l->rules.n && st == GF_OK; i++) {
        bool this_one = false;
        st = gf_watch_when_check(l->rules.at[i].when, &this_one, err);
        *owes = *owes || (this_one && l->rules.at[i].number > judged);
        if (l->rules.at[i].number > l->judged) l->judged = l->rules.at[i].number;
    }
    if (!*owes) l->judged = 0;
    return st;
}

/* ---- the look -------------------------------------------------------------------------------- */

static gf_status find_subjects(looking *l, gf_error *err)
{
    gf_view *v = l->view;
    bool rising = false;
    gf_status st = owes_rising(l, &rising, err);
    if (st == GF_OK && !gf_rows_are_given(v->info.rows))
        st = gf_view_candidates(v, LEAST_GROUP, l->cancel, keep_group, l, err);
    if (st == GF_OK && rising)
        st = gf_view_trends(v, GF_PERIOD_AUTO, PERIODS, l->cancel, keep_clusters, l, err);
    return st;
}

/* ---- ids ------------------------------------------------------------------------------------- */

static gf_status put_candidate(looking *l, const subject *s, gf_error *err)
{
    const gf_new_candidate c = {.id = (uint32_t)s->is.cluster,
                                .nearest = s->nearest,
                                .build = l->view->info.build,
                                .seq = l->view->seq,
                                .size = s->is.size,
                                .label = s->label,
                                .terms = s->weighed,
                                .documents = s->documents,
                                .n = s->n_documents};
    return gf_candidates_put(l->place.store, l->place.where, l->place.configuration, &c, l->batch,
                             err);
}

static gf_status give_ids(looking *l, gf_error *err)
{
    gf_editing e = {
        .store = l->place.store, .where = l->place.where, .configuration = l->place.configuration};
    gf_number_digits digits;
    uint64_t before;
    gf_status st = gf_edit_next_id(&e, &l->next_id, &l->newest, err);
    before = l->next_id;
    for (size_t i = 0; i < l->n && st == GF_OK; i++) {
        subject *s = &l->at[i];
        if (!s->is.is_new) continue;
        if (!s->is.cluster && l->next_id > UINT32_MAX)
            return gf_fail(err, GF_ELIMIT, "this configuration has used up its cluster ids");
        if (!s->is.cluster) s->is.cluster = l->next_id++;
        l->out->candidates++;
        st = put_candidate(l, s, err);
    }
    if (st == GF_OK && l->next_id > before)
        gf_batch_put(l->batch, l->place.store->tables.builds, gf_buffer_view(&l->newest),
                     GF_BUILDS_MAIN, GF_SLICE("next_id"), gf_number_write(&digits, l->next_id), 0);
    return st;
}

/* A candidate that no group is any more is over, and has ended once there is another build. */
static gf_status end_candidates(looking *l, gf_error *err)
{
    const gf_watch_place *p = &l->place;
    size_t n = 0;
    uint32_t *ids = gf_array(l->n + 1, sizeof *ids);
    if (!ids) return gf_fail_memory(err, "candidates");
    for (size_t i = 0; i < l->n; i++)
        if (l->at[i].is.is_new) ids[n++] = (uint32_t)l->at[i].is.cluster;
    gf_status st = gf_candidates_end_others(p->store, p->where, p->configuration,
                                            l->view->info.build, ids, n, l->batch, err);
    gf_free(ids);
    return st;
}

/* ---- alerts ---------------------------------------------------------------------------------- */

static bool is_told(const looking *l, const gf_watch *rule, gf_slice key)
{
    for (size_t i = 0; i < l->alerts.n; i++)
        if (l->alerts.at[i].alert.watch == rule->number && gf_slice_equal(l->alerts.at[i].key, key))
            return true;
    return false;
}

static void write_body(const looking *l, const gf_watch *rule, const subject *s, int64_t now,
                       gf_buffer *out)
{
    const gf_watch_place *p = &l->place;
    gf_buffer text = {0};
    gf_json_writer w = gf_json_writer_to(out);
    gf_json_begin(&w, '{');
    gf_json_put_uint(&w, "alert", l->state.alerts);
    gf_json_put_string(&w, "namespace", p->where.name_space);
    gf_json_put_string(&w, "collection", p->where.collection);
    gf_json_put_string(&w, "config", p->configuration);
    gf_json_put_uint(&w, "watch", rule->number);
    gf_json_put_string(&w, "when", rule->when);
    gf_json_put_str(&w, "kind", s->is.is_new ? "new" : "rising");
    gf_json_put_uint(&w, "cluster", s->is.cluster);
    gf_json_put_string(&w, "label", s->label);
    gf_json_put_uint(&w, "size", s->is.size);
    gf_json_put_double(&w, "p", s->p);
    if (s->is.is_new) {
        gf_json_key(&w, "terms");
        gf_json_raw(&w, s->terms);
    } else {
        gf_json_put_double(&w, "z", s->is.z);
        gf_json_put_string(&w, "period", s->period);
    }
    if (s->nearest) {
        gf_json_put_uint(&w, "nearest", s->nearest);
        gf_json_put_string(&w, "nearest_label", s->nearest_label);
    }
    gf_clock_write_iso(&text, now);
    gf_json_put_string(&w, "time", gf_buffer_view(&text));
    gf_json_put_uint(&w, "build", (uint64_t)l->view->info.build);
    gf_json_end(&w, '}');
    if (text.state != GF_OK) out->state = text.state;
    gf_buffer_release(&text);
}

static gf_status make_alert(looking *l, const gf_watch *rule, const subject *s, gf_slice key,
                            gf_error *err)
{
    int64_t now = gf_clock_ms();
    gf_buffer body = {0};
    l->state.alerts++;
    gf_kept_alert a = {.alert = {.number = l->state.alerts,
                                 .watch = rule->number,
                                 .state = GF_SLICE("waiting"),
                                 .time = now,
                                 .next = now,
                                 .way = gf_watch_way_name(rule->way)},
                       .key = key};
    write_body(l, rule, s, now, &body);
    gf_status st = gf_buffer_check(&body, err);
    if (st == GF_OK)
        st = gf_watches_put(l->place.store, l->place.where, l->place.configuration, GF_WATCH_BODY,
                            a.alert.number, gf_buffer_view(&body), l->batch, err);
    if (st == GF_OK) st = gf_watch_put_alert(&l->place, &a, l->batch, err);
    l->out->told++;
    gf_buffer_release(&body);
    return st;
}

static void write_key(const subject *s, gf_buffer *key)
{
    gf_buffer_format(key, "%s %" PRIu64, s->is.is_new ? "new" : "rising", s->is.cluster);
    if (!s->is.is_new) gf_buffer_format(key, " %.*s", GF_SLICE_ARG(s->period));
}

static gf_status put_rule_to(looking *l, const gf_watch *rule, const subject *s, gf_error *err)
{
    bool holds = false;
    double looks = (double)l->state.looks;
    gf_buffer key = {0};
    gf_status st = gf_watch_when_holds(rule->when, &s->is, &holds, err);
    if (st != GF_OK || !holds) return st;
    if (s->is.is_new ? s->p * looks * (looks + 1) > BOUND : s->p > BOUND) return GF_OK;
    write_key(s, &key);
    st = gf_buffer_check(&key, err);
    if (st == GF_OK && !is_told(l, rule, gf_buffer_view(&key)))
        st = make_alert(l, rule, s, gf_buffer_view(&key), err);
    gf_buffer_release(&key);
    return st;
}

static bool is_sent_still(const looking *l, const gf_alert *a)
{
    bool waits = gf_slice_equal(a->state, GF_SLICE("waiting"));
    for (size_t r = 0; r < l->rules.n && waits; r++)
        if (l->rules.at[r].number == a->watch) return true;
    return false;
}

static gf_status is_of_subject(const looking *l, gf_slice key, bool *is, gf_error *err)
{
    gf_buffer of = {0};
    gf_status st = GF_OK;
    *is = false;
    for (size_t i = 0; i < l->n && !*is && st == GF_OK; i++) {
        gf_buffer_reset(&of);
        write_key(&l->at[i], &of);
        st = gf_buffer_check(&of, err);
        *is = st == GF_OK && gf_slice_equal(gf_buffer_view(&of), key);
    }
    gf_buffer_release(&of);
    return st;
}

/* Delete the oldest alerts beyond the last MOST_ALERTS, but not what is still to be sent or would be told again. */
static gf_status forget_oldest(looking *l, gf_error *err)
{
    const gf_watch_place *p = &l->place;
    static const gf_watch_part parts[] = {GF_WATCH_ALERT, GF_WATCH_BODY};
    gf_status st = GF_OK;
    for (size_t i = 0; i + MOST_ALERTS < l->alerts.n && st == GF_OK; i++) {
        const gf_kept_alert *a = &l->alerts.at[i];
        bool stays = is_sent_still(l, &a->alert);
        if (!stays) st = is_of_subject(l, a->key, &stays, err);
        for (size_t part = 0; part < 2 && st == GF_OK && !stays; part++)
            st = gf_watches_delete(p->store, p->where, p->configuration, parts[part],
                                   a->alert.number, l->batch, err);
    }
    return st;
}

/* The lock is held; the rules are those that are there now. */
static gf_status tell(looking *l, gf_error *err)
{
    gf_kept_watches *rules = &l->rules;
    gf_watch_release_rules(rules);
    gf_status st = gf_watch_read_rules(&l->place, rules, err);
    if (st == GF_OK) st = gf_watch_read_alerts(&l->place, &l->alerts, err);
    for (size_t r = 0; r < rules->n && st == GF_OK; r++)
        for (size_t i = 0; i < l->n && st == GF_OK; i++)
            st = put_rule_to(l, &rules->at[r], &l->at[i], err);
    return st == GF_OK ? forget_oldest(l, err) : st;
}

/* ---- one write ------------------------------------------------------------------------------- */

/* Whether the build that was looked at is served still, and none is being made. */
static gf_status is_quiet(const looking *l, bool *quiet, gf_error *err)
{
    const gf_watch_place *p = &l->place;
    gf_collection_row row = {0};
    gf_buffer key = {0};
    gf_lease_owner owner = {false, ""};
    gf_status st = gf_collection_row_read(p->store, NULL, p->where, &row, err);
    gf_tables_configuration_key(&key, p->where.name_space, p->where.collection, p->configuration);
    if (st == GF_OK) st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_lease_find(p->store, gf_buffer_view(&key), &owner, err);
    if (st == GF_OK)
        *quiet = gf_collection_row_served(&row, p->configuration) == l->view->info.build &&
                 !owner.living;
    gf_buffer_release(&key);
    gf_collection_row_release(&row);
    return st;
}

/* Number the look, and note what is known of this build's rising clusters. */
static void count_look(looking *l)
{
    gf_watch_state *s = &l->state;
    bool same_build = s->build == l->view->info.build;
    if (!same_build) s->looks = s->judged = 0;
    if (l->judged > s->judged) s->judged = l->judged;
    if (!same_build || s->seq != l->view->seq) s->looks++;
    s->build = l->view->info.build;
    s->seq = l->view->seq;
}

static gf_status note(looking *l, gf_error *err)
{
    bool quiet = false;
    gf_status st = is_quiet(l, &quiet, err);
    if (st != GF_OK || !quiet) return st;
    st = gf_batch_create(l->place.store->db, &l->batch, err);
    if (st == GF_OK) st = gf_watch_read_state(&l->place, &l->state, err);
    count_look(l);
    if (st == GF_OK) st = give_ids(l, err);
    if (st == GF_OK) st = end_candidates(l, err);
    if (st == GF_OK) st = tell(l, err);
    if (st == GF_OK) st = gf_watch_put_state(&l->place, &l->state, l->batch, err);
    if (st == GF_OK) st = gf_batch_write(l->batch, GF_SYNC_ON, err);
    if (st == GF_OK) {
        l->out->build = l->view->info.build;
        l->out->seq = l->view->seq;
    }
    return st;
}

static gf_status look(looking *l, gf_error *err)
{
    gf_hold hold;
    gf_status st =
        gf_view_open(l->place.store, l->place.where, l->place.configuration, 0, &l->view, err);
    if (st == GF_OK) st = gf_watch_read_rules(&l->place, &l->rules, err);
    if (st == GF_OK) st = find_subjects(l, err);
    if (st != GF_OK) return st;
    st = gf_hold_collection(l->place.store, l->place.where, &hold, err);
    if (st == GF_OK) st = note(l, err);
    gf_hold_let_go(&hold);
    return st;
}

gf_status gf_watch_check(gf_store *store, gf_place where, gf_slice configuration,
                         const gf_cancel *cancel, gf_watch_outcome *out, gf_error *err)
{
    gf_watch_outcome found = {0};
    looking l = {.place = {store, where, configuration, NULL}, .cancel = cancel, .out = &found};
    gf_status st = gf_watch_take_turn(&one_look, cancel, err);
    if (st != GF_OK) return st;
    st = look(&l, err);
    pthread_mutex_unlock(&one_look);
    gf_view_close(l.view);
    gf_batch_free(l.batch);
    gf_watch_release_rules(&l.rules);
    gf_watch_release_alerts(&l.alerts);
    gf_free(l.at);
    gf_arena_release(&l.memory);
    gf_buffer_release(&l.newest);
    if (st == GF_OK) *out = found;
    return st;
}
