#include "engine/view/shelf.h"

#include "base/memory.h"

#include <pthread.h>

struct gf_shelf {
    pthread_mutex_t lock;
    gf_view *at
        [GF_SHELF_VIEWS]; /* n, the one that was used last at the end; each has key, info and parts */
    size_t bytes[GF_SHELF_VIEWS];
    size_t n, all_bytes;
};

gf_shelf *gf_shelf_create(void)
{
    gf_shelf *s = gf_calloc(1, sizeof *s);
    if (s) pthread_mutex_init(&s->lock, NULL);
    return s;
}

void gf_shelf_release_parts(gf_view *v)
{
    gf_assign_free(v->assigner);
    gf_vector_release(&v->vector);
    gf_term_vectors_release(&v->words);
    gf_free(v->word_sum);
    if (v->model_loaded) gf_model_release(&v->model);
}

static void free_kept(gf_view *v)
{
    gf_shelf_release_parts(v);
    gf_buffer_release(&v->key);
    gf_free(v);
}

void gf_shelf_free(gf_shelf *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->n; i++)
        free_kept(s->at[i]);
    pthread_mutex_destroy(&s->lock);
    gf_free(s);
}

/* ---- finding --------------------------------------------------------------------------------- */

static bool is_same_build(const gf_view *a, const gf_view *b)
{
    const gf_build_info *x = &a->info, *y = &b->info;
    return gf_slice_equal(gf_buffer_view(&a->key), gf_buffer_view(&b->key)) && x->seq == y->seq &&
           x->documents == y->documents && x->k == y->k && x->terms == y->terms &&
           memcmp(&x->objective, &y->objective, sizeof x->objective) == 0 && x->edits == y->edits;
}

/* Take the i-th view off; the lock is held. */
static gf_view *take_off(gf_shelf *s, size_t i)
{
    gf_view *v = s->at[i];
    s->all_bytes -= s->bytes[i];
    s->n--;
    memmove(s->at + i, s->at + i + 1, (s->n - i) * sizeof(gf_view *));
    memmove(s->bytes + i, s->bytes + i + 1, (s->n - i) * sizeof *s->bytes);
    return v;
}

/* Let the parts, which must stay where they are, have all else of the view that was opened. */
static void join_parts(gf_view *kept, gf_view *opened)
{
    gf_view parts = *kept;
    gf_buffer_release(&kept->key);
    *kept = *opened;
    kept->model = parts.model;
    kept->model_loaded = parts.model_loaded;
    kept->assigner = parts.assigner;
    kept->vector = parts.vector;
    kept->words = parts.words;
    kept->word_sum = parts.word_sum;
    gf_free(opened);
}

gf_view *gf_shelf_warm(gf_view *v)
{
    gf_shelf *s = v->store->shelf;
    gf_view *found = NULL;
    pthread_mutex_lock(&s->lock);
    for (size_t i = s->n; i-- && !found;)
        if (is_same_build(s->at[i], v)) found = take_off(s, i);
    pthread_mutex_unlock(&s->lock);
    if (found) {
        join_parts(found, v);
        v = found;
    }
    v->warm = true;
    return v;
}

/* ---- keeping --------------------------------------------------------------------------------- */

static size_t estimate_bytes(const gf_view *v)
{
    const gf_vocabulary *words = &v->model.vocabulary;
    size_t n = sizeof *v + (v->assigner ? gf_assign_bytes(v->assigner) : 0);
    if (v->model_loaded)
        n += (size_t)words->n_terms * (sizeof *words->df + sizeof *words->idf) +
             (2 * (size_t)words->n_terms + 1) * sizeof *words->start +
             words->start[2 * (size_t)words->n_terms] + words->capacity * sizeof *words->slots;
    return n + (size_t)v->words.n * v->words.d * sizeof(float);
}

bool gf_shelf_keep(gf_view *v)
{
    gf_shelf *s = v->store->shelf;
    gf_view *dropped[GF_SHELF_VIEWS];
    size_t n = 0;
    if (!v->warm || (!v->assigner && !v->model_loaded)) return false;
    size_t bytes = estimate_bytes(v);
    if (bytes > GF_SHELF_BYTES) return false;
    if (v->assigner) gf_assign_release_workers(v->assigner);
    pthread_mutex_lock(&s->lock);
    while (s->n == GF_SHELF_VIEWS || (s->n && s->all_bytes + bytes > GF_SHELF_BYTES))
        dropped[n++] = take_off(s, 0);
    s->at[s->n] = v;
    s->bytes[s->n++] = bytes;
    s->all_bytes += bytes;
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; i < n; i++)
        free_kept(dropped[i]);
    return true;
}
