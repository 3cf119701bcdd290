#include "cluster/large/strongest.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

/* Is position a weaker than b? */
static bool is_weaker(const float *value, uint32_t a, uint32_t b)
{
    if (value[a] != value[b]) return value[a] < value[b];
    return a > b;
}

/* The heap at[0..n-1], with the weakest on top, but for position `place`. */
static void sink(const float *value, uint32_t *at, uint32_t n, uint32_t place)
{
    for (uint32_t child = 2 * place + 1; child < n; place = child, child = 2 * place + 1) {
        if (child + 1 < n && is_weaker(value, at[child + 1], at[child])) child++;
        if (!is_weaker(value, at[child], at[place])) return;
        uint32_t held = at[place];
        at[place] = at[child];
        at[child] = held;
    }
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

uint32_t gf_strongest_find(const float *value, uint32_t n, uint32_t most, uint32_t *at)
{
    uint32_t found = n < most ? n : most;
    for (uint32_t p = 0; p < found; p++)
        at[p] = p;
    if (n <= most || most == 0) return found;
    for (uint32_t place = most / 2; place > 0; place--)
        sink(value, at, most, place - 1);
    for (uint32_t p = most; p < n; p++) {
        if (!(value[p] > value[at[0]])) continue;
        at[0] = p;
        sink(value, at, most, 0);
    }
    qsort(at, most, sizeof *at, by_number);
    return most;
}

gf_status gf_strongest_keep(gf_centre *c, uint32_t most, gf_error *err)
{
    if (c->n <= most) return GF_OK;
    uint32_t *at = gf_array(most, sizeof *at);
    if (!at) return gf_fail_memory(err, "a cluster centre");
    c->n = gf_strongest_find(c->value, c->n, most, at);
    double squares = 0;
    for (uint32_t p = 0; p < c->n; p++) {
        c->term[p] = c->term[at[p]];
        c->value[p] = c->value[at[p]];
        squares += (double)c->value[p] * (double)c->value[p];
    }
    for (uint32_t p = 0; p < c->n; p++)
        c->value[p] = (float)((double)c->value[p] / sqrt(squares));
    c->length *= sqrt(squares);
    gf_free(at);
    uint32_t *term = gf_realloc(c->term, c->n, sizeof *term); /* less: where it fails, as it was */
    if (term) c->term = term;
    float *value = gf_realloc(c->value, c->n, sizeof *value);
    if (value) c->value = value;
    if (term && value) c->capacity = c->n;
    return GF_OK;
}
