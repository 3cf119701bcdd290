/*
 * Changes that a put holds back. A document that differs from what is there may not be the last of
 * its id in the same put: one that comes later may be what is there already. So it is kept until
 * the put is flushed, or HOLD_BYTES of such are there, and the last of each id is written.
 *
 *     keys      collection and id -> number, in order of arrival
 *     entries   by number: the document, in one block of memory, or none where it was dropped
 */
#include "engine/put/internal.h"

#include "base/memory.h"

enum { HOLD_BYTES = 64 << 20, KEY_BYTES = 64 /* that a key's slots and entry take */ };

/* ---- finding --------------------------------------------------------------------------------- */

/* The key of a document; borrowed until the next. */
static gf_status make_key(gf_put_hold *h, gf_slice collection, gf_slice id, gf_error *err)
{
    gf_buffer_reset(&h->key);
    gf_buffer_string(&h->key, collection);
    gf_buffer_slice(&h->key, id);
    return gf_buffer_check(&h->key, err);
}

gf_status gf_put_hold_find(gf_put_hold *h, gf_slice collection, gf_slice id, gf_put_held **held,
                           gf_error *err)
{
    *held = NULL;
    if (h->n == 0) return GF_OK;
    gf_status st = make_key(h, collection, id, err);
    if (st != GF_OK) return st;
    uint32_t number = gf_strings_find(&h->keys, gf_buffer_view(&h->key));
    if (number != GF_STRING_NONE && h->entries[number].block) *held = &h->entries[number];
    return GF_OK;
}

/* ---- keeping --------------------------------------------------------------------------------- */

static size_t bytes_of(const gf_waiting *w)
{
    const gf_document *d = &w->document;
    size_t bytes = w->collection.len + d->id.len + d->text.len + d->time.len + d->language.len +
                   d->n_fields * sizeof *d->fields;
    for (size_t i = 0; i < d->n_fields; i++)
        bytes += d->fields[i].name.len + d->fields[i].json.len;
    return bytes;
}

static void move_in(char **at, gf_slice *s)
{
    if (s->len) memcpy(*at, s->ptr, s->len);
    *s = gf_slice_of(*at, s->len);
    *at += s->len;
}

/* Copy what the document borrows into the block; the array of its fields comes first, aligned. */
static void copy_in(char *block, gf_waiting *w)
{
    gf_document *d = &w->document;
    gf_field *fields = (gf_field *)block;
    char *at = block + d->n_fields * sizeof *fields;
    for (size_t i = 0; i < d->n_fields; i++) {
        fields[i] = d->fields[i];
        move_in(&at, &fields[i].name);
        move_in(&at, &fields[i].json);
    }
    d->fields = fields;
    move_in(&at, &w->collection);
    move_in(&at, &d->id);
    move_in(&at, &d->text);
    move_in(&at, &d->time);
    move_in(&at, &d->language);
}

static gf_status make_entry(gf_put_hold *h, const gf_waiting *w, gf_put_held **held, gf_error *err)
{
    uint32_t number;
    bool added;
    gf_status st = make_key(h, w->collection, w->document.id, err);
    if (st == GF_OK && h->keys.n == h->capacity) {
        size_t capacity = h->capacity ? 2 * h->capacity : 64;
        gf_put_held *grown = gf_realloc(h->entries, capacity, sizeof *grown);
        if (!grown) return gf_fail_memory(err, "documents");
        h->entries = grown;
        h->capacity = capacity;
    }
    if (st == GF_OK) st = gf_strings_add(&h->keys, gf_buffer_view(&h->key), &number, &added, err);
    if (st != GF_OK) return st;
    *held = &h->entries[number];
    if (added) {
        **held = (gf_put_held){0};
        h->bytes += h->key.len + KEY_BYTES;
    }
    return GF_OK;
}

gf_status gf_put_hold_keep(gf_put_hold *h, const gf_waiting *w, gf_error *err)
{
    gf_put_held *held = NULL;
    gf_status st = make_entry(h, w, &held, err);
    if (st != GF_OK) return st;
    size_t bytes = bytes_of(w);
    char *block = gf_malloc(bytes);
    if (!block) return gf_fail_memory(err, "documents");
    gf_put_hold_drop(h, held);
    *held = (gf_put_held){.waiting = *w, .block = block, .bytes = bytes};
    copy_in(block, &held->waiting);
    h->n++;
    h->bytes += bytes;
    return GF_OK;
}

void gf_put_hold_drop(gf_put_hold *h, gf_put_held *held)
{
    if (!held->block) return;
    gf_free(held->block);
    h->n--;
    h->bytes -= held->bytes;
    *held = (gf_put_held){0};
}

bool gf_put_hold_is_full(const gf_put_hold *h)
{
    return h->bytes >= HOLD_BYTES;
}

void gf_put_hold_release(gf_put_hold *h)
{
    for (uint32_t i = 0; i < h->keys.n; i++)
        gf_free(h->entries[i].block);
    gf_free(h->entries);
    gf_strings_release(&h->keys);
    gf_buffer_release(&h->key);
    *h = (gf_put_hold){0};
}
