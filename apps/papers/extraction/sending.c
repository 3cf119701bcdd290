#include "apps/papers/extraction/sending.h"

#include "base/background.h"
#include "base/memory.h"

enum { LARGEST_MEMORY = 1 << 20 /* bytes that are kept of a file for the next in its place */ };

typedef enum place_state { PLACE_FREE, PLACE_UNDER_WAY, PLACE_BACK, PLACE_TAKEN } place_state;

typedef struct place {
    gf_papers_sending *of;
    gf_background background;
    gf_grobid *grobid;
    place_state state; /* changes to BACK by its thread, else by the owner */
    gf_papers_sent sent;
    gf_buffer source, pdf, answer, scratch;
    gf_tei tei;
    gf_papers_text text;
    gf_error error;
} place;

struct gf_papers_sending {
    place *places; /* jobs */
    unsigned jobs;
    size_t most;
    uint64_t sent;
    place *taken;
    pthread_mutex_t lock; /* of the places' states */
    pthread_cond_t changed;
};

static gf_status open_place(gf_papers_sending *s, place *p, const gf_grobid_options *options,
                            gf_error *err)
{
    p->of = s;
    p->tei.cancel = options->cancel;
    gf_background_init(&p->background);
    s->jobs++;
    return gf_grobid_open(options, &p->grobid, err);
}

gf_status gf_papers_sending_open(unsigned jobs, size_t most, const gf_grobid_options *options,
                                 gf_papers_sending **sending, gf_error *err)
{
    gf_papers_sending *s = gf_calloc(1, sizeof *s);
    place *places = gf_calloc(jobs, sizeof *places);
    if (!s || !places) {
        gf_free(s);
        gf_free(places);
        return gf_fail_memory(err, "requests");
    }
    s->places = places;
    s->most = most;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    gf_status st = GF_OK;
    for (unsigned i = 0; i < jobs && st == GF_OK; i++)
        st = open_place(s, &s->places[i], options, err);
    if (st != GF_OK) {
        gf_papers_sending_close(s);
        return st;
    }
    *sending = s;
    return GF_OK;
}

static void release_memory(place *p)
{
    gf_buffer_release(&p->source);
    gf_buffer_release(&p->pdf);
    gf_buffer_release(&p->answer);
    gf_buffer_release(&p->scratch);
    gf_papers_text_release(&p->text);
}

void gf_papers_sending_close(gf_papers_sending *s)
{
    if (!s) return;
    for (unsigned i = 0; i < s->jobs; i++) {
        place *p = &s->places[i];
        gf_background_release(&p->background);
        gf_grobid_close(p->grobid);
        gf_tei_release(&p->tei);
        release_memory(p);
    }
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
    gf_free(s->places);
    gf_free(s);
}

/* ---- a thread -------------------------------------------------------------------------------- */

static gf_status read_answer(place *p, gf_error *err)
{
    gf_slice xml = p->answer.len ? gf_buffer_view(&p->answer) : GF_SLICE("");
    p->sent.answer = xml;
    if (p->sent.code != 200) return GF_OK;
    gf_status st = gf_tei_read(xml, &p->tei, err);
    if (st == GF_OK) st = gf_papers_text_make(xml, &p->tei, &p->scratch, &p->text, err);
    if (st == GF_OK) p->sent.text = &p->text;
    return st;
}

static gf_status send_file(void *context, gf_error *err)
{
    place *p = context;
    (void)err;
    gf_status st = gf_grobid_extract(p->grobid, p->sent.pdf, &p->sent.code, &p->answer, &p->error);
    if (st == GF_OK) st = read_answer(p, &p->error);
    p->sent.status = st;
    p->sent.error = &p->error;
    pthread_mutex_lock(&p->of->lock);
    p->state = PLACE_BACK;
    pthread_cond_broadcast(&p->of->changed);
    pthread_mutex_unlock(&p->of->lock);
    return GF_OK;
}

/* ---- the owner ------------------------------------------------------------------------------- */

bool gf_papers_sending_has_room(gf_papers_sending *s, size_t bytes, const gf_sha1 *sha1)
{
    bool has_free = false, is_there = false;
    size_t held = 0;
    pthread_mutex_lock(&s->lock);
    for (unsigned i = 0; i < s->jobs; i++) {
        const place *p = &s->places[i];
        has_free |= p->state == PLACE_FREE;
        if (p->state == PLACE_FREE) continue;
        held += p->sent.pdf.len;
        is_there |= memcmp(p->sent.sha1.bytes, sha1->bytes, GF_SHA1_BYTES) == 0;
    }
    pthread_mutex_unlock(&s->lock);
    return has_free && !is_there && (held == 0 || bytes + held <= s->most);
}

static place *find_place(gf_papers_sending *s, place_state state)
{
    place *first = NULL;
    for (unsigned i = 0; i < s->jobs; i++) {
        place *p = &s->places[i];
        if (p->state == state && (!first || p->sent.number < first->sent.number)) first = p;
    }
    return first;
}

gf_status gf_papers_sending_send(gf_papers_sending *s, const gf_sha1 *sha1, gf_slice source,
                                 gf_slice pdf, bool keeps, gf_error *err)
{
    pthread_mutex_lock(&s->lock);
    place *p = find_place(s, PLACE_FREE);
    pthread_mutex_unlock(&s->lock);
    gf_background_wait(&p->background, NULL); /* it is done, all but its return */
    gf_buffer_reset(&p->source);
    gf_buffer_reset(&p->pdf);
    gf_buffer_slice(&p->source, source);
    gf_buffer_slice(&p->pdf, pdf);
    gf_status st = gf_buffer_check(&p->source, err);
    if (st == GF_OK) st = gf_buffer_check(&p->pdf, err);
    if (st != GF_OK) return st;
    p->error = (gf_error){GF_OK, ""};
    p->sent = (gf_papers_sent){.sha1 = *sha1,
                               .source = p->source.len ? gf_buffer_view(&p->source) : GF_SLICE(""),
                               .pdf = p->pdf.len ? gf_buffer_view(&p->pdf) : GF_SLICE(""),
                               .keeps = keeps,
                               .number = s->sent++};
    p->state = PLACE_UNDER_WAY;
    gf_background_start(&p->background, send_file, p);
    return GF_OK;
}

bool gf_papers_sending_take(gf_papers_sending *s, bool wait, gf_papers_sent *sent)
{
    pthread_mutex_lock(&s->lock);
    place *p;
    while (!(p = find_place(s, PLACE_BACK)) && wait && find_place(s, PLACE_UNDER_WAY))
        pthread_cond_wait(&s->changed, &s->lock);
    if (p) p->state = PLACE_TAKEN;
    pthread_mutex_unlock(&s->lock);
    if (!p) return false;
    s->taken = p;
    *sent = p->sent;
    return true;
}

void gf_papers_sending_done(gf_papers_sending *s)
{
    place *p = s->taken;
    if (p->pdf.capacity + p->answer.capacity + p->text.memory.capacity > LARGEST_MEMORY) {
        gf_background_wait(&p->background, NULL);
        release_memory(p);
    }
    pthread_mutex_lock(&s->lock);
    p->state = PLACE_FREE;
    pthread_mutex_unlock(&s->lock);
}
