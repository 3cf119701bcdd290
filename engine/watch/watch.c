/* Rules added, deleted and listed; the list of alerts. */
#include "engine/config/settings.h"
#include "engine/store/collections.h"
#include "engine/store/hold.h"
#include "engine/watch/kept.h"
#include "engine/watch/when.h"

#include "base/clock.h"
#include "base/http/address.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <inttypes.h>

enum { MOST_RULES = 100, MOST_WHEN = 1000, MOST_TARGET = 4000 /* bytes */ };

/* ---- rules ----------------------------------------------------------------------------------- */

static gf_status check_text(gf_slice text, const char *what, size_t most, gf_error *err)
{
    if (text.len > most) return gf_fail(err, GF_EINVAL, "%s has at most %zu bytes", what, most);
    if (gf_utf8_valid_length(text) != text.len)
        return gf_fail(err, GF_EINVAL, "%s is not valid UTF-8", what);
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < 0x20)
            return gf_fail(err, GF_EINVAL, "%s has no control characters", what);
    return GF_OK;
}

static gf_status check_address(gf_slice target, gf_error *err)
{
    CURLU *u = NULL;
    char *url = gf_copy_string(target.ptr, target.len);
    gf_status st = url ? gf_curl_load(err) : gf_fail_memory(err, "an address");
    if (st == GF_OK)
        st = gf_http_address_read(url, "a receiver", "sign alerts by a secret (--secret-file)", &u,
                                  err);
    if (st == GF_OK) curl_url_cleanup(u);
    gf_free(url);
    return st;
}

static gf_status check_rule(const gf_watch *w, gf_error *err)
{
    gf_buffer secret = {0};
    gf_status st = check_text(w->when, "when", MOST_WHEN, err);
    if (st == GF_OK) st = gf_watch_when_check(w->when, NULL, err);
    if (st == GF_OK) st = check_text(w->target, gf_watch_way_name(w->way), MOST_TARGET, err);
    if (st == GF_OK && !w->target.len)
        st = gf_fail(err, GF_EINVAL, "%s says nothing", gf_watch_way_name(w->way));
    if (st == GF_OK && w->way == GF_WATCH_POST) st = check_address(w->target, err);
    if (st == GF_OK && w->secret_file.len && w->way != GF_WATCH_POST)
        st = gf_fail(err, GF_EINVAL, "a secret signs what is posted: give it with --post");
    if (st == GF_OK && w->secret_file.len) st = gf_watch_read_secret(w->secret_file, &secret, err);
    gf_buffer_release(&secret);
    return st;
}

/* The configuration must be there. */
static gf_status check_place(const gf_watch_place *p, gf_error *err)
{
    gf_collection_row row = {0};
    gf_settings_map map = {0};
    gf_status st = gf_collection_row_read(p->store, NULL, p->where, &row, err);
    if (st == GF_OK)
        st = gf_configuration_load(p->store, NULL, p->where, &row, p->configuration, &map, err);
    gf_settings_map_release(&map);
    gf_collection_row_release(&row);
    return st;
}

static gf_status add(const gf_watch_place *p, gf_watch *w, gf_batch *batch, gf_error *err)
{
    gf_kept_watches rules = {0};
    gf_watch_state state;
    gf_status st = check_place(p, err);
    if (st == GF_OK) st = gf_watch_read_rules(p, &rules, err);
    if (st == GF_OK && rules.n >= MOST_RULES)
        st = gf_fail(err, GF_ELIMIT, "a configuration has at most %d watches: delete one",
                     MOST_RULES);
    if (st == GF_OK) st = gf_watch_read_state(p, &state, err);
    if (st == GF_OK) {
        w->number = ++state.watches;
        w->since = gf_clock_ms();
        st = gf_watch_put_rule(p, w, batch, err);
    }
    if (st == GF_OK) st = gf_watch_put_state(p, &state, batch, err);
    if (st == GF_OK) st = gf_batch_write(batch, GF_SYNC_ON, err);
    gf_watch_release_rules(&rules);
    return st;
}

