#include "apps/papers/extraction/texts.h"

#include "base/background.h"
#include "base/memory.h"
#include "base/pool.h"

enum {
    GROUP = 64,                /* texts at most */
    GROUP_BYTES = 4 << 20,     /* of texts, or one that is longer */
    LARGEST_MEMORY = 256 << 10 /* bytes that are kept of one for the next in its place */
};

typedef struct collected {
    gf_papers_arrival arrival;
    gf_buffer bytes; /* of the arrival: its source, then its XML */
    gf_papers_text text;
    gf_error failed; /* status GF_OK: not */
} collected;

typedef struct group {
    collected texts[GROUP]; /* n; texts[at .. n-1] are still to be given */
    size_t n, at, bytes;
} group;

/* Scratch memory of a thread. */
typedef struct worker {
    gf_tei tei;
    gf_buffer compressed;
} worker;

struct gf_papers_texts {
    gf_papers_arrive *arrive;
    void *context;
    gf_pool *pool;
    worker *workers; /* of the pool */
    gf_background background;
    group groups[2];
    group *given, *read; /* one of them each; the second is being read, or empty */
    gf_error ended;      /* by this status of arrive; GF_OK: not yet */
};

gf_status gf_papers_texts_open(unsigned threads, gf_papers_arrive *arrive, void *context,
                               const gf_cancel *cancel, gf_papers_texts **texts, gf_error *err)
{
    gf_papers_texts *t = gf_calloc(1, sizeof *t);
    if (!t) return gf_fail_memory(err, "texts");
    t->arrive = arrive;
    t->context = context;
    t->given = &t->groups[0];
    t->read = &t->groups[1];
    gf_background_init(&t->background);
    gf_status st = gf_pool_create(threads, &t->pool, err);
    if (st == GF_OK) {
        t->workers = gf_calloc(gf_pool_size(t->pool), sizeof *t->workers);
        if (!t->workers) st = gf_fail_memory(err, "texts");
        for (unsigned i = 0; t->workers && i < gf_pool_size(t->pool); i++)
            t->workers[i].tei.cancel = cancel;
    }
    if (st != GF_OK) {
        gf_papers_texts_close(t);
        return st;
    }
    *texts = t;
    return GF_OK;
}

static void release_text(collected *p)
{
    gf_buffer_release(&p->bytes);
    gf_papers_text_release(&p->text);
}

static void release_worker(worker *w)
{
    gf_tei_release(&w->tei);
    gf_buffer_release(&w->compressed);
}

void gf_papers_texts_close(gf_papers_texts *t)
{
    if (!t) return;
    gf_background_release(&t->background);
    for (unsigned i = 0; t->workers && i < gf_pool_size(t->pool); i++)
        release_worker(&t->workers[i]);
    gf_free(t->workers);
    gf_pool_free(t->pool);
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < GROUP; k++)
            release_text(&t->groups[i].texts[k]);
    }
    gf_free(t);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A failure is kept with its text, so that the texts before it are given. */
static gf_status read_one(void *context, size_t index, unsigned number, gf_error *err)
{
    gf_papers_texts *t = context;
    collected *c = &t->read->texts[index];
    worker *w = &t->workers[number];
    (void)err;
    c->failed = (gf_error){GF_OK, ""};
    if (c->arrival.kind != GF_PAPERS_ARRIVAL) return GF_OK;
    gf_slice xml = c->arrival.xml;
    gf_status st = gf_tei_read(xml, &w->tei, &c->failed);
    if (st == GF_OK) st = gf_papers_text_make(xml, &w->tei, &w->compressed, &c->text, &c->failed);
    c->failed.status = st;
    return GF_OK;
}

static gf_status read_group(void *context, gf_error *err)
{
    gf_papers_texts *t = context;
    return gf_pool_run(t->pool, t->read->n, read_one, t, NULL, err);
}

static void reset_group(group *g)
{
    for (size_t i = 0; i < g->n; i++) {
        collected *c = &g->texts[i];
        if (c->bytes.capacity + c->text.memory.capacity > LARGEST_MEMORY) release_text(c);
    }
    g->n = g->at = g->bytes = 0;
}

/* ---- the owner ------------------------------------------------------------------------------- */

static gf_status copy_arrival(group *g, const gf_papers_arrival *arrival, gf_error *err)
{
    collected *c = &g->texts[g->n];
    gf_buffer_reset(&c->bytes);
    gf_buffer_slice(&c->bytes, arrival->source);
    if (arrival->kind != GF_PAPERS_KNOWN) gf_buffer_slice(&c->bytes, arrival->xml);
    gf_status st = gf_buffer_check(&c->bytes, err);
    if (st != GF_OK) return st;
    gf_slice bytes = c->bytes.ptr ? gf_buffer_view(&c->bytes) : GF_SLICE("");
    c->arrival = *arrival;
    c->arrival.source = gf_slice_of(bytes.ptr, arrival->source.len);
    c->arrival.xml = gf_slice_skip(bytes, arrival->source.len);
    g->n++;
    g->bytes += bytes.len;
    return GF_OK;
}

/* Fill the group with the texts that arrive; their end or a failure is kept in t->ended. */
static void collect_group(gf_papers_texts *t, group *g)
{
    while (t->ended.status == GF_OK && g->n < GROUP && g->bytes < GROUP_BYTES) {
        gf_papers_arrival arrival = {.kind = GF_PAPERS_ARRIVAL};
        gf_error why = {GF_OK, ""};
        gf_status st = t->arrive(t->context, &arrival, &why);
        if (st == GF_OK) st = copy_arrival(g, &arrival, &why);
        if (st == GF_OK) continue;
        t->ended = why;
        t->ended.status = st;
    }
}

/* The group that was read is given, and the one that is collected now is read meanwhile. */
static gf_status turn_groups(gf_papers_texts *t, gf_error *err)
{
    group *next = t->given;
    reset_group(next);
    collect_group(t, next);
    gf_status st = gf_background_wait(&t->background, err);
    if (st != GF_OK) return st;
    t->given = t->read;
    t->read = next;
    if (next->n) gf_background_start(&t->background, read_group, t);
    return GF_OK;
}

gf_status gf_papers_texts_next(gf_papers_texts *t, const gf_papers_arrival **arrival,
                               const gf_papers_text **text, gf_error *err)
{
    while (t->given->at == t->given->n) {
        if (t->ended.status != GF_OK && t->read->n == 0) {
            if (err) *err = t->ended;
            return t->ended.status;
        }
        gf_status st = turn_groups(t, err);
        if (st != GF_OK) return st;
    }
    const collected *c = &t->given->texts[t->given->at++];
    *arrival = &c->arrival;
    *text = &c->text;
    if (c->failed.status != GF_OK && err) *err = c->failed;
    return c->failed.status;
}
