/*
 * Changes that a put holds back. A document that differs from the stored one may not be the last of
 * its id in the same put: a later one may be equal to what is stored. So it is kept until the put
 * is flushed, or HELD_BYTES are kept, and the last of each id is written.
 *
 *     keys   collection and id -> number, in order of arrival
 *     rows   by number: the change, in one block of memory that begins with its columns
 */
#include "engine/put/put_internal.h"

#include "base/grow.h"
#include "base/memory.h"

enum { HELD_BYTES = 64 << 20, KEY_BYTES = 64 /* of a key's slots and row */ };

/* The key of a document; borrowed until the next. */
static gf_status make_key(gf_held_changes *h, gf_slice collection, gf_slice id, gf_error *err)
{
    gf_buffer_reset(&h->key);
    gf_buffer_string(&h->key, collection);
    gf_buffer_slice(&h->key, id);
    return gf_buffer_check(&h->key, err);
}

gf_status gf_held_changes_find(gf_held_changes *h, gf_slice collection, gf_slice id,
                               gf_put_row **row, gf_error *err)
{
    *row = NULL;
    if (h->n == 0) return GF_OK;
    gf_status st = make_key(h, collection, id, err);
    if (st != GF_OK) return st;
    uint32_t number = gf_strings_find(&h->keys, gf_buffer_view(&h->key));
    if (number != GF_STRING_NONE && h->rows[number].columns) *row = &h->rows[number];
    return GF_OK;
}

gf_status gf_held_changes_keep(gf_held_changes *h, const gf_put_row *row, gf_error *err)
{
    uint32_t number;
    bool added;
    size_t bytes = gf_put_row_block(row);
    gf_status st = make_key(h, row->collection, row->id, err);
    if (st != GF_OK) return st;
    char *block = gf_malloc(bytes);
    if (!block || !gf_grow(&h->rows, &h->capacity, (size_t)h->keys.n + 1, sizeof *h->rows))
        st = gf_fail_memory(err, "documents");
    if (st == GF_OK) st = gf_strings_add(&h->keys, gf_buffer_view(&h->key), &number, &added, err);
    if (st != GF_OK) {
        gf_free(block);
        return st;
    }
    gf_put_row *kept = &h->rows[number];
    if (added)
        h->bytes += h->key.len + KEY_BYTES;
    else
        gf_held_changes_drop(h, kept);
    *kept = *row;
    gf_put_row_move(kept, block);
    h->n++;
    h->bytes += bytes;
    return GF_OK;
}

void gf_held_changes_drop(gf_held_changes *h, gf_put_row *row)
{
    if (!row->columns) return;
    h->n--;
    h->bytes -= gf_put_row_block(row);
    gf_free(row->columns);
    *row = (gf_put_row){0};
}

bool gf_held_changes_are_full(const gf_held_changes *h)
{
    return h->bytes >= HELD_BYTES;
}

void gf_held_changes_release(gf_held_changes *h)
{
    for (uint32_t i = 0; i < h->keys.n; i++)
        gf_free(h->rows[i].columns);
    gf_free(h->rows);
    gf_strings_release(&h->keys);
    gf_buffer_release(&h->key);
    *h = (gf_held_changes){0};
}