gf_status gf_watch_add(gf_store *store, gf_place where, gf_slice configuration,
                       const gf_watch *watch, gf_visit_watch *visit, void *context, gf_error *err)
{
    gf_watch_place p = {store, where, configuration, NULL};
    gf_watch w = *watch;
    gf_batch *batch = NULL;
    gf_hold hold;
    gf_status st = check_rule(&w, err);
    if (st == GF_OK) st = gf_batch_create(store->db, &batch, err);
    if (st == GF_OK) {
        st = gf_hold_collection(store, where, &hold, err);
        if (st == GF_OK) st = add(&p, &w, batch, err);
        gf_hold_let_go(&hold);
    }
    gf_batch_free(batch);
    return st == GF_OK && visit ? visit(context, &w, err) : st;
}

static gf_status delete_rule(const gf_watch_place *p, uint64_t number, gf_kept_watches *rules,
                             const gf_watch **found, gf_batch *batch, gf_error *err)
{
    gf_status st = check_place(p, err);
    if (st == GF_OK) st = gf_watch_read_rules(p, rules, err);
    for (size_t i = 0; i < rules->n && st == GF_OK; i++)
        if (rules->at[i].number == number) *found = &rules->at[i];
    if (st == GF_OK && !*found)
        st = gf_fail(err, GF_ENOTFOUND, "there is no watch %" PRIu64, number);
    if (st == GF_OK)
        st = gf_watches_delete(p->store, p->where, p->configuration, GF_WATCH_RULE, number, batch,
                               err);
    return st == GF_OK ? gf_batch_write(batch, GF_SYNC_ON, err) : st;
}

gf_status gf_watch_delete(gf_store *store, gf_place where, gf_slice configuration, uint64_t number,
                          gf_visit_watch *visit, void *context, gf_error *err)
{
    gf_watch_place p = {store, where, configuration, NULL};
    gf_kept_watches rules = {0};
    const gf_watch *found = NULL;
    gf_batch *batch = NULL;
    gf_hold hold;
    gf_status st = gf_batch_create(store->db, &batch, err);
    if (st == GF_OK) {
        st = gf_hold_collection(store, where, &hold, err);
        if (st == GF_OK) st = delete_rule(&p, number, &rules, &found, batch, err);
        gf_hold_let_go(&hold);
    }
    gf_batch_free(batch);
    if (st == GF_OK && visit) st = visit(context, found, err);
    gf_watch_release_rules(&rules);
    return st;
}

gf_status gf_watch_visit(gf_store *store, gf_place where, gf_slice configuration,
                         gf_visit_watch *visit, void *context, gf_error *err)
{
    gf_watch_place p = {store, where, configuration, NULL};
    gf_kept_watches rules = {0};
    gf_status st = check_place(&p, err);
    if (st == GF_OK) st = gf_watch_read_rules(&p, &rules, err);
    for (size_t i = 0; i < rules.n && st == GF_OK; i++)
        st = visit(context, &rules.at[i], err);
    gf_watch_release_rules(&rules);
    return st;
}

gf_status gf_watch_visit_places(gf_store *store, gf_visit_watch_place *visit, void *context,
                                gf_error *err)
{
    return gf_watches_visit_all(store, visit, context, err);
}

/* ---- alerts ---------------------------------------------------------------------------------- */

gf_status gf_alert_visit(gf_store *store, gf_place where, gf_slice configuration, uint64_t after,
                         gf_visit_alert *visit, void *context, gf_error *err)
{
    gf_watch_place p = {store, where, configuration, NULL};
    gf_kept_alerts alerts = {0};
    gf_buffer body = {0};
    gf_status st = check_place(&p, err);
    if (st == GF_OK) st = gf_watch_read_alerts(&p, &alerts, err);
    for (size_t i = 0; i < alerts.n && st == GF_OK; i++) {
        gf_alert *a = &alerts.at[i].alert;
        if (a->number <= after) continue;
        gf_buffer_reset(&body);
        st = gf_watch_read_body(&p, a->number, &body, err);
        a->body = gf_buffer_view(&body);
        if (st == GF_OK) st = visit(context, a, err);
        if (st == GF_ENOTFOUND) st = GF_OK; /* the configuration was deleted meanwhile */
    }
    gf_watch_release_alerts(&alerts);
    gf_buffer_release(&body);
    return st;
}
