#include "apps/papers/texts.h"

#include "base/background.h"
#include "base/memory.h"
#include "base/pool.h"

#include <assert.h>

enum {
    GROUP = 64,                /* texts at most */
    GROUP_BYTES = 4 << 20,     /* of texts, or one that is longer */
    LARGEST_MEMORY = 256 << 10 /* bytes that are kept of one for the next in its place */
};

typedef struct place {
    gf_papers_arrival arrival;
    gf_buffer bytes; /* of the arrival: its source, then its XML */
    gf_papers_text text;
    gf_error failed; /* status GF_OK: not */
} place;

typedef struct group {
    place places[GROUP]; /* n */
    size_t n, bytes;
} group;

/* What a thread needs. */
typedef struct worker {
    gf_tei tei;
    gf_buffer compressed;
} worker;

struct gf_papers_texts {
    gf_papers_take *take;
    void *context;
    gf_pool *pool;
    worker *workers; /* of the pool */
    gf_background background;
    group groups[2];
    group *fill, *read; /* one of them each; the second is being read, or empty */
    bool failed;        /* nothing more is taken */
};

gf_status gf_papers_texts_open(unsigned threads, gf_papers_take *take, void *context,
                               gf_papers_texts **texts, gf_error *err)
{
    gf_papers_texts *t = gf_calloc(1, sizeof *t);
    if (!t) return gf_fail_memory(err, "texts");
    t->take = take;
    t->context = context;
    t->fill = &t->groups[0];
    t->read = &t->groups[1];
    gf_background_init(&t->background);
    gf_status st = gf_pool_create(threads, &t->pool, err);
    if (st == GF_OK) {
        t->workers = gf_calloc(gf_pool_size(t->pool), sizeof *t->workers);
        if (!t->workers) st = gf_fail_memory(err, "texts");
    }
    if (st != GF_OK) {
        gf_papers_texts_close(t);
        return st;
    }
    *texts = t;
    return GF_OK;
}

static void release_place(place *p)
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
            release_place(&t->groups[i].places[k]);
    }
    gf_free(t);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* What comes of it is kept in its place, also a failure: so that those before it are taken. */
static gf_status read_one(void *context, size_t index, unsigned number, gf_error *err)
{
    gf_papers_texts *t = context;
    place *p = &t->read->places[index];
    worker *w = &t->workers[number];
    (void)err;
    p->failed = (gf_error){GF_OK, ""};
    if (p->arrival.kind != GF_PAPER_ARRIVAL) return GF_OK;
    gf_slice xml = p->arrival.xml;
    gf_status st = gf_tei_read(xml, &w->tei, &p->failed);
    if (st == GF_OK) st = gf_papers_text_make(xml, &w->tei, &w->compressed, &p->text, &p->failed);
    p->failed.status = st;
    return GF_OK;
}

static gf_status read_group(void *context, gf_error *err)
{
    gf_papers_texts *t = context;
    return gf_pool_run(t->pool, t->read->n, read_one, t, NULL, err);
}

static void empty(group *g)
{
    for (size_t i = 0; i < g->n; i++) {
        place *p = &g->places[i];
        if (p->bytes.capacity + p->text.memory.capacity > LARGEST_MEMORY) release_place(p);
    }
    g->n = g->bytes = 0;
}

static gf_status take_all(gf_papers_texts *t, const group *g, gf_error *err)
{
    gf_status st = GF_OK;
    for (size_t i = 0; i < g->n && st == GF_OK; i++) {
        const place *p = &g->places[i];
        st = p->failed.status;
        if (st != GF_OK && err) *err = p->failed;
        if (st == GF_OK) st = t->take(t->context, &p->arrival, &p->text, err);
    }
    return st;
}

/* Those that were read are taken while those that were collected are read. */
static gf_status turn(gf_papers_texts *t, gf_error *err)
{
    gf_status st = gf_background_wait(&t->background, err);
    group *ready = t->read;
    t->read = t->fill;
    t->fill = ready;
    if (st == GF_OK && t->read->n) gf_background_start(&t->background, read_group, t);
    if (st == GF_OK) st = take_all(t, ready, err);
    empty(ready);
    t->failed = st != GF_OK;
    return st;
}

/* ---- the caller ------------------------------------------------------------------------------ */

gf_status gf_papers_texts_add(gf_papers_texts *t, const gf_papers_arrival *arrival, gf_error *err)
{
    assert(!t->failed);
    group *g = t->fill;
    place *p = &g->places[g->n];
    gf_buffer_reset(&p->bytes);
    gf_buffer_slice(&p->bytes, arrival->source);
    if (arrival->kind != GF_PAPER_KNOWN) gf_buffer_slice(&p->bytes, arrival->xml);
    gf_status st = gf_buffer_check(&p->bytes, err);
    if (st != GF_OK) return st;
    gf_slice bytes = p->bytes.ptr ? gf_buffer_view(&p->bytes) : GF_SLICE("");
    p->arrival = *arrival;
    p->arrival.source = gf_slice_of(bytes.ptr, arrival->source.len);
    p->arrival.xml = gf_slice_skip(bytes, arrival->source.len);
    g->n++;
    g->bytes += bytes.len;
    return g->n == GROUP || g->bytes >= GROUP_BYTES ? turn(t, err) : GF_OK;
}

gf_status gf_papers_texts_finish(gf_papers_texts *t, gf_error *err)
{
    gf_status st = GF_OK;
    while (st == GF_OK && !t->failed && (t->fill->n || t->read->n))
        st = turn(t, err);
    return st;
}
