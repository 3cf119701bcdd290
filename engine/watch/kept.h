/**
 * Rules, alerts and the state of watching as they are kept (engine/config/watches.h), each JSON:
 *
 *     rule       {"when": "new >= 20", "way": "post", "target": "https://...", "secret_file": "/...", "since": ms,
 *                 "home": "..."}: the last by home.h
 *     alert      {"watch": 1, "way": "post", "key": "new 17", "state": "waiting", "tries": 0, "time": ms,
 *                 "tried": ms, "next": ms, "problem": "..."}; its body is a cell of its own
 *     candidate  {"build": ms, "when": ms, "size": 20, "label": "chargers"}
 *     state      {"watches": 1, "alerts": 3, "looks": 17, "build": ms, "seq": 2041, "judged": 1}: the last numbers;
 *                the looks at that build, of which the last saw the collection at "seq"; "judged": the last of
 *                the rules that its rising clusters were put to, which a put moves not
 */
#ifndef GF_ENGINE_WATCH_KEPT_H
#define GF_ENGINE_WATCH_KEPT_H

#include "engine/config/watches.h"
#include "grouperfish/watches.h"

/** A configuration's watches, in one place. */
typedef struct gf_watch_place {
    gf_store *store;
    gf_place where;
    gf_slice configuration;
    const gf_snapshot *snapshot; /* that is read; NULL: as it is now */
} gf_watch_place;

typedef struct gf_watch_state {
    uint64_t watches, alerts, looks, judged, seq;
    int64_t build;
} gf_watch_state;

/** An alert that is kept: gf_alert with what it is about. */
typedef struct gf_kept_alert {
    gf_alert alert; /* without the body */
    gf_slice key;   /* "new 17", or "rising 3 2026-11-16": a rule tells a key once */
} gf_kept_alert;

/** Lists in their memory. {0} to begin with. */
typedef struct gf_kept_watches {
    gf_watch *at; /* n, by number */
    size_t n, capacity;
    gf_arena memory;
} gf_kept_watches;

typedef struct gf_kept_alerts {
    gf_kept_alert *at; /* n, by number */
    size_t n, capacity;
    gf_arena memory;
} gf_kept_alerts;

gf_status gf_watch_read_rules(const gf_watch_place *p, gf_kept_watches *out, gf_error *err);
void gf_watch_release_rules(gf_kept_watches *rules);
gf_status gf_watch_read_alerts(const gf_watch_place *p, gf_kept_alerts *out, gf_error *err);
void gf_watch_release_alerts(gf_kept_alerts *alerts);

/** All zero where there is none. */
gf_status gf_watch_read_state(const gf_watch_place *p, gf_watch_state *out, gf_error *err);

gf_status gf_watch_put_rule(const gf_watch_place *p, const gf_watch *rule, gf_batch *batch,
                            gf_error *err);
gf_status gf_watch_put_alert(const gf_watch_place *p, const gf_kept_alert *alert, gf_batch *batch,
                             gf_error *err);
gf_status gf_watch_put_state(const gf_watch_place *p, const gf_watch_state *state, gf_batch *batch,
                             gf_error *err);

/** The bytes that an alert sends, appended. GF_ENOTFOUND. */
gf_status gf_watch_read_body(const gf_watch_place *p, uint64_t number, gf_buffer *out,
                             gf_error *err);

/** Read the key of a file: 16 bytes or more without the line's end. GF_EINVAL. */
gf_status gf_watch_read_secret(gf_slice path, gf_buffer *out, gf_error *err);

#endif
