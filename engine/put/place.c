/*
 * How far a source of documents was read, with the collection that they were put into:
 *
 *     collections:main   source:<name>   the place, which means something to the source alone
 *
 * A place is written by itself, once everything before it is on disk, so it is never ahead of the
 * documents: after a crash some are read twice, and none is left out.
 */
#include "engine/put/put.h"

#include "base/utf8.h"
#include "engine/rows/collection_row.h"
#include "engine/store/collections.h"
#include "engine/store/hold.h"

#define PREFIX "source:"

enum { MOST_PLACES = 64 };

static gf_status check_names(gf_slice source, gf_slice place, gf_error *err)
{
    if (source.len == 0 || source.len > GF_PUT_MOST_SOURCE ||
        gf_utf8_valid_length(source) != source.len)
        return gf_fail(err, GF_EINVAL, "a source's name has 1 to %d bytes of UTF-8",
                       (int)GF_PUT_MOST_SOURCE);
    if (place.len == 0 || place.len > GF_PUT_MOST_PLACE || gf_utf8_valid_length(place) != place.len)
        return gf_fail(err, GF_EINVAL, "the place of a source has 1 to %d bytes of UTF-8",
                       (int)GF_PUT_MOST_PLACE);
    return GF_OK;
}

static gf_status write_cell(gf_store *s, gf_place where, gf_slice column, gf_slice place,
                            gf_error *err)
{
    gf_buffer key = {0};
    gf_batch *batch = NULL;
    gf_tables_collection_key(&key, where.name_space, where.collection);
    gf_status st = gf_buffer_check(&key, err);
    if (st == GF_OK) st = gf_batch_create(s->db, &batch, err);
    if (st == GF_OK) {
        gf_batch_put(batch, s->tables.collections, gf_buffer_view(&key), GF_COLLECTIONS_MAIN,
                     column, place, 0);
        st = gf_batch_write(batch, GF_SYNC_ON, err);
    }
    gf_batch_free(batch);
    gf_buffer_release(&key);
    return st;
}

/* They lie in the collection's own row, which every call reads. */
static size_t count_places(const gf_collection_row *row)
{
    size_t n = 0;
    for (size_t i = 0; i < row->row.n_cells; i++)
        n += row->row.cells[i].family == GF_COLLECTIONS_MAIN &&
             gf_slice_starts(row->row.cells[i].qualifier, GF_SLICE(PREFIX));
    return n;
}

gf_status gf_put_place_write(gf_store *s, gf_place where, gf_slice source, gf_slice place,
                             gf_error *err)
{
    gf_collection_row row = {0};
    gf_buffer column = {0};
    gf_hold hold;
    gf_status st = check_names(source, place, err);
    if (st != GF_OK) return st;
    gf_buffer_str(&column, PREFIX);
    gf_buffer_slice(&column, source);
    const char *name = gf_buffer_cstr(&column);
    st = gf_buffer_check(&column, err);
    if (st != GF_OK) return st;
    st = gf_hold_collection(s, where, &hold, err);
    if (st == GF_OK) st = gf_collection_row_read(s, NULL, where, &row, err);
    if (st == GF_OK) {
        const gf_cell *cell = gf_row_find(&row.row, GF_COLLECTIONS_MAIN, name);
        if (!cell && count_places(&row) >= MOST_PLACES)
            st = gf_fail(err, GF_ELIMIT, "a collection keeps the places of %d sources at most",
                         (int)MOST_PLACES);
        else if (!cell || !gf_slice_equal(cell->value, place))
            st = write_cell(s, where, gf_buffer_view(&column), place, err);
    }
    gf_hold_let_go(&hold);
    gf_collection_row_release(&row);
    gf_buffer_release(&column);
    return st;
}

gf_status gf_put_places(gf_store *s, gf_place where, gf_put_place_visitor *visit, void *context,
                        gf_error *err)
{
    gf_collection_row row = {0};
    gf_status st = gf_collection_row_read(s, NULL, where, &row, err);
    for (size_t i = 0; st == GF_OK && i < row.row.n_cells; i++) {
        const gf_cell *cell = &row.row.cells[i];
        if (cell->family != GF_COLLECTIONS_MAIN ||
            !gf_slice_starts(cell->qualifier, GF_SLICE(PREFIX)))
            continue;
        st = visit(context, gf_slice_skip(cell->qualifier, sizeof PREFIX - 1), cell->value, err);
    }
    gf_collection_row_release(&row);
    return st;
}
