#include "engine/watch/kept.h"

#include "engine/watch/home.h"

#include "base/grow.h"
#include "base/json/json.h"
#include "base/json/writer.h"
#include "base/memory.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { LEAST_SECRET = 16, MOST_SECRET = 4096 };

static const char *const ways[] = {
    [GF_WATCH_POST] = "post", [GF_WATCH_EXEC] = "exec", [GF_WATCH_MAIL] = "mail"};

const char *gf_watch_way_name(gf_watch_way way)
{
    return ways[way];
}

static gf_status damaged(gf_error *err)
{
    return gf_fail(err, GF_ECORRUPT, "table collections: a watch is damaged");
}

/* ---- JSON ------------------------------------------------------------------------------------ */

typedef struct reading {
    const gf_store *store;
    gf_json_parser *parser;
    gf_arena *memory;
    bool good; /* memory was not short */
    void *out;
} reading;

static gf_slice take_text(reading *r, gf_json_value object, const char *name)
{
    gf_json_value v;
    gf_slice text = {"", 0};
    if (!gf_json_member(object, name, &v) || gf_json_kind_of(v) != GF_JSON_STRING) return text;
    text = gf_arena_copy(r->memory, gf_json_get_string(v));
    r->good = r->good && text.ptr;
    return text;
}

static uint64_t take_number(gf_json_value object, const char *name)
{
    gf_json_value v;
    if (!gf_json_member(object, name, &v) || gf_json_kind_of(v) != GF_JSON_INT) return 0;
    return gf_json_get_int(v) < 0 ? 0 : (uint64_t)gf_json_get_int(v);
}

static gf_status parse(reading *r, gf_slice json, gf_json_value *root, gf_error *err)
{
    gf_status st = gf_json_parse_copy(r->parser, json, root, err);
    if (st == GF_EINVAL || (st == GF_OK && gf_json_kind_of(*root) != GF_JSON_OBJECT))
        return damaged(err);
    return st;
}

static bool find_way(gf_slice word, gf_watch_way *way)
{
    for (unsigned i = 0; i < 3; i++)
        if (gf_slice_equal(word, gf_slice_str(ways[i]))) {
            *way = (gf_watch_way)i;
            return true;
        }
    return false;
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* Whether the rule was added to another folder; one whose home cannot be worked out here is not obeyed either. */
static gf_status find_away(const reading *r, gf_json_value root, gf_watch *w, gf_error *err)
{
    gf_buffer home = {0};
    gf_json_value kept;
    gf_status st = gf_watch_write_home(r->store, w, &home, NULL);
    w->away = st != GF_OK || !gf_json_member(root, "home", &kept) ||
              gf_json_kind_of(kept) != GF_JSON_STRING ||
              !gf_slice_equal(gf_json_get_string(kept), gf_buffer_view(&home));
    gf_buffer_release(&home);
    return st == GF_ENOMEM ? gf_fail_memory(err, "watches") : GF_OK;
}

static gf_status keep_rule(void *context, uint64_t number, gf_slice json, gf_error *err)
{
    reading *r = context;
    gf_kept_watches *out = r->out;
    gf_json_value root;
    gf_watch w = {.number = number};
    gf_status st = parse(r, json, &root, err);
    if (st != GF_OK) return st;
    w.when = take_text(r, root, "when");
    w.target = take_text(r, root, "target");
    w.secret_file = take_text(r, root, "secret_file");
    w.since = (int64_t)take_number(root, "since");
    bool known = find_way(take_text(r, root, "way"), &w.way);
    if (!r->good || !gf_grow(&out->at, &out->capacity, out->n + 1, sizeof *out->at))
        return gf_fail_memory(err, "watches");
    if (!known) return damaged(err);
    st = find_away(r, root, &w, err);
    if (st == GF_OK) out->at[out->n++] = w;
    return st;
}

static gf_status read_part(const gf_watch_place *p, gf_watch_part part, gf_visit_watch_cell *visit,
                           gf_arena *memory, void *out, gf_error *err)
{
    reading r = {.store = p->store, .memory = memory, .good = true, .out = out};
    gf_status st = gf_json_parser_create(&r.parser, err);
    if (st == GF_OK)
        st = gf_watches_visit_part(p->store, p->snapshot, p->where, p->configuration, part, visit,
                                   &r, err);
    gf_json_parser_free(r.parser);
    return st;
}

gf_status gf_watch_read_rules(const gf_watch_place *p, gf_kept_watches *out, gf_error *err)
{
    gf_status st = read_part(p, GF_WATCH_RULE, keep_rule, &out->memory, out, err);
    if (st != GF_OK) gf_watch_release_rules(out);
    return st;
}

void gf_watch_release_rules(gf_kept_watches *w)
{
    gf_free(w->at);
    gf_arena_release(&w->memory);
    *w = (gf_kept_watches){0};
}

static gf_status put_json(const gf_watch_place *p, gf_watch_part part, uint64_t number,
                          gf_buffer *json, gf_batch *batch, gf_error *err)
{
    gf_status st = gf_buffer_check(json, err);
    if (st == GF_OK)
        st = gf_watches_put(p->store, p->where, p->configuration, part, number,
                            gf_buffer_view(json), batch, err);
    gf_buffer_release(json);
    return st;
}

gf_status gf_watch_put_rule(const gf_watch_place *p, const gf_watch *rule, gf_batch *batch,
                            gf_error *err)
{
    gf_buffer json = {0}, home = {0};
    gf_status st = gf_watch_write_home(p->store, rule, &home, err);
    if (st != GF_OK) {
        gf_buffer_release(&home);
        return st;
    }
    gf_json_writer w = gf_json_writer_to(&json);
    gf_json_begin(&w, '{');
    gf_json_put_string(&w, "when", rule->when);
    gf_json_put_str(&w, "way", ways[rule->way]);
    gf_json_put_string(&w, "target", rule->target);
    if (rule->secret_file.len) gf_json_put_string(&w, "secret_file", rule->secret_file);
    gf_json_put_uint(&w, "since", (uint64_t)rule->since);
    gf_json_put_string(&w, "home", gf_buffer_view(&home));
    gf_buffer_release(&home);
    gf_json_end(&w, '}');
    return put_json(p, GF_WATCH_RULE, rule->number, &json, batch, err);
}

/* ---- alerts ---------------------------------------------------------------------------------- */

static gf_status keep_alert(void *context, uint64_t number, gf_slice json, gf_error *err)
{
    reading *r = context;
    gf_kept_alerts *out = r->out;
    gf_json_value root;
    gf_watch_way way = GF_WATCH_POST;
    gf_status st = parse(r, json, &root, err);
    if (st != GF_OK) return st;
    if (!find_way(take_text(r, root, "way"), &way) && r->good) return damaged(err);
    gf_kept_alert a = {.alert = {.number = number,
                                 .watch = take_number(root, "watch"),
                                 .state = take_text(r, root, "state"),
                                 .tries = take_number(root, "tries"),
                                 .time = (int64_t)take_number(root, "time"),
                                 .tried = (int64_t)take_number(root, "tried"),
                                 .next = (int64_t)take_number(root, "next"),
                                 .problem = take_text(r, root, "problem"),
                                 .way = ways[way]},
                       .key = take_text(r, root, "key")};
    if (!r->good || !gf_grow(&out->at, &out->capacity, out->n + 1, sizeof *out->at))
        return gf_fail_memory(err, "alerts");
    out->at[out->n++] = a;
    return GF_OK;
}

gf_status gf_watch_read_alerts(const gf_watch_place *p, gf_kept_alerts *out, gf_error *err)
{
    gf_status st = read_part(p, GF_WATCH_ALERT, keep_alert, &out->memory, out, err);
    if (st != GF_OK) gf_watch_release_alerts(out);
    return st;
}

void gf_watch_release_alerts(gf_kept_alerts *a)
{
    gf_free(a->at);
    gf_arena_release(&a->memory);
    *a = (gf_kept_alerts){0};
}

gf_status gf_watch_put_alert(const gf_watch_place *p, const gf_kept_alert *kept, gf_batch *batch,
                             gf_error *err)
{
    const gf_alert *a = &kept->alert;
    gf_buffer json = {0};
    gf_json_writer w = gf_json_writer_to(&json);
    gf_json_begin(&w, '{');
    gf_json_put_uint(&w, "watch", a->watch);
    gf_json_put_str(&w, "way", a->way);
    gf_json_put_string(&w, "key", kept->key);
    gf_json_put_string(&w, "state", a->state);
    gf_json_put_uint(&w, "tries", a->tries);
    gf_json_put_uint(&w, "time", (uint64_t)a->time);
    if (a->tried) gf_json_put_uint(&w, "tried", (uint64_t)a->tried);
    if (a->next) gf_json_put_uint(&w, "next", (uint64_t)a->next);
    if (a->problem.len) gf_json_put_string(&w, "problem", a->problem);
    gf_json_end(&w, '}');
    return put_json(p, GF_WATCH_ALERT, a->number, &json, batch, err);
}

gf_status gf_watch_read_body(const gf_watch_place *p, uint64_t number, gf_buffer *out,
                             gf_error *err)
{
    gf_row row = {0};
    gf_status st = gf_watches_get(p->store, p->snapshot, p->where, p->configuration, GF_WATCH_BODY,
                                  number, &row, err);
    if (st == GF_OK) {
        gf_buffer_slice(out, row.cells[0].value);
        st = gf_buffer_check(out, err);
    }
    gf_row_release(&row);
    return st;
}

/* ---- the state ------------------------------------------------------------------------------- */

static gf_status keep_state(void *context, uint64_t number, gf_slice json, gf_error *err)
{
    reading *r = context;
    gf_watch_state *s = r->out;
    gf_json_value root;
    gf_status st = parse(r, json, &root, err);
    (void)number;
    if (st == GF_OK)
        *s = (gf_watch_state){.watches = take_number(root, "watches"),
                              .alerts = take_number(root, "alerts"),
                              .looks = take_number(root, "looks"),
                              .judged = take_number(root, "judged"),
                              .seq = take_number(root, "seq"),
                              .build = (int64_t)take_number(root, "build")};
    return st;
}

gf_status gf_watch_read_state(const gf_watch_place *p, gf_watch_state *out, gf_error *err)
{
    gf_arena none = {0};
    *out = (gf_watch_state){0};
    gf_status st = read_part(p, GF_WATCH_STATE, keep_state, &none, out, err);
    gf_arena_release(&none);
    return st;
}

gf_status gf_watch_put_state(const gf_watch_place *p, const gf_watch_state *s, gf_batch *batch,
                             gf_error *err)
{
    gf_buffer json = {0};
    gf_json_writer w = gf_json_writer_to(&json);
    gf_json_begin(&w, '{');
    gf_json_put_uint(&w, "watches", s->watches);
    gf_json_put_uint(&w, "alerts", s->alerts);
    gf_json_put_uint(&w, "looks", s->looks);
    gf_json_put_uint(&w, "build", (uint64_t)s->build);
    gf_json_put_uint(&w, "seq", s->seq);
    gf_json_put_uint(&w, "judged", s->judged);
    gf_json_end(&w, '}');
    return put_json(p, GF_WATCH_STATE, 0, &json, batch, err);
}

/* ---- secrets --------------------------------------------------------------------------------- */

gf_status gf_watch_read_secret(gf_slice path, gf_buffer *out, gf_error *err)
{
    char bytes[MOST_SECRET];
    char *name = gf_copy_string(path.ptr, path.len);
    if (!name) return gf_fail_memory(err, "a secret");
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe has nothing yet */
    ssize_t n = fd >= 0 ? read(fd, bytes, sizeof bytes) : -1;
    gf_status st = n < 0 ? gf_fail_errno(err, "secret-file %s", name) : GF_OK;
    if (fd >= 0) close(fd);
    while (n > 0 && strchr("\r\n", bytes[n - 1]) && bytes[n - 1])
        n--;
    if (st == GF_OK && n < LEAST_SECRET)
        st = gf_fail(err, GF_EINVAL, "secret-file %s: a secret has at least %d bytes", name,
                     LEAST_SECRET);
    if (st == GF_OK && n == MOST_SECRET)
        st = gf_fail(err, GF_EINVAL, "secret-file %s: a secret has fewer than %d bytes", name,
                     MOST_SECRET);
    gf_free(name);
    if (st != GF_OK) return st;
    gf_buffer_append(out, bytes, (size_t)n);
    explicit_bzero(bytes, sizeof bytes);
    return gf_buffer_check(out, err);
}
